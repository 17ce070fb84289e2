"""Measurements of one fabric: a CSV file as curves in SI units, or an error with its place.

A header, then a row for each point.  Lines that begin with # and empty ones are comments.  The column
`test` names the test of a row, and so which other columns it fills:

    weight       density
    tension      angle, strain, force, and contraction where it was measured
    cantilever   angle, length, and width where it is not 25 mm
    bending      angle, curvature, moment

A column that has a unit names it in brackets: `force (N/m)`.  UNITS has the ones that are known.
"""

from __future__ import annotations

import csv
import difflib
import math
from dataclasses import dataclass, field
from pathlib import Path

from loomcloth.errors import SpecError

GF = 9.80665e-3  # N, the weight of a gram
# Each unit as a multiple of the first one, which is loom's own.
UNITS: dict[str, dict[str, float]] = {
    "density": {"kg/m^2": 1.0, "g/m^2": 1e-3},
    "angle": {"deg": 1.0},
    "strain": {"1": 1.0, "%": 1e-2},
    "force": {"N/m": 1.0, "N/mm": 1e3, "N/cm": 1e2, "N/5cm": 20.0, "gf/cm": 100 * GF},
    "contraction": {"1": 1.0, "%": 1e-2},
    "width": {"m": 1.0, "cm": 1e-2, "mm": 1e-3},
    "length": {"m": 1.0, "cm": 1e-2, "mm": 1e-3},
    "curvature": {"1/m": 1.0, "1/cm": 1e2},
    "moment": {"N": 1.0, "N m/m": 1.0, "gf cm/cm": GF},
}
TESTS = {  # columns that a row of the test must fill
    "weight": ("density",),
    "tension": ("angle", "strain", "force"),
    "cantilever": ("angle", "length"),
    "bending": ("angle", "curvature", "moment"),
}
MAY = {"tension": ("contraction",), "cantilever": ("width",)}
FALL = 0.1  # share of its largest by which a force may fall, as noise; beyond it the strip gives way


@dataclass
class Curve:
    """Points of one test at one angle, in the order of the file."""

    test: str
    angle: float  # of the strip to the warp, degrees
    x: list[float] = field(default_factory=list)  # strain (1) or curvature (1/m); cantilever: none
    y: list[float] = field(default_factory=list)  # N/m, m or N
    side: list[float] = field(default_factory=list)  # tension: contraction (1), NaN where not measured
    width: float = float("nan")  # of a cantilever, m; NaN where the file has none

    @property
    def name(self) -> str:
        wide = "" if math.isnan(self.width) else f", {1000 * self.width:g} mm wide"
        return f"{self.test} at {self.angle:g} deg{wide}"


@dataclass
class Fabric:
    path: str
    density: float  # kg/m^2
    curves: list[Curve]

    def of(self, test: str) -> list[Curve]:
        return [c for c in self.curves if c.test == test]


def near(word: str, names: list[str]) -> str:
    found = difflib.get_close_matches(word, names, 1)
    return f"; did you mean '{found[0]}'?" if found else ""


def header(place: str, cells: list[str]) -> list[tuple[str, float]]:
    """(column, its unit in SI) of each cell."""
    columns = []
    for cell in cells:
        name, _, unit = (w.strip() for w in cell.strip().partition("("))
        if name == "test":
            columns.append((name, 1.0))
            continue
        if name not in UNITS:
            known = ["test", *UNITS]
            raise SpecError(f"{place}: no column '{name}'{near(name, known)}; there are: {', '.join(known)}")
        unit = unit.removesuffix(")").strip() or next(iter(UNITS[name]))
        if unit not in UNITS[name]:
            raise SpecError(
                f"{place}: column '{name}': unit '{unit}' is not known{near(unit, list(UNITS[name]))}; "
                f"there are: {', '.join(UNITS[name])}"
            )
        columns.append((name, UNITS[name][unit]))
    names = [name for name, _ in columns]
    for name in names:
        if names.count(name) > 1:
            raise SpecError(f"{place}: column '{name}' stands twice")
    if "test" not in names:
        raise SpecError(f"{place}: column 'test' is missing: it says {', '.join(TESTS)}")
    return columns


def number(place: str, name: str, cell: str, scale: float) -> float:
    try:
        value = float(cell)
    except ValueError:
        raise SpecError(f"{place}: {name} = '{cell}' is not a number (the decimal sign is a point)") from None
    if not abs(value) < float("inf"):
        raise SpecError(f"{place}: {name} = {cell} is not a finite number")
    return value * scale


def values_of(place: str, row: list[str], columns: list[tuple[str, float]]) -> tuple[str, dict[str, float]]:
    """The test of a row and the values of its cells, in SI units."""
    if len(row) > len(columns):
        raise SpecError(f"{place}: {len(row)} cells, but the header has {len(columns)}")
    cells = {name: (cell.strip(), scale) for (name, scale), cell in zip(columns, row, strict=False)}
    test = cells.pop("test", ("", 1.0))[0]
    if test not in TESTS:
        raise SpecError(f"{place}: no test '{test}'{near(test, list(TESTS))}; there are: {', '.join(TESTS)}")
    allowed = TESTS[test] + MAY.get(test, ())
    values = {}
    for name, (cell, scale) in cells.items():
        if cell and name not in allowed:
            raise SpecError(f"{place}: {name}: a row of {test} has {', '.join(allowed)} alone")
        if cell:
            values[name] = number(place, name, cell, scale)
    for name in TESTS[test]:
        if name not in values:
            why = "is empty" if name in cells else "is missing: the header has no such column"
            raise SpecError(f"{place}: a row of {test} needs {', '.join(TESTS[test])}; '{name}' {why}")
    return test, values


def check_values(place: str, values: dict[str, float]) -> None:
    if not 0 <= values.get("angle", 0) <= 90:
        raise SpecError(
            f"{place}: angle = {values['angle']:g}: 0 (along the warp) to 90 degrees (along the weft) "
            "are allowed; a fabric is taken to be the same at 90 + a and 90 - a"
        )
    for name in ("density", "force", "length", "width", "curvature", "moment", "strain"):
        first = next(iter(UNITS[name]))
        zero = name in ("force", "strain") and values.get("strain") == 0 and values.get("force") == 0
        if name in values and not values[name] > 0 and not zero:
            raise SpecError(f"{place}: {name} = {values[name]:g} {first}: it must be greater than 0")
    if values.get("strain", 0) > 1:
        raise SpecError(
            f"{place}: strain = {values['strain']:g}: more than twice the length; per cent are written "
            "under 'strain (%)'"
        )
    if not -0.5 < values.get("contraction", 0) < 0.9:
        raise SpecError(
            f"{place}: contraction = {values['contraction']:g}: width lost over width, from -0.5 to 0.9; "
            "per cent are written under 'contraction (%)'"
        )


def add_point(place: str, curve: Curve, values: dict[str, float]) -> None:
    """One point more, if it may follow the ones before it."""
    if curve.test == "cantilever":
        curve.y.append(values["length"])
        return
    x, y = ("strain", "force") if curve.test == "tension" else ("curvature", "moment")
    if values[x] == 0:
        return  # no strain, no force
    if curve.x and values[x] <= curve.x[-1]:
        raise SpecError(
            f"{place}: {curve.name}: {x} = {values[x]:g} after {curve.x[-1]:g}; it must increase from row "
            "to row: loading alone, of one specimen or the mean of several"
        )
    if curve.test == "tension" and curve.y and values[y] < max(curve.y) * (1 - FALL):
        raise SpecError(
            f"{place}: {curve.name}: force = {values[y]:g} falls from {max(curve.y):g}: a fabric that "
            "gives way has no positive stiffness; leave out what comes after the largest force"
        )
    curve.x.append(values[x])
    curve.y.append(values[y])
    if curve.test == "tension":
        curve.side.append(values.get("contraction", float("nan")))


def check_whole(path: str, density: float | None, curves: list[Curve]) -> float:
    """The density; SpecError where a test is missing."""
    if density is None:
        raise SpecError(f"{path}: no row of test 'weight' gives the density")
    angles = [c.angle for c in curves if c.test == "tension" and c.x]
    for need, word in ((0, "warp"), (90, "weft")):
        if need not in angles:
            raise SpecError(
                f"{path}: no tension at angle {need} (a strip along the {word}); there are: "
                f"{', '.join(f'{a:g}' for a in sorted(angles)) or 'none'}"
            )
    if not any(c.test in ("cantilever", "bending") for c in curves):
        raise SpecError(f"{path}: no row of test 'cantilever' or 'bending': one angle is the least")
    return density


def read(path: str) -> Fabric:
    """SpecError names file, line and the allowed values."""
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise SpecError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SpecError(f"{path}: not a text file in UTF-8") from None
    columns: list[tuple[str, float]] = []
    density: float | None = None
    curves: dict[tuple[str, float, float | None], Curve] = {}
    for i, line in enumerate(lines, 1):
        if not line.strip(" ,\t") or line.lstrip().startswith("#"):
            continue
        place, row = f"{path}:{i}", next(csv.reader([line]))
        if not columns:
            columns = header(place, row)
            continue
        test, values = values_of(place, row, columns)
        check_values(place, values)
        if test == "weight":
            if density is not None:
                raise SpecError(f"{place}: a second density; one row of test 'weight' is allowed")
            density = values["density"]
            continue
        key = (test, values["angle"], values.get("width"))
        width = values.get("width", float("nan"))
        curve = curves.setdefault(key, Curve(test, values["angle"], width=width))
        add_point(place, curve, values)
    if not columns:
        raise SpecError(f"{path}: empty; a header is needed, such as: test,density (kg/m^2),angle (deg),...")
    return Fabric(path, check_whole(path, density, list(curves.values())), list(curves.values()))
