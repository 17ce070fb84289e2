"""Which combinations fit, and which of them are still to be run."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from loompy.errors import SpecError
from loompy.sweep.spec import Run, Spec

SETTLED = ("done", "failed")  # marks of a run in state/


@dataclass
class Checked:
    """A combination and what `loom check` says of it."""

    run: Run
    config: Path
    key: str = ""  # what the result depends on
    why: str = ""  # of a refusal


@dataclass
class Plan:
    spec: Spec
    fits: list[Checked]
    refused: list[Checked]
    pending: list[Checked] = field(default_factory=list)

    @property
    def state(self) -> Path:
        return self.spec.output / "state"


def binary() -> str:
    root = Path(os.environ.get("LOOM_ROOT", Path(__file__).resolve().parents[4]))
    return os.environ.get("LOOM_BIN", str(root / "build/bin/loom"))


def config_of(spec: Spec, run: Run) -> Path:
    """The configuration of a run: the common one, or a file that includes it and the overlays."""
    if not run.overlays:
        return spec.config
    folder = spec.output / "configs"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{'_'.join(p.stem for p in run.overlays)}.ini"
    text = "".join(f"include = {os.path.relpath(p, folder)}\n" for p in [spec.config, *run.overlays])
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
    return path


def _stamp(value: str, folder: Path) -> str:
    """Of a file that a run reads: another one of that name gives another result."""
    path = folder / value
    return f"{value} {path.stat().st_mtime_ns}" if value and path.is_file() else ""


def _check(spec: Spec, run: Run) -> Checked:
    checked = Checked(run, config_of(spec, run))
    done = subprocess.run(
        [binary(), "check", str(checked.config), *run.words()],
        cwd=spec.folder, capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode != 0:
        lines = [ln for ln in done.stderr.splitlines() if not re.match(r"loom: (note|warning): ", ln)]
        checked.why = (lines or [f"`loom check` ended with {done.returncode}"])[0].removeprefix("loom: ")
        return checked
    text = done.stdout.split("; resolved configuration", 1)[-1]
    stamps = [_stamp(v, spec.folder) for v in run.sets.values()]
    checked.key = hashlib.sha256("\n".join([text, *stamps]).encode()).hexdigest()[:16]
    return checked


def _refuse_unknown(spec: Spec, refused: list[Checked]) -> None:
    """A key that no combination knows is a mistake in the specification, not a misfit."""
    for section, keys in (("grid", spec.grid), ("set", spec.fixed)):
        for key in keys:
            part, _, name = key.rpartition(".")
            told = [c.why for c in refused if f"[{part}] {name}: unknown key" in c.why
                    or f"unknown section [{part}]" in c.why]  # fmt: skip
            if part and len(told) == spec.count:
                raise SpecError(f"{spec.place(section, key)}: {told[0]}")


def done_key(state: Path, name: str) -> str:
    """The key with which a run was finished, "" if it was not."""
    try:
        return str(json.loads((state / f"{name}.done").read_text())["key"])
    except (OSError, ValueError, KeyError):
        return ""


def make(spec: Spec, workers: int, again: bool = False) -> Plan:
    """Asks `loom check` of every combination; nothing is run.  again: what has failed is tried anew."""
    runs = spec.runs()
    with ThreadPoolExecutor(workers) as pool:
        checked = list(pool.map(lambda run: _check(spec, run), runs))
    plan = Plan(spec, [c for c in checked if not c.why], [c for c in checked if c.why])
    _refuse_unknown(spec, plan.refused)
    plan.state.mkdir(parents=True, exist_ok=True)
    for c in plan.fits:
        if done_key(plan.state, c.run.name) == c.key:
            continue
        failed = _failed(plan.state, c.run.name)
        if failed.get("key") == c.key and failed.get("settled") and not again:
            continue
        plan.pending.append(c)
    return plan


def _failed(state: Path, name: str) -> dict[str, object]:
    try:
        found = json.loads((state / f"{name}.failed").read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def write_manifest(plan: Plan) -> None:
    """Every combination with its settings and its key, for `status` and for readers."""
    rows = [
        {"name": c.run.name, "set": c.run.sets, "overlays": [str(p) for p in c.run.overlays], "key": c.key,
         "why": c.why}
        for c in [*plan.fits, *plan.refused]
    ]  # fmt: skip
    write_whole(plan.spec.output / "manifest.json", json.dumps(rows, indent=1))


def write_whole(path: Path, text: str) -> None:
    """Readers see the old file or the new one, never a part."""
    part = path.with_name(f"{path.name}.part{os.getpid()}")
    part.write_text(text)
    part.replace(path)
