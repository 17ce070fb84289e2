"""Processor seconds of steps in rich folds by phase, beside an older build, and their growth with the mesh."""

import copy
import os
import shutil

import h5py
import numpy as np
from loomcloth.experiment import Bar, NotMeasured
from loomcloth.log import Log
from loomcloth.style import OKABE_ITO, plain_axes

STEPS = range(36, 41)
PHASES = ("detect", "solve", "contact", "filter", "measure")
NAMES = {"ndb": "ndb_pd x ndb", "newton": "cholmod_newton x ipc_barrier", "bfgs": "pd_bfgs x ipc_barrier"}
FIRST = 12  # iterations of Newton's method that are also told by themselves
LAST = -1  # stage of the accepted point
OLD = "23c3817"
# Commit 23c3817, measured on 2026-11-26 under a load of 5 to 12: mean seconds of a step, seconds of step 40
# by phase, kB a vertex.  Newton's method: its first 12 iterations.
MEASURED = {
    ("ndb", 1): (0.43, {}, 0),
    ("ndb", 2): (2.32, {"detect": 0.52, "solve": 0.80, "contact": 0.69, "filter": 0.09, "measure": 0.35}, 0),
    ("ndb", 4): (13.9, {"detect": 4.9, "solve": 3.1, "contact": 11.3, "filter": 1.0, "measure": 4.4}, 31),
    ("newton", 1): (1.5, {}, 0),
    ("newton", 2): (7.2, {"detect": 1.9, "solve": 4.1, "contact": 1.2, "filter": 0.01, "measure": 0.1}, 0),
    ("newton", 4): (34.3, {"detect": 9.5, "solve": 20.3, "contact": 4.4, "filter": 0.05, "measure": 0.4}, 28),
    ("bfgs", 1): (0.85, {}, 0),
    ("bfgs", 2): (4.6, {"detect": 2.4, "solve": 0.17, "contact": 2.6, "filter": 1.2, "measure": 0.03}, 0),
    ("bfgs", 4): (27.9, {"detect": 10.9, "solve": 1.0, "contact": 8.9, "filter": 2.3, "measure": 0.2}, 15),
}
HEAD = ("method                        of         iterations       s" + "".join(f"{p:>9}" for p in PHASES)
        + "   pairs  contacts  kB/vertex   residual/r_ref  intersections")


def vertices(detail):
    return (50 * detail + 1) ** 2


# ---- runs ----
def state(experiment, detail):
    return experiment.run(f"state-{detail}", "state.ini", {"run.detail": detail, "exec.threads": 1})


# The stiffness of a hinge was `bending` at the older commit and is `k_b` now, so that its replay would compare
# it with a key of another model.
HINGE, HINGE_BEFORE = "\nbending = 2.4e-05\n", "\nbending = 1e-05\n"


def state_for_old(experiment, start):
    """A copy of the states; its configuration has the older name of the hinge's stiffness."""
    path = experiment.out / f"before-{start.name}"
    shutil.copyfile(start, path)
    with h5py.File(path, "r+") as file:
        text = file.attrs["config"]
        text = text.decode() if isinstance(text, bytes) else text
        if text.count(HINGE) != 1:
            raise SystemExit(f"{start}: its configuration has no line `{HINGE.strip()}`")
        file.attrs["config"] = np.bytes_(text.replace(HINGE, HINGE_BEFORE))
    return path


def steps(experiment, method, detail, start, old=None):
    """The log of a method's steps; old: a source folder with a build that runs them on its own scene."""
    name, config, runner = f"{method}-{detail}", f"{method}.ini", experiment
    sets = {"run.detail": detail, "exec.threads": 1, "run.replay": start}
    if old:
        name = f"before-{name}"
        text = (experiment.folder / config).read_text().replace("../../configs", f"{old}/configs")
        config = experiment.out / f"before-{method}.ini"
        config.write_text(text)
        runner = copy.copy(experiment)
        runner.binary, runner.read = f"{old}/build/bin/loom", {}
        if not experiment.plan:
            start = state_for_old(experiment, start)
            sets["run.replay"] = start
    return runner.run(name, config, sets, [start])


# ---- numbers ----
def numbers(path, bytes_, detail):
    """Means over the steps; residuals and intersections of each."""
    with Log(path) as log:
        rows, its = log.table("steps"), log.table("iters")
    found = {p: float(rows[f"t_cpu_{p}"].mean()) for p in PHASES}
    found |= {"s": float(rows["t_cpu"].mean()), "iterations": float(rows["iters"].mean())}
    found |= {"contacts": float(rows["contacts"].mean()), "kB": bytes_ / 1e3 / vertices(detail)}
    found["pairs"] = float(np.mean([its["pairs"][its["step"] == k].max() for k in rows["step"]]))
    found["residual"] = rows["r_final"] / rows["r_ref"]
    found["end"] = rows["r_final"]
    found["intersections"] = int(rows["intersections"].max())
    return found


def first_iterations(path):
    """Newton's method up to its twelfth iteration, by the clocks of /iters."""
    with Log(path) as log:
        its = log.table("iters")
    its = its[(its["k"] < FIRST) & (its["stage"] != LAST)]
    last = [its[its["step"] == k][-1] for k in np.unique(its["step"])]
    found = {p: float(np.mean([row[f"t_cpu_{p}"] for row in last])) for p in PHASES}
    return found | {"s": float(np.mean([row["t_cpu"] for row in last])), "iterations": FIRST}


def line(name, of, found):
    cells = "".join(f"{found[p]:9.3f}" if p in found else f"{'-':>9}" for p in PHASES)
    text = f"{name:30}{of:10}{found['iterations']:11.1f}{found['s']:8.3f}{cells}"
    if "pairs" not in found:
        return text + (f"{'':18}{found['kB']:11.0f}" if found.get("kB") else "")
    median, worst = np.median(found["residual"]), found["residual"].max()
    return text + (f"{found['pairs']:8.0f}{found['contacts']:10.0f}{found['kB']:11.2f}"
                   f"  {median:7.2g}, {worst:6.2g}{found['intersections']:15d}")  # fmt: skip


def measured(method, detail):
    """The line of the older commit as it was measured then, None without one."""
    if (method, detail) not in MEASURED:
        return None
    s, phases, kb = MEASURED[method, detail]
    return {"s": s, "iterations": {"ndb": 60, "newton": FIRST, "bfgs": 30}[method], "kB": kb, **phases}


def told_state(path, detail):
    with Log(path) as log:
        rows, its = log.table("steps"), log.table("iters")
    share = rows["r_final"] / rows["r_ref"]
    return (f"{vertices(detail)} vertices; states: {len(rows)} steps of 30 iterations at most, "
            f"{np.mean(share <= 1e-2):.0%} of them end at a hundredth of r_ref, "
            f"the largest end is {share.max():.2g} r_ref, most pairs {its['pairs'].max()}, "
            f"intersections {rows['intersections'].max()}")  # fmt: skip


# ---- bars ----
def halves(now, old, method, detail):
    """Bounds on seconds, of the paired older run, or else of the numbers measured then."""
    told = old or measured(method, detail)
    rows = []
    if told is None or detail == 1:
        return rows
    name = f"{vertices(detail)} vertices, {NAMES[method]}"
    if method == "ndb":
        rows.append(Bar(f"{name}: seconds of a step", now["s"], told["s"] / 3, "s"))
    if "detect" in told:
        rows.append(Bar(f"{name}: seconds of detection in a step", now["detect"], told["detect"] / 2, "s"))
    return rows


def ends(now, old, name):
    """The end of every step, in m, is no farther than the older build's, which has another r_ref."""
    if not old:
        return NotMeasured(f"{name}: largest end residual over that of {OLD}", "no --before")
    return Bar(f"{name}: largest end residual over that before", float((now["end"] / old["end"]).max()), 1)


def iterations(path):
    """Seconds and residuals, m, of the iterations of each step."""
    with Log(path) as log:
        its = log.table("iters")
    its = its[(its["stage"] != LAST) & (its["k"] >= 0)]
    return {int(k): its[its["step"] == k][["t_cpu", "r_next_rms"]] for k in np.unique(its["step"])}


def to_same_residual(now, old):
    """Seconds of all steps before and now, each to the larger of the two last residuals of the step."""
    before = after = 0.0
    for k, rows in iterations(old).items():
        new = iterations(now)[k]
        end = max(rows["r_next_rms"][-1], new["r_next_rms"][-1])
        before += float(rows["t_cpu"][rows["r_next_rms"] <= end][0])
        after += float(new["t_cpu"][new["r_next_rms"] <= end][0])
    return before, after


def at_size(experiment, detail, before, lines):
    """Lines and bars of one size, and the seconds of an iteration of ndb_pd."""
    start = state(experiment, detail)
    lines += ["", told_state(start, detail), HEAD]
    rows, each = [], 0.0
    for method, name in NAMES.items():
        path = steps(experiment, method, detail, start)
        now = numbers(path, experiment.peak_bytes(path.stem), detail)
        lines.append(line(name, "now", now))
        old = None
        if before:
            other = steps(experiment, method, detail, start, before)
            old = numbers(other, experiment.peak_bytes(other.stem), detail)
            lines.append(line("", "before", old))
        where = f"{vertices(detail)} vertices, {name}"
        rows.append(Bar(f"{where}: intersections", now["intersections"], 0))
        if method == "newton":
            part = first_iterations(path)
            lines.append(line("  its first iterations", "now", part))
            rows += halves(part, None, method, detail)
            gain = f"{where}: seconds before over now, to one residual"
            rows.append(NotMeasured(gain, "no --before"))
            if old:
                before_s, now_s = to_same_residual(path, other)
                rows[-1] = Bar(gain, before_s / now_s, 1.4, least=True)
        else:
            rows += halves(now, old, method, detail)
        if method == "ndb":
            each = now["s"] / now["iterations"]
            rows.append(ends(now, old, where))
            if old:
                before_s, now_s = to_same_residual(path, other)
                rows.append(Bar(f"{where}: seconds to one residual over those before", now_s / before_s, 1 / 3))
            if detail >= 4:
                rows.append(Bar(f"{where}: peak memory a vertex", now["kB"], 6, "kB"))
        told = measured(method, detail)
        if told:
            lines.append(line("", OLD, told))
    return rows, each


def bars(experiment):
    details = experiment.options.pop("detail", (1, 2))
    before = experiment.options.pop("before", None)
    lines = [f"drape_self, steps {STEPS[0]} to {STEPS[-1]}: processor seconds of a step, one thread, means"]
    lines.append(f"{OLD}: as measured on 2026-11-26 beside other work; its phases: step {STEPS[-1]} alone")
    rows, each = [], {}
    for detail in details:
        more, each[detail] = at_size(experiment, detail, before, lines)
        rows += more
    if len(details) > 1:
        small, large = min(details), max(details)
        growth = np.log(each[large] / each[small]) / np.log(vertices(large) / vertices(small))
        rows.append(Bar("ndb_pd x ndb: exponent of seconds of an iteration over vertices", growth, 1.15))
    experiment.keep_text("speed-bars", lines)
    return rows


# ---- growth with the mesh ----
FALLS, GROWTH = range(6, 10), 1.15  # steps before the first fold; bound of the exponent of seconds an iteration
PLACES = {"flat": FALLS, "folds": STEPS}
SCALING = ("processor time of an iteration", "each", 1e3, "ms"), ("held pairs of a vertex", "held", 1, "")


def place_of(path, steps, bytes_, detail):
    """Means over the steps; bytes_: the largest memory of a run that ends with them."""
    with Log(path) as log:
        rows, its, more = log.table("steps"), log.table("iters"), log.table("iters_extra")
    rows = rows[np.isin(rows["step"], steps)]
    most = [[float(t[column][t["step"] == k].max()) for k in rows["step"]]
            for t, column in ((its, "pairs"), (more, "contact.all.held"))]  # fmt: skip
    n = vertices(detail)
    return {"each": float(rows["t_cpu"].sum() / rows["iters"].sum()), "s": float(rows["t_cpu"].mean()),
            "iterations": float(rows["iters"].mean()), "detect": float(rows["t_cpu_detect"].mean()),
            "pairs": float(np.mean(most[0])) / n, "held": float(np.mean(most[1])) / n, "kB": bytes_ / 1e3 / n,
            "residual": float(np.median(rows["r_final"] / rows["r_ref"])),
            "intersections": int(rows["intersections"].max())}  # fmt: skip


def exponents(found, column):
    """Between neighbouring sizes, and over all of them: text, number."""
    sizes = sorted(found)
    growth = [np.log(found[b][column] / found[a][column]) / np.log(vertices(b) / vertices(a))
              for a, b in (*zip(sizes, sizes[1:], strict=False), (sizes[0], sizes[-1]))]  # fmt: skip
    return ", ".join(f"{g:.2f}" for g in growth[:-1]), growth[-1]


def scaling(experiment):
    """One run for each size: its steps before the fold and in folds."""
    details = experiment.options.pop("detail", (1, 2))
    lines = ["ndb_pd x ndb, at most 30 iterations a step, one thread; flat: steps 6 to 9, folds: steps 36 to 40",
             "vertices  steps   iterations      s/step  ms/iteration  detection, s  pairs/vertex  held/vertex"
             "  kB/vertex  residual/r_ref  intersections"]  # fmt: skip
    found = {place: {} for place in PLACES}
    for detail in details:
        sets = {"run.detail": detail, "exec.threads": 1}
        for place, steps in PLACES.items():
            path = experiment.run(f"scaling-{place}-{detail}", "scaling.ini", sets | {"run.steps": steps[-1] + 1})
            if experiment.plan:
                continue
            of = found[place][detail] = place_of(path, steps, experiment.peak_bytes(path.stem), detail)
            lines.append(f"{vertices(detail):8d}  {place:6}{of['iterations']:12.1f}{of['s']:12.3f}{1e3 * of['each']:14.2f}"
                         f"{of['detect']:14.3f}{of['pairs']:14.2f}{of['held']:13.2f}{of['kB']:11.2f}"
                         f"{of['residual']:16.2g}{of['intersections']:15d}")  # fmt: skip
    if experiment.plan:
        return
    if len(details) > 1:
        for place, of in found.items():
            for column, name in (("each", "seconds of an iteration"), ("detect", "seconds of detection in a step"),
                                 ("pairs", "pairs of a vertex"), ("kB", "kB of a vertex")):  # fmt: skip
                between, whole = exponents(of, column)
                word = (" PASS" if whole <= GROWTH else " SHORT") if column == "each" else ""
                bound = f" (<= {GROWTH}){word}" if column == "each" else ""
                lines.append(f"{place}: exponent of {name}: {whole:.2f}{bound}, between sizes {between}")
    figure, axes = plain_axes(1, 2)
    for axis, (title, column, factor, unit) in zip(axes, SCALING, strict=True):
        for colour, (place, of) in zip(OKABE_ITO[4:], found.items(), strict=False):
            sizes = sorted(of)
            axis.loglog([vertices(d) for d in sizes], [factor * of[d][column] for d in sizes], "o-", color=colour,
                        markersize=4, label=place)  # fmt: skip
        axis.set(xlabel="vertices", ylabel=f"{title}{', ' + unit if unit else ''}")
        axis.legend()
    experiment.save(figure, "ndb-scaling", keep=True)
    experiment.keep_text("ndb-scaling", lines)


# ---- the second thread ----
REPEATS = 5  # of each method and number of threads, one after the other
GAINS = {"ndb": 1.7, "newton": 1.6}  # bounds of the wall time with one thread over that with two


def same_frames(paths):
    """1: the positions of all frames of the logs have the same bits."""
    frames = []
    for path in paths:
        with Log(path) as log:
            frames.append(log.file["frames/x"][:].tobytes())
    return len(set(frames)) == 1


def threads(experiment):
    """Wall seconds of the same steps with one and two threads, in turn."""
    (detail,) = experiment.options.pop("detail", (2,))
    start = state(experiment, detail)
    lines = [f"drape_self at {vertices(detail)} vertices, steps {STEPS[0]} to {STEPS[-1]}: wall seconds of a step with "
             f"one and two threads, medians of {REPEATS} runs",
             "method                          one thread  two threads    gain  gains of the pairs of runs  load"]  # fmt: skip
    rows = []
    for method, bound in GAINS.items():
        seconds, paths, loads = {1: [], 2: []}, [], []
        for repeat in range(REPEATS):
            for number in seconds:
                loads.append(os.getloadavg()[0])
                sets = {"run.detail": detail, "exec.threads": number, "run.replay": start}
                path = experiment.run(f"threads-{method}-{detail}-{number}-{repeat}", f"{method}.ini", sets, [start])
                if experiment.plan:
                    continue
                paths.append(path)
                with Log(path) as log:
                    seconds[number].append(float(log.table("steps")["t_total"].mean()))
        if experiment.plan:
            continue
        one, two = (float(np.median(seconds[number])) for number in (1, 2))
        pairs = ", ".join(f"{a / b:.2f}" for a, b in zip(*seconds.values(), strict=True))
        lines.append(f"{NAMES[method]:30}{one:12.3f}{two:13.3f}{one / two:8.2f}  {pairs:26}  {max(loads):.1f} at most")
        where = f"{vertices(detail)} vertices, {NAMES[method]}"
        rows.append(Bar(f"{where}: wall time with one thread over two", one / two, bound, least=True))
        rows.append(Bar(f"{where}: runs with other bits than the first", 0 if same_frames(paths) else 1, 0))
    if not experiment.plan:
        experiment.keep_text("speed-threads", lines)
    return rows


FIGURES = {
    "speed-threads": ("wall time of steps in rich folds with one and two threads, with bounds", threads),
    "speed-bars": ("steps in rich folds by phase, beside an older build, with bounds", bars),
    "ndb-scaling": ("seconds of an iteration, pairs and memory of ndb over the size, flat and in folds", scaling),
}
