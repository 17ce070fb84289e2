"""Which logs a path, a folder or a pattern means, and reading many without one damaged file ending all."""

from __future__ import annotations

import glob
import multiprocessing
import os
import re
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import Connection
from typing import TypeVar

from loomcloth.errors import LogError
from loomcloth.terminal import clean

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
T = TypeVar("T")

# Files beside a log: its checkpoints, and a log that a figure set aside.
BESIDE = (".check.h5", ".check.prev.h5", ".old.h5")
FEW = 16  # logs from which on a second process saves time
MOST_CPU = 120.0  # s of processor time for one log


def _natural(name: str) -> list[int | str]:
    """r2 stands before r10."""
    return [int(w) if w.isdigit() else w for w in re.split(r"([0-9]+)", name)]


def expand(paths: Paths) -> list[str]:
    """Files, the logs of folders, and patterns such as "out/*.h5", each file once; checkpoints and
    logs that a figure has set aside are left out.  LogError if a name matches no file."""
    found: dict[str, None] = {}
    for item in [paths] if isinstance(paths, str | os.PathLike) else list(paths):
        name = os.fspath(item)
        if os.path.isdir(name):
            names = sorted(glob.glob(os.path.join(glob.escape(name), "*.h5")), key=_natural)
        elif os.path.exists(name):
            names = [name]
        else:
            names = sorted(glob.glob(name), key=_natural)
        logs = [n for n in names if not n.endswith(BESIDE)]
        if not names:
            raise LogError(f"{name}: there is no such log, folder or pattern")
        if not logs and not os.path.isfile(name):  # a shell's pattern names checkpoints, too
            raise LogError(f"{name}: holds no log, only checkpoints")
        found.update(dict.fromkeys(logs))
    if not found:
        raise LogError("no log was named, only checkpoints")
    return list(found)


def _one(call: Callable[[str], T], path: str) -> T | LogError:
    signal.setitimer(signal.ITIMER_PROF, MOST_CPU)  # its signal ends the process
    try:
        return call(path)
    except LogError as error:
        return error
    except MemoryError:
        return LogError(f"{path}: damaged, or too large for the memory")
    except Exception as error:  # h5py and numpy raise many kinds for a damaged file
        return LogError(f"{path}: damaged: {type(error).__name__}: {clean(error)}")
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _begin() -> None:
    """A worker ends at the first signal, without a word: the command itself tells."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPROF, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)


def _pool(workers: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("fork"), initializer=_begin)


def _send(call: Callable[[str], T], path: str, out: Connection) -> None:
    _begin()
    out.send(_one(call, path))
    out.close()


def _alone(call: Callable[[str], T], path: str) -> T | LogError:
    """In a process of its own, as HDF5 may crash on a damaged file."""
    ours, theirs = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=_send, args=(call, path, theirs))
    child.start()
    theirs.close()
    try:
        result: T | LogError = ours.recv()
    except EOFError:
        child.join()
        why = "the HDF5 library crashed while reading"
        if child.exitcode == -signal.SIGPROF:
            why = f"reading it took more than {MOST_CPU} s of processor time"
        elif child.exitcode == -signal.SIGKILL:
            why = "the process that read it was killed, as one that takes too much memory is"
        return LogError(f"{path}: damaged: {why}")
    finally:
        ours.close()
    child.join()
    return result


def read_all(call: Callable[[str], T], paths: Sequence[str]) -> Iterator[tuple[str, T | LogError]]:
    """(path, call(path)) in order; an error is a value, and so is a crash.  call is a function of a
    module, and its result can be pickled."""
    workers = 1 if len(paths) < FEW else min(len(os.sched_getaffinity(0)), 8)
    results: list[T | LogError] = []
    with _pool(workers) as pool:
        try:
            chunk = max(1, len(paths) // (4 * workers))
            for result in pool.map(_one, [call] * len(paths), paths, chunksize=chunk):
                results.append(result)
        except BrokenProcessPool:
            pass
    yield from zip(paths, results, strict=False)
    # One of the remaining logs crashes the library: a process for each finds out which.
    for path in paths[len(results) :]:
        yield path, _alone(call, path)
