"""The cost of a step in time and memory, and how near it is to the machine's limits."""

import csv
import datetime
import platform
from pathlib import Path

import numpy as np

from loomcloth.experiment import Bar, plain_axes
from loomcloth.log import Log

SIDES = (51, 71, 101, 159, 251, 355, 501)  # 2,601 to 251,001 vertices
MEMORY_STEPS = 10
PHASES = ("predict", "detect", "solve", "contact", "filter", "measure", "log")
PHASE_COLOURS = ("#999999", "#56B4E9", "#0072B2", "#D55E00", "#CC79A7", "#F0E442", "#009E73")


def shares_of(path):
    """Share of each phase in the time of all steps but the first, which factorises."""
    with Log(path) as log:
        rows = log.table("steps")[1:]
    return {p: rows[f"t_{p}"].sum() / rows["t_total"].sum() for p in PHASES}


def sheets(experiment):
    """{phase: share} per resolution."""
    out = []
    for side in SIDES:
        sets = {"cloth.sheet.resolution": f"{side} {side}", "exec.threads": 1}
        out.append(shares_of(experiment.run(f"sheet{side}", "sheet.ini", sets)))
    return out


def read(path):
    return np.atleast_1d(np.genfromtxt(path, delimiter=",", names=True, comments="#"))


def table(experiment, program, *options):
    """CSV rows of a program of tests/bench/, one run per resolution: it can be interrupted."""
    rows = [
        read(experiment.program(program, [*options, s], f"{program}{s}.csv")) for s in SIDES
    ]
    return np.concatenate(rows)


def speed(experiment):
    return table(experiment, "bench_core", "--seconds", 2)


def memory(experiment):
    return table(experiment, "bench_memory", "--steps", MEMORY_STEPS, "memory.ini")


def beside_solve(core):
    """ms of a step without its ten global steps."""
    return core["step_ms"] - 10 * core["global_ms"]


def exponent(n, times):
    return np.polyfit(np.log(n), np.log(times), 1)[0]


def provenance(experiment):
    tables = [f"{program}{s}.csv" for program in ("bench_core", "bench_memory") for s in SIDES]
    commits = ", ".join(experiment.made_by(tables))
    cpu = [w for w in Path("/proc/cpuinfo").read_text().splitlines() if w.startswith("model name")]
    return (
        f"{datetime.date.today()}, {cpu[0].split(': ')[1] if cpu else platform.processor()}, "
        f"commit {commits}, one thread, CPU time, smallest of the repetitions"
    )


def keep_table(experiment, core, used):
    """bench-core.csv, a result: both tables side by side."""
    path = experiment.out / "bench-core.csv"
    with open(path, "w", newline="") as out:
        out.write(f"# {provenance(experiment)}\n# bytes per vertex: factor, peak beside it, buffers in that\n")
        writer = csv.writer(out, lineterminator="\n")
        extra = ("contacts", "factor", "peak", "buffers")
        writer.writerow([*core.dtype.names, *extra])
        for a, b in zip(core, used):
            writer.writerow([f"{v:.4g}" if v < 1e4 else f"{v:.0f}" for v in (*a, *b[list(extra)])])
    print(path)
    experiment.result(path)


def draw(experiment):
    core, used, shares = speed(experiment), memory(experiment), sheets(experiment)
    n = core["vertices"]
    figure, axes = plain_axes(2, 2)
    axes[0, 0].loglog(n, core["step_ms"], "o-", color="#0072B2", label="one step, ten iterations")
    axes[0, 0].loglog(n, core["factor_ms"], "s--", color="#999999", label="one factorisation")
    axes[0, 0].loglog(n, beside_solve(core), "^-.", color="#009E73", label="the step without solves")
    linear = beside_solve(core)[0] * n / n[0]
    axes[0, 0].loglog(n, linear, ":", color="#666666", label="linear")
    axes[0, 0].set(xlabel="vertices", ylabel="CPU time (ms)")
    axes[0, 0].legend()

    bottom = np.zeros(len(n))
    for phase, colour in zip(PHASES, PHASE_COLOURS):
        share = np.array([s[phase] for s in shares])
        axes[0, 1].bar(range(len(n)), share, bottom=bottom, color=colour, label=phase, width=0.7)
        bottom += share
    axes[0, 1].set_xticks(range(len(n)), [f"{v / 1000:.1f}k" for v in n])
    axes[0, 1].set(xlabel="vertices", ylabel="share of a step (drape)", ylim=(0, 1))
    axes[0, 1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    axes[0, 1].grid(axis="x", visible=False)

    axes[1, 0].loglog(n, core["global_ms"], "o-", color="#0072B2", label="cholmod_pd")
    axes[1, 0].loglog(n, core["bare_ms"], "s--", color="#E69F00", label="bare CHOLMOD")
    axes[1, 0].loglog(n, core["local_ms"], "^-.", color="#009E73", label="local step")
    axes[1, 0].set(xlabel="vertices", ylabel="global and local step, CPU time (ms)")
    axes[1, 0].legend()

    axes[1, 1].semilogx(n, used["peak"], "o-", color="#009E73", label="beside the factor")
    axes[1, 1].semilogx(n, used["buffers"], "^-.", color="#56B4E9", label="of it the core's buffers")
    axes[1, 1].semilogx(n, used["factor"], "s--", color="#999999", label="the factor")
    axes[1, 1].axhline(1000, color="#D55E00", linestyle=":", label="bound, 1 kB")
    axes[1, 1].set(xlabel="vertices", ylabel="peak memory per vertex (bytes)", ylim=(0, None))
    axes[1, 1].legend()
    experiment.save(figure, "bench-core", keep=True)
    keep_table(experiment, core, used)


def bars(experiment):
    core, used = speed(experiment), memory(experiment)
    drape = experiment.run("drape", "drape.ini")
    with Log(drape) as log:
        steps = log.table("steps")
    overhead = (steps["t_measure"].sum() + steps["t_log"].sum()) / steps["t_total"].sum()
    n, large = core["vertices"], used["vertices"] >= 10000
    return [
        Bar("drape.ini", steps["t_total"].sum(), 120, "s"),
        Bar("measuring and logging, share of the drape", overhead, 0.10),
        Bar("exponent of step time in vertices", exponent(n, core["step_ms"]), 1.2),
        Bar("the same without the solves", exponent(n, beside_solve(core)), 1.1),
        Bar("global step over bare CHOLMOD solve", np.max(core["global_ratio"]), 1.3),
        Bar("local step, share of the memory bandwidth", core["local_share"][-1], 0.3, least=True),
        Bar("memory beside the factor", np.max(used["peak"][large]), 1000, "B/vertex"),
    ]


FIGURES = {
    "bench-core": ("cost of a step and memory against vertices; global step against CHOLMOD", draw),
    "bench-core-bars": ("the same as numbers with bounds", bars),
}
