"""`loom archive`, sweeps and figures with files of the search path: includes, materials, animations."""

import os
import re
import tempfile
import unittest
import zipfile
from pathlib import Path
from unittest import mock

from logs import BINARY, SWING, inside
from loomcloth import made, search
from loomcloth.sweep import plan as planning
from loomcloth.sweep import spec as specification
from sweeps import make_runs

SCENE = """\
[run]
steps = 1
[cloth.sheet]
shape      = grid
resolution = 3 3
model      = arap+isometric
material   = stiff
[solver]
plugin = gd
[contact.all]
plugin = none
[stop]
max_iters = 2
[log]
audit = off
"""
LEG = """\
[body.leg]
shape       = rig
rig         = leg
edge_length = 0.2
position    = 3 0 0
animation   = swing
"""
SPEC = """\
[sweep]
config = scene.ini
[set]
cloth.sheet.damping = 0
[grid]
motion = @leg.ini | @still.ini
cloth.sheet.material = stiff | soft
"""
NAMING = """\
[sweep]
config = scenes/cloth.ini
[reference]
solver = cholmod_newton
more = @methods/two.ini
[set]
run.replay_first = 0
[grid]
method = @methods/two.ini | @still.ini
"""
NAMING_YAML = """\
sweep:
  config: scenes/cloth.ini
grid:
  method: ["@methods/two.ini", "@still.ini"]
"""
LIBRARY = {
    "methods/two.ini": "include = parts/one.ini\n[run]\ndt = 0.01\n",
    "methods/parts/one.ini": "[run]\ngravity = 0 0 -3\n",
    "scenes/cloth.ini": f"include = methods/two.ini\n{SCENE}",
    "materials/stiff.ini": "[material]\nmembrane = 900\n",
    "materials/soft.ini": "[material]\nmembrane = 100\n",
    "animations/swing.txt": SWING,
}
STUDY = {
    "study/grid.ini": SPEC,
    "study/scene.ini": 'include = "scenes/cloth.ini" ; of the search path\n[run]\nsteps = 2\n',
    "study/leg.ini": LEG,
    "study/still.ini": "[run]\ndt = 0.005\n",
}


def write_all(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


class Searched(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        work = tempfile.TemporaryDirectory(prefix="loom-searched-")
        cls.addClassCleanup(work.cleanup)
        cls.path = Path(work.name)
        cls.library = cls.path / "library"
        write_all(cls.library, LIBRARY)
        write_all(cls.path, STUDY)
        with cls.searching(cls.library):
            make_runs(cls.path / "study/grid.ini")
            done = inside(cls.path, "archive", "study/grid.ini", "-o", "a.zip", "--date", "2026-11-28")
        assert done.returncode == 0, done.stderr
        cls.folder = cls.path / "elsewhere"
        with zipfile.ZipFile(cls.path / "a.zip") as file:
            file.extractall(cls.folder)

    @staticmethod
    def searching(*folders):
        return mock.patch.dict(os.environ, LOOM_CONFIG_PATH=":".join(map(str, folders)))

    def test_elsewhere_nothing_is_to_be_run(self):
        """Without the search path, and with one of other files of the same names."""
        other = self.path / "other"
        write_all(other, {n: re.sub("900|100|40|-3", "-4", t) for n, t in LIBRARY.items()})
        for folders in ((), (other,)):
            with self.searching(*folders):
                done = inside(self.folder, "sweep", "grid.ini", "--plan")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("4 combinations: 4 fit, 0 are to be run", done.stderr)
        text = (self.folder / "scene.ini").read_text()
        self.assertRegex(text, r"^include = outside/\d/scenes/cloth.ini ; of the search path\n")
        for path in self.folder.rglob("*"):
            if path.is_file() and path.suffix != ".h5":
                self.assertNotIn(str(self.path), path.read_text(), path)

    def test_each_file_counts(self):
        """A file of the archive with other numbers: the runs that read it are made anew."""
        for name, old, new, runs in (
            ("cloth.ini", "steps", "seed", 4), ("one.ini", "-3", "-4", 4), ("soft.ini", "100", "200", 2),
            ("swing.txt", "40", "30", 2),
        ):  # fmt: skip
            found = [p for p in self.folder.rglob(name) if old in p.read_text()]
            before = {p: p.read_text() for p in found}
            for p in found:
                p.write_text(before[p].replace(old, new))
            with self.searching():
                told = inside(self.folder, "sweep", "grid.ini", "--plan").stderr
            for p in found:
                p.write_text(before[p])
            self.assertIn(f"4 fit, {runs} are to be run", told, name)

    def test_files_that_a_figure_is_drawn_from(self):
        root = self.path.resolve()
        with self.searching(self.library):
            folders = search.folders(BINARY, self.path)
        self.assertEqual(folders[0], self.library)

        def named(file, path):
            return {p.relative_to(root).as_posix() for p in made.configs(self.path / file, root, path)}

        scene = {"study/scene.ini", "library/scenes/cloth.ini", "library/methods/two.ini",
                 "library/methods/parts/one.ini", "library/materials/stiff.ini"}  # fmt: skip
        self.assertEqual(named("study/scene.ini", folders), scene)
        self.assertEqual(named("study/leg.ini", folders), {"study/leg.ini", "library/animations/swing.txt"})
        self.assertEqual(named("study/scene.ini", ()), {"study/scene.ini"})

    def test_a_specification_names_files_of_the_search_path(self):
        """Its configuration, overlays and the contact of its references; and an archive of it has them."""
        for name, text in (("grid.ini", NAMING), ("grid.yaml", NAMING_YAML)):
            folder = self.path / f"naming-{name}"
            write_all(folder, {name: text, "still.ini": STUDY["study/still.ini"]})
            with self.searching(self.library):
                make_runs(folder / name)
                done = inside(folder, "archive", name, "-o", "a.zip", "--date", "2026-11-28")
                self.assertEqual(done.returncode, 0, done.stderr)
            with zipfile.ZipFile(folder / "a.zip") as file:
                file.extractall(folder / "elsewhere")
            with self.searching():
                done = inside(folder / "elsewhere", "sweep", name, "--plan")
                self.assertIn("2 combinations: 2 fit, 0 are to be run", done.stderr)
                done = inside(folder, "sweep", name, "--plan")
            self.assertEqual(done.returncode, 2)
            self.assertRegex(done.stderr, r"\[sweep\] config: .*scenes/cloth.ini: there is no such file")
            write_all(folder, {"scenes/cloth.ini": "include = ../../library/scenes/cloth.ini\n"})
            with self.searching(self.library):
                plan = planning.make(specification.read(folder / name), 2)
            self.assertEqual(plan.spec.config, folder.resolve() / "scenes/cloth.ini")

    def test_a_file_beside_the_configuration_comes_first(self):
        near = self.path / "near"
        write_all(near, {n.removeprefix("study/"): t for n, t in STUDY.items()})
        with self.searching(self.library):
            before = {c.run.name: c.key for c in planning.make(specification.read(near / "grid.ini"), 2).fits}
            write_all(near, {"animations/swing.txt": SWING.replace("40", "30")})
            after = {c.run.name: c.key for c in planning.make(specification.read(near / "grid.ini"), 2).fits}
        changed = {n for n in before if before[n] != after[n]}
        self.assertEqual(changed, {"leg__stiff", "leg__soft"})


if __name__ == "__main__":
    unittest.main()
