"""loomcloth is a package that pip installs, typed, and clean by ruff."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ["LOOM_SOURCE_DIR"])
TOOLS = SOURCE / "experiments/tools"


def run(*words, **options):
    return subprocess.run(list(map(str, words)), capture_output=True, text=True, **options)


class Package(unittest.TestCase):
    def test_installs_and_imports(self):
        with tempfile.TemporaryDirectory() as work:
            # a copy: the build leaves files beside the sources
            done = run("cp", "-r", TOOLS, f"{work}/tools")
            done = run(
                sys.executable,
                "-m",
                "pip",
                "install",
                "--no-deps",
                "--no-build-isolation",
                "--no-index",
                "--disable-pip-version-check",
                "--target",
                f"{work}/site",
                f"{work}/tools",
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue((Path(work) / "site/loomcloth/py.typed").exists())
            program = "import loomcloth as p; print(p.__file__); [getattr(p, n) for n in p.__all__]"
            environment = os.environ | {"PYTHONPATH": f"{work}/site"}
            done = run(sys.executable, "-c", program, env=environment, cwd=work)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"{work}/site", done.stdout)

    def test_ruff(self):
        config = TOOLS / "pyproject.toml"
        words = ["check", "--no-cache", "--output-format", "concise", "--config", config]
        checked = (TOOLS / "loomcloth", SOURCE / "tests/tools")
        done = run(sys.executable, "-m", "ruff", *words, *checked, cwd=SOURCE)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_types(self):
        with tempfile.TemporaryDirectory() as cache:
            done = run(
                sys.executable,
                "-m",
                "mypy",
                "--cache-dir",
                cache,
                "--config-file",
                TOOLS / "pyproject.toml",
                TOOLS / "loomcloth",
            )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
