"""Seconds of one core to the same accuracy: the non-distance barrier beside Newton and IPC."""

import numpy as np

from loomcloth.experiment import Bar, plain_axes
from loomcloth.log import Log

SCENES = ("drape", "fold")
DETAIL = 4  # 40,401 and 40,000 vertices
NEAR = 0.01  # of the descent of the energy
METHODS = {"newton": "#009E73", "newton_velocity": "#0072B2", "ndb": "#D55E00"}
LABELS = {"newton": "Newton, IPC", "newton_velocity": "the same from x + h v", "ndb": "ndb"}


def runs(experiment):
    logs = {}
    for scene in SCENES:
        sets = {"run.detail": DETAIL, "exec.threads": 1}
        reference = experiment.run(f"{scene}_reference", f"{scene}_reference.ini", sets)
        sets["run.replay"] = reference
        for method in METHODS:
            config, _, guess = method.partition("_")
            more = {**sets, "run.guess": guess} if guess else sets
            logs[scene, method] = experiment.run(
                f"{scene}_{method}", f"{scene}_{config}.ini", more, [reference])
    return logs


def potential(path):
    """Iterations, and inertia and elasticity in J after them, of the last step; ndb takes some
    steps before it, so that its weights have their ages.

    Energies of contact and friction are left out: the two models do not define the same ones.
    """
    with Log(path) as log:
        rows = log.table("iters")
    rows = rows[(rows["step"] == rows["step"].max()) & (rows["stage"] >= 0)]
    return rows["k"] + 1, rows["e_inertia"] + rows["e_elastic"]


def seconds_each(experiment, scene, method):
    """Processor seconds of the whole process, start, detection and recording included, per
    iteration of all its steps.  The machine is shared, so wall time means little."""
    name = f"{scene}_{method}"
    with Log(experiment.out / f"{name}.h5") as log:
        iterations = log.table("steps")["iters"].sum()
    return experiment.cpu_seconds(name) / iterations


def curves(experiment, logs, scene):
    """{method: (iterations, seconds each, error of the energy as share of the descent)}, each
    against its own end.  The descent is Newton's from the inertial target."""
    newton = potential(logs[scene, "newton"])[1]
    descent = newton[0] - newton[-1]
    found = {}
    for method in METHODS:
        count, energy = potential(logs[scene, method])
        each = seconds_each(experiment, scene, method)
        found[method] = count, each, np.abs(energy - energy[-1]) / descent
    return found


def count_to(count, error, near):
    """Iterations after which the error stays below a share."""
    far = np.flatnonzero(error > near)
    return int(count[min(far[-1] + 1, len(count) - 1)]) if len(far) else int(count[0])


def distance(logs, scene):
    """Energy of ndb's end above that of Newton's, as share of the descent."""
    newton = potential(logs[scene, "newton"])[1]
    return (potential(logs[scene, "ndb"])[1][-1] - newton[-1]) / (newton[0] - newton[-1])


def draw(experiment):
    logs = runs(experiment)
    figure, axes = plain_axes(1, len(SCENES))
    for axis, scene in zip(axes, SCENES):
        for method, (count, each, error) in curves(experiment, logs, scene).items():
            axis.plot(count * each, np.maximum(error, 1e-8), color=METHODS[method],
                      label=LABELS[method])
        axis.axhline(NEAR, color="#999999", linewidth=0.8)
        axis.set(xscale="log", yscale="log", xlabel="processor seconds, one thread", title=scene)
        axis.set_ylabel("error of the energy, share of the descent")
    axes[0].legend()
    figure.suptitle("One step in contact, 40,000 vertices, each method against its own end")
    experiment.save(figure, "ndb-speed", keep=True)


def bars(experiment):
    """Ten times fewer seconds to 1 % of the descent; how far apart both end."""
    logs = runs(experiment)
    rows = []
    for scene in SCENES:
        taken = {}
        for method, (count, each, error) in curves(experiment, logs, scene).items():
            needed = count_to(count, error, NEAR)
            taken[method] = needed * each
            print(f"{scene} {method}: {needed} iterations ({count_to(count, error, 0.05)} to 5 %), "
                  f"{each:.3g} s each, {taken[method]:.3g} s")
        print(f"{scene}: ends apart by {distance(logs, scene):.3g} of the descent")
        best = min(taken["newton"], taken["newton_velocity"])
        rows.append(Bar(f"{scene}: seconds of Newton over ndb's", best / taken["ndb"], 10,
                        least=True))
    return rows


FIGURES = {
    "ndb-speed": ("energy against seconds: ndb with ndb_pd beside ipc_barrier with Newton", draw),
    "ndb-speed-bars": ("the same as numbers with bounds", bars),
}
