"""Decay and frequency of implicit Euler: a triangle of springs, two corners held, the third thrown straight
away from them, oscillates with omega^2 = K/m.

With damping, which multiplies velocities by e = exp(-c h), a step of length h makes
(1 + h^2 omega^2) q[k+1] = (1 + e) q[k] - e q[k-1].  So both coefficients of the recurrence
q[k+1] = a q[k] + b q[k-1] tell h^2 omega^2 = 1/(a + b) - 1 whatever e is, and the decay of a step sqrt(-b),
without damping 1/sqrt(1 + h^2 omega^2)."""

from __future__ import annotations

import numpy as np

from loomcloth.log import Log
from loomcloth.validation.laboratory import Laboratory, Row

SPRING, DENSITY, H = 1000.0, 100.0, 2e-3  # N/m, kg/m^2, s
HEIGHT, BASE = 0.1, 0.1  # m; both springs of the free corner have the slope 2:1
STEPS = 60
SPEED = 1e-5  # m/s; the corner moves by 1e-7 m, so that springs are linear to 1e-6
SOLVERS = (
    "cholmod_newton",
    "pcg_newton",
    "cholmod_pd",
    "ndb_pd",
    "pd_bfgs",
    "aa_pd",
    "chebyshev_pd",
    "vbd",
    "xpbd",
)
QUICK = ("cholmod_newton", "pd_bfgs")
# Steps are solved to this share of a step's own way, and errors of 60 steps add up.
SOLVED = 1e-6
TOLERANCE = 60 * 10 * SOLVED


def measure_solver(lab: Laboratory, solver: str) -> list[Row]:
    keys = [f"euler-{name}-{solver}" for name in ("decay", "frequency")]
    # theory's decay has the frequency that is measured: a wrong mass is an error of the other row alone
    damping = 10 * (lab.factor(keys[0], 2.0) - 1)
    mesh = lab.write("one.obj", f"v 0 {BASE / 2} 0\nv 0 {-BASE / 2} 0\nv {HEIGHT} 0 0\nf 1 2 3\n")
    text = (f"[run]\nsteps = {STEPS}\ndt = {H}\n[solver]\nplugin = {solver}\n"
            f"[cloth.one]\nshape = obj\nfile = one.obj\npins = 0 1\nmodel = springs\nk_spring = {SPRING}\n"
            f"density = {DENSITY * lab.factor(keys[1]):.17g}\n"
            f"velocity = {SPEED} 0 0\ndamping = {damping:.17g}\n")  # fmt: skip
    with Log(lab.run(f"euler-{solver}", "oscillate.ini", text, [mesh])) as log:
        q = np.array([log.frame(k)[2, 0] for k in range(log.num_frames)]) - HEIGHT
    omega = np.sqrt(2 * SPRING * 0.8 / (DENSITY * HEIGHT * BASE / 2 / 3))
    (a, b), *_ = np.linalg.lstsq(np.stack([q[1:-1], q[:-2]], axis=1), q[2:], rcond=None)
    with np.errstate(invalid="ignore", divide="ignore"):
        found = float(np.sqrt(1 / (a + b) - 1) / H)
        decay = float(np.sqrt(-b))
    return [
        Row(keys[0], "implicit Euler: decay of a step, 1/sqrt(1 + h^2 omega^2)", solver,
            float(1 / np.sqrt(1 + (H * found) ** 2)), decay, TOLERANCE, "damping of 10 1/s"),
        Row(keys[1], "implicit Euler: omega, 1/s", solver, float(omega), found, TOLERANCE, "density x 1.1"),
    ]  # fmt: skip


def measure(lab: Laboratory) -> list[Row]:
    return [row for solver in (QUICK if lab.quick else SOLVERS) for row in measure_solver(lab, solver)]
