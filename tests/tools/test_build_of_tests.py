"""A figure that needs a program of the tests builds it in a folder that `./loom` configured without them."""

import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from loomcloth import experiment
from loomcloth.errors import FigureError

PROJECT = """cmake_minimum_required(VERSION 3.16)
project(toy NONE)
option(LOOM_TESTS "" ON)
add_custom_target(bench ALL)
if(LOOM_TESTS)
  add_custom_target(control ${CMAKE_COMMAND} -E touch ${PROJECT_BINARY_DIR}/made)
endif()
"""


class Build(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.build = self.root / "build"
        (self.root / "CMakeLists.txt").write_text(PROJECT)
        (self.root / "experiments/toy").mkdir(parents=True)
        without = ["cmake", "-S", str(self.root), "-B", str(self.build), "-DLOOM_TESTS=OFF"]
        subprocess.run(without, check=True, capture_output=True)
        self.toy = experiment.Experiment(self.root / "experiments/toy")
        self.toy.binary = str(self.build / "bin/loom")

    def test_tests_are_switched_on(self):
        with mock.patch.object(experiment, "ROOT", self.root):
            self.assertEqual(self.toy.build("bench"), self.build)
            self.assertIn("LOOM_TESTS:BOOL=OFF", (self.build / "CMakeCache.txt").read_text())
            self.assertEqual(self.toy.build("control"), self.build)
        self.assertTrue((self.build / "made").exists())

    def test_no_such_target(self):
        with mock.patch.object(experiment, "ROOT", self.root), self.assertRaises(FigureError):
            self.toy.build("contrl")


if __name__ == "__main__":
    unittest.main()
