"""The part of `loom table` that shows groups of runs: statistics, rankings, LaTeX."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable

import pandas as pd

from loomcloth import groups, output
from loomcloth.errors import LogError
from loomcloth.table import write

FACTOR = "\u00d7/\u00f7"  # before the factor of a geometric mean: times or divided by
UNITS = {"t_cpu": "s", "t_total": "s", "cpu": "s", "wall": "s", "n_bytes": "B", "bytes": "B"}
SIGNS = {"\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{",
         "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}  # fmt: skip


def _names(text: str) -> list[str]:
    return [w.strip() for w in text.split(",") if w.strip()]


class Grouping:
    """Columns by which runs are grouped: `by` in rows, `across` in columns; `over` are replicates."""

    def __init__(self, table: pd.DataFrame, args: argparse.Namespace) -> None:
        marked = [] if args.over else groups.replicate_keys(args.logs)
        self.over = [groups.column_of(table, n, "--over") for n in _names(args.over or "")]
        # a replicate of which only one value is among the logs does not differ
        for key in marked:
            try:
                self.over.append(groups.column_of(table, key))
            except LogError:
                continue
        self.across = [groups.column_of(table, n, "--across") for n in _names(args.across or "")]
        if args.by:
            self.by = [groups.column_of(table, n, "--by") for n in _names(args.by)]
        else:
            self.by = [c for c in groups.group_columns(table, self.over) if c not in self.across]
        twice = set(self.by) & set(self.across)
        if twice:
            raise LogError(f"--across {twice.pop()}: stands in --by, too")
        self.all = [*self.by, *self.across]

    def pooled(self, table: pd.DataFrame) -> list[str]:
        """Settings that differ within a group and are no replicates: their means are over other problems."""
        known = [c for c in table.attrs.get("settings", ()) if c not in (*self.all, *self.over, "replay")]
        runs = table.drop_duplicates("run")
        parts = runs.groupby(self.all, observed=True, dropna=False)
        return [c for c in known if (parts[c].nunique(dropna=False) > 1).any() and not c.endswith("plugin")]


def number(value: float) -> str:
    return "-" if value != value else f"{value:.3g}"


def cell(row: pd.Series, factor: bool = False) -> str:
    """mean ± spread, or geometric mean and factor; where not all runs are solved, how many are."""
    sign = FACTOR if factor else "±"
    text = number(row["mean"]) + (
        f" {sign} {number(row['spread'])}" if row["spread"] == row["spread"] else ""
    )
    if row["solved"] == row["runs"]:
        return text
    return f"{text} ({groups.success(row)})" if row["solved"] else groups.success(row)


def label(values: object) -> str:
    return ", ".join(map(str, values)) if isinstance(values, tuple) else str(values)


def laid_out(found: pd.DataFrame, grouping: Grouping, head: str) -> pd.DataFrame:
    """Cells of text: a row for each group, with --across a column for each of its values."""
    cells = found.assign(**{head: [cell(r, bool(found.attrs.get("factor"))) for _, r in found.iterrows()]})
    if not grouping.across:
        return cells[[*grouping.by, "runs", head]]
    columns = list(dict.fromkeys(label(v) for v in _sorted(found, grouping.across)))
    at = [label(v) for v in _values(found, grouping.across)]
    wide = cells.assign(at=at).pivot(index=grouping.by, columns="at", values=head)
    wide = wide.reindex(pd.MultiIndex.from_frame(found[grouping.by].drop_duplicates()) if len(grouping.by) > 1
                        else found[grouping.by[0]].drop_duplicates())  # fmt: skip
    return wide[columns].fillna("-").reset_index().rename_axis(columns=None)


def _values(found: pd.DataFrame, columns: list[str]) -> list[object]:
    rows = found[columns].itertuples(index=False)
    return [tuple(r) if len(columns) > 1 else r[0] for r in rows]


def _sorted(found: pd.DataFrame, columns: list[str]) -> list[object]:
    return _values(found.sort_values(columns, kind="stable"), columns)


def ranked(found: pd.DataFrame, grouping: Grouping) -> list[str]:
    """Lines: the order of the groups for each value of --across, and the pairs that change places."""
    names = [label(v) for v in _values(found, grouping.by)]
    at = [label(v) for v in _values(found, grouping.across)]
    rows = found.assign(name=names, at=at)
    rows.attrs = found.attrs
    parts = {v: rows[rows["at"] == v] for v in dict.fromkeys(map(label, _sorted(found, grouping.across)))}
    lines = []
    for value, part in parts.items():
        order, missed = groups.ranking(part, "name")
        lines.append(f"{value}: {order}" + (f"; not solved: {', '.join(missed)}" if missed else ""))
    pairs = groups.reversals(list(parts.values()), "name")
    across = ", ".join(grouping.across)
    if not pairs:
        return [
            *lines,
            f"the ranking does not change with {across}: no two change places beyond their spreads",
        ]
    told = "; ".join(f"{a} and {b}" for a, b in pairs[:6]) + (
        f"; {len(pairs) - 6} more" if len(pairs) > 6 else ""
    )
    return [*lines, f"the ranking changes with {across}: {len(pairs)} pairs change places: {told}"]


def latex(table: pd.DataFrame) -> str:
    """A tabular with the rules of booktabs, to be read by \\input."""

    def text(value: object) -> str:
        escaped = "".join(SIGNS.get(c, c) for c in str(value))
        return escaped.replace(" ± ", r" $\pm$ ").replace(f" {FACTOR} ", r" $\times\!/\!\div$ ")

    cells = table.map(text)
    cells.columns = [text(c) for c in table.columns]
    return cells.to_latex(index=False, escape=False)


def heading(args: argparse.Namespace, bound: dict[str, str], budget: dict[str, str]) -> str:
    """The quantity whose means are shown."""
    if bound:
        ((name, value),) = bound.items()
        cost = args.cost or "t_cpu"
        return f"{cost}{unit(cost)} to {name} {value}"
    if budget:
        ((cost, value),) = budget.items()
        left = " left" if args.of.endswith("%") else ""
        return f"{args.of.removesuffix('%')}{left} at {cost} {value}"
    return f"{args.mean or 'cpu'}{unit(args.mean or 'cpu')}"


def unit(name: str) -> str:
    return f" ({UNITS[name]})" if name in UNITS else ""


def grouped(
    args: argparse.Namespace,
    table: pd.DataFrame,
    by: list[str],
    bound: dict[str, str],
    budget: dict[str, str],
) -> pd.DataFrame:
    """Rows of groups, of a table of iterations or of runs."""
    if bound:
        return groups.group_costs(table, by, args.cost or "t_cpu", **bound)
    if budget:
        measure, share = args.of.removesuffix("%"), args.of.endswith("%")
        return groups.group_errors(table, by, measure, share, **{k: float(v) for k, v in budget.items()})
    return groups.summary(table, by, args.mean or "cpu")


def stall_cells(found: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """The columns of a terminal, as texts."""
    shown = found[by].copy()
    shown["converged"] = groups.converged_cells(found)
    for name in groups.CLOCKS:
        shown[f"{name} %"] = [number(100 * v) for v in found[f"{name}_share"]]
    for name in ("r_energy_left", "residual_left", "own_res_left", "rate", "alpha", "switching", "rises"):
        shown[name.replace("_left", " left")] = [number(v) for v in found[name]]
    return shown.assign(why=found["why"])


def stalled(args: argparse.Namespace, it: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    from loomcloth.tables import steps

    columns = ["reason", "t_cpu", *(f"t_cpu_{c}" for c in groups.CLOCKS)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the command has said it
        rows = groups.chosen(steps(args.logs, columns), args.where)
    return groups.stalls(it, rows, by)


def show(
    args: argparse.Namespace,
    table: pd.DataFrame,
    bound: dict[str, str],
    budget: dict[str, str],
    say: Callable[..., None],
) -> None:
    """Prints the groups and writes the file of -o; table: of iterations, with --mean of runs."""
    table = groups.chosen(table, args.where)
    grouping = Grouping(table, args)
    if args.stalls:
        found = stalled(args, table, grouping.all)
        shown = stall_cells(found, grouping.all)
    else:
        found = grouped(args, table, grouping.all, bound, budget)
        head = heading(args, bound, budget)
        shown = laid_out(found, grouping, head)
        if grouping.over:
            say(f"replicates: {', '.join(grouping.over)}")
        pooled = grouping.pooled(table)
        if pooled:
            say(f"means are also over {', '.join(pooled)}: name them in --by or --across to tell them apart")
        if grouping.across:
            print(head)
    if not args.quiet:
        print(shown.to_string(index=False))
        if grouping.across and not args.stalls:
            print("\n".join(ranked(found, grouping)))
    if args.output and args.output.endswith(".tex"):
        with output.replacing(args.output, "tex") as part, open(part, "w", encoding="utf-8") as file:
            file.write(f"{output.LATEX.decode()}\n{latex(shown)}")
        print(args.output)
    elif args.output:
        write(found, args.output)
        print(args.output)
