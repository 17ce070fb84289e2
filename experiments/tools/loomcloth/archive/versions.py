"""The programs that made the logs of a study: versions, licences, sources, libraries."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

from loomcloth.log import Log
from loomcloth.search import binary

PACKAGES = ("loom-cloth", "h5py", "numpy", "pandas")
NEEDED = re.compile(r"\(NEEDED\).*\[(.+)\]")
LIBRARY = re.compile(r"=> (\S+)")
SYSTEM = re.compile(r"^(ld-|lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+|quadmath)\.)")  # of each program


@dataclass(frozen=True)
class Plugin:
    """As the logs name it."""

    name: str
    kind: str
    version: str
    build: str
    licence: str


@dataclass
class Software:
    looms: set[tuple[str, str]] = field(default_factory=set)  # version, commit
    plugins: set[Plugin] = field(default_factory=set)
    machines: set[str] = field(default_factory=set)
    references: dict[str, str] = field(default_factory=dict)  # plugin: its paper
    libraries: dict[str, str] = field(default_factory=dict)  # file on this machine: its plugins
    packages: dict[str, str] = field(default_factory=dict)  # of Python, which made the archive
    last: str = ""  # when the last run ended, in UTC
    runs: int = 0

    def add(self, path: Path) -> None:
        """A log."""
        with Log(path) as log:
            self.looms.add((str(log.attr("loom_version")), str(log.attr("git_commit"))))
            words = [str(log.attr("cpu")), str(log.attr("gpu"))]
            self.machines.add(", ".join(w for w in words if w))
            self.last = max(self.last, str(log.attr("end_time")))
            for line in str(log.attr("plugins")).splitlines():
                name, kind, version, _, build, licence = [*line.split("\t"), *[""] * 6][:6]
                self.plugins.add(Plugin(name, kind, version, build, licence))
        self.runs += 1

    def ask(self) -> None:
        """Papers of the plugins and their libraries, where the build here is that of the logs."""
        libraries: dict[str, set[str]] = {}
        for plugin in self.plugins:
            for found in _described(plugin.name):
                if found.get("kind") != plugin.kind or "reference" not in found:
                    continue
                self.references[plugin.name] = str(found["reference"])
                if found.get("build") == plugin.build:
                    for name in _libraries(str(found.get("path", ""))):
                        libraries.setdefault(name, set()).add(plugin.name)
        for name in _libraries(binary()):
            libraries.setdefault(name, set()).add("loom")
        self.libraries = {k: ", ".join(sorted(v)) for k, v in sorted(libraries.items())}
        for package in PACKAGES:
            try:
                self.packages[package] = metadata.version(package)
            except metadata.PackageNotFoundError:
                continue
        self.packages["Python"] = platform.python_version()


def _described(name: str) -> list[dict[str, object]]:
    done = subprocess.run([binary(), "describe", name, "--json"], capture_output=True, text=True)
    try:
        found = json.loads(done.stdout)
    except ValueError:
        return []
    return [e for e in found if isinstance(e, dict)] if isinstance(found, list) else []


def _libraries(path: str) -> Iterable[str]:
    """Files of the libraries that a module itself is linked with; their names have the versions."""
    if not os.path.isfile(path):
        return ()
    try:
        done = subprocess.run(["ldd", path], capture_output=True, text=True)
        own = subprocess.run(["readelf", "-d", path], capture_output=True, text=True)
    except OSError:  # no binutils: not known
        return ()
    needed = set(NEEDED.findall(own.stdout))
    paths = [p for p in LIBRARY.findall(done.stdout) if os.path.basename(p) in needed]
    names = (os.path.basename(os.path.realpath(p)) for p in paths)
    return [n for n in names if not SYSTEM.match(n)]
