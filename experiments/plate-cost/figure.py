"""Processor seconds of Newton's method with plates beside hinges of the same rigidity, runs taken in turn."""

import numpy as np
from loomcloth.experiment import Bar
from loomcloth.log import Log

RIGIDITY = 2.4e-5  # N m
ROUNDS = 3
BOUND = 1.6  # times the hinge
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


def measure(experiment, names):
    """{name: [(processor seconds, iterations, factorisations, steps not solved) of each round]}"""
    found = {name: [] for name in names}
    for k in range(ROUNDS):
        for name in names:
            with Log(experiment.run(f"{name}-{k + 1}", "fall.ini", ELEMENTS[name])) as log:
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


def ratios(found, name, per=None):
    """Seconds over the hinge's of the same round; per: of an iteration."""
    pairs = zip(found[name], found["hinge"], strict=True)
    return [(a[0] / (a[1] if per else 1)) / (b[0] / (b[1] if per else 1)) for a, b in pairs]


def cost(experiment):
    found = measure(experiment, list(ELEMENTS))
    lines = [
        "12 steps of a flat sheet of 10,201 vertices that meets a ball, to 1e-3, one thread,",
        f"{ROUNDS} rounds in turn.  Times the hinge: medians of the rounds, of a step and of an iteration.",
        "element   iterations  factorisations  not solved  step  iteration  seconds of each round",
    ]
    for name, rows in found.items():
        _, iterations, factorised, capped = rows[0]
        step, each = np.median(ratios(found, name)), np.median(ratios(found, name, per="iteration"))
        seconds = " ".join(f"{r[0]:.1f}" for r in rows)
        lines.append(f"{name:10}{iterations:10}{factorised:16}{capped:12}{step:6.2f}{each:11.2f}  {seconds}")
    experiment.keep_text("plate-cost", lines)


def bars(experiment):
    found = measure(experiment, ["hinge", "auto"])
    step, each = ratios(found, "auto"), ratios(found, "auto", per="iteration")
    return [
        Bar("seconds of a step with plates over hinges, median of the rounds", float(np.median(step)), BOUND),
        Bar("of an iteration", float(np.median(each)), BOUND),
    ]


FIGURES = {
    "plate-cost": (
        "processor seconds of Newton's method with plates beside hinges",
        cost,
    ),
    "plate-cost-bars": ("the same as bars; exit code 1 if one is missed", bars),
}
