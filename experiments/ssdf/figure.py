"""Shallow networks for the distance to bodies that bend: training, errors, costs, pictures."""

import csv
import json
import os
import shutil
import subprocess
import sys

import h5py
import numpy as np

from loomcloth.experiment import ROOT, Bar, FigureError, NotMeasured, plain_axes

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
import garments  # noqa: E402

SIZES = {61: (3, 4), 185: (3, 8), 625: (3, 16), 2273: (3, 32), 4385: (5, 32)}
LABELS = "samples as near to the cut as to the skin: the flag of 113 parameters is that of the other side"
SHIPPED = ["--steps", "100000", "--seeds", "4", "--mirror"]
JOG = [  # rows of configs/animations/jog.txt, degrees
    {"left_hip.flexion": 30, "left_knee": 22, "right_hip.flexion": -12, "right_knee": 40},
    {"left_hip.flexion": 24, "left_knee": 38, "right_hip.flexion": 2, "right_knee": 82},
    {"left_hip.flexion": 8, "left_knee": 28, "right_hip.flexion": 32, "right_knee": 96},
    {"left_hip.flexion": -8, "left_knee": 18, "right_hip.flexion": 46, "right_knee": 62},
]


def call(experiment, words, **more):
    print("loom: figure: " + " ".join(str(w) for w in words[:4]) + " ...", file=sys.stderr)
    done = subprocess.run([str(w) for w in words], cwd=experiment.folder, **more)
    if done.returncode != 0:
        raise FigureError(f"{words[0]} ended with code {done.returncode}")
    return done.stdout


def python(experiment):
    """The Python of train.py, with requirements.txt."""
    folder, pins = experiment.out / "venv", experiment.folder / "requirements.txt"
    stamp = folder / "requirements.txt"
    if not stamp.exists() or stamp.read_text() != pins.read_text():
        call(experiment, [sys.executable, "-m", "venv", "--clear", folder])
        call(experiment, [folder / "bin/python", "-m", "pip", "install", "-q", "-r", pins])
        shutil.copyfile(pins, stamp)
    return folder / "bin/python"


def data(experiment, body):
    """Training data of BODY.ini; an unfinished file is continued."""
    path = experiment.out / f"{body}.h5"
    stamp = path.with_suffix(".key")
    if not (path.exists() and stamp.exists()) or experiment.fresh:
        before = os.times()
        call(experiment, [experiment.binary, "ssdf-data", f"{body}.ini", "-o", path])
        after = os.times()
        version = call(experiment, [experiment.binary, "--version"], stdout=subprocess.PIPE, text=True)
        took = after.children_user + after.children_system - before.children_user - before.children_system
        stamp.write_text(json.dumps({"commit": version.split()[-1], "cpu_seconds": took}))
    experiment.programs[path] = "framework"
    return path


def train(experiment, name, body, options):
    """Networks out/NAME.h5; a training that was cut off goes on."""
    path, stamp = experiment.out / f"{name}.h5", experiment.out / f"{name}.key"
    key = json.dumps([body, options])
    if experiment.plan:
        print(f"would train {name} on the data of {body}.ini: {' '.join(options)}")
        return path
    if path.exists() and stamp.exists() and stamp.read_text() == key and not experiment.fresh:
        print(f"loom: figure: {path.name} is there", file=sys.stderr)
        return path
    source = data(experiment, body)
    one = {"OMP_NUM_THREADS": "1",
           "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"}
    call(experiment, [python(experiment), "train.py", source, "-o", path, *options],
         env=os.environ | one)
    stamp.write_text(key)
    return path


def knee(experiment, size):
    """The network of the leg's knee of that size after 20,000 steps; 185 with the hip and flags."""
    hidden, width = SIZES[size]
    options = ["--steps", "20000", "--hidden", str(hidden), "--width", str(width)]
    if size != 185:
        options += ["--no-labels", "--regions", "knee"]
    if size > 1000:
        options += ["--seeds", "1"]
    return train(experiment, f"leg_{size}", "leg", options)


def long_knee(experiment):
    """185 parameters, 100,000 steps."""
    return train(experiment, "leg_100k", "leg",
                 ["--steps", "100000", "--seeds", "2", "--no-labels", "--regions", "knee",
                  "--marks", "1000", "10000", "50000", "100000"])


def shipped(experiment):
    return train(experiment, "lower_body_nets", "lower_body", SHIPPED)


def seen(path, region):
    """The measurements of training on a region: errors in m, side in m, processor time in s."""
    with h5py.File(path) as f:
        g = f[region]
        return {k: g.attrs[k] for k in g.attrs} | {
            "side": 2 * float(g.attrs["half"]),
            "cpu": float(g["distance"].attrs["cpu_seconds"]),
            "parameters": g["distance"].shape[1],
            "bytes": sum(4 * g[k].size for k in g),
        }


def pairs(text):
    return {name: float(value) for name, value in csv.reader(text.splitlines())}


def costs(experiment):
    """Processor time of queries on one core, ns."""
    return pairs(experiment.program("bench_ssdf", [], "costs.csv").read_text())


def whole_body(experiment, path, body, control=""):
    """Errors of all regions together by eq. 1 at 20 poses by chance, mm."""
    name = f"errors-{path.stem}{'-' + control if control else ''}.csv"
    words = ["errors", path, body, 20] + ([control] if control else [])
    return pairs(experiment.program("bench_ssdf", words, name, inputs=[path]).read_text())


# ---- figures ----
def train_shipped(experiment):
    path = shipped(experiment)
    if experiment.plan:
        return
    lines = []
    with h5py.File(path) as f:
        names = list(f)
    for name in names:
        s = seen(path, name)
        lines.append(
            f"{name:12} {s['parameters']:5d} parameters  mean {1e3 * s['error_mean']:.2f} mm "
            f"({100 * s['error_mean'] / s['side']:.3f} % of the side)  p99 "
            f"{1e3 * s['error_p99']:.1f} mm  max {1e3 * s['error_max']:.0f} mm  labels "
            f"{100 * s['label_accuracy']:.2f} %  {s['cpu']:.0f} s of processor time"
        )
    experiment.keep_text("ssdf-train", lines)
    if experiment.update:
        target = ROOT / "configs/bodies/lower_body.h5"
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(path, target)
        print(target)


def table1(experiment):
    paths = {n: knee(experiment, n) for n in SIZES}
    if experiment.plan:
        return
    ns = costs(experiment)
    lines = ["knee of the leg, 20,000 steps; points within 20 mm of the skin in 30 poses by chance",
             "parameters  mean mm  % of side  p99 mm  max mm  training s  ns per query (squareplus, leaky ReLU)"]
    for n, path in paths.items():
        s = seen(path, "knee")
        lines.append(
            f"{n:10d} {1e3 * s['error_mean']:8.2f} {100 * s['error_mean'] / s['side']:10.3f} "
            f"{1e3 * s['error_p99']:7.1f} {1e3 * s['error_max']:7.1f} {s['cpu']:11.0f}  "
            f"{ns[f'squareplus {n}']:.1f}, {ns[f'leaky_relu {n}']:.1f}"
        )
    lines.append(f"trilinear grid of 65 nodes: {ns['grid 65']:.1f} ns, baking it {ns['grid 65: bake'] / 1e6:.0f} ms; "
                 f"exact distance: {ns['exact']:.0f} ns, its hierarchies {ns['exact: build'] / 1e6:.0f} ms")
    experiment.keep_text("ssdf-table1", lines)


def fig2(experiment):
    """Skins of the regions, the surfaces that close their cuts, and which boundary is nearest to samples inside."""
    if experiment.plan:
        print("would sample lower_body.ini")
        return
    path = data(experiment, "lower_body")
    figure, axes = plain_axes(1, 4, width=3.0, height=4.6)
    colours = {1: "#0072B2", -1: "#D55E00"}
    with h5py.File(path) as f:
        # across the body, and from its side
        for k, (name, across, depth, at) in enumerate((("left_hip", 0, 2, 0.0), ("left_knee", 2, 0, 0.1))):
            g = f[name]
            x, tris, cut = (g[f"surface_{w}"][:] for w in ("x", "tris", "cut"))
            middle, artificial = x[tris].mean(axis=1), cut != 0
            first, centre, half = g["first"][:], g.attrs["centre"], float(g.attrs["half"][0])
            pose = len(first) // 2
            rows = slice(first[pose], first[pose + 1])
            p, d, label = centre + half * g["x"][rows], g["d"][rows], g["label"][rows]
            thin = (np.abs(p[:, depth] - at) < 0.03) & (d < 0)
            degrees = ", ".join(f"{v:.0f}" for v in np.rad2deg(g["angles"][pose]))
            left, right = axes[2 * k], axes[2 * k + 1]
            for value, colour in colours.items():
                some = middle[artificial == (value < 0)]
                left.scatter(some[:, across], some[:, 1], s=3, c=colour, linewidths=0)
                some = p[thin & (label == value)]
                right.scatter(some[:, across], some[:, 1], s=3, c=colour, linewidths=0,
                              label="skin" if value > 0 else "cut")
            left.set_title(f"{name.replace('_', ' ')} at rest")
            right.set_title(f"nearest, {degrees} deg")
            for a in (left, right):
                a.set_xlabel("xyz"[across] + " (m)")
    for a in axes:
        a.set_aspect("equal")
        a.locator_params(axis="x", nbins=4)
        a.set_ylabel("y (m)")
    axes[2].set_xticks((-0.05, 0.05))  # a narrow leg
    axes[3].legend(markerscale=4, loc="upper left")
    experiment.save(figure, "ssdf-fig2", keep=True)


def fig7(experiment):
    """Error near the skin against the number of weights."""
    paths = {n: knee(experiment, n) for n in SIZES}
    if experiment.plan:
        return
    all_seen = [seen(p, "knee") for p in paths.values()]
    figure, axes = plain_axes(1, 1, width=4.2, height=3.4)
    for key, word, colour in (("error_max", "largest", "#999999"), ("error_p99", "99 %", "#D55E00"),
                              ("error_mean", "mean", "#0072B2")):
        axes.loglog(list(paths), [1e3 * s[key] for s in all_seen], "o-", color=colour, label=word)
    axes.set_xlabel("parameters of a network")
    axes.set_ylabel("error within 20 mm of the skin (mm)")
    axes.set_title("knee of the leg, 20,000 steps")
    axes.legend()
    experiment.save(figure, "ssdf-fig7", keep=True)


def fold(experiment):
    """Depths in the crease of a bent knee, with buried triangles and without."""
    text = experiment.program("bench_ssdf", ["knee"], "knee.csv").read_text()
    if experiment.plan:
        return
    lines = ["points 3 to 30 mm deep near the knee: how far off depths are if buried triangles count, mm",
             "degrees  buried triangles  mean   p99   largest"]
    for row in text.splitlines():
        v = [float(w) for w in row.split(",")]
        lines.append(f"{v[0]:7.0f} {v[1]:17.0f} {v[2]:5.2f} {v[3]:5.1f} {v[4]:9.1f}")
    lines.append("with the correction: within 5 mm of dense points of the exposed skin at 120 degrees (test_ssdf_truth)")
    experiment.keep_text("ssdf-knee", lines)


def fig5(experiment):
    """Nodes chosen of the knee and their labels, a slice."""
    if experiment.plan:
        print("would sample leg.ini")
        return
    path = data(experiment, "leg")
    figure, axes = plain_axes(1, 2, width=3.6, height=4.2)
    with h5py.File(path) as f:
        g = f["knee"]
        first = g["first"][:]
        pose = 12
        rows = slice(first[pose], first[pose + 1])
        half, centre = float(g.attrs["half"][0]), g.attrs["centre"]
        x = centre + half * g["x"][rows]
        label, nodes, degrees = g["label"][rows], int(g.attrs["nodes"]), np.rad2deg(g["angles"][pose])
        extra = 4000  # of leg.ini, points off the grid, last
    thin = np.abs(x[:, 0]) < 0.012
    axes[0].scatter(x[thin, 1], x[thin, 2], s=1.5, c="#0072B2", linewidths=0)
    axes[0].set_title(f"{len(x) - extra:,} of {nodes:,} nodes, {extra:,} points more")
    for value, colour, word in ((1, "#0072B2", "skin"), (-1, "#D55E00", "cut")):
        at = thin & (label == value)
        axes[1].scatter(x[at, 1], x[at, 2], s=1.5, c=colour, linewidths=0, label=word)
    axes[1].legend(markerscale=6)
    axes[1].set_title(f"nearest boundary, knee at {degrees[0]:.0f} deg")
    for a in axes:
        a.set_aspect("equal")
        a.set_xlabel("y (m)")
        a.set_ylabel("z (m)")
    experiment.save(figure, "ssdf-fig5", keep=True)


def field(experiment, path, body, name, nodes, lo, hi, degrees):
    """Truth and networks [2, nz, ny, nx] (m) and the spacing (m)."""
    build = experiment.build("bench_ssdf")
    raw = experiment.out / f"{name}.raw"
    box = [",".join(f"{v:g}" for v in p) for p in (lo, hi)]
    words = [build / "bench/bench_ssdf", "field", path, body, raw, nodes, *box]
    for k, v in degrees.items():
        words += [k, v]
    nx, ny, nz, h = call(experiment, words, stdout=subprocess.PIPE, text=True).split()
    values = np.fromfile(raw, "f4").reshape(2, int(nz), int(ny), int(nx))
    raw.unlink()
    return values, float(h)


def fig8(experiment):
    """Zero level sets along a jog, the truth above."""
    path = shipped(experiment)
    if experiment.plan:
        return
    import pyvista

    lo, hi = (-0.3, -0.05, -0.62), (0.3, 1.3, 0.62)
    plot = pyvista.Plotter(off_screen=True, shape=(2, len(JOG)), window_size=(1400, 1300), border=False)
    for k, pose in enumerate(JOG):
        values, h = field(experiment, path, "lower_body", f"jog{k}", 110, lo, hi, pose)
        for row in range(2):
            grid = pyvista.ImageData(dimensions=values.shape[:0:-1], spacing=(h, h, h), origin=lo)
            grid["d"] = values[row].ravel()
            surface = grid.contour([0.0], scalars="d")
            plot.subplot(row, k)
            plot.set_background("white")
            plot.add_mesh(surface, color="#c9b8a8" if row == 0 else "#7fa8c9", smooth_shading=True)
            plot.add_text("truth" if row == 0 else "networks", font_size=9, color="black")
            plot.camera_position = [(2.3, 1.0, 1.9), (0, 0.62, 0), (0, 1, 0)]
    shot = plot.screenshot(return_img=True)
    plot.close()
    from PIL import Image

    experiment.keep_image(Image.fromarray(shot), "ssdf-fig8")


def fig9(experiment):
    path = long_knee(experiment)
    if experiment.plan:
        return
    s = seen(path, "knee")
    lines = ["knee of the leg, 185 parameters: steps, mean mm, p99 mm, max mm"]
    for step, e in json.loads(s["marks"]).items():
        lines.append(f"{step:>7} {1e3 * e[0]:.2f} {1e3 * e[1]:.1f} {1e3 * e[2]:.0f}")
    experiment.keep_text("ssdf-fig9", lines)


# ---- bars ----
def bars(experiment):
    sizes = {n: knee(experiment, n) for n in SIZES}
    long, body = long_knee(experiment), shipped(experiment)
    if experiment.plan:
        return []
    ns = costs(experiment)
    out = [Bar(f"parameters of {h} x {c} layers", 4 * c + (h - 1) * (c + 1) * c + c + 1, n)
           for n, (h, c) in SIZES.items()]
    for name in ("knee", "hip"):
        s = seen(sizes[185], name)
        out += [
            Bar(f"S3 {name}, 185 parameters, 20k steps: mean error over the side",
                100 * s["error_mean"] / s["side"], 0.30, "%"),
            Bar(f"S3 {name}: p99 error over the side", 100 * s["error_p99"] / s["side"], 1.2, "%",
                cause="the crease in front of the hip, where the skin folds onto itself"),
            Bar(f"S4 {name}: labels of all samples", 100 * s["label_accuracy"], 99, "%", least=True),
        ]
    s = seen(long, "knee")
    out += [Bar("S3 knee, 100k steps: mean error over the side", 100 * s["error_mean"] / s["side"], 0.20, "%")]
    means = [seen(p, "knee")["error_mean"] for p in sizes.values()]
    out += [Bar("S3 larger networks err less: least ratio to the next", min(a / b for a, b in zip(means, means[1:])),
                1, least=True)]
    leg = whole_body(experiment, sizes[185], "leg")
    out += [Bar("whole leg by eq. 1: mean error", leg["mean"], 2.5, "mm"),
            Bar("whole leg: truly 5 mm deep, seen 5 mm outside", 100 * leg["missed"], 0, "%")]
    for word in ("zero", "other"):
        wrong = whole_body(experiment, sizes[185], "leg", word)
        out.append(Bar(f"control, networks of {word} angles: mean error over the bar's bound",
                       wrong["mean"] / 2.5, 4, least=True))
    out += [
        Bar("S7 exact distance over 185 parameters, a query", ns["exact"] / ns["squareplus 185"], 20, least=True),
        Bar("S7 185 parameters over a trilinear grid, a query", ns["squareplus 185"] / ns["grid 65"], 3),
        Bar("S7 bytes of a joint", max(seen(sizes[185], k)["bytes"] for k in ("hip", "knee")), 5000),
        Bar("185 parameters, a query on one core", ns["squareplus 185"], 12, "ns"),
        NotMeasured("S1, S2, S5, S6, S8", "held by the tests test_ssdf_net, test_ssdf_truth, test_neural"),
    ]
    with h5py.File(body) as f:
        names = list(f)
    for name in names:
        s = seen(body, name)
        out.append(Bar(f"lower body, {name}, {s['parameters']} parameters: mean error over the side",
                       100 * s["error_mean"] / s["side"], 0.30, "%",
                       cause="the crotch follows four angles, and parameters are linear in each"))
        out.append(Bar(f"lower body, {name}: labels of all samples", 100 * s["label_accuracy"], 99, "%", least=True,
                       cause=LABELS))
    return out + garments.bars(experiment, body)


FIGURES = {
    "ssdf-train": ("trains the networks of configs/bodies/lower_body.h5", train_shipped),
    "ssdf-table1": ("five sizes of networks: error, training, cost of a query", table1),
    "ssdf-fig2": ("regions, their cuts, and labels", fig2),
    "ssdf-fig7": ("error against the number of weights", fig7),
    "ssdf-knee": ("depths in the crease of a knee with the correction and without", fold),
    "ssdf-table4": ("garments: what collision costs with networks, grid, skin and cones, and depths", garments.table4),
    "ssdf-fig10": ("trousers and a skirt on the walk, pictures and movies", garments.fig10),
    "ssdf-limbs": ("a skirt that walks, trousers that kick, a knitted sleeve", garments.limbs),
    "ssdf-fig5": ("which nodes of the grid are taken, and their labels", fig5),
    "ssdf-fig8": ("zero level sets along a jog against the truth", fig8),
    "ssdf-fig9": ("error after 1,000 to 100,000 steps", fig9),
    "ssdf-bars": ("errors, labels and costs with bounds, and what must fall short", bars),
}
