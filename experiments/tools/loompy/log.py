"""A loom log (HDF5, schema 1) as numpy arrays."""

import configparser
import os
import subprocess
from dataclasses import dataclass, field

import h5py
import numpy as np

from loompy.errors import LogError


@dataclass
class Obstacle:
    """One body; `data` holds whatever the log keeps beside kind, shape and pose."""

    name: str
    kind: str
    shape: np.ndarray  # [8], m, body frame, see loom_obstacle in loom/scene.h
    pose: np.ndarray  # [T][12], body to world: R row-major, t
    data: dict = field(default_factory=dict)

    def matrix(self, frame):
        """Body to world at a frame, 4x4."""
        row = self.pose[min(frame, len(self.pose) - 1)]
        m = np.eye(4)
        m[:3, :3] = row[:9].reshape(3, 3)
        m[:3, 3] = row[9:]
        return m

    def vertices(self, frame, time):
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


def _open(path):
    """Open a finished log, one that is being written, or one whose writer has died."""
    if not os.path.exists(path):
        raise LogError(f"{path}: no such file")
    try:
        return h5py.File(path, "r")
    except OSError as plain:
        first = plain
    try:
        return h5py.File(path, "r", swmr=True, libver="latest")
    except OSError:
        pass
    # A dead writer leaves marks that every command of the binary repairs.
    binary = os.environ.get("LOOM_BIN")
    if binary:
        done = subprocess.run([binary, "info", path], capture_output=True, text=True)
        if done.returncode == 0:
            return h5py.File(path, "r")
        raise LogError(done.stderr.strip() or f"{path}: {first}")
    raise LogError(f"{path}: {first}")


class Log:
    """`with Log(path) as log:` gives attributes, tables (structured arrays), frames, scene."""

    def __init__(self, path):
        self.path = str(path)
        self.file = _open(self.path)
        if "schema" not in self.file.attrs:
            raise LogError(f"{path}: not a loom log (no attribute 'schema')")
        schema = int(self.file.attrs["schema"])
        if schema != 1:
            raise LogError(f"{path}: schema {schema}; this tool reads schema 1")

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.file.close()

    def attr(self, name):
        """A root attribute; texts as str, "" if absent."""
        value = self.file.attrs.get(name, "")
        return value.decode() if isinstance(value, bytes) else value

    @property
    def status(self):
        if "status" in self.file:
            value = self.file["status"][()]
            return value.decode().rstrip("\0") if isinstance(value, bytes) else str(value)
        return str(self.attr("status"))

    def config(self, section, key, default=None):
        """A value of the resolved INI text."""
        parser = configparser.ConfigParser(
            strict=False, interpolation=None, inline_comment_prefixes=(";", "#")
        )
        parser.read_string(str(self.attr("config")))
        return parser.get(section, key, fallback=default)

    def table(self, name):
        """/steps, /iters, their extras or /inner as a structured array."""
        return self.file[name][:]

    def sections(self, clock):
        """{"instance/section": s of each step} by a clock of /sections, t_wall or t_cpu."""
        rows, steps = self.file["sections"][:], self.file["steps"]["step"]
        seconds = {}
        for row in rows:
            of = seconds.setdefault(row["name"].decode(), np.zeros(len(steps)))
            of[np.searchsorted(steps, row["step"])] += row[clock]
        return seconds

    def messages(self):
        """Warnings and errors as (step, level, text); a log of an older version has none."""
        rows = self.file["messages"][:] if "messages" in self.file else []
        levels = ("error", "warning")
        return [(int(r["step"]), levels[int(r["level"])], r["text"].decode()) for r in rows]

    @property
    def num_frames(self):
        return self.file["frames/x"].shape[0]

    def frame(self, index):
        """Positions [n][3], m."""
        return self.file["frames/x"][index].astype(np.float64)

    def velocity(self, index):
        """Velocities [n][3], m/s."""
        return self.file["frames/v"][index].astype(np.float64)

    @property
    def times(self):
        return self.file["frames/time"][:]

    def scene(self, name, default=None):
        return self.file["scene"][name][:] if name in self.file["scene"] else default

    @property
    def up_axis(self):
        """0, 1 or 2: what the configuration says, else against gravity, else z."""
        axis = str(self.config("run", "up_axis", "")).strip().lower()
        if axis in ("x", "y", "z"):
            return "xyz".index(axis)
        words = str(self.config("run", "gravity", "")).split()
        if len(words) == 3:
            return int(np.argmax(np.abs([float(w) for w in words])))
        return 2

    def obstacles(self):
        bodies = []
        for name, group in self.file["scene"].get("obstacles", {}).items():
            items = {k: group[k][()] for k in group}
            kind, shape, pose = items.pop("kind"), items.pop("shape"), items.pop("pose")
            bodies.append(Obstacle(name, kind.decode(), shape.astype(float), pose, items))
        return bodies
