"""Bars of affine bodies: exact answers that followers, contact and the energy of the body have to give."""

import numpy as np

from loomcloth.experiment import Bar
from loomcloth.log import Log
from loomcloth.steps import full_detections, intersections

G = 9.81  # m/s^2, as in the files

# A wrong input per group for `--disturb GROUP`: its bars have to be short.
WRONG = {
    "fall": {"run.dt": 0.0100001},
    "slope": {"body.slope.friction": 0.101},
    "roll": {"solid.ball.stiffness": 1e3},
    "slip": {"body.slope.friction": 0.0505},
    "stack": {"contact.all.self_friction": 0},
    "hit": {"stop.tol_abs": 1e-6, "stop.tol_rel": 0.1, "stop.max_iters": 5},
}


def run(experiment, group, name, config, sets=None):
    more = WRONG[group] if group in experiment.disturb else {}
    mark = "_wrong" if more else ""
    return experiment.run(name + mark, config, {"exec.threads": 1} | (sets or {}) | more)


def nodes(log, obj):
    """Vertices of an object that have a mass of their own: followers have none."""
    return np.flatnonzero((log.scene("object") == obj) & (log.scene("mass") > 0))


# ---- free fall ----
SOLVERS = ("gd", "cholmod_newton", "pcg_newton", "cholmod_pd", "aa_pd", "ndb_pd", "vbd", "xpbd", "cama_pcg")


def fall(experiment):
    """All rows, followers included, after n steps: x_0 + n h v_0 + g h^2 n (n + 1)/2."""
    h, g, v = 0.01, np.array([0.3, -0.2, -9.81]), np.array([1.0, 2.0, 3.0])
    worst = {}
    for solver in SOLVERS:
        with Log(run(experiment, "fall", f"fall_{solver}", "fall.ini", {"solver.plugin": solver})) as log:
            x = log.file["frames/x"][:]
        n = np.arange(len(x))[:, None, None]
        worst[solver] = np.abs(x - x[0] - n * h * v - g * h * h * n * (n + 1) / 2).max()
    at = max(worst, key=worst.get)
    return [Bar(f"free fall, {len(SOLVERS)} solvers, worst {at}", worst[at], 1e-12, "m")]


# ---- one body on a plane ----
def along_slope(log, angle):
    """Speed of the centre down the slope [frames] and the largest way across it, m."""
    mine = nodes(log, 0)
    down = np.array([np.cos(angle), 0, -np.sin(angle)])
    x, v = log.file["frames/x"][:, mine].mean(1), log.file["frames/v"][:, mine].mean(1)
    return v @ down, np.abs(x[:, 1] - x[0, 1]).max()


def steady(speed, h, first):
    """Mean acceleration from frame `first` to the end."""
    return (speed[-1] - speed[first]) / (h * (len(speed) - 1 - first))


def slope(experiment):
    angle = np.arctan(0.5)
    with Log(run(experiment, "slope", "slope", "slope.ini")) as log:
        speed, side = along_slope(log, angle)
    a, want = steady(speed, 0.005, 30), G * (np.sin(angle) - 0.1 * np.cos(angle))
    return [
        Bar(f"box on a slope: a = {a:.6f} m/s^2, g (sin - mu cos) = {want:.6f}, off",
            abs(a / want - 1), 1e-3),
        Bar("box on a slope: way across it", side, 1e-6, "m"),
    ]


def roll(experiment):
    """A ball that rolls, and one that slips; the first third settles on the barrier."""
    angle, bars = np.radians(20), []
    rolls, slips = 5 / 7 * G * np.sin(angle), G * (np.sin(angle) - 0.05 * np.cos(angle))
    for name, mu, want, law, bound in (("roll", 0.5, rolls, "5/7 g sin", 5e-3),
                                       ("slip", 0.05, slips, "g (sin - mu cos)", 1e-3)):
        with Log(run(experiment, name, name, "roll.ini", {"body.slope.friction": mu})) as log:
            speed, _ = along_slope(log, angle)
            count = int(np.sum(log.scene("mass") == 0))
        a = steady(speed, 0.001, 33)
        bars.append(Bar(f"ball of {count} vertices, mu = {mu:g}: a = {a:.5f} m/s^2, {law} = {want:.5f}, off",
                        abs(a / want - 1), bound))  # fmt: skip
    return bars


# ---- bodies on bodies ----
def stack(experiment):
    """At rest each box hands on the weight above it; heights stay, and gaps are within the barrier."""
    with Log(run(experiment, "stack", "stack", "stack.ini")) as log:
        steps, mass = log.table("steps"), log.scene("mass")
        x, push = log.file["frames/x"], log.file["fields/contact_force"]
        boxes = [nodes(log, k) for k in range(5)]
        centre = np.stack([x[:, b].mean(1) for b in boxes], 1)
        weight = np.array([G * mass[b].sum() for b in boxes])
        own = np.array([push[-1][b, 2].sum() for b in boxes])
    above, handed = np.cumsum(weight[::-1])[::-1], np.cumsum(own[::-1])[::-1]
    gaps = np.diff(centre[-1, :, 2], prepend=-0.02) - 0.04
    late = centre[-21:]
    return [
        Bar("stack of five boxes: force through an interface over the weight above, off",
            np.abs(handed / above - 1).max(), 1e-4),
        Bar("stack: largest gap (the barrier begins at 1 mm)", gaps.max(), 1e-3, "m"),
        Bar("stack: smallest gap", gaps.min(), 0, "m", least=True),
        Bar("stack: heights change in the last 0.2 s by", np.ptp(late[:, :, 2], axis=0).max(), 1e-7, "m"),
        Bar("stack: drift (friction sticks below 1 mm/s)",
            np.abs(late[-1] - late[0])[:, :2].max() / 0.2, 1e-4, "m/s"),
        Bar("stack: intersections", intersections(steps), 0),
    ]  # fmt: skip


MEETS = (  # solver, contact, bound on the change of momentum over sum m|v|
    ("cholmod_newton", "ipc_barrier", 1e-10),
    ("cholmod_newton", "dbb", 1e-10),
    ("cholmod_newton", "ndb", 1e-10),
    ("ndb_pd", "ndb", 2e-3),
    ("aa_pd", "ndb", 2e-3),
)


def momentum(path):
    """Largest change of the linear momentum over sum m|v| at the start, the ball's loss of it along z."""
    with Log(path) as log:
        steps, mass, v = log.table("steps"), log.scene("mass"), log.file["frames/v"]
        start, end, ball = v[0], v[-1], nodes(log, 1)
    size = np.sum(mass * np.linalg.norm(start, axis=1))
    p = np.stack([steps[f"p_{c}"] for c in "xyz"], 1)
    given = mass[ball] @ (end[ball, 2] - start[ball, 2])
    return np.abs(p - mass @ start).max() / size, given / size, intersections(steps)


def hit(experiment):
    bars, found, least = [], 0.0, 1.0
    for solver, contact, bound in MEETS:
        sets = {"solver.plugin": solver, "contact.all.plugin": contact}
        sets |= {"solid.ball.stiffness": 5e6} if bound > 1e-6 else {}
        change, given, crossed = momentum(run(experiment, "hit", f"hit_{solver}_{contact}", "hit.ini", sets))
        found, least = found + crossed, min(least, given)
        bars.append(Bar(f"ball meets a free sheet, {solver} x {contact}: momentum changes by", change, bound))
    for solver in ("cholmod_pd", "ndb_pd"):
        sets = {"solver.plugin": solver, "contact.all.plugin": "pd_ipc", "solid.ball.stiffness": 5e6}
        change, _, crossed = momentum(run(experiment, "hit", f"hit_{solver}_pd_ipc", "hit.ini", sets))
        found += crossed
        print(f"no bar: {solver} x pd_ipc, whose forces do not add up: momentum changes by {change:.3g}")
    return [*bars, Bar("share of the momentum that the ball gives, least", least, 0.05, least=True),
            Bar("ball meets a free sheet: intersections", found, 0)]  # fmt: skip


# ---- cost ----
WHY_COST = (
    "the boxes of a body that may move are made anew, and followers have rows in all vectors"
)


PAIRS = 5


def cost(experiment):
    """Processor time of steps 1 to 3 with the ball as an affine body over that with a body at rest: the median
    of pairs of runs, one after the other, so that other work on the machine meets both."""
    spent = {"body": [], "solid": []}
    for again in range(PAIRS):
        for kind, seconds in spent.items():
            path = run(experiment, "cost", f"cost_{kind}_{again}", f"cost_{kind}.ini", {"run.seed": again})
            with Log(path) as log:
                seconds.append(log.table("steps")["t_cpu"][1:].sum() / 3)
    body, solid = np.array(spent["body"]), np.array(spent["solid"])
    share = solid / body
    name = (f"step of 40,401 vertices on an affine ball of 10,586: {np.median(solid):.3f} s over the "
            f"{np.median(body):.3f} s on a body, {PAIRS} pairs of {share.min():.3f} to {share.max():.3f}, median")  # fmt: skip
    return [Bar(name, np.median(share), 1.05, cause=WHY_COST)]


# ---- figure 18 ----
FRICTIONS = (0.02, 0.2, 0.5)
METHODS = {  # solver, contact, iterations of a step at most
    "Newton": ("cholmod_newton", "ipc_barrier", 150),
    "NDB": ("ndb_pd", "ndb", 150),
    "NDB 3000": ("ndb_pd", "ndb", 3000),
}
PIPE = -0.2  # m, its lower end


def funnel(experiment, method, mu):
    solver, contact, most = METHODS[method]
    sets = {"solver.plugin": solver, "contact.all.plugin": contact, "stop.max_iters": most}
    sets |= {"contact.all.self_friction": mu, "body.funnel.friction": mu}
    name = f"fig18_{method.lower().replace(' ', '_')}_{mu:g}"
    return name, experiment.run(name, "funnel.ini", sets)


def fig18(experiment):
    """Whether the ball passes the funnel, by friction and method; the end of each run as a picture."""
    from PIL import Image

    from loomcloth.sheet import caption, labelled
    from loomcloth.view import View

    lines = ["method    friction   height of the ball at the end, m  passes  iterations  capped  s/step"
             "  intersections"]  # fmt: skip
    images = []
    for method in METHODS:
        row = []
        for mu in FRICTIONS:
            name, path = funnel(experiment, method, mu)
            with Log(path) as log:
                steps, last = log.table("steps"), log.num_frames - 1
                z = log.file["frames/x"][:, nodes(log, 3)][:, :, 2].mean(1)
                view = View(log, [last], (420, 420), (-60, 25), zoom=1.0, lamps=2)
                text = caption(log, f"{method}, friction {mu:g}", last)
                row.append(labelled(view.image(last), text))
            capped = np.sum(steps["reason"] == 2)  # max_iters
            seconds = experiment.cpu_seconds(name) / len(steps)
            lines.append(f"{method:10}{mu:8g}{z[-1]:34.3f}{'yes' if z[-1] < PIPE else 'no':>8}"
                         f"{steps['iters'].mean():12.1f}{capped:8d}{seconds:8.2f}"
                         f"{intersections(steps):15.0f}")  # fmt: skip
        images.append(np.hstack(row))
    experiment.keep_image(Image.fromarray(np.vstack(images)), "solids-fig18")
    experiment.keep_text("solids-fig18", lines)


# ---- figures 11 and 17: the same scene by several methods, beside Newton's ----
NEWTON = {"solver.plugin": "cholmod_newton", "contact.all.plugin": "ipc_barrier", "stop.max_iters": 200}
PD_IPC = {  # configs/methods/pd_ipc.ini
    "contact.all.plugin": "pd_ipc", "filter.when": "every", "solver.subspace": "none",
    "solver.smoother": "chebyshev", "solver.sweeps": 15, "solver.warm": 0, "solver.momentum": "none",
}  # fmt: skip
PARTIAL = {"contact.all.growth": "partial"}


def most(limit, sets=None):
    return {"stop.max_iters": limit} | (sets or {})


def distance(path, truth, chosen=slice(None)):
    """Of the vertices `chosen` from their places in another run: root of the mean square over all frames, m,
    and as a share of the way of that run."""
    with Log(path) as log, Log(truth) as other:
        a, b = (one.file["frames/x"][:].astype(float)[:, chosen] for one in (log, other))
    off = np.sqrt(np.mean(np.sum((a - b) ** 2, 2)))
    return off, off / np.sqrt(np.mean(np.sum((b[-1] - b[0]) ** 2, 1)))


def work(path):
    """Iterations of all steps, processor seconds of the plugins and the gradients that they use."""
    with Log(path) as log:
        steps = log.table("steps")
    names = ("t_cpu_detect", "t_cpu_solve", "t_cpu_contact", "t_cpu_filter")
    return steps["iters"].sum(), sum(steps[name].sum() for name in names)


def strip(path, name, frames, angles, hidden=(), zoom=1.1):
    """Frames side by side; bodies `hidden` are left out, so that a picture looks into a tank."""
    from loomcloth.sheet import caption, labelled
    from loomcloth.view import View

    with Log(path) as log:
        view = View(log, frames, (420, 340), angles, zoom=zoom, lamps=2)
        for actor, body in view.actors:
            actor.SetVisibility(body.name not in hidden)
        return np.hstack([labelled(view.image(k), caption(log, name, k)) for k in frames])


def scene_rows(experiment, figure, config, methods, parts):
    """A line of each method: work, limits, distance from the first, Newton's method; [(name, log)]."""
    heads = "".join(f"{name + ', mm':>12}" for name in parts)
    lines = [f"{'method':16}{'iterations':>11}{'capped':>8}{'full CCD':>10}{'s/step':>8}{heads}"
             f"{'of the way':>12}{'intersections':>15}"]  # fmt: skip
    logs = []
    for name, sets in methods.items():
        path = experiment.run(f"{figure}_{name.lower().replace(' ', '_')}", config, sets)
        logs.append((name, path))
        with Log(path) as log:
            steps, full, owner = log.table("steps"), full_detections(log), log.scene("object")
        iterations, seconds = work(path)
        truth = logs[0][1]
        off = "".join(f"{1e3 * distance(path, truth, chosen(owner))[0]:12.2f}" for chosen in parts.values())
        lines.append(f"{name:16}{iterations / len(steps):11.1f}{np.sum(steps['reason'] == 2):8d}"
                     f"{full.mean():10.1f}{seconds / len(steps):8.3f}{off}{distance(path, truth)[1]:12.3f}"
                     f"{intersections(steps):15.0f}")  # fmt: skip
    return lines, logs


def keep_strips(experiment, name, strips, lines):
    from PIL import Image

    experiment.keep_image(Image.fromarray(np.vstack(strips)), name)
    experiment.keep_text(name, lines)


SHIP = {"Newton": NEWTON, "NDB 40": most(40)}


def fig17(experiment):
    """A heavy cloth falls onto a ship."""
    parts = {"sail": lambda owner: owner == 0, "ship": lambda owner: owner > 0}
    lines, logs = scene_rows(experiment, "fig17", "ship.ini", SHIP, parts)
    strips = [strip(path, name, (0, 2, 3, 5), (-60, 20)) for name, path in logs]
    keep_strips(experiment, "solids-fig17", strips, lines)


TOYS = {"Newton": NEWTON}
TOYS |= {f"NDB {k}": most(k) for k in (8, 15, 30, 60)}
TOYS |= {f"NDB partial {k}": most(k, PARTIAL) for k in (60,)}
TOYS |= {f"PD-IPC {k}": most(k, PD_IPC) for k in (8, 15, 30, 60)}
FACING = ("front", "right")  # walls between the camera and the toys


def at_error(rows, near):
    """Least work to the error `near`, by logarithms between two of rows [(work, error)], or that of the first
    row where it is nearer; NaN: none of them gets there."""
    if rows[0][1] <= near:
        return rows[0][0]
    for (a, far), (b, close) in zip(rows, rows[1:], strict=False):
        if close <= near < far:
            return a * (b / a) ** (np.log(far / near) / np.log(far / close))
    return np.nan


def equal_error(logs):
    """Work of PD-IPC and NDB to the least error that both reach within their limits."""
    rows = {m: [(*work(p), distance(p, logs[0][1])[1]) for n, p in logs if n.rsplit(" ", 1)[0] == m]
            for m in ("NDB", "PD-IPC")}  # fmt: skip
    near = 1.0001 * max(min(r[2] for r in of) for of in rows.values())
    out = []
    for k, unit in ((0, "iterations"), (1, "processor seconds")):
        ndb, ipc = (at_error([(r[k], r[2]) for r in rows[m]], near) for m in ("NDB", "PD-IPC"))
        out.append(f"to {near:.3f} of the way: {unit} {ndb:.4g} NDB, {ipc:.4g} PD-IPC, ratio {ipc / ndb:.2f}")
    if rows["NDB"][0][2] <= near:
        out.append(f"(NDB is at {rows['NDB'][0][2]:.3f} with its least limit already)")
    return out


def partial_share(logs):
    """Iterations of `growth = partial` without a full detection."""
    path = dict(logs)["NDB partial 60"]
    with Log(path) as log:
        iterations, full = log.table("steps")["iters"].sum(), full_detections(log).sum()
    return f"growth = partial: {1 - full / iterations:.1%} of {iterations} iterations with partial CCD alone"


def fig11(experiment):
    """Toys and ribbons in a glass tank; the walls that face the camera are left out of the picture."""
    lines, logs = scene_rows(experiment, "fig11", "toys.ini", TOYS, {"all": lambda owner: owner >= 0})
    lines += [*equal_error(logs), partial_share(logs)]
    strips = [strip(path, name, (0, 2, 3, 5), (-60, 30), FACING) for name, path in logs
              if name in ("Newton", "NDB 60", "PD-IPC 60")]  # fmt: skip
    keep_strips(experiment, "solids-fig11", strips, lines)

COST = {1: (7, 60), 2: (7, 60)}  # [run] detail: steps, iterations of each


def toys_cost(experiment):
    """Processor time of an iteration of toys33.ini in the last step, in which the lowest toys meet the floor.
    Detection at the ends of the step counts for its iterations."""
    lines = [f"{'tetrahedra':>10}{'vertices':>10}{'contacts':>10}{'iterations':>12}{'s/iteration':>13}"
             f"{'detection':>11}{'solver':>8}{'s/step':>8}{'memory, MB':>12}"]  # fmt: skip
    for detail, (count, limit) in COST.items():
        name = f"toys33_{detail}"
        sets = {"run.detail": detail, "run.steps": count, "stop.max_iters": limit, "log.audit": "end"}
        with Log(experiment.run(name, "toys33.ini", sets)) as log:
            last, tets, verts = log.table("steps")[-1], len(log.scene("tets")), len(log.scene("mass"))
        whole, detect, solve = (last[f"t_cpu{part}"] / last["iters"] for part in ("", "_detect", "_solve"))
        lines.append(f"{tets:10d}{verts:10d}{last['contacts']:10d}{last['iters']:12d}{whole:13.3f}{detect:11.3f}"
                     f"{solve:8.3f}{last['t_cpu']:8.2f}{experiment.peak_bytes(name) / 1e6:12.0f}")
    experiment.keep_text("solids-toys-cost", lines)


GROUPS = {"fall": fall, "slope": slope, "stack": stack, "hit": hit, "roll": roll, "cost": cost}


def measured(experiment, groups):
    """Bars of the groups; groups that a control disturbs come alone."""
    names = {"roll": {"roll", "slip"}}
    bars = []
    for group in groups:
        mine = names.get(group, {group})
        if experiment.disturb and not experiment.disturb & mine:
            continue
        bars += GROUPS[group](experiment)
    experiment.disturb -= set(WRONG)
    return bars


def bars(experiment):
    return measured(experiment, GROUPS)


FIGURES = {
    "solids-fig11": ("toys and ribbons in a tank: NDB, PD-IPC and Newton's method", fig11),
    "solids-toys-cost": ("33 toys, 40,000 and 0.32 million tetrahedra: cost", toys_cost),
    "solids-fig17": ("a heavy cloth on a ship with soft masts and ladders, against Newton", fig17),
    "solids-bars": ("exact answers of affine bodies: free fall, slopes, a stack, impacts; their cost", bars),
    "solids-fig18": ("a heavy ball in a funnel with three cloths, three frictions, against Newton", fig18),
}
