"""The parts of a log that go into a file: cloths, yarns and bodies, their motion, and fields of vertices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from loomcloth import checks
from loomcloth.bodies import body_mesh, disc, moves_inside, placed
from loomcloth.errors import LogError
from loomcloth.frames import frame_range
from loomcloth.log import Log, Obstacle

PLANE_REACH = 2.0  # of a plane that is drawn, in half diagonals of the cloths


@dataclass
class Part:
    """One cloth or body, or the yarns of one object, in the frames of the log."""

    name: str
    kind: str  # cloth, yarn or body
    tris: np.ndarray  # [t][3], none of yarns
    points: Callable[[int], np.ndarray]  # at a frame, in its own coordinates, [n][3], m
    matrix: Callable[[int], np.ndarray]  # its own coordinates to the world's, [4][4]
    deforms: bool  # whether points depend on the frame
    moves: bool  # whether the matrix does
    values: dict[str, Callable[[int], np.ndarray]] = field(default_factory=dict)  # [n] or [n][3]
    units: dict[str, str] = field(default_factory=dict)
    uv: np.ndarray | None = None  # [t][3][2], m: of corners in the piece that they were cut from
    piece: np.ndarray | None = None  # [t], in Clip.pieces, -1: of none
    sizes: np.ndarray | None = None  # vertices of each yarn, which stand in their order
    closed: bool = False  # whether each yarn ends where it begins
    radius: np.ndarray | None = None  # [n], m, of yarns

    def world(self, frame: int) -> np.ndarray:
        return placed(self.points(frame), self.matrix(frame))


@dataclass
class Clip:
    """The data that are written."""

    log: Log
    frames: list[int]
    parts: list[Part]
    pieces: list[str]  # names

    @property
    def times(self) -> np.ndarray:
        """Of the frames, s."""
        return self.log.times[self.frames]


def _logged(log: Log, name: str, used: np.ndarray) -> Callable[[int], np.ndarray]:
    return lambda frame: log.field_rows(name, frame)[used]


def _of_cloth(rows: Callable[[int], np.ndarray], used: np.ndarray) -> Callable[[int], np.ndarray]:
    return lambda frame: rows(frame)[used]


def _still(frame: int) -> np.ndarray:
    return np.eye(4)


def _cloths(log: Log) -> list[Part]:
    tris = log.scene("triangles")
    if tris is None or len(tris) == 0:
        return []
    owner = log.scene("object", np.zeros(int(tris.max()) + 1, dtype=int))
    corners, piece = log.scene("material/uv"), log.scene("material/piece")
    names = log.object_names
    found = []
    ids = np.unique(owner[tris[:, 0]])
    for k in ids:
        mine = owner[tris[:, 0]] == k
        used, local = np.unique(tris[mine], return_inverse=True)
        part = Part(
            names[k] if k < len(names) else f"cloth_{k}",
            "cloth",
            local.reshape(-1, 3),
            _of_cloth(log.frame, used),
            _still,
            deforms=True,
            moves=False,
        )
        _add_values(log, part, used)
        if corners is not None and piece is not None and (piece[mine] >= 0).all():
            part.uv, part.piece = np.asarray(corners)[mine], np.asarray(piece)[mine]
        found.append(part)
    return found


def _add_values(log: Log, part: Part, used: np.ndarray) -> None:
    part.values["velocity"] = _of_cloth(log.velocity, used)
    part.units["velocity"] = "m/s"
    for name in log.field_names:
        part.values[name] = _logged(log, name, used)
        part.units[name] = log.field_unit(name)


def _yarns(log: Log) -> list[Part]:
    """A part for the closed yarns of an object, and one for its open ones."""
    checks.yarns(log)
    first = log.scene("yarns/first")
    if first is None or len(first) < 2:
        return []
    closed, names = log.scene("yarns/closed").astype(bool), log.object_names
    owner, radius = log.scene("object")[first[:-1]], log.scene("radius")
    found = []
    for k in np.unique(owner):
        both = len(np.unique(closed[owner == k])) > 1
        for ring in np.unique(closed[owner == k]):
            mine = np.flatnonzero((owner == k) & (closed == ring))
            used = np.concatenate([np.arange(first[i], first[i + 1]) for i in mine])
            name = names[k] if k < len(names) else f"yarn_{k}"
            part = Part(
                f"{name}_closed" if both and ring else name,
                "yarn",
                np.empty((0, 3), dtype=int),
                _of_cloth(log.frame, used),
                _still,
                deforms=True,
                moves=False,
                sizes=np.diff(first)[mine],
                closed=bool(ring),
                radius=radius[used],
            )
            _add_values(log, part, used)
            found.append(part)
    return found


def _body(log: Log, body: Obstacle, middle: np.ndarray, reach: float) -> Part | None:
    mesh = disc(body, middle, reach) if body.kind == "plane" else body_mesh(body, 0, float(log.times[0]))
    if mesh is None or mesh.n_points == 0:
        return None
    mesh = mesh.triangulate()
    still = np.asarray(mesh.points, dtype=float)
    inside = moves_inside(body)

    def points(frame: int) -> np.ndarray:
        return body.vertices(frame, float(log.times[frame])) if inside else still

    return Part(
        body.name,
        "body",
        np.asarray(mesh.faces).reshape(-1, 4)[:, 1:],
        points,
        body.matrix,
        deforms=inside,
        moves=len(body.pose) > 1 and bool((body.pose != body.pose[0]).any()),
    )


def clip_of(log: Log, frames: str, bodies: bool = True) -> Clip:
    """Cloths, yarns and bodies of a log.  LogError where it holds none, or lacks the frames asked for."""
    if log.num_frames == 0:
        raise LogError(f"{log.path}: no frame is stored; see [log] frames_every")
    chosen = list(frame_range(frames, log.num_frames))
    for frame in chosen:
        log.drawn(frame)
    parts = _cloths(log) + _yarns(log)
    if not parts:
        raise LogError(f"{log.path}: holds neither triangles nor yarns")
    some = np.vstack([p.points(f) for p in parts for f in (chosen[0], chosen[-1])])
    middle, reach = some.mean(axis=0), PLANE_REACH * 0.5 * float(np.linalg.norm(np.ptp(some, axis=0)) or 1.0)
    if bodies:
        found = [_body(log, body, middle, reach) for body in log.obstacles()]
        parts += [part for part in found if part is not None]
    names = log.piece_names
    last = max((int(part.piece.max()) for part in parts if part.piece is not None), default=-1)
    if last >= len(names):
        raise LogError(f"{log.path}: /scene/material/piece names piece {last} of {len(names)}")
    return Clip(log, chosen, parts, names)
