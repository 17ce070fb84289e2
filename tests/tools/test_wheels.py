"""Wheels and an sdist of a build install into an empty environment, without a network, and work there."""

import os
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

SOURCE = Path(os.environ["LOOM_SOURCE_DIR"])
BUILD = Path(os.environ["LOOM_BIN"]).resolve().parents[1]
CONFIG = """include = methods/vbd.ini
[run]
steps = 1
[cloth.sheet]
shape = grid
size = 0.1 0.1
resolution = 4 4
material = silk
"""


def run(*words, code=0, cwd=None):
    names = ("PYTHONPATH", "LOOM_PLUGIN_PATH", "LOOM_CONFIG_PATH", "LOOM_BIN", "LOOM_ROOT")
    environment = {k: v for k, v in os.environ.items() if k not in names}
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, env=environment, cwd=cwd)
    if done.returncode != code:
        raise AssertionError(f"{words}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


class Wheels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        work = tempfile.TemporaryDirectory()
        cls.addClassCleanup(work.cleanup)
        cls.work = Path(work.name)
        # the build of the tests is for this processor, as the environment is
        run(sys.executable, SOURCE / "framework/bundle/wheel.py", BUILD, cls.work / "out", "--native")
        cls.wheel = next((cls.work / "out").glob("loom_cloth-*.whl"))
        cls.gpl = next((cls.work / "out").glob("loom_cloth_gpl-*.whl"), None)
        cls.sdist = next((cls.work / "out").glob("loom_cloth-*.tar.gz"))

    def environment(self, name):
        run(sys.executable, "-m", "venv", "--without-pip", self.work / name)
        return self.work / name

    def install(self, environment, *files):
        options = ["--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check"]
        run(sys.executable, "-m", "pip", "--python", environment / "bin/python", "install", *options, *files)

    def test_licences_are_stated(self):
        for file, licence in ((self.wheel, "MIT"), (self.gpl, "GPL-2.0-or-later")):
            if file is None:
                self.skipTest("this build has no modules that link GPL libraries")
            with zipfile.ZipFile(file) as wheel:
                names = wheel.namelist()
                metadata = wheel.read(next(n for n in names if n.endswith(".dist-info/METADATA"))).decode()
            self.assertIn(f"\nLicense-Expression: {licence}\n", metadata)
            self.assertTrue(any(n.endswith("licenses/LICENSE") for n in names), names)

    def test_a_run_without_and_with_the_gpl_wheel(self):
        place = self.environment("one")
        self.install(place, self.wheel)
        loom = place / "bin/loom"
        config = self.work / "own.ini"
        config.write_text(CONFIG)
        run(loom, "run", config, "-o", self.work / "own.h5", "--quiet", cwd=self.work)
        listed = run(loom, "list", cwd=self.work)
        self.assertNotIn("GPL", listed.split("skipped:")[0])
        self.assertIn("usage: loom table", run(loom, "table", "--help"))
        self.assertIn("usage: loom report", run(place / "bin/loom-report", "--help"))
        if self.gpl is None:
            self.skipTest("this build has no modules that link GPL libraries")
        self.assertIn("cholmod_pd.so: not built: it links GPL libraries: pip install loom-cloth-gpl", listed)
        factor = ["run", config, "-o", self.work / "pd.h5", "--quiet", "--overwrite", "--set"]
        factor += ["solver.plugin=cholmod_pd"]
        self.assertIn("pip install loom-cloth-gpl", run(loom, *factor, code=2, cwd=self.work))
        self.install(place, self.gpl)
        self.assertNotIn("skipped:", run(loom, "list", cwd=self.work))
        run(loom, *factor, cwd=self.work)

    def test_the_sdist_installs(self):
        place = self.environment("two")
        # the empty environment has no setuptools
        options = ["--no-deps", "--no-index", "--no-build-isolation", "-w", self.work / "built"]
        run(sys.executable, "-m", "pip", "wheel", *options, self.sdist)
        self.install(place, next((self.work / "built").glob("*.whl")))
        self.assertIn("usage: loom sweep", run(place / "bin/loom-sweep", "--help"))


if __name__ == "__main__":
    unittest.main()
