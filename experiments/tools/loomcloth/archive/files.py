"""The files that a study reads, and their places in an archive.

Files that name each other by relative paths keep their places to each other.  A file that is named by an
absolute path, or that is found in a folder of the search path, and lies elsewhere, gets a place below
`outside/`; the texts that name it are rewritten.  A material and an animation of the search path have no path
in the text: they are copied beside the configuration that names them.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from loomcloth import search
from loomcloth.errors import LogError
from loomcloth.sweep.plan import FRAME_NUMBER, Plan, included
from loomcloth.sweep.spec import Spec

OUTSIDE = "outside"
OVERLAY = re.compile(r"@\s*([^\s|,;\"'\]]+)")  # in a specification; names of the search path have no blanks
COMMENT = re.compile(r"\s[;#].*$|^[;#].*$")


def values(text: str) -> Iterator[tuple[int, str, str]]:
    """Line, key and value of each setting of an INI text, without comment and quotes."""
    for number, line in enumerate(text.splitlines(), 1):
        key, sign, value = COMMENT.sub("", line).partition("=")
        if sign:
            yield number, key.strip(), value.strip().strip("\"'")


class Link(NamedTuple):
    """A text that names a file."""

    holder: Path  # the file with the text
    text: str
    path: Path
    searched: bool = False  # found in a folder of the search path

    @property
    def is_apart(self) -> bool:
        """Whether the text is rewritten where the file gets another place."""
        return self.searched or os.path.isabs(self.text)


def _named(folder: Path, key: str, value: str) -> Iterator[tuple[str, Path]]:
    """Text and path of each file that a value names, relative to this folder or absolute."""
    if search.is_name(key, value):
        path = search.near(folder, key, value)
        if path:
            yield value, path
        return
    for word in dict.fromkeys([value, *value.split()]):
        if key != "include" and (not re.search(r"[./]", word) or len(word) > 4096):
            continue
        path = Path(os.path.normpath(folder / word))
        if path.is_file():
            yield word, path
        elif FRAME_NUMBER.search(word):
            for one in sorted(glob.glob(FRAME_NUMBER.sub("*", glob.escape(str(path))))):
                yield word, Path(one)


@dataclass
class Files:
    """Every file of the archive beside the logs, by its path here."""

    found: dict[Path, str] = field(default_factory=dict)  # path: kind
    links: list[Link] = field(default_factory=list)
    copies: dict[tuple[Path, str], Path] = field(default_factory=dict)  # folder, path from it: of which file
    folders: tuple[Path, ...] = ()  # the search path
    roots: list[Path] = field(default_factory=list)  # of the groups; the first one is the specification's
    outputs: list[Path] = field(default_factory=list)  # folders of the sweeps

    def add(self, path: Path, kind: str) -> None:
        """A file, and those that it names."""
        if path in self.found:
            return
        self.found[path] = kind
        if path.suffix != ".ini":
            return
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise LogError(f"{path}: cannot be read: {error}") from None
        for _, key, value in values(text):
            kind = "configuration" if key == "include" else "input"
            beside = list(_named(path.parent, key, value))
            for word, named in beside:
                self.link(path, word, named, kind)
            found = search.shared(value, self.folders) if key == "include" and not beside else None
            if found:
                self.link(path, value, found, kind, True)
            if not beside:
                self.copy(path.parent, path.parent, key, value)

    def copy(self, folder: Path, target: Path, key: str, value: str) -> None:
        """A material or an animation of the search path, which configurations of `folder` name, gets a copy
        in the folder `target`."""
        if not search.is_name(key, value) or search.near(folder, key, value):
            return
        name = search.name_of(key, value)
        found = search.shared(name, self.folders)
        if found:
            self.copies[target, name] = found

    def link(self, holder: Path, text: str, path: Path, kind: str, searched: bool = False) -> None:
        self.links.append(Link(holder, text, path, searched))
        if path.suffix != ".h5" or not self._is_output(path):
            self.add(path, kind)

    def _is_output(self, path: Path) -> bool:
        return any(path.is_relative_to(o) for o in self.outputs)

    def add_output(self, spec: Path, text: str, folder: Path) -> None:
        self.links.append(Link(spec, text, folder))

    def add_plan(self, plan: Plan, origin: Plan) -> None:
        """The specification and the files of its runs; origin: the plan that the specification describes."""
        spec = plan.spec
        self.folders = search.folders(search.binary(), spec.folder)
        self.add(spec.path, "specification")
        name = origin.spec.options["config"]
        config, searched = search.from_specification(spec.folder, name)
        self.link(spec.path, name, Path(os.path.normpath(config)), "configuration", searched)
        overlays = dict(self._searched(spec))
        for c in plan.fits:
            for overlay in c.run.overlays:
                word = overlays.get(overlay, "")
                self.links.append(Link(spec.path, word or str(overlay), overlay, bool(word)))
                if not overlay.is_relative_to(origin.spec.output):
                    self.add(overlay, "configuration")
            # beside the configuration that the run begins with; that of overlays is made anew by each plan
            top = Path(os.path.normpath(c.config)).parent
            target = top.parent if c.run.overlays else top
            for key, value in c.run.sets.items():
                at = top if search.is_name(key, value) else spec.folder
                for word, path in _named(at, key, value):
                    self.link(spec.path, word, path, "input")
                self.copy(top, target, key, value)

    def _searched(self, spec: Spec) -> Iterator[tuple[Path, str]]:
        """Real path and text of each overlay that a specification names and the search path has."""
        for found in re.finditer(OVERLAY, spec.path.read_text(encoding="utf-8")):
            path, searched = search.from_specification(spec.folder, found[1])
            if searched:
                yield Path(os.path.realpath(path)), found[1]

    def settle(self, spec: Path) -> None:
        """Groups of files that stay together, and the root of each."""
        groups: list[set[Path]] = []
        together = [(link.holder, link.path) for link in self.links if not link.is_apart]
        # overlays are known by their real paths alone: relative where the specification has no such text
        text_of_spec = spec.read_text(encoding="utf-8")
        together += [(h, p) for h, text, p, searched in self.links
                     if not searched and os.path.isabs(text) and h == spec and text not in text_of_spec]
        for pair in [(spec, spec), *together, *((p, p) for p in (*self.found, *self.outputs))]:
            hit = [g for g in groups if g & set(pair)]
            groups = [g for g in groups if g not in hit] + [set(pair).union(*hit)]
        groups.sort(key=lambda g: spec not in g)
        roots = [Path(os.path.commonpath([p.parent for p in g])) for g in groups]
        self.roots = []
        for root in [roots[0], *sorted(roots[1:], key=lambda r: len(r.parts))]:
            if not any(root.is_relative_to(r) for r in self.roots):
                self.roots.append(root)

    def place(self, path: Path) -> str:
        """The path of a file or folder in the archive."""
        for i, root in enumerate(self.roots):
            if path.is_relative_to(root):
                name = path.relative_to(root).as_posix()
                return f"{OUTSIDE}/{i}/{name}" if i else name
        raise LogError(f"{path}: has no place in the archive")

    def text_of(self, path: Path) -> str:
        """A text of the archive; an absolute path in it is made one from the folder of the file."""
        text = path.read_text(encoding="utf-8")
        here = os.path.dirname(self.place(path))
        for holder, word, named, searched in sorted(self.links, key=lambda link: -len(link.text)):
            if holder != path or not (searched or os.path.isabs(word)):
                continue
            there = os.path.relpath(self.place(named), here or ".")
            text = _with_path(text, word, included(there)) if searched else text.replace(word, there)
        return text


def _with_path(text: str, word: str, path: str) -> str:
    """The text with another path in each `include = word`, `config = word` and `@word`."""
    line = rf"(?m)(^\s*(?:include|config)\s*[=:]\s*|@\s*)([\"']?){re.escape(word)}\2(?=[\s|,;\"'\]]|$)"
    return re.sub(line, lambda found: found[1] + path, text)


def absolute(text: str, machine: Iterable[str]) -> tuple[int, str] | None:
    """Line and text of the first value that names a place of this machine, None if there is none; machine:
    folders whose names must not be in it either."""
    for number, _, value in values(text):
        for word in re.split(r"[\s|,:]+", value):
            path = word.lstrip("@").strip("\"'")
            if path.startswith("/") and (len(Path(path).parts) > 1) and (
                os.path.lexists(path) or any(path.startswith(m) for m in machine)
            ):
                return number, path
    return None
