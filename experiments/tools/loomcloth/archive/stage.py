"""A copy of a study in a folder of its own, with packed logs, which `loom sweep` finds finished there."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from loomcloth.archive import files, logs
from loomcloth.errors import LogError, SpecError
from loomcloth.selection import BESIDE
from loomcloth.sweep import plan as planning
from loomcloth.sweep import spec as specification
from loomcloth.sweep import stages
from loomcloth.sweep.plan import Checked, Plan

SEARCH_PATH = "LOOM_CONFIG_PATH"
KEPT = ("at", "code", "cpu", "peak", "cause", "settled")  # of the mark of a run


@dataclass
class Part:
    """The runs of one specification, or its references."""

    plan: Plan
    is_reference: bool
    missing: dict[str, str] = field(default_factory=dict)  # run: why it has no log

    def log(self, checked: Checked) -> Path:
        return stages.log_of(self.plan, checked)

    def whole(self) -> list[Checked]:
        return [c for c in self.plan.fits if c.run.name not in self.missing]

    @property
    def output(self) -> Path:
        return Path(os.path.normpath(self.plan.spec.output))


def parts_of(path: Path, cores: int) -> list[Part]:
    """The plans of a study, each reference before the runs that replay it; runs none."""
    found = []
    for spec in stages.in_order(specification.read(path)):
        plan = planning.make(spec, cores)
        if not plan.fits:
            raise SpecError(f"{spec.path}: no combination fits")
        if spec.reference:
            made = planning.make(stages.references_of(plan), cores)
            stages.refuse_all(made)
            found.append(Part(made, True))
            stages.assign(plan, made, cores)
            planning.choose(plan, False)
        found.append(Part(plan, False))
    return found


def look(part: Part) -> None:
    """Finds the runs without a whole log of their own."""
    plan = part.plan
    pending = {c.run.name for c in plan.pending}
    for c in plan.fits:
        log, name = part.log(c), c.run.name
        cause = planning.failure(plan.state, name).get("cause")
        why = c.waits or (name in pending and (f"failed: {cause}" if cause else "is not finished"))
        why = why or (not planning.done_key(plan.state, name) and f"failed: {cause}")
        part.missing[name] = str(why) if why else _wrong(c, log)
        if not part.missing[name]:
            del part.missing[name]


def _wrong(checked: Checked, log: Path) -> str:
    why = logs.finished(log)
    if why:
        mark = f"{log.parent}/state/{checked.run.name}.done"
        return f"{log}: {why}; `rm -f {log} {mark}`, then `loom sweep`, makes it anew"
    hashed = logs.attribute(log, "config_hash")
    if checked.hash and hashed != checked.hash:
        return f"{log}: is of the configuration {hashed}, not of {checked.hash}, as the specification asks"
    return ""


def strangers(parts: list[Part]) -> Iterator[Path]:
    """Logs in the folders of the study that belong to none of its runs."""
    for part in parts:
        own = {part.log(c).name for c in part.plan.fits}
        for path in sorted(part.output.glob("*.h5")):
            if path.name not in own and not path.name.endswith(BESIDE):
                yield path


def files_of(parts: list[Part]) -> files.Files:
    """All that the runs read beside logs of the study, with places in the archive."""
    found = files.Files(outputs=[p.output for p in parts])
    specs = {p.plan.spec.path: p for p in parts if not p.is_reference}
    for path, part in specs.items():
        found.add_output(path, part.plan.spec.options["output"] or "out", part.output)
        for other in part.plan.spec.after:
            whole = Path(os.path.normpath(other))
            found.link(path, os.path.relpath(other, path.parent), whole, "specification")
    for part in parts:
        found.add_plan(part.plan, specs[part.plan.spec.path].plan)
    found.settle(parts[-1].plan.spec.path)
    return found


def build(parts: list[Part], found: files.Files, stage: Path, cores: int) -> None:
    """Fills the folder.  LogError where the copy would not be finished, or names a place of this machine."""
    for path, kind in found.found.items():
        target = stage / found.place(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix in (".ini", ".yaml", ".yml") or kind == "specification":
            target.write_text(found.text_of(path), encoding="utf-8")
        else:
            shutil.copyfile(path, target)
    for (at, name), path in found.copies.items():
        target = stage / found.place(at) / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    for part in parts:
        folder = stage / found.place(part.output)
        (folder / "state").mkdir(parents=True, exist_ok=True)
        (folder / planning.MARK).write_text(planning.MARK_TEXT)
        for c in part.whole():
            logs.pack(part.log(c), folder / f"{c.run.name}.h5")
    roots = [str(r) for r in found.roots if len(r.parts) > 2]
    _refuse_absolute(parts, found, stage, roots)
    with _without_search_path():
        _mark(parts, stage / found.place(parts[-1].plan.spec.path), cores)
    for part in parts:
        folder = stage / found.place(part.output)
        shutil.rmtree(folder / "configs", ignore_errors=True)  # made anew by each plan
        for path in (*folder.glob("*.json"), *folder.glob("state/*")):
            told = [name for name in (str(stage), *roots) if name in path.read_text(encoding="utf-8")]
            if told:
                raise LogError(f"{path.name}: would name {told[0]}, a folder of this machine")


def _refuse_absolute(parts: list[Part], found: files.Files, stage: Path, roots: list[str]) -> None:
    for path in found.found:
        if path.suffix not in (".ini", ".yaml", ".yml"):
            continue
        wrong = files.absolute((stage / found.place(path)).read_text(encoding="utf-8"), roots)
        if wrong:
            raise LogError(f"{path}:{wrong[0]}: {wrong[1]}: an absolute path, which no archive can hold; "
                           "write a path from the folder of this file")  # fmt: skip


@contextlib.contextmanager
def _without_search_path() -> Iterator[None]:
    """The copy is planned where no other folder can give the files that it lacks."""
    before = os.environ.pop(SEARCH_PATH, None)
    try:
        yield
    finally:
        if before is not None:
            os.environ[SEARCH_PATH] = before


def _mark(parts: list[Part], path: Path, cores: int) -> None:
    """Marks the runs of the copy as those here.  The key of a run changes with the bytes of the reference
    that it replays, and a packed reference has other bytes with the same values."""
    before = iter(parts)
    for spec in stages.in_order(specification.read(path)):
        plan = planning.make(spec, cores)
        if spec.reference:
            made = planning.make(stages.references_of(plan), cores)
            _settle(next(before), made)
            stages.assign(plan, made, cores)
        _settle(next(before), plan)


def _settle(part: Part, plan: Plan) -> None:
    here, there = {c.run.name: c for c in part.plan.fits}, {c.run.name: c for c in plan.fits}
    if here.keys() != there.keys():
        name = min(here.keys() ^ there.keys())
        why = next((c.why for c in plan.refused if c.run.name == name), "its name would be another one")
        raise LogError(f"{plan.spec.path.name}: the run {name} does not fit in the archive: {why}")
    for name, c in there.items():
        for kind in ("done", "failed"):
            try:
                mark = json.loads((part.plan.state / f"{name}.{kind}").read_text())
            except (OSError, ValueError):
                continue
            if mark.get("key") != here[name].key or (kind == "done" and name in part.missing):
                continue
            kept = {k: mark[k] for k in KEPT if k in mark}
            planning.write_whole(plan.state / f"{name}.{kind}", json.dumps({"key": c.key, **kept}))
    planning.choose(plan, False)
    again = [c.run.name for c in plan.pending if c.run.name not in part.missing]
    if again:
        count = f"{len(again)} runs again, for example {again[0]}"
        raise LogError(f"{plan.spec.path.name}: the copy would make {count}")
    planning.write_manifest(plan)
    stages.write_study(plan)
