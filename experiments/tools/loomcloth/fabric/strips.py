"""The tests of a laboratory as runs of loom: a strip that is pulled, and one that hangs over an edge.

A hanging strip carries at each height the weight below it, so one run gives a whole curve: force over
width w (L - X) at X, with the weight w over area, and there strain and contraction of the mesh.  Gravity
is chosen so that the middle part of the strip carries forces up to the largest that was measured.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from loomcloth.errors import LogError
from loomcloth.log import Log

ROOT = Path(os.environ.get("LOOM_ROOT", Path(__file__).resolve().parents[4]))
SCENES = ROOT / "experiments/fabric"
LENGTH, CELLS, ACROSS = 0.5, 80, 4  # of a pulled strip, m; its cells along and across
FROM, TO = 0.12, 0.98  # of its length, where it is measured: not at the clamp, nor at the free end
FREE_FALL = 0.1  # m, fall in one step without fabric: stiffness is of the step's beginning, to stay near
OVER, BEYOND = 24, 2  # cells of an overhang; cells before it, which are held
WIDEST = 16  # cells across an overhang at most; those of a wide strip are wider than long
G = 9.80665  # m/s^2
PEIRCE = 41.5  # degrees, by which the chord of an overhang of twice the bending length falls


@dataclass
class Pulled:
    angle: float
    strain: np.ndarray
    force: np.ndarray  # N/m
    contraction: np.ndarray


def write_strip(
    path: Path, degrees: float, length: float, cells: int, across: int, width: float | None = None
) -> None:
    """A strip along x, cut by alternating diagonals, with its length at an angle to the warp; its cells are
    squares unless a width is given."""
    d = length / cells
    e = d if width is None else width / across
    c, n = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    points = [(i * d, (j - across / 2) * e) for j in range(across + 1) for i in range(cells + 1)]
    lines = [f"v {x:.9g} {y:.9g} 0" for x, y in points]
    lines += [f"vt {c * x - n * y:.9g} {n * x + c * y:.9g}" for x, y in points]
    for j in range(across):
        for i in range(cells):
            a = j * (cells + 1) + i + 1
            b, e, f = a + 1, a + cells + 1, a + cells + 2
            faces = ((a, b, e), (b, f, e)) if (i + j) % 2 else ((a, b, f), (a, f, e))
            lines += ["f " + " ".join(f"{v}/{v}" for v in face) for face in faces]
    path.write_text("\n".join(lines) + "\n")


def run(folder: Path, name: str, scene: str, material: str, held: list[int], more: str) -> Path:
    """The log of SCENE with the strip NAME.obj of the folder and materials/MATERIAL.ini there."""
    config, log = folder / f"{name}.ini", folder / f"{name}.h5"
    pins = " ".join(str(v) for v in held)
    strip = f"[cloth.strip]\nfile = {name}.obj\nmaterial = {material}\npins = {pins}\n"
    config.write_text(f"include = {SCENES / scene}\n{more}{strip}")
    binary = os.environ.get("LOOM_BIN", str(ROOT / "build/bin/loom"))
    words = [binary, "run", str(config), "-o", str(log), "--overwrite", "--quiet"]
    done = subprocess.run(words, capture_output=True, text=True)
    # a step that stalled is no failure here: whether the strip came to rest, and where, is looked at
    if done.returncode != 0 and not (done.returncode == 1 and " steps stalled, 0 diverged" in done.stderr):
        raise LogError(f"{config}: `loom run` ended with code {done.returncode}: {done.stderr.strip()}")
    return log


def at_rest(path: Path, size: float) -> np.ndarray:
    """The last frame, if it is one of rest: it has moved by less than a thousandth of the size since the one
    before it."""
    with Log(path) as log:
        last, before = log.frame(log.num_frames - 1), log.frame(log.num_frames - 2)
    moved = float(np.abs(last - before).max())
    if not moved < 1e-3 * size:
        raise LogError(
            f"{path}: not at rest: the strip still moved by {moved:.3g} m between the last two frames"
        )
    return last


def pull(folder: Path, material: str, density: float, degrees: float, most: float) -> Pulled:
    """A strip at degrees to the warp, up to a force of `most` N/m."""
    name = f"{material}-{degrees:g}deg"
    d, across = LENGTH / CELLS, ACROSS + 1
    write_strip(folder / f"{name}.obj", degrees, LENGTH, CELLS, ACROSS)
    gravity = most / (density * LENGTH * (1 - FROM))
    held = [j * (CELLS + 1) for j in range(across)]
    dt = min(0.02, np.sqrt(FREE_FALL / gravity))
    log = run(
        folder, name, "strip.ini", material, held, f"[run]\ngravity = {gravity:.9g} 0 0\ndt = {dt:.6g}\n"
    )
    x = at_rest(log, LENGTH).reshape(across, CELLS + 1, 3)
    along = (x[:, 2:] - x[:, :-2]) / (2 * d)
    stretch = np.linalg.norm(along, axis=-1).mean(axis=0)
    way = along.mean(axis=0)
    way /= np.linalg.norm(way, axis=-1, keepdims=True)
    wide = (x[-1, 1:-1] - x[0, 1:-1]) / (ACROSS * d)
    width = np.linalg.norm(np.cross(way, wide), axis=-1)
    X = d * np.arange(1, CELLS)
    here = (X >= FROM * LENGTH) & (X <= TO * LENGTH)
    force = density * gravity * (LENGTH - X)
    return Pulled(degrees, (stretch - 1)[here][::-1], force[here][::-1], (1 - width)[here][::-1])


def fall(
    folder: Path, material: str, degrees: float, overhang: float, edge: float, width: float = np.nan
) -> float:
    """Degrees by which the chord of an overhang (m) falls; it bends from `edge` cells before its last held
    vertices on.  width: of the strip, m; NaN: of two cells, for a model that does not know a width."""
    name = f"{material}-{degrees:g}deg-over" + ("" if np.isnan(width) else f"-{1000 * width:g}mm")
    d = overhang / (OVER + edge)
    cells = OVER + BEYOND
    across = 2 if np.isnan(width) else int(np.clip(round(width / d), 2, WIDEST))
    write_strip(folder / f"{name}.obj", degrees, cells * d, cells, across, None if np.isnan(width) else width)
    held = [j * (cells + 1) + i for j in range(across + 1) for i in range(BEYOND + 1)]
    log = run(folder, name, "overhang.ini", material, held, "")
    x = at_rest(log, overhang).reshape(across + 1, cells + 1, 3).mean(axis=0)
    chord = x[-1] - (x[BEYOND] - [edge * d, 0, 0])
    return float(np.degrees(np.arctan2(-chord[2], chord[0])))


def bending_length(
    folder: Path, material: str, degrees: float, guess: float, edge: float, width: float = np.nan
) -> float:
    """Half the length (m) of the overhang that has a chord 41.5 degrees down, to a thousandth; by secants."""
    length = [guess, 1.02 * guess]
    found = [fall(folder, material, degrees, 2 * v, edge, width) for v in length]
    for _ in range(8):
        slope = (found[-1] - found[-2]) / (length[-1] - length[-2])
        length.append(length[-1] + np.clip((PEIRCE - found[-1]) / slope, -0.3 * length[-1], 0.3 * length[-1]))
        if abs(length[-1] - length[-2]) < 1e-3 * length[-1]:
            break
        found.append(fall(folder, material, degrees, 2 * length[-1], edge, width))
    return length[-1]
