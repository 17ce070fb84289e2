"""The Python environment of a peer: made when it is first needed, kept below the user's cache."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import select
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path

from loomcloth.errors import LogError

EVERY = 10.0  # s between two lines of progress
CHECK = """
import importlib.metadata as m, sys
for pin in sys.argv[1:]:
    name, version = pin.split("==")
    if m.version(name) != version:
        sys.exit(f"{name} {m.version(name)}")
"""


class EnvironmentMissing(LogError):
    """An environment that is not there and cannot be made here, with the reason and the remedy."""


def kept_folder() -> Path:
    """Where ./loom keeps its own environment."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(os.environ.get("LOOM_VENV_DIR") or os.path.join(cache, "loom"))


def folder_of(name: str, pins: Path) -> Path:
    """Of the environment with these pins and this Python, whether it is there or not."""
    parts = (pins.read_text(), sys.version, sys.base_prefix, sysconfig.get_platform())
    digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    return kept_folder() / f"peer-{name}-{digest}"


def pins_of(pins: Path) -> list[str]:
    """NAME==VERSION of each line."""
    return re.findall(r"^([\w.-]+==[^\s;#]+)", pins.read_text(), re.MULTILINE)


def fits(folder: Path, pins: Path) -> bool:
    """Whether it is finished and has all its packages: requirements.txt is written into it last."""
    made, python = folder / "requirements.txt", folder / "bin/python"
    if not made.is_file() or made.read_text() != pins.read_text():
        return False
    try:
        done = subprocess.run([python, "-I", "-c", CHECK, *pins_of(pins)], capture_output=True, check=False)
    except OSError:
        return False
    return done.returncode == 0


def _install(words: list[str], log: Path, say: Callable[[str], None]) -> int:
    """Runs a command; its output goes to the log, and the last line of it to `say` every ten seconds."""
    begun = told = time.monotonic()
    with open(log, "a") as file, subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as child:  # fmt: skip
        assert child.stdout is not None
        last, is_open = "", True
        while is_open:
            if select.select([child.stdout], [], [], 1.0)[0]:
                data = os.read(child.stdout.fileno(), 1 << 16)
                is_open = bool(data)
                text = data.decode(errors="replace")
                file.write(text)
                file.flush()
                last = ([last] + [w.strip() for w in text.splitlines() if w.strip()])[-1]
            if time.monotonic() - told >= EVERY:
                told = time.monotonic()
                say(f"{last[:90]} ({told - begun:.0f} s)")
        return child.wait()


def ensure(name: str, pins: Path, size_mb: int, say: Callable[[str], None]) -> Path:
    """The Python of the peer's environment, which is made if it is not there.  A peer without pins has the
    Python of ./loom.  EnvironmentMissing where that fails."""
    if not pins.is_file() or not pins_of(pins):
        return Path(sys.executable)
    folder = folder_of(name, pins)
    python = folder / "bin/python"
    if fits(folder, pins):
        return python
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        lock = open(f"{folder}.lock", "w")  # noqa: SIM115  held to the end of this function
    except OSError as error:
        raise EnvironmentMissing(f"the environment of {name} is missing: {error}; set LOOM_VENV_DIR to a "
                                 "folder for Python environments") from None  # fmt: skip
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # of two processes the second waits and finds it finished
        if not fits(folder, pins):
            _make(name, folder, pins, size_mb, say)
    return python


def _make(name: str, folder: Path, pins: Path, size_mb: int, say: Callable[[str], None]) -> None:
    log = Path(f"{folder}.log")
    say(f"making {folder} ({size_mb} MB, once for all checkouts; may be removed)")
    log.write_text("")
    shutil.rmtree(folder, ignore_errors=True)
    pip = [str(folder / "bin/python"), "-m", "pip", "install", "--disable-pip-version-check", "--no-input",
           "--progress-bar", "off", "--only-binary", ":all:", "-r", str(pins)]  # fmt: skip
    for words in ([sys.executable, "-m", "venv", str(folder)], pip):
        if _install(words, log, say) != 0:
            text = log.read_text()
            errors = re.findall(r"^(?:ERROR: |Error: )(.*)", text, re.MULTILINE)
            errors = errors or text.splitlines()[-1:] or ["no reason was given"]
            shutil.rmtree(folder, ignore_errors=True)
            raise EnvironmentMissing(
                f"the environment of {name} is missing, and it cannot be made here: {errors[-1]} (all of it: "
                f"{log}); with a connection to the package index `./loom peer {name} --prepare` makes it"
            )
    if not (folder / "bin/python").exists():
        raise EnvironmentMissing(f"the environment of {name} is missing: {folder} has no Python")
    part = folder / "requirements.new"
    part.write_text(pins.read_text())
    part.rename(folder / "requirements.txt")
    if not fits(folder, pins):
        raise EnvironmentMissing(f"{folder} lacks packages that {pins} pins; remove it and call again")
