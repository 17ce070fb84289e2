"""The study of experiments/study: three commands, and each of its three questions by one more."""

import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest
import zipfile
from pathlib import Path

import loomcloth
from logs import SOURCE, inside

FOLDER = "experiments/study"
MOST_TYPED = 1500  # characters, of the specification and the commands


def documented():
    """The commands of the page: those of its block, and those of its table."""
    text = (SOURCE / FOLDER / "README.md").read_text()
    block = re.search(r"```sh\n(.*?)```", text, re.S)[1].splitlines()
    return block, re.findall(r"\? \| `(\./loom .*?)` \|", text)


class Study(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        work = tempfile.TemporaryDirectory(prefix="loom-study-")
        cls.addClassCleanup(work.cleanup)
        cls.path = Path(work.name)
        (cls.path / FOLDER).mkdir(parents=True)
        shutil.copy(SOURCE / FOLDER / "study.ini", cls.path / FOLDER)
        (cls.path / "configs").symlink_to(SOURCE / "configs")
        (cls.path / "out").mkdir()
        cls.commands, cls.questions = documented()
        cls.said = [cls.call(line) for line in cls.commands]

    @classmethod
    def call(cls, line, code=0):
        """A documented command, without the launcher, which would build."""
        _, tool, *words = shlex.split(line)
        done = subprocess.run(
            [os.environ["PYTHON"], "-m", f"loomcloth.{tool}", *words],
            cwd=cls.path,
            capture_output=True,
            text=True,
        )
        assert done.returncode == code, f"{line}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def test_few_characters_are_typed(self):
        self.assertEqual(len(self.commands), 4)
        typed = len((SOURCE / FOLDER / "study.ini").read_text()) + sum(len(c) + 1 for c in self.commands)
        self.assertLess(typed, MOST_TYPED)

    def test_every_run_is_made_and_every_reference_converged(self):
        told = self.said[0].stdout
        self.assertIn("references: 18 combinations: 18 finished", told)
        self.assertIn("216 combinations: 198 finished, 18 does not fit", told)
        out = self.path / FOLDER / "out/study"
        logs = [p for p in (out / "references").glob("*.h5") if ".check" not in p.name]
        self.assertEqual(len(logs), 18)
        ends = loomcloth.steps(logs, ["reason"])
        late = ends[ends["step"] >= 26]
        self.assertEqual(len(late), 3 * 18)
        self.assertTrue(late["reason"].isin(["converged_abs", "converged_rel"]).all())
        rows = loomcloth.runs(out)
        self.assertEqual((len(rows), set(rows["ref_unconverged"])), (198, {0}))
        self.assertEqual(rows.groupby("problem")["replay"].nunique().max(), 1)
        self.assertIn("0 are to be run", self.call(self.commands[0]).stderr)

    def test_statistics(self):
        tex = (self.path / "out/cost.tex").read_text()
        self.assertEqual(tex.count(r"\\"), 1 + 11)  # a head, and a row for each method
        self.assertGreater(tex.count(r"$\pm$"), 30)
        self.assertIn(r"of 9 steps", tex)
        self.assertIn(b"/MediaBox", (self.path / "out/profile.pdf").read_bytes())

    def test_the_report(self):
        page = (self.path / "out/study.html").read_text()
        found = re.findall(r'<div class="finding (\w+)"><i></i><b>(.*?)</b>', page)
        self.assertEqual(found[0][1], "Did every step converge?")
        self.assertIn(("good", "Same start of every step?"), found)
        self.assertIn(("good", "Same build of every plugin?"), found)
        data = json.loads(re.search(r'<script id="data".*?>(.*?)</script>', page, re.S)[1])
        self.assertEqual(len(data["facets"]), 1 + 18)
        part = data["facets"]["resolution 11 11, imperfection_seed 1, membrane 100"]
        self.assertEqual(len(part["curves"][part["step"]]), 11)

    def test_the_questions(self):
        self.assertEqual(len(self.questions), 3)
        ranking, budget, stalls = (self.call(q).stdout for q in self.questions)
        self.assertRegex(ranking, r"the ranking changes with membrane: [0-9]+ pairs change places")
        self.assertRegex(ranking, r"(?m)^ *vbd \+ ndb .* 0 of 9 steps$")  # at 10,000 N/m
        self.assertRegex(budget, r"r_energy left at t_cpu 0.05")
        self.assertRegex(budget, r"(?m)^ *vbd \+ ipc_barrier +0\.[0-9]+ ")
        self.assertRegex(stalls, r"(?m)^ *vbd +dbb .* smooth error")
        self.assertRegex(stalls, r"(?m)^ *cholmod_newton ipc_barrier +54 of 54 .* converges")
        # the counts are not those of runs: by pandas, of the logs
        need = loomcloth.to_accuracy(loomcloth.iters(self.path / FOLDER / "out/study"), r_energy="10%")
        mine = need[
            (need["method"] == "vbd + dbb") & (need["membrane"] == 100) & (need["resolution"] == "11 11")
        ]
        self.assertRegex(ranking, rf"vbd \+ dbb .*\({mine['reached'].sum()} of 9 steps\)"
                         if mine["reached"].sum() < 9 else r"vbd \+ dbb +[0-9.]+ ± ")  # fmt: skip

    def test_the_archive(self):
        """Elsewhere there is no run to make, and the table is the same."""
        elsewhere = self.path / "elsewhere"
        with zipfile.ZipFile(self.path / "out/study.zip") as file:
            file.extractall(elsewhere)
        done = inside(elsewhere, "sweep", f"{FOLDER}/study.ini")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("references: 18 combinations: 18 fit, 0 are to be run", done.stderr)
        self.assertIn("216 combinations: 198 fit, 0 are to be run", done.stderr)
        words = ("table", f"{FOLDER}/out/study")
        self.assertEqual(inside(elsewhere, *words).stdout, inside(self.path, *words).stdout)
        found = re.search(r"216 runs, logs of ([0-9.]+) MB packed to ([0-9.]+) MB", self.said[3].stdout)
        self.assertLess(float(found[2]), 0.2 * float(found[1]))

    def test_status(self):
        done = inside(self.path, "sweep", "status", f"{FOLDER}/study.ini")
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
