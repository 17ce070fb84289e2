"""`loom peer` leaves out no part of a configuration in silence: every block and key of `loom describe` has a
place in its tables, and each adapter poses or refuses it."""

import itertools
import json
import subprocess
import unittest
import unittest.mock

from logs import BINARY, Bench
from loomcloth.peer import blocks, needs
from loomcloth.peer.__main__ import HERE, load

# One sheet that every simulator can pose, but for its masses.
SHEET = """\
[run]
steps = 2
[cloth.sheet]
shape = grid
size = 0.5 0.5
resolution = 6 6
pattern = regular
model = stvk+isometric
k0 = 100
k2 = 100
k3 = 100
[solver]
plugin = gd
"""
FILES = {
    "flat.obj": "v 0 0 0\nv 0.5 0 0\nv 0.5 0.5 0\nv 0 0.5 0\nf 1 2 3\nf 1 3 4\n",
    "bent.obj": "v 0 0 0\nv 0.5 0 0\nv 0.5 0.5 0.1\nv 0 0.5 0\nf 1 2 3\nf 1 3 4\n",
    "uv.obj": "v 0 0 0\nv 0.5 0 0\nv 0.5 0.5 0\nv 0 0.5 0\nvt 0 0\nvt 0.4 0\nvt 0.4 0.4\nvt 0 0.4\n"
              "f 1/1 2/2 3/3\nf 1/1 3/3 4/4\n",
    "parts.obj": "v 0 0 0\nv 0.5 0 0\nv 0.5 0.5 0\nv 0 0.5 0\ng left\nf 1 2 3\ng right\nf 1 3 4\n",
    "tetra.obj": "v 0 0 -1\nv 0.2 0 -1\nv 0 0.2 -1\nv 0 0 -0.8\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n",
    "sewn.txt": "stitch 0 34 35 0.5\n",
}  # fmt: skip
BALL = {"body.ball.shape": "sphere", "body.ball.position": "0 0 -1", "contact.c.plugin": "penalty",
        "contact.c.pairs": "obstacle", "contact.c.collision": "s", "collision.s.plugin": "sdf"}  # fmt: skip
SELF = {"contact.c.plugin": "penalty", "contact.c.pairs": "self", "contact.c.collision": "p",
        "collision.p.plugin": "patch_bvh"}  # fmt: skip
ABOVE = "translate 0 0 2"
PIN = {"pin.a.object": "sheet", "pin.a.where": "top"}
FLAT = {"cloth.sheet.shape": "obj", "cloth.sheet.file": "flat.obj"}
# {(section, need): settings that ask for it}, for every pair of the tables.
TRIALS = {
    ("run", "gravity"): {"run.gravity": "0 0 -1"},
    ("cloth", "start"): FLAT | {"cloth.sheet.positions": "bent.obj"},
    ("cloth", "rest_shape"): FLAT | {"cloth.sheet.file": "uv.obj", "cloth.sheet.rest": "uv"},
    ("cloth", "stitches"): {"cloth.sheet.stitches": "sewn.txt", "cloth.sheet.sewing": "pull"},
    ("cloth", "mass"): {},
    ("cloth", "model"): {"cloth.sheet.model": "stvk+isometric+spring"},
    ("cloth", "strain_limit"): {"cloth.sheet.strain_limit": "1.1"},
    ("cloth", "velocities"): {"cloth.sheet.velocity": "0 0 1"},
    ("cloth", "damping"): {"cloth.sheet.damping": "1"},
    ("cloth", "stiffness_damping"): {"cloth.sheet.stiffness_damping": "1e-3"},
    ("cloth", "soft_pins"): {"cloth.sheet.pins": "top_left", "cloth.sheet.pin_stiffness": "10"},
    ("cloth", "moving_pins"): {"cloth.sheet.pins": "top_left", "cloth.sheet.pin_motion": "translate 0 0 1"},
    ("body", "bodies"): BALL | {"body.ball.shape": "torus"},
    ("body", "friction"): BALL,
    ("body", "thick_bodies"): BALL | {"body.ball.thickness": "1e-3"},
    ("body", "moving_bodies"): BALL | {"body.ball.motion": "translate 0 0 1"},
    ("pin", "soft_pins"): PIN | {"pin.a.stiffness": "10"},
    ("pin", "moving_pins"): PIN | {"pin.a.motion": "translate 0 0 1"},
    ("pin", "released_pins"): PIN | {"pin.a.hold_until": "0.01"},
    ("solid", "solids"): {"solid.a.shape": "box", "solid.a.model": "affine", "solid.a.transform": ABOVE},
    ("yarn", "yarns"): {"yarn.a.rows": "3", "yarn.a.loops": "3", "yarn.a.transform": ABOVE},
    ("wind", "wind"): {"wind.velocity": "1 0 0"},
    ("pressure", "pressure"): {"pressure.a.object": "sheet", "pressure.a.pressure": "1"},
    ("friction", "pair_friction"): SELF | {"friction.a.between": "cloth.sheet, cloth.sheet",
                                           "friction.a.mu": "0.1"},
    ("dress", "dress"): {"dress.gravity_from": "0.01"},
    ("region", "regions"): FLAT | {"cloth.sheet.file": "parts.obj", "region.a.object": "sheet",
                                   "region.a.where": "left", "region.a.density": "0.4"},
    ("attach", "attachments"): {"solid.a.shape": "box", "solid.a.model": "affine", "attach.t.to": "a",
                                "solid.a.transform": ABOVE, "attach.t.object": "sheet",
                                "attach.t.where": "corners", "attach.t.within": "3"},
    ("twist", "imposed_twist"): {"yarn.a.rows": "3", "yarn.a.loops": "3", "yarn.a.transform": ABOVE,
                                 "twist.t.object": "a", "twist.t.cut": "5", "twist.t.turn": "90"},
    ("ignore", "ignored_parts"): {"body.man.shape": "mesh", "body.man.file": "tetra.obj",
                                  "body.man.sdf_resolution": "0", "ignore.i.object": "sheet",
                                  "ignore.i.body": "man", "ignore.i.until": "0.1",
                                  "contact.c.plugin": "ipc_barrier", "contact.c.pairs": "all",
                                  "contact.c.collision": "p",
                                  "collision.p.plugin": "patch_bvh"},
    ("contact", "self_contact"): SELF,
}  # fmt: skip


def setUpModule():
    global bench
    bench = Bench()
    (bench.path / "sheet.ini").write_text(SHEET)
    for name, text in FILES.items():
        (bench.path / name).write_text(text)


def tearDownModule():
    bench.close()


def described(*words):
    done = subprocess.run([BINARY, "describe", *words, "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def posed(sets, name="scene"):
    words = [w for k, v in sets.items() for w in ("--set", f"{k}={v}")]
    return needs.read(bench.run(name, "-n", "0", "--overwrite", *words, config="sheet.ini"))


def adapters():
    return {p.parent.name: load(p.parent) for p in sorted(HERE.glob("*/peer.py"))}


class Tables(unittest.TestCase):
    def test_every_section_and_key_of_describe_has_one_place(self):
        done = subprocess.run([BINARY, "describe", "--schema"], capture_output=True, text=True, check=True)
        schema = json.loads(done.stdout)
        names = [*schema["properties"], *(k.split("[")[0].strip("^") for k in schema["patternProperties"])]
        sections = [n for n in names if n != "include"]
        for name in sections:
            self.assertTrue(blocks.is_known(name), f"[{name}]: blocks.py has no place for it")
        self.assertEqual(sorted(sections), sorted({*blocks.BY_KEY, *blocks.OWN, *blocks.NEEDS}))
        for section, table in blocks.KEYS.items():
            with self.subTest(section):
                keys = [p["key"] for row in described(section) for p in row["params"]]
                placed = [key for words in table.values() for key in words.split()]
                self.assertEqual(sorted(placed), sorted(set(keys)))
                self.assertLessEqual(set(table) - {"posed", "own"}, set(needs.NAMES))

    def test_a_trial_for_every_block_that_asks_for_a_thing(self):
        pairs = {(s, n) for s, table in blocks.KEYS.items() for n in table if n not in ("posed", "own")}
        self.assertEqual(set(TRIALS), pairs | set(blocks.NEEDS.items()))

    def test_adapters_know_the_names(self):
        for name, peer in adapters().items():
            self.assertLessEqual(peer.can, set(needs.NAMES), name)


class Adapters(unittest.TestCase):
    def test_each_poses_a_block_or_refuses_it_by_key(self):
        scene, found = posed({})
        self.assertEqual(set(found), {"mass"})  # the control: all else comes from the trial
        peers, count = adapters(), itertools.count()
        self.assertGreaterEqual(len(peers), 4)
        for (section, need), sets in TRIALS.items():
            with self.subTest(section=section, need=need):
                scene, found = posed(sets, f"scene{next(count)}")
                inside = {"model", "bodies"}  # asked of each adapter
                self.assertIn(need, set(found) | inside)
                for name, peer in peers.items():
                    lacks = needs.lacking(peer, scene, found)
                    poses = need in peer.can or (need == "bodies" and "torus" in peer.bodies)
                    self.assertEqual(need in lacks, not poses, f"{name}: {need}")
                    if need in lacks and need not in ("start", "rest_shape", "stitches", "mass"):
                        self.assertIn(section if need not in ("model",) else "model", lacks[need])

    def test_a_section_that_is_not_known_is_refused(self):
        self.assertFalse(blocks.is_known("magnet.north"))
        with unittest.mock.patch.dict(blocks.NEEDS):
            del blocks.NEEDS["pressure"]
            _, found = posed(TRIALS["pressure", "pressure"], "unknown")
        self.assertEqual(found["unknown"], "[pressure.a]")

    def test_a_key_of_contact_that_pulls(self):
        _, found = posed(SELF | {"contact.c.plugin": "cama_repulsion", "contact.c.adhesion": "0.5"}, "pulls")
        self.assertIn("adhesion", found)


if __name__ == "__main__":
    unittest.main()
