"""One job of a sweep: its runs, one after the other, each a process of `loom run`.

    python -m loomcloth.sweep.driver GROUP.json

Every run leaves a mark in state/: NAME.done with its cost, or NAME.failed with the cause.  A run that
was cut off goes on from its checkpoint.  Exit code 0: all runs are settled; 1: some should be started
again, as time was up, a signal came, or one died.  It imports only light modules: it starts for every job.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from loomcloth.sweep.plan import ask

FINE, RUNTIME, USAGE, INTERSECTIONS, STOPPED, OUT_OF_TIME = 0, 1, 2, 3, 5, 6  # of `loom run`
PR_SET_PDEATHSIG = 1  # prctl(2)
BUSY = "is in use by another process"
PATIENCE = 60.0  # s, for a run of a driver that died and that is just stopping
JOBS = ("SLURM_JOB_ID", "SLURM_ARRAY_TASK_ID", "PBS_JOBID")


class Driver:
    def __init__(self, job: dict[str, Any]) -> None:
        self.job = job
        self.output = Path(job["output"])
        self.state = self.output / "state"
        self.began = time.monotonic()
        self.child: subprocess.Popen[bytes] | None = None
        self.stopping = 0  # the signal that came
        scratch = os.path.expandvars(job["scratch"])
        self.scratch = Path(scratch) if scratch else None
        for sig in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(sig, self.stop)
        # if Snakemake is killed, the run that is going on stops with a checkpoint
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)

    def stop(self, sig: int, frame: object) -> None:
        """One SIGTERM to the run, which stops with a checkpoint; a second Ctrl-C sends the second one, which
        ends it at once.  Other signals after the first are not passed on: schedulers send several."""
        first = not self.stopping
        self.stopping = sig
        if first or sig == signal.SIGINT:
            self.end_child()

    def end_child(self) -> None:
        if self.child is not None and self.child.returncode is None:
            self.child.send_signal(signal.SIGTERM)

    def left(self) -> float:
        """Seconds that a run may still take; a margin is kept for its last checkpoint."""
        limit = self.job["seconds"]
        return limit - max(10.0, 0.05 * limit) - (time.monotonic() - self.began) if limit else float("inf")

    # ---- marks ----
    def mark(self, run: dict[str, Any], name: str, **more: Any) -> None:
        jobs = {v: os.environ[v] for v in JOBS if v in os.environ}
        text = json.dumps({"key": run["key"], "host": socket.gethostname(), "pid": os.getpid(),
                           "at": time.strftime("%FT%TZ", time.gmtime()), **jobs, **more})  # fmt: skip
        path = self.state / f"{run['name']}.{name}"
        part = path.with_name(f"{path.name}.part{os.getpid()}")
        part.write_text(text)
        part.replace(path)
        for other in ("running", "failed", "done"):
            if other != name:
                (self.state / f"{run['name']}.{other}").unlink(missing_ok=True)

    def begin(self, run: dict[str, Any], log: Path) -> None:
        """A log of other settings is set aside if it was finished, and begun anew if not."""
        begun = self.state / f"{run['name']}.begun"
        try:
            before = begun.read_text()
        except OSError:
            before = ""
        if before not in ("", run["key"]) and log.exists():
            if (self.state / f"{run['name']}.done").exists():
                log.replace(log.with_suffix(".old.h5"))
            remove(log)
        if before != run["key"]:
            begun.write_text(run["key"])

    # ---- one run ----
    def call(self, run: dict[str, Any], log: Path, seconds: float) -> tuple[int, str, Any]:
        """Exit code or -SIGNAL of the run, its output, and its use of resources."""
        words = [self.job["loom"], "run", run["config"], "-o", str(log), "--resume=auto", "--quiet",
                 "--threads", str(self.job["threads"]), *run["words"]]  # fmt: skip
        if seconds != float("inf"):
            words += ["--max-time", f"{max(seconds, 1e-3):.3f}"]
        libc = ctypes.CDLL(None)
        said = self.state / f"{run['name']}.txt"
        with open(said, "wb") as out:
            # in a session of its own, so that it gets one signal and not the terminal's, too; if this driver
            # is killed, the run stops with a checkpoint
            self.child = subprocess.Popen(
                words, cwd=self.job["folder"], stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                preexec_fn=lambda: libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM), start_new_session=True,
                env=os.environ | {"OMP_WAIT_POLICY": os.environ.get("OMP_WAIT_POLICY", "passive")},
            )  # fmt: skip
            if self.stopping:  # the signal came while it began
                self.end_child()
            _, status, used = os.wait4(self.child.pid, 0)
            self.child.returncode = os.waitstatus_to_exitcode(status)
        code = self.child.returncode
        self.child = None
        text = said.read_text(errors="replace")
        if not text:
            said.unlink()
        return code, text, used

    def slices(self, run: dict[str, Any]) -> tuple[int, str, float, int]:
        """The run to its end, or to that of the time; in scratch, by slices that are copied back.
        Exit code, words, processor seconds, bytes at most."""
        home = self.output / f"{run['name']}.h5"
        log = self.scratch / home.name if self.scratch else home
        cpu, peak, patience = 0.0, 0, PATIENCE
        if self.scratch:
            self.scratch.mkdir(parents=True, exist_ok=True)
            copy(home, log, self.job["loom"])
        while True:
            seconds = min(self.left(), self.job["copy_every"] if self.scratch else float("inf"))
            code, said, used = self.call(run, log, seconds)
            cpu, peak = cpu + used.ru_utime + used.ru_stime, max(peak, 1024 * used.ru_maxrss)
            if code == RUNTIME and BUSY in said and patience > 0 and not self.stopping:
                time.sleep(1.0)
                patience -= 1.0
                continue
            if self.scratch:
                copy(log, home, self.job["loom"])
            if code != OUT_OF_TIME or self.left() <= 0 or self.stopping or not self.scratch:
                break
        if self.scratch:
            remove(log)
        return code, said, cpu, peak

    def run(self, run: dict[str, Any]) -> bool:
        """Whether it is settled: finished, or failed in a way that another start does not change."""
        changed = self.changed(run)
        if self.stopping:  # the terminal's signal ended the check, too
            return False
        if changed:
            # not settled: the next `loom sweep` plans it anew; not tried again by this one
            self.mark(run, "failed", code=None, cause=changed, settled=False, cpu=0.0, peak=0)
            return True
        self.begin(run, self.output / f"{run['name']}.h5")  # looks at the marks that there are
        self.mark(run, "running")
        code, said, cpu, peak = self.slices(run)
        log = self.output / f"{run['name']}.h5"
        if code in (FINE, INTERSECTIONS, RUNTIME) and finished(log):
            other = self.other(run, log)
            if other:
                self.mark(run, "failed", code=code, cause=other, settled=False, cpu=round(cpu, 3), peak=peak)
                return True
        if code in (FINE, INTERSECTIONS) or (code == RUNTIME and finished(log)):
            self.mark(run, "done", code=code, cpu=round(cpu, 3), peak=peak)
            return True
        lines = [ln.removeprefix("loom: ") for ln in said.splitlines() if ln.startswith("loom: ")]
        cause = lines[-1] if lines else said.strip().splitlines()[-1] if said.strip() else "no message"
        settled = code in (RUNTIME, USAGE)
        if code < 0:
            cause = f"killed by {signal.Signals(-code).name}"
            settled = -code in (signal.SIGSEGV, signal.SIGABRT, signal.SIGFPE, signal.SIGILL, signal.SIGBUS)
        if code == OUT_OF_TIME:
            cause = "the job's time was up"
        self.mark(run, "failed", code=code, cause=cause, settled=settled, cpu=round(cpu, 3), peak=peak)
        return settled

    def changed(self, run: dict[str, Any]) -> str:
        """Why the run is not the one that was planned, "" if it is: its settings, or files they name."""
        key, _, why = ask(self.job["loom"], run["config"], run["words"], self.job["folder"])
        if why:
            return f"fitted when the sweep was planned, and now does not: {why}"
        if key != run["key"]:
            return "its configuration, or a file that it names, has changed since the plan; call again"
        return ""

    def other(self, run: dict[str, Any], log: Path) -> str:
        """Why the log is not that of the planned configuration, "" if it is."""
        found = text_of(log, "config_hash")
        if not run.get("hash") or found == run["hash"]:
            return ""
        return f"its log is of the configuration {found}, and {run['hash']} was planned; call again"

    def all(self) -> int:
        again = 0
        for run in self.job["runs"]:
            if self.stopping or self.left() <= 0 or (not self.is_done(run) and not self.run(run)):
                again += 1
        return 1 if again else 0

    def is_done(self, run: dict[str, Any]) -> bool:
        """In an earlier start of this job."""
        for name in ("done", "failed"):
            try:
                mark = json.loads((self.state / f"{run['name']}.{name}").read_text())
            except (OSError, ValueError):
                continue
            if mark["key"] == run["key"] and (
                name == "done" or (mark["settled"] and mark["at"] >= self.job["at"])
            ):
                return True
        return False


CHECKPOINTS = (".check.h5", ".check.prev.h5")


def journal(log: Path) -> Path:
    """The journal of a change of the whole log that a kill cut off."""
    return log.with_name(log.name + ".journal")


def copy(log: Path, to: Path, loom: str) -> None:
    """A log and its checkpoints; the log comes first, as one without a checkpoint is only begun anew."""
    if journal(log).exists():  # any command finishes the change; a signal of the terminal does not end it
        subprocess.run(
            [loom, "info", str(log)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
            start_new_session=True,
        )  # fmt: skip
    for ending in (".h5", *CHECKPOINTS):
        source, target = log.with_suffix(ending), to.with_suffix(ending)
        if source.exists():
            part = target.with_name(target.name + ".part")
            shutil.copyfile(source, part)
            part.replace(target)


def remove(log: Path) -> None:
    for path in (*map(log.with_suffix, (".h5", *CHECKPOINTS)), journal(log)):
        path.unlink(missing_ok=True)


def text_of(log: Path, name: str) -> str:
    """A text of a log's root, "" if it has none."""
    import h5py

    from loomcloth.checks import ERRORS

    try:
        with h5py.File(log, "r") as file:
            value = file.attrs.get(name, "")
    except ERRORS:
        return ""
    return value.decode(errors="replace").rstrip("\0") if isinstance(value, bytes) else str(value)


def finished(log: Path) -> bool:
    """A run in which steps stalled ends with code 1 like one that failed; its log tells."""
    import h5py

    from loomcloth.checks import ERRORS, dataset, text
    from loomcloth.errors import LogError

    try:
        with h5py.File(log, "r") as file:
            return text(dataset(file, "status", str(log))[()], str(log)) == "finished"
    except (LogError, *ERRORS):
        return False


if __name__ == "__main__":
    sys.exit(Driver(json.loads(Path(sys.argv[1]).read_text())).all())
