"""Patch test of bending: sheets that start as quadratic surfaces.  Where an element is a plate, no force acts
inside, and the moments through a section and the energy of twist are those of theory.

One step of implicit Euler, much shorter than the fastest vibration, shows the force of each vertex as its
momentum.
Surfaces whose moment vanishes at the free edges have exact energies and moments on the whole sheet: bending
by kappa along x with -nu kappa across has the moment D (1 - nu^2) kappa in every section, twist the energy
D (1 - nu) kappa_xy^2 an area.
"""

from __future__ import annotations

import numpy as np

from loomcloth.log import Log
from loomcloth.validation.laboratory import Laboratory, Row, Sheet, worst

KINDS = ("regular", "alternate", "equilateral", "Delaunay", "jittered", "aspect 5")
ELEMENTS = {
    "plate": "model = stvk+plate\nk0 = {m}\nk1 = 0\nk2 = {m}\nk3 = {m}\nbending = {d:.17g}\n",
    "plate_quadratic": "model = arap+plate_quadratic\nmembrane = {m}\nbending = {d:.17g}\n",
    "hinge_isometric": "model = arap+isometric\nmembrane = {m}\nk_b = {d:.17g}\n",
}
PLATES = ("plate", "plate_quadratic")
CELLS, NU, D = 12, 0.3, 1.0  # cells along a side of 1 m; D in N m
CURVATURE = 1e-4  # 1/m, so that stretch, of second order in it, has no effect
MEMBRANE = 1e-3  # N/m
FASTEST = 300.0  # D/(rho cell^4), above the fastest vibration of these meshes
STEP = 3e-3  # of its period over 2 pi
INSIDE = 5  # rings from the boundary: no free edge touches a patch there
# Inertia of one step takes up this share of a force, and passes it on to the vertices beside.
TOLERANCE = STEP**2
C30, S30 = np.cos(np.pi / 6), np.sin(np.pi / 6)
SURFACES = {  # k_xx, k_yy, 2 k_xy over the curvature
    "bend x": (1, -NU, 0),
    "bend y": (-NU, 1, 0),
    "twist": (0, 0, 1),
    "30 degrees": (C30**2, S30**2, 2 * C30 * S30),
    "45 degrees": (0.5, 0.5, 1),
    "dome": (1, 1, 0),
}
LIMITED = "at the boundary the weights of one edge are limited to 1, so that its triangles are no plate"
FORCES_ALONE = ("30 degrees", "45 degrees", "dome")


def stiffness_ratios(q: np.ndarray, w: dict[str, np.ndarray], force: dict[str, np.ndarray]) -> list[float]:
    """Moments of both bent surfaces and energy of the twisted one, over theory."""
    size = q.max(axis=0) - q.min(axis=0)
    found = []
    for axis, name in enumerate(("bend x", "bend y")):
        arm = np.maximum(q[:, axis], 0)
        found.append(-(force[name] @ arm) / (D * (1 - NU**2) * CURVATURE * size[1 - axis]))
    energy = D * (1 - NU) * CURVATURE**2 / 4 * size[0] * size[1]
    found.append(-0.5 * (force["twist"] @ w["twist"]) / energy)
    return found


def measure_mesh(lab: Laboratory, kind: str) -> list[Row]:
    sheet: Sheet = lab.sheet(kind, CELLS, CELLS, 1, 1)
    q = sheet.points - (sheet.points.max(axis=0) + sheet.points.min(axis=0)) / 2
    text, inputs, heights = "", [sheet.path], {}
    mesh = kind.replace(" ", "_")
    for name, (a, b, c) in SURFACES.items():
        heights[name] = CURVATURE * (
            0.5 * a * q[:, 0] ** 2 + 0.5 * b * q[:, 1] ** 2 + 0.5 * c * q[:, 0] * q[:, 1]
        )
    elements = [e for e in ELEMENTS if e in PLATES or not lab.quick]
    for element in elements:
        stiffer = lab.factor(f"patch-stiffness-{element}-{mesh}")
        material = ELEMENTS[element].format(m=MEMBRANE, d=D * stiffer)
        material += f"bending_poisson = {NU}\n" if element in PLATES else ""
        # a surface of fourth order has forces; the surfaces of the other row stay as they are
        bump = CURVATURE * (lab.factor(f"patch-forces-{element}-{mesh}") - 1) * q[:, 0] ** 4
        for name, w in heights.items():
            moved = bump.any() and name in FORCES_ALONE
            stem = f"{mesh}-{name.replace(' ', '_')}"
            posed = lab.posed(f"{stem}{'-disturbed' if moved else ''}.obj", sheet, w + bump * moved)
            inputs.append(posed)
            text += f"[cloth.{element}_{name.replace(' ', '_')}]\nshape = obj\nfile = {sheet.path.name}\n"
            text += f"positions = {posed.name}\ntransform = translate 0 {1.5 * len(inputs)} 0\ndensity = 1\n"
            text += material
    h = STEP / (np.sqrt(FASTEST * D) * CELLS**2)
    log_path = lab.run(f"patch-{mesh}", "patch.ini", f"[run]\ndt = {h:.17g}\n{text}", inputs)
    with Log(log_path) as log:
        pushed = (np.asarray(log.scene("mass")) * log.velocity(log.num_frames - 1)[:, 2] / h).reshape(
            -1, len(q)
        )
    rows = []
    for element, found in zip(elements, pushed.reshape(len(elements), len(SURFACES), -1), strict=True):
        force = dict(zip(SURFACES, found, strict=True))
        inside = float(np.abs(found[:, sheet.rings >= INSIDE]).max() / (2 * D * CURVATURE))
        note = "" if element in PLATES else "not a plate"
        ratio = worst(stiffness_ratios(q, heights, force))
        cause = LIMITED if kind == "jittered" else ""
        rows.append(
            Row(
                f"patch-stiffness-{element}-{mesh}",
                "moments and energy of twist over theory, worst of three",
                f"{element}, {kind}",
                1,
                ratio,
                TOLERANCE,
                "rigidity x 1.1",
                note,
                cause,
            )
        )
        rows.append(
            Row(
                f"patch-forces-{element}-{mesh}",
                "largest force inside over k tr D, worst of six surfaces",
                f"{element}, {kind}",
                0,
                inside,
                TOLERANCE,
                "0.1 x^4 added to the surface",
                note,
            )
        )
    return rows


def measure(lab: Laboratory) -> list[Row]:
    return [row for kind in KINDS for row in measure_mesh(lab, kind)]
