"""Measured steps of another program: NPZ files, and the name that tables, reports and pictures give them."""

import json
import re
import unittest
from unittest import mock

import loomcloth
import numpy as np
from logs import BINARY, Bench
from loomcloth.config import method_of
from loomcloth.log import open_log


def setUpModule():
    global bench, frames
    bench = Bench()
    bench.run("drape", solver__plugin="cholmod_newton")
    with open_log(bench.path / "drape.h5") as log:
        count = range(log.num_frames)
        read = {"x": log.frame, "v": log.velocity}
        frames = {name: np.array([one(k) for k in count]) for name, one in read.items()}
    texts = {"peer": "toycloth", "peer_version": "2", "peer_settings": "k = 5"}
    np.savez(bench.path / "toy.npz", **frames, dt=0.01, **texts)
    with mock.patch.dict("os.environ", LOOM_BIN=BINARY):
        bench.inside("measure", "toy.npz", "drape.ini", "--quiet", "-o", "toy.h5")


def tearDownModule():
    bench.close()


class Measured(unittest.TestCase):
    def test_an_npz_file_has_the_residuals_of_the_run(self):
        with open_log(bench.path / "drape.h5") as run, open_log(bench.path / "toy.h5") as toy:
            a, b = run.table("steps"), toy.table("steps")
            np.testing.assert_allclose(b["r_final"], a["r_final"], rtol=1e-12)
            np.testing.assert_allclose(b["e_contact"], a["e_contact"], rtol=1e-12)
            self.assertEqual(toy.peer, "toycloth 2")
            self.assertRegex(toy.attr("command"), "^loom measure toy.npz drape.ini ")  # no temporary file
            self.assertEqual(set(toy.enum("steps", "reason")[int(r)] for r in b["reason"]), {"foreign"})

    def test_a_start_in_other_units_axes_or_order_is_named(self):
        def turned(a):
            return a[..., [0, 2, 1]] * [1, 1, -1]  # y up

        order = np.random.default_rng(1).permutation(frames["x"].shape[1])
        said = {}
        for name, change in (("same", lambda a: a), ("centimetres", lambda a: 100 * a), ("up", turned),
                             ("both", lambda a: 1000 * turned(a)), ("order", lambda a: a[:, order]),
                             ("other", lambda a: 1.1 * a)):  # fmt: skip
            np.savez(bench.path / f"{name}.npz", **{k: change(a[:2]) for k, a in frames.items()})
            words = ("measure", f"{name}.npz", "drape.ini", "-n", "1", "--set", "log.audit=off")
            with mock.patch.dict("os.environ", LOOM_BIN=BINARY):
                said[name] = bench.inside(*words, "-o", f"{name}.h5").stderr
        start = "frame 0 is not the start of the scene"
        self.assertNotIn(start, said.pop("same"))
        for name, text in said.items():
            with self.subTest(name):
                self.assertIn(start, text)
        are = "(x, y, z) of the scene are"
        self.assertIn(f"{are} (x, y, z) of the frame, times 0.01: write positions", said["centimetres"])
        self.assertIn(f"{are} (x, -z, y) of the frame, times 1:", said["up"])
        self.assertIn(f"{are} (x, -z, y) of the frame, times 0.001:", said["both"])
        self.assertIn("it has its vertices in another order: write them in that of /scene", said["order"])
        self.assertIn("look at units, axes and the order of vertices if it should be", said["other"])

    def test_tables_never_show_a_method_of_loom(self):
        rows = loomcloth.runs([bench.path / "drape.h5", bench.path / "toy.h5"]).set_index("run")
        self.assertEqual(rows.loc["toy", "method"], "toycloth 2")
        self.assertIn("cholmod_newton", rows.loc["drape", "method"])
        self.assertEqual(rows.loc["toy", "problem"], rows.loc["drape", "problem"])
        for unknown in ("iterations", "cpu", "wall", "peak_memory", "n_solve"):
            if unknown in rows:
                self.assertTrue(np.isnan(rows.loc["toy", unknown]), unknown)
        self.assertTrue(np.isnan(rows.loc["toy", "converged"]))
        text = bench.inside("table", "toy.h5").stdout
        self.assertIn("toycloth 2", text)
        self.assertNotIn("cholmod", text)
        self.assertNotIn("penalty", text)

    def test_settings_of_the_program_differ_within_it(self):
        with open_log(bench.path / "toy.h5") as log:
            settings = log.settings
        other = settings | {"peer.settings": "k = 6"}
        self.assertEqual(loomcloth.config.differing([settings, other]), ["peer.settings"])
        self.assertFalse(loomcloth.config.poses_problem("peer.settings"))
        self.assertEqual(method_of(settings), "toycloth 2")

    def test_a_report_has_its_name(self):
        bench.inside("report", "drape.h5", "toy.h5", "-o", "both.html")
        page = (bench.path / "both.html").read_text()
        self.assertIn("toycloth 2", page)
        self.assertNotIn("toycloth 2 + penalty", page)
        self.assertIn("measured steps of other programs are within loom&#x27;s tolerance", page)

    def test_measured_steps_neither_converge_nor_fail_to(self):
        far = frames["x"] + 1e-3 * np.sin(np.arange(frames["x"].size)).reshape(frames["x"].shape)
        np.savez(bench.path / "far.npz", x=far, dt=0.01, peer="toycloth")
        with mock.patch.dict("os.environ", LOOM_BIN=BINARY):
            bench.inside("measure", "far.npz", "drape.ini", "--quiet", "-o", "far.h5")
        for name, level in (("toy", "good"), ("far", "care")):
            with self.subTest(name):
                bench.inside("report", f"{name}.h5", "-o", f"{name}.html")
                page = (bench.path / f"{name}.html").read_text()
                self.assertNotIn("Did every step converge?", page)
                levels = re.findall(r'<div class="finding (\w+)"><i></i><b>Are the measured steps', page)
                self.assertEqual(levels, [level])
                self.assertNotIn("did not converge", page)
                self.assertNotIn("foreign", page)
                self.assertRegex(page, r"<td>measured \d+</td>")
                table = bench.inside("table", f"{name}.h5")
                self.assertNotIn("did not converge", table.stdout + table.stderr)
        self.assertIn("measured steps are above loom&#x27;s tolerance", page)
        stalls = bench.inside("table", "far.h5", "--stalls").stdout
        self.assertNotIn("0 of", stalls)
        self.assertIn("measured", stalls)

    def test_a_picture_is_labelled(self):
        from loomcloth.stage import labels_of

        logs = [open_log(bench.path / name) for name in ("drape.h5", "toy.h5")]
        try:
            self.assertEqual(labels_of(logs), ["drape", "toy of toycloth 2"])
            self.assertEqual([labels_of([log]) for log in logs], [[""], ["toycloth 2"]])
        finally:
            for log in logs:
                log.close()

    def test_npz_files_that_do_not_fit_are_refused(self):
        x = frames["x"]
        broken = x.copy()
        broken[3, 5] = np.nan
        (bench.path / "text.npz").write_text("no archive")
        for name, arrays, words in (
            ("pos", {"pos": x}, ("'pos' is not known", "arrays are x, v")),
            ("only_v", {"v": x}, ("there is no array x", "it holds v")),
            ("names", {"x": x, "peer": np.array([1.0])}, ("'peer' has the shape (1,)",)),
            ("objects", {"x": np.array([{}])}, ("cannot be read as NPZ",)),
            ("text", None, ("text.npz: cannot be read as NPZ", "numpy.savez")),
            ("nan", {"x": broken}, ("/x, frame 3: the position of vertex 5 is not finite",)),
            ("one", {"x": x[:1]}, ("a step needs two frames",)),
            ("slow", {"x": x, "dt": 0.02}, ("loom: slow.npz: its frames are 0.02 s apart", "set [run] dt")),
        ):
            if arrays is not None:
                np.savez(bench.path / f"{name}.npz", **arrays)
            with self.subTest(name), mock.patch.dict("os.environ", LOOM_BIN=BINARY):
                done = bench.inside("measure", f"{name}.npz", "drape.ini", "-o", "no.h5", code=2)
                for text in words:
                    self.assertIn(text, done.stderr)
                self.assertFalse((bench.path / "no.h5").exists())

    def test_info_as_json(self):
        import subprocess

        done = subprocess.run([BINARY, "info", "--json", str(bench.path / "toy.h5")],
                              capture_output=True, text=True, check=True)  # fmt: skip
        facts = json.loads(done.stdout)
        self.assertEqual((facts["peer"], facts["peer_version"]), ("toycloth", "2"))
        self.assertEqual(facts["reasons"]["foreign"], facts["steps"])
