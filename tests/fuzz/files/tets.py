"""Two tetrahedra on a common face, in every format of solids.

`tets.py FOLDER` writes the corpus of fuzz_tet."""

import base64
import pathlib
import struct
import sys

POINTS = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)]
TETS = [(0, 1, 2, 3), (1, 2, 3, 4)]
FLAT = [v for p in POINTS for v in p]


def msh2(binary, order="<"):
    if not binary:
        nodes = "".join(f"{k + 1} %g %g %g\n" % p for k, p in enumerate(POINTS))
        tets = "".join(f"{k + 2} 4 2 1 1 " + " ".join(str(v + 1) for v in t) + "\n" for k, t in enumerate(TETS))
        return (f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n5\n{nodes}$EndNodes\n"
                f"$Elements\n3\n1 2 2 1 1 1 2 3\n{tets}$EndElements\n").encode()
    nodes = b"".join(struct.pack(order + "iddd", k + 1, *p) for k, p in enumerate(POINTS))
    tets = struct.pack(order + "3i", 4, 2, 2) + b"".join(
        struct.pack(order + "7i", k + 1, 1, 1, *(v + 1 for v in t)) for k, t in enumerate(TETS))
    return (b"$MeshFormat\n2.2 1 8\n" + struct.pack(order + "i", 1) + b"\n$EndMeshFormat\n$Nodes\n5\n" + nodes +
            b"\n$EndNodes\n$Elements\n2\n" + tets + b"\n$EndElements\n")


def msh4(binary, order="<"):
    if not binary:
        nodes = "".join(f"{2 * k + 3}\n" for k in range(5)) + "".join("%g %g %g\n" % p for p in POINTS)
        tets = "".join(f"{k + 1} " + " ".join(str(2 * v + 3) for v in t) + "\n" for k, t in enumerate(TETS))
        return (f"$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n0 0 0 1\n1 0 0 0 1 1 1 0 0\n$EndEntities\n"
                f"$Nodes\n1 5 3 11\n3 1 0 5\n{nodes}$EndNodes\n$Elements\n1 2 1 2\n3 1 4 2\n{tets}$EndElements\n").encode()
    nodes = struct.pack(order + "3iq", 3, 1, 0, 5) + struct.pack(order + "5q", *range(1, 6)) + struct.pack(order + "15d", *FLAT)
    tets = struct.pack(order + "3iq", 3, 1, 4, 2) + b"".join(
        struct.pack(order + "5q", k + 1, *(v + 1 for v in t)) for k, t in enumerate(TETS))
    return (b"$MeshFormat\n4.1 1 8\n" + struct.pack(order + "i", 1) + b"\n$EndMeshFormat\n$Nodes\n" +
            struct.pack(order + "4q", 1, 5, 1, 5) + nodes + b"\n$EndNodes\n$Elements\n" + struct.pack(order + "4q", 1, 2, 1, 2) +
            tets + b"\n$EndElements\n")


def vtk(binary):
    points = struct.pack(">15d", *FLAT) if binary else " ".join(str(v) for v in FLAT).encode()
    numbers = [n for t in TETS for n in (4, *t)]
    cells = struct.pack(">10i", *numbers) if binary else " ".join(str(v) for v in numbers).encode()
    types = struct.pack(">2i", 10, 10) if binary else b"10 10"
    return (b"# vtk DataFile Version 3.0\nt\n" + (b"BINARY" if binary else b"ASCII") + b"\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 double\n" +
            points + b"\nCELLS 2 10\n" + cells + b"\nCELL_TYPES 2\n" + types + b"\n")


def vtk5(binary):
    numbers = [v for t in TETS for v in t]
    ids = (struct.pack(">8q", *numbers), struct.pack(">3q", 0, 4, 8)) if binary else (b"0 1 2 3 1 2 3 4", b"0 4 8")
    old = vtk(binary)
    points = old[:old.index(b"CELLS")].replace(b"Version 3.0", b"Version 5.1")
    types = old[old.index(b"\nCELL_TYPES"):]
    return (points + b"METADATA\nINFORMATION 0\n\nCELLS 3 8\nOFFSETS vtktypeint64\n" + ids[1] + b"\nCONNECTIVITY vtktypeint64\n" +
            ids[0] + types)


def vtu(way):
    arrays = [("Points", "Float64", "d", FLAT), ("connectivity", "Int32", "i", [v for t in TETS for v in t]),
              ("offsets", "Int32", "i", [4, 8]), ("types", "UInt8", "B", [10, 10])]
    tags, raw = [], b""
    for name, kind, code, values in arrays:
        data = struct.pack(f"<{len(values)}{code}", *values)
        data = struct.pack("<I", len(data)) + data
        text = {"ascii": " ".join(str(v) for v in values), "binary": base64.b64encode(data).decode(), "appended": ""}[way]
        tags.append(f'<DataArray type="{kind}" Name="{name}" NumberOfComponents="3" format="{way}" offset="{len(raw)}">{text}</DataArray>\n')
        raw += data
    head = ('<VTKFile type="UnstructuredGrid" version="0.1" byte_order="LittleEndian">\n<UnstructuredGrid>\n'
            f'<Piece NumberOfPoints="5" NumberOfCells="2">\n<Points>{tags[0]}</Points>\n<Cells>{"".join(tags[1:])}</Cells>\n'
            '</Piece>\n</UnstructuredGrid>\n').encode()
    end = b'<AppendedData encoding="raw">_' + raw + b"</AppendedData>\n" if way == "appended" else b""
    return head + end + b"</VTKFile>\n"


def tetgen():
    node = "# points\n5 3 0 1\n" + "".join(f"{k} %g %g %g 0\n" % p for k, p in enumerate(POINTS))
    ele = "2 4 1\n" + "".join(f"{k} " + " ".join(str(v) for v in t) + " 1\n" for k, t in enumerate(TETS))
    return node.encode(), ele.encode()


FILES = {
    "text2.msh": msh2(False), "binary2.msh": msh2(True), "swapped2.msh": msh2(True, ">"),
    "text4.msh": msh4(False), "binary4.msh": msh4(True), "swapped4.msh": msh4(True, ">"),
    "text.vtk": vtk(False), "binary.vtk": vtk(True), "text5.vtk": vtk5(False), "binary5.vtk": vtk5(True),
    "text.vtu": vtu("ascii"), "base64.vtu": vtu("binary"), "raw.vtu": vtu("appended"),
}

if __name__ == "__main__":
    for name, data in FILES.items():
        (pathlib.Path(sys.argv[1]) / name).write_bytes(data)
    (pathlib.Path(sys.argv[1]) / "tetgen").write_bytes(b"#ele\n".join(tetgen()))
