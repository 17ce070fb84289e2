"""`loom fabric --check`: strips of the example's material follow it, and strips of a wrong one do not."""

import unittest

from logs import SOURCE, Bench
from loomcloth.fabric import check, fit, measured
from PIL import Image

EXAMPLE = SOURCE / "experiments/fabric/measured.csv"


class FabricCheck(unittest.TestCase):
    def setUp(self):
        self.bench = Bench()
        self.addCleanup(self.bench.close)

    def test_command(self):
        done = self.bench.tool("fabric", EXAMPLE, "-o", "mine.ini", "--check", "--picture", "out/mine.png")
        self.assertRegex(done.stdout, r"simulated tension at 45 deg +0\.\d\d % of the largest force")
        self.assertRegex(
            done.stdout, r"simulated overhang at 90 deg, 25 mm wide: falls by 4[0-3]\.\d degrees"
        )
        self.assertGreater(Image.open(self.bench.path / "out/mine.png").size[0], 1000)

    def test_a_wrong_material_fails(self):
        self.bench.tool("fabric", EXAMPLE, "-o", "mine.ini")
        fabric = measured.read(str(EXAMPLE))
        found = fit.fit(fabric)
        found.stretch *= 1.1  # the file has other numbers
        for c in fabric.of("cantilever"):
            c.y = [1.1 * v for v in c.y]
        seen = check.check(self.bench.path / "mine.ini", fabric, found)
        self.assertFalse(seen.passed)
        self.assertGreater(min(seen.off.values()), 2 * check.BOUND, seen.off)
        self.assertGreater(min(seen.fell.values()), 41.5 + check.ANGLE_BOUND, seen.fell)


if __name__ == "__main__":
    unittest.main()
