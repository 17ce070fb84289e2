"""A study as one specification: axes that vary together, references, runs behind other runs."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import h5py
from logs import inside
from loomcloth.errors import SpecError
from loomcloth.sweep import plan as planning
from loomcloth.sweep import spec as specification
from loomcloth.sweep import stages
from sweeps import REFERENCED, drive, write

TIED = """\
[sweep]
config = hang.ini
[set]
body.b.file = meshes/{membrane}_{solver.plugin}.obj
[grid]
solver.plugin = gd | cholmod_pd
cloth.sheet.membrane, cloth.sheet.k_b = 100 N/m, 1e-6 | 900 N/m, 1e-5
"""


class Case(unittest.TestCase):
    def setUp(self):
        work = tempfile.TemporaryDirectory(prefix="loom-study-")
        self.addCleanup(work.cleanup)
        self.path = Path(work.name)

    def spec(self, text, name="grid.ini"):
        return specification.read(write(self.path, text, name))

    def refused(self, text, message):
        with self.assertRaisesRegex(SpecError, message):
            self.spec(text).runs()


class Together(Case):
    def test_keys_that_vary_together(self):
        runs = {r.name: r.sets for r in self.spec(TIED).runs()}
        names = [f"{s}__{f}" for s in ("gd", "cholmod_pd") for f in ("100xNxm_1e-6", "900xNxm_1e-5")]
        self.assertEqual(list(runs), names)
        one = runs["gd__900xNxm_1e-5"]
        self.assertEqual((one["cloth.sheet.membrane"], one["cloth.sheet.k_b"]), ("900 N/m", "1e-5"))
        yaml = (
            "sweep: {config: hang.ini}\ngrid:\n  'solver.plugin': [gd, cholmod_pd]\n"
            "  'cloth.sheet.membrane, cloth.sheet.k_b': ['100 N/m, 1e-6', '900 N/m, 1e-5']\n"
        )
        self.assertEqual([r.name for r in self.spec(yaml, "grid.yaml").runs()], names)

    def test_a_file_and_a_value_together(self):
        (self.path / "a.ini").write_text("")
        text = "[sweep]\nconfig = hang.ini\n[grid]\nfabric, cloth.sheet.k_b = @a.ini, 1 | @hang.ini, 2\n"
        runs = self.spec(text).runs()
        self.assertEqual([r.name for r in runs], ["a_1", "hang_2"])
        self.assertEqual([p.name for p in runs[0].overlays], ["a.ini"])
        self.assertEqual(runs[0].sets, {"cloth.sheet.k_b": "1"})

    def test_refusals(self):
        short = TIED.replace("900 N/m, 1e-5", "900 N/m")
        self.refused(short, r"grid.ini:7: .*each choice has 2 values.*'900 N/m'")
        self.refused(TIED + "cloth.sheet.k_b = 1\n", r"grid.ini:7: .*cloth.sheet.k_b varies twice")
        both = TIED.replace("body.b.file", "cloth.sheet.k_b")
        self.refused(both, r"grid.ini:7: .*stands in \[set\], too")
        self.refused(TIED.replace("900 N/m, 1e-5", "100 N/m, 1e-6"), "'100 N/m, 1e-6' stands there twice")

    def test_the_word_of_an_axis_in_a_value(self):
        files = [r.sets["body.b.file"] for r in self.spec(TIED).runs()]
        self.assertEqual(files[0], "meshes/100xNxm_gd.obj")
        self.assertEqual(files[3], "meshes/900xNxm_cholmod_pd.obj")
        other = self.spec(TIED.replace("{membrane}", "{of another program}")).runs()
        self.assertEqual(other[0].sets["body.b.file"], "meshes/{of another program}_gd.obj")
        self.refused(TIED.replace("{membrane}", "{membrne}"), r"grid.ini:4: .*did you mean 'membrane'")


STUDY = """\
[sweep]
config = drape.ini
""" + REFERENCED + """\
contact       = @none.ini | @penalty.ini
fabric        = @soft.ini | @stiff.ini
"""


class References(Case):
    def setUp(self):
        super().setUp()
        for name, text in (
            ("none", "[contact.bodies]\nplugin = none\n"),
            ("penalty", "[contact.bodies]\nplugin = penalty\n"),
            ("soft", "[cloth.sheet]\nmembrane = 100\n"),
            ("stiff", "[cloth.sheet]\nmembrane = 900\n"),
        ):
            (self.path / f"{name}.ini").write_text(text)

    def plan(self, text=STUDY):
        return planning.make(self.spec(text), 2)

    def with_references(self, text=STUDY):
        """The plan of the runs behind finished references, and that of the references."""
        plan = self.plan(text)
        made = planning.make(stages.references_of(plan), 2)
        drive(made)
        stages.assign(plan, made, 2)
        planning.choose(plan, False)
        return plan, made

    def test_one_for_each_problem(self):
        """Contact and solver pose no problem; a fabric does, though its axis is one of overlays."""

        def names(text):
            return [r.name for r in stages.references_of(self.plan(text)).runs()]

        self.assertEqual(names(STUDY), ["soft", "stiff"])
        self.assertEqual(names(STUDY.replace("max_iters", "axes = contact\nmax_iters")),
                         ["none__soft", "none__stiff", "penalty__soft", "penalty__stiff"])  # fmt: skip
        self.assertEqual(names(STUDY.replace("fabric        = @soft.ini | @stiff.ini\n", "")), ["reference"])
        self.assertEqual(names(STUDY.replace("@soft.ini | @stiff.ini", "@soft.ini")), ["reference"])
        run = stages.references_of(self.plan()).runs()[0]
        self.assertEqual(run.sets["run.steps"], "8")  # as many as are replayed
        self.assertEqual((run.sets["stop.tol_abs"], run.sets["stop.tol_rel"]), ("1e-8 m", "0"))
        self.assertEqual([p.name for p in run.overlays], ["soft.ini"])

    def test_made_replayed_and_known_by_content(self):
        plan, made = self.with_references()
        self.assertEqual([c.run.name for c in made.fits], ["soft", "stiff"])
        self.assertEqual([c.why for c in plan.refused], [])
        self.assertEqual(len(plan.pending), 8)
        for c in plan.fits:
            fabric = c.run.name.rsplit("__", 1)[1]
            self.assertEqual(c.run.sets["run.replay"], f"out/grid/references/{fabric}.h5")
        drive(plan)
        self.assertEqual(self.again(), ([], []))
        # the folder elsewhere: nothing is to be run
        moved = self.path.parent / f"{self.path.name}-moved"
        shutil.copytree(self.path, moved)
        self.addCleanup(shutil.rmtree, moved)
        here, self.path = self.path, moved
        self.assertEqual(self.again(), ([], []))
        self.path = here
        # another tolerance: the references are made anew, and so are their runs
        looser = STUDY.replace("1e-8 m", "1e-7 m")
        self.assertEqual(self.again(looser)[0], ["soft", "stiff"])
        plan, _ = self.with_references(looser)
        self.assertEqual(len(plan.pending), 8)

    def again(self, text=STUDY):
        """Names of pending references, and of runs."""
        plan = self.plan(text)
        made = planning.make(stages.references_of(plan), 2)
        stages.assign(plan, made, 2)
        planning.choose(plan, False)
        return [c.run.name for c in made.pending], [c.run.name for c in plan.pending]

    def test_a_reference_that_did_not_converge(self):
        few = STUDY.replace("max_iters = 50", "max_iters = 1").replace("= cholmod_newton", "= gd")
        plan, _ = self.with_references(few)
        self.assertEqual([c.run.name for c in plan.pending], [])
        self.assertRegex(
            plan.fits[0].waits,
            r"its reference soft did not converge in 2 of 2 replayed steps "
            r"\(step 6: max_iters, step 7: max_iters\); raise \[reference\] max_iters",
        )
        plan, _ = self.with_references(few.replace("max_iters", "unconverged = mark\nmax_iters"))
        self.assertEqual(len(plan.pending), 8)

    def test_a_reference_that_is_missing(self):
        plan = self.plan()
        stages.assign(plan, planning.make(stages.references_of(plan), 2), 2)
        planning.choose(plan, False)
        self.assertEqual({c.waits for c in plan.fits}, {"its reference is not finished"})
        self.assertEqual({c.reference for c in plan.fits}, {"soft", "stiff"})
        self.assertEqual([c.run.name for c in plan.pending], [])

    def test_refusals(self):
        for text, other, message in (
            ("max_iters", "max_itrs", r"grid.ini:6: \[reference\] max_itrs: unknown key; .*'max_iters'"),
            ("1e-8 m", "1e-8", r"grid.ini:5: \[reference\] tolerance: a positive number with its unit"),
            ("max_iters", "run.dt", r"grid.ini:6: \[reference\] run.dt: poses the problem"),
            ("max_iters = 50", "axes = contct", r"'contct' is no axis of \[grid\]; did you mean 'contact'"),
            ("max_iters = 50", "contact = penalty", r"an overlay \(@FILE\) is expected"),
            ("max_iters = 50", "contact = @nix.ini", r"grid.ini:6: .*nix.ini: there is no such file"),
            ("max_iters = 50", "solver.plugin = gd", r"solver.plugin is set by 'solver', too"),
            ("run.steps ", "run.replay = x.h5\nrun.steps ", r"grid.ini:9: \[set\] run.replay: \[reference\]"),
        ):
            self.refused(STUDY.replace(text, other), message)
        plan = self.plan(STUDY.replace("= cholmod_newton", "= cholmod_newtn"))
        with self.assertRaisesRegex(SpecError, r"grid.ini:4: \[set\] solver.plugin: .*cholmod_newton"):
            stages.refuse_all(planning.make(stages.references_of(plan), 2))


class Replicates(Case):
    def test_their_keys_stand_beside_the_logs(self):
        """Of an axis of overlays the keys that the overlays change."""
        for name, value in (("soft", 100), ("stiff", 900)):
            keys = f"membrane = {value}\nk_b = {value}e-7\n"
            (self.path / f"{name}.ini").write_text(f"[cloth.sheet]\n{keys}")
        text = "[sweep]\nconfig = hang.ini\nreplicate = sample\n[grid]\nsolver.plugin = gd | cholmod_pd\n"
        text += "sample = @soft.ini | @stiff.ini\n"
        plan = planning.make(self.spec(text), 2)
        stages.write_study(plan)
        study = json.loads((self.path / "out/grid/study.json").read_text())
        self.assertEqual(sorted(study["replicate"]), ["cloth.sheet.k_b", "cloth.sheet.membrane"])
        self.assertEqual(study["axes"]["solver.plugin"], ["solver.plugin"])
        self.refused(text.replace("= sample", "= smple"), r"grid.ini:3: .*'smple' is no axis.*'sample'")


class After(Case):
    def test_runs_that_start_when_others_have_ended(self):
        base = "[sweep]\nconfig = hang.ini\n{}[grid]\nstop.max_iters = 1 | 2\n"
        for name, more in (("a.ini", ""), ("b.ini", "after = a.ini\n"), ("c.ini", "after = b.ini | a.ini\n")):
            last = self.spec(base.format(more), name)
        self.assertEqual([s.path.name for s in stages.in_order(last)], ["a.ini", "b.ini", "c.ini"])
        circle = self.spec(base.format("after = c.ini\n"), "a.ini")
        with self.assertRaisesRegex(SpecError, r"a.ini:3: .*a circle: a.ini -> c.ini -> b.ini -> a.ini"):
            stages.in_order(circle)
        self.refused(base.format("after = nix.ini\n"), r"grid.ini:3: \[sweep\] after: .*nix.ini: there is no")

    def test_they_start_from_what_the_others_left(self):
        first = "[sweep]\nconfig = hang.ini\n[grid]\ncloth.sheet.membrane = 100 | 900\n"
        self.spec(first, "fall.ini")
        more = "after = fall.ini\n[set]\nrun.start_log = out/fall/{membrane}.h5\n"
        self.spec(first.replace("hang.ini\n", f"hang.ini\n{more}"))
        done = inside(self.path, "sweep", "grid.ini", "--cores", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, "(?s)fall.ini:.*grid.ini:")
        self.assertIn("2 finished", done.stdout)
        ends = []
        for name, frame in (("out/fall/900.h5", -1), ("out/grid/900.h5", 0)):
            with h5py.File(self.path / name) as log:
                ends.append(log["frames/x"][frame].tolist())
        self.assertEqual(*ends)


class Paths(Case):
    def test_from_the_folder_of_the_file_in_which_they_are_written(self):
        deep = self.path / "deep"
        deep.mkdir()
        (deep / "over.ini").write_text("[cloth.sheet]\nstitches = s.txt\n")
        (deep / "s.txt").write_text("stitch 0 1 2 0.5\n")
        text = "[sweep]\nconfig = hang.ini\n[set]\nrun.start_log = {}\n[grid]\no = @deep/over.ini"
        write(self.path, "")
        words = ["run", "hang.ini", "-o", "first.h5", "--quiet"]
        subprocess.run([os.environ["LOOM_BIN"], *words], cwd=self.path, check=True)
        here = os.getcwd()
        self.addCleanup(os.chdir, here)
        os.chdir("/")
        plan = planning.make(self.spec(text.format("first.h5")), 1)
        self.assertEqual([c.why for c in plan.refused], [])
        with self.assertRaisesRegex(SpecError, r"grid.ini:4: \[set\] run.start_log: .*; a relative path is"):
            planning.make(self.spec(text.format("deep/first.h5")), 1)
        (deep / "s.txt").rename(self.path / "s.txt")
        refused = planning.make(self.spec(text.format("first.h5")), 1).refused
        self.assertIn("s.txt", refused[0].why)


if __name__ == "__main__":
    unittest.main()
