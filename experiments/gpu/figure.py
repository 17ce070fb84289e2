"""The time of a step on a GPU by phase, size and kernel: measured by gpu-check, and by counting bytes."""

import copy
import csv
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import numpy as np

from loomcloth.experiment import ROOT, Bar, FigureError
from loomcloth.log import Log
from loomcloth.style import OKABE_ITO, plain_axes

MEASURED = Path(__file__).parent.parent / "results" / "gpu"
PHASES = {"detect": "detection", "solve": "solver", "contact": "contact", "measure": "measuring", "log": "log"}
DEVICES = {"cuda": ("H100", "-", "o"), "cpu": ("8 threads", "--", "s")}
COLUMNS = [*((phase, phase) for phase in PHASES), ("all", "total")]
COLOURS = dict(zip(PHASES, ("#E69F00", "#56B4E9", "#009E73", "#CC79A7", "#999999")))
BESIDE = ("measure", "log")  # phases of the core, which no method pays for
KERNELS = 14


def rows(name):
    with (MEASURED / name).open() as file:
        return list(csv.DictReader(file))


def phases():
    """{device: {vertices: {phase: ms of a step}}}, means of all steps but the first; "all" is the whole step."""
    found = defaultdict(lambda: defaultdict(list))
    for row in rows("h100-steps.csv"):
        if int(row["step"]) > 0:
            found[row["device"]][int(row["vertices"])].append(row)
    return {
        device: {n: {p: 1e3 * np.mean([float(r[f"t_{c}"]) for r in steps]) for p, c in COLUMNS} for n, steps in sizes.items()}
        for device, sizes in found.items()
    }


def method(of):
    """Milliseconds of a step without measuring and the log."""
    return of["all"] - sum(of[phase] for phase in BESIDE)


def draw_phases(axis):
    for device, sizes in phases().items():
        label, dashes, marker = DEVICES[device]
        vertices = sorted(sizes)
        for phase, name in PHASES.items():
            if phase == "log" and device == "cpu":
                continue  # a disk, no device
            axis.plot(vertices, [sizes[n][phase] for n in vertices], dashes, color=COLOURS[phase], marker=marker,
                      markersize=4, label=name if device == "cuda" else None)
        axis.plot([], [], dashes, color="black", marker=marker, markersize=4, label=label)
    axis.set(xscale="log", yscale="log", ylim=(4, None), xlabel="vertices", ylabel="milliseconds of a step",
             title="two sheets on a floor, 20 iterations")
    axis.legend(fontsize=7, loc="lower right", ncols=2)


def draw_kernels(axis):
    kernels = [k for k in rows("h100-kernels.csv") if k["method"] == "ndb_pd_ndb"]
    total = float(kernels[0]["ms_per_step"])
    first = kernels[KERNELS:0:-1]
    axis.barh([k["kernel"] for k in first], [float(k["ms_per_step"]) for k in first], color=OKABE_ITO[4])
    axis.set(xlabel="milliseconds of a step", title=f"kernels at 100,352 vertices, {total:.1f} ms in all")
    axis.tick_params(axis="y", labelsize=7)


def draw(experiment):
    figure, axes = plain_axes(1, 2)
    draw_phases(axes[0])
    draw_kernels(axes[1])
    figure.suptitle("ndb_pd with ndb and patch_bvh on an NVIDIA H100, double precision")
    print(*beside_measured(), sep="\n")
    experiment.save(figure, "gpu-table", keep=True)


BEFORE = "d1715de"  # the first visit; kernels were changed after it


def methods():
    """{method: {"cuda", "before", "cpu": {phase: ms of a step}}} at 100,352 vertices, means of all steps but the first;
    "before": on the device, at the first visit."""
    found = defaultdict(lambda: defaultdict(list))
    for row in rows("h100-methods.csv"):
        if int(row["step"]) > 0:
            early = row["device"] == "cuda" and row["commit"] == BEFORE
            found[row["method"]]["before" if early else row["device"]].append(row)
    return {
        name: {kind: {p: 1e3 * np.mean([float(r[f"t_{c}"]) for r in steps]) for p, c in COLUMNS} for kind, steps in of.items()}
        for name, of in found.items()
    }


def draw_methods(experiment):
    figure, axis = plain_axes(width=6.4, height=4.2)
    time = methods()
    names = sorted(time, key=lambda name: -method(time[name]["cuda"]))
    for k, name in enumerate(names):
        gpu, cpu = time[name]["cuda"], time[name]["cpu"]
        axis.plot([method(gpu), method(cpu)], [k, k], color="#cccccc", zorder=0)
        for phase in ("detect", "contact", "solve"):
            axis.plot(gpu[phase], k, "o", markersize=4, color=COLOURS[phase], label=f"{PHASES[phase]} on the H100" if k == 0 else None)
        axis.plot(method(time[name]["before"]), k, "ko", markersize=7, fillstyle="none", label="step before" if k == 0 else None)
        axis.plot(method(gpu), k, "ko", markersize=7, label="step on the H100" if k == 0 else None)
        axis.plot(method(cpu), k, "ks", markersize=7, fillstyle="none", label="step on 8 threads" if k == 0 else None)
        axis.text(1.25 * method(cpu), k, f"{method(cpu) / method(gpu):.0f} times", va="center", fontsize=8)
    axis.set_yticks(range(len(names)), names)
    axis.set(xscale="log", xlabel="milliseconds of a step of five iterations", xlim=(6, 9e4),
             title="two sheets on a floor, 100,352 vertices")
    axis.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    experiment.save(figure, "gpu-methods", keep=True)


def bars(experiment):
    """The ratio to the same machine's processor, and the growth with the number of vertices."""
    del experiment  # reads a report, makes no run
    time = phases()
    for device, sizes in time.items():
        for n, of in sorted(sizes.items()):
            parts = ", ".join(f"{PHASES[p]} {of[p]:.1f}" for p in PHASES)
            print(f"{DEVICES[device][0]}, {n} vertices: {method(of):.1f} ms a step, {1e3 / method(of):.1f} steps a second ({parts})")
    gpu = time["cuda"]
    small, large = min(gpu), max(gpu)
    growth = np.log(method(gpu[large]) / method(gpu[small])) / np.log(large / small)
    return [
        *(Bar(f"{n} vertices: milliseconds of 8 threads over the GPU's", method(of) / method(gpu[n]), 10, least=True)
          for n, of in sorted(time["cpu"].items())),
        Bar("exponent of the growth with the vertices", growth, 1.05),
        *(Bar(f"{name}: milliseconds of 8 threads over the GPU's", method(of["cpu"]) / method(of["cuda"]), 10, least=True)
          for name, of in methods().items()),
    ]


# ---- a model: bytes over the bandwidth, and a time for each launch and read ----
SIDES = (71, 224)  # vertices of a side of each sheet: 10,082 and 100,352 in all
SMALL = (71,)  # of the methods that take 100 and 400 processor seconds at the second
TARGET = 8  # kB a vertex and iteration
PROFILED = 100_352  # vertices of results/gpu/h100-kernels.csv
LONGEST = 16  # kernels of a table
UNTIMED = "read", "upload"  # requests beside launches
FIELDS = ("method", "vertices", "iterations", "kernel", "launches", "bytes")  # launches and bytes of a step


class Way(NamedTuple):
    """A method as gpu-check runs it, and the first step of the means."""

    title: str
    config: str  # of configs/methods/; "": ndb_pd x ndb without subspace
    steps: int
    iterations: int
    first: int
    sides: tuple
    sets: dict


WAYS = {
    "ndb_pd_ndb": Way("ndb_pd x ndb", "", 6, 20, 2, SIDES, {}),
    "pd_bfgs_ipc": Way("pd_bfgs x ipc_barrier", "pd_bfgs_bodies", 3, 5, 1, SMALL, {}),
    "cama_pcg_cama": Way("cama_pcg x cama_repulsion, impact_zones", "cama_bodies", 3, 5, 1, SMALL,
                         {"contact.all.thickness": "1.2mm"}),
}  # fmt: skip


def devices():
    with (Path(__file__).parent / "devices.csv").open() as file:
        return {row["device"]: {k: float(v) for k, v in row.items() if k not in ("device", "source")}
                for row in csv.DictReader(file)}


def seconds(device, launches, bytes_, kernel=""):
    """Of a device; a read waits, an upload is queued as a launch is."""
    each = device["read_us"] if kernel == "read" else device["launch_us"]
    return 1e-6 * each * launches + (0 if kernel in UNTIMED else bytes_ / (1e12 * device["TB_per_s"] * device["share"]))


def simulated(experiment):
    """The experiment on the simulated device, which launches and reads as a device does, and its backend; on the CPU
    where that was not built."""
    build = Path(experiment.binary).parents[1] / "simulated"
    if (build / "bin/loom").exists():
        there = copy.copy(experiment)
        there.binary = str(build / "bin/loom")
        return there, "cuda"
    if experiment.update:
        raise FigureError(f"the counts of a device need {build}/bin/loom: cmake --preset simulated && "
                          f"ninja -C {build} framework/all plugins/all")
    return experiment, "cpu"


def write_config(experiment, name, side):
    """The scene that gpu-check writes for this method; its path."""
    way, folder = WAYS[name], experiment.out / "sheets"
    (folder / "run").mkdir(parents=True, exist_ok=True)
    made = folder / f"{name}_{side}.ini"
    call = f"resting_sheets_by {way.config}" if way.config else "resting_sheets"
    script = (f'. "{ROOT}/framework/bundle/scenes.sh" && bundle="{ROOT}" work="{folder}" && '
              f"{call} {side} {way.steps} {way.iterations} x.h5")
    done = subprocess.run(["bash", "-euc", script], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise FigureError(f"scenes.sh: {done.stderr.strip()}")
    made.write_text(done.stdout)
    return made


def counted(path, name, side):
    """Rows of FIELDS of a mean step, and the bytes of /steps a vertex and iteration, which leave measuring out."""
    first, vertices = WAYS[name].first, 2 * side * side
    with Log(path) as log:
        steps, kernels = log.table("steps"), log.table("kernels")
    steps, kernels = steps[first:], kernels[kernels["step"] >= first]
    iterations, rows = float(steps["iters"].mean()), defaultdict(lambda: [0, 0])
    for row in kernels:
        kernel = row["name"].decode().strip("()")
        rows[kernel][0] += int(row["launches"])
        rows[kernel][1] += int(row["bytes"] if kernel in UNTIMED else row["declared"])
    found = [dict(zip(FIELDS, (name, vertices, iterations, kernel, n / len(steps), b / len(steps)), strict=True))
             for kernel, (n, b) in rows.items()]
    return found, float(steps["n_bytes"].mean()) / vertices / iterations


def measured_kernels():
    """{(method, kernel): ms of a step} on the H100 at 100,352 vertices."""
    return {(r["method"], r["kernel"]): float(r["ms_per_step"]) for r in rows("h100-kernels.csv")}


def time_of(device, row):
    return seconds(device, float(row["launches"]), float(row["bytes"]), row["kernel"])


def parts(device, found):
    """Seconds of a step by bytes, launches and reads."""
    shares = np.zeros(3)
    for row in found:
        whole, waits = (seconds(device, row["launches"], b, row["kernel"]) for b in (row["bytes"], 0))
        shares += [whole - waits, 0, waits] if row["kernel"] == "read" else [whole - waits, waits, 0]
    return shares


def told(name, found, each):
    """Lines of one method at one size; each: bytes a vertex and iteration without measuring."""
    vertices, iterations = found[0]["vertices"], found[0]["iterations"]
    cards, measured = devices(), measured_kernels() if vertices == PROFILED else {}
    kernels = [r for r in found if r["kernel"] not in UNTIMED]
    launches = sum(r["launches"] for r in kernels) / iterations
    reads = sum(r["launches"] for r in found if r["kernel"] == "read") / iterations
    every = sum(r["bytes"] for r in kernels) / vertices / iterations
    lines = ["", f"{WAYS[name].title}, {vertices} vertices, {iterations:g} iterations a step",
             f"  an iteration, detection included: {launches:.1f} launches, {reads:.1f} reads, {1e-3 * each:.1f} kB a vertex "
             f"(target {TARGET}), {1e-3 * every:.1f} with measuring"]  # fmt: skip
    for card, device in cards.items():
        by = 1e3 * parts(device, found)
        lines.append(f"  {card}: {by.sum():.2f} ms a step = bytes {by[0]:.2f} + launches {by[1]:.2f} ({by[1] / by.sum():.0%}) "
                     f"+ reads {by[2]:.2f}; {by.sum() / iterations:.3f} ms an iteration")
    if measured:
        lines.append(f"  measured on the H100: {measured[name, 'total']:.1f} ms a step in kernels, each waited for")
    lines.append(f"  {'ms of a step':34}{'launches':>10}{'MB':>10}" + "".join(f"{c:>9}" for c in cards) + f"{'measured':>10}")
    for row in sorted(found, key=lambda r: -time_of(cards["H100"], r))[:LONGEST]:
        cells = "".join(f"{1e3 * time_of(device, row):9.3f}" for device in cards.values())
        beside = measured.get((name, row["kernel"]))
        lines.append(f"  {row['kernel'][:33]:34}{row['launches']:10.1f}{1e-6 * row['bytes']:10.2f}{cells}"
                     + (f"{beside:10.3f}" if beside else f"{'-':>10}"))
    return lines


def model(experiment):
    """Launches, bytes and reads of gpu-check's steps on the simulated device, and the time that they take by them."""
    sides, (there, backend), all_rows = experiment.options.pop("detail", ()), simulated(experiment), []
    lines = ["a step by bytes / (share x bandwidth) + launches x latency + reads x latency, from devices.csv",
             "bytes as the kernels declare them, without regard to caches; the sheets of gpu-check"]
    if backend == "cpu":
        lines.append("on the CPU, as no simulated device was built: launches are chunks, and there are no reads")
    for name, way in WAYS.items():
        for side in sides or way.sides:
            config = write_config(there, name, side)
            sets = {"exec.backend": backend, "exec.threads": 1, "log.kernels": "on", "log.frames_every": 9, **way.sets}
            path = there.run(f"{name}_{side}", config, sets)
            found, each = counted(path, name, side)
            lines += told(name, found, each)
            all_rows += [row | {"launches": f"{row['launches']:g}", "bytes": f"{row['bytes']:.0f}"} for row in found]
    table = experiment.out / "gpu-model.csv"
    with table.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(all_rows)
    experiment.result(table)
    experiment.keep_text("gpu-model", lines)


def beside_measured(kept=MEASURED.parent / "gpu-model.csv"):
    """The kept model beside the kernels that were measured, as lines."""
    if not kept.exists():
        return ["no results/gpu-model.csv: ./loom figure gpu-model --update"]
    with kept.open() as file:
        model_ = {(r["method"], r["kernel"]): r for r in csv.DictReader(file) if r["vertices"] == str(PROFILED)}
    card = devices()["H100"]
    lines = ["milliseconds of a step on the H100 at 100,352 vertices: measured, by the model of results/gpu-model.csv"]
    for (name, kernel), ms in measured_kernels().items():
        row = model_.get((name, kernel))
        if row:
            by = 1e3 * time_of(card, row)
            lines.append(f"  {name:14} {kernel:28}{ms:9.3f}{by:9.3f}  {ms / by:5.1f} times")
    return lines


FIGURES = {
    "gpu-table": ("a step on a GPU by phase, size and kernel, beside the processor", draw),
    "gpu-model": ("launches, bytes and reads of a step, and its time by a device's bandwidth and latency", model),
    "gpu-methods": ("a step of ten methods on a GPU and on eight threads of its machine", draw_methods),
    "gpu-table-bars": ("the same as numbers with bounds", bars),
}
