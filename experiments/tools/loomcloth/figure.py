"""`./loom figure NAME | --list | --check`: makes the runs of a figure and draws it.

A folder under experiments/ offers figures through a file figure.py with a table
    FIGURES = {"name": ("title of the figure", function), ...}
and functions that take an Experiment.  A figure named *-bars returns a list of Bar and NotMeasured.

Exit code: 0, 1 if a bar was measured and is short, a result is not current, or something failed, 2 for
wrong arguments.
A bar that could not be measured is printed as NOT MEASURED and leaves the code alone.
"""

import argparse
import difflib
import shlex
import sys

from loomcloth import command
from loomcloth.errors import FigureError, LogError


def all_figures():
    """{name: (folder, text, function)} of every experiments/*/figure.py."""
    from loomcloth.experiment import ROOT, load_figures

    found = {}
    for path in sorted((ROOT / "experiments").glob("*/figure.py")):
        for name, (text, function) in load_figures(path.parent).FIGURES.items():
            if name in found:
                raise FigureError(f"two figures are called '{name}': {found[name][0]}, {path.parent}")
            found[name] = (path.parent, text, function)
    return found


def plan(function, experiment):
    """Up to the first log that is not there."""
    try:
        function(experiment)
    except (LogError, OSError):
        print("the rest depends on these runs")
    return 0


def check():
    """Prints which of experiments/results/ are older than their sources, or of unknown origin."""
    from loomcloth import made
    from loomcloth.experiment import ROOT

    found = made.check(ROOT)
    for file, state, text in found:
        if state != made.CURRENT:
            print(f"{file}: {state} {text}" if state.startswith("older") else f"{file}: {state}: {text}")
    states = [state for _, state, _ in found]
    counts = {state: states.count(state) for state in dict.fromkeys(states)}
    print(f"{len(found)} results: " + ", ".join(f"{n} {state}" for state, n in counts.items()))
    shown, fine = made.shown(ROOT), (made.CURRENT, made.TOOLS_OLD, made.CORE_OLD)
    late = [file for file, state, _ in found if file in shown and state not in fine]
    print(f"{len(shown)} are shown in pages, {len(late)} of them older than a plugin, a configuration or a "
          "script")
    return 1 if set(states) - {made.CURRENT} else 0


def details(text):
    """Numbers from 1 on, with a comma between two."""
    found = tuple(int(word) for word in text.split(","))
    if min(found) < 1:
        raise ValueError
    return found


def main(argv):
    p = argparse.ArgumentParser(
        prog="loom figure", allow_abbrev=False,
        description="Runs what a figure under experiments/ needs and draws it into the folder's out/.",
    )
    p.add_argument("name", nargs="?", help="one of --list")
    p.add_argument("--list", action="store_true", help="what there is")
    p.add_argument("--check", action="store_true",
                   help="list what of experiments/results/ is older than its sources")
    p.add_argument("--fresh", action="store_true", help="run everything again")
    p.add_argument("--plan", action="store_true",
                   help="check and print what would be run first, run nothing")
    p.add_argument("--kept", action="store_true",
                   help="run nothing: draw from the logs that are there, and name those that the present "
                   "sources or settings would make anew")
    p.add_argument("--update", action="store_true",
                   help="also replace the result that is kept in experiments/results/")
    p.add_argument("--disturb", metavar="ROW[,ROW]", default="",
                   help="as a control, measure these rows of a figure like `validation` with a wrong input: "
                   "they alone must fail")
    p.add_argument("--detail", metavar="N[,N]", type=details, default=(),
                   help="sizes of a figure like `speed-bars`, as [run] detail: 2 is four times 1")
    p.add_argument("--before", metavar="FOLDER",
                   help="an older source folder with its build/bin/loom, which `speed-bars` runs as well")
    args = p.parse_args(argv)
    if args.kept and args.fresh:
        p.error("--kept runs nothing: leave out --fresh")
    if args.disturb and args.update:
        p.error("--disturb makes no result to keep: leave out --update")
    if args.check:
        if args.name:
            p.error("--check looks at all results")
        return check()
    figures = all_figures()
    if args.list or not args.name:
        from loomcloth import made
        from loomcloth.experiment import ROOT

        seconds = made.cost(ROOT / "experiments/results")
        for name, (folder, text, _) in figures.items():
            took = f", {seconds[name]} s" if name in seconds else ""
            print(f"{name:24} {text}  [experiments/{folder.name}{took}]")
        return 0 if args.list else 2
    if args.name not in figures:
        near = difflib.get_close_matches(args.name, figures, 1)
        hint = f"; did you mean '{near[0]}'?" if near else f"; there are: {', '.join(figures)}"
        print(f"loom: figure: no figure '{args.name}'{hint}", file=sys.stderr)
        return 2
    folder, _, function = figures[args.name]
    from loomcloth.experiment import Experiment

    words = shlex.join(["./loom", "figure", *argv])
    disturb = set(filter(None, args.disturb.split(",")))
    options = {k: v for k, v in (("detail", args.detail), ("before", args.before)) if v}
    experiment = Experiment(
        folder, args.fresh, args.kept and not args.plan, plan=args.plan, update=args.update,
        command=words, disturb=disturb, options=options,
    )
    if args.plan:
        return plan(function, experiment)
    bars = function(experiment)
    if experiment.old:
        names = ", ".join(sorted({path.stem for path in experiment.old}))
        print(f"loom: figure: --kept: present sources or settings would make anew: {names}", file=sys.stderr)
    if experiment.options:
        print(f"loom: figure: {args.name} does not read --{min(experiment.options)}", file=sys.stderr)
        return 2
    if experiment.disturb:
        names = ", ".join(sorted(experiment.disturb))
        print(f"loom: figure: {args.name} has no row that --disturb can change: {names}", file=sys.stderr)
        return 2
    if not args.name.endswith("-bars"):
        return 0
    if not bars:
        raise FigureError(f"{args.name} returned no bars")
    for bar in bars:
        print(bar)
    return 1 if any(bar.passed is not None and not bar.passed for bar in bars) else 0


if __name__ == "__main__":
    command.run("figure", main)
