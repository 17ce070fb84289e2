"""Scenes of growing contact by three methods, every step from the same state."""

from functools import partial
from typing import NamedTuple

import numpy as np

from loomcloth.errors import LogError
from loomcloth.experiment import Bar, NotMeasured
from loomcloth.log import Log

# Steps until cloth touches cloth; the next ones are compared.
SCENES = {"drape_self": 60, "stack_sphere": 60, "twist": 200, "knot": 560, "tshirt": 30}

NEWTON = ("Newton, CG", "Newton")
PRINTED_FORMS = ("splitting", "as printed")
TOO_DEAR = (*NEWTON, *PRINTED_FORMS)  # at the largest sizes


class Level(NamedTuple):
    text: str
    detail: int  # [run] detail
    way: str  # the method with the states from which all step: Newton's takes days to the states of the larger scenes
    steps: int  # that are compared
    scenes: tuple = tuple(SCENES)
    left_out: tuple = ()  # methods that take too long there
    earlier: int = 0  # so many steps sooner, when cloth touches bodies alone


LEVELS = {
    "": Level("2,500 vertices", 1, "newton", 5),
    "-own": Level("2,500 vertices, from states of pd_bfgs", 1, "pd_bfgs", 5),
    "-10k": Level("10,000 vertices", 2, "pd_bfgs", 3),
    "-40k": Level("40,000 vertices", 4, "pd_bfgs", 2, ("drape_self", "stack_sphere")),
    "-40k-twist": Level("40,000 vertices", 4, "pd_bfgs", 2, ("twist",)),
    "-40k-knot": Level("40,000 vertices", 4, "pd_bfgs", 2, ("knot",)),
    "-40k-shirt": Level("40,000 vertices", 4, "pd_bfgs", 2, ("tshirt",), PRINTED_FORMS),
    "-90k": Level("90,000 vertices", 6, "pd_bfgs", 2, ("drape_self",), TOO_DEAR, 32),
}

# d_hat and thickness are to stay below the height of a triangle.
THINNER = {
    ("twist", 4): {"cloth.strip.thickness": 0.001},
    ("knot", 4): {"contact.all.d_hat": 0.0005},
    ("tshirt", 4): {"cloth.shirt.thickness": 0.001},
    ("drape_self", 6): {"cloth.sheet.thickness": 0.001},
}

PRINTED = {"contact.all.correction": "splitting"}
METHODS = {  # beside configs/SCENE_pd_bfgs.ini; everything else is the same: gap, tolerance, limit
    "pd_bfgs": {},
    "splitting": PRINTED,
    "as printed": PRINTED | {"solver.momentum": "none", "solver.guess": "reduced"},
    "Newton, CG": {"solver.plugin": "pcg_newton", "filter.when": "every"},
    "Newton": {"solver.plugin": "cholmod_newton", "filter.when": "every"},
    "pd_ipc": {
        "solver.plugin": "ndb_pd",
        "solver.subspace": "none",
        "solver.smoother": "chebyshev",
        "solver.sweeps": 15,
        "solver.warm": 0,
        "solver.momentum": "none",
        "contact.all.plugin": "pd_ipc",
        "filter.when": "every",
    },
}
LIMIT = {"stop.max_iters": 100}
BARRIER = ("pd_bfgs", "splitting", "as printed", "Newton, CG", "Newton")


def first(scene, level):
    """The first step that is compared."""
    return SCENES[scene] - level.earlier


def common(scene, level):
    sets = {"exec.threads": 1, "log.frames_every": 1, "run.detail": level.detail}
    return sets | THINNER.get((scene, level.detail), {})


def way_there(experiment, scene, level):
    """Newton's method to a tolerance of 1e-3, or pd_bfgs to that of the comparison."""
    by = "" if level.way == "newton" else "_pd_bfgs"
    sets = common(scene, level) | {"run.steps": first(scene, level) + level.steps} | (LIMIT if by else {})
    return experiment.run(f"{scene}{by}-{level.detail}", f"../../configs/{scene}{by}.ini", sets)


def stiffness(path, step):
    """Of the barrier, N/m, as the run had found it by then: the state of the model, which other settings of its
    correction cannot take over."""
    with Log(path) as log:
        rows = log.table("iters_extra")
    kappa = rows["contact.all.kappa"][rows["step"] == step]
    known = kappa[np.isfinite(kappa)]
    if not len(known):  # of a run that was cut off, which --plan looks at
        raise LogError(f"{path} has no step {step} yet")
    return float(known[-1])


def compared(experiment, scene, level, method):
    ref = way_there(experiment, scene, level)
    sets = common(scene, level) | LIMIT | {"run.replay": ref, "run.replay_first": first(scene, level), "run.steps": level.steps}
    if method in BARRIER:
        sets |= {"run.replay_state": "fresh", "contact.all.stiffness": stiffness(ref, first(scene, level) - 1)}
    name = f"{scene}-{level.detail}-{level.way}-{method.replace(', ', '-').replace(' ', '-')}"
    return experiment.run(name, f"../../configs/{scene}_pd_bfgs.ini", sets | METHODS[method], inputs=[ref])


def own_time(steps):
    """Processor seconds, without measuring and recording."""
    return sum(steps[f"t_cpu_{phase}"] for phase in ("solve", "filter", "contact", "detect"))


def ways(log):
    """Energy of the whole problem after each iteration of each step, J; the last one where the step ends."""
    rows = log.table("iters")
    return [rows[rows["step"] == k]["e_total"] for k in np.unique(rows["step"])]


def to_the_same(of, method, newton):
    """Seconds that Newton's method takes to the energy that a method's step ends with, of the mean step, and the
    number of steps in which its own end is higher: counted whole."""
    seconds, above = [], 0
    for way, end, whole in zip(of[newton]["ways"], of[method]["ways"], of[newton]["each"]):
        there = np.nonzero(way <= end[-1])[0]
        above += len(there) == 0
        share = there[0] / max(len(way) - 1, 1) if len(there) else 1.0
        seconds.append(share * whole)
    return np.mean(seconds), above


def measured(experiment, scene, level, method):
    with Log(compared(experiment, scene, level, method)) as log:
        steps = log.table("steps")
        return {
            "vertices": len(log.scene("mass")),
            "each": own_time(steps),
            "seconds": own_time(steps).mean(),
            "iters": steps["iters"].mean(),
            "capped": int(np.sum(steps["reason"] == 2)),
            "contacts": steps["contacts"].mean(),
            "hits": int(np.nansum(steps["intersections"])),
            "ways": ways(log),
        }


def rows(experiment, level):
    for scene in level.scenes:
        methods = [m for m in METHODS if m not in level.left_out]
        yield scene, {m: measured(experiment, scene, level, m) for m in methods}


def excess(of, m):
    """Energy at the end of a step above the least that any method came to, in parts of that at the core's guess;
    median over the steps. Without Newton's method the least is unknown."""
    newton = next((n for n in NEWTON if n in of), None)
    if newton is None:
        return np.nan
    ends = np.array([[way[-1] for way in other["ways"]] for other in of.values()])
    least = np.nanmin(ends, axis=0)
    start = np.array([way[0] for way in of[newton]["ways"]])
    return np.median((np.array([way[-1] for way in m["ways"]]) - least) / (start - least))


def table(experiment, level, name):
    lines = [f"{'scene':14}{'vertices':>9}{'contacts':>9}  {'method':12}{'s/step':>9}{'iters':>7}"
             f"{'capped':>7}{'inters.':>8}{'excess':>10}   Newton's s to its energy: CG, Cholesky"]
    for scene, of in rows(experiment, level):
        for method, m in of.items():
            text = f"{excess(of, m):10.1e} "
            if method not in NEWTON and np.isfinite(m["ways"][0][-1]):
                for newton in (n for n in NEWTON if n in of):
                    same, above = to_the_same(of, method, newton)
                    text += f"{same:12.3f}" + (f" ({above} not reached)" if above else "")
            lines.append(
                f"{scene:14}{m['vertices']:9d}{m['contacts']:9.0f}  {method:12}{m['seconds']:9.3f}"
                f"{m['iters']:7.1f}{m['capped']:5d}/{level.steps}{m['hits']:8.0f}{text}"
            )
    experiment.keep_text(name, lines)


def limits(of, methods, level):
    """Which of the methods ended steps at the limit of iterations, as a bar's name says it."""
    capped = [f"{m} in {of[m]['capped']} of {level.steps} steps" for m in methods if of[m]["capped"]]
    return f" (at the limit of iterations: {', '.join(capped)})" if capped else ""


AS_PRINTED = "as printed"
WHY_PRINTED = "its correction knows no elasticity and counts contact again, README.md: little or no energy is gained"


def bars(experiment, level):
    out, factors = [], []
    what = {"Newton, CG": "seconds of pcg_newton to the energy of pd_bfgs, times its own", "Newton": "the same of cholmod_newton"}
    cause = "a split step ends with more energy, and Newton's method is there after few iterations, README.md"
    for scene, of in rows(experiment, level):
        mine = of["pd_bfgs"]["seconds"]
        size = f"{scene}, {of['pd_bfgs']['vertices']} vertices"
        for newton in NEWTON:
            if newton not in of:
                out.append(NotMeasured(f"{size}: {what[newton]}", "a step of it takes too long, README.md"))
                continue
            times = to_the_same(of, "pd_bfgs", newton)[0] / mine
            out.append(Bar(f"{size}: {what[newton]}{limits(of, ('pd_bfgs', newton), level)}", times, 1, least=True, cause=cause))
            if newton == "Newton, CG":
                factors.append(times)
            if AS_PRINTED in of:
                printed = to_the_same(of, AS_PRINTED, newton)[0] / of[AS_PRINTED]["seconds"]
                name = f"{size}: {what[newton]}, the step {AS_PRINTED}"
                out.append(Bar(name + limits(of, (AS_PRINTED, newton), level), printed, 1, least=True, cause=WHY_PRINTED))
        out.append(Bar(f"{size}: intersections, all methods", sum(m["hits"] for m in of.values()), 0))
    if len(factors) > 1:
        many = sum(f >= 5 for f in factors)
        out.append(Bar("scenes in which pcg_newton takes at least five times as long", many, 2, least=True))
    return out


FIGURES = {}
for suffix, its in LEVELS.items():
    scenes = "a scene" if len(its.scenes) == 1 else f"{len(its.scenes)} scenes"
    methods = "pd_bfgs and PD-IPC" if its.left_out else "pd_bfgs, Newton's method and PD-IPC"
    figure, what = f"pdbfgs-scenes{suffix}", f"{scenes} by {methods}, {its.text}"
    FIGURES[figure] = (f"{what}: seconds per step", partial(table, level=its, name=figure))
    FIGURES[f"{figure}-bars"] = (f"{what}, against their bounds", partial(bars, level=its))
