"""A T-shirt on a body that turns, and the dress of experiments/garment on one that dances, by cama_pcg and impacts."""

import os
from pathlib import Path

import numpy as np

from loomcloth.experiment import Bar, NotMeasured
from loomcloth.log import Log

DANCE = 56  # steps of 5 ms: seven frames of 25 per second
SEWN = 60  # steps, in which the T-shirt is sewn


def garment():
    """The folder with the dress, or None."""
    path = os.environ.get("LOOM_GARMENT", "")
    return Path(path) if path and (Path(path) / "stage.obj").exists() else None


def dress(experiment, folder):
    body = folder / "mannequin" / "frame%d.obj"
    sets = {
        "cloth.dress.file": folder / "stage.obj", "cloth.dress.positions": folder / "drape.obj",
        "cloth.dress.transform": "translate 0 0.75 0", "body.mannequin.motion": "sequence",
        "body.mannequin.frames": body, "body.mannequin.frame_rate": 25, "run.steps": DANCE,
        "log.frames_every": 8, "exec.threads": 1,
    }
    return experiment.run("dress", "dress.ini", sets)


def judge(path, name, first, cause=""):
    with Log(path) as log:
        t, own = log.table("steps"), log.table("steps_extra")
        rounds, count = own["contact.impacts.rounds"], len(log.scene("triangles"))
        iters = log.table("iters")["inner_iters"]
    print(f"{name}: {count} triangles, {t['t_cpu'].mean():.2f} s of processor a step, {iters[iters > 0].mean():.0f} iterations,"
          f" {t['contacts'].mean():.0f} proximities, {rounds.mean():.2f} rounds of impacts a step, at most {rounds.max():.0f}")
    return [
        Bar(f"{name}: intersections, all steps", t["intersections"].sum(), 0),
        Bar(f"{name}: widest stitch, from step {first} on", 1e3 * np.nanmax(t["stitch_gap"][first:]), 1, "mm", cause=cause),
    ]


def bars(experiment):
    sets = {"exec.threads": 1}
    rows = judge(experiment.run("tshirt", "tshirt.ini", sets), "T-shirt, turned", SEWN)
    held = experiment.run("tshirt-equality", "tshirt.ini", sets | {"contact.impacts.mode": "equality", "run.steps": 75})
    with Log(held) as log:
        open_ = 1e3 * np.nanmax(log.table("steps")["stitch_gap"][SEWN:])
    rows.append(Bar("control: impacts that hold together (equality): widest stitch", open_, 1, "mm", least=True))
    folder = garment()
    if folder is None:
        return [*rows, NotMeasured("dress", "LOOM_GARMENT does not name the folder of the dress (../garment/README.md)")]
    cause = "stitches of 1000 N/m give way where the tight dress is drawn over the mannequin, README.md"
    return rows + judge(dress(experiment, folder), "dress, dances", 0, cause)


FIGURES = {"cama-garments-bars": ("a T-shirt that is turned and a dress that dances, by one linear system a step", bars)}
