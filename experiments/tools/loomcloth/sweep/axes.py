"""Axes of a grid: the choices of one key, or of several keys that vary together."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loomcloth.config import short_names
from loomcloth.errors import SpecError, near
from loomcloth.search import from_specification, is_file

SEPARATOR, TOGETHER = "|", ","  # between the choices of an axis, between keys that vary together


@dataclass(frozen=True)
class Part:
    """The share of one key in a choice: its value, or a file that is included."""

    key: str
    text: str
    overlay: Path | None = None

    @property
    def word(self) -> str:
        """In the name of a run; of a path the file's name, but the / of a unit is none of a path."""
        is_number = re.match(r"[-+]?[0-9.]+(e[-+]?[0-9]+)?( |$)", self.text)
        text = self.text if is_number else self.text.rsplit("/", 1)[-1]
        word = self.overlay.stem if self.overlay else text
        return re.sub(r"[^A-Za-z0-9_.+-]+", "x", word)


@dataclass(frozen=True)
class Value:
    """One choice of an axis: a part for each key that varies."""

    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        return f"{TOGETHER} ".join(p.text for p in self.parts)

    @property
    def word(self) -> str:
        return "_".join(p.word for p in self.parts)


def keys_of(axis: str) -> list[str]:
    return [k.strip() for k in axis.split(TOGETHER)]


def name_of(axis: str) -> str:
    """One way to write an axis."""
    return f"{TOGETHER} ".join(keys_of(axis))


def overlay_of(folder: Path, text: str, place: str) -> Path:
    """The file of @FILE: of the folder of the specification, or of the search path."""
    path = Path(os.path.realpath(from_specification(folder, text[1:].strip())[0]))
    if not is_file(path):
        raise SpecError(f"{place}: {path}: there is no such file")
    return path


def values_of(folder: Path, axis: str, given: Any, place: str) -> list[Value]:
    """The choices of an axis; place: for messages, file, line and key."""
    words = given if isinstance(given, list) else [w.strip() for w in str(given).split(SEPARATOR)]
    if not words or any(not isinstance(w, str) or w == "" for w in words):
        raise SpecError(f"{place}: values with '{SEPARATOR}' between them are expected")
    keys = keys_of(axis)
    rows = [[p.strip() for p in w.split(TOGETHER)] if len(keys) > 1 else [w] for w in words]
    for row in rows:
        if len(row) != len(keys) or "" in row:
            raise SpecError(
                f"{place}: {len(keys)} keys vary together, so that each choice has {len(keys)} values with "
                f"'{TOGETHER}' between them, not '{f'{TOGETHER} '.join(row)}'"
            )
    columns = [_column(folder, key, [row[i] for row in rows], place) for i, key in enumerate(keys)]
    values = [Value(parts) for parts in zip(*columns, strict=True)]
    twice = [v.text for v in values if values.count(v) > 1]
    if twice:
        raise SpecError(f"{place}: '{twice[0]}' stands there twice")
    return values


def _column(folder: Path, key: str, words: list[str], place: str) -> list[Part]:
    overlays = [w.startswith("@") for w in words]
    if any(overlays):
        if not all(overlays):
            raise SpecError(f"{place}: all values are overlays (@FILE) or none is")
        return [Part(key, w, overlay_of(folder, w, place)) for w in words]
    if "." not in key:
        raise SpecError(f"{place}: section.key is expected, or overlays: @FILE")
    return [Part(key, w) for w in words]


def placed(text: str, words: dict[str, str], place: Callable[[], str]) -> str:
    """A text in which {AXIS} is the word that the axis has in the name of a run.  Braces around another
    text stay; SpecError where that text is nearly the name of an axis."""

    def word(found: re.Match[str]) -> str:
        name = found[1].strip()
        if name in words:
            return words[name]
        if difflib.get_close_matches(name, list(words), 1):
            raise SpecError(f"{place()}: {{{name}}} is no axis of [grid]{near(name, words)}")
        return found[0]

    return re.sub(r"\{([^{}]*)\}", word, text)


def words_of(choice: dict[str, Value]) -> dict[str, str]:
    """Of a combination: the word of each axis, of each key of it, and by the short names of these keys."""
    found = {p.key: p.word for v in choice.values() for p in v.parts}
    short = {name: found[key] for key, name in short_names(list(found)).items()}
    return short | found | {axis: value.word for axis, value in choice.items()}
