"""The bounds of `./loom figure peers-bars`: numbers with known answers for each simulator."""

import itertools

import numpy as np

from loomcloth import made
from loomcloth.experiment import ROOT, Bar, NotMeasured
from loomcloth.log import Log
from loomcloth.peer.environment import EnvironmentMissing

FAKE = ROOT / "tests/tools/fake_peer"
FRICTION, GRAVITY = 0.3, 9.81  # of slope20.ini and slope30.ini; m/s^2
# Settings of the slopes: {simulator: (settings, options)}; the others take loom's step.
SLOPES = {"mujoco": ({}, ("--as-recommended",)), "newton": ({"run.substeps": 10}, ())}
# Of the falls: Style3D converges; shorter steps of XPBD round off, and need softer springs when longer.
FALLS = {"newton-style3d": {"peer.iterations": 3, "peer.linear_iterations": 60},
         "newton-xpbd": {"peer.substeps": 1, "peer.spring": 0.1}}  # fmt: skip
# Things of fall.ini and of the slopes that simulators of other models leave out.
DIFFER = {"newton-xpbd": ("model",), "pypbd": ("model",)}
DIFFER |= dict.fromkeys(("blender", "pybullet"), ("model", "mass", "velocities"))


def farthest(a, b):
    """The largest distance of a vertex in any frame of two logs, m; NaN where their numbers differ."""
    with Log(a) as one, Log(b) as other:
        if one.num_frames != other.num_frames:
            return np.nan
        pairs = ((one.frame(k), other.frame(k)) for k in range(one.num_frames))
        return max(float(np.linalg.norm(x - y, axis=1).max()) for x, y in pairs)


def acceleration(path, direction):
    """Of the mean vertex along a direction, after the first third of the time, m/s^2."""
    with Log(path) as log:
        x = np.array([log.frame(k).mean(axis=0) for k in range(log.num_frames)]) @ direction
        skip = log.num_frames // 3
        return float(2 * np.polyfit(log.times[skip:], x[skip:], 2)[0])


def along_slope(degrees):
    """Direction of the slope, and the acceleration under Coulomb friction, m/s^2."""
    a = np.radians(degrees)
    return np.array([np.cos(a), 0, -np.sin(a)]), GRAVITY * (np.sin(a) - FRICTION * np.cos(a))


def given_back(experiment):
    """Frames of loom as frames of a simulator, as they are and with one vertex moved."""
    run = experiment.run("step", "step.ini")
    frames = experiment.out / "step.npz"
    with Log(run) as log:
        count = range(log.num_frames)
        np.savez(frames, x=np.array([log.frame(k) for k in count]), v=np.array([log.velocity(k) for k in count]))
        tolerance = float(log.settings["stop.tol_abs"])
    sets = {"peer.frames": frames}
    same = experiment.play("step-fake", FAKE, "step.ini", sets, inputs=[frames])
    moved = experiment.play("step-moved", FAKE, "step.ini", sets | {"peer.moved": 1e-3}, inputs=[frames])
    with Log(run) as log, Log(same) as back, Log(moved) as other:
        a, b, c = (one.table("steps") for one in (log, back, other))
        off = max(float((abs(b[name] - a[name]) / abs(a[name])).max()) for name in ("r_final", "e_elastic"))
        least = float(c["r_final"].min())
    return [
        Bar("loom's frames given back: largest relative difference of a residual or an energy", off, 1e-12),
        Bar("loom's frames given back: distance", farthest(run, same), 0, "m"),
        Bar("one vertex moved by 1 mm: least residual of a step", least, 1e3 * tolerance, "m", least=True),
    ]


def words_of(peer):
    """Options of NAME or NAME-SOLVER: its way to solve, and things of a scene that it leaves out."""
    name, _, solver = peer.partition("-")
    way = ("--solver", solver) if solver else ()
    return way + tuple(word for key in DIFFER.get(peer, ()) for word in ("--differ", key))


def play(experiment, name, peer, *rest):
    """A log of NAME or NAME-SOLVER."""
    return experiment.play(f"{name}-{peer}", peer.partition("-")[0], *rest)


def fall(experiment, peer):
    path = play(experiment, "fall", peer, "fall.ini", FALLS.get(peer, {}), words_of(peer))
    g = acceleration(path, np.array([0, 0, 1.0]))
    return [Bar(f"{peer}: free fall, difference to {GRAVITY} m/s^2", abs(g + GRAVITY), 1e-4, "m/s^2")]


def slopes(experiment, peer):
    """Within 2 % of theory, or the row says that friction is not Coulomb's."""
    sets, words = SLOPES.get(peer, ({}, words_of(peer)))
    found = []
    for degrees in (20, 30):
        direction, theory = along_slope(degrees)
        path = play(experiment, f"slope{degrees}", peer, f"slope{degrees}.ini", sets, words)
        a = acceleration(path, direction)
        name = f"{peer}: slope of {degrees} degrees, {a:.4f} m/s^2, theory {theory:.4f}"
        with Log(path) as log:
            note = str(log.attr("peer_settings"))
        if "not Coulomb" in note:
            found.append(NotMeasured(name, "the row says that its friction is not Coulomb's"))
        else:
            found.append(Bar(f"{name}: difference", 100 * abs(a - theory) / theory, 2, "%"))
    return found


def motion(experiment, peer):
    """Strip and cantilever, every frame."""
    found = []
    for scene in ("strip", "cantilever"):
        run = experiment.run(scene, f"{scene}.ini")
        far = farthest(run, experiment.play(f"{scene}-{peer}", peer, f"{scene}.ini"))
        found.append(Bar(f"{peer}: {scene}, largest distance to loom in any frame", 1e6 * far, 10, "micrometres"))
    return found


def length(experiment, peer):
    """The end of the strip after 0.6 s: springs have no equal motion, but a stiffness that is calibrated."""
    ends, sets = [], {"run.steps": 60}
    for path in (experiment.run("strip-short", "strip.ini", sets),
                 play(experiment, "strip", peer, "strip.ini", sets, words_of(peer))):  # fmt: skip
        with Log(path) as log:
            start = log.frame(0)[:, 0]
            last = start > start.max() - 1e-9
            ends.append(1e3 * float((log.frame(-1)[:, 0] - start)[last].mean()))
    name = f"{peer}: strip, {ends[1]:.3f} mm longer, loom {ends[0]:.3f} mm: difference"
    return [Bar(name, 100 * abs(ends[1] / ends[0] - 1), 2, "%")]


def step(experiment, peer):
    """One step that is nearly converged, and residuals that fall with the iterations."""
    one = {"run.steps": 1}
    run = experiment.run("step-one", "step.ini", one)
    far = farthest(run, experiment.play(f"step-10000-{peer}", peer, "step.ini", one | {"peer.iterations": 10000}))
    found = [Bar(f"{peer}: one step of 10,000 iterations, distance to loom", far, 1e-6, "m")]
    left = {}
    for count in (10, 30, 100, 300):
        sets = {"run.steps": 5, "peer.iterations": count}
        with Log(experiment.play(f"step-{count}-{peer}", peer, "step.ini", sets)) as log:
            rows = log.table("iters", ("step", "k", "r_energy"))
        left[count] = float(np.median(rows[rows["k"] == 0]["r_energy"]))
    return found + [
        Bar(f"{peer}: r_energy after {many} iterations over that after {few} ({left[many]:.3g} sqrt(J))",
            left[many] / left[few], 0.7) for few, many in itertools.pairwise(left)]  # fmt: skip


ASKED = {"mujoco": (fall, motion, slopes), "newton": (fall, step, slopes), "newton-style3d": (fall, slopes),
         "newton-xpbd": (fall, length, slopes),
         **dict.fromkeys(("pypbd", "pybullet", "blender"), (fall, slopes))}  # fmt: skip


def bars(experiment):
    """The bars of every simulator; one with an environment that cannot be made here is not measured."""
    found = given_back(experiment)
    for peer, parts in ASKED.items():
        try:
            for part in parts:
                found += part(experiment, peer)
        except EnvironmentMissing as error:
            found.append(NotMeasured(f"{peer}: {', '.join(p.__name__ for p in parts)}", str(error)))
    path = experiment.out / "peers-bars.txt"  # the caller prints them
    path.write_text("\n".join([f"./loom figure peers-bars: {made.machine()}", *map(str, found)]) + "\n")
    experiment.result(path)
    return found
