"""Statistics over the runs of a study: groups, replicates, means and spreads, counts of successes.

A replicate is a setting whose values are samples of one thing, for example seeds of an imperfection: runs
that differ in replicates alone are one group.  [sweep] replicate marks axes of this kind.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from loomcloth.accuracy import Bound, at_budget, residual, to_accuracy
from loomcloth.errors import LogError, near
from loomcloth.selection import Paths, expand

STUDY = "study.json"  # of a sweep's folder: axes and replicates
HEADS = ("method", "solver", "contact", "problem")  # columns beside the settings by which runs are grouped
LATE = 10  # iterations at the end of a step that tell how it stands
CLOCKS = ("detect", "solve", "contact", "filter")  # of /steps, with t_cpu_ before each


def replicate_keys(paths: Paths) -> list[str]:
    """Configuration keys that [sweep] replicate marks in the folders of these logs."""
    found: dict[str, None] = {}
    for folder in dict.fromkeys(os.path.dirname(os.path.abspath(p)) for p in expand(paths)):
        try:
            with open(os.path.join(folder, STUDY), encoding="utf-8") as file:
                keys = json.load(file)["replicate"]
        except (OSError, ValueError, KeyError, TypeError):
            continue
        found |= {str(k): None for k in (keys if isinstance(keys, list) else [])}
    return list(found)


def column_of(table: pd.DataFrame, name: str, option: str = "") -> str:
    """The column of a setting or head by its name, its last word, or its whole key."""
    known = [*(h for h in HEADS if h in table), *table.attrs.get("settings", ())]
    alike = [c for c in known if c.endswith(f".{name}") or name.endswith(f".{c}")]
    if name in known:
        return name
    if len(alike) == 1:
        return str(alike[0])
    where = f"{option} " if option else ""
    raise LogError(f"{where}{name}: is no setting in which the runs differ{near(name, known)}")


def group_columns(table: pd.DataFrame, over: Sequence[str]) -> list[str]:
    """How runs are grouped by default: by method and each setting that is no replicate."""
    from loomcloth.config import METHODS

    keys, settings = table.attrs.get("keys", ()), table.attrs.get("settings", ())
    of_methods = {k.rsplit(".", 1)[-1] for k in keys if k.split(".")[0] in METHODS}
    within = table.groupby("method", observed=True)
    found = ["method"]
    for column in settings:
        if column in over or column.endswith("plugin") or column == "replay":
            continue
        # a setting that each method has one value of is told by the method
        if column not in of_methods or within[column].nunique().max() > 1:
            found.append(column)
    return found


def spread(values: pd.Series, factor: bool = False) -> dict[str, float]:
    """Mean, standard deviation (of a sample, n - 1), median, least and largest of the numbers that there are.

    factor: of numbers that span decades, the geometric mean and the factor exp(standard deviation of the
    logarithms)."""
    known = values.dropna().astype(float)
    if known.empty:
        return dict.fromkeys(("mean", "spread", "median", "least", "most"), np.nan)
    of = np.log(known.where(known > 0)) if factor else known
    mean, deviation = float(of.mean()), float(of.std(ddof=1)) if len(known) > 1 else np.nan
    if factor:
        mean, deviation = (
            (float(np.exp(mean)), float(np.exp(deviation))) if (known > 0).all() else (0.0, np.nan)
        )
    return {
        "mean": mean,
        "spread": deviation,
        "median": float(known.median()),
        "least": float(known.min()),
        "most": float(known.max()),
    }


def _rows(
    table: pd.DataFrame, by: Sequence[str], value: str, counts: Sequence[str], factor: bool = False
) -> pd.DataFrame:
    if not by:
        raise LogError("a group needs a column: give `by`")
    rows = []
    for values, part in table.groupby(list(by), observed=True, sort=False, dropna=False):
        head = dict(zip(by, values if isinstance(values, tuple) else (values,), strict=True))
        known = part[value].notna()
        sums = {c: int(part[c].sum()) for c in counts}
        rows.append(
            head | {"runs": len(part), "solved": int(known.sum())} | sums | spread(part[value], factor)
        )
    out = pd.DataFrame(rows)
    out.attrs |= {"by": list(by), "value": value, "factor": factor}
    return out


def summary(table: pd.DataFrame, by: Sequence[str], value: str) -> pd.DataFrame:
    """Of a table of runs, a row for each group: `runs`, `solved` (the runs that have a number), `mean`,
    `spread` (standard deviation), `median`, `least`, `most` of one column."""
    if value not in table or not pd.api.types.is_numeric_dtype(table[value]):
        numbers = [str(c) for c in table.select_dtypes("number")]
        raise LogError(f"there is no column of numbers '{value}'{near(value, numbers)}")
    return _rows(table, by, value, ())


def group_costs(it: pd.DataFrame, by: Sequence[str], cost: str = "t_cpu", **bound: Bound) -> pd.DataFrame:
    """Costs of each group to one accuracy: group_costs(it, ["method"], r_energy="1%").

    `solved` of its `runs` are within the bound in each step, `reached` of the `steps` of all runs; mean and
    spread are of the solved runs alone, so that a count stands where none is."""
    need = to_accuracy(it, **bound)
    if cost not in need or cost in ("run", "steps", "reached"):
        costs = [str(c) for c in need if c == "iterations" or str(c).startswith(("t_", "n_"))]
        raise LogError(f"there is no cost '{cost}'{near(cost, costs)}")
    return _rows(need, by, cost, ("steps", "reached"))


def group_errors(
    it: pd.DataFrame, by: Sequence[str], measure: str = "r_energy", share: bool = False, **budget: float
) -> pd.DataFrame:
    """Errors of each group when every step has spent one budget, of each run that of its worst step; share:
    the largest share of a step's first error that is left.  `mean` is the geometric mean, `spread` the factor
    of the standard deviation of the logarithms, as errors span decades."""
    return _rows(at_budget(it, measure, **budget), by, "ratio" if share else "error", ("steps",), True)


def is_solved(row: Any) -> bool:
    return bool(row["solved"] == row["runs"] and row["mean"] == row["mean"])


def is_below(a: Any, b: Any, factor: bool = False) -> bool:
    """Whether group a is clearly ahead of b: solved where b is not, or cheaper by more than both spreads."""
    if not is_solved(a) or not is_solved(b):
        return is_solved(a) and not is_solved(b)
    if factor:
        if a["mean"] <= 0 or b["mean"] <= 0:
            return bool(a["mean"] < b["mean"])
        known = [np.log(r["spread"]) for r in (a, b) if r["spread"] == r["spread"]]
        return bool(np.log(b["mean"] / a["mean"]) > np.hypot(*known, *[0.0] * (2 - len(known))))
    known = [r["spread"] for r in (a, b) if r["spread"] == r["spread"]]
    return bool(b["mean"] - a["mean"] > np.hypot(*known, *[0.0] * (2 - len(known))))


def ranking(groups: pd.DataFrame, name: str) -> tuple[str, list[str]]:
    """The groups of which each run was solved by their mean, the cheapest first, with ~ where two do not
    differ by more than their spreads; then the others, each with its count."""
    solved = (groups["solved"] == groups["runs"]) & groups["mean"].notna()
    whole, rest = groups[solved].sort_values("mean", kind="stable"), groups[~solved]
    factor = bool(groups.attrs.get("factor"))
    rows = [r for _, r in whole.iterrows()]
    text = str(rows[0][name]) if rows else "-"
    for before, row in itertools.pairwise(rows):
        text += f" {'<' if is_below(before, row, factor) else '~'} {row[name]}"
    return text, [f"{r[name]} ({success(r)})" for _, r in rest.iterrows()]


def reversals(parts: Sequence[pd.DataFrame], name: str) -> list[tuple[str, str]]:
    """Pairs of groups of which one is clearly ahead in one part, and the other in another part."""
    ahead: set[tuple[str, str]] = set()
    for part in parts:
        rows = [r for _, r in part.iterrows()]
        factor = bool(part.attrs.get("factor"))
        ahead |= {(str(a[name]), str(b[name])) for a in rows for b in rows if is_below(a, b, factor)}
    return sorted({(a, b) for a, b in ahead if a < b and (b, a) in ahead})


def success(row: Any) -> str:
    """How many steps, or runs, of a group are solved."""
    if "reached" in row:
        return f"{row['reached']} of {row['steps']} steps"
    return f"{row['solved']} of {row['runs']} runs"


# ---- where the time goes, and how a step stands at its end ----


def _tail(rows: pd.DataFrame) -> dict[str, Any]:
    """Of one step: the share of the first distance that is left, and the last iterations."""
    out: dict[str, Any] = dict.fromkeys(("switching", "rises"), np.nan)
    for name in ("r_energy", "residual", "own_res"):
        known = rows[name].dropna()
        sound = len(known) > 1 and known.iloc[0] > 0
        out[f"{name}_left"] = float(known.iloc[-1] / known.iloc[0]) if sound else np.nan
    late = rows[rows["k"] >= 0].tail(LATE + 1)
    ends = late["r_energy"].dropna()
    sound = len(ends) > 1 and ends.iloc[0] > 0 and ends.iloc[-1] > 0
    out["rate"] = float((ends.iloc[-1] / ends.iloc[0]) ** (1 / (len(ends) - 1))) if sound else np.nan
    out["alpha"] = float(late["alpha"].median())
    energy, active = late["e_total"].to_numpy(), late["active"].to_numpy()
    if len(late) > 1:
        out["switching"] = float(np.mean(active[1:] != active[:-1]))
        out["rises"] = float(np.mean(np.diff(energy) > 1e-12 * np.abs(energy[:-1])))
    return out


def converged_cells(rows: pd.DataFrame) -> list[str]:
    """Converged steps of all, as text; a group of measured steps alone has no number of them."""
    pairs = zip(rows["converged"], rows["steps"], strict=True)
    return ["measured" if np.isnan(c) else f"{int(c)} of {s}" for c, s in pairs]


def reason(row: Any) -> str:
    """Why steps of a group end above their tolerance, by thresholds that the page on comparing states."""
    if np.isnan(row["converged"]):
        return "measured"
    if row["converged"] == row["steps"]:
        return "converges"
    if row["rises"] >= 0.2 and row["rate"] > 0.9:
        return "cycles: the energy rises again"
    if row["own_res_left"] < 0.01 * row["r_energy_left"]:
        return "ends by its own measure"
    if row["alpha"] < 0.1:
        return "short steps: a bound or the line search cuts"
    if row["rate"] > 0.9:
        return "smooth error: little per iteration"
    return "cut off: more iterations help"


def stalls(it: pd.DataFrame, steps: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Of each group the shares of processor time, how many steps `converged`, and of the steps that did not
    (of all, where each did) the mean state at their end: the shares of the first `r_energy`, `residual` and
    `own_res` that are left, the factor of r_energy per iteration (`rate`), the median line search `alpha`,
    the shares of the last ten iterations in which active contacts are `switching` and the energy `rises`."""
    from loomcloth.log import GOOD_ENDS

    # a log without a column has NaN there: a share is then NaN, too
    steps = steps.assign(good=steps["reason"].isin(GOOD_ENDS))
    it = it.assign(residual=residual(it))
    tails = {key: _tail(part) for key, part in it.groupby(["run", "step"], observed=True, sort=False)}
    frame = pd.DataFrame(tails.values(), index=pd.MultiIndex.from_tuples(tails, names=["run", "step"]))
    joined = steps.merge(frame.reset_index(), on=["run", "step"], how="left")
    rows = []
    for values, part in joined.groupby(list(by), observed=True, sort=False, dropna=False):
        head = dict(zip(by, values if isinstance(values, tuple) else (values,), strict=True))
        total = part["t_cpu"].sum()
        shares = {f"{c}_share": part[f"t_cpu_{c}"].sum() / total if total > 0 else np.nan for c in CLOCKS}
        told = part[~part["good"]] if (~part["good"]).any() else part
        lasting = {c: _geometric(told[c]) for c in map(str, frame) if c.endswith("_left") or c == "rate"}
        lasting |= {c: float(told[c].mean()) for c in ("alpha", "switching", "rises")}
        measured = (part["reason"] == "foreign").all()
        good = np.nan if measured else int(part["good"].sum())
        row = (
            head
            | {"steps": len(part), "converged": good, "t_cpu": total}
            | shares
            | lasting
        )
        rows.append(row | {"why": reason(row)})
    return pd.DataFrame(rows)


def _geometric(values: pd.Series) -> float:
    known = values[values > 0].dropna()
    return float(np.exp(np.log(known).mean())) if len(known) else np.nan


def chosen(table: pd.DataFrame, where: Iterable[str]) -> pd.DataFrame:
    """Rows of runs with these settings, each "NAME=VALUE"."""
    for word in where:
        name, sign, value = word.partition("=")
        if not sign:
            raise LogError(f"--where {word}: NAME=VALUE is expected, such as membrane=100")
        column = column_of(table, name.strip(), "--where")
        texts = table[column].astype(str)
        words = texts.str.replace(r"[^A-Za-z0-9_.+-]+", "x", regex=True)  # as in the names of runs
        kept = table[(texts == value.strip()) | (words == value.strip())]
        if kept.empty:
            raise LogError(f"--where {word}: no run has it{near(value.strip(), list(dict.fromkeys(texts)))}")
        kept.attrs = table.attrs
        table = kept
    return table
