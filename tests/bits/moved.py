"""Do kernels declare the bytes that they move?

Usage: moved.py LOOM FOLDER

Short runs with `[log] kernels = 1` reach every kernel of detection and contact.  Each kernel declares something,
and all together declare between a tenth and twice the size of the buffers that their launches were given: those
hold numbers that a launch does not touch, and numbers that it reads several times.  A single kernel may be farther
off: a body's distance reads a mesh or a network for each of a few points, and a list has room for a whole chunk.
Exit code 0: all of that holds.
"""

import collections
import concurrent.futures
import os
import pathlib
import re
import sys

import bits
import devices

LEAST, MOST = 0.1, 2.0
STEPS, STEPS_OF_CONFIGS = 3, 8
PLACES = ("plugins/collision", "plugins/contact", "framework/bodies")
KITS = ("active", "ahead", "barrier", "box_tree", "candidates", "element_share", "friction", "friction_lag", "gather",
        "mesh_bound", "mesh_narrow", "mesh_query", "pair_energy", "yarn_line")
# Kernels that a device alone runs.
ON_DEVICES = {"mesh_judge_vt", "mesh_judge_ee", "mesh_bound_vt", "mesh_bound_ee", "mesh_hold_vt", "mesh_hold_ee",
              "cand_tell", "ndb_quad_clear"}


def rows():
    """Names in the rows of kernels of detection and contact."""
    files = [f for place in PLACES for f in sorted((bits.ROOT / place).rglob("*.c"))]
    files += [bits.ROOT / f"plugins/kit/{kit}.c" for kit in KITS]
    names = set()
    for file in files:
        if file.exists():
            names |= set(re.findall(r"LK_ENTRY(?:_NEAR)?_MOVES\((\w+),", file.read_text()))
    return names - ON_DEVICES


def cases():
    """Every solver with every contact model of the matrix, for one broad phase and for bodies; the other broad
    phases with one solver; and the scenes for rare kernels."""
    found, every = {}, bits.cases()
    for name, case in every.items():
        if name.startswith("matrix/"):
            solver, collision, _ = name[len("matrix/"):].split("-")
            if collision in ("patch_bvh", "sdf") or solver == "pcg_newton":
                found[name] = case
    found.update({name: case for name, case in devices.MORE.items() if "debug" not in name})
    for name in ("configs/drape_self.ini", "configs/drape_self_ndb.ini", "configs/yarn_swatch.ini",
                 "configs/slope.ini", "configs/cama_sphere.ini", "configs/fold_desk.ini"):
        found[name] = every[name]
    return found


def steps_of(name):
    return STEPS_OF_CONFIGS if name.startswith("configs/") else STEPS


def record(loom, folder):
    folder.mkdir(parents=True, exist_ok=True)
    devices.write_wide(folder / "wide.h5")
    wanted = cases()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = [pool.submit(bits.run, loom, folder, name, *case, ["log.kernels=1", f"run.steps={steps_of(name)}"])
                for name, case in wanted.items()]
        for job in concurrent.futures.as_completed(runs):
            name, why = job.result()
            if why:
                print(f"{name}: no log: {why.splitlines()[0]}")
    return [log for name in wanted if (log := bits.log_of(folder, name)).exists()]


def sums(logs):
    """{kernel: (declared, bytes of its buffers)} over all logs"""
    found = collections.defaultdict(lambda: [0, 0])
    for log in logs:
        with bits.h5py.File(log, "r") as file:
            for row in file["kernels"][...]:
                name = row["name"].decode()
                if not name.startswith("("):
                    found[name][0] += int(row["declared"])
                    found[name][1] += int(row["bytes"])
    return found


def main(words):
    if len(words) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    if bits.h5py is None:
        print("SKIP: declared_bytes: this Python has no h5py (Debian: python3-h5py)")
        return 77
    found = sums(record(str(pathlib.Path(words[0]).resolve()), pathlib.Path(words[1]).resolve()))
    # the core declares a pass over elements when it is over, framework/elements/elastic.c
    passes = {f"{folder.name}_gradient" for folder in (bits.ROOT / "framework/elements").iterdir()}
    wrong = 0
    for name in sorted(rows() - set(found)):
        wrong += 1
        print(f"kernel {name} was not reached; add a scene to the cases of devices.py")
    for name, (declared, bound) in sorted(found.items()):
        if declared == 0 and name not in passes:
            wrong += 1
            print(f"kernel {name} declares nothing; see LK_ENTRY_MOVES in loom/kernel.h")
    declared, bound = (sum(pair[k] for pair in found.values()) for k in range(2))
    share = declared / bound if bound else 0
    wrong += not LEAST <= share <= MOST
    print(f"{len(found)} kernels declare {share:.2f} of the bytes of their buffers; allowed: {LEAST} to {MOST}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
