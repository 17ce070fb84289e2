"""One part of a method switched off for each claim: tests/control/claims.toml.

  python -m loomcloth.controls NAME... [--out FOLDER]    runs controls; exit code 1 where one is not as told
  python -m loomcloth.controls --quick | --night         all controls of a kind

Each row is a bar that holds with the method whole.  With the part off the bar has to fail (effect = "fails"),
or it holds as well (effect = "none"): the table of `./loom figure claims` then publishes that the part has no
effect there.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import os
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from loomcloth.log import Log
from loomcloth.steps import LAST, steps_of

DATA = "tests/control/claims.toml"
RESULT = "experiments/results/claims-controls.txt"
HEAD = "name,measure,bar,effect,whole,off,cpu_seconds"  # of the result
INPUTS = ("config", "measure", "off", "sets", "reference", "replay", "steps", "mutant")  # of the numbers
LIMIT = "max_iters"  # a word of /steps.reason


@dataclass
class Control:
    """A row: `sets` for both runs, `off` for the second one."""

    name: str
    paper: str
    claim: str  # a sentence of the paper, or of its README here
    part: str  # switched off
    config: str  # from the root
    measure: str  # see measured()
    bar: float
    effect: str  # fails, none
    off: dict[str, Any] = field(default_factory=dict)
    sets: dict[str, Any] = field(default_factory=dict)
    # Of a run with which both are compared: measure = "distance", or replayed from its step `replay`.
    reference: dict[str, Any] = field(default_factory=dict)
    replay: int = 0
    steps: int = 1  # of a replay
    mutant: str = ""  # folder of plugins in which the part is taken out, see tests/control/CMakeLists.txt
    least: bool = False  # the bar is a minimum
    quick: bool = False  # by day
    note: str = ""

    def holds(self, value: float) -> bool:
        # a NaN does not
        return bool(value >= self.bar if self.least else value <= self.bar)

    def as_told(self, whole: float, off: float) -> bool:
        return self.holds(whole) and self.holds(off) == (self.effect == "none")


def load(root: Path) -> list[Control]:
    with open(root / DATA, "rb") as file:
        rows = [Control(**row) for row in tomllib.load(file)["control"]]
    names = [row.name for row in rows]
    twice = {n for n in names if names.count(n) > 1}
    wrong = [r.name for r in rows if r.effect not in ("fails", "none") or not (r.off or r.mutant)]
    if twice or wrong:
        raise ValueError(f"{DATA}: {', '.join([*twice, *wrong])}")
    return rows


# ---- runs ----
MADE: dict[str, Path | None] = {}  # logs of this process, which rows share


def run(root: Path, control: Control, sets: dict[str, Any], out: Path, mutant: str = "") -> Path | None:
    """The finished log, None where the run ended with an error."""
    key = hashlib.sha256(repr((control.config, sorted(sets.items()), mutant)).encode()).hexdigest()[:12]
    log = out / f"control-{key}.h5"
    if str(log) in MADE:
        return MADE[str(log)]
    binary = Path(os.environ.get("LOOM_BIN", root / "build/bin/loom")).absolute()
    words = [w for k, v in sets.items() for w in ("--set", f"{k}={v}")]
    if mutant:
        words += ["--plugin-path", str(binary.parents[1] / "tests/control" / mutant)]
    done = subprocess.run(
        [str(binary), "run", str(root / control.config), "-o", log.name, "--overwrite", "--quiet", *words],
        cwd=out, capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode == 2:
        raise ValueError(f"{control.name}: {done.stderr.strip()}")
    MADE[str(log)] = log if log.exists() and is_finished(log) else None
    return MADE[str(log)]


def is_finished(path: Path) -> bool:
    with Log(path) as log:
        return bool(log.status == "finished")


def measured(control: Control, log: Path | None, reference: Path | None) -> float:
    """The number that the bar bounds; NaN where the run ended with an error.

    iterations, limited (steps that ended at their limit of iterations), intersections: of all steps
    length: of the shortest step, 1 where no step bound cut one
    inner: the last value of the solver's monitor, a share of the error at the guess, of the worst system
    excess: energy above the reference's end, as a share of that at the guess; median over the steps
    distance: mean distance of all vertices and frames to the reference, over the mean travel of that
    mean|sum|max|min TABLE COLUMN: of a table of the log
    """
    if log is None:
        return float("nan")
    word, *rest = control.measure.split()
    with Log(log) as read:
        steps = read.table("steps")
        if word == "iterations":
            return float(steps["iters"].sum())
        if word == "limited":
            words = read.enum("steps", "reason")
            return float(sum(words.get(int(reason)) == LIMIT for reason in steps["reason"]))
        if word == "length":
            return float(steps_of(log)["length"].min())
        if word == "intersections":
            found = steps["intersections"]
            return float(found.sum()) if (found >= 0).all() else float("nan")
        if word == "inner":
            rows = read.table("inner")
            return float(rows["value"][rows["j"] == rows["j"].max()].max())
        if word in ("excess", "distance") and reference is not None:
            with Log(reference) as other:
                return (excess if word == "excess" else distance)(read, other)
        values = read.table(rest[0])[" ".join(rest[1:])]
    return float(getattr(np, word)(values))


def excess(log: Log, reference: Log) -> float:
    mine, theirs = log.table("iters"), reference.table("iters")
    left = []
    for step in np.unique(mine["step"]):
        energy, least = (t["e_total"][(t["step"] == step) & (t["stage"] != LAST)] for t in (mine, theirs))
        left.append((energy[-1] - least[-1]) / (energy[0] - least[-1]))
    return float(np.median(left))


def distance(log: Log, reference: Log) -> float:
    x, ref = log.file["frames/x"][:], reference.file["frames/x"][:]
    travel = np.linalg.norm(ref[1:] - ref[0], axis=-1).mean()
    return float(np.linalg.norm(x[1:] - ref[1:], axis=-1).mean() / travel)


def measure(root: Path, control: Control, out: Path) -> tuple[float, float]:
    """The number with the method whole, and with the part off."""
    reference = None
    sets = dict(control.sets)
    if control.reference:
        reference = run(root, control, control.reference, out)
        if reference is None:
            raise ValueError(f"{control.name}: the reference ended with an error")
    if control.replay:
        sets |= {"run.replay": reference, "run.replay_first": control.replay, "run.steps": control.steps}
    whole = run(root, control, sets, out)
    off = run(root, control, sets | control.off, out, control.mutant)
    return measured(control, whole, reference), measured(control, off, reference)


def timed(root: Path, control: Control, out: Path) -> tuple[float, float, float]:
    """measure(), and the processor seconds of its runs."""
    begin = os.times()
    whole, off = measure(root, control, out)
    end = os.times()
    return whole, off, end.children_user + end.children_system - begin.children_user - begin.children_system


# ---- results ----
def line(control: Control, whole: float, off: float) -> str:
    sign = ">=" if control.least else "<="
    word = "PASS" if control.as_told(whole, off) else "MISS"
    tells = "the bar fails" if control.effect == "fails" else "no effect on the bar"
    return (f"CONTROL {control.name}: {control.measure} = {whole:.4g}, off {off:.4g} "
            f"({sign} {control.bar:g}; off: {tells}) {word}")  # fmt: skip


def bounds(control: Control) -> str:
    return f"{'>=' if control.least else '<='} {control.bar:g}"


def record(control: Control, whole: float, off: float, seconds: float) -> str:
    """A line of the result, in the columns of HEAD."""
    numbers = f"{whole:.4g},{off:.4g},{seconds:.1f}"
    return f"{control.name},{control.measure},{bounds(control)},{control.effect},{numbers}"


def results(root: Path) -> list[tuple[Control, tuple[float, float] | None]]:
    """Each row with its committed numbers; None: it was not measured with this measure, bar and effect."""
    path = root / RESULT
    lines = csv.DictReader(io.StringIO(path.read_text())) if path.exists() else []
    known = {(d["name"], d["measure"], d["bar"], d["effect"]): d for d in lines}
    out: list[tuple[Control, tuple[float, float] | None]] = []
    for row in load(root):
        found = known.get((row.name, row.measure, bounds(row), row.effect))
        out.append((row, (float(found["whole"]), float(found["off"])) if found else None))
    return out


def main(argv: list[str]) -> int:
    about = (__doc__ or "").splitlines()[0]
    p = argparse.ArgumentParser(prog="python -m loomcloth.controls", description=about)
    p.add_argument("name", nargs="*", help="names of controls")
    p.add_argument("--quick", action="store_true", help="the controls of the day")
    p.add_argument("--night", action="store_true", help="all others")
    p.add_argument("--out", type=Path, help="keep logs here")
    args = p.parse_args(argv)
    from loomcloth.experiment import ROOT

    rows = load(ROOT)
    unknown = set(args.name) - {row.name for row in rows}
    if unknown:
        p.error(f"no control {', '.join(sorted(unknown))}")
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        out = args.out or Path(folder)
        out.mkdir(parents=True, exist_ok=True)
        for row in rows:
            if row.name in args.name or (args.quick and row.quick) or (args.night and not row.quick):
                whole, off = measure(ROOT, row, out)
                print(line(row, whole, off), flush=True)
                bad += not row.as_told(whole, off)
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
