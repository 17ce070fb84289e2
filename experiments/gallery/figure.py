"""Pictures of shipped configurations for the page on scenes: each run as it ships, frames side by side."""

import functools
from dataclasses import dataclass

import numpy as np
from PIL import Image

from loomcloth.log import Log


@dataclass
class Strip:
    """Frames of configs/NAME.ini; the camera sees all of them."""

    times: tuple  # s
    size: tuple  # pixels of a frame
    angles: tuple = (-60, 20)  # azimuth and elevation of the camera, degrees
    zoom: float = 1.0


# hero.png cuts a frame out of tshirt and of trousers_walk: its boxes depend on their number and size
STRIPS = {
    "flag": Strip((0.375, 0.75, 1.125, 1.5), (420, 360), (-75, 5)),
    "tunic": Strip((0.0, 0.25, 0.5, 0.9, 1.2, 1.5), (320, 420), (-60, 8)),
    "tshirt": Strip((0.0, 0.2, 0.5, 1.5), (420, 520), (-60, 10), 1.45),
    "trousers_walk": Strip((0.0, 0.16, 0.32, 0.6, 0.96, 1.24, 1.6, 2.0), (340, 560), (35, 10)),
}


def draw(name, experiment):
    from loomcloth.sheet import caption, labelled
    from loomcloth.view import View

    strip, path = STRIPS[name], experiment.run(name, f"../../configs/{name}.ini", {"exec.threads": 1})
    if experiment.plan:
        return
    with Log(path) as log:
        frames = [int(np.abs(np.array(log.times) - t).argmin()) for t in strip.times]
        scene = View(log, frames, strip.size, strip.angles, strip.zoom)
        images = [labelled(scene.image(f), caption(log, name, f)) for f in frames]
    experiment.keep_image(Image.fromarray(np.hstack(images)), name)


FIGURES = {
    "flag": ("a flag in gusts of wind, pictures", functools.partial(draw, "flag")),
    "tunic": ("a tunic that is sewn, falls onto the shoulders and turns with the torso, pictures",
              functools.partial(draw, "tunic")),
    "tshirt": ("a T-shirt that is sewn around a torso, pictures", functools.partial(draw, "tshirt")),
    "trousers_walk": ("trousers that are sewn and walk, pictures", functools.partial(draw, "trousers_walk")),
}  # fmt: skip
