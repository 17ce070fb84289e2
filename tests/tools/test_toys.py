"""33 toys and 10 ribbons, 38,712 tetrahedra, meet the floor of a tank and each other."""

import tempfile
import unittest
from pathlib import Path

from logs import SOURCE
from loomcloth.experiment import Experiment
from loomcloth.log import Log
from loomcloth.steps import intersections

STEPS = 12  # 0.12 s: the lowest layer lies on the floor
LIMIT = 0.1  # s of processor time an iteration; 0.25 is the bar of 330,000 tetrahedra


class Toys(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        work = tempfile.TemporaryDirectory(prefix="loom-toys-")
        cls.addClassCleanup(work.cleanup)
        cls.experiment = Experiment(SOURCE / "experiments/ndb-solids")
        cls.experiment.out = Path(work.name)

    def steps(self, name, sets=None):
        path = self.experiment.run(name, "toys33.ini", {"run.steps": STEPS} | (sets or {}))
        with Log(path) as log:
            self.assertEqual(len(log.scene("tets")), 38712)
            return log.table("steps")

    def test_toys_stay_apart(self):
        steps = self.steps("toys")
        late = steps[steps["iters"] > 0]
        cost = late["t_cpu"].sum() / late["iters"].sum()
        print(f"{cost:.4f} s of processor time an iteration, {late['contacts'].max()} contacts")
        self.assertEqual(intersections(steps), 0)
        self.assertGreater(late["contacts"].max(), 100)
        self.assertLess(cost, LIMIT)

    def test_without_contact_they_do_not(self):
        self.assertGreater(intersections(self.steps("through", {"contact.all.plugin": "none"})), 0)


if __name__ == "__main__":
    unittest.main()
