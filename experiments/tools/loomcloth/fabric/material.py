"""A fit as the INI file of a material, which says of each number where it comes from."""

from __future__ import annotations

import numpy as np

from loomcloth.fabric import model
from loomcloth.fabric.fit import ERROR, POOR, SURE, Fit
from loomcloth.fabric.measured import Fabric

WORDS = ("k0", "k1", "k2", "k3")
LIMITS = "its stiffness is linear in the strain up to 1/6"
BENDING = {
    "plate": "its moment is proportional to the curvature",
    "wang_bend": "its bending stiffness is linear in the curvature between 0, 5, ..., 20 1/m",
}
ASSUMED = {
    "plate": "bending_bias and bending_poisson to an isotropic sheet's that does not contract",
    "wang_bend": "bent edges at 45 degrees to the mean of their neighbours, bending to the curvature below",
}
EDGES = ("0", "45", "90")


def assumed(sure: np.ndarray, names: tuple[str, ...]) -> str:
    left = [name for name, ok in zip(names, sure, strict=True) if not ok]
    return f"  ; assumed: {' '.join(left)}" if left else ""


def rows(
    key: str, table: np.ndarray, sure: np.ndarray, names: tuple[str, ...], labels: tuple[str, ...], unit: str
) -> list[str]:
    out = []
    for label, values, ok in zip(labels, table, sure, strict=True):
        text = " ".join(f"{v:.6g}" for v in values)
        out.append(f"{key + '_' + label:12} = {text} {unit}{assumed(ok, names)}")
    return out


def limits(name: str, fit: Fit) -> str:
    """Why the model does not follow a curve."""
    return LIMITS if name.startswith("tension") else BENDING[fit.bending.word]


def text(fabric: Fabric, fit: Fit, title: str) -> str:
    poor = [name for name, off in fit.off.items() if off > POOR]
    lines = [
        f"; {title} - fitted by `./loom fabric` to {fabric.path.rsplit('/', 1)[-1]}.",
        "; RMS of model less measurement, over the largest reading of the curve:",
        *(f";   {name:26} {100 * off:.2f} %" for name, off in fit.off.items()),
        *(f"; {name}: the model does not follow this curve: {limits(name, fit)}" for name in poor),
        f"; The curves determine {int(fit.stretch_sure.sum())} of 24 numbers of stretching,",
        f"; {fit.bending.count}:",
        f"; those that an error of {100 * ERROR:g} % of a reading leaves within {100 * SURE:g} %.",
        "; The others, named behind their row, are assumed: stretched rows at 0, 45 and 90 degrees as near",
        "; to the one at rest as the curves allow, those between to the mean of their neighbours, k3 at rest",
        f"; to an isotropic sheet's, {ASSUMED[fit.bending.word]}.",
        "[material]",
        f"model        = wang+{fit.bending.word}",
        f"density      = {fabric.density:.6g} kg/m^2",
        *rows("stretch", fit.stretch, fit.stretch_sure, WORDS, model.STRETCH, "N/m"),
        *fit.bending.rows(),
    ]
    return "\n".join(lines) + "\n"
