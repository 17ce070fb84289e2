"""Time by kernel, from a log with [log] kernels = 1.  Usage: kernels.py LOG.h5 FIRST_STEP"""

import collections
import sys

import h5py


def main(path, first):
    total = collections.defaultdict(lambda: [0, 0, 0.0, 0.0])
    with h5py.File(path) as f:
        for row in f["kernels"][:]:
            if row["step"] < first or row["t"] != row["t"]:  # copies have no time of their own
                continue
            k = total[row["name"].decode()]
            for i, column in enumerate(("launches", "elements", "bytes", "t")):
                k[i] += row[column]
        steps = len(f["steps"]) - first
    every = sum(k[3] for k in total.values())
    print(f"{1e3 * every / steps:.1f} ms of kernels and copies a step, mean of {steps} steps; by kernel:")
    print(f"{'kernel':34} {'launches':>8} {'us each':>9} {'ms a step':>9} {'share':>6} {'elements':>10} {'GB/s':>7}")
    for name, (launches, elements, moved, t) in sorted(total.items(), key=lambda e: -e[1][3])[:60]:
        print(f"{name[:34]:34} {launches / steps:8.1f} {1e6 * t / launches:9.2f} {1e3 * t / steps:9.3f} "
              f"{100 * t / every:5.1f}% {elements / launches:10.0f} {1e-9 * moved / max(t, 1e-12):7.0f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
