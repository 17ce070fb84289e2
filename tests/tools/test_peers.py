"""The bars of `./loom figure peers-bars` with the simulators, and without a package index; kinds of rows.

A simulator with an environment that cannot be made here is skipped with the reason."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import numpy as np
from logs import BINARY, SOURCE
from loomcloth.experiment import Experiment, load_figures
from loomcloth.log import open_log
from loomcloth.peer.environment import EnvironmentMissing

# Of the logs of the figure: {log without .h5: kind of its row}.
KINDS = {
    "fall-mujoco": "same scene", "fall-newton": None, "strip-mujoco": None, "cantilever-mujoco": None,
    "step-10000-newton": None, "slope20-mujoco": "same scene", "slope30-newton": "same scene",
    "fall-newton-style3d": "same scene", "fall-newton-xpbd": "other model", "fall-blender": "other model",
    "fall-pypbd": "other model", "slope20-pypbd": "other model", "fall-pybullet": "other model",
}  # fmt: skip


def setUpModule():
    global work
    work = Path(tempfile.mkdtemp(prefix="loom-peers-"))
    unittest.addModuleCleanup(shutil.rmtree, work)
    names = shutil.ignore_patterns("out", "__pycache__")
    shutil.copytree(SOURCE / "experiments/peers", work / "experiments/peers", ignore=names)
    shutil.copytree(SOURCE / "tests/tools/fake_peer", work / "tests/tools/fake_peer", ignore=names)


def figure(name, **environment):
    """`./loom figure NAME` on a copy of the folder."""
    return subprocess.run(
        [os.environ["PYTHON"], "-m", "loomcloth.figure", name], capture_output=True, text=True,
        env=os.environ | {"LOOM_ROOT": str(work), "LOOM_BIN": BINARY} | environment,
    )  # fmt: skip


class Offline(unittest.TestCase):
    def test_the_bars_name_missing_environments_and_go_on(self):
        shutil.rmtree(work / "experiments/peers/out", ignore_errors=True)  # logs of the tests above
        with tempfile.TemporaryDirectory() as kept:
            done = figure("peers-bars", LOOM_VENV_DIR=kept, PIP_INDEX_URL="http://127.0.0.1:9/simple",
                          PIP_RETRIES="0", PIP_NO_CACHE_DIR="1")  # fmt: skip
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, said)
        self.assertNotIn("Traceback", said)
        bars = [line for line in done.stdout.splitlines() if line.startswith("BAR ")]
        missing = [line for line in bars if "NOT MEASURED" in line]
        self.assertEqual(len([line for line in bars if line.endswith(" PASS")]), 3, said)
        for name in sorted(p.parent.name for p in SOURCE.glob("experiments/tools/loomcloth/peer/*/peer.py")):
            with self.subTest(name):
                of = [line for line in missing if line.startswith(f"BAR {name}: ")]
                self.assertEqual(len(of), 1, said)
                self.assertIn(f"the environment of {name} is missing", of[0])
                self.assertIn(f"./loom peer {name} --prepare", of[0])


class Warned(unittest.TestCase):
    def test_a_warning_of_mujoco_stands_in_the_row_and_in_no_file(self):
        folder, few = work / "experiments/peers", {"run.steps": 2, "peer.iterations": 2}
        with mock.patch.dict("os.environ", LOOM_BIN=BINARY):
            try:
                path = Experiment(folder).play("warned", "mujoco", "cantilever.ini", few)
            except EnvironmentMissing as error:
                self.skipTest(str(error))
        with open_log(path) as log:
            note = json.loads(str(log.attr("peer_settings"))).get("note", "")
        self.assertRegex(note, "^MuJoCo warns: .* ran out of iterations")
        self.assertEqual(list(folder.glob("*.TXT")), [])


class Bars(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = work / "experiments/peers"
        with mock.patch.dict("os.environ", LOOM_BIN=BINARY):
            cls.module, cls.experiment = load_figures(folder), Experiment(folder)
            cls.bars = cls.module.bounds.bars(cls.experiment)

    def test_every_bar_passes(self):
        for bar in self.bars:
            print(bar)
            with self.subTest(bar.name):
                if bar.passed is None:
                    self.skipTest(str(bar))
                self.assertTrue(bar.passed)

    def test_rows_have_their_kinds(self):
        for name, kind in KINDS.items():
            path = self.experiment.out / f"{name}.h5"
            with self.subTest(name):
                if not path.exists():
                    self.skipTest("the environment is missing")
                with open_log(path) as log:
                    self.assertEqual(log.settings.get("peer.kind"), kind)  # None: the same problem

    def test_processor_time_is_that_of_the_simulator(self):
        path = self.experiment.out / "step-10000-newton.h5"
        if not path.exists():
            self.skipTest("the environment is missing")
        with open_log(path) as log:
            self.assertGreater(float(log.table("steps")["t_cpu"][0]), 0.5)  # s

    def test_passive_contact_of_mujoco_has_no_friction_and_the_row_says_so(self):
        if not (self.experiment.out / "slope20-mujoco.h5").exists():
            self.skipTest("the environment is missing")
        with mock.patch.dict("os.environ", LOOM_BIN=BINARY):
            path = self.experiment.play("passive", "mujoco", "slope20.ini", {"peer.passive": 1},
                                        ("--as-recommended",))  # fmt: skip
        direction, _ = self.module.bounds.along_slope(20)
        a = self.module.bounds.acceleration(path, direction)
        self.assertLess(abs(a - 9.81 * np.sin(np.radians(20))), 1e-3)
        with open_log(path) as log:
            note = json.loads(str(log.attr("peer_settings")))["note"]
        self.assertEqual(note, "passive contact has no friction: not Coulomb")


if __name__ == "__main__":
    unittest.main()
