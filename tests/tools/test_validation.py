"""The quick validation: every row of theory passes, and each fails with a wrong input, alone."""

import os
import tempfile
import unittest
from pathlib import Path

from logs import SOURCE
from loomcloth.experiment import Experiment
from loomcloth.validation import cantilever, page, vibration

# 4e-4 off: one edge at the boundary of that mesh has limited weights.
MISSED = {"patch-stiffness-plate-jittered", "patch-stiffness-plate_quadratic-jittered"}


class Built(Experiment):
    """Its programs are there already."""

    def build(self, target):
        return Path(self.binary).parents[1]


def judged(found):
    """{key: passed} of the rows that have a verdict."""
    return {row.key: row.passed for rows in found.values() for row in rows if not row.note}


class Quick(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        work = tempfile.TemporaryDirectory(prefix="loom-validation-")
        cls.addClassCleanup(work.cleanup)
        cls.out = Path(work.name)
        cls.found = page.measure(cls.experiment(), quick=True)

    @classmethod
    def experiment(cls, disturb=()):
        experiment = Built(SOURCE / "experiments/validation", disturb=disturb)
        experiment.out = cls.out
        return experiment

    def test_rows_pass(self):
        rows = judged(self.found)
        self.assertGreater(len(rows), 40)
        self.assertEqual({key for key, passed in rows.items() if not passed}, MISSED)
        text = "\n".join(page.lines(self.found))
        self.assertIn("heavy cantilever: 3 rows, none missed", text)

    @unittest.skipIf(os.environ.get("LOOM_TEST_DAY") == "1", "of the night")
    def test_each_row_sees_its_control(self):
        keys = list(judged(self.found))
        for half in (keys[::2], keys[1::2]):
            experiment = self.experiment(disturb=half)
            rows = judged(page.measure(experiment, quick=True))
            self.assertEqual(experiment.disturb, set(), "rows without an input of their own")
            self.assertEqual({key for key, passed in rows.items() if not passed}, MISSED | set(half))

    def test_theory(self):
        # solved again in tests/physics/test_cantilever.c
        self.assertAlmostEqual(cantilever.elastica(1), 0.124562, 6)
        self.assertAlmostEqual(cantilever.elastica(10), 1.066802, 6)
        # Ritz in tests/physics/test_plate_modes.c
        for found, known in zip(
            vibration.ritz(0.3)[0], (13.468, 19.596, 24.270, 34.801, 34.801, 61.093), strict=False
        ):
            self.assertLess(abs(found - known), 1e-3)


if __name__ == "__main__":
    unittest.main()
