"""A clamped strip that hangs by its weight, against the elastica: drop over reach of its end, H/W.

Theory: D theta'' = -rho g (L - s) cos(theta), theta(0) = 0, theta'(L) = 0, by shooting.  The load is
Gamma = rho g L^3/D.
"""

from __future__ import annotations

import numpy as np

from loomcloth.log import Log
from loomcloth.validation.laboratory import Laboratory, Row, across

LENGTH, SHARE, DENSITY, G = 0.3, 0.1, 0.2, 9.81  # m, width over length, kg/m^2, m/s^2
STEPS = 200  # of the integration, fourth order
# Bounds of test_plate_physics.c for D at 40 cells, and an error of second order in the cell
AT_40 = {("plate", False): 2e-3, ("plate", True): 8e-3, ("plate_quadratic", False): 4e-3,
         ("plate_quadratic", True): 15e-3}  # fmt: skip
# A membrane of constant strain locks where no rows of the mesh follow the bend: at this Y cell^2/D by 0.1 %
# with Gamma = 10; ten times less for the heaviest load.
SOFT = {False: 1e3, True: 1e2}
LOADS = (1, 10, 100)
MESHES = {"plate": ("regular", "alternate", "equilateral", "Delaunay", "jittered"),
          "plate_quadratic": ("alternate", "Delaunay")}  # fmt: skip
CASES = [(kind, element, gamma) for element, kinds in MESHES.items() for kind in kinds for gamma in LOADS]
QUICK = [("alternate", "plate", 10), ("Delaunay", "plate", 100), ("Delaunay", "plate_quadratic", 10)]


def elastica(gamma: float) -> float:
    """H/W of the tip of a strip of length 1."""

    def slope(s: float, y: np.ndarray) -> np.ndarray:
        theta, bend = y[0], y[1]
        return np.array([bend, -gamma * (1 - s) * np.cos(theta), np.cos(theta), np.sin(theta)])

    def shoot(bend: float) -> np.ndarray:
        y, h = np.array([0.0, bend, 0.0, 0.0]), 1 / STEPS
        for i in range(STEPS):
            s = i * h
            a = slope(s, y)
            b = slope(s + h / 2, y + h / 2 * a)
            c = slope(s + h / 2, y + h / 2 * b)
            d = slope(s + h, y + h * c)
            y = y + h / 6 * (a + 2 * b + 2 * c + d)
        return y

    lo, hi = 0.0, gamma / 2  # curvature at the clamp; that of a strip that stays straight is gamma/2
    for _ in range(45):
        middle = 0.5 * (lo + hi)
        if shoot(middle)[1] < 0:
            lo = middle
        else:
            hi = middle
    end = shoot(0.5 * (lo + hi))
    return float(end[3] / end[2])


def measure_tip(lab: Laboratory, kind: str, element: str, gamma: float, n: int, stiffer: float) -> float:
    heavy = gamma > 50
    cell, rigidity = LENGTH / n, DENSITY * G * LENGTH**3 / gamma
    sheet = lab.sheet(kind, n, across(kind, n, SHARE), LENGTH, SHARE * LENGTH, cell)
    young = min(SOFT[heavy] * rigidity / cell**2, 1e5)
    text = (
        f"[run]\ngravity = 0 0 {-G}\ndt = {1.5 if heavy else 0.4}\n"
        f"[cloth.strip]\nshape = obj\nfile = {sheet.path.name}\ndensity = {DENSITY}\nmodel = stvk+{element}\n"
        f"k0 = {young:.17g}\nk1 = 0\nk2 = {young:.17g}\nk3 = {young:.17g}\n"
        f"bending = {rigidity * stiffer:.17g}\npins = box -1 -1 -1 1e-9 1 1\n"
    )
    name = f"cantilever-{kind}-{element}-{gamma:g}-{n}"
    with Log(lab.run(name, "hang.ini", text, [sheet.path])) as log:
        end = log.frame(log.num_frames - 1)[sheet.points[:, 0] > LENGTH * (1 - 1e-9)].mean(axis=0)
    return float(-end[2] / end[0])


def measure(lab: Laboratory) -> list[Row]:
    rows, n = [], 20 if lab.quick else 40
    theory = {gamma: elastica(gamma) for gamma in LOADS}
    for kind, element, gamma in QUICK if lab.quick else CASES:
        key = f"cantilever-{kind}-{element}-{gamma:g}"
        found = measure_tip(lab, kind, element, gamma, n, lab.factor(key, 1.2))
        tolerance = AT_40[element, gamma > 50] * (40 / n) ** 2
        rows.append(
            Row(
                key,
                f"heavy cantilever, Gamma {gamma:g}: drop over reach",
                f"{element}, {kind}, n {n}",
                theory[gamma],
                found,
                tolerance,
                "rigidity x 1.2",
            )
        )
    return rows
