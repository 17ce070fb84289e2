"""Commands of the installed package: `loom-table` is `./loom table`, and so on.

The binary is the one that LOOM_BIN names, or `loom` beside this Python, or `loom` of the PATH.
"""

from __future__ import annotations

import os
import runpy
import shutil
import sys
from collections.abc import Callable
from pathlib import Path


def _binary() -> str:
    beside = Path(sys.executable).with_name("loom")
    return str(beside) if os.access(beside, os.X_OK) else shutil.which("loom") or "loom"


def _command(tool: str) -> Callable[[], None]:
    def start() -> None:
        os.environ.setdefault("LOOM_BIN", _binary())
        sys.argv[0] = f"loom-{tool}"
        runpy.run_module(f"loomcloth.{tool}", run_name="__main__")

    return start


archive = _command("archive")
export = _command("export")
fabric = _command("fabric")
measure = _command("measure")
render = _command("render")
report = _command("report")
sweep = _command("sweep")
table = _command("table")
watch = _command("watch")
