"""`loom fabric`: errors with their place, and a fit that finds the curves and tables they were made of."""

import tempfile
import unittest

import numpy as np
from logs import SOURCE, Bench
from loomcloth.config import flat
from loomcloth.errors import SpecError
from loomcloth.fabric import fit, material, measured, model, plate, strips

HEAD = (
    "test,density (g/m^2),angle (deg),strain (%),force (N/m),contraction (%),"
    "length (mm),curvature (1/m),moment (N)"
)
GOOD = [
    HEAD,
    "weight,187",
    "tension,,0,5,2",
    "tension,,0,10,5",
    "tension,,90,5,3",
    "tension,,90,10,8",
    "cantilever,,0,,,,18",
]


def table_of(name):
    """Both tables and the density of a fabric that ships."""
    found = flat((SOURCE / f"configs/materials/{name}.ini").read_text())
    number = lambda key, count: [float(w) for w in found[f"material.{key}"].split()[:count]]  # noqa: E731
    stretch = np.array([number(f"stretch_{r}", 4) for r in model.STRETCH])
    return stretch, np.array([number(f"bend_{r}", 3) for r in model.BEND]), number("density", 1)[0]


def sheet_of(name, angles=(0, 45, 90), noise=0.0, contraction=True):
    """Lines of a CSV file: curves of the model, each reading off by `noise` of itself (RMS)."""
    stretch, bend, density = table_of(name)
    chance = np.random.default_rng(3)
    lines = [HEAD, f"weight,{1000 * density:g}"]
    strain = np.linspace(0.01, 0.2, 12)
    for angle in angles:
        force, side = model.tension(stretch, angle, strain)
        force *= 1 + noise * chance.standard_normal(12)
        side += 0.1 * noise * chance.standard_normal(12)
        lines += [
            f"tension,,{angle},{100 * e:g},{f:.6g},{100 * s if contraction else '':.6}".replace("nan", "")
            for e, f, s in zip(strain, force, side, strict=True)
        ]
    curvature = np.array([4.0, 8, 12, 18, 25, 32, 40, 50, 60])
    for angle in angles:
        moment = curvature * model.rigidity(bend, angle, curvature)
        lines += [f"bending,,{angle},,,,,{q:g},{m:.6g}" for q, m in zip(curvature, moment, strict=True)]
    return lines


class Fabric(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, lines):
        path = f"{self.folder.name}/mine.csv"
        with open(path, "w") as f:
            f.write("\n".join(lines) + "\n")
        return path

    def read(self, lines):
        return measured.read(self.write(lines))

    # ---- errors ----
    def refused(self, lines, *words):
        with self.assertRaises(SpecError) as caught:
            self.read(lines)
        for word in ("mine.csv", *words):
            self.assertIn(word, str(caught.exception))

    def changed(self, line, text):
        return [*GOOD[: line - 1], text, *GOOD[line:]]

    def test_good(self):
        fabric = self.read([*GOOD, "# a comment", ""])
        self.assertEqual(fabric.density, 0.187)
        self.assertAlmostEqual(fabric.of("cantilever")[0].y[0], 0.018)
        self.assertEqual(fabric.of("tension")[1].y, [3, 8])

    def test_header(self):
        self.refused(
            self.changed(1, HEAD.replace("force", "forse")), ":1:", "'forse'", "did you mean 'force'"
        )
        self.refused(self.changed(1, HEAD.replace("N/m)", "lbf/in)")), ":1:", "'force'", "'lbf/in'", "gf/cm")
        self.refused(self.changed(1, HEAD + ",angle"), ":1:", "'angle' stands twice")
        self.refused(self.changed(1, HEAD.replace("test,", "")), ":1:", "'test' is missing")
        self.refused(
            [line.replace("force (N/m),", "") for line in GOOD], ":3:", "'force' is missing: the header"
        )
        self.refused([], "empty")

    def test_rows(self):
        self.refused(self.changed(3, "tensoin,,0,5,2"), ":3:", "did you mean 'tension'")
        self.refused(self.changed(3, "tension,,0,5,"), ":3:", "'force' is empty")
        self.refused(
            self.changed(3, "tension,,0,5,2,,18"), ":3:", "length: a row of tension has angle, strain"
        )
        self.refused(self.changed(3, 'tension,,0,5,"2,5"'), ":3:", "decimal sign is a point")
        self.refused(self.changed(3, "tension,,135,5,2"), ":3:", "angle = 135", "0 (along the warp) to 90")
        self.refused(self.changed(3, "tension,,0,5,-2"), ":3:", "force = -2", "greater than 0")
        self.refused(self.changed(4, "tension,,0,5,3"), ":4:", "strain = 0.05 after 0.05", "increase")
        self.refused(
            self.changed(4, "tension,,0,10,1"), ":4:", "force = 1 falls from 2", "no positive stiffness"
        )
        self.refused(self.changed(4, "tension,,0,150,5"), ":4:", "strain = 1.5", "strain (%)")
        self.refused(self.changed(7, "cantilever,,0,,,,-18"), ":7:", "length = -0.018 m")
        self.refused([*GOOD, "weight,200"], ":8:", "a second density")
        wide = [HEAD + ",width (mm)", *GOOD[1:6], "cantilever,,0,,,,18,,,-5"]
        self.refused(wide, ":7:", "width = -0.005 m", "greater than 0")
        self.refused([*wide[:2], "tension,,0,5,2,,,,,5", *wide[3:]], ":3:", "width: a row of tension has")

    def test_what_is_missing(self):
        self.refused([GOOD[0], *GOOD[2:]], "test 'weight'")
        self.refused([*GOOD[:4], GOOD[6]], "no tension at angle 90", "there are: 0")
        self.refused(GOOD[:6], "'cantilever' or 'bending'")

    def test_command_refuses(self):
        bench = Bench()
        self.addCleanup(bench.close)
        path = self.write(self.changed(3, "tension,,0,5,-2"))
        done = bench.tool("fabric", path, "-o", "mine.ini", code=2)
        self.assertRegex(done.stderr, r"^loom: fabric: .*mine\.csv:3: force = -2")
        self.assertFalse((bench.path / "mine.ini").exists())
        self.assertIn("NAME.ini is", bench.tool("fabric", path, "-o", "mine.txt", code=2).stderr)
        self.assertIn("lower-case", bench.tool("fabric", path, "-o", "Mine.ini", code=2).stderr)

    def test_units(self):
        other = [line.replace("force (N/m)", "force (N/5cm)") for line in GOOD]
        self.assertEqual(self.read(other).of("tension")[0].y, [40, 100])

    # ---- fit ----
    def worst(self, found, name):
        """Largest distance of the curves from a fabric's, over their largest force or moment."""
        stretch, bend, _ = table_of(name)
        strain, curvature = np.linspace(0.01, 0.2, 39), np.linspace(4, 60, 57)
        off = []
        for angle in (0, 45, 90):
            have, want = (model.tension(rows, angle, strain)[0] for rows in (found.stretch, stretch))
            off.append(np.abs(have - want).max() / want.max())
            have, want = (
                curvature * model.rigidity(table, angle, curvature) for table in (found.bending.table, bend)
            )
            off.append(np.abs(have - want).max() / want.max())
        return max(off)

    def test_finds_the_curves(self):
        for name in ("11oz-black-denim", "gray-interlock"):
            found = fit.fit(self.read(sheet_of(name, noise=0.02)), "wang_bend")
            other = "gray-interlock" if name.startswith("11") else "11oz-black-denim"
            self.assertLess(self.worst(found, name), 0.04, name)
            self.assertLess(max(found.off.values()), 0.02, name)
            self.assertGreater(self.worst(found, other), 0.4, "control: another fabric")
            found.stretch *= 2
            self.assertGreater(self.worst(found, name), 0.4, "control: twice the stiffness")

    def test_finds_the_row_at_rest(self):
        """Of denim, which hardly stiffens: strips at three angles with contraction give all four numbers."""
        stretch, bend, _ = table_of("11oz-black-denim")
        found = fit.fit(self.read(sheet_of("11oz-black-denim")), "wang_bend")
        self.assertTrue(found.stretch_sure[0].all(), found.stretch_sure)
        want = stretch[0] / np.sqrt(stretch[0, 0] * stretch[0, 2])
        have = found.stretch[0] / np.sqrt(found.stretch[0, 0] * found.stretch[0, 2])
        self.assertLess(np.abs(have - want)[1], 0.1, (have, want))
        self.assertLess(np.abs(found.stretch[0] / stretch[0] - 1)[[0, 2, 3]].max(), 0.1, found.stretch[0])
        self.assertLess(np.abs(found.bending.table / bend - 1)[found.bending.sure].max(), 0.1)

    def test_says_what_it_assumes(self):
        warp_and_weft = fit.fit(self.read(sheet_of("11oz-black-denim", angles=(0, 90), contraction=False)))
        self.assertFalse(warp_and_weft.stretch_sure[:, 3].any(), "nothing was sheared")
        self.assertFalse(warp_and_weft.stretch_sure[:, 1].any(), "no contraction was measured")
        self.assertTrue(warp_and_weft.stretch_sure[0, [0, 2]].all())
        self.assertTrue(warp_and_weft.stretch_sure[1, 0] and warp_and_weft.stretch_sure[5, 2])
        self.assertFalse(warp_and_weft.stretch_sure[2:5].any(), "no slanted strip")
        rest = warp_and_weft.stretch[0]
        isotropic = np.sqrt(rest[0] * rest[2]) * 0.8
        self.assertLess(abs(rest[3] / isotropic - 1), 0.05, rest)

    def test_cantilever_is_an_elastica(self):
        """B theta'' = -w (L - s) cos(theta), w L^3/B = 8: the fall of the chord, and parts that move it."""

        def rate(s, y):
            return np.array([y[1], -8 * (1 - s) * np.cos(y[0]), np.cos(y[0]), np.sin(y[0])])

        def hang(start):
            at, n = [np.array([0.0, start, 0, 0])], 400  # angle, curvature, reach, drop
            for i in range(n):
                y, s, h = at[-1], i / n, 1 / n
                middle = y + 0.5 * h * rate(s, y)
                at.append(y + h * rate(s + 0.5 * h, middle))
            return np.array(at)

        low, high = 0.0, 8.0
        for _ in range(30):
            start = 0.5 * (low + high)
            path = hang(start)
            low, high = (start, high) if path[-1, 1] < 0 else (low, start)
        tip = path[-1, 2:]
        self.assertAlmostEqual(np.degrees(np.arctan2(tip[1], tip[0])), strips.PEIRCE, delta=0.1)
        arm = (tip - path[:, 2:]) @ tip / np.linalg.norm(tip)
        weight = path[:, 1] * arm
        self.assertAlmostEqual((path[:, 1] * weight).sum() / weight.sum() / 2, fit.CANTILEVER, delta=0.005)

    def test_cantilever_alone(self):
        """Peirce: B = w c^3 in every direction and at every curvature."""
        found = fit.fit(self.read([*GOOD, "cantilever,,90,,,,18"]), "wang_bend")
        B = found.bending.rigidity(0, np.array([5.0, 20.0, 40.0]))
        self.assertLess(np.abs(B / (0.187 * 9.80665 * 0.018**3) - 1).max(), 0.02, B)

    # ---- plate ----
    TRUE = np.array([1.2e-5, 2.3e-5, 1.75e-5, 0.3])

    def plate_of(self, values):
        return plate.Plate(np.array(values), np.ones(4, bool), table_of("pink-ribbon-brown")[0])

    def hung(self, widths, angles=(0, 45, 90)):
        """Lines of a file whose bending lengths are those of the plate TRUE."""
        lines = sheet_of("pink-ribbon-brown")
        w = 0.228 * 9.80665
        lines = [HEAD + ",width (mm)", *(t for t in lines[1:] if not t.startswith("bending"))]
        for b in widths:
            for angle in angles:
                c = 0.02
                for _ in range(40):
                    c = (
                        self.plate_of(self.TRUE).rigidity(angle, np.array([fit.CANTILEVER / c]), b)[0] / w
                    ) ** (1 / 3)
                lines.append(f"cantilever,,{angle},,,,{1000 * c:.6g},,,{1000 * b:g}")
        return lines

    def test_plate_of_bending_lengths(self):
        found = fit.fit(self.read(self.hung((0.01, 0.1)))).bending
        self.assertLess(np.abs(found.values / self.TRUE - 1)[:3].max(), 0.01, found.values)
        self.assertAlmostEqual(found.values[3], 0.3, delta=0.02)
        self.assertTrue(found.sure.all())
        # the control: strips of one width do not tell Poisson's ratio
        single = fit.fit(self.read(self.hung((0.025,)))).bending
        self.assertLess(abs(single.values[3]), 0.1, single.values)
        self.assertFalse(single.sure[3])
        along = fit.fit(self.read(self.hung((0.025,), angles=(0,)))).bending
        self.assertEqual(along.sure.tolist(), [True, False, False, False])
        self.assertAlmostEqual(along.values[1] / along.values[0], 1, delta=0.01)

    def test_plate_of_moments(self):
        """KES: a plate's moment is proportional to the curvature; denim's is not."""
        lines = sheet_of("11oz-black-denim")
        found = fit.fit(self.read(lines))
        self.assertGreater(found.off["bending at 0 deg"], fit.POOR)
        text = material.text(self.read(lines), found, "mine")
        self.assertIn("bending at 0 deg: the model does not follow this curve: its moment", text)
        self.assertIn("model        = wang+plate", text)

    def test_strips_across_their_width(self):
        """The energy of a bent strip of a plate, least over its shape across the width."""
        D11, D22, D12, Y, q = 2.0e-5, 3.0e-5, 0.9e-5, 300.0, 50.0
        D = np.array([[D11, D12, 0], [D12, D22, 0], [0, 0, 1e-5]])
        for b in (0.002, 0.01, 0.025, 0.1):
            n = 400
            h = b / n
            second = (np.eye(n + 1, k=-1) - 2 * np.eye(n + 1) + np.eye(n + 1, k=1))[1:-1] / h**2
            weight = np.full(n + 1, h)
            weight[[0, -1]] /= 2
            A = D22 * h * second.T @ second + Y * q * q * np.diag(weight)
            load = -D12 * q * h * second.sum(axis=0)
            w = np.linalg.solve(A, load)
            energy = (0.5 * w @ A @ w - load @ w) / b + 0.5 * D11 * q * q
            found = plate.rigidity(D, np.zeros(1), np.array([b]), np.array([q]), np.array([Y]))[0]
            self.assertAlmostEqual(found / (2 * energy / q**2), 1, delta=1e-3, msg=f"{b} m")

    def test_says_what_it_cannot_follow(self):
        """A toe and then a steep rise within a few per cent, as woven fabrics may have."""
        strain = np.linspace(0.5, 4, 10)
        steep = [f"tension,,0,{e:g},{2 * np.expm1(1.2 * e):g}" for e in strain]
        fabric = self.read([*GOOD[:2], *steep, *GOOD[4:]])
        found = fit.fit(fabric)
        self.assertGreater(found.off["tension at 0 deg"], fit.POOR)
        self.assertIn("tension at 0 deg: the model does not follow", material.text(fabric, found, "mine"))
        self.assertNotIn("tension at 90 deg: the model", material.text(fabric, found, "mine"))

    def test_command(self):
        bench = Bench()
        self.addCleanup(bench.close)
        path = self.write(sheet_of("11oz-black-denim", noise=0.02))
        done = bench.tool("fabric", path, "-o", "materials/mine.ini")
        self.assertRegex(done.stdout, r"tension at 45 deg +\d\.\d\d %")
        text = (bench.path / "materials/mine.ini").read_text()
        self.assertRegex(text, r"stretch_22 .* N/m  ; assumed: ")
        (bench.path / "drape.ini").write_text(
            (bench.path / "drape.ini").read_text().replace("[cloth.sheet]", "[cloth.sheet]\nmaterial = mine")
            + "[solver]\nplugin = cholmod_newton\n"
        )
        settings = bench.run("mine", run__steps=2)
        from loomcloth.log import Log

        with Log(settings) as log:
            self.assertIn("wang", log.settings["cloth.sheet.model"])
        self.assertIn("--overwrite", bench.tool("fabric", path, "-o", "materials/mine.ini", code=2).stderr)
        path = self.write(GOOD)
        bench.tool("fabric", path, "-o", "materials/mine.ini", "--overwrite")
