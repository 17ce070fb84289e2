"""A loom log (HDF5, schema 1) as numpy arrays."""

from __future__ import annotations

import argparse
import contextlib
import io
import math
import os
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import h5py
import numpy as np

from loomcloth import checks
from loomcloth.config import flat, peer_settings, translated
from loomcloth.errors import LogError
from loomcloth.opening import open_file

GOOD_ENDS = ("converged_abs", "converged_rel")  # words of /steps.reason

# Of a body: kinds of the elements, lengths of the axes (None: any), whether all must be finite.
BODY: dict[str, tuple[str, tuple[int | None, ...], bool]] = {
    "shape": ("f", (8,), True),
    "pose": ("f", (None, 12), True),
    "vertices": ("f", (None, 3), True),
    "triangles": ("iu", (None, 3), False),
    "frames": ("f", (None, None, 3), True),
    "frame_rate": ("f", (), True),
    "joints": ("f", (None, None, 12), True),
    "bones": ("iu", (None, None), False),
    "weights": ("f", (None, None), True),
    "sdf": ("f", (None,), False),
    "sdf_dims": ("iu", (3,), False),
    "sdf_origin": ("f", (3,), True),
    "sdf_spacing": ("f", (), True),
}


@dataclass
class Obstacle:
    """One body; `data` holds all its data sets beside kind, shape and pose."""

    name: str
    kind: str
    shape: np.ndarray  # [8], m, body frame, see loom_obstacle in loom/scene.h
    pose: np.ndarray  # [T][12], body to world: R row-major, t
    data: dict[str, Any] = field(default_factory=dict)

    def wrong(self) -> str:
        """The fault of damaged data, "" if they are sound."""
        for name, value in (("shape", self.shape), ("pose", self.pose), *self.data.items()):
            kinds, axes, finite = BODY.get(name, ("", (), False))
            if not kinds:
                continue
            value = np.asarray(value)
            if value.dtype.kind not in kinds or value.ndim != len(axes) or any(
                want is not None and have != want for have, want in zip(value.shape, axes, strict=True)
            ):
                return f"{name} has the shape {value.shape} of {value.dtype}"
            if finite and not checks.drawable(value):
                return f"{name} holds NaN, infinity or numbers above {checks.LARGEST:g}"
        if len(self.pose) == 0:
            return "pose is empty"
        if self.kind == "plane" and not np.linalg.norm(self.shape[:3]) > 0:
            return "shape: the plane has no normal"
        return self._wrong_mesh() or self._wrong_grid()

    def _wrong_mesh(self) -> str:
        d = self.data
        if self.kind == "mesh" and ("vertices" not in d or "triangles" not in d):
            return "vertices or triangles are missing"
        count = len(d["vertices"]) if "vertices" in d else 0
        if "triangles" in d and d["triangles"].size and not (
            d["triangles"].min() >= 0 and d["triangles"].max() < count
        ):
            return f"triangles name {d['triangles'].min()} to {d['triangles'].max()} of {count} vertices"
        if "frames" in d and (
            "frame_rate" not in d or len(d["frames"]) == 0 or d["frames"].shape[1] != count
        ):
            return "frames have no rate, or not the vertices of the mesh"
        if "joints" not in d:
            return ""
        if "bones" not in d or "weights" not in d or "vertices" not in d:
            return "bones, weights or vertices are missing"
        bones = d["bones"]
        if bones.shape != d["weights"].shape or len(bones) != count or len(d["joints"]) == 0:
            return "bones, weights and joints do not fit the vertices"
        if bones.size and not (bones.min() >= 0 and bones.max() < d["joints"].shape[1]):
            return f"bones name {bones.min()} to {bones.max()} of {d['joints'].shape[1]} joints"
        return ""

    def _wrong_grid(self) -> str:
        if self.kind != "sdf":
            return ""
        if not {"sdf", "sdf_dims", "sdf_origin", "sdf_spacing"} <= set(self.data):
            return "sdf, sdf_dims, sdf_origin or sdf_spacing is missing"
        dims = [int(n) for n in self.data["sdf_dims"]]
        if min(dims) < 2 or math.prod(dims) != self.data["sdf"].size or not self.data["sdf_spacing"] > 0:
            return f"sdf has {self.data['sdf'].size} values on a grid of {dims}"
        return ""

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


def open_log(path: str | os.PathLike[str]) -> Log:
    """A log object of one file; use it in a `with` statement.  LogError if it is none."""
    return Log(path)


class Log:
    """`with Log(path) as log:` gives attributes, tables (structured arrays), frames, scene."""

    def __init__(self, path: str | os.PathLike[str]):
        self.path = os.fspath(path)
        self.file = open_file(self.path)
        try:
            self._check()
        except BaseException:
            self.file.close()
            raise

    def _check(self) -> None:
        try:
            schema = self.file.attrs.get("schema")
            if schema is None:
                raise LogError(f"{self.path}: not a loom log (no attribute 'schema')")
            if np.shape(schema) != () or schema != 1:
                raise LogError(f"{self.path}: schema {schema}; this tool reads schema 1")
            checks.log(self.file, self.path)
        except checks.ERRORS as error:
            raise LogError(f"{self.path}: damaged: {error}") from None

    def __enter__(self) -> Log:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        self.file.close()

    def _read(self, read: Callable[[], Any]) -> Any:
        """read(), where an error is the file's."""
        try:
            return read()
        except checks.ERRORS as error:
            raise LogError(f"{self.path}: damaged: {error}") from None

    def has(self, name: str) -> bool:
        """Whether the file has this object."""
        return bool(self._read(lambda: name in self.file))

    def has_attr(self, name: str) -> bool:
        """Whether the root has this attribute."""
        return bool(self._read(lambda: name in self.file.attrs))

    def fresh(self, name: str) -> h5py.Dataset:
        """The data set as its writer has it by now."""
        found = checks.dataset(self.file, name, self.path)
        self._read(found.refresh)
        return found

    def attr(self, name: str) -> Any:
        """A root attribute, a number or a text; "" if absent."""
        value = self._read(lambda: self.file.attrs.get(name, ""))
        if np.shape(value) == () and np.asarray(value).dtype.kind in "biuf":
            return value
        return checks.text(value, f"{self.path}: the attribute '{name}'")

    @property
    def status(self) -> str:
        """`running`, `finished`, `stopped` or `failed: why`."""
        if self.has("status"):
            found = checks.dataset(self.file, "status", self.path)
            return checks.text(self._read(lambda: found[()]), f"{self.path}: /status")
        return str(self.attr("status"))

    @property
    def peer(self) -> str:
        """Name and version of the program whose steps `loom measure` measured; "" for a run of loom."""
        return f"{self.attr('peer')} {self.attr('peer_version')}".strip() if self.attr("peer") else ""

    @property
    def settings(self) -> dict[str, str]:
        """The configuration as it took effect, {"solver.plugin": "gd", ...}, in the keys of this version.  In
        measured steps of another program (peer) its name stands for the solver's; peer.version and its
        settings are its own."""
        found = translated(flat(str(self.attr("config"))))
        if self.peer:
            found["solver.plugin"] = str(self.attr("peer"))
            found |= peer_settings(str(self.attr("peer_settings")))
            found["peer.version"] = str(self.attr("peer_version"))
        return found

    @property
    def object_names(self) -> list[str]:
        """Of cloths, solids and yarns, by the numbers of /scene/object."""
        sections = dict.fromkeys(key.rsplit(".", 1)[0] for key in self.settings)
        kinds = ("cloth.", "solid.", "yarn.")
        return [s.partition(".")[2] for kind in kinds for s in sections if s.startswith(kind)]

    @property
    def piece_names(self) -> list[str]:
        """By the numbers of /scene/material/piece."""
        if not self.has("scene/material/pieces"):
            return []
        held = checks.dataset(self.file, "scene/material/pieces", self.path)
        text = self._read(lambda: held[()])
        if not isinstance(text, bytes):
            raise LogError(f"{self.path}: /scene/material/pieces is no text")
        return text.decode(errors="replace").rstrip("\0\n").split("\n")

    @property
    def planned_steps(self) -> int:
        """Rows that /steps was to get, 0 if that is not known: `-n` of the last command, or [run] steps,
        times the substeps."""
        commands = str(self.attr("commands") or self.attr("command")).strip().splitlines()
        parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
        parser.add_argument("-n", "--steps", default="")
        steps = ""
        # a command that no shell takes, or `-n` without a number, gives no count
        with contextlib.suppress(ValueError, SystemExit), contextlib.redirect_stderr(io.StringIO()):
            known, _ = parser.parse_known_args(shlex.split(commands[-1]) if commands else [])
            steps = known.steps
        steps = steps or self.settings.get("run.steps", "")
        parts = self.settings.get("run.substeps", "1")
        return int(steps) * int(parts) if re.fullmatch("[0-9]{1,12} [0-9]{1,6}", f"{steps} {parts}") else 0

    def config(self, section: str, key: str, default: Any = None) -> Any:
        """A value of the resolved INI text."""
        return self.settings.get(f"{section}.{key}", default)

    def table(self, name: str, columns: Sequence[str] | None = None, begin: int = 0) -> np.ndarray:
        """/steps, /iters, their extras or /inner as a structured array, from row `begin` on; HDF5 reads only
        these columns (None: all)."""
        found = checks.table(self.file, name, self.path)
        return np.asarray(
            self._read(lambda: (found if columns is None else found.fields(list(columns)))[begin:])
        )

    def names(self, name: str) -> tuple[str, ...]:
        """The columns of a table."""
        return tuple(checks.table(self.file, name, self.path).dtype.names)

    def columns(self, name: str) -> dict[str, tuple[str, str]]:
        """{column: (unit, meaning)} of a table, as the log says."""
        table = checks.table(self.file, name, self.path)
        where = f"{self.path}: /{name}: the texts of its columns"
        texts = []
        for kind in ("column_unit", "column_doc"):
            words = self._texts(table, kind)
            if len(words) != len(table.dtype.names):
                raise LogError(f"{where} are {len(words)}, it has {len(table.dtype.names)} columns")
            texts.append([checks.text(w, where) for w in words])
        return dict(zip(table.dtype.names, zip(*texts, strict=True), strict=True))

    def _texts(self, item: Any, name: str) -> list[Any]:
        return list(self._read(lambda: np.ravel(item.attrs[name]).tolist()))

    def enum(self, name: str, column: str) -> dict[int, str]:
        """{number: word} of an enumerated column, for example /steps.reason; {} if it is not enumerated."""
        table = checks.table(self.file, name, self.path, (column,))
        words = h5py.check_enum_dtype(table.dtype[column])
        return {number: word for word, number in words.items()} if words else {}

    def sections(self, clock: str) -> dict[str, np.ndarray]:
        """{"instance/section": s of each step} by a clock of /sections, t_wall or t_cpu."""
        rows, steps = self.table("sections"), self.table("steps")["step"]
        seconds: dict[str, np.ndarray] = {}
        for row in rows:
            of = seconds.setdefault(row["name"].decode(), np.zeros(len(steps)))
            of[np.searchsorted(steps, row["step"])] += row[clock]
        return seconds

    def messages(self) -> list[tuple[int, str, str]]:
        """Warnings and errors as (step, level, text); a log of an older version has none."""
        if not self.has("messages"):
            return []
        checks.table(self.file, "messages", self.path, ("step", "level"))
        rows, levels = self.table("messages"), ("error", "warning")
        if "text" not in (rows.dtype.names or ()):
            raise LogError(f"{self.path}: /messages has no column 'text'")
        where = f"{self.path}: a text of /messages"
        return [
            (int(r["step"]), levels[int(r["level"])] if 0 <= int(r["level"]) < 2 else "message",
             checks.text(r["text"], where))
            for r in rows
        ]  # fmt: skip

    @property
    def num_vertices(self) -> int:
        return int(checks.dataset(self.file, "frames/x", self.path).shape[1])

    @property
    def num_frames(self) -> int:
        """Frames that are whole: a writer may have begun one more."""
        return min(len(checks.dataset(self.file, f"frames/{name}", self.path)) for name in checks.FRAMES)

    def frame(self, index: int) -> np.ndarray:
        """Positions [n][3], m."""
        return np.asarray(self._read(lambda: self.file["frames/x"][index].astype(np.float64)))

    def drawn(self, index: int) -> np.ndarray:
        """Positions [n][3], m, of a frame that is drawn.  LogError where that cannot be done."""
        x = self.frame(index)
        if not checks.drawable(x):
            raise LogError(f"{self.path}: frame {index} holds NaN, infinity or positions beyond "
                           f"{checks.LARGEST:g} m; `loom verify` names the vertices")  # fmt: skip
        return x

    def velocity(self, index: int) -> np.ndarray:
        """Velocities [n][3], m/s."""
        return np.asarray(self._read(lambda: self.file["frames/v"][index].astype(np.float64)))

    @property
    def times(self) -> np.ndarray:
        """Of the frames, s."""
        times = np.asarray(self._read(lambda: self.file["frames/time"][: self.num_frames]))
        if not np.isfinite(times).all() or (np.diff(times) < 0).any():
            raise LogError(f"{self.path}: /frames/time does not increase")
        return times

    @property
    def field_names(self) -> list[str]:
        """Names of the fields that [log] fields has stored beside the frames."""
        if not self.has("fields"):
            return []
        group = checks.item(self.file, "fields", self.path)
        if not isinstance(group, h5py.Group):
            raise LogError(f"{self.path}: /fields is no group")
        return list(self._read(lambda: list(group)))

    def field_data(self, name: str) -> h5py.Dataset:
        """A field, [frames][n] or [frames][n][3]."""
        found = checks.dataset(self.file, f"fields/{name}", self.path)
        shape = found.shape
        if found.dtype.kind not in "fiu" or shape[1:] not in ((self.num_vertices,), (self.num_vertices, 3)):
            raise LogError(f"{self.path}: /fields/{name} has the shape {shape} of {found.dtype}")
        if shape[0] < self.num_frames:
            raise LogError(f"{self.path}: /fields/{name} has {shape[0]} of {self.num_frames} frames")
        return found

    def field_rows(self, name: str, index: int) -> np.ndarray:
        """A field at a frame, [n] or [n][3]."""
        found = self.field_data(name)
        return np.asarray(self._read(lambda: found[index]))

    def field_unit(self, name: str) -> str:
        found = self.field_data(name)
        unit = self._read(lambda: found.attrs.get("unit", "1"))
        return checks.text(unit, f"{self.path}: /fields/{name}: unit")

    def scene(self, name: str, default: Any = None) -> Any:
        """An array of /scene."""
        if not self.has(f"scene/{name}"):
            return default
        kinds, axes = checks.SCENE.get(name, ("fiu", ()))
        found = (
            checks.array(self.file, f"scene/{name}", self.path, kinds, axes) if name in checks.SCENE
            else checks.dataset(self.file, f"scene/{name}", self.path)
        )  # fmt: skip
        rows, where = np.asarray(self._read(lambda: found[:])), f"{self.path}: /scene/{name}"
        if name == "triangles":
            checks.ids(rows, 0, self.num_vertices, where)
        if name == "rest" and not checks.drawable(rows):
            raise LogError(f"{where} holds NaN, infinity or positions beyond {checks.LARGEST:g} m")
        if name in ("rest", "object", "radius") and len(rows) != self.num_vertices:
            raise LogError(f"{where} has {len(rows)} rows, for {self.num_vertices} vertices")
        if name.startswith("material/") and len(rows) != len(self.scene("triangles", ())):
            raise LogError(f"{where} has {len(rows)} rows, which are not those of the triangles")
        return rows

    @property
    def up_axis(self) -> int:
        """0, 1 or 2: from the configuration's up_axis, else against gravity, else z."""
        axis = str(self.config("run", "up_axis", "")).strip().lower()
        if axis in ("x", "y", "z"):
            return "xyz".index(axis)
        words = str(self.config("run", "gravity", "")).split()
        try:
            pull = [abs(float(w)) for w in words[:3]]
        except ValueError:
            return 2
        return int(np.argmax(pull)) if len(pull) == 3 else 2

    def obstacles(self) -> list[Obstacle]:
        """The bodies, in the order of their names."""
        if not self.has("scene/obstacles"):
            return []
        group = checks.item(self.file, "scene/obstacles", self.path)
        if not isinstance(group, h5py.Group):
            raise LogError(f"{self.path}: /scene/obstacles is no group")
        return [self._obstacle(name) for name in self._read(lambda: list(group))]

    def _whole(self, found: h5py.Dataset) -> Any:
        return self._read(lambda: found[()])

    def _obstacle(self, name: str) -> Obstacle:
        place = f"scene/obstacles/{name}"
        group = checks.item(self.file, place, self.path)
        if not isinstance(group, h5py.Group):
            raise LogError(f"{self.path}: /{place} is no group")
        names = self._read(lambda: list(group))
        sets = {k: checks.dataset(self.file, f"{place}/{k}", self.path) for k in names}
        items = {k: self._whole(found) for k, found in sets.items()}
        for need in ("kind", "shape", "pose"):
            if need not in items:
                raise LogError(f"{self.path}: /{place}/{need} is missing")
        kind = checks.text(items.pop("kind"), f"{self.path}: /{place}/kind")
        shape, pose = items.pop("shape"), items.pop("pose")
        body = Obstacle(name, kind, shape, pose, items)
        wrong = body.wrong()
        if wrong:
            raise LogError(f"{self.path}: /{place}/{wrong}")
        body.shape = shape.astype(float)
        return body
