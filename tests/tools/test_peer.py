"""`loom peer`: a simulator that gives back frames of loom has loom's residuals; refusals, kinds of rows."""

import json
import os
import shutil
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import loomcloth
import numpy as np
from logs import BINARY, SOURCE, Bench
from loomcloth.config import method_of
from loomcloth.experiment import Experiment, FigureError, TimeOver, load_figures
from loomcloth.log import open_log
from loomcloth.peer import environment
from loomcloth.peer.adapter import Scene
from loomcloth.style import plain_axes

FAKE = Path(__file__).resolve().parent / "fake_peer"
STIFFNESS = 50.0  # N/m
SPRINGS = f"""\
[run]
steps = 4
dt = 0.01
[cloth.sheet]
shape = grid
size = 0.5 0.5
resolution = 6 6
density = 0.2
model = springs
k_spring = {STIFFNESS}
k_cross = 0
velocity = 0.1 0 0.3
pins = top_left
[solver]
plugin = cholmod_newton
[stop]
tol_abs = 1e-9
tol_rel = 0
"""


def setUpModule():
    global bench
    bench = Bench()
    (bench.path / "springs.ini").write_text(SPRINGS)
    for name, words in (("springs", {}), ("drape", {"solver__plugin": "cholmod_newton"})):
        bench.run(name, config=f"{name}.ini", **words)
        with open_log(bench.path / f"{name}.h5") as log:
            count = range(log.num_frames)
            np.savez(bench.path / f"{name}.npz", x=np.array([log.frame(k) for k in count]),
                     v=np.array([log.velocity(k) for k in count]))  # fmt: skip


def tearDownModule():
    bench.close()


def peer(*words, code=0):
    with mock.patch.dict("os.environ", LOOM_BIN=BINARY):
        return bench.inside("peer", *words, code=code)


def given_back(name, *words, code=0, out="", of=FAKE):
    """The fake peer on NAME.ini."""
    frames = f"peer.frames={bench.path}/{name}.npz"
    to = f"{out or name + '_peer'}.h5"
    done = peer(of, f"{name}.ini", "-o", to, "--set", frames, "--overwrite", *words, code=code)
    return done.stdout + done.stderr


def residuals_by_hand(log):
    """Of each step of springs.ini with mesh and frames of a log, m: mass-weighted RMS of free vertices."""
    h, free, mass = 0.01, np.asarray(log.scene("pinned")) == 0, np.asarray(log.scene("mass"))
    (i, j), rest, out = np.asarray(log.scene("edges")).T, np.asarray(log.scene("rest")), []
    length = np.linalg.norm(rest[i] - rest[j], axis=1)
    for k in range(log.num_frames - 1):
        target = log.frame(k) + h * log.velocity(k) + h * h * np.array([0, 0, -9.81])
        x = log.frame(k + 1)
        d = x[j] - x[i]
        pull = STIFFNESS * (1 - length / np.linalg.norm(d, axis=1))[:, None] * d
        r = mass[:, None] * (x - target) / h**2
        np.add.at(r, i, -pull)
        np.add.at(r, j, pull)
        r = (h * h * r / mass[:, None])[free]
        out.append(np.sqrt((mass[free] * (r**2).sum(axis=1)).sum() / mass[free].sum()))
    return np.array(out)


def without(*words):
    """A folder of the fake peer that cannot pose these things."""
    folder = Path(tempfile.mkdtemp(dir=bench.path)) / "fake_peer"
    folder.mkdir()
    text = (FAKE / "peer.py").read_text()
    for word in words:
        text = text.replace(f'"{word}", ', "")
    (folder / "peer.py").write_text(text)
    return folder


class GivenBack(unittest.TestCase):
    def test_every_residual_is_that_of_the_run(self):
        for name in ("springs", "drape"):
            with self.subTest(name):
                said = given_back(name)
                self.assertIn("same scene" if name == "drape" else "same problem", said)
                paths = [bench.path / f"{name}{end}.h5" for end in ("", "_peer")]
                with open_log(paths[0]) as run, open_log(paths[1]) as log:
                    a, b = run.table("steps"), log.table("steps")
                    np.testing.assert_allclose(b["r_final"], a["r_final"], rtol=1e-12)
                    for column in ("e_contact", "e_elastic"):
                        np.testing.assert_allclose(b[column], a[column], rtol=1e-12)
                    self.assertEqual({log.enum("steps", "reason")[int(r)] for r in b["reason"]}, {"foreign"})
                    self.assertTrue((b["t_cpu"] > 0).all())
                    self.assertEqual(log.peer, "fake_peer 1")
                    self.assertEqual(log.attr("peer_licence"), "MIT")
                    for k in range(run.num_frames):
                        np.testing.assert_array_equal(log.frame(k), run.frame(k))

    def test_a_millimetre_changes_the_residual_as_computed_by_hand(self):
        given_back("springs", "--set", "peer.moved=1e-3", out="moved")
        with open_log(bench.path / "moved.h5") as log, open_log(bench.path / "springs.h5") as run:
            by_hand = residuals_by_hand(log)
            found = log.table("steps")["r_final"]
            self.assertGreater(by_hand.min(), 1e3 * run.table("steps")["r_final"].max())
            np.testing.assert_allclose(found, by_hand, rtol=1e-9)
            self.assertAlmostEqual(1e3 * (log.frame(2)[-1, 2] - run.frame(2)[-1, 2]), 1.0)


MOVED = """\
[pin.side]
object = sheet
where = left
motion = rotate 0 0 1 0 0 0 90 0 0.04 translate 0.02 0 0 0 0.03
[collision.self]
plugin = patch_bvh
[contact.all]
plugin = ipc_barrier
pairs = self
"""


class MovedPins(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        text = SPRINGS.replace("pins = top_left\n", "thickness = 1 mm\n") + MOVED
        (bench.path / "turned.ini").write_text(text)
        bench.run("turned", config="turned.ini")
        with open_log(bench.path / "turned.h5") as log:
            count = range(log.num_frames)
            cls.way = np.array([log.frame(k)[np.asarray(log.scene("pinned")) != 0] for k in count])
            np.savez(bench.path / "turned.npz", x=np.array([log.frame(k) for k in count]),
                     v=np.array([log.velocity(k) for k in count]))  # fmt: skip

    def test_the_simulator_is_given_their_way_and_self_contact(self):
        self.assertGreater(np.abs(self.way[-1] - self.way[0]).max(), 0.01)  # the adapter compares every frame
        said = given_back("turned")
        self.assertIn("same scene", said)
        with open_log(bench.path / "turned_peer.h5") as log:
            settings = json.loads(str(log.attr("peer_settings")))
        self.assertEqual(settings["note"], "touches itself, pins move")
        self.assertEqual(settings["contact"], "its own law")

    def test_between_two_steps_they_move_straight(self):
        still, ones = self.way[0], np.ones(len(self.way[0]))
        scene = Scene(x=still, v=still, rest=still, triangles=np.zeros((0, 3), int), mass=ones,
                      pinned=ones > 0, radius=ones, h=0.01, steps=4, parts=1, gravity=[0, 0, 0], model=[],
                      keys={})  # fmt: skip
        np.testing.assert_array_equal(scene.pins_at(3), still)
        scene.pin_path = self.way
        np.testing.assert_allclose(scene.pins_at(1.25), 0.75 * self.way[1] + 0.25 * self.way[2], atol=1e-15)
        np.testing.assert_array_equal(scene.pins_at(7), self.way[4])

    def test_self_contact_left_out_and_its_friction(self):
        said = given_back("turned", "--set", "contact.all.self_friction=0.2", code=2)
        self.assertIn("contact.all.self_friction = 0.2: friction of cloth on cloth (self_friction)", said)
        folder = without("self_contact")
        said = given_back("turned", code=2, of=folder)
        self.assertIn("contact.all.pairs = self: contact of cloth with cloth", said)
        given_back("turned", "--differ", "self_contact", of=folder, out="alone")
        with open_log(bench.path / "alone.h5") as log:
            self.assertEqual(json.loads(str(log.attr("peer_settings")))["note"], "pins move")

    def test_pins_that_are_released_are_refused_by_key(self):
        said = given_back("turned", "--set", "pin.side.hold_until=0.02", code=2)
        self.assertIn("pin.side.hold_until = 0.02: pins that begin to hold or are released", said)


class Rows(unittest.TestCase):
    def test_no_row_is_a_method_of_loom_and_kinds_have_numbers_of_their_own(self):
        moved, less = ("--set", "peer.moved=1e-3"), ("--differ", "friction")
        for name, words in (("equal", ()), ("moved", moved), ("less", less)):
            of = without("friction") if name == "less" else FAKE
            given_back("drape", *words, out=name, of=of)
        logs = [bench.path / f"{n}.h5" for n in ("drape", "equal", "moved", "less")]
        rows = loomcloth.runs(logs).set_index("run")
        self.assertEqual(list(rows["method"])[1:3], ["fake_peer 1"] * 2)
        self.assertEqual(rows.loc["less", "method"], "fake_peer (differs: friction) 1")
        self.assertEqual(rows.loc["less", "kind"], "other model")
        self.assertEqual(list(rows["problem"]), [1, 2, 2, 3])
        self.assertEqual(rows.loc["moved", "moved"], "0.001")
        text = bench.inside("table", "equal.h5", "less.h5").stdout
        self.assertNotIn("cholmod", text)
        self.assertNotIn("penalty", text)
        bench.inside("report", *(f"{n}.h5" for n in ("drape", "equal", "less")), "-o", "all.html")
        page = (bench.path / "all.html").read_text()
        self.assertIn("fake_peer (differs: friction) 1", page)
        self.assertNotIn("fake_peer 1 + penalty", page)
        with open_log(bench.path / "less.h5") as log:
            settings = json.loads(str(log.attr("peer_settings")))
            self.assertIn("friction = 0.3", settings["differ"]["friction"])
            self.assertEqual(method_of(log.settings), "fake_peer (differs: friction) 1")

    def test_a_recommended_step_is_a_step_of_the_log(self):
        with np.load(bench.path / "springs.npz") as data:
            twice = {k: np.repeat(data[k], 2, axis=0) for k in ("x", "v")}
        np.savez(bench.path / "springs2.npz", **twice)
        (bench.path / "springs2.ini").write_text(SPRINGS)
        given_back("springs2", "--as-recommended", "-n", "3")
        with open_log(bench.path / "springs2_peer.h5") as log:
            np.testing.assert_allclose(log.table("steps")["time"], 0.005 * np.arange(1, 7))
            np.testing.assert_allclose(log.times, 0.01 * np.arange(4))  # frames stand at the ends of [run] dt
            self.assertEqual(log.settings["peer.as"], "recommended: tests/tools/fake_peer")
            self.assertEqual(log.planned_steps, 6)


class Solvers(unittest.TestCase):
    def test_the_chosen_one_has_its_name_its_refusals_and_its_settings(self):
        for words, moved in ((("--solver", "moving"), 2e-3), (("--set", "peer.solver=moving"), 2e-3),
                             (("--solver", "moving", "--set", "peer.moved=3e-3"), 3e-3)):  # fmt: skip
            with self.subTest(words):
                given_back("springs", *words, out="solver")
                with open_log(bench.path / "solver.h5") as log, open_log(bench.path / "springs.h5") as run:
                    self.assertEqual(log.peer, "fake_peer moving 1")
                    self.assertAlmostEqual(log.frame(1)[-1, 2] - run.frame(1)[-1, 2], moved)
        said = given_back("drape", "--solver", "moving", out="solver", code=2)
        self.assertIn("fake_peer moving cannot pose", said)
        self.assertIn("--differ friction", said)

    def test_a_gpu_is_refused_where_there_is_none_before_an_environment_is_made(self):
        hidden = mock.patch.dict("os.environ", CUDA_VISIBLE_DEVICES="")  # those of a machine that has some
        own = mock.patch.dict("os.environ", LOOM_VENV_DIR=str(bench.path / "none"))
        with hidden, own:
            for words in (("--device", "cuda"), ("--set", "peer.device=cuda")):
                said = peer("newton", "springs.ini", *words, code=1).stderr
                self.assertIn("--device cuda: this machine has no GPU", said)
                self.assertIn("with --device cpu newton runs on the processor", said)
        self.assertFalse((bench.path / "none").exists())
        said = peer("newton", "springs.ini", "--device", "gpu", code=2).stderr
        self.assertIn("peer.device = gpu: cpu or cuda is expected", said)
        said = peer("mujoco", "springs.ini", "--device", "cuda", code=2).stderr
        self.assertIn("mujoco runs on the processor alone", said)

    def test_one_that_is_not_there(self):
        said = given_back("springs", "--solver", "movign", out="solver", code=2)
        self.assertIn("peer.solver = movign: usual or moving is expected", said)
        said = peer("mujoco", "springs.ini", "--solver", "moving", code=2).stderr
        self.assertIn("mujoco has no setting 'solver'", said)


class Refusals(unittest.TestCase):
    def test_things_that_it_cannot_pose_are_named_by_key(self):
        sheet, folder = "cloth.sheet", without("self_contact", "moving_pins")
        for words, texts in (
            (("--set", f"{sheet}.stiffness_damping=1e-3"),
             (f"{sheet}.stiffness_damping = 0.001", "--differ stiffness_damping")),
            (("--set", f"{sheet}.pin_stiffness=10"), (f"{sheet}.pin_stiffness = 10", "--differ soft_pins")),
            (("--set", f"{sheet}.pin_motion=translate 1 0 0"),
             ("pin_motion = translate 1 0 0", "--differ moving_pins")),
            (("--set", "run.gravity=0 0 -1"), ("run.gravity = 0 0 -1", "--differ gravity")),
            (("--set", "wind.velocity=1 0 0"), ("[wind]", "--differ wind")),
            (("--set", "friction.a.between=cloth.sheet, cloth.sheet", "--set", "friction.a.mu=0.1", "--set",
              "contact.self.plugin=penalty", "--set", "contact.self.pairs=self", "--set",
              "contact.self.collision=a", "--set", "collision.a.plugin=patch_bvh"),
             ("[friction.a]", "--differ pair_friction")),
            (("--set", "contact.self.plugin=penalty", "--set", "contact.self.pairs=self", "--set",
              "contact.self.collision=a", "--set", "collision.a.plugin=patch_bvh"),
             ("contact.self.pairs = self", "--differ self_contact")),
            (("--differ", "frictoin"), ("did you mean 'friction'",)),
            (("--set", "peer.moevd=1"), ("no setting 'moevd'", "'moved'")),
            (("--set", "peer.broken=1.5"), ("a whole number",)),
            (("--set", "cloth.sheet.densty=1"), ("densty", "loom cannot pose the scene")),
        ):  # fmt: skip
            with self.subTest(words):
                said = given_back("springs", *words, code=2, out="no", of=folder)
                for text in texts:
                    self.assertIn(text, said)
                self.assertFalse((bench.path / "no.h5").exists())

    def test_simulators_of_loom_refuse_before_an_environment_is_made(self):
        with tempfile.TemporaryDirectory() as empty, mock.patch.dict("os.environ", LOOM_VENV_DIR=empty):
            said = peer("mujoco", "springs.ini", code=2).stderr
            self.assertIn("model = springs", said)
            self.assertIn("--differ model", said)
            self.assertEqual(os.listdir(empty), [])
        self.assertIn("did you mean 'mujoco'", peer("mujocco", "springs.ini", code=2).stderr)
        self.assertIn("peer.iterations = ", peer("--list", "mujoco").stdout)

    def test_bodies_of_other_kinds_are_left_out_where_that_is_allowed(self):
        folder = without("sphere")
        said = given_back("drape", out="ball", code=2, of=folder)
        self.assertRegex(said, r"body\.\w+\.shape = sphere: a body of this kind \(bodies\)")
        said = given_back("drape", "--differ", "bodies", out="ball", of=folder)
        self.assertRegex(said, r"other model; differs: body\.\w+\.shape = sphere")

    def test_frames_that_are_not_finite_end_the_log_before_them(self):
        said = given_back("springs", "--set", "peer.broken=3", out="broken", code=1)
        self.assertIn("step 2 of 4 is not finite", said)
        with open_log(bench.path / "broken.h5") as log:
            self.assertEqual(log.num_frames, 3)
            self.assertEqual(log.settings["peer.early"], "step 2 of 4 is not finite")
        said = given_back("springs", "--set", "peer.broken=1", out="none", code=1)
        self.assertIn("no step is left to measure", said)

    def test_time_that_is_over_ends_the_log_after_a_whole_step(self):
        said = given_back("springs", "--time", "1e-9", out="over", code=1)
        self.assertIn("1e-09 s of processor time are over after step 1 of 4", said)
        with open_log(bench.path / "over.h5") as log, open_log(bench.path / "springs.h5") as run:
            self.assertEqual(log.num_frames, 2)
            np.testing.assert_array_equal(log.frame(1), run.frame(1))
            self.assertIn("over after step 1 of 4", log.settings["peer.early"])
        given_back("springs", "--time", "1000", out="over")
        with open_log(bench.path / "over.h5") as log:
            self.assertEqual(log.num_frames, 5)
            self.assertNotIn("peer.early", log.settings)
        self.assertIn("--time: ", given_back("springs", "--time", "-1", out="over", code=2))

    def test_a_missing_environment_is_named(self):
        folder = Path(tempfile.mkdtemp(dir=bench.path)) / "fake_peer"
        folder.mkdir()
        (folder / "peer.py").write_text((FAKE / "peer.py").read_text())
        (folder / "requirements.txt").write_text("loom-has-no-package-of-this-name==1.0\n")
        kept = bench.path / "kept"
        with mock.patch.dict("os.environ", LOOM_VENV_DIR=str(kept), PIP_NO_INDEX="1"):
            said = given_back("springs", out="offline", code=1, of=folder)
        self.assertIn(f"making {kept}/peer-fake_peer-", said)
        self.assertIn("the environment of fake_peer is missing, and it cannot be made here", said)
        self.assertIn("loom-has-no-package-of-this-name==1.0", said)
        self.assertNotIn("Traceback", said)
        self.assertEqual([p.suffix for p in sorted(kept.iterdir())], [".lock", ".log"])

    def test_a_crash_of_the_simulator_is_one_line(self):
        abort, error = "import os; os.abort()", "raise OSError('no mesh')"
        for line, text in ((abort, "ended by SIGABRT"), (error, "OSError: no mesh")):
            folder = Path(tempfile.mkdtemp(dir=bench.path)) / "fake_peer"
            folder.mkdir()
            changed = (FAKE / "peer.py").read_text().replace("self.at += 1", line)
            (folder / "peer.py").write_text(changed)
            with self.subTest(line):
                said = given_back("springs", out="crash", code=1, of=folder)
                self.assertIn(text, said)
                self.assertNotIn("Traceback", said)


class Figure(unittest.TestCase):
    """Of `./loom figure peers`."""

    @classmethod
    def setUpClass(cls):
        cls.module = load_figures(SOURCE / "experiments/peers")

    def test_kept_logs_are_drawn_again_whatever_made_them(self):
        folder = Path(tempfile.mkdtemp(dir=bench.path)) / "peers"
        shutil.copytree(SOURCE / "experiments/peers", folder, ignore=shutil.ignore_patterns("out"))
        (folder / "springs.ini").write_text(SPRINGS)
        frames = bench.path / "springs.npz"
        sets = {"peer.frames": frames}
        words = ("fake", FAKE, "springs.ini", sets)
        with mock.patch.dict("os.environ", LOOM_BIN=BINARY):
            with self.assertRaisesRegex(FigureError, "fake.h5 is not there"):
                Experiment(folder, kept=True).play(*words)
            path = Experiment(folder).play(*words)
            before = path.stat().st_mtime_ns
            stamp = path.with_suffix(".key")
            stamp.write_text(json.dumps(json.loads(stamp.read_text()) | {"key": "of another adapter"}))
            again = Experiment(folder, kept=True)
            self.assertEqual(again.play(*words), path)
            self.assertEqual((again.old, path.stat().st_mtime_ns), ([path], before))
            fresh = Experiment(folder)
            self.assertEqual(fresh.play(*words), path)
            self.assertEqual(fresh.old, [])
            self.assertGreater(path.stat().st_mtime_ns, before)
            with self.assertRaisesRegex(FigureError, "ended with code 1"):  # the log before does not count
                fresh.play(*words[:3], sets | {"peer.frames": "no.npz"})

    def test_a_run_that_is_over_its_budget_is_a_row_that_says_so_and_is_not_run_again(self):
        folder = Path(tempfile.mkdtemp(dir=bench.path)) / "peers"
        shutil.copytree(SOURCE / "experiments/peers", folder, ignore=shutil.ignore_patterns("out"))
        (folder / "long.ini").write_text(SPRINGS.replace("6 6", "40 40").replace("steps = 4", "steps = 4000"))
        with mock.patch.dict("os.environ", LOOM_BIN=BINARY):
            for _ in range(2):
                with self.assertRaisesRegex(TimeOver, r"long: did not fit in 1 s .*: \d+ of 4000 steps") as over:
                    Experiment(folder).run("long", "long.ini", limit=1)
            begun = mock.patch("os.wait4", side_effect=AssertionError("a run began"))
            with begun, self.assertRaises(TimeOver):
                Experiment(folder, kept=True).run("long", "long.ini", limit=1)
        size, row = self.module.Size(3), self.module.Row("loom-stvk", "loom, stvk", "stvk")
        with mock.patch.object(self.module, "rows_of", return_value=[row]), mock.patch.object(
            self.module, "log_of", side_effect=over.exception
        ):
            logs, reasons, _ = self.module.all_runs(None, ("drape",), size)
        self.assertEqual(list(logs.values()), [[over.exception.path]])
        lines = {scene: [] for scene in self.module.SCENES}
        for paths in (logs["drape", row], []):  # its steps, and a run that made none
            reason = reasons["drape", row]
            with mock.patch.object(self.module, "fine_reference", side_effect=over.exception):
                lines["drape"].append(self.module.numbers_of(mock.Mock(kept=False), "drape", row, paths, size, reason))
        with open_log(over.exception.path) as log:
            steps = log.table("steps")
        self.assertEqual(lines["drape"][0]["steps"], len(steps))
        self.assertEqual(lines["drape"][0]["cpu"], [float(steps["t_cpu"].sum())])
        text = "\n".join(self.module.text_of(size, lines, {}))
        self.assertIn("./loom figure peers --detail 3: a sheet of 8,836 vertices", text)
        reason = rf"did not fit in 1 s of processor time: {len(steps)} of 4000 steps"
        self.assertRegex(text, rf"loom, stvk +[\d.]+ .* \d+ of {len(steps)} .*\n +{reason}\n")
        self.assertRegex(text, rf"loom, stvk +{reason}\n")
        with begun, self.assertRaisesRegex(AssertionError, "a run began"), mock.patch.dict(
            "os.environ", LOOM_BIN=BINARY
        ):
            Experiment(folder).run("long", "long.ini", limit=2)

    def test_labels_end_inside_the_axes_and_cover_no_mark(self):
        figure, axes = plain_axes()
        for x in (0.0, 0.8, 1.0):
            axes.plot(x, 0.001 * x, "o")
        labels = [axes.annotate("a label of some length", (x, 0.001 * x), (5, 4), fontsize=9,
                                textcoords="offset points") for x in (0.0, 0.8, 1.0)]  # fmt: skip
        axes.set_ylim(-1, 1)
        self.module.keep_inside(axes, labels)
        figure.canvas.draw()
        boxes = [text.get_window_extent() for text in labels]
        for k, box in enumerate(boxes):
            self.assertLessEqual(box.x1, axes.get_window_extent().x1)
            self.assertFalse(any(box.overlaps(other) for other in boxes[:k]))
            for text in labels:
                self.assertFalse(box.contains(*axes.transData.transform(text.xy)))

    def test_a_sheet_with_two_equilibria_is_refused(self):
        bench.run("still", config="springs.ini", run__steps=0, cloth__sheet__velocity="0 0 0")
        bench.run("other", config="springs.ini", run__steps=0, cloth__sheet__velocity="0 0 0",
                  cloth__sheet__transform="translate 0 0.001 0")  # fmt: skip
        for ends, is_one in ((("still", "still"), True), (("still", "other"), False)):
            logs = [bench.path / f"{name}.h5" for name in ends]
            with self.subTest(ends), mock.patch.object(self.module, "log_of", side_effect=logs):
                if is_one:
                    self.assertEqual(self.module.equilibrium(None, "stvk")[1], 0)
                else:
                    with self.assertRaisesRegex(FigureError, "end 1 mm apart: .* has several equilibria"):
                        self.module.equilibrium(None, "stvk")

    def test_the_time_to_rest_is_that_of_the_last_vertex(self):
        path = bench.path / "springs.h5"
        with open_log(path) as log:
            last, cost = log.num_frames - 1, log.table("steps")["t_cpu"]
            frames = [log.frame(k) for k in range(last + 1)]
        goal, row = frames[last].copy(), self.module.Row("a", "", "stvk")
        goal[0, 0] += 5e-4  # m, of one vertex: half of NEAR
        far = [1e3 * np.linalg.norm(x - goal, axis=1).max() for x in frames]
        self.assertGreater(far[last - 1], self.module.NEAR)
        line = self.module.rest_line(row, [path, path], goal)
        np.testing.assert_allclose(line["cpu"], [cost.sum()] * 2)
        self.assertAlmostEqual(line["last"], 0.5)
        goal[0, 0] += 1e-3
        self.assertIsNone(self.module.rest_line(row, [path, path], goal)["cpu"])


class Environment(unittest.TestCase):
    def test_its_folder_follows_pins_and_python(self):
        with tempfile.TemporaryDirectory() as work, mock.patch.dict("os.environ", LOOM_VENV_DIR=work):
            pins = Path(work) / "requirements.txt"
            pins.write_text("a==1\n")
            before = environment.folder_of("x", pins)
            pins.write_text("a==2\n")
            self.assertNotEqual(before, environment.folder_of("x", pins))
            self.assertEqual(before.parent, Path(work))
            self.assertFalse(environment.fits(before, pins))


if __name__ == "__main__":
    unittest.main()
