"""The origin of each file of experiments/results/, from an index beside them; files that are out of date.

The index `made.csv` has a line for every file that `./loom figure NAME --update` has put there. A file
without a line is older than the index, and its commit is unknown, as it is of one made from changes that were
not committed.  Both are at least as old as the commit that brought them: they are older where their sources
have changed since then, and unknown only where these have not.
"""

from __future__ import annotations

import csv
import datetime
import functools
import hashlib
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from loomcloth import search
from loomcloth.drawing import modules
from loomcloth.same_code import code_of

INDEX = "made.csv"
CORE = "framework"  # read by every run; its pages do not count
TOOLS = "experiments/tools"  # shared by the scripts of all figures
RENAMED = {"loomcloth": "loompy"}  # names that a result does not depend on: today's, and the one before
NAMING = re.compile(r"^\s*(include|material|animation)\s*=\s*(.+?)\s*(?:[;#].*)?$", re.M)
CURRENT, OLD, TOOLS_OLD, CORE_OLD = "current", "older", "older tools", "older core"
UNKNOWN, OTHER = "unknown", "not as made"
SHOWN = re.compile(r"results/([\w.-]+\.(?:png|txt|csv))")


@dataclass
class Made:
    """A line of the index; lists are separated by spaces."""

    file: str  # in experiments/results/
    sha256: str  # of it, the first 16 digits
    command: str
    commit: str  # of the sources that drew it, "-dirty" with changes that were not committed
    runs: str  # commits of the builds whose logs and programs it was drawn from
    date: str  # UTC
    machine: str  # processor, cores, system
    seconds: str  # processor time of its runs and of its drawing, s; empty: not known
    sources: str  # paths of the sources that drew it and that it was drawn from, of `commit`
    code: str  # paths of the code that its runs executed, of `runs`


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def machine() -> str:
    """Processor, cores and system; no name of a host."""
    model = platform.processor() or platform.machine()
    try:
        found = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
        model = found[1].strip() if found else model
    except OSError:
        pass
    release = ".".join(platform.release().split(".")[:2])
    return f"{model}, {os.cpu_count()} cores, {platform.system()} {release}"


def git(root: Path, *words: str) -> str | None:
    """The output of git, None where git refuses, or where it is not installed."""
    if shutil.which("git") is None:
        return None
    done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def commit(root: Path, paths: Iterable[str] = (".",)) -> str:
    """The last one, "-dirty" if something of the paths is not as it is there but pages and results."""
    head = git(root, "rev-parse", "--short=12", "HEAD")
    if not head:
        return "unknown"
    others = (":(exclude)experiments/results", ":(exclude,glob)**/*.md")
    return head if git(root, "status", "--porcelain", "--", *paths, *others) == "" else f"{head}-dirty"


# ---- sources of a result ----
def configs(path: Path, root: Path, path_of_search: tuple[Path, ...] = ()) -> Iterator[Path]:
    """A configuration and all files below the root that it includes, and its materials and animations."""
    seen: list[Path] = [path.resolve()]
    for file in seen:
        try:
            text = file.read_text()
        except (OSError, UnicodeDecodeError):
            continue
        for key, value in NAMING.findall(text):
            other = _named(file.parent, key, value.strip("\"'"), path_of_search)
            if other and other not in seen:
                seen.append(other)
        if root in file.parents:
            yield file


def _named(folder: Path, key: str, value: str, path: tuple[Path, ...]) -> Path | None:
    """The file of an include, a material or an animation."""
    found: Path | None
    if search.is_name(key, value):
        found = search.near(folder, key, value) or search.shared(search.name_of(key, value), path)
    elif key == "include" and not (folder / value).is_file():
        found = search.shared(value, path)
    else:
        found = folder / value if key == "include" else None
    return found.resolve() if found else None


def plugin_folders(names: Iterable[str], root: Path) -> set[str]:
    return {str(p.relative_to(root)) for n in names for p in root.glob(f"plugins/*/{n}")}


# ---- the index ----
def load(results: Path) -> dict[str, Made]:
    """{file: its line}"""
    path = results / INDEX
    if not path.exists():
        return {}
    names = [f.name for f in fields(Made)]
    with open(path, newline="") as file:
        lines = list(csv.DictReader(file))
    return {line["file"]: Made(**{n: line.get(n) or "" for n in names}) for line in lines}


def record(results: Path, line: Made) -> None:
    """Puts a line in, in place of the one of the same file; the lines are sorted by file."""
    known = load(results) | {line.file: line}
    part = results / f"{INDEX}.part"
    with open(part, "w", newline="") as file:
        out = csv.DictWriter(file, [f.name for f in fields(Made)], lineterminator="\n")
        out.writeheader()
        out.writerows(asdict(known[name]) for name in sorted(known))
    part.replace(results / INDEX)


def cost(results: Path) -> dict[str, str]:
    """{figure: processor time that its command took when it made its results, s}"""
    found: dict[str, str] = {}
    for line in load(results).values():
        words = line.command.split()
        if line.seconds and words[:2] == ["./loom", "figure"]:
            found[words[2]] = max(line.seconds, found.get(words[2], "0"), key=int)
    return found


def now() -> str:
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


# ---- the check ----
def _old(text: str) -> str:
    for new, old in RENAMED.items():
        text = text.replace(new, old)
    return text


@functools.cache
def _same_code(root: Path, commit: str, path: str) -> bool:
    """Has the file at `path` the code that it had at the commit, but for the names in RENAMED?"""
    show = ["git", "-C", str(root), "show", f"{commit}:{_old(path)}"]
    before = subprocess.run(show, capture_output=True, text=True, errors="replace")
    here = root / path
    if before.returncode != 0 or not here.is_file():
        return False
    now = _old(here.read_text(errors="replace"))
    return now == _old(before.stdout) or code_of(path, now) == code_of(path, _old(before.stdout))


def changed(root: Path, commit: str, paths: list[str]) -> list[str] | None:
    """The paths whose code differs from a commit; None if this clone does not hold the commit."""
    plain = commit.removesuffix("-dirty")
    if git(root, "cat-file", "-e", f"{plain}^{{commit}}") is None:
        return None
    out = []
    for path in paths:
        files = git(root, "diff", "--name-only", plain, "--", path, ":(exclude,glob)**/*.md")
        if files is None or not all(_same_code(root, plain, f) for f in files.splitlines()):
            out.append(path)
    return out


def _drawn_from(root: Path, name: str) -> list[str]:
    """Sources of a result by its name: the folder whose figure has it, or the configuration that it shows."""
    stem = re.escape(name.rpartition(".")[0])
    scripts = {p.parent: p.read_text() for p in sorted((root / "experiments").glob("*/figure.py"))}
    for words in (rf"\"{stem}\": \(", rf"(?:save|keep_\w+|picture)\(.*\"{stem}\"", rf"\"{stem}\.\w+\""):
        found = [folder for folder, text in scripts.items() if re.search(words, text)]
        if found:
            return [str(found[0].relative_to(root)), CORE]
    config = root / "configs" / f"{name.rpartition('.')[0]}.ini"
    if config.exists():
        return [*(str(p.relative_to(root)) for p in configs(config, root)), CORE]
    named = [folder for folder in scripts if name.startswith(folder.name)]
    return [str(max(named, key=lambda f: len(f.name)).relative_to(root)), CORE] if named else []


def _counted(root: Path, paths: list[str]) -> list[str]:
    """Without the modules of TOOLS that no script of the result's folders imports: lines from before
    `drawing.modules` name every module that had been loaded."""
    folders = [root / p for p in paths if (root / p / "figure.py").is_file()]
    used = modules(root, folders) if folders else None
    return [p for p in paths if used is None or p in used or not (p.startswith(TOOLS) and p.endswith(".py"))]


def _verdict(by: str, old: Iterable[str]) -> tuple[str, str]:
    """The state of a result by the sources that have changed since it was made."""
    paths = set(old)
    others = sorted(paths - {CORE})
    if not others:
        return (CORE_OLD, f"({by}): {CORE}/ has changed since") if paths else (CURRENT, f"({by})")
    own = [p for p in others if not p.startswith(f"{TOOLS}/")]
    return OLD if own else TOOLS_OLD, f"({by}) than {', '.join(others)}"


def _since(root: Path, results: Path, name: str, line: Made | None, why: str) -> tuple[str, str] | None:
    """A result without a known commit is at least as old as the commit that brought it: older than sources
    that have changed since then.  None: they have not, or git does not have it."""
    last = git(root, "log", "-1", "--format=%h %cs", "--", str(results / name)) or ""
    commit, _, day = last.partition(" ")
    if not commit or git(root, "status", "--porcelain", "--", str(results / name)):
        return None
    sources = _counted(root, line.sources.split()) + line.code.split() if line else _drawn_from(root, name)
    old = changed(root, commit, sources) or []
    return _verdict(f"{why}; git has it since {commit} of {day}", old) if old else None


def _known(root: Path, results: Path, line: Made) -> tuple[str, str]:
    if digest(results / line.file) != line.sha256:
        return OTHER, f"was changed after `{line.command}` had made it"
    if line.commit.endswith("-dirty"):
        base = line.commit.removesuffix("-dirty")
        return UNKNOWN, f"made by `{line.command}` from changes on top of {base} that were not committed"
    old = changed(root, line.commit, _counted(root, line.sources.split()))
    if old is None:
        return UNKNOWN, f"made from commit {line.commit}, which this clone does not hold"
    for commit in line.runs.split():
        if commit.endswith("-dirty"):
            base = commit.removesuffix("-dirty")
            return UNKNOWN, f"its runs are of changes on top of {base} that were not committed"
        code = changed(root, commit, line.code.split())
        if code is None:
            return UNKNOWN, f"its runs are of commit {commit}, which this clone does not hold"
        old += code
    return _verdict(f"{line.command}, {line.commit}, {line.date[:10]}", old)


def shown(root: Path) -> set[str]:
    """Names of results that a page shows or cites."""
    pages = (git(root, "ls-files", "*.md") or "").splitlines()
    return {name for page in pages for name in SHOWN.findall((root / page).read_text())} - {INDEX}


def check(root: Path) -> list[tuple[str, str, str]]:
    """(file, its state, an explanation) of all results, and of lines whose file is gone."""
    results = root / "experiments/results"
    lines = load(results)
    found = []
    for path in sorted(results.iterdir()) if results.is_dir() else []:
        if path.name == INDEX or path.name.startswith(".") or not path.is_file():
            continue
        line = lines.get(path.name)
        none = "nothing was recorded when it was made"
        known = _known(root, results, line) if line else (UNKNOWN, none)
        if known[0] == UNKNOWN:
            known = _since(root, results, path.name, line, known[1]) or known
        if line or known[0] != UNKNOWN:
            found.append((path.name, *known))
            continue
        last = git(root, "log", "-1", "--format=%h of %cs", "--", str(path)) or ""
        since = f"git has it since {last}" if last else "git does not have it"
        found.append((path.name, UNKNOWN, f"{none}; {since}"))
    gone = [n for n in lines if not (results / n).exists()]
    return found + [(n, OTHER, "has a line in the index, but is not there") for n in gone]
