"""Splines, sweeps and split contact (pd_bfgs): against converged solutions and Newton's method."""

import numpy as np

from loomcloth.experiment import Bar, NotMeasured, plain_axes
from loomcloth.log import Log

COLOURS = {50: "#56B4E9", 100: "#E69F00", 250: "#009E73"}  # Okabe and Ito 2008
LITERAL = {"solver.momentum": "none", "solver.guess": "reduced"}  # as in the paper
FIRST = 9  # step of the sphere scene in which the sheet touches


# ---- two levels on frozen systems ----


def errors(experiment, side, name, sets=None):
    """[systems][cycles] energy norm of the error, in parts of that at the start."""
    res = {"cloth.sheet.resolution": f"{side} {side}"}
    path = experiment.run(f"hang-{side}-{name}", "hang.ini", res | (sets or {}))
    with Log(path) as log:
        rows = log.table("inner")
    return rows["value"].reshape(-1, rows["j"].max())


def needed(error, bound=1e-2):
    """Cycles until the worst system is below the bound; one more than there are if it never is."""
    below = np.nonzero(error.max(axis=0) <= bound)[0]
    return below[0] + 1 if len(below) else error.shape[1] + 1


def two_level_bars(experiment):
    rows = []
    for spacing in (3, 4):
        for side in COLOURS:
            error = errors(experiment, side, f"{spacing}", {"solver.spacing": spacing})
            name = f"{side} x {side}, spacing {spacing}: cycles to an error of 1e-2"
            rows.append(Bar(name, needed(error), 3))
    for name, sets in (("sweeps alone", {"solver.bfgs_iters": 0}), ("splines alone", {"solver.jacobi_iters": 0})):
        error = errors(experiment, 100, name.replace(" ", "-"), sets)
        rows.append(Bar(f"control: 100 x 100, {name}: cycles to an error of 1e-2", needed(error), 6, least=True))
    return rows


def two_level(experiment):
    figure, axes = plain_axes()
    ax = axes[0][0] if isinstance(axes, np.ndarray) else axes
    for side, colour in COLOURS.items():
        error = errors(experiment, side, "4", {"solver.spacing": 4})
        curve = np.concatenate([[1], np.median(error, axis=0)])
        ax.semilogy(range(len(curve)), curve, "o-", color=colour, label=f"{side} x {side}")
    alone = errors(experiment, 100, "sweeps-alone", {"solver.bfgs_iters": 0})
    ax.semilogy(range(7), np.concatenate([[1], np.median(alone, axis=0)]), "k--", label="100 x 100, sweeps alone")
    ax.set_xlabel("cycles: one solve in the splines, five sweeps")
    ax.set_ylabel("energy norm of the error")
    ax.legend(fontsize=7)
    experiment.save(figure, "pdbfgs-two-level", keep=True)


# ---- how many splines ----

SPACINGS, SWEEPS, BOUNDS = (2, 3, 4, 6, 10, 20), (1, 5, 20), (1e-1, 1e-2)


def effort(experiment, side, spacing, sweeps):
    """For each of BOUNDS: cycles until the worst system is below it, products with H and seconds of one
    system until then; NaN: not within all cycles.  A cycle has a product for each sweep, and one for the residual."""
    sets = {"solver.spacing": spacing, "solver.jacobi_iters": sweeps, "solver.cycles": 40, "exec.threads": 1}
    name = f"spacing-{spacing}-{sweeps}"
    error = errors(experiment, side, name, sets)
    with Log(experiment.out / f"hang-{side}-{name}.h5") as log:
        clocks = log.sections("t_cpu")
    each = (clocks["solver/splines"].sum() + clocks["solver/sweeps"].sum()) / error.size
    cycles = np.array([needed(error, bound) for bound in BOUNDS], dtype=float)
    cycles[cycles > error.shape[1]] = np.nan
    return cycles, cycles * (sweeps + 1), cycles * each


def spacing(experiment):
    figure, axes = plain_axes(1, 2)
    lines = ["side  spacing  sweeps   to 1e-1: cycles products      ms   to 1e-2: cycles products      ms"]
    dashes = {1: ":", 5: "-", 20: "--"}
    for side, colour in COLOURS.items():
        for sweeps in SWEEPS if side < 250 else (5,):
            rows = [effort(experiment, side, s, sweeps) for s in SPACINGS]
            for s, (cycles, products, seconds) in zip(SPACINGS, rows):
                cells = (f"{cycles[k]:17.0f} {products[k]:8.0f} {1e3 * seconds[k]:7.2f}" for k in range(len(BOUNDS)))
                lines.append(f"{side:4d} {s:8d} {sweeps:7d}" + " ".join(cells))
            style = {"color": colour, "linestyle": dashes[sweeps], "marker": "o", "markersize": 3}
            label = f"{side} x {side}, {sweeps} sweep" + ("s" if sweeps > 1 else "")
            axes[0].loglog(SPACINGS, [r[1][1] for r in rows], label=label, **style)
            axes[1].loglog(SPACINGS, [1e3 * r[2][1] for r in rows], **style)
    for ax, what in zip(axes, ("products with H", "splines and sweeps, ms, one thread")):
        ax.set_xlabel("cells per spline")
        ax.set_ylabel(what)
        ax.set_title("to an error of 1e-2", fontsize=9)
        ax.set_xticks(SPACINGS, SPACINGS)
        ax.minorticks_off()
    axes[0].legend(fontsize=6)
    experiment.save(figure, "pdbfgs-spacing", keep=True)
    experiment.keep_text("pdbfgs-spacing", lines)


# ---- properties that the basis needs ----

BASES = {"splines": "#0072B2", "shepard": "#E69F00", "radial": "#D55E00"}


def hanging(experiment, name, sets):
    """A sheet that has swung for a while, with few outer iterations a step, as in the paper."""
    res = {"cloth.sheet.resolution": "51 51", "run.steps": 60, "stop.max_iters": 10}
    return experiment.run(f"swing-{name}", "hang.ini", res | {"solver.cycles": 1, "solver.monitor": "none"} | sets)


def moving(path):
    """Kinetic energy at the end, J."""
    with Log(path) as log:
        return log.table("steps")["e_kinetic"][-1]


def guess_bars(experiment):
    right = moving(hanging(experiment, "converged", {"stop.max_iters": 600}))
    runs = {"core": {"solver.momentum": "none"}, "reduced": LITERAL}
    left = {guess: 100 * moving(hanging(experiment, guess, sets)) / right for guess, sets in runs.items()}
    name = "swinging sheet, 10 iterations without momentum from the {} guess: kinetic energy of a converged run"
    return [
        Bar(name.format("core's"), left["core"], 90, "%", least=True),
        Bar("control: " + name.format("paper's"), left["reduced"], 50, "%"),
    ]


def unity(experiment):
    from PIL import Image

    from loomcloth.sheet import caption, labelled
    from loomcloth.view import View

    lines = ["basis    sweeps  functions   error after 1 cycle  3 cycles  6 cycles"]
    for basis in BASES:
        for sweeps in (5, 0):
            name = f"{basis}-{sweeps}"
            error = np.median(errors(experiment, 100, name, {"solver.basis": basis, "solver.jacobi_iters": sweeps}), axis=0)
            with Log(experiment.out / f"hang-100-{name}.h5") as log:
                functions = np.nanmax(log.table("iters_extra")["splines"])
            cells = "".join(f"{error[k]:10.2e}" for k in (0, 2, 5))
            lines.append(f"{basis:9}{sweeps:6d}{functions:11.0f}            {cells}")
    paths = {"exact": experiment.run("swing-exact", "exact.ini")}
    for basis in BASES:
        for sweeps in (5, 0):
            sets = {"solver.basis": basis, "solver.jacobi_iters": sweeps, "solver.momentum": "none"}
            paths[basis, sweeps] = hanging(experiment, f"{basis}-{sweeps}", sets)
    lines.append("distance from a run with exact global steps after 60 steps of 10 iterations, mean over vertices, mm")
    with Log(paths["exact"]) as log:
        right = log.file["frames/x"][-1].astype(float)
    for key, path in paths.items():
        with Log(path) as log:
            off = np.linalg.norm(log.file["frames/x"][-1] - right, axis=1)
        if key != "exact":
            lines.append(f"{key[0]:9}{key[1]:6d}{1e3 * off.mean():11.1f}")
    order = ("exact", ("splines", 5), ("radial", 5), ("splines", 0), ("shepard", 0), ("radial", 0))
    images = []
    for key in order:
        with Log(paths[key]) as log:
            last = log.num_frames - 1
            image = View(log, [last], (400, 400), (120, 20), zoom=1.05, lamps=2).image(last)
            title = key if key == "exact" else f"{key[0]}, {key[1]} sweeps"
            images.append(labelled(image, caption(log, title, last)))
    experiment.keep_image(Image.fromarray(np.vstack([np.hstack(images[:3]), np.hstack(images[3:])])), "pdbfgs-unity")
    print("\n".join(lines))
    experiment.keep_text("pdbfgs-unity", lines)


# ---- without contact: time against energy ----


def time_to(path, reference, step, gap):
    """Processor seconds until the energy is above the minimum by at most `gap` of the guess's excess; NaN: never."""
    with Log(path) as log, Log(reference) as ref:
        mine, theirs = (x.table("iters") for x in (log, ref))
    mine, theirs = mine[mine["step"] == step], theirs[theirs["step"] == step]
    start, least = theirs["e_total"][0], theirs["e_total"][-1]
    there = np.nonzero(mine["e_total"] - least <= gap * (start - least))[0]
    return mine["t_cpu"][there[0]] - mine["t_cpu"][0] if len(there) else np.nan


def free_seconds(experiment, gap=1e-2):
    """Processor seconds of a step to `gap`: pd_bfgs as in the paper and with momentum, Chebyshev-Jacobi by rho."""
    ref = experiment.run("free-newton", "free.ini")
    replay = {"run.replay": ref, "run.replay_first": 6, "run.steps": 2, "exec.threads": 1}

    def seconds(name, config, sets):
        path = experiment.run(f"free-{name}", config, replay | sets, inputs=[ref])
        return np.mean([time_to(path, ref, step, gap) for step in (6, 7)])

    two_level = {"solver.plugin": "pd_bfgs", "stop.max_iters": 600}
    literal, fast = (seconds(name, "free.ini", two_level | sets) for name, sets in (("literal", LITERAL), ("fast", {})))
    rhos = (0.99, 0.999, 0.9992, 0.9999, 0.99999)
    wang = {rho: seconds(f"rho-{rho}", "chebyshev.ini", {"solver.rho": rho}) for rho in rhos}
    return literal, fast, wang


def chebyshev(experiment):
    literal, fast, wang = free_seconds(experiment)
    lines = ["100 x 100 vertices without contact, processor s of a step to 1 % of the guess's excess in energy; nan: not in 3,000 iterations"]
    lines += [f"{'pd_bfgs as in the paper':28}{literal:8.3f}", f"{'pd_bfgs with momentum':28}{fast:8.3f}"]
    lines += [f"{f'chebyshev_pd, rho = {rho}':28}{t:8.3f}" for rho, t in wang.items()]
    print("\n".join(lines))
    experiment.keep_text("pdbfgs-chebyshev", lines)


def chebyshev_bars(experiment):
    literal, fast, wang = free_seconds(experiment)
    best = np.nanmin(list(wang.values()))
    name = "without contact, 100 x 100: time of Chebyshev-Jacobi (best rho)"
    cause = "the outer iterations are those of plain local and global steps"
    return [
        Bar(f"{name}, times that as in the paper", best / literal, 5, least=True, cause=cause),
        Bar(f"{name}, times that with momentum", best / fast, 5, least=True),
    ]


# ---- the splitting ----


def sphere(experiment):
    """The last frames: Newton's method, 300 iterations with momentum, 16 as in the paper."""
    from PIL import Image

    from loomcloth.sheet import caption, labelled
    from loomcloth.view import View

    paths = {"Newton": newton(experiment, 51)}
    for most, sets in ((300, {}), (16, LITERAL)):
        paths[f"{most} iterations"] = split_run(experiment, most, 1, sets)
    images = []
    for name, path in paths.items():
        with Log(path) as log:
            last = log.num_frames - 1
            image = View(log, [last], (480, 360), (-60, 20), zoom=1.2, lamps=2).image(last)
            images.append(labelled(image, caption(log, name, last)))
    experiment.keep_image(Image.fromarray(np.hstack(images)), "pdbfgs-sphere")


def newton(experiment, side, substeps=1):
    res = {"cloth.sheet.resolution": f"{side} {side}", "stop.tol_rel": 1e-4, "run.substeps": substeps}
    return experiment.run(f"newton-{side}-{substeps}", "newton.ini", res)


def split(experiment, side, name, sets):
    res = {"cloth.sheet.resolution": f"{side} {side}"}
    return experiment.run(f"split-{side}-{name}", "split.ini", res | sets)


def split_run(experiment, most, substeps, sets):
    """A run to be compared with Newton's: the whole number of iterations, as a rule."""
    name = "as-in-the-paper" if sets else "with-momentum"
    sets = {"stop.max_iters": most, "stop.tol_rel": 1e-5, "run.substeps": substeps} | sets
    return split(experiment, 51, f"{name}-{most}-{substeps}", sets)


def corrections(path):
    """The work of the correction, over the steps that touch."""
    with Log(path) as log:
        extra = log.table("steps_extra")[FIRST:]
    return {k: extra[f"contact.all.{k}"] for k in ("moved", "cg", "newton", "alpha_min")}


def proxy_bars(experiment):
    """With 300 iterations a step: after the 30 of the paper the cloth has not come far, and all steps of the
    correction are whole.  A proxy without effect leaves each ratio at 1."""
    literal = {"stop.max_iters": 300} | LITERAL
    with_it, without = (
        corrections(split(experiment, 51, f"proxy-{proxy}-300", literal | {"solver.proxy": proxy}))
        for proxy in ("full", "none")
    )
    moved, cg = (np.mean(without[k]) / np.mean(with_it[k]) for k in ("moved", "cg"))
    whole = [np.mean(rows["alpha_min"] >= 1) for rows in (with_it, without)]
    print(f"sphere: share of steps with alpha = 1, with the proxy {whole[0]:.3f}, without {whole[1]:.3f}")
    return [
        Bar("sphere, without the proxy: way of the correction, times that with it", moved, 3, least=True),
        Bar("sphere, without the proxy: linear iterations, times those with it", cg, 1.5, least=True),
        Bar("sphere, with the proxy: steps with alpha = 1, times those without it", whole[0] / whole[1], 2,
            least=True),
    ]


def apart(path, reference, last=None):
    """Largest distance of a vertex from the reference in any frame (up to `last`), in parts of the largest travel."""
    with Log(path) as log, Log(reference) as ref:
        x, y = log.file["frames/x"][()].astype(float), ref.file["frames/x"][()].astype(float)
    travel = np.linalg.norm(y - y[0], axis=2).max()
    return np.linalg.norm(x - y, axis=2)[:None if last is None else last + 1].max() / travel


def newton_bars(experiment):
    with Log(newton(experiment, 51)) as log:
        iters = int(np.ceil(log.table("steps")["iters"][FIRST:].mean()))
    slow = "local and global steps have not converged"
    runs = (
        ("as in the paper", iters, 1, LITERAL, slow),
        ("with momentum", iters, 1, {}, slow),
        ("with momentum", 300, 1, {}, "less than a quarter of the time step changes Newton's own, README.md"),
        ("with momentum", 300, 4, {}, "a quarter of the step makes the barrier 16 times as stiff; folds, README.md"),
    )
    rows = []
    for name, most, substeps, sets, cause in runs:
        path = split_run(experiment, most, substeps, sets)
        with Log(path) as log:
            hits = log.table("steps")["intersections"].sum()
        name = f"sphere, {name}, {most} iterations" + (", dt/4" if substeps > 1 else "")
        far = 100 * apart(path, newton(experiment, 51, substeps))
        rows.append(Bar(f"{name}: largest distance from Newton's method", far, 5, "%", cause=cause))
        rows.append(Bar(f"{name}: intersections", hits, 0))
    return rows


UNFOLDED = 28  # steps of 10 ms in which the free edge has not folded yet
SAME = {"contact.all.stiffness": 0.4}  # N/m, the value that Newton's method reaches by itself; else it goes with m/h^2


def order_bars(experiment):
    """The same barrier at any time step: the splitting is of first order, until folds part the two."""
    rows = []
    for substeps, cause in ((1, "of first order in the time step"), (4, "the free edge folds")):
        res = {"cloth.sheet.resolution": "51 51", "run.substeps": substeps} | SAME
        right = experiment.run(f"same-newton-{substeps}", "newton.ini", res | {"stop.tol_rel": 1e-4})
        path = experiment.run(f"same-split-{substeps}", "split.ini", res | {"stop.max_iters": 300, "stop.tol_rel": 1e-5})
        title = "sphere, the same barrier, 300 iterations" + (", dt/4" if substeps > 1 else "")
        for last, when in ((UNFOLDED, f"until step {UNFOLDED}"), (None, "all steps")):
            rows.append(Bar(f"{title}: largest distance from Newton's method, {when}",
                            100 * apart(path, right, last), 5, "%", cause=cause))
    return rows


def own_time(rows):
    """Processor seconds, without measuring and recording."""
    return sum(rows[f"t_cpu_{phase}"] for phase in ("solve", "filter", "contact", "detect"))


def energy_bars(experiment, side):
    """Every step from the state of Newton's run: how long Newton's method takes to the energy that the
    split step ends with, in parts of the split step's time."""
    ref = newton(experiment, side)
    sets = {"run.replay": ref, "stop.max_iters": 30, "cloth.sheet.resolution": f"{side} {side}"}
    path = experiment.run(f"replay-{side}", "split.ini", sets, inputs=[ref])
    ratio, gap = [], []
    with Log(path) as log, Log(ref) as newtons:
        steps, mine = log.table("steps"), log.table("iters")
        theirs, whole = newtons.table("iters"), newtons.table("steps")
        for step in range(FIRST, len(steps)):
            end = mine[(mine["step"] == step) & (mine["stage"] == -1)]["e_total"][-1]
            way = theirs[theirs["step"] == step]
            at = np.nonzero(way["e_total"] <= end)[0][0]
            share = own_time(whole[whole["step"] == step])[0] * at / max(len(way) - 1, 1)
            ratio.append(share / own_time(steps[steps["step"] == step])[0])
            gap.append((end - way["e_total"][-1]) / (way["e_total"][0] - way["e_total"][-1]))
    print(f"sphere, {side} x {side}: energy above the minimum after a split step, in parts of that at the guess: "
          f"median {np.median(gap):.2g}, largest {np.max(gap):.2g}")
    cause = "Newton's method with inexact solves reaches that energy in two or three iterations"
    title = f"sphere, {side} x {side}: time of Newton's method to the same energy, times that of the split step"
    return [Bar(title, np.median(ratio), 5, least=True, cause=cause)]


# ---- damping ----


def energies(path):
    """Time in s; kinetic, gravitational and elastic energy after each step in mJ, from that after the first;
    the largest kinetic and elastic energy; the mean of the corrections' largest ways in the second half, mm;
    intersections; steps that ended at 300 iterations."""
    with Log(path) as log:
        steps, extra = log.table("steps"), log.table("steps_extra")
    way = 1e3 * np.nanmean(extra["contact.all.moved"][len(steps) // 2:]) if (steps["contacts"] > 0).any() else np.nan
    total = steps["e_kinetic"] + steps["e_gravity"] + steps["e_elastic"]
    most = tuple(1e3 * steps[k].max() for k in ("e_kinetic", "e_elastic"))
    ends = (steps["intersections"].sum(), (steps["iters"] >= 300).sum())
    return steps["time"], 1e3 * (total - total[0]), (*most, way, *ends)


def splitting(experiment):
    figure, axes = plain_axes(1, 2)
    methods = {"Newton": "#000000", "full": "#0072B2", "half": "#009E73", "none": "#D55E00"}
    lines = ["energy lost after 0.4 s in mJ; dt in ms", "dt    " + "".join(f"{m:>9}" for m in methods)]
    details = ["dt       method  max kin.  max el.  corrected by, mm   inters.  at 300"]
    table = {}
    for dt in (20, 10, 5):
        res = {"run.dt": dt / 1e3, "run.steps": 400 // dt, "cloth.sheet.resolution": "31 31", "exec.threads": 1}
        for method, colour in methods.items():
            if method == "Newton":
                path = experiment.run(f"damping-newton-{dt}", "newton.ini", res | {"stop.tol_rel": 1e-4})
            else:
                sets = {"stop.max_iters": 300, "stop.tol_rel": 1e-5, "solver.proxy": method}
                path = experiment.run(f"damping-{method}-{dt}", "split.ini", res | sets)
            time, energy, rest = energies(path)
            details.append(f"{dt:<6}{method:>9}{rest[0]:10.1f}{rest[1]:10.1f}{rest[2]:15.2f}{rest[3]:14d}{rest[4]:8d}")
            table[method, dt] = -energy[-1]
            if dt == 10:
                axes[0].plot(time, energy, color=colour, label=method)
        lines.append(f"{dt:<6}" + "".join(f"{table[m, dt]:9.1f}" for m in methods))
    for method, colour in methods.items():
        axes[1].plot((5, 10, 20), [table[method, dt] for dt in (5, 10, 20)], "o-", color=colour, label=method)
    axes[0].set_xlabel("time, s; steps of 10 ms")
    axes[0].set_ylabel("energy since the first step, mJ")
    axes[0].legend(fontsize=7)
    axes[1].set_xlabel("time step, ms")
    axes[1].set_ylabel("energy lost after 0.4 s, mJ")
    axes[1].set_yscale("symlog", linthresh=100)
    experiment.save(figure, "pdbfgs-splitting", keep=True)
    experiment.keep_text("pdbfgs-splitting", lines + details)


def bars(experiment):
    rows = two_level_bars(experiment) + guess_bars(experiment) + chebyshev_bars(experiment) + proxy_bars(experiment)
    rows += newton_bars(experiment) + order_bars(experiment) + energy_bars(experiment, 101)
    later = "five scenes have bars of their own, ./loom figure pdbfgs-scenes-40k-bars"
    return [*rows, NotMeasured("Newton's method and PD-IPC at 40,000 vertices", later)]


FIGURES = {
    "pdbfgs-two-level": ("splines and sweeps on frozen systems: error against cycles", two_level),
    "pdbfgs-chebyshev": ("a sheet without contact: time to equal energy beside Chebyshev-Jacobi", chebyshev),
    "pdbfgs-spacing": ("splines of several widths: products and time to an error", spacing),
    "pdbfgs-unity": ("splines against radial functions, with and without sweeps", unity),
    "pdbfgs-sphere": ("a sheet on a sphere: Newton's method and split steps", sphere),
    "pdbfgs-splitting": ("energy lost on a sphere against the time step, by proxy", splitting),
    "pdbfgs-order-bars": ("split steps and Newton's method with one barrier at two time steps", order_bars),
    "pdbfgs-bars": ("pd_bfgs against its bounds", bars),
}
