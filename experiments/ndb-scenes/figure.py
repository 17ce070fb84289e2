"""Whole scenes under the non-distance barrier: the parts of a step, where time step and
tolerance show, and small versions of three scenes of the paper."""

import numpy as np

from loomcloth.experiment import FigureError
from loomcloth.log import Log
from loomcloth.steps import full_detections, intersections

# ---- table 1 ----
SMALL = {  # vertices per sheet and steps, so that every run takes seconds of processor time
    "collide_sheets": ({f"cloth.{n}.resolution": "18 18" for n in ("left", "right")}, 40),
    "drape_self": ({"cloth.sheet.resolution": "31 31"}, 40),
    "fold_desk": ({f"cloth.{n}.resolution": "13 13" for n in ("east", "north", "west", "south")}
                  | {"stop.max_iters": 50}, 30),
}
SOLVERS = ("ndb_pd", "cholmod_pd")
PHASES = ("detect", "solve", "contact", "filter")


def scene_run(experiment, scene, solver):
    sets, steps = SMALL[scene]
    extra = {"run.steps": steps, "exec.threads": 1, "solver.plugin": solver}
    name = f"table1_{scene}_{solver}"
    return name, experiment.run(name, f"../../configs/{scene}_ndb.ini", sets | extra)


def table1_row(experiment, scene, solver):
    """Wall times of a shared machine mean little, but all phases share them: their ratios split
    the processor time of the run."""
    name, path = scene_run(experiment, scene, solver)
    with Log(path) as log:
        steps, full = log.table("steps"), full_detections(log).mean()
        dof = 3 * len(log.scene("mass"))
    if not np.isfinite(steps["r_final"]).all():
        raise FigureError(f"{path}: residuals that are not finite")
    wall = steps["t_total"].sum()
    clean = wall - steps["t_measure"].sum() - steps["t_log"].sum()
    ms = 1e3 * experiment.cpu_seconds(name) / wall / len(steps)
    phases = [ms * steps[f"t_{p}"].sum() for p in PHASES]
    hit = np.sum(steps["reason"] == 2)  # max_iters
    return (f"{scene:15}{solver:11}{dof:6d}{len(steps):6d}{steps['contacts'].mean():8.0f}"
            f"{steps['contacts'].max():8d}{steps['iters'].mean():9.1f}{hit:7d}"
            f"{full:8.2f}"
            + "".join(f"{p:9.2f}" for p in phases)
            + f"{ms * clean:9.2f}{1e3 / (ms * clean):8.1f}"
            f"{intersections(steps):7.0f}")


def table1(experiment):
    head = (f"{'':44}{'contacts':>12}{'iterations':>14}{'full':>12}{'processor time of a step, ms':>37}"
            f"{'':>16}inter-\n"
            f"{'scene':15}{'solver':11}{'DOF':>6}{'steps':>6}{'mean':>8}{'most':>8}{'mean':>9}"
            f"{'capped':>7}{'CCD':>8}" + "".join(f"{p:>9}" for p in PHASES)
            + f"{'all':>9}{'FPS':>8}{'sect.':>7}")
    rows = [table1_row(experiment, scene, solver) for scene in SMALL for solver in SOLVERS]
    experiment.keep_text("ndb-table1", [head, *rows])


# ---- table 2 ----
SPAN = 0.8  # s
FINE = 0.0025  # s, of the run that all are compared with
LENGTHS = (0.005, 0.01, 0.02)
TOLERANCES = (1e-2, 3e-3, 1e-3)
CAP = 25


def twist(experiment, dt, tolerance, mode, cap):
    sets = {"run.dt": dt, "run.steps": round(SPAN / dt), "stop.tol_abs": tolerance,
            "stop.max_iters": cap, "run.forwarding": mode}
    if mode == "paper":
        sets["run.forwarding_iters"] = 1
    return experiment.run(f"twist_{dt:g}_{tolerance:g}_{mode}_{cap}", "table2.ini", sets)


def every(path, dt, spacing):
    """Positions at multiples of `spacing`, [T][n][3], the table of steps, the shortest step."""
    with Log(path) as log:
        steps, iters = log.table("steps"), log.table("iters")
        x = log.file["frames/x"][::round(spacing / dt)]
    last = iters[iters["stage"] == -1]
    return x, steps, last["alpha"].min() if len(last) else 1.0


def unrest(x, spacing):
    """Second differences in time of all vertices, rms, m/s^2."""
    return np.sqrt(np.mean(np.diff(x, 2, axis=0) ** 2) * 3) / spacing**2


def word(x, ref, steps, shortest, spacing):
    """The entry in the manner of the paper's table 2."""
    if not np.isfinite(x).all() or np.any(steps["intersections"] > 0) or shortest < 0.1:
        return "fail"
    return "jittery" if unrest(x, spacing) > 2 * unrest(ref, spacing) else ""


def table2(experiment):
    spacing = max(LENGTHS)
    fine = twist(experiment, FINE, 1e-4, "off", 100)
    ref, _, _ = every(fine, FINE, spacing)
    travel = np.linalg.norm(ref[1:] - ref[0], axis=-1).mean()
    lines = [f"twisting strip, 0.8 s; at most {CAP} iterations a step; against {FINE} s,"
             f" 1e-4 m, 100 iterations, whose second differences are {unrest(ref, spacing):.1f} m/s^2",
             "forwarding     dt  tolerance  iterations  capped  error/travel  differences  shortest step"]
    for mode in ("off", "paper"):
        for dt in LENGTHS:
            for tolerance in TOLERANCES:
                x, steps, shortest = every(twist(experiment, dt, tolerance, mode, CAP), dt, spacing)
                error = np.linalg.norm(x[1:] - ref[1:], axis=-1).mean() / travel
                lines.append(
                    f"{mode:10}{dt:7g}{tolerance:11g}{steps['iters'].mean():12.1f}"
                    f"{np.sum(steps['reason'] == 2):8d}{error:14.4f}"
                    f"{unrest(x, spacing) / unrest(ref, spacing):12.2f}{shortest:15.3g}"
                    f"  {word(x, ref, steps, shortest, spacing)}".rstrip())
    experiment.keep_text("ndb-table2", lines)


# ---- scenes ----
SCENES = {"fig14": "stack.ini", "fig15": "zigzag.ini", "fig16": "washer.ini"}


def numbers(path):
    with Log(path) as log:
        steps, full = log.table("steps"), full_detections(log).mean()
        dof = 3 * len(log.scene("mass"))
    return (f"{dof} DOF, {len(steps)} steps, {steps['iters'].mean():.1f} iterations and"
            f" {full:.2f} full detections a step, at most"
            f" {steps['contacts'].max()} contacts, {intersections(steps):.0f} intersections")


def pictures(experiment, name, count, view):
    """`count` frames of the run side by side."""
    from PIL import Image

    from loomcloth.sheet import caption, labelled
    from loomcloth.view import View

    path = experiment.run(name, SCENES[name])
    print(f"{name}: {numbers(path)}")
    with Log(path) as log:
        frames = np.linspace(0, log.num_frames - 1, count).round().astype(int)
        scene = View(log, frames, (480, 400), view, zoom=1.1, lamps=2)
        title = SCENES[name].removesuffix(".ini")
        images = [labelled(scene.image(f), caption(log, title, f)) for f in frames]
    experiment.keep_image(Image.fromarray(np.hstack(images)), f"ndb-{name}")


def fig14(experiment):
    pictures(experiment, "fig14", 3, (-60, 20))


def fig15(experiment):
    pictures(experiment, "fig15", 4, (-70, 12))


def fig16(experiment):
    pictures(experiment, "fig16", 4, (-60, 50))


def capped_runs(experiment):
    """Logs of all scenes of this folder under ndb, most of them capped, by name."""
    runs = {name: experiment.run(name, config) for name, config in SCENES.items()}
    runs |= {scene: scene_run(experiment, scene, "ndb_pd")[1] for scene in SMALL}
    for mode in ("off", "paper"):
        for dt in LENGTHS:
            for tolerance in TOLERANCES:
                path = twist(experiment, dt, tolerance, mode, CAP)
                runs[path.stem] = path
    return runs


# ---- figure 12 ----
SPLIT = {"stop.tol_rel": 1e-3, "stop.max_iters": 200}
PRINTED = {"contact.all.correction": "splitting"}
KNOTS = {"ndb_pd, ndb": ("knot_ndb", {}), "pd_bfgs": ("knot_pd_bfgs", SPLIT),
         "pd_bfgs, printed": ("knot_pd_bfgs", SPLIT | PRINTED), "Newton, barrier": ("knot", {})}


def fig12(experiment):
    """One row of pictures per method: wound, pulled, tight."""
    from PIL import Image

    from loomcloth.sheet import caption, labelled
    from loomcloth.view import View

    lines = [f"{'method':17}{'s/step':>8}{'iterations':>12}{'capped':>8}{'elastic energy at 5 s':>23}{'at the end, J':>15}"
             f"{'smallest gap, m':>17}{'intersections':>15}"]
    images = []
    for method, (config, sets) in KNOTS.items():
        sets = sets | {"exec.threads": 1, "log.frames_every": 10}
        name = "fig12_" + method.replace(", ", "_").replace(" ", "_")
        with Log(experiment.run(name, f"../../configs/{config}.ini", sets)) as log:
            steps = log.table("steps")
            images.append(np.hstack([labelled(View(log, [k], (400, 300), (-60, 35), zoom=1.1, lamps=2).image(k),
                                              caption(log, method, k)) for k in (30, 50, 60)]))
        own = steps["t_total"] - steps["t_measure"] - steps["t_log"]
        capped = np.sum(steps["reason"] == 2)  # max_iters
        lines.append(f"{method:17}{own.mean():8.3f}{steps['iters'].mean():12.1f}{capped:8d}{steps['e_elastic'][499]:23.4f}"
                     f"{steps['e_elastic'][-1]:15.4f}{np.nanmin(steps['min_gap']):17.2e}{intersections(steps):15.0f}")
    experiment.keep_image(Image.fromarray(np.vstack(images)), "ndb-fig12")
    experiment.keep_text("ndb-fig12", lines)


FIGURES = {
    "ndb-table1": ("three scenes: DOF, contacts, iterations, full detections, time by phase, FPS", table1),
    "ndb-table2": ("a twisted strip by time step and tolerance, with and without forwarding", table2),
    "ndb-fig12": ("two strips pulled into a knot, against pd_bfgs and Newton's method", fig12),
    "ndb-fig14": ("ten tablecloths on a pot", fig14),
    "ndb-fig15": ("four strips fall on a desk and fold in zig-zag", fig15),
    "ndb-fig16": ("six cloths in a bowl that turns", fig16),
}
