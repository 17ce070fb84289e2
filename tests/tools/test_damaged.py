"""Damaged, unfinished and hostile logs: each is told with its reason, and the others are read."""

import os
import shutil
import signal
import subprocess
import sys
import time
import unittest
import unittest.mock

import h5py
import numpy as np
import pandas as pd
from logs import BINARY, SOURCE, Bench, cut_off, inside
from loomcloth import command, opening, terminal
from loomcloth.report import page

EVIL = (
    "@@data@@<img src=x onerror=alert(1)>",
    "a<!--<script>b",
    "</script><script>alert(1)</script>",
    'x" onmouseover="alert(1)',
    "\x1b]0;title\x07\x1b[2J\x9b31mred",
    "=HYPERLINK(1)",
)


def setUpModule():
    global bench, good
    bench = Bench()
    good = bench.run("good")


def tearDownModule():
    bench.close()


def replaced(file, name, **more):
    del file[name]
    file.create_dataset(name, **more)


def to_group(file, name):
    del file[name]
    file.create_group(name)


def renamed(file, name, column):
    """The table without a column."""
    rows = file[name][:]
    kept = [n for n in rows.dtype.names if n != column]
    fresh = np.zeros(len(rows), [(n, rows.dtype[n]) for n in kept])
    for n in kept:
        fresh[n] = rows[n]
    replaced(file, name, data=fresh)


# Damage to a log, and a word of the reason that must be told.
DAMAGE = {
    "group": (lambda f: to_group(f, "iters"), "/iters is no data set"),
    "gone": (lambda f: f.__delitem__("steps"), "/steps is missing"),
    "flat": (lambda f: replaced(f, "frames/x", data=np.zeros((9, 363))), "/frames/x has the shape"),
    "ints": (lambda f: replaced(f, "frames/v", data=np.zeros((9, 121, 3), int)), "/frames/v holds int64"),
    "other": (lambda f: replaced(f, "frames/v", data=np.zeros((9, 120, 3))), "have 121 and 120 vertices"),
    "column": (lambda f: renamed(f, "steps", "r_final"), "/steps has no column 'r_final'"),
    "text": (lambda f: f.attrs.__setitem__("config", np.bytes_(b"[run]\n\xff = 1\n")), "no text in UTF-8"),
    "huge": (
        lambda f: replaced(f, "frames/x", shape=(1 << 40, 121, 3), dtype="f4", chunks=(1, 121, 3)),
        "promises .* bytes",
    ),
    "link": (
        lambda f: (f.__delitem__("iters"), f.__setitem__("iters", h5py.ExternalLink("/etc/passwd", "/x"))),
        "refers to another file",
    ),
    "schema": (lambda f: f.attrs.__setitem__("schema", [1, 2]), "schema"),
}


class Damaged(unittest.TestCase):
    def folder(self, name):
        folder = bench.path / name
        folder.mkdir()
        shutil.copy(good, folder / "a_good.h5")
        for kind, (damage, _) in DAMAGE.items():
            shutil.copy(good, folder / f"{kind}.h5")
            with h5py.File(folder / f"{kind}.h5", "r+") as file:
                damage(file)
        (folder / "prose.h5").write_text("no log\n")
        (folder / "empty.h5").write_bytes(b"")
        (folder / "short.h5").write_bytes(good.read_bytes()[:100_000])
        os.mkfifo(folder / "pipe.h5")
        return folder

    def test_each_is_told_and_the_good_one_stays(self):
        folder = self.folder("damaged")
        done = bench.inside("table", folder, "-o", "kept.csv", code=1)
        self.assertEqual(len(pd.read_csv(bench.path / "kept.csv")), 1)
        for kind, (_, why) in DAMAGE.items():
            self.assertRegex(done.stderr, rf"left out: .*/{kind}\.h5: .*({why})")
        for kind in ("prose", "empty", "short", "pipe"):
            self.assertRegex(done.stderr, rf"left out: .*/{kind}\.h5: \w")
        for kind in ("group", "text", "pipe"):
            for words in (("watch",), ("export", "--format", "glb"), ("render",)):
                done = bench.inside(words[0], folder / f"{kind}.h5", *words[1:], code=1)
                self.assertRegex(done.stderr, rf"^loom: {words[0]}: .*/{kind}\.h5: [^\n]+\n$")
        self.assertFalse(list(folder.glob("*.glb")) + list(folder.glob("*.png")))

    def test_watch_names_a_status_that_is_no_data_set(self):
        path = bench.path / "state.h5"
        shutil.copy(good, path)
        with h5py.File(path, "r+") as file:
            if "status" in file:
                del file["status"]
            file.create_group("status")
        done = bench.inside("watch", path, "--once", code=1)
        self.assertRegex(done.stderr, r"^loom: watch: .*/state\.h5: /status is no data set\n$")

    def test_every_object_that_cannot_be_opened_is_named(self):
        folder = bench.path / "headers"
        folder.mkdir()
        whole, names = good.read_bytes(), []
        with h5py.File(good) as file:
            file.visit(names.append)
            places = {name: h5py.h5o.get_info(file[name].id).addr for name in names}
        self.assertGreater(len(names), 20)
        told = set()
        for name, place in places.items():
            path = folder / f"{name.replace('/', '.')}.h5"
            self.assertEqual(whole[place : place + 4], b"OHDR")
            path.write_bytes(whole[: place + 4] + b"\x63" + whole[place + 5 :])  # version 99 of its header
            watch, export = ("watch", path, "--once"), ("export", path, "--format", "glb", "-o", "out.glb")
            of = name.split("/")[0]  # each tool with the objects that it reads
            for words in (export,) if of == "scene" else (watch, export) if of == "frames" else (watch,):
                done = inside(bench.path, *words)
                with self.subTest(name=name, tool=words[0]):
                    self.assertNotIn(command.UNFORESEEN, done.stderr)
                    if done.returncode:
                        why = rf"^loom: {words[0]}: .*\.h5: /[^\n]* cannot be read: [^\n]*\n$"
                        self.assertRegex(done.stderr, why)
                        told.add((words[0], name))
        needed = {("watch", n) for n in ("steps", "iters", "messages", "status", "frames")}
        needed |= {("export", n) for n in ("frames/x", "scene/triangles", "scene/obstacles/ball")}
        self.assertLessEqual(needed, told)
        done = bench.inside("table", folder, "-o", "headers.csv", code=1)
        self.assertNotRegex(done.stderr, r"damaged: \w+Error")
        self.assertRegex(done.stderr, r"left out: .*/iters\.h5: /iters cannot be read")

    def test_numbers_that_cannot_be_drawn_are_named(self):
        def change(name, at, value):
            def damage(file):
                rows = file[name][...]
                rows[at] = value
                replaced(file, name, data=rows)

            return damage

        floor, ball = "scene/obstacles/floor", "scene/obstacles/ball"
        cases = (
            (change(f"{floor}/shape", 2, 1e300), ("export", "render"), "floor/shape holds NaN"),
            (change(f"{floor}/shape", slice(0, 3), 0), ("export", "render"), "the plane has no normal"),
            (change(f"{ball}/pose", 0, 1e12), ("export", "render"), "ball/pose holds NaN"),
            (change("frames/x", (-1, 3), np.nan), ("export", "stretch"), "frame 8 holds NaN"),
            (change("frames/x", (-1, 3), 1e30), ("export", "stretch"), "frame 8 holds NaN"),
            (change("scene/rest", 3, 1e30), ("stretch",), "/scene/rest holds NaN"),
            (change("frames/x", ..., 0), ("export", "render"), ""),
        )
        for number, (damage, tools, why) in enumerate(cases):
            path = bench.path / f"number{number}.h5"
            shutil.copy(good, path)
            with h5py.File(path, "r+") as file:
                damage(file)
            for tool in tools:
                words = ("export", path, "--format", "vtkhdf", "-o", "number.vtkhdf")
                if tool != "export":
                    words = ("render", path, "-o", "number.png", "--size", "48x48", "--fast")
                    words += ("--color", "stretch") if tool == "stretch" else ()
                done = inside(bench.path, *words)
                with self.subTest(number=number, tool=tool):
                    self.assertNotIn(command.UNFORESEEN, done.stderr)
                    self.assertEqual(done.returncode, 1 if why else 0, done.stderr)
                    self.assertIn(why, done.stderr)

    def test_stopped_runs_are_rows(self):
        folder = bench.path / "stopped"
        folder.mkdir()
        shutil.copy(good, folder / "a_whole.h5")
        long = [BINARY, "run", "drape.ini", "--quiet", "-n", "100000", "-o"]
        for name, more in (("term", ()), ("time", ("--max-time", "0.5"))):
            words = [*long, folder / f"{name}.h5", *more]
            run = subprocess.Popen(words, cwd=bench.path)
            if name == "term":
                while not (folder / "term.h5").exists():
                    time.sleep(0.01)
                time.sleep(0.3)
                run.send_signal(signal.SIGTERM)
            self.assertEqual(run.wait(), 5 if name == "term" else 6)
        done = bench.inside("table", folder, "-o", "stopped.csv")
        self.assertRegex(done.stderr, r"stopped: term: its totals are those of \d+ of 100000 steps")
        rows = pd.read_csv(bench.path / "stopped.csv").set_index("run")
        self.assertEqual(list(rows["status"]), ["finished", "stopped", "stopped"])
        self.assertIn("stopped", done.stdout)
        done = bench.inside("table", folder, "--to", "residual=1e3", "-o", "to.csv")
        cost = pd.read_csv(bench.path / "to.csv").set_index("run")["to_iterations"]
        self.assertFalse(np.isnan(cost["a_whole"]))
        self.assertTrue(cost[["term", "time"]].isna().all(), "a stopped run has reached its end")

    def test_sort(self):
        other = bench.run("more", run__steps=12)
        done = bench.inside("table", good, other, "--sort", "steps", "-o", "sorted.csv")
        told = done.stderr.splitlines()
        self.assertTrue(all("did not converge" in line for line in told), told)
        self.assertEqual(list(pd.read_csv(bench.path / "sorted.csv")["steps"]), [8, 12])
        bench.inside("table", other, good, "--sort", "steps", "-o", "sorted.csv")
        self.assertEqual(list(pd.read_csv(bench.path / "sorted.csv")["steps"]), [8, 12])
        done = bench.inside("table", good, "--sort", "x", code=1)
        self.assertIn("no such column; there are: run,", done.stderr)


class Dead(unittest.TestCase):
    """The log of a killed writer is a plain file again after any tool, but never through a link."""

    @classmethod
    def setUpClass(cls):
        cls.killed = bench.path / "killed.h5"
        words = [BINARY, "run", "drape.ini", "--quiet", "-n", "100000", "-o", cls.killed]
        run = subprocess.Popen(words, cwd=bench.path)
        while not (cls.killed.exists() and opening.flags(str(cls.killed)) & opening.SWMR):
            time.sleep(0.01)
        time.sleep(0.3)
        run.kill()
        run.wait()

    def copy(self):
        path = bench.path / "dead.h5"
        shutil.copy(self.killed, path)
        self.assertTrue(opening.flags(str(path)) & opening.WRITING)
        return path

    def test_every_tool_makes_it_a_plain_file(self):
        for words, code in (
            (("table", "dead.h5"), 1),
            (("watch", "dead.h5"), 1),
            (("export", "dead.h5", "--format", "glb", "--frames", "0", "--no-bodies", "-o", "d.glb"), 0),
            (("report", "dead.h5", "-o", "d.html"), 1),
            (("render", "dead.h5", "--frame", "99999999", "-o", "d.png"), 1),  # stops before it draws
        ):
            path = self.copy()
            done = bench.inside(*words, code=code)
            self.assertFalse(opening.flags(str(path)) & opening.WRITING, words)
            if words[0] in ("table", "watch"):
                self.assertIn("failed: the writing process died", done.stderr + done.stdout)

    def test_not_behind_a_link_nor_when_read_only(self):
        path = self.copy()
        before = path.read_bytes()
        link = bench.path / "link.h5"
        link.symlink_to("dead.h5")
        self.addCleanup(link.unlink)
        done = bench.inside("watch", link, "--once", code=1)
        self.assertIn("not changed, as it is a symbolic link", done.stderr)
        self.assertEqual(path.read_bytes(), before)
        with unittest.mock.patch("os.access", lambda *_: False):
            done = bench.inside("watch", path, "--once", code=1)
        self.assertIn("not changed, as it is read-only", done.stderr)
        self.assertEqual(path.read_bytes(), before)

    def test_a_journal_is_not_applied_through_a_link(self):
        victim = bench.path / "victim.h5"
        shutil.copy(good, victim)
        cut_off(victim)
        before = victim.read_bytes()
        link = bench.path / "through.h5"
        link.symlink_to("victim.h5")
        os.rename(f"{victim}.journal", f"{link}.journal")
        done = bench.inside("table", link, code=1)
        self.assertIn("its last change was cut off; the log is read as it is and not changed", done.stderr)
        self.assertEqual(victim.read_bytes(), before)
        os.rename(f"{link}.journal", bench.path / "kept.journal")
        os.symlink("kept.journal", f"{victim}.journal")
        done = bench.inside("table", victim, code=1)
        self.assertIn("as its journal is a symbolic link", done.stderr)
        self.assertEqual(victim.read_bytes(), before)


class Hostile(unittest.TestCase):
    def test_a_terminal_gets_no_escape_sequence(self):
        folder = bench.path / "evil"
        folder.mkdir()
        for i, text in enumerate(EVIL):
            path = folder / f"{i}{text.replace('/', '_')}.h5"
            shutil.copy(good, path)
            with h5py.File(path, "r+") as file:
                config = file.attrs["config"].decode()
                file.attrs["config"] = np.bytes_(config.replace("plugin =", f"plugin = {text}", 1).encode())
                file.attrs["host"] = np.bytes_(text.encode())
            broken = folder / f"broken{i}{text.replace('/', '_')}.h5"
            shutil.copy(path, broken)
            with h5py.File(broken, "r+") as file:
                replaced(file, "status", data=np.bytes_(f"failed: {text}\nloom: table: forged".encode()))
        done = bench.inside("table", folder, "-o", "evil.csv", code=1)
        for out in (done.stdout, done.stderr):
            self.assertNotRegex(out, "[\x00-\x08\x0b-\x1f\x7f-\x9f]")
        self.assertNotIn("\nloom: table: forged", done.stderr)
        cells = pd.read_csv(bench.path / "evil.csv", dtype=str, keep_default_na=False)
        self.assertEqual(len(cells), len(EVIL))
        for column in cells:
            for cell in (column, *cells[column]):
                self.assertNotRegex(cell, r"^\s*[=@]")
        for path in (p for p in folder.iterdir() if "\x1b" in p.name):
            out = bench.inside("watch", path, code=1 if "broken" in path.name else 0).stdout
            self.assertNotRegex(out, "[\x00-\x08\x0b-\x1f\x7f-\x9f]")

    def test_texts_are_text(self):
        self.assertEqual(terminal.clean("a\x1b[31mb\x1b]8;;http://x\x07c\x9b2Jd\r\ne\u202ef"), "abcd ef")
        self.assertEqual(terminal.stripped("a\nb\tc\x00\x08"), "a\nb\tc")
        self.assertEqual(terminal.clean("x\udcffy"), "x\\xffy")  # a byte of a file name that is no UTF-8

    def test_the_report_takes_nothing_for_its_program(self):
        """The page with texts and data of a hostile log; report.py has the whole command."""
        for evil in (*EVIL, "\u2028", "'\n\"\\"):
            parts = {n: page.text(evil) for n in ("summary", "audit", "settings", "provenance")}
            path = bench.path / "evil.html"
            page.write(path, evil, parts, {"style": {evil: evil}}, None)
            html = path.read_text()
            self.assertEqual(html.count("<script"), 8, evil)
            self.assertNotIn("<img", html)
            self.assertNotIn("onmouseover=\"", html)
            data = html.split('<script id="data" type="application/json">')[1].split("</script>")[0]
            self.assertNotRegex(data, "[<>&\u2028]")
            if "@@data@@" in evil:  # it stays text where it stands first
                self.assertIn("<title>@@data@@", html)
        policy = html.split('Content-Security-Policy" content="')[1].split('"')[0]
        self.assertTrue(policy.startswith("default-src 'none'; script-src 'sha256-"))
        for word in ("unsafe-eval", "script-src 'unsafe-inline'", "http"):
            self.assertNotIn(word, policy)


class Missing(unittest.TestCase):
    def test_a_missing_package_is_named(self):
        """As a tool outside of ./loom meets it: a package that cannot be imported."""
        folder = bench.path / "site"
        folder.mkdir()
        for module in ("pandas", "pyvista", "PIL", "h5py", "plotext", "yaml"):
            (folder / f"{module}.py").write_text(f"raise ModuleNotFoundError('no', name='{module}')\n")
        environment = os.environ | {"PYTHONPATH": f"{folder}:{SOURCE}/experiments/tools"}
        (bench.path / "s.yaml").write_text("sweep: {}\n")
        for words, package in (
            (("table", good), "pandas"), (("report", good), "h5py"), (("render", good), "h5py"),
            (("sweep", "s.yaml"), "pyyaml"),
        ):  # fmt: skip
            done = subprocess.run(
                [sys.executable, "-m", f"loomcloth.{words[0]}", *map(str, words[1:])],
                cwd=bench.path, env=environment, capture_output=True, text=True,
            )  # fmt: skip
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, f"^loom: {words[0]}: the Python package '({package})' is missing")
            self.assertNotIn("Traceback", done.stderr)


if __name__ == "__main__":
    unittest.main()
