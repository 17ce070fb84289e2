"""`loom sweep --slurm` on a real Slurm of one node, with runs, a job and the node's daemon killed."""

import os
import shutil
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from slurm import Slurm, missing
from sweeps import kill_each_once, same_bits, sweep, write

GRID = """\
[sweep]
config = drape.ini
group = 2
retries = 0
memory = 500
[set]
run.steps = 400
cloth.sheet.resolution = 9 9
log.checkpoint_every = 5
log.frames_every = 100
[grid]
solver.plugin = gd | cholmod_pd | cholmod_newton
cloth.sheet.k_b = 1e-5 | 1e-4
[slurm]
partition = normal
"""


@unittest.skipIf(missing(), missing())
class OnSlurm(unittest.TestCase):
    def setUp(self):
        self.path = Path(tempfile.mkdtemp(prefix="loom-slurm-"))
        self.addCleanup(shutil.rmtree, self.path, True)
        self.slurm = Slurm(self.path)
        self.addCleanup(self.slurm.close)

    def start(self, spec):
        return subprocess.Popen(
            [os.environ["PYTHON"], "-m", "loomcloth.sweep", str(spec), "--slurm"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def test_nothing_is_lost(self):
        spec, out = write(self.path, GRID), self.path / "out/grid"
        first = self.start(spec)
        for _ in range(600):
            if self.slurm.jobs() or first.poll() is not None:
                break
            time.sleep(0.2)
        jobs = self.slurm.jobs()
        self.assertTrue(jobs, "no job ever ran")
        # the daemon dies and comes back: running jobs go on
        self.slurm.kill("slurmd")
        self.slurm.start("slurmd")
        # a job dies, and then every run once
        subprocess.run(["scancel", "--signal=KILL", "--full", jobs[0]], check=False)
        killed = kill_each_once(out, first)
        told = sweep("status", spec, code=None).stdout
        self.assertGreaterEqual(len(killed), 2, told)
        self.assertNotIn("6 finished", told)
        second = sweep(spec, "--slurm")
        self.assertIn("6 finished", second.stdout)
        write(self.path, GRID, "calm.ini")
        sweep(self.path / "calm.ini", "--cores", 2)
        for log in sorted((self.path / "out/calm").glob("*.h5")):
            if ".check" not in log.name:
                same_bits(out / log.name, log)


if __name__ == "__main__":
    unittest.main()
