"""Stacks of sheets at rest on a table: how high they are, and how deep the lowest sinks into a penalty.

Barriers hold each gap between 0 and d_hat, so that the middle of the upper sheet of N, of thickness t, is
(N - 1/2) t + N d_hat/2 high, give or take N d_hat/2.  A penalty of stiffness k for each mass lets a table
carry the weight of N sheets at a depth of N g/k; between sheets it yields less.
"""

from __future__ import annotations

import numpy as np

from loomcloth.log import Log
from loomcloth.validation.laboratory import Laboratory, Row

G, SIZE, CELLS, THICKNESS, REACH, STIFFNESS = 9.81, 0.1, 4, 2e-3, 2e-4, 1e6  # m/s^2, m, 1, m, m, 1/s^2
CONTACTS = ("ipc_barrier", "dbb", "ndb", "ogc", "penalty")
SINKS = 0.03  # bound of test_same_physics.c


def rest_heights(lab: Laboratory, contact: str, num: int, thicker: float, softer: float) -> np.ndarray:
    """Mean heights of the sheets, m."""
    gap = 0.0 if contact == "penalty" else REACH / 2
    keys = f"stiffness = {STIFFNESS / softer:.17g}" if contact == "penalty" else f"d_hat = {REACH}"
    text = f"[contact.all]\nplugin = {contact}\npairs = all\n{keys}\n"
    for k in range(num):  # turned, so that no vertex lies on a vertex
        height = (k + 0.5) * THICKNESS * thicker + (k + 1) * gap
        text += (
            f"[cloth.sheet_{k}]\nsize = {SIZE} {SIZE}\nresolution = {CELLS + 1} {CELLS + 1}\ndensity = 0.2\n"
            f"model = arap+plate_quadratic\npattern = alternate\nmembrane = 300\nbending = 1e-3\n"
            f"damping = 5\nthickness = {THICKNESS * thicker:.17g}\n"
            f"transform = rotate 0 0 1 {7 * k} translate {0.003 * k:g} {0.002 * k:g} {height:.17g}\n"
        )
    with Log(lab.run(f"stack-{contact}", "stack.ini", text)) as log:
        heights = log.frame(log.num_frames - 1)[:, 2].reshape(num, -1)
    return np.asarray(heights.mean(axis=1))


def measure_contact(lab: Laboratory, contact: str, num: int) -> list[Row]:
    key, sinks = f"stack-{contact}", contact == "penalty"
    thicker, softer = lab.factor(key, 1.2), lab.factor("stack-sinks") if sinks else 1.0
    heights = rest_heights(lab, contact, num, thicker, softer)
    span = -G / STIFFNESS * num * (num + 1) / 2 if sinks else num * REACH
    middle = (num - 0.5) * THICKNESS + span / 2
    method = f"cholmod_newton, {contact}"
    rows = [Row(key, f"stack of {num} sheets: height of the upper one, m", method, middle, float(heights[-1]),
                abs(span) / 2 / middle, "thickness x 1.2")]  # fmt: skip
    if sinks:
        # the table sees no sheet but the lowest, and the stack ends where it carries all of them
        depth = thicker * THICKNESS / 2 - float(heights[0])
        rows.append(
            Row("stack-sinks", f"its lowest sheet sinks into the table: depth over {num} g/k", method, 1,
                depth / (num * G / STIFFNESS), SINKS, "stiffness / 1.1")
        )  # fmt: skip
    return rows


def measure(lab: Laboratory) -> list[Row]:
    num, contacts = (3, CONTACTS[:1]) if lab.quick else (5, CONTACTS)
    return [row for contact in contacts for row in measure_contact(lab, contact, num)]
