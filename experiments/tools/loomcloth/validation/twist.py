"""Strips and yarns that bend and twist at once under their weight, against the rod of Kirchhoff.

The text of the protocol "bend-twist" of Romero et al. 2021 was not at hand: the curves here are solutions of
the boundary value problem below, of shapes that have one answer and do not branch.

Rod: tangent d3, d1 across and d2 normal to the strip, d_i' = kappa x d_i.  The weight beyond s is the force
n = -rho g (L - s) z, the moment m = sum B_i (kappa_i - kappa0_i) d_i has m' = n x d3, and m(L) = 0.
B_1 = D w, B_2 = Y w^3/12, B_3 = 2 (1 - nu) D w of a narrow strip of width w.  The clamp keeps a strip from
warping, so that twist begins with 0 and grows to its size over w/sqrt(24 (1 - nu)) (Vlasov).  The load is
Gamma = rho g L^3/B_1.

Strips: turned by 60 degrees about their length, straight or curved at rest.
Yarn: at rest a quarter of a circle in a level plane.  Two held points hold its tangent and let it turn about
it, so that it swings down into the plane of its weight and untwists: B_3 has no part in the answer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from loomcloth.errors import FigureError
from loomcloth.log import Log
from loomcloth.validation.laboratory import Laboratory, Row
from loomcloth.validation.yarn import curve

STEPS, LOADS = 100, 5  # of the integration, fourth order; from no weight to all of it
G = 9.81  # m/s^2


# ---- theory ----


@dataclass
class Rod:
    """Of length 1 and B_1 = 1."""

    frame: np.ndarray  # rows d1, d2, d3 at the clamp
    stiff: np.ndarray  # B_1, B_2, B_3
    rest: np.ndarray  # kappa0 along d1, d2, d3
    gamma: float
    warped: float = 0.0  # length over which twist grows

    def slope(self, s: float, y: np.ndarray, load: float) -> np.ndarray:
        """Of states y [k][5][3]: place, d1, d2, d3, moment."""
        d, m = y[:, 1:4], y[:, 4]
        kappa = np.einsum("kij,kj->ki", d, m) / self.stiff
        if self.warped:
            kappa[:, 2] *= -np.expm1(-s / self.warped)
        omega = np.einsum("ki,kij->kj", kappa + self.rest, d)
        force = np.array([0.0, 0.0, -load * (1 - s)])
        out = np.empty_like(y)
        out[:, 0] = d[:, 2]
        out[:, 1:4] = np.cross(omega[:, None], d)
        out[:, 4] = np.cross(force, d[:, 2])
        return out

    def integrate(self, m: np.ndarray, load: float) -> np.ndarray:
        """States at the free end for moments m [k][3] at the clamp, where steps are short."""
        y = np.empty((len(m), 5, 3))
        y[:, 0], y[:, 1:4], y[:, 4] = 0, self.frame, m
        places = np.linspace(0, 1, STEPS + 1) ** 2
        for s, h in zip(places[:-1], np.diff(places), strict=True):
            a = self.slope(s, y, load)
            b = self.slope(s + h / 2, y + h / 2 * a, load)
            c = self.slope(s + h / 2, y + h / 2 * b, load)
            e = self.slope(s + h, y + h * c, load)
            y = y + h / 6 * (a + 2 * b + 2 * c + e)
        return y

    def tip(self) -> np.ndarray:
        """Place of the free end.  The load grows from 0, which keeps to the branch without weight."""
        m, least = np.zeros(3), 1e-7
        for load in np.linspace(0, self.gamma, LOADS + 1)[1:]:
            for _ in range(20):
                ends = self.integrate(np.concatenate([m[None], m + least * np.eye(3)]), float(load))
                left = ends[0, 4]
                if np.linalg.norm(left) < 1e-8 * self.gamma:
                    break
                m = m - np.linalg.solve((ends[1:, 4] - left).T / least, left)
            else:
                raise FigureError("the rod of theory has no equilibrium")
        return np.asarray(ends[0, 0])


# ---- strips ----

LENGTH, SHARE, DENSITY = 0.3, 0.05, 0.2  # m, width over length, kg/m^2
ROLL, LOAD = np.radians(60), 20.0  # about the length; Gamma
# Membranes lock (see cantilever.py); the ratio makes B_2 133 B_1 with two cells across
SOFT = 400.0  # Y cell^2/D
# Of second order in segments; and of strips what their middle takes from the membrane,
# Y w^4 kappa^2/(720 D) of the stiffness
BOUND = 0.01
BENDS = {"straight": 0.0, "curved": 1.0}  # kappa0_1 L
CASES = [
    *(("plate", kind, shape) for kind in ("alternate", "Delaunay") for shape in BENDS),
    ("plate_quadratic", "alternate", "curved"),
]


def rolled(roll: float) -> np.ndarray:
    """d1, d2, d3 of a strip along x, turned about x."""
    d1 = np.array([0, np.cos(roll), np.sin(roll)])
    d3 = np.array([1.0, 0, 0])
    return np.array([d1, np.cross(d3, d1), d3])


def arc(s: np.ndarray, bend: float) -> np.ndarray:
    """Places [n][2] along d3 and -d2 of a curve of curvature `bend`."""
    angle = bend * s
    return np.stack([s * np.sinc(angle / np.pi), s * np.sinc(angle / 2 / np.pi) * np.sin(angle / 2)], axis=1)


def strip_tip(lab: Laboratory, case: tuple[str, str, str], n: int, stiffer: float) -> np.ndarray:
    element, kind, shape = case
    cell, rigidity = LENGTH / n, DENSITY * G * LENGTH**3 / LOAD
    sheet = lab.sheet(kind, n, round(SHARE * n), LENGTH, SHARE * LENGTH, cell)
    d1, d2, d3 = rolled(ROLL)
    along = arc(sheet.points[:, 0], BENDS[shape] / LENGTH)
    x = along[:, :1] * d3 - along[:, 1:] * d2 + (sheet.points[:, 1:] - SHARE * LENGTH / 2) * d1
    rows = [f"v {a:.17g} {b:.17g} {c:.17g}" for a, b, c in x]
    name = f"twist-{element}-{kind}-{shape}-{n}"
    file = lab.write(f"{name}.obj", "\n".join(rows + sheet.faces) + "\n")
    young = SOFT * rigidity / cell**2
    text = (
        f"[run]\ngravity = 0 0 {-G}\ndt = 0.4\n[cloth.strip]\nshape = obj\nfile = {file.name}\n"
        f"density = {DENSITY}\nmodel = stvk+{element}\nk0 = {young:.17g}\nk1 = 0\nk2 = {young:.17g}\n"
        f"k3 = {young:.17g}\nbending = {rigidity * stiffer:.17g}\npins = box -1 -1 -1 1e-9 1 1\n"
    )
    with Log(lab.run(name, "hang.ini", text, [file])) as log:
        end = log.frame(log.num_frames - 1)[sheet.points[:, 0] > LENGTH * (1 - 1e-9)]
    return np.asarray(end.mean(axis=0) / LENGTH)


def strip_theory(n: int, shape: str) -> np.ndarray:
    across = SHARE * n  # cells
    stiff = np.array([1, SOFT * across**2 / 12, 2])
    rod = Rod(rolled(ROLL), stiff, np.array([BENDS[shape], 0, 0]), LOAD, SHARE / np.sqrt(24))
    return rod.tip()


def measure_strips(lab: Laboratory) -> list[Row]:
    rows, n = [], 40
    theory = {shape: strip_theory(n, shape) for shape in BENDS}
    for case in CASES[3:4] if lab.quick else CASES:
        element, kind, shape = case
        key = f"twist-{element}-{kind}-{shape}"
        off = strip_tip(lab, case, n, lab.factor(key, 1.2)) - theory[shape]
        rows.append(
            Row(key, f"{shape} strip, rolled by 60 degrees: tip off theory over length",
                f"{element}, {kind}, n {n}", 0, float(np.linalg.norm(off)), BOUND, "rigidity x 1.2")
        )  # fmt: skip
    return rows


# ---- yarn ----

YARN_LENGTH, YARN_DENSITY, SEGMENTS, YARN_LOAD = 0.2, 5e-4, 20, 3.0  # m, kg/m, 1, Gamma
TIME, DAMPING = 1.5, 20.0  # s to rest, 1/s
QUARTER = np.pi / 2  # kappa0 L


def yarn_tip(lab: Laboratory, stiffer: float) -> np.ndarray:
    # the free length begins half a segment before the last held point
    segment = YARN_LENGTH / (SEGMENTS + 0.5)
    s = segment * (np.arange(SEGMENTS + 2) - 0.5)
    places = arc(s, QUARTER / YARN_LENGTH)
    file = lab.write("quarter.obj", curve(np.concatenate([places, 0 * places[:, :1]], axis=1)))
    rigidity = YARN_DENSITY * G * YARN_LENGTH**3 / YARN_LOAD
    h = 0.3 * segment**2 * np.sqrt(YARN_DENSITY / rigidity)
    steps = int(TIME / h)
    text = (
        f"[run]\nsteps = {steps}\ndt = {h:.17g}\ngravity = 0 0 {-G}\n[log]\nframes_every = {steps}\n"
        f"[yarn.rod]\npattern = obj\nfile = {file.name}\ndensity = {YARN_DENSITY}\ndamping = {DAMPING}\n"
        f"bending = {rigidity * stiffer:.17g}\ntwisting = {rigidity:.17g}\npins = 0 1\n"
    )
    with Log(lab.run("quarter", "yarn.ini", text, [file])) as log:
        return np.asarray(log.frame(log.num_frames - 1)[-1] / YARN_LENGTH)


def measure_yarn(lab: Laboratory) -> list[Row]:
    key = "twist-yarn"
    rod = Rod(rolled(0), np.ones(3), np.array([QUARTER, 0, 0]), YARN_LOAD)
    off = yarn_tip(lab, lab.factor(key, 1.2)) - rod.tip()
    return [
        Row(key, "yarn, a level quarter of a circle that turns down: tip off theory over length",
            f"yarn_bend and yarn_twist, {SEGMENTS} segments", 0, float(np.linalg.norm(off)), BOUND,
            "rigidity x 1.2")
    ]  # fmt: skip


def measure(lab: Laboratory) -> list[Row]:
    return measure_strips(lab) + ([] if lab.quick else measure_yarn(lab))
