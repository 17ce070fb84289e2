"""Small files of the families of `framework/doc/files.md`, each with the commands that read it.

FAMILIES maps the first column of a row to a function of a folder.  It gives pairs of a command and of a text of
its answer: a part of `check`'s standard output where the file is read, of the message where it is refused.
"""

import ctypes.util
import json
import pathlib
import re
import struct
import subprocess
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fuzz/files"))
sys.dont_write_bytecode = True
import foreign  # noqa: E402
import tets  # noqa: E402

SOLVER = "[run]\nsteps = 1\n[exec]\nbackend = cpu\nthreads = 1\n[solver]\nplugin = gd\n[contact.none]\nplugin = none\n"
SHEET = "[cloth.a]\nsize = 0.1\nresolution = 3\ntransform = translate 0 0 9\n"
CUBE, SIDES, CUT = foreign.CUBE, foreign.SIDES, foreign.CUT
PLACES = "".join("%d %d %d\n" % p for p in CUBE)
OBJ = "".join("v %d %d %d\n" % p for p in CUBE)
FACES = "".join("f " + " ".join(str(v + 1) for v in s) + "\n" for s in SIDES)
SPEC = "_specification.json of GarmentCode"
IN_CUBE = "8 vertices, 12 triangles"
FILE = "[{section}.m]\nshape = mesh\nfile = {name}\n"


def put(folder, name, data):
    (folder / name).write_bytes(data.encode() if isinstance(data, str) else data)
    return name


def check(folder, text):
    number = len(list(folder.glob("case*.ini")))
    return ["check", put(folder, f"case{number}.ini", SOLVER + text)]


def cloth(folder, name, data, answer=IN_CUBE):
    put(folder, name, data)
    return check(folder, FILE.format(section="cloth", name=name)), answer


def both(folder, name, data, answer=IN_CUBE):
    """As cloth, and as a body beside a sheet."""
    as_body = check(folder, SHEET + FILE.format(section="body", name=name) + "sdf_resolution = 0\n")
    return [cloth(folder, name, data, answer), (as_body, answer)]


def solid(folder, name, data, answer="2 tetrahedra"):
    put(folder, name, data)
    return check(folder, FILE.format(section="solid", name=name)), answer


def rig(folder, name, data, answer="2 joints"):
    if data is not None:
        put(folder, name, data)
    return check(folder, SHEET + f"[body.m]\nshape = rig\nfile = {name}\n"), answer


def refused(folder, name, data, answer, remedy="as one of these"):
    """Both as a surface and as a body with a skin, by the same name of the format."""
    return [*both(folder, name, data, answer), rig(folder, name, data, answer), rig(folder, name, data, remedy)]


# ---- surfaces ----


def obj(folder):
    text = OBJ + "vn 0 0 1\nvt 0 0\ng low\nusemtl silk\n" + FACES
    parts = "[region.r]\nobject = m\nwhere = low\ndensity = 2\n"
    put(folder, "c.obj", text)
    region = check(folder, FILE.format(section="cloth", name="c.obj") + parts), "12 triangles, 6 m^2 at rest, 12 kg"
    mtl = check(folder, FILE.format(section="cloth", name="c.obj") + parts.replace("low", "silk")), "12 triangles"
    return [*both(folder, "c.obj", text), region, mtl]


def obj_arcsim(folder):
    return both(folder, "c.obj", OBJ + "nl 1 2\nvv 1\ne 1 2\npe 1\n" + FACES)


def obj_frames(folder):
    for k in range(3):
        moved = "".join(f"v {x} {y} {z + 0.1 * k}\n" for x, y, z in CUBE)
        put(folder, f"f_{k}.obj", moved + FACES)
    body = "[body.m]\nshape = mesh\nsdf_resolution = 0\nmotion = sequence\nframes = f_%d.obj\nframe_rate = 50\n"
    return [(check(folder, SHEET + body), IN_CUBE)]


def ply_head(form, faces="element face 6\nproperty list uchar int vertex_indices\n", kind="float"):
    axes = "".join(f"property {kind} {a}\n" for a in "xyz")
    return f"ply\nformat {form} 1.0\nelement vertex 8\n{axes}{faces}end_header\n"


def ply_text(folder):
    return both(folder, "c.ply", ply_head("ascii") + PLACES + "".join("4 %d %d %d %d\n" % s for s in SIDES))


def ply_binary(folder):
    found = []
    for name, order in (("little", "<"), ("big", ">")):
        data = b"".join(struct.pack(order + "3f", *p) for p in CUBE)
        data += b"".join(struct.pack(order + "B4i", 4, *s) for s in SIDES)
        found += both(folder, f"{name}.ply", ply_head(f"binary_{name}_endian").encode() + data)
    return found


def ply_strips(folder):
    strips = "element tristrips 1\nproperty list int int vertex_indices\n"
    ids = "-1 ".join(" ".join(str(s[k]) for k in (0, 1, 3, 2)) + " " for s in SIDES)
    return both(folder, "c.ply", ply_head("ascii", strips) + PLACES + f"{len(ids.split())} {ids}\n")


def ply_points(folder):
    return both(folder, "c.ply", ply_head("ascii", "") + PLACES, "holds no faces")


def stl_text(folder):
    sides = "".join("facet normal 0 0 1\nouter loop\n" + "".join("vertex %d %d %d\n" % CUBE[v] for v in t) +
                    "endloop\nendfacet\n" for t in CUT)  # fmt: skip
    return both(folder, "c.stl", f"solid c\n{sides}endsolid c\n")


def stl_binary(folder):
    sides = b"".join(struct.pack("<12fH", 0, 0, 1, *(x for v in t for x in CUBE[v]), 0) for t in CUT)
    return both(folder, "c.stl", b"\0" * 80 + struct.pack("<I", len(CUT)) + sides)


def off(folder):
    return both(folder, "c.off", f"OFF\n8 6 0\n{PLACES}" + "".join("4 %d %d %d %d\n" % s for s in SIDES))


def vtk_head(version, kind):
    return f"# vtk DataFile Version {version}\nt\nASCII\nDATASET {kind}\nFIELD FieldData 1\nTime 1 1 double\n0\nPOINTS 8 float\n{PLACES}"


def vtk_polydata(folder):
    rows = "".join("4 %d %d %d %d\n" % s for s in SIDES)
    ids = " ".join(str(v) for s in SIDES for v in s)
    five = f"POLYGONS 7 24\nOFFSETS vtktypeint64\n0 4 8 12 16 20 24\nCONNECTIVITY vtktypeint64\n{ids}\n"
    return [*both(folder, "old.vtk", vtk_head("3.0", "POLYDATA") + "POLYGONS 6 30\n" + rows),
            *both(folder, "new.vtk", vtk_head("5.1", "POLYDATA") + five)]  # fmt: skip


def vtk_grid(folder):
    rows = "".join("4 %d %d %d %d\n" % s for s in SIDES)
    return both(folder, "c.vtk", vtk_head("3.0", "UNSTRUCTURED_GRID") + f"CELLS 6 30\n{rows}CELL_TYPES 6\n9 9 9 9 9 9\n")


def vtk_xml(folder):
    text = '<VTKFile type="PolyData" version="0.1"><PolyData/></VTKFile>\n'
    return [*both(folder, "c.vtp", text, "VTK XML"), *both(folder, "c.vtu", text, "VTK XML")]


# ---- files of Assimp's formats ----


def assimp(folder):
    """The library, after the skinned bar was written in its formats, or None.  Its importer refuses the binary FBX
    that its exporter writes, and the animations of its Collada, which are left out here."""
    foreign.make_rigs(folder)
    dae = folder / "bar.dae"
    if dae.exists():
        dae.write_text(re.sub("<library_animations>.*?</library_animations>", "", dae.read_text(), flags=re.S))
    return ctypes.util.find_library("assimp")


def skins(folder, *names):
    if assimp(folder) is None:
        return None
    return [rig(folder, name, None) for name in names]


def surfaces(folder, *names):
    if assimp(folder) is None:
        return None
    config = FILE.format(section="body", name="{}") + "sdf_resolution = 0\n"
    return [(check(folder, SHEET + config.format(name)), "12 vertices, 20 triangles") for name in names]


def vrm(folder):
    if assimp(folder) is None:
        return None
    return [rig(folder, "bar.vrm", (folder / "bar.glb").read_bytes())]


# ---- solids ----


def family_of_tets(*names):
    return lambda folder: [solid(folder, n, tets.FILES[n]) for n in names]


def tetgen(folder):
    node, ele = tets.tetgen()
    put(folder, "c.ele", ele)
    return [solid(folder, "c.node", node)]


def medit(folder):
    text = "MeshVersionFormatted 1\nDimension 3\nVertices\n3\n0 0 0 0\n1 0 0 0\n0 1 0 0\nTriangles\n1\n1 2 3 0\nEnd\n"
    return [*both(folder, "c.mesh", text, "MEDIT"), solid(folder, "c.mesh", text, "MEDIT")]


# ---- motion ----


def hdf5(folder):
    foreign.make_sequence(folder / "frames.h5")
    body = "[body.m]\nshape = mesh\nsdf_resolution = 0\nmotion = sequence\nframes = frames.h5\nframe_rate = 50\n"
    return [(check(folder, SHEET + body), "body m")]


def point_caches(folder):
    cache = b"POINTCACHE2\0" + struct.pack("<iifffi", 1, 3, 0, 1, 1, 1) + bytes(36)
    body = "[body.m]\nshape = mesh\nsdf_resolution = 0\nmotion = sequence\nframes = c.pc2\nframe_rate = 50\n"
    return [*refused(folder, "c.pc2", cache, "a point cache (PC2)"), (check(folder, SHEET + body), "c.pc2")]


def smpl(folder):
    with zipfile.ZipFile(folder / "walk.npz", "w") as file:
        file.writestr("poses.npy", b"\x93NUMPY")
    data = (folder / "walk.npz").read_bytes()
    return [*refused(folder, "walk.npz", data, "a ZIP archive"),
            *refused(folder, "smpl.pkl", b"\x80\x04\x95", "of no format that is known")]  # fmt: skip


# ---- yarns ----


def yarn(folder, name, data, pattern, answer):
    if data is not None:
        put(folder, name, data)
    text = f"[yarn.y]\npattern = {pattern}\nfile = {name}\nradius = 0.001\n"
    return check(folder, text), answer


def bcc(folder):
    points = [(0.01 * k, 0.002 * (k % 2), 0.0) for k in range(6)]
    head = b"BCC\x44C0\x03\x00"[:4] + b"C0" + bytes([3, 1]) + struct.pack("<QQ", 1, len(points)) + bytes(40)
    data = head + struct.pack("<i", len(points)) + b"".join(struct.pack("<3f", *p) for p in points)
    return [yarn(folder, "c.bcc", data, "bcc", "6 vertices")]


def curves(folder):
    points = "".join(f"v {0.01 * k} {0.002 * (k % 2)} 0\n" for k in range(6))
    segments = "".join(f"l {k} {k + 1}\n" for k in range(1, 6))
    return [yarn(folder, "line.obj", points + "l 1 2 3 4 5 6\n", "obj", "6 vertices"),
            yarn(folder, "parts.obj", points + segments, "obj", "6 vertices")]  # fmt: skip


def poly(folder):
    text = "POINTS\n1: 0 0 0\n2: 0.01 0 0\nPOLYS\n1: 1 2\nEND\n"
    return [yarn(folder, "c.poly", text, pattern, "c.poly") for pattern in ("obj", "bcc")]


# ---- patterns ----


def garmentcode(folder, units=100, name="a.json"):
    corners = [[0.2 * units, 0], [0.2 * units, 0.5 * units], [-0.2 * units, 0.5 * units], [-0.2 * units, 0]]
    panel = {"vertices": corners, "edges": [{"endpoints": [k, (k + 1) % 4]} for k in range(4)],
             "translation": [0, units, 20], "rotation": [0, 0, 0]}  # fmt: skip
    spec = {"pattern": {"panels": {"front": panel}, "stitches": []},
            "properties": {"units_in_meter": units, "curvature_coords": "relative"}}  # fmt: skip
    put(folder, name, json.dumps(spec))
    return [(["pattern", name, "-o", f"out{units}.ini"], "1 piece")]


def pattern_refused(name, data, answer):
    return lambda folder: [(["pattern", put(folder, name, data), "-o", "out.ini"], answer)]


def segmentation(folder):
    put(folder, "c.obj", OBJ + FACES)
    put(folder, "c_sim_segmentation.txt", "stitch_0,stitch_1\n" * 2 + "front\n" * 4 + "back\n" * 2)
    text = "[region.r]\nobject = m\nwhere = front\nlabels = c_sim_segmentation.txt\n"
    return [(check(folder, FILE.format(section="cloth", name="c.obj") + text), "region r")]


def body_segments(folder):
    put(folder, "body.obj", OBJ + FACES)
    put(folder, "segments.json", json.dumps({"arm": [0, 1, 2, 3], "torso": [4, 5, 6, 7]}))
    body = FILE.format(section="body", name="body.obj") + "sdf_resolution = 0\n"
    text = "[ignore.r]\nobject = a\nbody = m\npart = arm\npart_labels = segments.json\nuntil = 1\n"
    return [(check(folder, SHEET + body + text), "9 vertices of a ignore 8 vertices of body m")]


def arcsim_config(folder):
    text = '{"frame_time": 0.04, "cloths": [{"mesh": "meshes/square.obj"}]}\n'
    return [(["check", put(folder, "sphere.json", text)], "sphere.json")]


def by_name(name, data, answer):
    return lambda folder: refused(folder, name, data, answer)


def lfs_pointers(folder):
    text = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n"
    found = refused(folder, "a.glb", text, "git lfs pull")
    for name in ("a.obj", "a.ply", "a.vtk"):
        found += both(folder, name, text, "git lfs pull")
    return [*found, yarn(folder, "a.bcc", text, "bcc", "git lfs pull"), solid(folder, "a.msh", text, "git lfs pull")]


FAMILIES = {
    "Wavefront OBJ": obj,
    "OBJ of ARCSim": obj_arcsim,
    "OBJ or PLY, a file for each frame": obj_frames,
    "Stanford PLY, text": ply_text,
    "Stanford PLY, binary in both orders of bytes": ply_binary,
    "PLY with strips of triangles (scans)": ply_strips,
    "PLY of points (scans, Gaussian splats)": ply_points,
    "STL, text": stl_text,
    "STL, binary": stl_binary,
    "OFF": off,
    "VTK, legacy, POLYDATA": vtk_polydata,
    "VTK, legacy, UNSTRUCTURED_GRID": vtk_grid,
    "VTK, legacy, with tetrahedra": family_of_tets("text.vtk", "binary.vtk", "text5.vtk", "binary5.vtk"),
    "VTK XML `.vtu` with tetrahedra": family_of_tets("text.vtu", "base64.vtu", "raw.vtu"),
    "VTK XML `.vtp`, `.vtu` as a surface": vtk_xml,
    "Gmsh `.msh` 2.0 to 2.2": family_of_tets("text2.msh", "binary2.msh", "swapped2.msh"),
    "Gmsh `.msh` 4.1": family_of_tets("text4.msh", "binary4.msh", "swapped4.msh"),
    "TetGen `.node` with `.ele`": tetgen,
    "MEDIT `.mesh` (TetWild, mmg)": medit,
    "glTF as a surface": lambda f: surfaces(f, "bar.gltf", "apart.gltf"),
    "GLB as a surface": lambda f: surfaces(f, "bar.glb"),
    "Collada as a surface": lambda f: surfaces(f, "bar.dae"),
    "FBX as a surface": lambda f: surfaces(f, "text.fbx"),
    "glTF with a skin": lambda f: skins(f, "bar.gltf", "apart.gltf"),
    "GLB with a skin": lambda f: skins(f, "bar.glb"),
    "VRM characters": vrm,
    "Collada with a skin": lambda f: skins(f, "bar.dae"),
    "FBX with a skin": lambda f: skins(f, "text.fbx"),
    "BVH": by_name("a.bvh", "HIERARCHY\nROOT hips\n{\n}\nMOTION\n", "BVH"),
    "MD5": by_name("a.md5mesh", "MD5Version 10\ncommandline \"\"\n", "MD5"),
    "SMD of Source": by_name("a.smd", "version 1\nnodes\nend\n", "SMD"),
    "DirectX `.x`": by_name("a.x", "xof 0303txt 0032\n", "DirectX .x"),
    "3DS": by_name("a.3ds", b"MM" + struct.pack("<I", 6), "3DS"),
    "LightWave LWO": by_name("a.lwo", b"FORM\0\0\0\4LWO2", "LightWave"),
    "Blender `.blend`": by_name("a.blend", b"BLENDER-v306" + bytes(40), "Blender's own format"),
    "USD, text (`.usda`)": by_name("a.usda", "#usda 1.0\ndef Mesh \"m\" {}\n", "./loom convert makes OBJ"),
    "USD, binary (`.usdc`, `.usd`)": by_name("a.usd", b"PXR-USDC" + bytes(80), "./loom convert makes OBJ"),
    "USD curves (`BasisCurves`)": lambda f: [
        yarn(f, "a.usda", '#usda 1.0\ndef BasisCurves "m" {}\n', "obj", "./loom convert makes OBJ")
    ],
    "USDZ, 3MF": by_name("a.usdz", b"PK\3\4" + bytes(40), "a ZIP archive"),
    "Alembic": by_name("a.abc", b"Ogawa\xff" + bytes(40), "Alembic"),
    "STEP of CAD programs": by_name("a.step", "ISO-10303-21;\nHEADER;\n", "STEP"),
    "VRML, X3D": by_name("a.wrl", "#VRML V2.0 utf8\n", "VRML"),
    "Files of Git LFS that were not fetched": lfs_pointers,
    "Files compressed by gzip": by_name("a.obj.gz", b"\x1f\x8b\x08" + bytes(20), "gzip"),
    "HDF5 with frames": hdf5,
    "Point caches PC2, MDD": point_caches,
    "SMPL motions and models (`.npz`, `.pkl`)": smpl,
    "BCC": bcc,
    "OBJ curves (`l`)": curves,
    "POLY of Houdini (YarnBall)": poly,
    "GarmentCode JSON": garmentcode,
    "Garment-Pattern-Generator JSON": lambda f: garmentcode(f, 300, "b.json"),
    "GarmentCode `_sim_segmentation.txt`": segmentation,
    "GarmentCode segments of bodies (`.json`)": body_segments,
    "GarmentCode design `.yaml`": pattern_refused("t-shirt.yaml", "design:\n  meta:\n    upper: Shirt\n", SPEC),
    "DXF of pattern makers (AAMA, ASTM)": pattern_refused("a.dxf", "0\nSECTION\n2\nBLOCKS\n0\nENDSEC\n", SPEC),
    "SVG": pattern_refused("a.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>\n", SPEC),
    "Valentina, Seamly2D": pattern_refused("a.val", "<?xml version='1.0'?><pattern/>\n", SPEC),
    "ARCSim scenes (`.json`)": arcsim_config,
}  # fmt: skip


def answer_of(binary, command, folder):
    """Exit code and both streams."""
    done = subprocess.run([binary, *command], cwd=folder, capture_output=True, text=True, errors="replace", timeout=60)
    return done.returncode, done.stdout + done.stderr
