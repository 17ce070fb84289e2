"""`./loom sweep SPEC.ini`: every combination of a grid, on local cores or on Slurm.

[grid] of the specification lists values with '|' between them, or overlays (@FILE.ini), for each key;
[set] fixes keys for all runs; [sweep] config names the configuration that they begin with.
[reference] describes one run for each problem of the grid (each combination of the axes that pose it): it
is made first, checked for convergence, and replayed by the runs of this problem.  [sweep] after names
specifications whose runs end before these begin.
Combinations that do not fit are listed with the reason before anything runs.  Called again, the
command runs only the missing runs, and the runs whose settings or files have changed; runs that were cut
off go on from their checkpoints.  Ctrl-C stops each run with a checkpoint, a second one at once.

A relative path is one from the folder of the file in which it is written: in a specification that of the
specification, in a configuration or an overlay that of this file.

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
from loomcloth.sweep import reference, stages, workflow
from loomcloth.sweep import spec as specification
from loomcloth.sweep import status as state


def parse(argv: list[str]) -> argparse.Namespace:
    doc, ends = (__doc__ or "").split("\n\nexit codes")
    known = {"[sweep]": specification.OPTIONS, "[reference]": reference.OPTIONS}
    known["[slurm]"] = specification.SLURM
    options = "\n".join(
        "\n".join([section, *(f"  {name:11} {doc} (default: {default or 'none'})"
                              for name, (default, doc) in keys.items())])
        for section, keys in known.items()
    )  # fmt: skip
    p = argparse.ArgumentParser(
        prog="loom sweep", allow_abbrev=False, description=doc.split(": ", 1)[1],
        usage="loom sweep SPEC [--cores N] [--slurm] [--plan] [--again] | loom sweep status SPEC",
        epilog=f"keys:\n{options}\n\nexit codes{ends}",
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
    spec, kind = plan.spec, plan.spec.title and f"{plan.spec.title}s: "
    say(f"{kind}{spec.count} combinations: {len(plan.fits)} fit, {len(plan.pending)} are to be run")
    for told, runs in (("does not fit", plan.refused), ("waits", [c for c in plan.fits if c.waits])):
        reasons: dict[str, list[str]] = {}
        for c in runs:
            reasons.setdefault(c.why or c.waits, []).append(c.run.name)
        for why, names in reasons.items():
            more = f" and {len(names) - 5} more" if len(names) > 5 else ""
            say(f"{told}: {', '.join(names[:5])}{more}: {why}")


def tell(output: Path, found: state.Status) -> None:
    for line in state.tell(output, found):
        indent = len(line) - len(line.lstrip())
        print(" " * indent + terminal.clean(line.lstrip()))


def main(argv: list[str]) -> int:
    try:
        return sweep(argv)
    except KeyboardInterrupt:
        say("interrupted; the same command goes on")
        return 130


def status(spec: specification.Spec) -> bool:
    """Tells how far the references and the runs are; whether all that fits is finished."""
    folders = [spec.output / stages.FOLDER] if spec.reference else []
    done = True
    for output in [*(f for f in folders if (f / "manifest.json").exists()), spec.output]:
        found = state.read(output)
        tell(output, found)
        done = done and found.unfinished == 0
    return done


def carry_out(plan: planning.Plan, args: argparse.Namespace) -> int:
    """Exit code of the runs of a plan; before them, of its references."""
    spec, code = plan.spec, 0
    if spec.reference:
        code = make_references(plan, args)
    tell_plan(plan)
    if args.plan:
        for c in plan.fits:
            word = "wait" if c.waits else "run " if c in plan.pending else "done"
            print(f"{word} {'reference ' if spec.title else ''}{c.run.name}")
        return code
    planning.write_manifest(plan)
    stages.write_study(plan)
    ended = 0
    if plan.pending:
        workflow.write(plan, args.cores, args.slurm)
        ended = workflow.run(plan, args.cores, args.slurm, Progress(spec.output), say)
    found = state.read(spec.output)
    tell(spec.output, found)
    if ended != 0 and found.unfinished == 0:
        say(f"Snakemake ended with {ended}: {spec.output}/snakemake.log")
    return 1 if found.unfinished or ended or code else 0


def make_references(plan: planning.Plan, args: argparse.Namespace) -> int:
    """Makes them and has each run replay that of its problem."""
    made = planning.make(stages.references_of(plan), args.cores, args.again)
    stages.refuse_all(made)
    lost = [c for c in made.fits if c not in made.pending and not stages.log_of(made, c).exists()]
    made.pending += [c for c in lost if not planning.failure(made.state, c.run.name)]
    if made.pending and not args.plan:
        for c in plan.fits:
            c.waits = "for its reference"
        planning.write_manifest(plan)  # for `status` meanwhile
    code = carry_out(made, args)
    stages.assign(plan, made, args.cores)
    planning.choose(plan, args.again)
    return code


def sweep(argv: list[str]) -> int:
    args = parse(argv)
    spec = specification.read(args.spec)
    if args.status:
        return 0 if status(spec) else 1
    if args.slurm:
        workflow.need_slurm()
    code = 0
    for one in stages.in_order(spec):
        if one.path != spec.path or one.after:
            say(f"{one.path.name}:")
        plan = planning.make(one, args.cores, args.again)
        if not plan.fits:
            tell_plan(plan)
            raise SpecError(f"{one.path}: no combination fits")
        code = max(code, carry_out(plan, args))
    return code


if __name__ == "__main__":
    command.run("sweep", main)
