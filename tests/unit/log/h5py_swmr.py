"""Reads a log with h5py while `test_h5log_writer` writes it, and after it, as users do.

Usage: h5py_swmr.py WRITER FILE; exit 77 (skipped) where h5py is not installed.
"""

import subprocess
import sys
import time

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print(f"SKIP: h5py_swmr: {missing}; set LOOM_PYTHON to an interpreter that has h5py")
    sys.exit(77)


def check(f):
    """Everything of the steps that /steps announces is there; returns their number."""
    steps = f["steps"]
    steps.id.refresh()
    n = len(steps)
    rows = steps[:n]
    assert (rows["step"] == np.arange(n)).all()
    for name, per_step in (("iters", 4), ("iters_extra", 4), ("inner", 6)):
        table = f[name]
        table.id.refresh()
        assert len(table) >= n * per_step, (name, len(table), n)
        got = table[: n * per_step]["step"]
        assert (got == np.repeat(np.arange(n), per_step)).all(), name
    frames = f["frames/step"]
    frames.id.refresh()
    at = frames[:]
    count = int(np.searchsorted(at, n))  # frames of finished steps; -1 is the initial state
    assert count == n + 1, (count, n)
    x = f["frames/x"]
    x.id.refresh()
    if n > 0:
        last = x[n]
        assert abs(last[0, 2] + 0.001 * n) < 1e-12
    return n


def main():
    writer, path = sys.argv[1:]
    child = subprocess.Popen([writer, path], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    seen = []
    with h5py.File(path, "r", swmr=True, libver="latest") as f:
        end = time.time() + 1.5
        while time.time() < end:
            seen.append(check(f))
        status = f["status"]
        status.id.refresh()
        assert status[()] == b"running", status[()]
    assert seen == sorted(seen) and seen[-1] > seen[0], seen
    assert child.wait() == 0

    with h5py.File(path) as f:
        n = check(f)
        assert f["status"][()] == b"finished" and f.attrs["status"] == b"finished"
        assert f.attrs["schema"] == 1
        assert f["steps"].dtype["reason"] == np.int8
        names = h5py.check_enum_dtype(f["steps"].dtype["reason"])
        assert names["converged_abs"] == 0 and names["max_iters"] == 2, names
        for name in ("steps", "iters", "inner", "iters_extra"):
            t = f[name]
            assert len(t.attrs["column_unit"]) == len(t.attrs["column_doc"]) == len(t.dtype)
        try:
            import pandas
        except ImportError:
            pandas = None
        if pandas is not None:
            frame = pandas.DataFrame(f["iters"][:])
            assert len(frame) == 4 * n and frame["r_solved_rms"].iloc[0] == 1e-3
    print(f"{n} steps, {len(seen)} looks while it was written")


main()
