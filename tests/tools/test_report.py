"""`loom report`: the file's verdict on good and bad comparisons, and that it is one file."""

import json
import os
import re
import shutil
import unittest

import h5py
import numpy as np
from logs import SOLVERS, Bench

OUTSIDE = re.compile(r"""(src|href)\s*=\s*["']?(https?:)?//""")


def setUpModule():
    global bench, same
    bench = Bench()
    same = bench.replays()
    bench.run("other/dense", cloth__sheet__density=0.3)
    bench.run("other/far", "-n", "5")


def tearDownModule():
    bench.close()


def findings(page):
    """{question: (level, answer)}"""
    found = re.findall(r'<div class="finding (\w+)"><i></i><b>(.*?)</b><span>(.*?)</span>', page)
    return {question: (level, answer) for level, question, answer in found}


class Report(unittest.TestCase):
    def make(self, *words, code=0):
        done = bench.tool("report", *words, "-o", "report.html", code=code)
        self.said = done.stderr
        return (bench.path / "report.html").read_text()

    def test_a_fair_comparison(self):
        page = self.make(same)
        found = findings(page)
        self.assertEqual(found["One problem?"][0], "good")
        self.assertEqual(
            found["Same start of every step?"], ("good", "Yes: all replay reference.h5 from step 0 on.")
        )
        self.assertEqual(found["Same stop?"][0], "good")
        data = json.loads(re.search(r'<script id="data".*?>(.*?)</script>', page, re.S)[1])
        self.assertEqual(set(data["style"]), set(SOLVERS))
        # a line ends where a run does not get there: gd at the smallest distances
        costs = data["facets"]["all runs"]["accuracy"]["e_ref"]["runs"]
        self.assertIsNone(costs["gd"]["iterations"][0])
        self.assertIsNotNone(costs["cholmod_newton"]["iterations"][0])
        self.assertEqual(len(data["times"]), 9)
        self.assertEqual(data["field"], "distance to the first run (m)")

    def test_steps_that_are_no_solutions_are_told(self):
        """Steps short of their tolerance, momentum from outside, and a reference that is no solution."""
        few = bench.run("short/few", solver__plugin="vbd", stop__max_iters=2)
        again = bench.run("short/again", solver__plugin="cholmod_newton", run__replay=few)
        level, answer = findings(self.make(few))["Did every step converge?"]
        self.assertEqual(level, "care")
        self.assertRegex(answer, "[1-9] of 8 steps did not converge; the worst ended at ")
        self.assertRegex(answer, "momentum defect up to [0-9.e+]+ % of the weight")
        level, answer = findings(self.make(again))["Did every step converge?"]
        self.assertEqual(level, "bad")
        self.assertRegex(answer, "the reference did not converge in [1-9] of 8 steps")
        said = bench.tool("table", few, again).stderr
        self.assertIn("4 of 8 steps did not converge; ", said)
        self.assertIn("momentum defect up to ", said)
        self.assertIn("the reference did not converge in ", said)

    def test_one_file(self):
        page = self.make(same)
        head = page.split('<script id="data"')[0]
        self.assertIsNone(OUTSIDE.search(head))
        self.assertLess(os.path.getsize(bench.path / "report.html"), 15e6)

    def test_unfair_comparisons_are_told(self):
        found = findings(self.make(same, bench.path / "other"))
        level, answer = found["One problem?"]
        self.assertEqual(level, "bad")
        self.assertIn("cloth.sheet.density is 0.2, 0.3", answer)
        self.assertEqual(found["Same start of every step?"][0], "bad")
        self.assertEqual(found["Same stop?"][0], "bad")
        found = findings(self.make(bench.path / "other/far.h5"))
        self.assertEqual(found["Same start of every step?"][0], "care")

    def test_a_reference_for_each_problem(self):
        """Runs of one problem start from one log: another problem may have another."""
        words = {"solver__plugin": "cholmod_newton", "cloth__sheet__density": 0.3}
        other = bench.run("reference2", stop__tol_abs=1e-10, **words)
        for solver in SOLVERS[1:]:
            bench.run(f"two/{solver}", **words | {"solver__plugin": solver, "run__replay": other})
        question, two = "Same start of every step?", bench.path / "two"
        yes = "Yes, within each of 2 problems: all its runs replay one log, from step 0 on."
        self.assertEqual(findings(self.make(same, two))[question], ("good", yes))
        level, answer = findings(self.make(same, two, bench.path / "other"))[question]
        self.assertEqual(level, "bad")
        self.assertIn("none, reference.h5, reference2.h5", answer)

    def test_more_runs_than_can_be_told_apart(self):
        """They are parted by problem, or by the settings of --facet; the profiles of all stay together."""
        folder = bench.path / "many"
        folder.mkdir()
        for i in range(14):
            for solver in SOLVERS:
                shutil.copyfile(same / f"{solver}.h5", folder / f"{solver}_{i}.h5")
        done = bench.tool("report", folder, "-o", "many.html", code=1)
        self.assertRegex(done.stderr, r"42 of 42 runs: at most 40 can be told apart; .*--facet.*solver")
        page = self.make(folder, "--facet", "solver")
        self.assertIn("without a replay: 42 runs", self.said)
        data = json.loads(re.search(r'<script id="data".*?>(.*?)</script>', page, re.S)[1])
        self.assertEqual(set(data["facets"]), {"all runs", *(f"solver {s}" for s in SOLVERS)})
        part = data["facets"]["solver gd"]
        curves = part["curves"][part["step"]]
        self.assertEqual(set(curves), {f"gd_{i}" for i in range(14)})
        every = data["facets"]["all runs"]["profiles"]["e_ref"]
        self.assertEqual(len(next(iter(next(iter(every.values())).values()))["methods"]), 42)
        groups = re.search(r"<h2>Groups of runs</h2>(.*?)<details>", page, re.S)[1]
        self.assertEqual(len(re.findall("<tr>", groups)), 1 + len(SOLVERS))
        # two problems, a facet for each
        for solver in SOLVERS:
            (folder / f"{solver}_13.h5").unlink()
        page = self.make(folder, bench.path / "other")
        data = json.loads(re.search(r'<script id="data".*?>(.*?)</script>', page, re.S)[1])
        self.assertEqual(set(data["facets"]), {"all runs", "density 0.2", "density 0.3"})

    def test_the_build_of_each_plugin(self):
        page = self.make(same)
        level, answer = findings(page)["Same build of every plugin?"]
        self.assertEqual(level, "good")
        self.assertIn("each of the 5 plugins: 0.1.0, ", answer)
        other = bench.path / "built.h5"
        shutil.copyfile(same / "gd.h5", other)
        with h5py.File(other, "a") as log:
            text = log.attrs["plugins"].decode()
            log.attrs["plugins"] = np.bytes_(text.replace("gd\tsolver\t0.1.0", "gd\tsolver\t0.0.9"))
        level, answer = findings(self.make(same, other))["Same build of every plugin?"]
        self.assertEqual(level, "care")
        self.assertRegex(answer, r"No, 1 of 5 plugins have several: gd: 0.0.9, .* \| 0.1.0, ")

    def test_convergence_is_the_first_line(self):
        (bench.path / "short.h5").write_bytes((same / "gd.h5").read_bytes()[:100_000])
        found = findings(self.make(same, bench.path / "short.h5", code=1))
        self.assertEqual(list(found)[:2], ["Did every step converge?", "All logs read?"])

    def test_damaged_logs_are_listed(self):
        (bench.path / "short.h5").write_bytes((same / "gd.h5").read_bytes()[:100_000])
        page = self.make(same, bench.path / "short.h5", code=1)
        self.assertEqual(findings(page)["All logs read?"][0], "bad")
        self.assertIn("left out: ", self.said)

    def test_names_are_text(self):
        """A log's name is not part of the page's program."""
        name = bench.path / "x<b>&'.h5"
        name.write_bytes((same / "gd.h5").read_bytes())
        page = self.make(name, "--title", "<i>T</i>")
        self.assertNotIn("x<b>", page.split('<script id="data"')[0])
        self.assertIn("&lt;i&gt;T&lt;/i&gt;", page)

    def test_refusals(self):
        bench.tool("report", same, "-o", "report.pdf", code=2)
        done = bench.tool("report", same, "--field", "nix", code=1)
        self.assertIn("--field nix: not in every log; there are: speed, stretch, distance", done.stderr)
        self.assertIn("no such log", bench.tool("report", "nix.h5", code=1).stderr)


if __name__ == "__main__":
    unittest.main()
