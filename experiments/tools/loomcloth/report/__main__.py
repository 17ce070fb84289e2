"""`./loom report LOGS -o report.html`: a comparison of runs as one file that a reviewer opens.

It says which runs were compared and whether they may be, and shows convergence, costs at equal accuracy,
performance profiles, audits, settings that differ, provenance, and the motions side by side.  The
libraries are in the file: it needs no network.  Runs that were stopped are shown and marked.  More than 40
runs are parted in facets, by default one for each problem, and shown without the motions; the summary then
has a row for each group of runs, with means over replicates, and one facet has the profiles of all runs.

Exit code: 0; 1 if a log was left out (the report of the others is made) or none could be read; 2 for
wrong arguments.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loomcloth import command, output, terminal
from loomcloth.errors import LogError

if TYPE_CHECKING:
    from loomcloth.tables import Collection, Run

SYMBOLS = {
    "o": "circle",
    "s": "square",
    "P": "cross",
    "^": "triangle-up",
    "v": "triangle-down",
    "<": "triangle-left",
    "D": "diamond",
    "X": "x",
    "*": "star",
    ">": "triangle-right",
    "h": "hexagon",
    "p": "pentagon",
}
DASHES = {"-": "solid", "--": "dash", "-.": "dashdot", ":": "dot"}


say = partial(terminal.say, "report")


def parse(argv: list[str]) -> argparse.Namespace:
    doc, ends = (__doc__ or "").split("\n\nExit code")
    p = argparse.ArgumentParser(
        prog="loom report",
        allow_abbrev=False,
        description=doc.split(": ", 1)[1],
        epilog="Exit code" + ends,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    p.add_argument("logs", nargs="+", help="logs, folders of logs, or patterns")
    p.add_argument("-o", "--output", default="report.html", help="FILE.html (default: report.html)")
    p.add_argument("--title", default="", help="of the report (default: its file's name)")
    p.add_argument(
        "--method",
        default="",
        metavar="COLUMN",
        help="what a performance profile compares (default: solver and contact, or the run)",
    )
    p.add_argument(
        "--facet",
        default="",
        metavar="NAMES",
        help="settings that part the runs, ',' between them (default: of more than 40 runs the problem)",
    )
    p.add_argument(
        "--field",
        default="",
        help="colours the replay: speed, stretch, distance, or a field of the logs "
        "(default: distance to the first run, of one run the speed)",
    )
    p.add_argument("--no-replay", action="store_true", help="without the motions")
    args = p.parse_args(argv)
    if not args.output.endswith((".html", ".htm")):
        p.error(f"-o {args.output}: a report ends in .html")
    return args


def look(method: str) -> dict[str, str]:
    from loomcloth import style

    line = style.line(method)
    return {
        "colour": line["color"],
        "symbol": SYMBOLS.get(line["marker"], "circle"),
        "dash": DASHES.get(line["linestyle"], "longdash"),
    }


def looks(methods: dict[str, str]) -> dict[str, dict[str, str]]:
    """Of runs: that of the method; runs of one method are told apart by their own colours."""
    from loomcloth.style import MUTED, OKABE_ITO

    out, among = {}, [*OKABE_ITO[4:], *OKABE_ITO[:3], *MUTED]
    alike = [n for n, m in methods.items() if list(methods.values()).count(m) > 1]
    for name, method in methods.items():
        own = {"colour": among[alike.index(name) % len(among)]} if name in alike else {}
        out[name] = look(method) | own
    return out


def numbers(found: Collection, names: list[str]) -> tuple[list[str], list[list[Any]]]:
    """The table of the first page."""
    from loomcloth.table import shown
    from loomcloth.tables import rows_of

    rows = shown(rows_of(found), found)
    rows["run"] = names
    return [str(c) for c in rows.columns], rows.to_numpy().tolist()


def group_rows(found: Collection) -> tuple[list[str], list[list[str]]]:
    """Of many runs: a row for each group, means over replicates."""
    from loomcloth import groups
    from loomcloth.grouped import cell
    from loomcloth.tables import table_of

    runs = table_of(found)
    keys = groups.replicate_keys([r.path for r in found.runs])
    over = [c for c in runs.attrs["settings"] if any(k == c or k.endswith(f".{c}") for k in keys)]
    by = groups.group_columns(runs, over)
    head = runs.groupby(by, observed=True, sort=False, dropna=False)
    counts = head[["converged", "steps"]].sum(min_count=1).reset_index()
    shown = counts[by].astype(str)
    shown["runs"] = head.size().to_numpy().astype(str)
    shown["converged"] = groups.converged_cells(counts)
    for name, title in (("iterations", "iterations"), ("cpu", "cpu (s)"), ("r_energy", "r_energy (sqrt J)")):
        rows = groups.summary(runs, by, name)
        shown[title] = [cell(r) for _, r in rows.iterrows()]
    return [str(c) for c in shown.columns], shown.to_numpy().tolist()


def texts(found: Collection, names: list[str]) -> dict[str, str]:
    """The parts of the page that are words and tables."""
    from loomcloth.report import charts, verdict
    from loomcloth.report.page import table, text

    said = "".join(
        f'<div class="finding {f.level}"><i></i><b>{text(f.question)}</b>'
        f"<span>{text(f.answer)}</span></div>"
        for f in verdict.findings(found)
    )
    keys, values = verdict.settings(found)
    audit = [
        [
            n,
            steps_of(r),
            f"measured {steps_of(r)}" if r.totals["measured"] else r.totals["reasons"],
            _count(r.totals["intersections"]),
            _short(r.totals["min_gap"]),
            r.totals["contacts"],
        ]
        for n, r in zip(names, found.runs, strict=True)
    ]
    rows = table(*numbers(found, names))
    many = len(found.runs) > charts.MOST_RUNS
    if many:
        rows = f"{table(*group_rows(found))}<details><summary>each run</summary>{rows}</details>"
    made = (
        "git_commit",
        "host",
        "processor",
        "threads",
        "created",
        "end_time",
        "exit_reason",
        "config_hash",
        "command",
    )
    return {
        "summary": f"{said}<h2>{'Groups of runs' if many else 'Runs'}</h2>{rows}",
        "audit": table(
            ["run", "steps", "ended", "intersections", "smallest gap (m)", "contacts at most"], audit
        ),
        "settings": _settings(keys, names, values, many) if keys else "<p>None.</p>",
        "provenance": table(
            ["run", *(m.replace("_", " ") for m in made), "log"],
            [
                [n, *(r.totals.get(m, "") for m in made), r.path]
                for n, r in zip(names, found.runs, strict=True)
            ],
        ),
    }


def _settings(keys: list[str], names: list[str], values: list[list[str]], many: bool) -> str:
    """A row for each key; of many runs a row for each run."""
    from loomcloth.report.page import table

    if not many:
        return table(["key", *names], [[k, *v] for k, v in zip(keys, values, strict=True)])
    return table(["run", *keys], [[n, *v] for n, v in zip(names, zip(*values, strict=True), strict=True)])


def steps_of(run: Run) -> str:
    """How many, and whether the run was stopped before its last one."""
    done, planned = run.totals["steps"], run.totals["planned"]
    if run.status != "stopped":
        return str(done)
    return f"{done} of {planned}, stopped" if planned else f"{done}, stopped"


def _count(value: float) -> str:
    return "not audited" if value != value else str(int(value))


def _short(value: float) -> str:
    return "-" if value != value else f"{value:.3g}"


def numbers_of(args: argparse.Namespace, found: Collection, names: list[str]) -> dict[str, Any]:
    """The numbers that the page draws."""
    from loomcloth.config import method_of
    from loomcloth.report import charts
    from loomcloth.tables import long_of

    it = charts.measured(long_of(found))
    methods = {n: method_of(r.settings) for n, r in zip(names, found.runs, strict=True)}
    chosen = [w.strip() for w in args.facet.split(",") if w.strip()]
    return {
        "measures": charts.present(it, charts.MEASURES),
        "costs_of": charts.present(it, charts.COSTS),
        "facets": charts.parts(it, chosen, args.method),
        "style": looks(methods),
        "method_style": {m: look(m) for m in methods.values()} | looks(methods),
    }


def main(argv: list[str]) -> int:
    args = parse(argv)
    from loomcloth.report import page, replay
    from loomcloth.report.charts import MOST_RUNS
    from loomcloth.tables import collect

    output.check(args.output)
    found = collect(args.logs, "iters")
    for path, why in found.left_out:
        say(f"left out: {path}: {why}")
    if not found.runs:
        raise LogError("no log is left that could be shown")
    for note in found.notes:
        say(note)
    names = found.names()
    data = numbers_of(args, found, names)
    snapshot = None
    if len(found.runs) > MOST_RUNS and not args.no_replay:
        say(f"without a replay: {len(found.runs)} runs; name the logs of at most {MOST_RUNS}")
    elif not args.no_replay:
        paths = [r.path for r in found.runs]
        field = args.field or ("distance" if "distance" in replay.fields_of(paths) else "speed")
        try:
            scene = replay.snapshot(paths, names, field)
            snapshot = scene.snapshot
            data |= {"times": scene.times, "field": scene.field, "labels": scene.labels}
        except LogError as error:
            if args.field:
                raise
            say(f"without a replay: {error}")
    target = Path(args.output)
    size = page.write(target, args.title or target.stem, texts(found, names), data, snapshot)
    print(f"{target}: {len(found.runs)} runs, {1e-6 * size:.1f} MB")
    return 1 if found.left_out else 0


if __name__ == "__main__":
    command.run("report", main, guarded=True)
