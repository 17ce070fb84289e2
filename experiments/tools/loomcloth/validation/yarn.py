"""Yarns: the lowest frequency of a clamped rod, and the catenary.

An explicit step of length h makes q[k+1] - 2 q[k] + q[k-1] = -h^2 omega^2 q[k] of an oscillator, so that the
motion of a mode tells omega without an error of time.  Each bend of a rod stands for half a segment on either
side, so the free length begins half a segment before the last point that is held.
"""

from __future__ import annotations

import numpy as np

from loomcloth.log import Log
from loomcloth.validation.laboratory import Laboratory, Row

LENGTH, RIGIDITY, DENSITY = 0.1, 2e-8, 5e-4  # m, N m^2, kg/m
ROOT = 1.8751040687  # the least of cos x cosh x = -1; omega L^2 sqrt(rho/k_b) is its square
SPAN, HUNG, HELD = 0.3, 0.5, 51  # m between the ends, m of yarn, its points
SAG_BOUND = 3e-4  # m, the bound of test_yarn_rest.c for this yarn


def curve(points: np.ndarray) -> str:
    """An OBJ file of one polyline."""
    rows = [f"v {x:.17g} {y:.17g} {z:.17g}" for x, y, z in points]
    return "\n".join([*rows, "l " + " ".join(str(i + 1) for i in range(len(points)))]) + "\n"


def measure_rod(lab: Laboratory, n: int) -> Row:
    segment = LENGTH / (n + 0.5)
    x = segment * (np.arange(n + 2) - 0.5)  # the clamp is at 0
    file = lab.write(f"rod-{n}.obj", curve(np.stack([x, 0 * x, 0 * x], axis=1)))
    s = ROOT * x / LENGTH
    ratio = (np.cosh(ROOT) + np.cos(ROOT)) / (np.sinh(ROOT) + np.sin(ROOT))
    shape = np.cosh(s) - np.cos(s) - ratio * (np.sinh(s) - np.sin(s))
    shape[:2] = 0
    thrown = lab.write(f"rod-{n}.txt", "".join(f"0 0 {1e-5 * z:.17g}\n" for z in shape))
    key = "yarn-rod"
    h = 0.2 * segment**2 * np.sqrt(DENSITY / RIGIDITY)
    text = (
        f"[run]\nsteps = {n**2}\ndt = {h:.17g}\ngravity = 0 0 0\n[yarn.rod]\npattern = obj\n"
        f"file = {file.name}\nvelocities = {thrown.name}\ndensity = {DENSITY}\n"
        f"bending = {RIGIDITY * lab.factor(key):.17g}\npins = 0 1\n"
    )
    with Log(lab.run(f"yarn-rod-{n}", "yarn.ini", text, [file, thrown])) as log:
        q = np.array([log.frame(k)[:, 2] @ shape for k in range(log.num_frames)])
    square = ((2 * q[1:-1] - q[:-2] - q[2:]) @ q[1:-1]) / (q[1:-1] @ q[1:-1]) / h**2
    found = float(np.sqrt(square) * LENGTH**2 * np.sqrt(DENSITY / RIGIDITY))
    tolerance = 4 / n**2  # of second order in the segment over the length
    return Row(key, "clamped rod: omega L^2 sqrt(rho/k_b)", f"yarn_bend, {n} segments", ROOT**2, found,
               tolerance, "rigidity x 1.1")  # fmt: skip


def catenary_sag(span: float, length: float) -> float:
    """Depth of an inextensible chain between two points of one height."""
    lo, hi = 0.05 * span, 100 * span
    for _ in range(200):
        a = 0.5 * (lo + hi)
        if 2 * a * np.sinh(span / (2 * a)) > length:
            lo = a
        else:
            hi = a
    return float(a * (np.cosh(span / (2 * a)) - 1))


def measure_catenary(lab: Laboratory) -> Row:
    key = "yarn-catenary"
    s = np.linspace(-1, 1, HELD)
    depth = np.sqrt(HUNG**2 - SPAN**2) / 2
    v = np.stack([SPAN / 2 * lab.factor(key) * s, 0 * s, -depth * (1 - abs(s))], axis=1)
    file = lab.write(f"v{'' if v[-1, 0] == SPAN / 2 else '-disturbed'}.obj", curve(v))
    text = (
        f"[run]\nsteps = 3000\ndt = 1e-3\ngravity = 0 0 -9.81\n[log]\nframes_every = 3000\n[yarn.hung]\n"
        f"pattern = obj\nfile = {file.name}\nbending = 0\ntwisting = 0\ndamping = 4\npins = 0 {HELD - 1}\n"
    )
    with Log(lab.run("yarn-catenary", "yarn.ini", text, [file])) as log:
        found = float(-log.frame(log.num_frames - 1)[:, 2].min())
    theory = catenary_sag(SPAN, HUNG)
    quantity, method = f"catenary of {HUNG} m over {SPAN} m: sag, m", f"yarn_explicit, {HELD - 1} segments"
    return Row(key, quantity, method, theory, found, SAG_BOUND / theory, "span x 1.1")


def measure(lab: Laboratory) -> list[Row]:
    return [measure_rod(lab, 20 if lab.quick else 40), *([] if lab.quick else [measure_catenary(lab)])]
