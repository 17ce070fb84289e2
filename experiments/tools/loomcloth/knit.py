"""Knits of a log: points on the only yarn, pairs of them in contact, how loops hang in each other."""

import numpy as np

from loomcloth.yarns import weights

POINTS = 11  # to a segment, as contact has them
LOOP = 8  # vertices of a loop


def curve_points(log, x, points=POINTS):
    """Points of the only yarn, open, [points n + 1][3]."""
    segs = np.asarray(log.scene("yarns/segments"))
    q = x[segs]
    q[segs[:, 0] < 0, 0] = 2 * q[segs[:, 0] < 0, 1] - q[segs[:, 0] < 0, 2]
    q[segs[:, 3] < 0, 3] = 2 * q[segs[:, 3] < 0, 2] - q[segs[:, 3] < 0, 1]
    w = weights(np.arange(points) / points)
    return np.vstack([np.einsum("ua,sac->suc", w, q).reshape(-1, 3), q[-1:, 2]])


def near_pairs(y, reach):
    """Pairs i < j of points nearer than reach and not 1.5 segments along the yarn, [.][2], by cells of
    that size; their distances."""
    cell = np.floor((y - y.min(axis=0)) / reach).astype(np.int64) + 1
    base = cell.max() + 2
    key = (cell[:, 0] * base + cell[:, 1]) * base + cell[:, 2]
    order = np.argsort(key, kind="stable")
    ordered, found, apart = key[order], [], []
    for shift in ((a * base + b) * base + c for a in (-1, 0, 1) for b in (-1, 0, 1) for c in (-1, 0, 1)):
        first = np.searchsorted(ordered, key + shift, "left")
        count = np.searchsorted(ordered, key + shift, "right") - first
        i = np.repeat(np.arange(len(y)), count)
        at = np.arange(len(i)) - np.repeat(np.cumsum(count) - count, count) + np.repeat(first, count)
        j = order[at]
        keep = j > i + 16
        i, j = i[keep], j[keep]
        d = np.linalg.norm(y[i] - y[j], axis=1)
        found.append(np.stack([i[d < reach], j[d < reach]], axis=1))
        apart.append(d[d < reach])
    return np.vstack(found), np.concatenate(apart)


def gauss(a, b):
    """Linking integral of Gauss of curves a [n][p][3] with b [n][q][3], polylines: [n].  It changes
    steadily with either curve, and by 1 where they pass through each other (Klenin and Langowski 2000,
    eqs. 15 and 16: the solid angle of two segments)."""
    p1, p2 = a[:, :-1, None], a[:, 1:, None]
    p3, p4 = b[:, None, :-1], b[:, None, 1:]
    r13, r14, r23, r24 = p3 - p1, p4 - p1, p3 - p2, p4 - p2

    def unit(v):
        return v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-300)

    n = [unit(np.cross(u, v)) for u, v in ((r13, r14), (r14, r24), (r24, r23), (r23, r13))]
    angle = sum(np.arcsin(np.clip((n[k] * n[(k + 1) % 4]).sum(-1), -1, 1)) for k in range(4))
    side = np.sign((np.cross(p4 - p3, p2 - p1) * r13).sum(-1))
    return (angle * side).sum(axis=(1, 2)) / (4 * np.pi)


def neighbours(log):
    """Vertices of loops that hang in the loop below: lower [n][9], left and right half of the upper
    one [n][5] each; of a flat piece of one yarn."""
    loop = np.asarray(log.scene("yarns/loop"))
    rows, cols = loop.max(axis=0) + 1
    row = LOOP * cols + 1
    # rows to and fro, with 5 vertices of the turn behind each
    along = np.arange(LOOP * cols + 1)
    vert = np.stack([(row + 5) * r + (along if r % 2 == 0 else along[::-1]) for r in range(rows)])
    whole = np.stack([vert[:, LOOP * c : LOOP * c + LOOP + 1] for c in range(cols)], axis=1)
    lower, upper = whole[:-1].reshape(-1, LOOP + 1), whole[1:].reshape(-1, LOOP + 1)
    return lower, upper[:, : LOOP // 2 + 1], upper[:, LOOP // 2 :]


def links(log, x):
    """Gauss integrals of both halves of every loop with the loop that it hangs in, [2][n], about +-0.88
    in a fresh knit and 0 where a loop has slipped out; curves are taken for polylines."""
    lower, left, right = neighbours(log)
    return np.stack([gauss(x[half], x[lower]) for half in (left, right)])
