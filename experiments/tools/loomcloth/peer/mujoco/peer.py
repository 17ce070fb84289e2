"""MuJoCo's flex: a sheet of Young's modulus E, Poisson's ratio nu and thickness t.

Its membrane is tri_stvk with E t = Y.  Its bending is hinge_isometric, measured with a cantilever: the
rigidity D = E t^3 / (12 (1 - nu^2)) acts as k_b = D/3, so t = sqrt(36 k_b (1 - nu^2) / Y)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from loomcloth.peer.adapter import Body, Peer, Scene

RIGIDITY = 3.0  # D of MuJoCo over k_b of hinge_isometric
HEAVY = 1e6  # mass of a vertex on a given way over its own


def _words(values: Any) -> str:
    return " ".join(f"{float(c):.17g}" for c in np.ravel(values))


class Adapter(Peer):
    licence = "Apache-2.0"
    size_mb = 200
    can = frozenset({"mass", "start", "velocities", "gravity", "damping", "friction", "self_contact",
                     "moving_pins"})  # fmt: skip
    bodies = ("sphere", "plane")
    settings: ClassVar = {
        "iterations": (400, "of the constraint solver"),
        "tolerance": (1e-8, "of the constraint solver"),
        "substeps": (1, "MuJoCo's steps in one of loom"),
        "solref": (0.01, "s, time in which a penetration decays"),
        "impratio": (1.0, "friction over normal impedance"),
        "passive": (0, "1: passive contact, which has no friction"),
        "damping": (0.0, "s, of the elasticity"),
    }
    recommended: ClassVar = {"iterations": 400, "tolerance": 1e-6, "solref": 0.01}
    recommended_step = 0.002
    source = "model/flex/drape.xml of MuJoCo, but for its passive contact, which has no friction"

    def energy(self, scene: Scene) -> str:
        young, poisson = scene.young_poisson
        if young <= 0 or scene.isometric_stiffness <= 0:
            raise ValueError("the sheet of MuJoCo needs stiffnesses above 0")
        if not 0 <= poisson < 0.5:
            raise ValueError(f"MuJoCo needs a Poisson's ratio from 0 to below 0.5, not {poisson:g}")
        return "tri_stvk+hinge_isometric"

    def version(self) -> str:
        import mujoco

        return str(mujoco.__version__)

    def build(self, scene: Scene, settings: Mapping[str, Any]) -> None:
        import mujoco

        self.scene, self.substeps = scene, settings["substeps"]
        mujoco.set_mju_user_warning(self._warned)  # without it MuJoCo writes a file of its own beside the scene
        self.model = mujoco.MjModel.from_xml_string(_xml(scene, settings))
        moving = len(scene.pin_path) > 0  # such pins are heavy vertices with given velocities
        self.free = np.arange(len(scene.x)) if moving else np.flatnonzero(~scene.pinned)
        self.pins = np.flatnonzero(scene.pinned) if moving else np.zeros(0, int)
        bodies = self.model.flex_vertbodyid[self.free]
        mass = np.where(scene.pinned, HEAVY, 1.0) * scene.mass
        self.model.body_mass[bodies] = mass[self.free]
        self.data = mujoco.MjData(self.model)
        mujoco.mj_setConst(self.model, self.data)
        self.at = self.model.jnt_dofadr[self.model.body_jntadr[bodies]][:, None] + np.arange(3)
        self.held = self.at[self.pins] if moving else np.zeros((0, 3), int)
        self.data.qfrc_applied[self.held] = -mass[self.pins, None] * np.array(scene.gravity)
        self.done = 0
        self.kept = math.exp(-scene.number("damping") * scene.h)
        if settings["passive"] and any(b.friction > 0 for b in scene.bodies):
            self.note = "; ".join(filter(None, ("passive contact has no friction: not Coulomb", self.note)))

    def _warned(self, text: str) -> None:
        """The first warning is a part of the row, as a solve that is not converged is not MuJoCo at its best."""
        if "MuJoCo warns" not in self.note:
            self.note = "; ".join(filter(None, (self.note, f"MuJoCo warns: {text.strip()}")))

    def set(self, x: np.ndarray, v: np.ndarray) -> None:
        import mujoco

        self.data.qpos[self.at] = x[self.free] - self.scene.rest[self.free]
        self.data.qvel[self.at] = v[self.free]
        mujoco.mj_forward(self.model, self.data)

    def step(self) -> None:
        import mujoco

        for k in range(self.substeps):
            if len(self.pins):
                goal = self.scene.pins_at(self.done + (k + 1) / self.substeps) - self.scene.rest[self.pins]
                velocity = (goal - self.data.qpos[self.held]) * self.substeps / self.scene.h
                self.data.qvel[self.held] = velocity
            mujoco.mj_step(self.model, self.data)
            if len(self.pins):
                self.data.qpos[self.held], self.data.qvel[self.held] = goal, velocity
        self.done += 1
        if self.kept < 1:
            self.data.qvel[:] *= self.kept

    def get(self) -> tuple[np.ndarray, np.ndarray | None]:
        x, v = self.scene.x.copy(), np.zeros_like(self.scene.v)
        x[self.free] = self.scene.rest[self.free] + self.data.qpos[self.at]
        v[self.free] = self.data.qvel[self.at]
        if len(self.pins):
            x[self.pins] = self.scene.pins_at(self.done)
            v[self.pins] = (x[self.pins] - self.scene.pins_at(max(self.done - 1, 0))) / self.scene.h
        return x, v


def _geom(body: Body, solref: float) -> str:
    import mujoco

    turn, quaternion = np.array(body.rotation), np.zeros(4)
    if body.kind == "plane":  # MuJoCo's has the normal z
        turn = (np.reshape(body.rotation, (3, 3)) @ _frame_of(np.array(body.shape[:3]))).ravel()
    mujoco.mju_mat2Quat(quaternion, turn)
    size = f"{body.shape[3]:.17g}" if body.kind == "sphere" else "0 0 1"
    return (
        f'<geom type="{body.kind}" size="{size}" pos="{_words(body.position)}" quat="{_words(quaternion)}" '
        f'friction="{body.friction:.17g} 0 0" solref="{solref:.17g} 1"/>'
    )


def _frame_of(normal: np.ndarray) -> np.ndarray:
    """A rotation that takes z to the normal."""
    z = normal / np.linalg.norm(normal)
    x = np.cross([0.0, 1.0, 0.0] if abs(z[1]) < 0.9 else [1.0, 0.0, 0.0], z)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


def _elasticity(scene: Scene, damping: float) -> str:
    try:
        young, poisson = scene.young_poisson
        rigidity = RIGIDITY * scene.isometric_stiffness
    except ValueError:  # --differ model: no map of the energy
        return ""
    if young <= 0 or rigidity <= 0:
        return ""
    t = math.sqrt(12 * rigidity * (1 - poisson**2) / young)
    return (
        f'<elasticity young="{young / t:.17g}" poisson="{poisson:.17g}" thickness="{t:.17g}" '
        f'elastic2d="both" damping="{damping:.17g}"/>'
    )


def _xml(scene: Scene, s: Mapping[str, Any]) -> str:
    still = scene.pinned if len(scene.pin_path) == 0 else np.zeros_like(scene.pinned)
    pins = " ".join(map(str, np.flatnonzero(still)))
    # Of the two coefficients of a contact MuJoCo takes the larger one: that of the body.
    return f"""<mujoco>
<option timestep="{scene.h / s["substeps"]:.17g}" solver="CG" tolerance="{s["tolerance"]:g}"
 iterations="{s["iterations"]}" integrator="discrete" gravity="{_words(scene.gravity)}" cone="elliptic"
 impratio="{s["impratio"]:g}"/>
<size memory="500M"/>
<worldbody>{"".join(_geom(b, s["solref"]) for b in scene.bodies)}
<flexcomp name="cloth" type="direct" dim="2" mass="{scene.mass.sum():.17g}" radius="{scene.radius[0]:.17g}"
 point="{_words(scene.rest)}" element="{" ".join(map(str, scene.triangles.ravel()))}">
<contact selfcollide="{"auto" if scene.self_contact else "none"}" solref="{s["solref"]:.17g} 1"
 friction="0 0 0" condim="3"
 {'passive="true"' if s["passive"] else ""}/>
<edge equality="false"/>
{_elasticity(scene, s["damping"])}
{f'<pin id="{pins}"/>' if pins else ""}
</flexcomp></worldbody></mujoco>"""
