"""`loom sweep`: its refusals, its runs, runs that are done again, and its messages."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from logs import BINARY, Bench, cut_off
from loomcloth.sweep import driver, plan
from sweeps import kill_each_once, same_bits, sweep, write

GRID = """\
[sweep]
config = drape.ini
[set]
run.steps = 4
cloth.sheet.resolution = 7 7
[grid]
solver.plugin = gd | cholmod_pd | cholmod_newton
method = @penalty.ini | @barrier.ini        ; a contact each
"""
METHODS = ("penalty", "barrier")
FITS = {
    "gd__penalty",
    "gd__barrier",
    "cholmod_pd__penalty",
    "cholmod_newton__penalty",
    "cholmod_newton__barrier",
}


class Case(unittest.TestCase):
    def setUp(self):
        work = tempfile.TemporaryDirectory(prefix="loom-sweep-")
        self.addCleanup(work.cleanup)
        self.path = Path(work.name)
        for name, plugin in (("penalty", "penalty"), ("barrier", "ipc_barrier")):
            (self.path / f"{name}.ini").write_text(f"[contact.bodies]\nplugin = {plugin}\n")

    def spec(self, text, name="grid.ini"):
        return write(self.path, text, name)

    def refused(self, text, message, name="grid.ini"):
        done = sweep(self.spec(text, name), code=2)
        self.assertRegex(done.stderr, message)
        self.assertFalse(list(self.path.rglob("*.h5")), "something ran")


class Refusals(Case):
    def test_places_and_near_names(self):
        self.refused(GRID.replace("config =", "confg ="), r"grid.ini:2: \[sweep\] confg: .*'config'")
        self.refused(GRID.replace("[grid]", "[grd]"), r"unknown section \[grd\].*'grid'")
        self.refused(GRID.replace("drape.ini", "nix.ini"), r"grid.ini:2: .*nix.ini: there is no such file")
        self.refused(GRID.replace("@barrier", "@nix"), r"grid.ini:8: \[grid\] method: .*nix.ini")
        self.refused(GRID.replace("gd |", "gd | gd |"), "'gd' stands there twice")
        self.refused(GRID.replace("[set]", "threads = two\n[set]"), r"threads: a whole number")
        self.refused("[sweep]\nconfig = drape.ini\n", "nothing varies")
        self.refused(GRID + "nothing\n", "grid.ini")

    def test_a_key_that_no_run_has(self):
        self.refused(
            GRID.replace("run.steps", "run.stps"), r"grid.ini:4: \[set\] run.stps: .*unknown key.*steps"
        )
        self.refused(GRID + "cloth.sheet.bendin = 1 | 2\n", r"grid.ini:9: .*bendin: unknown key.*bending")

    def test_too_many_combinations(self):
        values = " | ".join(str(i) for i in range(10))
        keys = "".join(f"solver.k{i} = {values}\n" for i in range(7))
        self.refused(f"[sweep]\nconfig = drape.ini\n[grid]\n{keys}", "10,000,000 combinations")

    def test_no_slurm(self):
        """Also where there is one: its programs are hidden."""
        spec = self.spec(GRID)
        path = os.environ["PATH"]
        try:
            os.environ["PATH"] = str(self.path)
            done = sweep(spec, "--slurm", code=2)
        finally:
            os.environ["PATH"] = path
        self.assertIn("sbatch was not found", done.stderr)
        self.assertIn("leave --slurm away", done.stderr)


class Runs(Case):
    def test_runs_what_fits_once(self):
        spec = self.spec(GRID)
        plan = sweep(spec, "--plan")
        self.assertIn("6 combinations: 5 fit, 5 are to be run", plan.stderr)
        self.assertIn("does not fit: cholmod_pd__barrier: solver 'cholmod_pd' needs", plan.stderr)
        out = self.path / "out/grid"
        self.assertFalse(list(out.glob("*.h5")))
        done = sweep(spec, "--cores", 2)
        self.assertIn("5 finished, 1 does not fit", done.stdout)
        logs = {p.stem: p.stat().st_mtime_ns for p in out.glob("*.h5") if ".check" not in p.name}
        self.assertEqual(set(logs), FITS)
        # as `loom run` would have made it
        whole = self.path / "whole.h5"
        words = ["--set", "solver.plugin=gd", "--set", "run.steps=4", "--set", "cloth.sheet.resolution=7 7"]
        subprocess.run(
            [BINARY, "run", "drape.ini", "-o", whole, "--quiet", *words], cwd=self.path, check=True
        )
        same_bits(whole, out / "gd__penalty.h5")
        # again: no runs
        self.assertIn("0 are to be run", sweep(spec).stderr)
        self.assertEqual(
            {p.stem: p.stat().st_mtime_ns for p in out.glob("*.h5") if ".check" not in p.name}, logs
        )
        # one more value: only its runs; other settings: all of them, and finished runs are kept
        sweep(self.spec(GRID.replace("gd |", "gd | pcg_newton |")))
        self.assertEqual((out / "gd__penalty.h5").stat().st_mtime_ns, logs["gd__penalty"])
        self.assertTrue((out / "pcg_newton__barrier.h5").exists())
        sweep(self.spec(GRID.replace("run.steps = 4", "run.steps = 5")))
        self.assertTrue((out / "gd__penalty.old.h5").exists())
        self.assertEqual(len(sweep("status", spec).stdout.splitlines()), 2)

    def test_yaml_and_scratch(self):
        spec = self.spec(
            "sweep: {config: drape.ini, scratch: '$SCRATCH/of-node', group: 2}\n"
            "set: {run.steps: 4, cloth.sheet.resolution: 7 7}\n"
            "grid:\n  solver.plugin: [gd, cholmod_newton]\n  cloth.sheet.k_b: ['1e-5 N m', 1e-4]\n",
            "grid.yaml",
        )
        os.environ["SCRATCH"] = str(self.path / "node")
        done = sweep(spec, "--cores", 1)
        self.assertIn("4 finished", done.stdout)
        logs = sorted(p.stem for p in (self.path / "out/grid").glob("*.h5") if ".check" not in p.name)
        self.assertEqual(
            logs, ["cholmod_newton__1e-4", "cholmod_newton__1e-5xNxm", "gd__1e-4", "gd__1e-5xNxm"]
        )
        self.assertEqual(list((self.path / "node/of-node").glob("*.h5")), [])

    def test_a_log_that_was_cut_off_is_copied_whole(self):
        bench = Bench()
        self.addCleanup(bench.close)
        log, home = bench.run("run"), self.path / "home.h5"
        whole = log.read_bytes()
        cut_off(log)
        driver.copy(log, home, BINARY)
        self.assertEqual(home.read_bytes(), whole)
        cut_off(log)
        driver.remove(log)
        self.assertEqual(list(log.parent.glob("run.h5*")), [])

    def test_failures_by_cause(self):
        """A run that cannot be written fails alone, and is not tried again unless that is asked for."""
        spec = self.spec(GRID)
        out = self.path / "out/grid"
        out.mkdir(parents=True)
        (out / "SWEEP").touch()
        (out / "gd__penalty.h5").write_text("not a log of ours\n")
        done = sweep(spec, code=1)
        self.assertIn("4 finished, 1 failed, 1 does not fit", done.stdout)
        self.assertRegex(
            done.stdout,
            r"1 x FILE exists and is no log of loom.*\n +such as gd__penalty: .*state/gd__penalty.txt",
        )
        self.assertEqual((out / "gd__penalty.h5").read_text(), "not a log of ours\n")
        self.assertIn("0 are to be run", sweep(spec, code=1).stderr)
        (out / "gd__penalty.h5").unlink()
        self.assertIn("5 finished", sweep(spec, "--again").stdout)

    def test_killed_runs_go_on(self):
        """Each run is killed once behind a checkpoint; one call more finishes all, to the same bits."""
        text = GRID.replace(
            "run.steps = 4", "run.steps = 250\nlog.checkpoint_every = 5\nlog.frames_every = 50"
        )
        text = text.replace("config = drape.ini", "config = drape.ini\nretries = 0")
        for name in ("grid.ini", "calm.ini"):
            self.spec(text, name)
        out = self.path / "out/grid"
        with subprocess.Popen(
            [os.environ["PYTHON"], "-m", "loomcloth.sweep", str(self.path / "grid.ini")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as first:
            killed = kill_each_once(out, first)
        self.assertGreaterEqual(len(killed), 3, "the runs were over before they could be killed")
        told = sweep("status", self.path / "grid.ini", code=1).stdout
        self.assertIn(f"{len(killed)} cut off", told)
        self.assertIn("killed by SIGKILL", told)
        sweep(self.path / "grid.ini")
        sweep(self.path / "calm.ini")
        for name in FITS:
            same_bits(out / f"{name}.h5", self.path / f"out/calm/{name}.h5")

    def test_ctrl_c(self):
        """As a terminal sends it: every run stops with a checkpoint, and goes on to the same bits."""
        text = GRID.replace("run.steps = 4", "run.steps = 250\nlog.checkpoint_every = 5")
        text = text.replace("gd | cholmod_pd | cholmod_newton", "gd | cholmod_newton")
        for name in ("grid.ini", "calm.ini"):
            self.spec(text, name)
        out, names = self.path / "out/grid", [f"{s}__{m}" for s in ("gd", "cholmod_newton") for m in METHODS]
        words = [os.environ["PYTHON"], "-m", "loomcloth.sweep", str(self.path / "grid.ini"), "--cores", "2"]
        with subprocess.Popen(
            words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
        ) as first:
            while not list(out.glob("*.check.h5")):
                self.assertIsNone(first.poll())
                time.sleep(0.02)
            os.killpg(first.pid, signal.SIGINT)
            _, said = first.communicate(timeout=120)
        self.assertEqual(first.returncode, 130, said)
        self.assertIn("every run that is going on writes a checkpoint", said)
        cut = [json.loads(p.read_text()) for p in (out / "state").glob("*.failed")]
        self.assertGreaterEqual(len(cut), 1, "the runs were over before they could be stopped")
        for mark in cut:
            self.assertEqual((mark["code"], mark["settled"]), (5, False), mark)
        self.assertEqual(list((out / "state").glob("*.running")), [])
        sweep(self.path / "grid.ini")
        sweep(self.path / "calm.ini")
        for name in names:
            same_bits(out / f"{name}.h5", self.path / f"out/calm/{name}.h5")

    def test_a_folder_with_braces_and_quotes(self):
        """In its path, of the specification and of an overlay."""
        self.path = self.path / "a {b} 'c' $(touch X)"
        (self.path / "{o}").mkdir(parents=True)
        (self.path / "{o}/x.ini").write_text("[contact.bodies]\nplugin = penalty\n")
        spec = self.spec("[sweep]\nconfig = drape.ini\n[set]\nrun.steps = 2\n[grid]\nm = @{o}/x.ini\n")
        self.assertIn("1 finished", sweep(spec).stdout)
        self.assertEqual(list(self.path.rglob("X")), [])

    def test_time_is_up(self):
        """A job that must end leaves its runs to the next start, and says so."""
        spec = self.spec(GRID)
        sweep(spec, "--plan")
        sweep(spec)
        shutil.rmtree(self.path / "out/grid/state")
        for log in (self.path / "out/grid").glob("*.h5"):
            log.unlink()
        group = self.path / "out/grid/groups/0000.json"
        job = json.loads(group.read_text()) | {"seconds": 10.5}
        run = job["runs"][0]
        run["words"] += ["--set", "run.steps=100000"]
        run["key"], run["hash"], _ = plan.ask(job["loom"], run["config"], run["words"], job["folder"])
        group.write_text(json.dumps(job))
        (self.path / "out/grid/state").mkdir()
        driver = [os.environ["PYTHON"], "-m", "loomcloth.sweep.driver", str(group)]
        self.assertEqual(subprocess.run(driver).returncode, 1)
        mark = json.loads((self.path / f"out/grid/state/{job['runs'][0]['name']}.failed").read_text())
        self.assertEqual((mark["code"], mark["settled"]), (6, False))


if __name__ == "__main__":
    unittest.main()
