"""PD-Coulomb beside the non-distance barrier: work to the same error, and intersections."""

import numpy as np
from loomcloth.experiment import Bar, plain_axes
from loomcloth.log import Log
from PIL import Image

METHODS = {"PD-Coulomb": ("pd_coulomb", (5, 10, 20, 40, 80, 160, 320, 640)),
           "NDB": ("ndb", (5, 10, 20, 40, 80, 160))}
COLOURS = {"PD-Coulomb": "#D55E00", "NDB": "#0072B2"}
NEAR = (0.1, 0.05)  # errors, shares of the travel
SHOWN = 40  # iterations in the picture
FRAME = 40  # 0.4 s: the cloth hangs around the sphere and still moves


def positions(path):
    with Log(path) as log:
        return log.file["frames/x"][:].astype(float)


def runs(experiment):
    """{method: {iterations, 0: to the end: log}} and the log of Newton's method."""
    sets = {"log.frames_every": 1}
    found = {}
    for method, (config, caps) in METHODS.items():
        found[method] = {0: experiment.run(f"{config}_end", f"{config}.ini", sets)}
        for cap in caps:
            more = sets | {"stop.max_iters": cap}
            found[method][cap] = experiment.run(f"{config}_{cap}", f"{config}.ini", more)
    return found, experiment.run("newton", "newton.ini", sets)


def error(path, truth):
    """Distance of vertices from their places in another run, root of the mean square over the frames up to
    FRAME, as a share of the way of that run."""
    a, b = positions(path)[:FRAME + 1], positions(truth)[:FRAME + 1]
    return np.sqrt(np.mean(np.sum((a - b) ** 2, 2)) / np.mean(np.sum((b[FRAME] - b[0]) ** 2, 1)))


def cost(path):
    """Iterations, and processor seconds of the plugins and of the gradients that they use, without audit,
    measurements of the core and log."""
    with Log(path) as log:
        steps = log.table("steps")[:FRAME]
    names = ("t_cpu_detect", "t_cpu_solve", "t_cpu_contact", "t_cpu_filter")
    return steps["iters"].sum(), sum(steps[name].sum() for name in names)


def found_inside(path):
    """Intersections of cloth with cloth, edges and triangles in the sphere, in all steps; least gap, m."""
    with Log(path) as log:
        steps = log.table("steps")
    inside = steps["shape_entries"].sum()
    return steps["intersections"].sum() - inside, inside, np.nanmin(steps["min_gap"])


def curves(experiment):
    """{method: (iterations, seconds, error against its own end) of each number of iterations}"""
    logs, _ = runs(experiment)
    found = {}
    for method, (_, caps) in METHODS.items():
        rows = [(*cost(logs[method][cap]), error(logs[method][cap], logs[method][0])) for cap in caps]
        found[method] = np.array(rows).T
    return found


def at_error(work, errors, near):
    """The least work from which on the error stays below `near`, interpolated by logarithms; NaN: it does not
    get there."""
    far = np.flatnonzero(errors > near)
    if len(far) == 0:
        return work[0]
    k = far[-1]
    if k + 1 == len(errors):
        return np.nan
    share = np.log(errors[k] / near) / np.log(errors[k] / errors[k + 1])
    return work[k] * (work[k + 1] / work[k]) ** share


def row(label, cap, path, own, newton):
    """A line of the table; own, newton: the method's own end, and the truth."""
    iterations, seconds = cost(path)
    cloth, inside, gap = found_inside(path)
    return (f"{label:12}{cap:>7}{iterations:12.0f}{seconds:8.2f}{error(path, own):9.4f}"
            f"{error(path, newton):13.4f}{cloth:16d}{inside:15d}{1e3 * gap:15.3f}")


def lines(experiment):
    logs, newton = runs(experiment)
    out = [f"{'method':12}{'limit':>7}{'iterations':>12}{'cpu s':>8}{'error':>9}{'from Newton':>13}"
           f"{'cloth in cloth':>16}{'inside sphere':>15}{'least gap, mm':>15}"]
    for method, (_, caps) in METHODS.items():
        own = logs[method][0]
        out += [row(method, cap or "end", logs[method][cap], own, newton) for cap in (*caps, 0)]
    out.append(row("Newton, IPC", "end", newton, newton, newton))
    found = curves(experiment)
    for near in NEAR:
        for k, name, places in ((0, "iterations", 0), (1, "processor seconds", 2)):
            a, b = (at_error(found[m][k], found[m][2], near) for m in METHODS)
            out.append(f"to {near:g}: {name} {a:.{places}f} PD-Coulomb, {b:.{places}f} NDB, "
                       f"ratio {a / b:.2f}")
    return out


def draw(experiment):
    from loomcloth.sheet import caption, labelled
    from loomcloth.view import View

    logs, newton = runs(experiment)
    images = []
    rows = {"PD-Coulomb": logs["PD-Coulomb"][SHOWN], "NDB": logs["NDB"][SHOWN], "Newton": newton}
    for name, path in rows.items():
        with Log(path) as log:
            images.append(np.hstack([
                labelled(View(log, [k], (400, 300), (-60, 20), zoom=1.4, lamps=2).image(k),
                         caption(log, name, k)) for k in (20, FRAME, 50)]))
    experiment.keep_image(Image.fromarray(np.vstack(images)), "ndb-fig13")
    figure, axes = plain_axes(1, 2)
    for method, (iterations, seconds, errors) in curves(experiment).items():
        axes[0].plot(iterations, errors, "o-", color=COLOURS[method], label=method)
        axes[1].plot(seconds, errors, "o-", color=COLOURS[method], label=method)
    axes[0].set(xlabel="iterations of 40 steps", ylabel="error, share of the travel", xscale="log",
                yscale="log")
    axes[1].set(xlabel="processor seconds, one thread", xscale="log", yscale="log")
    axes[0].legend()
    experiment.save(figure, "ndb-fig13-work", keep=True)
    experiment.keep_text("ndb-fig13", lines(experiment))


def bars(experiment):
    """The paper's claims: no intersection with NDB, some with PD-Coulomb; less work to the same error.  Cloth
    in cloth does not count against PD-Coulomb: ours has no contacts of cloth, theirs has."""
    logs, _ = runs(experiment)
    found = {m: [found_inside(path) for path in logs[m].values()] for m in METHODS}
    rows = [Bar("intersections, NDB", sum(f[0] + f[1] for f in found["NDB"]), 0),
            Bar("edges and triangles in the sphere, PD-Coulomb", sum(f[1] for f in found["PD-Coulomb"]), 1,
                least=True)]
    found = curves(experiment)
    for row, name in ((0, "iterations"), (1, "processor seconds")):
        a, b = (at_error(found[m][row], found[m][2], NEAR[0]) for m in METHODS)
        rows.append(Bar(f"{name} of PD-Coulomb over NDB's to {NEAR[0]:g}", a / b, 1, least=True,
                        cause="30 times in the paper are mostly its GPU"))
    return rows


FIGURES = {
    "ndb-fig13": ("a cloth falls on a sphere: PD-Coulomb beside NDB, work to the same error", draw),
    "ndb-fig13-bars": ("the same as numbers with bounds", bars),
}
