"""One step of self-contact under the distance barrier: Newton and projective dynamics."""

import numpy as np

from loomcloth.experiment import Bar, FigureError, plain_axes
from loomcloth.log import Log
from loomcloth.steps import intersections

# name: solver, weight of the barrier's projective form, iterations at most, colour
METHODS = {
    "pd, weight energy": ("cholmod_pd", "energy", 2000, "#0072B2"),
    "pd, weight curvature": ("cholmod_pd", "curvature", 2000, "#D55E00"),
    "newton": ("cholmod_newton", "energy", 200, "#009E73"),
}


def runs(experiment):
    reference = experiment.run("reference", "reference.ini")
    logs = {}
    for name, (solver, weight, limit, _) in METHODS.items():
        sets = {
            "solver.plugin": solver,
            "contact.all.weight": weight,
            "run.replay": reference,
            "stop.max_iters": limit,
        }
        logs[name] = experiment.run(name.replace(", weight ", "_"), "solver.ini", sets, [reference])
    return reference, logs


def curves(path):
    """Residual, energy, smallest gap and time after each iteration; the first row is the start."""
    with Log(path) as log:
        rows = log.table("iters")
        steps = log.table("steps")
    residual = np.where(np.isnan(rows["r_next_rms"]), rows["r_solved_rms"], rows["r_next_rms"])
    return {
        "k": rows["k"] + 1,
        "residual": residual,
        "energy": rows["e_total"],
        "gap": rows["min_gap"],
        "seconds": rows["t_cpu"],
        "intersections": intersections(steps),
    }


def positive(values):
    """Zeros and NaN leave gaps on a logarithmic axis."""
    return np.where(values > 0, values, np.nan)


def draw(experiment):
    _, logs = runs(experiment)
    data = {name: curves(path) for name, path in logs.items()}
    lowest = min(np.nanmin(c["energy"]) for c in data.values())
    figure, axes = plain_axes(2, 2)
    for name, c in data.items():
        style = {"color": METHODS[name][3], "label": name, "linewidth": 1.0}
        axes[0, 0].plot(c["k"], positive(c["residual"]), **style)
        axes[0, 1].plot(1e3 * positive(c["seconds"]), positive(c["residual"]), **style)
        axes[1, 0].plot(c["k"], positive(c["energy"] - lowest), **style)
        axes[1, 1].plot(c["k"], 1e3 * positive(c["gap"]), **style)
    for axis in (axes[0, 0], axes[1, 0], axes[1, 1]):
        axis.set(xscale="symlog", yscale="log", xlabel="iteration")
        axis.set_xlim(left=0)
    axes[0, 1].set(xscale="log", yscale="log", xlabel="processor time of all threads without measuring (ms)")
    for axis in axes[0]:
        axis.set_ylabel(r"residual $h^2 M^{-1} r$, rms (m)")
    axes[1, 0].set_ylabel("energy above the lowest found (J)")
    axes[1, 1].set_ylabel("smallest gap (mm)")
    axes[0, 0].legend()
    figure.suptitle("One step of self-contact under the distance barrier, from the same state")
    experiment.save(figure, "dbb-vs-newton", keep=True)


def bars(experiment):
    """No intersection anywhere; Newton solves the step; projective dynamics comes within 1 %."""
    reference, logs = runs(experiment)
    data = {name: curves(path) for name, path in logs.items()}
    newton = data["newton"]
    lowest = min(np.nanmin(c["energy"]) for c in data.values())
    descent = newton["energy"][0] - lowest
    if not descent > 0:
        raise FigureError("the step has nothing to solve")
    with Log(reference) as log:
        found = intersections(log.table("steps"))
    rows = [
        Bar("intersections in all steps of the reference", found, 0),
        Bar("newton final residual", newton["residual"][-1], 1e-9, "m"),
    ]
    for name, c in data.items():
        rows.append(Bar(f"{name}: intersections", c["intersections"], 0))
        error = (np.nanmin(c["energy"]) - lowest) / descent
        rows.append(Bar(f"{name}: lowest energy, error as share of the descent", error, 1e-2))
    return rows


FIGURES = {
    "dbb-vs-newton": ("residual, energy and gap against iteration under the distance barrier", draw),
    "dbb-vs-newton-bars": ("the same as numbers with bounds", bars),
}
