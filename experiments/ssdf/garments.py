"""Trousers and a skirt on a body with a distance from networks, a grid, the skin itself, or cones: the cost of
collision, and how deep the cloth is in the true skin, frame by frame, from logs."""

import subprocess
import sys

import h5py
import numpy as np

from loomcloth.experiment import Bar, FigureError
from loomcloth.log import Log

DISTANCES = ("neural", "grid", "exact", "capsules")
GARMENTS = ("trousers", "skirt")
SEWING = 25  # steps until the garment is sewn
CONTROL = 80  # steps of the controls: the walk has begun


def worn(experiment, garment, distance, name="", **sets):
    """The log of a garment that is put on and walks, one thread."""
    sets = {"body.man.distance": distance, "exec.threads": 1, **sets}
    return experiment.run(f"{garment}-{name or distance}", f"../../configs/{garment}_walk_neural.ini", sets)


def once(experiment):
    """Pairs are found once a step, and vertices that are inside at its end are pushed out."""
    return worn(experiment, "trousers", "neural", "once", **{"detect.every": "step"})


def cost(path):
    """Of a step after sewing: processor time, ms, without measuring and logging: the whole, detection, contact,
    solver and the rest, where distances are made; their share in it, %; iterations; wall time, ms."""
    with Log(path) as log:
        t = log.table("steps")[SEWING:]
        ms = {k: 1e3 * t[f"t_cpu_{k}"].mean() for k in ("detect", "contact", "solve")}
        whole = 1e3 * t["t_cpu"].mean()
        iters, wall = t["iters"].mean(), 1e3 * t["t_total"].mean()
    left = whole - sum(ms.values())
    return {**ms, "whole": whole, "left": left, "iters": iters, "wall": wall,
            "share": 100 * (1 - ms["solve"] / whole)}


# ---- depths ----
def skins(body):
    """World positions [frames, vertices, 3] (m) of a body with joints, of the group of a log."""
    rest, bones, weights = (body[k][:] for k in ("vertices", "bones", "weights"))
    for T, pose in zip(body["joints"][:], body["pose"][:]):
        R, t = T[:, :9].reshape(-1, 3, 3), T[:, 9:]
        at = np.einsum("vb,vbij,vj->vi", weights, R[bones], rest)
        at += np.einsum("vb,vbi->vi", weights, t[bones])
        yield at @ pose[:9].reshape(3, 3).T + pose[9:]


def depths(experiment, log):
    """[frames, 2]: largest depth (mm) in the true skin, number of vertices deeper than 5 mm."""
    kept = experiment.out / f"{log.stem}.depths.npy"
    if kept.exists() and kept.stat().st_mtime > log.stat().st_mtime:
        return np.load(kept)
    program = experiment.build("bench_ssdf") / "bench/bench_ssdf"
    scratch = experiment.out / f"{log.stem}.depth"
    with h5py.File(log) as f, open(scratch, "wb") as out:
        group, x = f["scene/obstacles/man"], f["frames/x"]
        tris = group["triangles"][:].astype("i4")
        counts = [x.shape[0], x.shape[1], group["vertices"].shape[0], len(tris)]
        out.write(np.array(counts, "i4").tobytes() + tris.tobytes())
        for k, skin in enumerate(skins(group)):
            out.write(skin.astype("f8").tobytes() + x[k].astype("f8").tobytes())
    done = subprocess.run([program, "depth", scratch], capture_output=True, text=True)
    scratch.unlink()
    if done.returncode != 0:
        raise FigureError(f"bench_ssdf depth: {done.stderr.strip()}")
    found = np.array([[float(v) for v in row.split(",")] for row in done.stdout.split()])
    np.save(kept, found)
    return found


# ---- controls ----
def frozen(experiment, source, name, degrees):
    """The networks of `source` as they are at these angles, in every pose: out/NAME.h5."""
    path = experiment.out / f"{name}.h5"
    if path.exists() and not experiment.fresh:
        return path
    with h5py.File(source) as f, h5py.File(path.with_suffix(".part"), "w") as to:
        for k, v in f.attrs.items():
            to.attrs[k] = v
        for region in f:
            f.copy(region, to)
            g = to[region]
            lo, hi = g.attrs["lo"], g.attrs["hi"]
            words = [d.decode() for d in g.attrs["dofs"]]
            angle = np.deg2rad([degrees.get(w.split(".", 1)[1], 0) for w in words])
            th = (2 * angle - lo - hi) / (hi - lo)
            for net in ("distance", "label"):
                P = g[net][:]
                P[0] += th @ P[1:]
                P[1:] = 0
                g[net][...] = P
    path.with_suffix(".part").rename(path)
    return path


def controls(experiment, source):
    """Trousers on networks that do not follow the pose, and how deep they end in the true skin."""
    for name, degrees in (("zero", {}), ("other", {"flexion": 45})):
        nets = frozen(experiment, source, f"nets-{name}", degrees)
        yield name, worn(experiment, "trousers", "neural", name,
                         **{"body.man.networks": nets, "run.steps": CONTROL})


# ---- the exact reference ----
def reference(experiment):
    """The same trousers on the mesh itself, penetration-free."""
    return experiment.run("trousers-barrier", "trousers_barrier.ini", {"exec.threads": 1})


# ---- figures ----
def table4(experiment):
    logs = {(g, d): worn(experiment, g, d) for g in GARMENTS for d in DISTANCES}
    others = {s: worn(experiment, "trousers", "neural", s, **{"solver.plugin": s})
              for s in ("pd_bfgs", "cholmod_pd")}
    others["detected once a step"] = once(experiment)
    two = worn(experiment, "trousers", "neural", "two", **{"exec.threads": 2})
    if experiment.plan:
        return
    lines = ["ndb_pd with penalty and project, 2 s, one thread; processor time of a step after sewing, ms",
             "                                     whole  detect  contact  made  solve  collision  iters  steps/s    depth  frames > 5 mm"]
    rows = [(f"{g} {d}", path) for (g, d), path in logs.items()]
    rows += [(f"trousers neural, {s}", path) for s, path in others.items()]
    for name, path in rows:
        c, d = cost(path), depths(experiment, path)
        lines.append(
            f"{name:38}{c['whole']:5.1f} {c['detect']:7.1f} {c['contact']:8.1f} {c['left']:5.1f} {c['solve']:6.1f} "
            f"{c['share']:8.1f} % {c['iters']:6.1f} {1e3 / c['whole']:8.1f} {d[:, 0].max():5.1f} mm "
            f"{(d[:, 1] > 0).sum():5d}"
        )
    c = cost(two)
    lines += [f"trousers neural, two threads: {1e3 / c['wall']:.1f} steps/s by the wall clock, {c['whole']:.1f} ms of "
              "processor time a step",
              "made: all but detection, contact and solver, above all the prediction, in which distances are made for the "
              "step (grid: baked); collision: detection, contact and that",
              "depth: of the deepest vertex in the true skin"]
    experiment.keep_text("ssdf-table4", lines)


def picture(experiment, log, output, *options):
    words = [sys.executable, "-m", "loomcloth.render", log, "-o", output, *options]
    print(f"loom: figure: drawing {output.name}", file=sys.stderr)
    done = subprocess.run([str(w) for w in words], stdout=sys.stderr)
    if done.returncode != 0:
        raise FigureError(f"render ended with code {done.returncode}")


def stacked(experiment, strips, name):
    """One strip of pictures below the other."""
    from PIL import Image

    rows = [Image.open(strip).convert("RGB") for strip in strips]
    whole = Image.new("RGB", (max(r.width for r in rows), sum(r.height for r in rows)), "white")
    top = 0
    for row in rows:
        whole.paste(row, (0, top))
        top += row.height
    experiment.keep_image(whole, name)


def fig10(experiment):
    """Pictures of both garments on the walk, and a movie of each."""
    logs = [worn(experiment, g, "neural") for g in GARMENTS]
    if experiment.plan:
        return
    strips = []
    for garment, log in zip(GARMENTS, logs):
        strip = experiment.out / f"ssdf-fig10-{garment}.png"
        picture(experiment, log, strip, "--strip", "5", "--frames", "10:", "--size", "360x560", "--view", "35,8")
        picture(experiment, log, experiment.out / f"ssdf-fig10-{garment}.mp4", "--size", "720x960", "--view", "35,8")
        strips.append(strip)
    stacked(experiment, strips, "ssdf-fig10")


def limbs(experiment):
    """A skirt on the skin by ndb, trousers on networks, a knitted sleeve on a capsule."""
    shown = {"skirt_walk": (10, "35,8"), "trousers_kick": (10, "55,8"), "yarn_sleeve": (0, "35,8")}
    logs = {c: experiment.run(c, f"../../configs/{c}.ini", {"exec.threads": 1}) for c in shown}
    if experiment.plan:
        return
    strips = []
    for config, log in logs.items():
        begin, view = shown[config]
        strip = experiment.out / f"ssdf-limbs-{config}.png"
        picture(experiment, log, strip, "--strip", "5", "--frames", f"{begin}:", "--size", "360x560", "--view", view)
        strips.append(strip)
        with Log(log) as of:
            steps = of.table("steps")
            print(f"{config}: {len(of.scene('mass'))} vertices, {steps['t_cpu'].mean():.2f} s of processor a step, "
                  f"{len(steps)} steps")
    stacked(experiment, strips, "ssdf-limbs")


# ---- bars ----
def bars(experiment, nets):
    logs = {g: worn(experiment, g, "neural") for g in GARMENTS}
    two = worn(experiment, "trousers", "neural", "two", **{"exec.threads": 2})
    barrier = reference(experiment)
    once(experiment)
    wrong = dict(controls(experiment, nets)) if not experiment.plan else {}
    if experiment.plan:
        return []
    out = []
    for garment, log in logs.items():
        d = depths(experiment, log)
        out += [Bar(f"{garment}: deepest vertex in the true skin, {len(d)} frames", d[:, 0].max(), 5, "mm"),
                Bar(f"{garment}: vertices deeper than 5 mm, or through, in any frame", d[:, 1].max(), 0)]
    for name, log in wrong.items():
        out.append(Bar(f"control, trousers on networks of {name} angles: deepest vertex over the bar's bound",
                       depths(experiment, log)[:, 0].max() / 5, 2, least=True))
    for name, log in (("", logs["trousers"]), (", detected once a step", once(experiment))):
        c = cost(log)
        out.append(Bar(f"trousers{name}: detection, contact and making distances in a step of ndb_pd", c["share"], 10, "%",
                       cause="the solver's iterations are as cheap as a detection, of which there is one in each, "
                             "with planes and lagged friction made anew"))
    c, t = cost(logs["trousers"]), cost(two)
    out.append(
        Bar("trousers: steps per second, ndb_pd, two threads, wall clock", 1e3 / t["wall"], 30, least=True,
            cause=f"{c['whole']:.0f} ms of processor time a step, {c['solve']:.0f} of them the solver's; "
                  "the wall clock counts what else runs on the machine"))
    with Log(barrier) as log:
        steps = log.table("steps")
    out.append(Bar(f"trousers on the skin itself, ipc_barrier, {len(steps)} steps: intersections",
                   int(steps["intersections"].sum()), 0))
    return out
