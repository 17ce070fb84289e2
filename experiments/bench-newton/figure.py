"""What a Newton iteration of the reference costs on a sheet that falls over a sphere."""

import numpy as np

from loompy.experiment import Bar, plain_axes
from loompy.log import Log

CONFIG = "../../configs/drape_floor.ini"
TOLERANCE = 1e-3  # m/s, largest Newton direction over the time step
# vertices: steps, iterations per step and seconds of one thread per iteration of Codim-IPC (README)
THEIRS = {6561: (81, 8, 37.0, 1.27), 12769: (113, 6, 20.3, 2.02)}
SECONDS = {6561: 0.65, 12769: 1.0}  # bounds
# N/m: E t of their material as given, and without its factor 0.01
MEMBRANES = {"soft": 2.61, "stiff": 261}


def run(experiment, vertices, membrane):
    side, steps, _, _ = THEIRS[vertices]
    return experiment.run(
        f"{membrane}{side}",
        CONFIG,
        {
            "cloth.sheet.resolution": f"{side} {side}",
            "cloth.sheet.membrane": MEMBRANES[membrane],
            "run.steps": steps,
            "exec.threads": 1,
        },
    )


def table(path):
    """Per step: iterations until the direction is below the tolerance, and of the whole step;
    seconds; intersections."""
    with Log(path) as log:
        rows, steps = log.table("iters"), log.table("steps")
    out = []
    for step in steps:
        r = rows[(rows["step"] == step["step"]) & (rows["k"] >= 0)]
        speed = r["dx_max"] / np.where(r["alpha"] > 0, r["alpha"], np.nan) / step["h"]
        below = np.nonzero(speed < TOLERANCE)[0]
        needed = below[0] + 1 if len(below) else len(r)
        out.append((needed, len(below) > 0, len(r), step["t_total"], step["intersections"]))
    return np.array(
        out,
        dtype=[("needed", int), ("reached", bool), ("all", int), ("s", float), ("found", int)],
    )


def draw(experiment):
    figure, axes = plain_axes(1, 2)
    for vertices, colour in zip(THEIRS, ("#0072B2", "#D55E00")):
        for membrane, line in zip(MEMBRANES, ("o-", "s:")):
            t = table(run(experiment, vertices, membrane))
            k = np.arange(len(t)) + 1
            label = f"{vertices:,} vertices, {MEMBRANES[membrane]:g} N/m"
            missed = ~t["reached"]
            axes[0].plot(k, t["needed"], line, color=colour, label=label)
            axes[0].plot(k[missed], t["needed"][missed], "x", color="black", markersize=9)
            axes[1].plot(k, t["s"] / t["all"], line, color=colour, label=label)
        axes[1].axhline(SECONDS[vertices], color=colour, linestyle="--", linewidth=0.8)
    axes[0].set(xlabel="step of 0.04 s", ylabel="iterations to 1e-3 m/s", ylim=(0, None))
    axes[1].set(xlabel="step of 0.04 s", ylabel="seconds per iteration, one thread", yscale="log")
    axes[1].legend(loc="center right", fontsize=8)
    experiment.save(figure, "bench-newton", keep=True)


def bars(experiment):
    rows = []
    for vertices, (_, _, iterations, _) in THEIRS.items():
        for membrane, stiffness in MEMBRANES.items():
            t = table(run(experiment, vertices, membrane))
            name = f"{vertices:,} vertices, {stiffness:g} N/m"
            seconds = t["s"].sum() / t["all"].sum()
            rows.append(Bar(f"{name}: one iteration", seconds, SECONDS[vertices], "s"))
            rows.append(Bar(f"{name}: iterations per step", t["needed"].mean(), iterations))
            rows.append(Bar(f"{name}: intersections", t["found"].sum() if (t["found"] >= 0).all() else np.nan, 0))
    return rows


FIGURES = {
    "bench-newton": ("iterations and seconds of the reference, sheet over sphere and floor", draw),
    "bench-newton-bars": ("the same as numbers with bounds", bars),
}
