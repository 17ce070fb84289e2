"""The cost of detection against the number of triangles, and how near it is to linear."""

import numpy as np

from loomcloth.experiment import Bar, plain_axes

SIDES = (71, 113, 159, 224, 317, 448, 708)  # 9,800 to 999,698 triangles
HASH_SIDES = SIDES[:5]


def table(experiment, plugin, sides):
    """CSV of tests/bench/bench_broad.c."""
    arguments = ["--threads", 2, "--plugin", plugin, *sides]
    path = experiment.program("bench_broad", arguments, f"bench_broad_{plugin}.csv")
    return np.atleast_1d(np.genfromtxt(path, delimiter=",", names=True))


def draw(experiment):
    bvh = table(experiment, "patch_bvh", SIDES)
    grid = table(experiment, "spatial_hash", HASH_SIDES)
    figure, axes = plain_axes(1, 3)
    n = bvh["triangles"]
    axes[0].loglog(n, bvh["query_ms"], "o-", color="#0072B2", label="patch_bvh, query")
    axes[0].loglog(n, bvh["broad_ms"], "s-", color="#56B4E9", label="of it broad phase")
    axes[0].loglog(n, bvh["bound_ms"], "^-", color="#D55E00", label="patch_bvh, step bound")
    axes[0].loglog(
        grid["triangles"], grid["query_ms"], "v--", color="#E69F00", label="spatial_hash, query"
    )
    axes[0].loglog(n, bvh["query_ms"][0] * n / n[0], ":", color="#666666", label="linear")
    axes[0].set(xlabel="triangles", ylabel="time (ms), 2 threads")
    axes[0].legend()

    axes[1].semilogx(n, 1e3 * bvh["cpu_ms"] / n, "o-", color="#0072B2", label="patch_bvh")
    axes[1].semilogx(
        grid["triangles"], 1e3 * grid["cpu_ms"] / grid["triangles"], "v--", color="#E69F00",
        label="spatial_hash",
    )
    axes[1].set(xlabel="triangles", ylabel="processor time of a query per triangle (us)", ylim=(0, None))
    axes[1].legend()

    axes[2].semilogx(n, bvh["bytes"], "o-", color="#009E73", label="patch_bvh")
    axes[2].semilogx(
        grid["triangles"], grid["bytes"], "v--", color="#E69F00", label="spatial_hash"
    )
    axes[2].axhline(300, color="#D55E00", linestyle=":", label="bound")
    axes[2].set(xlabel="triangles", ylabel="memory per triangle (bytes)", ylim=(0, None))
    axes[2].legend()
    experiment.save(figure, "bench-broad", keep=True)


def bars(experiment):
    bvh = table(experiment, "patch_bvh", SIDES)
    n = np.log(bvh["triangles"])
    at = np.argmin(np.abs(bvh["triangles"] - 1e5))
    return [
        Bar("broad phase of 100k triangles", bvh["broad_ms"][at] / 1e3, 0.15, "s"),
        Bar("exponent of query time in triangles", np.polyfit(n, np.log(bvh["query_ms"]), 1)[0], 1.15),
        Bar("exponent of bound time in triangles", np.polyfit(n, np.log(bvh["bound_ms"]), 1)[0], 1.15),
        Bar("memory beside the pairs", np.max(bvh["bytes"]), 300, "B/triangle"),
    ]


FIGURES = {
    "bench-broad": ("cost of detection and its memory against triangles, two detectors", draw),
    "bench-broad-bars": ("the same as numbers with bounds", bars),
}
