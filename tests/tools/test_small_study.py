"""The page of experiments/study with fewer and smaller runs: its commands, and those of its questions."""

import re
import shlex
import tempfile
import unittest
import zipfile
from pathlib import Path

import loomcloth
from logs import SOURCE, inside
from sweeps import make_runs
from test_whole_study import FOLDER, MOST_TYPED, documented

# Lines of the specification with fewer choices.
SMALLER = {
    "solver.plugin": "cholmod_newton | ndb_pd",
    "contact.all.plugin": "ipc_barrier | dbb",
    "cloth.sheet.membrane": "1000 | 10000",
    "cloth.sheet.resolution": "6 6",
    "cloth.sheet.imperfection_seed": "1 | 2",
    "run.steps": "1",
    "stop.max_iters": "40",
}


class Study(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        work = tempfile.TemporaryDirectory(prefix="loom-small-study-")
        cls.addClassCleanup(work.cleanup)
        cls.path = Path(work.name)
        text = (SOURCE / FOLDER / "study.ini").read_text()
        for key, value in SMALLER.items():
            text, count = re.subn(rf"(?m)^({re.escape(key)} *= ).*$", rf"\g<1>{value}", text)
            assert count == 1, key
        text = text.replace("[sweep]\n", "[sweep]\ngroup = 50\n")  # one process
        (cls.path / FOLDER).mkdir(parents=True)
        (cls.path / FOLDER / "study.ini").write_text(text)
        (cls.path / "configs").symlink_to(SOURCE / "configs")
        (cls.path / "out").mkdir()
        cls.commands, cls.questions = documented()
        cls.plan = make_runs(cls.path / FOLDER / "study.ini")
        cls.said = [cls.call(line) for line in cls.commands]

    @classmethod
    def call(cls, line):
        line = line.replace(" --where resolution=11x11", "").replace("membrane,resolution", "membrane")
        _, *words = shlex.split(line.replace("--across resolution ", ""))
        done = inside(cls.path, *words)
        assert done.returncode == 0, f"{line}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def test_four_commands_and_few_characters(self):
        self.assertEqual((len(self.commands), len(self.questions)), (4, 3))
        typed = len((SOURCE / FOLDER / "study.ini").read_text()) + sum(len(c) + 1 for c in self.commands)
        self.assertLess(typed, MOST_TYPED)

    def test_runs_and_refusals(self):
        told = self.said[0].stderr
        self.assertIn("references: 4 combinations: 4 fit, 0 are to be run", told)
        self.assertIn("16 combinations: 12 fit, 0 are to be run", told)
        self.assertRegex(told, r"does not fit: ndb_pd__ipc_barrier.* needs quadratic contact form")
        rows = loomcloth.runs(self.path / FOLDER / "out/study")
        self.assertEqual((len(rows), set(rows["ref_unconverged"])), (12, {0}))
        self.assertEqual(rows.groupby("problem")["replay"].nunique().tolist(), [1] * 4)

    def test_table_figure_and_report(self):
        tex = (self.path / "out/cost.tex").read_text()
        self.assertEqual(tex.count(r"\\"), 1 + 3)  # a head, and a row for each method
        self.assertEqual(tex.count(r"$\pm$"), 4)  # the others tell how many runs got there
        self.assertIn(b"/MediaBox", (self.path / "out/profile.pdf").read_bytes())
        page = (self.path / "out/study.html").read_text()
        found = re.findall(r'<div class="finding (\w+)"><i></i><b>(.*?)</b>', page)
        self.assertEqual(found[0][1], "Did every step converge?")
        self.assertIn(("good", "Same start of every step?"), found)

    def test_questions(self):
        ranking, budget, stalls = (self.call(q).stdout for q in self.questions)
        self.assertRegex(ranking, r"the ranking (changes|does not change) with membrane")
        self.assertRegex(budget, r"r_energy left at t_cpu 0.05")
        self.assertRegex(stalls, r"(?m)^ *cholmod_newton ipc_barrier +4 of 4 .* converges")

    def test_the_archive(self):
        elsewhere = self.path / "elsewhere"
        with zipfile.ZipFile(self.path / "out/study.zip") as file:
            file.extractall(elsewhere)
        done = inside(elsewhere, "sweep", f"{FOLDER}/study.ini", "--plan")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("references: 4 combinations: 4 fit, 0 are to be run", done.stderr)
        self.assertIn("16 combinations: 12 fit, 0 are to be run", done.stderr)


if __name__ == "__main__":
    unittest.main()
