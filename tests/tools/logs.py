"""Small logs of the real binary, made once for a module of tests."""

from __future__ import annotations

import importlib
import os
import signal
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(os.environ["LOOM_SOURCE_DIR"])
BINARY = os.environ["LOOM_BIN"]
DRAPE = f"""\
include = {SOURCE}/configs/scenes/drape_sphere.ini
include = {SOURCE}/configs/methods/penalty.ini
[run]
steps = 8
dt = 0.01
[cloth.sheet]
resolution = 11 11
transform  = translate 0.02 0.01 0.67
[stop]
max_iters = 40
tol_abs = 1e-7
tol_rel = 0
[log]
audit = off
"""
# Beside the sheet, without contact: a plate that turns and a leg that bends.
MOVERS = """\
[solver]
plugin = cholmod_pd
[contact.bodies]
plugin = none
[body.plate]
shape    = box
size     = 0.4 0.2 0.04
position = 0.7 0 0.3
motion   = rotate 0 0 1 0.7 0 0.3 2000 0 0.08
[body.leg]
shape          = rig
rig            = leg
edge_length    = 0.06
position       = -1.5 0 1.2
animation_file = swing.txt
animation_ease = 0
"""
SWING = "columns hip.flexion knee.flexion\n0.0 0 0\n0.08 40 60\n"
# Libraries that the tools import when they need them.
LIBRARIES = {
    "table": ("loomcloth.tables", "loomcloth.accuracy"),
    "watch": ("loomcloth.follow", "matplotlib.pyplot"),
    "report": (
        "loomcloth.tables", "loomcloth.report.page", "loomcloth.report.charts", "loomcloth.report.verdict",
        "loomcloth.report.replay", "k3d.colormaps",
    ),
    "export": ("loomcloth.log", "loomcloth.export.parts", "pygltflib", "pxr.UsdGeom"),
    "render": ("loomcloth.log", "loomcloth.selection", "loomcloth.stage", "matplotlib.pyplot"),
}
SOLVERS = ("gd", "cholmod_pd", "cholmod_newton")


def cut_off(log: Path) -> None:
    """Make of a log the state that a kill leaves while the log is changed as a whole: some pages are not as
    they should be, and the journal beside it has them (framework/log/h5stage.c)."""
    page, start, prime, mask = 4096, 14695981039346656037, 1099511628211, (1 << 64) - 1

    def add(h: int, data: bytes) -> int:
        for (word,) in struct.iter_unpack("<Q", data):
            h = (h ^ word) * prime & mask
            h ^= h >> 29
        return h

    after = log.read_bytes()
    entries = []
    with open(log, "r+b") as file:
        for index in range(0, len(after) // page, 3):
            torn = after[index * page : (index + 1) * page][::-1]
            if index == 0:  # a log is known by the beginning of its first page
                torn = after[:64] + after[64:page][::-1]
            whole_page = after[index * page : (index + 1) * page]
            entries.append(struct.pack("<qQ", index, add(start, torn)) + whole_page)
            file.seek(index * page)
            file.write(torn)
    head = struct.pack("<24sqqq", b"loom journal 1\n", len(after), len(after), len(entries))
    whole = add(add(start, head + bytes(8)), b"".join(entries))
    log.with_name(log.name + ".journal").write_bytes(head + struct.pack("<Q", whole) + b"".join(entries))


def inside(folder: Path, *words: object, limit: int = 0) -> subprocess.CompletedProcess[str]:
    """The output of a tool in a folder, run by a fork of this process."""
    from loomcloth import command, terminal

    name, *rest = map(str, words)
    is_folder = name in ("archive", "convert", "export", "fabric", "peer", "report", "sweep")
    main = importlib.import_module(f"loomcloth.{name}.__main__" if is_folder else f"loomcloth.{name}").main
    for module in LIBRARIES.get(name, ()):  # once here, not in every fork
        importlib.import_module(module)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if child == 0:
            code = 99
            try:
                os.chdir(folder)
                signal.alarm(limit)  # s; its signal ends the process
                for number, file in ((1, out), (2, err)):
                    os.dup2(file.fileno(), number)
                    setattr(sys, ("stdout", "stderr")[number - 1], open(number, "w", closefd=False))  # noqa: SIM115
                terminal.guard()
                try:
                    code = command.call(name, main, rest)
                except SystemExit as ended:  # of wrong arguments
                    code = ended.code if isinstance(ended.code, int) else 1
                sys.stdout.flush()
                sys.stderr.flush()
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    return subprocess.CompletedProcess([name, *rest], os.waitstatus_to_exitcode(status), *texts)


class Bench:
    """A folder of logs; everything in it goes with the object."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="loom-tools-")
        self.path = Path(self.folder.name)
        (self.path / "drape.ini").write_text(DRAPE)

    def run(self, name: str, *words: str, config: str = "drape.ini", **settings: object) -> Path:
        """NAME.h5 of the drape with the settings; `.` is written as two underscores."""
        sets = [w for k, v in settings.items() for w in ("--set", f"{k.replace('__', '.')}={v}")]
        path = self.path / f"{name}.h5"
        path.parent.mkdir(exist_ok=True)
        done = subprocess.run(
            [BINARY, "run", config, "--quiet", "-o", str(path), *sets, *words],
            cwd=self.path,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return path

    def movers(self, name: str, **settings: object) -> Path:
        """A run with bodies that move and bend."""
        (self.path / "swing.txt").write_text(SWING)
        scene = [line for line in DRAPE.splitlines() if "methods/" not in line]
        (self.path / "movers.ini").write_text("\n".join(scene) + "\n" + MOVERS)
        return self.run(name, config="movers.ini", **settings)

    def replays(self, folder: str = "same") -> Path:
        """The solvers on the same steps: a folder of logs."""
        reference = self.run("reference", solver__plugin="cholmod_newton", stop__tol_abs=1e-10)
        for solver in SOLVERS:
            self.run(f"{folder}/{solver}", solver__plugin=solver, run__replay=reference)
        return self.path / folder

    def tool(self, *words: object, code: int = 0) -> subprocess.CompletedProcess[str]:
        """A command of the launcher, as it would call it; fails on another exit code."""
        name, *rest = map(str, words)
        done = subprocess.run(
            [os.environ["PYTHON"], "-m", f"loomcloth.{name}", *rest],
            cwd=self.path,
            capture_output=True,
            text=True,
        )
        assert done.returncode == code, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def inside(self, *words: object, code: int = 0) -> subprocess.CompletedProcess[str]:
        """As tool(), by a fork of this process, which has the libraries already."""
        done = inside(self.path, *words)
        assert done.returncode == code, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def close(self) -> None:
        self.folder.cleanup()
