"""USD: points of cloths and yarns and transforms of bodies as samples over time, fields as primvars."""

from __future__ import annotations

import numpy as np
from pxr import Gf, Sdf, Tf, Usd, UsdGeom, Vt

from loomcloth.errors import LogError
from loomcloth.export.parts import Clip, Part

CLOTH, BODY = Gf.Vec3f(0.63, 0.10, 0.05), Gf.Vec3f(0.48, 0.46, 0.41)
Z_UP = 2


def _matrix(m: np.ndarray) -> Gf.Matrix4d:
    return Gf.Matrix4d(m.T.tolist())  # USD multiplies rows


def _rate(times: np.ndarray) -> float:
    """Time codes per second: a code for each frame where frames are evenly spaced."""
    return float(1.0 / np.median(np.diff(times))) if len(times) > 1 else 24.0


def _points(x: np.ndarray) -> Vt.Vec3fArray:
    return Vt.Vec3fArray.FromNumpy(x.astype(np.float32))


def _extent(x: np.ndarray) -> Vt.Vec3fArray:
    return _points(np.array([x.min(axis=0), x.max(axis=0)]))


class _Writer:
    def __init__(self, clip: Clip, stage: Usd.Stage):
        self.clip, self.stage = clip, stage
        times = clip.times
        self.rate = _rate(times)
        self.codes = [Usd.TimeCode(round(float(t - times[0]) * self.rate, 6)) for t in times]
        stage.SetTimeCodesPerSecond(self.rate)
        stage.SetFramesPerSecond(self.rate)
        stage.SetStartTimeCode(self.codes[0].GetValue())
        stage.SetEndTimeCode(self.codes[-1].GetValue())
        UsdGeom.SetStageMetersPerUnit(stage, 1.0)
        up = clip.log.up_axis
        UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z if up == Z_UP else UsdGeom.Tokens.y)
        root = UsdGeom.Xform.Define(stage, "/loom")
        stage.SetDefaultPrim(root.GetPrim())
        if up == 0:  # USD knows y and z
            turn = np.eye(4)
            turn[:3, :3] = np.roll(np.eye(3), -1, axis=1)
            root.AddTransformOp().Set(_matrix(turn))

    def part(self, part: Part) -> None:
        if part.kind == "yarn":
            return self._strands(part)
        mesh = UsdGeom.Mesh.Define(self.stage, self._path(part))
        mesh.CreateFaceVertexCountsAttr(Vt.IntArray.FromNumpy(np.full(len(part.tris), 3, dtype=np.int32)))
        mesh.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(part.tris.astype(np.int32).ravel()))
        mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
        mesh.CreateDoubleSidedAttr(True)
        mesh.CreateDisplayColorAttr(Vt.Vec3fArray([CLOTH if part.kind == "cloth" else BODY]))
        self._shape(mesh, part)
        if part.kind == "body":
            self._place(mesh, part)
        primvars = UsdGeom.PrimvarsAPI(mesh)
        for name in part.values:
            self._field(mesh, primvars, name, part)
        if part.uv is not None:
            kind = Sdf.ValueTypeNames.TexCoord2fArray
            st = primvars.CreatePrimvar("st", kind, UsdGeom.Tokens.faceVarying)
            st.Set(Vt.Vec2fArray.FromNumpy(part.uv.reshape(-1, 2).astype(np.float32)))
        for k in np.unique(part.piece) if part.piece is not None else []:
            mine = Vt.IntArray.FromNumpy(np.flatnonzero(part.piece == k).astype(np.int32))
            name = Tf.MakeValidIdentifier(self.clip.pieces[k])
            UsdGeom.Subset.CreateUniqueGeomSubset(
                mesh, name, UsdGeom.Tokens.face, mine, "piece", UsdGeom.Tokens.partition
            )

    def _path(self, part: Part) -> str:
        folder = {"cloth": "cloths", "yarn": "yarns", "body": "bodies"}[part.kind]
        UsdGeom.Scope.Define(self.stage, f"/loom/{folder}")
        return f"/loom/{folder}/{Tf.MakeValidIdentifier(part.name)}"

    def _strands(self, part: Part) -> None:
        """The curves of loom: uniform Catmull-Rom, before an end the mirror image of its neighbour, which
        USD calls pinned."""
        assert part.sizes is not None and part.radius is not None
        curves = UsdGeom.BasisCurves.Define(self.stage, self._path(part))
        curves.CreateTypeAttr(UsdGeom.Tokens.cubic)
        curves.CreateBasisAttr(UsdGeom.Tokens.catmullRom)
        curves.CreateWrapAttr(UsdGeom.Tokens.periodic if part.closed else UsdGeom.Tokens.pinned)
        curves.CreateCurveVertexCountsAttr(Vt.IntArray.FromNumpy(part.sizes.astype(np.int32)))
        curves.CreateWidthsAttr(Vt.FloatArray.FromNumpy((2 * part.radius).astype(np.float32)))
        curves.SetWidthsInterpolation(UsdGeom.Tokens.vertex)
        curves.CreateDisplayColorAttr(Vt.Vec3fArray([CLOTH]))
        self._shape(curves, part)
        primvars = UsdGeom.PrimvarsAPI(curves)
        for name in part.values:
            self._field(curves, primvars, name, part)

    def _shape(self, mesh: UsdGeom.PointBased, part: Part) -> None:
        points, extent = mesh.CreatePointsAttr(), mesh.CreateExtentAttr()
        for code, frame in zip(self.codes, self.clip.frames, strict=True):
            x = part.points(frame)
            if not part.deforms:
                points.Set(_points(x))
                extent.Set(_extent(x))
                break
            points.Set(_points(x), code)
            extent.Set(_extent(x), code)

    def _place(self, mesh: UsdGeom.Mesh, part: Part) -> None:
        place = mesh.AddTransformOp()
        for code, frame in zip(self.codes, self.clip.frames, strict=True):
            if not part.moves:
                place.Set(_matrix(part.matrix(frame)))
                break
            place.Set(_matrix(part.matrix(frame)), code)

    def _field(self, mesh: UsdGeom.PointBased, primvars: UsdGeom.PrimvarsAPI, name: str, part: Part) -> None:
        values = part.values[name]
        vectors = values(self.clip.frames[0]).ndim == 2
        types = Sdf.ValueTypeNames
        if name == "velocity":  # USD's own attribute for velocities
            item = mesh.CreateVelocitiesAttr()
        else:
            kind = types.Vector3fArray if vectors else types.FloatArray
            item = primvars.CreatePrimvar(name, kind, UsdGeom.Tokens.vertex)
            item.GetAttr().SetCustomDataByKey("unit", part.units.get(name, "1"))
        for code, frame in zip(self.codes, self.clip.frames, strict=True):
            rows = values(frame).astype(np.float32)
            item.Set(_points(rows) if vectors else Vt.FloatArray.FromNumpy(rows), code)


def write(clip: Clip, path: str) -> None:
    """Metres; time codes count from the first frame.  LogError where USD cannot write."""
    stage = Usd.Stage.CreateNew(path)
    if not stage:
        raise LogError(f"{path}: USD cannot write it")
    writer = _Writer(clip, stage)
    for part in clip.parts:
        writer.part(part)
    stage.GetRootLayer().Save()
