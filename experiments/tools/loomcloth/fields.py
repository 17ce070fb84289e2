"""Numbers of vertices that colour a picture: fields of the log, and fields computed from its frames."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from loomcloth.errors import LogError
from loomcloth.log import Log

SPEED, STRETCH, DISTANCE = "speed", "stretch", "distance"
COMPUTED = {
    SPEED: "speed (m/s)",
    STRETCH: "largest stretch less 1",
    DISTANCE: "distance to the first run (m)",
}


def _label(name: str, unit: str) -> str:
    return name.replace("_", " ") + ("" if unit == "1" else f" ({unit})")


def _has_triangles(log: Log) -> bool:
    triangles = log.scene("triangles")
    return triangles is not None and len(triangles) > 0 and log.scene("rest") is not None


def of_log(log: Log) -> dict[str, str]:
    """Names and labels of the fields of one log, computed ones first."""
    names = [SPEED, STRETCH] if _has_triangles(log) else [SPEED]
    logged = {n: _label(n, log.field_unit(n)) for n in log.field_names}
    return {n: COMPUTED[n] for n in names} | logged


def of_all(logs: Sequence[Log]) -> dict[str, str]:
    """Fields that every log has; of several with the same vertices also the distance to the first."""
    found = of_log(logs[0])
    for log in logs[1:]:
        mine = of_log(log)
        found = {n: label for n, label in found.items() if n in mine}
    if len(logs) > 1 and len({log.num_vertices for log in logs}) == 1:
        found[DISTANCE] = COMPUTED[DISTANCE]
    return found


def check(logs: Sequence[Log], name: str, option: str) -> str:
    """The label of a field that every log must have; LogError lists the fields that there are."""
    known = of_all(logs)
    if name not in known:
        which = "not in every log" if len(logs) > 1 else "not in the log"
        raise LogError(
            f"{option} {name}: {which}; there are: {', '.join(known)}; "
            "[log] fields says what a run keeps beside them"
        )
    return known[name]


def values(log: Log, name: str, frame: int, base: np.ndarray | None = None) -> np.ndarray:
    """Of each vertex at a frame, [n]; of vectors the length; NaN where the log knows none.

    base: positions from which `distance` is measured, [n][3]; None: the log is the first itself."""
    if name == SPEED:
        return np.linalg.norm(log.velocity(frame), axis=1)
    if name == STRETCH:
        return stretch(log, frame)
    if name == DISTANCE:
        x = log.frame(frame)
        return np.zeros(len(x)) if base is None else np.linalg.norm(x - base, axis=1)
    rows = log.field_rows(name, frame).astype(float)
    return np.linalg.norm(rows, axis=1) if rows.ndim == 2 else rows


def _edges(x: np.ndarray) -> np.ndarray:
    """[t][2][2]: two edges of triangles with corners x [t][3][3 or 2] as columns, in their planes."""
    e, f = x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]
    if x.shape[2] == 2:
        return np.stack([e, f], axis=2)
    length = np.linalg.norm(e, axis=1)
    along = np.einsum("tc,tc->t", e, f) / np.where(length > 0, length, 1.0)
    across = np.sqrt(np.maximum(np.einsum("tc,tc->t", f, f) - along**2, 0.0))
    return np.stack([np.stack([length, along], 1), np.stack([np.zeros_like(length), across], 1)], axis=1)


def stretch(log: Log, frame: int) -> np.ndarray:
    """Largest singular value less 1 of the map from the rest shape, mean over the triangles of a vertex
    by area: the definition of the field `strain` of a log, computed from a frame."""
    tris, rest, x = log.scene("triangles"), log.scene("rest"), log.frame(frame)
    before = _edges(rest[tris])
    uv, piece = log.scene("material/uv"), log.scene("material/piece")
    if uv is not None and piece is not None:  # pieces of a pattern are flat at rest
        before[piece >= 0] = _edges(np.asarray(uv)[piece >= 0])
    area = np.abs(np.linalg.det(before))
    kept = area > 0
    tris, area = tris[kept], area[kept]
    maps = _edges(x[tris]) @ np.linalg.inv(before[kept])
    sound = np.isfinite(maps).all(axis=(1, 2))  # a frame of a failed run may hold NaN
    value = np.full(len(maps), np.nan)
    value[sound] = np.linalg.norm(maps[sound], ord=2, axis=(1, 2)) - 1.0
    corners = tris.ravel()
    weight = np.bincount(corners, np.repeat(area, 3), len(x))
    total = np.bincount(corners, np.repeat(area * value, 3), len(x))
    return np.where(weight > 0, total / np.where(weight > 0, weight, 1.0), np.nan)


def limits(samples: Sequence[np.ndarray]) -> tuple[float, float]:
    """Ends of a colour scale that holds nearly all values: from 0 where none is negative."""
    known = [v[np.isfinite(v)] for v in samples]
    together = np.concatenate(known) if known else np.zeros(0)
    if len(together) == 0:
        return 0.0, 1.0
    low, high = np.quantile(together, [0.005, 0.995])
    low = min(float(low), 0.0) if together.min() < 0 else 0.0
    return (low, float(high)) if high > low else (low, low + 1.0)
