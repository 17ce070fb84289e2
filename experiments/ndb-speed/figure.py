"""Seconds of one core to the same accuracy: the non-distance barrier beside Newton and IPC."""

import numpy as np

from loompy.experiment import Bar, plain_axes
from loompy.log import Log

SCENES = ("drape", "fold")
DETAIL = 4  # 40,401 and 40,000 vertices
NEAR = 0.01  # of the descent of the energy
METHODS = {"newton": "#009E73", "ndb": "#D55E00"}


def runs(experiment):
    logs = {}
    for scene in SCENES:
        sets = {"run.detail": DETAIL, "exec.threads": 1}
        reference = experiment.run(f"{scene}_reference", f"{scene}_reference.ini", sets)
        sets["run.replay"] = reference
        for method in METHODS:
            name = f"{scene}_{method}"
            logs[scene, method] = experiment.run(name, f"{name}.ini", sets, [reference])
    return logs


def potential(path):
    """Seconds without measuring, and inertia and elasticity in J, after each iteration of the last
    step; ndb takes some steps before it, so that its weights have their ages.

    Contact energy is left out: the two models do not define the same one.
    """
    with Log(path) as log:
        rows = log.table("iters")
    rows = rows[rows["step"] == rows["step"].max()]
    return rows["t_total"], rows["e_total"] - rows["e_contact"]


def curves(logs, scene):
    """{method: (seconds, error of the energy as share of the descent)}, each against its own end."""
    newton = potential(logs[scene, "newton"])[1]
    descent = newton[0] - newton[-1]
    found = {}
    for method in METHODS:
        seconds, energy = potential(logs[scene, method])
        found[method] = seconds, np.abs(energy - energy[-1]) / descent
    return found


def seconds_to(seconds, error, near):
    """From when on the error stays below a share."""
    far = np.flatnonzero(error > near)
    return seconds[min(far[-1] + 1, len(seconds) - 1)] if len(far) else seconds[0]


def distance(logs, scene):
    """Energy of ndb's end above that of Newton's, as share of the descent."""
    newton = potential(logs[scene, "newton"])[1]
    return (potential(logs[scene, "ndb"])[1][-1] - newton[-1]) / (newton[0] - newton[-1])


def draw(experiment):
    logs = runs(experiment)
    figure, axes = plain_axes(1, len(SCENES))
    for axis, scene in zip(axes, SCENES):
        for method, (seconds, error) in curves(logs, scene).items():
            axis.plot(seconds, np.maximum(error, 1e-8), color=METHODS[method], label=method)
        axis.axhline(NEAR, color="#999999", linewidth=0.8)
        axis.set(xscale="log", yscale="log", xlabel="seconds, one thread", title=scene)
        axis.set_ylabel("error of the energy, share of the descent")
    axes[0].legend()
    figure.suptitle("One step in contact, 40,000 vertices, each method against its own end")
    experiment.save(figure, "ndb-speed", keep=True)


def bars(experiment):
    """Ten times fewer seconds to 1 % of the descent; how far apart both end."""
    logs = runs(experiment)
    rows = []
    for scene in SCENES:
        taken = {m: seconds_to(*c, NEAR) for m, c in curves(logs, scene).items()}
        print(", ".join(f"{scene} {m}: {s:.2f} s" for m, s in taken.items()),
              f"; ends apart by {distance(logs, scene):.3g} of the descent")
        rows.append(Bar(f"{scene}: seconds of Newton over ndb's", taken["newton"] / taken["ndb"],
                        10, least=True))
    return rows


FIGURES = {
    "ndb-speed": ("energy against seconds: ndb with ndb_pd beside ipc_barrier with Newton", draw),
    "ndb-speed-bars": ("the same as numbers with bounds", bars),
}
