"""Processor seconds of Newton's method with plates beside hinges of the same rigidity, runs taken in turn."""

import numpy as np
from loomcloth.experiment import Bar
from loomcloth.log import Log

RIGIDITY = 2.4e-5  # N m
ROUNDS = {"fall": 3, "folds": 1}  # a step in folds takes as long as six of the fall
FOLDED = 36  # step
CAUSE = "12 vertices couple in place of 4: twice the blocks, and more attempts to factorise while the sheet is compressed"
BOUND, PROJECTIVE = (
    1.6,
    1.3,
)  # times the hinge, of Newton's step and of a projective one
ELEMENTS = {
    "hinge": {"cloth.sheet.model": "arap+isometric", "cloth.sheet.k_b": RIGIDITY / 2.4},
    "auto": {"cloth.sheet.model": "arap+plate", "cloth.sheet.bending": RIGIDITY},
    "exact": {
        "cloth.sheet.model": "arap+plate",
        "cloth.sheet.bending": RIGIDITY,
        "solver.plates": "exact",
    },
    "narrow": {
        "cloth.sheet.model": "arap+plate",
        "cloth.sheet.bending": RIGIDITY,
        "solver.plates": "narrow",
    },
}


def settings(element, start):
    """Of a run; start: the log in whose last frame it begins, none for the fall."""
    sets = dict(ELEMENTS[element])
    if start is not None:
        sets |= {"run.start_log": start, "run.start_frame": FOLDED}
        if element != "hinge":
            sets["cloth.sheet.k_b"] = ""  # the scene's
    return sets


def measure(experiment, scene, names):
    """{name: [(processor seconds, iterations, factorisations, steps not solved) of each round]}"""
    found = {name: [] for name in names}
    start = experiment.run("state", "state.ini") if scene == "folds" else None
    for k in range(ROUNDS[scene]):
        for name in names:
            sets, inputs = settings(name, start), [start] if start else []
            with Log(experiment.run(f"{scene}-{name}-{k + 1}", f"{scene}.ini", sets, inputs)) as log:
                steps, its = log.table("steps"), log.table("iters_extra")["factorised"]
                capped = int((steps["r_final"] > 1e-3 * steps["r_ref"]).sum())
                found[name].append(
                    (
                        float(steps["t_cpu"].sum()),
                        int(steps["iters"].sum()),
                        int(np.nansum(its)),
                        capped,
                    )
                )
    return found


def projective(experiment):
    """Processor seconds of a step of the projective solver that makes the state: plates of a constant matrix, hinges."""
    seconds = []
    for name, sets in (
        ("state", {}),
        ("state-hinge", ELEMENTS["hinge"] | {"cloth.sheet.bending": ""}),
    ):
        with Log(experiment.run(name, "state.ini", sets)) as log:
            seconds.append(float(log.table("steps")["t_cpu"].mean()))
    return seconds


def ratios(found, name, per=None):
    """Seconds over the hinge's of the same round; per: of an iteration."""
    pairs = zip(found[name], found["hinge"], strict=True)
    return [(a[0] / (a[1] if per else 1)) / (b[0] / (b[1] if per else 1)) for a, b in pairs]


def cost(experiment):
    lines = [
        "Newton's method on a sheet of 10,201 vertices, to 1e-3, one thread; rounds in turn.",
        "fall: 12 steps, the flat sheet meets a ball; folds: 2 steps, its corners hang in folds.",
        "Times the hinge: medians of the rounds, of a step and of an iteration.",
        "scene element   iterations  factorisations  not solved  step  iteration  seconds of each round",
    ]
    for scene in ROUNDS:
        found = measure(experiment, scene, list(ELEMENTS))
        for name, rows in found.items():
            _, iterations, factorised, capped = rows[0]
            step, each = (
                np.median(ratios(found, name)),
                np.median(ratios(found, name, per="iteration")),
            )
            seconds = " ".join(f"{r[0]:.1f}" for r in rows)
            lines.append(
                f"{scene:6}{name:10}{iterations:10}{factorised:16}{capped:12}{step:6.2f}{each:11.2f}  {seconds}"
            )
    plate, hinge = projective(experiment)
    lines.append(
        f"ndb_pd, at most 30 iterations a step, {FOLDED} steps from the start: {plate:.2f} s a step with plate_quadratic, "
        f"{hinge:.2f} with hinges, {plate / hinge:.2f} times"
    )
    experiment.keep_text("plate-cost", lines)


def bars(experiment):
    plate, hinge = projective(experiment)
    found = [
        Bar(
            "seconds of a projective step, plate_quadratic over hinges",
            plate / hinge,
            PROJECTIVE,
        )
    ]
    for scene, place in (
        ("folds", "in folds"),
        ("fall", "of the flat sheet that meets the ball"),
    ):
        rows = measure(experiment, scene, ["hinge", "auto"])
        step = float(np.median(ratios(rows, "auto")))
        found.append(Bar(f"seconds of a step {place}, plates over hinges, median of the rounds", step, BOUND,
                         cause=CAUSE))  # fmt: skip
    return found


FIGURES = {
    "plate-cost": (
        "processor seconds of Newton's method with plates beside hinges",
        cost,
    ),
    "plate-cost-bars": ("the same as bars; exit code 1 if one is missed", bars),
}
