"""Yarns of a log as tubes."""

import numpy as np

from loomcloth import checks

SAMPLES = 4  # points to a segment
SIDES = 10


def weights(u):
    """[len(u)][4]: uniform Catmull-Rom, as geom/spline.kern.h."""
    return 0.5 * np.stack(
        [2 * u**2 - u - u**3, 2 - 5 * u**2 + 3 * u**3, u + 4 * u**2 - 3 * u**3, u**3 - u**2], axis=1
    )


class Yarns:
    def __init__(self, log):
        checks.yarns(log)
        first = log.scene("yarns/first")
        self.count = 0 if first is None else len(first) - 1
        if self.count == 0:
            return
        self.first = first
        self.closed = log.scene("yarns/closed")
        self.segments = log.scene("yarns/segments")
        self.owner = log.scene("yarns/yarn")
        radius, objects = log.scene("radius"), log.scene("object")
        self.radius, self.object = radius[first[:-1]], objects[first[:-1]]

    def curve(self, x, yarn):
        """Points on the centre line of one yarn [.][3], m; a closed one ends where it begins."""
        segments = self.segments[self.owner == yarn]
        q = x[segments]
        ends = segments < 0
        q[ends[:, 0], 0] = 2 * q[ends[:, 0], 1] - q[ends[:, 0], 2]
        q[ends[:, 3], 3] = 2 * q[ends[:, 3], 2] - q[ends[:, 3], 1]
        points = np.einsum("ua,sac->suc", weights(np.arange(SAMPLES) / SAMPLES), q)
        return np.vstack([points.reshape(-1, 3), q[-1:, 2]])

    def along(self, values, yarn):
        """Values [n] of the vertices at the points of curve(), linear in between."""
        ends = values[self.segments[self.owner == yarn, 1:3]]
        u = np.arange(SAMPLES) / SAMPLES
        return np.append((np.outer(ends[:, 0], 1 - u) + np.outer(ends[:, 1], u)).ravel(), ends[-1, 1])

    def tube(self, x, yarn, values=None):
        import pyvista as pv  # a second of processor time, which plans and tables of yarns need not pay

        points = self.curve(x, yarn)
        line = pv.PolyData(points)
        line.lines = np.hstack([[len(points)], np.arange(len(points))])
        if values is not None:
            line.point_data["paint"] = self.along(values, yarn)
        return line.tube(radius=float(self.radius[yarn]), n_sides=SIDES, capping=True)

    def mesh(self, x, yarns, values=None):
        """All tubes of some yarns in one mesh, with "paint" from values [n] of vertices."""
        tubes = [self.tube(x, k, values) for k in yarns]
        return tubes[0] if len(tubes) == 1 else tubes[0].merge(tubes[1:], merge_points=False)
