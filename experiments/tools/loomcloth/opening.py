"""Opening a log as the binary does: finished, being written, left by a dead writer, or cut off in a change.

The binary (`loom info`) repairs a log after a dead writer or a change that was cut off, and only
where the log is a file of the user's own, not behind a link: reading never writes through a link.
"""

from __future__ import annotations

import fcntl
import os
import signal
import stat
import subprocess
import time

import h5py

from loomcloth.errors import LogError
from loomcloth.terminal import say

SIGNATURE = b"\x89HDF\r\n\x1a\n"
WRITING, SWMR = 1, 4  # consistency flags of an HDF5 superblock, version 3 (format specification, II.A)
TRIES, PAUSE = 40, 0.05  # a writer that is starting, changing or closing a log is soon done, s
LIMIT = 20  # s, for reading through a log beside its writer
told: set[str] = set()  # logs of which a note was printed


def is_written(path: str) -> bool:
    """Whether some process holds the file's lock, as a run does, shared, from its start to its end.  Where
    the file system has no locks that cannot be told: True."""
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return False
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
        fcntl.flock(file, fcntl.LOCK_UN)
        return False


def flags(path: str) -> int:
    """Of the superblock: WRITING, SWMR.  LogError where the file is no HDF5 file."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise LogError(f"{path}: {error.strerror}") from None
    try:
        head = os.read(file, 12)
    finally:
        os.close(file)
    if not head.startswith(SIGNATURE):
        raise LogError(f"{path}: is no HDF5 file: no log, cut short or damaged")
    return head[11] if len(head) == 12 and head[8] >= 2 else 0


def _not_own(path: str) -> str:
    """Why PATH is not to be changed, "" if it is a regular file of the user's own."""
    found = os.lstat(path)
    if stat.S_ISLNK(found.st_mode):
        return "is a symbolic link"
    if not stat.S_ISREG(found.st_mode):
        return "is no regular file"
    if found.st_uid != os.geteuid():
        return "belongs to another user"
    if found.st_nlink != 1:
        return "has several names (hard links)"
    return "" if os.access(path, os.W_OK) else "is read-only"


def _note(path: str, text: str) -> None:
    if path not in told:
        say("note", f"{path}: {text}")
    told.add(path)


def _finish(path: str, cause: str) -> None:
    """Has the binary repair the log, where that is allowed; else a note names the fault."""
    journal = f"{path}.journal"
    has_journal = os.path.lexists(journal)
    why = _not_own(path)
    why = f"it {why}" if why else ""
    if not why and has_journal and _not_own(journal):
        why = f"its journal {_not_own(journal)}"
    if why:
        _note(path, f"{cause}; the log is read as it is and not changed, as {why}")
        return
    binary = os.environ.get("LOOM_BIN")
    if not binary and has_journal:
        raise LogError(f"{path}: {cause}; `loom info` on it repairs it")
    if not binary:  # as a package outside of ./loom: read beside the writer that was
        return
    done = subprocess.run([binary, "info", path], capture_output=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip().removeprefix("loom: ")
        raise LogError(said if said.startswith(path) else f"{path}: {cause}: {said}")


def _settled(path: str) -> int:
    """The flags, once no change is under way and a dead writer's log is repaired."""

    def changing() -> bool:
        return os.path.lexists(f"{path}.journal") or flags(path) & (WRITING | SWMR) == WRITING

    for _ in range(TRIES):
        if not changing() or not is_written(path):
            break
        time.sleep(PAUSE)
    if not is_written(path):
        if os.path.lexists(f"{path}.journal"):
            _finish(path, "its last change was cut off")
        if flags(path) & WRITING:
            _finish(path, "its writer has died")
    return flags(path)


def _look_through(file: h5py.File) -> None:
    """Reads the header and attributes of every object, and the last row of every data set."""

    def look(name: str, item: h5py.HLObject) -> None:
        dict(item.attrs)
        if isinstance(item, h5py.Dataset) and item.ndim and len(item):
            item[-1]

    dict(file.attrs)
    file.visititems(look)


def _probe(path: str) -> None:
    """LogError where reading beside a writer does not come to an end: HDF5 repeats the reading of a damaged
    block 100 times and doubles its pause each time.  Tried by a process that ends by itself."""
    child = os.fork()
    if child == 0:
        try:
            for number in (signal.SIGALRM, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_DFL)
            signal.alarm(LIMIT)
            with h5py.File(path, "r", swmr=True, libver="latest", locking=False) as file:
                _look_through(file)
        finally:
            os._exit(0)  # the caller meets the same error and reports it
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        ended = os.WTERMSIG(status) == signal.SIGALRM
        raise LogError(f"{path}: damaged: " + (
            f"reading it did not come to an end in {LIMIT} s" if ended
            else "the HDF5 library crashed while reading"
        ))  # fmt: skip


def open_file(path: str) -> h5py.File:
    """The file, open for reading.  LogError with the reason where it cannot be read."""
    if not os.path.exists(path):
        raise LogError(f"{path}: no such file")
    if not os.path.isfile(path):
        raise LogError(f"{path}: is no regular file")
    now = _settled(path)
    try:
        if not now & WRITING:
            return h5py.File(path, "r")
        _probe(path)
        return h5py.File(path, "r", swmr=True, libver="latest", locking=False)
    except OSError as error:
        raise LogError(f"{path}: cannot be read as HDF5: cut short or damaged ({error})") from None
