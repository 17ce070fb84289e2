"""The whole validation, and the control of each of its rows by itself."""

import tempfile
import unittest
from pathlib import Path

from loomcloth.validation import page
from loomcloth.validation.laboratory import Laboratory
from test_validation import MISSED, SOURCE, Built


class All(unittest.TestCase):
    def test_rows_and_controls(self):
        work = tempfile.TemporaryDirectory(prefix="loom-validation-")
        self.addCleanup(work.cleanup)

        def experiment(disturb=()):
            made = Built(SOURCE / "experiments/validation", disturb=disturb)
            made.out = Path(work.name)
            return made

        for subject, measure in page.SUBJECTS.items():
            rows = measure(Laboratory(experiment()))
            print("\n".join(page.lines({subject: rows})))
            self.assertEqual(
                {r.key for r in rows if not r.passed and not r.note}, {r.key for r in rows} & MISSED
            )
            for row in rows:
                with self.subTest(row.key):
                    again = measure(Laboratory(experiment({row.key})))
                    missed = {r.key for r in again if not r.passed and not r.note}
                    self.assertEqual(missed - MISSED, set() if row.note else {row.key} - MISSED)


if __name__ == "__main__":
    unittest.main()
