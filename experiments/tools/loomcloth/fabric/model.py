"""Forces of the elements tri_wang and hinge_wang in strips that are pulled or bent, along whole curves.

tri_wang: E = k0/2 G00^2 + k1 G00 G11 + k2/2 G11^2 + k3 G01^2 with k twice the table's row, read at the
strain itself (framework/elements/tri_wang).  A strip cut at an angle a to the warp and free at its
sides has one stress, s along its length: S = s (c^2, n^2, c n) with c = cos a, n = sin a, so that

    G00 = s (k2 c^2 - k1 n^2)/D,  G11 = s (k0 n^2 - k1 c^2)/D,  G01 = s c n/k3,   D = k0 k2 - k1^2

and at a stretch of w along the strip s = (w^2 - 1)/2 over c^2 G00 + n^2 G11 + 2 c n G01 for s = 1; the
force over the width at rest is w s.

hinge_wang: a strip with a mesh of grid cells along it, cut by alternating diagonals, has hinges across
it (k), along it (not bent, as the strip curves across its width by itself) and diagonal ones (d, the
mean of both directions).  With t the curvature of the diagonals the energy over the area is, at q,

    (k (q - t)^2 + 4 d t^2)/8,  least at t = k q/(k + 4 d):  moment over width B q, B = k d/(k + 4 d)

(tests/physics/test_cantilever.c derives it for k = d).  The hinge's own curvature, by which the table is
read, is (q - t)/2 across and t diagonally.
"""

from __future__ import annotations

import numpy as np

STRETCH = ("rest", "0", "22", "45", "67", "90")
BEND = ("0", "5", "10", "15", "20")
FULL = 1 / 6  # strain from which on the stretched rows hold alone
SPACING = 5.0  # 1/m, of the rows of bending
STEPS = 80  # of fixed-point iterations at most, each of which goes half the way


def moduli(rows: np.ndarray, share: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """k [..., 4], N/m, of tables [..., 6, 4] at shares in [0, 1] and angles in [0, 4] of 22.5 degrees."""
    low = np.minimum(angle.astype(int), 3)
    f = (angle - low)[..., None]
    far = (1 - f) * row(rows, 1 + low) + f * row(rows, 2 + low)
    return 2 * np.maximum((1 - share[..., None]) * rows[..., 0, :] + share[..., None] * far, 0)


def row(tables: np.ndarray, i: np.ndarray) -> np.ndarray:
    """Row i [...] of tables [..., rows, columns]."""
    shape = np.broadcast_shapes(i.shape, tables.shape[:-2])
    whole = np.broadcast_to(tables, shape + tables.shape[-2:])
    return np.take_along_axis(whole, np.broadcast_to(i, shape)[..., None, None], -2)[..., 0, :]


def state_of(G: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Share and angle of Green strains [..., 3]: G00, G11, G01."""
    mean, half = 1 + G[..., 0] + G[..., 1], G[..., 0] - G[..., 1]
    radius = np.hypot(half, 2 * G[..., 2])
    share = np.clip((np.sqrt(np.maximum(mean + radius, 0)) - 1) / FULL, 0, 1)
    angle = np.abs(0.5 * np.arctan2(2 * G[..., 2], half))
    return share, np.clip(angle * 8 / np.pi, 0, 4)


def tension(
    rows: np.ndarray, degrees: np.ndarray | float, strain: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Force over width, N/m, and contraction [..., n] of strips at angles and strains [n], for tables
    [..., 6, 4]; NaN where the material has no resistance."""
    rows = rows[..., None, :, :]
    c, n = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    axis = np.broadcast_to(np.stack([c * c, n * n, c * n], axis=-1), (*np.shape(strain), 3))
    slanted = abs(axis[..., 2]) > 1e-12
    w = 1 + strain
    along = 0.5 * (w * w - 1)
    G = along[..., None] * axis * np.ones((*rows.shape[:-3], 1, 1))
    share, angle = state_of(G)
    for _ in range(STEPS):
        k0, k1, k2, k3 = np.moveaxis(moduli(rows, share, angle), -1, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            D = k0 * k2 - k1 * k1
            D = np.where(D > 0, D, np.nan)
            e = np.stack(
                [
                    (k2 * axis[..., 0] - k1 * axis[..., 1]) / D,
                    (k0 * axis[..., 1] - k1 * axis[..., 0]) / D,
                    np.where(slanted, axis[..., 2] / k3, 0.0),
                ],
                axis=-1,
            )
            s = along / (axis[..., 0] * e[..., 0] + axis[..., 1] * e[..., 1] + 2 * axis[..., 2] * e[..., 2])
            move = 0.5 * (s[..., None] * e - G)
        G = G + move
        if not np.nanmax(abs(move)) > 1e-11:
            break
        share, angle = state_of(np.nan_to_num(G))
    width = np.sqrt(np.maximum((1 + 2 * G[..., 0]) * (1 + 2 * G[..., 1]) - 4 * G[..., 2] ** 2, 0)) / w
    return w * s, 1 - width


def stiffness(tables: np.ndarray, degrees: np.ndarray | float, curvature: np.ndarray) -> np.ndarray:
    """k_e [..., n], N m, of tables [..., 1, 5, 3] for edges at degrees to the warp, at their own
    curvatures (1/m)."""
    folded = abs((np.asarray(degrees) + 90) % 180 - 90) / 45
    bent = np.clip(curvature / SPACING, 0, len(BEND) - 1)
    low = np.minimum(bent.astype(int), len(BEND) - 2)
    t = (bent - low)[..., None]
    both = (1 - t) * row(tables, low) + t * row(tables, low + 1)
    weights = np.stack([np.maximum(1 - folded, 0), 1 - abs(folded - 1), np.maximum(folded - 1, 0)], axis=-1)
    return (both * weights).sum(axis=-1)


def rigidity(table: np.ndarray, degrees: np.ndarray | float, curvature: np.ndarray) -> np.ndarray:
    """Moment over width and curvature [..., n], N m, of strips cut at degrees [n] and bent to curvatures
    [n] (1/m), for tables [..., 5, 3]."""
    tables, degrees = table[..., None, :, :], np.asarray(degrees, float)
    t = curvature / 5 * np.ones((*tables.shape[:-3], 1))
    for _ in range(STEPS):
        k = stiffness(tables, degrees + 90, 0.5 * (curvature - t))
        d = 0.5 * (stiffness(tables, degrees + 45, t) + stiffness(tables, degrees - 45, t))
        move = 0.5 * (k * curvature / (k + 4 * d) - t)
        t = t + move
        if not abs(move).max() > 1e-9:
            break
    return k * d / (k + 4 * d)
