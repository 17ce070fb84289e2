"""The tables of a fabric from its curves, and which of their numbers the curves do not determine.

Pulled strips determine few of the four numbers of a row: the ones along the strip and, where the contraction
was measured, the ones across it.  So the fit is a regularised one (A. Tarantola, Inverse Problem Theory,
SIAM 2005, section 3.2): least squares of all curves together, plus weak links for the numbers on which the
curves are silent.

    at rest   k3 = sqrt(k0 k2) (1 - r), r = k1/sqrt(k0 k2) = 0.2: an isotropic sheet's
    stretched rows at 0, 45 and 90 degrees as at rest; rows between, the mean of their neighbours
    bending   edges at 45 degrees the mean of the edges at 0 and 90; a curvature as the one below it;
              of a plate, see loomcloth/fabric/plate.py

The unknowns are logarithms of k0, k2, k3 and k_e and the logit of r/0.95, so that every row is positive
definite; means are of logarithms.  A number counts as measured if errors of ERROR leave its standard
deviation below SURE; all others are assumed, and the material says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from loomcloth.fabric import model, plate
from loomcloth.fabric.measured import Curve, Fabric

ERROR = 0.02  # of a reading, which curves are weighted by
FLOOR = 0.002  # of a curve's largest force or moment, to that
SIDE_FLOOR = 0.003  # of a contraction: 0.15 mm of a strip of 50 mm
POOR = 0.05  # RMS over the largest reading from which on the model does not follow a curve
SURE, SURE_RATIO = 0.25, 0.1  # of k0, k2, k3 and k_e in themselves; of r
R_MOST, R_GUESS = 0.95, 0.2
FREE, LINK, RATIO = 3.0, 0.5, 1.0  # standard deviations: of a free logarithm, a linked one, the logit of r
LINKS = np.array([LINK, 2 * RATIO, LINK, LINK])  # of a stretched row: contraction turns r rather than k
BETWEEN = 0.3  # of rows between two others
LOOSE = np.log(R_GUESS / (R_MOST - R_GUESS))  # logit of r = R_GUESS
# Curvature times bending length for a cantilever: the mean over the elastica of w L^3/B = 8, in which the
# chord falls by 41.5 degrees (Peirce: L = 2 c), each part weighted by how far its bending moves the end.
CANTILEVER = 1.02

Numbers = np.ndarray


@dataclass
class Hinges:
    """The table of wang_bend."""

    table: Numbers  # [5][3], N m
    sure: Numbers  # of each number, whether the curves determine it

    word = "wang_bend"
    edge = 0.5  # cells between the last held vertices and the line from which a strip bends

    @property
    def count(self) -> str:
        return f"{int(self.sure.sum())} of {self.sure.size} numbers of bending"

    def rigidity(self, degrees: float, curvature: Numbers, width: float = np.nan) -> Numbers:
        """Moment over width and curvature, N m, of a strip at curvatures (1/m); of any width."""
        return model.rigidity(self.table, degrees, curvature)

    def rows(self) -> list[str]:
        """Lines of the material."""
        from loomcloth.fabric import material

        return material.rows("bend", self.table, self.sure, material.EDGES, model.BEND, "N m")


@dataclass
class Fit:
    stretch: Numbers  # [6][4], N/m
    stretch_sure: Numbers  # of each number, whether the curves determine it
    bending: plate.Plate | Hinges
    bent: list[Curve]  # moments at curvatures, cantilevers included
    off: dict[str, float]  # of each curve, RMS of model less measurement over its largest reading


# ---- least squares ----
def solve(residual: Callable[[Numbers], Numbers], p: Numbers) -> tuple[Numbers, Numbers]:
    """Least squares by Levenberg and Marquardt, and the covariance of the solution.  residual takes
    [..., unknowns], so that all slopes are one call.  SciPy's three methods were tried and stop earlier: half
    the sum of squares of measured.csv is 22.1 to 22.7 there, 21.7 here."""

    def slopes(p: Numbers) -> Numbers:
        ends = residual(p + 1e-5 * np.concatenate([np.eye(len(p)), -np.eye(len(p))]))
        return (ends[: len(p)] - ends[len(p) :]).T / 2e-5

    r, damping = residual(p), 1e-2
    J = slopes(p)
    for _ in range(200):
        A, g = J.T @ J, J.T @ r
        move = -np.linalg.solve(A + damping * np.diag(np.diag(A)), g)
        move *= min(1.0, 1.0 / np.abs(move).max())  # a factor of e at most
        trial = residual(p + move)
        gain = 1 - (trial @ trial) / (r @ r)
        if gain > 0:
            p, r, damping = p + move, trial, max(damping / 5, 1e-9)
            J = slopes(p)
            if gain < 1e-8:
                break
        else:
            damping *= 4
            if damping > 1e9:
                break
    return p, np.linalg.inv(J.T @ J)


@dataclass
class Readings:
    """All points of several curves in one row."""

    angle: Numbers
    x: Numbers
    y: Numbers
    error: Numbers  # error bound of each reading
    side: Numbers

    @classmethod
    def of(cls, curves: list[Curve]) -> Readings:
        y = [np.array(c.y) for c in curves]
        return cls(
            np.concatenate([np.full(len(c.x), c.angle) for c in curves]),
            np.concatenate([np.array(c.x) for c in curves]),
            np.concatenate(y),
            np.concatenate([ERROR * v + FLOOR * v.max() for v in y]),
            np.concatenate([np.array(c.side or [np.nan] * len(c.x)) for c in curves]),
        )


def scaled(found: Numbers, read: Numbers, error: Numbers) -> Numbers:
    """In units of the error bound of a reading; where the model cannot hold a strip, far off."""
    return np.nan_to_num((found - read) / error, nan=1e3)


# ---- stretching ----
def rows_of(p: Numbers) -> Numbers:
    q = p.reshape(*p.shape[:-1], 6, 4)
    k0, k2, k3 = np.exp(q[..., 0]), np.exp(q[..., 2]), np.exp(q[..., 3])
    return np.stack([k0, ratio(q[..., 1]) * np.sqrt(k0 * k2), k2, k3], axis=-1)


def ratio(q: Numbers) -> Numbers:
    return R_MOST / (1 + np.exp(-q))


def stretch_links(p: Numbers, guess: float) -> Numbers:
    """The links of the head of this file, each over its standard deviation."""
    q = p.reshape(*p.shape[:-1], 6, 4)
    rest = q[..., 0, :]
    isotropic = 0.5 * (rest[..., 0] + rest[..., 2]) + np.log(1 - R_GUESS)
    parts = [
        np.stack([rest[..., 0] - guess, rest[..., 2] - guess, rest[..., 3] - isotropic], axis=-1) / FREE,
        (rest[..., 1:2] - LOOSE) / RATIO,
        *((q[..., r, :] - rest) / LINKS for r in (1, 3, 5)),
        *((q[..., r, :] - 0.5 * (q[..., r - 1, :] + q[..., r + 1, :])) / BETWEEN for r in (2, 4)),
    ]
    return np.concatenate(parts, axis=-1)


def fit_stretch(curves: list[Curve]) -> tuple[Numbers, Numbers]:
    """The table and which of it is sure."""
    guess = float(np.mean([np.log(0.5 * c.y[-1] / c.x[-1]) for c in curves]))
    read = Readings.of(curves)
    wide = ~np.isnan(read.side)
    side_error = ERROR * abs(read.side[wide]) + SIDE_FLOOR

    def residual(p: Numbers) -> Numbers:
        force, side = model.tension(rows_of(p), read.angle, read.x)
        parts = [
            stretch_links(p, guess),
            scaled(force, read.y, read.error),
            scaled(side[..., wide], read.side[wide], side_error),
        ]
        return np.concatenate(parts, axis=-1)

    start = np.tile([guess, LOOSE, guess, guess + np.log(1 - R_GUESS)], 6)
    p, covariance = solve(residual, start)
    off = np.sqrt(np.diag(covariance)).reshape(6, 4)
    r = ratio(p.reshape(6, 4)[:, 1])
    off[:, 1] *= r * (1 - r / R_MOST)  # of r itself
    return rows_of(p), off < np.array([SURE, SURE_RATIO, SURE, SURE])


# ---- bending ----
def bend_readings(fabric: Fabric) -> list[Curve]:
    """Moments at curvatures; a cantilever of weight w gives B = w c^3 (F. T. Peirce, The handle of cloth as a
    measurable quantity, J. Text. Inst. 21, 1930)."""
    found = [c for c in fabric.of("bending") if c.x]
    for c in fabric.of("cantilever"):
        lengths = sorted(c.y)
        q = [CANTILEVER / length for length in reversed(lengths)]
        weight = fabric.density * 9.80665
        moment = [weight * length**3 * CANTILEVER / length for length in reversed(lengths)]
        found.append(Curve("cantilever", c.angle, q, moment, width=c.width))
    return found


def bend_links(p: Numbers, guess: float) -> Numbers:
    q = p.reshape(*p.shape[:-1], 5, 3)
    parts = [
        (q[..., 0, ::2] - guess) / FREE,
        (q[..., 0, 1:2] - q[..., 0, ::2].mean(axis=-1, keepdims=True)) / LINK,
        ((q[..., 1:, :] - q[..., :-1, :]) / LINK).reshape(*p.shape[:-1], 12),
    ]
    return np.concatenate(parts, axis=-1)


def fit_hinges(curves: list[Curve]) -> Hinges:
    read = Readings.of(curves)
    guess = float(np.mean(np.log(5 * read.y / read.x)))  # B = k/5 where all directions have k

    def residual(p: Numbers) -> Numbers:
        B = model.rigidity(np.exp(p.reshape(*p.shape[:-1], 5, 3)), read.angle, read.x)
        return np.concatenate([bend_links(p, guess), scaled(read.x * B, read.y, read.error)], axis=-1)

    p, covariance = solve(residual, np.full(15, guess))
    return Hinges(np.exp(p.reshape(5, 3)), np.sqrt(np.diag(covariance)).reshape(5, 3) < SURE)


def fit_plate(curves: list[Curve], stretch: Numbers) -> plate.Plate:
    read = Readings.of(curves)
    return plate.fit(curves, stretch, solve, lambda moment: scaled(moment, read.y, read.error))


def fit(fabric: Fabric, bending: str = "plate") -> Fit:
    """Of the elements tri_wang and `bending`: plate or wang_bend."""
    pulled, bent = [c for c in fabric.of("tension") if c.x], bend_readings(fabric)
    stretch, stretch_sure = fit_stretch(pulled)
    found = fit_plate(bent, stretch) if bending == "plate" else fit_hinges(bent)
    off = {}
    for c in pulled:
        off[c.name] = rms(model.tension(stretch, c.angle, np.array(c.x))[0], c)
    for c in bent:
        q = np.array(c.x)
        off[c.name] = rms(q * found.rigidity(c.angle, q, c.width), c)
    return Fit(stretch, stretch_sure, found, bent, off)


def rms(found: Numbers, curve: Curve) -> float:
    return float(np.sqrt(np.mean((found - np.array(curve.y)) ** 2)) / max(curve.y))
