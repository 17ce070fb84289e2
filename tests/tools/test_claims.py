"""loomcloth.coverage: the tables of the papers agree with figures, results, pages; other rows are found."""

import os
import re
import shutil
import tempfile
import unittest
from pathlib import Path

from loomcloth import controls, coverage
from loomcloth.figure import all_figures

ROOT = Path(os.environ["LOOM_SOURCE_DIR"])
FOLDERS = {name: folder.name for name, (folder, _, _) in all_figures().items()}


class Coverage(unittest.TestCase):
    def setUp(self):
        """A tree of links in which claims, results and the page may change."""
        self.path = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.path)
        for name in ("configs", "framework", "plugins", "tests"):
            (self.path / name).symlink_to(ROOT / name)
        (self.path / "experiments").mkdir()
        for entry in (ROOT / "experiments").iterdir():
            here = self.path / "experiments" / entry.name
            if entry.is_file():
                shutil.copy(entry, here)
            elif entry.name in ("claims", "results", "acl", "ndb-scenes"):
                shutil.copytree(entry, here, ignore=shutil.ignore_patterns("*.png", "out"))
            else:
                here.symlink_to(entry)

    def change(self, file, old, new):
        path = self.path / file
        text = path.read_text()
        self.assertEqual(text.count(old), 1, old)
        path.write_text(text.replace(old, new))

    def faults(self, **more):
        return coverage.check(self.path, FOLDERS, **more)

    def test_the_repository(self):
        self.assertEqual(self.faults(), [])

    def test_numbers_follow_the_result(self):
        """A result with another number: the page is old, and --update makes it anew."""
        self.change("experiments/results/ndb-fig12.txt", "0.155", "0.144")
        self.assertEqual(len(self.faults()), 1)
        self.assertIn("is not made of", self.faults()[0])
        self.assertEqual(self.faults(update=True), [])
        self.assertEqual(self.faults(), [])
        self.assertIn("0.144 s a step", (self.path / coverage.PAGE).read_text())

    def test_each_family_lists_its_gaps(self):
        """A row that is not done is in the page of its figure, or of its paper; --update writes it there."""
        acl, scenes = "experiments/acl/README.md", "experiments/ndb-scenes/README.md"
        threads = "- threads (paper: 8 cores): not here; "
        self.assertIn(f"{threads}no measurement of several threads.", self.read(acl))
        self.assertIn("- Figure 1, runway (paper: skirt on a character): partial;", self.read(scenes))
        self.change(coverage.DATA, 'reason = "no measurement of several threads"', 'reason = "too dear"')
        told = f"{acl} is not made of {coverage.DATA}: python -m loomcloth.coverage --update"
        self.assertIn(told, self.faults())
        self.assertEqual(self.faults(update=True), [])
        self.assertIn(f"{threads}too dear.", self.read(acl))
        self.change(acl, coverage.GAPS_END + "\n", "")
        self.assertIn("has no place for its part", self.faults()[0])

    def read(self, name):
        return (self.path / name).read_text()

    def test_a_number_of_a_gap_is_no_evidence(self):
        """A page's list of gaps repeats the paper's numbers, which are none of a result."""
        self.change(coverage.DATA, "8 x 12 loops: ", "8 x 45,960 loops: ")
        self.assertIn("acl: fall with five tolerances: 45960 is not in acl/README.md", self.faults())

    def test_a_line_that_is_gone(self):
        self.change("experiments/results/acl-sizes.txt", "sleeve ", "sock   ")
        self.assertIn("acl: sweater: 'sleeve ' is in 0 lines", self.faults())

    def test_a_figure_that_does_not_exist(self):
        self.change(coverage.DATA, '["ndb-fig3"]', '["ndb-fig33"]')
        self.assertEqual(self.faults(), [
            "ndb: error on the strip: 'ndb-fig33' is neither a figure nor a path"])

    def test_a_path_that_does_not_exist(self):
        self.change(coverage.DATA, '["cama-cg"]', '["configs/cama_cg.ini"]')
        self.assertIn("'configs/cama_cg.ini' is neither a figure nor a path", self.faults()[0])

    def test_an_item_without_a_row(self):
        self.change(coverage.DATA, 'covers = ["Figure 15"]\nitem = "zig', 'covers = []\nitem = "zig')
        self.assertEqual(self.faults(), ["ndb: Figure 15 is missing"])

    def test_a_number_from_nowhere(self):
        self.change(coverage.DATA, "contact, 3,240 loops", "contact, 3,241 loops")
        self.assertIn("is not made of", self.faults()[0])  # no result is named
        self.change(coverage.DATA, "8 x 12 loops: ", "8 x 12987 loops: ")
        self.assertEqual(self.faults(), ["acl: fall with five tolerances: 12987 is not in acl/README.md"])

    def test_a_state_without_a_reason(self):
        text = (self.path / coverage.DATA).read_text()
        reasons = re.findall(r'reason = "no measurement of several threads"\n', text)
        self.change(coverage.DATA, reasons[0], "")
        self.assertEqual(self.faults(), ["acl: threads: has no reason"])
        before = 'state = "not here"\ncommand = ["acl-bars"]\n\n'
        self.change(coverage.DATA, before, before.replace("not here", "missing"))
        self.assertIn("the state 'missing' is none of", self.faults()[0])

    def test_a_line_has_to_be_the_only_one(self):
        with self.assertRaisesRegex(coverage.Fault, "in 2 lines"):
            coverage.cite("a 1\na 2\n", "a", 1)
        self.assertEqual(coverage.cite("ab 1\na   b 2,400 x\n", "a b ", 1), "2,400")
        with self.assertRaisesRegex(coverage.Fault, "there are 1 numbers"):
            coverage.cite("a 1\n", "a", 2)


class Controls(unittest.TestCase):
    def test_a_bar_must_fail_with_the_part_off(self):
        words = {"name": "a", "paper": "x", "claim": "c", "part": "p", "config": "x.ini", "measure": "length"}
        fails = controls.Control(**words, bar=0.5, least=True, effect="fails")
        none = controls.Control(**words, bar=0.5, least=True, effect="none")
        nan = float("nan")
        for whole, off, as_fails, as_none in (
            (1, 0.1, True, False), (1, 1, False, True), (0.1, 0.1, False, False), (1, nan, True, False),
            (nan, nan, False, False),
        ):  # fmt: skip
            self.assertEqual(fails.as_told(whole, off), as_fails)
            self.assertEqual(none.as_told(whole, off), as_none)
        self.assertTrue(controls.line(fails, 1, 1).endswith("MISS"))

    def test_rows(self):
        """Every row names a configuration and switches off a key or has a mutant; all papers have rows."""
        rows = controls.load(ROOT)
        self.assertEqual({row.paper for row in rows}, set(coverage.ITEMS))
        for row in rows:
            self.assertTrue((ROOT / row.config).is_file(), row.name)
            self.assertTrue(row.note or row.effect == "fails", row.name)
        made = (ROOT / "tests/control/CMakeLists.txt").read_text()
        for row in rows:
            self.assertIn(f"loom_add_mutant({row.mutant}", made)

    def test_a_result_of_another_bar_does_not_count(self):
        committed = {row.name: found for row, found in controls.results(ROOT)}
        self.assertIn("ndb_growth", committed)
        root = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, root)
        (root / "tests/control").mkdir(parents=True)
        (root / "experiments/results").mkdir(parents=True)
        rows = (ROOT / controls.DATA).read_text().replace("bar = 0.1\n", "bar = 0.2\n")
        (root / controls.DATA).write_text(rows)
        shutil.copy(ROOT / controls.RESULT, root / controls.RESULT)
        self.assertIsNone({row.name: found for row, found in controls.results(root)}["ndb_growth"])
        self.assertIsNotNone(committed["ndb_growth"])


if __name__ == "__main__":
    unittest.main()
