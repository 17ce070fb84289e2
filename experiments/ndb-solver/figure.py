"""The global solver of ndb_pd: subspace, smoothers, reuse with contact; the paper against settings that work."""

import numpy as np

from loomcloth.experiment import Bar, FigureError, plain_axes
from loomcloth.log import Log

DIVERGED = 5  # /steps.reason
EXACT = {"solver.plugin": "cholmod_pd"}
NDB = {"solver.plugin": "ndb_pd", "solver.warm": 0, "solver.momentum": "none"}
BLACK, ORANGE, SKY, GREEN, BLUE, RED, PINK = (
    "#000000", "#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7",
)  # Okabe and Ito 2008


# ---- frozen systems ----


def reference(experiment, scene, sets=None, name=None):
    return experiment.run(name or f"{scene}-reference", f"{scene}.ini", sets)


def frozen(experiment, scene, step, name, settings, ref=None, sets=None):
    """Products with the matrix and the values of the monitor, of the first global step of `step`."""
    ref = ref or reference(experiment, scene)
    chosen = {f"solver.{k}": v for k, v in settings.items()}
    once = {"run.replay": ref, "run.replay_first": step, "run.steps": 1, "stop.max_iters": 1}
    monitor = {"solver.monitor": "error"}
    path = experiment.run(
        name, f"{scene}.ini", NDB | once | monitor | chosen | (sets or {}), inputs=[ref]
    )
    with Log(path) as log:
        rows = log.table("inner")
    return np.concatenate([[0], rows["j"]]), np.concatenate([[1.0], rows["value"]])


def reached(curve, value):
    """Products until the value is down; NaN if it never is."""
    products, values = curve
    at = np.nonzero(values <= value)[0]
    return float(products[at[0]]) if len(at) else float("nan")


# ---- figure 6: convergence of all smoothers ----

SMOOTHERS = [  # label, settings, colour, style
    ("Jacobi", {"smoother": "jacobi", "subspace": "none", "sweeps": 800}, SKY, "-"),
    ("A-Jacobi", {"subspace": "none", "sweeps": 400}, ORANGE, "-"),
    ("A-Jacobi, no damping", {"subspace": "none", "sweeps": 400, "theta": 1}, RED, "-"),
    ("Chebyshev", {"smoother": "chebyshev", "subspace": "none", "sweeps": 800}, GREEN, "-"),
    ("conj. gradients", {"smoother": "pcg", "subspace": "none", "sweeps": 400}, BLUE, "-"),
    ("30 modes + A-Jacobi", {"r1": 30, "sweeps": 200}, ORANGE, "--"),
    ("30 modes + Chebyshev", {"r1": 30, "smoother": "chebyshev", "sweeps": 100}, GREEN, "--"),
    ("30 modes + conj. gradients", {"r1": 30, "smoother": "pcg", "sweeps": 100}, BLUE, "--"),
]
PAPER = [
    ("as it works", {"r1": 30, "sweeps": 200}, ORANGE, "--"),
    ("ordinary modes", {"r1": 30, "sweeps": 200, "modes": "ordinary"}, BLUE, "-"),
    ("from the rest shape", {"r1": 30, "sweeps": 200, "base": "rest"}, PINK, "-"),
    ("no damping", {"r1": 30, "sweeps": 200, "theta": 1}, RED, "-"),
    ("all three (paper)",
     {"r1": 30, "sweeps": 200, "theta": 1, "base": "rest", "modes": "ordinary"}, BLACK, ":"),
]
WEIGHTS = (0.1, 1, 100, 1e4, 1e6)
REUSE = [("none", None, BLACK), ("plain", "plain", RED), ("presmooth", "presmooth", SKY),
         ("masked", "masked", GREEN)]


def slug(text):
    return "".join(c if c.isalnum() else "-" for c in text.lower())


def plot(axes, curve, **style):
    products, values = curve
    axes.plot(products, np.where(values < 1e3, values, np.nan), linewidth=1.1, **style)


def smoothers(experiment, axes):
    for label, settings, colour, style in SMOOTHERS:
        c = frozen(experiment, "hang", 12, f"smooth-{slug(label)}", settings)
        plot(axes, c, color=colour, linestyle=style, label=label)
    axes.set_title("smoothers", fontsize=9)


def mode_counts(experiment, axes):
    for r, colour in zip((10, 30, 60, 100, 300), (SKY, BLUE, GREEN, ORANGE, RED)):
        c = frozen(experiment, "hang", 12, f"modes-{r}", {"r1": r, "r2": min(r, 30), "sweeps": 200})
        plot(axes, c, color=colour, label=f"{r} modes")
    spline = {"subspace": "bspline", "spacing": 3, "smoother": "jacobi", "cycle": 5, "sweeps": 60}
    plot(axes, frozen(experiment, "hang", 12, "modes-spline", spline), color=BLACK,
         linestyle="--", label="splines, 3 cells, 5 Jacobi per cycle")
    axes.set_title("modes of the subspace, A-Jacobi behind it", fontsize=9)


def to_the_letter(experiment, axes):
    for label, settings, colour, style in PAPER:
        c = frozen(experiment, "hang", 12, f"paper-{slug(label)}", settings)
        plot(axes, c, color=colour, linestyle=style, label=label)
    axes.set_title("30 modes: the paper's choices one by one", fontsize=9)


def with_contact(experiment, weight, way, sweeps=200, **more):
    """Distance to the solution, 30 modes, ten A-Jacobi sweeps per correction."""
    settings = {"cycle": 10, "sweeps": sweeps, "monitor": "position"} | more
    settings |= {"reuse": way} if way else {"subspace": "none"}
    words = "-".join(f"{k}-{v}" for k, v in more.items())
    return frozen(
        experiment, "ball", 30, f"ball-{slug(f'{weight:g}')}-{way}-{sweeps}{words}", settings,
        sets={"contact.bodies.stiffness": 4.8e5 * weight},
    )


def contact(experiment, axes):
    for label, way, colour in REUSE:
        for weight, style in ((1, "-"), (1e4, "--")):
            c = with_contact(experiment, weight, way)
            plot(axes, c, color=colour, linestyle=style,
                 label=f"{label}, w = {'H' if weight == 1 else '10$^4$ H'}")
    axes.set_title("reuse with contact, 30 modes, every 10 A-Jacobi", fontsize=9)
    axes.set_ylabel("distance to the solution over the first")


def fig6(experiment):
    figure, axes = plain_axes(2, 2, width=4.8, height=3.7)
    smoothers(experiment, axes[0, 0])
    mode_counts(experiment, axes[0, 1])
    to_the_letter(experiment, axes[1, 0])
    contact(experiment, axes[1, 1])
    for a in axes.flat:
        a.set(yscale="log", ylim=(1e-6, 1e2), xlim=(0, 400), xlabel="products with the matrix")
        a.legend(fontsize=6.5)
    for a in axes.flat[:3]:
        a.set_ylabel("error in the energy norm over the first")
    figure.suptitle("One global step: sheet of 50 x 50 that hangs (three), on a ball (last)")
    experiment.save(figure, "ndb-fig6", keep=True)


# ---- figure 2: the cantilever ----

STRIPS = [
    ("exact global step", EXACT, BLACK, "-"),
    ("30 modes + 20 A-Jacobi", NDB | {"solver.r1": 30, "solver.sweeps": 20}, GREEN, "--"),
    ("60 modes + 20 A-Jacobi",
     NDB | {"solver.r1": 60, "solver.sweeps": 20}, BLUE, ":"),
    ("600 A-Jacobi, no subspace",
     NDB | {"solver.subspace": "none", "solver.sweeps": 600}, ORANGE, "-"),
    ("20 A-Jacobi, no subspace",
     NDB | {"solver.subspace": "none", "solver.sweeps": 20}, SKY, "-"),
    ("30 modes + 20, from the rest shape",
     NDB | {"solver.r1": 30, "solver.sweeps": 20, "solver.base": "rest"}, PINK, "-"),
]


def strips(experiment):
    """Every strip in all frames, [T][n][3], by label."""
    out = {}
    for label, sets, _, _ in STRIPS:
        with Log(experiment.run(f"strip-{slug(label)}", "strip.ini", sets)) as log:
            out[label] = np.stack([log.frame(t) for t in range(log.num_frames)])
    return out


def deviation(frames, exact):
    """Largest distance to the exact run at the end over the drop of its tip."""
    drop = np.abs(exact[-1, :, 2] - exact[0, :, 2]).max()
    return np.linalg.norm(frames[-1] - exact[-1], axis=1).max() / drop




def fig2(experiment):
    data = strips(experiment)
    exact = data[STRIPS[0][0]]
    figure, axes = plain_axes(1, 2, width=4.8, height=3.8)
    for label, _, colour, style in STRIPS:
        x = data[label]
        side = x[-1].reshape(15, 60, 3).mean(axis=0)
        far = "" if x is exact else f" ({100 * deviation(x, exact):.2g} %)"
        axes[0].plot(side[:, 0], side[:, 2], color=colour, linestyle=style)
        tip = x.reshape(len(x), 15, 60, 3)[:, :, -1, 2].mean(axis=1)
        axes[1].plot(0.01 * np.arange(len(x)), tip, color=colour, linestyle=style, label=label + far)
    axes[0].set(xlabel="x (m)", ylabel="z (m)", title="the strip from the side after 0.4 s")
    axes[0].set_aspect("equal")
    axes[1].legend(fontsize=6.5)
    axes[1].set(xlabel="time (s)", ylabel="height of the tip (m)")
    figure.suptitle("Clamped strip, 60 x 15, five local-global iterations per step")
    experiment.save(figure, "ndb-fig2", keep=True)


# ---- figures 3 and 4: where the error sits ----


def global_step(experiment, scene, step, name, settings, ref, sets=None):
    """(log, positions [n][3]) after the first global step of `step`; settings None: the exact one."""
    once = {"run.replay": ref, "run.replay_first": step, "run.steps": 1, "stop.max_iters": 1}
    how = EXACT | {"solver.momentum": "none"}
    if settings is not None:
        how = NDB | {f"solver.{k}": v for k, v in settings.items()}
    path = experiment.run(name, f"{scene}.ini", how | once | (sets or {}), inputs=[ref])
    with Log(path) as log:
        return path, log.frame(log.num_frames - 1)


def painted(experiment, name, scene, step, ref, sets, cases, view, title):
    """The errors of `cases` {label: settings}, each painted on the exact cloth, one scale for all."""
    import matplotlib
    from loomcloth.view import View

    path, exact = global_step(experiment, scene, step, f"{name}-exact", None, ref, sets)
    errors = {}
    for label, settings in cases.items():
        _, x = global_step(experiment, scene, step, f"{name}-{slug(label)}", settings, ref, sets)
        errors[label] = np.linalg.norm(x - exact, axis=1)
    top = np.log10(max(e.max() for e in errors.values()))
    low = top - 4
    figure, axes = plain_axes(1, len(cases), width=3.4, height=3.2)
    with Log(path) as log:
        last = log.num_frames - 1
        scene_view = View(log, [last], (480, 420), view, zoom=1.05, lamps=2)
        for ax, (label, e) in zip(axes, errors.items()):
            scene_view.paint(np.log10(np.maximum(e, 1e-300)), low, top)
            ax.imshow(scene_view.image(last))
            ax.set_axis_off()
            rms, most = np.sqrt(np.mean(e**2)), e.max()
            ax.set_title(f"{label}\nrms {rms:.2g} m, largest {most:.2g} m", fontsize=8)
            print(f"{name}, {label}: rms {rms:.3g} m, largest {most:.3g} m")
    scale = matplotlib.cm.ScalarMappable(matplotlib.colors.LogNorm(10.0**low, 10.0**top), "viridis")
    figure.colorbar(scale, ax=axes, label="error (m)", shrink=0.8)
    figure.suptitle(title, fontsize=9)
    experiment.save(figure, name, keep=True)


def fig3(experiment):
    """Forty products with the matrix each, and 600 sweeps."""
    ref = experiment.run("strip-exact-global-step", "strip.ini", EXACT)
    cases = {
        "before": {"subspace": "none", "sweeps": 1, "theta": 1e-9},
        "20 A-Jacobi": {"subspace": "none", "sweeps": 20},
        "600 A-Jacobi": {"subspace": "none", "sweeps": 600},
        "30 modes alone": {"r1": 30, "sweeps": 0},
        "30 modes + 20 A-Jacobi": {"r1": 30, "sweeps": 20},
    }
    painted(experiment, "ndb-fig3", "strip", 20, ref, None, cases, (-60, 15),
            "Error of one global step of the clamped strip (step 20)")


def fig4(experiment):
    """Contact as heavy as 10^4 times the diagonal; four corrections with ten sweeps each."""
    ref = reference(experiment, "ball")
    cycles = {"cycle": 10, "sweeps": 40}
    cases = {
        "before": {"subspace": "none", "sweeps": 1, "theta": 1e-9},
        "42 A-Jacobi": {"subspace": "none", "sweeps": 42},
        "plain": cycles | {"reuse": "plain"},
        "presmooth": cycles | {"reuse": "presmooth"},
        "masked": cycles | {"reuse": "masked"},
    }
    painted(experiment, "ndb-fig4", "ball", 30, ref, {"contact.bodies.stiffness": 4.8e9}, cases,
            (-60, 35), "Error of one global step of the tablecloth in contact, 30 modes used again")


# ---- equation 19: three ways to update the reduced matrix ----

WAYS = ("tiles over rows in contact", "table of eq. 19", "product over all rows")


def costs(experiment):
    path = experiment.program("bench_ndb", ["--side", 101, "--repeat", 7], "bench_ndb.csv")
    return np.genfromtxt(path, delimiter=",", names=True)


def eq19(experiment):
    t = costs(experiment)
    figure, axes = plain_axes(1, 2, width=4.6, height=3.6)
    for way, colour in enumerate((GREEN, ORANGE, BLUE)):
        mine = t[t["way"] == way]
        by_modes, by_rows = mine[:6], mine[6:]
        axes[0].plot(by_modes["r"], by_modes["update_ms"], "o-", color=colour, label=WAYS[way])
        if way == 0:
            axes[0].plot(by_modes["r"], by_modes["masked_ms"], "o--", color=colour,
                         label="tiles, masked rows")
            axes[0].plot(by_modes["r"], by_modes["invert_ms"], "k:", label="inverse (common)")
        axes[1].plot(by_rows["rows"], by_rows["update_ms"], "o-", color=colour, label=WAYS[way])
    axes[0].set(xscale="log", yscale="log", xlabel="modes r", ylabel="processor time (ms)",
                title="1,020 of 10,201 vertices in contact")
    axes[1].set(xscale="log", yscale="log", xlabel="vertices in contact", title="30 modes")
    axes[0].legend(fontsize=7)
    experiment.save(figure, "ndb-eq19", keep=True)


# ---- bars ----


def hanging(experiment):
    rows = []
    for name, bend, side, few, many in (
        ("hang 50, kb 1e-4", "1e-4", "50 50", 90, 30),
        ("hang 50, kb 1e-2", "1e-2", "50 50", 140, 45),
        ("hang 100, kb 1e-4", "1e-4", "100 100", 380, 115),
    ):
        sets = {"cloth.sheet.k_b": bend, "cloth.sheet.resolution": side}
        ref = reference(experiment, "hang", sets, f"bars-{slug(name)}")
        for r, bound in ((30, few), (100, many)):
            c = frozen(experiment, "hang", 12, f"bars-{slug(name)}-{r}",
                       {"r1": r, "sweeps": 200}, ref, sets)
            rows.append(Bar(f"{name}, {r} modes: products to error 1e-2", reached(c, 1e-2), bound))
    sub = reached(frozen(experiment, "hang", 12, "bars-sub30", {"r1": 30, "sweeps": 200}), 1e-1)
    plain = frozen(experiment, "hang", 12, "bars-plain", {"subspace": "none", "sweeps": 5000})
    rows.append(Bar("plain A-Jacobi over 30 modes, products to error 0.1",
                    reached(plain, 1e-1) / sub, 100, least=True))
    c = frozen(experiment, "hang", 12, "bars-pcg",
               {"r1": 30, "smoother": "pcg", "sweeps": 80, "monitor": "residual"})
    rows.append(Bar("conjugate gradients with 30 modes: iterations to residual 1e-4",
                    reached(c, 1e-4), 45))
    return rows


def touching(experiment):
    rows = []
    watch = {"cycle": 5, "monitor": "residual"}
    c = frozen(experiment, "ball", 30, "bars-ball-30", watch | {"sweeps": 200})
    plain = frozen(experiment, "ball", 30, "bars-ball-plain",
                   {"subspace": "none", "sweeps": 600, "monitor": "residual"})
    # of twelve products of a cycle ten are sweeps of A-Jacobi, two at a time
    cyclic = reached(c, 1e-4) * 5 / 12
    rows.append(Bar("w = H: A-Jacobi with 30 modes to residual 1e-4", cyclic, 110))
    lone = reached(plain, 1e-4) / 2
    lone = 600.0 if np.isnan(lone) else lone
    rows.append(Bar("w = H: the same over A-Jacobi alone", cyclic / lone, 1 / 3))
    for w in WEIGHTS:
        c = with_contact(experiment, w, "masked", 80)
        at = np.nonzero(c[1] <= 1e-2)[0]
        cycles = float((at[0] - 1) // 11 + 1) if len(at) else float("nan")
        rows.append(Bar(f"w = {w:g} H: cycles with masked reuse to 1e-2", cycles, 8))
        c = frozen(experiment, "ball", 30, f"bars-ball-pcg-{slug(f'{w:g}')}",
                   {"smoother": "pcg", "sweeps": 80, "monitor": "residual"},
                   sets={"contact.bodies.stiffness": 4.8e5 * w})
        rows.append(Bar(f"w = {w:g} H: conjugate gradients with 30 modes to residual 1e-4",
                        reached(c, 1e-4), 45))
    return rows


def falling(experiment):
    """Largest rise of the energy within a step, over its size."""
    rows = []
    for name, sets in (("exact", EXACT), ("30 modes + 5 A-Jacobi", NDB | {"solver.r1": 30})):
        path = experiment.run(f"bars-energy-{slug(name)}", "hang.ini", sets)
        with Log(path) as log:
            t = log.table("iters")
        rise = np.diff(t["e_total"]) / np.abs(t["e_total"][1:])
        same = np.diff(t["step"]) == 0
        rows.append(Bar(f"{name}: largest relative rise of the energy", rise[same].max(), 1e-10))
    return rows


def diverging(experiment):
    sets = NDB | {"solver.theta": 1, "solver.subspace": "none", "solver.sweeps": 20,
                  "cloth.sheet.k_b": "1e-2", "run.steps": 1}
    path = experiment.run("bars-undamped", "hang.ini", sets)
    with Log(path) as log:
        t, steps = log.table("iters"), log.table("steps")
    return [Bar("undamped A-Jacobi, hang 50, kb 1e-2: growth of the residual in one step",
                t["r_solved_rms"][-1] / t["r_solved_rms"][0], 1e3, least=True),
            Bar("the same: steps that the log calls diverged",
                int(np.sum(steps["reason"] == DIVERGED)), 1, least=True)]


def cantilever(experiment):
    data = strips(experiment)
    exact = data[STRIPS[0][0]]
    if not np.isfinite(exact).all():
        raise FigureError("the exact strip is not finite")
    return [
        Bar("strip: 30 modes + 20 A-Jacobi, deviation over the drop",
            deviation(data[STRIPS[1][0]], exact), 0.01),
        Bar("strip: 600 A-Jacobi, deviation over the drop",
            deviation(data[STRIPS[3][0]], exact), 0.1, least=True),
    ]


def bars(experiment):
    return (hanging(experiment) + touching(experiment) + falling(experiment)
            + diverging(experiment) + cantilever(experiment))


FIGURES = {
    "ndb-fig6": ("one global step: smoothers, modes, the paper to the letter, contact", fig6),
    "ndb-fig2": ("cantilever strip: subspace and 20 sweeps against 600 sweeps", fig2),
    "ndb-fig3": ("where the error of a global step sits: subspace, sweeps, both", fig3),
    "ndb-fig4": ("the same with contact: the subspace used again in three ways", fig4),
    "ndb-eq19": ("cost of three ways to update the reduced matrix", eq19),
    "ndb-solver-bars": ("the counts as numbers with bounds", bars),
}
