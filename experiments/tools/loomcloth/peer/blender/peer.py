"""Blender's cloth modifier, by the module bpy: springs, implicit steps.

A frame of its clock is a step of the scene.  The modifier advances by sqrt(1e-3) s times `time_scale` in a
frame, whatever the frame rate is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from loomcloth.peer.adapter import Body, Peer, Scene

FRAME = 1e-3**0.5  # s, of the modifier in a frame with time_scale = 1
SPRING = 1e3  # N/m of a spring of 1 m with tension_stiffness = 1


class Adapter(Peer):
    licence = "GPL-3.0-or-later"
    size_mb = 970
    can = frozenset({"gravity", "friction"})
    bodies = ("sphere", "plane")
    settings: ClassVar = {
        "quality": (5, "its steps in one of loom"),
        "spring": (-1.0, "N/m of an edge; below 0: Young's modulus/1.2"),
        "shear": (0.33, "of shear springs over those of edges"),
        "bending": (-1.0, "N m, of its angular springs; below 0: k_b, without a map"),
        "air": (0.0, "air damping; Blender's own default is 1"),
    }

    def version(self) -> str:
        import bpy

        return str(bpy.app.version_string)

    def build(self, scene: Scene, settings: Mapping[str, Any]) -> None:
        import bpy

        self.scene, self.frame, self.last = scene, 1, scene.x
        bpy.ops.wm.read_factory_settings(use_empty=True)
        clock = bpy.context.scene
        clock.frame_start, clock.frame_end = 1, scene.steps + 2
        clock.gravity = tuple(map(float, scene.gravity))
        mesh = bpy.data.meshes.new("cloth")
        mesh.from_pydata(scene.rest.tolist(), [], scene.triangles.tolist())
        self.object = bpy.data.objects.new("cloth", mesh)
        bpy.context.collection.objects.link(self.object)
        modifier = self.object.modifiers.new("cloth", "CLOTH")
        _cloth(modifier.settings, scene, settings)
        if scene.pinned.any():
            group = self.object.vertex_groups.new(name="pins")
            group.add(np.flatnonzero(scene.pinned).tolist(), 1.0, "REPLACE")
            modifier.settings.vertex_group_mass = "pins"
        contact = modifier.collision_settings
        contact.use_self_collision, contact.use_collision = False, bool(scene.bodies)
        contact.distance_min = max(1e-3, float(scene.radius[0]))
        contact.friction = 5 * max((b.friction for b in scene.bodies), default=0.0)
        for body in scene.bodies:
            _body(bpy, body, contact.distance_min)
        self.note = "friction without a coefficient of its own: not Coulomb" if scene.bodies else ""
        modifier.point_cache.frame_start, modifier.point_cache.frame_end = 1, scene.steps + 2
        clock.frame_set(1)

    def set(self, x: np.ndarray, v: np.ndarray) -> None:
        """It starts at rest: build() has the places."""

    def step(self) -> None:
        import bpy

        self.frame += 1
        bpy.context.scene.frame_set(self.frame)

    def get(self) -> tuple[np.ndarray, np.ndarray | None]:
        import bpy

        found = self.object.evaluated_get(bpy.context.evaluated_depsgraph_get())
        x = np.empty(3 * len(self.scene.x), np.float32)
        found.data.vertices.foreach_get("co", x)
        at = x.reshape(-1, 3).astype(float)
        at[self.scene.pinned] = self.scene.x[self.scene.pinned]  # in double precision, as they are held
        v, self.last = (at - self.last) / self.scene.h, at
        return at, v


def _cloth(cloth: Any, scene: Scene, settings: Mapping[str, Any]) -> None:
    cloth.quality = settings["quality"]
    cloth.time_scale = scene.h / FRAME
    cloth.mass = float(scene.mass.mean())
    cloth.air_damping = settings["air"]
    cloth.bending_model = "ANGULAR"
    corners = scene.rest[scene.triangles]
    length = float(np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).mean())
    spring = settings["spring"] if settings["spring"] >= 0 else scene.young_poisson[0] / 1.2
    bending = settings["bending"] if settings["bending"] >= 0 else scene.isometric_stiffness
    cloth.tension_stiffness = cloth.compression_stiffness = spring * length / SPRING
    cloth.shear_stiffness = settings["shear"] * spring * length / SPRING
    cloth.bending_stiffness = bending / SPRING
    cloth.tension_damping = cloth.compression_damping = cloth.shear_damping = cloth.bending_damping = 0.0


def _body(bpy: Any, body: Body, distance: float) -> None:
    """As a mesh: Blender's cloth touches triangles."""
    from mathutils import Matrix, Vector

    if body.kind == "sphere":
        bpy.ops.mesh.primitive_uv_sphere_add(
            radius=body.shape[3], location=body.position, segments=64, ring_count=32
        )  # fmt: skip
        made = bpy.context.object
    else:
        bpy.ops.mesh.primitive_plane_add(size=10)
        made = bpy.context.object
        turn = Matrix(np.reshape(body.rotation, (3, 3)).tolist())
        normal = turn @ Vector(body.shape[:3])
        made.matrix_world = normal.to_track_quat("Z", "Y").to_matrix().to_4x4()
        made.matrix_world.translation = body.position
    made.modifiers.new("collision", "COLLISION")
    made.collision.thickness_outer = distance
    made.collision.cloth_friction = 80 * body.friction
    made.collision.damping = 0.0
