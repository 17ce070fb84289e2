"""The table and the picture of all rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from loomcloth.style import plain_axes
from loomcloth.validation import (
    buckling,
    cantilever,
    convergence,
    drape,
    euler,
    folds,
    friction,
    momentum,
    orders,
    patch,
    plasticity,
    rolling,
    stacks,
    strip,
    tension,
    twist,
    vibration,
    yarn,
)
from loomcloth.validation.laboratory import Laboratory, Row

SUBJECTS = {
    "patch test of bending": patch.measure,
    "heavy cantilever": cantilever.measure,
    "bend-twist": twist.measure,
    "free plate": vibration.measure,
    "narrow strip": strip.measure,
    "lateral buckling": buckling.measure,
    "large folds": folds.measure,
    "Cusick drape": drape.measure,
    "orders of convergence": orders.measure,
    "convergence over four resolutions": convergence.measure,
    "membranes in tension": tension.measure,
    "implicit Euler": euler.measure,
    "momentum": momentum.measure,
    "yarns": yarn.measure,
    "plasticity of yarns": plasticity.measure,
    "friction (test same_physics)": friction.measure,
    "stacks at rest": stacks.measure,
    "rolling and spinning bodies": rolling.measure,
}
LEAST = 1e-6  # of a tolerance, at the end of the picture


def measure(experiment: Any, quick: bool) -> dict[str, list[Row]]:
    lab = Laboratory(experiment, quick)
    found = {subject: one(lab) for subject, one in SUBJECTS.items()}
    return {subject: rows for subject, rows in found.items() if rows}


def lines(found: dict[str, list[Row]]) -> list[str]:
    """A table for each subject, with fixed columns."""
    out = [
        "Quantities of theory, and the same in runs of loom; error: relative, absolute where theory is 0.",
        "MISSED: |error| above the tolerance, which was set before the measurement but for rows that",
        "experiments/validation/README.md names.  Control: a wrong input by which",
        "`./loom figure validation --disturb ROW` makes a row, and this row alone, miss.",
    ]
    every = [row for rows in found.values() for row in rows]
    wide = [max(len(getattr(row, name)) for row in every) for name in ("quantity", "method", "key")]
    head = (
        f"{'quantity':{wide[0]}}  {'element or solver, mesh':{wide[1]}}  {'theory':>10}  {'loom':>11}  "
        f"{'error':>9}  {'tolerance':>9}  {'passes':11}  {'row':{wide[2]}}  control"
    )
    for subject, rows in found.items():
        judged = [row for row in rows if not row.note]
        missed = sum(not row.passed for row in judged)
        out += ["", f"{subject}: {len(judged)} rows, {missed or 'none'} missed", head]
        out += [f"{r.quantity:{wide[0]}}  {r.method:{wide[1]}}  {r.theory:10.6g}  {r.measured:11.6g}  "
                f"{r.error:+9.1e}  {r.tolerance:9.1e}  {r.verdict:11}  {r.key:{wide[2]}}  {r.control}"
                for r in rows]  # fmt: skip
        out += [f"{r.key} misses: {r.cause}" for r in judged if r.cause and not r.passed]
    return out


def draw(found: dict[str, list[Row]]) -> Any:
    """Errors over their tolerances, a row of dots for each subject."""
    figure, axes = plain_axes(width=8.0, height=0.55 * len(found) + 1.2)
    for at, rows in enumerate(found.values()):
        ratios = np.array([abs(r.error) / r.tolerance for r in rows])
        for kept, colour, label in (
            (np.array([not r.note and r.passed for r in rows]), "tab:blue", "passes"),
            (np.array([not r.note and not r.passed for r in rows]), "tab:red", "missed"),
            (np.array([bool(r.note) for r in rows]), "0.6", "hinges, not a plate"),
        ):
            x = np.clip(np.nan_to_num(ratios[kept], nan=np.inf), LEAST, 1e9)
            # dots of one subject apart, without chance
            y = at + 0.5 * ((np.arange(len(rows))[kept] % 7) / 6 - 0.5)
            axes.plot(x, y, "o", color=colour, ms=3.5, mew=0, alpha=0.8, label=label if at == 0 else None)
    axes.axvline(1, color="k", lw=1)
    axes.set_xscale("log")
    axes.set_yticks(range(len(found)), list(found))
    axes.invert_yaxis()
    axes.set_xlabel("error over tolerance (left of 1: the row passes)")
    axes.legend(loc="lower right")
    return figure
