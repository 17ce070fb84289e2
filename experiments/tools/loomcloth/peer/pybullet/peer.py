"""PyBullet's deformable world: a mesh of an OBJ file with springs along its edges, explicit steps.

Springs have neither Young's modulus nor Poisson's ratio of their own choice, and the springs of its bending
join second neighbours: there is no map to a model of loom."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from loomcloth.peer.adapter import Body, Peer, Scene

SPRING = 1.2  # Young's modulus of a regular grid over the stiffness of its springs, by a strip
SLAB = (5.0, 5.0, 0.5)  # m, half lengths of the box that stands for a plane


class Adapter(Peer):
    licence = "Zlib"
    size_mb = 410
    can = frozenset({"gravity", "friction"})
    bodies = ("sphere", "plane")
    settings: ClassVar = {
        "substeps": (50, "of the simulator in one step of loom: its springs are explicit"),
        "spring": (0.0, "N/m, of each edge; 0: Young's modulus over 1.2"),
        "bending": (0.0, "N/m, of springs to second neighbours; 0: as spring"),
        "spring_damping": (0.0, "damping of the springs"),
        "repulsion": (50.0, "stiffness of contact with bodies"),
    }

    def version(self) -> str:
        import importlib.metadata

        return importlib.metadata.version("pybullet")

    def build(self, scene: Scene, settings: Mapping[str, Any]) -> None:
        import pybullet as pb

        self.scene, self.substeps = scene, settings["substeps"]
        if pb.isConnected():
            pb.disconnect()
        pb.connect(pb.DIRECT)
        pb.resetSimulation(pb.RESET_USE_DEFORMABLE_WORLD)
        pb.setGravity(*map(float, scene.gravity))
        pb.setTimeStep(scene.h / self.substeps)
        pb.setPhysicsEngineParameter(sparseSdfVoxelSize=0.1, deterministicOverlappingPairs=1)
        for body in scene.bodies:
            _add(body)
        spring = settings["spring"] or scene.young_poisson[0] / SPRING
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "cloth.obj"
            path.write_text(_obj(scene))
            self.cloth = pb.loadSoftBody(
                str(path), basePosition=[0, 0, 0], scale=1, mass=float(scene.mass.sum()), useNeoHookean=0,
                useMassSpring=1, useBendingSprings=1, springElasticStiffness=spring,
                springBendingStiffness=settings["bending"] or spring,
                springDampingStiffness=settings["spring_damping"], springDampingAllDirections=0,
                useSelfCollision=0, useFaceContact=0, collisionMargin=float(scene.radius[0]),
                # the product of both coefficients counts
                frictionCoeff=math.sqrt(max((b.friction for b in scene.bodies), default=0.0)),
                repulsionStiffness=settings["repulsion"],
            )  # fmt: skip
        read = self._places()
        far = np.linalg.norm(scene.rest[:, None] - read[None], axis=2)
        self.at = far.argmin(axis=1)  # the reader may number vertices in another order
        if len(read) != len(scene.rest) or len(set(self.at)) != len(read) or far.min(axis=1).max() > 1e-5:
            count = f"{len(read)} vertices, which are not the {len(scene.rest)} of loom"
            raise ValueError(f"PyBullet read {count}")
        for i in np.flatnonzero(scene.pinned):
            pb.createSoftBodyAnchor(self.cloth, int(self.at[i]), -1, -1)

    def _places(self) -> np.ndarray:
        import pybullet as pb

        return np.array(pb.getMeshData(self.cloth, -1, flags=pb.MESH_DATA_SIMULATION_MESH)[1])

    def set(self, x: np.ndarray, v: np.ndarray) -> None:
        """One velocity for the whole sheet, the mean; places are those at rest."""
        import pybullet as pb

        free = v[~self.scene.pinned]
        if len(free) and np.abs(free).max() > 0:
            pb.resetBaseVelocity(self.cloth, free.mean(axis=0).tolist(), [0, 0, 0])

    def step(self) -> None:
        import pybullet as pb

        for _ in range(self.substeps):
            pb.stepSimulation()

    def get(self) -> tuple[np.ndarray, np.ndarray | None]:
        return self._places()[self.at], None


def _obj(scene: Scene) -> str:
    points = "".join(f"v {x:.17g} {y:.17g} {z:.17g}\n" for x, y, z in scene.rest)
    return points + "".join(f"f {a} {b} {c}\n" for a, b, c in scene.triangles + 1)


def _add(body: Body) -> None:
    """A plane is the top of a box."""
    import pybullet as pb

    turn, at = np.reshape(body.rotation, (3, 3)), np.array(body.position)
    if body.kind == "sphere":
        shape = pb.createCollisionShape(pb.GEOM_SPHERE, radius=body.shape[3])
    else:
        normal = turn @ np.array(body.shape[:3])
        normal /= np.linalg.norm(normal)
        across = np.cross([0.0, 1.0, 0.0] if abs(normal[1]) < 0.9 else [1.0, 0.0, 0.0], normal)
        across /= np.linalg.norm(across)
        turn = np.stack([across, np.cross(normal, across), normal], axis=1)
        shape, at = pb.createCollisionShape(pb.GEOM_BOX, halfExtents=SLAB), at - SLAB[2] * normal
    number = pb.createMultiBody(0, shape, -1, at.tolist(), _quaternion(turn))
    pb.changeDynamics(number, -1, lateralFriction=math.sqrt(body.friction))


def _quaternion(turn: np.ndarray) -> list[float]:
    """x, y, z, w of a rotation by less than half a turn."""
    w = math.sqrt(max(1e-12, 1 + float(np.trace(turn)))) / 2
    axis = [turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]
    return [*(float(a) / (4 * w) for a in axis), w]
