"""`loom export` of VTK-HDF, glTF and USD: cloth, a rigid body that turns, a leg that bends, all read back by
readers that did not write them: h5py by the pages of VTK-HDF, VTK's own of glTF, tinyusdz."""

import re
import unittest

import h5py
import loomcloth
import numpy as np
import tinyusdz
from logs import Bench
from loomcloth.export.glb import quaternion
from loomcloth.export.parts import clip_of

NAMES = ["cloth", "ball", "floor", "leg", "plate"]


def setUpModule():
    global bench, path
    bench = Bench()
    path = bench.movers("movers", log__fields="residual strain")


def tearDownModule():
    bench.close()


class Export(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.log = loomcloth.open(path)
        cls.addClassCleanup(cls.log.close)
        cls.clip = clip_of(cls.log, ":")
        cls.parts = {p.name: p for p in cls.clip.parts}

    def write(self, kind, *words):
        bench.tool("export", path, "--format", kind, *words)
        return path.with_suffix({"vtkhdf": ".vtkhdf", "glb": ".glb", "usd": ".usdc"}[kind])

    def test_parts(self):
        """The written data equal the log's; the control: bodies do move, and bend."""
        self.assertEqual(sorted(self.parts), sorted(NAMES))
        np.testing.assert_array_equal(self.parts["cloth"].world(3), self.log.frame(3))
        self.assertEqual([n for n in NAMES if self.parts[n].deforms], ["cloth", "leg"])
        self.assertEqual([n for n in NAMES if self.parts[n].moves], ["plate"])
        far = np.linalg.norm(self.parts["plate"].world(8) - self.parts["plate"].world(0), axis=1)
        self.assertGreater(far.max(), 0.3)
        bent = np.linalg.norm(self.parts["leg"].world(8) - self.parts["leg"].world(0), axis=1)
        self.assertGreater(bent.max(), 0.3)

    def world(self, k):
        return np.vstack([part.world(k) for part in self.clip.parts])

    def test_vtkhdf_by_its_specification(self):
        names = [part.name for part in self.clip.parts]
        with h5py.File(self.write("vtkhdf"), "r") as file:
            root = file["VTKHDF"]
            self.assertEqual(root.attrs["Type"], b"PolyData")
            steps = root["Steps"]
            self.assertEqual(steps.attrs["NSteps"], 9)
            np.testing.assert_allclose(steps["Values"][:], self.log.times, atol=1e-7)
            self.assertEqual([n.decode() for n in root["FieldData/parts"][:5]], names)
            for k in (0, 4, 8):
                part = steps["PartOffsets"][k]
                at, n = steps["PointOffsets"][k], root["NumberOfPoints"][part]
                np.testing.assert_array_equal(root["Points"][at : at + n], self.world(k))
                first = steps["ConnectivityIdOffsets"][k][-1]  # polygons and strips are the last two
                first = max(first, steps["ConnectivityIdOffsets"][k][2])
                many = root["Polygons/NumberOfConnectivityIds"][part]
                ids = root["Polygons/Connectivity"][first : first + many].reshape(-1, 3)
                owner = root["CellData/part"][: len(ids)]
                base = 0
                for i, one in enumerate(self.clip.parts):
                    np.testing.assert_array_equal(ids[owner == i] - base, one.tris)
                    base += len(one.points(0))
            for field in ("residual", "strain", "velocity"):
                at = steps["PointDataOffsets"][field][8]
                rows = root["PointData"][field][at : at + 121]
                source = self.log.file["frames/v" if field == "velocity" else f"fields/{field}"][8]
                np.testing.assert_array_equal(rows, source)
                self.assertTrue(np.isnan(root["PointData"][field][at + 121 : at + n]).all())

    def test_vtkhdf_in_a_viewer(self):
        """By the reader that ParaView uses, asked for the times before the data, through a filter."""
        import vtk
        from vtkmodules.util.numpy_support import vtk_to_numpy

        reader, view = vtk.vtkHDFReader(), vtk.vtkPassThrough()
        reader.SetFileName(str(self.write("vtkhdf")))
        view.SetInputConnection(reader.GetOutputPort())
        view.UpdateInformation()
        steps = vtk.vtkStreamingDemandDrivenPipeline.TIME_STEPS()
        info = view.GetOutputInformation(0)
        for k in (8, 2, 5):
            view.UpdateTimeStep(info.Get(steps, k))
            x = vtk_to_numpy(view.GetOutputDataObject(0).GetPoints().GetData())
            np.testing.assert_array_equal(x, self.world(k))

    def test_gltf(self):
        """Between frames, too; y is up there: (x, y, z) is (y, z, x)."""
        import vtk
        from vtkmodules.util.numpy_support import vtk_to_numpy

        reader = vtk.vtkGLTFReader()
        reader.SetFileName(str(self.write("glb")))
        reader.SetFrameRate(100)
        reader.UpdateInformation()
        self.assertEqual(reader.GetNumberOfAnimations(), 1)
        self.assertAlmostEqual(reader.GetAnimationDuration(0), 0.08, places=6)
        reader.EnableAnimation(0)
        for k in (0, 3, 8):
            reader.UpdateTimeStep(float(self.log.times[k]))
            reader.Update()
            found = {}
            tree = reader.GetOutput().NewTreeIterator()
            tree.VisitOnlyLeavesOn()
            while not tree.IsDoneWithTraversal():
                mesh = tree.GetCurrentDataObject()
                found[mesh.GetNumberOfPoints()] = vtk_to_numpy(mesh.GetPoints().GetData())
                tree.GoToNextItem()
            for name in NAMES:
                x = self.parts[name].world(k)
                np.testing.assert_allclose(found[len(x)], x[:, [1, 2, 0]], atol=2e-6, err_msg=f"{name} {k}")

    def test_usd(self):
        stage = tinyusdz.load(str(self.write("usd")))
        whole = stage.export_to_string()
        self.assertEqual(stage.get_metadata("upAxis"), "Z")
        self.assertEqual(stage.get_metadata("metersPerUnit"), 1.0)
        self.assertAlmostEqual(stage.get_metadata("timeCodesPerSecond"), 100.0)
        for name in NAMES:
            part = self.parts[name]
            prim = stage.get_prim_at_path(f"/loom/{'cloths' if name == 'cloth' else 'bodies'}/{name}")
            ids = self.at(prim, "faceVertexIndices", 0).reshape(-1, 3)
            np.testing.assert_array_equal(ids, part.tris)
            for k in (0, 5, 8):
                x = self.at(prim, "points", k).reshape(-1, 3)
                m = self.place(whole, name, k) if part.kind == "body" else np.eye(4)
                x = np.column_stack([x, np.ones(len(x))]) @ m  # rows, as USD has them
                np.testing.assert_allclose(x[:, :3], part.world(k), atol=1e-6, err_msg=f"{name} {k}")
        cloth = stage.get_prim_at_path("/loom/cloths/cloth")
        strain = self.at(cloth, "primvars:strain", 8).ravel()
        np.testing.assert_allclose(strain, self.log.file["fields/strain"][8], rtol=1e-6)
        speed = self.at(cloth, "velocities", 8).reshape(-1, 3)
        np.testing.assert_allclose(speed, self.log.velocity(8), rtol=1e-6, atol=1e-30)

    @staticmethod
    def at(prim, name, k):
        """The value of an attribute at a time code, or the one for all times; tinyusdz gives a text."""
        samples = dict(prim.get_attribute_timesamples(name) or ())
        value = samples[float(k)] if samples else prim.get_attribute(name).value
        numbers = value.to_string().translate(str.maketrans("[](),", "     "))
        return np.array(numbers.split(), dtype=float)

    @staticmethod
    def place(whole, name, k):
        """The transform of a mesh in the text of a stage, which tinyusdz knows in no other way."""
        mesh = whole.split(f'def Mesh "{name}"')[1].split("def Mesh")[0]
        found = re.search(r"xformOp:transform(?:\.timeSamples)? = (\{.*?\}|[^\n]*)", mesh, re.S)[1]
        rows = dict(re.findall(r"(\d+): (\(.*?\) \))", found)) or {str(k): found}
        return np.array(re.findall(r"[-+.e\d]+", rows[str(k)]), dtype=float).reshape(4, 4)

    def test_rotations(self):
        rng = np.random.default_rng(1)
        for _ in range(50):
            m, _ = np.linalg.qr(rng.normal(size=(3, 3)))
            m *= np.linalg.det(m)
            x, y, z, w = quaternion(m)
            back = [
                [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
            ]
            np.testing.assert_allclose(back, m, atol=1e-12)

    def test_choices_and_bad_input(self):
        words = ("-o", "some/a.usda", "--frames", "2:3", "--no-bodies")
        said = bench.tool("export", path, "--format", "usd", *words)
        self.assertIn("some/a.usda: frames 2 to 3, 1 cloths, 0 bodies", said.stdout)
        text = (bench.path / "some/a.usda").read_text()
        self.assertNotIn("/ball", text)
        self.assertIn("endTimeCode = 1", text)
        self.assertEqual([p.name for p in (bench.path / "some").iterdir()], ["a.usda"])
        for words, code, message in (
            (("--format", "glb", "--frames", "7:12"), 1, "the log holds frames 0 to 8"),
            (("--format", "glb", "--frames", "x"), 1, "is not N, A:B, A:, :B or last"),
            (("--format", "glb", "-o", "x.gltf"), 2, "the ending of glb is .glb"),
            (("--format", "abc"), 2, "invalid choice: 'abc'"),
        ):
            self.assertIn(message, bench.tool("export", path, *words, code=code).stderr)


if __name__ == "__main__":
    unittest.main()
