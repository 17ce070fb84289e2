"""Do two builds of loom give the same bits?

Usage: bits.py record LOOM FOLDER [PATTERN]...   runs every case with the binary LOOM
       bits.py compare FOLDER FOLDER [PATTERN]...
                                                 byte-equal /frames, /iters and their extras?
       bits.py list                              the cases

Cases are the configs of configs/ and of experiments/, on coarser meshes and for a few steps, and
every triple of tests/matrix/expected.txt that runs.  PATTERNs select some by name, as in a shell.
A redesign records before it begins and after each step of it; bits that it changes on purpose, to
rounding, stands in exceptions.txt beside this file, with the reason.  Exit code 0: all equal.
"""

import concurrent.futures
import fnmatch
import os
import pathlib
import re
import subprocess
import sys

try:
    import h5py
except ImportError:  # `record` and `list` need none
    h5py = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
STEPS = 10
STEPS_OF_YARNS = 40  # explicit ones are short
STEPS_OF_MATRIX = 4
NODES = 15  # of a sheet's longer side
LOOPS = 8  # of a knit, in a row and in a column
# columns of the log that tell of clocks and of the process
CLOCKS = re.compile(r"(t_[a-z_]+|rss(_peak)?)$")
# Settings that a config leaves to its user, settings that make it small, and, where conjugate gradients would
# stop at different places on different devices, tolerances that rule this out.
SETTINGS = {
    "configs/cama_dryer.ini": ["solver.tolerance=1e-11"],
    "configs/drape_obj.ini": ["cloth.sheet.file={folder}/sheet.obj"],
    "configs/knot_pcg.ini": ["solver.eta_max=1e-11", "solver.tolerance=1e-11"],
    "configs/skirt_kick.ini": ["cloth.skirt.edge_length=0.06"],
    "configs/skirt_walk.ini": ["cloth.skirt.edge_length=0.06"],
    "configs/trousers_kick.ini": ["cloth.trousers.edge_length=0.07"],
    "configs/trousers_walk.ini": ["cloth.trousers.edge_length=0.07"],
    "configs/trousers_walk_neural.ini": ["cloth.trousers.edge_length=0.07"],
    "configs/skirt_walk_neural.ini": ["cloth.skirt.edge_length=0.07"],
    "configs/tshirt.ini": ["cloth.shirt.edge_length=0.08"],
    "configs/tshirt_cama.ini": ["cloth.shirt.edge_length=0.08", "solver.tolerance=1e-11"],
    "configs/tshirt_pcg.ini": ["cloth.shirt.edge_length=0.08", "stop.tol_rel=1e-9"],
    "configs/tshirt_pd_bfgs.ini": ["cloth.shirt.edge_length=0.08"],
    "configs/tshirt_pd_ipc.ini": ["cloth.shirt.edge_length=0.08"],
    "configs/tunic.ini": ["cloth.tunic.edge_length=0.07"],
    "experiments/cama-garments/tshirt.ini": ["solver.tolerance=1e-11"],
}
# Step 1 of these replays the log of another case.
REPLAYS = {
    "experiments/00-convergence/solver.ini": "experiments/00-convergence/reference.ini",
    "experiments/dbb-vs-newton/solver.ini": "experiments/dbb-vs-newton/reference.ini",
    "experiments/ndb-speed/drape_ndb.ini": "experiments/ndb-speed/drape_reference.ini",
    "experiments/ndb-speed/drape_newton.ini": "experiments/ndb-speed/drape_reference.ini",
    "experiments/ndb-speed/fold_ndb.ini": "experiments/ndb-speed/fold_reference.ini",
    "experiments/ndb-speed/fold_newton.ini": "experiments/ndb-speed/fold_reference.ini",
    "experiments/speed/bfgs.ini": "experiments/speed/state.ini",
    "experiments/speed/ndb.ini": "experiments/speed/state.ini",
    "experiments/speed/newton.ini": "experiments/speed/state.ini",
}
PARTS = {"experiments/00-convergence/scene.ini", "experiments/ndb-scenes/capped.ini",
         "experiments/residual-calibration/ball.ini"}  # no runs
MATRIX = """[run]
dt = 0.01
steps = 4
[stop]
tol_abs = 1e-9
tol_rel = 0
max_iters = 6
[log]
audit = off
[cloth.sheet]
model = arap+isometric
pattern = regular
shape = grid
size = 0.2 0.2
resolution = 7 7
density = 0.2
membrane = 20
k_b = 1e-5
thickness = 0.001
pins = 0 6
[body.ball]
shape = sphere
radius = 0.1
position = 0 0 -0.1025
[solver]
plugin = {}
[collision.c]
plugin = {}
[contact.c]
plugin = {}
[contact.rest]
plugin = none
pairs = obstacle
"""


def sizes(path, found):
    """{section.key: numbers} of the sizes in a config and in its includes; the last counts."""
    section = ""
    for line in path.read_text().splitlines():
        line = line.split(";")[0].split("#")[0].strip()
        if line.startswith("["):
            section = line[1 : line.index("]")]
        key, _, value = (part.strip() for part in line.partition("="))
        if key == "include":
            sizes((path.parent / value).resolve(), found)
        elif key in ("resolution", "rows", "loops") and value:
            found[f"{section}.{key}"] = [int(n) for n in value.split()]
    return found


def coarser(path):
    """Settings that make the meshes and knits of a config small."""
    sets = []
    for key, counts in sizes(path, {}).items():
        share = min(1, (NODES if key.endswith("resolution") else LOOPS) / max(counts))
        sets.append(f"{key}={' '.join(str(max(4, round(n * share))) for n in counts)}")
    return sets


def cases():
    """{name: (config or its text, settings)}"""
    found = {}
    for path in sorted([*ROOT.glob("configs/*.ini"), *ROOT.glob("experiments/*/*.ini")]):
        name = str(path.relative_to(ROOT))
        if name not in PARTS:
            found[name] = (path, coarser(path))
    for line in (ROOT / "tests/matrix/expected.txt").read_text().splitlines():
        *triple, verdict = line.split(" ", 3)
        if verdict == "runs":
            found["matrix/" + "-".join(triple)] = (MATRIX.format(*triple), [])
    return found


def log_of(folder, name):
    return folder / (name.replace("/", "--").replace(".ini", "") + ".h5")


def run(loom, folder, name, config, coarse, more=(), env=()):
    """One case into its log; where there is none the reason is kept in its place.  `more` are
    settings that come last, `env` pairs of the environment."""
    log = log_of(folder, name)
    if isinstance(config, str):
        log.with_suffix(".ini").write_text(config)
        config = log.with_suffix(".ini")
    fixed = ["exec.threads=1", "exec.backend=cpu", "log.frames_every=1", "log.audit=off",
             "log.checkpoint_every=0"]
    fixed += [s.format(folder=folder) for s in SETTINGS.get(name, [])]
    steps = STEPS_OF_YARNS if "[yarn." in told(config) else STEPS
    if name.startswith("matrix/"):
        steps = STEPS_OF_MATRIX
    if name in REPLAYS:
        fixed += ["run.steps=1", "run.replay_first=1",
                  f"run.replay={log_of(folder, REPLAYS[name])}"]
    else:
        fixed += [f"run.steps={steps}"]
    fixed += more
    fixtures = pathlib.Path(loom).parents[1] / "tests/plugins/cut"
    why = ""
    for sets in (coarse + fixed, fixed):  # vertex numbers in a config may ask for its own mesh
        command = [loom, "run", str(config), "-o", str(log), "--quiet", "--overwrite"]
        if fixtures.is_dir():
            command += ["--plugin-path", str(fixtures)]
        for s in sets:
            command += ["--set", s]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False,
                              env=dict(os.environ, OMP_WAIT_POLICY="passive", **dict(env)))
        if done.returncode == 0:
            log.with_suffix(".txt").unlink(missing_ok=True)
            return name, ""
        why = why or f"exit code {done.returncode}: {done.stderr.strip()}"
    log.unlink(missing_ok=True)
    log.with_suffix(".txt").write_text(why + "\n")
    return name, why


def told(path):
    """The text of a config and of its includes, with single blanks."""
    text = ""
    for line in path.read_text().splitlines():
        words = " ".join(line.split())
        text += words + "\n"
        if words.startswith("include = "):
            text += told((path.parent / words[10:].split(";")[0].strip()).resolve())
    return text


def matches(name, patterns):
    return not patterns or any(fnmatch.fnmatch(name, p) for p in patterns)


def record(loom, folder, patterns):
    folder = pathlib.Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sheet.obj").write_text(
        "v 0 0 0\nv 0.2 0 0\nv 0 0.2 0\nv 0.2 0.2 0\nf 1 2 3\nf 2 4 3\n")
    wanted = {name: case for name, case in cases().items() if matches(name, patterns)}
    loom = str(pathlib.Path(loom).resolve())
    logs = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for later in (False, True):  # replays come after their references
            runs = [pool.submit(run, loom, folder, name, *case) for name, case in wanted.items()
                    if (name in REPLAYS) == later]
            for job in concurrent.futures.as_completed(runs):
                name, why = job.result()
                logs += not why
                if why:
                    print(f"{name}: no log: {why.splitlines()[0]}")
    print(f"{logs} of {len(wanted)} cases have a log")
    return 0 if wanted else 2


def exceptions():
    """[(pattern of cases, columns that may differ)], see exceptions.txt"""
    path = pathlib.Path(__file__).with_name("exceptions.txt")
    lines = [line.split("#")[0].split() for line in path.read_text().splitlines()]
    return [(words[0], words[1:]) for words in lines if words]


def columns(table):
    """{name: values} of a table, whether it is a group of arrays or an array of rows."""
    if hasattr(table, "keys"):
        return {name: table[name][...] for name in table}
    rows = table[...]
    return {name: rows[name] for name in rows.dtype.names or []}


def differences(a, b, name):
    """Differences between two open logs."""
    allowed = {column for pattern, names in exceptions() if fnmatch.fnmatch(name, pattern)
               for column in names}
    far = [float(word[2:]) for word in allowed if word.startswith("x<")]
    if far:
        x, y = a["frames/x"][...], b["frames/x"][...]
        if x.shape != y.shape or not abs(x - y).max() < max(far):
            yield f"/frames/x is not within {max(far)} m"
        return
    for table in ("frames", "iters", "iters_extra", "steps_extra"):
        older = table == "steps_extra"  # which logs of older builds lack
        if (table in a) != (table in b) and not older:
            yield f"/{table} is in one only"
        if table not in a or table not in b:
            continue
        one, two = columns(a[table]), columns(b[table])
        for column in sorted(set(one) | set(two)):
            if CLOCKS.match(column) or column in allowed:
                continue
            if column not in one or column not in two:
                yield f"/{table}/{column} is in one only"
            elif one[column].tobytes() != two[column].tobytes():
                yield f"/{table}/{column}"


def logs_of(folder, patterns):
    """{case: its log} of the cases wanted that have one"""
    logs = {name: log_of(folder, name) for name in cases() if matches(name, patterns)}
    return {name: log for name, log in logs.items() if log.exists()}


def compare(one, two, patterns):
    if h5py is None:
        print("SKIP: bits: this Python has no h5py (Debian: python3-h5py)")
        return 77
    one, two = (logs_of(pathlib.Path(folder), patterns) for folder in (one, two))
    bad = same = touched = 0
    for name in sorted({*one, *two}):
        if name not in one or name not in two:
            print(f"{name}: only one of the builds has a log")
            bad += 1
            continue
        with h5py.File(one[name], "r") as a, h5py.File(two[name], "r") as b:
            found = list(differences(a, b, name))
            touched += bool((a["iters"]["active"] > 0).any())
        if found:
            print(f"{name}: {', '.join(found)}")
        bad += bool(found)
        same += not found
    print(f"{same} equal, {bad} different; {touched} have contacts")
    return 1 if bad or not same else 0


def main(words):
    if words[:1] == ["record"] and len(words) >= 3:
        return record(words[1], words[2], words[3:])
    if words[:1] == ["compare"] and len(words) >= 3:
        return compare(words[1], words[2], words[3:])
    if words == ["list"]:
        print("\n".join(cases()))
        return 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
