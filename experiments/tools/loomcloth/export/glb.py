"""glTF 2.0, binary: every frame of a cloth or yarn a morph target, bodies that move as nodes that move."""

from __future__ import annotations

from typing import Any

import numpy as np
import pygltflib as gl

from loomcloth.export.parts import Clip, Part

CLOTH, BODY = (0.63, 0.10, 0.05, 1.0), (0.48, 0.46, 0.41, 1.0)  # linear


class _Writer:
    """Buffers, and the views and accessors that point into them."""

    def __init__(self) -> None:
        self.gltf = gl.GLTF2(asset=gl.Asset(version="2.0", generator="loom"))
        self.bytes: list[bytes] = []
        self.length = 0

    def accessor(self, values: np.ndarray, kind: str, bounds: bool = False, target: int | None = None) -> int:
        data = np.ascontiguousarray(values)
        raw = data.tobytes()
        raw += b"\0" * (-len(raw) % 4)
        self.gltf.bufferViews.append(
            gl.BufferView(buffer=0, byteOffset=self.length, byteLength=data.nbytes, target=target)
        )
        self.bytes.append(raw)
        self.length += len(raw)
        component = gl.UNSIGNED_INT if data.dtype == np.uint32 else gl.FLOAT
        rows = data.reshape(len(data), -1)
        self.gltf.accessors.append(
            gl.Accessor(
                bufferView=len(self.gltf.bufferViews) - 1,
                componentType=component,
                count=len(data),
                type=kind,
                min=rows.min(axis=0).tolist() if bounds else None,
                max=rows.max(axis=0).tolist() if bounds else None,
            )
        )
        return len(self.gltf.accessors) - 1

    def save(self, path: str) -> None:
        self.gltf.buffers = [gl.Buffer(byteLength=self.length)]
        self.gltf.set_binary_blob(b"".join(self.bytes))
        self.gltf.save_binary(path)


def normals(x: np.ndarray, tris: np.ndarray) -> np.ndarray:
    """Of vertices, by the area of their triangles, [n][3]."""
    face = np.cross(x[tris[:, 1]] - x[tris[:, 0]], x[tris[:, 2]] - x[tris[:, 0]])
    out = np.zeros_like(x)
    for corner in range(3):
        np.add.at(out, tris[:, corner], face)
    length = np.linalg.norm(out, axis=1)
    out[length > 0] /= length[length > 0, None]
    out[length == 0] = [0.0, 0.0, 1.0]  # of no triangle; unit length is asked for
    return out


def quaternion(m: np.ndarray) -> np.ndarray:
    """x y z w of a rotation matrix (Shepperd 1978: by the largest of the four)."""
    t = np.append(2 * np.diag(m) - np.trace(m), np.trace(m))
    i = int(t.argmax())
    q = np.empty(4)
    if i == 3:
        q[:] = m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1], 1 + t[3]
    else:
        j, k = (i + 1) % 3, (i + 2) % 3
        q[i], q[j], q[k], q[3] = 1 + t[i], m[j, i] + m[i, j], m[k, i] + m[i, k], m[k, j] - m[j, k]
    return q / np.linalg.norm(q)


def _up(axis: int) -> list[float]:
    """Rotation that turns an axis into glTF's y."""
    turn = np.roll(np.eye(3), axis - 1, axis=1)  # cyclic: of z-up x goes to z, y to x
    return [float(v) for v in quaternion(turn)]


def split(part: Part) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Vertices of the file: which vertex of the part each is, [m]; triangles of them; their material
    coordinates (m), or None.  A vertex on a seam, with several coordinates, is in the file once for each."""
    if part.uv is None:
        return np.arange(int(part.tris.max()) + 1), part.tris, None
    corners = np.column_stack([part.tris.ravel(), part.uv.reshape(-1, 2)])
    rows, corner = np.unique(corners, axis=0, return_inverse=True)
    return rows[:, 0].astype(int), corner.reshape(-1, 3), rows[:, 1:]


def lines(part: Part) -> np.ndarray:
    """Pairs of neighbours along each yarn, [.][2]."""
    assert part.sizes is not None
    first = np.cumsum([0, *part.sizes])
    pairs = []
    for start, size in zip(first[:-1], part.sizes, strict=True):
        ids = start + np.arange(size + 1 if part.closed else size)
        ids[size:] = start
        pairs.append(np.column_stack([ids[:-1], ids[1:]]))
    return np.vstack(pairs)


def _strands(w: _Writer, part: Part, clip: Clip, material: int) -> tuple[int, int]:
    """Yarns as straight lines between their vertices: glTF has no curves."""
    x = part.points(clip.frames[0])
    position = w.accessor(x.astype(np.float32), gl.VEC3, bounds=True, target=gl.ARRAY_BUFFER)
    indices = w.accessor(lines(part).astype(np.uint32).ravel(), gl.SCALAR, target=gl.ELEMENT_ARRAY_BUFFER)
    moved = [(part.points(frame) - x).astype(np.float32) for frame in clip.frames[1:]]
    targets = [gl.Attributes(POSITION=w.accessor(rows, gl.VEC3, bounds=True)) for rows in moved]
    primitive = gl.Primitive(
        attributes=gl.Attributes(POSITION=position), indices=indices, material=material, mode=gl.LINES
    )
    primitive.targets = targets or None
    w.gltf.meshes.append(
        gl.Mesh(name=part.name, primitives=[primitive], weights=[0.0] * len(targets) or None)
    )
    return len(w.gltf.meshes) - 1, len(targets)


def _mesh(w: _Writer, part: Part, clip: Clip, material: int) -> tuple[int, int]:
    """Mesh and how many morph targets it has."""
    x = part.points(clip.frames[0])
    n = normals(x, part.tris)
    ids, tris, uv = split(part)
    attributes = gl.Attributes(
        POSITION=w.accessor(x[ids].astype(np.float32), gl.VEC3, bounds=True, target=gl.ARRAY_BUFFER),
        NORMAL=w.accessor(n[ids].astype(np.float32), gl.VEC3, target=gl.ARRAY_BUFFER),
    )
    if uv is not None:  # v of glTF points down
        rows = np.column_stack([uv[:, 0], 1 - uv[:, 1]]).astype(np.float32)
        attributes.TEXCOORD_0 = w.accessor(rows, gl.VEC2, target=gl.ARRAY_BUFFER)
    indices = w.accessor(tris.astype(np.uint32).ravel(), gl.SCALAR, target=gl.ELEMENT_ARRAY_BUFFER)
    targets = []
    for frame in clip.frames[1:] if part.deforms else []:
        at = part.points(frame)
        turned = normals(at, part.tris) - n
        targets.append(
            gl.Attributes(
                POSITION=w.accessor((at - x)[ids].astype(np.float32), gl.VEC3, bounds=True),
                NORMAL=w.accessor(turned[ids].astype(np.float32), gl.VEC3),
            )
        )
    primitive = gl.Primitive(attributes=attributes, indices=indices, material=material)
    primitive.targets = targets or None
    mesh = gl.Mesh(name=part.name, primitives=[primitive], weights=[0.0] * len(targets) or None)
    w.gltf.meshes.append(mesh)
    return len(w.gltf.meshes) - 1, len(targets)


def _animate(w: _Writer, moves: gl.Animation, node: int, path: str, times: int, out: int) -> None:
    moves.samplers.append(gl.AnimationSampler(input=times, output=out, interpolation="LINEAR"))
    target = gl.AnimationChannelTarget(node=node, path=path)
    moves.channels.append(gl.AnimationChannel(sampler=len(moves.samplers) - 1, target=target))


def _poses(part: Part, frames: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Translations and rotations of frames; of q and -q the one nearer to the frame before."""
    matrices = [part.matrix(f) for f in frames]
    turns = np.array([quaternion(m[:3, :3]) for m in matrices])
    for i in range(1, len(turns)):
        if turns[i] @ turns[i - 1] < 0:
            turns[i] *= -1
    return np.array([m[:3, 3] for m in matrices]), turns


def _material(name: str, colour: tuple[float, ...]) -> gl.Material:
    look = gl.PbrMetallicRoughness(baseColorFactor=list(colour), metallicFactor=0.0, roughnessFactor=0.8)
    return gl.Material(name=name, pbrMetallicRoughness=look, doubleSided=True)


def write(clip: Clip, path: str) -> None:
    """Metres, y up.  Between frames, shapes and places are interpolated linearly, as their times say."""
    w = _Writer()
    gltf: Any = w.gltf
    gltf.materials = [_material("cloth", CLOTH), _material("body", BODY)]
    gltf.nodes.append(gl.Node(name="loom", rotation=_up(clip.log.up_axis), children=[]))
    moves = gl.Animation(name="run", samplers=[], channels=[])
    times = w.accessor((clip.times - clip.times[0]).astype(np.float32), gl.SCALAR, bounds=True)
    for part in clip.parts:
        write_part = _strands if part.kind == "yarn" else _mesh
        mesh, targets = write_part(w, part, clip, 1 if part.kind == "body" else 0)
        places, turns = _poses(part, clip.frames)
        node = gl.Node(name=part.name, mesh=mesh)
        if part.kind == "body":
            node.translation, node.rotation = places[0].tolist(), turns[0].tolist()
        gltf.nodes.append(node)
        at = len(gltf.nodes) - 1
        gltf.nodes[0].children.append(at)
        if targets:
            weights = np.eye(targets + 1, targets, -1, dtype=np.float32)
            _animate(w, moves, at, "weights", times, w.accessor(weights.reshape(-1, 1), gl.SCALAR))
        if part.moves and len(clip.frames) > 1:
            _animate(w, moves, at, "translation", times, w.accessor(places.astype(np.float32), gl.VEC3))
            _animate(w, moves, at, "rotation", times, w.accessor(turns.astype(np.float32), gl.VEC4))
    gltf.animations = [moves] if moves.channels else []
    gltf.scenes, gltf.scene = [gl.Scene(nodes=[0])], 0
    w.save(path)
