"""The loop of moment over curvature of a yarn that keeps a part of its bend.

Three points, two of them held.  A spring turns the third to and fro, and the force that it and inertia leave
is that of the bend: with the curvature w = 2 tan(phi/2) of the angle phi and segments of length l
    M = k_b/l (w - wbar)(1 + w^2/4)
Return mapping moves wbar after each step: |wbar - w| <= p, then |wbar| <= p_max (Kaldor et al. 2010).
A cycle between w = -a and a takes the work 4 p (a - p) k_b/l where p_max has no part in it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from loomcloth.log import Log
from loomcloth.validation.laboratory import Laboratory, Row
from loomcloth.validation.yarn import curve

SEGMENT, RIGIDITY, DENSITY, SPRING, DAMPING = 0.01, 2e-8, 5e-4, 0.2, 10.0  # m, N m^2, kg/m, N/m, 1/s
YIELD, MOST = 0.3, 0.8  # p, p_max
ANGLE, RATE, H = 70.0, 140.0, 2e-3  # degrees from the middle, degrees a second, s
TURN = ANGLE / RATE  # s, from the middle to an end
# A step turns the third point by up to RATE H = 0.28 degrees, which is 1.4 % of the largest moment where the
# bend is elastic: an error of one step in time
BOUND = 0.015


@dataclass
class Loop:
    """Of each step."""

    w: np.ndarray  # curvature
    phi: np.ndarray  # rad
    moment: np.ndarray  # N m


def run_loop(lab: Laboratory, name: str, p: float, most: float, rigidity: float) -> Loop:
    """To one end, then a cycle and a half."""
    points = np.array([[-SEGMENT, 0, 0], [0, 0, 0], [SEGMENT, 0, 0]])
    file = lab.write("bend.obj", curve(points))
    ways = ((1, 0, 1), (-1, 1, 3), (1, 3, 5), (-1, 5, 7))
    motion = " ".join(f"rotate 0 0 1 0 0 0 {s * RATE:g} {a * TURN:g} {b * TURN:g}" for s, a, b in ways)
    text = (
        f"[run]\nsteps = {round(7 * TURN / H)}\ndt = {H}\ngravity = 0 0 0\n[yarn.rod]\npattern = obj\n"
        f"file = {file.name}\ndensity = {DENSITY}\nbending = {rigidity:.17g}\ndamping = {DAMPING}\n"
        f"plasticity = {p:.17g}\nplasticity_max = {most:.17g}\npins = 0 1\n"
        f"[pin.tip]\nobject = rod\nwhere = 2\nstiffness = {SPRING}\nmotion = {motion}\n"
    )
    with Log(lab.run(name, "yarn.ini", text, [file])) as log:
        x = np.array([log.frame(k)[2, :2] for k in range(log.num_frames)])
        mass = float(log.scene("mass")[2])
    # a step takes the forces of its start, with the spring where it is at its end
    t = H * np.arange(1, len(x))
    turned = np.radians(ANGLE) * np.interp(t / TURN, [0, 1, 3, 5, 7], [0, 1, -1, 1, -1])
    v = np.concatenate([np.zeros((1, 2)), np.diff(x, axis=0) / H])
    target = SEGMENT * np.stack([np.cos(turned), np.sin(turned)], axis=1)
    x = x[:-1]
    force = SPRING * (target - x) - mass * (v[1:] * np.exp(DAMPING * H) - v[:-1]) / H
    phi = np.arctan2(x[:, 1], x[:, 0])
    across = np.stack([-np.sin(phi), np.cos(phi)], axis=1)
    return Loop(2 * np.tan(phi / 2), phi, SEGMENT * (force * across).sum(axis=1))


def law(w: np.ndarray, p: float, most: float) -> np.ndarray:
    """Moments of a yarn that is bent to w, step after step, N m."""
    bar, moments = 0.0, []
    for bend in w:
        if abs(bar - bend) > p:
            bar = bend + np.copysign(p, bar - bend)
        if most and abs(bar) > most:
            bar = np.copysign(most, bar)
        moments.append(RIGIDITY / SEGMENT * (bend - bar) * (1 + bend**2 / 4))
    return np.array(moments)


def measure(lab: Laboratory) -> list[Row]:
    method = "yarn_bend, yarn_explicit"
    loop = run_loop(lab, "yarn-plastic", YIELD * lab.factor("yarn-moment"), MOST, RIGIDITY)
    moments = law(loop.w, YIELD, MOST)
    rows = [
        Row("yarn-moment", "moment over curvature: distance from return mapping over its height", method,
            0, float(abs(loop.moment - moments).max() / moments.max()), BOUND, "plasticity x 1.1"),
    ]  # fmt: skip
    loop = run_loop(lab, "yarn-plastic", YIELD, MOST * lab.factor("yarn-set"), RIGIDITY)
    first = round(TURN / H)  # the spring turns round
    k = first + int(np.argmax(loop.moment[first:] < 0))
    share = loop.moment[k - 1] / (loop.moment[k - 1] - loop.moment[k])
    kept = float(loop.w[k - 1] + share * (loop.w[k] - loop.w[k - 1]))
    quantity = "curvature that stays without a moment, after a bend beyond p + p_max"
    rows.append(Row("yarn-set", quantity, method, MOST, kept, BOUND, "p_max x 1.1"))
    if lab.quick:
        return rows
    loop = run_loop(lab, "yarn-cycle", YIELD, 0, RIGIDITY * lab.factor("yarn-cycle"))
    # from one visit of w = -a to the next
    ends = [int(np.argmin(loop.w[: 4 * first])), len(loop.w) - 1]
    part = slice(ends[0], ends[1] + 1)
    work = float(np.trapezoid(loop.moment[part], loop.phi[part]))
    a = float(loop.w[part].max() - loop.w[part].min()) / 2
    theory = 4 * YIELD * (a - YIELD) * RIGIDITY / SEGMENT
    quantity = "work of a cycle of bending over 4 p (a - p) k_b/l"
    rows.append(Row("yarn-cycle", quantity, method, 1, work / theory, BOUND, "rigidity x 1.1"))
    return rows
