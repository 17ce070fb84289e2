"""The interface between `loom peer` and a simulator, and the scene that an adapter is given.

Adapters run in the environment of their simulator: this file needs numpy alone."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

ARRAYS = ("x", "v", "rest", "triangles", "mass", "pinned", "radius", "pin_path")


@dataclass
class Body:
    """An obstacle that does not move."""

    name: str
    kind: str  # word of [body.NAME] shape
    shape: list[float]  # [8], as loom_obstacle in loom/scene.h: [0:3] normal of a plane, [3] radius (m)
    rotation: list[float]  # [9], row-major, body to world
    position: list[float]  # [3], m
    friction: float  # Coulomb coefficient


@dataclass
class Scene:
    """The problem as loom poses it, read from a log of no steps."""

    x: np.ndarray  # [n][3], m, at the start
    v: np.ndarray  # [n][3], m/s, at the start
    rest: np.ndarray  # [n][3], m, without stress
    triangles: np.ndarray  # [nt][3]
    mass: np.ndarray  # [n], kg
    pinned: np.ndarray  # [n], bool
    radius: np.ndarray  # [n], m, half the thickness
    h: float  # s, a step of the log
    steps: int  # of the log
    parts: int  # steps of the log in one of [run] dt
    gravity: list[float]  # [3], m/s^2
    model: list[str]  # names of element types
    keys: dict[str, str]  # of the first [cloth.NAME], as they took effect
    bodies: list[Body] = field(default_factory=list)  # where contact with them is on
    self_contact: bool = False  # cloth touches cloth, at the distance of two radii
    # [steps + 1][number of pins][3], m, of the pinned vertices, in their order; [0] where they hold still
    pin_path: np.ndarray = field(default_factory=lambda: np.zeros((0, 0, 3)))

    def pins_at(self, step: float) -> np.ndarray:
        """Positions of the pinned vertices [number of pins][3] at the end of a step, m; between two steps
        on the straight way.  Without motion those of the start."""
        if len(self.pin_path) == 0:
            return self.x[self.pinned]
        low = min(int(step), len(self.pin_path) - 1)
        high = min(low + 1, len(self.pin_path) - 1)
        return np.asarray(self.pin_path[low] + (step - low) * (self.pin_path[high] - self.pin_path[low]))

    def number(self, key: str) -> float:
        """The first number of a key of the cloth."""
        return float(self.keys[key].split()[0])

    @property
    def young_poisson(self) -> tuple[float, float]:
        """Young's modulus times thickness (N/m) and Poisson's ratio of tri_neohookean, or of tri_stvk
        where its four stiffnesses are isotropic.  ValueError for other membranes."""
        if "tri_neohookean" in self.model:
            return self.number("young"), self.number("poisson")
        if "tri_stvk" not in self.model:
            raise ValueError(f"{'+'.join(self.model)} has neither Young's modulus nor Poisson's ratio")
        k0, k1, k2, k3 = (self.number(k) for k in ("k0", "k1", "k2", "k3"))
        if k0 <= 0 or abs(k2 - k0) > 1e-9 * k0 or abs(k3 - (k0 - k1)) > 1e-9 * k0:
            raise ValueError(f"k0 k1 k2 k3 = {k0:g} {k1:g} {k2:g} {k3:g} is no isotropic material: "
                             "k2 = k0 and k3 = k0 - k1 is")  # fmt: skip
        return k0 - k1 * k1 / k0, k1 / k0

    @property
    def isometric_stiffness(self) -> float:
        """k_b of hinge_isometric (N m), or k_e/12 of hinge_shell, which acts alike at small angles.
        ValueError for other bending energies."""
        if "hinge_isometric" in self.model:
            return self.number("k_b")
        if "hinge_shell" in self.model:
            return self.number("k_e") / 12
        raise ValueError(f"{'+'.join(self.model)} has no hinges of one stiffness")

    def save(self, folder: Path) -> None:
        """As scene.npz and scene.json."""
        np.savez(folder / "scene.npz", **{k: getattr(self, k) for k in ARRAYS})
        facts = {k: v for k, v in asdict(self).items() if k not in ARRAYS}
        (folder / "scene.json").write_text(json.dumps(facts))


def load_scene(folder: Path) -> Scene:
    """The scene that save() wrote."""
    facts = json.loads((folder / "scene.json").read_text())
    facts["bodies"] = [Body(**b) for b in facts["bodies"]]
    with np.load(folder / "scene.npz") as data:
        return Scene(**{k: data[k] for k in ARRAYS}, **facts)


class Peer:
    """A simulator.  Only build() and the methods after it may import it: refusals need no environment."""

    licence = ""  # SPDX identifier
    size_mb = 0  # of the environment
    can: frozenset[str] = frozenset()  # names of `loomcloth.peer.needs.NAMES` that it can pose
    bodies: tuple[str, ...] = ()  # kinds of bodies that it has
    settings: ClassVar[Mapping[str, tuple[Any, str]]] = {}  # {KEY: (value, meaning)} of --set peer.KEY
    recommended: ClassVar[Mapping[str, Any]] = {}  # settings of the project's own examples
    recommended_step = 0.0  # s, step of these examples; 0: loom's
    source = ""  # of the recommended settings
    compiles = False  # the first step compiles: it is made once before the clock starts
    variant = ""  # of its ways to solve the chosen one, as its name in tables has it; "" for the usual one
    note = ""  # a fact about the last run that its row must show, "" if there is none

    def choose(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Takes a way to solve from the settings, before any other method is called: may change `can`,
        `variant`, `recommended` and `source`.  Gives settings with other defaults for this way; ValueError
        for a way that it has not."""
        return {}

    def energy(self, scene: Scene) -> str:
        """The energy that it solves for the scene as a loom model, for example tri_stvk+hinge_isometric;
        "": its parameters have no map to a model.  ValueError with the reason also means none."""
        return ""

    def version(self) -> str:
        """Of the simulator, in its environment."""
        raise NotImplementedError

    def build(self, scene: Scene, settings: Mapping[str, Any]) -> None:
        """A new model of the scene, with the mesh at rest."""
        raise NotImplementedError

    def set(self, x: np.ndarray, v: np.ndarray) -> None:
        """Positions (m) and velocities (m/s) [n][3] of all vertices; peers that can pose `start` or
        `velocities` have it."""

    def step(self) -> None:
        """One step of loom, of scene.h, by as many steps of its own as the settings say."""
        raise NotImplementedError

    def get(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Positions [n][3] (m) and velocities (m/s), None where it gives none."""
        raise NotImplementedError


def load_adapter(folder: Path) -> Callable[[], Peer]:
    """The class `Adapter` of FOLDER/peer.py."""
    spec = importlib.util.spec_from_file_location(f"loom_peer_{folder.name}", folder / "peer.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Callable[[], Peer] = module.Adapter
    return found
