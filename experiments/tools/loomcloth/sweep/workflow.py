"""A sweep as a Snakemake workflow: groups of runs are its jobs, on local cores or on Slurm."""

from __future__ import annotations

import ctypes
import json
import math
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from loomcloth.command import Ended
from loomcloth.errors import SpecError
from loomcloth.search import binary
from loomcloth.sweep.driver import PR_SET_PDEATHSIG
from loomcloth.sweep.plan import Plan, write_whole
from loomcloth.sweep.spec import Spec

MOST_IN_A_GROUP = 50
LEAST_AGE = 120  # s, least MinJobAge: for so long Snakemake's executor must find a job that has ended
TOOLS = Path(__file__).resolve().parents[2]

SNAKEFILE = """\
# Written by `loom sweep`: jobs are groups of runs, each run marks in state/ what became of it.
# A job's output is only its mark: Snakemake would delete the half logs of a job that died.
GROUPS = {groups}

rule all:
    input: expand("groups/{{g}}.done", g=GROUPS)

rule group:
    output: touch("groups/{{g}}.done")
    threads: {threads}
    retries: {retries}
    resources: runtime={time}, mem_mb={memory}{slurm}
    shell: {command}
"""


def group_size(spec: Spec, pending: int, cores: int) -> int:
    """Runs of a job: few jobs cost little, many keep all cores busy to the end."""
    given = spec.number("group")
    return given or max(1, min(MOST_IN_A_GROUP, math.ceil(pending / (4 * cores))))


def literal(text: str) -> str:
    """Escapes the braces of a text that Snakemake formats."""
    return text.replace("{", "{{").replace("}", "}}")


def write(plan: Plan, cores: int, slurm: bool) -> list[str]:
    """The Snakefile and a file for each group; the names of the groups."""
    spec, out = plan.spec, plan.spec.output
    shutil.rmtree(out / "groups", ignore_errors=True)
    (out / "groups").mkdir(parents=True)
    workers = spec.number("jobs") if slurm else max(1, cores // spec.number("threads"))
    size = group_size(spec, len(plan.pending), workers)
    parts = [plan.pending[i : i + size] for i in range(0, len(plan.pending), size)]
    names = [f"{i:04d}" for i in range(len(parts))]
    for name, part in zip(names, parts, strict=True):
        job = {
            "loom": binary(),
            "folder": str(spec.folder),
            "output": str(out.resolve()),
            "threads": spec.number("threads"),
            "seconds": 60 * spec.number("time"),
            "scratch": spec.options["scratch"],
            "copy_every": 60 * spec.number("copy_every"),
            "at": time.strftime("%FT%TZ", time.gmtime()),
            "runs": [
                {"name": c.run.name, "config": str(c.config.resolve()), "words": c.run.words(), "key": c.key,
                 "hash": c.hash}
                for c in part
            ],
        }
        write_whole(out / f"groups/{name}.json", json.dumps(job))
    # exec: the driver is Snakemake's own child, which ends with it
    words = ["exec", "env", f"PYTHONPATH={TOOLS}", "PYTHONDONTWRITEBYTECODE=1", sys.executable]
    command = literal(shlex.join(words)) + " -m loomcloth.sweep.driver groups/{wildcards.g}.json"
    more = {
        "slurm_partition": spec.slurm["partition"],
        "slurm_account": spec.slurm["account"],
        "slurm_extra": spec.slurm["extra"],
    }
    resources = "".join(f", {k}={v!r}" for k, v in more.items() if v) if slurm else ""
    text = SNAKEFILE.format(
        groups=names,
        threads=spec.number("threads"),
        retries=spec.number("retries"),
        time=spec.number("time"),
        memory=spec.number("memory"),
        slurm=resources,
        command=repr(command),
    )
    write_whole(out / "Snakefile", text)
    return names


def need_slurm() -> list[str]:
    """SpecError where Slurm is missing; options for a cluster whose accounting does not answer."""
    for program, doc in (("sbatch", "to submit jobs"), ("squeue", "to follow them")):
        if shutil.which(program) is None:
            raise SpecError(
                f"--slurm: {program} was not found, {doc}: there is no Slurm on this machine; log in to a "
                "cluster, or leave --slurm away for local cores"
            )
    asked = subprocess.run(["sinfo", "-h"], capture_output=True, text=True)
    if asked.returncode != 0:
        raise SpecError(f"--slurm: Slurm does not answer: {asked.stderr.strip() or 'sinfo failed'}")
    accounts = subprocess.run(["sacct", "-n", "-X"], capture_output=True, text=True)
    if accounts.returncode == 0:
        return []
    # Without accounting the queue tells how a job ended, for as long as it remembers.
    config = subprocess.run(["scontrol", "show", "config"], capture_output=True, text=True).stdout
    age = re.search(r"MinJobAge\s*=\s*([0-9]+)", config)
    if age is None or int(age[1]) < LEAST_AGE:
        raise SpecError(
            "--slurm: this cluster has no accounting (sacct does not answer), and its queue forgets jobs "
            f"after {age[1] if age else '?'} s (MinJobAge), where {LEAST_AGE} s are needed: how they end "
            "would never be noticed"
        )
    return ["--slurm-status-command", "squeue"]


def job_names(spec: Spec) -> list[str]:
    """Options that begin the names of jobs with that of the specification; the executor adds a number of its
    own, by which it finds them."""
    return ["--slurm-jobname-prefix", "loom-" + re.sub(r"[^A-Za-z0-9_-]+", "-", spec.path.stem)[:40]]


def run(
    plan: Plan, cores: int, slurm: bool, progress: Callable[[], None], told: Callable[[str], None]
) -> int:
    """Snakemake's exit code; its output goes to snakemake.log."""
    spec, out = plan.spec, plan.spec.output
    options = need_slurm() if slurm else []
    where = (
        ["--executor", "slurm", "--jobs", str(spec.number("jobs")), *job_names(spec), *options]
        if slurm
        else ["--cores", str(cores)]
    )
    words = [sys.executable, "-m", "snakemake", "--snakefile", "Snakefile", "--keep-going", "--nolock"]
    words += ["--rerun-incomplete", "--rerun-triggers", "mtime", "--nocolor", *where]
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    libc = ctypes.CDLL(None)
    (out / "snakemake.log").unlink(missing_ok=True)
    with open(out / "snakemake.log", "x") as log:
        # in a session of its own: signals from the terminal reach this process alone
        child = subprocess.Popen(
            words, cwd=out, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment,
            start_new_session=True, preexec_fn=lambda: libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL),
        )  # fmt: skip
        return _follow(child, progress, told)


def _follow(child: subprocess.Popen[bytes], progress: Callable[[], None], told: Callable[[str], None]) -> int:
    """The exit code of Snakemake.  Ctrl-C and other signals go on to it and to the drivers, each once: runs
    stop with a checkpoint; a second one ends them at once."""
    ended: BaseException | None = None
    while True:
        try:
            while child.poll() is None:
                time.sleep(0.2)
                progress()
            if ended is not None:
                raise ended
            return child.returncode
        except (KeyboardInterrupt, Ended) as error:
            if child.poll() is not None:
                raise
            if ended is None:
                told("stopping: every run that is going on writes a checkpoint; once more ends them at once")
            ended = error
            os.killpg(child.pid, signal.SIGINT)
