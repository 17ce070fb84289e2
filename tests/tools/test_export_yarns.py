"""`loom export` of yarns to USD, glTF and VTK-HDF, and of pieces: read back by readers that did not write
them, and the curve of USD evaluated by the rules of USD's pages."""

import unittest

import h5py
import loomcloth
import numpy as np
import pygltflib
from logs import Bench
from loomcloth.yarns import Yarns
from pxr import Usd, UsdGeom

YARNS = """\
[run]
steps = 40
dt = 0.0001
[exec]
backend = cpu
[yarn.knot]
pattern = obj
file    = knot.obj
radius  = 0.002
[solver]
plugin = yarn_explicit
shrink = 0.9
shrink_time = 0.004
[log]
audit = off
frames_every = 10
"""
OPEN, RING, FRAMES = 7, 9, 5
PIECES = """\
[run]
steps = 2
dt = 0.01
[exec]
backend = cpu
[cloth.sleeve]
shape      = cylinder
size       = 0.2 0.3
resolution = 8 4
rest       = uv
model      = arap+isometric
[body.ball]
shape    = sphere
position = 0 0 -1
[contact.none]
plugin = none
[solver]
plugin = cholmod_pd
[log]
audit = off
frames_every = 1
"""


def knot():
    turn = np.linspace(0, 2 * np.pi, RING, endpoint=False)
    line = [(0.02 * k, 0.004 * k * k, 0.1) for k in range(OPEN)]
    ring = [(0.05 * np.cos(t), 0.05 * np.sin(t), 0.01 * np.sin(2 * t)) for t in turn]
    words = [" ".join(str(k) for k in range(1, OPEN + 1))]
    words += [" ".join(str(k) for k in [*range(OPEN + 1, OPEN + RING + 1), OPEN + 1])]
    return "".join(f"v {x:.9f} {y:.9f} {z:.9f}\n" for x, y, z in line + ring) + "".join(
        f"l {w}\n" for w in words
    )


def setUpModule():
    global bench, yarns, pieces
    bench = Bench()
    (bench.path / "knot.obj").write_text(knot())
    (bench.path / "yarns.ini").write_text(YARNS)
    (bench.path / "pieces.ini").write_text(PIECES)
    yarns = bench.run("yarns", config="yarns.ini")
    pieces = bench.run("pieces", config="pieces.ini")


def tearDownModule():
    bench.close()


def samples(control, closed, steps):
    """A curve of USD: cubic, basis catmullRom, wrap pinned or periodic, by the page of UsdGeomBasisCurves."""
    if closed:
        row = np.vstack([control[-1:], control, control[:2]])
    else:
        row = np.vstack([2 * control[0] - control[1], control, 2 * control[-1] - control[-2]])
    u = np.arange(steps) / steps
    basis = 0.5 * np.array([[-1, 3, -3, 1], [2, -5, 4, -1], [-1, 0, 1, 0], [0, 2, 0, 0]])
    power = np.stack([u**3, u**2, u, np.ones(steps)], axis=1)
    return np.vstack([power @ basis @ row[k : k + 4] for k in range(len(row) - 3)])


class ExportYarns(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.log = loomcloth.open(yarns)
        cls.addClassCleanup(cls.log.close)

    def write(self, log, kind):
        said = bench.tool("export", log, "--format", kind)
        return log.with_suffix({"vtkhdf": ".vtkhdf", "glb": ".glb", "usd": ".usdc"}[kind]), said

    def test_the_yarns_moved(self):
        self.assertGreater(np.abs(self.log.frame(FRAMES - 1) - self.log.frame(0)).max(), 1e-4)

    def test_usd(self):
        file, said = self.write(yarns, "usd")
        self.assertIn("0 cloths, 2 objects of yarn, 0 bodies", said.stdout)
        self.assertNotIn("left out", said.stderr)
        stage, curves = Usd.Stage.Open(str(file)), Yarns(self.log)
        both = ((0, "knot", "pinned", 0, OPEN), (1, "knot_closed", "periodic", OPEN, RING))
        for yarn, name, wrap, first, count in both:
            prim = UsdGeom.BasisCurves(stage.GetPrimAtPath(f"/loom/yarns/{name}"))
            self.assertEqual(
                [prim.GetTypeAttr().Get(), prim.GetBasisAttr().Get(), prim.GetWrapAttr().Get()],
                ["cubic", "catmullRom", wrap],
            )
            self.assertEqual(list(prim.GetCurveVertexCountsAttr().Get()), [count])
            np.testing.assert_allclose(prim.GetWidthsAttr().Get(), 0.004, rtol=1e-6)
            for k in range(FRAMES):
                x = np.array(prim.GetPointsAttr().Get(Usd.TimeCode(k)))
                np.testing.assert_allclose(x, self.log.frame(k)[first : first + count], atol=1e-7)
                drawn = curves.curve(self.log.frame(k), yarn)[:-1]
                np.testing.assert_allclose(samples(x, wrap == "periodic", 4)[: len(drawn)], drawn, atol=1e-7)

    def test_glb(self):
        file, _ = self.write(yarns, "glb")
        gltf = pygltflib.GLTF2().load(str(file))
        blob = gltf.binary_blob()

        def rows(k, width, kind):
            view = gltf.bufferViews[gltf.accessors[k].bufferView]
            at = slice(view.byteOffset, view.byteOffset + view.byteLength)
            return np.frombuffer(blob[at], kind).reshape(-1, width)

        self.assertEqual([m.name for m in gltf.meshes], ["knot", "knot_closed"])
        for mesh, first, count in zip(gltf.meshes, (0, OPEN), (OPEN, RING), strict=True):
            (line,) = mesh.primitives
            self.assertEqual(line.mode, pygltflib.LINES)
            x0 = rows(line.attributes.POSITION, 3, np.float32)
            ends = rows(line.indices, 2, np.uint32)
            next_one = (np.arange(count) + 1) % count
            want = np.column_stack([np.arange(count), next_one])[: count if count == RING else -1]
            np.testing.assert_array_equal(ends, want)
            self.assertEqual(len(line.targets), FRAMES - 1)
            for k, target in enumerate(line.targets, 1):
                x = x0 + rows(target["POSITION"], 3, np.float32)
                np.testing.assert_allclose(x, self.log.frame(k)[first : first + count], atol=1e-7)

    def test_vtkhdf(self):
        import vtk
        from vtkmodules.util.numpy_support import vtk_to_numpy

        reader = vtk.vtkHDFReader()
        reader.SetFileName(str(self.write(yarns, "vtkhdf")[0]))
        reader.UpdateInformation()
        steps = vtk.vtkStreamingDemandDrivenPipeline.TIME_STEPS()
        reader.UpdateTimeStep(reader.GetOutputInformation(0).Get(steps, 3))
        mesh = reader.GetOutputDataObject(0)
        np.testing.assert_array_equal(vtk_to_numpy(mesh.GetPoints().GetData()), self.log.frame(3))
        lines = mesh.GetLines()
        self.assertEqual(lines.GetNumberOfCells(), 2)
        ids = vtk_to_numpy(lines.GetConnectivityArray())
        ring = [*range(OPEN, OPEN + RING), OPEN]
        np.testing.assert_array_equal(ids, [*range(OPEN), *ring])
        np.testing.assert_array_equal(vtk_to_numpy(mesh.GetCellData().GetArray("part")), [0, 1])

    def test_pieces_and_material_coordinates(self):
        with loomcloth.open(pieces) as log:
            uv, tris = log.scene("material/uv"), log.scene("triangles")
            with h5py.File(self.write(pieces, "vtkhdf")[0], "r") as file:
                root, count = file["VTKHDF"], len(tris)
                np.testing.assert_array_equal(root["CellData/uv"][:count], uv.reshape(count, 6))
                np.testing.assert_array_equal(root["CellData/piece"][:count], log.scene("material/piece"))
                self.assertTrue(np.isnan(root["CellData/uv"][count]).all())  # of the ball
                self.assertEqual(root["CellData/piece"][count], -1)
                self.assertEqual(root["FieldData/pieces"][0].decode(), log.piece_names[0])
            stage = Usd.Stage.Open(str(self.write(pieces, "usd")[0]))
            mesh = UsdGeom.Mesh(stage.GetPrimAtPath("/loom/cloths/sleeve"))
            (subset,) = UsdGeom.Subset.GetGeomSubsets(mesh, UsdGeom.Tokens.face, "piece")
            self.assertEqual(subset.GetPrim().GetName(), log.piece_names[0])
            np.testing.assert_array_equal(subset.GetIndicesAttr().Get(), np.arange(count))


if __name__ == "__main__":
    unittest.main()
