"""Orders of convergence over four resolutions, in cells and in steps.

cantilever: the error against the elastica, from the coarsest mesh to the finest
hang:       a strip held at both ends that sags as it stretches; no theory, so differences of its mean height
            between one mesh and the next
ball:       a square sheet over a ball with a soft layer, held at the vertex at the top; differences of its
            mean height
swing:      a strip that falls from its clamp, and where its end is after a time; differences of steps and
            half as long ones
"""

from __future__ import annotations

import numpy as np

from loomcloth.log import Log
from loomcloth.validation import cantilever
from loomcloth.validation.cantilever import DENSITY, LENGTH, SHARE, G
from loomcloth.validation.laboratory import Laboratory, Row, across

KINDS = ("regular", "alternate", "equilateral", "Delaunay")
CELLS = (10, 20, 40, 80)
GAMMA = 10  # of the cantilever
HALF = 0.5  # an order more or less
STRETCH, STIFF = 100.0, 20.0  # Y over rho g L, rho g L^3 over D, of a strip that falls
# A strip held at both ends stretches as it sags.  Where it has stretched by eps, folds of edges that lean
# against the bend are off by a share of about eps, which no finer mesh ends; a stiff membrane keeps it small.
HELD_STRETCH = 1000.0
HELD_SHARE = 0.2  # its width over its length: two rows of cells on the coarsest mesh
SQUARE, BALL, BALL_CELLS = 0.3, 0.1, (8, 16, 32, 64)  # m, m, along a side
BALL_RIGIDITY = 1e-3  # N m
# 1/s^2 and m of the soft layer: contact spreads over more than one coarse cell, and carries the vertex that
# is held, which as a support of its own would leave errors of first order.
SOFTNESS, LAYER = 3e3, 0.025
TIME, PARTS = 0.12, (12, 24, 48, 96)  # s, steps of a swing
SWING_CELLS = 10


def order(values: list[float], theory: float | None = None) -> float:
    """From four resolutions, each twice as fine."""
    steps = np.abs(np.array(values) - theory if theory is not None else np.diff(values))
    return float(np.log2(steps[0] / steps[-1]) / (len(steps) - 1))


def show(values: list[float]) -> str:
    return " ".join(f"{v:.5g}" for v in values)


def cantilever_order(lab: Laboratory, kind: str) -> Row:
    key = f"cells-cantilever-{kind}"
    found = []
    for n in CELLS:
        stiffer = lab.factor(key, 1.05) if n == CELLS[-1] else 1.0
        found.append(cantilever.measure_tip(lab, kind, "plate", GAMMA, n, stiffer))
    quantity = f"order in cells, heavy cantilever, Gamma {GAMMA}"
    method, wrong = f"plate, {kind}, n {CELLS[0]} to {CELLS[-1]}", "rigidity of the finest x 1.05"
    found_order, cause = order(found, cantilever.elastica(GAMMA)), f"drop over reach {show(found)}"
    return Row(key, quantity, method, 2, found_order, HALF / 2, wrong, cause=cause)


def strip_text(sheet_name: str, stretch: float, denser: float = 1.0) -> str:
    young, rigidity = stretch * DENSITY * G * LENGTH, DENSITY * G * LENGTH**3 / STIFF
    return (
        f"[cloth.strip]\nshape = obj\nfile = {sheet_name}\nmodel = stvk+plate\n"
        f"density = {DENSITY * denser:.17g}\n"
        f"k0 = {young:.17g}\nk1 = 0\nk2 = {young:.17g}\nk3 = {young:.17g}\nbending = {rigidity:.17g}\n"
        f"pins = box -1 -1 -1 1e-9 1 1\n"
    )


def measure_sag(lab: Laboratory, kind: str, n: int, denser: float) -> float:
    """Mean height of the free part over the length."""
    rows = round(HELD_SHARE * n)  # of equilateral meshes, too: a finer mesh has the same shapes
    sheet = lab.sheet(kind, n, rows, LENGTH, HELD_SHARE * LENGTH, LENGTH / n)
    text = (
        f"[run]\ngravity = 0 0 {-G}\ndt = 0.4\n[stop]\ntol_abs = 1e-8\n"
        f"{strip_text(sheet.path.name, HELD_STRETCH, denser)}[pin.end]\nobject = strip\n"
        f"where = box {LENGTH * (1 - 1e-9):.17g} -1 -1 1 1 1\n"
    )
    with Log(lab.run(f"hang-{kind}-{n}", "hang.ini", text, [sheet.path])) as log:
        mass, z = np.asarray(log.scene("mass")), log.frame(log.num_frames - 1)[:, 2]
    return float(mass @ z / mass.sum() * (LENGTH + LENGTH / n) / LENGTH**2)  # the held column has z = 0


def hang_order(lab: Laboratory, kind: str) -> Row:
    key = f"cells-hang-{kind}"
    found = []
    for n in CELLS:
        denser = lab.factor(key, 1.05) if n == CELLS[-1] else 1.0
        found.append(measure_sag(lab, kind, n, denser))
    quantity = "order in cells, strip held at both ends"
    method = f"plate, {kind}, n {CELLS[0]} to {CELLS[-1]}"
    cause, wrong = f"mean height {show(found)}", "weight on the finest x 1.05"
    return Row(key, quantity, method, 2, order(found), HALF / 2, wrong, cause=cause)


def measure_ball(lab: Laboratory, kind: str, n: int, denser: float) -> float:
    """Mean height over the side of the square."""
    sheet = lab.sheet(kind, n, n, SQUARE, SQUARE)
    square = ((sheet.points - SQUARE / 2) ** 2).sum(axis=1)
    posed = lab.posed(f"ball-{kind}-{n}.obj", sheet, -square / (2 * BALL))  # the ball's height at its top
    young = HELD_STRETCH * DENSITY * G * SQUARE
    text = (
        f"[run]\ngravity = 0 0 {-G}\ndt = 0.4\n[stop]\ntol_abs = 1e-8\n"
        f"[cloth.sheet]\nshape = obj\nfile = {sheet.path.name}\npositions = {posed.name}\n"
        f"transform = translate {-SQUARE / 2} {-SQUARE / 2} 0\nmodel = stvk+plate\n"
        f"density = {DENSITY * denser:.17g}\n"
        f"k0 = {young:.17g}\nk1 = 0\nk2 = {young:.17g}\nk3 = {young:.17g}\nbending = {BALL_RIGIDITY}\n"
        f"thickness = 1e-6\npins = {int(square.argmin())}\n"
        f"[body.ball]\nshape = sphere\nradius = {BALL}\nposition = 0 0 {-BALL}\n"
        f"[collision.ball]\nplugin = sdf\n"
        f"[contact.ball]\nplugin = penalty\ncollision = ball\nstiffness = {SOFTNESS}\n"
        f"offset = {LAYER}\n"
    )
    with Log(lab.run(f"ball-{kind}-{n}", "hang.ini", text, [sheet.path, posed])) as log:
        mass, z = np.asarray(log.scene("mass")), log.frame(log.num_frames - 1)[:, 2]
    return float(mass @ z / mass.sum() / SQUARE)


def ball_order(lab: Laboratory, kind: str) -> Row:
    key = f"cells-ball-{kind}"
    found = []
    for n in BALL_CELLS:
        denser = lab.factor(key) if n == BALL_CELLS[-1] else 1.0
        found.append(measure_ball(lab, kind, n, denser))
    quantity = "order in cells, sheet over a ball"
    method = f"plate, {kind}, n {BALL_CELLS[0]} to {BALL_CELLS[-1]}"
    cause, wrong = f"mean height {show(found)}", "weight on the finest x 1.1"
    # a coarse mesh has few vertices in contact: one order more or less
    return Row(key, quantity, method, 2, order(found), HALF, wrong, cause=cause)


def swing_order(lab: Laboratory) -> Row:
    key, found = "steps-swing", []
    n = SWING_CELLS
    sheet = lab.sheet("alternate", n, across("alternate", n, SHARE), LENGTH, SHARE * LENGTH, LENGTH / n)
    for parts in PARTS:
        heavier = lab.factor(key) if parts == PARTS[-1] else 1.0
        text = (
            f"[run]\ngravity = 0 0 {-G * heavier:.17g}\nsteps = {parts}\ndt = {TIME / parts:.17g}\n"
            f"[log]\nframes_every = {parts}\n[stop]\ntol_abs = 1e-9\n{strip_text(sheet.path.name, STRETCH)}"
        )
        with Log(lab.run(f"swing-{parts}", "hang.ini", text, [sheet.path])) as log:
            end = log.frame(log.num_frames - 1)[sheet.points[:, 0] > LENGTH * (1 - 1e-9)]
        found.append(float(end[:, 2].mean() / LENGTH))
    quantity = f"order in steps, strip that falls for {TIME:g} s"
    method, wrong = f"implicit Euler, {PARTS[0]} to {PARTS[-1]} steps", "gravity in the shortest x 1.1"
    cause = f"height of the end {show(found)}"
    return Row(key, quantity, method, 1, order(found), HALF, wrong, cause=cause)


def measure(lab: Laboratory) -> list[Row]:
    if lab.quick:
        return [swing_order(lab)]
    return [
        *(cantilever_order(lab, kind) for kind in KINDS),
        *(hang_order(lab, kind) for kind in KINDS),
        *(ball_order(lab, kind) for kind in KINDS),
        swing_order(lab),
    ]
