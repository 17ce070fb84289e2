"""A skin of a binary FBX file at the keys of its animation (no library of 3-D files)."""

import struct
import zlib

import numpy as np

TICKS = 46186158000  # of FBX, in a second
ARRAYS = {b"f": np.float32, b"d": np.float64, b"l": np.int64, b"i": np.int32, b"b": np.bool_}
NUMBERS = {b"Y": "<h", b"C": "<?", b"I": "<i", b"F": "<f", b"D": "<d", b"L": "<q"}


class Record:
    def __init__(self, name, values, children):
        self.name, self.values, self.children = name, values, children

    def all(self, name):
        return [c for c in self.children if c.name == name]

    def first(self, name):
        found = self.all(name)
        return found[0] if found else None

    def properties(self):
        """Values of Properties70 by name."""
        table = self.first("Properties70")
        rows = table.all("P") if table else []
        return {r.values[0]: r.values[4:] for r in rows}


class Reader:
    def __init__(self, data):
        self.data = data
        self.wide = struct.unpack_from("<I", data, 23)[0] >= 7500

    def value(self, at):
        kind = self.data[at : at + 1]
        at += 1
        if kind in NUMBERS:
            return struct.unpack_from(NUMBERS[kind], self.data, at)[0], at + struct.calcsize(NUMBERS[kind])
        if kind in b"SR":
            size = struct.unpack_from("<I", self.data, at)[0]
            return self.data[at + 4 : at + 4 + size], at + 4 + size
        count, packed, size = struct.unpack_from("<III", self.data, at)
        raw = self.data[at + 12 : at + 12 + (size if packed else count * np.dtype(ARRAYS[kind]).itemsize)]
        return (
            np.frombuffer(zlib.decompress(raw) if packed else raw, ARRAYS[kind], count),
            at + 12 + len(raw),
        )

    def record(self, at):
        head = "<QQQB" if self.wide else "<IIIB"
        end, count, _, size = struct.unpack_from(head, self.data, at)
        if end == 0:
            return None, at + struct.calcsize(head)
        at += struct.calcsize(head)
        name, values, children = self.data[at : at + size].decode(), [], []
        at += size
        for _ in range(count):
            v, at = self.value(at)
            values.append(v.decode(errors="replace") if isinstance(v, bytes) else v)
        while at < end:
            child, at = self.record(at)
            if child is None:
                break
            children.append(child)
        return Record(name, values, children), end

    def root(self):
        at, out = 27, []
        while True:
            child, at = self.record(at)
            if child is None:
                return Record("", [], out)
            out.append(child)


def turn(degrees, order=0):
    """Euler angles of the six orders of FBX: order 0 turns about x first."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    x = np.array([[1, 0, 0], [0, c[0], -s[0]], [0, s[0], c[0]]])
    y = np.array([[c[1], 0, s[1]], [0, 1, 0], [-s[1], 0, c[1]]])
    z = np.array([[c[2], -s[2], 0], [s[2], c[2], 0], [0, 0, 1]])
    one, two, three = [(x, y, z), (x, z, y), (y, z, x), (y, x, z), (z, x, y), (z, y, x)][order]
    return three @ two @ one


def affine(linear=None, shift=None):
    m = np.eye(4)
    if linear is not None:
        m[:3, :3] = linear
    if shift is not None:
        m[:3, 3] = shift
    return m


class Skinning:
    def __init__(self, path, stack=0):
        root = Reader(path.read_bytes()).root()
        self.objects = {r.values[0]: r for r in root.first("Objects").children}
        self.above, self.below = {}, {}
        for c in root.first("Connections").children:
            kind, child, parent = c.values[:3]
            what = c.values[3] if kind == "OP" else ""
            self.above.setdefault(child, []).append((parent, what))
            self.below.setdefault(parent, []).append((child, what))
        stacks = [k for k, r in self.objects.items() if r.name == "AnimationStack"]
        self.curves, self.times = {}, set()
        for layer, _ in self.below[stacks[stack]]:
            for node, _ in self.below.get(layer, []):
                self.add(node)
        self.times = np.array(sorted(self.times))
        self.end = self.times[-1]
        self.worlds = {}

    def add(self, node):
        """A curve node: which model it moves, and its curves."""
        for model, what in self.above[node]:
            if what.startswith("Lcl "):
                part = [None, None, None]
                for curve, axis in self.below.get(node, []):
                    r = self.objects[curve]
                    t = r.first("KeyTime").values[0] / TICKS
                    part["XYZ".index(axis[-1])] = t, r.first("KeyValueFloat").values[0]
                    self.times.update(np.round(t, 9))
                default = self.objects[node].properties()
                self.curves[model, what] = part, [default.get(f"d|{a}", [None])[0] for a in "XYZ"]

    def part(self, model, what, rest, time):
        v = np.array(self.objects[model].properties().get(what, rest), dtype=float)
        curves, default = self.curves.get((model, what), ([None] * 3, [None] * 3))
        for k in range(3):
            if curves[k] is not None:
                v[k] = np.interp(time, *curves[k])  # at a key its value
            elif default[k] is not None:
                v[k] = default[k]
        return v

    def local(self, model, time):
        p = self.objects[model].properties()
        vector = lambda name: np.array(p.get(name, [0, 0, 0]), dtype=float)  # noqa: E731
        order = int(p.get("RotationOrder", [0])[0])
        shift = affine(shift=self.part(model, "Lcl Translation", [0, 0, 0], time))
        spin = affine(turn(self.part(model, "Lcl Rotation", [0, 0, 0], time), order))
        before, after = affine(turn(vector("PreRotation"))), affine(turn(vector("PostRotation")))
        size = affine(np.diag(self.part(model, "Lcl Scaling", [1, 1, 1], time)))
        about, by = affine(shift=vector("RotationPivot")), affine(shift=vector("ScalingPivot"))
        return (
            shift @ affine(shift=vector("RotationOffset")) @ about @ before @ spin @ np.linalg.inv(after)
            @ np.linalg.inv(about) @ affine(shift=vector("ScalingOffset")) @ by @ size @ np.linalg.inv(by)
        )  # fmt: skip

    def world(self, model, time):
        if (model, time) not in self.worlds:
            up = [p for p, _ in self.above[model] if p in self.objects and self.objects[p].name == "Model"]
            own = self.local(model, time)
            self.worlds[model, time] = self.world(up[0], time) @ own if up else own
        return self.worlds[model, time]

    def points(self, time):
        out = []
        self.worlds = {}
        for key, skin in self.objects.items():
            if skin.name != "Deformer" or skin.values[2] != "Skin":
                continue
            geometry = self.above[key][0][0]
            x = self.objects[geometry].first("Vertices").values[0].reshape(-1, 3)
            x = np.column_stack([x, np.ones(len(x))])
            moved, total = np.zeros((len(x), 3)), np.zeros(len(x))
            for cluster, _ in self.below[key]:
                r = self.objects[cluster]
                if r.first("Indexes") is None:
                    continue
                bone = next(c for c, _ in self.below[cluster] if self.objects[c].name == "Model")
                bind = r.first("Transform").values[0].reshape(4, 4).T
                at, w = r.first("Indexes").values[0], r.first("Weights").values[0]
                m = self.world(bone, time) @ bind
                np.add.at(moved, at, w[:, None] * (x[at] @ m.T)[:, :3])
                np.add.at(total, at, w)
            used = self.objects[geometry].first("PolygonVertexIndex").values[0]
            used = np.unique(np.where(used < 0, ~used, used))
            out.append(moved[used] / total[used, None])
        return np.vstack(out)
