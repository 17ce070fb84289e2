"""`./loom sweep SPEC.ini`: every combination of a grid, on local cores or on Slurm.

[grid] of the specification lists values with '|' between them, or overlays (@FILE.ini), for each key;
[set] fixes keys for all runs; [sweep] config names the configuration that they begin with.
Combinations that do not fit are listed with the reason before anything runs.  Called again, the
command runs only the missing runs, and the runs whose settings or files have changed; runs that were cut
off go on from their checkpoints.  Ctrl-C stops each run with a checkpoint, a second one at once.

[sweep] output is a new folder, or one with the file SWEEP of an earlier call; any other is refused.

exit codes: 0 all that fits is finished; 1 some runs failed or were cut off; 2 wrong use or specification
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from functools import partial
from pathlib import Path

from loomcloth import command, terminal
from loomcloth.errors import SpecError
from loomcloth.sweep import plan as planning
from loomcloth.sweep import spec as specification
from loomcloth.sweep import status as state
from loomcloth.sweep import workflow


def parse(argv: list[str]) -> argparse.Namespace:
    doc, ends = (__doc__ or "").split("\n\nexit codes")
    options = "\n".join(
        f"  {name:11} {doc} (default: {default or 'none'})"
        for name, (default, doc) in {**specification.OPTIONS, **specification.SLURM}.items()
    )
    p = argparse.ArgumentParser(
        prog="loom sweep", allow_abbrev=False, description=doc.split(": ", 1)[1],
        usage="loom sweep SPEC [--cores N] [--slurm] [--plan] [--again] | loom sweep status SPEC",
        epilog=f"keys of [sweep] and [slurm]:\n{options}\n\nexit codes{ends}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    p.add_argument("words", nargs="+", metavar="[status] SPEC", help="an INI or YAML file")
    p.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)), help="here (default: all)")
    p.add_argument("--slurm", action="store_true", help="submit jobs to Slurm instead of running here")
    p.add_argument("--plan", action="store_true", help="list what fits and what does not; run nothing")
    p.add_argument("--again", action="store_true", help="also try again what has failed")
    args = p.parse_args(argv)
    args.status = args.words[0] == "status" and len(args.words) == 2
    if len(args.words) != 1 + args.status:
        p.error("one specification is expected")
    if args.cores < 1:
        p.error("--cores: at least 1")
    args.spec = Path(args.words[-1])
    return args


say = partial(terminal.say, "sweep")


class Progress:
    """How far it is, when that has changed; off a terminal at most every 10 s."""

    def __init__(self, output: Path) -> None:
        self.output, self.line = output, ""
        self.told, self.every = time.monotonic(), 2.0 if sys.stderr.isatty() else 10.0

    def __call__(self) -> None:
        if time.monotonic() - self.told < self.every:
            return
        self.told, line = time.monotonic(), state.read(self.output).line()
        if line != self.line:
            say(line)
        self.line = line


def tell_plan(plan: planning.Plan) -> None:
    spec = plan.spec
    say(f"{spec.count} combinations: {len(plan.fits)} fit, {len(plan.pending)} are to be run")
    reasons: dict[str, list[str]] = {}
    for c in plan.refused:
        reasons.setdefault(c.why, []).append(c.run.name)
    for why, names in reasons.items():
        more = f" and {len(names) - 5} more" if len(names) > 5 else ""
        say(f"does not fit: {', '.join(names[:5])}{more}: {why}")


def tell(spec: specification.Spec, found: state.Status) -> None:
    for line in state.tell(spec.output, found):
        indent = len(line) - len(line.lstrip())
        print(" " * indent + terminal.clean(line.lstrip()))


def main(argv: list[str]) -> int:
    try:
        return sweep(argv)
    except KeyboardInterrupt:
        say("interrupted; the same command goes on")
        return 130


def sweep(argv: list[str]) -> int:
    args = parse(argv)
    spec = specification.read(args.spec)
    if args.status:
        found = state.read(spec.output)
        tell(spec, found)
        return 0 if found.counts["finished"] + found.counts["does not fit"] == found.total else 1
    if args.slurm:
        workflow.need_slurm()
    plan = planning.make(spec, args.cores, args.again)
    tell_plan(plan)
    if not plan.fits:
        raise SpecError(f"{spec.path}: no combination fits")
    if args.plan:
        for c in plan.fits:
            print(f"{'run ' if c in plan.pending else 'done'} {c.run.name}")
        return 0
    planning.write_manifest(plan)
    code = 0
    if plan.pending:
        workflow.write(plan, args.cores, args.slurm)
        code = workflow.run(plan, args.cores, args.slurm, Progress(spec.output), say)
    found = state.read(spec.output)
    tell(spec, found)
    unfinished = found.total - found.counts["finished"] - found.counts["does not fit"]
    if code != 0 and unfinished == 0:
        say(f"Snakemake ended with {code}: {spec.output}/snakemake.log")
    return 1 if unfinished or code else 0


if __name__ == "__main__":
    command.run("sweep", main)
