"""A fitted material put to the tests that it was fitted to, by runs of loom, and a picture of that."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from loomcloth.fabric import model, plate, strips
from loomcloth.fabric.fit import Fit
from loomcloth.fabric.measured import Curve, Fabric

BOUND = 0.02  # of the largest force: by this much simulated strips may leave the model's curve
ANGLE_BOUND = 2.0  # degrees: by this much an overhang of twice the bending length may miss 41.5
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")


@dataclass
class Check:
    pulled: list[strips.Pulled] = field(default_factory=list)
    off: dict[str, float] = field(default_factory=dict)  # simulated less model over the largest force
    fell: dict[str, float] = field(default_factory=dict)  # degrees, by the strip's name

    @property
    def passed(self) -> bool:
        angles = [abs(v - strips.PEIRCE) for v in self.fell.values()]
        return max(self.off.values()) <= BOUND and max(angles, default=0.0) <= ANGLE_BOUND

    def lines(self) -> list[str]:
        out = [
            f"simulated {name:18} {100 * v:.2f} % of the largest force off the model (bound {100 * BOUND:g})"
            for name, v in self.off.items()
        ]
        out += [
            f"simulated overhang{a.removeprefix('cantilever')}: falls by {v:.1f} degrees "
            f"({strips.PEIRCE} +- {ANGLE_BOUND:g})"
            for a, v in self.fell.items()
        ]
        return out


def check(path: Path, fabric: Fabric, fit: Fit, folder: Path | None = None) -> Check:
    """Runs for the material file `path`, which is of this fit; in a folder, if logs are to stay."""
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="loom-fabric-") as work:
            return check(path, fabric, fit, Path(work))
    out, name = Check(), path.stem
    (folder / "materials").mkdir(exist_ok=True)
    (folder / f"materials/{name}.ini").write_text(path.read_text())
    for c in fabric.of("tension"):
        p = strips.pull(folder, name, fabric.density, c.angle, max(c.y))
        force, _ = model.tension(fit.stretch, c.angle, p.strain)
        out.pulled.append(p)
        out.off[c.name] = float(np.abs(force - p.force).max() / p.force.max())
    for c in fabric.of("cantilever"):
        width = c.width
        if fit.bending.word == "plate" and np.isnan(width):
            width = plate.WIDTH
        elif fit.bending.word != "plate":
            width = np.nan
        out.fell[c.name] = strips.fall(
            folder, name, c.angle, 2 * float(np.mean(c.y)), fit.bending.edge, width
        )
    return out


# ---- picture ----
def draw_tension(axes: Any, curves: list[Curve], fit: Fit, pulled: list[strips.Pulled]) -> None:
    """Forces and contractions of all angles: measured, fitted, simulated."""
    for c, p, colour in zip(curves, pulled, COLOURS, strict=False):
        strain = np.linspace(0, 1.02 * max(c.x), 200)[1:]
        force, side = model.tension(fit.stretch, c.angle, strain)
        here = p.strain <= strain[-1]
        for a, seen, line, dots in ((axes[0], c.y, force, p.force), (axes[1], c.side, side, p.contraction)):
            a.plot(100 * strain, line if a is axes[0] else 100 * line, color=colour, lw=1.2)
            scale = 1 if a is axes[0] else 100
            a.plot(100 * np.array(c.x), scale * np.array(seen), "o", mfc="none", color=colour, ms=5)
            few = np.flatnonzero(here)[::6]
            a.plot(100 * p.strain[few], scale * dots[few], "x", color=colour, ms=5)
        axes[0].plot([], [], color=colour, lw=3, label=f"{c.angle:g} deg")
    for style, word in (
        ({"marker": "o", "mfc": "none"}, "measured"),
        ({"ls": "-"}, "model"),
        ({"marker": "x"}, "simulated"),
    ):
        axes[0].plot([], [], **({"ls": "none", "color": "black"} | style), label=word)
    axes[0].legend()
    axes[0].set_ylabel("force over width (N/m)")
    axes[1].set_ylabel("contraction (%)")
    for a in axes[:2]:
        a.set_xlabel("strain (%)")


def draw_bending(axes: Any, fabric: Fabric, fit: Fit) -> None:
    angles = sorted({c.angle for c in fabric.curves if c.test != "tension"})
    most = max(max(c.x) for c in fit.bent)
    q = np.linspace(0.5, max(1.3 * most, 50.0), 200)
    for angle, colour in zip(angles, COLOURS, strict=False):
        shown: set[str] = set()
        for c in (c for c in fit.bent if c.angle == angle):
            style = "--" if c.width > plate.WIDTH else ":" if c.width < plate.WIDTH else "-"
            label = None if shown else f"{angle:g} deg"
            if style not in shown:
                axes.plot(
                    q, 1e6 * fit.bending.rigidity(angle, q, c.width), style, color=colour, lw=1.2, label=label
                )
            shown.add(style)
            axes.plot(c.x, 1e6 * np.array(c.y) / np.array(c.x), "o", mfc="none", color=colour, ms=5)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("curvature (1/m)")
    axes.set_ylabel("moment over width and curvature (1e-6 N m)")
    axes.legend()


def draw(fabric: Fabric, fit: Fit, seen: Check) -> Any:
    from loomcloth.style import plain_axes

    figure, axes = plain_axes(1, 3, width=3.9, height=3.5)
    draw_tension(axes, fabric.of("tension"), fit, seen.pulled)
    draw_bending(axes[2], fabric, fit)
    return figure
