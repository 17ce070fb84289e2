"""`-o` of every tool: files that it replaces or refuses, and that it writes whole files."""

import os
import shutil
import tempfile
import unittest
from pathlib import Path

from logs import Bench
from loomcloth import output
from loomcloth.errors import LogError


def setUpModule():
    global bench, log
    bench = Bench()
    log = bench.run("plain")


def tearDownModule():
    bench.close()


class Rule(unittest.TestCase):
    def setUp(self):
        work = tempfile.TemporaryDirectory(prefix="loom-output-")
        self.addCleanup(work.cleanup)
        self.path = Path(work.name)

    def write(self, name, data, kind=""):
        with output.replacing(self.path / name, kind) as part:
            self.assertEqual(Path(part).name, name)
            Path(part).write_bytes(data)

    def stamp(self, name):
        found = os.lstat(self.path / name)
        return found.st_ino, found.st_size, found.st_mtime_ns, found.st_mode

    def refused(self, name, message, kind=""):
        before = self.stamp(name)
        with self.assertRaisesRegex(LogError, message), output.replacing(self.path / name, kind):
            self.fail("it may be written")
        self.assertEqual(self.stamp(name), before)

    def test_own_kind_by_content(self):
        known = {
            ".png": b"\x89PNG\r\n\x1a\n...", ".jpg": b"\xff\xd8\xff\xe0", ".pdf": b"%PDF-1.7",
            ".gif": b"GIF89a.",
            ".svg": b"<?xml version='1.0'?>\n<svg/>", ".mp4": b"\0\0\0\x20ftypisom", ".glb": b"glTF\2\0\0\0",
            ".usdc": b"PXR-USDC\0", ".usda": b"#usda 1.0\n", ".csv": b"run,method,problem,status\n",
            ".html": b"<!doctype html>\n" + output.REPORT,
            ".ini": b"; a - fitted by `./loom fabric` to b.csv.\n",
            ".webp": b"RIFF\0\0\0\0WEBP", ".bmp": b"BM\x06\0\0\0", ".tif": b"II*\0",
            ".mkv": b"\x1a\x45\xdf\xa3",
        }  # fmt: skip
        for ending, data in known.items():
            self.write(f"a{ending}", data)
            self.write(f"a{ending}", data)  # once more: it replaces its own
            self.assertEqual((self.path / f"a{ending}").read_bytes(), data)
            for foreign in (b"", b"my notes\n", data[1:], b"\x89HDF\r\n\x1a\n"):
                (self.path / f"b{ending}").write_bytes(foreign)
                self.refused(f"b{ending}", "is there and is not")
        self.assertEqual([p for p in self.path.iterdir() if p.name.startswith(".")], [], "parts are left")

    def test_never_a_link_a_folder_or_a_pipe(self):
        (self.path / "aim.png").write_bytes(b"\x89PNG\r\n\x1a\n")
        (self.path / "link.png").symlink_to("aim.png")
        (self.path / "dangling.png").symlink_to("nowhere.png")
        (self.path / "folder.png").mkdir()
        os.mkfifo(self.path / "pipe.png")
        for name in ("link", "dangling"):
            self.refused(f"{name}.png", "is a symbolic link")
        for name in ("folder", "pipe"):
            self.refused(f"{name}.png", "is a folder or a device")
        self.assertFalse((self.path / "nowhere.png").exists())

    def test_what_comes_in_between_is_kept(self):
        target = self.path / "a.png"
        with self.assertRaisesRegex(LogError, "is there and is not"), output.replacing(target) as part:
            Path(part).write_bytes(b"\x89PNG\r\n\x1a\n")
            target.write_text("a text that came meanwhile\n")
        self.assertEqual(target.read_text(), "a text that came meanwhile\n")
        self.assertEqual([p.name for p in self.path.iterdir()], ["a.png"])

    def test_two_at_once(self):
        """Each writes to a place of its own; one whole file stays."""
        target = self.path / "a.png"
        with output.replacing(target) as one, output.replacing(target) as two:
            self.assertNotEqual(one, two)
            Path(one).write_bytes(b"\x89PNG\r\n\x1a\n1111")
            Path(two).write_bytes(b"\x89PNG\r\n\x1a\n2222")
        self.assertEqual(target.read_bytes(), b"\x89PNG\r\n\x1a\n1111")

    def test_an_error_leaves_what_was(self):
        self.write("a.png", b"\x89PNG\r\n\x1a\nold")
        with self.assertRaises(ZeroDivisionError), output.replacing(self.path / "a.png") as part:
            Path(part).write_bytes(b"half")
            raise ZeroDivisionError
        self.assertEqual([p.name for p in self.path.iterdir()], ["a.png"])
        self.assertEqual((self.path / "a.png").read_bytes(), b"\x89PNG\r\n\x1a\nold")


class Tools(unittest.TestCase):
    """Every tool asks for the rule before it does its work."""

    CALLS = (
        ("table", "plain.h5", "--quiet", "-o", "x.csv"),
        ("table", "plain.h5", "--quiet", "-o", "x.parquet"),
        ("report", "plain.h5", "-o", "x.html"),
        ("watch", "plain.h5", "-o", "x.png"),
        ("render", "plain.h5", "-o", "x.png"),
        ("render", "plain.h5", "-o", "x.mp4"),
        ("render", "plain.h5", "-o", "y.png", "--save-camera", "x.json"),
        ("export", "plain.h5", "--format", "vtkhdf", "-o", "x.vtkhdf"),
        ("export", "plain.h5", "--format", "glb", "-o", "x.glb"),
        ("export", "plain.h5", "--format", "usd", "-o", "x.usdc"),
    )

    def test_foreign_files_and_links_are_kept(self):
        folder = bench.path / "kept"
        folder.mkdir()
        shutil.copy(log, folder)
        (folder / "aim").write_text("aim\n")
        for words in self.CALLS:
            name = words[-1]
            path = folder / name
            for make, message in (
                (lambda path=path: path.write_text("notes\n"), "is there and is not"),
                (lambda path=path: path.symlink_to("aim"), "is a symbolic link"),
            ):
                make()
                here = [str(folder / w) if "." in w and not w.startswith("-") else w for w in words]
                done = bench.inside(*here, code=1)
                self.assertIn(message, done.stderr, words)
                path.unlink()
                self.assertEqual((folder / "aim").read_text(), "aim\n")
                self.assertEqual({p.name for p in folder.iterdir()}, {"plain.h5", "aim"}, words)

    def test_a_log_is_no_vtkhdf(self):
        shutil.copy(log, bench.path / "log.vtkhdf")
        done = bench.inside("export", log, "--format", "vtkhdf", "-o", "log.vtkhdf", code=1)
        self.assertIn("is there and is not a VTK-HDF file", done.stderr)

    def test_their_own_are_replaced(self):
        for words in (("table", log, "--quiet", "-o", "own.csv"), ("watch", log, "-o", "own.png")):
            bench.inside(*words)
            before = os.stat(bench.path / words[-1]).st_ino
            bench.inside(*words)
            self.assertNotEqual(os.stat(bench.path / words[-1]).st_ino, before)


if __name__ == "__main__":
    unittest.main()
