"""Young's modulus and Poisson's ratio of membranes: a strip that hangs by one end in its plane, stretched a
little.

At a distance from the clamp the force over width is that of the weight below, and the strain that of theory:
the displacement of an elastic strip under its weight is quadratic.
"""

from __future__ import annotations

import numpy as np

from loomcloth.log import Log
from loomcloth.validation.laboratory import Laboratory, Row

LENGTH, CELLS, ACROSS = 0.5, 40, 8  # m, cells along and across
YOUNG, NU, G = 200.0, 0.3, 9.81  # N/m, 1, m/s^2
STRAIN = 1e-4  # at the clamp: the error of a linear theory
FROM, TO = 0.4, 0.8  # of the length; twice the width from the clamp
MEMBRANES = ("stvk", "neohookean", "wang", "arap")
KINDS = ("regular", "alternate", "Delaunay")
ROWS = ("rest", "0", "22", "45", "67", "90")  # of the table of tri_wang


def stvk(young: float, nu: float) -> list[float]:
    """k0 k1 k2 k3 of an isotropic sheet."""
    k0 = young / (1 - nu**2)
    return [k0, nu * k0, k0, young / (1 + nu)]


def model_text(membrane: str, young: float, nu: float) -> str:
    """Model and material of an isotropic sheet; arap has no Poisson's ratio."""
    k = stvk(young, nu)
    halves = " ".join(f"{v / 2:.17g}" for v in k)
    keys = {
        "stvk": "".join(f"k{i} = {v:.17g}\n" for i, v in enumerate(k)),
        "neohookean": f"young = {young:.17g}\npoisson = {nu:.17g}\n",
        "wang": "".join(f"stretch_{r} = {halves}\n" for r in ROWS),
        "arap": f"membrane = {young:.17g}\n",
    }
    return f"model = {membrane}+plate\n{keys[membrane]}"


def measure_strip(lab: Laboratory, kind: str, membrane: str, cells: int) -> list[Row]:
    rows_across = cells * ACROSS // CELLS
    width = LENGTH * ACROSS / CELLS
    sheet = lab.sheet(kind, cells, rows_across, LENGTH, width)
    keys = [f"tension-{quantity}-{membrane}-{kind}" for quantity in ("young", "poisson")]
    young = YOUNG * lab.factor(keys[0])
    wrong = lab.factor(keys[1])
    nu = 0.0 if membrane == "arap" else NU  # of theory
    material = model_text(membrane, young, nu * wrong)
    if membrane == "arap" and wrong != 1:
        material = model_text("neohookean", young, NU)
    density = STRAIN * YOUNG / (G * LENGTH)
    text = (f"[cloth.strip]\nshape = obj\nfile = {sheet.path.name}\ndensity = {density:.17g}\n"
            f"bending = 1e-6\npins = box -1 -1 -1 1e-9 9 1\n{material}")  # fmt: skip
    with Log(lab.run(f"tension-{membrane}-{kind}-{cells}", "pull.ini", text, [sheet.path])) as log:
        u = log.frame(log.num_frames - 1) - np.asarray(log.scene("rest"))
    q = sheet.points
    here = (q[:, 0] > FROM * LENGTH) & (q[:, 0] < TO * LENGTH)
    x, y = q[here, 0], q[here, 1] - width / 2
    # u = S (L x - x^2/2 - nu y^2/2) + constant, v = -nu S (L - x) y, S = rho g/Y
    along = np.stack([LENGTH * x - x**2 / 2, -(y**2) / 2, np.ones_like(x)], axis=1)
    side = np.stack([(LENGTH - x) * y, np.ones_like(x)], axis=1)
    slope = np.linalg.lstsq(along, u[here, 0], rcond=None)[0][0]
    narrower = -np.linalg.lstsq(side, u[here, 1], rcond=None)[0][0]
    tolerance = 1 / rows_across**2  # of second order in the cell over the width
    method, ratio = f"{membrane}, {kind}", float(narrower / slope)
    control = "Poisson's ratio x 1.1" if nu else "neohookean with 0.3 in its place"
    return [
        Row(keys[0], "Young's modulus of a sheet, N/m", method, YOUNG, float(density * G / slope), tolerance,
            "stiffness x 1.1"),
        Row(keys[1], "contraction across over strain", method, nu, ratio, tolerance, control),
    ]  # fmt: skip


def measure(lab: Laboratory) -> list[Row]:
    kinds, cells = (("Delaunay",), CELLS // 2) if lab.quick else (KINDS, CELLS)
    return [row for kind in kinds for m in MEMBRANES for row in measure_strip(lab, kind, m, cells)]
