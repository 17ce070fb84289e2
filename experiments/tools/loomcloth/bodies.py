"""Surfaces of the bodies of a log."""

import numpy as np
import pyvista as pv


def triangles_to_faces(tris):
    return np.column_stack([np.full(len(tris), 3, dtype=np.int64), tris]).ravel()


def body_mesh(body, frame=0, time=0.0):
    """The surface of a body in its own frame at a frame and its time (s); None: it has no surface."""
    s = body.shape
    if body.kind == "sphere":
        return pv.Sphere(radius=s[3], center=s[:3], theta_resolution=96, phi_resolution=96)
    if body.kind == "box":
        return rounded_box(s[:3], s[3])
    if body.kind == "capsule":
        return capsule(s[:3], s[3:6], s[6])
    if body.kind == "torus":
        return pv.ParametricTorus(ringradius=s[0], crosssectionradius=s[1], u_res=160, v_res=64)
    if body.kind == "cylinder":
        return rounded_cylinder(*s[:3])
    if body.kind == "mesh":
        d = body.data
        return pv.PolyData(body.vertices(frame, time), triangles_to_faces(d["triangles"]))
    if body.kind == "sdf":
        grid = pv.ImageData(
            dimensions=tuple(int(d) for d in body.data["sdf_dims"]),
            spacing=(float(body.data["sdf_spacing"]),) * 3,
            origin=tuple(body.data["sdf_origin"]),
        )
        grid["d"] = np.ravel(body.data["sdf"])
        return grid.contour([0.0], scalars="d")
    return None


def creased(mesh):
    """The same with normals that jump where a body has edges."""
    return mesh.compute_normals(
        split_vertices=True, feature_angle=30.0, consistent_normals=False
    )


def rounded_box(half, radius):
    """half: half extents of the whole box, rounding included; radius: of its edges."""
    if radius <= 0:
        return pv.Box((-half[0], half[0], -half[1], half[1], -half[2], half[2]))
    ball = pv.Cube(x_length=2, y_length=2, z_length=2).triangulate().subdivide(4)
    unit = ball.points / np.linalg.norm(ball.points, axis=1)[:, None]
    core = np.maximum(half - radius, 0.0)
    ball.points = np.sign(np.round(unit, 9)) * core + radius * unit
    return ball


def rounded_cylinder(radius, half, rim):
    """Along z; radius and half: radius and half length of the whole cylinder, rounding included; rim:
    radius of its rims."""
    bend = np.linspace(0, np.pi / 2, 9) if rim > 0 else np.array([0.0])
    r, z = radius - rim + rim * np.cos(bend), half - rim + rim * np.sin(bend)
    profile = np.array([(0, -half), *zip(r[::-1], -z[::-1], strict=True), *zip(r, z, strict=True), (0, half)])
    turns = np.linspace(0, 2 * np.pi, 96, endpoint=False)
    rings = [np.column_stack([a * np.cos(turns), a * np.sin(turns), 0 * turns + b])
             for a, b in profile]
    i = np.arange(len(profile) - 1)[:, None] * 96 + np.arange(96)
    j = np.arange(len(profile) - 1)[:, None] * 96 + (np.arange(96) + 1) % 96
    tris = np.concatenate([np.stack([i, j, j + 96], -1), np.stack([i, j + 96, i + 96], -1)])
    return pv.PolyData(np.vstack(rings), triangles_to_faces(tris.reshape(-1, 3)))


def capsule(a, b, radius):
    axis = b - a
    length = np.linalg.norm(axis)
    if length == 0:
        return pv.Sphere(radius=radius, center=a)
    return pv.Capsule(
        center=0.5 * (a + b), direction=axis / length, radius=radius, cylinder_length=length,
        resolution=64,
    )


def moves_inside(body):
    """Whether its surface has another shape in every frame, beside its pose."""
    return "frames" in body.data or "joints" in body.data


def disc(body, middle, reach, sides=96):
    """The part of a plane within `reach` (m) of the place nearest to `middle` (world), at its first
    frame, in the frame of the body."""
    m = body.matrix(0)
    length = np.linalg.norm(body.shape[:3])
    normal, offset = body.shape[:3] / length, body.shape[3] / length
    at = m[:3, :3].T @ (middle - m[:3, 3])
    at += (offset - normal @ at) * normal
    return pv.Disc(center=at, inner=0, outer=reach, normal=normal, c_res=sides)


def placed(points, matrix):
    """Points [n][3] of the body frame in the world."""
    return np.asarray(points, dtype=float) @ matrix[:3, :3].T + matrix[:3, 3]
