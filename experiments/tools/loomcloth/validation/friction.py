"""Rows of the test same_physics, read from its output: incline, belt, table, turntable, cloth on cloth,
capstan.  Its scenes and their theory stand in tests/physics/same_scenes.c, all pairs of solver and contact
model in framework/doc/same-physics.md."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from types import ModuleType

from loomcloth.errors import FigureError
from loomcloth.validation.laboratory import Laboratory, Row

ROOT = Path(os.environ.get("LOOM_ROOT", Path(__file__).resolve().parents[4]))
BOUND = 0.03  # of test_same_physics.c
# quantity, theory, tolerance: of a sticking scene the speed over 2 epsilon_v, of `slips` 0.1 and more
SCENES = {
    "slope": ("incline: acceleration over g (sin - mu cos)", 1, BOUND),
    "creep": ("incline that holds: speed over 2 epsilon_v", 0, 1),
    "belt": ("belt: acceleration over mu g", 1, BOUND),
    "thrown": ("thrown along a table: deceleration over mu g", 1, BOUND),
    "turntable": ("turntable: speed over omega r", 1, BOUND),
    "cloths": ("incline of cloth: acceleration over g (sin - mu cos)", 1, BOUND),
    "sheets": ("incline of cloth that sticks: acceleration over g (sin - mu cos)", 1, BOUND),
    "holds": ("capstan at 0.97 of the load: speed over 2 epsilon_v", 0, 1),
    "slips": ("capstan at 1.03 of the load: speed over that of a rigid strip", 1, 0.9),
}
SOLVER = "cholmod_newton"
CONTACTS = ("ipc_barrier", "penalty", "dbb", "ndb", "ogc")
QUICK = ("slope", "belt")


def table_reader() -> ModuleType:
    """tests/nightly/same_table.py, which knows the lines of the test."""
    spec = importlib.util.spec_from_file_location("same_table", ROOT / "tests/nightly/same_table.py")
    if spec is None or spec.loader is None:
        raise FigureError("tests/nightly/same_table.py is not there")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read_lines(text: str) -> list[tuple[str, ...]]:
    """Scene, body, solver, contact model, value, a sign where it is wrong, per cent of steps that are short."""
    found: list[tuple[str, ...]] = table_reader().LINE.findall(text)
    return found


def read_values(text: str) -> dict[tuple[str, str, str, str], float]:
    """Values by scene, body, solver and contact model."""
    found = read_lines(text)
    return {(row, body, solver, contact): float(value) for row, body, solver, contact, value, _, _ in found}


def measure(lab: Laboratory) -> list[Row]:
    rows = []
    for scene in QUICK if lab.quick else SCENES:
        quantity, theory, tolerance = SCENES[scene]
        # a strip that slips does so the more with less friction
        wrong = 10.0 if scene == "slips" else 0.1
        for contact in CONTACTS[:1] if lab.quick else CONTACTS:
            key = f"friction-{scene}-{contact}"
            values = read_values(lab.friction(scene, SOLVER, contact, lab.factor(key, wrong)))
            found = values.get((scene, "exact", SOLVER, contact))
            if found is None:
                raise FigureError(f"same_physics measured no {scene} with {contact}")
            rows.append(
                Row(key, quantity, f"{SOLVER}, {contact}", theory, found, tolerance, f"friction x {wrong:g}")
            )
    return rows
