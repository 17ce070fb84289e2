"""Four garments of GarmentCode and a jacket of the Garment-Pattern-Generator, dressed and worn."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from loomcloth.errors import FigureError
from loomcloth.experiment import Bar, NotMeasured, plain_axes
from loomcloth.log import Log

BODY, RAISED = "bodies/mean_all.obj", "bodies/mean_all_tpose.obj"
SEGMENTS = "bodies/ggg_body_segmentation.json"
REACH = 0.05  # m: a segment of the body ends that far behind its border
STEP = 0.01  # s
STRIDE = 0.6, 1.1, 1.4, 1.7, 2.0, 2.3, 2.6  # s, frames of the walk
HEAD = 1.42  # m: the segment "body" has the head above the shoulders
TORSO = ("body",)
HIPS = ("body", "left_leg", "right_leg")


@dataclass
class Garment:
    """spec: name in the assets of GarmentCode, None of the jacket; segments: by beginnings of the names of
    pieces."""

    title: str
    spec: str | None
    body: str
    segments: dict[str, tuple]


SLEEVES = {"left_sleeve": ("left_arm",), "right_sleeve": ("right_arm",)}
GARMENTS = {
    "shirt": Garment("shirt", "shirt_mean", BODY, SLEEVES | {"": TORSO}),
    "hoody": Garment(
        "hoody", "hoody_mean", BODY, {"left_hood": ("head",), "right_hood": ("head",), "": TORSO}
    ),
    "dress": Garment("pencil dress", "dress_pencil", BODY, {"skirt": HIPS, "": TORSO}),
    "jumpsuit": Garment(
        "jumpsuit", "js_mean_all", BODY,
        SLEEVES | {"pant_f_l": ("body", "left_leg"), "pant_b_l": ("body", "left_leg"),
                   "pant_f_r": ("body", "right_leg"), "pant_b_r": ("body", "right_leg"), "": TORSO},
    ),
    "jacket": Garment(
        "open jacket", None, RAISED,
        {"lf": ("left_arm",), "lb": ("left_arm",), "rf": ("right_arm",), "rb": ("right_arm",), "": HIPS},
    ),
}  # fmt: skip


# ---- runs ----
def assets():
    """The folder `assets` of GarmentCode, or None."""
    path = os.environ.get("LOOM_GARMENTCODE", "")
    folder = Path(path) / "assets"
    return folder if path and (folder / BODY).exists() else None


def jacket():
    """The specification of the jacket, or None."""
    path = Path(os.environ.get("LOOM_GARMENT_JACKET", ""))
    return path if path.is_file() else None


def makehuman():
    """The folder with the body of MakeHuman, or None."""
    path = Path(os.environ.get("LOOM_MAKEHUMAN", ""))
    return path if (path / "base.obj").is_file() else None


def missing(name):
    """The reason why a garment cannot be dressed, or an empty text."""
    if assets() is None:
        return "LOOM_GARMENTCODE does not name a folder with assets/ of GarmentCode (README.md)"
    if GARMENTS[name].spec is None and jacket() is None:
        return "LOOM_GARMENT_JACKET does not name the jacket of the Garment-Pattern-Generator (README.md)"
    return ""


def convert(experiment, name):
    """The pattern of a garment."""
    garment = GARMENTS[name]
    spec = jacket() if garment.spec is None else assets() / f"Patterns/{garment.spec}_specification.json"
    path = experiment.out / f"{spec.stem.removesuffix('_specification')}.ini"
    done = subprocess.run([experiment.binary, "pattern", spec, "-o", path], capture_output=True, text=True)
    if done.returncode != 0:
        raise FigureError(done.stderr.strip())
    return experiment.folder.resolve() / "patterns/jumpsuit.ini" if name == "jumpsuit" else path.resolve()


def wear(experiment, name, suffix="", **more):
    """The log of a garment that is dressed."""
    sets = {
        "cloth.garment.file": convert(experiment, name),
        "body.woman.file": assets().resolve() / GARMENTS[name].body,
        **{key.replace("__", "."): value for key, value in more.items()},
    }
    if name == "dress":
        sets["ignore.hands.part_labels"] = assets().resolve() / SEGMENTS
    return experiment.run(f"{name}{suffix}", f"{name}.ini", sets)


def walk(experiment):
    """The log of the shirt on the body of MakeHuman, which walks from 0.6 s on."""
    man = experiment.out / "man.gltf"
    tool = experiment.folder.parent / "tools/makehuman.py"
    done = subprocess.run([sys.executable, tool, makehuman(), "-o", man], capture_output=True, text=True)
    if done.returncode != 0:
        raise FigureError(done.stderr.strip())
    convert(experiment, "shirt")
    sets = {
        "cloth.garment.file": experiment.folder.resolve() / "patterns/shirt_walk.ini",
        "body.man.file": man.resolve(),
    }
    return experiment.run("walk", "walk.ini", sets)


# ---- measures ----
def body_of(name):
    """Vertices of a body, m, and the ids of its segments."""
    lines = (assets() / GARMENTS[name].body).read_text().splitlines()
    x = np.array([line.split()[1:4] for line in lines if line.startswith("v ")], dtype=float)
    segments = {k: np.array(v) for k, v in json.loads((assets() / SEGMENTS).read_text()).items()}
    segments["head"] = segments["body"][x[segments["body"], 1] > HEAD]
    return x, segments


def nearest(points, x):
    """Which of x is nearest to each point, and how far, m."""
    found = [((x - p) ** 2).sum(axis=1) for p in points]
    return np.array([d.argmin() for d in found]), np.sqrt([d.min() for d in found])


def shares(path, name):
    """{piece: share of its vertices whose nearest point of the body is of the segments listed for it, or at
    most REACH behind their border}, in the last frame."""
    body, segments = body_of(name)
    with Log(path) as log:
        x, tris = log.frame(log.num_frames - 1), log.scene("triangles")
        piece, names = log.scene("material/piece"), log.piece_names
    near = body[nearest(x, body)[0]]
    found = {}
    for k, one in enumerate(names):
        listed = next(v for key, v in GARMENTS[name].segments.items() if one.startswith(key))
        own = body[np.concatenate([segments[s] for s in listed])]
        used = np.unique(tris[piece == k])
        found[one] = float((nearest(near[used], own)[1] <= REACH).mean())
    return found


def measure(path, name):
    """The widest seam at the end, m; the smallest share of a piece, and which piece; intersections."""
    with Log(path) as log:
        steps = log.table("steps")
        gap, crossed = steps["stitch_gap"][-1], int(steps["intersections"].sum())
        crossed += int(steps["start_intersections"][-1])
    found = shares(path, name)
    worst = min(found, key=found.get)
    return gap, found[worst], worst, crossed


def judge_walk(path):
    """Seams and intersections in two seconds of walking; the shirt stays on the shoulders."""
    with Log(path) as log:
        steps = log.table("steps")
        gap = steps["stitch_gap"][int(STRIDE[0] / STEP + 0.5) :]
        x, tris, piece = log.frame(log.num_frames - 1), log.scene("triangles"), log.scene("material/piece")
        front = log.piece_names.index("left_ftorso")
        top = x[np.unique(tris[piece == front])][:, 1].max()
    crossed = steps["intersections"].sum() + steps["start_intersections"][-1]
    return [
        Bar("walk: time", STEP * len(gap), 2, "s", least=True),
        Bar("walk: widest seam in any step", 1e3 * gap.max(), 1, "mm"),
        Bar("walk: intersections", crossed, 0),
        Bar("walk: height of the left shoulder at the end", top, 1.3, "m", least=True),
    ]


def judge(path, name):
    gap, share, worst, crossed = measure(path, name)
    title = GARMENTS[name].title
    return [
        Bar(f"{title}: widest seam at the end", 1e3 * gap, 1, "mm"),
        Bar(f"{title}: share of vertices over their segments, {worst}", share, 0.95, least=True),
        Bar(f"{title}: intersections", crossed, 0),
    ]


# ---- figures ----
def bars(experiment):
    """With the control that the shirt is worn wrongly where gravity acts while threads draw for 0.5 s."""
    rows = []
    for name in GARMENTS:
        why = missing(name)
        rows += [NotMeasured(GARMENTS[name].title, why)] if why else judge(wear(experiment, name), name)
    if not missing("shirt"):
        share = measure(fallen(experiment), "shirt")[1]
        rows.append(Bar("control: share of the worst piece, gravity from the start", share, 0.5))
        share = measure(loose(experiment), "shirt")[1]
        rows.append(Bar("control: share of the worst piece, not sewn", share, 0.8))
    if makehuman() is None or assets() is None:
        return [*rows, NotMeasured("walk", "LOOM_MAKEHUMAN does not name the folder of the body (README.md)")]
    rows += judge_walk(walk(experiment))
    return rows


def fallen(experiment):
    """The shirt as it falls without [dress]."""
    return wear(
        experiment, "shirt", "-fallen", dress__gravity_from=0, dress__gravity_rise=0, dress__settle=0,
        cloth__garment__sewing_time=0.5, run__steps=60,
    )  # fmt: skip


def loose(experiment):
    """The shirt without threads."""
    return wear(
        experiment, "shirt", "-loose", cloth__garment__sewing="none", cloth__garment__sewing_time="",
        cloth__garment__stitch_stiffness="", cloth__garment__seam_rings="", dress__settle=0, run__steps=70,
        run__start="exclude",
    )  # fmt: skip


def pictures(experiment):
    from loomcloth.view import View

    if any(missing(name) for name in GARMENTS):
        raise FigureError(next(filter(None, map(missing, GARMENTS))))
    logs = {name: wear(experiment, name) for name in GARMENTS}
    figure, axes = plain_axes(1, len(logs), width=1.9, height=2.5)
    for axis, (name, path) in zip(axes.flat, logs.items(), strict=True):
        with Log(path) as log:
            frame = log.num_frames - 1
            axis.imshow(View(log, [frame], (640, 1120), (0, 4)).image(frame)[150:970])
            size = f"{log.num_vertices:,} vertices, {log.times[frame]:.2f} s"
        axis.set_title(f"{GARMENTS[name].title}\n{size}", fontsize=7)
        axis.axis("off")
    experiment.save(figure, "garments-worn", keep=True)


def walking(experiment):
    from loomcloth.view import View

    if makehuman() is None or assets() is None:
        raise FigureError("LOOM_MAKEHUMAN or LOOM_GARMENTCODE does not name its folder (README.md)")
    path = walk(experiment)
    with Log(path) as log:
        chosen = [int(np.abs(log.times - t).argmin()) for t in STRIDE]
        view = View(log, chosen, (420, 840), (35, 6))
        figure, axes = plain_axes(1, len(chosen), width=1.4, height=2.1)
        for axis, frame in zip(axes.flat, chosen, strict=True):
            axis.imshow(view.image(frame)[110:720])
            size = f"{log.num_vertices:,} vertices, " if frame == chosen[0] else ""
            axis.set_title(f"{size}{log.times[frame]:.2f} s", fontsize=8)
            axis.axis("off")
    experiment.save(figure, "garments-walk", keep=True)


FIGURES = {
    "garments-walk": ("a shirt of GarmentCode on the body of MakeHuman, which walks, pictures", walking),
    "garments-worn": ("four garments of GarmentCode and an open jacket, worn, pictures", pictures),
    "garments-worn-bars": ("seams, places on the body and intersections of the same, with bounds", bars),
}
