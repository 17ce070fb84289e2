"""`loom render`: logs side by side, colours, camera, time; each picture is read back."""

import argparse
import json
import os
import subprocess
import types
import unittest

import imageio.v2 as imageio
import loomcloth
import numpy as np
from logs import Bench
from loomcloth import fields
from loomcloth.errors import LogError
from loomcloth.frames import frame_range
from loomcloth.log import Log
from loomcloth.render import picture_frames, real_time
from loomcloth.sheet import caption, columns_of, tick_texts
from loomcloth.stage import Stage
from PIL import Image

SIZE = (160, 120)
FAST = ("--fast", "--size", "{}x{}".format(*SIZE))


def setUpModule():
    global bench, pd, newton
    bench = Bench()
    kept = {"log__fields": "strain contact_force", "stop__max_iters": 20}
    pd = bench.run("pd", solver__plugin="cholmod_pd", **kept)
    newton = bench.run("newton", solver__plugin="cholmod_newton", **kept)


def tearDownModule():
    bench.close()


def log_of(test, path):
    log = Log(path)
    test.addCleanup(log.close)
    return log


def pixels(name):
    return np.asarray(Image.open(bench.path / name).convert("RGB")).astype(int)


class Render(unittest.TestCase):
    def make(self, *words, output="picture.png"):
        bench.tool("render", *words, *FAST, "-o", output)
        return pixels(output) if output.endswith(".png") else bench.path / output

    def refused(self, *words, code=1):
        return bench.tool("render", *words, *FAST, "-o", "no.png", code=code).stderr

    def test_side_by_side(self):
        width, height = SIZE
        both = self.make(pd, newton)
        self.assertEqual(both.shape, (height, 2 * width, 3))
        # one camera: the background and the ball are at the same places, the cloth is elsewhere
        left, right = both[:, :width], both[:, width:]
        apart = (np.abs(left - right).sum(axis=2) > 30)[20:100]
        self.assertLess(apart.mean(), 0.2)
        self.assertGreater(apart.sum(), 0)
        stacked = self.make(pd, newton, "--columns", 1)
        self.assertEqual(stacked.shape, (2 * height, width, 3))

    def test_labels_and_time(self):
        """Letters are where they should be, and nowhere else."""
        plain = self.make(pd)
        changed = np.argwhere((self.make(pd, "--stamp") != plain).any(axis=2))
        self.assertGreater(len(changed), 10)
        self.assertTrue((changed[:, 0] > 95).all() and (changed[:, 1] < 80).all())
        changed = np.argwhere((self.make(pd, "--label", "mine") != plain).any(axis=2))
        self.assertGreater(len(changed), 10)
        self.assertTrue((changed[:, 0] < 25).all() and (changed[:, 1] < 80).all())
        self.assertIn("1 for 2 logs", self.refused(pd, newton, "--label", "one", code=2))

    def test_camera(self):
        first = self.make(pd, "--view", "20,40", "--save-camera", "camera.json")
        again = self.make(pd, "--camera", "camera.json")
        np.testing.assert_array_equal(again, first)
        self.assertTrue((self.make(pd) != first).any())
        camera = json.loads((bench.path / "camera.json").read_text())
        for change, message in (
            ({"position": [1, 2]}, "'position' must be three numbers"),
            ({"zoom": 1}, "unknown 'zoom'; known: position"),
            ({"position": camera["target"]}, "at its own position"),
            ({"view_angle": 0}, "'view_angle' must be between"),
        ):
            (bench.path / "bad.json").write_text(json.dumps(camera | change))
            self.assertIn(message, self.refused(pd, "--camera", "bad.json"))
        (bench.path / "bad.json").write_text("{")
        self.assertIn("not a camera", self.refused(pd, "--camera", "bad.json"))
        self.assertIn("No such file", self.refused(pd, "--camera", "none.json"))

    def test_colours(self):
        """The cloth takes the colour of its value on the scale, and the scale stands beside it."""
        low = self.make(pd, "--color", "strain", "--range", "0,1e9")
        high = self.make(pd, "--color", "strain", "--range", "-1e9,0")
        self.assertGreater(low.shape[1], SIZE[0])
        low, high = low[:, : SIZE[0]], high[:, : SIZE[0]]  # without the bars
        cloth = np.abs(low - high).sum(axis=2) > 60
        self.assertGreater(cloth.mean(), 0.03)
        at = np.argwhere(cloth)
        dark, bright = (p[at[:, 0], at[:, 1]].mean(axis=0) for p in (low, high))
        self.assertGreater(dark[2], dark[1] + 20)  # viridis: violet, then yellow
        self.assertGreater(bright[0], bright[2] + 60)
        both = self.make(pd, newton, "--color", "contact_force")
        self.assertGreater(both.shape[1], 2 * SIZE[0])
        message = self.refused(pd, "--color", "presure")
        self.assertIn("there are: speed, stretch, contact_force", message)
        self.assertIn("the first must be less", self.refused(pd, "--color", "strain", "--range", "2,1"))

    def test_values_are_those_of_the_log(self):
        with loomcloth.open(pd) as log, loomcloth.open(newton) as other:
            computed = fields.values(log, fields.STRETCH, 8)
            np.testing.assert_allclose(computed, log.file["fields/strain"][8], atol=1e-5)
            force = log.file["fields/contact_force"][8]
            self.assertEqual(force.shape[1], 3)
            length = np.sqrt((force.astype(float) ** 2).sum(axis=1))
            np.testing.assert_allclose(fields.values(log, "contact_force", 8), length)
            away = np.linalg.norm(other.frame(8) - log.frame(8), axis=1)
            np.testing.assert_array_equal(fields.values(other, fields.DISTANCE, 8, log.frame(8)), away)

    def test_movies_last_as_long_as_the_motion(self):
        """8 steps of 0.01 s, at every speed and rate of pictures; GIF counts in 0.01 s."""
        for name, words, rate, count in (
            ("a.mp4", (), 50.0, 5),
            ("b.mp4", ("--speed", "0.1"), 10.0, 9),
            ("c.mp4", ("--fps", "25"), 25.0, 3),
            ("d.gif", (), 50.0, 5),
        ):
            path = self.make(pd, *words, output=name)
            with imageio.get_reader(path) as reader:
                meta = reader.get_meta_data()
                self.assertEqual(sum(1 for _ in reader), count, name)
            found = meta["fps"] if "fps" in meta else 1000.0 / meta["duration"]
            self.assertAlmostEqual(found, rate, delta=0.02, msg=name)

    def test_frames_of_another_kind_of_output_are_refused(self):
        self.assertIn("a picture takes --frame N", self.refused(pd, "--frames", "1:1"))
        self.assertIn("take --frames A:B", self.refused(pd, "--strip", "2", "--frame", "0"))

    def test_a_caption_of_yarns_alone(self):
        """Their logs have no triangles."""
        scene = {"mass": np.ones(3)}
        log = types.SimpleNamespace(scene=lambda name, default=None: scene.get(name, default))
        self.assertEqual(caption(log, "knit"), "knit, 3 points of yarns")

    def test_a_strip_tells_name_size_and_times(self):
        log = log_of(self, pd)
        size = f"sheet, {len(log.frame(0))} vertices"
        self.assertEqual(caption(log, "sheet"), size)
        self.assertEqual(caption(log, "sheet", 4), f"{size}, {log.times[4]:.2f} s")
        strip = self.make(pd, "--strip", "3")
        width = SIZE[0]
        self.assertEqual(strip.shape[1], 3 * width)
        ink = (strip < 0x60).all(axis=2)  # of letters, smoothed
        for column in range(3):
            part = ink[:, column * width : (column + 1) * width]
            self.assertEqual(part[:25, :80].sum() > 10, column == 0, column)  # name and size
            self.assertGreater(part[95:, :80].sum(), 10, column)  # the time

    def test_ranges_hold_both_ends(self):
        for text, frames in ((":", [0, 1, 2, 3, 4]), ("1:3", [1, 2, 3]), ("0:200:2", [0, 2, 4]),
                             ("-2:", [3, 4]), ("3", [3]), ("last", [4]), ("0:-2", [0, 1, 2, 3])):  # fmt: skip
            self.assertEqual(list(frame_range(text, 5)), frames, text)
        for text in ("x", "1:2:0", "1:2:3:4", "5:", "3:1", "5", "-9:"):
            self.assertRaises(LogError, frame_range, text, 5)
        two = argparse.Namespace(strip=3, frames="0:1", frame=0)
        self.assertEqual(picture_frames(two, 5), [0, 1])  # each frame once

    def test_only_chosen_frames_are_drawn(self):
        """Each once, also where the movie shows it longer, and where the other log has no more frames."""
        short = bench.run("short", solver__plugin="cholmod_pd", run__steps=3)
        stage = Stage([log_of(self, pd), log_of(self, short)], [0, 4, 8], SIZE, (-60, 20), 1.0, None, lamps=0,
                      movie=True)  # fmt: skip
        drawn = []
        make = stage._make

        def counted(log):
            view = make(log)
            whole = view.image
            view.image = lambda frame: drawn.append((log.path, frame)) or whole(frame)
            return view

        stage._make = counted
        for frame in (0, 0, 4, 4, 4, 8, 8):
            stage.sheet(frame)
        self.assertEqual(drawn, [(str(pd), 0), (str(short), 0), (str(pd), 4), (str(short), 3), (str(pd), 8)])

    def test_the_cost_of_a_movie(self):
        """At 10,201 vertices 0.5 s of processor time for a frame, 1 GB for two logs."""
        size = {"cloth__sheet__resolution": "101 101", "run__steps": 14, "stop__max_iters": 1}
        logs = [bench.run(f"large{i}", solver__plugin="gd", **size) for i in (0, 1)]
        best = min(self.cost(logs[0], "0:13")[0] - self.cost(logs[0], "0:3")[0] for _ in (0, 1))
        self.assertLess(best / 10, 0.5)
        self.assertLess(self.cost(*logs, "0:3")[1], 1e9)
        self.assertLess(self.cost(*logs, "", "-o", "two.png")[1], 1e9)

    def cost(self, *words):
        """Processor seconds and bytes at most of a movie with these frames."""
        *logs, frames = [w for w in words if w not in ("-o", "two.png")]
        out = ("-o", "two.png") if "two.png" in words else ("-o", "two.mp4", "--frames", frames)
        program = (
            "import resource, subprocess, sys\n"
            "subprocess.run([sys.executable, '-m', 'loomcloth.render', *sys.argv[1:]], check=True)\n"
            "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
            "print(used.ru_utime + used.ru_stime, 1024 * used.ru_maxrss)\n"
        )
        done = subprocess.run(
            [os.environ["PYTHON"], "-c", program, *logs, *out],
            cwd=bench.path,
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return [float(w) for w in done.stdout.splitlines()[-1].split()]

    def test_slow_motion_repeats_pictures(self):
        times = np.array([0.0, 1.0, 2.0])
        chosen, rate = real_time(times, [0, 1, 2])
        self.assertEqual(rate, 5.0)
        self.assertEqual(chosen, [0] * 3 + [1] * 5 + [2] * 3)
        # frames at uneven times: each picture shows the nearest
        chosen, rate = real_time(np.array([0.0, 0.1, 0.4]), [0, 1, 2], fps=10.0)
        self.assertEqual((chosen, rate), ([0, 1, 1, 2, 2], 10.0))

    def test_sheets(self):
        self.assertEqual([columns_of(n, (1280, 960)) for n in (1, 2, 3, 4, 6, 9)], [1, 2, 3, 2, 3, 3])
        self.assertEqual(tick_texts([0, 2e-5, 4e-5]), (["0", "2", "4"], -5))
        self.assertEqual(tick_texts([0, 0.5]), (["0", "0.5"], 0))


if __name__ == "__main__":
    unittest.main()
