"""How far a sweep is, from the marks in its folder; starts no run."""

from __future__ import annotations

import functools
import json
import os
import re
import socket
import subprocess
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loomcloth.errors import SpecError

STATES = ("finished", "running", "waiting", "cut off", "failed", "does not fit")


@dataclass
class Status:
    counts: Counter[str] = field(default_factory=Counter)
    causes: dict[str, dict[str, str]] = field(default_factory=dict)  # alike but for numbers: cause by run
    misfits: dict[str, list[str]] = field(default_factory=dict)
    waits: dict[str, list[str]] = field(default_factory=dict)

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def unfinished(self) -> int:
        return self.total - self.counts["finished"] - self.counts["does not fit"]

    def line(self) -> str:
        return ", ".join(f"{self.counts[s]} {s}" for s in STATES if self.counts[s])


def _mark(state: Path, name: str, kind: str) -> dict[str, Any]:
    try:
        found = json.loads((state / f"{name}.{kind}").read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def queued() -> set[str] | None:
    """Numbers of the jobs that Slurm's queue has, None where it does not answer."""
    try:
        done = subprocess.run(["squeue", "-h", "-o", "%A"], capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return set(done.stdout.split()) if done.returncode == 0 else None


def _alive(mark: dict[str, Any], jobs: Callable[[], set[str] | None]) -> bool:
    """Whether the driver of a run lives; on another node, whether Slurm has its job.  One of which
    no queue tells counts as alive."""
    if mark.get("host") != socket.gethostname():
        known = jobs() if "SLURM_JOB_ID" in mark else None
        return known is None or str(mark["SLURM_JOB_ID"]) in known
    try:
        os.kill(int(mark["pid"]), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def general(cause: str) -> str:
    """A cause without the paths and numbers that differ from run to run."""
    cause = re.sub(r"\S*/\S+", "FILE", cause)
    return re.sub(r"[-+]?\b\d+(\.\d+)?(e[-+]?\d+)?\b", "N", cause)


def read(output: Path) -> Status:
    """SpecError if the folder holds no planned sweep."""
    state, found, jobs = output / "state", Status(), functools.cache(queued)
    try:
        rows = json.loads((output / "manifest.json").read_text())
    except (OSError, ValueError) as error:
        raise SpecError(f"{output}: no sweep was started here: {error}") from None
    for row in rows:
        name = row["name"]
        running, failed = _mark(state, name, "running"), _mark(state, name, "failed")
        if row["why"]:
            found.counts["does not fit"] += 1
            found.misfits.setdefault(row["why"], []).append(name)
        elif row.get("waits"):
            found.counts["waiting"] += 1
            found.waits.setdefault(row["waits"], []).append(name)
        elif _mark(state, name, "done").get("key") == row["key"]:
            found.counts["finished"] += 1
        elif running and _alive(running, jobs):
            found.counts["running"] += 1
        elif failed and failed.get("key") == row["key"]:
            kind = "failed" if failed.get("settled") else "cut off"
            found.counts[kind] += 1
            cause = str(failed.get("cause", ""))
            found.causes.setdefault(general(cause), {})[name] = cause
        elif running:
            found.counts["cut off"] += 1
            found.causes.setdefault("the job died", {})[name] = "the job died"
        else:
            found.counts["waiting"] += 1
    return found


def tell(output: Path, found: Status) -> list[str]:
    """Lines: numbers, then failures by cause with one run as an example."""
    lines = [f"{output}: {found.total} combinations: {found.line()}"]
    for cause, runs in sorted(found.causes.items(), key=lambda item: -len(item[1])):
        name, own = next(iter(runs.items()))
        is_one = len(set(runs.values())) == 1
        lines.append(f"  {len(runs)} x {own if is_one else cause}")
        lines.append(f"      such as {name}: {'' if is_one else f'{own}: '}{output}/state/{name}.txt")
    for why, names in sorted(found.waits.items(), key=lambda item: -len(item[1])):
        lines.append(f"  {len(names)} wait, such as {names[0]}: {why}")
    for why, names in sorted(found.misfits.items(), key=lambda item: -len(item[1])):
        lines.append(f"  {len(names)} do not fit, such as {names[0]}: {why}")
    return lines
