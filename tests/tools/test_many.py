"""A thousand short runs through `loom sweep` against the same runs by hand: processor time beside the runs
themselves, and fifty that are killed.  LOOM_MANY=N takes fewer."""

import csv
import os
import resource
import subprocess
import tempfile
import unittest
from pathlib import Path

from logs import BINARY
from sweeps import kill_each_once, same_bits, sweep, write

MANY = int(os.environ.get("LOOM_MANY", "1000"))
MOST_TABLE = 20.0  # s of processor time
MOST = 0.2  # s of processor time for each run, beside `loom run` itself
GRID = """\
[sweep]
config = hang.ini
limit = 5000
{more}
[set]
{fixed}
[grid]
cloth.sheet.k_b = {bending}
solver.plugin = gd | cholmod_pd | cholmod_newton | pcg_newton
"""


def used():
    total = resource.getrusage(resource.RUSAGE_CHILDREN)
    return total.ru_utime + total.ru_stime


def spec(folder, count, name, fixed, more=""):
    bending = " | ".join(f"{1e-5 * (1 + i)!r}" for i in range(count // 4))
    return write(folder, GRID.format(bending=bending, fixed=fixed, more=more), name)


class Many(unittest.TestCase):
    def setUp(self):
        work = tempfile.TemporaryDirectory(prefix="loom-many-")
        self.addCleanup(work.cleanup)
        self.path = Path(work.name)

    def test_overhead(self):
        grid = spec(self.path, MANY, "grid.ini", "run.steps = 3")
        begun = used()
        done = sweep(grid, "--cores", 2)
        whole = used() - begun
        self.assertIn(f"{4 * (MANY // 4)} finished", done.stdout)
        begun = used()
        for i in range(20):
            words = ["-o", f"hand{i}.h5", "--quiet", "--threads", "1", "--set", "run.steps=3"]
            solver = ("gd", "cholmod_pd", "cholmod_newton", "pcg_newton")[i % 4]
            words += ["--set", f"solver.plugin={solver}", "--set", "cloth.sheet.k_b=1e-5"]
            subprocess.run([BINARY, "run", "hang.ini", *words], cwd=self.path, check=True)
        each = (used() - begun) / 20
        beside = whole / (4 * (MANY // 4)) - each
        print(f"{MANY} runs: {whole:.1f} s; each {each:.4f} s by hand, {beside:.4f} s beside it")
        self.assertLess(beside, MOST)
        begun = used()
        command = [os.environ["PYTHON"], "-m", "loomcloth.table", "out/grid", "-o", "all.csv", "--quiet"]
        subprocess.run(command, cwd=self.path, check=True)
        table = used() - begun
        print(f"loom table of them: {table:.1f} s")
        with open(self.path / "all.csv", newline="") as file:
            self.assertEqual(len(list(csv.reader(file))), 1 + 4 * (MANY // 4))
        self.assertLess(table, MOST_TABLE)

    def test_fifty_are_killed(self):
        fixed = "run.steps = 400\nlog.checkpoint_every = 10\nlog.frames_every = 100"
        grid = spec(self.path, 52, "grid.ini", fixed, "retries = 0")
        with subprocess.Popen(
            [os.environ["PYTHON"], "-m", "loomcloth.sweep", str(grid)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as first:
            killed = kill_each_once(self.path / "out/grid", first)
        print(f"{len(killed)} of 52 were killed")
        self.assertGreaterEqual(len(killed), 50 if MANY >= 1000 else 20)
        self.assertIn("52 finished", sweep(grid).stdout)
        sweep(spec(self.path, 52, "calm.ini", fixed))
        for name in killed:
            same_bits(self.path / f"out/grid/{name}.h5", self.path / f"out/calm/{name}.h5")


if __name__ == "__main__":
    unittest.main()
