"""A loom log (HDF5, schema 1) as numpy arrays."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass, field
from typing import Any

import h5py
import numpy as np

from loompy.config import flat
from loompy.errors import LogError


@dataclass
class Obstacle:
    """One body; `data` holds whatever the log keeps beside kind, shape and pose."""

    name: str
    kind: str
    shape: np.ndarray  # [8], m, body frame, see loom_obstacle in loom/scene.h
    pose: np.ndarray  # [T][12], body to world: R row-major, t
    data: dict[str, Any] = field(default_factory=dict)

    def matrix(self, frame: int) -> np.ndarray:
        """Body to world at a frame, 4x4."""
        row = self.pose[min(frame, len(self.pose) - 1)]
        m = np.eye(4)
        m[:3, :3] = row[:9].reshape(3, 3)
        m[:3, 3] = row[9:]
        return m

    def vertices(self, frame: int, time: float) -> np.ndarray:
        """Of a mesh, in its own frame, at a frame of the log, which has this time (s)."""
        if "joints" in self.data:  # shape = rig: a skin blended from the maps of its joints
            maps = self.data["joints"][min(frame, len(self.data["joints"]) - 1)]
            maps = np.einsum("vk,vkc->vc", self.data["weights"], maps[self.data["bones"]])
            turned = np.einsum("vij,vj->vi", maps[:, :9].reshape(-1, 3, 3), self.data["vertices"])
            return turned + maps[:, 9:]
        if "frames" not in self.data:  # motion = sequence has them
            return self.data["vertices"].astype(float)
        frames = self.data["frames"]
        at = min(max(time * float(self.data["frame_rate"]), 0.0), len(frames) - 1.0)
        before = int(at)
        after = min(before + 1, len(frames) - 1)
        a, b = frames[before].astype(float), frames[after].astype(float)
        return a + (at - before) * (b - a)


def _repair(path: str, cause: object) -> None:
    """What every command of the binary does with a log whose writer was killed."""
    binary = os.environ.get("LOOM_BIN")
    if not binary:
        raise LogError(f"{path}: {cause}; `loom info` on it repairs it")
    done = subprocess.run([binary, "info", path], capture_output=True, text=True)
    if done.returncode != 0:
        raise LogError(done.stderr.strip() or f"{path}: {cause}")


def _open(path: str) -> h5py.File:
    """Open a finished log, one that is being written, or one whose writer has died."""
    if not os.path.exists(path):
        raise LogError(f"{path}: no such file")
    if os.path.exists(f"{path}.journal"):
        _repair(path, "its last change was cut off")
    try:
        return h5py.File(path, "r")
    except OSError as plain:
        first = plain
    # Not of one that is being written; opened for SWMR, HDF5 would try to read what is missing for ever.
    if "truncated file" in str(first) or "signature not found" in str(first):
        raise LogError(f"{path}: cut short or damaged: run it again, or restore a copy")
    try:
        return h5py.File(path, "r", swmr=True, libver="latest", locking=False)
    except OSError:
        pass
    _repair(path, first)
    return h5py.File(path, "r")


def open_log(path: str | os.PathLike[str]) -> Log:
    """A log object of one file; use it in a `with` statement.  LogError if it is none."""
    return Log(path)


class Log:
    """`with Log(path) as log:` gives attributes, tables (structured arrays), frames, scene."""

    def __init__(self, path: str | os.PathLike[str]):
        self.path = os.fspath(path)
        self.file = _open(self.path)
        schema = self.file.attrs.get("schema")
        if schema != 1:
            self.file.close()
            raise LogError(f"{path}: " + (
                f"schema {schema}; this tool reads schema 1" if schema is not None
                else "not a loom log (no attribute 'schema')"
            ))  # fmt: skip

    def __enter__(self) -> Log:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        self.file.close()

    def attr(self, name: str) -> Any:
        """A root attribute; texts as str, "" if absent."""
        value = self.file.attrs.get(name, "")
        return value.decode().rstrip("\0") if isinstance(value, bytes) else value

    @property
    def status(self) -> str:
        """`running`, `finished`, `stopped` or `failed: why`."""
        if "status" in self.file:
            value = self.file["status"][()]
            return value.decode().rstrip("\0") if isinstance(value, bytes) else str(value)
        return str(self.attr("status"))

    @property
    def settings(self) -> dict[str, str]:
        """The configuration as it took effect, {"solver.plugin": "gd", ...}."""
        return flat(str(self.attr("config")))

    def config(self, section: str, key: str, default: Any = None) -> Any:
        """A value of the resolved INI text."""
        return self.settings.get(f"{section}.{key}", default)

    def table(self, name: str) -> np.ndarray:
        """/steps, /iters, their extras or /inner as a structured array."""
        return self.file[name][:]

    def columns(self, name: str) -> dict[str, tuple[str, str]]:
        """{column: (unit, what it is)} of a table, as the log says."""
        table = self.file[name]
        units, docs = table.attrs["column_unit"], table.attrs["column_doc"]
        text = [[w.decode() if isinstance(w, bytes) else str(w) for w in ws] for ws in (units, docs)]
        return dict(zip(table.dtype.names, zip(*text, strict=True), strict=True))

    def enum(self, name: str, column: str) -> dict[int, str]:
        """{number: word} of an enumerated column such as /steps.reason; {} if it is none."""
        words = h5py.check_enum_dtype(self.file[name].dtype[column])
        return {number: word for word, number in words.items()} if words else {}

    def sections(self, clock: str) -> dict[str, np.ndarray]:
        """{"instance/section": s of each step} by a clock of /sections, t_wall or t_cpu."""
        rows, steps = self.file["sections"][:], self.file["steps"]["step"]
        seconds: dict[str, np.ndarray] = {}
        for row in rows:
            of = seconds.setdefault(row["name"].decode(), np.zeros(len(steps)))
            of[np.searchsorted(steps, row["step"])] += row[clock]
        return seconds

    def messages(self) -> list[tuple[int, str, str]]:
        """Warnings and errors as (step, level, text); a log of an older version has none."""
        rows = self.file["messages"][:] if "messages" in self.file else []
        levels = ("error", "warning")
        return [(int(r["step"]), levels[int(r["level"])], r["text"].decode()) for r in rows]

    @property
    def num_frames(self) -> int:
        return self.file["frames/x"].shape[0]

    def frame(self, index: int) -> np.ndarray:
        """Positions [n][3], m."""
        return self.file["frames/x"][index].astype(np.float64)

    def velocity(self, index: int) -> np.ndarray:
        """Velocities [n][3], m/s."""
        return self.file["frames/v"][index].astype(np.float64)

    @property
    def times(self) -> np.ndarray:
        """Of the frames, s."""
        return self.file["frames/time"][:]

    def scene(self, name: str, default: Any = None) -> Any:
        """An array of /scene."""
        return self.file["scene"][name][:] if name in self.file["scene"] else default

    @property
    def up_axis(self) -> int:
        """0, 1 or 2: what the configuration says, else against gravity, else z."""
        axis = str(self.config("run", "up_axis", "")).strip().lower()
        if axis in ("x", "y", "z"):
            return "xyz".index(axis)
        words = str(self.config("run", "gravity", "")).split()
        if len(words) == 3:
            return int(np.argmax(np.abs([float(w) for w in words])))
        return 2

    def obstacles(self) -> list[Obstacle]:
        """The bodies, in the order of their names."""
        bodies = []
        for name, group in self.file["scene"].get("obstacles", {}).items():
            items = {k: group[k][()] for k in group}
            kind, shape, pose = items.pop("kind"), items.pop("shape"), items.pop("pose")
            bodies.append(Obstacle(name, kind.decode(), shape.astype(float), pose, items))
        return bodies
