"""Bending and torsion of a narrow free strip, from the frequencies of its first mode of each kind.

Theory: Ritz with Legendre polynomials for the same rectangle.  A frequency squared goes with the stiffness.
"""

from __future__ import annotations

import numpy as np

from loomcloth.log import Log
from loomcloth.validation.laboratory import Laboratory, Row, across
from loomcloth.validation.vibration import SPEED, frequency

SHARE, D, DENSITY = 0.1, 1.0, 1.0  # width over the length of 1 m
ALONG, ABOUT = 12, 8  # polynomials
CELLS, QUICK_CELLS = 80, 40
# Bounds of the prototype of the element at 80 cells, 8 across, and an error of second order in the cell
BOUNDS = {"bending": 0.002, "torsion": 0.04}
CONTROLS = {"bending": 1.1, "torsion": 1.5}  # factors of the rigidity
STEP = 0.1  # over omega of bending
NUS = (0.0, 0.3)
KINDS = ("regular", "alternate", "equilateral", "Delaunay", "jittered")


def ritz(nu: float) -> tuple[np.ndarray, np.ndarray]:
    """omega (1/s) of the modes of the free strip that deform it, ascending, and their coefficients
    [mode][i][j] of Legendre polynomials of norm 1 along and across, on -1 to 1."""

    def products(num: int) -> list[np.ndarray]:
        x, w = np.polynomial.legendre.leggauss(num + 2)
        one = [np.sqrt((2 * i + 1) / 2) * np.polynomial.legendre.Legendre.basis(i) for i in range(num)]
        value, slope, bend = (np.array([p.deriv(k)(x) if k else p(x) for p in one]) for k in range(3))
        return [u @ np.diag(w) @ v.T for u, v in
                ((value, value), (slope, slope), (bend, bend), (value, bend))]  # fmt: skip

    a0, a1, a2, a02 = products(ALONG)
    b0, b1, b2, b02 = products(ABOUT)
    p, q = (2 / 1.0) ** 2, (2 / SHARE) ** 2  # second derivatives on a side of 2
    mixed = nu * (np.kron(a02.T, b02) + np.kron(a02, b02.T)) + 2 * (1 - nu) * np.kron(a1, b1)
    K = p * p * np.kron(a2, b0) + q * q * np.kron(a0, b2) + p * q * mixed
    values, vectors = np.linalg.eigh(0.5 * (K + K.T))
    return np.sqrt(values[3:] * D / DENSITY), vectors.T[3:].reshape(-1, ALONG, ABOUT)


def heights(coefficients: np.ndarray, points: np.ndarray) -> np.ndarray:
    """A mode at points of the strip, largest height 1."""
    scale = np.outer(np.sqrt((2 * np.arange(ALONG) + 1) / 2), np.sqrt((2 * np.arange(ABOUT) + 1) / 2))
    found = np.polynomial.legendre.legval2d(
        2 * points[:, 0] - 1, 2 * points[:, 1] / SHARE - 1, coefficients * scale
    )
    return np.asarray(found / np.abs(found).max())


def measure_strip(lab: Laboratory, kind: str, nu: float, n: int) -> list[Row]:
    omega, modes = ritz(nu)
    twisted = [bool((modes[m][:, 1::2] ** 2).sum() > 0.5) for m in range(len(modes))]  # odd across
    first = {"bending": twisted.index(False), "torsion": twisted.index(True)}
    sheet = lab.sheet(kind, n, across(kind, n, SHARE), 1, SHARE)
    h = STEP / omega[first["bending"]]
    shapes, text, inputs, keys = [], "", [sheet.path], []
    for at, (name, m) in enumerate(first.items()):
        keys.append(f"strip-{name}-{kind}-{nu:g}")
        stiffer = lab.factor(keys[-1], CONTROLS[name])
        shapes.append(heights(modes[m], sheet.points))
        words = "".join(f"0 0 {SPEED * z:.17g}\n" for z in shapes[-1])
        thrown = lab.write(f"strip-{name}-{kind}-{nu:g}-{n}.txt", words)
        inputs.append(thrown)
        text += (f"[cloth.{name}]\nshape = obj\nfile = {sheet.path.name}\nvelocities = {thrown.name}\n"
                 f"transform = translate 0 {at} 0\ndensity = {DENSITY}\nmodel = stvk+plate\n"
                 f"k0 = 1\nk1 = 0\nk2 = 1\nk3 = 1\nbending = {D * stiffer:.17g}\n"
                 f"bending_poisson = {nu}\n")  # fmt: skip
    text = f"[run]\nsteps = 12\ndt = {h:.17g}\n[solver]\nhessian = exact\n{text}"
    with Log(lab.run(f"strip-{kind}-{nu:g}-{n}", "free.ini", text, inputs)) as log:
        mass = np.asarray(log.scene("mass")).reshape(2, -1)
        z = np.array([log.frame(k)[:, 2] for k in range(log.num_frames)]).reshape(-1, 2, len(sheet.points))
    rows = []
    for at, ((name, m), key) in enumerate(zip(first.items(), keys, strict=True)):
        found = frequency(z[:, at] @ (mass[at] * shapes[at]), h)
        rows.append(
            Row(
                key, f"free strip, w/L {SHARE:g}, nu {nu:g}: {name} stiffness over theory",
                f"plate, {kind}, n {n}", 1, float((found / omega[m]) ** 2), BOUNDS[name] * (CELLS / n) ** 2,
                f"rigidity x {CONTROLS[name]:g}",
            )
        )  # fmt: skip
    return rows


def measure(lab: Laboratory) -> list[Row]:
    if lab.quick:
        return measure_strip(lab, "Delaunay", 0.3, QUICK_CELLS)
    return [row for kind in KINDS for nu in NUS for row in measure_strip(lab, kind, nu, CELLS)]
