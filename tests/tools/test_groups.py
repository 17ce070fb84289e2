"""Groups of runs: replicates, means and spreads, counts of successes, rankings, and `loom table` on them."""

import itertools
import json
import re
import shutil
import unittest
import warnings

import loomcloth
import numpy as np
import pandas as pd
from logs import Bench
from loomcloth import groups, style
from loomcloth.errors import LogError
from loomcloth.tables import MissingColumns

SEEDS, MEMBRANES, SOLVERS = (1, 2, 3), (100, 2000), ("cholmod_newton", "cholmod_pd")


def setUpModule():
    global bench, study
    bench = Bench()
    warnings.simplefilter("ignore", MissingColumns)
    fixed = {"cloth__sheet__resolution": "7 7", "cloth__sheet__imperfection": 1e-3, "run__steps": 7}
    for solver in SOLVERS:
        for membrane in MEMBRANES:
            for seed in SEEDS:
                more = {"cloth__sheet__membrane": membrane, "cloth__sheet__imperfection_seed": seed, **fixed}
                name = f"study/{solver}__{membrane}__{seed}"
                bench.run(name, solver__plugin=solver, log__error="newton", **more)
    study = bench.path / "study"
    text = json.dumps({"replicate": ["cloth.sheet.imperfection_seed"]})
    (study / "study.json").write_text(text)


def tearDownModule():
    bench.close()


class Statistics(unittest.TestCase):
    def test_mean_and_spread_of_replicates(self):
        """By numpy, of the costs of each run; a group with a step that is not solved counts it."""
        it = loomcloth.iters(study)
        self.assertEqual(loomcloth.replicate_keys(study), ["cloth.sheet.imperfection_seed"])
        by = groups.group_columns(it, ["imperfection_seed"])
        self.assertEqual(by, ["method", "membrane"])
        for bound in ({"r_energy": "30%"}, {"r_energy": 1e-4}):
            found = loomcloth.group_costs(it, by, "iterations", **bound)
            self.assertEqual(list(found["runs"]), [3] * 4)
            need = loomcloth.to_accuracy(it, **bound)
            for _, row in found.iterrows():
                mine = need[(need["method"] == row["method"]) & (need["membrane"] == row["membrane"])]
                costs = mine["iterations"].dropna().to_numpy()
                self.assertEqual(row["solved"], len(costs))
                self.assertEqual((row["reached"], row["steps"]), (mine["reached"].sum(), mine["steps"].sum()))
                np.testing.assert_allclose(row["mean"], costs.mean() if len(costs) else np.nan)
                np.testing.assert_allclose(row["spread"], costs.std(ddof=1) if len(costs) > 1 else np.nan)
        self.assertEqual(set(found["solved"]), {0, 3})  # the first order method does not get to 1e-4

    def test_errors_are_geometric_means(self):
        it = loomcloth.iters(study)
        found = loomcloth.group_errors(it, ["solver"], "r_energy", iterations=3)
        at = loomcloth.at_budget(it, "r_energy", iterations=3)
        for _, row in found.iterrows():
            errors = np.log(at[at["solver"] == row["solver"]]["error"])
            np.testing.assert_allclose(row["mean"], np.exp(errors.mean()))
            np.testing.assert_allclose(row["spread"], np.exp(errors.std(ddof=1)))
        self.assertLess(found["mean"].min(), 0.5 * found["mean"].max())

    def test_a_summary_of_any_column(self):
        table = loomcloth.runs(study)
        found = loomcloth.summary(table, ["membrane"], "peak_memory")
        np.testing.assert_allclose(found["mean"], table.groupby("membrane", sort=False)["peak_memory"].mean())
        with self.assertRaisesRegex(LogError, "did you mean 'peak_memory'"):
            loomcloth.summary(table, ["membrane"], "peak_memry")

    def test_who_is_ahead(self):
        """a before b by more than both spreads; b alone is solved in the other part: they change places."""
        head = {"runs": 3, "reached": 9, "steps": 9}
        a = head | {"name": "a", "solved": 3, "mean": 1.0, "spread": 0.1}
        b = head | {"name": "b", "solved": 3, "mean": 2.0, "spread": 0.1}
        near = b | {"name": "c", "mean": 2.1}
        one, two = pd.DataFrame([near, b, a]), pd.DataFrame([a | {"solved": 2, "reached": 7}, b])
        self.assertEqual(groups.ranking(one, "name"), ("a < b ~ c", []))
        self.assertEqual(groups.ranking(two, "name"), ("b", ["a (7 of 9 steps)"]))
        self.assertEqual(groups.reversals([one, two], "name"), [("a", "b")])
        self.assertEqual(groups.reversals([one, one], "name"), [])

    def test_stalls(self):
        """Shares of processor time are sums of /steps; a method that converges is told from another."""
        it, steps = loomcloth.iters(study), loomcloth.steps(study)
        found = loomcloth.stalls(it, steps, ["solver"]).set_index("solver")
        for solver in SOLVERS:
            mine = steps[steps["solver"] == solver]
            np.testing.assert_allclose(
                found.loc[solver, "solve_share"], mine["t_cpu_solve"].sum() / mine["t_cpu"].sum()
            )
            good = mine["reason"].isin(["converged_abs", "converged_rel"]).sum()
            self.assertEqual((found.loc[solver, "converged"], found.loc[solver, "steps"]), (good, len(mine)))
        # the state at the end is that of steps that did not converge
        bad = steps[
            (steps["solver"] == "cholmod_pd") & ~steps["reason"].isin(["converged_abs", "converged_rel"])
        ]
        left = []
        for _, step in bad.iterrows():
            values = it[(it["run"] == step["run"]) & (it["step"] == step["step"])]["r_energy"].dropna()
            left.append(np.log(values.iloc[-1] / values.iloc[0]))
        self.assertGreater(len(left), 1)
        np.testing.assert_allclose(found.loc["cholmod_pd", "r_energy_left"], np.exp(np.mean(left)))
        self.assertEqual(found.loc["cholmod_newton", "why"], "converges")
        self.assertLess(found.loc["cholmod_pd", "converged"], found.loc["cholmod_pd", "steps"])
        self.assertGreater(found.loc["cholmod_pd", "rate"], found.loc["cholmod_newton", "rate"])

    def test_reasons(self):
        row = {
            "converged": 0,
            "steps": 9,
            "rises": 0,
            "rate": 0.5,
            "own_res_left": 1,
            "r_energy_left": 1,
            "alpha": 1,
        }
        for more, word in (
            ({"converged": 9}, "converges"),
            ({"rises": 0.5, "rate": 0.99}, "cycles"),
            ({"own_res_left": 1e-4}, "own measure"),
            ({"alpha": 0.01}, "short steps"),
            ({"rate": 0.97}, "smooth error"),
            ({}, "cut off"),
        ):
            self.assertIn(word, groups.reason(row | more))


class Colours(unittest.TestCase):
    """The sight of eyes without one kind of cone (Machado, Oliveira, Fernandes 2009), of linear RGB."""

    SIGHTS = (
        np.eye(3),
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
    )
    XYZ = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))

    def lab(self, colour, sight):
        """CIE L*a*b* of a colour as these eyes see it."""
        rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        x = np.array(self.XYZ) @ np.clip(np.array(sight) @ linear, 0, 1) / (0.9505, 1, 1.089)
        f = np.where(x > 0.008856, np.cbrt(x), 7.787 * x + 16 / 116)
        return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])

    def test_any_two_methods_differ(self):
        """By 12 in L*a*b* for each sight; 2.3 is the least that an eye tells."""
        self.assertGreaterEqual(len(style.COLOURS), 12)
        for sight in self.SIGHTS:
            seen = {name: self.lab(colour, sight) for name, colour in style.COLOURS.items()}
            for a, b in itertools.combinations(seen, 2):
                self.assertGreater(np.linalg.norm(seen[a] - seen[b]), 12, (a, b))


class Command(unittest.TestCase):
    def test_a_table_across(self):
        done = bench.inside(
            "table", study, "--to", "r_energy=1e-4", "--cost", "iterations", "--across", "membrane"
        )
        self.assertIn("replicates: imperfection_seed", done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[0], "iterations to r_energy 1e-4")
        self.assertEqual(lines[1].split(), ["method", "100", "2000"])
        self.assertRegex(lines[2], r"cholmod_newton \+ penalty +[0-9.]+ ± [0-9.]+ +[0-9.]+ ± [0-9.]+$")
        self.assertRegex(lines[3], r"cholmod_pd \+ penalty +[0-9.]+ ± [0-9.]+ +[0-9]+ of 21 steps$")
        self.assertEqual(lines[4], "100: cholmod_newton + penalty < cholmod_pd + penalty")
        self.assertRegex(lines[5], r"^2000: cholmod_newton \+ penalty; not solved: cholmod_pd \+ penalty \(")
        self.assertIn("does not change with membrane", lines[6])

    def test_files(self):
        words = ["table", study, "--to", "r_energy=30%", "--by", "solver", "--across", "membrane"]
        for name in ("g.csv", "g.parquet", "g.tex"):
            for _ in range(2):  # the second time it replaces its own
                bench.inside(*words, "-o", name)
        csv, parquet = pd.read_csv(bench.path / "g.csv"), pd.read_parquet(bench.path / "g.parquet")
        pd.testing.assert_frame_equal(csv, parquet, check_dtype=False)
        self.assertEqual(list(csv.columns[:3]), ["solver", "membrane", "runs"])
        tex = (bench.path / "g.tex").read_text()
        self.assertRegex(
            tex, r"(?s)^% of loom table\n\\begin{tabular}{lll}\n\\toprule\nsolver & 100 & 2000 \\\\"
        )
        self.assertRegex(tex, r"cholmod\\_newton & [0-9.e-]+ \$\\pm\$ [0-9.e-]+ & .* \\\\\n")
        (bench.path / "mine.tex").write_text("my own\n")
        self.assertIn("is not a table", bench.inside(*words, "-o", "mine.tex", code=1).stderr)

    def test_what_means_are_over(self):
        """A setting that is neither named nor a replicate is told: its means are over several problems."""
        done = bench.inside("table", study, "--mean", "iterations", "--by", "solver")
        self.assertIn("means are also over membrane", done.stderr)
        done = bench.inside(
            "table", study, "--mean", "iterations", "--by", "solver", "--where", "membrane=100"
        )
        self.assertNotIn("also over", done.stderr)
        self.assertEqual(done.stdout.splitlines()[1].split()[:2], ["cholmod_newton", "3"])

    def test_stalls_without_measured_errors(self):
        """Logs of one step and of no error: columns are empty, and no number is made up."""
        bench.run("short/one", "-n", "1", solver__plugin="cholmod_pd", cloth__sheet__density=0.3)
        bench.run("short/two", "-n", "1", solver__plugin="cholmod_pd", cloth__sheet__density=0.2)
        done = bench.inside("table", bench.path / "short", "--stalls", "--by", "density")
        self.assertRegex(done.stdout.splitlines()[1], r"^ *0\.[23] +1 of 1 .* - +converges$")

    def test_profiles_at_the_width_of_a_journal(self):
        """As wide as asked for to a hundredth of a point; a plot for each value, with its profile."""
        words = ["table", study, "--to", "r_energy=30%", "--cost", "iterations", "--facet", "membrane"]
        for name, width, points in (("p.pdf", "acm", 3.33 * 72), ("p.svg", "ieee-wide", 7.16 * 72)):
            done = bench.inside(*words, "--profile", name, "--width", width)
            self.assertIn(f"{name}: 12 runs; 0 steps that no method", done.stdout)
            text = (bench.path / name).read_text(errors="replace")
            size = r"/MediaBox \[ *0 0 ([0-9.]+)" if name == "p.pdf" else r'<svg [^>]*width="([0-9.]+)pt"'
            self.assertAlmostEqual(float(re.search(size, text)[1]), points, 2)
        for label in ("membrane 100", "membrane 2000", "cholmod_newton + penalty", "cholmod_pd + penalty"):
            self.assertIn(f">{label}<", text)
        bench.inside(*words, "--profile", "q.tex")
        texts = (bench.path / "q.tex").read_text()
        places = re.findall(r"\\put\(([-0-9.]+),([-0-9.]+)\)\{\\rotatebox", texts)
        self.assertGreater(len(places), 12)
        self.assertRegex(texts, r"\\begin\{picture\}\(239\.76,")  # the width of a column of acm
        for x, y in places:
            self.assertTrue(0 <= float(x) <= 240 and 0 <= float(y) <= 200, (x, y))
        for label in ("membrane 100", r"cholmod\_newton + penalty", "share of steps", r"\rotatebox{90}"):
            self.assertIn(label, texts)
        self.assertIn(r"\includegraphics{q.pdf}", texts)
        self.assertNotIn(b"/FontDescriptor", (bench.path / "q.pdf").read_bytes())
        self.assertIn(b"/FontDescriptor", (bench.path / "p.pdf").read_bytes())
        if not any(shutil.which(t) for t in style.TEX):
            done = bench.inside(*words, "--profile", "p.pgf", code=1)
            self.assertIn("needs one of xelatex, lualatex, pdflatex", done.stderr)
        else:
            bench.inside(*words, "--profile", "p.pgf")
            self.assertIn("pgfpicture", (bench.path / "p.pgf").read_text())
        done = bench.inside(*words, "--profile", "q.pdf", "--width", "acn", code=1)
        self.assertIn("did you mean 'acm'", done.stderr)

    def test_refusals(self):
        for words, message in (
            (
                ("--mean", "cpu", "--by", "solvr"),
                "--by solvr: is no setting in which .*; did you mean 'solver'",
            ),
            (
                ("--mean", "cpu", "--where", "membrane=3"),
                "--where membrane=3: no run has it; there are: 100, 2000",
            ),
            (
                ("--to", "r_energy=1%", "--by", "solver", "--cost", "t_cp"),
                "there is no cost 't_cp'; .*'t_cpu'",
            ),
            (("--mean", "cpu", "--by", "solver", "--across", "solver"), "--across solver: stands in --by"),
        ):
            self.assertRegex(bench.inside("table", study, *words, code=1).stderr, message)
        for words, message in (
            (("--by", "solver"), "groups show one of --to, --at, --mean and --stalls"),
            (("--mean", "cpu", "--stalls"), "one of .*, not 2"),
            (
                (
                    "--at",
                    "t_cpu=5%",
                ),
                "COST=BUDGET is expected",
            ),
            (("--where", "membrane=100"), "add --by"),
            (("-o", "x.tex"), "is for groups of runs"),
            (("--profile", "x.pdf"), "--profile needs --to"),
            (("--to", "r_energy=1%", "--profile", "x.doc"), "ends in .pdf, .tex, .pgf, .svg or .png"),
        ):
            self.assertRegex(bench.inside("table", study, *words, code=2).stderr, message)


if __name__ == "__main__":
    unittest.main()
