"""A knitted piece over the paper's two seconds, of which the first part runs: costs, distances from the exact force, and boxes over cells."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from loomcloth.experiment import plain_axes
from loomcloth.knit import POINTS, curve_points
from loomcloth.log import Log

ROWS, LOOPS = 8, 6
SPAN, STEPS = 32400, 6480  # 2 s, and the part that runs: 0.4 s; from 0.2 s on the piece lies
REST = 1620  # last steps, 0.1 s, whose cost the others get
AT_A_TIME = 6  # runs beside each other
RADIUS, CELL = 1.25e-3, 6e-3  # m, of the yarn, of the grid
PLASTIC = {"yarn__knit__plasticity": 0.01, "contact__yarns__stiction": 1.0}
PHASES = ("detect", "points", "coalesce", "models", "rebuild", "gather")
COLOURS = ("#0072B2", "#56B4E9", "#CC79A7", "#009E73", "#D55E00", "#F0E442")


def fallen(experiment, run, taus):
    """Runs of a piece that tightens, falls and lies, 2 s: the exact force, and models at all tolerances."""
    sets = {"yarn__knit__rows": ROWS, "yarn__knit__loops": LOOPS, "run__steps": STEPS, "log__frames_every": 108}
    jobs = {"exact": {"contact__yarns__plugin": "yarn_penalty", "collision__grid__search": "grid"}}
    jobs |= {tau: {"contact__yarns__tolerance": tau} for tau in taus}
    jobs["plastic"] = jobs[0.04] | PLASTIC
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        made = pool.map(lambda job: run(experiment, f"fallen_{job[0]}", "drop.ini", **sets, **job[1]), jobs.items())
        return dict(zip(jobs, made, strict=True))


def own(result):
    """Processor time of a step: without measuring and logging, s."""
    with Log(result.path) as log:
        return log.table("steps")["t_cpu"]


def over(seconds):
    """Mean of a step over SPAN, ms: what has not run costs as much as the last steps."""
    return 1e3 * (seconds.sum() + (SPAN - len(seconds)) * seconds[-REST:].mean()) / SPAN


def table(experiment, run, taus):
    """run: of figure.py; taus: tolerances of the models, 0.04 among them."""
    results = fallen(experiment, run, taus)
    frames = {}
    for key, result in results.items():
        with Log(result.path) as log:
            frames[key] = log.frame(log.num_frames - 1)
    lines = [f"{ROWS * LOOPS} loops tighten, fall on a plane and lie there, {STEPS} steps of 2 s / {SPAN}; the rest of the 2 s at the cost of the last {REST}",
             "processor time of a step, ms; one thread",
             f"{'':10}{'whole 2 s':>24}{'last 0.1 s':>24}{'times faster than exact':>30}{'built a':>10}{'rms off':>10}",
             f"{'tau':10}{'contact':>12}{'step':>12}{'contact':>12}{'step':>12}{'contact':>10}{'step':>10}{'at rest':>10}"
             f"{'step, %':>10}{'exact, mm':>10}"]
    parts = {}
    for key, result in results.items():
        contact = sum(result.seconds.values())
        parts[key] = over(contact), over(own(result)), 1e3 * contact[-REST:].mean(), 1e3 * own(result)[-REST:].mean()
        one, rest = parts[key], parts["exact"]
        built = "" if key == "exact" else f"{whole_share(result):10.2f}"
        off = 1e3 * np.sqrt(((frames[key] - frames["exact"]) ** 2).sum(axis=1).mean())
        lines.append(f"{key!s:10}" + "".join(f"{v:12.3f}" for v in one) + f"{rest[0] / one[0]:9.2f}x{rest[1] / one[1]:9.2f}x"
                     f"{rest[2] / one[2]:9.2f}x{built:>10}{off:10.3f}")
    lines.append("plastic: tau = 0.04, with plasticity 0.01 and stiction springs of 1 N/m; its distance is that of another material")
    experiment.keep_text("acl-two-seconds", lines)
    draw(experiment, results)


def whole_share(result):
    sets, built = result.column("sets"), result.column("built")
    return 100.0 * (built[sets > 0] / sets[sets > 0]).mean()


def draw(experiment, results):
    """Where the time of a step goes, whole simulator, over 2 s; and boxes of segments over the cells of the grid."""
    figure, axes = plain_axes(1, 2)
    names = list(results)
    for i, result in enumerate(results.values()):
        bottom = 0.0
        for phase, s in result.seconds.items():
            colour = "#999999" if phase == "force" else COLOURS[PHASES.index(phase)]
            axes[0].bar(i, over(s), bottom=bottom, color=colour)
            bottom += over(s)
        axes[0].bar(i, over(own(result)) - bottom, bottom=bottom, color="#dddddd")
    for label, colour in zip((*PHASES, "force", "rest of the step"), (*COLOURS, "#999999", "#dddddd"), strict=True):
        axes[0].bar(0, 0, color=colour, label=label)
    axes[0].set_xticks(range(len(names)), [str(n) for n in names])
    axes[0].set(xlabel="exact force; tolerance of the models", ylabel="processor time of a step, mean of 2 s (ms)")
    axes[0].legend(fontsize=7)
    ratio = box_over_cell(results[0.04].path)
    for grown, label, colour in ((0, "points alone, as in the paper", "#0072B2"), (2 * RADIUS / CELL, "with the radius", "#D55E00")):
        share = 100 * (ratio + grown < 1).mean()
        axes[1].hist(ratio + grown, np.linspace(0, 1.5, 61), color=colour, alpha=0.7, label=f"{label}: {share:.1f} % below 1")
    axes[1].set(xlabel="largest side of a segment's box over the cell's", ylabel="segments, all frames")
    axes[1].legend(fontsize=7)
    experiment.save(figure, "acl-two-seconds", keep=True)


def box_over_cell(path):
    """Of all segments in all frames (section 5.2 of the paper)."""
    found = []
    with Log(path) as log:
        for k in range(log.num_frames):
            y = curve_points(log, np.array(log.frame(k)))
            ends = [y[i:len(y) - 1 - (POINTS - i) + 1:POINTS] for i in range(POINTS + 1)]
            found.append((np.max(ends, axis=0) - np.min(ends, axis=0)).max(axis=1))
    return np.concatenate(found) / CELL
