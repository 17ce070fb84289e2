"""`loom sweep --slurm` on a real Slurm of one node, with runs, a job and the node's daemon killed."""

import os
import shutil
import subprocess
import tempfile
import time
import unittest
import zipfile
from pathlib import Path
from unittest import mock

import h5py
from logs import inside
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


STUDY = """\
[sweep]
config = drape.ini
group = 1
retries = 0
memory = 500
[reference]
solver    = cholmod_newton
tolerance = 1e-8 m
max_iters = 50
[set]
run.replay_first = 398
run.steps = 2
cloth.sheet.resolution = 9 9
log.checkpoint_every = 5
log.frames_every = 100
[grid]
solver.plugin = gd | cholmod_pd
fabric = @soft.ini | @stiff.ini
[slurm]
partition = normal
"""


def read_attribute(log, name):
    with h5py.File(log) as file:
        return file.attrs[name]


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

    def test_references_end_before_their_runs_begin(self):
        """A study with includes of the search path; a reference dies once and goes on."""
        (self.path / "library/fabrics").mkdir(parents=True)
        for name, value in (("soft", 100), ("stiff", 900)):
            (self.path / f"library/fabrics/{name}.ini").write_text(f"[cloth.sheet]\nmembrane = {value}\n")
            (self.path / f"{name}.ini").write_text(f"include = fabrics/{name}.ini\n")
        spec, out = write(self.path, STUDY), self.path / "out/grid"
        with mock.patch.dict(os.environ, LOOM_CONFIG_PATH=str(self.path / "library")):
            first = self.start(spec)
            killed = kill_each_once(out / "references", first)
            self.assertGreaterEqual(len(killed), 1)
            second = sweep(spec, "--slurm")
            self.assertIn("references: 2 combinations: 2 finished", second.stdout)
            self.assertIn("grid: 4 combinations: 4 finished", second.stdout)
            self.assertIn("4 fit, 0 are to be run", sweep(spec, "--slurm").stderr)
            write(self.path, STUDY, "calm.ini")
            sweep(self.path / "calm.ini", "--cores", 2)
            done = inside(self.path, "archive", "grid.ini", "-o", "study.zip")
        self.assertEqual(done.returncode, 0, done.stderr)
        with zipfile.ZipFile(self.path / "study.zip") as file:
            file.extractall(self.path / "elsewhere")
        told = sweep(self.path / "elsewhere/grid.ini", "--slurm").stderr
        self.assertIn("references: 2 combinations: 2 fit, 0 are to be run", told)
        self.assertIn("sweep: 4 combinations: 4 fit, 0 are to be run", told)
        ended = {}
        for log in sorted((out / "references").glob("s*.h5")):
            if ".check" not in log.name:
                same_bits(log, self.path / "out/calm/references" / log.name)
                ended[log.stem] = read_attribute(log, "end_time")
        for log in sorted(p for p in out.glob("*__*.h5") if ".check" not in p.name):
            same_bits(log, self.path / "out/calm" / log.name)
            self.assertGreaterEqual(read_attribute(log, "created"), ended[log.stem.split("__")[1]])

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
