"""`loom list --fit CONFIG` judges every pair as `loom check` judges a config with that pair."""

import json
import subprocess
import tempfile
import unittest

from logs import BINARY, SOURCE

CONFIGS = {"drape": 5, "drape_self": 2, "yarn_swatch": 5}  # every nth pair: a check takes its time
FOLDER = tempfile.TemporaryDirectory()  # `check` keeps modes of a subspace in out/cache


def loom(*words):
    return subprocess.run([BINARY, *map(str, words)], capture_output=True, text=True, cwd=FOLDER.name)


class Fit(unittest.TestCase):
    def setUp(self):
        self.counted = {True: 0, False: 0}

    def agrees(self, config, row):
        """Keys of the config that the other plugin does not have are dropped, so only the fit is left."""
        sets = ["--set", f"{row['section']}.plugin={row['plugin']}"]
        if row["section"].startswith("contact."):
            sets += ["--set", f"solver.plugin={row['solver']}"]
        done = loom("check", config, *sets)
        what = f"{config.name} {row}: {done.stderr}"
        if row["fits"]:
            # beyond the fit a run may still be refused, for reasons of its own
            self.assertNotRegex(done.stderr, "plugins that fit|meets no contact", what)
        else:
            self.assertEqual(done.returncode, 2, what)
            self.assertIn(row["why"].split(";")[0][:300], done.stderr, what)
        self.counted[row["fits"]] += 1

    def test_json_agrees_with_check(self):
        for name, nth in CONFIGS.items():
            config = SOURCE / f"configs/{name}.ini"
            done = loom("list", "--fit", config, "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            told = json.loads(done.stdout)
            for row in told["fit"][::nth]:
                self.agrees(config, row)
            fitting = {row[kind] for row in told["fit"] if row["fits"] for kind in ("solver", "plugin")}
            self.assertTrue(told["limits"])
            self.assertLessEqual({row["plugin"] for row in told["limits"]}, fitting)
        self.assertGreater(min(self.counted.values()), 20, self.counted)

    def test_matrix(self):
        done = loom("list", "--fit", SOURCE / "configs/drape.ini")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertTrue(lines[0].startswith("[contact.all] plugin"))
        solvers = lines[1].split()
        row = next(line.split() for line in lines if line.startswith("  ipc_barrier "))
        cells = dict(zip(solvers, row[1:], strict=True))
        self.assertEqual(cells["cholmod_newton"], "+")
        reason = next(line for line in lines if line.split()[:1] == [cells["cholmod_pd"]])
        self.assertIn("solver 'cholmod_pd' needs quadratic contact form", reason)
        self.assertEqual(len(solvers), len(set(solvers)))
        limits = lines[lines.index("limits: physical errors of the plugins, measured") + 1 :]
        self.assertIn("pd_bfgs", [line.split()[0] for line in limits])
        self.assertNotIn("acl", [line.split()[0] for line in limits])  # it does not fit there

    def test_refusals(self):
        for words, text in (
            (("list", "--fit", "nix.ini"), "nix.ini: cannot read"),
            (("list", "solver", "--fit", "a.ini"), "takes a config alone"),
            (("describe", "gd", "--fit", "a.ini"), "belongs to list"),
        ):
            done = loom(*words)
            self.assertEqual(done.returncode, 2)
            self.assertIn(text, done.stderr)


if __name__ == "__main__":
    unittest.main()
