"""r_energy against the true distance to the solution, over solvers and contact models."""

from dataclasses import dataclass

import numpy as np

from loomcloth.experiment import Bar, FigureError, plain_axes
from loomcloth.log import Log

STEP = 15  # of the reference, solved once more by everybody
SCENES = {
    "poked": "no contact",
    "penalty": "penalty",
    "ipc_barrier": "ipc_barrier",
    "dbb": "dbb",
    "drape": "penalty, buckles",
}
# iterations at most, and between two measurements
SOLVERS = {
    "gd": (200, 5),
    "cholmod_pd": (200, 5),
    "cholmod_pd nesterov": (200, 5),
    "chebyshev_pd": (200, 5),
    "ndb_pd": (200, 5),
    "pcg_newton": (60, 1),
    "cholmod_newton": (60, 1),
    "aa_pd": (200, 5),
    "vbd": (200, 5),
    "xpbd": (200, 5),
    "pd_bfgs": (1000, 10),
    "cama_pcg": (30, 1),
}
OWN = ("pd_bfgs", "cama_pcg")  # take contact as it is at the start of the step: a problem of their own
ACCELERATED = ("cholmod_pd nesterov", "chebyshev_pd", "ndb_pd", "aa_pd")  # leave errors that are smooth for P
MEASURES = ("newton", "projective")
SETTLED = 1e-5  # of the first distance: nearer iterates are of no interest
STATIONARY = 1e-6  # of the first r_energy: the run has found a minimum, to 1 % of SETTLED
STIFF = "P is far stiffer than H for smooth errors out of the plane; see the README"
ROUNDING = 1e-13  # of the energy


@dataclass
class Curve:
    """One solver on one scene: an entry per measured iterate."""

    scene: str
    solver: str
    distance: np.ndarray  # sqrt(J), sqrt(2 (E - E*))
    metres: np.ndarray  # m, the residual
    value: dict  # of each measure, sqrt(J)
    definite: np.ndarray  # bool

    def quotient(self, measure):
        return self.value[measure] / self.distance


# ---- runs ----
def settings(solver, reference, measure):
    name, *momentum = solver.split()
    limit, every = SOLVERS[solver]
    sets = {
        "solver.plugin": name,
        "run.replay": reference,
        "run.replay_first": STEP,
        "run.steps": 1,
        "stop.tol_abs": 0,
        "stop.max_iters": limit,
        "log.error": measure,
        "log.error_every": every,
    }
    return sets | {"solver.momentum": m for m in momentum}


def runs(experiment):
    """{scene: reference}, {(scene, solver): {measure: log}}, [pairs that do not fit, and why]"""
    references, logs, misfits = {}, {}, []
    for scene in SCENES:
        references[scene] = experiment.run(f"{scene}-reference", f"{scene}.ini")
        for solver in SOLVERS:
            try:
                logs[scene, solver] = {
                    measure: experiment.run(
                        f"{scene}-{solver.replace(' ', '-')}-{measure}", f"{scene}.ini",
                        settings(solver, references[scene], measure), inputs=[references[scene]],
                    )
                    for measure in MEASURES
                }
            except FigureError as refused:
                why = str(refused).splitlines()[-1].removeprefix("loom: ").split(";")[0]
                misfits.append(f"{scene}, {solver}: {why}")
    return references, logs, misfits


def rows_of(path, step=None):
    with Log(path) as log:
        rows = log.table("iters")
    return rows if step is None else rows[rows["step"] == step]


def solution(newton, lowest):
    """E* of a run: sheets that buckle have many minima.  Where it came to rest in one that is the
    one it was on its way to; else `lowest`, the lowest energy that any run reached."""
    measured = newton[~np.isnan(newton["r_energy"])]
    at_rest = measured["r_energy"][-1] < STATIONARY * measured["r_energy"][0]
    return np.nanmin(newton["e_total"]) if at_rest and measured["indefinite"][-1] == 0 else lowest


def curves(experiment):
    references, logs, misfits = runs(experiment)
    out = []
    for scene, reference in references.items():
        mine = {s: {m: rows_of(p) for m, p in by.items()} for (sc, s), by in logs.items() if sc == scene}
        every = [rows_of(reference, STEP), *(rows for by in mine.values() for rows in by.values())]
        lowest = min(np.nanmin(rows["e_total"]) for rows in every)
        for solver, by in mine.items():
            a, b = by["newton"], by["projective"]
            if not np.array_equal(a["e_total"], b["e_total"], equal_nan=True):
                raise FigureError(f"{scene}, {solver}: measuring has changed the iterates")
            apart = solver in OWN and SCENES[scene] != "no contact"
            target = solution(a, np.nan if apart else lowest)
            if np.isnan(target):
                misfits.append(f"{scene}, {solver}: a problem of its own, and not at rest at the end: no E* is known")
                continue
            distance = np.sqrt(2 * np.maximum(a["e_total"] - target, 0))
            size = np.abs(a["e_inertia"]) + np.abs(a["e_elastic"]) + np.abs(a["e_contact"])
            floor = np.maximum(SETTLED * distance[0], np.sqrt(2 * ROUNDING * size))
            keep = (distance > floor) & ~np.isnan(a["r_energy"]) & ~np.isnan(b["r_energy"])
            out.append(Curve(
                scene, solver, distance[keep], a["r_next_rms"][keep],
                {"newton": a["r_energy"][keep], "projective": b["r_energy"][keep]},
                a["indefinite"][keep] == 0,
            ))
    return out, misfits


# ---- numbers ----
def span(parts):
    """Largest over smallest of all entries, and how many there are."""
    values = np.concatenate([p for p in parts if len(p)] or [np.array([np.nan])])
    return values.max() / values.min(), len(values)


def spans(data, which):
    """Over all solvers of all scenes, of iterates that `which` chooses of a Curve."""
    out = {m: span([c.quotient(m)[which(c)] for c in data]) for m in MEASURES}
    out["metres"] = span([(c.metres / c.distance)[which(c)] for c in data])
    return out


def all_of(curve):
    return np.ones(len(curve.definite), bool)


def table(data, misfits):
    lines = ["scene         solver                iterates  indef.      newton / true     projective / true"
             "      metres / true: span"]
    for c in data:
        d = c.definite
        cells = []
        for m in MEASURES:
            q = c.quotient(m)[d]
            cells.append(f"{q.min():8.3f} to {q.max():6.3f}" if len(q) else f"{'-':>18}")
        metres = (c.metres / c.distance)[d]
        lines.append(f"{c.scene:13} {c.solver:20} {len(d):9d} {np.count_nonzero(~d):7d} {cells[0]:>20} "
                     f"{cells[1]:>21} {metres.max() / metres.min() if len(metres) else np.nan:15.0f}")
    plain = spans([c for c in data if c.solver not in ACCELERATED], lambda c: c.definite)
    lines.append(f"without {', '.join(ACCELERATED)}: projective {plain['projective'][0]:.3g}")
    for name, which in (("definite", lambda c: c.definite), ("indefinite", lambda c: ~c.definite)):
        s = spans(data, which)
        lines.append(f"span over all, {name} iterates ({s['newton'][1]}): newton {s['newton'][0]:.3g}, "
                     f"projective {s['projective'][0]:.3g}, metres {s['metres'][0]:.3g}")
    for share in (0.5, 0.2):
        near = spans(data, lambda c, s=share: c.definite & (c.distance < s * c.distance[0]))
        lines.append(f"nearer than {share:g} of the first distance, definite iterates ({near['newton'][1]}): newton "
                     f"{near['newton'][0]:.3g}, projective {near['projective'][0]:.3g}, metres {near['metres'][0]:.3g}")
    return lines + ["not there:"] + [f"  {m}" for m in misfits]


GLOBAL = ("solver/global", "solver/factorise")  # sections of cholmod_pd


def cost(experiment, scene):
    """s of processor time: a projective measurement, a global step of PD, an iteration of Newton, in
    the step that is compared; the least of three runs."""
    reference = experiment.run(f"{scene}-reference", f"{scene}.ini")

    def least(solver, measure, count):
        found = []
        for k in range(3):
            sets = settings(solver, reference, measure)
            sets |= {"log.error_every": 1, "stop.max_iters": count, "run.seed": k}
            path = experiment.run(
                f"cost-{scene}-{solver}-{measure}-{k}", f"{scene}.ini", sets, [reference]
            )
            with Log(path) as log:
                step, sections = log.table("steps")[0], log.sections("t_cpu")
                found.append((step["t_cpu_measure"], step["t_cpu"], step["iters"],
                              sum(s[0] for name, s in sections.items() if name in GLOBAL)))
        n = found[0][2]
        return [min(f[i] for f in found) / n for i in (0, 1, 3)]

    off, on = least("cholmod_pd", "off", 100), least("cholmod_pd", "projective", 100)
    newton_off, newton_on = least("cholmod_newton", "off", 15), least("cholmod_newton", "projective", 15)
    return {"measured": on[0] - off[0], "global": off[2], "pd": off[1],
            "measured in newton": newton_on[0] - newton_off[0], "newton": newton_off[1]}


# ---- figures ----
COLOURS = {
    "gd": "#D55E00", "cholmod_pd": "#0072B2", "cholmod_pd nesterov": "#56B4E9", "ndb_pd": "#CC79A7",
    "pcg_newton": "#F0E442", "cholmod_newton": "#009E73", "aa_pd": "#E69F00", "vbd": "#000000",
    "xpbd": "#999999", "pd_bfgs": "#882255", "cama_pcg": "#44AA99",
    "chebyshev_pd": "#AA4499",
}
MARKERS = {"poked": "o", "penalty": "s", "ipc_barrier": "^", "dbb": "v", "drape": "x"}


def draw(experiment):
    data, misfits = curves(experiment)
    figure, axes = plain_axes(1, 3, 4.2, 4.0, sharex=True)
    columns = [("metres", r"residual $h^2 M^{-1} r$, rms (m)"),
               ("projective", r"projective: $\sqrt{r' P^{-1} r}$ ($\sqrt{J}$)"),
               ("newton", r"newton: $\sqrt{r' H^{-1} r}$ ($\sqrt{J}$)")]
    for at, (measure, label) in zip(axes, columns):
        for c in data:
            values = c.metres if measure == "metres" else c.value[measure]
            style = {"marker": MARKERS[c.scene], "linestyle": "none", "markersize": 3,
                     "color": COLOURS[c.solver]}
            at.plot(c.distance[c.definite], values[c.definite], **style)
            at.plot(c.distance[~c.definite], values[~c.definite], markerfacecolor="none", **style)
        at.set(xscale="log", yscale="log", ylabel=label,
               xlabel=r"true distance $\sqrt{2\,(E - E^*)}$ ($\sqrt{J}$)")
        if measure != "metres":
            low, high = at.get_xlim()
            at.plot([low, high], [low, high], color="#888888", linewidth=0.8, zorder=0)
    handles = [axes[0].plot([], [], color=COLOURS[s], marker="o", linestyle="none", markersize=4)[0]
               for s in SOLVERS if any(c.solver == s for c in data)]
    names = [s for s in SOLVERS if any(c.solver == s for c in data)]
    handles += [axes[0].plot([], [], color="#666666", marker=m, linestyle="none", markersize=4)[0]
                for m in MARKERS.values()]
    figure.legend(handles, [*names, *SCENES.values()], loc="outside lower center", ncols=7)
    figure.suptitle("Which number tells how far an iterate is?  One step, every solver from the same "
                    "state; hollow: the Hessian is indefinite there")
    experiment.save(figure, "residual-calibration", keep=True)
    experiment.keep_text("residual-calibration", table(data, misfits))


def bars(experiment):
    data, _ = curves(experiment)
    s = spans(data, lambda c: c.definite)
    plain = spans([c for c in data if c.solver not in ACCELERATED], lambda c: c.definite)
    spent = {scene: cost(experiment, scene) for scene in ("poked", "penalty")}
    return [
        Bar("span of r_energy newton over the true distance", s["newton"][0], 3,
            cause="first iterates of the step, where terms of third order count; see the README"),
        Bar("span of r_energy projective over the true distance", s["projective"][0], 20, cause=STIFF),
        Bar("the same without accelerated methods", plain["projective"][0], 20, cause=STIFF),
        Bar("control: span of the residual in metres", s["metres"][0], 20, least=True),
        *(Bar(f"a projective measurement over a global step of PD, {SCENES[scene]}",
              c["measured"] / c["global"], 1) for scene, c in spent.items()),
        *(Bar(f"a projective measurement over an iteration of Newton, {SCENES[scene]}",
              c["measured in newton"] / c["newton"], 0.1) for scene, c in spent.items()),
    ]


FIGURES = {
    "residual-calibration": ("which number tells how far an iterate is from the solution", draw),
    "residual-calibration-bars": ("the same as numbers with bounds, and what measuring costs", bars),
}
