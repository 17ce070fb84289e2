"""A sweep's specification, INI or YAML: varied keys, fixed keys, limits of a job."""

from __future__ import annotations

import configparser
import hashlib
import itertools
import math
import os
import re
import shlex
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from loomcloth.errors import SpecError, near
from loomcloth.search import from_specification, is_file
from loomcloth.sweep import reference
from loomcloth.sweep.axes import (
    SEPARATOR,
    Value,
    keys_of,
    name_of,
    placed,
    values_of,
    words_of,
)  # fmt: skip
from loomcloth.sweep.reference import Reference

MOST_BYTES = 1 << 20  # of a specification
MOST = 20_000  # combinations, unless [sweep] limit says otherwise
# Keys of [sweep]: default and meaning.
OPTIONS: dict[str, tuple[str, str]] = {
    "config": ("", "the configuration that all runs begin with"),
    "after": ("", "specifications whose runs are made first, '|' between them"),
    "replicate": ("", "axes whose values are samples of one thing, such as seeds, '|' between them"),
    "output": ("", "folder of the logs (default: out/NAME beside the specification)"),
    "threads": ("1", "threads of a run"),
    "group": ("0", "runs of a job, 0: as many as keep all cores busy"),
    "time": ("60", "minutes that a job may take"),
    "memory": ("2000", "MB that a job may take"),
    "retries": ("2", "times that a job is started again after it died"),
    "scratch": ("", "folder of the node in which runs work, such as $TMPDIR; logs are copied back"),
    "copy_every": ("10", "minutes after which a run in scratch is copied back"),
    "limit": (str(MOST), "combinations at most"),
}
SLURM: dict[str, tuple[str, str]] = {
    "partition": ("", "partition, as sinfo names it"),
    "account": ("", "account"),
    "jobs": ("50", "jobs in the queue at once"),
    "extra": ("--requeue", "further options of sbatch"),
}
BESIDE = (".check", ".check.prev", ".old")  # NAME.check.h5 is the checkpoint of NAME.h5
SECTIONS = ("sweep", "reference", "set", "grid", "slurm")
REPLAY = ("run.replay_first", "run.replay_state")  # keys that need run.replay
POSITIVE = ("threads", "time", "memory", "copy_every", "jobs")
NUMBERS = ("threads", "group", "time", "memory", "retries", "copy_every", "limit", "jobs")


@dataclass
class Run:
    """One combination."""

    name: str
    sets: dict[str, str]
    overlays: list[Path] = field(default_factory=list)
    choice: dict[str, Value] = field(default_factory=dict)  # of each axis
    has_reference: bool = False  # [reference] will name the log that is replayed

    def words(self) -> list[str]:
        """Before the reference is made, without the keys that a replay alone has."""
        later = REPLAY if self.has_reference and "run.replay" not in self.sets else ()
        return [w for k, v in self.sets.items() if k not in later for w in ("--set", f"{k}={v}")]


@dataclass
class Spec:
    path: Path
    options: dict[str, str]
    slurm: dict[str, str]
    fixed: dict[str, str]
    grid: dict[str, list[Value]]
    lines: dict[tuple[str, str], int]
    reference: Reference | None = None
    overlays: list[Path] = field(default_factory=list)  # of every run, after those of the grid
    title: str = ""  # of a run where nothing varies

    @property
    def folder(self) -> Path:
        return self.path.parent

    @property
    def config(self) -> Path:
        return from_specification(self.folder, self.options["config"])[0]

    @property
    def after(self) -> list[Path]:
        """Specifications whose runs end before these begin."""
        return [self.folder / w.strip() for w in self.options["after"].split(SEPARATOR) if w.strip()]

    @property
    def output(self) -> Path:
        return self.folder / (self.options["output"] or f"out/{self.path.stem}")

    def number(self, name: str) -> int:
        return int({**self.options, **self.slurm}[name])

    def place(self, section: str, key: str) -> str:
        line = self.lines.get((section, key))
        return f"{self.path}{f':{line}' if line else ''}: [{section}] {key}"

    @property
    def compares(self) -> bool:
        """Whether a plan needs the resolved configurations."""
        return self.reference is not None or bool(self.replicates)

    @property
    def replicates(self) -> list[str]:
        """Axes over which a table takes means."""
        return [name_of(w) for w in self.options["replicate"].split(SEPARATOR) if w.strip()]

    @property
    def count(self) -> int:
        return math.prod(len(v) for v in self.grid.values())

    def combinations(self) -> Iterator[tuple[Value, ...]]:
        return itertools.product(*self.grid.values())

    def runs(self) -> list[Run]:
        """Every combination, with a name that says which it is."""
        found = []
        for values in self.combinations():
            choice = dict(zip(self.grid, values, strict=True))
            words = words_of(choice)
            sets = {k: placed(v, words, partial(self.place, "set", k)) for k, v in self.fixed.items()}
            overlays = []
            for part in (p for v in values for p in v.parts):
                if part.overlay:
                    overlays.append(part.overlay)
                else:
                    sets[part.key] = part.text
            overlays += self.overlays
            many = [v.word for v, among in zip(values, self.grid.values(), strict=True) if len(among) > 1]
            name = "__".join(many) or self.title or self.path.stem
            found.append(Run(name, sets, overlays, choice, self.reference is not None))
        names = Counter(r.name for r in found)
        for run in found:
            if len(run.name) > 100 or names[run.name] > 1 or run.name.endswith(BESIDE):
                names_of = [os.path.relpath(p, self.folder) for p in run.overlays]
                what = repr((sorted(run.sets.items()), names_of))
                run.name = f"{run.name[:80]}__{hashlib.sha256(what.encode()).hexdigest()[:8]}"
        return found


def _read_ini(path: Path, text: str) -> dict[str, dict[str, Any]]:
    parser = configparser.ConfigParser(
        interpolation=None, delimiters=("=",), inline_comment_prefixes=(";",), comment_prefixes=(";", "#")
    )
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    try:
        parser.read_string(text, str(path))
    except (configparser.Error, ValueError, AttributeError) as error:
        raise SpecError(" ".join(str(error).split())) from None
    return {name: dict(parser[name]) for name in parser.sections()}


def _read_yaml(path: Path, text: str) -> dict[str, dict[str, Any]]:
    import yaml

    try:
        data = yaml.load(text, Loader=yaml.BaseLoader)  # texts as they stand: no numbers, no dates
    except RecursionError:
        raise SpecError(f"{path}: lists or sections are nested too deep") from None
    except (yaml.YAMLError, ValueError, TypeError) as error:
        raise SpecError(f"{path}: {' '.join(str(error).split())}") from None
    if not isinstance(data, dict) or not all(isinstance(v, dict) for v in data.values()):
        raise SpecError(f"{path}: sections with keys are expected: {', '.join(SECTIONS)}")
    for name, section in data.items():
        for key, value in section.items():
            values = value if isinstance(value, list) and name == "grid" else [value]
            if not all(isinstance(w, str) for w in (*values, key, name)):
                raise SpecError(f"{path}: [{name}] {key}: a text is expected, in [grid] also a list")
    return data


def _lines(text: str) -> dict[tuple[str, str], int]:
    section, found = "", {}
    for number, line in enumerate(text.splitlines(), 1):
        head = re.match(r"\[([^]]+)\]|([a-z]+):\s*$", line)
        key = re.match(r"\s*([^=:;#]+?)\s*[=:]", line)
        if head:
            section = head[1] or head[2]
        elif key:
            found[section, name_of(key[1])] = number
    return found


def _options(
    spec: Spec, section: str, given: dict[str, Any], known: dict[str, tuple[str, str]]
) -> dict[str, str]:
    for key, value in given.items():
        if key not in known:
            raise SpecError(f"{spec.place(section, key)}: unknown key{near(key, known)}")
        if key in NUMBERS:
            if not re.fullmatch(r"[0-9]{1,9}", str(value)):
                raise SpecError(f"{spec.place(section, key)}: a whole number is expected (9 digits at most), "
                                f"not '{value}'")  # fmt: skip
            if key in POSITIVE and int(value) < 1:
                raise SpecError(f"{spec.place(section, key)}: at least 1 is expected")
    return {k: str(given.get(k, default)) for k, (default, _) in known.items()}


def quoted(spec: Spec) -> str:
    """[slurm] extra as words that no shell reads otherwise: the submitting command is a line of a shell."""
    try:
        return shlex.join(shlex.split(spec.slurm["extra"]))
    except ValueError as error:
        raise SpecError(f"{spec.place('slurm', 'extra')}: is no list of words: {error}") from None


def read(path: str | Path) -> Spec:
    """SpecError with file, line and the nearest valid name where something is wrong."""
    path = Path(path)
    if re.search(r"[\x00-\x1f\x7f]", str(path.absolute())):
        raise SpecError(f"{str(path)!r}: a path with control characters, such as a line break, is not taken: "
                        "rename it")  # fmt: skip
    try:
        if path.stat().st_size > MOST_BYTES:
            raise SpecError(f"{path}: has more than {MOST_BYTES} bytes")
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise SpecError(f"{path}: cannot be read: {error}") from None
    data = (_read_yaml if path.suffix in (".yaml", ".yml") else _read_ini)(path, text)
    for name, section in data.items():
        if name not in SECTIONS:
            raise SpecError(f"{path}: unknown section [{name}]{near(name, SECTIONS)}")
        for key, value in section.items():
            for word in [key, *(value if isinstance(value, list) else [value])]:
                if re.search(r"[\x00-\x1f\x7f]", str(word)):
                    raise SpecError(f"{path}: [{name}] {key}: a line break or control character is in it")
    spec = Spec(path.resolve(), {}, {}, {}, {}, _lines(text))
    spec.options = _options(spec, "sweep", data.get("sweep", {}), OPTIONS)
    spec.slurm = _options(spec, "slurm", data.get("slurm", {}), SLURM)
    if not spec.options["config"]:
        raise SpecError(f"{path}: [sweep] config is missing: the file that all runs begin with")
    spec.slurm["extra"] = quoted(spec)
    if not is_file(spec.config):
        raise SpecError(f"{spec.place('sweep', 'config')}: {spec.config}: there is no such file")
    for other in spec.after:
        if not is_file(other):
            raise SpecError(f"{spec.place('sweep', 'after')}: {other}: there is no such file")
    spec.fixed = {k: str(v) for k, v in data.get("set", {}).items()}
    for key in spec.fixed:
        if "." not in key:
            raise SpecError(f"{spec.place('set', key)}: section.key is expected")
    if not data.get("grid"):
        raise SpecError(f"{path}: [grid] is empty: nothing varies; `loom run` does one run")
    for axis, given in data["grid"].items():
        name = name_of(axis)
        if name in spec.grid:
            raise SpecError(f"{spec.place('grid', name)}: stands there twice")
        spec.grid[name] = values_of(spec.folder, name, given, spec.place("grid", name))
    for axis in spec.replicates:
        if axis not in spec.grid:
            raise SpecError(f"{spec.place('sweep', 'replicate')}: '{axis}' is no axis of [grid]"
                            f"{near(axis, spec.grid)}")  # fmt: skip
    keys = Counter(k for axis in spec.grid for k in keys_of(axis))
    for axis in spec.grid:
        for key in keys_of(axis):
            if key in spec.fixed:
                raise SpecError(f"{spec.place('grid', axis)}: {key} stands in [set], too")
            if keys[key] > 1:
                raise SpecError(f"{spec.place('grid', axis)}: {key} varies twice")
    if "reference" in data:
        wanted = {k: str(v) for k, v in data["reference"].items()}
        spec.reference = reference.read(spec.folder, wanted, partial(spec.place, "reference"), spec.grid)
        for place, known in (("set", list(spec.fixed)), ("grid", list(keys))):
            if "run.replay" in known:
                raise SpecError(f"{spec.place(place, 'run.replay')}: [reference] says which log is replayed")
    if spec.count > spec.number("limit"):
        raise SpecError(
            f"{path}: {spec.count:,} combinations ({' x '.join(str(len(v)) for v in spec.grid.values())}), "
            f"at most {spec.number('limit'):,} are made; vary less, or raise [sweep] limit"
        )
    return spec
