"""A log while it is being written: rows as they come, and whether its writer still lives."""

from __future__ import annotations

import os
import time

import numpy as np

from loomcloth import checks
from loomcloth.errors import LogError
from loomcloth.log import Log
from loomcloth.opening import PAUSE, TRIES, is_written

# Columns that are followed, beside the columns that every log must have.
STEPS = (*checks.STEPS, "t_cpu")
ITERS = (*checks.ITERS, "r_next_rms")


class Follower:
    """`with Follower(path) as run:` - call update(), then read the members.

    steps: all rows of /steps so far; last: rows of /iters of the last step; said: Log.messages(); status: of
    the log, `died` if no process writes it any more though it says `running`."""

    def __init__(self, path: str):
        self.path = path
        self.log = self._opened()
        steps = checks.table(self.log.file, "steps", path, STEPS)
        iters = checks.table(self.log.file, "iters", path, ITERS)
        self.steps, self.last = np.zeros(0, steps.dtype), np.zeros(0, iters.dtype)
        self.said: list[tuple[int, str, str]] = []
        self.status = "running"
        self.seen = 0  # rows of /iters that are known to belong to earlier steps
        self.planned = self.log.planned_steps
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
        self.log.fresh(name)
        return self.log.table(name, begin=begin)

    def _read(self) -> None:
        if self.log.has("status"):
            self.log.fresh("status")
        # asked before the tables: a run that has ended adds no more rows
        said, written = self.log.status, is_written(self.path)
        more = self._table("steps", len(self.steps))
        self.steps = np.concatenate([self.steps, more])
        rows = self._table("iters", self.seen)
        if len(rows):
            own = rows["step"] == rows["step"][-1]
            self.seen += int(np.argmax(own))
            self.last = rows[own]
        if self.log.has("messages"):
            self.log.fresh("messages")
        self.said = self.log.messages()
        self.status = "died" if said == "running" and not written else said

    def update(self) -> bool:
        """Reads the new rows; True if there were any, or the run has ended."""
        before = len(self.steps)
        for left in range(TRIES, -1, -1):
            try:
                self._read()
                break
            except (LogError, *checks.ERRORS) as error:
                # a writer that ends changes several objects; a reader may see only some of the changes
                if left == 0 or not is_written(self.path):
                    raise LogError(str(error) if self.path in str(error) else
                                   f"{self.path}: damaged: {error}") from None  # fmt: skip
                time.sleep(PAUSE)
                self.log.close()
                self.log = self._opened()
        return len(self.steps) > before or self.ended

    def finish(self) -> None:
        """Has the log of a dead writer repaired, as opening it does."""
        self.log.close()
        self.log = self._opened()

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
