"""Frames of another program for `loom measure`: HDF5, OBJ and PLY files, a log; damaged, or with other shapes."""

import json
import shutil

import mutate

SCENE = "penalty"  # of bases.SCENES
PEER = json.dumps({"name": "other", "version": "1", "settings": {"k": 1}, "licence": "MIT"})


def make(base):
    """motion.h5, frames in the folders obj and ply, of the log of the scene."""
    import h5py

    with h5py.File(base / f"{SCENE}.h5") as log, h5py.File(base / "motion.h5", "w") as out:
        x, v, triangles = log["frames/x"][:], log["frames/v"][:], log["scene/triangles"][:]
        out["x"], out["v"], out["triangles"] = x, v, triangles
        out["time"], out["t_cpu"] = log["frames/time"][:], [0.1] * (len(x) - 1)
        out.attrs.update(peer="other", peer_version="1", peer_settings='{"k": 1}', peer_licence="MIT")
    for kind in ("obj", "ply"):
        (base / kind).mkdir()
        for k, points in enumerate(x):
            rows = [" ".join(f"{c:.9g}" for c in p) for p in points]
            if kind == "obj":
                text = "".join(f"v {r}\n" for r in rows) + "".join("f %d %d %d\n" % tuple(t + 1) for t in triangles)
            else:
                text = (f"ply\nformat ascii 1.0\nelement vertex {len(rows)}\nproperty float x\nproperty float y\n"
                        f"property float z\nelement face {len(triangles)}\nproperty list uchar int vertex_indices\n"
                        "end_header\n" + "".join(f"{r}\n" for r in rows) +
                        "".join("3 %d %d %d\n" % tuple(t) for t in triangles))
            (base / kind / f"frame_{k:03}.{kind}").write_text(text)


def reshape(rng, path):
    """A data set with another shape, another type, other values or another kind of object."""
    import h5py
    import numpy as np

    with h5py.File(path, "a") as f:
        name = rng.choice(("x", "x", "v", "triangles", "time", "t_cpu"))
        data = f[name][:]
        del f[name]
        pick = rng.randrange(9)
        if pick == 0:
            f[name] = data[: rng.randrange(len(data))]
        elif pick == 1:
            f[name] = data[..., None] if rng.random() < 0.5 else data.reshape(-1)
        elif pick == 2:
            f[name] = data.astype(rng.choice(("f4", "i1", "u8", "f2", "i8")))
        elif pick == 3:
            data = data.astype(float)
            data.flat[rng.randrange(data.size)] = rng.choice((np.nan, np.inf, -np.inf, 1e300, -1e-320, 1e9))
            f[name] = data
        elif pick == 4:
            f[name] = rng.choice(("text", 1.5, [b"a", b"b"]))
        elif pick == 5:
            f.create_group(name)
        elif pick == 6:
            f[name] = h5py.SoftLink(rng.choice(("/nowhere", f"/{name}", "/")))
        elif pick == 7:
            f.create_dataset(name, (2**40, *data.shape[1:]), data.dtype, chunks=True)
        for key in ("dt", "peer", "peer_settings") if rng.random() < 0.3 else ():
            f.attrs[key] = rng.choice((0.0, -1.0, np.nan, "text", [1, 2], b"\xff\xfe", "{", 1 << 40))


def motion(rng, keys, base, at):
    for name in (f"{SCENE}.ini", "keys.txt"):
        shutil.copy(base / name, at / name)
    kind = rng.choice(("motion.h5", "motion.h5", "motion.h5", "obj", "ply", f"{SCENE}.h5", "peer.json"))
    data, words = kind, []
    if kind.endswith(".h5"):
        shutil.copy(base / kind, at / kind)
        pick = rng.random()
        if pick < 0.5 and kind == "motion.h5":
            reshape(rng, at / kind)
        elif pick < 0.8:
            mutate.of_hdf5(rng, at / kind)
        else:
            (at / kind).write_bytes(mutate.of_bytes(rng, (at / kind).read_bytes()))
    elif kind == "peer.json":
        data, words = "motion.h5", ["--peer", kind]
        shutil.copy(base / data, at / data)
        (at / kind).write_bytes(mutate.of_text(rng, PEER))
    else:
        shutil.copytree(base / kind, at / kind)
        files = sorted((at / kind).iterdir())
        file = rng.choice(files)
        if rng.random() < 0.1:
            file.rename(file.with_name(rng.choice((f"frame_9.{kind}", f"frame.{kind}", f"frame_000.0.{kind}", "x"))))
        else:
            file.write_bytes(mutate.of_text(rng, file.read_text()))
        data = f"{kind}/{files[0].name}" if rng.random() < 0.3 else kind
    return [["measure", data, f"{SCENE}.ini", "-o", "out.h5", "--quiet", *words]]
