"""A dress of 14 panels, sewn on a mannequin that stands and that dances, and a T-shirt of the own."""

import os
import re
import subprocess
from pathlib import Path

import numpy as np

from loomcloth.experiment import Bar, FigureError, NotMeasured
from loomcloth.log import Log

METHODS = {
    "newton": "cholmod_newton with ipc_barrier",
    "ndb": "ndb_pd with ndb",
    "pd_bfgs": "pd_bfgs with ipc_barrier",
}
STANDING = 8  # steps of 0.04 s
DANCE = 7  # frames, 25 per second, after the first
SHOWN = (0, 2, 4, 6)  # frames of the dance


def garment():
    """The folder with the dress, or None."""
    path = os.environ.get("LOOM_GARMENT", "")
    return Path(path) if path and (Path(path) / "stage.obj").exists() else None


def dress(folder, **more):
    return {
        "cloth.dress.file": folder / "stage.obj",
        "cloth.dress.positions": folder / "drape.obj",
        **{key.replace("__", "."): value for key, value in more.items()},
    }


def standing(experiment, folder, method):
    sets = dress(
        folder,
        run__steps=STANDING,
        body__mannequin__file=folder / "mannequin" / "rest.obj",
        body__mannequin__rotation="1 0 0 -90",
    )
    return experiment.run(f"standing-{method}", f"{method}.ini", sets)


def dance(experiment, folder, method):
    sets = dress(
        folder,
        run__dt=0.01,
        run__steps=4 * DANCE,
        log__frames_every=4,
        cloth__dress__transform="translate 0 0.75 0",
        body__mannequin__motion="sequence",
        body__mannequin__frames=folder / "mannequin" / "frame%d.obj",
        body__mannequin__frame_rate=25,
    )
    return experiment.run(f"dance-{method}", f"{method}.ini", sets)


def loose(experiment, folder):
    """The control: the same without stitches; panels then touch at the start."""
    sets = dress(
        folder,
        run__steps=STANDING,
        run__start="exclude",
        cloth__dress__sewing="none",
        cloth__dress__sewing_time="",
        cloth__dress__stitch_stiffness="",
        cloth__dress__seam_rings="",
        body__mannequin__file=folder / "mannequin" / "rest.obj",
        body__mannequin__rotation="1 0 0 -90",
    )
    return experiment.run("loose", "ndb.ini", sets)


def widest(path, sewn):
    """The widest gap at the stitches of the log `sewn` in the last frame of another, m."""
    with Log(sewn) as log:
        v = log.file["scene/stitches/vertices"][()]
        t = log.file["scene/stitches/place"][()][:, None]
    with Log(path) as log:
        x = log.file["frames/x"][-1].astype(float)
    return np.linalg.norm(x[v[:, 0]] - (1 - t) * x[v[:, 1]] - t * x[v[:, 2]], axis=1).max()


def stretch(path):
    """Largest principal stretch of any triangle in the last frame, against the flat pattern."""
    with Log(path) as log:
        t, uv = log.file["scene/triangles"][()], log.file["scene/material/uv"][()].astype(float)
        x = log.file["frames/x"][-1].astype(float)
    flat = np.stack([uv[:, 1] - uv[:, 0], uv[:, 2] - uv[:, 0]], 2)
    worn = np.stack([x[t[:, 1]] - x[t[:, 0]], x[t[:, 2]] - x[t[:, 0]]], 2)
    return np.linalg.svd(worn @ np.linalg.inv(flat), compute_uv=False)[:, 0].max()


def judge(path, name, method):
    with Log(path) as log:
        steps = log.table("steps")
        where = stretch(path)
    # standing begins with sewing, so its seams count at the end
    stands = name.startswith("standing")
    when = "at the end" if stands else "in any step"
    widest_at = steps["stitch_gap"][-1] if stands else np.nanmax(steps["stitch_gap"])
    rows = [
        Bar(f"{name}: new intersections", steps["intersections"].sum(), 0),
        Bar(f"{name}: intersections of the start that are left", steps["start_intersections"][-1], 0),
        Bar(f"{name}: widest stitch {when}", 1e3 * widest_at, 1, "mm"),
    ]
    if method == "newton":
        seconds = steps["t_total"].sum() / steps["iters"].sum()
        rows.append(Bar(f"{name}: one Newton iteration", seconds, 1.0, "s"))
    print(f"{name}: largest stretch {where:.3f}, {steps['iters'].mean():.1f} iterations per step, "
          f"stitches at most {1e3 * np.nanmax(steps['stitch_gap']):.2f} mm")
    return rows


def shirt(experiment, sewing):
    sets = {"run.detail": 2, "run.steps": 100, "cloth.shirt.sewing": sewing, "log.audit": "every"}
    return experiment.run(f"tshirt-{sewing}", "../../configs/tshirt.ini", sets)


def unexcused(experiment, path):
    """Intersections of the last frame for an audit that leaves no seams out: the mesh's own."""
    out = experiment.out / "mesh"
    export = [experiment.binary, "export", path, "--format", "obj", "--frames", "last", "-o", out]
    subprocess.run(export, check=True, capture_output=True)
    mesh = sorted(out.glob(f"{path.stem}*.obj"))[-1]
    done = subprocess.run(
        [experiment.binary, "untangle", mesh, "-o", out / "left.obj", "--passes", "0"],
        capture_output=True,
        text=True,
    )
    return int(re.search(r": (\d+) intersections,", done.stdout).group(1))


def shirt_bars(experiment):
    worn, apart = shirt(experiment, "pull"), shirt(experiment, "none")
    with Log(worn) as log:
        steps = log.table("steps")
        num, low = log.file["frames/x"].shape[1], log.file["frames/x"][-1][:, 1].min()
    with Log(apart) as log:
        fallen = log.file["frames/x"][-1][:, 1].min()
    print(f"T-shirt: {num} vertices, {steps['iters'].mean():.1f} iterations per step, hem at {low:.2f} m")
    return [
        Bar("T-shirt: vertices", num, 8000, least=True),
        Bar("T-shirt: intersections", steps["intersections"].sum(), 0),
        Bar("T-shirt: widest stitch at the end", 1e3 * steps["stitch_gap"][-1], 1, "mm"),
        Bar("T-shirt: hem at the end", low, 0.6, "m", least=True),
        Bar("control: hem of the unsewn T-shirt", fallen, 0.3, "m"),
        Bar("control: intersections at seams that are not left out", unexcused(experiment, worn), 1, least=True),
    ]


def bars(experiment):
    rows = shirt_bars(experiment)
    folder = garment()
    if folder is None:
        why = "LOOM_GARMENT does not name the folder of the dress (README.md)"
        return [*rows, NotMeasured("dress", why)]
    for method, name in METHODS.items():
        rows += judge(standing(experiment, folder, method), f"standing, {name}", method)
        rows += judge(dance(experiment, folder, method), f"dance, {name}", method)
    there = unexcused(experiment, dance(experiment, folder, "newton"))
    rows.append(Bar("control: dance, intersections at seams that are not left out", there, 1, least=True))
    gap = widest(loose(experiment, folder), standing(experiment, folder, "ndb"))
    rows.append(Bar("control: widest seam without stitches", 1e3 * gap, 20, "mm", least=True))
    return rows


def pictures(experiment):
    """Four frames of the dance by Newton's method."""
    folder = garment()
    if folder is None:
        raise FigureError("LOOM_GARMENT does not name the folder of the dress (README.md)")
    path = dance(experiment, folder, "newton")
    if experiment.plan:
        return
    from loomcloth.sheet import caption, labelled
    from loomcloth.view import View
    from PIL import Image

    with Log(path) as log:
        scene = View(log, SHOWN, (420, 620), (-60, 10), 1.2)
        images = [labelled(scene.image(f), caption(log, "dress", f)) for f in SHOWN]
    experiment.keep_image(Image.fromarray(np.hstack(images)), "garment")


FIGURES = {
    "garment": ("the dress on the mannequin that dances, pictures", pictures),
    "garment-bars": ("a T-shirt, and a dress on a mannequin that stands and dances, with bounds", bars),
}
