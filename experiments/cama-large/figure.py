"""Sphere at 4 thousand to 260 thousand triangles (a million on demand), with a thickness in proportion to the edges."""

import os

import numpy as np

from loomcloth.experiment import Bar
from loomcloth.log import Log

THICKNESS = 5e-3  # m, at detail 1, where edges are 38 mm
STEPS = {1: 8, 2: 8, 4: 8, 8: 6, 16: 2}  # of each detail; the first two do not count where there are more
PARTS = {"solve": "solver/solve", "assembly": "solver/assemble", "of it elements": "solver/elements"}


def details():
    """Up to 260,000 triangles; LOOM_CAMA_LARGE=1: to a million, in 4 GB and a quarter of an hour."""
    return [d for d in STEPS if d < 16 or os.environ.get("LOOM_CAMA_LARGE")]


def row(experiment, detail):
    sets = {
        "run.detail": detail, "run.steps": STEPS[detail], "contact.all.thickness": THICKNESS / detail,
        "exec.threads": 1, "log.frames_every": 50, "log.audit": "off",
    }
    path = experiment.run(f"large-{detail}", "../../configs/cama_sphere.ini", sets)
    with Log(path) as log:
        t, iters, sections = log.table("steps"), log.table("iters")["inner_iters"], log.sections("t_cpu")
        n, some = len(log.scene("triangles")), slice(2 if len(log.table("steps")) > 2 else 0, None)
        whole = t["t_cpu"][some].mean()  # without measuring and recording
        return {
            "triangles": n, "iterations": iters[iters > 0][some].mean(), "step": whole,
            "detection": t["t_cpu_detect"][some].mean(), "memory": t["rss"].max() / n,
        } | {name: sections[key][some].mean() for name, key in PARTS.items()}


def bars(experiment):
    rows = [row(experiment, d) for d in details()]
    lines = [f"{'triangles':>10}{'s a step':>10}{'iterations':>12}  us per triangle: {'step':>6}{'detection':>11}"
             f"{'assembly':>10}{'elements':>10}{'solve':>8}  {'ns per iteration and triangle':>30}{'B per triangle':>16}"]
    for r in rows:
        us = {k: 1e6 * r[k] / r["triangles"] for k in ("step", "detection", "assembly", "of it elements", "solve")}
        lines.append(f"{r['triangles']:10d}{r['step']:10.3f}{r['iterations']:12.0f}  {'':17}{us['step']:6.1f}"
                     f"{us['detection']:11.2f}{us['assembly']:10.2f}{us['of it elements']:10.2f}{us['solve']:8.2f}  "
                     f"{1e3 * us['solve'] / r['iterations']:30.0f}{r['memory']:16.0f}")
    experiment.keep_text("cama-large", lines)
    few, many = rows[1], rows[3]  # 16 and 260 thousand
    growth = np.log(many["triangles"] / few["triangles"])

    def exponent(of):
        return np.log(of(many) / of(few)) / growth

    cause = "iterations double with each refinement at a fixed time step, README.md"
    return [
        Bar("16,000 to 260,000 triangles: exponent of time", exponent(lambda r: r["step"]), 1.15, cause=cause),
        Bar("the same without the linear solve", exponent(lambda r: r["step"] - r["solve"]), 1.15),
        Bar("the same of the time of one iteration", exponent(lambda r: r["solve"] / r["iterations"]), 1.15,
            cause="the matrix leaves the cache between 16,000 and 65,000 triangles, README.md"),
        Bar("16,000 to 260,000 triangles: exponent of memory", exponent(lambda r: r["memory"] * r["triangles"]), 1.02),
    ]


FIGURES = {"cama-large-bars": ("Sphere to 260,000 triangles, thickness in proportion: time by phase, iterations, memory", bars)}
