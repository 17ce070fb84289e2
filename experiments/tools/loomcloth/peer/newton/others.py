"""Newton's Style3D and XPBD: their models and solvers; VBD is in peer.py."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping
from typing import Any

import numpy as np

from loomcloth.peer.adapter import Scene

STYLE3D_KEEPS = 0.998  # of the velocities in each step (update_velocity in its kernels.py)


def flat_rest(scene: Scene) -> np.ndarray:
    """Material coordinates [n][2] of a flat sheet at rest, m, in which all triangles turn alike.  ValueError
    for others: Style3D's triangles have two axes of the material."""
    rest, (a, b, c) = scene.rest, (scene.rest[k] for k in scene.triangles[0])
    u = (b - a) / np.linalg.norm(b - a)
    normal = np.cross(b - a, c - a)
    normal /= np.linalg.norm(normal)
    if np.abs((rest - a) @ normal).max() > 1e-9 * np.ptp(rest, axis=0).max():
        raise ValueError("Style3D has material axes of flat sheets alone")
    found = np.stack([(rest - a) @ u, (rest - a) @ np.cross(normal, u)], axis=1)
    p, q, r = (found[scene.triangles[:, k]] for k in range(3))
    turned = (q - p)[:, 0] * (r - p)[:, 1] - (q - p)[:, 1] * (r - p)[:, 0]
    if turned.min() <= 0:
        raise ValueError("Style3D has triangles of one orientation alone")
    return found


def add_style3d(builder: Any, scene: Scene) -> None:
    """Baraff and Witkin's membrane: stretch of two axes, and shear; bending of hinges is set with masses."""
    import newton
    import warp as wp
    from newton.solvers import style3d

    young, poisson = scene.young_poisson
    stiffness = wp.vec3(young, young, young / (2 * (1 + poisson)))
    newton.solvers.SolverStyle3D.register_custom_attributes(builder)
    style3d.add_cloth_mesh(
        builder, pos=wp.vec3(0), rot=wp.quat_identity(), vel=wp.vec3(0),
        vertices=[wp.vec3(*p) for p in scene.rest], indices=scene.triangles.ravel().tolist(),
        density=scene.number("density"), panel_verts=[wp.vec2(*p) for p in flat_rest(scene)],
        tri_aniso_ke=stiffness, edge_aniso_ke=wp.vec3(1.0), tri_ka=0.0, tri_kd=0.0,
        particle_radius=float(scene.radius[0]),
    )  # fmt: skip


def style3d_solver(model: Any, settings: Mapping[str, Any]) -> Any:
    """Without contact of cloth with cloth."""
    import newton

    kind = newton.solvers.SolverStyle3D
    config = kind.Config(
        iterations=settings["iterations"], linear_iterations=settings["linear_iterations"]
    )  # fmt: skip
    with contextlib.redirect_stdout(io.StringIO()):  # it prints its time
        solver = kind(model, config=config)
    solver.collision.stiff_vf = solver.collision.stiff_ee = solver.collision.stiff_ef = 0.0
    solver.collision.friction_epsilon = settings["friction_epsilon"]
    return solver


# Young's modulus times thickness over the stiffness of a spring, of a strip of a regular grid: 1.2 of springs
# along edges, and of springs across them as well.
ALONG, ACROSS = 1.2, 3.7


def add_springs(builder: Any, scene: Scene, settings: Mapping[str, Any]) -> None:
    """XPBD's cloth: springs along edges, and hinges.  Newton's own cloth (add_springs) has springs across
    inner edges as well, between the vertices opposite to one, and is three times as stiff with them."""
    import warp as wp

    across = bool(settings["across"])
    own = scene.young_poisson[0] / (ACROSS if across else ALONG)
    spring = settings["spring"] if settings["spring"] >= 0 else own
    builder.add_cloth_mesh(
        pos=wp.vec3(0), rot=wp.quat_identity(), scale=1.0, vel=wp.vec3(0),
        vertices=[wp.vec3(*p) for p in scene.rest], indices=scene.triangles.ravel().tolist(),
        density=scene.number("density"), particle_radius=float(scene.radius[0]), tri_ke=0.0, tri_ka=0.0,
        tri_kd=0.0, edge_ke=settings["bending"], edge_kd=0.0, add_springs=across, spring_ke=spring,
        spring_kd=0.0,
    )  # fmt: skip
    if not across:
        sides = np.concatenate([scene.triangles[:, [k, (k + 1) % 3]] for k in range(3)])
        for i, j in np.unique(np.sort(sides, axis=1), axis=0).tolist():
            builder.add_spring(i, j, spring, 0.0, control=0.0)


def xpbd_solver(model: Any, settings: Mapping[str, Any]) -> Any:
    """Without contact of cloth with cloth: that of balls around vertices is off."""
    import newton

    model.particle_grid, model.particle_max_radius = None, 0.0
    return newton.solvers.SolverXPBD(model, iterations=settings["iterations"])
