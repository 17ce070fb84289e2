"""Files that a configuration names without their folder: includes, materials, animations.

The rules are those of loom: framework/config/load.c, search.c and material.c, and scene/moving/rigged.c.
A file beside the configuration comes first; then the folders of LOOM_CONFIG_PATH and of the installation.
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
from pathlib import Path

NAMED = {"material": ("materials", ".ini"), "animation": ("animations", ".txt")}  # key: folder, ending
NEAR_BY = (".", "..", "../..")  # of the configuration: where these folders are
KIND = "methods"  # `loom describe methods` prints each folder of the search path with this ending


@functools.lru_cache(maxsize=64)
def _asked(binary: str, at: str, path: str) -> tuple[Path, ...]:
    try:
        done = subprocess.run([binary, "describe", KIND], cwd=at, capture_output=True, text=True)
    except OSError:
        return ()
    found = re.findall(rf"(?m)^(\S.*)/{KIND}:$", done.stdout)
    return tuple(Path(os.path.normpath(os.path.join(at, word))) for word in found)


def folders(binary: str, at: Path) -> tuple[Path, ...]:
    """The search path of the binary for commands in the folder `at`: of LOOM_CONFIG_PATH, then its own."""
    return _asked(binary, str(at), os.environ.get("LOOM_CONFIG_PATH", ""))


def binary() -> str:
    """The loom that answers: LOOM_BIN, or that of the checkout."""
    root = Path(os.environ.get("LOOM_ROOT", Path(__file__).resolve().parents[3]))
    return os.environ.get("LOOM_BIN", str(root / "build/bin/loom"))


def _first(paths: list[Path]) -> Path | None:
    return next((p for p in paths if p.is_file()), None)


def shared(name: str, path: tuple[Path, ...]) -> Path | None:
    """A file of the search path; None: no folder has it."""
    if name.startswith("/") or ".." in name:
        return None
    return _first([Path(os.path.normpath(folder / name)) for folder in path])


def is_file(path: Path) -> bool:
    """A name that is too long, or a loop of links, is none."""
    try:
        return path.is_file()
    except (OSError, ValueError, RuntimeError):
        return False


def from_specification(folder: Path, name: str) -> tuple[Path, bool]:
    """The path of a configuration or overlay that a specification in `folder` names, and whether it is of the
    search path.  A file that does not exist gets the path beside the specification."""
    beside = folder / name
    found = None if is_file(beside) or not name else shared(name, folders(binary(), folder))
    return (found, True) if found else (beside, False)


def is_name(key: str, value: str) -> bool:
    """Whether the value is a name in one of the folders of NAMED."""
    return key.rsplit(".", 1)[-1] in NAMED and re.fullmatch(r"[a-z0-9_-]+", value) is not None


def name_of(key: str, value: str) -> str:
    """`materials/silk.ini` of `material = silk`."""
    below, ending = NAMED[key.rsplit(".", 1)[-1]]
    return f"{below}/{value}{ending}"


def near(folder: Path, key: str, value: str) -> Path | None:
    """The file of a name, in the folder of the configuration or one or two above it."""
    name = name_of(key, value)
    return _first([Path(os.path.normpath(folder / up / name)) for up in NEAR_BY])
