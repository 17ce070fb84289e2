"""What a step costs in time and memory, and how near that is to what the machine allows."""

import numpy as np

from loompy.experiment import ROOT, Bar, plain_axes
from loompy.log import Log

SIDES = (51, 71, 101, 159, 251, 355, 501)  # 2,601 to 251,001 vertices
PHASES = ("predict", "detect", "solve", "contact", "filter", "measure", "log")
PHASE_COLOURS = ("#999999", "#56B4E9", "#0072B2", "#D55E00", "#CC79A7", "#F0E442", "#009E73")


def steps_of(path):
    """Seconds per phase and step; the first step also pays for the factorisation."""
    with Log(path) as log:
        rows = log.table("steps")[1:]
    return {p: np.median(rows[f"t_{p}"]) for p in (*PHASES, "total")}


def sheets(experiment):
    """vertices, {phase: seconds per step}, peak bytes, per resolution."""
    out = []
    for side in SIDES:
        name = f"sheet{side}"
        sets = {"cloth.sheet.resolution": f"{side} {side}"}
        path = experiment.run(name, "sheet.ini", sets)
        out.append((side**2, steps_of(path), experiment.peak_bytes(name)))
    return out


def core_table(experiment):
    """CSV of tests/bench/bench_core.c."""
    path = experiment.program("bench_core", [s for s in SIDES], "bench_core.csv")
    return np.atleast_1d(np.genfromtxt(path, delimiter=",", names=True))


def draw(experiment):
    rows, core = sheets(experiment), core_table(experiment)
    n = np.array([r[0] for r in rows])
    figure, axes = plain_axes(2, 2)
    total = 1e3 * np.array([r[1]["total"] for r in rows])
    axes[0, 0].loglog(n, total, "o-", color="#0072B2", label="one step, 10 iterations")
    axes[0, 0].loglog(n, total[-1] * n / n[-1], ":", color="#666666", label="linear")
    axes[0, 0].set(xlabel="vertices", ylabel="time per step (ms)")
    axes[0, 0].legend()

    bottom = np.zeros(len(n))
    for phase, colour in zip(PHASES, PHASE_COLOURS):
        share = np.array([r[1][phase] / r[1]["total"] for r in rows])
        axes[0, 1].bar(range(len(n)), share, bottom=bottom, color=colour, label=phase, width=0.7)
        bottom += share
    axes[0, 1].set_xticks(range(len(n)), [f"{v / 1000:.1f}k" for v in n])
    axes[0, 1].set(xlabel="vertices", ylabel="share of a step", ylim=(0, 1))
    axes[0, 1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    axes[0, 1].grid(axis="x", visible=False)

    axes[1, 0].loglog(core["vertices"], core["global_ms"], "o-", color="#0072B2", label="cholmod_pd")
    axes[1, 0].loglog(core["vertices"], core["bare_ms"], "s--", color="#E69F00", label="bare CHOLMOD")
    axes[1, 0].set(xlabel="vertices", ylabel="global step, 3 right-hand sides (ms)")
    axes[1, 0].legend()

    axes[1, 1].semilogx(
        core["vertices"], core["bytes_per_vertex"], "o-", color="#009E73",
        label="beside the factor (bench_core)",
    )
    peak = np.array([r[2] for r in rows])
    axes[1, 1].semilogx(n, peak / n, "s--", color="#999999", label="all of `loom run`")
    axes[1, 1].axhline(1000, color="#D55E00", linestyle=":", label="bound, 1 kB")
    axes[1, 1].set(xlabel="vertices", ylabel="peak memory per vertex (bytes)", yscale="log")
    axes[1, 1].legend()
    experiment.save(figure, "bench-core", keep=True)


def bars(experiment):
    rows, core = sheets(experiment), core_table(experiment)
    n = np.log([r[0] for r in rows])
    slope = np.polyfit(n, np.log([r[1]["total"] for r in rows]), 1)[0]
    big = core[-1]
    drape = experiment.run("drape", ROOT / "configs/drape.ini")
    with Log(drape) as log:
        steps = log.table("steps")
    overhead = (steps["t_measure"].sum() + steps["t_log"].sum()) / steps["t_total"].sum()
    return [
        Bar("drape.ini", steps["t_total"].sum(), 120, "s"),
        Bar("measuring and logging, share of the drape", overhead, 0.10),
        Bar("exponent of step time in vertices", slope, 1.2),
        Bar("global step over bare CHOLMOD solve", np.max(core["global_ratio"]), 1.3),
        Bar("local step, share of the memory bandwidth", big["local_share"], 0.3, least=True),
        Bar("memory beside the factor", big["bytes_per_vertex"], 1000, "B/vertex"),
    ]


FIGURES = {
    "bench-core": ("cost of a step and memory against vertices; global step against CHOLMOD", draw),
    "bench-core-bars": ("the same as numbers with bounds", bars),
}
