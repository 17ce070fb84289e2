"""Does a device compute the same bits as the CPU?

Usage: devices.py LOOM FOLDER OBJECTS [--with PROGRAM]... [PATTERN]...

Every case of bits.py runs a few steps on the CPU and on the device, and
  - its /frames are byte-equal, but for the cases in devices.txt beside this file, which gives the reason for each:
    their numbers are then close;
  - each kernel that it launches writes there the bits that its CPU launcher writes with the same arguments
    (LOOM_KERNEL_COMPARE, framework/mem/compare.h).
In the end every kernel of the tree must have been compared.  OBJECTS is a file with the paths of the
tree's object files, kernels included; PROGRAMs are tests that launch kernels, too.
Exit code 0: all of that holds; 77: there is no h5py, or no device.
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

import bits

LIST = pathlib.Path(__file__).with_name("devices.txt")
STEPS = 3
SKIPPED = {"configs/yarn_sack.ini"}  # as yarn_scarf.ini and more/ball, and a minute long
CLOSE = 1e-9  # largest difference of numbers in frames that may differ, in parts of the largest

# Cases beyond configs and the matrix: {name: (config, settings)}
FULL = bits.MATRIX.format("ndb_pd", "sdf", "penalty")
LOW = """[cloth.low]
shape = grid
size = 0.2 0.2
resolution = 6 6
density = 0.2
membrane = 20
thickness = 0.001
"""
NEAR = bits.MATRIX.format("cama_pcg", "patch_bvh", "cama_repulsion") + LOW + """transform = rotate 0 0 1 10 translate 0 0 -0.0025
"""
# Two sheets meet at 5 m/s in the second step, above a ball that comes up through them.
IMPACTS = """[run]
dt = 0.01
gravity = 0 0 0
[exec]
backend = cpu
[stop]
max_iters = 1
[solver]
plugin = cama_pcg
tolerance = 1e-13
[collision.ball]
plugin = sdf
[collision.mesh]
plugin = patch_bvh
[contact.impacts]
plugin = impact_zones
[body.ball]
shape = sphere
radius = 0.05
position = 0 0 -0.11
motion = translate 0 0 6
[cloth.left]
model = arap+isometric
pattern = regular
size = 0.2 0.2
resolution = 9 9
density = 0.2
thickness = 0
velocity = 0 0 2.5
transform = rotate 0 0 1 12 translate 0 0 -0.03
[cloth.right]
model = arap+isometric
pattern = regular
size = 0.2 0.2
resolution = 9 9
density = 0.2
thickness = 0
velocity = 0 0 -2.5
transform = rotate 1 0 0 5 rotate 0 1 0 8 translate 0.02 0.01 0.03
"""
# A sheet meets legs with a distance from networks.  They stand: a device rounds sines and cosines of turning joints
# otherwise, and a small gap tells (tests/unit/bodies/test_neural.c compares joints that turn).
STUCK = """[run]
up_axis = z
dt = 0.002
start = exclude
[exec]
backend = cpu
[stop]
max_iters = 5
[cloth.sheet]
model = arap+isometric
pattern = regular
size = 0.2 0.2
resolution = 9 9
pins = left right
density = 0.2
membrane = 500
thickness = 2e-4
[cloth.flag]
model = arap+isometric
pattern = regular
size = 0.04 0.04
resolution = 4 4
density = 0.2
membrane = 200
transform = rotate 1 0 0 90 translate 0.003 0.002 0.017
thickness = 2e-4
[collision.self]
plugin = patch_bvh
[contact.self]
plugin = ipc_barrier
[solver]
plugin = pcg_newton
"""
NETWORKS = f"""[run]
up_axis = y
dt = 0.005
gravity = 0 -9.81 0
[exec]
backend = cpu
[stop]
max_iters = 5
[cloth.sheet]
model = arap+isometric
pattern = regular
size = 0.2 0.2
resolution = 10 10
density = 0.2
membrane = 300
k_b = 5e-5
thickness = 1 mm
velocity = 0 0 -0.5
transform = translate 0 1 0.11
[body.legs]
shape = rig
rig = lower_body
distance = neural
networks = {bits.ROOT}/configs/bodies/lower_body.h5
motion = translate 0 0 0.2
[collision.body]
plugin = sdf
[contact.c]
plugin = ndb
slack = 2e-4
[filter]
min_gap = 5e-5
[solver]
plugin = ndb_pd
subspace = none
[log]
audit = off
"""
# Two sheets one above the other: edges along edges, with Hessians that have a kernel of their own.
PARALLEL = (bits.MATRIX.format("cholmod_newton", "patch_bvh", "ipc_barrier") + LOW +
            "transform = translate 0.004 0.007 -0.0025\n")
# Above the ball a rod between the vertices: edges and triangles against its exact shape.
ROD = """[body.rod]
shape = capsule
radius = 0.002
length = 0.3
position = 0.017 0.002 -0.0035
rotation = 1 0 0 90
"""
# An affine body falls onto a sheet: its surface follows four points.
AFFINE = (bits.MATRIX.format("cholmod_newton", "patch_bvh", "ipc_barrier") + """
[solid.box]
size = 0.06 0.05 0.03
resolution = 4 3 3
density = 300
model = affine
stiffness = 8e8
thickness = 1 mm
velocity = 0.1 0 -1
transform = rotate 1 2 3 20 translate 0.01 0.013 0.045
""")
SCARF = bits.ROOT / "configs/yarn_scarf.ini"
MORE = {
    "more/fused": (FULL, ["solver.fused=yes", "solver.reuse=plain", "solver.base=rest"]),
    "more/fused-mixed": (FULL, ["solver.fused=yes", "solver.reuse=plain", "solver.precision=mixed"]),
    "more/smoother-pcg": (FULL, ["solver.smoother=pcg", "solver.update=full"]),
    "more/cama-near": (NEAR, ["solver.tolerance=1e-12"]),
    "more/cama-pairwise": (NEAR, ["contact.c.matrix=pairwise", "contact.c.self_friction=0.3"]),
    "more/named-friction": (NEAR, ["solver.tolerance=1e-12", "friction.p.between=cloth.sheet, cloth.low",
                                   "friction.p.mu=0.3"]),
    "more/frozen-penalty": (NEAR, ["contact.c.plugin=penalty", "contact.c.offset=0.003", "contact.c.self_friction=0.3",
                                   "solver.tolerance=1e-12"]),
    "more/cama-damped": (NEAR, ["solver.tolerance=1e-12", "cloth.sheet.stiffness_damping=0.01"]),
    "more/damped": (FULL, ["cloth.sheet.stiffness_damping=0.01"]),
    "more/cama-entries": (NEAR, ["solver.tolerance=1e-12", "solver.assembly=entries"]),
    "more/cama-atomics": (NEAR, ["solver.tolerance=1e-12", "solver.assembly=atomics",
                                 "exec.deterministic=no"]),
    "more/cama-triplets": (NEAR, ["solver.tolerance=1e-12", "solver.assembly=triplets"]),
    "more/cama-impacts": (IMPACTS, ["contact.impacts.max_inner=5"]),
    "more/cama-impacts-push": (IMPACTS, ["contact.impacts.mode=lcp", "contact.impacts.max_inner=25"]),
    "more/cama-impacts-alone": (IMPACTS, ["contact.impacts.scheme=impulses"]),
    "more/vbd": (bits.MATRIX.format("vbd", "sdf", "penalty"), ["solver.rho=0.5", "solver.guess=adaptive"]),
    "more/neural": (NETWORKS, []),
    "more/neural-ipc": (NETWORKS, ["contact.c.plugin=ipc_barrier", "contact.c.d_hat=2e-3",
                                   "solver.plugin=pcg_newton"]),
    "more/neural-wide": (NETWORKS, []),
    "more/neural-wide-ipc": (NETWORKS, ["contact.c.plugin=ipc_barrier", "contact.c.d_hat=2e-3",
                                        "solver.plugin=pcg_newton"]),
    "more/stuck": (STUCK, []),
    "more/affine": (AFFINE, []),
    "more/affine-blocks": (AFFINE, ["solver.plugin=pcg_newton", "solver.forcing=fixed",
                                    "solver.tolerance=1e-11"]),
    "more/affine-wide": (AFFINE, ["solver.plugin=ndb_pd", "contact.c.plugin=ndb", "solid.box.stiffness=5e6"]),
    "more/affine-jacobi": (AFFINE, ["solver.plugin=chebyshev_pd", "contact.c.plugin=ndb"]),
    "more/affine-vertex": (AFFINE, ["filter.bound=vertex"]),
    "more/parallel-ipc_barrier": (PARALLEL, ["contact.c.d_hat=3e-3"]),
    "more/parallel-dbb": (PARALLEL, ["contact.c.plugin=dbb", "contact.c.d_hat=3e-3"]),
    "more/parallel-repulsion": (PARALLEL, ["contact.c.plugin=repulsion"]),
    "more/parallel-cubic_barrier": (PARALLEL, ["contact.c.plugin=cubic_barrier", "contact.c.d_hat=3e-3"]),
    "more/parallel-ogc": (PARALLEL, ["contact.c.plugin=ogc", "contact.c.d_hat=3e-3",
                                   "cloth.low.transform=rotate 0 0 1 1 translate 0.004 0.007 -0.0025"]),
    "more/debug": (NEAR, ["solver.tolerance=1e-12", "exec.debug=1"]),
    **{f"more/field-{distance}": (NETWORKS, [f"body.legs.distance={distance}", "body.legs.networks=",
                                             "contact.c.plugin=ipc_barrier", "contact.c.d_hat=2e-3",
                                             "solver.plugin=pcg_newton", *more])
       for distance, more in (("grid", []), ("exact", []),
                              ("capsules", ["cloth.sheet.transform=translate 0 1 0.14"]))},
    "more/table": (FULL, ["solver.update=table", "solver.reuse=plain"]),
    "more/shell": (bits.MATRIX.format("pcg_newton", "none", "none"),
                   ["cloth.sheet.model=arap+shell", "cloth.sheet.k_e=1e-5"]),
    "more/ball": (bits.MATRIX.format("cholmod_pd", "sdf", "project"),
                  ["body.ball.mass=0.1", "body.ball.velocity=0 0 1", "contact.rest.pairs=self",
                   "contact.c.pairs=obstacle"]),
    "more/coulomb": (bits.MATRIX.format("pd_explicit", "patch_bvh", "coulomb"),
                     ["contact.c.pairs=obstacle", "contact.rest.pairs=self", "body.ball.mesh_size=0.03",
                      "body.ball.sdf_resolution=0"]),
    "more/rest": (bits.MATRIX.format("cholmod_pd", "patch_bvh", "ndb"), ["contact.c.slack=0.025"]),
    "more/crowd": (bits.MATRIX.format("cholmod_pd", "patch_bvh", "ndb"),
                   ["collision.c.crowd=1", "cloth.sheet.velocity=30 0 0",
                    "cloth.sheet.resolution=31 31", "cloth.sheet.pins=none"]),
    "more/bound-vertex": (PARALLEL, ["contact.c.d_hat=3e-3", "filter.bound=vertex"]),
    "more/bound-plane": (PARALLEL, ["contact.c.d_hat=3e-3", "filter.bound=vertex", "collision.c.plugin=bvtt_front",
                                    "collision.c.shape=plane"]),
    "more/bound-crowd": (bits.MATRIX.format("cholmod_newton", "patch_bvh", "ipc_barrier"),
                         ["collision.c.crowd=1", "cloth.sheet.velocity=30 0 0", "filter.bound=vertex",
                          "cloth.sheet.resolution=31 31", "cloth.sheet.pins=none"]),
    "more/front-crowd": (bits.MATRIX.format("cholmod_pd", "bvtt_front", "ndb"),
                         ["collision.c.crowd=1", "cloth.sheet.velocity=30 0 0",
                          "cloth.sheet.resolution=31 31", "cloth.sheet.pins=none"]),
    "more/rod-penalty": (bits.MATRIX.format("cholmod_newton", "sdf", "penalty") + ROD, []),
    "more/rod-ndb": (bits.MATRIX.format("cholmod_pd", "sdf", "ndb") + ROD, []),
    "more/rod-ipc_barrier": (bits.MATRIX.format("cholmod_newton", "sdf", "ipc_barrier") + ROD,
                             ["contact.c.d_hat=3e-3", "cloth.sheet.velocity=0 0 -1"]),
    "more/yarn_penalty": (SCARF, [*bits.coarser(SCARF), "contact.yarns.plugin=yarn_penalty"]),
    "more/acl-exact": (SCARF, [*bits.coarser(SCARF), "contact.yarns.tolerance=0"]),
    "more/acl-stiction": (SCARF, [*bits.coarser(SCARF), "contact.yarns.stiction=0.1"]),
}

bits.SETTINGS.update({name: ["body.legs.networks={folder}/wide.h5"] for name in MORE if "neural-wide" in name})


def widen(row, hidden, width, to):
    """The parameters of a network with `to` channels; channels behind `width` have weights of 0."""
    sizes = [3] + [width] * hidden + [1]
    out, at = [], 0
    for inputs, outputs in zip(sizes, sizes[1:]):
        more_in, more_out = (to if n == width else n for n in (inputs, outputs))
        weights = row[at:at + inputs * outputs].reshape(outputs, inputs)
        biases = row[at + inputs * outputs:at + (inputs + 1) * outputs]
        for channel in range(more_out):
            kept = list(weights[channel]) if channel < outputs else [0] * inputs
            out += kept + [0] * (more_in - inputs)
        out += list(biases) + [0] * (more_out - outputs)
        at += (inputs + 1) * outputs
    return out


def write_wide(path):
    """The networks of configs/bodies/lower_body.h5 with 12 channels, the same functions."""
    path.write_bytes((bits.ROOT / "configs/bodies/lower_body.h5").read_bytes())
    with bits.h5py.File(path, "r+") as file:
        for region in file.values():
            for name in ("distance", "label"):
                if name not in region:
                    continue
                old, told = region[name][()], dict(region[name].attrs)
                del region[name]
                region[name] = [widen(row, int(told["hidden"]), int(told["width"]), 12) for row in old]
                for key, value in {**told, "width": 12.0}.items():
                    region[name].attrs[key] = value


def cases(patterns):
    return {name: case for name, case in {**bits.cases(), **MORE}.items()
            if bits.matches(name, patterns) and name not in SKIPPED}


def steps_of(name):
    return [] if name in bits.REPLAYS else [f"run.steps={STEPS}"]


def record(loom, folder, wanted, device, env):
    """The logs of all cases on one device; {name: reason} of cases without a log."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sheet.obj").write_text(
        "v 0 0 0\nv 0.2 0 0\nv 0 0.2 0\nv 0.2 0.2 0\nf 1 2 3\nf 2 4 3\n")
    write_wide(folder / "wide.h5")
    failed = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for later in (False, True):  # replays come after their references
            runs = [pool.submit(bits.run, loom, folder, name, *case,
                                [f"exec.backend={device}", *steps_of(name)], env)
                    for name, case in wanted.items() if (name in bits.REPLAYS) == later]
            for job in concurrent.futures.as_completed(runs):
                name, why = job.result()
                if why:
                    failed[name] = why
    return failed


def distance(one, two):
    """Largest difference, in parts of the largest number."""
    most = max(abs(one).max(initial=0), abs(two).max(initial=0))
    return abs(one - two).max(initial=0) / most if most > 0 else 0


def frames_differ(cpu, device):
    """{column: largest difference in parts of its largest number} of /frames"""
    with bits.h5py.File(cpu, "r") as a, bits.h5py.File(device, "r") as b:
        one, two = bits.columns(a["frames"]), bits.columns(b["frames"])
        found = {}
        for column in sorted(set(one) | set(two)):
            if bits.CLOCKS.match(column):
                continue
            if column not in one or column not in two or one[column].shape != two[column].shape:
                found[column] = float("inf")
            elif one[column].tobytes() != two[column].tobytes():
                found[column] = distance(one[column], two[column])
        return found


def may_differ():
    """{pattern: reason}"""
    lines = [line.partition("#") for line in LIST.read_text().splitlines()]
    return {pattern.strip(): why.strip() for pattern, _, why in lines if pattern.strip()}


def compare_frames(folder, wanted):
    """Prints the differences; returns their number."""
    allowed, used = may_differ(), set()
    wrong = same = near = 0
    for name in wanted:
        cpu, device = (bits.log_of(folder / d, name) for d in ("cpu", "cuda"))
        if not cpu.exists() or not device.exists():
            continue
        found = frames_differ(cpu, device)
        patterns = {p for p in allowed if bits.matches(name, [p])}
        if not found:
            same += 1
            continue
        used |= patterns
        worst = max(found.values())
        if patterns and worst <= CLOSE:
            near += 1
            continue
        wrong += 1
        print(f"{name}: /frames differ ({', '.join(found)}) by up to {worst:.1e} of the largest; "
              f"{f'close is {CLOSE:.0e}' if patterns else f'{LIST.name} has no line for it'}")
    for pattern in sorted(set(allowed) - used):
        if any(bits.matches(name, [pattern]) for name in wanted):
            wrong += 1
            print(f"{pattern} stands in {LIST.name}, but nothing of it differs; take it out")
    print(f"{same} cases have the same bits, {near} are close")
    return wrong


def kernels_of(objects):
    """The names of all kernels that have a launcher for a device."""
    files = [f for f in pathlib.Path(objects).read_text().split() if re.search(r"\.(sim\.c|cu)\.o$", f)]
    told = subprocess.run(["nm", "--defined-only", *files], capture_output=True, text=True,
                          check=True).stdout
    return {name[:-5] for name in re.findall(r" T (\w+_cuda)$", told, re.MULTILINE)}


def compare_kernels(record_file, objects, all_cases):
    lines = record_file.read_text().splitlines() if record_file.exists() else []
    same = {line[5:] for line in lines if line.startswith("same ")}
    wrong = sorted({line for line in lines if not line.startswith("same ")})
    kernels = kernels_of(objects)
    for line in wrong:
        print(f"kernel {line}")
    missing = sorted(kernels - same) if all_cases else []
    for name in missing:
        print(f"kernel {name}: no case launches it; add one to configs, to MORE in "
              "devices.py, or to the tables of tests/unit (cases.h)")
    print(f"{len(kernels & same)} of {len(kernels)} kernels are compared")
    return len(wrong) + len(missing) + (not kernels)


def no_device(loom, folder):
    """The message of loom where there is no CUDA device to run on; else None."""
    done = subprocess.run([loom, "run", str(bits.ROOT / "configs/drape.ini"), "-n", "1", "--quiet", "--overwrite",
                           "-o", str(folder / "probe.h5"), "--set", "exec.backend=cuda",
                           "--set", "cloth.sheet.resolution=5 5"],
                          capture_output=True, text=True, check=False)
    return done.stderr.strip() if "there is no CUDA device" in done.stderr else None


def main(words):
    programs = []
    while "--with" in words:
        at = words.index("--with")
        programs.append(words[at + 1])
        del words[at:at + 2]
    if len(words) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    if bits.h5py is None:
        print("SKIP: devices: this Python has no h5py (Debian: python3-h5py)")
        return 77
    loom, folder, objects, *patterns = words
    loom, folder = str(pathlib.Path(loom).resolve()), pathlib.Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    why = no_device(loom, folder)
    if why:
        print(f"SKIP: devices: {why}")
        return 77
    kernels = folder / "kernels.txt"
    kernels.unlink(missing_ok=True)
    env = {"LOOM_KERNEL_COMPARE": str(kernels)}
    wanted = cases(patterns)
    failed = record(loom, folder / "cpu", wanted, "cpu", {})
    on_device = record(loom, folder / "cuda", wanted, "cuda", env)
    wrong = 0
    for name, why in failed.items():
        if "unknown key" in why:  # others that fail are parts of configs
            print(f"{name}: does not run: {why.splitlines()[0]}")
            wrong += 1
    for name, why in on_device.items():
        if name not in failed:
            print(f"{name}: runs on the CPU only: {why.splitlines()[0]}")
            wrong += 1
    for program in programs:
        done = subprocess.run([program, "-j1"], capture_output=True, text=True, check=False,
                              env=dict(os.environ, **env))
        if done.returncode != 0:
            print(f"{program}: exit code {done.returncode}: {done.stderr}")
            wrong += 1
    wrong += compare_frames(folder, wanted)
    wrong += compare_kernels(kernels, objects, not patterns)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
