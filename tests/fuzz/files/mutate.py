"""Damage to bytes, to the words of a text, and to the objects of an HDF5 file."""

import struct

from values import ODD


def of_bytes(rng, data):
    """A few edits of one kind each: bits, runs, copies, cuts."""
    b = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        if not b:
            return bytes(b)
        at, pick = rng.randrange(len(b)), rng.randrange(7)
        if pick == 0:
            b[at] ^= 1 << rng.randrange(8)
        elif pick == 1:
            b[at] = rng.randrange(256)
        elif pick == 2:
            b[at:at + 8] = struct.pack("<q", rng.choice((-1, 0, 2**31 - 1, -2**31, 2**62, 2**24)))[:len(b) - at]
        elif pick == 3:
            start = rng.randrange(len(b))
            part = b[start:start + rng.randrange(1, 64)]
            b[at:at + len(part)] = part
        elif pick == 4:
            del b[at:at + rng.randrange(1, 64)]
        elif pick == 5:
            b[at:at] = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 16)))
        elif rng.random() < 0.3:
            del b[at:]
    return bytes(b)


def of_text(rng, text):
    """Lines and words: repeated, dropped, swapped, and numbers that cannot be meant."""
    if rng.random() < 0.2:
        return of_bytes(rng, text.encode("utf-8", "replace"))
    lines = text.split("\n")
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        at, pick = rng.randrange(len(lines)), rng.randrange(8)
        words = lines[at].split(" ")
        if pick == 0:
            lines.insert(at, lines[rng.randrange(len(lines))])
        elif pick == 1 and len(lines) > 1:
            del lines[at]
        elif pick == 2:
            words[rng.randrange(len(words))] = rng.choice(ODD)
        elif pick == 3:
            words[rng.randrange(len(words))] = str(rng.choice((-1, 0, 1, 2, 99, 2**31, -2**31, 2**32, 2**63)))
        elif pick == 4:
            words.insert(rng.randrange(len(words) + 1), rng.choice(words + list(ODD)))
        elif pick == 5 and len(words) > 1:
            del words[rng.randrange(len(words))]
        elif pick == 6:
            other = rng.randrange(len(lines))
            lines[at], lines[other] = lines[other], lines[at]
            words = lines[at].split(" ")
        else:
            words[-1] += rng.choice(("\r", "\0", "\t", " ", "\x1b[31m", "0" * 400, "e999", "/1/1"))
        if pick != 1:
            lines[at] = " ".join(words)
    return "\n".join(lines).encode("utf-8", "replace")


def of_hdf5(rng, path):
    """One to three objects of a file replaced by objects of another kind."""
    import h5py
    import numpy as np

    with h5py.File(path, "r+", locking=False) as f:
        names = []
        f.visit(names.append)
        for _ in range(rng.choice((1, 1, 2, 3))):
            name = rng.choice(names)
            if name not in f:
                continue
            pick = rng.randrange(8)
            if rng.random() < 0.15 and len(f.attrs) > 0:
                key = rng.choice(sorted(f.attrs))
                f.attrs[key] = rng.choice((np.zeros(4000), -1, 2**62, "x" * 9000, np.nan, np.zeros((2, 2))))
            elif pick == 0:
                del f[name]
            elif isinstance(f[name], h5py.Group):
                del f[name]
                f[name] = np.zeros(3)
            elif pick == 1:
                del f[name]
                f.create_group(name)
            else:
                dataset(rng, f, name, pick)


def of_attributes(rng, path):
    """One to three attributes of a file dropped, or replaced by other numbers, texts or shapes."""
    import h5py
    import numpy as np

    with h5py.File(path, "r+") as f:
        owners = [f]
        f.visititems(lambda _, o: owners.append(o) if len(o.attrs) else None)
        for _ in range(rng.choice((1, 1, 2, 3))):
            attrs = rng.choice([o.attrs for o in owners if len(o.attrs)])
            name = rng.choice(sorted(attrs))
            old, pick = np.asarray(attrs[name]), rng.randrange(5)
            del attrs[name]
            if pick == 1 or (pick > 1 and old.dtype.kind not in "fiu"):
                attrs[name] = np.bytes_(rng.choice(ODD).replace("\0", "").encode() or b"x")
            elif pick == 2:
                attrs[name] = np.resize(old, rng.choice(((), (1,), (3,), (7,), (2, 3), (200,))))
            elif pick > 2:
                new = np.array(old).reshape(-1)
                wild = (float("nan"), float("inf"), -1, 0, 1e300, 1e-300, 1, 2) if old.dtype.kind == "f" else (-1, 0, 1, 9, 2**31 - 1)
                with np.errstate(over="ignore"):
                    new[rng.randrange(new.size)] = rng.choice(wild)
                attrs[name] = new.reshape(old.shape)


def dataset(rng, f, name, pick):
    import numpy as np

    a = f[name][()]
    if not isinstance(a, np.ndarray):
        a = np.asarray(a)
    if pick == 2:  # another size
        new = np.resize(a, rng.choice((0, 1, 7, max(a.size - 1, 0), a.size + 1, 4 * a.size + 40)))
    elif pick == 3:  # another type
        new = rng.choice((np.float32, np.int8, np.uint64, np.float64))(np.zeros(a.shape))
    elif pick == 4:  # another rank
        new = a.reshape((1,) * rng.randrange(1, 6) + a.shape)
    elif a.size == 0:
        return
    else:  # other values
        new = a.copy()
        flat = new.reshape(-1).view(np.uint8)
        for _ in range(rng.choice((1, 1, 3, 20))):
            at = 8 * rng.randrange(max(flat.size // 8, 1))
            wild = rng.choice((struct.pack("<d", rng.choice((float("nan"), float("inf"), 1e300, -1e45, 3e38))),
                               struct.pack("<q", rng.choice((-1, 2**31 - 1, 2**40, -2**63))),
                               bytes(rng.randrange(256) for _ in range(8))))
            part = flat[at:at + 8]
            part[:] = np.frombuffer(wild, np.uint8)[:part.size]
    del f[name]
    f[name] = new
