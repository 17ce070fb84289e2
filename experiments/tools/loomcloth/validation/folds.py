"""Large folds: a tube of 24 cells around, 15 degrees each, and a sheet whose corners are pinched together.

The tube has a flat rest shape by its material coordinates and no free end along the bend.  Its energy is read
before the first step; in theory it is D/2 of the square of the angle over the length of a cell.  Vectors of
folds measure 2 sin(a/2) in place of a, and see the chord in place of the arc.

The pinched sheet has no theory: its shapes at rest on three triangulations, moved over one another, are apart
by their errors.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from matplotlib.tri import CubicTriInterpolator, Triangulation

from loomcloth.log import Log
from loomcloth.validation.laboratory import Laboratory, Row, Sheet

AROUND, ROWS, D = 24, 12, 1.0  # cells of 15 degrees, cells along; N m
ANGLE = 2 * math.pi / AROUND
ARC = {"plate": 1.0, "plate_quadratic": (2 * math.sin(ANGLE / 2) / ANGLE) ** 4}  # energy over theory
TUBE_BOUNDS = {"plate": 2e-3, "plate_quadratic": 3e-3}  # of the prototype of the element
TUBES = ("regular", "alternate", "equilateral", "Delaunay", "jittered")
MEMBRANE = 1e-3  # N/m: chords for arcs strain by 3e-3, without effect on the energy
SEED = 7  # of moved vertices
TURN = np.array([1.0, 0.0])  # m, the circumference

SIDE, PINCHED, CELLS, QUICK_CELLS = 0.3, 0.06, 30, 12  # m, cells along a side
YOUNG, RIGIDITY = 500.0, 5e-4  # N/m, N m
APART_30 = 2e-4  # m, bound of the prototype at 30 cells, and an error of second order in the cell
SHEETS = ("regular", "alternate", "Delaunay")


# ---- tube ----


def tube_mesh(kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Points [n][2] (m) on a sheet of one metre that closes along x, and triangles; vertex n + i of these is
    vertex i one turn further."""
    rows = round(ROWS / math.sqrt(0.75)) if kind == "equilateral" else ROWS
    width = rows * (math.sqrt(0.75) if kind == "equilateral" else 1) / AROUND
    i, j = np.meshgrid(np.arange(AROUND), np.arange(rows + 1))
    points = np.stack([i / AROUND, j * width / rows], axis=2).reshape(-1, 2)
    if kind == "equilateral":
        points[:, 0] += 0.5 / AROUND * (j.ravel() % 2)
    if kind in ("Delaunay", "jittered"):
        moved = np.random.default_rng(SEED).uniform(-0.3 / AROUND, 0.3 / AROUND, points.shape)
        moved[(j.ravel() == 0) | (j.ravel() == rows), 1] = 0
        points += moved
    n = len(points)
    if kind in ("equilateral", "Delaunay"):
        three = np.concatenate([points - TURN, points, points + TURN])
        tris = Triangulation(three[:, 0], three[:, 1]).triangles
        middle = three[tris].mean(axis=1)[:, 0]
        found = tris[(middle >= 0) & (middle < 1)] - n
        turn = np.floor_divide(found, n)
        shift = np.where((turn < 0).any(axis=1), 1, 0)[:, None]
        return points, found + n * shift
    at = np.arange(AROUND * rows).reshape(rows, AROUND)
    a, b = at, np.roll(at, -1, axis=1)
    b = b + np.where(np.arange(AROUND) == AROUND - 1, n, 0)
    c, d = b + AROUND, a + AROUND
    turned = (np.arange(AROUND)[None, :] + np.arange(rows)[:, None]) % 2 == 1
    turned = turned if kind != "regular" else np.zeros_like(turned)
    first = np.where(turned[..., None], np.stack([a, b, d], axis=2), np.stack([a, b, c], axis=2))
    second = np.where(turned[..., None], np.stack([b, c, d], axis=2), np.stack([a, c, d], axis=2))
    return points, np.concatenate([first.reshape(-1, 3), second.reshape(-1, 3)])


def write_tube(lab: Laboratory, kind: str) -> tuple[Path, float]:
    """The tube as an OBJ file, and its area at rest (m^2)."""
    points, tris = tube_mesh(kind)
    n = len(points)
    turn = 2 * np.pi * points[:, 0]
    around = np.stack([np.cos(turn) / (2 * np.pi), np.sin(turn) / (2 * np.pi), points[:, 1]], axis=1)
    flat = np.concatenate([points, points + TURN])
    lines = [f"v {x:.17g} {y:.17g} {z:.17g}" for x, y, z in around]
    lines += [f"vt {u:.17g} {v:.17g}" for u, v in flat]
    lines += ["f " + " ".join(f"{k % n + 1}/{k + 1}" for k in t) for t in tris]
    a, b, c = (flat[tris[:, k]] for k in range(3))
    area = 0.5 * ((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0])
    return lab.write(f"tube-{kind}.obj", "\n".join(lines) + "\n"), float(area.sum())


def measure_tube(lab: Laboratory, kind: str, element: str) -> Row:
    key = f"tube-{element}-{kind}"
    mesh, area = write_tube(lab, kind)
    model = (
        f"model = stvk+plate\nk0 = {MEMBRANE}\nk1 = 0\nk2 = {MEMBRANE}\nk3 = {MEMBRANE}\n"
        if element == "plate"
        else f"model = arap+plate_quadratic\nmembrane = {MEMBRANE}\n"
    )
    text = (
        f"[run]\ndt = 1e-6\n[cloth.tube]\nshape = obj\nfile = {mesh.name}\nrest = uv\ndensity = 1\n{model}"
        f"bending = {D * lab.factor(key):.17g}\n"
    )
    with Log(lab.run(f"tube-{element}-{kind}", "patch.ini", text, [mesh])) as log:
        energy = float(log.table("iters", ["e_elastic"])[0][0])
    theory = D / 2 * (ANGLE * AROUND) ** 2 * area  # a circumference of 1 m
    return Row(
        key, "tube, 15 degrees a cell: energy over theory", f"{element}, {kind}", ARC[element],
        energy / theory, TUBE_BOUNDS[element], "rigidity x 1.1",
    )  # fmt: skip


# ---- pinched sheet ----


def half_turn() -> float:
    """Half of the angle of an arc of length SIDE whose ends are PINCHED apart."""
    lo, hi = math.pi / 2, math.pi
    for _ in range(60):
        middle = 0.5 * (lo + hi)
        lo, hi = (middle, hi) if math.sin(middle) / middle > PINCHED / SIDE else (lo, middle)
    return lo


def run_pinched(lab: Laboratory, kind: str, n: int, thinner: float) -> tuple[Sheet, np.ndarray]:
    """The sheet and its positions [n][3] at rest."""
    sheet = lab.sheet(kind, n, n, SIDE, SIDE)
    half = half_turn()
    radius = SIDE / (2 * half)
    turn = (sheet.points[:, 0] / SIDE - 0.5) * 2 * half
    start = np.stack([radius * np.sin(turn), sheet.points[:, 1], radius * (1 - np.cos(turn))], axis=1)
    corners = [int(np.hypot(sheet.points[:, 0] - x, sheet.points[:, 1]).argmin()) for x in (0, SIDE)]
    for corner, side in zip(corners, (-1, 1), strict=True):
        start[corner, 0] = side * PINCHED / 2 * thinner
    words = [f"v {x:.17g} {y:.17g} {z:.17g}" for x, y, z in start]
    posed = lab.write(f"pinched-{kind}-{n}{'' if thinner == 1 else '-disturbed'}.obj",
                      "\n".join(words + sheet.faces) + "\n")  # fmt: skip
    text = (
        f"[run]\ngravity = 0 0 0\ndt = 1.5\n[stop]\ntol_abs = 1e-7\n[cloth.sheet]\nshape = obj\n"
        f"file = {sheet.path.name}\npositions = {posed.name}\nmodel = stvk+plate\ndensity = 0.2\n"
        f"k0 = {YOUNG}\nk1 = 0\nk2 = {YOUNG}\nk3 = {YOUNG}\nbending = {RIGIDITY}\n"
        f"pins = {' '.join(str(c) for c in corners)}\n"
    )
    with Log(lab.run(f"pinched-{kind}-{n}", "hang.ini", text, [sheet.path, posed])) as log:
        return sheet, log.frame(log.num_frames - 1)


def sampled(sheet: Sheet, x: np.ndarray, n: int) -> np.ndarray:
    """Positions at the points of a lattice of n + 1 a side, by cubic interpolation."""
    tris = [[int(w) - 1 for w in line.split()[1:4]] for line in sheet.faces if line.startswith("f ")]
    mesh = Triangulation(sheet.points[:, 0], sheet.points[:, 1], tris)
    at = np.linspace(1e-6, SIDE - 1e-6, n + 1)
    u, v = np.meshgrid(at, at)
    return np.stack([np.asarray(CubicTriInterpolator(mesh, x[:, k])(u, v)).ravel() for k in range(3)], axis=1)


def distance(a: np.ndarray, b: np.ndarray) -> float:
    """Root mean square of the distance (m), after the best rigid motion."""
    p, q = a - a.mean(axis=0), b - b.mean(axis=0)
    left, _, right = np.linalg.svd(p.T @ q)
    sign = np.sign(np.linalg.det(left @ right))
    rotation = left @ np.diag([1, 1, sign]) @ right
    return float(np.sqrt(((p @ rotation - q) ** 2).sum(axis=1).mean()))


def measure_pinched(lab: Laboratory, n: int, pairs: list[tuple[str, str]]) -> list[Row]:
    rows = []
    shapes = {kind: sampled(*run_pinched(lab, kind, n, 1.0), n) for pair in pairs for kind in pair}
    for one, other in pairs:
        key = f"pinched-{one}-{other}"
        wrong = lab.factor(key)
        found = shapes[other] if wrong == 1 else sampled(*run_pinched(lab, other, n, wrong), n)
        rows.append(
            Row(
                key, "pinched sheet: rms distance of shapes at rest, m", f"plate, {one} and {other}, n {n}",
                0, distance(shapes[one], found), APART_30 * (CELLS / n) ** 2, "corners of one x 1.1 apart",
            )
        )  # fmt: skip
    return rows


def measure(lab: Laboratory) -> list[Row]:
    if lab.quick:
        pairs = [("alternate", "Delaunay")]
        return [measure_tube(lab, "Delaunay", "plate"), *measure_pinched(lab, QUICK_CELLS, pairs)]
    pairs = [(one, other) for at, one in enumerate(SHEETS) for other in SHEETS[at + 1 :]]
    tubes = [measure_tube(lab, kind, element) for element in ARC for kind in TUBES]
    return [*tubes, *measure_pinched(lab, CELLS, pairs)]
