"""Modules of loomcloth that the scripts of a figure import, directly or through another module."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

import loomcloth

PACKAGE = "experiments/tools/loomcloth"
# They run, list and check figures, and draw none of them.
PLUMBING = {"__init__", "drawing", "errors", "experiment", "figure", "made", "search"}


def _names(path: Path, lazy: bool) -> Iterator[str]:
    """Dotted names in a script that may be modules of the package, without its own name."""
    tree = ast.parse(path.read_text())
    # an import within a function of PLUMBING serves a few figures, which import the same module
    for node in ast.walk(tree) if lazy else tree.body:
        if isinstance(node, ast.Import):
            yield from (a.name.partition(".")[2] for a in node.names if a.name.startswith("loomcloth."))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "loomcloth":
            inside = (node.module or "").partition(".")[2]
            yield inside
            yield from (f"{inside}.{a.name}" if inside else a.name for a in node.names)
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "loomcloth":
            yield loomcloth._PLACES.get(node.attr, ("",))[0]


def _files(package: Path, name: str) -> Iterator[Path]:
    """The file of a module, and those of the packages that hold it."""
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        path = package.joinpath(*parts[:end])
        yield from (p for p in (path / "__init__.py", path.with_suffix(".py")) if p.is_file())


def modules(root: Path, folders: Iterable[Path]) -> set[str]:
    """Paths relative to the root of all modules that the scripts of the folders need for drawing."""
    package = root / PACKAGE
    seen = {p for folder in folders for p in folder.glob("*.py")}
    waiting, found = list(seen), set()
    while waiting:
        script = waiting.pop()
        for name in _names(script, script.parent != package or script.stem not in PLUMBING):
            for path in _files(package, name) if name else ():
                if path not in seen:
                    seen.add(path)
                    waiting.append(path)
                    found.add(path)
    inner = {str(p.relative_to(package).with_suffix("")): p for p in found}
    return {str(p.relative_to(root)) for name, p in inner.items() if name not in PLUMBING}
