"""Public simulators on scenes of loom, each measured by loom as a run of its own."""

import contextlib
import itertools
import os
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
from matplotlib.ticker import LogLocator, NullFormatter
from matplotlib.transforms import Bbox
from PIL import Image

from loomcloth import made
from loomcloth.experiment import FigureError, TimeOver
from loomcloth.log import Log
from loomcloth.peer.environment import EnvironmentMissing
from loomcloth.style import plain_axes

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
import bounds  # noqa: E402

# Of the sheet of the scenes: the same moduli for both energies, 300 N/m and 0.3; k_b = k_e/12 = 1e-4 N m.
ENERGIES = {
    "neohookean": {"model": "tri_neohookean+hinge_shell", "young": 300, "poisson": 0.3, "k_e": 1.2e-3,
                   "limit_tension": 0},
    "stvk": {"model": "tri_stvk+hinge_isometric", "k0": 329.6703296703297, "k1": 98.9010989010989,
             "k2": 329.6703296703297, "k3": 230.7692307692308, "k_b": 1e-4},
}  # fmt: skip
SCENES = ("hang", "drape", "touch", "twist")
LONG = (("run.dt", 0.1), ("run.steps", 40))  # s; as many seconds as rest.ini
NEAR = 1.0  # mm, at which a sheet counts as at rest
EARLY, REPEATS = 0.25, 2  # s, time at which distances are compared; runs of each row
BUDGET = 120  # s, processor time of a row with --detail above 1, where each row is run once
# loom's best solver of the scene at 1 % of the first residual, by ./loom figure league.
BEST = {"hang": "pcg_newton", "drape": "pcg_newton", "touch": "cholmod_newton", "twist": "cholmod_newton",
        "rest": "pcg_newton"}  # fmt: skip


@dataclass(frozen=True)
class Row:  # one code with one way of use, on any scene
    name: str
    label: str
    energy: str
    peer: str = ""  # "": loom
    sets: tuple = ()  # pairs of key and value
    words: tuple = ()
    parts: int = 1  # steps in one of [run] dt


def rows_of(scene, detail=1):
    """The rows of a scene; the first two of the four scenes are loom's converged Newton, one for each energy."""
    is_short = scene == "twist" or detail > 1  # converged steps of a tight twist or a large sheet are costly
    first = (("run.steps", 26),) if is_short else ()
    rows = [Row(f"loom-{e}", f"loom, {e}, converged{' to 0.26 s' if first else ''}", e, sets=first)
            for e in ENERGIES if scene != "rest"]  # fmt: skip
    least = 1e-8 if scene == "twist" else 0  # its first step begins with a residual of 0
    coarse = (("stop.tol_rel", 1e-2), ("stop.tol_abs", least))
    best = (("solver.plugin", BEST[scene]), *coarse)
    rows += [Row(f"best-{e}", f"loom, {e}, {BEST[scene]}, 1 %", e, sets=best) for e in ENERGIES]
    way = ("--as-recommended",)
    rows += [Row("mujoco-equal", "MuJoCo, 10 ms", "stvk", "mujoco"),
             Row("mujoco-recommended", "MuJoCo, 2 ms, as recommended", "stvk", "mujoco", words=way, parts=5)]
    if scene == "rest":  # the way does not count: each code may take long steps
        long = (("solver.plugin", "cholmod_newton"), *coarse, *LONG)
        rows += [Row(f"long-{e}", f"loom, {e}, cholmod_newton, 1 %, 0.1 s", e, sets=long) for e in ENERGIES]
        rows.append(Row("mujoco-long", "MuJoCo, 0.1 s", "stvk", "mujoco", LONG))
    counts = {"hang": (10, 30, 100), "rest": (10, 100)}.get(scene, (10,))
    rows += [Row(f"newton-{n}", f"Newton VBD, 10 ms, {n} iterations", "neohookean", "newton",
                 (("peer.iterations", n),)) for n in counts]
    if scene in ("hang", "drape"):
        other = tuple(word for key in bounds.DIFFER["pypbd"] for word in ("--differ", key))
        rows += [Row("pypbd", "pyPBD, 10 ms, 5 substeps", "neohookean", "pypbd", words=other),
                 Row("pypbd-recommended", "pyPBD, 5 ms, as recommended", "neohookean", "pypbd", words=(*way, *other),
                     parts=2)]  # fmt: skip
    if scene != "twist":
        rows.append(Row("newton-recommended", "Newton VBD, 1/600 s, as recommended", "neohookean", "newton",
                        words=way, parts=6))
    return rows


def sets_of(row, more=()):
    return {f"cloth.sheet.{k}": v for k, v in ENERGIES[row.energy].items()} | dict(row.sets) | dict(more)


@dataclass(frozen=True)
class Size:  # of the sheet
    detail: int = 1  # cells along a side for one of sheet.ini

    @property
    def tag(self):  # of names of files
        return f"-detail{self.detail}" if self.detail > 1 else ""

    @property
    def vertices(self):
        return (31 * self.detail + 1) ** 2

    @property
    def budget(self):  # s, of a row; 0: as long as it takes
        return BUDGET if self.detail > 1 else 0


ONE = Size()


def log_of(experiment, scene, row, repeat=0, more=(), size=ONE):
    """The log of a row; repeat: 0, 1, ..., of the same run.  TimeOver where loom does not end in the budget."""
    name = f"{scene}{size.tag}-{row.name}" + (f"-{repeat + 1}" if repeat else "")
    sets = sets_of(row, more)
    if size != ONE:  # r_energy costs more than most of the steps of a large sheet
        sets |= {"run.detail": size.detail, "log.error": "off"}
    if row.peer:
        words = (*row.words, "--time", str(size.budget)) if size.budget else row.words
        return experiment.play(name, row.peer, f"{scene}.ini", sets, words)
    return experiment.run(name, f"{scene}.ini", sets, limit=size.budget)


def fine_reference(experiment, scene, row, size=ONE):
    """loom's converged Newton at the step of the row, up to the time of comparison."""
    steps = round(EARLY / 0.01)
    more = {"run.substeps": row.parts, "run.steps": steps}
    if row.parts == 1:
        first = next(r for r in rows_of(scene, size.detail) if r.name == f"loom-{row.energy}")
        return log_of(experiment, scene, first, size=size)
    return log_of(experiment, scene, Row(f"loom-{row.energy}-{row.parts}", "", row.energy), more=more, size=size)


def is_timed(scene, row):
    """Whether the run is made twice, so that its cost is shown; long ones and converged ones are made once."""
    is_long = scene != "hang" and row.name in ("newton-recommended", "newton-100")
    return scene != "twist" and not is_long and not row.name.startswith("loom-")


def all_runs(experiment, scenes=SCENES, size=ONE):  # first each run once
    """{(scene, row): its logs, None where --kept has no log}, {(scene, row): reason} of those of loom that did
    not fit in the budget, with the steps that they made, and the missing simulators with the reasons."""
    logs, over, missing = {}, {}, {}
    for repeat in range(REPEATS if size == ONE else 1):
        for scene in scenes:
            for row in rows_of(scene, size.detail):
                if row.peer in missing or (repeat and not is_timed(scene, row)):
                    continue
                paths = logs.setdefault((scene, row), []) or []
                logs[scene, row] = paths
                try:
                    paths.append(log_of(experiment, scene, row, repeat, size=size))
                except TimeOver as error:
                    print(f"loom: figure: {error}", file=sys.stderr)
                    over[scene, row] = error.reason
                    paths += [error.path] if error.path else []
                except FigureError:
                    if not experiment.kept:
                        raise
                    logs[scene, row] = paths or None  # not run
                except EnvironmentMissing as error:
                    missing[row.peer] = str(error)
                    del logs[scene, row]
    return logs, over, missing


# Starts of rest.ini that end in its equilibrium: below the upper edge with a push to the side, and above it.
STARTS = {"below": {"cloth.sheet.velocity": "0.5 0 0"},
          "above": {"cloth.sheet.velocity": "0 0 -0.5",
                    "cloth.sheet.transform": "translate 0 -0.5 0 rotate 1 0 0 150 translate 0 0 1"}}  # fmt: skip


def equilibrium(experiment, energy):
    """Places of the vertices at rest, m, and the largest distance of a vertex between the two starts, mm.
    Long steps of converged Newton with damping; FigureError if the equilibrium is not the only one found."""
    ends = []
    for start, sets in STARTS.items():
        row, more = Row(f"still-{energy}-{start}", "", energy), {"run.dt": 0.1, "run.steps": 100} | sets
        path = log_of(experiment, "rest", row, more=more)
        with Log(path) as log:
            speed = float(np.linalg.norm(log.velocity(-1), axis=1).max())
            if speed > 1e-4:
                raise FigureError(f"{path}: moves with {speed:.2g} m/s at its end: no equilibrium")
            ends.append(log.frame(-1))
    apart = rms(*ends)[1]
    if apart > 0.1 * NEAR:
        raise FigureError(f"{energy}: two starts end {apart:.2g} mm apart: rest.ini has several equilibria")
    return ends[0], apart


def rms(a, b):  # RMS and largest distance of vertices, mm
    d = 1e3 * np.linalg.norm(a - b, axis=1)
    return float(np.sqrt((d**2).mean())), float(d.max())


def spread(values, once=False):  # least and largest of the repetitions; once: also that of a single run
    if len(values) > 1:
        return f"{min(values):.2f} to {max(values):.2f}"
    return f"{values[0]:.1f}" if once else "-"


def numbers_of(experiment, scene, row, paths, size=ONE, over=""):
    """A line of the table of a scene.  over: as all_runs tells it."""
    if not paths:
        kind = "loom" if not row.peer else "same problem" if scene == "hang" else "same scene"
        return {"row": row, "kind": kind, "cpu": [], "ended": over or "not run"}
    cpu, early = [], []
    for path in paths:
        with Log(path) as log:
            steps = log.table("steps")
        cpu.append(float(steps["t_cpu"].sum()))
        early.append(float(steps["t_cpu"][steps["time"] <= EARLY + 1e-9].sum()))
    with Log(paths[0]) as log:
        kind = log.settings.get("peer.kind", "same problem") if row.peer else "loom"
        ended = over or log.settings.get("peer.early", "")
        steps, iters = log.table("steps"), log.table("iters", ("step", "k", "r_energy"))
        count, frame = log.num_frames, log.frame(min(round(EARLY / 0.01), log.num_frames - 1))
        deep = depth(log, *BALLS[scene]) if scene in BALLS else np.nan
        if not ended and len(steps) < log.planned_steps:  # a log of an older `loom peer`
            ended = f"step {len(steps)} of {log.planned_steps} is not finite"
    line = {"row": row, "kind": kind, "cpu": cpu, "early": early, "deep": deep, "frames": count - 1,
            "ended": ended, "hits": int((steps["intersections"] > 0).sum()),
            "pairs": int(steps["intersections"].max()), "steps": len(steps)}  # fmt: skip
    left = iters["r_energy"][iters["k"] == 0] if row.peer else []
    line |= {"left": float(np.nanmedian(left)) if np.isfinite(left).any() else np.nan, "far": None}
    if kind != "other model" and (row.parts == 1 or scene == "hang") and count > round(EARLY / 0.01):
        none = FigureError if experiment.kept else TimeOver  # --kept has no log of it
        with contextlib.suppress(none), Log(fine_reference(experiment, scene, row, size)) as log:
            line["far"] = rms(frame, log.frame(round(EARLY / 0.01)))
    return line


# {scene: centre and radius of its ball, m}
BALLS = {"drape": ((0, 0, 0.36), 0.3), "touch": ((0, 0, 0.4), 0.2)}


def depth(log, centre, radius):  # of the deepest vertex in a ball in any frame, mm
    least = min(float(np.linalg.norm(log.frame(k) - centre, axis=1).min()) for k in range(log.num_frames))
    return 1e3 * max(0.0, radius - least)


def rest_line(row, paths, goal):
    """Processor seconds until every vertex stays within NEAR of its place at rest; None: never."""
    cpu = []
    for path in paths:
        with Log(path) as log:
            far = np.array([rms(log.frame(k), goal)[1] for k in range(log.num_frames)])
            steps, frames = log.table("steps"), log.times
        first = int(np.nonzero(far > NEAR)[0].max(initial=-1)) + 1
        if first >= len(far):
            return {"row": row, "cpu": None, "last": far[-1], "total": float(steps["t_cpu"].sum())}
        cpu.append(float(steps["t_cpu"][steps["time"] <= frames[first] + 1e-9].sum()))
    return {"row": row, "cpu": cpu, "last": far[-1], "time": frames[first]}


TITLES = {
    "hang": "hanging sheet, 0.5 s, no contact", "drape": "sheet over a ball, 0.8 s, no self-contact",
    "touch": "self-contact drape, 0.6 s", "twist": "twist by half a turn of both sides, 0.6 s",
}  # fmt: skip
KINDS = ("loom", "same problem", "same scene", "other model")


def text_of(size, lines, missing):
    name, cost = "peers", f"least and largest of {REPEATS} repetitions."
    if size != ONE:
        name = f"peers --detail {size.detail}"
        cost = f"one run each, of at most {size.budget} s (of loom with start and measuring)."
    out = [
        f"./loom figure {name}: a sheet of {size.vertices:,} vertices, {made.machine()}, one thread each",
        "The machine was busy with other work: processor times are upper bounds.",
        f"cpu: processor seconds of the whole run, {cost}",
        f"far: distance of the frame at {EARLY} s to loom's converged Newton of the same energy and step, "
        "RMS / largest, mm.",
        "left: median r_energy of the steps, sqrt(J). hits: steps that end with an intersection, of all; pairs: "
        "most of them in a step. deep: deepest vertex in the ball, mm.",
        "Kinds of rows are different questions: compare within one only.",
        *(f"missing: {peer}: {why}" for peer, why in missing.items()),
    ]
    for scene in SCENES:
        out += ["", TITLES[scene]]
        if all(line.get("ended") == "not run" for line in lines[scene]):
            out.append("    not run")
            continue
        for kind in KINDS:
            rows = [line for line in lines[scene] if line["kind"] == kind]
            if rows:
                out.append(f"  {kind:42}{'cpu s':>18}{'far mm':>18}{'left':>10}{'hits':>12}{'pairs':>7}{'deep':>7}")
            for line in rows:
                if not line["cpu"]:
                    out.append(f"    {line['row'].label:40}  {line['ended']}")
                    continue
                is_timed = not line["row"].name.startswith("loom-") or size != ONE
                cpu = spread(line["cpu"], size != ONE) if is_timed else "-"
                far = "{:.2g} / {:.2g}".format(*line["far"]) if line["far"] and max(line["far"]) > 0 else "-"
                left = f"{line['left']:.2g}" if np.isfinite(line["left"]) else "-"
                deep = f"{line['deep']:.1f}" if np.isfinite(line["deep"]) else "-"
                hits = f"{line['hits']} of {line['steps']}"
                out.append(f"    {line['row'].label:40}{cpu:>18}{far:>18}{left:>10}{hits:>12}{line['pairs']:>7}{deep:>7}")
                out += [f"      {line['ended']}"] if line["ended"] else []
    return [*out, "", "free fall, slopes, strip, cantilever, single steps: ./loom figure peers-bars",
            "seconds until a sheet is at rest: ./loom figure peers-rest"]  # fmt: skip


def rest_text(lines, apart, missing):
    out = [f"./loom figure peers-rest: {made.machine()}, busy with other work, one thread each",
           "A sheet of 1,024 vertices on its upper edge, from 30 degrees, damping 8 1/s: until every vertex stays "
           f"within {NEAR:g} mm of its place at rest, its one equilibrium: two starts of converged Newton end at "
           f"most {apart:.1g} mm apart.", "The damping sets the time in the scene.",
           *(f"missing: {peer}: {why}" for peer, why in missing.items())]  # fmt: skip
    for line in lines:
        if line["cpu"] is None:
            end = f"not in 4 s; {line['last']:.1f} mm off after {line['total']:.2f} s of processor time"
        else:
            costs = spread(line["cpu"]) if len(line["cpu"]) > 1 else f"{line['cpu'][0]:.1f} (once)"
            end = f"{costs} s of processor time, at {line['time']:.2f} s; {line['last']:.2f} mm at 4 s"
        out.append(f"    {line['row'].label:48}{end}")
    return out


def keep_inside(axes, labels):
    """Each label beside its mark, inside the axes, where it covers no mark and no label before it."""
    axes.figure.canvas.draw()
    places = [axes.transData.transform(text.xy) for text in labels]
    boxes = [Bbox.from_bounds(x - 6, y - 6, 12, 12) for x, y in places]  # pixels
    for text in labels:
        for side, x, y in itertools.chain(*((("left", 5, y), ("right", -5, y)) for y in (4, -11, 14, -21))):
            text.set_horizontalalignment(side)
            text.xyann = (x, y)  # points
            box, frame = text.get_window_extent(), axes.get_window_extent()
            if frame.x0 <= box.x0 and box.x1 <= frame.x1 and not any(box.overlaps(other) for other in boxes):
                break
        boxes.append(text.get_window_extent())


def draw_cost(experiment, lines, size):
    """Distance at the time of comparison against processor time up to there, one panel for a kind of rows."""
    marks = {"loom": ("o", "tab:blue"), "mujoco": ("s", "tab:orange"), "newton": ("^", "tab:green")}
    shown = [(scene, kind) for scene, kind in (("hang", "same problem"), ("drape", "same scene"))
             if any(line.get("far") for line in lines[scene])]  # fmt: skip
    if not shown:
        return
    figure, panels = plain_axes(columns=len(shown), width=5.4)
    panels = np.atleast_1d(panels)
    for axes, (scene, kind) in zip(panels, shown, strict=True):
        labels = []
        for line in lines[scene]:
            row = line["row"]
            if line["kind"] not in ("loom", kind) or not line.get("far") or max(line["far"]) == 0:
                continue
            mark, tint = marks[row.peer or "loom"]
            x, y = np.mean(line["early"]), line["far"][0]
            reach = [[x - min(line["early"])], [max(line["early"]) - x]]
            axes.errorbar(x, y, xerr=reach, fmt=mark, color=tint, capsize=2,
                          markerfacecolor=tint if row.parts == 1 else "none")
            labels.append(axes.annotate(row.label, (x, y), (5, 4), textcoords="offset points", fontsize=6.5))
        axes.set(xscale="log", yscale="log", xlabel=f"processor time up to {EARLY} s (s), one thread, busy machine")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 3, 4, 6)))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.margins(0.15, 0.15)
        keep_inside(axes, labels)
        axes.set_title(f"{TITLES[scene].split(', ')[0]}: {kind}", fontsize=9)
    panels[0].set_ylabel("RMS distance to converged steps (mm)")
    experiment.save(figure, f"peers{size.tag}-cost", keep=True)


LAST = {"hang": 50, "drape": 80, "touch": 60, "twist": 60}  # frame of each scene, at 10 ms


def render(picture, frame, logs, labels):
    """One frame of several logs side by side; a picture that is newer than its logs is kept."""
    if picture.exists() and picture.stat().st_mtime > max(log.stat().st_mtime for log in logs):
        return
    words = [w for label in labels for w in ("--label", label)]
    done = subprocess.run(
        [sys.executable, "-m", "loomcloth.render", *logs, "-o", picture, "--frame", str(frame), "--columns",
         str(len(logs)), "--size", "400x320", "--fast", *words],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise FigureError(f"{picture.name}: {done.stderr.strip()}")


def draw_strips(experiment, logs, size):
    """Each scene at two times, one code beside the other; the later one is the last that all rows reached which came
    through half of the scene."""
    names = ("best-neohookean", "mujoco-equal", "mujoco-recommended", "newton-10", "newton-recommended")
    strips = []
    for scene in SCENES:
        found = {row.name: paths[0] for (s, row), paths in logs.items() if s == scene and paths}
        rows = [row for row in rows_of(scene, size.detail) if row.name in names and row.name in found]
        ends = {row.name: min(LAST[scene], frames_of(found[row.name]) - 1) for row in rows}
        rows = [row for row in rows if ends[row.name] >= LAST[scene] // 2]
        last = min((ends[row.name] for row in rows), default=0)
        for frame in (last // 2, last) if len(rows) > 1 else ():  # side by side, or not at all
            picture = experiment.out / f"strip{size.tag}-{scene}-{frame}.png"
            render(picture, frame, [found[row.name] for row in rows], [row.label for row in rows])
            with Image.open(picture) as image:
                strips.append(image.convert("RGB"))
    if not strips:
        return
    whole = Image.new("RGB", (max(s.width for s in strips), sum(s.height for s in strips)), "white")
    for k, strip in enumerate(strips):
        whole.paste(strip, (0, sum(s.height for s in strips[:k])))
    experiment.keep_image(whole, f"peers{size.tag}-strips")


def frames_of(path):
    with Log(path) as log:
        return log.num_frames


def compare(experiment):
    """The four scenes: table, costs, pictures; at each size of --detail."""
    for detail in experiment.options.pop("detail", (1,)):
        size = Size(detail)
        logs, over, missing = all_runs(experiment, size=size)
        lines = {s: [numbers_of(experiment, s, row, paths, size, over.get((s, row), ""))
                     for (scene, row), paths in logs.items() if scene == s] for s in SCENES}  # fmt: skip
        experiment.keep_text(f"peers{size.tag}", text_of(size, lines, missing))
        draw_cost(experiment, lines, size)
        draw_strips(experiment, logs, size)


def settle(experiment):
    """The way to rest: one scene, with one equilibrium."""
    ends = {energy: equilibrium(experiment, energy) for energy in ENERGIES}
    logs, _, missing = all_runs(experiment, ("rest",))
    lines = [rest_line(row, paths, ends[row.energy][0]) for (_, row), paths in logs.items() if paths]
    experiment.keep_text("peers-rest", rest_text(lines, max(end[1] for end in ends.values()), missing))


FIGURES = {
    "peers": ("public simulators and loom on four scenes, side by side", compare),
    "peers-rest": ("processor time of simulators and loom until a sheet is at rest", settle),
    "peers-bars": ("bounds of the simulators that loom measures", bounds.bars),
}
