"""How inputs of the tools are damaged: bytes and structure of logs, lines of texts."""

from __future__ import annotations

import random
import signal
import subprocess
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
from logs import BINARY, SOURCE, Bench

HOSTILE = (
    "@@data@@<img src=x onerror=alert(1)>", "a<!--<script>b", "</script>", "\x1b]0;t\x07\x1b[2J",
    "=HYPERLINK(1)",
    "\n[run]\nsteps = 5", "'\"`$(touch X)`", "{0}{wildcards.g}", "$\\frac{", "%s%n%1000d", "\u202e\u2028",
    "x" * 3000,
    "-1", "1e400", "nan", "", "\0", "__proto__", "99999999999999999999",
)  # fmt: skip
EXTREME = (0, 1, 255, 1 << 31, (1 << 31) - 1, 1 << 40, (1 << 63) - 1, (1 << 64) - 1)
SIGNATURE = b"\x89HDF\r\n\x1a\n"


# ---- logs ----
def bases(bench: Bench) -> list[tuple[str, bytes]]:
    """Small logs of every kind: finished, with fields, bodies and yarns, stopped, and of a dead writer."""
    small = {"cloth__sheet__resolution": "5 5", "run__steps": 4}
    paths = [bench.run("plain", **small), bench.run("fields", log__fields="strain", **small)]
    paths.append(bench.movers("movers", **small))
    yarn = bench.path / "yarn.h5"
    words = ["--set", "yarn.swatch.rows=4", "--set", "yarn.swatch.loops=4"]
    subprocess.run(
        [BINARY, "run", SOURCE / "configs/yarn_swatch.ini", "-n", "1", "--quiet", "-o", yarn, *words],
        cwd=bench.path, check=True,
    )  # fmt: skip
    for name, sig in (("stopped", signal.SIGTERM), ("dead", signal.SIGKILL)):
        path = bench.path / f"{name}.h5"
        words = [BINARY, "run", "drape.ini", "--quiet", "-n", "100000", "-o", path]
        run = subprocess.Popen(words, cwd=bench.path, stderr=subprocess.DEVNULL)
        while not path.exists() or path.stat().st_size < 100_000:
            time.sleep(0.02)
        time.sleep(0.2)
        run.send_signal(sig)
        run.wait()
        paths.append(path)
    return [(p.stem, p.read_bytes()) for p in (*paths, yarn)]


# ---- frames of another program ----
PLAIN = ("--set", "cloth.sheet.resolution=5 5", "--set", "run.steps=4")  # settings of bases()' plain.h5


def frames(path: Path, log: Path, rng: random.Random) -> None:
    """An NPZ file of the frames of a log: arrays of other shapes, types and values, objects, cut bytes."""
    with h5py.File(log) as file:
        x, v = file["frames/x"][:], file["frames/v"][:]
        arrays = {"x": x, "v": v, "triangles": file["scene/triangles"][:], "time": file["frames/time"][:],
                  "t_cpu": np.full(len(x) - 1, 0.1), "peer": "other", "peer_version": "1"}  # fmt: skip
    for _ in range(rng.choice((0, 1, 1, 2))):
        name = rng.choice(sorted(arrays))
        data = np.asarray(arrays[name])
        pick = rng.randrange(8)
        if pick == 0:
            del arrays[name]
        elif pick == 1:
            arrays[name] = data[..., None] if rng.random() < 0.5 else data.reshape(-1)
        elif pick == 2 and data.dtype.kind in "if":
            arrays[name] = data.astype(rng.choice(("f4", "i1", "u8", "c16", "?", "f2")))
        elif pick == 3 and data.dtype.kind in "if":
            data = data.astype(float)
            data.flat[rng.randrange(data.size)] = rng.choice((np.nan, np.inf, 1e300, -1e-320, 1e9))
            arrays[name] = data
        elif pick == 4:
            arrays[name] = rng.choice(HOSTILE).replace("\0", "0")
        elif pick == 5:
            arrays[name] = np.array([{"a": 1}], object)
        elif pick == 6:
            arrays["".join(c for c in rng.choice(HOSTILE)[:40] if c.isalnum()) or "y"] = data
        elif data.ndim:
            arrays[name] = data[: rng.randrange(len(data))]
        if not arrays:
            break
    np.savez(path, **arrays)
    if rng.random() < 0.4:
        path.write_bytes(bytes_of(rng, path.read_bytes()))


def may_be_finished(data: bytes) -> bool:
    """Whether these bytes say that a writer has the file, as one that died leaves it."""
    return data.startswith(SIGNATURE) and len(data) > 11 and bool(data[11] & 1)


def bytes_of(rng: random.Random, data: bytes) -> bytes:
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8, 64))):
        at = rng.randrange(len(out)) if rng.random() < 0.5 else rng.randrange(min(len(out), 60_000))
        kind = rng.randrange(6)
        if kind == 0:
            out[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            out[at : at + 8] = rng.choice(EXTREME).to_bytes(8, "little", signed=False) if (
                rng.random() < 0.8
            ) else rng.randbytes(8)  # fmt: skip
        elif kind == 2:
            size = rng.choice((4, 64, 4096))
            out[at : at + size] = bytes(min(size, len(out) - at))
        elif kind == 3:
            size, source = rng.choice((8, 512, 4096)), rng.randrange(len(out))
            out[at : at + size] = out[source : source + size]
        elif kind == 4 and rng.random() < 0.3:
            del out[at:]
        else:
            out[at : at + 4] = rng.randbytes(4)
        if not out:
            return b""
    return bytes(out)


def text_of(rng: random.Random) -> bytes:
    word = rng.choice(HOSTILE).replace("\0", "").encode("utf-8", "replace")
    return word + (b"\xff\xfe" if rng.random() < 0.3 else b"")


def put(file: h5py.File, name: str, **more: object) -> None:
    del file[name]
    file.create_dataset(name, **more)


def spoil(rng: random.Random, file: h5py.File) -> None:
    """One change of the structure."""
    names: list[str] = []
    file.visit(names.append)
    name = rng.choice(names)
    item, kind = file[name], rng.randrange(15)
    data = None
    if isinstance(item, h5py.Dataset) and item.size and item.size < 1 << 20:
        data = np.asarray(item[()])  # h5py gives bytes for one text
    if kind == 0:
        del file[name]
    elif kind == 1:
        del file[name]
        file.create_group(name)
    elif kind == 2 and name not in ("scene", "frames"):
        shape = tuple(rng.choice((0, 1, 2, 3, 7)) for _ in range(rng.randrange(5)))
        put(file, name, data=np.zeros(shape, rng.choice(("f4", "f8", "i4", "i8", "u1"))))
    elif kind == 3:
        put(file, name, data=text_of(rng).replace(b"\0", b"") or b"x")
    elif kind == 4:
        put(file, name, shape=(1 << rng.choice((20, 30, 40, 60)), 3), dtype="f8", chunks=(64, 3))
    elif kind == 5 and data is not None and data.dtype.kind in "fiu":
        odd = (np.nan, np.inf, -1.0, 1e300, 0.0) if data.dtype.kind == "f" else (-1, 0, 1 << 30)
        value = rng.choice(odd)
        flat = np.array(data).reshape(-1)
        with np.errstate(all="ignore"):
            flat[rng.randrange(len(flat)) :] = np.array(value).astype(flat.dtype)
        put(file, name, data=flat.reshape(np.shape(data)))
    elif kind == 6 and data is not None and np.ndim(data):
        put(file, name, data=data[: rng.randrange(len(data) + 1)])
    elif kind == 7 and data is not None and data.dtype.names:
        kept = [n for n in data.dtype.names if n != rng.choice(data.dtype.names)]
        put(file, name, data=np.array(data[kept].tolist(), [(n, data.dtype[n]) for n in kept]))
    elif kind == 8 and data is not None and data.dtype.names:
        odd = rng.choice(data.dtype.names)
        new = rng.choice(("S8", "(3,)f4", "u1"))
        form = [(n, new if n == odd else data.dtype[n]) for n in data.dtype.names]
        put(file, name, data=np.zeros(len(data), form))
    elif kind == 9 and data is not None and data.dtype.names:
        column = rng.choice(data.dtype.names)
        if data.dtype[column].kind in "fiu":
            whole = data.dtype[column].kind != "f"
            data[column] = rng.choice((0, 1) if whole else (np.nan, np.inf, 1e300, -1))
            item[...] = data
    elif kind == 10:
        del file[name]
        file[name] = rng.choice((h5py.SoftLink(f"/{name}"), h5py.SoftLink("/"), h5py.SoftLink("/nowhere"),
                                 h5py.ExternalLink("../victim", "/frames/x")))  # fmt: skip
    elif kind == 11:
        put(file, name, data=np.array(["a", "b"], dtype=object), dtype=h5py.string_dtype())
    elif kind == 12:
        attr = rng.choice(list(file.attrs))
        values = (np.bytes_(text_of(rng) or b"x"), 5, -1.5, np.nan, [1, 2, 3], h5py.Empty("f4"))
        file.attrs[attr] = rng.choice(values)
    elif kind == 13:
        config = file.attrs["config"]
        if not isinstance(config, bytes):
            return  # spoilt before
        lines = config.decode(errors="replace").splitlines() or [""]
        at = rng.randrange(len(lines))
        key = lines[at].split("=")[0]
        lines[at] = f"{key}= {text_of(rng).decode(errors='replace')}"
        file.attrs["config"] = np.bytes_("\n".join(lines).replace("\0", "").encode())
    elif kind == 14 and isinstance(item, h5py.Dataset) and len(item.attrs):
        item.attrs[rng.choice(list(item.attrs))] = rng.choice((np.bytes_(b"\xff"), 3, [b"a"]))


def structure_of(rng: random.Random, path: Path) -> None:
    for _ in range(rng.choice((1, 1, 2, 4))):
        try:
            with h5py.File(path, "r+") as file:
                spoil(rng, file)
        except (OSError, KeyError, ValueError, TypeError, RuntimeError, OverflowError, MemoryError):
            return  # already so spoilt that h5py takes it no further


def fill(work: Path, found: list[tuple[str, bytes]], rng: random.Random) -> list[str]:
    """A sound log and three that are damaged; their names."""
    names = []
    for i in range(4):
        base, data = rng.choice(found)
        more = rng.choice(HOSTILE)[:40].replace("/", "_").replace("\0", "")
        stem = f"{i}_{base}" + (more if rng.random() < 0.3 else "")
        path = work / f"{stem}.h5"
        path.write_bytes(data)
        kind = rng.randrange(20)
        if i > 0 and kind < 8:
            path.write_bytes(bytes_of(rng, data))
        elif i > 0 and kind < 18 and base != "dead":
            structure_of(rng, path)
        elif i > 0 and kind == 18:
            path.unlink()
            path.symlink_to("../victim")
            (work / f"{stem}.h5.journal").write_bytes(rng.randbytes(rng.choice((0, 16, 4096))))
        elif i > 0:
            (work / f"{stem}.h5.journal").write_bytes(rng.choice((b"", b"my notes\n", rng.randbytes(9000))))
        names.append(path.name)
    return names


# ---- texts ----
SPECS = (
    "[sweep]\nconfig = drape.ini\nthreads = 1\nlimit = 500\n[set]\nrun.steps = 4\n[grid]\n"
    "solver.plugin = gd | cholmod_pd\ncloth.sheet.k_b = 1e-5 N m | 1e-4 N m\n"
    "method = @a/x.ini | @b/x.ini ; two\n[slurm]\nextra = --requeue -x 'a b'\n",
    "sweep: {config: drape.ini, scratch: '$TMPDIR/x', group: 2}\nset: {run.steps: 4}\n"
    "grid:\n  solver.plugin: [gd, cholmod_newton]\n  method: ['@a/x.ini', '@b/x.ini']\n"
    "slurm:\n  extra: --requeue\n",
)
TOKENS = (
    "[", "]", "=", "|", "@", ":", "{", "}", "%", "|||", "[sweep]\n", "[grid]\n", "- ", "&a [*a]", "*a",
    "!!python/none", "<<: ", "\t", "\0", "\r", "\\\n", ";", "#", "@/etc/passwd", "@../..", "1e400",
    "output = ../..\n", "limit = 999999999\n", "threads = 0\n", "nan", ",", ",,,,", "-1", "%)", "test,",
    "tension,0,", "angle (deg)", '"', "\xe9", "[" * 3000,
)  # fmt: skip


def mutated(rng: random.Random, text: str) -> str:
    for _ in range(rng.choice((1, 1, 2, 5, 20))):
        at, size = rng.randrange(len(text) + 1), rng.choice((1, 3, 20, 200))
        kind = rng.randrange(5)
        if kind == 0:
            text = text[:at] + text[at + size :]
        elif kind == 1:
            text = text[:at] + rng.choice(TOKENS) + text[at:]
        elif kind == 2:
            text = text[:at] + rng.choice(HOSTILE) + text[at:]
        elif kind == 3:
            text = text[:at] + text[at : at + size] * rng.choice((2, 3, 30)) + text[at + size :]
        else:
            lines = text.splitlines(keepends=True)
            rng.shuffle(lines)
            text = "".join(lines)
    return text


def spec(rng: random.Random, folder: Path, number: int) -> None:
    """A specification of a sweep; some that are accepted are planned, too."""
    from loomcloth.sweep import plan, workflow
    from loomcloth.sweep import spec as specification

    which = rng.randrange(len(SPECS))
    path = folder / f"s{number}.{('ini', 'yaml')[which]}"
    path.write_bytes(mutated(rng, SPECS[which]).encode("utf-8", "surrogateescape"))
    found = specification.read(path)
    runs = found.runs()
    if number % 50 == 0 and len(runs) <= 16:
        made = plan.make(found, 1)
        workflow.write(made, 1, True)


def fabric(rng: random.Random, folder: Path, number: int) -> None:
    """Measurements of a fabric; some that are accepted are fitted, too."""
    from loomcloth.fabric import fit, material, measured

    path = folder / f"f{number}.csv"
    text = (SOURCE / "experiments/fabric/measured.csv").read_text()
    path.write_bytes(mutated(rng, text).encode("utf-8", "surrogateescape"))
    found = measured.read(str(path))
    if number % 10 == 0:
        material.text(found, fit.fit(found), "name")


def read_texts(kind: str, numbers: range, seed: str, top: Path) -> int:
    """0 if each of these is taken or refused with a reason in less than 10 s of processor time."""
    from loomcloth.errors import SpecError

    read: Callable[[random.Random, Path, int], None] = {"spec": spec, "fabric": fabric}[kind]
    outside = top / "project"
    outside.mkdir()
    (outside / "Snakefile").write_text("mine\n")
    work = outside / "a/b"
    work.mkdir(parents=True)
    (work / "drape.ini").write_text(f"include = {SOURCE}/configs/hang.ini\n")
    for name in "ab":
        (work / name).mkdir()
        (work / name / "x.ini").write_text(f"[run]\nsteps = {2 + ord(name)}\n")
    code = 0
    for number in numbers:
        began = time.process_time()
        signal.alarm(600)
        try:
            read(random.Random(f"{seed} {kind}:{number}"), work, number)
        except (SpecError, OSError):  # both are told in a line
            pass
        except BaseException:
            print(f"{kind}:{number}: {traceback.format_exc()[-1500:]}")
            code = 1
        if time.process_time() - began > 10:
            print(f"{kind}:{number}: {time.process_time() - began:.1f} s of processor time")
            code = 1
    made = {p.name for p in outside.iterdir()} | {p.name for p in (outside / "a").iterdir()}
    if made != {"Snakefile", "a", "b"} or (outside / "Snakefile").read_text() != "mine\n":
        print(f"{kind}: outside of the output: {made}")
        code = 1
    return code
