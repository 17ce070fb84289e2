"""Orders of convergence: the error on one mesh over that on the next finer one, with cells half as long."""

from __future__ import annotations

import numpy as np

from loomcloth.validation import cantilever, vibration
from loomcloth.validation.laboratory import Laboratory, Row

SECOND, HALF = 2, 0.25  # order of theory; of it, half an order more or less
MODE = 2  # of a free plate
GAMMA = 10
KINDS = ("regular", "alternate")  # of a cantilever, where the membrane follows the bend


def order_row(key: str, quantity: str, method: str, errors: list[float]) -> Row:
    found = float(np.log2(abs(errors[0] / errors[1])))
    return Row(key, quantity, method, SECOND, found, HALF, "rigidity of the finer mesh x 1.05")


def plate_order(lab: Laboratory, kind: str) -> Row:
    key, errors = f"order-plate-{kind}", []
    for n in (16, 32):
        stiffer = lab.factor(key, 1.05) if n == 32 else 1.0
        errors.append(vibration.measure_plate(lab, kind, "plate", n, 6, stiffer)[MODE - 1].error)
    quantity = f"order of the error of frequency {MODE} of a free plate"
    return order_row(key, quantity, f"plate, {kind}, n 16 to 32", errors)


def cantilever_order(lab: Laboratory, kind: str, n: int) -> Row:
    key, theory = f"order-cantilever-{kind}", cantilever.elastica(GAMMA)
    errors = []
    for cells in (n, 2 * n):
        stiffer = lab.factor(key, 1.05) if cells > n else 1.0
        errors.append(cantilever.measure_tip(lab, kind, "plate", GAMMA, cells, stiffer) / theory - 1)
    quantity = f"order of the error of a heavy cantilever, Gamma {GAMMA}"
    return order_row(key, quantity, f"plate, {kind}, n {n} to {2 * n}", errors)


def measure(lab: Laboratory) -> list[Row]:
    if lab.quick:
        return [cantilever_order(lab, "alternate", 10)]
    rows = [plate_order(lab, kind) for kind in vibration.KINDS]
    return rows + [cantilever_order(lab, kind, 20) for kind in KINDS]
