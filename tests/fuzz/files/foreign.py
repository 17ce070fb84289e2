"""Files of other programs, one damaged at a time: rigs in glTF, GLB, Collada and FBX, sewing patterns,
GarmentCode, animations, networks, sequences, materials."""

import base64
import ctypes
import ctypes.util
import json
import math
import pathlib
import re
import shutil
import struct
import subprocess
import sys

import mutate
from values import ODD

SOURCE = pathlib.Path(__file__).resolve().parents[3]
sys.setrecursionlimit(20000)  # of_json() nests up to 900 levels, four times into each other
CHECK = ["check", "case.ini"]
HEAD = "[run]\nsteps = 1\n[exec]\nbackend = cpu\nthreads = 1\n[solver]\nplugin = gd\n[contact.none]\nplugin = none\n"
COARSE = "edge_length = 0.1\n"  # of a rig that loom makes: its mesh would take most of the time
CLOTH = "[cloth.a]\nsize = 0.1\nresolution = 3\ntransform = translate 0 0 4\n"


# ---- rigs ----

def bar():
    """A skinned bar of two joints with an animation, as a glTF: buffers and the rest."""
    x, joints, weights, tris = [], [], [], []
    for ring in range(3):
        for k in range(4):
            a = math.pi / 2 * k
            x += [0.1 * math.cos(a), float(ring), 0.1 * math.sin(a)]
            joints += [0, 1, 0, 0]
            w = (1, 0.5, 0)[ring]
            weights += [w, 1 - w, 0, 0]
            if ring < 2:
                v, n = 4 * ring + k, 4 * ring + (k + 1) % 4
                tris += [v, v + 4, n, n, v + 4, n + 4]
    tris += [0, 1, 2, 0, 2, 3, 8, 10, 9, 8, 11, 10]
    one = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]
    up = one[:12] + [0, -1, 0, 1]
    r = math.sqrt(0.5)
    parts = [(struct.pack(f"<{len(x)}f", *x), 5126, "VEC3", 12), (struct.pack(f"<{len(weights)}f", *weights), 5126, "VEC4", 12),
             (bytes(joints), 5121, "VEC4", 12), (struct.pack("<32f", *(one + up)), 5126, "MAT4", 2),
             (struct.pack(f"<{len(tris)}H", *tris), 5123, "SCALAR", len(tris)), (struct.pack("<2f", 0, 1), 5126, "SCALAR", 2),
             (struct.pack("<8f", 0, 0, 0, 1, 0, 0, r, r), 5126, "VEC4", 2)]
    views, accessors, data = [], [], b""
    for k, (part, kind, form, count) in enumerate(parts):
        views.append({"buffer": 0, "byteOffset": len(data), "byteLength": len(part)})
        accessors.append({"bufferView": k, "componentType": kind, "type": form, "count": count})
        data += part + b"\0" * (-len(part) % 4)
    accessors[0].update(min=[-0.1, 0, -0.1], max=[0.1, 2, 0.1])
    accessors[5].update(min=[0], max=[1])
    scene = {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}],
             "nodes": [{"name": "all", "children": [1, 2]}, {"name": "low", "children": [3]},
                       {"name": "skin", "mesh": 0, "skin": 0}, {"name": "high", "translation": [0, 1, 0]}],
             "skins": [{"joints": [1, 3], "inverseBindMatrices": 3}],
             "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "WEIGHTS_0": 1, "JOINTS_0": 2}, "indices": 4}]}],
             "animations": [{"name": "bend", "channels": [{"sampler": 0, "target": {"node": 3, "path": "rotation"}}],
                             "samplers": [{"input": 5, "output": 6}]}],
             "accessors": accessors, "bufferViews": views}
    return scene, data


def with_uri(scene, data, uri=None):
    uri = uri or "data:application/octet-stream;base64," + base64.b64encode(data).decode()
    return json.dumps({**scene, "buffers": [{"byteLength": len(data), "uri": uri}]})


def make_rigs(folder):
    """bar.gltf, bar.bin, and the files of Assimp's exporters: bar.glb, .dae, .fbx, text.fbx."""
    scene, data = bar()
    (folder / "bar.gltf").write_text(with_uri(scene, data))
    (folder / "apart.gltf").write_text(with_uri(scene, data, "bar.bin"))
    (folder / "bar.bin").write_bytes(data)
    name = ctypes.util.find_library("assimp")
    if name is None:
        return
    lib = ctypes.CDLL(name)
    lib.aiImportFile.restype = ctypes.c_void_p
    lib.aiExportScene.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint]
    read = lib.aiImportFile(str(folder / "bar.gltf").encode(), 8)  # triangulated
    for form, to in (("glb2", "bar.glb"), ("collada", "bar.dae"), ("fbx", "bar.fbx"), ("fbxa", "text.fbx")):
        if read is None or lib.aiExportScene(read, form.encode(), str(folder / to).encode(), 0) != 0:
            raise SystemExit(f"fuzz_files: Assimp writes no {to}")


def of_json(rng, value):
    """A tree of JSON with a few members replaced, dropped, repeated or nested."""
    places = []

    def walk(v):
        for k in v if isinstance(v, dict) else range(len(v)):
            places.append((v, k))
            if isinstance(v[k], (dict, list)):
                walk(v[k])

    walk(value)
    for _ in range(rng.choice((1, 1, 2, 4))):
        where, key = rng.choice(places)
        pick = rng.randrange(6)
        if (isinstance(where, dict) and key not in where) or (isinstance(where, list) and key >= len(where)):
            continue
        if pick == 0:
            where[key] = rng.choice((-1, 0, 1, 2, 2**31, 2**32, 2**63, 1e308, -1.5, None, True, "", "../x", [], {}, [[[]]]))
        elif pick == 1 and isinstance(where, dict):
            del where[key]
        elif pick == 2 and isinstance(where, list):
            where += [where[key]] * rng.choice((1, 3, 100))
        elif pick == 3:
            for _ in range(rng.choice((2, 50, 900))):
                where[key] = [where[key]] if rng.random() < 0.5 else {"children": where[key]}
        elif pick == 4:
            other, at = rng.choice(places)
            where[key] = json.loads(json.dumps(other[at])) if (at in other if isinstance(other, dict) else at < len(other)) else 0
        else:
            where[key] = rng.choice(ODD)
    return json.dumps(value)


def rig(rng, keys, base, at):
    names = [n for n in ("bar.gltf", "apart.gltf", "bar.glb", "bar.dae", "bar.fbx", "text.fbx") if (base / n).exists()]
    name = rng.choice(names)
    data = (base / name).read_bytes()
    shutil.copy(base / "bar.bin", at / "bar.bin")
    if name.endswith("gltf") and rng.random() < 0.7:
        data = of_json(rng, json.loads(data)).encode("utf-8", "replace")
    elif name in ("bar.dae", "text.fbx") and rng.random() < 0.6:
        data = mutate.of_text(rng, data.decode())
    elif name == "apart.gltf" and rng.random() < 0.5:
        (at / "bar.bin").write_bytes(mutate.of_bytes(rng, (base / "bar.bin").read_bytes()))
    elif name == "bar.glb" and rng.random() < 0.5:  # numbers behind the header alone
        head = 20 + struct.unpack_from("<I", data, 12)[0] + 8
        data = data[:head] + mutate.of_bytes(rng, data[head:])
    else:
        data = mutate.of_bytes(rng, data)
    out = rng.choice((name, name, name, "bar", "bar.gltf", "bar.obj", "bar.assbin"))
    (at / out).write_bytes(data)
    more = rng.choice(("", "animation = bend\n", "angles = high.x 20\n", "distance = exact\n"))
    (at / "case.ini").write_text(HEAD + CLOTH + f"[body.man]\nshape = rig\nfile = {out}\n" + more)
    return [CHECK]


# ---- surfaces ----

CUBE = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
SIDES = [(3, 2, 1, 0), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)]
CUT = [(s[0], s[k], s[k + 1]) for s in SIDES for k in (1, 2)]


def surface(rng, keys, base, at):
    """A cube as STL, OFF, VTK, OBJ with concave faces, PLY with strips, or one of the rigs, as cloth or body."""
    text_stl = "solid c\n" + "".join(
        "facet normal 0 0 1\nouter loop\n" + "".join("vertex %d %d %d\n" % CUBE[v] for v in t) + "endloop\nendfacet\n"
        for t in CUT) + "endsolid c\n"
    stl = b"\0" * 80 + struct.pack("<I", len(CUT)) + b"".join(
        struct.pack("<12fH", 0, 0, 1, *(x for v in t for x in CUBE[v]), 0) for t in CUT)
    places = "".join("%d %d %d\n" % p for p in CUBE)
    off = f"OFF\n8 6 0\n{places}" + "".join("4 %d %d %d %d\n" % s for s in SIDES)
    obj = "".join("v %d %d %d\n" % p for p in CUBE) + "v .4 .4 1\nf 4 3 2 1\nf 5 6 9 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n"
    ply = ("ply\nformat ascii 1.0\nelement vertex 8\nproperty float x\nproperty float y\nproperty float z\n"
           f"element tristrips 1\nproperty list int int vertex_indices\nend_header\n{places}9 0 1 3 2 -1 4 5 7 6\n")
    vtk = (f"# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 8 float\n{places}CELLS 8 36\n"
           + "".join("4 %d %d %d %d\n" % s for s in SIDES) + "3 0 1 2\n2 0 1\nCELL_TYPES 8\n9 9 9 9 9 9 5 3\n")
    name, data = rng.choice((("c.stl", text_stl.encode()), ("c.vtk", vtk.encode()), ("c.stl", stl), ("c.off", off.encode()), ("c.obj", obj.encode()),
                             ("c.ply", ply.encode()), ("c.glb", None)))
    if data is None:
        data = (base / ("bar.glb" if (base / "bar.glb").exists() else "bar.gltf")).read_bytes()
    text = name != "c.glb" and data is not stl
    data = mutate.of_text(rng, data.decode()) if text and rng.random() < 0.6 else mutate.of_bytes(rng, data)
    out = rng.choice((name, name, name, "c.stl", "c.off", "c.mesh"))
    (at / out).write_bytes(data)
    body = rng.random() < 0.5
    more = rng.choice(("", "repair = clean\n", "sdf_resolution = 0\n" if body else "rest = initial\n"))
    section = "[body.c]\n" if body else "[cloth.c]\n"
    (at / "case.ini").write_text(HEAD + (CLOTH if body else "") + section + f"shape = mesh\nfile = {out}\n" + more)
    return [CHECK]


# ---- patterns ----

def garmentcode(rng, keys, base, at):
    panel = {"vertices": [[-20, 0], [20, 0], [20, 50], [0, 40], [-20, 50]],
             "edges": [{"endpoints": [0, 1]}, {"endpoints": [1, 2], "curvature": {"type": "quadratic", "params": [[0.5, 0.1]]}},
                       {"endpoints": [2, 3], "curvature": {"type": "circle", "params": [30, 0, 1]}},
                       {"endpoints": [3, 4], "curvature": {"type": "cubic", "params": [[0.3, 0.1], [0.6, -0.1]]}},
                       {"endpoints": [4, 0]}],
             "translation": [0, 100, 20], "rotation": [0, 0, 0]}
    spec = {"pattern": {"panels": {"front": panel, "Front": dict(panel, translation=[0, 100, -20])},
                        "stitches": [[{"panel": "front", "edge": 1}, {"panel": "Front", "edge": 4}],
                                     [{"panel": "front", "edge": 4}, {"panel": "Front", "edge": 1}, "right_wrong"]]},
            "properties": {"units_in_meter": 100, "curvature_coords": "relative"}}
    text = of_json(rng, spec) if rng.random() < 0.8 else mutate.of_text(rng, json.dumps(spec, indent=1)).decode("utf-8", "replace")
    (at / "a.json").write_text(text, errors="replace")
    return [["pattern", "a.json", "-o", "out.ini"]]


def pattern(rng, keys, base, at):
    text = (SOURCE / "configs/patterns" / rng.choice(("skirt.ini", "tshirt.ini", "trousers.ini"))).read_text()
    (at / "a.ini").write_bytes(mutate.of_text(rng, text))
    (at / "case.ini").write_text(HEAD + "[cloth.a]\nshape = pattern\nfile = a.ini\nedge_length = 0.08\nsewing = pull\n")
    return [CHECK]


# ---- the rest ----

def animation(rng, keys, base, at):
    name = rng.choice(("walk", "jog", "squat", "kick"))
    (at / "a.txt").write_bytes(mutate.of_text(rng, (SOURCE / f"configs/animations/{name}.txt").read_text()))
    (at / "case.ini").write_text(HEAD + CLOTH + "[body.man]\nshape = rig\nrig = lower_body\n" + COARSE +
                                 "animation_file = a.txt\nanimation_start = 0.1\n")
    return [CHECK]


WITH_NETWORKS = HEAD + CLOTH + "[body.man]\nshape = rig\nrig = lower_body\n" + COARSE + "distance = neural\nnetworks = a.h5\n"


def make_networks(folder, binary, env):
    """a.h5: the networks of lower_body under the hash of its coarse mesh, so that readers go past the head."""
    import h5py
    import numpy as np

    shutil.copy(SOURCE / "configs/bodies/lower_body.h5", folder / "a.h5")
    (folder / "case.ini").write_text(WITH_NETWORKS)
    told = ""
    for _ in range(2):
        done = subprocess.run([binary, *CHECK], cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode == 0:
            return
        told = done.stderr
        found = re.search(r"this one is ([0-9a-f]{16})", told)
        if found:
            with h5py.File(folder / "a.h5", "r+") as f:
                f.attrs["body_hash"] = np.bytes_(found[1])
    raise SystemExit(f"fuzz_files: no networks for the coarse body: {told}")


def networks(rng, keys, base, at):
    shutil.copy(base / "a.h5", at / "a.h5")
    pick = rng.random()
    if pick < 0.3:
        mutate.of_hdf5(rng, at / "a.h5")
    elif pick < 0.7:
        mutate.of_attributes(rng, at / "a.h5")
    else:
        (at / "a.h5").write_bytes(mutate.of_bytes(rng, (at / "a.h5").read_bytes()))
    (at / "case.ini").write_text(WITH_NETWORKS)
    return [CHECK]


def make_sequence(path):
    import h5py
    import numpy as np

    x = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 0.5, 1]], float)
    with h5py.File(path, "w") as f:
        f["vertices"] = np.stack([x + 0.1 * k for k in range(4)])
        f["triangles"] = np.array([[0, 2, 1], [0, 3, 2], [0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]], "i4")


def sequence(rng, keys, base, at):
    use = HEAD + CLOTH + "[body.a]\nshape = mesh\nsdf_resolution = 0\nmotion = sequence\nframe_rate = 50\nframes = "
    if rng.random() < 0.6:
        shutil.copy(base / "frames.h5", at / "a.h5")
        if rng.random() < 0.5:
            mutate.of_hdf5(rng, at / "a.h5")
        else:
            (at / "a.h5").write_bytes(mutate.of_bytes(rng, (at / "a.h5").read_bytes()))
        (at / "case.ini").write_text(use + "a.h5\n")
        return [CHECK]
    for k in range(3):
        text = "".join(f"v {a} {b} {0.1 * k + c}\n" for a, b, c in ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)))
        text += "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"
        (at / f"f{k}.obj").write_bytes(mutate.of_text(rng, text) if rng.random() < 0.4 else text.encode())
    name = rng.choice(("f%d.obj", "f%d.obj", "f%d.obj", "f%s.obj", "f%99999d.obj", "f%d%d.obj", "%d", "f%n.obj"))
    (at / "case.ini").write_text(use + f"{name}\nframe_first = {rng.choice((0, 0, 1, -1, 2**31, 2**62))}\n"
                                 f"frame_count = {rng.choice((0, 3, 2, 9, -1))}\n")
    return [CHECK]


def material(rng, keys, base, at):
    name = rng.choice(("cotton", "default", "denim", "gray-interlock", "royal-target", "silk"))
    (at / "materials").mkdir()
    (at / "materials/a.ini").write_bytes(mutate.of_text(rng, (SOURCE / f"configs/materials/{name}.ini").read_text()))
    (at / "case.ini").write_text(HEAD + "[cloth.a]\nsize = 0.1\nresolution = 3\nmaterial = a\n")
    return [CHECK]


def make(folder, binary, env):
    make_rigs(folder)
    make_networks(folder, binary, env)
    make_sequence(folder / "frames.h5")


# Shares of all inputs.
MAKERS = {"rig": (rig, 0.2), "surface": (surface, 0.1), "garmentcode": (garmentcode, 0.15), "pattern": (pattern, 0.1), "animation": (animation, 0.12),
          "networks": (networks, 0.1), "sequence": (sequence, 0.13), "material": (material, 0.1)}
