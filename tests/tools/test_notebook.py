"""The notebook of experiments/ablation, cell by cell, and its numbers."""

import os
import shutil
import tempfile
import unittest
from pathlib import Path

import loomcloth
import nbformat
from logs import BINARY, SOURCE
from nbclient import NotebookClient

MOST_LINES = 22
LAUNCHER = """\
#!/bin/sh
# what ./loom does once everything is built
case $1 in sweep) shift; exec {python} -m loomcloth.sweep "$@" ;; *) exec {binary} "$@" ;; esac
"""


class Ablation(unittest.TestCase):
    def setUp(self):
        work = tempfile.TemporaryDirectory(prefix="loom-notebook-")
        self.addCleanup(work.cleanup)
        self.folder = Path(work.name) / "experiments/ablation"
        shutil.copytree(SOURCE / "experiments/ablation", self.folder, ignore=shutil.ignore_patterns("out"))
        (Path(work.name) / "configs").symlink_to(SOURCE / "configs")
        launcher = Path(work.name) / "loom"
        launcher.write_text(LAUNCHER.format(python=os.environ["PYTHON"], binary=BINARY))
        launcher.chmod(0o755)
        os.environ["LOOM"] = str(launcher)

    def test_runs(self):
        notebook = nbformat.read(self.folder / "ablation.ipynb", as_version=4)
        code = [c for c in notebook.cells if c.cell_type == "code"]
        lines = sum(len(c.source.splitlines()) for c in code)
        self.assertLessEqual(lines, MOST_LINES)
        self.assertTrue(all(not c.outputs for c in code), "outputs are not kept: they would go stale")
        NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(self.folder)}}).execute()
        self.assertTrue((self.folder / "out/profile.svg").exists())
        rows = loomcloth.iters(self.folder / "out/grid")
        need = loomcloth.to_accuracy(rows, r_energy=1e-5).set_index("method")
        # 20 combinations, of which two projective solvers do not fit the barrier
        self.assertEqual(len(need), 18)
        self.assertEqual(need.loc["cholmod_newton + penalty", "reached"], 10)
        # the control: gradient descent does not get there in 300 iterations
        self.assertLess(need.loc["gd + ipc_barrier", "reached"], 10)


if __name__ == "__main__":
    unittest.main()
