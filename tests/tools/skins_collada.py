"""A skin of a Collada file at the keys of its animation, by the rules of COLLADA 1.4.1 (no library of 3-D files)."""

import re
from xml.etree import ElementTree

import numpy as np

UP = {  # to y up
    "X_UP": [[0, -1, 0], [1, 0, 0], [0, 0, 1]],
    "Y_UP": np.eye(3),
    "Z_UP": [[1, 0, 0], [0, 0, 1], [0, -1, 0]],
}


def numbers(node):
    return np.array((node.text or "").split(), dtype=float)


def transform(kind, v):
    m = np.eye(4)
    if kind == "matrix":
        return v.reshape(4, 4)
    if kind == "translate":
        m[:3, 3] = v
    elif kind == "scale":
        m[:3, :3] = np.diag(v)
    elif kind == "rotate":
        x = v[:3] / np.linalg.norm(v[:3])
        k = np.cross(np.eye(3), x)
        a = np.radians(v[3])
        m[:3, :3] = np.eye(3) + np.sin(a) * k + (1 - np.cos(a)) * k @ k
    return m


class Skinning:
    """The first animation of all channels together."""

    def __init__(self, path):
        text = re.sub(r'\sxmlns="[^"]*"', "", path.read_text(), count=1)
        self.root = ElementTree.fromstring(text)
        self.ids = {e.get("id"): e for e in self.root.iter() if e.get("id")}
        self.parents = {c: p for p in self.root.iter() for c in p}
        unit = self.root.find("asset/unit")
        self.unit = float(unit.get("meter", 1)) if unit is not None else 1
        self.up = np.array(UP[self.root.findtext("asset/up_axis", "Y_UP").strip()])
        self.channels, self.times = {}, set()
        for animation in self.root.iter("animation"):
            for channel in animation.findall("channel"):
                self.add(channel)
        self.times = np.array(sorted(self.times))
        self.end = self.times[-1]

    def source(self, url):
        e = self.ids[url.lstrip("#")]
        if e.tag == "vertices":
            return self.source(e.find("input").get("source"))
        array = next(c for c in e if c.tag.endswith("_array"))
        if array.tag != "float_array":
            return array.text.split()
        stride = int(e.find("technique_common/accessor").get("stride", 1))
        return numbers(array).reshape(-1, stride)

    def inputs(self, e):
        return {
            i.get("semantic"): (i.get("source"), int(i.get("offset", 0)))
            for i in e.findall("input")
        }

    def add(self, channel):
        at = self.inputs(self.ids[channel.get("source").lstrip("#")])
        time, value = self.source(at["INPUT"][0]).ravel(), self.source(at["OUTPUT"][0])
        node, _, what = channel.get("target").partition("/")
        sid, _, part = what.partition(".")
        self.times.update(np.round(time, 6))
        self.channels[node, sid, part] = time, value

    def local(self, node, time):
        m = np.eye(4)
        for e in node:
            if e.tag not in ("matrix", "translate", "scale", "rotate"):
                continue
            v = numbers(e)
            for (name, sid, part), (t, value) in self.channels.items():
                if name != node.get("id") or sid != e.get("sid"):
                    continue
                k = int(np.argmin(abs(t - time)))
                if t[0] < time < t[-1] and abs(t[k] - time) > 2e-6:
                    raise ValueError(f"no key at {time} s")
                if part:
                    v["XYZ".find(part) if part in "XYZ" else 3] = value[k, 0]
                else:
                    v = value[k]
            m = m @ transform(e.tag, v)
        return m

    def world(self, node, time):
        above = self.parents[node]
        own = self.local(node, time)
        if above.tag == "node":
            return self.world(above, time) @ own
        top = np.eye(4)
        top[:3, :3] = self.unit * self.up
        return top @ own

    def points(self, time):
        out = []
        nodes = list(self.root.iter("node"))
        for instance in self.root.iter("instance_controller"):
            skin = self.ids[instance.get("url").lstrip("#")].find("skin")
            if skin is None:
                continue
            joints = self.inputs(skin.find("joints"))
            names, bind = (
                self.source(joints[k][0]) for k in ("JOINT", "INV_BIND_MATRIX")
            )
            shape = skin.find("bind_shape_matrix")
            shape = numbers(shape).reshape(4, 4) if shape is not None else np.eye(4)
            bones = [
                next(n for n in nodes if name in (n.get("sid"), n.get("id"), n.get("name")))
                for name in names
            ]
            maps = [
                self.world(b, time) @ m.reshape(4, 4) @ shape
                for b, m in zip(bones, bind, strict=True)
            ]
            mesh = self.ids[skin.get("source").lstrip("#")].find("mesh")
            x = self.source("#" + mesh.find("vertices").get("id"))
            x = np.column_stack([x, np.ones(len(x))])
            weights = skin.find("vertex_weights")
            at = self.inputs(weights)
            value = self.source(at["WEIGHT"][0]).ravel()
            counts = numbers(weights.find("vcount")).astype(int)
            pairs = numbers(weights.find("v")).astype(int).reshape(-1, len(at))
            first = np.concatenate([[0], np.cumsum(counts)])
            for k, p in enumerate(x):
                rows = pairs[first[k] : first[k + 1]]
                w = value[rows[:, at["WEIGHT"][1]]]
                moved = sum(
                    wk * maps[j] @ p for wk, j in zip(w, rows[:, at["JOINT"][1]], strict=True)
                )
                out.append(moved[:3] / w.sum())
        return np.array(out)
