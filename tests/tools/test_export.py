"""`loom export` of VTK-HDF, glTF and USD: cloth, a rigid body that turns, a leg that bends, all read back by
readers that did not write them: h5py by the pages of VTK-HDF, VTK's own of glTF, tinyusdz."""

import re
import subprocess
import unittest

import h5py
import loomcloth
import numpy as np
import tinyusdz
from logs import BINARY, Bench
from loomcloth import render
from loomcloth.export.glb import quaternion
from loomcloth.export.parts import clip_of

NAMES = ["sheet", "ball", "floor", "leg", "plate"]


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
        np.testing.assert_array_equal(self.parts["sheet"].world(3), self.log.frame(3))
        self.assertEqual([n for n in NAMES if self.parts[n].deforms], ["sheet", "leg"])
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
            prim = stage.get_prim_at_path(f"/loom/{'cloths' if name == 'sheet' else 'bodies'}/{name}")
            ids = self.at(prim, "faceVertexIndices", 0).reshape(-1, 3)
            np.testing.assert_array_equal(ids, part.tris)
            for k in (0, 5, 8):
                x = self.at(prim, "points", k).reshape(-1, 3)
                m = self.place(whole, name, k) if part.kind == "body" else np.eye(4)
                x = np.column_stack([x, np.ones(len(x))]) @ m  # rows, as USD has them
                np.testing.assert_allclose(x[:, :3], part.world(k), atol=1e-6, err_msg=f"{name} {k}")
        cloth = stage.get_prim_at_path("/loom/cloths/sheet")
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
            (("--format", "glb", "--frames", "9:12"), 1, "the log holds frames 0 to 8"),
            (("--format", "glb", "--frames", "x"), 1, "is not N, last, A:B"),
            (("--format", "glb", "-o", "x.gltf"), 2, "the ending of glb is .glb"),
            (("--format", "abc"), 2, "invalid choice: 'abc'"),
        ):
            self.assertIn(message, bench.tool("export", path, *words, code=code).stderr)


SEWN = """\
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
[cloth.flag]
size       = 0.3 0.2
resolution = 4 3
rest       = uv
model      = arap+isometric
transform  = translate 1 0 0
[solver]
plugin = cholmod_pd
[log]
audit = off
frames_every = 1
"""


class Names(unittest.TestCase):
    """Names of cloths and material coordinates.  The sleeve is cut along vertices with two pairs."""

    @classmethod
    def setUpClass(cls):
        (bench.path / "sewn.ini").write_text(SEWN)
        cls.path = bench.run("sewn", config="sewn.ini")
        cls.log = loomcloth.open(cls.path)
        cls.addClassCleanup(cls.log.close)
        cls.uv, cls.tris = cls.log.scene("material/uv"), cls.log.scene("triangles")

    def test_glb(self):
        import pygltflib
        import vtk
        from vtkmodules.util.numpy_support import vtk_to_numpy

        file = str(self.path.with_suffix(".glb"))
        bench.tool("export", self.path, "--format", "glb", "-o", file)
        gltf = pygltflib.GLTF2().load(file)
        self.assertEqual([m.name for m in gltf.meshes], ["sleeve", "flag"])
        reader = vtk.vtkGLTFReader()
        reader.SetFileName(file)
        reader.Update()
        tree = reader.GetOutput().NewTreeIterator()
        tree.VisitOnlyLeavesOn()
        x0, first = self.log.frame(0)[:, [1, 2, 0]], 0
        for verts in (32 + 4, 12):  # of the sleeve the four on the cut are there twice
            mesh = tree.GetCurrentDataObject()
            tree.GoToNextItem()
            self.assertEqual(mesh.GetNumberOfPoints(), verts)
            x = vtk_to_numpy(mesh.GetPoints().GetData())
            uv = vtk_to_numpy(mesh.GetPointData().GetArray("TEXCOORD_0")).astype(float)
            ids = vtk_to_numpy(mesh.GetPolys().GetConnectivityArray()).reshape(-1, 3)
            mine = slice(first, first + len(ids))
            first += len(ids)
            np.testing.assert_allclose(x[ids], x0[self.tris[mine]], atol=1e-6)
            np.testing.assert_allclose(uv[ids] * [1, -1] + [0, 1], self.uv[mine], atol=1e-6)

    def test_vtk(self):
        import vtk
        from vtkmodules.util.numpy_support import vtk_to_numpy

        subprocess.run([BINARY, "export", str(self.path), "--format", "vtk", "--frames", "2"], check=True)
        file = self.path.with_name("sewn-vtk") / "sewn_000002.vtk"
        reader = vtk.vtkPolyDataReader()
        reader.SetFileName(str(file))
        reader.ReadAllFieldsOn()
        reader.Update()
        mesh = reader.GetOutput()
        np.testing.assert_array_equal(vtk_to_numpy(mesh.GetPoints().GetData()), self.log.frame(2))
        ids = vtk_to_numpy(mesh.GetPolys().GetConnectivityArray()).reshape(-1, 3)
        np.testing.assert_array_equal(ids, self.tris)
        for array in ("objects", "pieces"):
            names = mesh.GetFieldData().GetAbstractArray(array)
            found = [names.GetValue(k) for k in range(names.GetNumberOfValues())]
            self.assertEqual(found, ["sleeve", "flag"])
        cells = {k: vtk_to_numpy(mesh.GetCellData().GetArray(k)) for k in ("object", "piece", "uv")}
        np.testing.assert_array_equal(cells["object"], self.log.scene("object")[self.tris[:, 0]])
        np.testing.assert_array_equal(cells["piece"], self.log.scene("material/piece"))
        np.testing.assert_array_equal(cells["uv"].reshape(-1, 3, 2), self.uv)
        config = bench.path / "back.ini"
        config.write_text(f"[cloth.a]\nshape = mesh\nfile = {file}\n[solver]\nplugin = gd\n")
        done = subprocess.run([BINARY, "check", str(config)], capture_output=True, text=True)
        self.assertIn("44 vertices", done.stdout + done.stderr)

    def test_obj(self):
        subprocess.run([BINARY, "export", str(self.path), "--format", "obj", "--frames", "last"], check=True)
        text = (self.path.with_name("sewn-obj") / "sewn_000002.obj").read_text()
        self.assertEqual(re.findall("^o (.*)$", text, re.M), ["sleeve", "flag"])


class Frames(unittest.TestCase):
    """--frames of every command takes the same frames, B included."""

    def test_every_command(self):
        picture = bench.path / "strip.png"
        for text, first, last in (("2:5", 2, 5), ("7:12", 7, 8), (":1", 0, 1), ("3", 3, 3), ("last", 8, 8)):
            words = [str(path), "--frames", text]
            line = [BINARY, "export", *words, "--format", "obj"]
            done = subprocess.run(line, capture_output=True, text=True)
            self.assertIn(f"frames {first} to {last} in", done.stdout, text)
            done = subprocess.run([BINARY, "verify", *words], capture_output=True, text=True)
            self.assertIn(f"frames {first} to {last} of", done.stdout, f"{text}: {done.stderr}")
            for form in ("glb", "usd", "vtkhdf"):
                said = bench.inside("export", path, "--frames", text, "--format", form, "--no-bodies").stdout
                self.assertIn(f"frames {first} to {last},", said, f"{form} {text}")
            args = render.parse([str(path), "-o", str(picture), "--strip", "99", "--frames", text])
            self.assertEqual(render.picture_frames(args, 9), list(range(first, last + 1)), text)
        for text in ("9", "9:", "5:3", "x"):
            for form in ("obj", "glb"):
                words = [str(path), "--frames", text, "--format", form]
                code = (
                    subprocess.run([BINARY, "export", *words], capture_output=True).returncode
                    if form == "obj"
                    else bench.inside("export", *words, code=1).returncode
                )
                self.assertNotEqual(code, 0, f"{form} {text}")


if __name__ == "__main__":
    unittest.main()
