"""Writes toys.ini and toys33.ini: toys of round parts and ribbons above a glass tank."""

from pathlib import Path

import numpy as np

BLEND = 8  # mm

# Capsules X0 Y0 Z0 X1 Y1 Z1 R of a toy about 14 cm long, mm.
LEGS = ((-32, 14, -8, -36, 18, -42, 11), (-32, -14, -8, -36, -18, -42, 11),
        (32, 14, -8, 36, 18, -42, 11), (32, -14, -8, 36, -18, -42, 11))  # fmt: skip
TOYS = {
    "dog": ((-28, 0, 0, 28, 0, 0, 21), (34, 0, 10, 46, 0, 32, 15), (46, 0, 36, 64, 0, 32, 13),
            (40, 14, 48, 40, 20, 28, 9), (40, -14, 48, 40, -20, 28, 9), (-44, 0, 10, -62, 0, 32, 9), *LEGS),
    "duck": ((-20, 0, 0, 16, 0, 0, 28), (22, 0, 14, 30, 0, 42, 16), (28, 0, 46, 32, 0, 46, 20),
             (48, 0, 44, 62, 0, 42, 9), (-42, 0, 12, -62, 0, 26, 11), (-6, 26, 4, -26, 34, 10, 10),
             (-6, -26, 4, -26, -34, 10, 10)),
    "bear": ((0, 0, -24, 0, 0, 4, 27), (0, 0, 42, 0, 0, 44, 22), (0, 18, 62, 0, 20, 64, 10),
             (0, -18, 62, 0, -20, 64, 10), (22, 0, 38, 26, 0, 37, 10), (6, 28, 8, 20, 48, -4, 12),
             (6, -28, 8, 20, -48, -4, 12), (8, 16, -44, 34, 26, -50, 13), (8, -16, -44, 34, -26, -50, 13)),
    "star": tuple((0, 0, 0, *np.round(52 * np.array([np.cos(a), np.sin(a), 0]), 1), 14)
                  for a in 2 * np.pi * np.arange(5) / 5),
    "ring": tuple((*np.round(44 * np.array([np.cos(a), np.sin(a), 0]), 1),
                   *np.round(44 * np.array([np.cos(a + np.pi / 5), np.sin(a + np.pi / 5), 0]), 1), 16)
                  for a in np.pi * np.arange(10) / 5),
    "octopus": ((0, 0, 24, 0, 0, 34, 28), *((*np.round(16 * np.array([np.cos(a), np.sin(a), 0]), 1),
                *np.round(np.array([50 * np.cos(a), 50 * np.sin(a), -34]), 1), 11)
                for a in np.pi * np.arange(6) / 3)),
    "rabbit": ((-18, 0, -10, 10, 0, -6, 27), (32, 0, 20, 36, 0, 20, 20), (30, 10, 38, 18, 16, 68, 9),
               (30, -10, 38, 18, -16, 68, 9), (-46, 0, 2, -48, 0, 4, 12), (26, 12, -18, 36, 14, -38, 10),
               (26, -12, -18, 36, -14, -38, 10), (-24, 20, -24, 0, 24, -38, 12),
               (-24, -20, -24, 0, -24, -38, 12)),
    "jack": ((-50, 0, 0, 50, 0, 0, 13), (0, -50, 0, 0, 50, 0, 13), (0, 0, -50, 0, 0, 50, 13)),
    "fish": ((-30, 0, 0, 34, 0, 0, 24), (-48, 0, 0, -66, 0, 26, 9), (-48, 0, 0, -66, 0, -26, 9),
             (6, 24, -6, -10, 42, -12, 9), (6, -24, -6, -10, -42, -12, 9), (6, 0, 22, -16, 0, 38, 9)),
    "giraffe": ((-26, 0, 0, 26, 0, 4, 19), (30, 0, 10, 48, 0, 60, 12), (48, 0, 64, 64, 0, 58, 11), *LEGS),
    "snake": ((-60, -10, 0, -40, 16, 0, 13), (-40, 16, 0, -14, 16, 0, 14), (-14, 16, 0, 10, -16, 0, 15),
              (10, -16, 0, 36, -16, 0, 15), (36, -16, 0, 58, 12, 4, 14)),
}  # fmt: skip

HEAD = """; Made by tank.py.  {toys} toys and {ribbons} ribbons fall into a glass tank, every third toy five
; times as stiff: the paper's figure 11{size}.
[run]
steps   = {steps}
dt      = 0.01          ; s
up_axis = z

[stop]
tol_abs   = 0
tol_rel   = 1e-3
max_iters = 60

[exec]
threads = 1

[log]
audit        = every
frames_every = 10

[collision.all]
plugin = patch_bvh

[contact.all]
plugin = ndb

[solver]
plugin = ndb_pd
"""

TOY = """
[solid.{name}]
shape     = blob
parts     = {parts}
blend     = {blend} mm
cell      = {cell} mm
density   = 200
stiffness = {stiffness}
thickness = 0.2 mm
transform = {transform}
damping   = 0.5
"""

RIBBON = """
[cloth.ribbon{k}]
size       = {length:g} 0.03
resolution = {nodes} 4
pattern    = regular
model      = arap+isometric
transform  = {transform}
density    = 0.3           ; kg/m^2
membrane   = 300           ; N/m
k_b        = 1e-4          ; N m
thickness  = 0.2 mm
damping    = 0.5
"""

WALL = """
[body.{name}]
shape          = box
size           = {size}
position       = {position}
mesh_size      = {mesh_size}
friction       = 0.2
"""


def turn(rng):
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    return "rotate {:.3f} {:.3f} {:.3f} {:.0f}".format(*axis, rng.uniform(0, 360))


def walls(inner, height):
    """Floor and four walls of 2 cm, inside 0 to `inner` m along x and y."""
    thick, half = 0.02, inner / 2
    side = f"{thick:g} {inner + 2 * thick:g} {height:g}"
    front = f"{inner:g} {thick:g} {height:g}"
    off = half + thick / 2
    boxes = {
        "floor": (f"{inner + 2 * thick:g} {inner + 2 * thick:g} {thick:g}", f"0 0 {-thick / 2:g}"),
        "left": (side, f"{-off:g} 0 {height / 2:g}"), "right": (side, f"{off:g} 0 {height / 2:g}"),
        "front": (front, f"0 {-off:g} {height / 2:g}"), "back": (front, f"0 {off:g} {height / 2:g}"),
    }  # fmt: skip
    return "".join(WALL.format(name=k, size=s, position=p, mesh_size=0.1) for k, (s, p) in boxes.items())


def places(per_side, layers, spacing, first, rise):
    """Centres of toys, layer by layer, m."""
    at = spacing * (np.arange(per_side) - (per_side - 1) / 2)
    for layer in range(layers):
        for x in at:
            for y in at:
                yield np.array([x, y, first + layer * rise])


def scene(toys, ribbons, per_side, spacing, inner, steps, cell, size):
    rng = np.random.default_rng(11)
    text = HEAD.format(toys=toys, ribbons=ribbons, steps=steps, size=size)
    layers = -(-toys // per_side**2)
    rise, first = 0.19, 0.09
    for k, place in zip(range(toys), places(per_side, layers, spacing, first, rise), strict=False):
        name = list(TOYS)[k % len(TOYS)]
        parts = " | ".join(" ".join(f"{v / 1000:g}" for v in part) for part in TOYS[name])
        x, y, z = place + rng.uniform(-0.004, 0.004, 3)
        text += TOY.format(name=f"{name}{k}", parts=parts, blend=BLEND, cell=cell,
                           stiffness="1e5" if k % 3 == 0 else "2e4",
                           transform=f"{turn(rng)} translate {x:.4f} {y:.4f} {z:.4f}")  # fmt: skip
    length = 0.9 * inner
    for k in range(ribbons):
        z = first + rise * (layers - 0.5) + 0.012 * k
        text += RIBBON.format(
            k=k, length=length, nodes=round(length / 0.01) + 1,
            transform=f"rotate 0 0 1 {180 * k / ribbons + 7:.0f} translate 0.003 0.002 {z:.4f}",
        )  # fmt: skip
    return text + walls(inner, 0.24 if toys < 20 else 0.45)


SCENES = {
    "toys.ini": (8, 3, 2, 0.145, 0.29, 50, 16, ", small"),
    "toys33.ini": (33, 10, 4, 0.16, 0.66, 150, 13.6,
                   " ([run] detail = 2: 0.33 million tetrahedra; 3: 1 million)"),
}  # fmt: skip

if __name__ == "__main__":
    for name, values in SCENES.items():
        (Path(__file__).parent / name).write_text(scene(*values))
