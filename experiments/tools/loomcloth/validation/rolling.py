"""Balls and stiff solids on a plane: rolling, slipping, and the decay of a spin by Coulomb friction.

A body of mass m and moment I about the axis of its spin, with the radius R:
    it rolls down a slope with g sin/(1 + I/(m R^2)); 5/7 g sin of a solid ball
    a ball set down with the spin w about a level axis loses 5/2 mu g/R a second, until it rolls with 2/7 w R
    a prism with its corners at the radius R on a table that turns under it gains mu R/I of spin for each unit
    of the impulse that it is pushed up with, m g a second at rest
A prism of n sides has I = m R^2 (2 + cos(2 pi/n))/6.
"""

from __future__ import annotations

import numpy as np

from loomcloth.log import Log
from loomcloth.validation.laboratory import Laboratory, Row

G, SLOPE = 9.81, np.radians(20)  # m/s^2
BALL_RADIUS, BALL_STEP = 0.03, 5e-4  # m, s, of ball.ini
ROLLS, SLIPS, DECAYS, SPIN = 0.5, 0.05, 0.2, 40.0  # friction, and rad/s
# Explicit steps are exact where the acceleration is constant; bound of tests/unit/bodies/test_rigid.c
BALL_BOUND = 1e-5
RADIUS, LENGTH = 0.05, 0.02  # m, of prisms
TABLE_FRICTION, TABLE_SPIN = 0.3, 50.0  # rad/s
SIDES = {"wheel": 96, "disc": 24}
STEPS = {"wheel": (50, 2e-3), "disc": (60, 1e-3)}  # s; spins stay so low that implicit Euler takes 0.3 %
# The barrier yields by a gap of up to 2 % of the radius; bound of test_same_physics.c
PRISM_BOUND = 0.03
CONTACTS = ("ipc_barrier", "penalty", "dbb", "ndb", "ogc")
LAG = "friction_lag = iteration\n"  # a key that ndb has not


# ---- balls ----


def run_ball(lab: Laboratory, name: str, slope: float, friction: float, spin: float) -> np.ndarray:
    """Poses [frames][12] of the ball."""
    yarn = lab.write("far.obj", "v 9 0 1\nv 9.1 0 1\nv 9.2 0 1\nl 1 2 3\n")
    text = (
        f"[run]\ngravity = {G * np.sin(slope):.17g} 0 {-G * np.cos(slope):.17g}\n"
        f"[body.floor]\nfriction = {friction:.17g}\n[body.ball]\nfriction = {friction:.17g}\n"
        f"spin = 0 {spin:.17g} 0\n[yarn.far]\npattern = obj\nfile = {yarn.name}\npins = 0 1 2\n"
    )
    with Log(lab.run(f"ball-{name}", "ball.ini", text, [yarn])) as log:
        return np.asarray(next(o for o in log.obstacles() if o.name == "ball").pose)


def accelerate(places: np.ndarray, step: float) -> float:
    """Of a start from rest with a constant acceleration, in steps that move first and look then."""
    n = len(places) - 1
    return float(2 * (places[-1] - places[0]) / (step**2 * n * (n + 1)))


def measure_spins(poses: np.ndarray) -> np.ndarray:
    """Spin about y between frames, rad/s."""
    angles = np.unwrap(np.arctan2(poses[:, 2], poses[:, 0]))  # of the x axis of the body, in the plane x, z
    return np.abs(np.diff(angles)) / BALL_STEP


def measure_balls(lab: Laboratory) -> list[Row]:
    method, level = "yarn_explicit, project", G * np.cos(SLOPE)
    a = accelerate(run_ball(lab, "rolls", SLOPE, ROLLS * lab.factor("ball-rolls", 0.1), 0)[:, 9], BALL_STEP)
    rows = [
        Row("ball-rolls", "ball rolls down a slope: acceleration over 5/7 g sin", method, 1,
            a / (5 / 7 * G * np.sin(SLOPE)), BALL_BOUND, "friction x 0.1"),
    ]  # fmt: skip
    if lab.quick:
        return rows
    a = accelerate(run_ball(lab, "slips", SLOPE, SLIPS * lab.factor("ball-slips"), 0)[:, 9], BALL_STEP)
    rows.append(
        Row("ball-slips", "ball slips down a slope: acceleration over g (sin - mu cos)", method, 1,
            a / (G * np.sin(SLOPE) - SLIPS * level), BALL_BOUND, "friction x 1.1")
    )  # fmt: skip
    spins = measure_spins(run_ball(lab, "decays", 0, DECAYS * lab.factor("ball-decays"), SPIN))
    until = 2 * SPIN * BALL_RADIUS / (7 * DECAYS * G)  # s, when it rolls
    k = int(0.5 * until / BALL_STEP)
    rows.append(
        Row("ball-decays", "ball with a spin on a table: its decay over 5/2 mu g/R", method, 1,
            float(spins[0] - spins[k]) / (k * BALL_STEP) / (2.5 * DECAYS * G / BALL_RADIUS), BALL_BOUND,
            "friction x 1.1")
    )  # fmt: skip
    poses = run_ball(lab, "thrown", 0, DECAYS, SPIN * lab.factor("ball-ends"))
    rows.append(
        Row("ball-ends", "the same when it rolls: speed over 2/7 w R", method, 1,
            float(poses[-1, 9] - poses[-2, 9]) / BALL_STEP / (2 / 7 * SPIN * BALL_RADIUS), BALL_BOUND,
            "spin x 1.1")
    )  # fmt: skip
    return rows


# ---- prisms ----


def prism(sides: int, upright: bool) -> tuple[np.ndarray, str]:
    """Points, and an OBJ file, of a closed prism of RADIUS and LENGTH about z, or about y with a point in the
    middle of its faces, which keeps triangles from being narrow and touches no plane that it rolls on."""
    angle = 2 * np.pi * np.arange(sides) / sides
    x, z = RADIUS * np.cos(angle), RADIUS * np.sin(angle)
    faces = []
    for i in range(sides):
        j = (i + 1) % sides
        faces += [(i, j, sides + j), (i, sides + j, sides + i)]
        if not upright:
            faces += [(2 * sides, j, i), (2 * sides + 1, sides + i, sides + j)]
    if upright:
        for i in range(1, sides - 1):
            faces += [(0, i + 1, i), (sides, sides + i, sides + i + 1)]
    ends = [np.stack([x, z, np.full(sides, s * LENGTH / 2)], axis=1) for s in (-1, 1)]
    middles = np.array([[0, 0, s * LENGTH / 2] for s in (-1, 1)])
    points = np.concatenate(ends if upright else [*ends, middles])
    if not upright:  # its axis is y; the exchange turns the faces round
        points = points[:, [0, 2, 1]]
        faces = [(a, c, b) for a, b, c in faces]
    rows = [f"v {a:.17g} {b:.17g} {c:.17g}" for a, b, c in points]
    return points, "\n".join(rows + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in faces]) + "\n"


def run_prism(lab: Laboratory, shape: str, contact: str, slope: float, friction: float) -> list[np.ndarray]:
    """Frames [n][3] of the surface."""
    points, obj = prism(SIDES[shape], shape == "disc")
    file = lab.write(f"{shape}.obj", obj)
    steps, h = STEPS[shape]
    # at the gap where a barrier of 1 mm has about that weight, and on the plane itself
    height = (RADIUS if shape == "wheel" else LENGTH / 2) + (0 if contact == "penalty" else 0.9e-3)
    turns = "" if shape == "wheel" else f"motion = rotate 0 0 1 0 0 0 {np.degrees(TABLE_SPIN):.17g}\n"
    text = (
        f"[run]\nsteps = {steps}\ndt = {h}\ngravity = {G * np.sin(slope):.17g} 0 {-G * np.cos(slope):.17g}\n"
        f"[body.floor]\nfriction = {friction:.17g}\n{turns}"
        f"[contact.bodies]\nplugin = {contact}\n{'' if contact == 'ndb' else LAG}"
        f"[solid.thing]\nshape = mesh\nfile = {file.name}\nmodel = affine\nstiffness = 8e8\ndensity = 500\n"
        f"thickness = 0\ntransform = translate 0 0 {height:.17g}\n"
    )
    with Log(lab.run(f"{shape}-{contact}", "stiff.ini", text, [file])) as log:
        return [log.frame(k)[-len(points) :] for k in range(log.num_frames)]


def moment(shape: str) -> float:
    """I over m R^2."""
    return float((2 + np.cos(2 * np.pi / SIDES[shape])) / 6)


def measure_wheel(lab: Laboratory, contact: str) -> Row:
    key, (steps, h) = f"wheel-{contact}", STEPS["wheel"]
    frames = run_prism(lab, "wheel", contact, SLOPE, ROLLS * lab.factor(key, 0.1))
    speeds = np.diff([x[:, 0].mean() for x in frames]) / h
    half = steps // 2
    a = float(speeds[-1] - speeds[half]) / (h * (steps - 1 - half))
    theory = G * np.sin(SLOPE) / (1 + moment("wheel"))
    return Row(key, "prism of 96 sides rolls down a slope: acceleration over rigid",
               f"affine body, {contact}", 1, a / theory, PRISM_BOUND, "friction x 0.1")  # fmt: skip


def measure_disc(lab: Laboratory, contact: str) -> Row:
    """Where the disc hops, its weight and the change of its momentum tell the impulse of the table."""
    key, (steps, h) = f"disc-{contact}", STEPS["disc"]
    frames = run_prism(lab, "disc", contact, 0, TABLE_FRICTION * lab.factor(key))
    flat = [x[:, 0] + 1j * x[:, 1] for x in frames]
    spins = np.diff(np.unwrap([np.angle((z - z.mean()) @ np.conj(flat[0])) for z in flat])) / h
    rises = np.diff([x[:, 2].mean() for x in frames]) / h
    half = steps // 2
    push = G * h * (steps - 1 - half) + rises[-1] - rises[half]  # over the mass, m/s
    gain = float(spins[-1] - spins[half]) / (TABLE_FRICTION * push / RADIUS / moment("disc"))
    return Row(key, "disc on a table that turns under it: gain of spin over mu R/I times the push",
               f"affine body, {contact}", 1, gain, PRISM_BOUND, "friction x 1.1")  # fmt: skip


def measure(lab: Laboratory) -> list[Row]:
    contacts = CONTACTS[:1] if lab.quick else CONTACTS
    prisms = [one(lab, contact) for one in (measure_wheel, measure_disc) for contact in contacts]
    return measure_balls(lab) + prisms
