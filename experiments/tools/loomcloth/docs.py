"""`./loom docs`: the documentation as a site with search, made by MkDocs.

Pages of the sources stand at the same place as in them, so that their links hold.  Made from `describe` and
`--help`: a page of all keys of a configuration, a page of each command, and the head of each plugin's page.
A link or an anchor that leads nowhere, and a page that no menu names, end it with an error.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from loomcloth import command, terminal
from loomcloth.errors import LogError
from loomcloth.markdown_lists import spaced

FOLDERS = ("framework/doc", "plugins", "experiments", "configs")  # that have pages
KINDS = {"solver": "solvers", "collision": "collision", "contact": "contact"}  # of plugins, and their folders
STYLE = """\
.wy-nav-content { max-width: 75em; }
.wy-table-responsive table td, .wy-table-responsive table th { white-space: normal; vertical-align: top; }
.rst-content table code { font-size: 85%; }
"""
MARK = ".made-by-loom-docs"  # a folder with this file may be replaced
MD = ".md"  # pages of the site alone are no pages of the repository
KEYS, COMMANDS, FIT = f"reference/keys{MD}", "reference/commands", f"reference/fit{MD}"
FITTED = "configs/drape_self.ini"  # the scene for which the page of fits is made

# The menu.  A page of the sources that stands in none of its parts is an error.
DOC = "framework/doc"
MENU: dict[str, list[str]] = {
    "Use": [
        "first-run.md",
        "building.md",
        "configuring.md",
        "scenes.md",
        "patterns.md",
        "rigs.md",
        "states.md",
        "comparing.md",
        "export-runs.md",
        "measuring.md",
        "measure.md",
        "peers.md",
        "same-physics.md",
    ],
    "Reference": ["exit-codes.md", "log.md", "files.md", "foreign-files.md", "glossary.md"],
    "Develop": ["plugin-guide.md", "architecture.md", "why.md", "style.md", "systems.md", "changelog.md"],
}

LINK = re.compile(r"(\]\()([^)\s#]+)(#[^)\s]*)?(\))")
LANGUAGES = {".c": "c", ".h": "c", ".py": "python", ".ini": "ini", ".sh": "sh", ".txt": "text"}


def parse(argv: list[str]) -> argparse.Namespace:
    p = argparse.ArgumentParser(
        prog="loom docs", description=__doc__, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    words = "folder of the site (default: out/site); one that this command made is replaced"
    p.add_argument("-o", "--output", metavar="DIR", default="out/site", help=words)
    words = "then show it at http://localhost:PORT (default: 8000); search needs a server"
    p.add_argument("--serve", metavar="PORT", type=int, nargs="?", const=8000, help=words)
    return p.parse_args(argv)


# ---- pages of the sources ----
def pages(root: Path) -> list[Path]:
    """README.md and all pages of the folders, relative to the root."""
    found = [Path("README.md")]
    for folder in FOLDERS:
        found += sorted(p.relative_to(root) for p in (root / folder).rglob("*.md") if "out" not in p.parts)
    return found


def names_target(root: Path, page: Path, target: str) -> Path | None:
    """The file or folder of the sources that a link names, relative to the root; None: there is none."""
    path = Path(os.path.normpath(root / page.parent / target))
    return path.relative_to(root) if path.exists() and path.is_relative_to(root) else None


class Stage:
    """The folder from which MkDocs makes the site."""

    def __init__(self, root: Path, binary: str, folder: Path) -> None:
        self.root, self.binary, self.folder = root, binary, folder
        self.sources = set(pages(root))
        self.copied: set[Path] = set()

    def write(self, page: Path | str, text: str) -> None:
        path = self.folder / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def copy(self, path: Path) -> None:
        if path not in self.copied:
            self.copied.add(path)
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(self.root / path, self.folder / path)

    def show_folder(self, folder: Path) -> Path:
        """A page with the files of a folder that has no page of its own."""
        page = folder / "README.md"
        if page not in self.copied:
            self.copied.add(page)
            text = f"# {folder}\n"
            for file in sorted(p for p in (self.root / folder).iterdir() if p.is_file()):
                language = LANGUAGES.get(file.suffix, "text")
                text += f"\n## {file.name}\n\n```{language}\n{file.read_text()}```\n"
            self.write(page, text)
        return page

    def linked(self, page: Path, line: str) -> str:
        """The line with links to folders led to their pages; other files that it names are copied."""

        def led(m: re.Match[str]) -> str:
            if re.match(r"[a-z]+:", m[2]):
                return m[0]
            path = names_target(self.root, page, m[2])
            if path is None:
                return m[0]  # MkDocs names it
            if (self.root / path).is_dir():
                inside = path / "README.md"
                path = inside if inside in self.sources else self.show_folder(path)
            elif path not in self.sources:
                self.copy(path)
            return f"{m[1]}{os.path.relpath(path, page.parent)}{m[3] or ''}{m[4]}"

        return LINK.sub(led, line)

    def text_of(self, page: Path) -> list[str]:
        lines, fenced = [], False
        for line in (self.root / page).read_text().splitlines():
            fenced ^= line.strip().startswith("```")
            lines.append(line if fenced else self.linked(page, line))
        return spaced(lines)

    def ask(self, *words: str) -> Any:
        done = subprocess.run([self.binary, *words, "--json"], capture_output=True, text=True, cwd=self.root)
        if done.returncode != 0:
            raise LogError(f"loom {' '.join(words)}: {done.stderr.strip() or 'failed'}")
        return json.loads(done.stdout)

    def help_of(self, name: str) -> str:
        where = self.binary if name in self.of_binary else str(self.root / "loom")
        done = subprocess.run([where, name, "--help"], capture_output=True, text=True, cwd=self.root,
                              env=os.environ | {"COLUMNS": "100"})  # fmt: skip
        if done.returncode != 0:
            raise LogError(f"loom {name} --help ended with {done.returncode}: {done.stderr.strip()}")
        return done.stdout or done.stderr

    def sections(self) -> list[str]:
        """The sections of a configuration, as `loom describe --help` lists them."""
        said = subprocess.run([self.binary, "describe", "--help"], capture_output=True, text=True).stdout
        listed = re.search(r"or a section:\s+(.*)", said, re.S)
        if listed is None:
            raise LogError("loom describe --help names no sections")
        return re.findall(r"[a-z_]+", listed[1])

    def commands(self) -> list[tuple[str, str]]:
        """(name, summary), as `loom help` lists them"""
        done = subprocess.run([self.binary, "help"], capture_output=True, text=True, check=True)
        rows = re.findall(r"^  ([a-z-]+) +(.*)$", done.stdout, re.M)
        self.of_binary = {name for name, doc in rows if not doc.endswith("(launcher ./loom)")}
        return [(name, doc.removesuffix(" (launcher ./loom)")) for name, doc in rows]


# ---- text of generated pages ----
def plain(text: str) -> str:
    """For a cell of a table: no sign of Markdown outside of `code`."""
    parts = text.replace("\n", " ").split("`")
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"([*_<\[\]])", r"\\\1", parts[i])
    return "`".join(parts).replace("|", "\\|")


def range_of(key: dict[str, Any]) -> str:
    if "choices" in key:
        return " ".join(f"`{c}`" for c in key["choices"].split("|"))
    if "min" not in key:
        return ""
    low, high = (f"{key[end]:.12g}" for end in ("min", "max"))
    return f"{'> ' if key['open_min'] else ''}{low} to {'< ' if key['open_max'] else ''}{high}"


def key_table(keys: list[dict[str, Any]]) -> str:
    rows = ["| key | type | default | range | unit | meaning |", "|---|---|---|---|---|---|"]
    for k in keys:
        default = f"`{k['default']}`" if k["default"] else "empty"
        cells = [f"`{k['key']}`", k["type"], "must be given" if k["default"] is None else default]
        rows.append(f"| {' | '.join([*cells, range_of(k), k['unit'], plain(k['doc'])])} |")
    return "\n".join(rows) + "\n"


def column_table(columns: list[dict[str, Any]]) -> str:
    rows = ["| column | unit | meaning |", "|---|---|---|"]
    rows += [f"| `{c['name']}` | {c['unit']} | {plain(c['doc'])} |" for c in columns]
    return "\n".join(rows) + "\n"


def plugin_head(d: dict[str, Any], section: str) -> str:
    """The description that a plugin gives of itself: the first part of its page."""
    summary = plain(d["summary"])
    text = f"# {d['name']}\n\n{summary[:1].upper()}{summary[1:]}.\n\n"
    backends = " and ".join(d["backends"])
    text += f"- Kind: {d['kind']}, version {d['version']}, licence {d['license']}, runs on {backends}\n"
    text += f"- Source: {plain(d['reference'])}\n"
    text += f"- Limits: {plain('; '.join(d['limits'])) if d['limits'] else 'none found'}\n"
    for words, name in (("Needs", "needs"), ("Provides", "provides"), ("Pairs", "pairs")):
        if d[name]:
            text += f"- {words}: {plain(', '.join(d[name]))}\n"
    if d["kind"] != "collision":
        text += f"- Fit: [which plugins go together]({os.path.relpath(FIT, section)})\n"
    text += "\n## All keys\n\n" + (key_table(d["params"]) if d["params"] else "It has no keys.\n")
    for table, name in (("iters", "columns"), ("steps", "step_columns")):
        if d[name]:
            text += f"\n## Columns of /{table}\n\n{column_table(d[name])}"
    return text


def fit_page(rows: list[dict[str, Any]]) -> str:
    """A table of contact models by solvers, and the reasons below it."""
    solvers = sorted({r["solver"] for r in rows if r["section"].startswith("contact")})
    models = sorted({r["plugin"] for r in rows if r["section"].startswith("contact")})
    reasons: dict[str, int] = {}
    text = (
        f"# Which plugins go together\n\nFor `{FITTED}`, as `./loom list --fit {FITTED}` finds it; the same "
    )
    text += "command answers for another scene. A number is the reason below.\n\n"
    links = {s: f"[`{s}`](../plugins/solvers/{s}/README.md)" for s in solvers}
    text += f"| | {' | '.join(links[s] for s in solvers)} |\n|---|{'---|' * len(solvers)}\n"
    by = {(r["plugin"], r["solver"]): r for r in rows if r["section"].startswith("contact")}
    for model in models:
        cells = []
        for solver in solvers:
            row = by[model, solver]
            cells.append("fits" if row["fits"] else str(reasons.setdefault(row["why"], len(reasons) + 1)))
        text += f"| [`{model}`](../plugins/contact/{model}/README.md) | {' | '.join(cells)} |\n"
    return text + "\n" + "".join(f"{n}. {plain(why)}\n" for why, n in reasons.items())


# ---- the whole ----
def stage_all(stage: Stage) -> list[Any]:
    """Writes all pages; the menu."""
    listed = stage.ask("list")["plugins"]
    in_tree = {(p["kind"], p["name"]) for p in listed if (stage.root / plugin_page(p)).is_file()}
    heads: dict[Path, str] = {}
    for name in sorted({name for _, name in in_tree}):
        for d in stage.ask("describe", name):
            if (d["kind"], d["name"]) in in_tree:
                heads[plugin_page(d)] = plugin_head(d, str(plugin_page(d).parent))
    for page in sorted(stage.sources):
        lines = stage.text_of(page)
        if page in heads:
            lines = [heads[page], "## Method", *lines[1:]]
        stage.write(page, "\n".join(lines) + "\n")
    stage.write("site.css", STYLE)
    stage.write(KEYS, keys_page(stage))
    stage.write(FIT, fit_page(stage.ask("list", "--fit", FITTED)["fit"]))
    commands = stage.commands()
    for name, doc in commands:
        text = f"# loom {name}\n\n{doc[:1].upper()}{doc[1:]}\n\n```text\n{stage.help_of(name)}```\n"
        stage.write(f"{COMMANDS}/{name}.md", text)
    return menu(stage, [name for name, _ in commands], set(heads))


def plugin_page(d: dict[str, Any]) -> Path:
    return Path("plugins", KINDS[d["kind"]], d["name"], "README.md")


def keys_page(stage: Stage) -> str:
    """All keys of a configuration but those of plugins."""
    text = "# Keys of a configuration\n\nEvery section and key of the core, as `loom describe SECTION` "
    text += "prints it. Keys of a plugin stand on the plugin's page.\n"
    for name in stage.sections():
        for d in stage.ask("describe", name):
            title = d["section"].strip("[]")
            text += f"\n## {title}\n\n{key_table(d['params'])}"
            if "plugin_kind" in d:
                text += f"\nThe plugin that the key `plugin` names adds its own keys ({d['plugin_kind']}).\n"
    return text


def menu(stage: Stage, commands: list[str], plugins: set[Path]) -> list[Any]:
    parts: list[Any] = [{"Home": "README.md"}]
    use, reference, develop = ([f"{DOC}/{name}" for name in MENU[part]] for part in MENU)
    parts.append({"Use": use})
    kinds: list[Any] = []
    for kind, folder in KINDS.items():
        found = sorted(p for p in plugins if p.parts[1] == folder)
        kinds.append({kind.capitalize(): [{p.parts[2]: str(p)} for p in found]})
    kits = [str(p) for p in sorted(stage.sources) if p.parts[:2] == ("plugins", "kit")]
    parts.append({"Plugins": [f"{DOC}/plugins.md", FIT, *kinds, {"Kits": kits}]})
    parts.append({"Reference": [KEYS, *reference, "configs/README.md",
                                {"Commands": [{n: f"{COMMANDS}/{n}.md"} for n in commands]}]})  # fmt: skip
    experiments = [str(p) for p in sorted(stage.sources) if p.parts[0] == "experiments"]
    experiments.sort(key=lambda p: p != "experiments/README.md")
    parts.append({"Experiments": experiments})
    shown = [str(p) for p in sorted(stage.copied) if p.name == "README.md"]
    parts.append({"Develop": [*develop, *shown]})
    return parts


def settings(stage: Path, site: Path, nav: list[Any]) -> dict[str, Any]:
    check = dict.fromkeys(("not_found", "anchors", "absolute_links", "unrecognized_links"), "warn")
    return {
        "site_name": "loom", "docs_dir": str(stage), "site_dir": str(site), "nav": nav, "strict": True,
        "theme": {"name": "readthedocs", "highlightjs": False, "navigation_depth": 3},
        "use_directory_urls": False, "extra_css": ["site.css"], "plugins": ["search"],
        "validation": {"links": check, "nav": {"omitted_files": "warn", "not_found": "warn"}},
        "markdown_extensions": ["tables", "fenced_code", {"toc": {"permalink": True}},
                                {"codehilite": {"guess_lang": False, "noclasses": True}}],
    }  # fmt: skip


class Told(logging.Handler):
    """The warnings of MkDocs, one line each."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage().strip())


def make_site(pages: Path, site: Path, nav: list[Any]) -> None:
    """LogError with all warnings of MkDocs, if there are any."""
    from mkdocs.commands.build import build
    from mkdocs.config import load_config
    from mkdocs.exceptions import Abort, MkDocsException

    told = Told()
    log = logging.getLogger("mkdocs")
    log.addHandler(told)
    log.propagate = False
    config = pages.parent / "mkdocs.yml"
    config.write_text(json.dumps(settings(pages, site, nav)))
    try:
        build(load_config(str(config)))
    except (Abort, MkDocsException) as error:
        told.lines.append(str(error).strip())
    finally:
        log.removeHandler(told)
    if told.lines:
        raise LogError("the site was not made: " + "; ".join(told.lines))
    (site / MARK).write_text("")


def make_all(root: Path, binary: str, site: Path) -> int:
    """Makes the site of all pages; their number."""
    with tempfile.TemporaryDirectory(prefix="loom-docs-") as work:
        stage = Stage(root, binary, Path(work) / "pages")
        make_site(stage.folder, site, stage_all(stage))
        return sum(1 for _ in stage.folder.rglob("*.md"))


def replace_site(made: Path, site: Path) -> None:
    if site.exists():
        shutil.rmtree(site)
    site.parent.mkdir(parents=True, exist_ok=True)
    os.replace(made, site)


def check_site(site: Path) -> None:
    """LogError where the folder may not be replaced."""
    if site.is_symlink() or (site.exists() and not site.is_dir()):
        raise LogError(f"-o {site}: is a file or a link; name a folder")
    if site.is_dir() and any(site.iterdir()) and not (site / MARK).is_file():
        raise LogError(f"-o {site}: was not made by `./loom docs`; name another folder, or remove it")


def serve(site: Path, port: int) -> None:
    from functools import partial
    from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

    handler = partial(SimpleHTTPRequestHandler, directory=str(site))
    with ThreadingHTTPServer(("localhost", port), handler) as server:
        terminal.say("docs", f"http://localhost:{port} shows the site; Ctrl-C ends it")
        server.serve_forever()


def main(argv: list[str]) -> int:
    args = parse(argv)
    root, site = Path(os.environ["LOOM_ROOT"]).resolve(), Path(args.output).absolute()
    check_site(site)
    site.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".loom-docs-", dir=site.parent) as work:
        made = Path(work) / "site"
        count = make_all(root, os.environ["LOOM_BIN"], made)
        replace_site(made, site)
    print(f"{site / 'index.html'}: {count} pages")
    if args.serve:
        serve(site, args.serve)
    return 0


if __name__ == "__main__":
    command.run("docs", main)
