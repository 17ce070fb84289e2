"""Common parts of the tests of `loom sweep`: specifications, killing, the bits of logs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import h5py
import numpy as np
from logs import DRAPE, SOURCE
from loomcloth.sweep import plan as planning
from loomcloth.sweep import spec as specification
from loomcloth.sweep import stages, workflow

HANG = f"""\
include = {SOURCE}/configs/hang.ini
[cloth.sheet]
resolution = 5 5
[run]
steps = 3
[stop]
max_iters = 3
[log]
audit = off
"""
# A study of two solvers that replay two steps of a reference; axes of the problem follow.
REFERENCED = """\
[reference]
solver    = cholmod_newton
tolerance = 1e-8 m
max_iters = 50
[set]
run.replay_first = 6
run.steps        = 2
cloth.sheet.resolution = 5 5
[grid]
solver.plugin = gd | cholmod_pd
"""
ENDED = ("steps", "iters", "frames/x", "frames/v")
NOT_BITS = ("t_", "n_", "rss")  # clocks and counters of work, which a resumed run may count otherwise


def write(folder: Path, text: str, name: str = "grid.ini") -> Path:
    (folder / "drape.ini").write_text(DRAPE)
    (folder / "hang.ini").write_text(HANG)
    path = folder / name
    path.write_text(text)
    return path


def drive(plan: planning.Plan) -> None:
    """Makes its pending runs, as a job of the workflow does, without Snakemake."""
    planning.write_manifest(plan)
    for name in workflow.write(plan, 1, False):
        job = plan.spec.output / f"groups/{name}.json"
        subprocess.run([os.environ["PYTHON"], "-m", "loomcloth.sweep.driver", job], check=True)


def make_runs(path: Path) -> planning.Plan:
    """The plan of a specification with its references and its runs, which it makes."""
    plan = planning.make(specification.read(path), 2)
    if plan.spec.reference:
        made = planning.make(stages.references_of(plan), 2)
        drive(made)
        stages.assign(plan, made, 2)
        planning.choose(plan, False)
    drive(plan)
    stages.write_study(plan)
    return plan


def sweep(*words: object, code: int | None = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [os.environ["PYTHON"], "-m", "loomcloth.sweep", *map(str, words)], capture_output=True, text=True
    )
    assert code is None or done.returncode == code, f"{done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def same_bits(a: Path, b: Path) -> None:
    """Everything but clocks and counters of work."""
    with h5py.File(a) as one, h5py.File(b) as two:
        for name in ENDED:
            x, y = one[name][:], two[name][:]
            for column in x.dtype.names or ("",):
                if column.startswith(NOT_BITS):
                    continue
                u, v = (x[column], y[column]) if column else (x, y)
                np.testing.assert_array_equal(u, v, f"{a} {name}.{column}")


def children(pid: int) -> list[int]:
    try:
        return [int(w) for w in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def kill_each_once(output: Path, until: subprocess.Popen[str], sig: int = signal.SIGKILL) -> set[str]:
    """Ends every run once, as soon as it has a checkpoint; the names of the runs it caught."""
    killed: set[str] = set()
    while until.poll() is None:
        for mark in (output / "state").glob("*.running"):
            name = mark.name.removesuffix(".running")
            if name in killed or not (output / f"{name}.check.h5").exists():
                continue
            try:
                driver = json.loads(mark.read_text())["pid"]
            except (OSError, ValueError):
                continue
            for child in children(driver):
                try:
                    words = Path(f"/proc/{child}/cmdline").read_text().split("\0")
                    if any(w.endswith(f"/{name}.h5") for w in words):
                        os.kill(child, sig)
                        killed.add(name)
                except (OSError, ProcessLookupError):
                    continue
        time.sleep(0.01)
    return killed
