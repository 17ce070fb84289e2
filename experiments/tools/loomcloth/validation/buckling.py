"""Lateral buckling: a strip on edge, clamped at one end, tilts aside where its weight q of a length reaches
q L^3/(w D) of theory.

Theory: Ritz with w = x^2 P_i(x) P_j(y) and the stresses of a strip under its own weight without Poisson's
ratio, which are polynomials beyond the clamp.  In loom the square of the lowest frequency is measured at four
weights below and extrapolated to 0; it is even in the weight.
"""

from __future__ import annotations

import numpy as np

from loomcloth.log import Log
from loomcloth.validation.laboratory import Laboratory, Row, across
from loomcloth.validation.vibration import frequency

SHARE, D, DENSITY = 0.1, 1.0, 1.0  # width over the length of 1 m
AT_40 = 0.012  # bound of test_plate_modes.c at 40 cells, of second order in the cell
YOUNG = 1e6  # N/m: the strip sags by 3e-3 m in its plane
LOADS = (0.2, 0.5, 0.75, 0.9)  # of theory
SWING, REST = 1e-3, 16  # m; steps after which it hangs at rest in its plane
ALONG, ABOUT = 14, 8  # polynomials; more change 19.355 by 0.03 %
# m, residual of a step at 80 cells: rounding in the plane leaves up to 5e-9, more than edge.ini's 2e-9
ROUNDED = 1e-8
NUS = (0.0, 0.3)
KINDS = ("regular", "alternate", "equilateral", "Delaunay", "jittered")


def ritz_weight(nu: float) -> float:
    """q L^3/(w D) at which the strip of length 1 buckles."""
    width = SHARE
    gx, wx = np.polynomial.legendre.leggauss(2 * ALONG + 4)
    gy, wy = np.polynomial.legendre.leggauss(2 * ABOUT + 4)
    x, y = 0.5 * (gx + 1), 0.5 * width * gy
    power = [np.polynomial.Polynomial([0, 0, 1]) for _ in range(ALONG)]
    legendre = [np.polynomial.legendre.Legendre.basis(i) for i in range(max(ALONG, ABOUT))]
    f = [p * legendre[i](np.polynomial.Polynomial([-1, 2])) for i, p in enumerate(power)]
    g = [legendre[j](np.polynomial.Polynomial([0, 2 / width])) for j in range(ABOUT)]
    F = [np.array([p.deriv(k)(x) if k else p(x) for p in f]) for k in range(3)]
    G = [np.array([p.deriv(k)(y) if k else p(y) for p in g]) for k in range(3)]

    def shape(i: int, j: int) -> np.ndarray:
        found: np.ndarray = np.einsum("ax,by->abxy", F[i], G[j]).reshape(ALONG * ABOUT, len(x), len(y))
        return found

    weight = 0.25 * width * np.outer(wx, wy)
    xx, yy, xy, sx, sy = shape(2, 0), shape(0, 2), shape(1, 1), shape(1, 0), shape(0, 1)

    def product(a: np.ndarray, b: np.ndarray, by: np.ndarray) -> np.ndarray:
        found: np.ndarray = np.einsum("axy,bxy->ab", a * by, b)
        return found

    K = product(xx, xx, weight) + product(yy, yy, weight) + 2 * (1 - nu) * product(xy, xy, weight)
    K = K + nu * (product(xx, yy, weight) + product(yy, xx, weight))
    # a weight of 1 an area downwards: moment -w (1 - x)^2/2, and equilibrium N_xx,x + N_xy,y = 0,
    # N_xy,x + N_yy,y = 1, both zero at the edges; N_xx also has the part without a resultant of elasticity
    X, Y, c = x[:, None], y[None, :], width / 2
    inertia = width**3 / 12
    nxx = width * (1 - X) ** 2 / (2 * inertia) * Y + width / inertia * (c**2 / 5 * Y - Y**3 / 3)
    nxy = -width * (1 - X) / (2 * inertia) * (c**2 - Y**2)
    nyy = Y - width / (2 * inertia) * (c**2 * Y - Y**3 / 3)
    S = product(sx, sx, weight * nxx) + product(sy, sy, weight * nyy)
    mixed = product(sx, sy, weight * nxy)
    S = S + mixed + mixed.T
    least = np.linalg.cholesky(0.5 * (K + K.T))
    inverse = np.linalg.inv(least)
    # K w = -q S w
    return float(1 / np.linalg.eigvalsh(-inverse @ (0.5 * (S + S.T)) @ inverse.T).max())


def measure_strip(lab: Laboratory, kind: str, nu: float, n: int) -> Row:
    theory = ritz_weight(nu)
    key = f"buckling-{kind}-{nu:g}{'-80' if n == 80 else ''}"
    sheet = lab.sheet(kind, n, across(kind, n, SHARE), 1, SHARE, 1 / n)
    free = np.maximum(sheet.points[:, 0], 0)
    thrown = lab.write(f"edge-{kind}-{n}.txt", "".join(f"0 0 {z:.17g}\n" for z in SWING * free**2))
    h = 0.3 / 3.516
    stop = f"[stop]\ntol_abs = {ROUNDED}\n" if n == 80 else ""
    stiffer = lab.factor(key)
    squares = []
    for load in LOADS:
        text = (
            f"[run]\ndt = {h:.17g}\ngravity = 0 {-load * theory * D / DENSITY:.17g} 0\n"
            f"{stop}[cloth.strip]\nshape = obj\nfile = {sheet.path.name}\nvelocities = {thrown.name}\n"
            f"density = {DENSITY}\nmodel = stvk+plate\nk0 = {YOUNG}\nk1 = 0\nk2 = {YOUNG}\nk3 = {YOUNG}\n"
            f"bending = {D * stiffer:.17g}\nbending_poisson = {nu}\npins = box -1 -1 -1 1e-9 1 1\n"
        )
        name = f"edge-{kind}-{nu:g}-{n}-{load:g}{'-disturbed' if stiffer != 1 else ''}"
        with Log(lab.run(name, "edge.ini", text, [sheet.path, thrown])) as log:
            end = sheet.points[:, 0] > 1 - 1e-9
            z = np.array([log.frame(k)[end, 2].mean() for k in range(REST, log.num_frames)])
        squares.append(frequency(z, h) ** 2)
    # omega^2 = a + b q^2 + c q^4 + d q^6 is 0 at the weight that is looked for
    fit = np.polynomial.Polynomial.fit(np.square(LOADS), squares, 3, domain=[-1, 1], window=[-1, 1])
    roots = np.asarray(fit.roots() if np.isfinite(fit.coef).all() else [], dtype=complex)
    roots = roots[(abs(roots.imag) < 1e-9) & (roots.real > LOADS[-1] ** 2)]
    found = float(np.sqrt(roots.real.min())) * theory if len(roots) else np.nan
    return Row(
        key, f"lateral buckling, nu {nu:g}: q L^3/(w D)", f"plate, {kind}, n {n}", theory, found,
        AT_40 * (40 / n) ** 2, "rigidity x 1.1",
    )  # fmt: skip


def measure(lab: Laboratory) -> list[Row]:
    if lab.quick:
        return [measure_strip(lab, "alternate", 0.3, 20)]
    return [measure_strip(lab, kind, nu, n) for n in (40, 80) for kind in KINDS for nu in NUS]
