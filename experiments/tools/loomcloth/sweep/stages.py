"""Runs before runs: references are a sweep of their own, which ends before the others begin."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from loomcloth.config import poses_problem
from loomcloth.errors import LogError, SpecError
from loomcloth.sweep import plan as planning
from loomcloth.sweep.axes import keys_of
from loomcloth.sweep.spec import Run, Spec, read

FOLDER = "references"  # of a sweep's folder
INHERITED = ("run.seed",)  # beside the keys that pose the problem


def in_order(spec: Spec, behind: tuple[Path, ...] = ()) -> list[Spec]:
    """The specifications that [sweep] after names, and those that they name, each once, then this one."""
    if spec.path in behind:
        names = " -> ".join(p.name for p in [*behind[behind.index(spec.path) :], spec.path])
        raise SpecError(f"{spec.place('sweep', 'after')}: a circle: {names}")
    found: dict[Path, Spec] = {}
    for path in spec.after:
        found |= {s.path: s for s in in_order(read(path), (*behind, spec.path))}
    return [*found.values(), spec]


def varied_keys(plan: planning.Plan, axis: str) -> list[str]:
    """Keys of the resolved configurations that change with one axis while the others stand still."""
    groups: dict[tuple[str, ...], list[Mapping[str, str]]] = {}
    for c in plan.fits:
        rest = tuple(v.text for a, v in c.run.choice.items() if a != axis)
        groups.setdefault(rest, []).append(c.settings)
    found: dict[str, None] = {}
    for settings in groups.values():
        for other in settings[1:]:
            keys = dict.fromkeys([*settings[0], *other])
            found |= {k: None for k in keys if settings[0].get(k) != other.get(k)}
    return list(found)


def write_study(plan: planning.Plan) -> None:
    """The axes of the grid and the keys of the replicates, for tables and readers of the logs."""
    spec = plan.spec
    keys = {a: [k for k in keys_of(a) if "." in k] for a in spec.grid}
    for axis in spec.replicates:
        keys[axis] = list(dict.fromkeys([*keys[axis], *varied_keys(plan, axis)]))
    replicates = [k for axis in spec.replicates for k in keys[axis] if k != "run.replay"]
    text = json.dumps({"specification": spec.path.name, "axes": keys, "replicate": replicates}, indent=1)
    planning.write_whole(spec.output / "study.json", text)


def problem_axes(plan: planning.Plan) -> list[str]:
    """Axes that pose the problem, by their keys or by the configurations that they lead to, and further ones
    that [reference] names."""
    reference = plan.spec.reference
    named = reference.axes if reference else []
    return [
        axis for axis in plan.spec.grid
        if axis in named
        or any("." in k and poses_problem(k) for k in keys_of(axis))
        or any(poses_problem(k) for k in varied_keys(plan, axis))
    ]  # fmt: skip


def replayed(checked: planning.Checked) -> range:
    """The steps of its reference that a run replays."""
    settings = checked.settings | checked.run.sets
    try:
        first = int(settings.get("run.replay_first", "0"))
        steps = int(settings.get("run.steps", "0")) * int(settings.get("run.substeps", "1"))
    except ValueError:  # no number: `loom check` tells when the reference is there
        return range(0)
    return range(first, first + steps)


def references_of(plan: planning.Plan) -> Spec:
    """The sweep of the references: the axes that pose the problem, the keys of [reference]."""
    spec, reference = plan.spec, plan.spec.reference
    assert reference is not None
    axes = problem_axes(plan)
    fixed = {k: v for k, v in spec.fixed.items() if poses_problem(k) or k in INHERITED}
    needed = max((replayed(c).stop for c in plan.fits), default=0)
    fixed |= {"run.steps": str(needed)} | reference.sets | {"log.frames_every": "1"}
    lines = {("set", k): spec.lines.get(("set", k), 0) for k in fixed}
    lines |= {("set", k): spec.lines.get(("reference", own), 0) for k, own in reference.keys.items()}
    return replace(
        spec,
        options=spec.options | {"output": str(spec.output / FOLDER)},
        fixed=fixed,
        grid={a: v for a, v in spec.grid.items() if a in axes},
        lines=spec.lines | lines,
        reference=None,
        overlays=reference.overlays,
        title="reference",
    )


@dataclass
class Made:
    """A reference: its name, its log, and why it cannot be replayed, "" if it can."""

    name: str
    log: Path
    why: str = ""


def log_of(plan: planning.Plan, checked: planning.Checked) -> Path:
    return plan.spec.output / f"{checked.run.name}.h5"


def _made(plan: planning.Plan) -> dict[tuple[tuple[str, str], ...], Made]:
    """By the choices of the axes."""
    found = {}
    for c in [*plan.fits, *plan.refused]:
        made = Made(c.run.name, log_of(plan, c))
        if c.why:
            made.why = f"does not fit: {c.why}"
        elif planning.done_key(plan.state, made.name) != c.key or not made.log.exists():
            cause = planning.failure(plan.state, made.name).get("cause")
            made.why = f"failed: {cause}" if cause else NOT_YET
        found[_choice(c.run, list(plan.spec.grid))] = made
    return found


def _choice(run: Run, axes: list[str]) -> tuple[tuple[str, str], ...]:
    return tuple((a, run.choice[a].text) for a in axes)


def unconverged(log: Path, steps: range) -> str:
    """The steps among these in which a reference did not converge, "" if it did in all."""
    from loomcloth.log import GOOD_ENDS, Log

    try:
        with Log(str(log)) as found:
            rows, words = found.table("steps", ("step", "reason")), found.enum("steps", "reason")
    except LogError as error:
        return f"cannot be read: {error}"
    ends = {int(r["step"]): words.get(int(r["reason"]), "?") for r in rows if int(r["step"]) in steps}
    bad = [f"step {s}: {why}" for s, why in ends.items() if why not in GOOD_ENDS]
    if not bad:
        return ""
    more = f" and {len(bad) - 3} more" if len(bad) > 3 else ""
    return f"did not converge in {len(bad)} of {len(steps)} replayed steps ({', '.join(bad[:3])}{more})"


NOT_YET = "is not finished"
REMEDY = "raise [reference] max_iters, loosen its tolerance, name another solver, or say unconverged = mark"


def assign(plan: planning.Plan, references: planning.Plan, workers: int) -> None:
    """Each run that fits replays the reference of its problem; one whose reference is missing or did not
    converge waits."""
    spec, made = plan.spec, _made(references)
    assert spec.reference is not None
    axes, told, ready = list(references.spec.grid), dict[tuple[str, range], str](), []
    for c in plan.fits:
        mine = made[_choice(c.run, axes)]
        c.reference, c.waits = mine.name, mine.why
        if not c.waits:
            steps = replayed(c)
            if (mine.name, steps) not in told:
                told[mine.name, steps] = unconverged(mine.log, steps)
            why = told[mine.name, steps]
            if why and spec.reference.refuses:
                c.waits = f"{why}; {REMEDY}"
        if c.waits:
            name = "" if mine.why == NOT_YET else f"{mine.name} "
            c.waits = f"its reference {name}{c.waits}"
            continue
        c.run.sets["run.replay"] = os.path.relpath(mine.log, spec.folder)
        ready.append(c)
    planning.check(spec, ready, workers)
    plan.refused += [c for c in plan.fits if c.why]
    plan.fits = [c for c in plan.fits if not c.why]


def refuse_all(references: planning.Plan) -> None:
    """SpecError where no reference fits: the mistake is one of [reference], with its place if it is known."""
    if references.fits:
        return
    why, spec = references.refused[0].why, references.spec
    for key in spec.fixed:
        part, _, name = key.rpartition(".")
        if f"[{part}] {name}" in why:
            raise SpecError(f"{spec.place('set', key)}: {why}")
    raise SpecError(f"{spec.path}: [reference]: no reference fits: {why}")
