"""Files of a sweep, the contents by which it knows its runs, how a driver stops; without Snakemake."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

import h5py
from logs import BINARY, inside
from loomcloth.errors import SpecError
from loomcloth.sweep import driver, status, workflow
from loomcloth.sweep import plan as planning
from loomcloth.sweep import spec as specification
from sweeps import write

SPEC = """\
[sweep]
config = hang.ini
[grid]
scene = @a/x.ini | @b/x.ini
"""


class Case(unittest.TestCase):
    def setUp(self):
        work = tempfile.TemporaryDirectory(prefix="loom-sweep-")
        self.addCleanup(work.cleanup)
        self.path = Path(work.name)
        for name, stiffness in (("a", 100), ("b", 900)):
            (self.path / name).mkdir()
            (self.path / name / "x.ini").write_text(f"[cloth.sheet]\nmembrane = {stiffness}\n")

    def plan(self, text=SPEC, name="grid.ini", folder=None):
        return planning.make(specification.read(write(folder or self.path, text, name)), 2)

    def keys(self, text=SPEC):
        return {c.run.name: c.key for c in self.plan(text).fits}

    def membranes(self, plan):
        found = []
        for c in plan.fits:
            done = subprocess.run([BINARY, "check", c.config, *c.run.words()], capture_output=True, text=True)
            found += [ln for ln in done.stdout.splitlines() if ln.startswith("membrane =")]
        return found


class Overlays(Case):
    def test_overlays_of_one_name_are_two(self):
        plan = self.plan()
        self.assertEqual(self.membranes(plan), ["membrane = 100", "membrane = 900"])
        self.assertEqual(len({c.key for c in plan.fits}), 2)
        for stem in ("a_b", "c", "a", "b_c"):  # joined by _, both pairs are a_b_c
            value = f"{len(stem)}{ord(stem[0])}"
            (self.path / f"{stem}.ini").write_text(f"[cloth.sheet]\nmembrane = {value}\n")
        joined = "[sweep]\nconfig = hang.ini\n[grid]\none = @a_b.ini | @a.ini\ntwo = @c.ini | @b_c.ini\n"
        self.assertEqual(len({c.config for c in self.plan(joined, "joined.ini").fits}), 4)

    def test_names_that_are_hard_to_write(self):
        for name in ("b r{a}ce", "se;mi#colon", "it's", 'quo"te', "{wildcards.g}", "$(touch X)", "`x`"):
            folder = self.path / name
            folder.mkdir()
            (folder / "x.ini").write_text("[cloth.sheet]\nmembrane = 777\n")
            grid = {"s": [f"@{name}/x.ini"]}
            text = json.dumps({"sweep": {"config": "hang.ini"}, "grid": grid})
            plan = self.plan(text, "grid.yaml")
            self.assertEqual(self.membranes(plan), ["membrane = 777"], name)
        text = json.dumps({"sweep": {"config": "hang.ini"}, "grid": {"s": ["@a\n[run]/x.ini"]}})
        with self.assertRaisesRegex(SpecError, "line break or control character"):
            self.plan(text, "grid.yaml")
        both = self.path / "b'o\"t;h"
        both.mkdir()
        (both / "x.ini").write_text("")
        with self.assertRaisesRegex(SpecError, "both kinds of quotes"):
            self.plan(json.dumps({"sweep": {"config": "hang.ini"}, "grid": {"s": [f"@{both.name}/x.ini"]}}),
                      "grid.yaml")  # fmt: skip

    def test_a_line_break_in_the_name_of_the_specification(self):
        with self.assertRaisesRegex(SpecError, "control characters"):
            self.plan(name="grid\nshell: touch X\n.ini")


class Keys(Case):
    def reference(self, name, *words):
        write(self.path, "")
        words = [BINARY, "run", "hang.ini", "-o", name, "--quiet", *words]
        subprocess.run(words, cwd=self.path, check=True)

    def test_a_reference_is_known_by_its_content(self):
        """Also where an overlay, or a file that it includes, names it."""
        self.reference("ref.h5")
        self.reference("other.h5", "--set", "stop.max_iters=1")
        (self.path / "deep").mkdir()
        (self.path / "deep/names.ini").write_text("[run]\nreplay = ../ref.h5\n")
        (self.path / "by.ini").write_text("include = deep/names.ini\n")
        for text in (
            "[sweep]\nconfig = hang.ini\n[grid]\nproblem = @by.ini\n",
            "[sweep]\nconfig = hang.ini\n[set]\nrun.replay = ref.h5\n[grid]\nstop.max_iters = 3\n",
        ):
            before, content = self.keys(text), (self.path / "ref.h5").read_bytes()
            self.assertEqual(len(before), 1)
            os.utime(self.path / "ref.h5", (1, 1))
            self.assertEqual(self.keys(text), before, "touched, not changed")
            (self.path / "ref.h5").write_bytes((self.path / "other.h5").read_bytes())
            after = self.keys(text)
            self.assertEqual(list(after), list(before))  # it fits as before
            self.assertNotEqual(after, before)
            (self.path / "ref.h5").write_bytes(content)
            self.assertEqual(self.keys(text), before)

    def test_files_of_a_sequence(self):
        folder = self.path / "walk"
        folder.mkdir()
        (folder / "f01.obj").write_text("one")
        line = f"frames = {folder}/f%02d.obj"
        one = planning._by_content(line, ("/",), BINARY)
        (folder / "f02.obj").write_text("two")
        self.assertNotEqual(planning._by_content(line, ("/",), BINARY), one)

    def test_a_study_may_be_moved(self):
        self.reference("ref.h5")
        with tempfile.TemporaryDirectory() as work:
            shutil.copy(self.path / "ref.h5", work)
            for folder in (self.path, Path(work)):
                (folder / "o.ini").write_text("[run]\nreplay = ref.h5\n")
            text = "[sweep]\nconfig = hang.ini\n[grid]\nproblem = @o.ini\n"
            here, there = self.plan(text), self.plan(text, folder=Path(work))
            self.assertEqual([c.key for c in here.fits], [c.key for c in there.fits])
            self.assertEqual(len(here.fits), 1)


class Folder(Case):
    def refused(self, message, text=SPEC):
        before = {p: p.lstat().st_mtime_ns for p in self.path.rglob("*")}
        with self.assertRaisesRegex(SpecError, message):
            self.plan(text)
        after = {p: p.lstat().st_mtime_ns for p in self.path.rglob("*")}
        for p in ("grid.ini", "drape.ini", "hang.ini"):  # files that the test itself wrote again
            after.pop(self.path / p, None), before.pop(self.path / p, None)
        self.assertEqual(after, before)

    def test_a_foreign_folder_is_refused(self):
        write(self.path, SPEC)
        for name in ("groups", "configs", "mine"):
            (self.path / "project" / name).mkdir(parents=True)
        (self.path / "project/Snakefile").write_text("mine\n")
        text = SPEC.replace("hang.ini\n", "hang.ini\noutput = project\n")
        self.refused(r"grid.ini:3: \[sweep\] output: .*project: holds other files", text)
        self.refused("holds other files", SPEC.replace("hang.ini\n", "hang.ini\noutput = .\n"))
        (self.path / "project/state").mkdir()
        (self.path / "project/manifest.json").write_text("[]\n")
        self.refused("an earlier version.*`touch .*SWEEP`", text)
        (self.path / "project/SWEEP").symlink_to("Snakefile")
        self.refused("holds other files", text)

    def test_what_it_made_is_its_own(self):
        self.plan()
        self.plan()
        self.assertTrue((self.path / "out/grid/SWEEP").is_file())
        (self.path / "out/old/state").mkdir(parents=True)
        (self.path / "out/old/manifest.json").write_text("[]\n")
        old = SPEC.replace("hang.ini\n", "hang.ini\noutput = out/old\n")
        self.refused("earlier version", old)
        (self.path / "out/old/SWEEP").touch()
        self.assertEqual(len(self.plan(old).fits), 2)

    def test_links_in_it_are_not_followed(self):
        self.plan()
        out = self.path / "out/grid"
        (out / "groups").symlink_to(self.path)
        self.refused("groups: is a symbolic link")
        (out / "groups").unlink()
        run = self.plan().fits[0].run.name
        (out / f"{run}.h5").symlink_to(self.path / "hang.ini")
        self.refused("is a symbolic link; a sweep writes no log through it")


class Words(Case):
    def test_slurm_extra_is_words(self):
        text = SPEC + "[slurm]\nextra = --requeue $(touch X) --comment='a b' `id`\n"
        plan = self.plan(text)
        self.assertEqual(shlex.split(plan.spec.slurm["extra"]),
                         ["--requeue", "$(touch", "X)", "--comment=a b", "`id`"])  # fmt: skip
        with tempfile.TemporaryDirectory() as work:
            line = f"echo {plan.spec.slurm['extra']}"
            subprocess.run(["sh", "-c", line], cwd=work, stdout=subprocess.DEVNULL)
            self.assertEqual(os.listdir(work), [])
        workflow.write(plan, 2, True)
        snakefile = (self.path / "out/grid/Snakefile").read_text()
        self.assertIn(f"slurm_extra={plan.spec.slurm['extra']!r}", snakefile)
        with self.assertRaisesRegex(SpecError, "extra: is no list of words"):
            self.plan(SPEC + "[slurm]\nextra = --comment='a\n")

    def test_braces_are_no_placeholders(self):
        self.assertEqual(workflow.literal("/a{b}/c").format(), "/a{b}/c")

    def test_numbers(self):
        for line in ("threads = 0", "time = 0", "memory = 99999999999999999999", "retries = -1"):
            with self.assertRaisesRegex(SpecError, f"{line.split()[0]}: (at least 1|a whole number)"):
                self.plan(SPEC.replace("hang.ini\n", f"hang.ini\n{line}\n"))

    def test_names_of_checkpoints_are_not_taken(self):
        text = "[sweep]\nconfig = hang.ini\n[grid]\nbody.x.file = a.check | a.old\n"
        for run in specification.read(write(self.path, text)).runs():
            self.assertRegex(run.name, r"^a\.(check|old)__[0-9a-f]{8}$")


class Driver(Case):
    def job(self, steps, **more):
        """Two runs of a group as workflow.py writes it."""
        fixed = f"[set]\nrun.steps = {steps}\nlog.checkpoint_every = 5\n"
        plan = self.plan(SPEC.replace("[grid]", f"{fixed}[grid]"))
        workflow.write(plan, 1, False)
        path = self.path / "out/grid/groups/0000.json"
        job = json.loads(path.read_text()) | more
        path.write_text(json.dumps(job))
        return plan, job, path

    def start(self, path):
        return subprocess.Popen([os.environ["PYTHON"], "-m", "loomcloth.sweep.driver", str(path)],
                                start_new_session=True)  # fmt: skip

    def mark(self, name):
        return json.loads((self.path / f"out/grid/state/{name}").read_text())

    def test_what_changed_since_the_plan_is_not_run(self):
        plan, job, path = self.job(3)
        name = job["runs"][0]["name"]
        (self.path / "a/x.ini").write_text("[cloth.sheet]\nmembrane = 101\n")
        self.assertEqual(self.start(path).wait(), 0)  # not tried again by this sweep
        found = self.mark(f"{name}.failed")
        self.assertIn("has changed since the plan", found["cause"])
        self.assertFalse(found["settled"])
        self.assertFalse((self.path / f"out/grid/{name}.h5").exists())
        again = planning.make(plan.spec, 1)
        self.assertEqual(len(again.pending), 2)

    def test_a_log_of_another_configuration_is_told(self):
        _, job, path = self.job(3)
        job["runs"][0]["hash"] = "0123456789abcdef"
        path.write_text(json.dumps(job))
        self.start(path).wait()
        name = job["runs"][0]["name"]
        self.assertIn("0123456789abcdef was planned", self.mark(f"{name}.failed")["cause"])
        with h5py.File(self.path / f"out/grid/{name}.h5") as log:
            self.assertIn(log.attrs["config_hash"].decode(), self.mark(f"{name}.failed")["cause"])

    def test_ctrl_c_stops_with_a_checkpoint(self):
        """As a terminal sends it, to the group of processes."""
        _, job, path = self.job(100000)
        name = job["runs"][0]["name"]
        child = self.start(path)
        while not (self.path / f"out/grid/{name}.check.h5").exists():
            self.assertIsNone(child.poll())
            time.sleep(0.02)
        os.killpg(child.pid, signal.SIGINT)
        self.assertEqual(child.wait(), 1)
        found = self.mark(f"{name}.failed")
        self.assertEqual((found["code"], found["settled"]), (5, False))
        with h5py.File(self.path / f"out/grid/{name}.h5") as log:
            self.assertEqual(log["status"][()].decode().rstrip("\0"), "stopped")

    def test_ctrl_c_while_a_run_is_checked(self):
        """The run is neither begun nor marked: nothing is wrong with it."""
        _, job, path = self.job(100000)
        slow = self.path / "slow.sh"  # the driver leads the group that a terminal signals
        slow.write_text(f'#!/bin/sh\nkill -INT -$PPID\nsleep 0.2\nexec {BINARY} "$@"\n')
        slow.chmod(0o755)
        path.write_text(json.dumps(job | {"loom": str(slow)}))
        self.assertEqual(self.start(path).wait(), 1)
        self.assertEqual([p.name for p in (self.path / "out/grid/state").glob("*.failed")], [])
        self.assertEqual(list((self.path / "out/grid").glob("*.h5")), [])

    def test_one_signal_and_the_second_ctrl_c(self):
        """A scheduler's signal behind a Ctrl-C does not force an end; a second Ctrl-C does."""
        one = object.__new__(driver.Driver)
        one.stopping, one.child = 0, mock.Mock(returncode=None)
        sent = one.child.send_signal
        for sig, count in ((signal.SIGINT, 1), (signal.SIGTERM, 1), (signal.SIGHUP, 1), (signal.SIGINT, 2)):
            one.stop(sig, None)
            self.assertEqual(sent.call_args_list, [mock.call(signal.SIGTERM)] * count)


class Node(Case):
    def test_a_dead_node(self):
        """A run on another node is cut off where Slurm has its job no more."""
        plan = self.plan()
        planning.write_manifest(plan)
        one, two = (c.run.name for c in plan.fits)
        for name, job in ((one, "17"), (two, "18")):
            mark = {"key": "", "host": "elsewhere", "pid": 1, "SLURM_JOB_ID": job}
            (plan.state / f"{name}.running").write_text(json.dumps(mark))
        squeue = self.path / "bin/squeue"
        squeue.parent.mkdir()
        for script, counts in (
            ("echo 18; echo 99", {"running": 1, "cut off": 1}),
            ("exit 1", {"running": 2}),
        ):
            squeue.write_text(f"#!/bin/sh\n{script}\n")
            squeue.chmod(0o755)
            with mock.patch.dict(os.environ, PATH=f"{squeue.parent}:{os.environ['PATH']}"):
                found = status.read(plan.spec.output)
            self.assertEqual(dict(found.counts), counts)
        self.assertEqual(found.causes, {})

    def test_jobs_have_the_name_of_the_specification(self):
        plan = self.plan()
        self.assertEqual(workflow.job_names(plan.spec), ["--slurm-jobname-prefix", "loom-grid"])


class Told(Case):
    def test_causes_have_their_numbers(self):
        """Causes that differ in numbers alone stand in one line, with that of one run below it."""
        plan = self.plan()
        planning.write_manifest(plan)
        for counts, first, second in (
            ((54, 54), "2 x stopped after 54 of 60 steps", "such as {0}: {1}/state/{0}.txt"),
            ((54, 12), "2 x stopped after N of N steps",
             "such as {0}: stopped after 54 of 60 steps: {1}/state/{0}.txt"),
        ):  # fmt: skip
            for c, count in zip(plan.fits, counts, strict=True):
                mark = {"key": c.key, "cause": f"stopped after {count} of 60 steps", "settled": True}
                (plan.state / f"{c.run.name}.failed").write_text(json.dumps(mark))
            lines = [line.strip() for line in status.tell(plan.spec.output, status.read(plan.spec.output))]
            self.assertEqual(lines[1], first)
            self.assertEqual(lines[2], second.format(plan.fits[0].run.name, plan.spec.output))

    def test_status_gives_a_terminal_no_escape_sequence(self):
        out = self.plan().spec.output
        why = "\x1b]0;x\x07\x1b[2Jno\nloom: forged"
        rows = [{"name": "a\x1b[31m", "why": why, "key": ""}]
        (out / "manifest.json").write_text(json.dumps(rows))
        done = inside(self.path, "sweep", "status", "grid.ini")
        self.assertNotRegex(done.stdout + done.stderr, "[\x00-\x08\x0b-\x1f\x7f-\x9f]")
        self.assertNotIn("\nloom: forged", done.stdout)


if __name__ == "__main__":
    unittest.main()
