"""A Slurm of one node on this machine, with its own configuration, state and ports; root alone."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

CONF = """\
ClusterName=loomtest
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
SlurmctldPort={port}
SlurmdPort={next}
StateSaveLocation={work}/ctld
SlurmdSpoolDir={work}/d
SlurmctldPidFile={work}/slurmctld.pid
SlurmdPidFile={work}/slurmd.pid
SlurmctldLogFile={work}/slurmctld.log
SlurmdLogFile={work}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
KillWait=10
SlurmdTimeout=20
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory=4000 State=UNKNOWN
PartitionName=normal Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""
PROGRAMS = (
    "slurmctld",
    "slurmd",
    "sbatch",
    "srun",
    "squeue",
    "sinfo",
    "scancel",
    "scontrol",
    "sacct",
    "sacctmgr",
)


def missing() -> str:
    """Why none can be started here, "" if one can."""
    path = os.environ["PATH"] + ":/usr/sbin"
    lacking = [p for p in PROGRAMS[:-2] if shutil.which(p, path=path) is None]
    if lacking:
        return f"{', '.join(lacking)} not found (Debian: slurm-wlm)"
    return "" if os.geteuid() == 0 else "Slurm's daemons are started by root alone"


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


class Slurm:
    def __init__(self, work: Path) -> None:
        self.work = work
        host, port = socket.gethostname().split(".")[0], free_port()
        (work / "ctld").mkdir()
        (work / "d").mkdir()
        (work / "bin").mkdir()
        conf = work / "slurm.conf"
        conf.write_text(CONF.format(host=host, port=port, next=free_port(), work=work))
        # Snakemake's job steps drop SLURM_CONF: its programs get it here
        for name in PROGRAMS:
            real = shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin")
            if real is None:
                continue
            (work / "bin" / name).write_text(f'#!/bin/sh\nexec env SLURM_CONF={conf} {real} "$@"\n')
            (work / "bin" / name).chmod(0o755)
        os.environ["PATH"] = f"{work}/bin:{os.environ['PATH']}"
        self.start("slurmctld", "-c")
        self.start("slurmd")
        self.wait_for("idle")

    def start(self, name: str, *words: str) -> None:
        subprocess.run([name, *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def pid(self, name: str) -> int:
        for _ in range(50):
            try:
                return int((self.work / f"{name}.pid").read_text())
            except (OSError, ValueError):
                time.sleep(0.2)
        raise AssertionError(f"{name} did not start: {(self.work / f'{name}.log').read_text()[-2000:]}")

    def wait_for(self, state: str) -> None:
        for _ in range(100):
            told = subprocess.run(["sinfo", "-h", "-o", "%T"], capture_output=True, text=True)
            if state in told.stdout:
                return
            time.sleep(0.3)
        raise AssertionError(f"the node is never {state}: {told.stdout} {told.stderr}")

    def kill(self, name: str) -> None:
        """As a power cut would."""
        os.kill(self.pid(name), signal.SIGKILL)
        (self.work / f"{name}.pid").unlink(missing_ok=True)

    def jobs(self) -> list[str]:
        told = subprocess.run(["squeue", "-h", "-t", "R", "-o", "%A"], capture_output=True, text=True)
        return told.stdout.split()

    def close(self) -> None:
        subprocess.run(["scancel", "--user", "root"], check=False)
        for name in ("slurmd", "slurmctld"):
            try:
                os.kill(self.pid(name), signal.SIGTERM)
            except (AssertionError, ProcessLookupError):
                continue
