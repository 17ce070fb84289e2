"""Newton, on the processor or a GPU.  VBD: loom's own problem; Style3D and XPBD: others.py.

VBD's membrane is tri_neohookean, but for a constant.  Its hinges are k l/2 (theta - theta0)^2 with k of each
edge, so k = k_e l/(4 (A0 + A1)) is hinge_shell edge by edge."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from loomcloth.peer.adapter import Peer, Scene
from loomcloth.peer.newton import others


def hinge_stiffnesses(scene: Scene) -> dict[tuple[int, int], float]:
    """k of each inner edge, N: {(smaller, larger vertex): k}."""
    sides: dict[tuple[int, int], list[float]] = {}
    for t in scene.triangles:
        p = scene.rest[t]
        area = 0.5 * float(np.linalg.norm(np.cross(p[1] - p[0], p[2] - p[0])))
        for k in range(3):
            a, b = sorted((int(t[k]), int(t[(k + 1) % 3])))
            sides.setdefault((a, b), []).append(area)
    k_e = 12 * scene.isometric_stiffness
    return {
        (a, b): k_e * float(np.linalg.norm(scene.rest[a] - scene.rest[b])) / (4 * sum(areas))
        for (a, b), areas in sides.items() if len(areas) == 2
    }  # fmt: skip


SLIDING = 1e-3  # of cloth on cloth, where the sheet touches itself
OWN_FRICTION = "friction of each iteration by its own depth: not Coulomb"
HANGING = "examples/cloth/example_cloth_hanging.py of Newton 1.8: 10 substeps of 1/60 s"
STYLE3D = "examples/cloth/example_cloth_style3d.py of Newton 1.8: 10 substeps of 1/60 s"


class Adapter(Peer):
    licence = "Apache-2.0"
    size_mb = 570
    can = frozenset({"mass", "start", "velocities", "gravity", "damping", "friction", "self_contact",
                     "moving_pins"})  # fmt: skip
    bodies = ("sphere", "plane")
    settings: ClassVar = {
        "solver": ("vbd", "vbd, style3d or xpbd; also --solver"),
        "device": ("cpu", "cpu or cuda; also --device"),
        "iterations": (10, "of the solver in a step"),
        "linear_iterations": (10, "style3d: of conjugate gradients in an iteration"),
        "substeps": (1, "Newton's steps in one of loom; xpbd: 50"),
        "spring": (-1.0, "xpbd: N/m of a spring; below 0: Young's modulus/1.2, or /3.7 with across"),
        "across": (0, "xpbd: 1: also springs across inner edges, as add_springs of Newton's cloth"),
        "bending": (0.0, "xpbd: stiffness of its hinges, without a map"),
        "contact_ke": (1e3, "N/m, stiffness of contact"),
        "contact_kd": (0.0, "damping of contact"),
        "contact_gap": (0.01, "m, distance up to which contact is looked for"),
        "friction_epsilon": (0.01, "m/s, speed below which friction is smoothed"),
    }
    recommended: ClassVar = {"iterations": 10}
    recommended_step = 1 / 600
    source = HANGING
    compiles = True
    way = "vbd"

    def choose(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        self.way = settings["solver"]
        if self.way not in ("vbd", "style3d", "xpbd"):
            raise ValueError(f"peer.solver = {self.way}: vbd, style3d or xpbd is expected")
        if settings["device"] not in ("cpu", "cuda"):
            raise ValueError(f"peer.device = {settings['device']}: cpu or cuda is expected")
        if self.way == "vbd":
            return {}
        self.variant = self.way
        self.can = self.can - {"self_contact", "moving_pins"}
        if self.way == "style3d":
            self.recommended = {"iterations": 4}  # type: ignore[misc]
            self.source = STYLE3D
            return {}
        self.recommended = {"iterations": 10, "substeps": 1}  # type: ignore[misc]
        return {"substeps": 50}  # its springs diverge in longer steps

    def energy(self, scene: Scene) -> str:
        if self.way == "xpbd":
            return ""
        if scene.young_poisson[0] < 0 or scene.isometric_stiffness < 0:
            raise ValueError("a stiffness is below 0")
        if self.way == "style3d":
            others.flat_rest(scene)
            return "baraff_witkin+hinge_isometric"  # its membrane is no model of loom
        return "tri_neohookean+hinge_shell"

    def version(self) -> str:
        import newton

        return str(newton.__version__)

    def build(self, scene: Scene, settings: Mapping[str, Any]) -> None:
        import newton
        import warp as wp

        wp.config.quiet = True
        self.choose(settings)
        self.scene, self.substeps = scene, settings["substeps"]
        self.note = OWN_FRICTION if scene.bodies and self.way == "xpbd" else ""
        self.model = m = _model(scene, settings)
        m.soft_contact_ke, m.soft_contact_kd = settings["contact_ke"], settings["contact_kd"]
        m.soft_contact_mu = 0.0 if self.way == "xpbd" else cloth_friction(scene)
        self.solver = self._solver(settings)
        self.done = 0
        self.states, self.control = [m.state(), m.state()], m.control()
        gap = {"soft_contact_gap": settings["contact_gap"]} if scene.bodies else {}
        self.pipeline = newton.CollisionPipeline(m, **gap)
        self.contacts = self.pipeline.contacts()
        self.kept = math.exp(-scene.number("damping") * scene.h)

    def _solver(self, settings: Mapping[str, Any]) -> Any:
        import newton

        if self.way == "style3d":
            return others.style3d_solver(self.model, settings)
        if self.way == "xpbd":
            return others.xpbd_solver(self.model, settings)
        return newton.solvers.SolverVBD(
            self.model, iterations=settings["iterations"], friction_epsilon=settings["friction_epsilon"],
            **(self_contact(self.scene) if self.scene.self_contact else {}),
        )  # fmt: skip

    def set(self, x: np.ndarray, v: np.ndarray) -> None:
        self.states[0].particle_q.assign(x.astype(np.float32))
        self.states[0].particle_qd.assign(v.astype(np.float32))

    def step(self) -> None:
        if self.scene.self_contact or self.way == "style3d":
            self.solver.rebuild_bvh(self.states[0])
        for k in range(self.substeps):
            if len(self.scene.pin_path):
                self._hold(self.scene.pins_at(self.done + (k + 1) / self.substeps))
            self.states[0].clear_forces()
            if self.scene.bodies:
                self.pipeline.collide(self.states[0], self.contacts)
            h = self.scene.h / self.substeps
            self.solver.step(self.states[0], self.states[1], self.control, self.contacts, h)
            self.states.reverse()
            if self.way == "style3d":
                self._scale_velocities(1 / others.STYLE3D_KEEPS)
        self.done += 1
        if self.kept < 1:
            self._scale_velocities(self.kept)

    def _scale_velocities(self, factor: float) -> None:
        v = self.states[0].particle_qd
        v.assign(v.numpy() * np.float32(factor))

    def _hold(self, places: np.ndarray) -> None:
        """Pinned vertices to their places at the end of a step, as in example_cloth_twist.py."""
        for state in self.states:
            x = state.particle_q.numpy()
            x[self.scene.pinned] = places
            state.particle_q.assign(x)

    def get(self) -> tuple[np.ndarray, np.ndarray | None]:
        x = self.states[0].particle_q.numpy().astype(float)
        v = self.states[0].particle_qd.numpy().astype(float)
        pinned = self.scene.pinned  # in double precision, as they are held
        x[pinned] = self.scene.pins_at(self.done)
        v[pinned] = (x[pinned] - self.scene.pins_at(max(self.done - 1, 0))) / self.scene.h
        return x, v


def cloth_friction(scene: Scene) -> float:
    """Of the cloth in Newton, which is also that of cloth on cloth."""
    return SLIDING if scene.self_contact else 1.0


def self_contact(scene: Scene) -> dict[str, Any]:
    """Options of the solver.  Two surfaces keep the thickness apart; detection reaches farther by 3/4 of
    it, and buffers are as long as in example_cloth_twist.py."""
    thickness = 2 * float(scene.radius[0])
    return {
        "particle_enable_self_contact": True, "particle_self_contact_margin": thickness,
        "particle_self_contact_gap": 0.75 * thickness, "particle_vertex_contact_buffer_size": 64,
        "particle_edge_contact_buffer_size": 128,
    }  # fmt: skip


def _add_vbd(builder: Any, scene: Scene) -> None:
    import warp as wp

    young, poisson = scene.young_poisson
    builder.add_cloth_mesh(
        pos=wp.vec3(0), rot=wp.quat_identity(), scale=1.0, vel=wp.vec3(0),
        vertices=[wp.vec3(*p) for p in scene.rest], indices=scene.triangles.ravel().tolist(),
        density=scene.number("density"), particle_radius=float(scene.radius[0]),
        tri_ke=young / (2 * (1 + poisson)), tri_ka=young * poisson / (1 - poisson**2), tri_kd=0.0,
        edge_ke=1.0, edge_kd=0.0,
    )  # fmt: skip


def _model(scene: Scene, settings: Mapping[str, Any]) -> Any:
    import newton

    builder, way = newton.ModelBuilder(up_axis=newton.Axis.Z), settings["solver"]
    if way == "style3d":
        others.add_style3d(builder, scene)
    elif way == "xpbd":
        others.add_springs(builder, scene, settings)
    else:
        _add_vbd(builder, scene)
    _add_bodies(scene, builder, way)
    if way == "vbd":
        builder.color(include_bending=True)
    m = builder.finalize(device=settings["device"])
    m.set_gravity(tuple(map(float, scene.gravity)))
    mass = scene.mass.astype(np.float32)
    m.particle_mass.assign(mass)
    m.particle_inv_mass.assign(np.where(scene.pinned, 0, 1 / mass).astype(np.float32))
    flags = m.particle_flags.numpy()
    flags[scene.pinned] &= ~int(newton.ParticleFlags.ACTIVE)
    m.particle_flags.assign(flags)
    rows = m.edge_bending_properties.numpy()
    if way == "style3d":
        rows[:, 0] = scene.isometric_stiffness
    elif way == "vbd":
        stiff, edges = hinge_stiffnesses(scene), m.edge_indices.numpy()
        for row, (_, _, a, b) in zip(rows, edges, strict=True):
            row[0] = stiff.get((min(a, b), max(a, b)), 0.0)
    m.edge_bending_properties.assign(rows)
    return m


def _add_bodies(scene: Scene, builder: Any, way: str) -> None:
    import newton
    import warp as wp

    for body in scene.bodies:
        config = newton.ModelBuilder.ShapeConfig()
        # VBD and Style3D take the root of the product of two coefficients, XPBD the mean; its cloth has 0
        config.mu = 2 * body.friction if way == "xpbd" else body.friction**2 / cloth_friction(scene)
        turn = np.reshape(body.rotation, (3, 3))
        if body.kind == "plane":
            normal = turn @ np.array(body.shape[:3])
            plane = (*map(float, normal), -float(normal @ np.array(body.position)))
            builder.add_shape_plane(plane=plane, body=-1, width=0.0, length=0.0, cfg=config)
        else:
            at = wp.transform(wp.vec3(*body.position), wp.quat_identity())
            builder.add_shape_sphere(-1, xform=at, radius=float(body.shape[3]), cfg=config)
