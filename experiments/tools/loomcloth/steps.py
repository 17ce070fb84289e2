"""Numbers of the steps of a run: their length, full detections, outer loops."""

import numpy as np

from loomcloth.log import Log

LAST = -1  # /iters.stage of the row behind the last iteration


def full_detections(log):
    """Full detections of every step: one per filter (also the guess's), and the searches for pairs that a
    contact model counts itself (column `continuous`)."""
    steps, iters = log.table("steps"), log.table("iters")
    calls = np.zeros(len(steps), int)
    at = iters["step"] - steps["step"][0]
    np.add.at(calls, at[iters["filtered"] == 1], 1)
    extra = log.table("iters_extra")
    for name in extra.dtype.names:
        if name.startswith("contact.") and name.endswith(".continuous"):
            most = np.zeros(len(steps))
            np.maximum.at(most, at, np.nan_to_num(extra[name]))
            calls += most.astype(int)
    return calls


def steps_of(path):
    """Table of steps: iterations, full detections, outer loops, length, gap, intersections.

    Outer loops are filters behind iterations: requested ones, repairs, the last one.
    """
    names = ("iters", "calls", "outer", "length", "gap", "intersections")
    with Log(path) as log:
        steps, iters = log.table("steps"), log.table("iters")
        rows = np.zeros(len(steps), dtype=[(n, float) for n in names])
        rows["calls"] = full_detections(log)
    rows["length"] = 1.0
    rows["iters"], rows["gap"] = steps["iters"], steps["min_gap"]
    rows["intersections"] = steps["intersections"]
    for row, s in zip(rows, steps, strict=True):
        mine = iters[iters["step"] == s["step"]]
        row["outer"] = np.sum((mine["filtered"] == 1) & (mine["k"] >= 0))
        if mine[-1]["stage"] == LAST:
            row["length"] = mine[-1]["alpha"]
    return rows


def intersections(steps):
    """Of all steps together; NaN, which meets no bound, if some step was not audited (-1)."""
    found = steps["intersections"]
    return found.sum() if (found >= 0).all() else np.nan
