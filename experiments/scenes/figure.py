"""Eight scenes of contact with the reference method at two sizes: pictures, energy, momentum."""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from loomcloth.experiment import Bar, plain_axes
from loomcloth.log import Log
from loomcloth.steps import intersections


@dataclass
class Scene:
    """The view of a scene and its bounds."""

    title: str
    frames: tuple  # shares of the duration
    view: tuple = (-60, 20)  # azimuth and elevation of the camera, degrees
    still: float = 0.0  # s: from here on only gravity works on the cloth; inf: never


SCENES = {
    "drape_self": Scene("a sheet on a ball", (0.35, 0.55, 1.0)),
    "collide_sheets": Scene("two sheets at 5 m/s", (0.1, 0.3, 1.0), (-40, 15)),
    "stack_sphere": Scene("ten sheets on a ball", (0.2, 0.4, 1.0)),
    "fold_desk": Scene("four cloths folded on a desk", (0.3, 0.6, 1.0), (-60, 35), 2.6),
    "twist": Scene("four turns", (0.35, 0.65, 1.0), (-60, 15), np.inf),
    "knot": Scene("two strips to a knot", (0.3, 0.6, 1.0), (-75, 40), 5.5),
    "funnel": Scene("through a funnel", (0.2, 0.3, 0.6), (-60, 35), 3.0),
    "slit": Scene("through a slit", (0.3, 0.6, 1.0), (-50, 25), 2.1),
}
DETAILS = (1, 2)
LARGEST_FIRST = ("funnel", "drape_self", "fold_desk", "stack_sphere", "slit", "twist", "knot",
                 "collide_sheets")
PROJECTIVE = ("fold_desk", "drape_self", "collide_sheets")  # also NAME_dbb: dbb under cholmod_pd


def runs(experiment):
    """{(config, detail): log}; as many runs at a time as there are cores, one thread each."""

    def one(job):
        name, detail = job
        sets = {"run.detail": detail, "exec.threads": 1}
        return experiment.run(f"{name}.{detail}", f"../../configs/{name}.ini", sets)

    jobs = [(name, detail) for detail in reversed(DETAILS) for name in LARGEST_FIRST]
    jobs += [(f"{name}_dbb", 1) for name in PROJECTIVE]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return dict(zip(jobs, pool.map(one, jobs)))


def picture(log, frame, scene):
    """One frame by itself: the camera goes as near as it can."""
    from loomcloth.view import View

    return View(log, [frame], (480, 400), scene.view).image(frame)


def pictures(experiment):
    logs = runs(experiment)
    figure, axes = plain_axes(4, 2, width=6.4, height=1.95)
    for axis, (name, scene) in zip(axes.flat, SCENES.items()):
        with Log(logs[name, DETAILS[-1]]) as log:
            chosen = [round(share * (log.num_frames - 1)) for share in scene.frames]
            images = [picture(log, f, scene) for f in chosen]
            vertices = len(log.frame(0))
            times = ", ".join(f"{log.times[f]:.2f}" for f in chosen)
        axis.imshow(np.hstack(images))
        axis.set_title(f"{name}: {scene.title}; {vertices} vertices; {times} s", fontsize=8)
        axis.axis("off")
    experiment.save(figure, "scenes", keep=True)


def energies(experiment):
    logs = runs(experiment)
    figure, axes = plain_axes(4, 2, width=5.0, height=2.0)
    for axis, (name, scene) in zip(axes.flat, SCENES.items()):
        for detail, style in zip(DETAILS, (":", "-")):
            with Log(logs[name, detail]) as log:
                steps = log.table("steps")
            for part, colour in zip(PARTS, ("#0072B2", "#999999", "#009E73", "#D55E00")):
                label = part[2:] if detail == DETAILS[-1] else None
                axis.plot(steps["time"], steps[part], style, color=colour, label=label, linewidth=1)
            axis.plot(steps["time"], total(steps), style, color="black", linewidth=1.2,
                      label="total" if detail == DETAILS[-1] else None)
        if 0 < scene.still < np.inf:
            axis.axvline(scene.still, color="#cccccc", linewidth=1)
        axis.set_title(f"{name}: {scene.title}", fontsize=9)
        axis.set_ylabel("energy (J)")
    for axis in axes[-1]:
        axis.set_xlabel("time (s)")
    axes[0, 0].legend(fontsize=7)
    figure.suptitle("Energy of the scenes; dotted: 2,500 vertices, drawn: 10,000")
    experiment.save(figure, "scenes-energy", keep=True)


def projective(experiment):
    """The last frames of projective dynamics beside Newton's at the same size."""
    logs = runs(experiment)
    figure, axes = plain_axes(1, len(PROJECTIVE), width=4.2, height=2.0)
    for axis, name in zip(axes, PROJECTIVE):
        images = []
        for config in (f"{name}_dbb", name):
            with Log(logs[config, 1]) as log:
                images.append(picture(log, log.num_frames - 1, SCENES[name]))
        axis.imshow(np.hstack(images))
        axis.set_title(f"{name}: dbb, cholmod_pd | ipc_barrier, cholmod_newton", fontsize=7)
        axis.axis("off")
    experiment.save(figure, "scenes-dbb", keep=True)


PARTS = ("e_kinetic", "e_gravity", "e_elastic", "e_contact")


def total(steps):
    return sum(steps[part] for part in PARTS)


def rise(steps, since):
    """Largest rise of the energy over one step from a time on, as share of its range in the run."""
    energy = total(steps)
    change = np.diff(energy)[steps["time"][1:] > since]
    return change.max() / np.ptp(energy)


def momentum_drift(log):
    """Largest change of the total momentum as share of the norms at the start."""
    mass = log.scene("mass")[:, None]
    sums = [(mass * log.velocity(k)).sum(axis=0) for k in range(log.num_frames)]
    scale = np.linalg.norm(mass * log.velocity(0), axis=1).sum()
    return np.linalg.norm(sums - sums[0], axis=1).max() / scale


def bars(experiment):
    """No intersection in any step; free cloth gains no energy; momentum stays."""
    rows = []
    for (name, detail), path in sorted(runs(experiment).items()):
        with Log(path) as log:
            steps = log.table("steps")
            label = f"{name}, {len(log.frame(0))} vertices"
            rows.append(Bar(f"{label}: intersections in all steps", intersections(steps), 0))
            if name not in SCENES:
                continue  # capped steps: their energy may rise
            if steps["time"][-1] > SCENES[name].still:
                rows.append(Bar(f"{label}: largest rise of the energy over a step, of its range",
                                rise(steps, SCENES[name].still), 1e-6))
            if name == "collide_sheets":
                rows.append(Bar(f"{label}: drift of the momentum, of the norms at the start",
                                momentum_drift(log), 1e-6))
    return rows


FIGURES = {
    "scenes": ("eight scenes of contact at 10,000 vertices, pictures", pictures),
    "scenes-energy": ("energy of the same scenes at two sizes", energies),
    "scenes-dbb": ("three of them with the distance barrier under projective dynamics", projective),
    "scenes-bars": ("intersections, rise of energy, drift of momentum, with bounds", bars),
}
