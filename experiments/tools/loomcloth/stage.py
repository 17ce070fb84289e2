"""Several logs as one picture: the same camera, the same colours, the same time."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from PIL import Image

from loomcloth import fields
from loomcloth.camera import Camera, fitted, load
from loomcloth.errors import LogError
from loomcloth.log import Log
from loomcloth.sheet import COLOURS, ScaleBar, caption, columns_of, joined, labelled, stamped
from loomcloth.view import View, bounds

SAMPLES = 12  # frames from which the ends of a colour scale are taken


def names_of(paths: Sequence[str]) -> list[str]:
    """The names of the files, with the folder where two are called alike."""
    stems = [os.path.splitext(os.path.basename(p))[0] for p in paths]
    longer = [f"{os.path.basename(os.path.dirname(os.path.abspath(p)))}/{s}"
              for p, s in zip(paths, stems, strict=True)]  # fmt: skip
    return [b if stems.count(s) > 1 else s for s, b in zip(stems, longer, strict=True)]


def labels_of(logs: Sequence[Log]) -> list[str]:
    """The names of several logs; of measured steps of another program (log.peer) also its name."""
    names = names_of([log.path for log in logs]) if len(logs) > 1 else [""]
    return [" of ".join(filter(None, (n, log.peer))) for n, log in zip(names, logs, strict=True)]


class Stage:
    """Draws frames of the first log, and of the others the frame of the nearest time.

    frames: all that will be asked for; ends: of the colour scale; stamp: one log gets the time, too;
    movie: pictures are drawn quickly, in half a second of processor time at 10,000 vertices."""

    def __init__(
        self,
        logs: Sequence[Log],
        frames: Sequence[int],
        size: tuple[int, int],
        angles: tuple[float, float],
        zoom: float,
        camera: str | None,
        *,
        columns: int | None = None,
        labels: Sequence[str] = (),
        stamp: bool = False,
        field: str | None = None,
        ends: tuple[float, float] | None = None,
        wireframe: bool = False,
        lamps: int = 8,
        bar: bool = True,
        movie: bool = False,
    ):
        several = len(logs) > 1
        if len({log.up_axis for log in logs}) > 1:
            raise LogError("the logs do not have the same direction of gravity; draw each alone")
        if min(size) < 16:
            raise LogError(f"--size {size[0]}x{size[1]}: too small")
        self.logs, self.size, self.field = logs, size, field
        self.columns = columns or columns_of(len(logs), size)
        self.labels = list(labels) or labels_of(logs)
        self.stamp = stamp or several
        boxes = [bounds(log, sorted({self._at(log, f) for f in frames})) for log in logs]
        box = np.array([np.min([b[0] for b in boxes], axis=0), np.max([b[1] for b in boxes], axis=0)])
        aspect = size[0] / size[1]
        self.camera: Camera = (
            load(camera) if camera else fitted(box, logs[0].up_axis, angles, aspect, zoom)
        )
        self.ends, self.bar = (0.0, 1.0), None
        if field:
            label = fields.check(logs, field, "--color")
            self.ends = ends or self._limits(frames)
            if not self.ends[0] < self.ends[1]:
                raise LogError(f"--range {self.ends[0]:g},{self.ends[1]:g}: the first must be less")
            rows = -(-len(logs) // self.columns) if bar else len(logs)
            self.bar = ScaleBar(label, *self.ends, rows * size[1], size[1])
        self._make = partial(
            View, frames=[0], size=size, angles=angles, wireframe=wireframe, lamps=lamps, box=box,
            camera=self.camera, quick=movie,
        )  # fmt: skip
        self._views: dict[int, View] = {}
        self._keep = movie or len(frames) > 1
        self._drawn: dict[int, tuple[Any, np.ndarray]] = {}  # of each log: the last picture, what it shows

    def _view(self, k: int) -> View:
        """Of the k-th log.  For one picture each a view after the other, as a view takes 300 MB."""
        if k not in self._views:
            while self._views and not self._keep:
                self._views.popitem()[1].close()
            self._views[k] = self._make(self.logs[k])
        return self._views[k]

    def _at(self, log: Log, frame: int) -> int:
        """Of a log, where the first one is at a frame."""
        return frame if log is self.logs[0] else int(np.abs(log.times - self.logs[0].times[frame]).argmin())

    def _values(self, log: Log, frame: int) -> np.ndarray:
        """Of the field, when the first log is at a frame."""
        assert self.field is not None
        first = None if log is self.logs[0] else self.logs[0].frame(frame)
        return fields.values(log, self.field, self._at(log, frame), first)

    def _limits(self, frames: Sequence[int]) -> tuple[float, float]:
        some = {frames[i] for i in np.linspace(0, len(frames) - 1, SAMPLES).astype(int)}
        return fields.limits([self._values(log, f) for log in self.logs for f in sorted(some)])

    def picture(self, k: int, frame: int, label: bool = True) -> np.ndarray:
        """Of the k-th log, when the first one is at a frame."""
        log, at = self.logs[k], self._at(self.logs[k], frame)
        shows = (at, frame if self.field else -1)
        if k not in self._drawn or self._drawn[k][0] != shows:  # a log that stands still is drawn once
            view = self._view(k)
            if self.field:
                values = self._values(log, frame)
                view.paint(values, *self.ends, colours=COLOURS)
                view.paint_yarns(values, *self.ends, colours=COLOURS)
            self._drawn[k] = shows, view.image(at)
        image = self._drawn[k][1]
        text = self.labels[k] if label else ""
        if abs(log.times[at] - self.logs[0].times[frame]) > 1e-9:  # it has no frame of that time
            text += f"  (at {log.times[at]:.3f} s)"
        return labelled(image, text)

    def _stamp(self, image: np.ndarray, frame: int) -> np.ndarray:
        return stamped(image, f"{self.logs[0].times[frame]:.3f} s", self.size[1]) if self.stamp else image

    def sheet(self, frame: int) -> np.ndarray:
        """All of them at a frame of the first, with time and scale, [height][width][3]."""
        image = joined([self.picture(k, frame) for k in range(len(self.logs))], self.columns)
        image = self._stamp(image, frame)
        return self.bar.beside(image) if self.bar else image

    def write_strip(self, frames: Sequence[int], path: str) -> None:
        """A row for each log with its name and size, a column for each frame with its time."""
        names = names_of([log.path for log in self.logs])
        self.labels = [caption(log, label or name)
                       for log, label, name in zip(self.logs, self.labels, names, strict=True)]  # fmt: skip
        self.stamp = True
        columns = []
        for i, frame in enumerate(frames):
            rows = [self.picture(k, frame, label=i == 0) for k in range(len(self.logs))]
            columns.append(self._stamp(np.vstack(rows), frame))
        image = np.hstack(columns)
        Image.fromarray(self.bar.beside(image) if self.bar else image).save(path)
