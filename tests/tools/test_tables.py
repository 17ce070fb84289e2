"""loomcloth's tables and `loom table`, against h5py and against brute force."""

import json
import os
import re
import shutil
import subprocess
import unittest
import warnings
from unittest import mock

import h5py
import loomcloth
import numpy as np
import pandas as pd
from logs import BINARY, SOLVERS, SOURCE, Bench, cut_off
from loomcloth import config
from loomcloth.accuracy import at_budget, performance_profile, to_accuracy
from loomcloth.errors import LogError
from loomcloth.log import open_log
from loomcloth.tables import MissingColumns, collect

MEASURE = {"e_ref": 1e-5}


def setUpModule():
    global bench, same
    bench = Bench()
    same = bench.replays()
    bench.run("other/dense", cloth__sheet__density=0.3)
    warnings.simplefilter("ignore", MissingColumns)


def tearDownModule():
    bench.close()


class Runs(unittest.TestCase):
    def test_a_row_per_run_with_what_differs(self):
        table = loomcloth.runs(same)
        self.assertEqual(sorted(table["solver.plugin"]), sorted(SOLVERS))
        self.assertEqual(list(table.columns[:5]), ["run", "method", "problem", "solver.plugin", "status"])
        self.assertEqual(set(table["problem"]), {1})
        for _, row in table.iterrows():
            with h5py.File(row["path"]) as log:
                steps, iters = log["steps"][:], log["iters"][:]
            self.assertEqual(row["iterations"], steps["iters"].sum())
            self.assertEqual(row["residual"], steps["r_final"].max())
            self.assertEqual(row["n_gradient"], steps["n_gradient"].sum())
            ends = [iters["e_ref"][iters["step"] == s][-1] for s in steps["step"]]
            self.assertEqual(row["e_ref"], max(ends))

    def test_settings_of_another_plugin_do_not_differ(self):
        self.assertEqual(loomcloth.runs(same).attrs["keys"], ["solver.plugin"])
        steps = bench.run(
            "growth", solver__plugin="gd", solver__growth=1.5, run__replay=bench.path / "reference.h5"
        )
        keys = loomcloth.runs([same, steps]).attrs["keys"]
        self.assertEqual(keys, ["solver.plugin", "solver.growth"])

    def test_logs_of_older_versions_in_keys_of_today(self):
        """`bending` was the k_b of a hinge; the translation is that of `loom info --config`."""
        one = bench.run("old/new", cloth__sheet__model="arap+isometric", cloth__sheet__k_b=3e-5)
        two = bench.path / "old/old.h5"
        words = [BINARY, "describe", "cloth", "--json"]
        described = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)[0]["params"]
        today = {p["key"]: p["default"] for p in described if p["key"] in config.TODAY}
        self.assertEqual(config.TODAY, today)
        for model in ("arap+isometric", "arap"):
            shutil.copy(one, two)
            with h5py.File(two, "r+") as log:
                text = log.attrs["config"].decode()
                for old, new in (
                    ("\nbending = [^\n]*", ""), ("\nk_b = [^\n]*", "\nbending = 7e-05"),
                    ("\nmodel = arap[^\n]*", f"\nmodel = {model}"),
                    ("\nshape = grid\n", "\nshape = mesh\n"), ("alternate", "regular"),
                ):  # fmt: skip
                    text = re.sub(old, new, text)
                log.attrs["config"] = np.bytes_(text)
            with open_log(two) as log:
                found = {key: log.settings[f"cloth.sheet.{key}"] for key in today}
            if model == "arap":
                self.assertEqual(found, today)
                continue
            words = [BINARY, "info", two, "--config"]
            told = config.flat(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
            self.assertEqual(found, {key: told[f"cloth.sheet.{key}"] for key in today})
            rows = loomcloth.runs([one, two])
            self.assertEqual(rows["k_b"].tolist(), [3e-5, 7e-5])
            self.assertNotIn("bending", rows.attrs["keys"])

    def test_keys_that_older_logs_lack_have_their_defaults(self):
        """One problem; a key that has not its default in the newer log differs."""
        one = bench.run("keys/new")
        two = bench.path / "keys/old.h5"
        shutil.copy(one, two)
        with h5py.File(two, "r+") as log:
            text = log.attrs["config"].decode()
            for key in ("bending_[a-z]+", "imperfection", "stick", "margin"):
                text, count = re.subn(rf"\n{key} = ?[^\n]*", "", text)
                self.assertGreater(count, 0, key)
            log.attrs["config"] = np.bytes_(text)
        rows = loomcloth.runs([one, two])
        self.assertEqual((rows.attrs["keys"], rows["problem"].tolist()), ([], [1, 1]))
        other = bench.run("keys/other", cloth__sheet__imperfection="1 mm", cloth__sheet__imperfection_seed=1)
        rows = loomcloth.runs([other, two])
        differ = ["cloth.sheet.imperfection", "cloth.sheet.imperfection_seed"]
        self.assertEqual(rows.attrs["problem_keys"], differ)
        self.assertEqual(rows["imperfection"].tolist(), ["0.001", ""])  # that of the older log is not known
        with mock.patch.dict(os.environ, LOOM_BIN="/nowhere/loom"):  # without a binary
            self.assertIn("cloth.sheet.bending_warp", loomcloth.runs([one, two]).attrs["problem_keys"])

    def test_each_norm_is_told_in_the_log(self):
        header = (SOURCE / "framework/include/loom/host.h").read_text()
        numbers = re.findall(r"LOOM_NORM_[A-Z0-9_]+ = (\d+)", header)
        with open_log(same / "gd.h5") as log:
            for table, column in (("inner", "norm"), ("iters", "inner_norm")):
                told = re.findall(r"(\d+): ", log.columns(table)[column][1])
                self.assertEqual(told, numbers, table)

    def test_planned_steps_count_substeps(self):
        with open_log(bench.run("parts/parts", run__steps=2, run__substeps=3)) as log:
            self.assertEqual((log.planned_steps, len(log.table("steps"))), (6, 6))

    def test_problems_are_told_apart(self):
        table = loomcloth.runs([same, bench.path / "other"])
        self.assertEqual(table.attrs["problem_keys"], ["cloth.sheet.density"])
        self.assertEqual(list(table["problem"]), [1, 1, 1, 2])
        self.assertEqual(loomcloth.problems(same), [])

    def test_what_logs_lack_is_nan_with_a_note(self):
        with self.assertWarnsRegex(MissingColumns, "iters.no_such"):
            it = loomcloth.iters(same, ["e_ref", "no_such"])
        self.assertTrue(it["no_such"].isna().all())
        self.assertTrue(it["e_ref"].notna().any())

    def test_long_form_has_every_row(self):
        it = loomcloth.iters(same)
        rows = 0
        for solver in SOLVERS:
            with h5py.File(same / f"{solver}.h5") as log:
                rows += len(log["iters"])
                mine = it[it["run"] == solver]
                np.testing.assert_array_equal(mine["e_total"], log["iters"]["e_total"])
        self.assertEqual(len(it), rows)
        self.assertEqual(
            set(loomcloth.steps(same)["reason"].cat.categories) >= {"converged_abs", "max_iters"}, True
        )

    def test_checkpoints_are_no_logs(self):
        self.assertTrue(list((bench.path / "other").glob("*.check.h5")))
        self.assertEqual(len(loomcloth.runs(bench.path / "other" / "*.h5")), 1)
        with self.assertRaisesRegex(LogError, "there is no such log"):
            loomcloth.runs(bench.path / "nothing*.h5")

    def test_a_change_that_was_cut_off_is_finished_first(self):
        log = bench.path / "cut_off.h5"
        shutil.copyfile(same / "gd.h5", log)
        whole = log.read_bytes()
        cut_off(log)
        with mock.patch.dict(os.environ):
            del os.environ["LOOM_BIN"]
            with self.assertRaisesRegex(LogError, "cut off; `loom info` on it"):
                open_log(log)
        self.assertNotEqual(log.read_bytes(), whole)
        self.assertEqual(len(loomcloth.runs(log)), 1)
        self.assertEqual(log.read_bytes(), whole)


class Accuracy(unittest.TestCase):
    def test_residual_takes_what_was_measured(self):
        it = loomcloth.iters(same)
        known = it["r_next_rms"].notna()
        np.testing.assert_array_equal(loomcloth.residual(it)[known], it["r_next_rms"][known])
        np.testing.assert_array_equal(loomcloth.residual(it)[~known], it["r_solved_rms"][~known])

    def brute(self, solver):
        """Iterations of all steps to the bound, NaN if one does not get there."""
        ((name, bound),) = MEASURE.items()
        with h5py.File(same / f"{solver}.h5") as log:
            iters = log["iters"][:]
        total = 0
        for step in np.unique(iters["step"]):
            good = [r for r in iters[iters["step"] == step] if r[name] <= bound]
            total += good[0]["k"] + 1 if good else np.nan
        return total

    def test_to_accuracy_by_brute_force(self):
        need = to_accuracy(loomcloth.iters(same), **MEASURE).set_index("run")
        for solver in SOLVERS:
            np.testing.assert_equal(need.loc[solver, "iterations"], self.brute(solver))
        self.assertTrue(np.isnan(need.loc["gd", "iterations"]), "gd does not get there: no mean of the rest")
        self.assertLess(need.loc["gd", "reached"], need.loc["gd", "steps"])
        self.assertEqual(need.loc["cholmod_newton", "reached"], 8)

    def test_a_share_of_the_first_distance(self):
        """To 10 % of the e_ref that each step begins with, by brute force; the settings stand beside it."""
        need = to_accuracy(loomcloth.iters(same), e_ref="10%").set_index("run")
        for solver in SOLVERS:
            with h5py.File(same / f"{solver}.h5") as log:
                iters = log["iters"][:]
            total = 0
            for step in np.unique(iters["step"]):
                mine = iters[iters["step"] == step]
                first = mine["e_ref"][np.isfinite(mine["e_ref"])][0]
                good = mine[mine["e_ref"] <= 0.1 * first]
                total += good[0]["k"] + 1 if len(good) else np.nan
            np.testing.assert_equal(need.loc[solver, "iterations"], total)
        self.assertEqual(list(need["solver.plugin"]), list(need.index))
        self.assertGreater(need["iterations"].max(), 8)

    def test_errors_at_a_budget_by_brute_force(self):
        it = loomcloth.iters(same)
        for cost, most in (("iterations", 2), ("n_bytes", 3e6), ("t_cpu", 1e-3)):
            at = at_budget(it, "e_ref", **{cost: most}).set_index("run")
            for solver in SOLVERS:
                with h5py.File(same / f"{solver}.h5") as log:
                    iters = log["iters"][:]
                errors, ratios = [], []
                for step in np.unique(iters["step"]):
                    mine = iters[(iters["step"] == step) & np.isfinite(iters["e_ref"])]
                    spent = mine["k"] + 1 if cost == "iterations" else mine[cost]
                    errors.append(mine["e_ref"][max(np.sum(spent <= most) - 1, 0)])
                    if mine["e_ref"][0] > 0:
                        ratios.append(errors[-1] / mine["e_ref"][0])
                self.assertEqual(at.loc[solver, "error"], max(errors), (cost, solver))
                self.assertEqual(at.loc[solver, "ratio"], max(ratios), (cost, solver))
        self.assertEqual(list(at["steps"]), [8, 8, 8])

    def test_names_of_solver_and_contact(self):
        """A word for each setting of contact, numbered where models of one name differ."""
        stiff = bench.run("kinds/stiff", contact__bodies__stiffness=7e3)
        soft = bench.run("kinds/soft", contact__bodies__stiffness=5e3)
        none = bench.run("kinds/none", contact__bodies__plugin="none")
        it = loomcloth.iters([stiff, soft, none], ["r_energy"])
        words = it.drop_duplicates("run").set_index("run")["contact"]
        self.assertEqual(dict(words), {"stiff": "penalty (1)", "soft": "penalty (2)", "none": "none"})
        self.assertEqual(set(loomcloth.iters(same, ["r_energy"])["contact"]), {"penalty"})
        densities = loomcloth.runs([same, bench.path / "other"])["density"]
        self.assertEqual(sorted(densities), [0.2, 0.2, 0.2, 0.3])  # numbers, not texts

    def test_energy_is_above_the_least(self):
        it = loomcloth.iters(same)
        need = to_accuracy(it, energy=1e-9).set_index("run")
        self.assertEqual(need.loc["cholmod_newton", "reached"], 8)
        self.assertGreater(need.loc["cholmod_newton", "iterations"], 0)

    def test_refusals(self):
        it = loomcloth.iters(same)
        for bound, message in (({}, "one bound"), ({"e_ref": 0}, "positive"), ({"nothing": 1}, "no column"),
                               ({"e_reff": 1}, "did you mean 'e_ref'"), ({"e_ref": "x%"}, "percentage"),
                               ({"e_ref": "-1%"}, "positive")):
            with self.assertRaisesRegex(LogError, message):
                to_accuracy(it, **bound)
        with self.assertRaisesRegex(LogError, "replay"):
            to_accuracy(loomcloth.iters(bench.path / "other"), e_ref=1e-3)

        wrong = (({}, "one budget"), ({"t_cp": 1}, "'t_cpu'"), ({"iterations": 0}, "positive"))
        for budget, message in wrong:
            with self.assertRaisesRegex(LogError, message):
                at_budget(it, "e_ref", **budget)

    def test_profile_of_known_costs(self):
        """Two methods, three steps: costs 2 4 -, and 4 2 8."""
        rows = [("a", 0, 2), ("a", 1, 4), ("b", 0, 4), ("b", 1, 2), ("b", 2, 8)]
        it = pd.DataFrame(
            [{"run": m, "method": m, "problem": 1, "step": s, "k": n - 1, "e_ref": 0.0} for m, s, n in rows]
            + [{"run": "a", "method": "a", "problem": 1, "step": 2, "k": 50, "e_ref": 1.0}]
        )
        profile = performance_profile(it, cost="iterations", e_ref=0.5)
        self.assertEqual(list(profile.index), [1.0, 2.0])
        np.testing.assert_allclose(profile["a"], [1 / 3, 2 / 3])
        np.testing.assert_allclose(profile["b"], [2 / 3, 1.0])


class Command(unittest.TestCase):
    def test_csv_and_parquet_hold_the_same(self):
        bench.tool("table", same, "-o", "t.csv", "--quiet", "--to", "e_ref=1e-5")
        bench.tool("table", same, "-o", "t.parquet", "--quiet", "--to", "e_ref=1e-5")
        csv = pd.read_csv(bench.path / "t.csv", keep_default_na=False, na_values=[""])
        parquet = pd.read_parquet(bench.path / "t.parquet")
        self.assertEqual(list(csv.columns), list(parquet.columns))
        for column in ("run", "iterations", "wall", "e_ref", "to_iterations"):
            pd.testing.assert_series_equal(csv[column], parquet[column], check_dtype=False)

    def test_different_problems_are_told(self):
        done = bench.tool("table", same, "other")
        self.assertIn("2 problems, which differ in cloth.sheet.density", done.stderr)
        self.assertNotIn("problems", bench.tool("table", same).stderr)

    def test_unfinished_and_damaged_logs_are_left_out(self):
        folder = bench.path / "mixed"
        shutil.copytree(same, folder)
        (folder / "short.h5").write_bytes((same / "gd.h5").read_bytes()[:200_000])
        (folder / "text.h5").write_text("no log\n")
        data = bytearray((same / "gd.h5").read_bytes())
        data[3_000:60_000] = bytes(57_000)
        (folder / "holes.h5").write_bytes(data)
        shutil.copy(same / "gd.h5", folder / "half.h5")
        with h5py.File(folder / "half.h5", "a") as log:
            del log["status"]
            log["status"] = b"failed: no reason"
        done = bench.tool("table", folder, "-o", "mixed.csv", code=1)
        for name in ("short", "text", "holes", "half"):
            self.assertRegex(done.stderr, rf"left out: .*{name}\.h5: [\w/]")
        self.assertEqual(len(pd.read_csv(bench.path / "mixed.csv")), len(SOLVERS))
        found = collect(folder)
        self.assertEqual(dict(found.left_out)[str(folder / "half.h5")], "failed: no reason")

    def test_refusals(self):
        self.assertIn(".csv or .parquet", bench.tool("table", same, "-o", "t.xlsx", code=2).stderr)
        self.assertIn("e_ref=1e-4", bench.tool("table", same, "--to", "e_ref", code=2).stderr)
        self.assertIn("no such column", bench.tool("table", same, "--sort", "nix", code=1).stderr)
        self.assertIn("no such log", bench.tool("table", "nix.h5", code=1).stderr)
        bench.tool("table", code=2)


if __name__ == "__main__":
    unittest.main()
