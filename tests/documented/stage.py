"""A fresh copy of the sources in which commands are tried, with the launcher and an own home."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

QUERIES = """\
0,1,0,1,1,1
-1,1,-1,1,0,1
1,1,-1,1,0,1
0,1,1,1,0,1
0,1,0,1,-1,1
-1,1,-1,1,0,1
1,1,-1,1,0,1
0,1,1,1,0,1
"""  # a vertex falls through a face; rows: x, y, z as numerator and denominator
SHIRT = "v 0 0 0\nv 0.2 0 0\nv 0 0.2 0\nv 0.2 0.2 0\nf 1 2 3\nf 2 4 3\n"


class Stage:
    def __init__(self, source, build, fresh):
        """build: a finished build of these very sources, taken over; fresh: it is made anew."""
        self.source = Path(source)
        self.work = Path(tempfile.mkdtemp(prefix="loom-documented-"))
        self.root = self.work / "loom"
        self.fresh = fresh
        self.done = set()  # commands that were run
        self.copy()
        for name in ("home", "tmp"):
            (self.work / name).mkdir()
        # files that the documents call by a name of the reader's own
        (self.root / "queries.csv").write_text(
            "".join(f"{line},1\n" for line in QUERIES.splitlines()))
        for name in ("mine.obj", "shirt.obj", "tangled.obj"):
            (self.root / name).write_text(SHIRT)
        self.venv = (self.source / ".venv/bin/python").exists()
        if self.venv:
            (self.root / ".venv").symlink_to(self.source / ".venv")
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("LOOM_")}
        self.environment |= {"HOME": str(self.work / "home"), "LOOM_NO_INSTALL": "1"}
        if "LOOM_CMAKE_ARGS" in os.environ:
            self.environment["LOOM_CMAKE_ARGS"] = os.environ["LOOM_CMAKE_ARGS"]
        if fresh:
            self.environment |= {"LOOM_BUILD_DIR": ""}
        else:
            self.take_build(Path(build))
            self.shorten("experiments/sweep/sweep.ini", "steps = 40", "steps = 4")

    def shorten(self, name, text, other):
        """A file of the copy whose runs no option of its command shortens: 12 drapes were a quarter of the test."""
        path = self.root / name
        before = path.read_text()
        if before.count(text) != 1:
            raise ValueError(f"tests/documented/stage.py: {name} has no '{text}' to shorten")
        path.write_text(before.replace(text, other))

    def copy(self):
        """A clone of HEAD, or for the quick test the files as they are now."""
        git = ["git", "-C", str(self.source)]
        if self.fresh:
            subprocess.run(["git", "clone", "-q", str(self.source), str(self.root)], check=True)
            return
        known = None
        if shutil.which("git"):
            known = subprocess.run([*git, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                                   capture_output=True, text=True)
        if known is not None and known.returncode == 0:
            names = [n for n in known.stdout.split("\0") if n]
        else:  # an archive, or no git: everything but build products
            names = [str(p.relative_to(self.source)) for p in self.source.rglob("*")
                     if p.is_file() and not {"build", "out", ".venv"} & set(p.parts)]
        for name in names:
            if (self.source / name).is_file():
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(self.source / name, self.root / name)

    def take_build(self, build):
        """The launcher finds everything built: binary, plugins and installation come from
        `build`, and ninja has no work."""
        own = self.root / "build"
        own.mkdir()
        for name in ("bin", "plugins", "meshers", "readers", "factors", "cmake_install.cmake"):
            (own / name).symlink_to(build / name)
        (own / "CTestTestfile.cmake").write_text(f'subdirs("{build}")\n')
        (own / "build.ninja").write_text("build runtime: phony\nbuild all: phony\n")
        for group in ("build", "test", "python", "bundle", "nightly"):
            shutil.copy(self.root / "framework/cmake/packages.txt", own / f".packages-{group}")
        for tests in ("ON",):
            key = f"{self.root} {self.environment.get('LOOM_CMAKE_ARGS', '')}".rstrip()
            (own / ".configured").write_text(f"{key}\n-DLOOM_TESTS={tests}\n")
        (own / ".with-tests").touch()

    def tool(self, name):
        return shutil.which(name, path=self.environment["PATH"])

    def run(self, command, folder="."):
        """Exit code and output of a shell command; in `folder` of the copy."""
        done = subprocess.run(["bash", "-c", command], cwd=self.root / folder, env=self.environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True,
                              timeout=5400 if self.fresh else 900)
        return done.returncode, done.stdout

    def python(self, text):
        """A program with the libraries that a reader has: .venv with loomcloth, or the system's h5py and
        pandas."""
        environment = os.environ | {"PYTHONPATH": str(self.root / "experiments/tools")}
        for python in (self.root / ".venv/bin/python", Path("/usr/bin/python3")):
            if not python.exists():
                continue
            try:
                done = subprocess.run([str(python), "-c", text], cwd=self.root, text=True, env=environment,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
            except subprocess.TimeoutExpired:
                continue
            if "No module named" not in done.stdout:
                return done.returncode, done.stdout
        return None, "no Python here has what it imports"

    def close(self):
        if os.environ.get("LOOM_KEEP"):
            print(f"kept: {self.work}", file=sys.stderr)
        else:
            shutil.rmtree(self.work, ignore_errors=True)
