"""Costs and errors of adaptive contact linearization, beside the exact force."""

import dataclasses
import pathlib
import sys

import h5py
import numpy as np

from loomcloth.experiment import Bar, Experiment, FigureError, NotMeasured, plain_axes
from loomcloth.knit import POINTS, curve_points, links, near_pairs
from loomcloth.log import Log

sys.path.append(str(pathlib.Path(__file__).resolve().parent))  # two_seconds

TAUS = (0.004, 0.04, 0.1, 0.3)
NEVER = 1e9  # a tolerance with which no model is built anew
SIZES = ((10, 4), (18, 20), (54, 60), (216, 250))  # rows, loops: 40 to 54,000 loops
RADIUS = 1.25e-3  # m, of the yarn
FALL = (0.07, 0.13, 0.17, 0.23)  # s, frames of acl-scarf-fall
STEADY = 80  # last steps of a run, over which costs are averaged
# Kaldor et al. 2010, table 2: contacts, updates per step in %, contact and overall speed-up
PAPER = {0.004: (23186, 3.7, 6.1, 4.3), 0.04: (23475, 0.46, 8.2, 5.0),
         0.1: (24296, 0.19, 8.3, 4.9), 0.3: (29037, 0.04, 7.9, 4.9)}
# pieces at 0.04: config, its name for detection, loops here; loops, updates, contact and overall
# speed-up in the paper
PIECES = {"scarf": ("knit.ini", "grid", 3240, 3240, 0.46, 8.2, 5.0),
          "afghan": ("afghan.ini", "grid", 1600, 54340, 0.47, 6.7, 4.2),
          "sack": ("../../configs/yarn_sack.ini", "yarns", 308, 41272, 0.30, 8.4, 4.6),
          "sleeve": ("sleeve.ini", "grid", 576, None, None, None, None)}
PHASES = ("detect", "points", "coalesce", "models", "rebuild", "gather")


@dataclasses.dataclass
class Result:
    """One run: its log, a row of plugins' numbers per step, processor times of a step's contact."""
    path: pathlib.Path
    steps: np.ndarray  # rows of /steps_extra
    grid: str  # how the config calls detection
    seconds: dict  # {phase: [steps]}, s

    def column(self, name, of="contact.yarns"):
        return self.steps[f"{of}.{name}"]


def run(experiment, name, config="knit.ini", grid="grid", **sets):
    """grid: how the config calls detection."""
    keys = {k.replace("__", "."): v for k, v in sets.items()}
    path = experiment.run(name, config, keys)
    with Log(path) as log:
        steps, cpu = log.table("steps_extra"), log.sections("t_cpu")
    seconds = {"detect": cpu[f"collision.{grid}/search"]}
    if keys.get("contact.yarns.plugin") == "yarn_penalty":
        seconds["force"] = cpu["contact.yarns/index"] + cpu["contact.yarns/force"]
    else:
        seconds |= {phase: cpu[f"contact.yarns/{phase}"] for phase in PHASES[1:]}
    return Result(path, steps, grid, seconds)


def sets_at_end(path):
    """Sets that live in the run's last checkpoint: first and last point on either yarn, pairs, updates."""
    with h5py.File(pathlib.Path(path).with_suffix(".check.h5"), "r") as check:
        if "contact.yarns/acl table" not in check:
            raise FigureError(f"{path}: its checkpoint has no table of sets; remove the run, it is made anew")
        return check["contact.yarns/acl table"][:].reshape(-1, 6)


def scarf(experiment, tau, rows=54, loops=60):
    """tau: of the models; "grid", "bvh": the exact force with that search."""
    size = {"yarn__knit__rows": rows, "yarn__knit__loops": loops}
    name = f"knit_{rows}x{loops}_{tau}"
    if isinstance(tau, str):
        return run(experiment, name, contact__yarns__plugin="yarn_penalty",
                   collision__grid__search=tau, **size)
    return run(experiment, name, contact__yarns__tolerance=tau, **size)


def phase_ms(result):
    """Processor time of a step's contact phase, ms: detection, then the parts that contact's clocks tell apart."""
    return 1e3 * np.array([s[-STEADY:].mean() for s in result.seconds.values()])


def overall_ms(result):
    """Processor time of a whole step but for measuring and logging, ms."""
    with Log(result.path) as log:
        return 1e3 * log.table("steps")["t_cpu"][-STEADY:].mean()


def update_share(result):
    sets, built = result.column("sets")[-STEADY:], result.column("built")[-STEADY:]
    return 100.0 * (built[sets > 0] / sets[sets > 0]).mean()


def summary(experiment):
    """Exact by search, ms, and rows of acl-table2: tau, sets, updates %, contact ms, ratios to the
    three, overall."""
    exact = [phase_ms(scarf(experiment, name)).sum() for name in ("grid", "bvh", "schedule")]
    rows, whole = [], overall_ms(scarf(experiment, "grid"))
    for tau in TAUS:
        result = scarf(experiment, tau)
        ms = phase_ms(result).sum()
        rows.append((tau, result.column("sets")[-STEADY:].mean(), update_share(result), ms,
                     *(e / ms for e in exact), whole / overall_ms(result)))
    return exact, rows


def table2(experiment):
    exact, rows = summary(experiment)
    lines = ["scarf, 3,240 loops; exact force, ms a step, pairs by cells, BVH, schedule: "
             + ", ".join(f"{e:.1f}" for e in exact) + "; one thread, processor time",
             "tau     sets  updates/step  contact ms  vs cells  vs BVH  vs schedule  overall | paper: "
             "contacts  updates  contact  overall"]
    for tau, sets, updates, ms, by_grid, by_bvh, by_schedule, whole in rows:
        p = PAPER[tau]
        lines.append(f"{tau:<6g}{sets:6.0f}{updates:12.2f} %{ms:12.1f}{by_grid:9.2f}x{by_bvh:7.2f}x"
                     f"{by_schedule:12.2f}x{whole:8.2f}x |{p[0]:16d}{p[1]:8.2f} %{p[2]:8.1f}x"
                     f"{p[3]:8.1f}x")
    experiment.keep_text("acl-table2", lines)


def piece(experiment, name, **sets):
    """The run of one of PIECES."""
    config, grid, *_ = PIECES[name]
    if name == "scarf":
        return scarf(experiment, sets.get("contact__yarns__tolerance", "grid"))
    kind = "models" if sets else "exact"
    exact = {"contact__yarns__plugin": "yarn_penalty", f"collision__{grid}__search": "grid"}
    return run(experiment, f"{name}_{kind}", config, grid, **(sets or exact))


def picture(experiment, path, name, times=(np.inf,), size=(1100, 800), angles=(-60, 20), zoom=1.0,
            lamps=8):
    """The frames nearest to the times (s; infinity: the last) side by side, kept as NAME."""
    from PIL import Image

    from loomcloth.sheet import caption, labelled
    from loomcloth.view import View

    with Log(path) as log:
        ends = np.clip(times, 0, log.times[-1])
        frames = [int(np.abs(np.array(log.times) - t).argmin()) for t in ends]
        scene = View(log, frames, size, angles, zoom, lamps=lamps)
        title = name.removeprefix("acl-")
        image = np.hstack([labelled(scene.image(f), caption(log, title, f)) for f in frames])
    experiment.keep_image(Image.fromarray(image), name)


def over_two_seconds(experiment):
    import two_seconds

    two_seconds.table(experiment, run, TAUS)


def power_law(experiment, kind):
    """Loops, contact of one step in ms, and the power by which it grows."""
    loops = np.array([r * n for r, n in SIZES])
    ms = np.array([phase_ms(scarf(experiment, kind, r, n)).sum() for r, n in SIZES])
    return loops, ms, np.polyfit(np.log(loops), np.log(ms), 1)[0]


def sizes(experiment):
    """Other pieces than the scarf, and the same piece at other sizes."""
    lines = ["contact of a step, ms, one thread, processor time; models at tau = 0.04",
             "piece      loops    sets  updates/step   exact  models  contact  overall | paper: loops  "
             "updates  contact  overall"]
    for name, (_, _, loops, *paper) in PIECES.items():
        exact, models = piece(experiment, name), piece(experiment, name, contact__yarns__tolerance=0.04)
        ms = [phase_ms(r).sum() for r in (exact, models)]
        beside = "" if paper[0] is None else (
            f"{paper[0]:13d}{paper[1]:7.2f} %{paper[2]:8.1f}x{paper[3]:8.1f}x")
        sets = models.column("sets")[-STEADY:].mean()
        lines.append(f"{name:8}{loops:8d}{sets:8.0f}"
                     f"{update_share(models):12.2f} %{ms[0]:8.1f}{ms[1]:8.1f}{ms[0] / ms[1]:8.2f}x"
                     f"{overall_ms(exact) / overall_ms(models):8.2f}x |{beside}")
    experiment.keep_text("acl-sizes", lines)
    figure, axes = plain_axes(1, 1)
    for kind, label, colour in ((0.04, "models, tau = 0.04", "#D55E00"),
                                ("grid", "exact, by cells", "#0072B2")):
        loops, ms, power = power_law(experiment, kind)
        axes.loglog(loops, ms, "o-", color=colour, label=f"{label}: power {power:.2f}")
    axes.set(xlabel="loops", ylabel="processor time of a step's contact (ms)")
    axes.legend()
    experiment.save(figure, "acl-sizes", keep=True)
    blanket = piece(experiment, "afghan", contact__yarns__tolerance=0.04).path
    picture(experiment, blanket, "acl-afghan", angles=(-60, 40), zoom=1.35)


def breakdown(experiment):
    figure, axes = plain_axes(1, 1, width=6.4)
    names = ["cells", "BVH", "schedule", *[f"{t:g}" for t in TAUS]]
    colours = ("#0072B2", "#56B4E9", "#CC79A7", "#009E73", "#D55E00", "#F0E442")
    parts = [phase_ms(scarf(experiment, t)) for t in ("grid", "bvh", "schedule", *TAUS)]
    for i, p in enumerate(parts):
        labels = ("detect", "force") if len(p) == 2 else PHASES
        bottom = 0.0
        for value, label in zip(p, labels):
            colour = "#999999" if label == "force" else colours[PHASES.index(label)]
            axes.bar(i, value, bottom=bottom, color=colour)
            bottom += value
    for label, colour in zip((*PHASES, "force"), (*colours, "#999999")):
        axes.bar(0, 0, color=colour, label=label)
    axes.set_xticks(range(len(names)), names)
    axes.set(xlabel="exact force by search; tolerance of the models",
             ylabel="processor time of a step's contact (ms)")
    axes.legend()
    experiment.save(figure, "acl-fig6", keep=True)


def zoo(experiment):
    path = scarf(experiment, 0.04).path
    sets = sets_at_end(path)[:, :4]
    with Log(path) as log:
        y = curve_points(log, np.array(log.frame(log.num_frames - 1)))
    near, _ = near_pairs(y, 2 * RADIUS)
    figure, axes = plain_axes(1, 5, width=3.2, height=3.2)
    axes[0].plot(near[:, 0] / POINTS, near[:, 1] / POINTS, ",", color="#D55E00")
    axes[0].plot([0, len(y) / POINTS], [0, len(y) / POINTS], color="#999999", lw=0.5)
    axes[0].set(xlabel="segment", ylabel="segment", title=f"{len(near)} pairs, {len(sets)} sets")
    size = (sets[:, 1] - sets[:, 0]) * (sets[:, 3] - sets[:, 2])
    for axis, share in zip(axes[1:], (0.1, 0.5, 0.9, 1.0)):
        s = sets[np.argsort(size)[min(int(share * len(sets)), len(sets) - 1)]]
        inside = near[(near[:, 0] >= s[0] - 4) & (near[:, 0] <= s[1] + 4)
                      & (near[:, 1] >= s[2] - 4) & (near[:, 1] <= s[3] + 4)]
        axis.plot(inside[:, 0], inside[:, 1], "s", ms=3, color="#D55E00")
        axis.plot(s[[0, 1, 1, 0, 0]] + np.array([-.5, .5, .5, -.5, -.5]),
                  s[[2, 2, 3, 3, 2]] + np.array([-.5, -.5, .5, .5, -.5]), "k", lw=1)
        axis.set(xlabel="point", title=f"{share:.0%} by size", aspect="equal")
    experiment.save(figure, "acl-fig2", keep=True)


def drops(experiment):
    """Final frames and distances from the exact run, for all tolerances."""
    logs = {"exact": run(experiment, "drop_exact", "drop.ini", contact__yarns__plugin="yarn_penalty",
                         collision__grid__search="grid").path}
    for tau in TAUS:
        logs[tau] = run(experiment, f"drop_{tau}", "drop.ini", contact__yarns__tolerance=tau).path
    frames = {}
    for key, path in logs.items():
        with Log(path) as log:
            frames[key] = np.array([log.frame(k) for k in range(log.num_frames)])
            times = np.array(log.times)
    return times, frames


def compare(experiment):
    times, frames = drops(experiment)
    figure, axes = plain_axes(2, 3, width=4.0, height=3.2)
    for axis, (key, x) in zip(axes.flat, frames.items()):
        axis.scatter(1e3 * x[-1, :, 0], 1e3 * x[-1, :, 2], s=1, c=x[-1, :, 1], cmap="viridis")
        axis.set(title=f"tau = {key}" if key != "exact" else "exact", xlabel="x (mm)", ylabel="z (mm)",
                 ylim=(-2, 30))
    last = axes.flat[5]
    for tau, colour in zip(TAUS, ("#009E73", "#0072B2", "#E69F00", "#D55E00")):
        d = np.linalg.norm(frames[tau] - frames["exact"], axis=2)
        last.semilogy(times, 1e3 * np.sqrt((d**2).mean(axis=1)) + 1e-9, color=colour, label=f"{tau:g}")
    last.set(xlabel="time (s)", ylabel="RMS distance from exact (mm)", ylim=(1e-6, None))
    last.legend(title="tau")
    experiment.save(figure, "acl-fig9", keep=True)


def balls(experiment):
    """Runs of the piece that balls hit, and of the same one with the balls too high to reach it."""
    return (run(experiment, "balls", "balls.ini"),
            run(experiment, "no_balls", "balls.ini", body__ball__position="0 0.005 1"))


def built_at(path, count):
    """Models built in a whole run for each of `count` vertices: of the sets that have it."""
    paint = np.zeros(count)
    for row in sets_at_end(path):
        for lo, hi in row[:4].reshape(2, 2):
            ids = slice(lo // POINTS, hi // POINTS + 2)
            paint[ids] = np.maximum(paint[ids], row[5])
    return paint


def updates(experiment):
    """Models built because balls hit a fabric that tightens, painted on it: the run's count less the
    count of the same run without hits; beside it, both per step."""
    import matplotlib

    from loomcloth.view import View

    results = balls(experiment)
    figure, axes = plain_axes(1, 2, width=5.0, height=4.0)
    with Log(results[0].path) as log:
        count = len(log.scene("mass"))
        with_hits, without = (built_at(result.path, count) for result in results)
        paint = np.maximum(with_hits - without, 0)
        last = log.num_frames - 1
        scene = View(log, [last], (800, 640), (-60, 38), zoom=1.15, lamps=0)
        scene.paint_yarns(paint, 0, np.quantile(paint, 0.99), "YlOrRd")
        axes[0].imshow(scene.image(last))
    axes[0].axis("off")
    scale = matplotlib.cm.ScalarMappable(
        matplotlib.colors.Normalize(0, np.quantile(paint, 0.99)), "YlOrRd")
    figure.colorbar(scale, ax=axes[0], label="models built beyond those without hits", shrink=0.8)
    for result, label, colour in zip(results, ("balls hit", "no hits"), ("#D55E00", "#0072B2")):
        share = 100 * result.column("built") / np.maximum(result.column("sets"), 1)
        mean = np.convolve(share, np.ones(20) / 20, "valid")
        axes[1].semilogy(1e3 * (result.steps["step"][19:] + 1) / 16200, mean, color=colour, label=label)
    axes[1].legend()
    axes[1].set(xlabel="time (ms)", ylabel="models built per step (%), mean of 20", ylim=(0.05, 100))
    experiment.save(figure, "acl-updates", keep=True)


def sack_run(experiment):
    return experiment.run("sack", "../../configs/yarn_sack.ini")


def sack(experiment):
    """A hung piece into which balls fall: four frames."""
    picture(experiment, sack_run(experiment), "acl-sack", np.linspace(0, 1 / 3, 4), (480, 480),
            zoom=1.15, lamps=2)


def ball_bars(name, path):
    """Balls neither overlap nor get through the fabric."""
    with Log(path) as log:
        spheres = [b for b in log.obstacles() if b.name.startswith("ball")]
        at = np.array([b.pose[:, 9:] for b in spheres])
        radius = np.array([b.shape[3] for b in spheres])
        last = log.frame(log.num_frames - 1)
    i, j = np.triu_indices(len(at), 1)
    gap = np.linalg.norm(at[i] - at[j], axis=2) - (radius[i] + radius[j])[:, None]
    below = at[:, -1, 2] < last[:, 2].min()
    return [Bar(f"{name}: overlap of balls", max(-gap.min(), 0.0), 1e-9, "m"),
            Bar(f"{name}: balls below all yarn", int(below.sum()), 0)]


def sack_bars(experiment):
    path = sack_run(experiment)
    return knit_bars("sack", path) + ball_bars("sack", path)


def knitted(path):
    """How a knit holds: a frame's smallest distance of centre lines over 2 r, the smallest between
    frames as models saw it, largest change of a linking integral between frames, integrals."""
    with Log(path) as log:
        steps = log.table("steps")
        change, integrals, nearest = [0.0], [], []
        for k in range(log.num_frames):
            x = log.frame(k)
            _, d = near_pairs(curve_points(log, x), 2 * RADIUS)
            nearest.append(d.min() / (2 * RADIUS) if len(d) else 1.0)
            integrals.append(links(log, x))
            if k > 0:
                change.append(np.abs(integrals[k] - integrals[k - 1]).max())
        times = np.array(log.times)
    built = 1 + np.nanmin(np.where(np.isfinite(steps["min_gap"]), steps["min_gap"], 0)) / (2 * RADIUS)
    return times, np.array(nearest), built, np.array(change), np.array(integrals)


def knit_bars(name, path):
    """No pull-through.  Two curves change their integral by 1 where they pass through each other."""
    _, nearest, built, change, integrals = knitted(path)
    lost = (np.sign(integrals[-1]) != np.sign(integrals[0])) | (np.abs(integrals[-1]) < 0.25)
    return [Bar(f"{name}: loops that slipped out of the one below", int(lost.sum()), 0),
            Bar(f"{name}: largest change of a linking integral between frames", change.max(), 0.5),
            Bar(f"{name}: smallest distance over 2 r, frames", nearest.min(), 0.75, least=True),
            Bar(f"{name}: smallest distance over 2 r, models of all steps", built, 0.75, least=True)]


def scarf_run(experiment):
    return experiment.run("scarf", "../../configs/yarn_scarf.ini")


def built_share(log):
    """Times and the share of models built anew in every 540th step, %."""
    rows, every = log.table("steps_extra"), slice(539, None, 540)
    share = 100 * rows["contact.yarns.built"] / np.maximum(rows["contact.yarns.sets"], 1)
    return log.table("steps")["time"][every], share[every]


def scarf_figure(experiment):
    """2 s of the scarf: energy, distances, linking, models built."""
    path = scarf_run(experiment)
    times, nearest, _, change, integrals = knitted(path)
    with Log(path) as log:
        steps, built = log.table("steps"), built_share(log)
    figure, axes = plain_axes(1, 4)
    axes[0].semilogy(steps["time"], steps["e_kinetic"], color="#0072B2")
    axes[0].set(xlabel="time (s)", ylabel="kinetic energy (J)")
    axes[1].plot(steps["time"], 1 + steps["min_gap"] / (2 * RADIUS), ".", ms=1.5, color="#999999",
                 label="models, as built")
    axes[1].plot(times, nearest, color="#D55E00", label="all points, frames")
    axes[1].set(xlabel="time (s)", ylabel="smallest distance over 2 r", ylim=(0, 1.1))
    axes[1].legend()
    for values, label in ((np.abs(integrals).min(axis=(1, 2)), "smallest linking integral"),
                          (change, "largest change since the last frame")):
        axes[2].plot(times, values, label=label)
    axes[2].set(xlabel="time (s)", ylim=(0, 1))
    axes[2].legend()
    axes[3].semilogy(*built, "o", ms=3, color="#009E73",
                     label=f"every 540th step, mean {built[1].mean():.2f} %")
    axes[3].axhline(PAPER[0.04][1], color="#999999", label=f"the paper's mean, {PAPER[0.04][1]} %")
    axes[3].set(xlabel="time (s)", ylabel="models built per step (%)")
    axes[3].legend()
    experiment.save(figure, "acl-scarf", keep=True)
    picture(experiment, path, "acl-scarf-still", zoom=1.2)
    picture(experiment, path, "acl-scarf-fall", FALL, (480, 380))


def scarf_bars(experiment):
    return knit_bars("scarf", scarf_run(experiment))


def scarf_if_there(experiment):
    """The bars of a finished run; no run is started, as it takes an hour."""
    try:
        return scarf_bars(Experiment(experiment.folder, kept=True))
    except FigureError as error:
        return [NotMeasured("scarf, 2 s", f"{error}; `./loom figure acl-scarf-bars` takes an hour")]


def kernel_bars(experiment):
    """The checks of bench_yarn on a moving swatch and along a fall, row by row: name, value, bound."""
    fall = experiment.run("fall", "fall.ini")
    rows = []
    for path in (experiment.program("bench_yarn", [], "bench_yarn.csv"),
                 experiment.program("bench_yarn", [fall, 1983, 540], "bench_fall.csv", [fall])):
        rows += [line.strip().split(",") for line in open(path)][1:]
    return [Bar(name, float(value), float(bound)) for name, value, bound in rows]


def bars(experiment):
    out = []
    limits = dict(zip(TAUS, (20, 2.5, 1, 0.5)))
    _, rows = summary(experiment)
    # models that are only made for new sets stay below any limit: a run with a metric that never exceeds tau
    born = update_share(scarf(experiment, NEVER))
    least = dict(zip(TAUS, (20, 4, 2)))  # at 0.3 all models of these steps are of new sets
    for tau, _, share, *_ in rows:
        out.append(Bar(f"updates per step at tau {tau:g}", share, limits[tau], "%"))
        if tau in least:
            name = f"updates per step at tau {tau:g}, times those of new sets alone"
            out.append(Bar(name, share / born, least[tau], least=True))
    shares = [r[2] for r in rows]
    out.append(Bar("updates do not fall with tau in so many places", sum(np.diff(shares) >= 0), 0))
    at = rows[TAUS.index(0.04)]
    out.append(Bar("contact phase of exact (cells) over tau 0.04", at[4], 2, least=True))
    out.append(Bar("contact phase of exact (BVH) over tau 0.04", at[5], 2, least=True))
    out.append(Bar("overall step of exact (cells) over tau 0.04", at[7], 1.5, least=True))
    result = scarf(experiment, 0.04)
    tracked, examined, processed = (result.column(name, "collision.grid")[-STEADY:]
                                    for name in ("tracked", "examined", "processed"))
    out.append(Bar("entries examined per step", 100 * (examined / tracked).mean(), 15, "%"))
    out.append(Bar("entries processed per step", 100 * (processed / tracked).mean(), 1, "%"))
    out.append(Bar("exponent of contact time in loops, 40 to 54,000",
                   power_law(experiment, 0.04)[2], 1.15))
    drop = run(experiment, "drop_0.04", "drop.ini", contact__yarns__tolerance=0.04).path
    out += knit_bars("small scarf on the floor", drop) + sack_bars(experiment)
    return kernel_bars(experiment) + out + scarf_if_there(experiment)


FIGURES = {
    "acl-table2": ("scarf of 3,240 loops: sets, updates, speed-up at four tolerances", table2),
    "acl-two-seconds": ("a small piece over 2 s: contact and whole steps at four tolerances, boxes over cells", over_two_seconds),
    "acl-sizes": ("other pieces; one piece from 40 to 54,000 loops", sizes),
    "acl-fig2": ("contact matrix of a scarf's step and some contact sets", zoo),
    "acl-fig6": ("cost of a step's contact by phase", breakdown),
    "acl-fig9": ("a scarf falls on a plane, all tolerances beside the exact force", compare),
    "acl-updates": ("models built while balls hit a fabric, painted on it", updates),
    "acl-sack": ("balls fall into a knitted sack", sack),
    "acl-sack-bars": ("bounds on distances, linking and balls of that sack", sack_bars),
    "acl-scarf": ("a scarf of 3,240 loops falls over a ball, 2 s: energy, distances, linking", scarf_figure),
    "acl-scarf-bars": ("bounds on distances and linking of that scarf", scarf_bars),
    "acl-bars": ("bounds on accuracy, updates, scheduling and speed", bars),
}
