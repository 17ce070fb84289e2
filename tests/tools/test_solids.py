"""experiments/ndb-solids: the quick bars of affine bodies hold, and miss with a wrong input."""

import tempfile
import unittest
from pathlib import Path

from logs import SOURCE
from loomcloth.experiment import Experiment, load_figures

FOLDER = SOURCE / "experiments/ndb-solids"


class Solids(unittest.TestCase):
    GROUPS: tuple[str, ...] = ("fall", "slope", "stack", "hit")
    CONTROLS: tuple[str, ...] = GROUPS

    @classmethod
    def setUpClass(cls):
        work = tempfile.TemporaryDirectory(prefix="loom-solids-")
        cls.addClassCleanup(work.cleanup)
        cls.out = Path(work.name)
        cls.figure = load_figures(FOLDER)

    def measure(self, disturb=()):
        experiment = Experiment(FOLDER, disturb=disturb)
        experiment.out = self.out
        bars = self.figure.measured(experiment, self.GROUPS)
        self.assertEqual(experiment.disturb, set())
        print(*bars, sep="\n")
        return bars

    def test_bars_hold(self):
        bars = self.measure()
        self.assertGreaterEqual(len(bars), len(self.CONTROLS))
        self.assertEqual([str(bar) for bar in bars if not bar.passed], [])

    def test_controls_miss(self):
        for name in self.CONTROLS:
            with self.subTest(name):
                self.assertTrue(any(not bar.passed for bar in self.measure({name})))


if __name__ == "__main__":
    unittest.main()
