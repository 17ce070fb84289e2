"""`loom figure --update` and `--check`: in a repository of its own, with a figure of a real run."""

import csv
import json
import os
import subprocess
import unittest
from pathlib import Path

import h5py
from logs import DRAPE, Bench
from loomcloth.same_code import code_of

FIGURE = """\
from loomcloth.log import Log
from loomcloth.style import plain_axes

def draw(experiment):
    with Log(experiment.run("toy", "toy.ini")) as log:
        experiment.keep_text("toy", [f"{len(log.table('steps'))} steps"])
        figure, axes = plain_axes()
        axes.plot(log.table("steps")["r_final"])
        experiment.save(figure, "toy", keep=True)

FIGURES = {"toy": ("a toy", draw)}
"""
PAGE = "experiments/toy/README" + ".md"  # not a page of the repository that this file is in


def setUpModule():
    global bench
    bench = Bench()


def tearDownModule():
    bench.close()


NOTEBOOK = """\
import sys
import matplotlib
import matplotlib.pyplot as plt
import loomcloth
matplotlib.use("svg")
before = dict(matplotlib.rcParams)
figure, axes = loomcloth.plain_axes()
(line,) = axes.plot([1, 2])
loomcloth.journal_axes("ieee")
loomcloth.save(figure, sys.argv[1])
after = dict(matplotlib.rcParams)
print([k for k in before if str(before[k]) != str(after[k])], matplotlib.get_backend())
print(line.get_linewidth(), axes.spines["top"].get_visible(), figure.dpi)
print(plt.subplots()[1].spines["top"].get_visible())
"""


class Look(unittest.TestCase):
    def test_other_figures_of_a_notebook_do_not_change(self):
        """Settings and backend are those from before; the figure has the look all the same."""
        done = subprocess.run(
            [os.environ["PYTHON"], "-c", NOTEBOOK, bench.path / "x"], capture_output=True, text=True
        )
        self.assertEqual(done.stdout.splitlines(), ["[] svg", "1.6 False 150.0", "True"], done.stderr)
        self.assertIn("<text", (bench.path / "x.svg").read_text())


class Made(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = bench.path / "repository"
        for name, text in (
            ("experiments/toy/figure.py", FIGURE),
            ("experiments/toy/toy.ini", "include = ../../configs/toy.ini\n[run]\nsteps = 1\n"),
            (PAGE, "![toy](../results/toy.png)\n"),
            ("configs/toy.ini", DRAPE + "[solver]\nplugin = gd\n"),
            ("experiments/toy/names.txt", "of the package loompy\n"),
            ("plugins/solvers/gd/gd.c", "gd\n"),
            ("plugins/solvers/other/other.c", "other\n"),
            ("framework/core.c", "core\n"),
            # read for their imports alone
            ("experiments/tools/loomcloth/log.py", "from loomcloth.deep.inner import x\n"),
            ("experiments/tools/loomcloth/deep/inner.py", "x = 1\n"),
            ("experiments/tools/loomcloth/render.py", "x = 1\n"),
            (".gitignore", "/experiments/*/out/\n__pycache__/\n"),
        ):
            path = cls.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        cls.git("init", "-q")
        cls.commit()

    @classmethod
    def git(cls, *words):
        who = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        done = subprocess.run(["git", "-C", cls.root, *who, *words], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    @classmethod
    def commit(cls):
        cls.git("add", "-A")
        cls.git("commit", "-qm", "x", "--allow-empty")

    def figure(self, *words, code=0):
        os.environ["LOOM_ROOT"], before = str(self.root), os.environ["LOOM_ROOT"]
        try:
            return bench.tool("figure", *words, code=code).stdout
        finally:
            os.environ["LOOM_ROOT"] = before

    def lines(self):
        with open(self.root / "experiments/results/made.csv", newline="") as file:
            return {line["file"]: line for line in csv.DictReader(file)}

    SHOWN = "1 are shown in pages, 0 of them older than a plugin, a configuration or a script\n"

    def after(self, name, text, expected, *more):
        """The output of --check once a file has another text; everything is put back."""
        path = self.root / name
        before = path.read_bytes()
        path.write_text(text)
        for word in more:
            self.figure(*word)
        said = self.figure("--check", code=0 if "2 current\n" in expected else 1)
        self.assertIn(expected, said)
        path.write_bytes(before)
        return said

    def test_a_result_names_its_making(self):
        self.figure("toy")
        said = self.figure("toy", "--update", "--plan")  # all logs are there
        self.assertIn(f"would replace {self.root / 'experiments/results/toy.png'}\n", said)
        self.assertEqual(self.git("status", "--porcelain"), "", "a figure has changed what git tracks")
        self.figure("toy", "--update")
        line = self.lines()["toy.png"]
        self.assertEqual(line["command"], "./loom figure toy --update")
        self.assertEqual(line["commit"], self.git("rev-parse", "--short=12", "HEAD"))
        self.assertRegex(line["date"], r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertIn(" cores, Linux", line["machine"])
        tools = [f"experiments/tools/loomcloth/{name}" for name in ("deep/inner.py", "log.py")]
        self.assertEqual(line["sources"].split(), ["configs/toy.ini", *tools, "experiments/toy"])
        self.assertIn("framework", line["code"].split())
        self.assertIn("plugins/solvers/gd", line["code"].split())
        self.assertNotIn("plugins/solvers/other", line["code"].split())
        self.seconds()
        # the binary of these tests is of another repository
        self.assertIn("toy.png: unknown: its runs are of ", self.figure("--check", code=1))
        # from here on a binary of this one has made the log
        with h5py.File(self.root / "experiments/toy/out/toy.h5", "r+") as log:
            log.attrs["git_commit"] = self.git("rev-parse", "--short=12", "HEAD")
        self.figure("toy", "--update")
        self.commit()
        self.assertEqual(self.figure("--check"), f"2 results: 2 current\n{self.SHOWN}")
        self.older()
        self.unknown()

    def seconds(self):
        """A run that was there counts with the time that it took then."""
        stamp = self.root / "experiments/toy/out/toy.key"
        facts = json.loads(stamp.read_text())
        self.assertLess(int(self.lines()["toy.png"]["seconds"]), 1000)
        stamp.write_text(json.dumps(facts | {"cpu_seconds": 1000}))
        self.figure("toy", "--update")
        took = int(self.lines()["toy.png"]["seconds"])
        self.assertGreaterEqual(took, 1000)
        self.assertIn(f"a toy  [experiments/toy, {took} s]\n", self.figure("--list"))
        del facts["cpu_seconds"]
        stamp.write_text(json.dumps(facts))
        self.figure("toy", "--update")
        self.assertEqual(self.lines()["toy.png"]["seconds"], "")
        self.assertIn("a toy  [experiments/toy]\n", self.figure("--list"))

    def older(self):
        said = self.after("configs/toy.ini", "[run]\n", "toy.png: older (./loom figure toy --update, ")
        self.assertIn(" than configs/toy.ini\n2 results: 2 older", said)
        self.after("experiments/toy/figure.py", FIGURE + "x = 1\n", " than experiments/toy\n")
        self.words_alone()
        said = self.after("plugins/solvers/gd/gd.c", "other\n", " than plugins/solvers/gd\n")
        self.assertIn("1 are shown in pages, 1 of them older", said)
        said = self.after(
            "experiments/tools/loomcloth/deep/inner.py", "x = 2\n", "2 results: 2 older tools\n"
        )
        self.assertIn(self.SHOWN, said)
        self.after("experiments/tools/loomcloth/render.py", "x = 2\n", "2 results: 2 current\n")
        self.one_that_named_every_module()
        self.after("framework/core.c", "other\n", "framework/ has changed since\n2 results: 2 older core")
        self.after("experiments/toy/names.txt", "of the package loomcloth\n", "2 results: 2 current\n")
        self.after("experiments/toy/names.txt", "of a package loomcloth\n", " than experiments/toy\n")
        for name in ("plugins/solvers/other/other.c", PAGE):
            self.after(name, "other\n", "2 results: 2 current\n")

    def words_alone(self):
        """Comments and layout: no result depends on them."""
        for name, text in (
            (
                "experiments/toy/figure.py",
                '"""A page."""\n' + FIGURE.replace("(axes", "(  # of a toy\n        axes"),
            ),
            ("configs/toy.ini", (self.root / "configs/toy.ini").read_text() + "\n; a comment\n"),
        ):
            self.after(name, text, "2 results: 2 current\n")

    def one_that_named_every_module(self):
        """A line from before imports were followed: a module that no script imports does not count."""
        index = self.root / "experiments/results/made.csv"
        text = index.read_text()
        index.write_text(
            text.replace("loomcloth/log.py", "loomcloth/log.py experiments/tools/loomcloth/render.py")
        )
        self.assertNotEqual(index.read_text(), text)
        self.after("experiments/tools/loomcloth/render.py", "x = 2\n", "2 results: 2 current\n")
        self.after("experiments/tools/loomcloth/log.py", "x = 2\n", "2 results: 2 older tools\n")
        index.write_text(text)

    def unknown(self):
        self.after("experiments/results/toy.txt", "9 steps\n", "toy.txt: not as made: was changed after")
        index = self.root / "experiments/results/made.csv"
        text = index.read_text()
        head = text.splitlines(keepends=True)[0]
        said = self.after("experiments/results/made.csv", head, "2 results: 2 unknown")
        self.assertIn("toy.txt: unknown: nothing was recorded when it was made; git has it since ", said)
        self.not_recorded(index, text, head)
        said = self.after(
            "experiments/toy/figure.py", FIGURE + "x = 1\n", "that were not committed", ("toy", "--update")
        )
        self.assertIn("toy.png: older (made by `./loom figure toy --update` from changes on top of", said)
        index.write_text(text)
        (self.root / "experiments/results/toy.png").unlink()
        self.assertIn("toy.png: not as made: has a line", self.figure("--check", code=1))
        self.assertTrue(Path(index).exists())

    def not_recorded(self, index, text, head):
        """A result without a line is older than the sources that have changed since git has it."""
        index.write_text(head)
        said = self.after("experiments/toy/figure.py", FIGURE + "x = 1\n", "2 results: 2 older")
        older = r"toy.txt: older \(nothing was recorded .* since \w+ of .*\) than experiments/toy\n"
        self.assertRegex(said, older)
        self.after("framework/core.c", "other\n", "framework/ has changed since\n2 results: 2 older core")
        self.after("plugins/solvers/gd/gd.c", "other\n", "2 results: 2 unknown")  # it may not have run
        index.write_text(text)


class SameCode(unittest.TestCase):
    def same(self, name, one, other):
        return code_of(name, one) == code_of(name, other)

    def test_words_and_layout_do_not_count(self):
        self.assertTrue(self.same("a.c", "int a; /* one */\n", "int\n  a; // two\n"))
        self.assertTrue(self.same("a.h", "#define A \\\n  1\nint b;", "#define A 1\n\nint b;"))
        self.assertTrue(self.same("a.py", '"""One."""\nx = 1\n', "x = (1)  # two\n"))
        self.assertTrue(self.same("a.ini", "[run]\ndt = 1 ; one\n", "# two\n[run]\n  dt = 1\n"))

    def test_code_counts(self):
        self.assertFalse(self.same("a.c", 'f("/* one */");', 'f("/* two */");'))
        self.assertFalse(self.same("a.c", "a = b//* */c;\n;", "a = b/c;\n;"))
        self.assertFalse(self.same("a.c", "#define A 1\nB", "#define A 1 B"))
        self.assertFalse(self.same("a.c", "a - -b", "a --b"))
        self.assertFalse(self.same("a.py", "x = '# one'", "x = '# two'"))
        self.assertFalse(self.same("a.ini", "a = 1;2", "a = 1;3"))
        self.assertFalse(self.same("a.txt", "# one", "# two"))


if __name__ == "__main__":
    unittest.main()
