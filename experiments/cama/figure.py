"""Scenes, costs and bars of M. Tang et al. 2016: one linear system a step with contact in the matrix,
inelastic impacts as a second one, and a front that follows the moving cloth."""

from functools import partial
from typing import NamedTuple

import numpy as np

from loomcloth.experiment import Bar, plain_axes
from loomcloth.log import Log
from loomcloth.steps import intersections

# ---- runs and the numbers read from them ----
SCENES = ("funnel", "sphere", "twisting", "falling", "dryer")
TRIPLETS = {"solver.assembly": "triplets"}
ENTRIES = {"solver.assembly": "entries"}
NO_IMPACTS = {"contact.impacts.plugin": "none"}
NO_FORCES = {"contact.all.stiffness": 0}


class Level(NamedTuple):
    text: str
    detail: int  # [run] detail
    steps: int  # of every scene; 0: as many as it has
    short: int  # steps of scenes that run again with the other assembly


LEVELS = {
    "": Level("4,000 triangles", 1, 0, 200),
    "-16k": Level("16,000 triangles", 2, 200, 100),
    "-64k": Level("65,000 triangles", 4, 100, 50),
}


def run(experiment, name, config, sets=None, inputs=()):
    """The log of a finished run."""
    return experiment.run(name, config, {"exec.threads": 1} | (sets or {}), inputs)


def scene_run(experiment, scene, detail=1, steps=0, sets=None, tag=""):
    some = {"run.detail": detail} | ({"run.steps": steps} if steps else {})
    name = f"{scene}-{detail}" + (f"-{steps}" if steps else "") + tag
    return run(experiment, name, f"../../configs/cama_{scene}.ini", some | (sets or {}))


def own_time(made):
    """Processor seconds of every step, without measuring and recording."""
    with Log(made) as log:
        return log.table("steps")["t_cpu"]


def phase(made, name):
    """Processor seconds of every step in one phase of it."""
    with Log(made) as log:
        return log.table("steps")[f"t_cpu_{name}"]


def section(made, *names):
    """Processor seconds of every step in sections of the plugins, together."""
    with Log(made) as log:
        of, count = log.sections("t_cpu"), len(log.table("steps"))
    return sum((of.get(n, np.zeros(count)) for n in names), np.zeros(count))


def most(log, *columns):
    """Sum of columns of /iters_extra, the largest row of every step."""
    rows, steps = log.table("iters_extra"), log.table("steps")["step"]
    out = np.zeros(len(steps))
    for column in columns:
        if column in rows.dtype.names:
            each = np.zeros(len(steps))
            np.maximum.at(each, np.searchsorted(steps, rows["step"]), np.nan_to_num(rows[column]))
            out += each
    return out


def solves(log):
    """Iterations of the linear solve of every step."""
    rows, steps = log.table("iters"), log.table("steps")["step"]
    out = np.zeros(len(steps))
    np.maximum.at(out, np.searchsorted(steps, rows["step"]), np.maximum(rows["inner_iters"], 0))
    return out


def impacts(log, column="impacts"):
    """A column of impact_zones, every step; zeros where it is switched off."""
    rows, name = log.table("steps_extra"), f"contact.impacts.{column}"
    return np.nan_to_num(rows[name]) if name in rows.dtype.names else np.zeros(len(rows))


def triangles(log):
    return len(log.scene("triangles"))


def found(made):
    with Log(made) as log:
        return intersections(log.table("steps"))


def farthest(a, b):
    """Largest distance of a vertex between the frames of two runs, m."""
    with Log(a) as one, Log(b) as two:
        return max(np.abs(one.frame(k) - two.frame(k)).max() for k in range(one.num_frames))


# ---- figure 13: scenes ----
def scenes(experiment, level, name):
    head = (f"{'':10}{'':>10}{'':>7}{'ms a step':>11}{'assembly, ms':>20}{'solve':>7}{'proxi-':>8}{'impacts':>16}"
            f"{'rounds':>14}{'inter-':>9}\n"
            f"{'scene':10}{'triangles':>10}{'steps':>7}{'':>11}{'staged':>10}{'triplets':>10}{'iters':>7}{'mities':>8}"
            f"{'mean':>8}{'most':>8}{'mean':>8}{'most':>6}{'sections':>9}")
    lines = [head]
    for scene in SCENES:
        made = scene_run(experiment, scene, level.detail, level.steps)
        sets = TRIPLETS | {"log.frames_every": 50}
        sorted_ = scene_run(experiment, scene, level.detail, level.short, sets, "-triplets")
        staged, triplets = (1e3 * section(m, "solver/assemble")[:level.short].mean() for m in (made, sorted_))
        with Log(made) as log:
            near, hits, rounds = most(log, "contact.all.vt", "contact.all.ee"), impacts(log), impacts(log, "rounds")
            lines.append(
                f"{scene:10}{triangles(log):10d}{len(near):7d}{1e3 * own_time(made).mean():11.1f}{staged:10.2f}"
                f"{triplets:10.2f}{solves(log).mean():7.0f}{near.mean():8.0f}{hits.mean():8.1f}{hits.max():8.0f}"
                f"{rounds.mean():8.2f}{rounds.max():6.0f}{intersections(log.table('steps')):9.0f}"
            )
    lines.append(f"assembly of both kinds: the first {level.short} steps")
    experiment.keep_text(name, lines)


# steps that are drawn, 0: all, as in other figures; frames in parts of them; where the camera stands and how near; bodies to
# draw as glass.  The whole run of Funnel, in which the cloth lies in the funnel from 1.35 s on, takes as long as the other four
SHOWN = {
    "funnel": (405, (0.4, 0.7, 1.0), (-60, 40), 1.3, ()),
    "sphere": (0, (0.2, 0.5, 1.0), (-35, 15), 1.2, ()),
    "twisting": (320, (0.25, 0.65, 1.0), (-60, 25), 2.2, ()),
    "falling": (0, (0.2, 0.45, 1.0), (-60, 20), 1.7, ()),
    "dryer": (200, (0.15, 0.5, 1.0), (-80, 10), 1.15, ("drum",)),
}


def still(log, name, frame, angles, zoom, clear):
    from loomcloth.sheet import caption, labelled
    from loomcloth.view import View

    view = View(log, [frame], (300, 240), angles, zoom=zoom, lamps=2)
    for actor, body in view.actors:
        if body.name in clear:
            actor.GetProperty().SetOpacity(0.2)
    return labelled(view.image(frame), caption(log, name, frame))


def stills(experiment):
    from PIL import Image

    rows = []
    for scene, (steps, when, *how) in SHOWN.items():
        with Log(scene_run(experiment, scene, steps=steps)) as log:
            chosen = [round(p * (log.num_frames - 1)) for p in when]
            rows.append(np.hstack([still(log, scene, f, *how) for f in chosen]))
    experiment.keep_image(Image.fromarray(np.vstack(rows)), "cama-stills")


# ---- figures 14, 17, 18: Sphere ----
PARTS = {"PC": "#0072B2", "MA": "#009E73", "LS": "#E69F00", "PH": "#D55E00", "rest": "#999999"}


def parts(made):
    """Processor seconds of every step: detection of proximities and of impacts, assembly, linear solve, response to
    impacts, and the rest: forces of elements and of contact."""
    out = {"PC": phase(made, "detect"), "MA": section(made, "solver/assemble"), "LS": section(made, "solver/solve"),
           "PH": phase(made, "filter")}
    return out | {"rest": np.maximum(own_time(made) - sum(out.values()), 0)}


def sphere(experiment):
    made = scene_run(experiment, "sphere")
    with Log(made) as log:
        time, near, hits = log.table("steps")["time"], most(log, "contact.all.vt", "contact.all.ee"), impacts(log)
        rounds, size = impacts(log, "rounds"), triangles(log)
    of, whole = parts(made), own_time(made)
    figure, axes = plain_axes(3, 1, width=6.0, height=2.1, sharex=True)
    axes[0].plot(time, 1e3 * whole, color="black", linewidth=0.8)
    axes[0].set_ylabel("ms a step")
    axes[1].plot(time, near, color="#0072B2", linewidth=0.8, label="proximities")
    axes[1].plot(time, hits, color="#D55E00", linewidth=0.8, label="impacts")
    axes[1].set_yscale("symlog", linthresh=1)
    axes[1].set_ylim(0, None)
    axes[1].legend(fontsize=7)
    smooth = {k: np.convolve(v, np.ones(20) / 20, "same") for k, v in of.items()}
    total = sum(smooth.values())
    axes[2].stackplot(time, [100 * v / total for v in smooth.values()], colors=PARTS.values(), labels=PARTS)
    axes[2].set_ylabel("share, %")
    axes[2].set_xlabel("time, s")
    axes[2].legend(fontsize=7, ncols=5, loc="lower center", frameon=True, facecolor="white", framealpha=1)
    experiment.save(figure, "cama-sphere", keep=True)
    share = ", ".join(f"{k} {100 * v.sum() / whole.sum():.0f} %" for k, v in of.items())
    busy = hits > 0
    peak = ", ".join(f"{k} {100 * v[busy].sum() / max(whole[busy].sum(), 1e-30):.0f} %" for k, v in of.items())
    experiment.keep_text("cama-sphere", [
        f"Sphere, {size} triangles, {len(time)} steps: {1e3 * whole.mean():.1f} ms a step, most {1e3 * whole.max():.1f}",
        f"proximities: mean {near.mean():.0f}, most {near.max():.0f}; impacts: mean {hits.mean():.2f}, most {hits.max():.0f},"
        f" in {np.mean(busy):.1%} of the steps; rounds: mean {rounds.mean():.3f}, most {rounds.max():.0f}",
        f"all steps: {share}",
        f"steps with impacts: {peak}",
    ])


# ---- figure 6: conjugate gradients ----
WAYS = ("none", "jacobi", "block_jacobi")
MESHES = ("regular", "jittered")
CG_SCENES = {  # sheets, their sides in m, steps: Sphere stops before the ball comes, without any contact; where
    "funnel": (("first", "second", "third"), 0.8, 200, {}),
    "sphere": (("front", "middle", "back"), 1.0, 75, {"front": 0.5, "middle": 0.51, "back": 0.52}),
}
FINE, FINE_STEPS, FALLING = 4, 20, 5  # [run] detail of 65,000 triangles; the first steps, near free fall, do not count


def jittered(experiment, side, count=27):
    """An OBJ file: inner vertices of the grid up to 0.35 cells off in both directions, Delaunay triangles."""
    import pyvista

    path = experiment.out / (f"jittered-{side:g}" + (f"-{count}" if count > 27 else "") + ".obj")
    line = np.linspace(-side / 2, side / 2, count)
    x = np.array(np.meshgrid(line, line)).reshape(2, -1).T
    inside = (np.abs(x) < 0.499 * side).all(axis=1)
    x[inside] += np.random.default_rng(1).uniform(-0.35, 0.35, (inside.sum(), 2)) * side / (count - 1)
    mesh = pyvista.PolyData(np.c_[x, np.zeros(len(x))]).delaunay_2d()
    faces = np.array(mesh.faces).reshape(-1, 4)[:, 1:]
    a, b = (x[faces[:, k]] - x[faces[:, 0]] for k in (1, 2))
    turned = a[:, 0] * b[:, 1] < a[:, 1] * b[:, 0]
    faces[turned] = faces[turned][:, [0, 2, 1]]
    text = "".join(f"v {u:.9f} {v:.9f} 0\n" for u, v in x) + "".join(f"vt {u:.9f} {v:.9f}\n" for u, v in x)
    text += "".join(f"f {i}/{i} {j}/{j} {k}/{k}\n" for i, j, k in faces + 1)
    if not path.exists() or path.read_text() != text:  # logs that read it would be old
        path.write_text(text)
    return path


def cg_run(experiment, scene, mesh, way, tolerance=1e-6, detail=1):
    sheets, side, steps, edges = CG_SCENES[scene]
    sets = {"solver.preconditioner": way, "solver.tolerance": tolerance, "log.frames_every": 50,
            "run.steps": steps if detail == 1 else FINE_STEPS}
    inputs, count = [], 26 * detail + 1
    if mesh == "jittered":
        inputs = [jittered(experiment, side, count)]
        its = {"shape": "obj", "file": inputs[0], "size": "", "resolution": ""}
        sets |= {f"cloth.{sheet}.{key}": value for sheet in sheets for key, value in its.items()}
        sets |= {f"cloth.{sheet}.pins": f"box -2 -2 {z - 1e-3} 2 2 {z + 1e-3}" for sheet, z in edges.items()}
    elif detail > 1:
        sets["run.detail"] = detail
    name = f"cg-{scene}-{mesh}-{way}-{tolerance:g}" + (f"-{detail}" if detail > 1 else "")
    return run(experiment, name, f"../../configs/cama_{scene}.ini", sets, inputs)


def cg_numbers(made):
    """Iterations of every step, processor seconds of solve and of the step, intersections."""
    with Log(made) as log:
        return solves(log), section(made, "solver/solve"), own_time(made), intersections(log.table("steps"))


def cg_row(experiment, scene, mesh, way, tolerance):
    plain = cg_numbers(cg_run(experiment, scene, mesh, "none"))[0].mean()
    iters, solve, step, hits = cg_numbers(cg_run(experiment, scene, mesh, way, tolerance))
    gain = f"{100 * (iters.mean() / plain - 1):+.1f} %"
    return (f"{scene:9}{mesh:10}{way:14}{tolerance:10g}{iters.mean():12.1f}{gain:>14}{1e3 * solve.mean():11.2f}"
            f"{1e3 * step.mean():10.2f}{hits:15.0f}")


def cg(experiment):
    colours = {"none": "#000000", "jacobi": "#D55E00", "block_jacobi": "#0072B2"}
    lines = [f"{'scene':9}{'mesh':10}{'':14}{'tolerance':>10}{'iterations':>12}{'against none':>14}{'solve, ms':>11}"
             f"{'step, ms':>10}{'intersections':>15}"]
    ways = [(way, 1e-6) for way in WAYS] + [("jacobi", 1e-11)]
    lines += [cg_row(experiment, s, m, *how) for s in CG_SCENES for m in MESHES for how in ways]
    figure, axes = plain_axes(1, 2, width=4.2, height=2.6, sharey=True)
    for axis, mesh in zip(axes, MESHES):
        for way in WAYS:
            iters = cg_numbers(cg_run(experiment, "funnel", mesh, way))[0]
            axis.plot(iters, color=colours[way], linewidth=0.9, label=way)
        axis.set_title(f"Funnel, {mesh} mesh", fontsize=9)
        axis.set_xlabel("step")
    axes[0].set_ylabel("iterations of the linear solve")
    axes[0].legend(fontsize=7)
    experiment.save(figure, "cama-cg", keep=True)
    experiment.keep_text("cama-cg", lines)


# ---- figure 19: impacts ----
SCHEMES = {"system, equality": ("system", "equality"), "system, lcp": ("system", "lcp"), "zones": ("zones", "equality"),
           "zones, lcp": ("zones", "lcp"), "impulses": ("impulses", "equality")}
MEETINGS = {"collide": 50, "fast": 60}  # steps


def impact_run(experiment, scene, scheme):
    way, mode = SCHEMES[scheme]
    sets = {"contact.impacts.scheme": way, "contact.impacts.mode": mode, "run.steps": MEETINGS[scene],
            "log.frames_every": 50}
    return run(experiment, f"{scene}-{way}-{mode}", f"{scene}.ini", sets)


def impact_row(made, closed):
    with Log(made) as log:
        t, rounds, first, rows = log.table("steps"), impacts(log, "rounds"), impacts(log, "first"), impacts(log)
        pulling, rigid = impacts(log, "pulling").sum(), impacts(log, "rigid").sum()
    energy = t["e_kinetic"] + t["e_gravity"] + t["e_elastic"]
    lost = f"{100 * (1 - energy[-1] / energy[0]):.1f} %" if closed else "-"
    response = section(made, "contact.impacts/impacts", "contact.impacts/rigid").sum()
    return (f"{rounds.mean():8.2f}{rounds.max():6.0f}{first.sum():9.0f}{rows.sum():9.0f}"
            f"{100 * pulling / max(rows.sum(), 1):9.0f}{rigid:7.0f}{response:10.2f}"
            f"{phase(made, 'detect').sum():10.2f}{lost:>10}{intersections(t):9.0f}")


def meeting(experiment, name):
    head = (f"{'':28}{'rounds':>14}{'impacts':>18}{'pulling':>9}{'rigid':>7}{'response':>10}{'detection':>10}{'energy':>10}"
            f"{'inter-':>9}\n{'scene':10}{'scheme':18}{'mean':>8}{'most':>6}{'first':>9}{'in all':>9}{'%':>9}{'':>7}"
            f"{'s':>10}{'s':>10}{'lost':>10}{'sections':>9}")
    lines = [head]
    for scene in MEETINGS:
        for scheme in SCHEMES:
            made = impact_run(experiment, scene, scheme)
            lines.append(f"{scene:10}{scheme:18}{impact_row(made, scene == 'collide')}")
    experiment.keep_text(name, lines)


# ---- figure 16: sizes ----
DETAILS, SIZE_STEPS, LAST = (1, 2, 4), 110, 20


def size_run(experiment, detail, sets=None, tag=""):
    return scene_run(experiment, "sphere", detail, SIZE_STEPS, {"log.frames_every": 50} | (sets or {}), tag)


def size_row(experiment, detail):
    """Triangles, processor seconds of a step, peak bytes of the process, bytes of the matrix."""
    made = size_run(experiment, detail)
    with Log(made) as log:
        count, blocks = triangles(log), most(log, "blocks")[-LAST:].mean()
        rows = 8 * len(log.scene("mass"))
        peak = log.table("steps")["rss"].max()
    return count, own_time(made)[-LAST:].mean(), peak, blocks * (72 + 4) + rows


def exponents(rows):
    """Of time and memory between neighbouring sizes."""
    n, seconds, peak, _ = (np.log(np.array(c)) for c in zip(*rows))
    return np.diff(seconds) / np.diff(n), np.diff(peak) / np.diff(n)


def sizes(experiment):
    rows = [size_row(experiment, d) for d in DETAILS]
    lines = [f"Sphere, the last {LAST} of {SIZE_STEPS} steps: the ball has met the first sheet",
             f"{'triangles':>10}{'s a step':>10}{'us/triangle':>13}{'process, B/triangle':>21}{'matrix, B/triangle':>20}"]
    lines += [f"{n:10d}{s:10.3f}{1e6 * s / n:13.1f}{b / n:21.0f}{m / n:20.0f}" for n, s, b, m in rows]
    time, memory = exponents(rows)
    for k in range(len(time)):
        lines.append(f"{rows[k][0]} to {rows[k + 1][0]}: exponent of time {time[k]:.2f}, of memory {memory[k]:.2f}")
    experiment.keep_text("cama-sizes", lines)
    n, seconds, _, _ = zip(*rows)
    figure, axis = plain_axes(1, 1, width=4.2, height=2.6)
    axis.loglog(n, seconds, "o-", color="#0072B2", label="here, one core")
    axis.loglog((16e3, 64e3, 256e3, 1e6), (0.27, 1.22, 5.30, 35.57), "s--", color="#999999", label="paper, K40c")
    axis.set(xlabel="triangles", ylabel="seconds a step")
    axis.legend(fontsize=7)
    experiment.save(figure, "cama-sizes", keep=True)


# ---- the front ----
FRONT = ("refit", "leaves", "list", "quick", "exact")


def front_run(experiment, scene, update):
    if update == "localized":
        return scene_run(experiment, scene)
    return scene_run(experiment, scene, sets={"collision.self.update": update}, tag=f"-{update}")


def front(experiment):
    lines = [f"{'scene':10}{'update':11}{'detection, s':>13}" + "".join(f"{s:>9}" for s in FRONT)
             + f"{'front':>10}{'share':>7}{'tested':>10}{'queries':>9}"]
    for scene in ("sphere", "dryer"):
        for update in ("full", "localized"):
            made = front_run(experiment, scene, update)
            with Log(made) as log:
                rows = log.table("steps_extra")
            means = [np.nanmean(rows[f"collision.self.{k}"]) for k in ("front", "share", "n_tested", "queries")]
            lines.append(
                f"{scene:10}{update:11}{phase(made, 'detect').sum():13.2f}"
                + "".join(f"{section(made, f'collision.self/{s}').sum():9.2f}" for s in FRONT)
                + f"{means[0]:10.0f}{means[1]:7.2f}{means[2]:10.0f}{means[3]:9.2f}"
            )
    experiment.keep_text("cama-front", lines)


# ---- bars ----
TWIST_STEPS = 40  # until three sheets of 65,000 triangles lie on each other
BLOCKS = "half of staged assembly is the elements' Hessians, which sorting has, too; without them 4 to 5, README.md"
MEMORY = "README.md, Memory"
DIAGONAL = "forces of contact make diagonals that differ as much as those of an irregular mesh, README.md"
BORDER = "rows of a free border have half the diagonal; held all round, Jacobi saves nothing, README.md"
BLOCK = "a load along the height alone, which blocks of a regular mesh mix with the width, README.md"
SORTED = "4.1 and 5.3 in two runs beside other work: sorting blocks moves a ninth of what sorting entries does, README.md"
LOCALIZED = "three of four queries are the first of their kind in a step, where everything has moved, README.md"
TIME = "iterations grow, the matrix leaves the cache, edges come near the thickness, README.md"
SPACE = "fronts and pairs: the same thickness is half an edge at 65,000 triangles, README.md"


def scene_bars(experiment):
    out = []
    for scene in SCENES:
        made = scene_run(experiment, scene)
        out.append(Bar(f"{scene}: intersections, all steps", found(made), 0))
    most_rounds = 0
    for scene in SCENES:
        with Log(scene_run(experiment, scene)) as log:
            most_rounds = max(most_rounds, impacts(log, "rounds").max())
            if scene == "sphere":
                out.append(Bar("sphere: rounds of impacts per step, mean", impacts(log, "rounds").mean(), 1))
    return [*out, Bar("rounds of impacts in any step of the five scenes", most_rounds, 30)]


def conserved_bars(experiment):
    """Two sheets that meet in free space, impacts solved for by five iterations, the cloth's own system to the last
    digits: any change of the sum of m v comes from impacts."""
    sets = {"contact.impacts.max_inner": 5, "contact.impacts.mode": "equality", "solver.tolerance": 1e-13,
            "run.gravity": "0 0 0", "run.steps": 20, "log.frames_every": 1}
    made = run(experiment, "collide-capped", "collide.ini", sets)
    with Log(made) as log:
        mass, first = np.array(log.scene("mass")), impacts(log, "first")
        v = np.array([log.velocity(k) for k in range(log.num_frames)])
        kinetic = 0.5 * np.einsum("i,kij->k", mass, v**2)
        lost = np.abs(np.einsum("i,kij->kj", mass, np.diff(v, axis=0))).max() / (mass @ np.linalg.norm(v[0], axis=1))
    meets = np.argmax(first > 0)  # cloth is flat and fast until then: elasticity has no part in this step
    name = "impacts by five iterations of conjugate gradients"
    return [
        Bar(f"{name}: impacts of the run", first.sum(), 1000, least=True),
        Bar(f"{name}: change of momentum in any step, in parts of sum m |v|", lost, 1e-12),
        Bar(f"{name}: kinetic energy after the first impacts, times before", kinetic[meets + 1] / kinetic[meets], 1),
    ]


def controls(experiment):
    """Parts that hold the scenes, switched off: the same bars must be short."""
    off = NO_IMPACTS | {"filter.bound": "none"}
    hits = found(scene_run(experiment, "dryer", steps=200, sets=off, tag="-no-impacts"))
    with Log(scene_run(experiment, "sphere", steps=200, sets=NO_FORCES, tag="-no-forces")) as log:
        rounds = impacts(log, "rounds").mean()
    return [
        Bar("control: dryer without impacts: intersections, 200 steps", hits, 1, least=True),
        Bar("control: sphere without forces: rounds of impacts per step, mean, 200 steps", rounds, 1, least=True),
    ]


def cg_bars(experiment):
    out = []
    for scene, what, cause in (("funnel", "funnel", DIAGONAL), ("sphere", "hanging sheets without contact", BORDER)):
        mean = {(m, w): cg_numbers(cg_run(experiment, scene, m, w))[0].mean() for m in MESHES for w in ("none", "jacobi")}
        less = {m: 100 * (1 - mean[m, "jacobi"] / mean[m, "none"]) for m in MESHES}
        out.append(Bar(f"{what}, jittered mesh: iterations that Jacobi saves", less["jittered"], 25, "%", least=True,
                       cause=cause))
        out.append(Bar(f"{what}, regular mesh: the same, more or less", abs(less["regular"]), 5, "%", cause=cause))
    dear = [cg_numbers(cg_run(experiment, "funnel", "jittered", "jacobi", t))[2].mean() for t in (1e-6, 1e-11)]
    return [*out, Bar("funnel, jittered mesh: time of a step that 1e-11 adds", 100 * (dear[1] / dear[0] - 1), 30, "%")]


def assembly_bars(experiment):
    """65,000 triangles with contacts in every step that counts."""
    ways = {"staged": {}, "triplets": TRIPLETS, "entries": ENTRIES}
    made = {way: scene_run(experiment, "twisting", 4, TWIST_STEPS, {"log.frames_every": 50} | more, f"-{way}")
            for way, more in ways.items()}
    with Log(made["staged"]) as log:
        last = most(log, "contact.all.vt", "contact.all.ee") > 0
    whole, hessians = ({way: section(m, f"solver/{s}")[last].mean() for way, m in made.items()}
                       for s in ("assemble", "elements"))
    print("twisting, 65,000 triangles, ms a step (of which Hessians of elements): "
          + ", ".join(f"{way} {1e3 * whole[way]:.0f} ({1e3 * hessians[way]:.0f})" for way in ways))
    own = {way: whole[way] - hessians[way] for way in ways}
    name = "twisting, 65,000 triangles: time of assembly by sorting"
    apart = max(farthest(made["staged"], made[way]) for way in ("triplets", "entries"))
    return [
        Bar("twisting, 65,000 triangles: largest distance between runs by any assembly", apart, 0, "m"),
        Bar(f"{name} all entries, times staged", whole["entries"] / whole["staged"], 5, least=True),
        Bar(f"{name} 3x3 blocks, times staged", whole["triplets"] / whole["staged"], 5, least=True, cause=BLOCKS),
        Bar(f"{name} 3x3 blocks, without element Hessians, times staged", own["triplets"] / own["staged"], 5, least=True,
            cause=SORTED),
    ]


def fine_cg_bars(experiment):
    """The hanging sheets at 65,000 triangles."""
    mean = {(m, w): cg_numbers(cg_run(experiment, "sphere", m, w, detail=FINE))[0][FALLING:].mean()
            for m in MESHES for w in WAYS}
    print("hanging sheets, 65,000 triangles, iterations: " + ", ".join(f"{m} {w} {n:.0f}" for (m, w), n in mean.items()))
    less = {m: 100 * (1 - mean[m, "jacobi"] / mean[m, "none"]) for m in MESHES}
    name = "hanging sheets, 65,000 triangles"
    out = [Bar(f"{name}, jittered mesh: iterations that Jacobi saves", less["jittered"], 25, "%", least=True, cause=BORDER),
           Bar(f"{name}, regular mesh: the same, more or less", abs(less["regular"]), 5, "%", cause=BORDER)]
    for mesh in MESHES:
        more = mean[mesh, "block_jacobi"] / mean[mesh, "jacobi"]
        out.append(Bar(f"{name}, {mesh} mesh: iterations with block Jacobi, times Jacobi", more, 1.02, cause=BLOCK))
    return out


def border_bar(experiment):
    """The hanging sheets, regular and held all round, before they move: all free rows are alike."""
    sets = {f"cloth.{sheet}.pins": "boundary" for sheet in CG_SCENES["sphere"][0]} | {"run.steps": 1}
    first = [cg_numbers(run(experiment, f"cg-held-{way}", "../../configs/cama_sphere.ini",
                            sets | {"solver.preconditioner": way}))[0][0] for way in ("none", "jacobi")]
    return Bar("hanging sheets held all round, regular mesh, first step: iterations that Jacobi saves, more or less",
               abs(100 * (1 - first[1] / first[0])), 5, "%")


def memory_bar(experiment):
    """Memory of the process beyond a run with a solver that has no matrix."""
    peaks = []
    for solver in ("cama_pcg", "gd"):
        made = scene_run(experiment, "sphere", 4, 2, {"solver.plugin": solver, "log.audit": "off"}, f"-{solver}")
        with Log(made) as log:
            count = triangles(log)
            peaks.append(log.table("steps")["rss"].max())
    _, _, whole, matrix = size_row(experiment, 4)
    print(f"65,000 triangles: process {whole / count:.0f} bytes per triangle, of which the matrix {matrix / count:.0f}")
    return Bar("65,000 triangles: memory of the linear system", (peaks[0] - peaks[1]) / count, 2200, "B/triangle", cause=MEMORY)


def front_bars(experiment):
    runs = [front_run(experiment, "sphere", update) for update in ("full", "localized")]
    spent = [phase(made, "detect").sum() for made in runs]
    return [
        Bar("sphere: time of detection that localized updates save", 100 * (1 - spent[1] / spent[0]), 30, "%", least=True,
            cause=LOCALIZED),
        Bar("sphere: largest distance between runs by full and localized updates", farthest(*runs), 0, "m"),
    ]


def size_bars(experiment):
    time, memory = exponents([size_row(experiment, d) for d in DETAILS])
    return [Bar("sphere, 16,000 to 65,000 triangles: exponent of time", time[-1], 1.15, cause=TIME),
            Bar("sphere, 16,000 to 65,000 triangles: exponent of memory", memory[-1], 1.02, cause=SPACE)]


def bars(experiment):
    rows = scene_bars(experiment) + conserved_bars(experiment) + cg_bars(experiment) + fine_cg_bars(experiment)
    rows += [border_bar(experiment), *assembly_bars(experiment), memory_bar(experiment), *front_bars(experiment)]
    return rows + size_bars(experiment) + controls(experiment)


FIGURES = {
    "cama-bars": ("every bar of the CAMA scenes: pass, shortfall and cause", bars),
    "cama-stills": ("the five scenes, pictures", stills),
    "cama-sphere": ("Sphere over its steps: time, proximities, impacts, shares", sphere),
    "cama-cg": ("Funnel: preconditioned against plain conjugate gradients, two meshes, two tolerances", cg),
    "cama-impacts": ("impacts as one system, zones, impulses", partial(meeting, name="cama-impacts")),
    "cama-sizes": ("Sphere at 4, 16 and 65 thousand triangles: time and memory", sizes),
    "cama-front": ("localized against full update of the front", front),
}
for suffix, its in LEVELS.items():
    FIGURES[f"cama-scenes{suffix}"] = (
        f"five scenes of {its.text}: time of a step, assembly, impacts",
        partial(scenes, level=its, name=f"cama-scenes{suffix}"),
    )
