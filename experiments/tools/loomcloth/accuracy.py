"""Costs of each method to the same accuracy: from convergence curves to numbers that can be compared."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import pandas as pd

from loomcloth.errors import LogError, near

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
        raise LogError(f"there is no column '{name}'{near(name, ['energy', 'residual', *MEASURES])}")
    if it[name].isna().all():
        raise LogError(f"'{name}' is NaN in every row: " + (
            "record a reference and replay it ([run] replay)" if name == "e_ref"
            else "these logs do not have it"
        ))  # fmt: skip
    return it[name]


Bound = float | str  # a number, or a share of the first value of a step: "1%"


def _bound(bound: dict[str, Bound]) -> tuple[str, float, bool]:
    """Measure, value, and whether the value is a share of the first one."""
    if len(bound) != 1:
        raise LogError("give one bound, such as e_ref=1e-4 or r_energy='1%'")
    ((name, given),) = bound.items()
    text = str(given).strip()
    share = text.endswith("%")
    try:
        value = float(text.removesuffix("%")) / (100 if share else 1)
    except ValueError:
        raise LogError(f"{name}={given}: a number or a percentage is expected") from None
    if not value > 0 or not math.isfinite(value):
        raise LogError(f"{name}={given}: a bound is positive")
    return name, value, share


def first_values(it: pd.DataFrame, values: pd.Series) -> pd.Series:
    """Of each row the first number that its run has in its step: the distance that the step begins with."""
    return values.groupby([it["run"], it["step"]], observed=True).transform("first")


def _identity(it: pd.DataFrame, taken: Iterable[str]) -> list[str]:
    """Columns that tell runs apart: the settings that differ stand in the results, too."""
    settings = [c for c in it.attrs.get("settings", ()) if c in it and c not in taken]
    return ["run", "method", "problem", *(c for c in ("solver", "contact") if c in it), *settings]


def _counted(it: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The table with `iterations`, and the names of the columns that count costs within a step."""
    rows = it.assign(iterations=it["k"] + 1)
    return rows, ["iterations", *(c for c in it.columns if c in CLOCKS or c.startswith("n_"))]


def first_reached(it: pd.DataFrame, **bound: Bound) -> pd.DataFrame:
    """Of each run and step the first row that is within the bound: `iterations`, clocks and counters
    so far, counted from the beginning of the step; NaN where the step never gets there.  A bound in
    per cent is a share of the first value of the step: r_energy="1%"; a step without an iteration is within
    it from its beginning."""
    name, value, share = _bound(bound)
    rows, keep = _counted(it)
    measure = _measure(it, name)
    most = value * first_values(it, measure) if share else value
    identity = [*_identity(it, (*keep, "step", "steps", "reached")), "step"]
    reached = measure <= most
    if share:  # a step without an iteration has no distance to cover: its guess is within the tolerance
        reached |= it["k"].groupby([it["run"], it["step"]], observed=True).transform("max") < 0
    within = rows[reached.to_numpy()]
    first = within.groupby(["run", "step"], observed=True)[keep].first()
    every = rows[identity].drop_duplicates(["run", "step"])
    return every.merge(first.reset_index(), on=["run", "step"], how="left")


def to_accuracy(it: pd.DataFrame, **bound: Bound) -> pd.DataFrame:
    """Costs of each run to one accuracy in all its steps: to_accuracy(it, e_ref=1e-4), or r_energy="1%".

    it: a table of loomcloth.iters.  The bound is on a column, on `energy` (E - E*, J) or on `residual`
    (m); in per cent it is a share of the first value of each step.  One row per run, with its settings:
    `steps`, in how many of them it was `reached`, and the sums of iterations, clocks and counters; NaN if
    a step did not get there, or the run was stopped before its last step: a mean over the others would
    flatter."""
    first = first_reached(it, **bound)
    _, sums = _counted(it)
    done = first["iterations"].notna()
    counted = first.assign(reached=done, steps=1)
    identity = [c for c in first.columns if c not in (*sums, "step")]
    groups = counted.groupby("run", observed=True, sort=False)
    totals = groups[sums].sum(min_count=1).astype(float)
    totals.loc[~groups["reached"].all()] = np.nan
    if "status" in it:
        stopped = it.loc[it["status"] == "stopped", "run"].unique()
        totals.loc[totals.index.isin(stopped)] = np.nan
    heads = first[identity].drop_duplicates("run")
    return heads.merge(groups[["steps", "reached"]].sum().join(totals).reset_index(), on="run")


def at_budget(it: pd.DataFrame, measure: str = "r_energy", **budget: float) -> pd.DataFrame:
    """Errors of each run when every step has spent one budget: at_budget(it, "e_ref", t_cpu=0.05).

    The budget is of one step: `iterations`, `t_cpu` (s), `n_bytes` or another clock or counter.  A step that
    ended before has its last error, one whose first iteration costs more its first.  One row per run, with
    its settings: `steps`, the `error` of the worst step, `ratio`, the largest share of a step's first error
    that is left, and `spent`, the mean cost of a step."""
    if len(budget) != 1:
        raise LogError("give one budget, such as t_cpu=0.05")
    ((cost, most),) = budget.items()
    rows, costs = _counted(it)
    if cost not in costs:
        raise LogError(f"there is no cost '{cost}'{near(cost, costs)}")
    if rows[cost].isna().all():
        raise LogError(f"'{cost}' is NaN in every row: these logs do not have it; take another cost")
    if not float(most) > 0:
        raise LogError(f"{cost}={most}: a budget is positive")
    values = _measure(it, measure)
    rows = rows.assign(error=values, first=first_values(it, values))
    rows["within"] = (rows[cost] <= float(most)) & rows["error"].notna()
    begins = ~rows.duplicated(["run", "step"])
    kept = rows[rows["within"] | begins]
    last = kept.drop_duplicates(["run", "step"], keep="last")
    ratio = last["error"] / last["first"].where(last["first"] > 0)  # NaN: the step begins at its solution
    last = last.assign(ratio=ratio, spent=last[cost], steps=1)
    identity = _identity(it, ("steps", "error", "ratio", "spent"))
    groups = last.groupby("run", observed=True, sort=False)
    found = groups[["error", "ratio"]].max().join(groups["spent"].mean()).join(groups["steps"].sum())
    found.loc[groups["error"].apply(lambda e: e.isna().any()), ["error", "ratio"]] = np.nan
    heads = last[identity].drop_duplicates("run")
    return heads.merge(found.reset_index()[["run", "steps", "error", "ratio", "spent"]], on="run")


def performance_profile(
    it: pd.DataFrame, cost: str = "t_cpu", method: str = "method", **bound: Bound
) -> pd.DataFrame:
    """Performance profiles (Dolan and More 2002, section 2).

    An instance is a step of a problem; rho(tau) is the share of instances that a method brings within
    the bound at no more than tau times the cost of the best method there.  Index: tau from 1;
    a column for each method.  cost: `iterations`, `t_cpu`, `t_total` or a counter."""
    first = first_reached(it, **bound)
    _, costs_of = _counted(it)
    if cost not in costs_of:
        raise LogError(f"there is no cost '{cost}'{near(cost, costs_of)}")
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
