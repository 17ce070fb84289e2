"""The claims of five papers: coverage, controls, and the gain of single parts of a method in whole steps."""

import json
import os
from dataclasses import asdict
from pathlib import Path

import numpy as np

from loomcloth.experiment import ROOT, FigureError, plain_axes
from loomcloth.log import Log
from loomcloth.steps import LAST

DETAILS = {1: "2,601", 2: "10,201", 4: "40,401"}  # run.detail, and vertices of the scenes of the league
STEPS = {"hang": 16, "drape_penalty": 14}
WORDS = {"hang": "hangs", "drape_penalty": "falls on a ball"}
GOAL = 0.01  # of the first distance to the converged step
GROWN = (50, 3)  # first step, and number of steps
GROWTH = {"by the gap": ({}, "#0072B2"), "as printed": ({"contact.all.growth": "literal"}, "#D55E00"),
          "partial": ({"contact.all.growth": "partial", "contact.all.samples": 1}, "#009E73")}
BLUE, RED = "#0072B2", "#D55E00"  # Okabe and Ito 2008


# ---- controls ----
def controls(experiment):
    """All controls; rows that were measured as they are now are taken from out/controls.json."""
    from loomcloth import controls

    store = experiment.out / "controls.json"
    known = json.loads(store.read_text()) if store.exists() and not experiment.fresh else {}
    lines, rows = [], controls.load(ROOT)
    for row in rows:
        key = json.dumps({k: v for k, v in asdict(row).items() if k in controls.INPUTS}, sort_keys=True)
        if row.mutant and not experiment.plan:
            experiment.build("control_plugins")
        if known.get(row.name, {}).get("key") != key:
            if experiment.plan:
                print(f"would run {row.name}")
                continue
            whole, off, seconds = controls.timed(ROOT, row, experiment.out)
            known[row.name] = {"key": key, "whole": whole, "off": off, "seconds": seconds}
            known[row.name]["logs"] = [Path(path).name for path in controls.MADE]
            store.write_text(json.dumps(known, indent=1))
        found = known[row.name]
        experiment.read |= {experiment.out / name: ROOT / row.config for name in found["logs"]}
        lines.append(controls.record(row, found["whole"], found["off"], found["seconds"]))
        print(controls.line(row, found["whole"], found["off"]))
    if not experiment.plan:
        experiment.folders.add(ROOT / "tests/control")
        experiment.keep_text("claims-controls", [controls.HEAD, *lines])


# ---- single parts in whole steps ----
def reached(path, first=None):
    """Of a step: iterations and processor seconds to the goal, without eigenvectors, None if never there;
    seconds of the eigenvectors, first distance, and the curves of seconds and shares."""
    with Log(path) as log:
        rows, sections = log.table("iters"), log.sections("t_cpu")
    eigenvectors = float(sections["solver/eigenvectors"].sum()) if "solver/eigenvectors" in sections else 0.0
    first = first or float(rows["e_ref"][0])
    seconds = rows["t_cpu"] - eigenvectors
    there = np.nonzero(rows["e_ref"] <= GOAL * first)[0]
    at = (int(rows["k"][there[0]]) + 1, float(seconds[there[0]])) if len(there) else (None, None)
    return *at, eigenvectors, first, seconds, rows["e_ref"] / first


def details():
    """2,601 and 10,201 vertices; LOOM_CLAIMS_DETAIL=4, for a night: 40,401 as well."""
    most = int(os.environ.get("LOOM_CLAIMS_DETAIL", "2"))
    return [d for d in DETAILS if d <= most]


def subspace(experiment):
    """One step of two scenes by ndb_pd with and without its subspace, to 1 % of the first distance."""
    lines = ["ndb_pd, one step to 1 % of the distance at its guess; one thread, processor time"]
    lines += ["scene            vertices  momentum  subspace  iterations       s  modes, s"]
    figure, axes = plain_axes(1, 2)
    for ax, (scene, step) in zip(axes, STEPS.items(), strict=True):
        for detail in details():
            config = f"../league/{scene}.ini"
            size = {"run.detail": detail, "exec.threads": 1}
            ref = experiment.run(f"{scene}-{detail}-reference", config, size)
            once = {"run.replay": ref, "run.replay_first": step, "run.steps": 1, "solver.plugin": "ndb_pd"}
            first = None  # that of the core's guess: the subspace has a warm start
            for momentum in ("nesterov", "none"):
                for name, colour in (("none", RED), ("eigen", BLUE)):
                    sets = size | once | {"solver.subspace": name, "solver.momentum": momentum}
                    sets |= {"stop.max_iters": 400 if momentum == "nesterov" else 1000, "solver.cache": ""}
                    path = experiment.run(f"{scene}-{detail}-{momentum}-{name}", config, sets, inputs=[ref])
                    its, s, eigen, first, seconds, share = reached(path, first)
                    cells = f"{its:11d}{s:8.3f}" if its else f"{'never':>11}{'-':>8}"
                    lines.append(f"{scene:16}{DETAILS[detail]:>9}  {momentum:8}  {name:8}{cells}{eigen:9.2f}")
                    label = f"{'with' if name == 'eigen' else 'without'}, {momentum}" if detail == 1 else None
                    style = "-" if momentum == "nesterov" else ":"
                    ax.loglog(seconds, share, style, color=colour, label=label, linewidth=1.8 / detail)
        ax.axhline(GOAL, color="#999999", linewidth=0.8)
        ax.set(xlabel="processor seconds of the step, without eigenvectors", title=f"a sheet {WORDS[scene]}")
    axes[0].set_ylabel("distance to the converged step over the first")
    axes[0].legend(title="subspace, momentum", title_fontsize=7, fontsize=7)
    figure.suptitle("One step by ndb_pd: 2,601 vertices, the thinner the more (10,201, 40,401)")
    experiment.save(figure, "claims-subspace", keep=True)
    experiment.keep_text("claims-subspace", lines)


def memory(experiment):
    """Steps on a sphere by pd_bfgs with and without its memory: the excess in energy over iterations."""
    build = Path(experiment.binary).parents[1] if experiment.plan else experiment.build("control_plugins")
    plugins = build / "tests/control/no_memory"
    lines = ["pd_bfgs on a sphere, steps 20 to 22 of one run; one thread; excess in energy, median"]
    lines += ["vertices  memory  after 1        10        60   iterations to 1 %  s an iteration"]
    ref = experiment.run("memory-reference", "../pdbfgs/split.ini",
                         {"run.steps": 23, "stop.tol_rel": 1e-6, "stop.max_iters": 600, "exec.threads": 1})
    with Log(ref) as log:
        least = log.table("iters")
    figure, axes = plain_axes(1, 1)
    for name, sets, colour in (("on", {}, BLUE), ("off", {"exec.plugin_path": plugins}, RED)):
        once = {"run.replay": ref, "run.replay_first": 20, "run.steps": 3, "exec.threads": 1,
                "stop.max_iters": 100, "stop.tol_rel": 0, "stop.tol_abs": 0}
        path = experiment.run(f"memory-{name}", "../pdbfgs/split.ini", once | sets, inputs=[ref])
        with Log(path) as log:
            rows = log.table("iters")
        curves, seconds = [], []
        for step in np.unique(rows["step"]):
            mine, end = (t[(t["step"] == step) & (t["stage"] != LAST)] for t in (rows, least))
            energy, end = mine["e_total"], end["e_total"][-1]
            curves.append((energy - end) / (energy[0] - end))
            seconds.append((mine["t_cpu"][-1] - mine["t_cpu"][0]) / len(mine))
        left = np.median([c[:101] for c in curves], axis=0)
        its = int(np.nonzero(left <= GOAL)[0][0]) if (left <= GOAL).any() else None
        cells = "".join(f"{left[k]:10.2e}" for k in (1, 10, 60))
        lines.append(f"   2,601  {name:6}{cells}   {its if its else 'never':>17}  {np.mean(seconds):14.4f}")
        axes.semilogy(range(len(left)), left, color=colour, label=f"memory {name}")
    axes.set(xlabel="iterations", ylabel="left of the excess in energy, median of 3 steps", ylim=(1e-4, 1))
    axes.legend()
    experiment.save(figure, "claims-memory", keep=True)
    experiment.keep_text("claims-memory", lines)


def flags(experiment):
    """Distances of eq. 1 with its flags, and the least of all regions, on two bodies, near the skin and deep in it."""
    ssdf, other = experiment.neighbour("ssdf")
    nets = {"lower_body": ROOT / "configs/bodies/lower_body.h5",
            "leg": ssdf.train(other, "leg_narrow_flags", "leg_narrow", ["--steps", "5000", "--seeds", "1"])}
    lines = ["points within a reach of the skin in 20 poses by chance, errors in mm; missed: truly 5 mm deep, seen 5 mm outside",
             f"{'body':12}{'overlap, cm':>12}{'reach, mm':>11}  {'regions by':12}{'mean':>8}{'p95':>8}{'p99':>8}{'largest':>9}"
             f"{'wrong side, %':>15}{'missed':>10}{'phantom':>10}"]
    for body, overlap in (("lower_body", "10 and 25"), ("leg", "2")):
        for reach in (20, 80):
            for rule, word in (("flags", "flags"), ("least", "the least")):
                words = ["errors", nets[body], body, 20, rule, reach]
                e = ssdf.pairs(other.program("bench_ssdf", words, f"flags-{body}-{reach}-{rule}.csv",
                                             inputs=[nets[body]]).read_text())
                lines.append(f"{body:12}{overlap:>12}{reach:11d}  {word:12}{e['mean']:8.3f}{e['p95']:8.2f}{e['p99']:8.2f}"
                             f"{e['max']:9.1f}{100 * e['wrong side']:15.2f}{e['missed']:10.5f}{e['phantom']:10.5f}")
    experiment.keep_text("claims-flags", lines)


def growth(experiment):
    """Three steps of a twist in contact, each from the state of one run, by three rules of growth."""
    lines = [f"ndb on a strip of 360 vertices that twists, steps {GROWN[0]} to {GROWN[0] + GROWN[1] - 1}, each from the state of one run; tolerance 3e-3 m;",
             "at most 10,000 iterations and 60 s of processor time a step",
             f"{'rule':12}{'step':>6}{'iterations':>12}{'s':>8}  {'end':14}{'residual after 200':>19}{'10,000':>11}"
             f"{'the least':>11}{'median of the last half':>25}"]
    ref = experiment.run("growth-reference", "../ndb-contact/twist.ini", {"exec.threads": 1})
    figure, axes = plain_axes(1, 1)
    for rule, (sets, colour) in GROWTH.items():
        once = {"run.replay": ref, "run.replay_first": GROWN[0], "run.steps": GROWN[1], "exec.threads": 1,
                "run.replay_state": "fresh", "stop.max_iters": 10000, "stop.cpu_budget_ms": 60000}
        path = experiment.run(f"growth-{rule.replace(' ', '-')}", "../ndb-contact/twist.ini", once | sets, inputs=[ref])
        with Log(path) as log:
            rows, steps, words = log.table("iters"), log.table("steps"), log.enum("steps", "reason")
        for step in steps:
            mine = rows[(rows["step"] == step["step"]) & (rows["stage"] != LAST)]
            r = mine["r_next_rms"]
            at = [f"{r[k]:.2e}" if k < len(r) else "-" for k in (200, 10000)]
            lines.append(f"{rule:12}{step['step']:6d}{step['iters']:12d}{step['t_cpu']:8.2f}  {words[int(step['reason'])]:14}"
                         f"{at[0]:>19}{at[1]:>11}{np.nanmin(r):11.2e}{np.nanmedian(r[len(r) // 2:]):25.2e}")
            label = rule if step["step"] == steps["step"][0] else None
            axes.loglog(np.arange(1, len(r) + 1), r, color=colour, label=label, linewidth=0.9)
    axes.axhline(3e-3, color="#999999", linewidth=0.8)
    axes.set(xlabel="iterations", ylabel="residual, m")
    axes.legend(title="growth of weights")
    experiment.save(figure, "claims-growth", keep=True)
    experiment.keep_text("claims-growth", lines)


# ---- all of it ----
def claims(experiment):
    from loomcloth import controls, coverage
    from loomcloth.figure import all_figures

    data = coverage.load(ROOT)
    for paper, states in coverage.counts(data).items():
        words = ", ".join(f"{states[s]} {s}" for s in coverage.STATES)
        print(f"coverage of {paper}: {sum(states.values())} rows: {words}")
    folders = {name: folder.name for name, (folder, _, _) in all_figures().items()}
    found = coverage.check(ROOT, folders, experiment.update and not experiment.plan)
    print(*found, sep="\n", end="\n" if found else "")
    missing = sum(text.endswith("is missing") for text in found)
    print(f"BAR coverage: rows missing = {missing} (<= 0) {'SHORT' if missing else 'PASS'}")
    missed = 0
    for row, line in controls.results(ROOT):
        if line is None:
            print(f"CONTROL {row.name}: NOT MEASURED: ./loom figure claims-controls --update")
            continue
        print(controls.line(row, *line))
        missed += not row.as_told(*line)
    print(f"BAR controls: rows that are not as told = {missed} (<= 0) {'SHORT' if missed else 'PASS'}")
    if found or missed:
        raise FigureError(f"{len(found)} faults of the coverage, {missed} controls that are not as told")


FIGURES = {
    "claims": ("coverage of the papers, and a control of each claim, from the committed results", claims),
    "claims-controls": ("a control of each claim: a bar with a part of the method, and without it", controls),
    "claims-subspace": ("a step by ndb_pd with its subspace and without, to one accuracy", subspace),
    "claims-flags": ("distances of shallow networks with flags and without, where regions overlap and hardly", flags),
    "claims-growth": ("steps of a twist by the growth rules of ndb, up to 10,000 iterations and 60 s", growth),
    "claims-memory": ("steps by pd_bfgs with its quasi-Newton memory and without", memory),
}
