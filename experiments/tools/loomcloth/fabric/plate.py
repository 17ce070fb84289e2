"""The rigidities of the element `plate` from bent strips.

With the curvatures K = (K11, K22, 2 K12) along warp and weft the energy over the area is K' D K/2,

    D = [[D11, D12, 0], [D12, D22, 0], [0, 0, D66]],   D12 = nu sqrt(D11 D22),
    D45 = (D11 + D22 + 2 D12 + 4 D66)/4                (framework/elements/plate_settings.c)

and R D R' are the rigidities in the axes of a strip cut at an angle.  A narrow strip curves across its
width by itself and has the rigidity 1/(D^-1)_11.  A wide one is kept cylindrical by its resistance to
stretching, but for a layer at its edges, and has D_11.  Between them (D. G. Ashwell, The anticlastic
curvature of rectangular beams and plates, J. R. Aeronaut. Soc. 54, 1950) the deflection w across a strip
with a stiffness Y along it, bent to the curvature q, is the solution of D22 w'''' + Y q^2 w = 0 with free
edges, and

    B = D_11 - (D_11 - 1/(D^-1)_11) F(b a),   a^4 = Y q^2/(4 D_22),
    F(u) = (2/u) (cosh u - cos u)/(sinh u + sin u)

for the width b.  Strips of one width tell three numbers; a second width tells nu.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from loomcloth.fabric import model
from loomcloth.fabric.measured import Curve

NAMES = ("bending_warp", "bending_weft", "bending_bias", "bending_poisson")
WIDTH = 0.025  # m, of a strip without a width (ISO 9073-7)
LEAST_SHEAR, MOST_RATIO = (
    0.1,
    0.95,
)  # D66/sqrt(D11 D22), |nu|: bounds of a stable plate, as the element has them
SURE, SURE_RATIO = 0.25, 0.1  # of D in itself; of nu
# Standard deviations of numbers that no curve determines: of logarithms of D, D22/D11 and D66, and of nu.
FREE, LINK, RATIO = 3.0, 0.5, 0.3
SMALL = 1e-3  # strain at which a strip's stiffness along it counts

Numbers = np.ndarray


def matrices(p: Numbers) -> Numbers:
    """D [..., 3, 3] of unknowns [..., 4]: log D11, log D22, log(D66/sqrt(D11 D22) - LEAST_SHEAR) and
    artanh(nu/MOST_RATIO)."""
    D11, D22 = np.exp(p[..., 0]), np.exp(p[..., 1])
    mean = np.sqrt(D11 * D22)
    D12, D66 = ratio(p) * mean, (LEAST_SHEAR + np.exp(p[..., 2])) * mean
    none = np.zeros_like(mean)
    rows = [[D11, D12, none], [D12, D22, none], [none, none, D66]]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def ratio(p: Numbers) -> Numbers:
    return MOST_RATIO * np.tanh(p[..., 3])


def turned(D: Numbers, degrees: Numbers) -> Numbers:
    """D [..., n, 3, 3] in the axes of strips cut at degrees [n]."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    R = np.array([[c * c, s * s, -c * s], [s * s, c * c, c * s], [2 * c * s, -2 * c * s, c * c - s * s]])
    R = np.moveaxis(R, -1, 0)
    return np.swapaxes(R, -1, -2) @ D[..., None, :, :] @ R


def share_free(u: Numbers) -> Numbers:
    """F(u): 1 of a narrow strip, 0 of a wide one."""
    u = np.clip(u, 1e-6, 300)
    return 2 / u * (np.cosh(u) - np.cos(u)) / (np.sinh(u) + np.sin(u))


def rigidity(D: Numbers, degrees: Numbers, width: Numbers, curvature: Numbers, along: Numbers) -> Numbers:
    """B [..., n], N m, of strips [n] of width (m) bent to a curvature (1/m); along: their stiffness to
    stretching, N/m."""
    own = turned(D, degrees)
    wide, free = own[..., 0, 0], 1 / np.linalg.inv(own)[..., 0, 0]
    u = width * (along * curvature**2 / (4 * own[..., 1, 1])) ** 0.25
    return wide - (wide - free) * share_free(u)


@dataclass
class Plate:
    """Rigidities along the warp, the weft and at 45 degrees (N m), and Poisson's ratio of bending."""

    values: Numbers  # [4], as NAMES
    sure: Numbers  # of each, whether the curves determine it
    stretch: Numbers  # [6][4], N/m, of the membrane

    word = "plate"
    edge = 0.0  # cells between the last held vertices and the line from which a strip bends

    @property
    def count(self) -> str:
        return f"{int(self.sure.sum())} of {len(NAMES)} numbers of bending"

    def rigidity(self, degrees: float, curvature: Numbers, width: float = np.nan) -> Numbers:
        """Moment over width and curvature, N m, of a strip of a width (m; NaN: WIDTH) at curvatures (1/m)."""
        D11, D22, D45, nu = self.values
        mean = np.sqrt(D11 * D22)
        D66 = (4 * D45 - D11 - D22 - 2 * nu * mean) / 4
        D = np.array([[D11, nu * mean, 0], [nu * mean, D22, 0], [0, 0, D66]])
        angles = np.full(np.shape(curvature), float(degrees))
        b = np.full(np.shape(curvature), WIDTH if np.isnan(width) else width)
        return rigidity(D, angles, b, curvature, stiffness_along(self.stretch, angles))

    def rows(self) -> list[str]:
        """Lines of the material."""
        values = [
            f"{v:.6g}{'' if name == 'bending_poisson' else ' N m'}"
            for name, v in zip(NAMES, self.values, strict=True)
        ]
        notes = ["" if ok else "  ; assumed" for ok in self.sure]
        return [f"{name:15} = {v}{note}" for name, v, note in zip(NAMES, values, notes, strict=True)]


def stiffness_along(stretch: Numbers, degrees: Numbers) -> Numbers:
    """N/m, of strips [n] that are hardly pulled."""
    angles, at = np.unique(degrees, return_inverse=True)
    found = [model.tension(stretch, a, np.array([SMALL]))[0][0] / SMALL for a in angles]
    return np.nan_to_num(np.array(found), nan=0.0)[at]


def fit(
    curves: list[Curve],
    stretch: Numbers,
    solve: Callable[[Callable[[Numbers], Numbers], Numbers], tuple[Numbers, Numbers]],
    scaled: Callable[[Numbers], Numbers],
) -> Plate:
    """The plate of bent strips: moments (N) at curvatures (1/m).  solve() minimises the sum of squares of
    the function given from a start; scaled() takes moments [..., n] of all points to misfits in errors of a
    reading."""
    angle = np.concatenate([np.full(len(c.x), float(c.angle)) for c in curves])
    width = np.concatenate([np.full(len(c.x), WIDTH if np.isnan(c.width) else c.width) for c in curves])
    q = np.concatenate([np.array(c.x) for c in curves])
    moment = np.concatenate([np.array(c.y) for c in curves])
    along = stiffness_along(stretch, angle)
    guess = float(np.mean(np.log(moment / q)))
    sheet = np.log(0.5 - LEAST_SHEAR)  # of an isotropic sheet with nu = 0

    def links(p: Numbers) -> Numbers:
        parts = [
            (p[..., :2] - guess) / FREE,
            (p[..., 1:2] - p[..., :1]) / LINK,
            (p[..., 2:3] - sheet) / LINK,
            p[..., 3:] / (RATIO / MOST_RATIO),
        ]
        return np.concatenate(parts, axis=-1)

    def residual(p: Numbers) -> Numbers:
        return np.concatenate([links(p), scaled(q * rigidity(matrices(p), angle, width, q, along))], axis=-1)

    # strips along the axes tell nu^2 alone: of both solutions the one with nu > 0, where it starts
    p, covariance = solve(residual, np.array([guess, guess, sheet, RATIO]))
    values, slopes = numbers(p), np.empty((4, 4))
    for k in range(4):
        move = 1e-5 * np.eye(4)[k]
        slopes[:, k] = (numbers(p + move) - numbers(p - move)) / 2e-5
    off = np.sqrt(np.diag(slopes @ covariance @ slopes.T))
    off[:3] /= values[:3]
    return Plate(values, off < np.array([SURE, SURE, SURE, SURE_RATIO]), stretch)


def numbers(p: Numbers) -> Numbers:
    """The four of NAMES."""
    D = matrices(p)
    D45 = (D[0, 0] + D[1, 1] + 2 * D[0, 1] + 4 * D[2, 2]) / 4
    return np.array([D[0, 0], D[1, 1], D45, ratio(p)])
