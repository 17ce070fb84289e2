"""Orders of convergence over four resolutions, in cells and in steps.

cantilever: the error against the elastica, from the coarsest mesh to the finest
hang:       a strip held at both ends that sags as it stretches; no theory, so differences of its mean height
            between one mesh and the next
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
HUNG = ("regular", "alternate", "Delaunay")  # differences of equilateral meshes change their sign
CELLS = (10, 20, 40, 80)
GAMMA = 10  # of the cantilever
HALF = 0.5  # an order more or less
STRETCH, STIFF = 100.0, 20.0  # Y over rho g L, rho g L^3 over D
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


def strip_text(sheet_name: str, denser: float = 1.0) -> str:
    young, rigidity = STRETCH * DENSITY * G * LENGTH, DENSITY * G * LENGTH**3 / STIFF
    return (
        f"[cloth.strip]\nshape = obj\nfile = {sheet_name}\nmodel = stvk+plate\n"
        f"density = {DENSITY * denser:.17g}\n"
        f"k0 = {young:.17g}\nk1 = 0\nk2 = {young:.17g}\nk3 = {young:.17g}\nbending = {rigidity:.17g}\n"
        f"pins = box -1 -1 -1 1e-9 1 1\n"
    )


def measure_sag(lab: Laboratory, kind: str, n: int, denser: float) -> float:
    """Mean height of the free part over the length."""
    sheet = lab.sheet(kind, n, across(kind, n, SHARE), LENGTH, SHARE * LENGTH, LENGTH / n)
    text = (
        f"[run]\ngravity = 0 0 {-G}\ndt = 0.4\n[stop]\ntol_abs = 1e-9\n"
        f"{strip_text(sheet.path.name, denser)}[pin.end]\nobject = strip\n"
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


def swing_order(lab: Laboratory) -> Row:
    key, found = "steps-swing", []
    n = SWING_CELLS
    sheet = lab.sheet("alternate", n, across("alternate", n, SHARE), LENGTH, SHARE * LENGTH, LENGTH / n)
    for parts in PARTS:
        heavier = lab.factor(key) if parts == PARTS[-1] else 1.0
        text = (
            f"[run]\ngravity = 0 0 {-G * heavier:.17g}\nsteps = {parts}\ndt = {TIME / parts:.17g}\n"
            f"[log]\nframes_every = {parts}\n[stop]\ntol_abs = 1e-9\n{strip_text(sheet.path.name)}"
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
        *(hang_order(lab, kind) for kind in HUNG),
        swing_order(lab),
    ]
