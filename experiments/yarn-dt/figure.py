"""The longest stable step of yarns against their bending stiffness."""

import numpy as np

from loomcloth.experiment import FigureError, plain_axes
from loomcloth.log import Log

STIFFNESS = (1e-9, 5e-9, 2e-8, 1e-7, 4e-7, 2e-6)  # N m^2; 2e-8: 20 dyn cm^2
FACTORS = 2 ** np.arange(-2.0, 2.01, 0.25)  # steps tried, over the rule's
SPAN = 0.03  # s
SPEED = 3.0  # m/s; it falls with 0.6 m/s


def rule(experiment, stiffness):
    """s: 0.5 l^2 sqrt(rho/k_b), the least of all vertices, from the lengths in a log."""
    path = experiment.run("lengths", "swatch.ini", {"run.steps": 1})
    with Log(path) as log:
        length, mass = log.scene("yarns/length"), log.scene("mass")
    joint = 0.5 * (length[:-1] + length[1:])
    rho = mass[1:-1] / joint
    return float(np.min(0.5 * np.minimum(length[:-1], length[1:]) ** 2 * np.sqrt(rho / stiffness)))


def stable(experiment, stiffness, step):
    sets = {
        "yarn.swatch.bending": f"{stiffness:g}",
        "yarn.swatch.twisting": f"{stiffness:g}",
        "run.dt": f"{step:.6g}",
        "run.steps": int(np.ceil(SPAN / step)),
    }
    try:
        path = experiment.run(f"k{stiffness:g}-h{step:.3e}", "swatch.ini", sets)
    except FigureError as error:
        if str(error).endswith("code 1"):  # positions are no numbers any more
            return False
        raise
    with Log(path) as log:
        rows = log.table("steps")
        mass = log.scene("mass").sum()
    speed = np.sqrt(2 * rows["e_kinetic"] / mass)
    return bool(np.isfinite(speed).all() and speed.max() < SPEED)


def limits(experiment, stiffness):
    """The rule's step, the longest one found stable and the shortest one that was not."""
    base = rule(experiment, stiffness)
    good, bad = np.nan, np.nan
    for factor in FACTORS:
        if stable(experiment, stiffness, base * factor):
            good = base * factor
        else:
            bad = base * factor
            break
    return base, good, bad


def acl_dt(experiment):
    rows = np.array([limits(experiment, k) for k in STIFFNESS])
    for k, (base, good, bad) in zip(STIFFNESS, rows):
        print(f"k_b {k:g} N m^2: rule {base:.3g} s, stable {good:.3g} s, not stable {bad:.3g} s")
    figure, axes = plain_axes()
    axes.loglog(STIFFNESS, rows[:, 0], color="#444444", label="rule, 0.5 l² √(ρ/k)")
    axes.loglog(STIFFNESS, rows[:, 1], "o", color="#0072B2", label="stable")
    axes.loglog(STIFFNESS, rows[:, 2], "x", color="#D55E00", label="not stable")
    axes.set_xlabel("bending stiffness, N m²")
    axes.set_ylabel("step, s")
    axes.set_title("64 loops on the floor, 0.03 s")
    axes.legend()
    experiment.save(figure, "acl-dt", keep=True)


FIGURES = {"acl-dt": ("longest stable step of yarns against bending stiffness", acl_dt)}
