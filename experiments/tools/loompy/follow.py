"""A log while it is being written: rows as they come, and whether its writer still lives."""

from __future__ import annotations

import argparse
import fcntl
import os
import shlex
import time
from typing import Any

import numpy as np

from loompy.errors import LogError
from loompy.log import Log

TRIES, PAUSE = 40, 0.05  # a writer that is starting or closing is between two states for an instant


def is_written(path: str) -> bool:
    """Whether some process holds the file's lock, as a run does, shared, from its start to its end.  Where
    the file system has no locks nobody can tell: True."""
    with open(path, "rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
        fcntl.flock(file, fcntl.LOCK_UN)
        return False


def planned(log: Log) -> int:
    """Steps that the run will take, 0 if that is not known; `-n` of its last command overrides the
    configuration."""
    commands = str(log.attr("commands") or log.attr("command")).strip().splitlines()
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("-n", "--steps", default="")
    known, _ = parser.parse_known_args(shlex.split(commands[-1]) if commands else [])
    steps = known.steps or log.settings.get("run.steps", "")
    return int(steps) if steps.isdigit() else 0


class Follower:
    """`with Follower(path) as run:` - call update(), then read the members.

    steps, iters: what the tables hold so far; status: of the log, `died` if nobody writes it any more
    though it says `running`."""

    def __init__(self, path: str):
        self.path = path
        self.log = self._opened()
        self.steps = self.log.file["steps"][:0]
        self.last = self.log.file["iters"][:0]
        self.status = "running"
        self.seen = 0  # rows of /iters that are known to belong to earlier steps
        self.planned = planned(self.log)
        self.units = self.log.columns("steps")

    def __enter__(self) -> Follower:
        return self

    def __exit__(self, *exc: object) -> None:
        self.log.close()

    def _opened(self) -> Log:
        for left in range(TRIES, -1, -1):
            try:
                return Log(self.path)
            except (LogError, OSError):
                if left == 0 or not os.path.exists(self.path) or not is_written(self.path):
                    raise
            time.sleep(PAUSE)
        raise AssertionError

    def _table(self, name: str, begin: int) -> np.ndarray:
        table = self.log.file[name]
        if hasattr(table, "refresh"):
            table.refresh()
        return table[begin:]

    def _read(self) -> None:
        status = self.log.file.get("status")
        if status is not None:
            status.refresh()
        # asked before the tables: what is there when a run has ended is all there will be
        said, written = self.log.status, is_written(self.path)
        more = self._table("steps", len(self.steps))
        self.steps = np.concatenate([self.steps, more])
        rows = self._table("iters", self.seen)
        if len(rows):
            own = rows["step"] == rows["step"][-1]
            self.seen += int(np.argmax(own))
            self.last = rows[own]
        self.status = "died" if said == "running" and not written else said

    def update(self) -> bool:
        """Reads what is new; whether there was any, or the run has ended."""
        before = len(self.steps)
        for left in range(TRIES, -1, -1):
            try:
                self._read()
                break
            except (LogError, OSError, RuntimeError, KeyError, ValueError):
                # a writer that ends changes what a reader beside it may not see half of
                if left == 0:
                    raise
                time.sleep(PAUSE)
                self.log.close()
                self.log = self._opened()
        return len(self.steps) > before or self.ended

    @property
    def ended(self) -> bool:
        return self.status != "running"

    @property
    def reasons(self) -> dict[str, int]:
        """{why steps ended: how many did}"""
        words = self.log.enum("steps", "reason")
        numbers, counts = np.unique(self.steps["reason"], return_counts=True)
        return {words.get(int(k), str(k)): int(c) for k, c in zip(numbers, counts, strict=True)}

    def column(self, name: str) -> np.ndarray:
        """Of /steps, one number a step."""
        return np.asarray(self.steps[name], dtype=float)

    def messages(self) -> list[Any]:
        if "messages" in self.log.file and hasattr(self.log.file["messages"], "refresh"):
            self.log.file["messages"].refresh()
        return self.log.messages()
