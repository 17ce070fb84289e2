"""The steps of `./loom figure speed-bars` at 2,601 vertices, by counts that other work does not change."""

import tempfile
import unittest
from pathlib import Path

from logs import SOURCE
from loomcloth.experiment import Experiment, NotMeasured, load_figures
from loomcloth.log import Log

FOLDER = SOURCE / "experiments/speed"


class Speed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        work = tempfile.TemporaryDirectory(prefix="loom-speed-")
        cls.addClassCleanup(work.cleanup)
        cls.experiment = Experiment(FOLDER, options={"detail": (1,)})
        cls.experiment.out = Path(work.name)
        cls.bars = load_figures(FOLDER).bars(cls.experiment)

    def steps(self, name):
        with Log(self.experiment.out / f"{name}-1.h5") as log:
            return log.table("steps"), log.table("iters")

    def test_bars(self):
        self.assertEqual(self.experiment.options, {})
        self.assertEqual([str(b) for b in self.bars if b.passed is False], [])
        self.assertTrue(any(isinstance(b, NotMeasured) for b in self.bars), "--before was not given")
        text = (self.experiment.out / "speed-bars.txt").read_text()
        self.assertIn("23c3817", text)
        self.assertIn("2601 vertices; states: 41 steps", text)

    def test_states_are_folds(self):
        rows, _ = self.steps("state")
        self.assertEqual(int(rows["intersections"].max()), 0)
        self.assertGreater(int(rows["contacts"][36:].min()), 1000)
        self.assertLess(float((rows["r_final"] / rows["r_ref"]).max()), 6, "the drape runs away")

    def test_ndb(self):
        rows, its = self.steps("ndb")
        self.assertTrue((rows["iters"] == 60).all())
        self.assertLess(int(its["pairs"].max()), 20000)
        self.assertLessEqual(int(rows["n_detect"].max()), 5)

    def test_newton_converges(self):
        rows, _ = self.steps("newton")
        self.assertLessEqual(float((rows["r_final"] / rows["r_ref"]).max()), 1e-3)
        self.assertLess(int(rows["iters"].sum()), 300)
        self.assertLess(float(rows["n_factorise"].sum() / rows["iters"].sum()), 1.5)


if __name__ == "__main__":
    unittest.main()
