"""`loom watch` beside a run that is really running, on a terminal and without one."""

import os
import pty
import signal
import subprocess
import time
import unittest
from pathlib import Path

from logs import BINARY, Bench
from loomcloth.follow import Follower, is_written
from PIL import Image

CLEAR = "\x1b[H\x1b[2J"


def setUpModule():
    global bench, done
    bench = Bench()
    done = bench.run("done")


def tearDownModule():
    bench.close()


class Watch(unittest.TestCase):
    def begin(self, name, steps):
        """A run that is going on; its log is there when this returns."""
        path = bench.path / f"{name}.h5"
        words = ["--set", "solver.plugin=cholmod_newton", "--set", "cloth.sheet.resolution=31 31"]
        run = subprocess.Popen(
            [BINARY, "run", "drape.ini", "--quiet", "-n", str(steps), "-o", path, *words], cwd=bench.path
        )
        self.addCleanup(self.end, run)
        while not path.exists():
            self.assertIsNone(run.poll())
            time.sleep(0.01)
        return run, path

    @staticmethod
    def end(run):
        run.kill()
        run.wait()

    def watching(self, *words, **options):
        program = [os.environ["PYTHON"], "-u", "-m", "loomcloth.watch", *map(str, words)]
        return subprocess.Popen(program, cwd=bench.path, stderr=subprocess.PIPE, text=True, **options)

    def test_lines_without_a_terminal(self):
        run, path = self.begin("lines", 40)
        watch = self.watching(path, "--interval", 0.1, stdout=subprocess.PIPE)
        out, err = watch.communicate(timeout=300)
        self.assertEqual((watch.returncode, err), (0, ""))
        self.assertEqual(run.wait(), 0)
        lines = out.splitlines()
        self.assertNotIn("\x1b", out)
        live = [line for line in lines if line.startswith("step ")]
        self.assertGreater(len(live), 2, out)
        self.assertTrue(all(" of 40  " in line and " m  iterations " in line for line in live), out)
        self.assertIn("running", lines[0])
        self.assertRegex(lines[-1], r"^lines\.h5  finished  40 of 40 steps  0\.4 s  ")

    def test_on_a_terminal(self):
        _, path = self.begin("screen", 30)
        ours, theirs = pty.openpty()
        environment = os.environ | {"COLUMNS": "100", "LINES": "30", "PYTHONIOENCODING": "utf-8"}
        watch = self.watching(path, "--interval", 0.2, stdout=theirs, env=environment)
        os.close(theirs)
        out = b""
        while True:
            try:
                more = os.read(ours, 1 << 16)
            except OSError:  # error of a closed terminal
                break
            if not more:
                break
            out += more
        os.close(ours)
        self.assertEqual(watch.wait(), 0, watch.stderr.read())
        watch.stderr.close()
        pages = out.decode().split(CLEAR)[1:]
        self.assertGreater(len(pages), 1)
        for text in ("finished  30 of 30", "residual (rms) of the accepted point (m)", "iteration", "1e-"):
            self.assertIn(text, pages[-1])
        self.assertGreater(sum("\u2800" < c < "\u2900" for c in pages[-1]), 40, "no curve")
        self.assertLessEqual(max(map(len, pages[-1].replace("\x1b[0m", "").splitlines())), 100)
        self.assertLessEqual(len(pages[-1].rstrip().splitlines()), 30)

    def test_a_writer_that_dies(self):
        run, path = self.begin("dies", 1000)
        watch = self.watching(path, "--interval", 0.1, stdout=subprocess.PIPE)
        time.sleep(2)
        self.assertTrue(is_written(str(path)))
        run.send_signal(signal.SIGKILL)
        out, err = watch.communicate(timeout=60)
        self.assertEqual((watch.returncode, err), (1, ""))
        self.assertIn("dies.h5  died  ", out.splitlines()[-1])

    def test_a_run_that_is_stopped(self):
        run, path = self.begin("stopped", 1000)
        with Follower(str(path)) as follower:
            time.sleep(0.5)
            follower.update()
            self.assertEqual(follower.status, "running")
            run.terminate()
            self.assertEqual(run.wait(), 5)
            follower.update()
            self.assertEqual(follower.status, "stopped")
            known = len(follower.steps)
        # the reader has not kept the run from going on, nor from its last rows
        words = ["--resume", "-n", str(known + 2), "-o", path, "--quiet"]
        sets = ["--set", "solver.plugin=cholmod_newton", "--set", "cloth.sheet.resolution=31 31"]
        again = subprocess.run([BINARY, "run", "drape.ini", *words, *sets], cwd=bench.path)
        self.assertEqual(again.returncode, 0)

    def test_picture(self):
        out = bench.tool("watch", done, "-o", "shot/run.png").stdout
        self.assertIn("done.h5  finished  8 of 8 steps", out)
        with Image.open(bench.path / "shot/run.png") as image:
            colours = image.convert("RGB").getcolors(1 << 20)
        curve = sum(count for count, (r, g, b) in colours if b > r + 80)
        self.assertGreater(curve, 300)
        self.assertEqual([p.name for p in (bench.path / "shot").iterdir()], ["run.png"])

    def test_bad_input(self):
        for words, code, message in (
            ((done, "--plot", "residum"), 1, "no such column"),
            ((done, "--plot", "iter"), 1, "did you mean 'iters'?"),
            ((done, "--plot", "a,b,c,d"), 1, "one to three columns"),
            ((done, "-o", "x.gif"), 2, "one of .png, .pdf, .svg"),
            ((done, "--interval", "0"), 2, "between 0.05 and 3600 s"),
            (("none.h5",), 1, "none.h5: no such file"),
            (("drape.ini",), 1, "cut short or damaged"),
        ):
            self.assertIn(message, bench.tool("watch", *words, code=code).stderr)
        self.assertTrue(Path(done).exists())


if __name__ == "__main__":
    unittest.main()
