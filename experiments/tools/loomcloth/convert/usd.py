"""USD: meshes and BasisCurves of a stage as texts of OBJ files and a configuration."""

from __future__ import annotations

import re
import sys

import numpy as np
from pxr import Tf, Usd, UsdGeom

from loomcloth.errors import LogError

LEAST = 3  # points of a yarn
SAME = 1e-6  # relative difference of radii that are one
UNEVEN = 0.01  # change of the width along a curve that is told


def _say(text: str) -> None:
    print(text, file=sys.stderr)


class Curve:
    """Points (m) that the spline passes, the radius (m; 0: none is told), and whether it closes."""

    def __init__(self, points: np.ndarray, closed: bool, radius: float) -> None:
        self.points, self.closed, self.radius = points, closed, radius


def _widths(
    curves: UsdGeom.BasisCurves, counts: np.ndarray, ends: np.ndarray, when: Usd.TimeCode
) -> list[np.ndarray]:
    """Widths along each curve; empty without widths."""
    values = np.array(curves.GetWidthsAttr().Get(when) or [], dtype=float)
    if not len(values):
        return []
    kind = str(curves.GetWidthsInterpolation())
    size = {"constant": 0, "uniform": 0, "vertex": 1, "varying": 2}.get(kind, 0)
    if kind == "constant":
        values = np.full(len(counts), values[0])
    parts = counts if size == 1 else ends if size == 2 else np.ones(len(counts), dtype=int)
    if parts.sum() != len(values):
        raise LogError(
            f"{curves.GetPath()}: {len(values)} widths of the interpolation {kind}, not {parts.sum()}"
        )
    return np.split(values, np.cumsum(parts)[:-1])


def curves_of(prim: Usd.Prim, when: Usd.TimeCode, scale: float, place: np.ndarray) -> list[Curve]:
    """The curves of a BasisCurves prim, in metres; place: [4][4] of rows, as USD multiplies."""
    curves, path = UsdGeom.BasisCurves(prim), prim.GetPath()
    kind, basis = str(curves.GetTypeAttr().Get(when)), str(curves.GetBasisAttr().Get(when))
    wrap = str(curves.GetWrapAttr().Get(when))
    if kind == "cubic" and basis != "catmullRom":
        raise LogError(
            f"{path}: cubic curves of the basis {basis}; linear and catmullRom are read: resample the curves "
            "to points on them (in Houdini: Resample, in Blender: convert to Poly) and export these"
        )
    points = np.array(curves.GetPointsAttr().Get(when) or [], dtype=float).reshape(-1, 3)
    counts = np.array(curves.GetCurveVertexCountsAttr().Get(when) or [], dtype=int)
    if counts.sum() != len(points):
        raise LogError(f"{path}: {len(points)} points, not {counts.sum()} as its curves have")
    closed = wrap == "periodic"
    hidden = kind == "cubic" and wrap == "nonperiodic"  # the first and last point only shape the curve
    points = scale * (points @ place[:3, :3] + place[3, :3])
    stretch = abs(np.linalg.det(place[:3, :3])) ** (1 / 3)
    ends = counts if closed or not hidden else counts - 2  # varying: one for each end of a segment
    widths = _widths(curves, counts, ends, when)
    if widths and abs(place[:3, :3] @ place[:3, :3].T - stretch**2 * np.eye(3)).max() > 1e-6 * stretch**2:
        _say(f"{path}: its place stretches it; widths grow by the mean of the three directions")
    out = []
    for k, (first, count) in enumerate(zip(np.cumsum(counts) - counts, counts, strict=True)):
        own = points[first : first + count][1:-1] if hidden else points[first : first + count]
        if len(own) < LEAST:
            raise LogError(f"{path}: curve {k} has {len(own)} points on it; a yarn needs {LEAST}")
        radius = 0.5 * scale * stretch * widths[k].mean() if widths else 0.0
        if widths and np.ptp(widths[k]) > UNEVEN * widths[k].mean():
            _say(f"{path}: the width of curve {k} changes along it; its mean is taken")
        out.append(Curve(own, closed, radius))
    return out


def by_radius(curves: list[Curve]) -> list[list[Curve]]:
    groups: list[list[Curve]] = []
    for c in curves:
        for g in groups:
            if abs(g[0].radius - c.radius) <= SAME * g[0].radius:
                g.append(c)
                break
        else:
            groups.append([c])
    return groups


def _vertices(points: np.ndarray) -> list[str]:
    return [f"v {x:.17g} {y:.17g} {z:.17g}" for x, y, z in points]


def curve_text(curves: list[Curve]) -> str:
    lines, first = [], 1
    for c in curves:
        lines += _vertices(c.points)
        ids = [*range(first, first + len(c.points)), *([first] if c.closed else [])]
        lines.append("l " + " ".join(map(str, ids)))
        first += len(c.points)
    return "\n".join(lines) + "\n"


def _coordinates(
    mesh: UsdGeom.Mesh, corners: np.ndarray, when: Usd.TimeCode
) -> tuple[np.ndarray, np.ndarray]:
    """Material coordinates and their index at each corner; both empty without st."""
    st, none = UsdGeom.PrimvarsAPI(mesh).GetPrimvar("st"), (np.zeros((0, 2)), np.zeros(0, dtype=int))
    if not st or not st.HasValue():
        return none
    values = np.array(st.ComputeFlattened(when), dtype=float).reshape(-1, 2)
    kind = str(st.GetInterpolation())
    at = np.arange(len(corners)) if kind == "faceVarying" else corners
    if kind not in ("faceVarying", "vertex", "varying") or len(values) <= at.max(initial=0):
        _say(f"{mesh.GetPath()}: st of the interpolation {kind} is left out")
        return none
    return values, at


def mesh_text(prim: Usd.Prim, when: Usd.TimeCode, scale: float, place: np.ndarray) -> str:
    mesh, path = UsdGeom.Mesh(prim), prim.GetPath()
    points = np.array(mesh.GetPointsAttr().Get(when) or [], dtype=float).reshape(-1, 3)
    counts = np.array(mesh.GetFaceVertexCountsAttr().Get(when) or [], dtype=int)
    corners = np.array(mesh.GetFaceVertexIndicesAttr().Get(when) or [], dtype=int)
    if not len(counts) or counts.sum() != len(corners) or corners.max() >= len(points) or corners.min() < 0:
        raise LogError(f"{path}: its faces do not fit its {len(points)} points")
    scheme = mesh.GetSubdivisionSchemeAttr()
    if scheme.HasAuthoredValue() and str(scheme.Get(when)) != "none":
        _say(f"{path}: a subdivision surface; its cage is taken")
    uv, at = _coordinates(mesh, corners, when)
    turned = (str(mesh.GetOrientationAttr().Get(when)) == "leftHanded") != (np.linalg.det(place[:3, :3]) < 0)
    lines = _vertices(scale * (points @ place[:3, :3] + place[3, :3]))
    lines += [f"vt {u:.17g} {v:.17g}" for u, v in uv]
    group = np.zeros(len(counts), dtype=int)
    names = [""]
    for subset in UsdGeom.Subset.GetAllGeomSubsets(mesh):
        names.append(subset.GetPrim().GetName())
        group[np.array(subset.GetIndicesAttr().Get(when) or [], dtype=int)] = len(names) - 1
    firsts = np.cumsum(counts) - counts
    for g, name in enumerate(names):
        mine = np.flatnonzero(group == g)
        if name and len(mine):
            lines.append(f"g {name}")
        for f in mine:
            ids = list(range(firsts[f], firsts[f] + counts[f]))
            if turned:
                ids.reverse()
            words = [f"{corners[k] + 1}/{at[k] + 1}" if len(uv) else f"{corners[k] + 1}" for k in ids]
            lines.append("f " + " ".join(words))
    return "\n".join(lines) + "\n"


class _Folder:
    """Texts of files under names that are new."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.scene: list[str] = []

    def name(self, prim: Usd.Prim) -> str:
        base = re.sub("[^a-z0-9_]", "_", prim.GetName().lower())
        name, k = base, 1
        while f"{name}.obj" in self.texts:
            name, k = f"{base}_{k}", k + 1
        return name


def read(path: str) -> dict[str, str]:
    """Name and text of each file; all else that the stage has is told."""
    try:
        return _texts(Usd.Stage.Open(path))
    except Tf.ErrorException as error:
        said = str(error).splitlines()[-1].strip()
        raise LogError(f"{path}: the library of USD does not read it: {said}") from None
    except LogError as error:
        raise LogError(f"{path}: {error}") from None


def _texts(stage: Usd.Stage) -> dict[str, str]:
    out, when = _Folder(), Usd.TimeCode.EarliestTime()
    scale = UsdGeom.GetStageMetersPerUnit(stage)
    cache = UsdGeom.XformCache(when)
    up = str(UsdGeom.GetStageUpAxis(stage)).lower()
    out.scene.append(f"[run]\nup_axis = {up}\n")
    for prim in Usd.PrimRange.Stage(stage, Usd.TraverseInstanceProxies()):
        place = np.array(cache.GetLocalToWorldTransform(prim))
        if prim.IsA(UsdGeom.BasisCurves):
            for group in by_radius(curves_of(prim, when, scale, place)):
                name = out.name(prim)
                out.texts[f"{name}.obj"] = curve_text(group)
                radius = f"radius  = {group[0].radius:.7g}   ; m\n" if group[0].radius > 0 else ""
                if not radius:
                    _say(f"{prim.GetPath()}: no widths; give [yarn.{name}] radius")
                out.scene.append(f"[yarn.{name}]\npattern = obj\nfile    = {name}.obj\n{radius}")
        elif prim.IsA(UsdGeom.Mesh):
            name = out.name(prim)
            out.texts[f"{name}.obj"] = mesh_text(prim, when, scale, place)
            kinds = f"[cloth.{name}] shape = obj, or [body.{name}] shape = mesh"
            out.scene.append(f"; a mesh: {kinds}, with file = {name}.obj\n")
        elif prim.IsA(UsdGeom.Gprim):
            _say(f"{prim.GetPath()}: {prim.GetTypeName()} is left out; Mesh and BasisCurves are read")
    if not out.texts:
        raise LogError("the stage has neither meshes nor curves")
    return {**out.texts, "scene.ini": "\n".join(out.scene)}
