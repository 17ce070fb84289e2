"""PositionBasedDynamics by its binding pyPBD: XPBD with springs along edges and quadratic bending.

Springs have neither Young's modulus nor Poisson's ratio of their own choice, and the bending constraint is
the energy itself, so its law is quartic: there is no map to a model of loom.  The binding cannot set gravity,
which is (0, -9.81, 0): the scene is turned."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from loomcloth.peer.adapter import Body, Peer, Scene

# z of loom is y of the simulator: rows are the axes of the simulator in loom.
TURN = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
SPRING = 1.2  # Young's modulus of a regular grid over the stiffness of its springs, by a strip
BOX = ("021", "123", "456", "576", "014", "154", "263", "367", "042", "246", "135", "375")  # its triangles
SLAB = (5.0, 5.0, 0.5)  # m, half lengths of the box that stands for a plane


class Adapter(Peer):
    licence = "MIT"
    size_mb = 190
    can = frozenset({"mass", "start", "velocities", "damping", "friction"})
    bodies = ("sphere", "plane")
    settings: ClassVar = {
        "substeps": (5, "of the simulator in one step of loom"),
        "iterations": (1, "of XPBD in a substep"),
        "spring": (0.0, "N/m, of each edge; 0: Young's modulus over 1.2"),
        "bending": (0.0, "N m, of each hinge; 0: k_b"),
        "contact_stiffness": (100.0, "of contact of particles with bodies"),
        "tolerance": (0.005, "m, distance at which contact begins"),
    }
    recommended: ClassVar = {"substeps": 5, "iterations": 1}
    recommended_step = 0.005
    source = "values of the library after Simulation.initDefault()"

    def version(self) -> str:
        import importlib.metadata

        return importlib.metadata.version("pypbd")

    def build(self, scene: Scene, settings: Mapping[str, Any]) -> None:
        import pypbd as pbd

        self.scene, self.simulation = scene, pbd.Simulation.getCurrent()
        self.simulation.initDefault()
        model = self.simulation.getModel()
        self.cloth = model.addTriangleModel(
            list(scene.rest @ TURN.T), scene.triangles.ravel().tolist(), [], [], False
        )
        self.particles = model.getParticles()
        for i, mass in enumerate(scene.mass):
            self.particles.setMass(i, 0.0 if scene.pinned[i] else float(mass))
        sides = edges_of(scene.triangles)
        spring = settings["spring"] or scene.young_poisson[0] / SPRING
        for a, b in sides:
            model.addDistanceConstraint_XPBD(a, b, spring)
        bending = settings["bending"] or scene.isometric_stiffness
        for (a, b), tips in sides.items():
            if len(tips) == 2:
                model.addIsometricBendingConstraint_XPBD(*tips, a, b, bending)
        pbd.TimeManager.getCurrent().setTimeStepSize(scene.h)
        steps = self.simulation.getTimeStep()
        steps.setValueUInt(pbd.TimeStepController.NUM_SUB_STEPS, settings["substeps"])
        steps.setValueUInt(pbd.TimeStepController.MAX_ITERATIONS, settings["iterations"])
        if scene.bodies:
            self._add_bodies(settings)
        self.kept = math.exp(-scene.number("damping") * scene.h)

    def _add_bodies(self, settings: Mapping[str, Any]) -> None:
        import pypbd as pbd

        model, detection = self.simulation.getModel(), self.simulation.getTimeStep().getCollisionDetection()
        kind, radius = pbd.CollisionObject.RigidBodyCollisionObjectType, float(self.scene.radius[0])
        for i, body in enumerate(self.scene.bodies):
            half, at, turn = placed(body)
            vertices, mesh = _box()
            rigid = model.addRigidBody(1.0, vertices, mesh, TURN @ at, TURN @ turn, 2 * half, False, False)
            rigid.setMass(0.0)
            rigid.setFrictionCoeff(body.friction)
            rigid.setRestitutionCoeff(0.0)
            if body.kind == "sphere":
                detection.addCollisionSphere(i, kind, vertices, 0, 8, half[0] + radius, False, False)
            else:
                detection.addCollisionBox(i, kind, vertices, 0, 8, 2 * half + 2 * radius, False, False)
        detection.addCollisionObjectWithoutGeometry(
            0, pbd.CollisionObject.TriangleModelCollisionObjectType, self.particles, 0, self.particles.size(),
            True,
        )  # fmt: skip
        self.cloth.setFrictionCoeff(0.0)  # the sum of both coefficients counts
        self.cloth.setRestitutionCoeff(0.0)
        detection.setTolerance(settings["tolerance"])
        model.setContactStiffnessParticleRigidBody(settings["contact_stiffness"])

    def set(self, x: np.ndarray, v: np.ndarray) -> None:
        for i, (place, velocity) in enumerate(zip(x @ TURN.T, v @ TURN.T, strict=True)):
            self.particles.setPosition(i, place)
            self.particles.setVelocity(i, velocity)

    def step(self) -> None:
        self.simulation.getTimeStep().step(self.simulation.getModel())
        if self.kept < 1:
            for i in range(len(self.scene.x)):
                self.particles.setVelocity(i, self.kept * np.asarray(self.particles.getVelocity(i)))

    def get(self) -> tuple[np.ndarray, np.ndarray | None]:
        count = range(len(self.scene.x))
        x = np.array([self.particles.getPosition(i) for i in count]) @ TURN
        v = np.array([self.particles.getVelocity(i) for i in count]) @ TURN
        x[self.scene.pinned], v[self.scene.pinned] = self.scene.x[self.scene.pinned], 0.0
        return x, v


def edges_of(triangles: np.ndarray) -> dict[tuple[int, int], list[int]]:
    """{edge: vertices opposite to it}"""
    sides: dict[tuple[int, int], list[int]] = {}
    for t in triangles:
        for k in range(3):
            a, b = sorted((int(t[k]), int(t[(k + 1) % 3])))
            sides.setdefault((a, b), []).append(int(t[(k + 2) % 3]))
    return sides


def placed(body: Body) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Half lengths, centre and rotation of a body in loom's axes, m; a plane is the top of a box."""
    at, turn = np.array(body.position), np.reshape(body.rotation, (3, 3))
    if body.kind == "sphere":
        return np.full(3, body.shape[3]), at, turn
    normal = turn @ np.array(body.shape[:3])
    normal /= np.linalg.norm(normal)
    across = np.cross([0.0, 1.0, 0.0] if abs(normal[1]) < 0.9 else [1.0, 0.0, 0.0], normal)
    across /= np.linalg.norm(across)
    turn = np.stack([across, np.cross(normal, across), normal], axis=1)
    return np.array(SLAB), at - SLAB[2] * normal, turn


def _box() -> tuple[Any, Any]:
    """A cube of side 1, as vertices and mesh of the simulator."""
    import pypbd as pbd

    vertices, mesh = pbd.VertexData(), pbd.IndexedFaceMesh()
    for z in (-0.5, 0.5):
        for y in (-0.5, 0.5):
            for x in (-0.5, 0.5):
                vertices.addVertex([x, y, z])
    mesh.initMesh(8, 24, 12)
    for face in BOX:
        mesh.addFace([int(c) for c in face])
    mesh.buildNeighbors()
    return vertices, mesh
