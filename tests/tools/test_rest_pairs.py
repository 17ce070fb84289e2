"""ndb where neighbours in flat cloth are within reach of detection: folds are held ready, neighbours not."""

import subprocess
import tempfile
import unittest
from pathlib import Path

from logs import BINARY, SOURCE
from loomcloth.log import Log

# Triangles are 29 mm high: thickness, d_hat and slack reach over 30 mm, thickness and d_hat over 18 mm.
SCENE = f"""\
include = {SOURCE}/configs/scenes/drape_self.ini
include = {SOURCE}/configs/methods/ndb.ini
[run]
steps = 40
dt = 0.01
[cloth.sheet]
resolution = 25 25
thickness = 12 mm
[contact.all]
d_hat = 6 mm
slack = 12 mm
[solver]
plugin = ndb_pd
[stop]
max_iters = 20
"""
FLAT = 3 * 24 * 24  # a lower bound of the pairs of a flat sheet


class RestPairs(unittest.TestCase):
    def test_neighbours_are_not_held(self):
        with tempfile.TemporaryDirectory(prefix="loom-rest-") as work:
            config, path = Path(work) / "rest.ini", Path(work) / "rest.h5"
            config.write_text(SCENE)
            command = [BINARY, "run", config, "-o", path, "--quiet"]
            subprocess.run(command, cwd=work, capture_output=True, check=True)
            with Log(path) as log:
                steps, its, more = log.table("steps"), log.table("iters"), log.table("iters_extra")
        held = more["contact.all.held"]
        self.assertGreater(int(its["pairs"][0]), FLAT)  # detection finds them
        self.assertLess(int(held[0]), FLAT // 4)
        self.assertTrue((held <= its["pairs"]).all())
        self.assertGreater(int(steps["contacts"].max()), 500, "the sheet has no folds")
        self.assertGreater(int(held[-1]), FLAT)
        self.assertEqual(int(steps["intersections"].max()), 0)


if __name__ == "__main__":
    unittest.main()
