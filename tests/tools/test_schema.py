"""`loom describe --schema` fits all shipped configurations, and refuses mistakes as `loom check` does."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import jsonschema
from loomcloth.config import as_object

ROOT = Path(os.environ["LOOM_SOURCE_DIR"])
# Other formats: sewing patterns, fabrics, specifications of sweeps, samples of networks.
OTHERS = ("piece.", "material", "sweep", "ssdf", "reference", "frames", "measure")
PLUGIN_OF_TESTS = "cut.ini"  # names a plugin that the tests alone build
BASE = """[run]
steps = 1
dt = 10 ms            ; a unit
[cloth.sheet]
shape = grid
resolution = 3 3
[solver]
plugin = gd
"""
# Mistakes: a text of BASE and its replacement.
MISTAKES = {
    "a misspelt key": ("steps = 1", "stepz = 1"),
    "no number": ("dt = 10 ms", "dt = ten"),
    "a choice that is not there": ("shape = grid", "shape = gird"),
    "an unknown section": ("[cloth.sheet]", "[clothe.sheet]"),
    "a key of another plugin": ("plugin = gd", "plugin = gd\nwindow = 5"),
    "an unknown plugin": ("plugin = gd", "plugin = gdd\nwindow = 5"),
    "two numbers of three": ("shape = grid", "shape = grid\nposition = 0 1"),
}


class Schema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        words = [os.environ["LOOM_BIN"], "describe", "--schema"]
        done = subprocess.run(words, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        cls.schema = json.loads(done.stdout, object_pairs_hook=cls.unique)
        jsonschema.Draft202012Validator.check_schema(cls.schema)
        cls.validator = jsonschema.Draft202012Validator(cls.schema)

    @staticmethod
    def unique(pairs):
        names = [name for name, _ in pairs]
        assert len(set(names)) == len(names), sorted(names)
        return dict(pairs)

    def faults(self, text):
        found = self.validator.iter_errors(as_object(text))
        return [f"{'.'.join(map(str, e.path))}: {e.message}" for e in found]

    def test_all_shipped_configurations_fit(self):
        checked = 0
        for path in sorted([*(ROOT / "configs").rglob("*.ini"), *(ROOT / "experiments").glob("*/*.ini")]):
            text = path.read_text(encoding="utf-8")
            other = any(section.startswith(OTHERS) for section in as_object(text))
            if other or path.name == PLUGIN_OF_TESTS:
                continue
            checked += 1
            with self.subTest(file=str(path.relative_to(ROOT))):
                self.assertEqual(self.faults(text), [])
        self.assertGreater(checked, 120)

    def test_mistakes_are_refused_as_check_refuses_them(self):
        self.assertEqual(self.faults(BASE), [])
        with tempfile.TemporaryDirectory() as work:
            for name, (old, new) in MISTAKES.items():
                self.assertIn(old, BASE)
                path = Path(work) / "mistake.ini"
                path.write_text(BASE.replace(old, new))
                words = [os.environ["LOOM_BIN"], "check", path]
                done = subprocess.run(words, capture_output=True, text=True)
                with self.subTest(mistake=name):
                    self.assertEqual(done.returncode, 2, done.stderr)
                    self.assertNotEqual(self.faults(path.read_text()), [])

    def test_ranges_hold_for_numbers(self):
        self.assertEqual(list(self.validator.iter_errors({"run": {"dt": 0.01}})), [])
        self.assertNotEqual(list(self.validator.iter_errors({"run": {"dt": -1}})), [])

    def test_a_file_that_names_no_plugin_takes_keys_of_any(self):
        self.assertEqual(self.faults("include = methods/aa_pd.ini\n[solver]\nwindow = 5\n"), [])
        self.assertNotEqual(self.faults("[solver]\nwindoww = 5\n"), [])


if __name__ == "__main__":
    unittest.main()
