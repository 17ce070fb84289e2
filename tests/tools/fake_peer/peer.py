"""A simulator that gives back the frames of a log of loom: an adapter whose residuals are known."""

from typing import ClassVar

import numpy as np
from loomcloth.peer.adapter import Peer


class Adapter(Peer):
    licence = "MIT"
    can = frozenset({"self_contact", "moving_pins", "mass", "start", "velocities", "friction", "damping"})
    bodies = ("sphere", "plane")
    settings: ClassVar = {
        "frames": ("", "NPZ file of x and v"),
        "moved": (0.0, "m, by which the last vertex of each frame but the first is moved along z"),
        "broken": (-1, "frame with NaN"),
        "substeps": (1, "has no effect"),
        "solver": ("usual", "usual or moving"),
    }
    recommended: ClassVar = {"moved": 0.0}
    recommended_step = 0.005
    source = "tests/tools/fake_peer"

    def choose(self, settings):
        if settings["solver"] not in ("usual", "moving"):
            raise ValueError(f"peer.solver = {settings['solver']}: usual or moving is expected")
        if settings["solver"] == "usual":
            return {}
        self.variant, self.can = "moving", self.can - {"friction"}
        return {"moved": 2e-3}

    def energy(self, scene):
        return "+".join(scene.model)

    def version(self):
        return "1"

    def build(self, scene, settings):
        if any(b.kind not in self.bodies for b in scene.bodies):
            raise ValueError("the scene has a body of another kind")
        with np.load(settings["frames"]) as data:
            self.frames = [(x.copy(), v.copy()) for x, v in zip(data["x"], data["v"], strict=True)]
        for x, _ in self.frames[1:]:
            x[-1, 2] += settings["moved"]
        if settings["broken"] >= 0:
            self.frames[settings["broken"]][0][0] = np.nan
        self.at = 0
        for k, (x, _) in enumerate(self.frames if len(scene.pin_path) else ()):
            far = np.abs(x[scene.pinned] - scene.pins_at(k)).max()
            if far > 1e-12:
                raise ValueError(f"the pins of frame {k} are {far:.2g} m off")
        words = {"touches itself": scene.self_contact, "pins move": len(scene.pin_path) > 0}
        self.note = ", ".join(word for word, is_so in words.items() if is_so)

    def step(self):
        self.at += 1

    def get(self):
        return self.frames[self.at]
