"""The place where rows are measured: meshes, configs and runs of an Experiment, and the inputs that a control
disturbs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from loomcloth.errors import FigureError


@dataclass
class Row:
    """One measured quantity against theory.  `control`: the wrong input of `--disturb KEY`; `note`: words in
    place of a verdict, for elements that are no plate and are printed as a comparison; `cause`: the reason of
    a row that is known to miss its tolerance."""

    key: str
    quantity: str
    method: str  # element or solver, mesh
    theory: float
    measured: float
    tolerance: float  # of theory, or absolute where theory is 0
    control: str
    note: str = ""
    cause: str = ""

    @property
    def error(self) -> float:
        return self.measured / self.theory - 1 if self.theory else self.measured

    @property
    def passed(self) -> bool:
        # a NaN has missed
        return abs(self.error) <= self.tolerance

    @property
    def verdict(self) -> str:
        return self.note or ("yes" if self.passed else "MISSED")


@dataclass
class Sheet:
    """A triangulation of tests/support/sheets.h."""

    path: Path
    points: np.ndarray  # [n][2], m
    rings: np.ndarray  # [n], edges from the boundary
    faces: list[str]


class Laboratory:
    """experiment: runs and keeps logs; its `disturb` has the keys of the rows whose input is changed."""

    def __init__(self, experiment: Any, quick: bool = False):
        self.experiment, self.quick = experiment, quick
        self.disturb: set[str] = set(experiment.disturb)
        self._disturbed = False

    def factor(self, key: str, factor: float = 1.1) -> float:
        """1, or `factor` where the row KEY is disturbed; multiplies an input of the run that comes next."""
        if key not in self.disturb:
            return 1.0
        self.experiment.disturb.discard(key)
        self._disturbed = True
        return factor

    def write(self, name: str, text: str) -> Path:
        """out/NAME, left alone where it has this text: runs that read it are not run again."""
        path: Path = self.experiment.out / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
        return path

    def sheet(self, kind: str, n: int, across: int, length: float, width: float, cell: float = 0.0) -> Sheet:
        """About n x across cells of length x width (m); cell: length of one more column before x = 0."""
        words = [kind, n, across, f"{length:.17g}", f"{width:.17g}", *([f"{cell:.17g}"] if cell else [])]
        name = "-".join(str(w).replace(" ", "_") for w in (kind, n, across, f"{length:g}", f"{width:g}"))
        path = self.experiment.program("write_sheet", words, f"{name}{'-held' if cell else ''}.obj")
        if not path.exists():  # of a plan
            raise OSError(path)
        points, rings, faces = [], [], []
        for line in path.read_text().splitlines():
            word, *rest = line.split()
            if word == "v":
                points.append([float(v) for v in rest[:2]])
            elif word == "#":
                rings.append(int(rest[1]))
            else:
                faces.append(line)
        return Sheet(path, np.array(points), np.array(rings), faces)

    def posed(self, name: str, sheet: Sheet, heights: np.ndarray) -> Path:
        """The mesh with heights z [n] (m), for `positions`."""
        rows = [f"v {x:.17g} {y:.17g} {z:.17g}" for (x, y), z in zip(sheet.points, heights, strict=True)]
        return self.write(name, "\n".join(rows + sheet.faces) + "\n")

    def friction(self, scene: str, solver: str, contact: str, factor: float) -> str:
        """Output of the test same_physics for one scene and pair, with all coefficients times `factor`."""
        words = {"PHYSICS": "all", "ROWS": scene, "SOLVERS": solver, "CONTACTS": contact}
        words["FRICTION"] = f"{factor:g}"
        name = f"friction-{scene}-{solver}-{contact}{'-disturbed' if factor != 1 else ''}.txt"
        self._disturbed = False
        path = self.experiment.program(
            "test_same_physics", ["--filter", "same_physics/table"], name, source="tests/physics",
            environment={f"LOOM_SAME_{key}": value for key, value in words.items()},
        )  # fmt: skip
        if not path.exists():  # of a plan
            raise OSError(path)
        return str(path.read_text())

    def run(self, name: str, scene: str, text: str, inputs: Sequence[Path] = ()) -> Path:
        """The log of a scene of experiments/validation with more sections, written as out/NAME.ini."""
        if self._disturbed:
            name += "-disturbed"
        self._disturbed = False
        config = self.write(f"{name}.ini", f"include = {self.experiment.folder.resolve() / scene}\n{text}")
        path: Path = self.experiment.run(name, config, inputs=list(inputs))
        self.experiment.read[path] = self.experiment.folder / scene
        if not path.exists():  # of a plan
            raise OSError(path)
        return path


def across(kind: str, n: int, share: float) -> int:
    """Cells across a strip of width `share` of its length, for cells as wide as they are long."""
    return max(2, round(share * n / (math.sqrt(0.75) if kind == "equilateral" else 1)))


def worst(values: Sequence[float], theory: float = 1.0) -> float:
    """The value that is furthest from theory; NaN if there is one."""
    if not len(values):
        raise FigureError("a row has no values")
    if any(math.isnan(v) for v in values):
        return math.nan
    return max(values, key=lambda v: abs(v - theory))
