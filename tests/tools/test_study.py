"""A study as one specification: axes that vary together, references, runs behind other runs."""

import tempfile
import unittest
from pathlib import Path

from loomcloth.errors import SpecError
from loomcloth.sweep import spec as specification
from sweeps import write

TIED = """\
[sweep]
config = hang.ini
[set]
body.b.file = meshes/{membrane}_{solver.plugin}.obj
[grid]
solver.plugin = gd | cholmod_pd
cloth.sheet.membrane, cloth.sheet.bending = 100 N/m, 1e-6 | 900 N/m, 1e-5
"""


class Case(unittest.TestCase):
    def setUp(self):
        work = tempfile.TemporaryDirectory(prefix="loom-study-")
        self.addCleanup(work.cleanup)
        self.path = Path(work.name)

    def spec(self, text, name="grid.ini"):
        return specification.read(write(self.path, text, name))

    def refused(self, text, message):
        with self.assertRaisesRegex(SpecError, message):
            self.spec(text).runs()


class Together(Case):
    def test_keys_that_vary_together(self):
        runs = {r.name: r.sets for r in self.spec(TIED).runs()}
        names = [f"{s}__{f}" for s in ("gd", "cholmod_pd") for f in ("100xNxm_1e-6", "900xNxm_1e-5")]
        self.assertEqual(list(runs), names)
        one = runs["gd__900xNxm_1e-5"]
        self.assertEqual((one["cloth.sheet.membrane"], one["cloth.sheet.bending"]), ("900 N/m", "1e-5"))
        yaml = (
            "sweep: {config: hang.ini}\ngrid:\n  'solver.plugin': [gd, cholmod_pd]\n"
            "  'cloth.sheet.membrane, cloth.sheet.bending': ['100 N/m, 1e-6', '900 N/m, 1e-5']\n"
        )
        self.assertEqual([r.name for r in self.spec(yaml, "grid.yaml").runs()], names)

    def test_a_file_and_a_value_together(self):
        (self.path / "a.ini").write_text("")
        text = "[sweep]\nconfig = hang.ini\n[grid]\nfabric, cloth.sheet.bending = @a.ini, 1 | @hang.ini, 2\n"
        runs = self.spec(text).runs()
        self.assertEqual([r.name for r in runs], ["a_1", "hang_2"])
        self.assertEqual([p.name for p in runs[0].overlays], ["a.ini"])
        self.assertEqual(runs[0].sets, {"cloth.sheet.bending": "1"})

    def test_refusals(self):
        short = TIED.replace("900 N/m, 1e-5", "900 N/m")
        self.refused(short, r"grid.ini:7: .*each choice has 2 values.*'900 N/m'")
        self.refused(TIED + "cloth.sheet.bending = 1\n", r"grid.ini:7: .*cloth.sheet.bending varies twice")
        both = TIED.replace("body.b.file", "cloth.sheet.bending")
        self.refused(both, r"grid.ini:7: .*stands in \[set\], too")
        self.refused(TIED.replace("900 N/m, 1e-5", "100 N/m, 1e-6"), "'100 N/m, 1e-6' stands there twice")

    def test_the_word_of_an_axis_in_a_value(self):
        files = [r.sets["body.b.file"] for r in self.spec(TIED).runs()]
        self.assertEqual(files[0], "meshes/100xNxm_gd.obj")
        self.assertEqual(files[3], "meshes/900xNxm_cholmod_pd.obj")
        other = self.spec(TIED.replace("{membrane}", "{of another program}")).runs()
        self.assertEqual(other[0].sets["body.b.file"], "meshes/{of another program}_gd.obj")
        self.refused(TIED.replace("{membrane}", "{membrne}"), r"grid.ini:4: .*did you mean 'membrane'")


if __name__ == "__main__":
    unittest.main()
