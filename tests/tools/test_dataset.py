"""loomcloth.to_xarray, and the program of export-runs.md, against h5py."""

import contextlib
import importlib.util
import io
import re
import unittest

import h5py
import loomcloth
import numpy as np
from logs import SOURCE, Bench


def setUpModule():
    global bench, path
    bench = Bench()
    path = bench.run("one", log__fields="gap residual", log__frames_every=2)


def tearDownModule():
    bench.close()


def is_here(name):
    return importlib.util.find_spec(name) is not None


class Program(unittest.TestCase):
    @unittest.skipIf(is_here("mlflow") or is_here("tensorboardX"), "it would write to MLflow or TensorBoard")
    def test_points_are_the_numbers_of_steps(self):
        page = (SOURCE / "framework/doc/export-runs.md").read_text()
        program = re.search(r"```python\n(.*?)```", page, re.S)[1].replace("out/drape.h5", str(path))
        names = {}
        with contextlib.redirect_stdout(io.StringIO()):
            exec(program, names)
        with h5py.File(path) as log:
            steps = log["steps"][:]
        self.assertEqual(list(names["points"]), list(steps["step"]))
        for row in steps:
            found = names["points"][row["step"]]
            self.assertEqual(set(found), set(steps.dtype.names) - {"step", "reason"})
            for name, value in found.items():
                np.testing.assert_equal(value, float(row[name]))


@unittest.skipUnless(is_here("xarray"), "xarray is not installed")
class Dataset(unittest.TestCase):
    def test_values_dimensions_and_units(self):
        with loomcloth.open(path) as log:
            found, columns = loomcloth.to_xarray(log), log.columns("steps")
        with h5py.File(path) as log:
            steps, x, v = log["steps"][:], log["frames/x"][:], log["frames/v"][:]
            gap, ended, time = log["fields/gap"][:], log["frames/step"][:], log["frames/time"][:]
            unit = log["fields/gap"].attrs["unit"].decode()
        self.assertGreater(len(steps), len(x))
        self.assertEqual(found.x.dims, ("frame", "vertex", "axis"))
        self.assertEqual(found.r_final.dims, ("step",))
        self.assertEqual(found.field_gap.dims, ("frame", "vertex"))
        self.assertEqual(found.field_residual.dims, ("frame", "vertex", "axis"))
        for have, want in ((found.x, x), (found.v, v), (found.field_gap, gap), (found.step, steps["step"]),
                           (found.frame_step, ended), (found.frame_time, time)):  # fmt: skip
            np.testing.assert_array_equal(have, want)
        np.testing.assert_array_equal(found.x.sel(axis="z"), x[:, :, 2])
        for name in set(columns) - {"reason"}:
            np.testing.assert_array_equal(found[name], steps[name])
            self.assertEqual((found[name].attrs["units"], found[name].attrs["long_name"]), columns[name])
        words = {number: word for word, number in h5py.check_enum_dtype(steps.dtype["reason"]).items()}
        self.assertEqual(list(found.reason.values), [words[k] for k in steps["reason"]])
        self.assertEqual((found.x.units, found.v.units, found.field_gap.units), ("m", "m/s", unit))
        self.assertTrue(found.attrs["config_hash"])


if __name__ == "__main__":
    unittest.main()
