"""The runs side by side, in step, coloured by a field: a snapshot of K3D."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np

from loomcloth import fields
from loomcloth.bodies import body_mesh, moves_inside
from loomcloth.errors import LogError
from loomcloth.log import Log, Obstacle

# Bytes of a snapshot: frames and vertices are chosen so that it stays below, at about 5 compressed
# bytes for each of a vertex's four numbers.
ROOM, BYTES = 6_500_000, 5
FEWEST_FRAMES, MOST_FRAMES, FEWEST_VERTICES = 16, 60, 1_500
DIGITS = 1e-4  # of the scene: positions are rounded to it, so that they compress
BODY, MOST_OF_A_BODY = 0xB8B0A6, 10_000  # colour; vertices
FIELD_OF_VIEW = 25.0  # degrees


@dataclass
class Shown:
    """A body of one run: points of one frame or of all, and where they are in each."""

    name: str
    x: np.ndarray  # [1 or frames][vertices][3], m, its own coordinates
    tris: np.ndarray  # [t][3]
    pose: np.ndarray  # [1 or frames][4][4], its own coordinates to the world's

    def world(self, k: int) -> np.ndarray:
        m = self.pose[k % len(self.pose)]
        return self.x[k % len(self.x)] @ m[:3, :3].T + m[:3, 3]


@dataclass
class Clip:
    """The data of one run that are shown."""

    name: str
    times: np.ndarray  # [frames], s
    x: np.ndarray  # [frames][vertices][3], m
    tris: np.ndarray  # [t][3]
    value: np.ndarray  # [frames][vertices]
    bodies: list[Shown]


def _thin(x: np.ndarray, tris: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Ids of the vertices that are kept, and triangles between them; no vertex is moved."""
    if len(x) <= most:
        return np.arange(len(x)), tris
    import pyvista as pv

    mesh = pv.PolyData(x, np.hstack([np.full((len(tris), 1), 3), tris]).ravel())
    mesh["id"] = np.arange(len(x))
    less = mesh.decimate_pro(1 - most / len(x), preserve_topology=True, splitting=False)
    return np.asarray(less["id"]), np.asarray(less.faces).reshape(-1, 4)[:, 1:]


def budget(runs: int, vertices: int, frames: int) -> tuple[int, int]:
    """Frames and vertices of each run: first many frames, then many vertices."""
    numbers = ROOM / (4 * BYTES * max(runs, 1))
    kept = int(max(FEWEST_VERTICES, min(vertices, numbers / min(frames, FEWEST_FRAMES))))
    return int(max(2, min(frames, MOST_FRAMES, numbers / kept))), kept


def fields_of(paths: list[str]) -> dict[str, str]:
    """Fields that every run has, with their labels."""
    with ExitStack() as stack:
        return fields.of_all([stack.enter_context(Log(path)) for path in paths])


def _bending(log: Log) -> int:
    """Vertices of the bodies that change their shape."""
    return sum(len(body.data["vertices"]) for body in log.obstacles() if moves_inside(body))


def clips(paths: list[str], names: list[str], field: str) -> list[Clip]:
    """The data to show of each run, all at the same share of its frames."""
    with Log(paths[0]) as log:
        count, vertices = log.num_frames, log.num_vertices
        bending = _bending(log)
        if count == 0:
            raise LogError(f"{paths[0]}: no frame is stored; see [log] frames_every")
    frames, most = budget(len(paths), vertices + bending, count)
    share = most / (vertices + bending)
    out: list[Clip] = []
    base: list[np.ndarray] = []
    for path, name in zip(paths, names, strict=True):
        with Log(path) as log:
            at = np.linspace(0, log.num_frames - 1, frames).round().astype(int)
            whole = log.scene("triangles")
            if whole is None or len(whole) == 0:
                raise LogError(f"{path}: no triangles to show")
            ids, tris = _thin(log.drawn(0), np.asarray(whole), round(share * vertices))
            if not out and field == fields.DISTANCE:
                base = [log.frame(i) for i in at]
            firsts = base if out and base else [None] * len(at)
            value = [fields.values(log, field, i, f)[ids] for i, f in zip(at, firsts, strict=True)]
            x = np.stack([log.drawn(i)[ids] for i in at])
            bodies = _bodies(log, at, share)
            out.append(Clip(name, log.times[at], x, tris, np.nan_to_num(np.stack(value)), bodies))
    return out


def _rounded(x: np.ndarray, step: float) -> np.ndarray:
    """To a power of two near `step`: the last bits are zero, and compress."""
    unit = 2.0 ** np.floor(np.log2(step)) if step > 0 else 1.0
    return (np.round(x / unit) * unit).astype(np.float32)


def _turn(up: int) -> np.ndarray:
    """So that the axis `up` is K3D's z."""
    return np.roll(np.eye(3), up - 2, axis=1) if up != 2 else np.eye(3)


@dataclass
class Scene:
    """The data that the page shows."""

    snapshot: bytes  # K3D's own format, compressed
    times: list[float]  # of the frames, s
    field: str  # its label
    labels: list[list[Any]]  # name and place of each run


def snapshot(paths: list[str], names: list[str], field: str) -> Scene:
    """The runs in rows, in step, coloured by the field.  LogError if a log lacks it, or triangles."""
    import k3d
    from k3d.colormaps import matplotlib_color_maps

    known = fields_of(paths)
    if field not in known:
        raise LogError(f"--field {field}: not in every log; there are: {', '.join(known)}")
    shown = clips(paths, names, field)
    with Log(paths[0]) as log:
        turn = _turn(log.up_axis)
    labels: list[list[Any]] = []
    last = range(len(shown[0].times))
    points = [(c.x @ turn.T).reshape(-1, 3) for c in shown]
    points += [b.world(k) @ turn.T for c in shown for b in c.bodies for k in last]
    low, high = (
        np.min([p.min(axis=0) for p in points], axis=0),
        np.max([p.max(axis=0) for p in points], axis=0),
    )
    size = high - low
    low_value, top = fields.limits([c.value for c in shown])
    plot = k3d.plot(
        camera_auto_fit=False, grid_visible=False, menu_visibility=False, background_color=0xFFFFFF
    )
    gap = np.array([1.15 * size[0], 0.0, 1.2 * size[2] + 0.25 * size[1] + 0.1 * size[0]])
    columns = _columns(len(shown), gap[0], gap[2])
    plot.camera_fov = FIELD_OF_VIEW
    plot.camera = _camera(low, high, gap, columns, -(-len(shown) // columns))
    for i, clip in enumerate(shown):
        place = gap * [i % columns, 0, -(i // columns)]
        keys = [f"{t:.6f}" for t in range(len(clip.times))]
        x = _rounded(clip.x @ turn.T + place, DIGITS * float(size.max()))
        value = _rounded(clip.value, 4e-3 * (top - low_value))
        plot += k3d.mesh(
            dict(zip(keys, x, strict=True)),
            clip.tris.astype(np.uint32),
            attribute=dict(zip(keys, value, strict=True)),
            color_map=matplotlib_color_maps.Viridis,
            color_range=[low_value, top],
            flat_shading=False,
            side="double",
            name=clip.name,
        )
        for body in clip.bodies:
            plot += _mesh(body, turn, place, DIGITS * float(size.max()))
        at = place + np.array([*(0.5 * (low + high)[:2]), low[2] - 0.05 * size[0]])
        labels.append([clip.name, *(float(f"{v:.5g}") for v in at)])
    return Scene(plot.get_binary_snapshot(6), [float(t) for t in shown[0].times], known[field], labels)


def _mesh(body: Shown, turn: np.ndarray, place: np.ndarray, digits: float) -> Any:
    """Points and matrices over time, where they change."""
    import k3d

    world = np.eye(4)
    world[:3, :3], world[:3, 3] = turn, place
    x = [_rounded(points, digits) for points in body.x]
    poses = [(world @ m).astype(np.float32) for m in body.pose]
    keys = [f"{t:.6f}" for t in range(max(len(x), len(poses)))]
    mesh = k3d.mesh(
        dict(zip(keys, x, strict=True)) if len(x) > 1 else x[0],
        body.tris.astype(np.uint32),
        color=BODY,
        flat_shading=False,
        name=body.name,
    )
    mesh.model_matrix = dict(zip(keys, poses, strict=True)) if len(poses) > 1 else poses[0]
    return mesh


def _columns(count: int, wide: float, high: float) -> int:
    """So that all together is about twice as wide as high, as the page is."""
    return min(range(1, count + 1), key=lambda n: abs(np.log(n * wide / (-(-count // n) * high) / 2.0)))


def _camera(low: np.ndarray, high: np.ndarray, gap: np.ndarray, columns: int, rows: int) -> list[float]:
    """Place, target and up: from the front and a little above, far enough to see all."""
    middle = 0.5 * (low + high) + 0.5 * gap * [columns - 1, 0, 1 - rows]
    wide, tall = columns * gap[0], rows * gap[2]
    away = np.array([0.0, -np.cos(0.3), np.sin(0.3)])
    distance = (
        1.0 * max(wide / 2.0, tall) / (2 * np.tan(np.radians(FIELD_OF_VIEW / 2))) + 0.5 * (high - low)[1]
    )
    return [*(middle + distance * away), *middle, 0.0, 0.0, 1.0]


def _bodies(log: Log, at: np.ndarray, share: float) -> list[Shown]:
    """Bodies at these frames; bodies that deform show a share of their vertices; planes are left out: their
    size is not the scene's."""
    found = [_shown(log, body, at, share) for body in log.obstacles() if body.kind != "plane"]
    return [body for body in found if body is not None]


def _shown(log: Log, body: Obstacle, at: np.ndarray, share: float) -> Shown | None:
    times = log.times
    mesh = body_mesh(body, int(at[0]), float(times[at[0]]))
    if mesh is None or mesh.n_points == 0:
        return None
    x = np.asarray(mesh.points, dtype=float)
    tris = np.asarray(mesh.triangulate().faces).reshape(-1, 4)[:, 1:]
    bends = moves_inside(body)
    ids, tris = _thin(x, tris, round(share * len(x)) if bends else MOST_OF_A_BODY)
    points = [body.vertices(int(i), float(times[i]))[ids] for i in at] if bends else [x[ids]]
    pose = np.stack([body.matrix(int(i)) for i in at])
    return Shown(body.name, np.stack(points), tris, pose if (pose != pose[0]).any() else pose[:1])
