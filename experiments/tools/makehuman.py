"""A skinned body from the assets of MakeHuman (base.obj, default.mhskel, default_weights.mhw), as glTF.

Usage: makehuman.py FOLDER -o man.gltf

The body of `[body.man] shape = rig, file = man.gltf`: y up, front +z, left +x, metres.  The assets are CC0 and no
part of loom; the standard library is all that is needed.
"""

import argparse
import base64
import json
import pathlib
import struct
import sys

MOST = 4  # joints of a vertex, as many as one set of JOINTS and WEIGHTS of glTF holds
METRES = 0.1  # the files are in decimetres


def read_obj(path):
    """All vertices, and the faces of the group `body`."""
    points, faces, group = [], [], ""
    for line in path.read_text().splitlines():
        word = line.split()
        if not word:
            continue
        if word[0] == "v":
            points.append([float(c) for c in word[1:4]])
        elif word[0] == "g":
            group = word[1] if len(word) > 1 else ""
        elif word[0] == "f" and group == "body":
            faces.append([int(w.split("/")[0]) - 1 for w in word[1:]])
    if not faces:
        sys.exit(f"{path}: there is no group `body`")
    return points, faces


def parents_first(bones):
    order, left = [], dict(bones)
    while left:
        ready = [b for b, v in left.items() if v["parent"] is None or v["parent"] in order]
        if not ready:
            sys.exit(f"the parents of {', '.join(left)} form a circle")
        order += ready
        for b in ready:
            del left[b]
    return order


def mean(points, ids):
    return [sum(points[i][c] for i in ids) / len(ids) for c in range(3)]


class Buffer:
    """Arrays one after the other, with their views and accessors."""

    def __init__(self):
        self.data, self.views, self.accessors = b"", [], []

    def add(self, form, kind, component, rows, limits=False):
        raw = b"".join(struct.pack(form, *row) for row in rows)
        self.views.append({"buffer": 0, "byteOffset": len(self.data), "byteLength": len(raw)})
        entry = {"bufferView": len(self.views) - 1, "componentType": component, "type": kind,
                 "count": len(rows)}
        if limits:
            entry["min"] = [min(r[c] for r in rows) for c in range(3)]
            entry["max"] = [max(r[c] for r in rows) for c in range(3)]
        self.accessors.append(entry)
        self.data += raw + b"\0" * (-len(raw) % 4)
        return len(self.accessors) - 1


def strongest(weights, order):
    """{vertex: [(joint, weight)]}, the strongest ones, scaled to the sum 1."""
    of = {}
    for j, bone in enumerate(order):
        for v, w in weights.get(bone, []):
            if w > 0:
                of.setdefault(v, []).append((w, j))
    kept = {}
    for v, rows in of.items():
        rows = sorted(rows, reverse=True)[:MOST]
        total = sum(w for w, _ in rows)
        kept[v] = [(j, w / total) for w, j in rows]
    return kept


def convert(folder):
    points, faces = read_obj(folder / "base.obj")
    skeleton = json.loads((folder / "default.mhskel").read_text())
    weights = json.loads((folder / "default_weights.mhw").read_text())["weights"]
    bones = skeleton["bones"]
    order = parents_first(bones)
    head = {b: mean(points, skeleton["joints"][bones[b]["head"]]) for b in order}
    kept = strongest(weights, order)
    used = sorted({v for f in faces for v in f})
    number = {v: k for k, v in enumerate(used)}
    rows = [kept.get(v, []) + [(0, 0.0)] * MOST for v in used]
    triangles = [(number[f[0]], number[f[k]], number[f[k + 1]]) for f in faces
                 for k in range(1, len(f) - 1)]
    b = Buffer()
    position = b.add("<3f", "VEC3", 5126, [points[v] for v in used], limits=True)
    joints = b.add("<4H", "VEC4", 5123, [[j for j, _ in r[:MOST]] for r in rows])
    shares = b.add("<4f", "VEC4", 5126, [[w for _, w in r[:MOST]] for r in rows])
    corners = b.add("<I", "SCALAR", 5125, [(i,) for t in triangles for i in t])
    inverse = b.add("<16f", "MAT4", 5126, [
        (1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, -head[j][0], -head[j][1], -head[j][2], 1) for j in order])
    nodes = [{"name": "all", "scale": [METRES] * 3, "children": [1]}, {"name": "skin", "mesh": 0, "skin": 0}]
    for bone in order:
        parent = bones[bone]["parent"]
        base = head[parent] if parent is not None else (0, 0, 0)
        nodes.append({"name": bone, "translation": [head[bone][c] - base[c] for c in range(3)]})
        above = nodes[0] if parent is None else nodes[2 + order.index(parent)]
        above.setdefault("children", []).append(len(nodes) - 1)
    return {
        "asset": {"version": "2.0", "copyright": "CC0, from the assets of MakeHuman"},
        "scene": 0, "scenes": [{"nodes": [0]}], "nodes": nodes,
        "meshes": [{"primitives": [{"attributes": {"POSITION": position, "JOINTS_0": joints, "WEIGHTS_0": shares},
                                    "indices": corners}]}],
        "skins": [{"joints": list(range(2, len(nodes))), "inverseBindMatrices": inverse}],
        "accessors": b.accessors, "bufferViews": b.views,
        "buffers": [{"byteLength": len(b.data), "uri": "data:application/octet-stream;base64,"
                     + base64.b64encode(b.data).decode()}],
    }


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("folder", type=pathlib.Path, help="with base.obj, default.mhskel and default_weights.mhw")
    p.add_argument("-o", "--output", type=pathlib.Path, required=True, help="FILE.gltf")
    a = p.parse_args()
    for name in ("base.obj", "default.mhskel", "default_weights.mhw"):
        if not (a.folder / name).is_file():
            sys.exit(f"{a.folder / name}: there is no such file; it is one of MakeHuman's assets")
    a.output.write_text(json.dumps(convert(a.folder)))


if __name__ == "__main__":
    main()
