"""Skins that the specification of glTF 2.0 allows and few programs write follow their animation to 1e-6 m: weights of
bytes, no matrices, joints of one name, meshes that are bound in poses of their own, sparse keys, morph targets that are
on at rest."""

import functools
import json
import struct
import subprocess
import unittest

import numpy as np
import pygltflib
import test_skins
from logs import BINARY, Bench

BAR = test_skins.BAR


class Forms(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bench = Bench()
        cls.addClassCleanup(cls.bench.close)

    def measure(self, name, change, weights=()):
        """The largest distance of a rig from its independent skinning, once `change` has been made to its file, and its
        last nodes have these weights of morph targets."""
        path = self.bench.path / f"{name}.glb"
        test_skins.write_rig(path)
        file = pygltflib.GLTF2().load(str(path))
        change(file)
        file.save_binary(str(path))
        put_node_weights(path, weights)
        return test_skins.Skins.measure(self, path)

    def test_weights_of_bytes_and_shorts(self):
        for kind, code in ((np.uint8, 5121), (np.uint16, 5123)):
            with self.subTest(kind.__name__):
                self.assertLess(
                    self.measure(kind.__name__, lambda g, k=kind, c=code: store_weights(g, k, c)), BAR
                )

    def test_no_matrices(self):
        self.assertLess(self.measure("plain", leave_matrices_out), BAR)

    def test_joints_of_one_name(self):
        self.assertLess(self.measure("alike", name_alike), BAR)

    def test_a_second_mesh_in_its_own_place(self):
        """All joints of the second mesh agree on where it was bound."""
        move = test_skins.map_of(np.array([0.3, -0.2, 0.1]), np.array([0, 0.6, 0, 0.8]), 2)
        self.assertLess(self.measure("moved", lambda g: add_mesh(g, [move, move])), BAR)

    def test_a_second_mesh_in_its_own_pose(self):
        """One of its joints was turned when it was bound."""
        turn = test_skins.map_of(np.array([0.1, 0.2, 0]), np.array([0.6, 0, 0, 0.8]), 1)
        self.assertLess(self.measure("turned", lambda g: add_mesh(g, [np.eye(4), turn])), BAR)

    def test_a_mesh_on_two_skins(self):
        move = test_skins.map_of(np.array([0.5, 0, 0.1]), np.array([0, 0, 0.6, 0.8]), 1)
        self.assertLess(self.measure("twice", lambda g: add_mesh(g, [move, move], again=True)), BAR)

    def test_morph_targets_at_rest(self):
        """Weights of the mesh; of a node, which count in their place; a mesh on two nodes with weights of their own."""
        for name, of_mesh, of_nodes in (
            ("mesh", [0.5, -1], [None]),
            ("node", [0.5, 0.25], [[0, 1]]),
            ("off", [0, 0], [None]),
            ("both", [0, 0], [[1, 0], [0.25, 1]]),
            ("one of two", [0, 0], [None, [1, 0.5]]),
        ):
            with self.subTest(name):
                change = functools.partial(morph, of_mesh=of_mesh, nodes=len(of_nodes))
                error = self.measure(name.replace(" ", "_"), change, of_nodes)
                self.assertLess(error, BAR)

    def test_morphs_of_an_animation_are_told(self):
        path = self.bench.path / "face.glb"
        test_skins.write_rig(path)
        file = pygltflib.GLTF2().load(str(path))
        morph(file, [0, 0])
        clip = file.animations[0]
        clip.samplers.append(pygltflib.AnimationSampler(input=5, output=add_numbers(
            file, np.linspace(0, 1, 6).astype(np.float32).reshape(-1, 1), "SCALAR", 5126)))  # fmt: skip
        target = pygltflib.AnimationChannelTarget(node=3, path="weights")
        clip.channels.append(pygltflib.AnimationChannel(sampler=len(clip.samplers) - 1, target=target))
        file.save_binary(str(path))
        text = test_skins.RUN.format(steps=1, dt=0.1, file=path, scale=1, animation="0")
        (self.bench.path / "face.ini").write_text(text)
        done = subprocess.run(
            [BINARY, "check", "face.ini"], cwd=self.bench.path, capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the animation '0' changes the shape of the skin by morph targets", done.stderr)

    def test_sparse_keys(self):
        """The keys of a shift are 0 but for two."""
        self.assertLess(self.measure("sparse", make_sparse), BAR)


def add_numbers(g, data, kind, component, **more):
    blob = g.binary_blob()
    blob += bytes(-len(blob) % 4)
    view = pygltflib.BufferView(buffer=0, byteOffset=len(blob), byteLength=data.nbytes)
    g.bufferViews.append(view)
    one = {"bufferView": len(g.bufferViews) - 1, "componentType": component, "count": len(data), "type": kind}
    g.accessors.append(pygltflib.Accessor(**one, **more))
    g.set_binary_blob(blob + data.tobytes())
    g.buffers[0].byteLength = len(g.binary_blob())
    return len(g.accessors) - 1


def store_weights(g, kind, component):
    most = np.iinfo(kind).max
    part = np.repeat([[most, 0, 0, 0], [most // 3, most - most // 3, 0, 0], [0, most, 0, 0]], 4, axis=0)
    new = add_numbers(g, part.astype(kind), "VEC4", component, normalized=True)
    g.meshes[0].primitives[0].attributes.WEIGHTS_0 = new


def leave_matrices_out(g):
    g.skins[0].inverseBindMatrices = None


def name_alike(g):
    g.nodes[1].name = g.nodes[2].name = "bone"


def add_mesh(g, places, again=False):
    """A second mesh, or the first one again, on the same joints with other matrices."""
    binds = [np.eye(4), test_skins.map_of(np.array([0, -0.5, 0]), np.array([0, 0, 0, 1.0]), 1)]
    rows = np.array([(b @ p).T for b, p in zip(binds, places, strict=True)]).reshape(2, 16)
    new = add_numbers(g, rows.astype(np.float32), "MAT4", 5126)
    g.skins.append(pygltflib.Skin(joints=[1, 2], inverseBindMatrices=new))
    if not again:
        g.meshes.append(pygltflib.Mesh(primitives=g.meshes[0].primitives))
    g.nodes.append(pygltflib.Node(mesh=0 if again else 1, skin=1))
    g.scenes[0].nodes.append(len(g.nodes) - 1)


def morph(g, of_mesh, nodes=1):
    """Two targets on the mesh, which has so many nodes."""
    wave = np.sin(np.arange(72).reshape(2, 12, 3)).astype(np.float32)
    g.meshes[0].primitives[0].targets = [{"POSITION": add_numbers(g, one, "VEC3", 5126)} for one in wave]
    g.meshes[0].weights = of_mesh
    for _ in range(nodes - 1):
        g.nodes.append(pygltflib.Node(mesh=0, skin=0))
        g.scenes[0].nodes.append(len(g.nodes) - 1)


def put_node_weights(path, weights):
    """Into the JSON of a GLB; pygltflib knows no such member."""
    data, root = path.read_bytes(), test_skins.json_of(path)
    rest = data[20 + int.from_bytes(data[12:16], "little") :]
    for node, own in zip(root["nodes"][len(root["nodes"]) - len(weights) :], weights, strict=True):
        if own is not None:
            node["weights"] = own
    text = json.dumps(root).encode()
    text += b" " * (-len(text) % 4)
    numbers = (0x46546C67, 2, 20 + len(text) + len(rest), len(text), 0x4E4F534A)
    path.write_bytes(struct.pack("<5I", *numbers) + text + rest)


def make_sparse(g):
    shift = g.animations[0].samplers[0]
    ids = add_numbers(g, np.array([1, 2], np.uint8).reshape(-1, 1), "SCALAR", 5121)
    rows = add_numbers(g, np.array([(0.3, 0.1, 0), (0.5, 0, 0.2)], np.float32), "VEC3", 5126)
    g.accessors.append(pygltflib.Accessor(componentType=5126, count=3, type="VEC3", sparse=pygltflib.Sparse(
        count=2,
        indices=pygltflib.AccessorSparseIndices(bufferView=g.accessors[ids].bufferView, componentType=5121),
        values=pygltflib.AccessorSparseValues(bufferView=g.accessors[rows].bufferView),
    )))  # fmt: skip
    shift.output = len(g.accessors) - 1


if __name__ == "__main__":
    unittest.main()
