"""`./loom figure gpu-model` on sheets of 12 x 12 vertices: counts, and times from a table of devices."""

import csv
import tempfile
import unittest
from pathlib import Path

from logs import SOURCE
from loomcloth.experiment import Experiment, FigureError, load_figures
from loomcloth.log import Log

FOLDER = SOURCE / "experiments/gpu"
SIDE = 12


class Model(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        work = tempfile.TemporaryDirectory(prefix="loom-gpu-model-")
        cls.addClassCleanup(work.cleanup)
        cls.experiment = Experiment(FOLDER, options={"detail": (SIDE,)})
        cls.experiment.out = Path(work.name)
        cls.figure = load_figures(FOLDER)
        cls.figure.model(cls.experiment)
        with (cls.experiment.out / "gpu-model.csv").open() as file:
            cls.rows = list(csv.DictReader(file))
        cls.text = (cls.experiment.out / "gpu-model.txt").read_text()

    def kernels(self, method):
        return {r["kernel"]: r for r in self.rows if r["method"] == method}

    def test_scenes_are_those_of_gpu_check(self):
        script = (SOURCE / "framework/bundle/scenes.sh").read_text()
        for name, way in self.figure.WAYS.items():
            self.assertIn(name, script)
            if way.config:
                self.assertRegex(script, rf"\n{name} +{way.config}\b")
            for key, value in way.sets.items():
                self.assertIn(f"{key}={value}", script)

    def test_counts_are_of_the_log(self):
        found = self.kernels("ndb_pd_ndb")
        self.assertEqual(float(found["ndb_pd_sweep"]["launches"]), 10 * 20)  # ten sweeps an iteration
        with Log(self.experiment.out / f"ndb_pd_ndb_{SIDE}.h5") as log:
            steps = log.table("steps")[self.figure.WAYS["ndb_pd_ndb"].first:]
        moved = sum(float(r["bytes"]) for r in found.values() if r["kernel"] not in self.figure.UNTIMED)
        self.assertGreater(moved, float(steps["n_bytes"].mean()))  # with those of measuring
        self.assertLess(moved, 3 * float(steps["n_bytes"].mean()))
        self.assertGreater(int(steps["contacts"].max()), 0)

    def test_times_follow_the_table(self):
        card = {"TB_per_s": 2.0, "share": 0.5, "launch_us": 3.0, "read_us": 10.0}
        self.assertAlmostEqual(self.figure.seconds(card, 4, 1e9), 1e-3 + 12e-6)
        self.assertAlmostEqual(self.figure.seconds(card, 4, 1e9, "read"), 40e-6)
        rows = [{"kernel": "a", "launches": 2, "bytes": 1e9}, {"kernel": "read", "launches": 1, "bytes": 8}]
        for part, want in zip(self.figure.parts(card, rows), (1e-3, 6e-6, 10e-6), strict=True):
            self.assertAlmostEqual(part, want)

    def test_text(self):
        for method in self.figure.WAYS.values():
            self.assertIn(f"{method.title}, {2 * SIDE**2} vertices", self.text)
        self.assertEqual(set(self.figure.devices()), {"H100", "H200"})
        self.assertIn("kB a vertex (target 8)", self.text)

    def test_table_is_beside_the_measured_one(self):
        kept = self.experiment.out / "kept.csv"
        self.assertIn("gpu-model --update", self.figure.beside_measured(kept)[0])
        with kept.open("w", newline="") as file:
            writer = csv.DictWriter(file, self.figure.FIELDS)
            writer.writeheader()
            for vertices in (self.figure.PROFILED, 288):
                row = ("ndb_pd_ndb", vertices, 20, "ndb_pd_sweep", 200, 2.9145e9)
                writer.writerow(dict(zip(self.figure.FIELDS, row, strict=True)))
        lines = self.figure.beside_measured(kept)[1:]
        self.assertEqual(len(lines), 1)  # the other size and kernels that only one of them has are left out
        self.assertEqual(lines[0].split(), ["ndb_pd_ndb", "ndb_pd_sweep", "2.495", "1.600", "1.6", "times"])

    def test_counts_of_a_cpu_are_not_kept(self):
        kept = Experiment(FOLDER, update=True)
        kept.binary = self.experiment.out / "build/bin/loom"
        with self.assertRaisesRegex(FigureError, "simulated"):
            self.figure.simulated(kept)


if __name__ == "__main__":
    unittest.main()
