"""Cusick's test: a disc of cloth of 30 cm between two discs of 18 cm hangs over their edge.

The drape coefficient is the share of the ring beyond the discs that its shadow covers.

stiff ring: the mean height of a ring that hardly bends, over that of Kirchhoff's plate, clamped at a and free
            at b: w = q/D (r^4/64 + A + B r^2 + C ln r + E r^2 ln r)
fabrics:    coefficients of measured fabrics, for which there is no theory: each of four triangulations
            against the mean of the other three, and their mean on coarser meshes against it.

A ring may hang in more than one number of folds: all start from the same small waves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from loomcloth.config import as_object
from loomcloth.log import Log
from loomcloth.validation.laboratory import Laboratory, Row, Sheet

INNER, OUTER, G = 0.09, 0.15, 9.81  # m, m, m/s^2
KINDS = ("regular", "alternate", "equilateral", "Delaunay")
FABRICS = ("11oz-black-denim-plate", "gray-interlock-plate")
COARSE, FINE = 8, 12  # cells from the inner to the outer circle
# Errors of second order that are 2.8 % at 8 cells of the stiff ring: the meshes of one size share most of it.
MESHES, REFINED, WRONG = 0.03, 0.06, 0.5
STIFF_CELLS = 12
SHALLOW, WAVES, SHARE = 0.012, 6, 0.5  # m at the outer circle, and the waves' part of it at the start
PINS = 100  # vertices in a section, whose lines have an end
DIRECTIONS = 1440  # of the shadow
NU, SLOPE = 0.3, 1e-3  # mean drop of the stiff ring over its width, about


@dataclass
class Ring:
    sheet: Sheet  # flat, in the plane z = 0
    faces: np.ndarray  # [nt][3]
    radius: np.ndarray  # [n] m
    angle: np.ndarray  # [n] rad
    held: np.ndarray  # vertices


def wrap(lab: Laboratory, kind: str, n: int) -> Ring:
    """A strip of n cells across, bent to a ring, with one more ring of cells inside that is held."""
    width, around = OUTER - INNER, math.pi * (INNER + OUTER)
    strip = lab.sheet(kind, 2 * round(around * n / width / 2), n, around, width)
    x, y = strip.points.T
    faces = np.array([line.split()[1:] for line in strip.faces], dtype=int) - 1
    # both ends of the strip become one
    first = {float(y[v]): v for v in np.flatnonzero(x == 0)}
    target = np.arange(len(x))
    for v in np.flatnonzero(x > around * (1 - 1e-12)):
        target[v] = first[float(y[v])]
    kept = np.unique(target)
    faces = np.searchsorted(kept, target[faces])
    angle, radius = 2 * np.pi * x[kept] / around, INNER + y[kept]
    edge = np.flatnonzero(y[kept] == 0)
    edge = edge[np.argsort(angle[edge])]
    inside = np.arange(len(edge)) + len(kept)
    angle = np.append(angle, angle[edge])
    radius = np.append(radius, np.full(len(edge), INNER - width / n))
    beyond, under = np.roll(edge, -1), np.roll(inside, -1)
    faces = np.concatenate((faces, np.stack((edge, inside, beyond), 1), np.stack((inside, under, beyond), 1)))
    points = np.stack((radius * np.cos(angle), radius * np.sin(angle)), 1)
    p, q, r = (points[faces[:, k]] for k in range(3))
    turned = (q[:, 0] - p[:, 0]) * (r[:, 1] - p[:, 1]) < (q[:, 1] - p[:, 1]) * (r[:, 0] - p[:, 0])
    faces[turned] = faces[turned][:, ::-1]
    lines = [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in faces]
    flat = [f"v {a:.17g} {b:.17g} 0" for a, b in points]
    path = lab.write(f"ring-{kind}-{n}.obj", "\n".join(flat + lines) + "\n")
    sheet = Sheet(path, points, np.zeros(len(points)), lines)
    return Ring(sheet, faces, radius, angle, np.flatnonzero(radius <= INNER * (1 + 1e-12)))


def scene_text(ring: Ring, material: str) -> str:
    text = f"[run]\ngravity = 0 0 {-G}\ndt = 0.1\n[cloth.ring]\nshape = obj\nfile = {ring.sheet.path.name}\n"
    text += material
    for k in range(0, len(ring.held), PINS):
        text += f"[pin.held_{k}]\nobject = ring\nwhere = {' '.join(map(str, ring.held[k : k + PINS]))}\n"
    return text


def drape_coefficient(places: np.ndarray, faces: np.ndarray) -> float:
    """Of places [n][3] (m): by the furthest edge in each direction."""
    edges = np.unique(np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0)
    p, q = places[edges[:, 0], :2], places[edges[:, 1], :2]
    start = np.arctan2(p[:, 1], p[:, 0])
    turn = (np.arctan2(q[:, 1], q[:, 0]) - start + np.pi) % (2 * np.pi) - np.pi
    step = 2 * np.pi / DIRECTIONS
    low = np.ceil(np.minimum(start, start + turn) / step).astype(int)
    high = np.floor(np.maximum(start, start + turn) / step).astype(int)
    furthest = np.full(DIRECTIONS, INNER)
    for k, (a, b) in enumerate(zip(low, high, strict=True)):
        at = np.arange(a, b + 1)
        dx, dy = q[k] - p[k]
        across = np.cos(at * step) * dy - np.sin(at * step) * dx
        crossed = np.abs(across) > 1e-12
        far = (p[k, 0] * dy - p[k, 1] * dx) / across[crossed]
        np.maximum.at(furthest, at[crossed] % DIRECTIONS, far)
    return float(((furthest**2).mean() - INNER**2) / (OUTER**2 - INNER**2))


def measure_fabric(lab: Laboratory, fabric: str, kind: str, n: int, stiffer: float = 1.0) -> float:
    """Its drape coefficient; stiffer: all rigidities by this factor."""
    ring = wrap(lab, kind, n)
    s = np.maximum(ring.radius - INNER, 0) / (OUTER - INNER)
    heights = -SHALLOW * s**2 * (1 + SHARE * np.cos(WAVES * ring.angle))
    posed = lab.posed(f"ring-{kind}-{n}-posed.obj", ring.sheet, heights)
    source = lab.experiment.folder.resolve() / f"../../configs/materials/{fabric}.ini"
    keys = as_object(source.read_text())["material"]
    for key in ("bending_warp", "bending_weft", "bending_bias"):
        keys[key] = f"{stiffer * float(keys[key].split()[0]):.17g} N m"
    material = "".join(f"{key} = {value}\n" for key, value in keys.items())
    text = scene_text(ring, f"positions = {posed.name}\n{material}")
    text = f"[stop]\ntol_abs = 1e-6\n{text}"
    name = f"drape-{fabric}-{kind}-{n}{'' if stiffer == 1 else f'-{stiffer:g}'}"
    with Log(lab.run(name, "hang.ini", text, [ring.sheet.path, posed])) as log:
        return drape_coefficient(log.frame(log.num_frames - 1), ring.faces)


def kirchhoff_ring() -> float:
    """Mean of w D/q over the ring, m^4."""
    a, b = INNER, OUTER

    def terms(r: float) -> np.ndarray:
        """w, w', w'', (w'' + w'/r)' of 1, r^2, ln r, r^2 ln r, and of r^4/64."""
        ln = math.log(r)
        return np.array(
            [
                [1, r**2, ln, r**2 * ln, r**4 / 64],
                [0, 2 * r, 1 / r, r * (2 * ln + 1), r**3 / 16],
                [0, 2, -1 / r**2, 2 * ln + 3, 3 * r**2 / 16],
                [0, 0, 0, 4 / r, r / 2],
            ]
        )

    clamp, rim = terms(a), terms(b)
    rows = np.array([clamp[0], clamp[1], rim[2] + NU / b * rim[1], rim[3]])
    factors = np.append(np.linalg.solve(rows[:, :4], -rows[:, 4]), 1)
    nodes, weights = np.polynomial.legendre.leggauss(20)
    r = (a + b) / 2 + (b - a) / 2 * nodes
    w = np.array([terms(x)[0] @ factors for x in r])
    return float((b - a) / (b**2 - a**2) * (weights @ (w * r)))


def stiff_row(lab: Laboratory, kind: str, n: int) -> Row:
    key, density = f"drape-stiff-{kind}", 0.2
    ring = wrap(lab, kind, n)
    theory = kirchhoff_ring()
    rigidity = density * G * theory / (SLOPE * (OUTER - INNER))
    text = scene_text(
        ring,
        f"model = stvk+plate\ndensity = {density}\nk0 = 10\nk1 = 0\nk2 = 10\nk3 = 10\n"
        f"bending = {rigidity * lab.factor(key):.17g}\nbending_poisson = {NU}\n",
    )
    text = f"[stop]\ntol_abs = 1e-9\n{text}"
    with Log(lab.run(f"drape-stiff-{kind}", "hang.ini", text, [ring.sheet.path])) as log:
        z = log.frame(log.num_frames - 1)[:, 2]
    # the mean of a plane over each triangle, which the held ring does not have
    free = np.any(ring.radius[ring.faces] > INNER * (1 + 1e-9), axis=1)
    p, q, r = (ring.sheet.points[ring.faces[free][:, k]] for k in range(3))
    area = 0.5 * ((q - p)[:, 0] * (r - p)[:, 1] - (q - p)[:, 1] * (r - p)[:, 0])
    mean = float(area @ z[ring.faces[free]].mean(axis=1) / area.sum())
    ratio = -mean * rigidity / (density * G * theory)
    return Row(
        key,
        "stiff ring of Cusick's test: mean drop over Kirchhoff's",
        f"plate, {kind}, n {n}",
        1,
        ratio,
        2 / n**2,
        "rigidity x 1.1",
    )


def fabric_rows(lab: Laboratory, fabric: str) -> list[Row]:
    """Each triangulation against the mean of the others, and the coarse meshes against the fine ones."""
    name = fabric.removesuffix("-plate")
    found = {kind: measure_fabric(lab, fabric, kind, FINE) for kind in KINDS}
    rows = []
    for kind in KINDS:
        key = f"drape-{name}-{kind}"
        stiffer = lab.factor(key, WRONG)
        value = found[kind] if stiffer == 1 else measure_fabric(lab, fabric, kind, FINE, stiffer)
        theory = float(np.mean([found[other] for other in KINDS if other != kind]))
        quantity = f"drape coefficient of {name}: theory is the mean of the other three meshes"
        rows.append(Row(key, quantity, f"wang+plate, {kind}, n {FINE}", theory, value, MESHES,
                        f"rigidities x {WRONG:g}"))  # fmt: skip
    key = f"drape-{name}-refined"
    stiffer = lab.factor(key, WRONG)
    coarse = [measure_fabric(lab, fabric, kind, COARSE, stiffer) for kind in KINDS]
    rows.append(Row(key, f"drape coefficient of {name} on coarser meshes: theory is that of n {FINE}",
                    f"wang+plate, mean of {len(KINDS)}, n {COARSE}", float(np.mean(list(found.values()))),
                    float(np.mean(coarse)), REFINED, f"rigidities x {WRONG:g}"))  # fmt: skip
    return rows


def measure(lab: Laboratory) -> list[Row]:
    if lab.quick:
        return [stiff_row(lab, "alternate", COARSE)]
    rows = [stiff_row(lab, kind, STIFF_CELLS) for kind in KINDS]
    return rows + [row for fabric in FABRICS for row in fabric_rows(lab, fabric)]
