"""How deep the cloth of a run is in the true skin of the body, frame by frame, from its log."""

import subprocess

import h5py
import numpy as np


def skins(body):
    """World positions [frames, vertices, 3] (m) of a body with joints, of the group of a log."""
    rest, bones, weights = (body[k][:] for k in ("vertices", "bones", "weights"))
    for T, pose in zip(body["joints"][:], body["pose"][:]):
        R, t = T[:, :9].reshape(-1, 3, 3), T[:, 9:]
        at = np.einsum("vb,vbij,vj->vi", weights, R[bones], rest)
        at += np.einsum("vb,vbi->vi", weights, t[bones])
        yield at @ pose[:9].reshape(3, 3).T + pose[9:]


def depths(program, log, body, scratch):
    """[frames, 2]: largest depth (mm), number of vertices deeper than 5 mm."""
    with h5py.File(log) as f, open(scratch, "wb") as out:
        group, x = f["scene/obstacles"][body], f["frames/x"]
        tris = group["triangles"][:].astype("i4")
        counts = [x.shape[0], x.shape[1], group["vertices"].shape[0], len(tris)]
        out.write(np.array(counts, "i4").tobytes() + tris.tobytes())
        for k, skin in enumerate(skins(group)):
            out.write(skin.astype("f8").tobytes() + x[k].astype("f8").tobytes())
    text = subprocess.run([program, "depth", scratch], check=True, capture_output=True, text=True)
    scratch.unlink()
    return np.array([[float(v) for v in row.split(",")] for row in text.stdout.split()])
