"""`loom archive`: a small study with references, unpacked elsewhere: no run is to be made, the same table, no
place of this machine, each file hashed and described."""

import contextlib
import hashlib
import json
import re
import shutil
import subprocess
import tempfile
import unittest
import zipfile
from pathlib import Path
from urllib.parse import unquote

import h5py
from logs import BINARY, inside
from loomcloth.archive import files, logs, stage
from loomcloth.errors import LogError
from sweeps import REFERENCED, make_runs, write

STUDY = """\
[sweep]
config = drape.ini
replicate = fabric
""" + REFERENCED + """\
fabric        = @soft.ini | @{folder}/stiff.ini
"""


def study_in(folder):
    """The folder with a study that is finished; an overlay elsewhere is named by an absolute path."""
    for at in ("study", "fabrics"):
        (folder / at).mkdir()
    (folder / "study/soft.ini").write_text("[cloth.sheet]\nmembrane = 100\n")
    (folder / "fabrics/stiff.ini").write_text("include = more/thick.ini\n[cloth.sheet]\nmembrane = 900\n")
    (folder / "fabrics/more").mkdir()
    (folder / "fabrics/more/thick.ini").write_text("[cloth.sheet]\ndensity = 0.3\n")
    text = STUDY.replace("{folder}", str(folder / "fabrics"))
    make_runs(write(folder / "study", text))


def broken_hashes(folder):
    """Files of an unpacked archive that its list of hashes lacks, or that differ from it."""
    lines = (folder / "manifest-sha256.txt").read_text().splitlines()
    listed = dict(reversed(line.split("  ", 1)) for line in lines)
    there = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    wrong = {n for n in there & listed.keys()
             if hashlib.sha256((folder / n).read_bytes()).hexdigest() != listed[n]}  # fmt: skip
    return sorted(wrong | ((there ^ listed.keys()) - {"manifest-sha256.txt"}))


def crate_faults(folder):
    """Rules of RO-Crate 1.1 that a description breaks (https://w3id.org/ro/crate/1.1, sections 3 to 5)."""
    data = json.loads((folder / "ro-crate-metadata.json").read_text())
    graph = {e["@id"]: e for e in data["@graph"]}
    faults = [] if len(graph) == len(data["@graph"]) else ["an @id stands twice"]
    first, root = graph.get("ro-crate-metadata.json", {}), graph.get("./", {})
    if data["@context"][0] != "https://w3id.org/ro/crate/1.1/context":
        faults.append("context")
    wanted = {"conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"}, "about": {"@id": "./"}}
    if any(first.get(k) != v for k, v in wanted.items()):
        faults.append("descriptor")
    needed = ("name", "description", "datePublished", "license", "hasPart")
    faults += [f"root: {k}" for k in needed if not root.get(k)]

    def references(value):
        if isinstance(value, dict):
            yield value["@id"]
        elif isinstance(value, list):
            for one in value:
                yield from references(one)

    for entity in graph.values():
        if "@type" not in entity:
            faults.append(f"{entity['@id']}: no @type")
        for key, value in entity.items():
            if key not in ("@id", "@type", "conformsTo"):
                faults += [f"{entity['@id']}: {key}: {r}" for r in references(value) if r not in graph]
    parts = {unquote(p["@id"]) for p in root.get("hasPart", ())}
    there = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    faults += sorted(parts ^ (there - {"ro-crate-metadata.json", "manifest-sha256.txt"}))
    for name in parts & there:
        if graph[next(i for i in graph if unquote(i) == name)].get("@type") != "File":
            faults.append(f"{name}: no File")
    return faults


class Archive(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        work = tempfile.TemporaryDirectory(prefix="loom-archive-")
        cls.addClassCleanup(work.cleanup)
        cls.path = Path(work.name)
        study_in(cls.path)
        cls.out = cls.path / "study/out/grid"
        words = ("-o", "a.zip", "--licence", "CC-BY-4.0", "--author", "A. Weaver", "--date", "2026-11-28")
        cls.words = words
        cls.said = cls.archive(*words)
        cls.folder = cls.path / "elsewhere/unpacked"
        with zipfile.ZipFile(cls.path / "a.zip") as file:
            file.extractall(cls.folder)

    @classmethod
    def archive(cls, *words, code=0):
        done = inside(cls.path, "archive", "study/grid.ini", *words)
        assert done.returncode == code, f"{done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def setUp(self):
        self.copy = self.path / "copy"
        shutil.copytree(self.folder, self.copy)
        self.addCleanup(shutil.rmtree, self.copy)

    @contextlib.contextmanager
    def without(self, path):
        """The study while a file is away."""
        away = self.path / "away"
        path.rename(away)
        try:
            yield
        finally:
            away.rename(path)

    def test_nothing_is_to_be_run(self):
        done = inside(self.copy, "sweep", "grid.ini")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("references: 2 combinations: 2 fit, 0 are to be run", done.stderr)
        self.assertIn("sweep: 4 combinations: 4 fit, 0 are to be run", done.stderr)
        self.assertIn("4 finished", done.stdout)
        new = {name.rsplit("/", 1)[0] for name in broken_hashes(self.copy)}
        self.assertEqual(new, {"out/grid/configs", "out/grid/references/configs"})  # and no file has changed

    def test_the_table_and_the_report_are_the_same(self):
        for words in ((), ("--to", "residual=1e-3", "--by", "method")):
            words = ("table", "out/grid", *words)
            here, there = inside(self.path / "study", *words), inside(self.copy, *words)
            self.assertEqual(here.returncode, 0, here.stderr)
            self.assertEqual((here.stdout, here.stderr), (there.stdout, there.stderr))

    def test_logs_have_less_room_and_the_same_values(self):
        before = after = 0
        for log in sorted(p for p in self.out.rglob("*.h5") if ".check." not in p.name):
            packed = self.folder / log.relative_to(self.path / "study")
            self.assertEqual(logs.difference(log, packed), "")
            before, after = before + log.stat().st_size, after + packed.stat().st_size
            self.assertEqual(subprocess.run([BINARY, "info", packed], capture_output=True).returncode, 0)
        self.assertLess(after, 0.5 * before)
        self.assertRegex(self.said.stdout, r"a.zip: 6 runs, logs of [0-9.]+ MB packed to [0-9.]+ MB")

    def test_a_changed_value_is_seen(self):
        log = self.copy / "out/grid/gd__soft.h5"
        original = self.out / "gd__soft.h5"
        for change, told in (
            (lambda f: f["frames/x"].__setitem__((0, 0, 0), 1e-15), "/frames/x: its values"),
            (lambda f: f.attrs.modify("seed", 1), "/: the attribute 'seed'"),
            (lambda f: f["steps"].attrs.__delitem__("doc"), "/steps: its attributes"),
            (lambda f: f.__delitem__("messages"), "/messages is in one of both"),
        ):
            shutil.copy(self.folder / "out/grid/gd__soft.h5", log)
            self.assertEqual(broken_hashes(self.copy), [])
            with h5py.File(log, "r+") as file:
                change(file)
            self.assertEqual(logs.difference(original, log), told)
            self.assertEqual(broken_hashes(self.copy), ["out/grid/gd__soft.h5"])

    def test_no_place_of_this_machine(self):
        """Paths of the study are relative; attributes of logs keep the commands of the runs."""
        for path in self.folder.rglob("*"):
            if path.is_file() and path.suffix != ".h5":
                self.assertNotIn(str(self.path), path.read_text(), path)
        text = (self.folder / "grid.ini").read_text()
        self.assertIn("@soft.ini | @outside/", text)
        found = [p.relative_to(self.folder).as_posix() for p in self.folder.rglob("thick.ini")]
        self.assertRegex(found[0], r"^outside/\d/more/thick.ini$")
        with zipfile.ZipFile(self.path / "a.zip") as file:
            for entry in file.infolist():
                self.assertFalse(entry.filename.startswith("/") or ".." in entry.filename.split("/"))
                self.assertEqual(entry.external_attr >> 16, 0o100644)

    def test_an_absolute_path_is_found(self):
        for line in ("include = /etc/hostname", "[run]\nreplay = '/etc/hostname'", "x = @/etc/hostname | b"):
            text = f"{line}\n"
            self.assertEqual(files.absolute(text, [])[1], "/etc/hostname", text)
        found = files.absolute("\n[a]\nfile = /home/me/none.obj\n", ["/home/me"])
        self.assertEqual(found, (3, "/home/me/none.obj"))
        self.assertIsNone(files.absolute("; see /etc/hostname\nbending = 1e-5 N/m | 2 m/s^2\n", []))

    def test_hashes_and_description(self):
        self.assertEqual(broken_hashes(self.folder), [])
        self.assertEqual(crate_faults(self.folder), [])
        (self.copy / "soft.ini").unlink()
        self.assertEqual(broken_hashes(self.copy), ["soft.ini"])
        self.assertEqual(crate_faults(self.copy), ["soft.ini"])
        data = json.loads((self.folder / "ro-crate-metadata.json").read_text())
        graph = {e["@id"]: e for e in data["@graph"]}
        self.assertEqual(graph["./"]["license"], {"@id": "https://spdx.org/licenses/CC-BY-4.0"})
        self.assertEqual(graph["#author-0"]["name"], "A. Weaver")
        programs = {e["name"]: e for e in data["@graph"] if e["@type"] == "SoftwareApplication"}
        for name in ("loom", "gd", "cholmod_pd", "cholmod_newton", "penalty", "h5py"):
            self.assertTrue(programs[name]["version"], name)
        self.assertIn("GPL-2.0-or-later", programs["cholmod_pd"]["license"]["@id"])
        self.assertTrue(any(name.startswith("libcholmod") for name in programs))
        readme = (self.folder / "README.md").read_text()
        for words in ("`grid.ini`", "| cholmod_pd | solver | 0.1.0 | GPL", "all runs are there", "A. Weaver"):
            self.assertIn(words, readme)

    def test_the_same_bytes_again(self):
        self.archive(*(w.replace("a.zip", "b.zip") for w in self.words))
        one, two = (zipfile.ZipFile(self.path / n) for n in ("a.zip", "b.zip"))
        with one, two:
            for entry in one.infolist():
                if entry.filename not in ("README.md", "ro-crate-metadata.json", "manifest-sha256.txt"):
                    self.assertEqual(one.read(entry), two.read(entry.filename), entry.filename)

    def test_a_log_that_is_left_out_is_named(self):
        log = self.out / "gd__soft.h5"
        with self.without(log):
            said = self.archive("-o", "c.zip", code=1).stderr
            self.assertRegex(said, r"gd__soft: .*gd__soft.h5: is missing; `rm -f .*gd__soft.done`, then")
            self.assertIn("1 runs have no whole log", said)
            self.assertFalse((self.path / "c.zip").exists())
            said = self.archive("-o", "c.zip", "--incomplete").stderr
            self.assertIn("is missing", said)
            with zipfile.ZipFile(self.path / "c.zip") as file:
                self.assertIn("- gd__soft: ", file.read("README.md").decode())
                self.assertNotIn("out/grid/gd__soft.h5", file.namelist())
                file.extractall(self.path / "part")
        self.assertEqual(crate_faults(self.path / "part"), [])
        self.assertEqual(broken_hashes(self.path / "part"), [])
        done = inside(self.path / "part", "sweep", "grid.ini", "--plan")
        self.assertIn("4 fit, 1 are to be run", done.stderr)

    def test_a_damaged_log_is_named(self):
        log = self.out / "gd__soft.h5"
        whole = log.read_bytes()
        self.addCleanup(log.write_bytes, whole)
        log.write_bytes(whole[: len(whole) // 2])
        self.assertRegex(self.archive("-o", "d.zip", code=1).stderr, r"gd__soft: .*gd__soft.h5: damaged: ")
        log.write_bytes((self.out / "cholmod_pd__soft.h5").read_bytes())
        self.assertIn("is of the configuration", self.archive("-o", "d.zip", code=1).stderr)
        self.assertFalse((self.path / "d.zip").exists())

    def test_a_reference_that_is_missing(self):
        with self.without(self.out / "references/soft.h5"):
            said = self.archive("-o", "e.zip", code=1).stderr
        self.assertIn("reference soft: ", said)

    def test_refusals(self):
        self.assertIn("replace it with --overwrite", self.archive("-o", "a.zip", code=1).stderr)
        (self.path / "mine.zip").write_text("text")
        said = self.archive("-o", "mine.zip", "--overwrite", code=1).stderr
        self.assertIn("is not an archive of `loom archive`", said)
        self.assertIn("the ending of an archive is .zip", self.archive("-o", "x.tar", code=2).stderr)
        (self.out / "stranger.h5").write_bytes(b"")
        self.addCleanup((self.out / "stranger.h5").unlink)
        said = self.archive("-o", "a.zip", "--overwrite").stderr
        self.assertIn("stranger.h5: belongs to no run of the study and is left out", said)

    def test_an_absolute_path_that_stays_is_refused(self):
        spec = self.path / "study/grid.ini"
        text = spec.read_text()
        self.addCleanup(spec.write_text, text)
        spec.write_text(text.replace("[set]\n", f"[set]\nexec.plugin_path = {self.path}\n"))
        parts = stage.parts_of(spec, 2)
        with tempfile.TemporaryDirectory() as work, self.assertRaisesRegex(
            LogError, rf"grid.ini:9: {re.escape(str(self.path))}: an absolute path, which no archive"
        ):
            for part in parts:
                part.missing = {c.run.name: "is not asked for" for c in part.plan.fits}
            stage.build(parts, stage.files_of(parts), Path(work), 2)


if __name__ == "__main__":
    unittest.main()
