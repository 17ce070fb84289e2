"""Public simulators on scenes of loom, each measured by loom as a run of its own."""

import itertools

import numpy as np

from loomcloth.experiment import ROOT, Bar, NotMeasured
from loomcloth.log import Log
from loomcloth.peer.environment import EnvironmentMissing

FAKE = ROOT / "tests/tools/fake_peer"
FRICTION, GRAVITY = 0.3, 9.81  # of slope20.ini and slope30.ini; m/s^2
# Settings of the slopes: {simulator: (settings, options)}; the others take loom's step.
SLOPES = {"mujoco": ({}, ("--as-recommended",)), "newton": ({"run.substeps": 10}, ())}
# Things of fall.ini and of the slopes that simulators of other models leave out.
DIFFER = {"pypbd": ("model",), "pybullet": ("model", "mass", "velocities")}


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
    columns = ("r_final", "e_elastic")
    with Log(run) as log, Log(same) as back, Log(moved) as other:
        a, b, c = (one.table("steps") for one in (log, back, other))
        off = max(float((abs(b[name] - a[name]) / abs(a[name])).max()) for name in columns)
        least = float(c["r_final"].min())
    return [
        Bar("loom's frames given back: largest relative difference of a residual or an energy", off, 1e-12),
        Bar("loom's frames given back: distance", farthest(run, same), 0, "m"),
        Bar("one vertex moved by 1 mm: least residual of a step", least, 1e3 * tolerance, "m", least=True),
    ]


def left_out(peer):
    """Options that allow a simulator of another model."""
    return tuple(word for key in DIFFER.get(peer, ()) for word in ("--differ", key))


def fall(experiment, peer):
    path = experiment.play(f"fall-{peer}", peer, "fall.ini", words=left_out(peer))
    g = acceleration(path, np.array([0, 0, 1.0]))
    return [Bar(f"{peer}: free fall, difference to {GRAVITY} m/s^2", abs(g + GRAVITY), 1e-4, "m/s^2")]


def slopes(experiment, peer):
    """Within 2 % of theory, or the row says that friction is not Coulomb's."""
    sets, words = SLOPES.get(peer, ({}, left_out(peer)))
    found = []
    for degrees in (20, 30):
        direction, theory = along_slope(degrees)
        path = experiment.play(f"slope{degrees}-{peer}", peer, f"slope{degrees}.ini", sets, words)
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
    for few, many in itertools.pairwise(left):
        name = f"{peer}: r_energy after {many} iterations over that after {few} ({left[many]:.3g} sqrt(J))"
        found.append(Bar(name, left[many] / left[few], 0.7))
    return found


# {simulator: its questions}
ASKED = {"mujoco": (fall, motion, slopes), "newton": (fall, step, slopes), "pypbd": (fall, slopes),
         "pybullet": (fall, slopes)}  # fmt: skip


def bars(experiment):
    """The bars of every simulator; one with an environment that cannot be made here is not measured."""
    found = given_back(experiment)
    for peer, parts in ASKED.items():
        try:
            for part in parts:
                found += part(experiment, peer)
        except EnvironmentMissing as error:
            found.append(NotMeasured(f"{peer}: {', '.join(p.__name__ for p in parts)}", str(error)))
    return found


FIGURES = {"peers-bars": ("bounds of the simulators that loom measures", bars)}
