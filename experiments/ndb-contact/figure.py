"""The non-distance barrier: iterations and full detections against the distance barrier, capped
iterations with residual forwarding, and the pairs that partial detection finds."""

import csv

import numpy as np

from loomcloth.experiment import Bar, plain_axes
from loomcloth.log import Log
from loomcloth.steps import intersections, steps_of

SAMPLES = ("1", "3", "6")
CAPS = (50, 25, 5)
MODES = ("off", "paper", "corrected", "iterate")
SOLVES = {"paper": 1, "corrected": 3}  # iterations that find delta
COLOURS = ("#666666", "#D55E00", "#0072B2", "#009E73")
SETS = ("1", "3", "6", "P", "P+1", "P+3", "P+6", "adaptive")
FAMILIES = ("cloth", "half", "full")
WHY_ONE_SOLVE = (
    "one more iteration finds a small part of what five of some hundred left undone (three find more, see "
    "corrected); since steps are repaired the run without forwarding is nearer itself, 0.34 of the travel "
    "instead of 0.38"
)


# A barrier doubles its stiffness at gaps below the least gap of ndb.ini, where it would jam.
NO_GAP = {"filter.min_gap": 0}
NEWTON = {
    "solver.plugin": "cholmod_newton", "contact.all.plugin": "ipc_barrier", "filter.when": "every",
    "stop.tol_abs": 1e-7, "stop.max_iters": 100, **NO_GAP,
}


# ---- runs ----
def kinetic(path):
    with Log(path) as log:
        return log.file["steps"]["e_kinetic"][:]


def frames(path):
    with Log(path) as log:
        return log.file["frames/x"][:]


# ---- twisting: NDB against DBB ----
def twists(experiment, cap=None, rules=False):
    """The gap rule and DBB, with `rules` the others of NDB between them."""
    extra = {"stop.max_iters": cap} if cap else {}
    tag = f"_{cap}" if cap else ""
    runs = {"gap": experiment.run(f"twist_gap{tag}", "twist.ini", extra)}
    if rules:
        runs["literal"] = experiment.run("twist_literal", "twist.ini", {"contact.all.growth": "literal"})
        for n in SAMPLES:
            sets = {"contact.all.growth": "partial", "contact.all.samples": n}
            runs[n] = experiment.run(f"twist_{n}", "twist.ini", sets)
    runs["dbb"] = experiment.run(f"twist_dbb{tag}", "twist.ini", extra | {"contact.all.plugin": "dbb"} | NO_GAP)
    return runs


def draw_twist(experiment):
    figure, axes = plain_axes(1, 2)
    labels = {"gap": "NDB, gap rule", "literal": "NDB, as printed", "dbb": "DBB"}
    labels |= {n: f"NDB, {n} samples alone" for n in SAMPLES}
    styles = {"gap": "-", "literal": "-.", "dbb": "--"}
    for name, path in twists(experiment, rules=True).items():
        t = steps_of(path)
        axes[0].plot(t["iters"], styles.get(name, ":"), label=labels[name])
        axes[1].plot(t["calls"], styles.get(name, ":"), label=labels[name])
    axes[0].set(xlabel="step", ylabel="iterations", ylim=(0, None))
    axes[1].set(xlabel="step", ylabel="full detections", yscale="log")
    axes[0].legend()
    experiment.save(figure, "ndb-fig8-9", keep=True)


# ---- caps and forwarding ----
def pots(experiment):
    runs = {"newton": experiment.run("pot_newton", "pot.ini", NEWTON)}
    for cap in CAPS:
        for mode in MODES:
            sets = {"stop.max_iters": cap, "run.forwarding": mode}
            if mode in SOLVES:
                sets["run.forwarding_iters"] = SOLVES[mode]
            runs[cap, mode] = experiment.run(f"pot_{cap}_{mode}", "pot.ini", sets)
    return runs


def pot_errors(experiment):
    """Mean distance to Newton's run over its mean travel, and ratio of kinetic energies."""
    runs = pots(experiment)
    ref, energy = frames(runs["newton"]), kinetic(runs["newton"])
    travel = np.linalg.norm(ref[1:] - ref[0], axis=-1).mean()
    table = {}
    for cap in CAPS:
        for mode in MODES:
            x = frames(runs[cap, mode])
            error = np.linalg.norm(x[1:] - ref[1:], axis=-1).mean() / travel
            table[cap, mode] = error, kinetic(runs[cap, mode]).sum() / energy.sum()
    return table, runs


def compare_pots(experiment, runs):
    """`loom compare` of Newton's run with the runs of both barriers, at the highest cap."""
    sets = {"contact.all.plugin": "dbb", "filter.when": "every", "stop.max_iters": CAPS[0], **NO_GAP}
    dbb = experiment.run(f"pot_{CAPS[0]}_dbb", "pot.ini", sets)
    lines = []
    for name, path in (("NDB", runs[CAPS[0], "off"]), ("DBB", dbb)):
        lines += [f"{name}, at most {CAPS[0]} iterations a step, beside Newton and IPC",
                  *(f"  {line}" for line in experiment.compare(runs["newton"], path))]
    experiment.keep_text("ndb-fig10", lines)


def draw_pot(experiment):
    table, runs = pot_errors(experiment)
    compare_pots(experiment, runs)
    figure, axes = plain_axes(1, 2)
    for i, (mode, colour) in enumerate(zip(MODES, COLOURS)):
        at = np.arange(len(CAPS)) + 0.2 * (i - 1.5)
        for ax, k in ((axes[0], 0), (axes[1], 1)):
            ax.bar(at, [table[c, mode][k] for c in CAPS], 0.18, color=colour, label=mode)
    for ax in axes:
        ax.set_xticks(range(len(CAPS)), [str(c) for c in CAPS])
        ax.set_xlabel("iterations per step")
    axes[0].set_ylabel("error / travel, against Newton and IPC")
    axes[1].set_ylabel("kinetic energy / that of Newton and IPC")
    axes[0].legend(title="forwarding")
    experiment.save(figure, "ndb-fig10", keep=True)


# ---- the trigger, a budget of time ----
FINER = {"cloth.sheet.resolution": "31 31"}
TRIGGER = 0.5  # a step is short if a bound leaves at most this share of its way
WAYS = {"off": {}, "each step": {"run.forwarding": "paper", "run.forwarding_iters": 1}}
WAYS["short steps"] = WAYS["each step"] | {"run.forwarding_below": TRIGGER}
LIMITS = {
    "16 ms": {"stop.cpu_budget_ms": 16, "stop.max_iters": 1000},
    "33 ms": {"stop.cpu_budget_ms": 33, "stop.max_iters": 1000},
    "5 iterations": {"stop.max_iters": 5},
    "5, no repairs": {"stop.max_iters": 5, "filter.repairs": 0},
    "10, no repairs": {"stop.max_iters": 10, "filter.repairs": 0},
}


def short_steps(path):
    """Steps of which the bound at their end left at most TRIGGER, and the smallest share."""
    share = steps_of(path)["length"]
    return int(np.sum(share <= TRIGGER)), share.min()


def triggered(experiment):
    """The pot with 961 vertices under limits of a step: forwarding in each step, or after short steps."""
    ref = experiment.run("pot_fine_newton", "pot.ini", FINER | NEWTON)
    right, energy = frames(ref), kinetic(ref).sum()
    travel = np.linalg.norm(right[1:] - right[0], axis=-1).mean()
    rest = unrest(right)
    lines = [f"a sheet of 31 x 31 vertices on a pot, 40 steps of 10 ms, eq. 24 as printed; short: the bound at the end left at most {TRIGGER}",
             f"{'limit of a step':16}{'forwarding':13}{'iterations':>11}{'short':>7}{'least share':>13}"
             f"{'error/travel':>14}{'energy':>8}{'unrest':>8}{'intersections':>15}"]
    for limit, bound in LIMITS.items():
        for way, sets in WAYS.items():
            name = f"pot_fine_{limit}_{way}".replace(", ", "_").replace(" ", "_")
            path = experiment.run(name, "pot.ini", FINER | bound | sets)
            x, steps = frames(path), steps_of(path)
            short, least = short_steps(path)
            error = np.linalg.norm(x[1:] - right[1:], axis=-1).mean() / travel
            lines.append(f"{limit:16}{way:13}{steps['iters'].mean():11.1f}{short:7d}{least:13.2g}{error:14.3f}"
                         f"{kinetic(path).sum() / energy:8.2f}{unrest(x) / rest:8.2f}{intersections(steps):15.0f}")
    experiment.keep_text("ndb-forwarding", lines)


def unrest(x):
    """Second differences of all vertices from frame to frame, rms."""
    return np.sqrt(np.mean(np.diff(x, 2, axis=0) ** 2))


# ---- growth ----
def without_growth(experiment):
    """The pot with weights that grow, or not; no repairs, which would open pairs that stay closed."""
    sets = {"contact.all.w0": 1e-4, "filter.repairs": 0, "stop.max_iters": 60}
    return {base: experiment.run(f"lock_{base}", "pot.ini", sets | {"contact.all.growth_base": base})
            for base in (1, 2)}


# ---- steps that are cut ----
def cuts(experiment):
    """A sheet that swings down, every fifth step cut to a tenth: (error, energy) by mode."""
    plugins = experiment.build("fx_cut") / "tests/plugins/cut"
    sets = {"exec.plugin_path": plugins, "run.forwarding_iters": 5}
    ref = experiment.run("cut_reference", "cut.ini",
                         sets | {"collision.cut.share": 1, "stop.max_iters": 400})
    x0, energy = frames(ref), kinetic(ref).sum()
    travel = np.linalg.norm(x0[1:] - x0[0], axis=-1).mean()
    found = {}
    for mode in MODES:
        path = experiment.run(f"cut_{mode}", "cut.ini", sets | {"run.forwarding": mode})
        error = np.linalg.norm(frames(path)[1:] - x0[1:], axis=-1).mean() / travel
        found[mode] = error, kinetic(path).sum() / energy
    return found


def forwarding_bars(experiment):
    table, cut = pot_errors(experiment)[0], cuts(experiment)
    none = cut["off"][0]
    return [
        Bar("steps cut to a tenth: error of corrected against none", cut["corrected"][0] / none, 0.7),
        Bar("steps cut to a tenth: kinetic energy of corrected against converged",
            cut["corrected"][1], 1.5),
        Bar("steps cut to a tenth: kinetic energy of 2 delta as printed against converged (shown)",
            cut["paper"][1], 4, least=True),
        Bar("pot, 5 iterations: error of 2 delta, of one solve, against none",
            table[5, "paper"][0] / table[5, "off"][0], 0.75, cause=WHY_ONE_SOLVE),
        Bar("pot, 5 iterations: error of corrected, of three solves, against none",
            table[5, "corrected"][0] / table[5, "off"][0], 0.75),
    ]


# ---- partial detection ----
def partial(experiment):
    path = experiment.program("bench_partial", [20000], "bench_partial.csv")
    with open(path) as f:
        rows = list(csv.DictReader(f))
    return {
        (r["kind"], r["family"], r["samples"]): tuple(float(r[c]) for c in ("recall", "alarms", "cheaper"))
        for r in rows
    }


def draw_partial(experiment):
    table = partial(experiment)
    figure, axes = plain_axes(1, 3)
    texts = ("recall", "false alarms", "times cheaper than full detection")
    for f, (family, colour) in enumerate(zip(FAMILIES, COLOURS[1:])):
        at = np.arange(len(SETS)) + 0.25 * (f - 1)
        for k, ax in enumerate(axes):
            both = [np.mean([table[kind, family, s][k] for kind in ("vt", "ee")]) for s in SETS]
            ax.bar(at, both, 0.23, color=colour, label=family)
            ax.set(ylabel=texts[k], xlabel="sample points (P: projection)")
            ax.set_xticks(range(len(SETS)), SETS, rotation=30)
    axes[0].legend(title="motion")
    experiment.save(figure, "ndb-partial-ccd", keep=True)


# ---- bars ----
def bars(experiment):
    free = {k: steps_of(p) for k, p in twists(experiment).items()}
    ndb, dbb = free["gap"], free["dbb"]
    capped = {k: steps_of(p) for k, p in twists(experiment, 20).items()}
    lock = {base: steps_of(path) for base, path in without_growth(experiment).items()}
    runs = pots(experiment)
    dirty = sum(intersections(steps_of(p)) for p in runs.values())
    dirty += sum(intersections(t) for t in (ndb, *capped.values()))
    seen = partial(experiment)
    return [
        Bar("twist: steps of full length", np.mean(ndb["length"] == 1.0), 0.95, least=True),
        Bar("twist: shortest step", ndb["length"].min(), 0.1, least=True),
        Bar("twist: full detections over outer loops", np.max(ndb["calls"] - ndb["outer"]), 2),
        # the rule as printed, which does not converge after the first contact, is above 1
        Bar("twist: iterations against DBB", ndb["iters"].mean() / dbb["iters"].mean(), 0.5),
        Bar("twist, 20 iterations: full detections against DBB",
            capped["gap"]["calls"].sum() / capped["dbb"]["calls"].sum(), 0.25),
        Bar("intersections in all runs", dirty, 0),
        Bar("without growth: share of the pot's steps that are cut", np.mean(lock[1]["length"] < 1), 0.5,
            least=True),
        Bar("without growth: shortest step", lock[1]["length"].min(), 1e-3),
        Bar("with growth, the same: shortest step", lock[2]["length"].min(), 0.1, least=True),
        *forwarding_bars(experiment),
        Bar("partial detection: least recall, centre and projection",
            min(seen[kind, f, "P+1"][0] for kind in ("vt", "ee") for f in FAMILIES), 0.85, least=True),
        Bar("partial detection: most false alarms, half the way",
            max(seen[kind, "half", "P+1"][1] for kind in ("vt", "ee")), 0.4),
    ]


FIGURES = {
    "ndb-fig8-9": ("twisting: iterations and full detections per step, NDB against DBB", draw_twist),
    "ndb-fig10": ("capped iterations with residual forwarding against converged Newton and IPC", draw_pot),
    "ndb-forwarding": ("forwarding after short steps alone, and under a budget of 16 and 33 ms", triggered),
    "ndb-partial-ccd": ("partial detection: recall, false alarms, cost", draw_partial),
    "ndb-contact-bars": ("numbers of the three with bounds", bars),
}
