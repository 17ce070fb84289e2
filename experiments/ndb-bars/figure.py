"""Every bar of the non-distance barrier in one command, measured or with the reason why not."""

import csv
import shutil
import subprocess

import numpy as np

from loomcloth.experiment import Bar, FigureError, NotMeasured
from loomcloth.log import Log
from loomcloth.steps import steps_of

WHY_SPEED = (
    "an iteration of ndb costs a 51st (drape) and a 15th (fold) of Newton's, but 7 and 28 times as many are "
    "needed: first-order steps, while contacts come and go; where cloth only settles Newton needs two"
)
WHY_FLOAT = (
    "not memory: a row takes as long with everything in the caches (21 ns, side 60), and as long in float as "
    "in double; three numbers for each of 13 neighbours, one row at a time, do not fill vector units"
)


def solver(experiment):
    """Global step, reuse, divergence without damping, falling energy."""
    module, own = experiment.neighbour("ndb-solver")
    return module.bars(own)


def contact(experiment):
    """Twisting, detections against the distance barrier, growth, forwarding, partial detection."""
    module, own = experiment.neighbour("ndb-contact")
    return module.bars(own)


def scenes(experiment):
    """Length of steps, detections and intersections of all runs under ndb, capped ones included."""
    contacts, own = experiment.neighbour("ndb-contact")
    module, whole = experiment.neighbour("ndb-scenes")
    runs = module.capped_runs(whole) | {"twist": contacts.twists(own)["gap"]}
    runs |= {f"pot, {k[0]} iterations, {k[1]}": p for k, p in contacts.pots(own).items() if k != "newton"}
    found = {name: steps_of(path) for name, path in runs.items()}

    def worst(name, value, pick, bound, least):
        values = {k: value(t) for k, t in found.items()}
        at = pick(values, key=values.get)
        where = "" if values[at] == pick(values[k] for k in values if k != at) else f", worst in {at}"
        return Bar(f"{name} ({len(found)} runs{where})", values[at], bound, least=least)

    return [
        worst("steps of full length, least share", lambda t: np.mean(t["length"] == 1), min, 0.95, True),
        worst("shortest step", lambda t: t["length"].min(), min, 0.1, True),
        worst("full detections over outer loops", lambda t: np.max(t["calls"] - t["outer"]), max, 2, False),
        worst("steps with an intersection or without an audit",
              lambda t: np.sum(t["intersections"] != 0), max, 0, False),
    ]


def speed(experiment):
    """Long runs: only finished ones are read."""
    module, kept = experiment.neighbour("ndb-speed", kept=True)
    try:
        bars = module.bars(kept)
    except FigureError as error:
        return [NotMeasured("seconds of Newton with IPC over ndb's, 40,000 vertices",
                            f"{error}; `./loom figure ndb-speed` takes an hour")]
    for path in kept.old:
        with Log(path) as log:
            print(f"{path.name}: made by commit {log.file.attrs['git_commit']}, with other settings")
    for bar in bars:
        if isinstance(bar, Bar):
            bar.cause = bar.cause or WHY_SPEED
    return bars


def bandwidth(experiment):
    """One thread: processor time, so that the machine's other work does not count."""
    path = experiment.program("bench_sweep", ["--threads", 1, "--side", 500], "bench_sweep.csv")
    with open(path) as f:
        rows = {r["precision"]: r for r in csv.DictReader(f)}
    return [
        Bar(f"sweep in {p}, {r['vertices']} vertices: {float(r['sweep_gbs']):.3g} GB/s over those of a triad",
            float(r["share"]), 0.6, least=True, cause=WHY_FLOAT if p == "float" else "")
        for p, r in rows.items()
    ]


def gpu():
    """Why a GPU cannot be used here, "" if it can."""
    if shutil.which("nvidia-smi") is None:
        return "no GPU"
    found = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True)
    return "" if found.returncode == 0 and "GPU" in found.stdout else "no GPU"


def on_gpu(experiment):
    """The drape of ndb-speed at rest of method, on one GPU and on one CPU core."""
    name = "seconds of one CPU core over those of a GPU, drape of 160,000 vertices under ndb_pd"
    why = gpu()
    if why:
        return [NotMeasured(name, why)]
    sets = {"run.detail": 8, "run.steps": 5, "stop.max_iters": 20, "solver.plugin": "ndb_pd"}
    seconds = {}
    for backend in ("cpu", "cuda"):
        path = experiment.run(f"gpu_{backend}", "../../configs/drape_self_ndb.ini",
                              sets | {"exec.backend": backend, "exec.threads": 1})
        with Log(path) as log:
            t = log.table("steps")
        seconds[backend] = (t["t_total"] - t["t_measure"] - t["t_log"]).sum()
    return [Bar(name, seconds["cpu"] / seconds["cuda"], 10, least=True)]


def bars(experiment):
    groups = (solver, contact, scenes, speed, bandwidth, on_gpu)
    return [bar for group in groups for bar in group(experiment)]


FIGURES = {"ndb-bars": ("every bar of the non-distance barrier: pass, shortfall and cause", bars)}
