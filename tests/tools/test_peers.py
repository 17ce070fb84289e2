"""Simulators on scenes with known answers: free fall, strip, cantilever, slopes, a step, its convergence.

A simulator with an environment that cannot be made here is skipped with the reason."""

import itertools
import json
import os
import unittest
from unittest import mock

import numpy as np
from logs import BINARY, Bench, inside
from loomcloth.log import open_log

EXACT = "[solver]\nplugin = cholmod_newton\n[stop]\ntol_abs = 1e-11\ntol_rel = 1e-9\n[log]\naudit = off\n"
STVK = "model = tri_stvk+hinge_isometric\nk1 = 0\n"
STRIP = "shape = strip\npattern = regular\nsize = 0.5 0.125\nresolution = 21 6\ndensity = 0.2\ndamping = 20\n"
HINGED = "model = tri_neohookean+hinge_shell\nlimit_tension = 0\npoisson = 0.3\n"
SLOPE = """\
[body.slope]
shape = plane
rotation = 0 1 0 ANGLE
friction = 0.3
[collision.bodies]
plugin = sdf
[contact.bodies]
plugin = penalty
pairs = obstacle
collision = bodies
"""
CONFIGS = {
    "fall": f"[run]\nsteps = 50\n[cloth.sheet]\nshape = grid\npattern = regular\nsize = 0.5 0.5\nresolution = 11 11\n{HINGED}"
            f"density = 0.2\nyoung = 1000\nk_e = 1.2e-3\nvelocity = 1 0 2\n{EXACT}",
    "strip": f"[run]\nsteps = 300\ngravity = 9.81 0 0\n[cloth.strip]\n{STRIP}{STVK}k_b = 1e-4\nk0 = 100\n"
             f"k2 = 100\nk3 = 100\npins = left\n{EXACT}",
    "cantilever": f"[run]\nsteps = 300\n[cloth.strip]\n{STRIP}{STVK}k_b = 1\nk0 = 1e4\nk2 = 1e4\n"
                  f"k3 = 1e4\npins = box -0.3 -1 -1 -0.22 1 1\n{EXACT}",
    "hang": f"[run]\nsteps = 10\n[cloth.sheet]\nshape = grid\npattern = regular\nsize = 1 1\nresolution = 21 21\ndensity = 0.2\n"
            f"{HINGED}young = 1000\nk_e = 1.2e-3\npins = bottom_left bottom_right\n"
            f"transform = rotate 1 0 0 30 translate 0 0 1\n{EXACT}error = newton\n",
}  # fmt: skip
for angle in ("20", "30"):
    CONFIGS[f"slope{angle}"] = (
        f"[run]\nsteps = 100\n[cloth.block]\nshape = grid\npattern = regular\nsize = 0.1 0.1\nresolution = 6 6\n"
        f"density = 1\n{HINGED}young = 100\nk_e = 0.01\nthickness = 2 mm\n"
        f"transform = translate 0 0 0.001 rotate 0 1 0 {angle}\n"
        f"{SLOPE.replace('ANGLE', angle)}{EXACT}"
    )


def along_slope(degrees):
    a = np.radians(degrees)
    return np.array([np.cos(a), 0, -np.sin(a)]), 9.81 * (np.sin(a) - 0.3 * np.cos(a))


class Simulator(unittest.TestCase):
    name = ""

    @classmethod
    def setUpClass(cls):
        if not cls.name:
            raise unittest.SkipTest("the base of the others")
        cls.bench = Bench()
        cls.addClassCleanup(cls.bench.close)
        for name, text in CONFIGS.items():
            (cls.bench.path / f"{name}.ini").write_text(text)
        done = inside(cls.bench.path, "peer", cls.name, "--prepare")
        if done.returncode != 0:
            raise unittest.SkipTest(done.stderr.strip().splitlines()[-1])

    def played(self, config, *words, out=""):
        """The log of the simulator."""
        to = f"{out or config}_{self.name}.h5"
        with mock.patch.dict("os.environ", LOOM_BIN=BINARY):
            self.bench.inside("peer", self.name, f"{config}.ini", "-o", to, "--overwrite", *words)
        return open_log(self.bench.path / to)

    def run_of_loom(self, config, *words):
        return open_log(self.bench.run(config, *words, config=f"{config}.ini"))

    def acceleration(self, log, direction):
        """Of the mean vertex along a direction, m/s^2, after the first third."""
        x = np.array([log.frame(k).mean(axis=0) for k in range(log.num_frames)]) @ direction
        skip = log.num_frames // 3
        return 2 * np.polyfit(log.times[skip:], x[skip:], 2)[0]

    def farthest(self, a, b):
        """The largest distance of a vertex in any frame, m."""
        self.assertEqual(a.num_frames, b.num_frames)
        pairs = ((a.frame(k), b.frame(k)) for k in range(a.num_frames))
        return max(float(np.linalg.norm(x - y, axis=1).max()) for x, y in pairs)

    def check_fall(self):
        with self.played("fall") as log:
            g = self.acceleration(log, np.array([0, 0, 1.0]))
            print(f"{log.peer}: free fall {g:.7f} m/s^2")
            self.assertLess(abs(g + 9.81), 1e-4)
            self.assertEqual(log.settings.get("peer.kind"), None if self.name == "newton" else "same scene")

    def check_slopes(self, *words, share=0.02):
        for degrees in (20, 30):
            direction, theory = along_slope(degrees)
            with self.subTest(degrees), self.played(f"slope{degrees}", *words) as log:
                a = self.acceleration(log, direction)
                print(f"{log.peer}: slope of {degrees} degrees {a:.4f} m/s^2, theory {theory:.4f}")
                self.assertLess(abs(a - theory), share * theory)
                self.assertEqual(log.settings["peer.kind"], "same scene")


class Mujoco(Simulator):
    name = "mujoco"

    def test_free_fall(self):
        self.check_fall()

    def test_strip_and_cantilever_follow_loom_in_every_frame(self):
        for config in ("strip", "cantilever"):
            with self.subTest(config), self.run_of_loom(config) as run, self.played(config) as log:
                far = self.farthest(run, log)
                moved = np.abs(run.frame(-1) - run.frame(0)).max()
                print(f"{log.peer}: {config}: at most {1e6 * far:.2f} micrometres from loom, "
                      f"which moves {1e3 * moved:.3f} mm")  # fmt: skip
                self.assertLess(far, 1e-5)
                self.assertGreater(moved, 2e-3)
                self.assertNotIn("peer.kind", log.settings)  # the same problem

    def test_slopes(self):
        self.check_slopes("--as-recommended")

    def test_passive_contact_has_no_friction_and_the_row_says_so(self):
        direction, _ = along_slope(20)
        with self.played("slope20", "--as-recommended", "--set", "peer.passive=1", out="passive") as log:
            a = self.acceleration(log, direction)
            self.assertLess(abs(a - 9.81 * np.sin(np.radians(20))), 1e-3)
            note = json.loads(str(log.attr("peer_settings")))["note"]
            self.assertEqual(note, "passive contact has no friction")


class Newton(Simulator):
    name = "newton"

    def test_free_fall(self):
        self.check_fall()

    def test_a_step_of_ten_thousand_iterations_is_that_of_loom(self):
        words = ("-n", "1", "--set", "peer.iterations=10000")
        with self.run_of_loom("hang", "-n", "1") as run, self.played("hang", *words) as log:
            far = self.farthest(run, log)
            print(f"{log.peer}: one step of 10,000 iterations: {far:.2e} m from loom")
            self.assertLess(far, 1e-6)
            self.assertGreater(float(log.table("steps")["t_cpu"][0]), 0.5)  # s
            self.assertNotIn("peer.kind", log.settings)  # the same problem

    def test_r_energy_falls_with_iterations(self):
        found = []
        for count in (10, 30, 100, 300):
            words = ("-n", "5", "--set", f"peer.iterations={count}", "--set", "log.error=newton")
            with self.played("hang", *words) as log:
                rows = log.table("iters", ("step", "k", "r_energy"))
                found.append(float(np.median(rows[rows["k"] == 0]["r_energy"])))
        words = ", ".join(f"{r:.3g}" for r in found)
        print(f"newton: r_energy of 10, 30, 100, 300 iterations: {words} sqrt(J)")
        for more, less in itertools.pairwise(found):
            self.assertLess(less, 0.7 * more)

    def test_slopes(self):
        self.check_slopes("--set", "run.substeps=10")


if __name__ == "__main__":
    os.environ.setdefault("LOOM_BIN", BINARY)
    unittest.main()
