"""`./loom table LOGS [-o FILE.csv|FILE.parquet]`: many runs as one table, a row each.

Shown are the settings in which the runs differ, totals and the accuracy reached.  Runs of different
problems stand under each other, numbered, and a red line names the keys that differ.  A run that was
stopped (exit codes 5 and 6) is a row, its column `status` says so; unfinished, failed and damaged logs
are listed with the reason and left out.  In a CSV file a text that a spreadsheet would take for a
formula has ' before it.

--by, --across, --over, --at, --mean and --stalls show groups of runs in place of runs: mean ± standard
deviation over the replicates, which [sweep] replicate or --over names, and where not all steps of a group
got to the accuracy, how many did.

Exit code: 0; 1 if a log was left out (the table of the others is made) or none could be read; 2 for
wrong arguments.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING

from loomcloth import command, output, terminal
from loomcloth.errors import LogError

if TYPE_CHECKING:
    import pandas as pd

    from loomcloth.tables import Collection

ENDINGS = (".csv", ".parquet")
# Characters with which a formula of a spreadsheet begins, also in full-width forms.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
# Columns that the terminal shows beside the settings that differ; files hold every column.
SHOWN = (
    "steps", "converged", "iterations", "cpu", "wall", "peak_memory", "residual", "e_ref", "r_energy",
    "intersections",
)  # fmt: skip
UNITS = {"cpu": "s", "wall": "s", "peak_memory": "MB", "residual": "m", "e_ref": "m", "r_energy": "sqrt J"}


def parse(argv: list[str]) -> argparse.Namespace:
    doc, ends = (__doc__ or "").split("\n\nExit code")
    p = argparse.ArgumentParser(
        prog="loom table", allow_abbrev=False, description=doc.split(": ", 1)[1],
        epilog="Exit code" + ends, formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    p.add_argument("logs", nargs="+", help="logs, folders of logs, or patterns")
    p.add_argument("-o", "--output", help="also all columns to FILE.csv or FILE.parquet; groups also to "
                   "FILE.tex")  # fmt: skip
    p.add_argument("--to", metavar="MEASURE=BOUND",
                   help="what each run needed to this accuracy: e_ref=1e-4 (m), energy=1e-6 (J above the "
                        "least), r_energy, ...; r_energy=1%% of the first value of each step")  # fmt: skip
    group = p.add_argument_group("groups of runs")
    for name, doc in (
        ("by", "settings that tell groups apart, ',' between them: method, solver, contact or a key "
               "(default: all that differ and are no replicates)"),
        ("across", "settings with a column for each value; a ranking for each value follows"),
        ("over", "replicates (default: those that the sweep of the logs has marked)"),
    ):  # fmt: skip
        group.add_argument(f"--{name}", help=doc, metavar="NAMES", default="")
    group.add_argument("--where", metavar="NAME=VALUE", action="append", default=[],
                       help="only runs with this value of a setting; may be given several times")  # fmt: skip
    group.add_argument("--cost", metavar="COLUMN", help="of --to: t_cpu (default), iterations, n_bytes, ...")
    for name, value, default, doc in (
        ("at", "COST=BUDGET", None, "errors when each step has spent t_cpu=0.05, n_bytes=1e9, ..."),
        ("of", "MEASURE", "r_energy%", "error of --at; %%: its share of the first (default: r_energy%%)"),
        ("mean", "COLUMN", None, "a column of the runs, for example cpu or peak_memory"),
    ):
        group.add_argument(f"--{name}", metavar=value, default=default, help=doc)
    words = "where the processor time goes, and how steps stand that did not converge"
    group.add_argument("--stalls", action="store_true", help=words)
    figure = p.add_argument_group("performance profiles (Dolan and Moré 2002), with --to")
    figure.add_argument("--profile", metavar="FILE", help="a figure, FILE.pdf, .tex, .pgf, .svg or .png")
    words = "settings with a plot for each value"
    figure.add_argument("--facet", metavar="NAMES", default="", help=words)
    words = "inches, or a column or text: acm, acm-wide, ieee, elsevier, ... (default: acm)"
    figure.add_argument("--width", metavar="WIDTH", default="acm", help=words)
    p.add_argument("--sort", metavar="COLUMN", help="order of the rows (default: that of the logs)")
    p.add_argument("--quiet", action="store_true", help="only messages, no table on the terminal")
    return p.parse_args(argv)


say = partial(terminal.say, "table")


def problem_line(found: Collection) -> str:
    """A warning to read before rows are compared, "" if all pose one problem."""
    keys = found.problem_keys()
    if not keys:
        return ""
    count = max(found.problem_numbers())
    return (
        f"these are {count} problems, which differ in {', '.join(keys)}: compare only rows with the same "
        "number in 'problem'"
    )


def bound_of(text: str) -> dict[str, str]:
    """{measure: number or percentage}, {} where the text is none."""
    name, sign, value = (w.strip() for w in text.partition("="))
    try:
        float(value.removesuffix("%"))
    except ValueError:
        return {}
    return {name: value} if sign and name else {}


def needed(args: argparse.Namespace, bound: dict[str, str]) -> pd.DataFrame:
    """Iterations, clocks and counters to the bound, by run; their names begin with `to_`."""
    import warnings

    from loomcloth.accuracy import CLOCKS, to_accuracy
    from loomcloth.tables import iters

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the table itself has said it
        cost = to_accuracy(iters(args.logs), **bound)
    costs = [c for c in map(str, cost) if c in ("reached", "iterations", *CLOCKS) or c.startswith("n_")]
    cost = cost[["run", *costs]].dropna(axis=1, how="all")
    return cost.rename(columns={c: f"to_{c}" for c in cost.columns if c != "run"})


def shown(table: pd.DataFrame, found: Collection) -> pd.DataFrame:
    """For a terminal: few columns, units in their heads, numbers of few digits."""
    from loomcloth.tables import setting_columns

    keys = list(setting_columns(found).values())
    names = ["run", *(["problem"] if table["problem"].max() > 1 else []), "method"]
    names += ["status"] if (table["status"] != "finished").any() else []
    names += [k for k in keys if k in table and not k.endswith("plugin")]
    names += [c for c in SHOWN if not table[c].isna().all()]
    names += [c for c in ("to_reached", "to_iterations", "to_t_cpu", "to_t_total") if c in table]
    out = table[[n for n in dict.fromkeys(names)]].copy()
    if "peak_memory" in out:
        out["peak_memory"] = out["peak_memory"] / 1e6
    for column in out.select_dtypes("number"):
        whole = (out[column].dropna() % 1 == 0).all() and column not in UNITS
        out[column] = [("-" if v != v else f"{v:.0f}" if whole else f"{v:.3g}") for v in out[column]]
    for column in out.select_dtypes(exclude="number"):
        out[column] = [terminal.clean(v) for v in out[column]]
    return out.rename(columns={c: f"{c} ({u})" for c, u in UNITS.items()})


def harmless(value: object) -> object:
    """A cell of a CSV file: a text that a spreadsheet would take for a formula gets ' before it.  Numbers,
    and texts of numbers only, for example "-0.1 0 0", stay."""
    if not isinstance(value, str) or not value.lstrip(" \0").startswith(FORMULA):
        return value
    try:
        for word in value.split(" "):
            float(word)
    except ValueError:
        return "'" + value
    return value


def write(table: pd.DataFrame, path: str) -> None:
    with output.replacing(path) as part:
        if path.endswith(".csv"):
            texts = table.map(harmless)
            texts.columns = [str(harmless(str(c))) for c in texts.columns]
            texts.to_csv(part, index=False)
        else:
            table.to_parquet(part, index=False)


def ordered(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """By a column; texts that are numbers, as settings are, by their values."""
    import pandas as pd

    if column not in table:
        raise LogError(f"--sort {column}: there is no such column; there are: {', '.join(table.columns)}")
    key = pd.to_numeric(table[column].astype(str), errors="coerce")
    if key.isna().all():
        key = table[column].astype(str)
    return table.loc[key.sort_values(kind="stable").index]


def wrong(args: argparse.Namespace, grouped: bool) -> str:
    """The message about arguments that do not fit, "" if they do."""
    endings = (*ENDINGS, ".tex") if grouped else ENDINGS
    if args.output and not args.output.endswith(endings):
        if args.output.endswith(".tex"):
            return f"-o {args.output}: is for groups of runs: add --by or --across"
        return f"-o {args.output}: the ending is not known; tables end in {' or '.join(endings)}"
    if args.to and not bound_of(args.to):
        return f"--to {args.to}: MEASURE=BOUND is expected, such as e_ref=1e-4"
    if args.at and (not bound_of(args.at) or "%" in args.at):
        return f"--at {args.at}: COST=BUDGET is expected, such as t_cpu=0.05"
    shown = [name for name in ("to", "at", "mean", "stalls") if getattr(args, name)]
    if grouped and len(shown) != 1:
        return "groups show one of --to, --at, --mean and --stalls" + (f", not {len(shown)}" if shown else "")
    if args.profile and not args.to:
        return "--profile needs --to MEASURE=BOUND"
    if args.profile and not args.profile.endswith((".pdf", ".tex", ".pgf", ".svg", ".png")):
        return f"--profile {args.profile}: a figure ends in .pdf, .tex, .pgf, .svg or .png"
    if args.where and not grouped and not args.profile:
        return "--where chooses runs of groups: add --by"
    return ""


def tell_ends(found: Collection, grouped: bool) -> None:
    """Warnings about the accuracy of runs; of groups one line."""
    from loomcloth.tables import ends_lines

    pairs = zip(found.names(), found.runs, strict=True)
    told = [(n, line) for n, r in pairs for line in ends_lines(r.totals)]
    if grouped and told:
        count = len({n for n, _ in told})
        words = f"{count} of {len(found.runs)} runs have warnings, for example {told[0][0]}: {told[0][1]}"
        say(words, alarm=True)
        return
    for name, line in told:
        say(f"{name}: {line}", alarm=True)


def draw_profiles(args: argparse.Namespace, it: pd.DataFrame, bound: dict[str, str]) -> None:
    """The figure of --profile."""
    from loomcloth import groups, profiles

    facet = [w.strip() for w in args.facet.split(",") if w.strip()]
    cost = args.cost or "t_cpu"
    ((name, value),) = bound.items()
    it = groups.chosen(it, args.where)
    unsolved = profiles.draw(it, args.profile, facet, cost, args.width, **{name: value})
    told = f"{unsolved} steps that no method brings to {name} {value}"
    print(f"{args.profile}: {it['run'].nunique()} runs; {told}")


def main(argv: list[str]) -> int:
    args = parse(argv)
    grouped = bool(args.by or args.across or args.over or args.at or args.mean or args.stalls)
    message = wrong(args, grouped)
    if message:
        say(message)
        return 2
    bound = bound_of(args.to) if args.to else {}
    if args.profile:
        output.check(args.profile, option="--profile")
    if args.output:
        output.check(args.output, "tex" if args.output.endswith(".tex") else "")
    from loomcloth.tables import collect, long_of, rows_of, table_of

    needs_iters = args.profile or (grouped and not args.mean)
    found = collect(args.logs, "iters" if needs_iters else "")
    for path, why in found.left_out:
        say(f"left out: {path}: {why}")
    if not found.runs:
        raise LogError("no log is left of which a table could be made")
    for note in found.notes:
        say(note)
    tell_ends(found, grouped or bool(args.profile))
    if args.profile:
        draw_profiles(args, long_of(found), bound)
    if args.profile and not grouped:
        return 1 if found.left_out else 0
    if grouped:
        from loomcloth.grouped import show

        whole = table_of(found) if args.mean else long_of(found)
        show(args, whole, bound, bound_of(args.at) if args.at else {}, say)
        return 1 if found.left_out else 0
    table = rows_of(found)
    if bound:
        table = table.merge(needed(args, bound), on="run", how="left")
    if args.sort:
        table = ordered(table, args.sort)
    if not args.quiet:
        print(shown(table, found).to_string(index=False))
    alarm = problem_line(found)
    if alarm:
        say(alarm, alarm=True)
    for name, done, planned in found.stopped:
        say(f"stopped: {name}: its totals are those of {done}{f' of {planned}' if planned else ''} steps")
    if args.output:
        write(table, args.output)
        print(args.output)
    return 1 if found.left_out else 0


if __name__ == "__main__":
    command.run("table", main)
