"""Which combinations fit, and which of them are still to be run."""

from __future__ import annotations

import functools
import glob
import hashlib
import json
import os
import re
import shlex
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from loomcloth import search
from loomcloth.config import flat
from loomcloth.errors import SpecError
from loomcloth.sweep.axes import keys_of
from loomcloth.sweep.spec import Run, Spec

SETTLED = ("done", "failed")  # marks of a run in state/


FRAME_NUMBER = re.compile(r"%(0[1-9])?d")
MARK = "SWEEP"  # a file that marks the folder of a sweep, whose files may be replaced
OURS = ("configs", "groups", "references", "state")  # its folders
PATH_RULE = "a relative path is one from the folder of the file in which it is written"
MARK_TEXT = "The folder of a `loom sweep`, which replaces and removes files here.\n"


@dataclass
class Checked:
    """A combination and the answer of `loom check` to it."""

    run: Run
    config: Path
    key: str = ""  # of all inputs of the result, see key_of
    hash: str = ""  # of the configuration, as the log will hold it (config_hash)
    why: str = ""  # of a refusal
    settings: dict[str, str] = field(default_factory=dict)  # resolved, files by content (Spec.compares)
    reference: str = ""  # the run that it replays
    waits: str = ""  # why it cannot begin yet


@dataclass
class Plan:
    spec: Spec
    fits: list[Checked]
    refused: list[Checked]
    pending: list[Checked] = field(default_factory=list)

    @property
    def state(self) -> Path:
        return self.spec.output / "state"


def config_of(spec: Spec, run: Run) -> Path:
    """The configuration of a run: the common one, or a file that includes it and the overlays."""
    if not run.overlays:
        return spec.config
    folder = spec.output / "configs"
    folder.mkdir(parents=True, exist_ok=True)
    here = os.path.realpath(folder)
    lines = [f"include = {included(os.path.relpath(os.path.realpath(p), here))}\n"
             for p in [spec.config, *run.overlays]]  # fmt: skip
    # Overlays of one name from two folders are two files, and so are two states of one file.
    parts = [f"{os.path.realpath(p)}\n{content(p)}" for p in run.overlays]
    short = hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:12]
    words = re.sub(r"[^A-Za-z0-9_.+-]+", "x", "_".join(p.stem for p in run.overlays))[:80]
    path = folder / f"{words}-{short}.ini"
    text = "".join(lines)
    if path.is_symlink() or not path.exists() or path.read_text() != text:
        write_whole(path, text)
    return path


def included(path: str) -> str:
    """A path as the value of `include`; SpecError where a configuration has no way to write it."""
    if re.search(r"[\x00-\x1f\x7f]", path):
        raise SpecError(f"{path!r}: a path with control characters cannot be included; rename it")
    plain = path == path.strip() and path[:1] not in "\"'" and path[-1:] != "\\"
    if plain and not re.search(r"[;#]", path):
        return path
    for quote in "\"'":
        if quote not in path:
            return f"{quote}{path}{quote}"
    raise SpecError(f"{path}: a path with both kinds of quotes and ; or # cannot be included; rename it")


@functools.lru_cache(maxsize=4096)
def _digest(path: str, size: int, time_ns: int, inode: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def content(path: str | Path) -> str:
    """Hash of a file's content; each state of the file is read once."""
    found = os.stat(path)
    return _digest(os.fspath(path), found.st_size, found.st_mtime_ns, found.st_ino)


def _by_content(line: str, folders: Sequence[str], loom: str) -> str:
    """A line of a configuration; where its value is the path of a file, the file's name and content."""
    key, sign, value = line.partition(" = ")
    words = value.strip().strip("\"'")
    if key == "animation" and search.is_name(key, words):  # of a material all keys stand in the text
        animation = _named(key, words, folders, loom)
        return f"{key} = {words} {content(animation)}" if animation else line
    # a word without a dot or a slash is a choice, even where a file has this name
    if not sign or not re.search(r"[./]", words) or len(words) > 4096:
        return line
    for folder in folders:
        path = os.path.join(folder, words)
        if os.path.isfile(path):
            return f"{key} = {os.path.basename(path)} {content(path)}"
        if FRAME_NUMBER.search(words):  # motion = sequence: a file for every frame
            files = sorted(glob.glob(FRAME_NUMBER.sub("*", glob.escape(path))))
            if files:
                parts = "".join(f"{os.path.basename(f)} {content(f)}\n" for f in files)
                return f"{key} = {os.path.basename(path)} {hashlib.sha256(parts.encode()).hexdigest()}"
    return line


def _named(key: str, value: str, folders: Sequence[str], loom: str) -> Path | None:
    """The file of a name; None where it is in no folder near these, or of the search path."""
    for folder in folders:
        path = search.near(Path(folder), key, value)
        if path:
            return path
    return search.shared(search.name_of(key, value), search.folders(loom, Path(folders[0])))


def by_content(output: str, folders: Sequence[str], loom: str) -> list[str]:
    """The lines of the resolved configuration that `loom check` has printed; a file stands by its content."""
    _, _, text = output.partition("; resolved configuration, hash ")
    return [_by_content(line, folders, loom) for line in text.split("\n", 1)[-1].splitlines()]


def key_of(output: str, folders: Sequence[str], loom: str) -> tuple[str, str]:
    """The key of a run and the hash of its configuration, from the output of `loom check`.  The key changes
    with the settings and with the contents of the files that they name, for example a reference; not with the
    place or the times of these files."""
    _, _, text = output.partition("; resolved configuration, hash ")
    hashed = text.split("\n", 1)[0].strip()
    whole = "\n".join(by_content(output, folders, loom)).encode("utf-8", "surrogateescape")
    return hashlib.sha256(whole).hexdigest()[:16], hashed


def answer(loom: str, config: str, words: Sequence[str], folder: str) -> tuple[str, str]:
    """The resolved configuration of a run, or why it does not fit."""
    done = subprocess.run(
        [loom, "check", config, *words], cwd=folder, capture_output=True, text=True,
        errors="surrogateescape", stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if done.returncode != 0:
        lines = [ln for ln in done.stderr.splitlines() if not re.match(r"(loom: (note|warning): |\s*$)", ln)]
        return "", (lines or [f"`loom check` ended with {done.returncode}"])[0].removeprefix("loom: ")
    return done.stdout, ""


def ask(loom: str, config: str, words: Sequence[str], folder: str) -> tuple[str, str, str]:
    """Key, hash and "" of a run, or why it does not fit."""
    output, why = answer(loom, config, words, folder)
    return ("", "", why) if why else (*key_of(output, (folder, os.path.dirname(config)), loom), "")


def _check(spec: Spec, checked: Checked) -> None:
    config, folder = str(checked.config.resolve()), str(spec.folder)
    loom = search.binary()
    output, checked.why = answer(loom, config, checked.run.words(), folder)
    if checked.why:
        return
    folders = (folder, os.path.dirname(config))
    checked.key, checked.hash = key_of(output, folders, loom)
    if spec.compares:
        checked.settings = flat("\n".join(by_content(output, folders, loom)))


def check(spec: Spec, runs: Sequence[Checked], workers: int) -> None:
    """Asks `loom check` of every run."""
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(functools.partial(_check, spec), runs))


def claim(spec: Spec) -> None:
    """Makes the folder the sweep's own.  SpecError where it holds anything and is not."""
    out = spec.output
    place = spec.place("sweep", "output") + f": {out}"
    mark = out / MARK
    if out.is_dir() and not out.exists():
        raise SpecError(f"{place}: cannot be read")
    if os.path.lexists(out) and not out.is_dir():
        raise SpecError(f"{place}: is no folder")
    if mark.is_file() and not mark.is_symlink():
        for name in OURS:
            if (out / name).is_symlink():
                raise SpecError(f"{place}/{name}: is a symbolic link; remove it")
        return
    if out.is_dir() and any(out.iterdir()):
        old = (out / "manifest.json").is_file() and (out / "state").is_dir()
        raise SpecError(
            f"{place}: holds other files, and a sweep replaces and removes files in its folder; name another "
            "folder, or a new one" + (f"; if an earlier version of `loom sweep` has made this one, say so by "
                                      f"`touch {shlex.quote(str(mark))}`" if old else "")
        )  # fmt: skip
    out.mkdir(parents=True, exist_ok=True)
    write_whole(mark, MARK_TEXT)


def _refuse_unknown(spec: Spec, refused: list[Checked]) -> None:
    """A key with which no combination fits is a mistake in the specification, not a misfit."""
    places = [("grid", axis, key) for axis in spec.grid for key in keys_of(axis)]
    for section, at, key in [*places, *(("set", key, key) for key in spec.fixed)]:
        part, _, name = key.rpartition(".")
        told = [c.why for c in refused if f"[{part}] {name}: " in c.why
                or f"unknown section [{part}]" in c.why]  # fmt: skip
        if part and len(told) == spec.count:
            rule = f"; {PATH_RULE}" if "No such file" in told[0] else ""
            raise SpecError(f"{spec.place(section, at)}: {told[0]}{rule}")


def done_key(state: Path, name: str) -> str:
    """The key with which a run was finished, "" if it was not."""
    try:
        return str(json.loads((state / f"{name}.done").read_text())["key"])
    except (OSError, ValueError, KeyError):
        return ""


def make(spec: Spec, workers: int, again: bool = False) -> Plan:
    """Asks `loom check` of every combination and runs none; again: failed runs are tried anew."""
    claim(spec)
    runs = spec.runs()
    for name in {run.name for run in runs}:
        taken = spec.output / f"{name}.h5"
        if taken.is_symlink():
            raise SpecError(f"{taken}: is a symbolic link; a sweep writes no log through it; remove it")
    checked = [Checked(run, config_of(spec, run)) for run in runs]
    check(spec, checked, workers)
    plan = Plan(spec, [c for c in checked if not c.why], [c for c in checked if c.why])
    _refuse_unknown(spec, plan.refused)
    plan.state.mkdir(parents=True, exist_ok=True)
    choose(plan, again)
    return plan


def choose(plan: Plan, again: bool) -> None:
    """The runs that are still to be run."""
    plan.pending = []
    for c in plan.fits:
        if c.waits or done_key(plan.state, c.run.name) == c.key:
            continue
        failed = failure(plan.state, c.run.name)
        if failed.get("key") == c.key and failed.get("settled") and not again:
            continue
        plan.pending.append(c)


def failure(state: Path, name: str) -> dict[str, object]:
    """The mark of a run that failed, {} if it has none."""
    try:
        found = json.loads((state / f"{name}.failed").read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def write_manifest(plan: Plan) -> None:
    """Every combination with its settings and its key, for `status` and for readers."""
    folder = plan.spec.folder
    rows = [
        {"name": c.run.name, "set": c.run.sets, "key": c.key,
         "overlays": [os.path.relpath(p, folder) for p in c.run.overlays],
         "why": c.why, "waits": c.waits, "reference": c.reference}
        for c in [*plan.fits, *plan.refused]
    ]  # fmt: skip
    write_whole(plan.spec.output / "manifest.json", json.dumps(rows, indent=1))


def write_whole(path: Path, text: str) -> None:
    """Readers see the old file or the new one, never a part."""
    part = path.with_name(f"{path.name}.part{os.getpid()}")
    part.write_text(text)
    part.replace(path)
