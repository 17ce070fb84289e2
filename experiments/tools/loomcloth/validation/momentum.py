"""Momentum: forces inside a sheet have no sum, so that a sheet which shakes as it falls has the momentum
m g t, and keeps the one it was thrown with."""

from __future__ import annotations

import numpy as np

from loomcloth.log import Log
from loomcloth.validation.euler import QUICK, SOLVERS
from loomcloth.validation.laboratory import Laboratory, Row

G, SIZE, CELLS, SPEED, SHAKE, STEPS, H = 9.81, 0.3, 6, 2.0, 0.5, 20, 0.01  # m/s^2, m, 1, m/s, m/s, 1, s
# The residual is at most 1e-6 of the way of gravity and deformation, which is up to 12 times gravity's and
# that of gravity itself: so is its sum over the weight.
TOLERANCE = 13e-6


def measure_solver(lab: Laboratory, solver: str) -> list[Row]:
    keys = [f"momentum-{name}-{solver}" for name in ("fall", "throw")]
    sheet = lab.sheet("alternate", CELLS, CELLS, SIZE, SIZE)
    chance = np.random.default_rng(1)
    v = SHAKE * chance.standard_normal((len(sheet.points), 3))
    text = "".join(f"{a:.17g} {b:.17g} {c:.17g}\n" for a, b, c in v)
    thrown = lab.write("shaken.txt", text)
    run = (
        f"[run]\ngravity = 0 0 {-G * lab.factor(keys[0], 1.01):.17g}\n[solver]\nplugin = {solver}\n"
        f"[cloth.sheet]\nshape = obj\nfile = {sheet.path.name}\nvelocities = {thrown.name}\ndensity = 0.2\n"
        f"velocity = {SPEED * lab.factor(keys[1], 1.01):.17g} 0 0\nmodel = springs\nk_spring = 100\n"
    )
    with Log(lab.run(f"momentum-{solver}", "fall.ini", run, [sheet.path, thrown])) as log:
        steps, mass = log.table("steps"), np.asarray(log.scene("mass"))
    start, whole, time = mass @ v, mass.sum(), STEPS * H
    fall = (start[2] - float(steps["p_z"][-1])) / (whole * G * time)
    kept = (float(steps["p_x"][-1]) - start[0]) / (whole * SPEED)
    return [
        Row(keys[0], "momentum of a fall over m g t", solver, 1, float(fall), TOLERANCE, "gravity x 1.01"),
        Row(keys[1], "momentum of a throw over m v", solver, 1, float(kept), TOLERANCE, "velocity x 1.01"),
    ]


def measure(lab: Laboratory) -> list[Row]:
    return [row for solver in (QUICK if lab.quick else SOLVERS) for row in measure_solver(lab, solver)]
