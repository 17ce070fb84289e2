"""Frequencies from runs of implicit Euler.

Of an undamped oscillator implicit Euler makes q[k+1] (1 + h^2 omega^2) = 2 q[k] - q[k-1], whatever the step
h, so that the motion of a mode tells omega without an error of time.
"""

from __future__ import annotations

import numpy as np

from loomcloth.log import Log
from loomcloth.validation.laboratory import Laboratory, Row

NU, D, DENSITY = 0.3, 1.0, 1.0  # of a square of 1 m
POLYNOMIALS = 14  # of Legendre along each side
SPEED = 1e-6  # m/s, of a mode: bending without stretch
# Bound of test_plate_modes.c at 32 cells, and an error of second order in the cell
AT_32 = 0.015
KINDS = ("regular", "alternate", "equilateral", "Delaunay", "jittered")


def ritz(nu: float) -> tuple[np.ndarray, np.ndarray]:
    """omega L^2 sqrt(rho/D) of the modes of a free square plate that deform it, ascending, and their
    coefficients [mode][i][j] of Legendre polynomials along x and y, on -1 to 1."""
    x, w = np.polynomial.legendre.leggauss(POLYNOMIALS + 2)
    one = [np.sqrt((2 * i + 1) / 2) * np.polynomial.legendre.Legendre.basis(i) for i in range(POLYNOMIALS)]
    value, slope, bend = (np.array([p.deriv(k)(x) if k else p(x) for p in one]) for k in range(3))
    a0, a1, a2, a02 = (
        u @ np.diag(w) @ v.T for u, v in ((value, value), (slope, slope), (bend, bend), (value, bend))
    )
    K = (np.kron(a2, a0) + np.kron(a0, a2) + nu * (np.kron(a02.T, a02) + np.kron(a02, a02.T))
         + 2 * (1 - nu) * np.kron(a1, a1))  # fmt: skip
    values, vectors = np.linalg.eigh(0.5 * (K + K.T))
    # sides of 2: omega goes with the square of the length
    return 4 * np.sqrt(values[3:]), vectors.T[3:].reshape(-1, POLYNOMIALS, POLYNOMIALS)


def heights(coefficients: np.ndarray, points: np.ndarray) -> np.ndarray:
    """A mode at points of a square of side 1, largest height 1."""
    scale = np.sqrt((2 * np.arange(POLYNOMIALS) + 1) / 2)
    c = coefficients * np.outer(scale, scale)
    found = np.polynomial.legendre.legval2d(2 * points[:, 0] - 1, 2 * points[:, 1] - 1, c)
    return np.asarray(found / np.abs(found).max())


def frequency(q: np.ndarray, h: float) -> float:
    """omega of the least squares of the recurrence."""
    nearer = 2 * q[1:-1] - q[:-2] - q[2:]
    return float(np.sqrt((nearer @ q[2:]) / (q[2:] @ q[2:])) / h)


def measure_plate(
    lab: Laboratory, kind: str, element: str, n: int, num: int, stiffer: float | None = None
) -> list[Row]:
    """The lowest frequencies of a free square plate, each mode thrown in a sheet of its own.  stiffer: a
    factor of all rigidities, in place of the controls of these rows."""
    omega, modes = ritz(NU)
    ny = 2 * round(n / np.sqrt(3)) if kind == "equilateral" else n
    sheet = lab.sheet(kind, n, ny, 1, 1)
    h = 0.1 / omega[0]
    shapes = [heights(m, sheet.points) for m in modes[:num]]
    keys = [f"plate-{element}-{kind}-{m + 1}" for m in range(num)]
    # Vectors of folds see rounding in the plane, which is more than the tolerance; the problem is linear.
    stop = "[solver]\nhessian = exact\n" if element == "plate" else "[stop]\nmax_iters = 3\n"
    text = f"[run]\nsteps = 12\ndt = {h:.17g}\n{stop}"
    inputs = [sheet.path]
    membrane = (
        "model = stvk+plate\nk0 = 1\nk1 = 0\nk2 = 1\nk3 = 1"
        if element == "plate"
        else ("model = arap+plate_quadratic\nmembrane = 1")
    )
    for m, shape in enumerate(shapes):
        wrong = lab.factor(keys[m], 1.2) if stiffer is None else stiffer
        thrown = lab.write(f"mode-{kind}-{n}-{m + 1}.txt", "".join(f"0 0 {SPEED * z:.17g}\n" for z in shape))
        inputs.append(thrown)
        text += (f"[cloth.mode{m + 1}]\nshape = obj\nfile = {sheet.path.name}\nvelocities = {thrown.name}\n"
                 f"transform = translate 0 {1.5 * m} 0\ndensity = {DENSITY}\n{membrane}\n"
                 f"bending = {D * wrong:.17g}\nbending_poisson = {NU}\n")  # fmt: skip
    found = []
    with Log(lab.run(f"plate-{element}-{kind}-{n}", "free.ini", text, inputs)) as log:
        mass = np.asarray(log.scene("mass")).reshape(num, -1)
        z = np.array([log.frame(k)[:, 2] for k in range(log.num_frames)]).reshape(-1, num, len(sheet.points))
    for m, shape in enumerate(shapes):
        found.append(frequency(z[:, m] @ (mass[m] * shape), h))
    tolerance = AT_32 * (32 / n) ** 2
    quantity = "free square plate, frequency {}: omega L^2 sqrt(rho/D)"
    method = f"{element}, {kind}, n {n}"
    return [
        Row(key, quantity.format(m + 1), method, float(omega[m]), found[m], tolerance, "rigidity x 1.2")
        for m, key in enumerate(keys)
    ]


def measure(lab: Laboratory) -> list[Row]:
    if lab.quick:
        return measure_plate(lab, "Delaunay", "plate", 16, 2)
    rows = [row for kind in KINDS for row in measure_plate(lab, kind, "plate", 32, 6)]
    return rows + measure_plate(lab, "Delaunay", "plate_quadratic", 32, 6)
