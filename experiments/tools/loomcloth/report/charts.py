"""Curves and costs of a report, as plain numbers for the page."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from loomcloth.accuracy import energy_error, performance_profile, residual, to_accuracy
from loomcloth.errors import LogError
from loomcloth.groups import column_of

# Name: label of the axis.
MEASURES = {
    "r_energy": "distance to the solution r_energy (sqrt J)",
    "e_ref": "RMS distance to the reference e_ref (m)",
    "energy": "energy above the least E - E* (J)",
    "residual": "residual h^2 M^-1 r, RMS (m)",
}
COSTS = {
    "iterations": "iterations",
    "t_cpu": "processor time (s)",
    "t_total": "wall time (s)",
    "n_bytes": "work: bytes moved, as declared (B)",
    "n_gradient": "gradients",
    "n_hessian": "Hessian assemblies",
    "n_spmv": "sparse matrix-vector products",
    "n_factorise": "factorisations",
    "n_trisolve": "triangular solves",
    "n_project": "local steps",
}
MOST_STEPS, MOST_ROWS, BOUNDS = 12, 400, 24
MOST_RUNS = 40  # curves that a reader can tell apart
ALL = "all runs"


def short(values: Any) -> list[float | None]:
    """Rounded to four digits; null for NaN and infinity."""
    return [None if not math.isfinite(v) else float(f"{v:.4g}") for v in np.asarray(values, float)]


def measured(it: pd.DataFrame) -> pd.DataFrame:
    """The table with every measure of the report as a column."""
    it["run"] = it["run"].astype(str)
    return it.assign(iterations=it["k"] + 1, residual=residual(it), energy=energy_error(it))


def present(it: pd.DataFrame, names: dict[str, str]) -> dict[str, str]:
    return {
        n: text for n, text in names.items() if n in it and np.isfinite(it[n]).any() and (it[n] > 0).any()
    }


def chosen_steps(it: pd.DataFrame) -> list[int]:
    """Evenly over the steps that /iters holds, at most a dozen."""
    steps = np.unique(it["step"])
    at = np.unique(np.linspace(0, len(steps) - 1, MOST_STEPS).round().astype(int))
    return [int(s) for s in steps[at]]


def curves(it: pd.DataFrame) -> dict[str, Any]:
    """{step: {run: {column: numbers}}}; long curves are thinned, by their logarithm."""
    columns = [*present(it, MEASURES), *present(it, COSTS)]
    out: dict[str, Any] = {}
    for step in chosen_steps(it):
        mine = it[it["step"] == step]
        out[str(step)] = {}
        for run, rows in mine.groupby("run", observed=True, sort=False):
            if len(rows) > MOST_ROWS:
                at = np.unique(np.geomspace(1, len(rows), MOST_ROWS).astype(int)) - 1
                rows = rows.iloc[at]
            out[str(step)][run] = {c: short(rows[c]) for c in columns}
    return out


def bounds(it: pd.DataFrame, measure: str, most: int = BOUNDS) -> list[float]:
    """1, 2 and 5 times powers of ten, from the largest value down to the least that some run reaches in all
    its steps."""
    known = it[np.isfinite(it[measure])]
    ends = known.groupby(["run", "step"], observed=True)[measure].min().groupby("run", observed=True).max()
    begin, end = known[measure].max(), ends[ends > 0].min()
    if not begin > 0 or not end > 0:
        return []
    low, high = math.floor(math.log10(end)), math.ceil(math.log10(begin))
    all_of = [m * 10.0**e for e in range(low, high + 1) for m in (1, 2, 5)]
    good = [b for b in all_of if end / 2 <= b <= begin]
    return good[:: -(-len(good) // most)] if good else []


def costs(it: pd.DataFrame, most: int = BOUNDS) -> dict[str, Any]:
    """{measure: {"bounds": [...], "runs": {run: {cost: [...]}}}}: sums over all steps, null where a step
    does not get there."""
    out: dict[str, Any] = {}
    names = present(it, COSTS)
    for measure in present(it, MEASURES):
        at = bounds(it, measure, most)
        if not at:
            continue
        tables = [to_accuracy(it, **{measure: b}).set_index("run") for b in at]
        runs = {
            # a step that the guess solves has cost 0, which a logarithm does not show
            str(run): {
                c: [v or None for v in short([t.loc[run, c] for t in tables])]
                for c in names
                if c in tables[0]
            }
            for run in it["run"].unique()
        }
        out[measure] = {"bounds": at, "runs": runs}
    return out


def facets(it: pd.DataFrame, names: list[str]) -> dict[str, list[str]]:
    """{label: runs} by the values of columns, by default of the settings that pose the problem.  LogError
    where one has more runs than a reader can tell apart."""
    runs = it.drop_duplicates("run")
    if runs.shape[0] <= MOST_RUNS and not names:
        return {ALL: [str(r) for r in runs["run"]]}
    columns = [column_of(it, n, "--facet") for n in names] if names else ["problem"]
    out: dict[str, list[str]] = {}
    for _, row in runs.sort_values(columns, kind="stable").iterrows():
        words = [f"{c} {row[c]}" for c in (columns if names else labels(it) or columns)]
        out.setdefault(", ".join(words), []).append(str(row["run"]))
    for label, mine in out.items():
        if len(mine) > MOST_RUNS:
            known = [c for c in ("solver", "contact", *it.attrs.get("settings", ())) if c in it]
            raise LogError(
                f"{label}: {len(mine)} of {len(runs)} runs: at most {MOST_RUNS} can be told apart; part them "
                f"by settings in --facet, ',' between them: {', '.join(known)}"
            )
    return out


def labels(it: pd.DataFrame) -> list[str]:
    """Columns of the settings that pose the problem."""
    keys = it.attrs.get("problem_keys", ())
    settings = it.attrs.get("settings", ())
    return [c for c in settings if any(k == c or k.endswith(f".{c}") for k in keys)]


def parts(it: pd.DataFrame, names: list[str], method: str) -> dict[str, Any]:
    """{facet: its curves, costs and profiles}; of several facets one more with the profiles of all runs."""
    found: dict[str, Any] = {}
    of = facets(it, names)
    if len(of) > 1:
        whole = profiles(it, method or told_apart(it))
        found[ALL] = {"curves": {}, "step": "", "accuracy": {}, "profiles": whole}
    for label, runs in of.items():
        mine = it[it["run"].isin(runs)]
        drawn = curves(mine)
        busiest = mine.groupby("step")["k"].max()
        found[label] = {
            "curves": drawn,
            "step": str(max(drawn, key=lambda s: busiest[int(s)])),
            "accuracy": costs(mine, BOUNDS if len(of) == 1 else BOUNDS // 4),
            "profiles": profiles(mine, method or told_apart(mine), 5 if len(of) == 1 else 2),
        }
    return found


def told_apart(it: pd.DataFrame) -> str:
    """The column that names a curve: the method, or the run where one method has several on a problem."""
    runs = it[["run", "method", "problem"]].drop_duplicates()
    return "run" if runs.duplicated(["method", "problem"]).any() else "method"


def profiles(it: pd.DataFrame, method: str, most: int = 5) -> dict[str, Any]:
    """{measure: {bound: {cost: {"tau": [...], "methods": {name: [...]}}}}} at a few bounds."""
    out: dict[str, Any] = {}
    names = [c for c in ("t_cpu", "iterations", "t_total") if c in present(it, COSTS)]
    for measure in present(it, MEASURES):
        out[measure] = {}
        at = bounds(it, measure)
        for bound in at[:: max(1, -(-len(at) // most))]:
            found = {}
            for cost in names:
                try:
                    profile = performance_profile(it, cost=cost, method=method, **{measure: bound})
                except LogError:
                    continue
                if not (profile.to_numpy() > 0).any():
                    continue
                shares = {str(m): short(profile[m]) for m in profile}
                found[cost] = {"tau": short(profile.index), "methods": shares}
            if found:
                out[measure][f"{bound:g}"] = found
    return out
