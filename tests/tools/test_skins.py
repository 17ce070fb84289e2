"""Characters of glTF follow their animations as an independent skinning of the file does, to 1e-6 m.

A small rig that the test writes has a joint above the hips that moves, turns and grows.  Characters of Collada and FBX
follow theirs at the keys of the file.  Public characters are taken from the folder that LOOM_CHARACTERS names
(CesiumMan.glb, BrainStem.glb, RiggedSimple.glb, Fox.glb, cat_anim4.dae, huesitos.fbx ...)."""

import json
import os
import unittest
from pathlib import Path

import loomcloth
import numpy as np
import pygltflib
import skins_collada
import skins_fbx
from logs import Bench

CHARACTERS = {  # and their unit, m
    "CesiumMan.glb": 1,
    "BrainStem.glb": 1,
    "RiggedSimple.glb": 1,
    "RiggedFigure.glb": 1,
    "Fox.glb": 0.01,
    "godotman.glb": 1,
}
BY_KEYS = {  # unit, m, that makes them 0.9 to 3.2 m large, and animation
    "cat_anim4.dae": (1, "Armature"),
    "cat_anim3.fbx": (0.01, "Armature|Action"),
    "huesitos.fbx": (0.005, "Armature|Action"),
    "animation_with_skeleton.fbx": (0.0002, "Armature|ArmatureAction"),
}
BAR, MOST, STEPS = (
    1e-6,
    1500,
    4,
)  # m; vertices of a skin that are compared; frames beside the first
RUN = """\
[run]
steps = {steps}
dt = {dt:.17g}
gravity = 0 0 0
up_axis = y
[exec]
backend = cpu
threads = 1
[solver]
plugin = gd
[contact.none]
plugin = none
[cloth.a]
size = 0.1
resolution = 3
transform = translate 0 99 0
[body.man]
shape = rig
file = {file}
scale = {scale}
animation = {animation}
animation_ease = 0
animation_loop = 0
[log]
audit = off
frames_every = 1
"""
TYPES = {5121: np.uint8, 5123: np.uint16, 5125: np.uint32, 5126: np.float32}
SIZES = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


def slerp(a, b, u):
    cosine = float(a @ b)
    if cosine < 0:
        b, cosine = -b, -cosine
    angle = np.arccos(min(cosine, 1.0))
    if angle < 1e-9:
        return a + u * (b - a)
    return (np.sin((1 - u) * angle) * a + np.sin(u * angle) * b) / np.sin(angle)


def map_of(shift, turn, scale):
    x, y, z, w = turn / np.linalg.norm(turn)
    m = np.eye(4)
    m[:3, :3] = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    m[:3, :3] *= scale
    m[:3, 3] = shift
    return m


def json_of(path):
    data = Path(path).read_bytes()
    return json.loads(data[20 : 20 + int.from_bytes(data[12:16], "little")] if data[:4] == b"glTF" else data)


class Skinning:
    """A glTF file by pygltflib and the rules of the specification (glTF 2.0, sections 3.7.3 and 3.11)."""

    def __init__(self, path):
        self.g = pygltflib.GLTF2().load(str(path))
        self.parents = {
            c: k for k, n in enumerate(self.g.nodes) for c in n.children or []
        }
        self.morphs = [n.get("weights") for n in json_of(path)["nodes"]]  # pygltflib has them of meshes alone
        self.clip = self.g.animations[0] if self.g.animations else None
        self.tracks = {}
        for c in self.clip.channels:
            s = self.clip.samplers[c.sampler]
            if c.target.node is not None and c.target.path != "weights":
                data = (
                    self.read(s.input).ravel(),
                    self.read(s.output),
                    s.interpolation or "LINEAR",
                )
                self.tracks[c.target.node, c.target.path] = data
        self.end = max(t[0][-1] for t in self.tracks.values())

    def read(self, index):
        a = self.g.accessors[index]
        if a.sparse is not None:
            return self.read_sparse(a)
        view = self.g.bufferViews[a.bufferView]
        blob = self.g.binary_blob() or self.g.get_data_from_buffer_uri(
            self.g.buffers[view.buffer].uri
        )
        kind, size = np.dtype(TYPES[a.componentType]), SIZES[a.type]
        first, width = (
            (view.byteOffset or 0) + (a.byteOffset or 0),
            kind.itemsize * size,
        )
        stride = view.byteStride or width
        raw = np.frombuffer(blob, np.uint8, stride * (a.count - 1) + width, first)
        rows = np.lib.stride_tricks.as_strided(raw, (a.count, width), (stride, 1))
        out = np.ascontiguousarray(rows).view(kind).reshape(a.count, size).astype(float)
        return out / np.iinfo(kind).max if a.normalized else out

    def read_sparse(self, a):
        """Floats that are 0 but for some rows."""
        blob, out = self.g.binary_blob(), np.zeros((a.count, SIZES[a.type]))
        rows, values = a.sparse.indices, a.sparse.values
        at, of = (self.g.bufferViews[part.bufferView] for part in (rows, values))
        ids = np.frombuffer(blob, TYPES[rows.componentType], a.sparse.count, at.byteOffset or 0)
        out[ids] = np.frombuffer(
            blob, np.float32, out.shape[1] * a.sparse.count, of.byteOffset or 0
        ).reshape(-1, out.shape[1])
        return out

    def value(self, node, path, rest, time):
        if (node, path) not in self.tracks:
            return rest
        t, v, how = self.tracks[node, path]
        k = int(np.clip(np.searchsorted(t, time, "right") - 1, 0, len(t) - 1))
        if how == "CUBICSPLINE":
            v = v.reshape(len(t), 3, -1)
        if k == len(t) - 1 or time <= t[0] or how == "STEP":
            return v[k][1] if how == "CUBICSPLINE" else v[k]
        h = t[k + 1] - t[k]
        u = (time - t[k]) / h
        if how == "CUBICSPLINE":
            (_, a, after), (before, b, _) = v[k], v[k + 1]
            return (
                (2 * u**3 - 3 * u**2 + 1) * a
                + h * (u**3 - 2 * u**2 + u) * after
                + (3 * u**2 - 2 * u**3) * b
                + h * (u**3 - u**2) * before
            )
        return (
            slerp(v[k], v[k + 1], u)
            if path == "rotation"
            else (1 - u) * v[k] + u * v[k + 1]
        )

    def world(self, node, time):
        n = self.g.nodes[node]
        if n.matrix is not None and not any(
            (node, p) in self.tracks for p in ("translation", "rotation", "scale")
        ):
            own = np.array(n.matrix, dtype=float).reshape(4, 4).T
        else:
            own = map_of(
                np.array(
                    self.value(node, "translation", n.translation or [0, 0, 0], time)
                ),
                np.array(
                    self.value(node, "rotation", n.rotation or [0, 0, 0, 1], time),
                    dtype=float,
                ),
                np.array(self.value(node, "scale", n.scale or [1, 1, 1], time)),
            )
        return (
            self.world(self.parents[node], time) @ own if node in self.parents else own
        )

    def points(self, time):
        out = []
        for k, n in enumerate(self.g.nodes):
            if n.skin is None or n.mesh is None:
                continue
            skin = self.g.skins[n.skin]
            bind = np.array([np.eye(4)] * len(skin.joints))
            if skin.inverseBindMatrices is not None:
                bind = self.read(skin.inverseBindMatrices).reshape(-1, 4, 4).transpose(0, 2, 1)
            maps = np.array([self.world(j, time) for j in skin.joints]) @ bind
            for p in self.g.meshes[n.mesh].primitives:
                x = np.column_stack(
                    [
                        self.read(p.attributes.POSITION),
                        np.ones(self.g.accessors[p.attributes.POSITION].count),
                    ]
                )
                on = self.morphs[k] or self.g.meshes[n.mesh].weights or []
                for weight, target in zip(on, p.targets or [], strict=True):
                    x[:, :3] += weight * self.read(target["POSITION"])
                weights = self.read(p.attributes.WEIGHTS_0)
                weights /= weights.sum(axis=1, keepdims=True)
                bones = self.read(p.attributes.JOINTS_0).astype(int)
                used = (
                    slice(None)
                    if p.indices is None
                    else np.unique(self.read(p.indices).astype(int))
                )
                moved = np.einsum("vk,vkij,vj->vi", weights, maps[bones], x)[:, :3]
                out.append(moved[used])
        return np.vstack(out)


def farthest(points, among):
    """The largest distance of some of the points from the nearest of the others."""
    some = points[:: max(1, len(points) // MOST)]
    worst = 0.0
    for part in np.array_split(some, max(1, len(some) * len(among) // 4_000_000)):
        worst = max(
            worst,
            np.sqrt(((part[:, None] - among[None]) ** 2).sum(axis=2).min(axis=1)).max(),
        )
    return worst


def with_slopes(values, slope):
    """Keys of CUBICSPLINE: a slope before each value and another one after it."""
    wave = slope * np.sin(1 + np.arange(values.size)).reshape(values.shape)
    return np.stack([wave, values, -2 * wave], axis=1).reshape(-1, values.shape[1])


def write_rig(path, times=(0, 0.4, 1), how="LINEAR", name="root"):
    """A bar on two joints below a root that moves, turns and grows, with matrices of its own scale; times: of its
    three keys, s; how: its interpolation; name: of all nodes, None: they have none."""
    ring = np.array([(1, 0, 1), (1, 0, -1), (-1, 0, -1), (-1, 0, 1)]) * 0.1
    x = np.vstack([ring + (0, 0.5 * k, 0) for k in range(3)]).astype(np.float32)
    tris = [
        (4 * k + a, 4 * k + (a + 1) % 4, 4 * k + 4 + a)
        for k in range(2)
        for a in range(4)
    ]
    tris += [
        (4 * k + (a + 1) % 4, 4 * k + 4 + (a + 1) % 4, 4 * k + 4 + a)
        for k in range(2)
        for a in range(4)
    ]
    tris += [(0, 2, 1), (0, 3, 2), (8, 9, 10), (8, 10, 11)]
    weights = np.repeat([[1, 0], [0.4, 0.6], [0, 1]], 4, axis=0)
    bind = np.array(
        [np.eye(4), map_of(np.array([0, -0.5, 0]), np.array([0, 0, 0, 1.0]), 1)]
    ).transpose(0, 2, 1)
    half = np.sqrt(0.5)
    arrays = [
        (x, "VEC3", 5126), (np.array(tris, np.uint16).reshape(-1, 1), "SCALAR", 5123),
        (np.tile([0, 1, 0, 0], (12, 1)).astype(np.uint16), "VEC4", 5123),
        (np.hstack([weights, np.zeros((12, 2))]).astype(np.float32), "VEC4", 5126),
        (bind.reshape(2, 16).astype(np.float32), "MAT4", 5126),
        (np.array(times, np.float32).reshape(-1, 1), "SCALAR", 5126),
        (np.array([(0, 0, 0), (0.3, 0.1, 0), (0.5, 0, 0.2)], np.float32), "VEC3", 5126),
        (np.array([(0, 0, 0, 1), (0, half, 0, half), (0.5, 0.5, 0.5, 0.5)], np.float32), "VEC4", 5126),
        (np.array([(1, 1, 1), (1, 1, 1), (1.5, 1.5, 1.5)], np.float32), "VEC3", 5126),
    ]  # fmt: skip
    if how == "CUBICSPLINE":
        arrays[6:] = [
            (with_slopes(data, 0.7).astype(np.float32), kind, component)
            for data, kind, component in arrays[6:]
        ]
    g, blob = pygltflib.GLTF2(), b""
    for data, kind, component in arrays:
        blob += bytes(-len(blob) % 4)
        g.bufferViews.append(
            pygltflib.BufferView(buffer=0, byteOffset=len(blob), byteLength=data.nbytes)
        )
        a = pygltflib.Accessor(
            bufferView=len(g.bufferViews) - 1,
            componentType=component,
            count=len(data),
            type=kind,
        )
        a.min, a.max = data.min(axis=0).tolist(), data.max(axis=0).tolist()
        g.accessors.append(a)
        blob += data.tobytes()
    g.buffers.append(pygltflib.Buffer(byteLength=len(blob)))
    names = pygltflib.Attributes(POSITION=0, JOINTS_0=2, WEIGHTS_0=3)
    g.meshes.append(
        pygltflib.Mesh(primitives=[pygltflib.Primitive(attributes=names, indices=1)])
    )
    g.nodes = [
        pygltflib.Node(name=name, children=[1]), pygltflib.Node(name=name and "hips", children=[2]),
        pygltflib.Node(name=name and "spine", translation=[0, 0.5, 0]),
        pygltflib.Node(name=name, mesh=0, skin=0),
    ]  # fmt: skip
    g.skins.append(pygltflib.Skin(joints=[1, 2], inverseBindMatrices=4, skeleton=0))
    g.scenes.append(pygltflib.Scene(nodes=[0, 3]))
    g.scene = 0
    tracks = (
        (0, "translation", 6),
        (0, "rotation", 7),
        (2, "scale", 8),
        (2, "rotation", 7),
        (1, "translation", 6),
    )
    clip = pygltflib.Animation(channels=[], samplers=[])
    for k, (node, what, output) in enumerate(tracks):
        clip.samplers.append(
            pygltflib.AnimationSampler(input=5, output=output, interpolation=how)
        )
        clip.channels.append(pygltflib.AnimationChannel(
            sampler=k, target=pygltflib.AnimationChannelTarget(node=node, path=what)))  # fmt: skip
    g.animations.append(clip)
    g.set_binary_blob(blob)
    g.save_binary(str(path))


COLLADA = """\
<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="meter" meter=" 1"/><up_axis>Z_UP</up_axis></asset>
<library_geometries><geometry id="bar"><mesh>
{x}<vertices id="v"><input semantic="POSITION" source="#x"/></vertices>
<triangles count="20"><input semantic="VERTEX" source="#v" offset="0"/><p> {tris}</p></triangles>
</mesh></geometry></library_geometries>
<library_controllers><controller id="skin"><skin source="#bar">
<bind_shape_matrix> 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 </bind_shape_matrix>
<source id="j"><Name_array id="ja" count="2"> hips spine</Name_array><technique_common>
<accessor source="#ja" count="2"><param name="JOINT" type="Name"/></accessor></technique_common></source>
{bind}{weight}<joints><input semantic="JOINT" source="#j"/><input semantic="INV_BIND_MATRIX" source="#bind"/></joints>
<vertex_weights count="12"><input semantic="JOINT" source="#j" offset="0"/>
<input semantic="WEIGHT" source="#weight" offset="1"/>
<vcount> 1 1 1 1 2 2 2 2 1 1 1 1 </vcount>
<v>
 0 2 0 2 0 2 0 2 0 0 1 1 0 0 1 1 0 0 1 1 0 0 1 1 1 2 1 2 1 2 1 2
</v></vertex_weights></skin></controller></library_controllers>
<library_animations><animation id="a">{time}{turn}{how}<sampler id="s">
<input semantic="INPUT" source="#time"/><input semantic="OUTPUT" source="#turn"/>
<input semantic="INTERPOLATION" source="#how"/></sampler>
<channel source="#s" target="spine/transform"/></animation></library_animations>
<library_visual_scenes><visual_scene id="scene">
<node id="hips" sid="hips" type="JOINT"><translate sid="t">
 0.5 0 0.25</translate><rotate sid="r"> 0 0 1 30</rotate>
<node id="spine" sid="spine" type="JOINT"><matrix sid="transform">  1 0 0 0 0 1 0 0.5 0 0 1 0 0 0 0 1</matrix></node>
</node>
<node id="body"><instance_controller url="#skin"><skeleton>#hips</skeleton></instance_controller></node>
</visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#scene"/></scene>
</COLLADA>
"""


def write_collada(path):
    """A bar on two joints, of which the second turns; blanks stand before its numbers."""

    def source(name, values, stride, kind="float"):
        flat = [str(v) for v in np.ravel(values)]
        word, names = ("Name", "I") if kind == "name" else ("float", "XYZ"[:stride])
        params = "".join(f'<param name="{n}" type="{kind}"/>' for n in names)
        if stride == 16:
            params = '<param name="TRANSFORM" type="float4x4"/>'
        return (
            f'<source id="{name}"><{word}_array id="{name}a" count="{len(flat)}"> {" ".join(flat)} </{word}_array>'
            f'<technique_common><accessor source="#{name}a" count="{len(flat) // stride}" stride="{stride}">'
            f"{params}</accessor></technique_common></source>\n"
        )

    ring = np.array([(1, 0, 1), (1, 0, -1), (-1, 0, -1), (-1, 0, 1)]) * 0.125
    x = np.vstack([ring + (0, 0.5 * k, 0) for k in range(3)])
    sides = [(4 * k + a, 4 * k + (a + 1) % 4, 4 * k + 4 + a) for k in range(2) for a in range(4)]
    sides += [(b, b + 4, a + 4) for a, b in ((4 * k + a, 4 * k + (a + 1) % 4) for k in range(2) for a in range(4))]
    tris = [*sides, (0, 2, 1), (0, 3, 2), (8, 9, 10), (8, 10, 11)]
    back = np.eye(4)
    back[1, 3] = -0.5
    spins = [map_of(np.array([0, 0.5, 0]), np.array([0, 0, s, np.sqrt(1 - s * s)]), 1) for s in (0, 0.5, -0.5)]
    path.write_text(COLLADA.format(
        x=source("x", x, 3), tris=" ".join(map(str, np.ravel(tris))),
        bind=source("bind", [np.eye(4), back], 16), weight=source("weight", [0.25, 0.75, 1], 1),
        time=source("time", [0, 0.5, 1.25], 1), turn=source("turn", np.round(spins, 7), 16),
        how=source("how", ["LINEAR"] * 3, 1, "name"),
    ))  # fmt: skip


class Skins(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bench = Bench()
        cls.addClassCleanup(cls.bench.close)

    def measure(self, path, wrong=0.0, dt=None, scale=1):
        """The largest distance in STEPS + 1 frames; wrong: seconds by which the other skin is late; dt: between
        frames, s."""
        skin, name = Skinning(path), path.stem + ("_late" if wrong else "")
        dt = dt or 0.937 * skin.end / STEPS  # between the keys of the file
        text = RUN.format(steps=STEPS, dt=dt, file=path, scale=scale, animation=skin.clip.name or 0)
        (self.bench.path / f"{path.stem}.ini").write_text(text)
        worst = 0.0
        with loomcloth.open(self.bench.run(name, config=f"{path.stem}.ini")) as log:
            body = log.obstacles()[0]
            for k in range(STEPS + 1):
                place = body.matrix(k)
                x = body.vertices(k, k * dt) @ place[:3, :3].T + place[:3, 3]
                want = scale * skin.points(k * dt + wrong)
                worst = max(worst, farthest(want, x), farthest(x, want))
        return worst

    def measure_keys(self, path, scale, animation):
        """The same at three keys of the file."""
        kind = skins_fbx if path.suffix == ".fbx" else skins_collada
        skin, worst = kind.Skinning(path), 0.0
        keys = skin.times[skin.times > 0]
        for k, time in enumerate(keys[[0, len(keys) // 2, -1]]):
            name = f"{path.stem}_{path.suffix[1:]}_{k}"
            text = RUN.format(steps=1, dt=time, file=path, scale=scale, animation=animation)
            (self.bench.path / f"{name}.ini").write_text(text)
            with loomcloth.open(self.bench.run(name, config=f"{name}.ini")) as log:
                body = log.obstacles()[0]
                place = body.matrix(1)
                x = body.vertices(1, time) @ place[:3, :3].T + place[:3, 3]
            want = scale * skin.points(time)
            worst = max(worst, farthest(want, x), farthest(x, want))
        return worst

    def test_blanks_before_the_numbers_of_collada(self):
        path = self.bench.path / "blanks.dae"
        write_collada(path)
        self.assertLess(self.measure_keys(path, 1, "animation"), BAR)

    def test_a_rig_with_a_joint_above_the_hips(self):
        path = self.bench.path / "rig.glb"
        write_rig(path)
        self.assertLess(self.measure(path), BAR)
        self.assertGreater(
            self.measure(path, wrong=0.01),
            1e3 * BAR,
            "control: a hundredth of a second late",
        )

    def test_interpolation_is_that_of_the_file(self):
        """Nodes above each other turn by keys that are 2 s apart; names are alike, or not there."""
        for how in ("LINEAR", "STEP", "CUBICSPLINE"):
            for name in ("root", None):
                with self.subTest(how, name=name):
                    path = self.bench.path / f"{how}_{name}.glb"
                    write_rig(path, (0, 2, 5), how, name)
                    self.assertLess(self.measure(path), BAR)

    def test_times_are_those_of_the_file(self):
        """Half a minute in single precision has an error of 2e-6 s, in which this rig moves by 1e-5 m."""
        path = self.bench.path / "quick.glb"
        write_rig(path, (0, 32.05, 32.15))
        self.assertLess(self.measure(path, dt=32.1 / STEPS), BAR)

    def test_public_characters(self):
        folder = os.environ.get("LOOM_CHARACTERS", "")
        found = {
            path.name: path
            for path in (Path(folder) / name for name in [*CHARACTERS, *BY_KEYS])
            if folder and path.is_file()
        }
        if not found:
            self.skipTest(
                "LOOM_CHARACTERS names no folder with CesiumMan.glb, BrainStem.glb, Fox.glb ..."
            )
        for name, path in found.items():
            with self.subTest(name):
                worst = (
                    self.measure_keys(path, *BY_KEYS[name])
                    if name in BY_KEYS
                    else self.measure(path, scale=CHARACTERS[name])
                )
                print(f"{name}: {worst:.3g} m")
                self.assertLess(worst, BAR)


if __name__ == "__main__":
    unittest.main()
