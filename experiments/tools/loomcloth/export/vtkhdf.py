"""VTK-HDF: one file for ParaView, with bodies and fields; written by VTK.

Cloths, yarns and bodies are one mesh of polygons and lines, each cell with its part (cell array `part`,
names in the field array `parts`): VTK's reader (9.7) stays at the first time of a collection of meshes if
it was asked for the times before the data, as ParaView does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import vtk
from vtkmodules.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray
from vtkmodules.util.vtkAlgorithm import VTKPythonAlgorithmBase

from loomcloth.errors import LogError
from loomcloth.export.parts import Clip


def _array(values: np.ndarray, name: str) -> Any:
    out = numpy_to_vtk(np.ascontiguousarray(values), deep=True)
    out.SetName(name)
    return out


class _Source(VTKPythonAlgorithmBase):
    """The frames of a clip at their times, for the writer to ask for."""

    def __init__(self, clip: Clip):
        super().__init__(nInputPorts=0, nOutputPorts=1, outputType="vtkPolyData")
        self.clip = clip
        sizes = [len(part.points(clip.frames[0])) for part in clip.parts]
        self.first = np.cumsum([0, *sizes])
        self.shapes: dict[str, Any] = {}  # of a row of each field, and its type
        for part in clip.parts:
            for name, values in part.values.items():
                rows = values(clip.frames[0])
                self.shapes[name] = rows.shape[1:], rows.dtype
        tris = [part.tris + self.first[i] for i, part in enumerate(clip.parts)]
        cells = vtk.vtkCellArray()
        cells.SetData(3, numpy_to_vtkIdTypeArray(np.vstack(tris).astype(np.int64).ravel(), deep=True))
        self.mesh = vtk.vtkPolyData()
        self.mesh.SetPolys(cells)
        strands = self._lines()
        owner = np.repeat(np.arange(len(tris), dtype=np.int32), [len(t) for t in tris])
        self.mesh.GetCellData().AddArray(_array(np.append(strands, owner), "part"))  # lines come first
        self._pieces(len(strands))
        names = vtk.vtkStringArray()
        names.SetName("parts")
        for part in clip.parts:
            names.InsertNextValue(part.name)
        self.mesh.GetFieldData().AddArray(names)

    def _lines(self) -> np.ndarray:
        """Makes a polyline of each yarn; the part of each."""
        lines, owner = vtk.vtkCellArray(), []
        for i, part in enumerate(self.clip.parts):
            start = self.first[i]
            for size in part.sizes if part.sizes is not None else []:
                ids = [*range(start, start + size), *([start] if part.closed else [])]
                lines.InsertNextCell(len(ids), ids)
                owner.append(i)
                start += size
        if owner:
            self.mesh.SetLines(lines)
        return np.array(owner, dtype=np.int32)

    def _pieces(self, lines: int) -> None:
        """Cell arrays as `--format vtk` has them: piece, -1 of none, and uv of three corners, NaN of none."""
        if all(part.uv is None for part in self.clip.parts):
            return
        piece, uv = [np.full(lines, -1, dtype=np.int32)], [np.full((lines, 6), np.nan)]
        for part in self.clip.parts:
            count = len(part.tris)
            none = np.full(count, -1, dtype=np.int32)
            piece.append(none if part.piece is None else part.piece.astype(np.int32))
            uv.append(
                np.full((count, 6), np.nan) if part.uv is None else part.uv.reshape(-1, 6).astype(float)
            )
        self.mesh.GetCellData().AddArray(_array(np.concatenate(piece), "piece"))
        self.mesh.GetCellData().AddArray(_array(np.vstack(uv), "uv"))
        names = vtk.vtkStringArray()
        names.SetName("pieces")
        for name in self.clip.pieces:
            names.InsertNextValue(name)
        self.mesh.GetFieldData().AddArray(names)

    def RequestInformation(self, request: Any, inInfo: Any, outInfo: Any) -> int:
        info, times = outInfo.GetInformationObject(0), [float(t) for t in self.clip.times]
        pipeline = vtk.vtkStreamingDemandDrivenPipeline
        info.Set(pipeline.TIME_STEPS(), times, len(times))
        info.Set(pipeline.TIME_RANGE(), [times[0], times[-1]], 2)
        return 1

    def RequestData(self, request: Any, inInfo: Any, outInfo: Any) -> int:
        info = outInfo.GetInformationObject(0)
        time = info.Get(vtk.vtkStreamingDemandDrivenPipeline.UPDATE_TIME_STEP()) or 0.0
        self._fill(self.clip.frames[int(np.abs(self.clip.times - time).argmin())])
        out = vtk.vtkPolyData.GetData(outInfo, 0)
        out.ShallowCopy(self.mesh)
        out.GetInformation().Set(vtk.vtkDataObject.DATA_TIME_STEP(), time)
        return 1

    def _fill(self, frame: int) -> None:
        points = vtk.vtkPoints()
        points.SetData(_array(np.vstack([part.world(frame) for part in self.clip.parts]), "Points"))
        self.mesh.SetPoints(points)
        for name, (shape, kind) in self.shapes.items():
            rows = np.full((self.first[-1], *shape), np.nan, dtype=kind)  # bodies have none
            for i, part in enumerate(self.clip.parts):
                if name in part.values:
                    rows[self.first[i] : self.first[i + 1]] = part.values[name](frame)
            self.mesh.GetPointData().AddArray(_array(rows, name))


def write(clip: Clip, path: str) -> None:
    """All frames of all parts, positions as doubles.  LogError where VTK cannot write."""
    source = _Source(clip)
    writer = vtk.vtkHDFWriter()
    writer.SetInputConnection(source.GetOutputPort())
    writer.SetFileName(path)
    writer.SetOverwrite(True)
    writer.SetWriteAllTimeSteps(True)
    writer.SetCompressionLevel(4)
    if not writer.Write() or writer.GetErrorCode():
        raise LogError(f"{path}: VTK cannot write it")
