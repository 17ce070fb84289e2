"""`loom report`: the file's verdict on good and bad comparisons, and that it is one file."""

import json
import os
import re
import unittest

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
        costs = data["accuracy"]["e_ref"]["runs"]
        self.assertIsNone(costs["gd"]["iterations"][0])
        self.assertIsNotNone(costs["cholmod_newton"]["iterations"][0])
        self.assertEqual(len(data["times"]), 9)
        self.assertEqual(data["field"], "distance to the first run (m)")

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
