"""Inputs to damage: small configs, meshes, curves, grids, logs and checkpoints that loom accepts."""

import pathlib
import shutil
import struct
import subprocess

import motions

HEAD = """[run]
steps = 3
dt = 0.01
[exec]
backend = cpu
threads = 1
[stop]
max_iters = 4
[log]
checkpoint_every = 1
"""
BODIES = """[body.floor]
shape = plane
position = 0 0 -0.1
[body.ball]
shape = sphere
radius = 0.05
position = 0 0 -0.06
motion = keyframes
keyframe_file = keys.txt
"""
SHEET = """[cloth.sheet]
shape = grid
size = 0.2 0.2
resolution = 6 6
density = 0.2
membrane = 100
thickness = 0.001
pins = 0 5
"""
SCENES = {
    "penalty": HEAD + SHEET + BODIES + """[solver]
plugin = cholmod_newton
[collision.bodies]
plugin = sdf
[contact.bodies]
plugin = penalty
""",
    "ndb": HEAD + SHEET + BODIES + """[filter]
min_gap = 5e-5
[solver]
plugin = ndb_pd
cache =
r1 = 20
r2 = 10
[collision.bodies]
plugin = sdf
[collision.self]
plugin = patch_bvh
[contact.all]
plugin = ndb
""",
    "ipc": HEAD + SHEET + BODIES + """[solver]
plugin = pcg_newton
[collision.bodies]
plugin = sdf
[collision.self]
plugin = brute
[contact.all]
plugin = ipc_barrier
self_friction = 0.3
""",
    "yarn": HEAD.replace("dt = 0.01", "dt = 0.001\nsubsteps = 10") + """[yarn.swatch]
pattern = stockinette
rows = 3
loops = 3
transform = translate 0 0 0.05
[body.floor]
shape = plane
[solver]
plugin = yarn_explicit
[collision.yarns]
plugin = yarn_grid
[contact.yarns]
plugin = acl
collision = yarns
[collision.bodies]
plugin = sdf
[contact.bodies]
plugin = project
collision = bodies
[detect]
every = step
[filter]
when = every
""",
}
KEYS = "# T X Y Z AX AY AZ DEG\n0 0 0 0 0 0 1 0\n0.01 0 0 0.01 0 0 1 10\n0.05 0 0.01 0.02 1 0 1 90\n"
OBJ = ("o sheet\n" + "".join(f"v {0.1 * i} {0.1 * j} {0.01 * i * j}\n" for j in range(4) for i in range(4)) +
       "vt 0 0\nvn 0 0 1\n" +
       "".join(f"f {4 * j + i + 1} {4 * j + i + 2} {4 * j + i + 6} {4 * j + i + 5}\n" for j in range(3) for i in range(3)))
CUBE = ("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n"
        "f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n")
PLY = ("ply\nformat ascii 1.0\ncomment a square\nelement vertex 4\nproperty float x\nproperty float y\n"
       "property float z\nelement face 2\nproperty list uchar int vertex_indices\nend_header\n"
       "0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 0 1 2\n3 0 2 3\n")
CURVES = ("".join(f"v {0.005 * i} {0.01 * j} 0\n" for j in range(3) for i in range(12)) +
          "".join("l " + " ".join(str(12 * j + i + 1) for i in range(12)) + "\n" for j in range(3)))
GRID = "5 5 5\n-0.2 -0.2 -0.2\n0.1\n" + "".join(f"{0.1 * (abs(i % 5 - 2) - 1):.3f}\n" for i in range(125))


def binary_ply():
    head = PLY.split("0 0 0\n")[0].replace("ascii", "binary_little_endian").encode()
    points = struct.pack("<12f", 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0)
    return head + points + struct.pack("<BiiiBiii", 3, 0, 1, 2, 3, 0, 2, 3)


# Content, and the section that reads it with `FILE` in place of its name.
MESHES = {
    "a.obj": (OBJ.encode(), "[cloth.a]\nshape = obj\nfile = FILE\n"),
    "a.ply": (PLY.encode(), "[cloth.a]\nshape = ply\nfile = FILE\n"),
    "b.ply": (binary_ply(), "[cloth.a]\nshape = ply\nfile = FILE\n"),
    "body.obj": (CUBE.encode(), "[body.a]\nshape = mesh\nfile = FILE\nsdf_resolution = 8\n"),
    "c.obj": (CURVES.encode(), "[yarn.a]\npattern = obj\nfile = FILE\nradius = 0.001\n"),
    "c.bcc": (None, "[yarn.a]\npattern = bcc\nfile = FILE\nradius = 0.00125\n"),
}


def make(binary, folder, env):
    """Logs and checkpoints of all scenes and the curves of a yarn; a base that does not run is an
    error."""
    folder = pathlib.Path(folder)
    for name, text in SCENES.items():
        (folder / "keys.txt").write_text(KEYS)
        (folder / f"{name}.ini").write_text(text)
        done = subprocess.run([binary, "run", f"{name}.ini", "-n", "3", "-o", f"{name}.h5", "--quiet"], cwd=folder,
                              env=env, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode not in (0, 1, 3) or not (folder / f"{name}.check.h5").exists():
            raise SystemExit(f"fuzz_files: the base {name} does not run: {done.returncode}\n{done.stderr}")
    done = subprocess.run([binary, "export", "yarn.h5", "--format", "bcc", "-o", "curves"], cwd=folder, env=env,
                          capture_output=True, text=True, timeout=300, check=False)
    found = sorted(folder.glob("curves/*.bcc"))
    if not found:
        raise SystemExit(f"fuzz_files: no curves: {done.stderr}")
    shutil.copy(found[0], folder / "c.bcc")
    motions.make(folder)
