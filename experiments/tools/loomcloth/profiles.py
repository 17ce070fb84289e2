"""Performance profiles as a figure: a plot for each value of a setting, as wide as a journal's column."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pandas as pd

from loomcloth import style
from loomcloth.accuracy import Bound, performance_profile
from loomcloth.errors import LogError
from loomcloth.groups import column_of

COSTS = {"t_cpu": "processor time", "t_total": "wall time", "iterations": "iterations", "n_bytes": "bytes"}
MOST_PLOTS = 12


def parted(it: pd.DataFrame, names: list[str]) -> dict[str, pd.DataFrame]:
    """{label: rows} for each combination of values of settings; "" without any."""
    if not names:
        return {"": it}
    columns = [column_of(it, n, "--facet") for n in names]
    groups = it.groupby(columns, observed=True, dropna=False)
    found = {
        ", ".join(f"{c} {v}" for c, v in zip(columns, values, strict=True)): part for values, part in groups
    }
    if len(found) > MOST_PLOTS:
        raise LogError(f"--facet: {len(found)} plots; at most {MOST_PLOTS} are drawn: name fewer settings")
    return found


def draw(
    it: pd.DataFrame,
    path: str | Path,
    facet: list[str],
    cost: str = "t_cpu",
    width: str = "acm",
    **bound: Bound,
) -> int:
    """Writes the figure, a line for each method; returns how many steps no method brings within the bound."""
    profiles = {k: performance_profile(p, cost, "method", **bound) for k, p in parted(it, facet).items()}
    columns = min(len(profiles), 3 if style.inches(width) > 5 else 2)
    rows = math.ceil(len(profiles) / columns)
    figure, axes = style.journal_axes(width, rows, columns, sharex=True, sharey=True, squeeze=False)
    methods = sorted({str(m) for p in profiles.values() for m in p})
    lines: dict[str, Any] = {}
    for axis, (label, profile) in zip(axes.flat, profiles.items(), strict=False):
        is_narrow = style.inches(width) / columns < 2.5
        axis.set_title(label.replace(", ", "\n") if is_narrow else label, fontsize="medium")
        for name in profile:
            look = style.line(str(name)) | {"marker": ""}
            taus = [*profile.index, 10 * profile.index[-1]]
            (lines[str(name)],) = axis.step(
                taus, [*profile[name], profile[name].iloc[-1]], where="post", **look
            )
        axis.set_xscale("log")
        axis.set_ylim(0, 1.03)
    for axis in axes.flat[len(profiles) :]:
        axis.set_visible(False)
    figure.supxlabel(f"factor of the least {COSTS.get(cost, cost)}", fontsize="medium")
    figure.supylabel("share of steps", fontsize="medium")
    legend = [lines[m] for m in methods]
    figure.legend(legend, methods, loc="outside upper center", ncols=1 if style.inches(width) < 5 else 3)
    style.save(figure, path, (Path(path).suffix.lstrip("."),))
    return sum(p.attrs["unsolved"] for p in profiles.values())
