"""[reference] of a specification: the run that each problem of a grid gets, whose steps the others replay."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from loomcloth.config import poses_problem
from loomcloth.errors import SpecError, near
from loomcloth.sweep.axes import SEPARATOR, overlay_of

# Keys of [reference]: default and meaning.
OPTIONS: dict[str, tuple[str, str]] = {
    "solver": ("", "plugin of its solver"),
    "contact": ("", "its contact models: an overlay, @FILE"),
    "steps": ("", "its steps (default: as many as the runs replay)"),
    "tolerance": ("", "of a step, with its unit: 1e-9 sqrt(J), 1e-10 m or 1e-4 m/s^2"),
    "max_iters": ("", "iterations of a step at most"),
    "axes": ("", f"axes that get one for each value though they pose no problem, '{SEPARATOR}' between them"),
    "unconverged": ("refuse", "refuse or mark runs that replay a step in which it did not converge"),
}
PLAIN = {"solver": "solver.plugin", "steps": "run.steps", "max_iters": "stop.max_iters"}
OWN = ("run.replay", "log.frames_every", "log.file")  # set by the sweep
TOLERANCE = re.compile(r"([0-9.]+(?:e[-+]?[0-9]+)?)\s*(sqrt\(J\)|m/s\^2|m)")


@dataclass
class Reference:
    sets: dict[str, str] = field(default_factory=dict)
    overlays: list[Path] = field(default_factory=list)
    axes: list[str] = field(default_factory=list)
    refuses: bool = True
    keys: dict[str, str] = field(default_factory=dict)  # configuration key: key of [reference] that set it


def tolerance(text: str, place: str) -> dict[str, str]:
    """Keys of [stop] with which a step converges at a number with a unit."""
    found = TOLERANCE.fullmatch(text.strip())
    if not found or not float(found[1]) > 0:
        raise SpecError(f"{place}: a positive number with its unit is expected: 1e-9 sqrt(J) for r_energy, "
                        f"1e-10 m or 1e-4 m/s^2 for the residual, not '{text}'")  # fmt: skip
    if found[2] == "sqrt(J)":
        return {"stop.on": "energy", "stop.tol_energy": text, "log.error": "newton"}
    if found[2] == "m":
        return {"stop.on": "auto", "stop.tol_abs": text, "stop.tol_rel": "0"}
    return {"stop.on": "auto", "stop.tol_acc": text, "stop.tol_abs": "-1", "stop.tol_rel": "0"}


def read(folder: Path, given: dict[str, str], place: Callable[[str], str], axes: Iterable[str]) -> Reference:
    """folder: of the specification; place: file, line and key for a message; axes: of [grid]."""
    found = Reference()
    for key, text in given.items():
        sets: dict[str, str] = {}
        if text.startswith("@") and (key == "contact" or ("." not in key and key not in OPTIONS)):
            found.overlays.append(overlay_of(folder, text, place(key)))
        elif key == "contact":
            raise SpecError(f"{place(key)}: an overlay (@FILE) is expected, not '{text}'")
        elif key in PLAIN:
            sets = {PLAIN[key]: text}
        elif key == "tolerance":
            sets = tolerance(text, place(key))
        elif key == "axes":
            found.axes = [a.strip() for a in text.split(SEPARATOR)]
            for axis in found.axes:
                if axis not in axes:
                    raise SpecError(f"{place(key)}: '{axis}' is no axis of [grid]{near(axis, axes)}")
        elif key == "unconverged":
            if text not in ("refuse", "mark"):
                raise SpecError(f"{place(key)}: refuse or mark is expected, not '{text}'")
            found.refuses = text == "refuse"
        elif "." not in key:
            raise SpecError(f"{place(key)}: unknown key{near(key, OPTIONS)}")
        elif key in OWN:
            raise SpecError(f"{place(key)}: the sweep sets this key of a reference itself")
        elif poses_problem(key):
            raise SpecError(f"{place(key)}: poses the problem; set it in [set] or [grid], for the runs, too")
        else:
            sets = {key: text}
        for name in sets:
            if name in found.keys and name != "log.error":
                raise SpecError(f"{place(key)}: {name} is set by '{found.keys[name]}', too")
        found.sets |= {k: v for k, v in sets.items() if k != "log.error" or "log.error" not in given}
        found.keys |= dict.fromkeys(sets, key)
    return found
