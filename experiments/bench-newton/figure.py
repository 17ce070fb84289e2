"""The cost of a Newton iteration of the reference on a sheet that falls over a sphere."""

import numpy as np

from loomcloth.experiment import Bar, plain_axes
from loomcloth.log import Log

CONFIG = "../../configs/drape_floor.ini"
TOLERANCE = 1e-3  # m/s, largest Newton direction over the time step
# vertices: steps, iterations per step and seconds of one thread per iteration of Codim-IPC (README)
THEIRS = {6561: (81, 8, 37.0, 1.27), 12769: (113, 6, 20.3, 2.02)}
SECONDS = {6561: 0.65, 12769: 1.0}  # bounds
# E t of their material as given, and without its factor 0.01; the first again with a strain limit
# of 10 % carried by a tension of 100 N/m, as theirs is
MEMBRANES = {
    "soft": ("2.61 N/m", {"cloth.sheet.membrane": 2.61}),
    "limited": (
        "2.61 N/m, stretch at most 1.1",
        {
            "cloth.sheet.membrane": "",
            "cloth.sheet.model": "neohookean+isometric",
            "cloth.sheet.young": 2.61,
            "cloth.sheet.poisson": 0.243,
            "cloth.sheet.limit": 1.1,
            "cloth.sheet.limit_tension": 100,
            "stop.tol_rel": 1e-8,  # the direction is below the tolerance later than at 1e-5
        },
    ),
    "stiff": ("261 N/m", {"cloth.sheet.membrane": 261}),
}


def run(experiment, vertices, membrane):
    side, steps, _, _ = THEIRS[vertices]
    return experiment.run(
        f"{membrane}{side}",
        CONFIG,
        {
            "cloth.sheet.resolution": f"{side} {side}",
            "run.steps": steps,
            "exec.threads": 1,
            **MEMBRANES[membrane][1],
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


def stretch(path):
    """Largest principal stretch of any triangle in the last frame."""
    with Log(path) as log:
        rest, x = log.file["scene/rest"][()], log.file["frames/x"][-1]
        t = log.file["scene/triangles"][()]
    sides = [np.stack([p[t[:, 1]] - p[t[:, 0]], p[t[:, 2]] - p[t[:, 0]]], 2) for p in (rest, x)]
    flat = np.linalg.inv(sides[0][:, :2])  # the sheet rests in a plane of constant z
    return np.linalg.svd(sides[1] @ flat, compute_uv=False)[:, 0].max()


def draw(experiment):
    figure, axes = plain_axes(1, 2)
    for vertices, colour in zip(THEIRS, ("#0072B2", "#D55E00")):
        for membrane, line in zip(MEMBRANES, ("o-", "^--", "s:")):
            t = table(run(experiment, vertices, membrane))
            k = np.arange(len(t)) + 1
            label = f"{vertices:,} vertices, {MEMBRANES[membrane][0]}"
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
        for membrane, (label, _) in MEMBRANES.items():
            t = table(run(experiment, vertices, membrane))
            name = f"{vertices:,} vertices, {label}"
            seconds = t["s"].sum() / t["all"].sum()
            rows.append(Bar(f"{name}: one iteration", seconds, SECONDS[vertices], "s"))
            rows.append(Bar(f"{name}: iterations per step", t["needed"].mean(), iterations))
            if membrane == "limited":
                largest = stretch(run(experiment, vertices, membrane))
                rows.append(Bar(f"{name}: largest stretch", largest, 1.1))
            rows.append(Bar(f"{name}: intersections", t["found"].sum() if (t["found"] >= 0).all() else np.nan, 0))
    return rows


FIGURES = {
    "bench-newton": ("iterations and seconds of the reference, sheet over sphere and floor", draw),
    "bench-newton-bars": ("the same as numbers with bounds", bars),
}
