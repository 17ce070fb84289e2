"""`loom convert` of USD: curves become the yarns of a run and a mesh its cloth, in metres, where the stage puts them."""

import unittest

import loomcloth
import numpy as np
from logs import Bench
from loomcloth.yarns import Yarns
from pxr import Gf, Sdf, Usd, UsdGeom

RUN = """\
include = made/scene.ini
[run]
steps = 1
dt = 0.0001
[exec]
backend = cpu
[solver]
plugin = yarn_explicit
[log]
audit = off
frames_every = 1
"""
# cm: 7 points beside each other, and a ring of 9
LINE = np.array([(2.0 * k, 0.4 * k * k, 10.0) for k in range(7)], dtype=np.float32)
TURN = np.linspace(0, 2 * np.pi, 9, endpoint=False)
RING = np.column_stack([5 * np.cos(TURN), 5 * np.sin(TURN), np.sin(2 * TURN)]).astype(
    np.float32
)
PLACE = (100.0, 20.0, -30.0)  # cm


def setUpModule():
    global bench
    bench = Bench()


def tearDownModule():
    bench.close()


def stage_of(name, scale=0.01):
    stage = Usd.Stage.CreateNew(str(bench.path / name))
    UsdGeom.SetStageMetersPerUnit(stage, scale)
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.y)
    root = UsdGeom.Xform.Define(stage, "/root")
    root.AddTranslateOp().Set(Gf.Vec3d(*PLACE))
    return stage


def add_curves(
    stage,
    name,
    curves,
    kind="linear",
    basis=None,
    wrap="nonperiodic",
    widths=None,
    how="constant",
):
    prim = UsdGeom.BasisCurves.Define(stage, f"/root/{name}")
    prim.CreateTypeAttr(kind)
    if basis:
        prim.CreateBasisAttr(basis)
    prim.CreateWrapAttr(wrap)
    prim.CreateCurveVertexCountsAttr([len(c) for c in curves])
    prim.CreatePointsAttr([tuple(map(float, p)) for c in curves for p in c])
    if widths is not None:
        prim.CreateWidthsAttr(widths)
        prim.SetWidthsInterpolation(how)
    return prim


class Convert(unittest.TestCase):
    def convert(self, file, folder, code=0):
        return bench.tool("convert", file, "-o", folder, code=code)

    def test_curves_become_yarns(self):
        stage = stage_of("yarns.usda")
        far = np.array([0, 0, 40], dtype=np.float32)
        add_curves(stage, "Straight", [LINE], widths=[0.4])
        add_curves(
            stage,
            "ends",
            [LINE + far],
            "cubic",
            "catmullRom",
            "pinned",
            [0.4] * 7,
            "vertex",
        )
        hidden = [LINE[0] - 1, *LINE, LINE[-1] + 1] + 2 * far
        add_curves(
            stage,
            "hidden",
            [hidden],
            "cubic",
            "catmullRom",
            "nonperiodic",
            [0.4] * 7,
            "varying",
        )
        add_curves(
            stage,
            "rings",
            [RING, RING + far],
            "cubic",
            "catmullRom",
            "periodic",
            [0.4, 0.6],
            "uniform",
        )
        stage.Save()
        said = self.convert("yarns.usda", "made")
        self.assertIn("made: 5 OBJ files, scene.ini", said.stdout)
        self.assertEqual(said.stderr, "")
        text = (bench.path / "made/scene.ini").read_text()
        self.assertEqual(text.count("radius  = 0.002 "), 4)
        self.assertEqual(text.count("radius  = 0.003 "), 1)
        self.assertIn("up_axis = y", text)
        (bench.path / "run.ini").write_text(RUN)
        with loomcloth.open(bench.run("made_run", config="run.ini")) as log:
            yarns = Yarns(log)
            x = log.frame(0)
            want = [
                (LINE, 0),
                (LINE + far, 0),
                (LINE + 2 * far, 0),
                (RING, 1),
                (RING + far, 1),
            ]
            self.assertEqual(len(x), sum(len(w) for w, _ in want))
            at = 0
            for k, (points, closed) in enumerate(want):
                np.testing.assert_allclose(
                    x[at : at + len(points)],
                    0.01 * (points + np.array(PLACE)),
                    atol=1e-9,
                )
                curve = yarns.curve(x, k)
                self.assertEqual(
                    bool(np.allclose(curve[0], curve[-1], atol=1e-12)), bool(closed)
                )
                at += len(points)

    def test_what_is_no_yarn_is_named(self):
        for basis in ("bezier", "bspline"):
            stage = stage_of(f"{basis}.usda")
            add_curves(stage, "hair", [LINE], "cubic", basis, widths=[0.4])
            stage.Save()
            said = self.convert(f"{basis}.usda", f"{basis}_made", code=1)
            self.assertRegex(
                said.stderr, f"/root/hair: cubic curves of the basis {basis}.*resample"
            )
        stage = stage_of("short.usda")
        add_curves(stage, "thread", [LINE, LINE[:2]])
        stage.Save()
        said = self.convert("short.usda", "short_made", code=1)
        self.assertIn("curve 1 has 2 points on it; a yarn needs 3", said.stderr)
        stage = stage_of("bare.usda")
        add_curves(stage, "thread", [LINE])
        UsdGeom.Sphere.Define(stage, "/root/ball")
        stage.Save()
        said = self.convert("bare.usda", "bare_made")
        self.assertIn("/root/thread: no widths; give [yarn.thread] radius", said.stderr)
        self.assertIn("/root/ball: Sphere is left out", said.stderr)
        self.assertIn(
            "bare_made is there", self.convert("bare.usda", "bare_made", code=1).stderr
        )
        (bench.path / "broken.usda").write_text("#usda 1.0\ndef Mesh {\n")
        self.assertIn(
            "does not read it",
            self.convert("broken.usda", "broken_made", code=1).stderr,
        )
        stage_of("empty.usda").Save()
        self.assertIn(
            "neither meshes nor curves",
            self.convert("empty.usda", "empty_made", code=1).stderr,
        )

    def test_a_mesh_becomes_cloth(self):
        stage = stage_of("mesh.usda")
        mesh = UsdGeom.Mesh.Define(stage, "/root/Shirt")
        mesh.CreatePointsAttr(
            [(0, 0, 0), (10, 0, 0), (10, 20, 0), (0, 20, 0), (20, 0, 0)]
        )
        mesh.CreateFaceVertexCountsAttr([4, 3])
        mesh.CreateFaceVertexIndicesAttr([3, 2, 1, 0, 2, 4, 1])
        mesh.CreateOrientationAttr(UsdGeom.Tokens.leftHanded)
        mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
        st = UsdGeom.PrimvarsAPI(mesh).CreatePrimvar(
            "st", Sdf.ValueTypeNames.TexCoord2fArray, UsdGeom.Tokens.vertex
        )
        st.Set([(0, 0), (0.1, 0), (0.1, 0.2), (0, 0.2), (0.2, 0)])
        UsdGeom.Subset.CreateGeomSubset(mesh, "sleeve", "face", [1])
        stage.Save()
        self.convert("mesh.usda", "mesh_made")
        lines = (bench.path / "mesh_made/shirt.obj").read_text().splitlines()
        x = np.array(
            [
                [float(w) for w in line.split()[1:]]
                for line in lines
                if line.startswith("v ")
            ]
        )
        np.testing.assert_allclose(
            x[2], 0.01 * (np.array([10, 20, 0]) + PLACE), atol=1e-12
        )
        self.assertEqual(
            [line for line in lines if line[0] in "fg"],
            ["f 1/1 2/2 3/3 4/4", "g sleeve", "f 2/2 5/5 3/3"],
        )
        self.assertIn(
            "; a mesh: [cloth.shirt] shape = obj",
            (bench.path / "mesh_made/scene.ini").read_text(),
        )


if __name__ == "__main__":
    unittest.main()
