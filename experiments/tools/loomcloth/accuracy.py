"""Costs of each method to the same accuracy: from convergence curves to numbers that can be compared."""

from __future__ import annotations

import numpy as np
import pandas as pd

from loomcloth.errors import LogError

CLOCKS = ("t_cpu", "t_total")
# Measures of the distance of an iterate from the solution; framework/doc/measuring.md says which compare.
MEASURES = ("e_ref", "r_energy", "r_next_rms", "r_solved_rms", "r_dinv", "own_res")


def residual(it: pd.DataFrame) -> pd.Series:
    """The residual in metres of the problem as it stands (r_next_rms), and where an iteration was not
    measured with contact live, of the problem it worked on (r_solved_rms)."""
    return it["r_next_rms"].where(it["r_next_rms"].notna(), it["r_solved_rms"]).rename("residual")


def energy_error(it: pd.DataFrame) -> pd.Series:
    """E - E* in J: E* is the least energy of any run for the same problem, contact settings and step.
    It means something only where the steps start from the same states, as in a replay."""
    least = it.groupby(["problem", "contact", "step"])["e_total"].transform("min")
    return (it["e_total"] - least).rename("energy")


def _measure(it: pd.DataFrame, name: str) -> pd.Series:
    if name == "energy":
        return energy_error(it)
    if name == "residual":
        return residual(it)
    if name not in it.columns:
        raise LogError(f"there is no column '{name}'; known: energy, residual, {', '.join(MEASURES)}")
    if it[name].isna().all():
        raise LogError(f"'{name}' is NaN in every row: " + (
            "record a reference and replay it ([run] replay)" if name == "e_ref"
            else "these logs do not have it"
        ))  # fmt: skip
    return it[name]


def _bound(bound: dict[str, float]) -> tuple[str, float]:
    if len(bound) != 1:
        raise LogError("give one bound, such as e_ref=1e-4")
    ((name, value),) = bound.items()
    if not value > 0:
        raise LogError(f"{name}={value}: a bound is positive")
    return name, float(value)


def first_reached(it: pd.DataFrame, **bound: float) -> pd.DataFrame:
    """Of each run and step the first row that is within the bound: `iterations`, clocks and counters
    so far, counted from the beginning of the step; NaN where the step never gets there."""
    name, value = _bound(bound)
    rows = it.assign(iterations=it["k"] + 1)
    keep = ["iterations", *(c for c in it.columns if c in CLOCKS or c.startswith("n_"))]
    identity = ["run", "method", "problem", "step"]
    within = rows[_measure(it, name).to_numpy() <= value]
    first = within.groupby(["run", "step"], observed=True)[keep].first()
    every = rows[identity].drop_duplicates(["run", "step"])
    return every.merge(first.reset_index(), on=["run", "step"], how="left")


def to_accuracy(it: pd.DataFrame, **bound: float) -> pd.DataFrame:
    """Costs of each run to one accuracy in all its steps: to_accuracy(it, e_ref=1e-4).

    it: a table of loomcloth.iters.  The bound is on a column, on `energy` (E - E*, J) or on `residual`
    (m).  One row per run: `steps`, in how many of them it was `reached`, and the sums of iterations,
    clocks and counters; NaN if a step did not get there, or the run was stopped before its last step: a
    mean over the others would flatter."""
    first = first_reached(it, **bound)
    done = first["iterations"].notna()
    sums = [c for c in first.columns if c not in ("run", "method", "problem", "step")]
    counted = first.assign(reached=done, steps=1)
    groups = counted.groupby(["run", "method", "problem"], observed=True, sort=False)
    totals = groups[sums].sum(min_count=1).astype(float)
    totals.loc[~groups["reached"].all()] = np.nan
    if "status" in it:
        stopped = it.loc[it["status"] == "stopped", "run"].unique()
        totals.loc[totals.index.get_level_values("run").isin(stopped)] = np.nan
    out = groups[["steps", "reached"]].sum().join(totals)
    return out.reset_index()


def performance_profile(
    it: pd.DataFrame, cost: str = "t_cpu", method: str = "method", **bound: float
) -> pd.DataFrame:
    """Performance profiles (Dolan and More 2002, section 2).

    An instance is a step of a problem; rho(tau) is the share of instances that a method brings within
    the bound at no more than tau times the cost of the best method there.  Index: tau from 1;
    a column for each method.  cost: `iterations`, `t_cpu`, `t_total` or a counter."""
    first = first_reached(it, **bound)
    if cost not in first.columns:
        raise LogError(f"there is no cost '{cost}'; known: {', '.join(first.columns[4:])}")
    if first["iterations"].notna().any() and first[cost].isna().all():
        raise LogError(f"'{cost}' is NaN in every row: these logs do not have it; take another cost")
    if method not in first.columns:
        names = it[["run", method]].drop_duplicates().set_index("run")[method]
        first[method] = first["run"].map(names)
    twice = first[first.duplicated([method, "problem", "step"])]
    if len(twice):
        who = twice[method].iloc[0]
        raise LogError(f"two runs of '{who}' solve the same step; name another `method` column")
    costs = first.pivot(index=["problem", "step"], columns=method, values=cost).astype(float)
    solved = costs.min(axis=1).notna()
    ratios = costs.div(costs.min(axis=1), axis=0).where(lambda r: r.notna(), np.inf)
    ratios = ratios.where(costs != 0, 1.0)  # a step that the guess solves has cost 0
    taus = np.unique(ratios[solved].to_numpy())
    taus = np.union1d([1.0], taus[np.isfinite(taus)])
    shares = {name: [(ratios[name] <= t).mean() for t in taus] for name in ratios}
    profile = pd.DataFrame(shares, index=pd.Index(taus, name="tau"))
    profile.attrs["unsolved"] = int((~solved).sum())
    return profile
