"""The league: every solver with every contact that fits, one step of four scenes, each from the same
state of a converged reference, to the same error."""

import shutil
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

import numpy as np
from PIL import Image

from loomcloth.experiment import Bar, FigureError
from loomcloth.log import Log
from loomcloth.style import colour, plain_axes

HERE = Path(__file__).resolve().parent
# {config: (words, step that is compared)}
SCENES = {
    "hang": ("hang, no contact", 16),
    "drape_penalty": ("drape, penalty", 14),
    "drape_repulsion": ("drape, repulsion", 14),
    "self_ipc_barrier": ("self-contact drape, ipc_barrier", 45),
    "self_dbb": ("self-contact drape, dbb", 45),
    "self_ogc": ("self-contact drape, ogc", 45),
    "self_cubic_barrier": ("self-contact drape, cubic_barrier", 45),
    "twist_ipc_barrier": ("twist, ipc_barrier", 60),
    "twist_dbb": ("twist, dbb", 60),
    "twist_ogc": ("twist, ogc", 60),
    "twist_cubic_barrier": ("twist, cubic_barrier", 60),
}
SIZES = {"2.5k": 1, "10k": 2}
# Iterations at which a method is cut off: some seconds of processor time at 2.5k.
LIMITS = {
    "cholmod_newton": 200, "pcg_newton": 200, "cama_pcg": 100, "pd_bfgs": 100, "ndb_pd": 400,
    "cholmod_pd": 1000, "chebyshev_pd": 1000, "aa_pd": 400, "vbd": 1000, "xpbd": 1000, "gd": 2000,
}
SELF_LIMIT = 300  # with self-contact, where detection is most of an iteration
GOAL = 0.01  # of the distance to the converged step from which all begin
CLOCK = "t_cpu"
WORK = ("n_gradient", "n_hessian", "n_factorise", "n_trisolve", "n_spmv", "n_detect")


def refusal(experiment, config, solver):
    """Why the pair does not fit, in the core's words; None: it does."""
    done = subprocess.run(
        [experiment.binary, "check", config, "--set", f"solver.plugin={solver}"],
        cwd=experiment.folder, capture_output=True, text=True,
    )
    if done.returncode == 0:
        return None
    return done.stderr.strip().splitlines()[0].removeprefix("loom: ")


def at_goal(rows, goal):
    """The first row at the goal, as an entry of the table; None: never."""
    there = np.nonzero(rows["e_ref"] <= goal)[0]
    if len(there) == 0:
        return None
    row = rows[there[0]]
    work = {name: int(row[name]) for name in WORK}  # of the step so far
    return {"k": int(row["k"]) + 1, "cpu": float(row[CLOCK]), "bytes": int(row["n_bytes"]), "work": work}


def percent(share):
    return f"{100 * share:.2g} %" if share < 0.0995 else f"{100 * share:.0f} %"


def energy_of(reference, step):
    """J, of the converged step."""
    with Log(reference) as log:
        rows = log.table("iters")
    return float(rows["e_total"][rows["step"] == step][-1])


def measure(experiment, scene, size, solver, reference, first=None):
    """One method on one step: a line of the table.  first: m, the distance of which the goal is a share;
    None: that from which this method begins.  Methods with a guess of their own begin elsewhere."""
    words, step = SCENES[scene]
    limit = LIMITS[solver]
    if scene.startswith(("self", "twist")):
        limit = min(limit, SELF_LIMIT)
    name = f"{scene}-{size}-{solver}"
    sets = {
        "solver.plugin": solver, "run.detail": SIZES[size], "run.replay": reference,
        "run.replay_first": step, "run.steps": 1, "stop.max_iters": limit, "exec.threads": 1,
    }
    line = {"scene": words, "size": size, "solver": solver}
    why = refusal(experiment, f"{scene}.ini", solver)
    if why is not None:
        return line | {"state": f"does not fit: {why}"}
    try:
        path = experiment.run(name, f"{scene}.ini", sets, inputs=[reference])
    except FigureError as error:
        return line | {"state": f"failed: {str(error).splitlines()[0]}"}
    with Log(path) as log:
        rows, end = log.table("iters"), log.table("steps")[-1]
        why, commit = log.enum("steps", "reason")[int(end["reason"])], log.attr("git_commit")
    begin, last = rows[0], rows[-1]
    best = np.nanmin(rows["e_ref"])
    line |= {
        "start": float(begin["e_ref"]), "end": float(last["e_ref"]),
        "iters": int(last["k"]) + 1, "total": float(last[CLOCK]),
        "peak": int(end["rss_peak"]), "commit": commit, "energy": float(last["e_total"]),
    }
    first = line["start"] if first is None else first
    there = at_goal(rows, GOAL * first)
    if there is None:
        share = best / first
        line["best"] = float(share)
        after = f"{line['iters']} iterations, {line['total']:.2f} s, {percent(share)} of the error left"
        if why.startswith("converged"):  # another minimum, or a problem of its own
            above = line["energy"] - energy_of(reference, step)
            return line | {"state": f"converged elsewhere after {after}, E {above:+.2g} J"}
        return line | {"state": f"{'capped at' if why == 'max_iters' else f'{why} after'} {after}"}
    return line | there | {"state": "there"}


def league(experiment, size):
    lines = []
    for scene in SCENES:
        try:
            reference = experiment.run(
                f"{scene}-{size}-reference", f"{scene}.ini",
                {"run.detail": SIZES[size], "exec.threads": 1},
            )
        except FigureError as error:
            lines.append({"scene": SCENES[scene][0], "size": size, "solver": "reference",
                          "state": f"failed: {str(error).splitlines()[0]}"})
            continue
        first = None  # Newton's, as it begins where the step does
        for solver in LIMITS:
            lines.append(measure(experiment, scene, size, solver, reference, first))
            first = first or lines[-1].get("start")
    return lines


def machine():
    for text in open("/proc/cpuinfo", encoding="utf-8"):
        if text.startswith("model name"):
            return text.split(":", 1)[1].strip()
    return "unknown processor"


def text_of(lines):
    """The table; methods of a scene by processor time, methods that are not there behind them."""
    commits = ", ".join(sorted({line["commit"] for line in lines if "commit" in line}))
    out = [
        f"# ./loom figure league, runs of commit {commits}, "
        f"{datetime.now(timezone.utc):%Y-%m-%d}, {machine()}, one thread",
        f"# One step from the same state; to {100 * GOAL:g} % of the first distance to the converged step "
        "(e_ref, RMS in metres).",
        "# cpu: seconds to there, without measuring and logging; what is left: of the best iterate.",
        "# GB moved: bytes as kernels and factors declare them, not those of detection and of loops on the host "
        "(barriers); peak: memory of the process.",
    ]
    for scene in dict.fromkeys(line["scene"] for line in lines):
        rows = [line for line in lines if line["scene"] == scene]
        first = next((line["start"] for line in rows if "start" in line), None)
        begins = f", begins {first:.2e} m away" if first is not None else ""
        out += ["", f"{scene}, {rows[0]['size']}{begins}",
                f"{'solver':16}{'cpu s':>9}{'iterations':>12}{'GB moved':>10}{'peak MB':>9}  work"]
        for line in sorted(rows, key=lambda r: r.get("cpu", np.inf)):
            if line["state"] != "there":
                line["state"] = line["state"].split(", but")[0]
                out.append(f"{line['solver']:16}{'-':>9}{'-':>12}{'-':>10}{'-':>9}  {line['state']}")
                continue
            work = " ".join(f"{k[2:]} {v}" for k, v in line["work"].items() if v > 0)
            out.append(f"{line['solver']:16}{line['cpu']:9.3f}{line['k']:12d}"
                       f"{line['bytes'] / 1e9:10.3f}{line['peak'] / 1e6:9.0f}  {work}")
    return out


def cell(line):
    if line["state"] == "there":
        return f"{line['cpu']:.2g} s ({line['k']}), {line['bytes'] / 1e9:.2g} GB"
    if line["state"].startswith("does not fit"):
        return "does not fit"
    if "best" not in line:
        return "failed"
    ended = "converged elsewhere" if "elsewhere" in line["state"] else "diverged" if "div" in line["state"] else ""
    return f"{ended + ', ' if ended else ''}{percent(line['best'])} left after {line['total']:.2g} s"


def brief(lines):
    """The table of experiments/league/README.md: a row for each method; the methods first that are there most often."""
    scenes = list(dict.fromkeys(line["scene"] for line in lines))
    by = {(line["scene"], line["solver"]): line for line in lines}
    solvers = [s for s in LIMITS if any((scene, s) in by for scene in scenes)]

    def rank(solver):
        mine = [by[scene, solver] for scene in scenes if (scene, solver) in by]
        return (-sum(line["state"] == "there" for line in mine), sum(line.get("cpu", 10.0) for line in mine))

    out = ["", "| | " + " | ".join(scenes) + " |", "|---" * (len(scenes) + 1) + "|"]
    for solver in sorted(solvers, key=rank):
        cells = (cell(by[scene, solver]) if (scene, solver) in by else "not run" for scene in scenes)
        out.append(f"| `{solver}` | " + " | ".join(cells) + " |")
    return out


def table_of(lines):
    return text_of(lines) + brief(lines)


def draw(size):
    def table(experiment):
        experiment.keep_text(f"league-{size}", table_of(league(experiment, size)))

    return table


def report(experiment):
    """A report for each scene, and a picture of one report's first view."""
    league(experiment, "2.5k")
    for scene, (words, _) in SCENES.items():
        folder = experiment.out / "report" / scene
        folder.mkdir(parents=True, exist_ok=True)
        for solver in LIMITS:  # the runs by their methods' names
            log, link = experiment.out / f"{scene}-2.5k-{solver}.h5", folder / f"{solver}.h5"
            link.unlink(missing_ok=True)
            if log.exists():
                link.symlink_to(log)
        page = experiment.out / f"league-{scene}.html"
        # failed runs are left out, and listed
        done = subprocess.run(
            [sys.executable, "-m", "loomcloth.report", folder, "-o", page, "--no-replay",
             "--title", f"The league: {words}, 2.5k vertices"],
        )
        if done.returncode not in (0, 1) or not page.exists():
            raise FigureError(f"the report of {scene} failed")
    picture(experiment, "drape_penalty")


def picture(experiment, scene):
    """The costs at equal accuracy as a browser shows them."""
    browser = shutil.which("chromium")
    if browser is None:
        raise FigureError("chromium was not found (Debian: chromium); the reports are made, the picture is not")
    shot = experiment.out / "league-report.png"
    subprocess.run(
        [browser, "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1280,800",
         "--virtual-time-budget=8000", f"--screenshot={shot}",
         f"file://{experiment.out}/league-{scene}.html#accuracy"],
        check=True, capture_output=True,
    )
    with Image.open(shot) as image:
        experiment.keep_image(image.copy(), "league-report")


def self_contact(experiment):
    """README's plot: five methods on the step of self-contact, under the same barrier."""
    scene, size = "self_dbb", "2.5k"
    reference = experiment.run(f"{scene}-{size}-reference", f"{scene}.ini",
                               {"run.detail": SIZES[size], "exec.threads": 1})
    figure, axes = plain_axes(width=7.2)
    for solver in ("cholmod_newton", "pcg_newton", "ndb_pd", "chebyshev_pd", "aa_pd"):
        line = measure(experiment, scene, size, solver, reference)
        if "start" not in line:
            raise FigureError(f"{solver}: {line['state']}")
        with Log(experiment.out / f"{scene}-{size}-{solver}.h5") as log:
            rows = log.table("iters")
        axes.loglog(rows[CLOCK], 1000 * rows["e_ref"], color=colour(solver), label=f"{solver}, {len(rows)} iterations")
    axes.set_xlabel("processor time of the step (s), one thread")
    axes.set_ylabel("distance to the solution (mm)")
    axes.set_title("One step of self-contact, 2,601 vertices, contact dbb")
    axes.legend(fontsize="small")
    experiment.save(figure, "self-contact", keep=True)


def bars(experiment):
    """Newton's method is there in every scene, and no method ends with a NaN."""
    lines = league(experiment, "2.5k")
    newton = [line for line in lines if line["solver"] == "cholmod_newton"]
    there = sum(line["state"] == "there" for line in newton)
    wrong = sum(not np.isfinite(line["end"]) for line in lines if "end" in line)
    return [Bar("scenes in which cholmod_newton is there", there, len(SCENES), least=True),
            Bar("methods that end with a NaN", wrong, 0)]


FIGURES = {
    "league": ("every solver with every contact that fits, to the same error, 2.5k vertices", draw("2.5k")),
    "league-report": ("a report of each scene for a browser, and a picture of one", report),
    "self-contact": ("one step of self-contact: five methods, error against processor time", self_contact),
    "league-10k": ("the same at 10k vertices", draw("10k")),
    "league-bars": ("what must hold of the league", bars),
}
