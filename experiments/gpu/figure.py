"""The time of a step on a GPU by phase, size and kernel, from the steps that gpu-check has logged."""

import csv
from collections import defaultdict
from pathlib import Path

import numpy as np

from loomcloth.experiment import Bar
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
    del experiment  # reads a report, runs nothing
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


FIGURES = {
    "gpu-table": ("a step on a GPU by phase, size and kernel, beside the processor", draw),
    "gpu-methods": ("a step of ten methods on a GPU and on eight threads of its machine", draw_methods),
    "gpu-table-bars": ("the same as numbers with bounds", bars),
}
