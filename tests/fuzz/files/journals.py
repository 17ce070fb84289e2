"""Journals beside logs: whole ones made here, with pages and numbers that are wrong, and damaged bytes.

The format is defined in framework/log/h5journal.c.  A file that does not belong to the log is called victim:
no command may change it.
"""

import os
import struct

import h5py

import mutate

M, START, PAGE = 2**64 - 1, 14695981039346656037, 4096
NUMBERS = (0, 1, -1, 4095, 4096, 2**31, 2**60, 2**63 - 1, -2**63)


def hash_of(value, data):
    for (word,) in struct.iter_unpack("<Q", data):
        value = ((value ^ word) * 1099511628211) & M
        value ^= value >> 29
    return value


def record_of(path):
    """h5u_record() of a log."""
    value = START
    with h5py.File(path) as log:
        for name in ("created", "command", "host", "config_hash"):
            text = log.attrs.get(name)
            data = b"" if text is None else bytes(text).rstrip(b"\0")
            value = hash_of(value, b"".join(struct.pack("<Q", c) for c in data) + struct.pack("<Q", 256 + (text is None)))
    return value or 1


def entries(rng, log):
    """Pages of a change, page 0 first as a rule; some are wrong."""
    pages = [log[i:i + PAGE].ljust(PAGE, b"\0") for i in range(0, len(log), PAGE)]
    wanted = sorted(rng.sample(range(len(pages) + 3), min(len(pages), rng.choice((0, 1, 2, 5)))))
    found = b""
    for i in ([0] if rng.random() < 0.9 else []) + [w for w in wanted if w > 0]:
        data = bytearray(pages[i] if i < len(pages) else bytes(PAGE))
        before = hash_of(START, bytes(data))
        for _ in range(rng.choice((0, 1, 4, 300))):
            data[rng.randrange(8 if i == 0 else 0, PAGE)] = rng.randrange(256)
        if rng.random() < 0.05:
            before = rng.randrange(2**64)
        index = rng.choice(NUMBERS) if rng.random() < 0.05 else i
        found += struct.pack("<qQ", index, before) + bytes(data)
    return found


def journal(rng, path):
    log = path.read_bytes()
    body = entries(rng, log)
    size, num = len(log), len(body) // (PAGE + 16)
    end = size if rng.random() < 0.6 else max(0, size + rng.choice((PAGE, -PAGE, 8, -8, 40 * PAGE, 2 * size)))
    if rng.random() < 0.2:
        wrong = rng.choice(NUMBERS)
        size, end, num = rng.choice(((wrong, end, num), (size, wrong, num), (size, end, wrong), (wrong, wrong, num)))
    numbers = struct.pack("<qqq", size, end, num)
    if rng.random() < 0.5:
        head = b"loom journal 1\n".ljust(24, b"\0") + numbers
    else:
        record = record_of(path) if rng.random() < 0.9 else rng.randrange(2**64)
        inode = os.stat(path).st_ino if rng.random() < 0.2 else rng.randrange(2**64)
        head = b"loom journal 2\n".ljust(24, b"\0") + numbers + struct.pack("<QQqQ", 0, inode, 0, record)
    whole = head + struct.pack("<Q", hash_of(hash_of(START, head + bytes(8)), body)) + body
    return mutate.of_bytes(rng, whole) if rng.random() < 0.2 else whole


def place(rng, data, at):
    """The journal under its name, or something else there."""
    name = at / "a.h5.journal"
    kind = rng.random()
    if kind < 0.85:
        name.write_bytes(data)
        return
    victim = at / "victim.journal"
    victim.write_bytes(data)
    if kind < 0.9:
        name.symlink_to("victim.journal")
    elif kind < 0.95:
        os.link(victim, name)
    else:
        os.mkfifo(name)


def put(rng, path, at):
    """`path` as a.h5 of the folder `at`, or a link to it, with a journal."""
    log = at / "a.h5"
    if rng.random() < 0.7:
        log.write_bytes(path.read_bytes())
        place(rng, journal(rng, log), at)
        return
    victim = at / "victim.h5"
    victim.write_bytes(path.read_bytes() if rng.random() < 0.7 else b"precious\n" * rng.randrange(2000))
    data = journal(rng, path)
    if rng.random() < 0.8:
        log.symlink_to("victim.h5")
    else:
        os.link(victim, log)
    place(rng, data, at)
