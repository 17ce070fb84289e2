"""One drape step, three solvers from the same state: residual and energy."""

import numpy as np

from loomcloth.experiment import COLOURS, Bar, FigureError, plain_axes
from loomcloth.log import Log

SOLVERS = {"gd": 5000, "cholmod_pd": 1000, "cholmod_newton": 60}  # iterations at most


def runs(experiment):
    reference = experiment.run("reference", "reference.ini")
    logs = {
        solver: experiment.run(
            solver,
            "solver.ini",
            {"solver.plugin": solver, "run.replay": reference, "stop.max_iters": limit},
            inputs=[reference],
        )
        for solver, limit in SOLVERS.items()
    }
    return reference, logs


def curves(path):
    """Iterations, residual of the posed problem, energy, time; from record k = -1 on."""
    with Log(path) as log:
        rows = log.table("iters")
    rows = rows[rows["step"] == rows["step"].max()]
    residual = np.where(np.isnan(rows["r_next_rms"]), rows["r_solved_rms"], rows["r_next_rms"])
    return {
        "k": rows["k"] + 1,
        "residual": residual,
        "energy": rows["e_total"],
        "seconds": rows["t_cpu"],
    }


def positive(values):
    """Zeros and NaN leave gaps on a logarithmic axis."""
    return np.where(values > 0, values, np.nan)


def draw(experiment):
    _, logs = runs(experiment)
    data = {solver: curves(path) for solver, path in logs.items()}
    solution = data["cholmod_newton"]["energy"][-1]
    figure, axes = plain_axes(2, 2)
    for solver, c in data.items():
        style = {"color": COLOURS[solver], "label": solver, "linewidth": 1.0}
        error = positive(np.abs(c["energy"] - solution))
        axes[0, 0].plot(c["k"], positive(c["residual"]), **style)
        axes[0, 1].plot(1e3 * positive(c["seconds"]), positive(c["residual"]), **style)
        axes[1, 0].plot(c["k"], error, **style)
        axes[1, 1].plot(1e3 * positive(c["seconds"]), error, **style)
    for row in axes:
        row[0].set(xscale="symlog", yscale="log", xlabel="outer iteration")
        row[0].set_xlim(left=0)
        row[1].set(xscale="log", yscale="log", xlabel="processor time of all threads without measuring (ms)")
    axes[0, 0].set_ylabel(r"residual $h^2 M^{-1} r$, rms (m)")
    axes[1, 0].set_ylabel("distance of the energy from the solution's (J)")
    axes[0, 0].legend()
    figure.suptitle("Step 60 of the 51 x 51 drape, every solver from the same state")
    experiment.save(figure, "convergence", keep=True)


def bars(experiment):
    """Newton solves the step; the others come within 1 % of the descent of the energy."""
    _, logs = runs(experiment)
    data = {solver: curves(path) for solver, path in logs.items()}
    newton = data["cholmod_newton"]
    descent = newton["energy"][0] - newton["energy"][-1]
    if not descent > 0:
        raise FigureError("the step has nothing to solve")
    rows = [Bar("cholmod_newton final residual", newton["residual"][-1], 1e-10, "m")]
    for solver in ("cholmod_pd", "gd"):
        error = abs(data[solver]["energy"][-1] - newton["energy"][-1]) / descent
        rows.append(Bar(f"{solver} energy error, share of the descent", error, 1e-2))
    return rows


FIGURES = {
    "convergence": ("residual and energy against iteration and time, one drape step", draw),
    "convergence-bars": ("the same as numbers with bounds", bars),
}
