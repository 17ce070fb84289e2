"""`loom measure` for frames in an NPZ file: writes them as the HDF5 file of the command, and calls it.

Arrays: x [frames][n][3] (m) and, where they are known, v (m/s), triangles, time (s), t_cpu (s), dt (s);
texts: peer, peer_version, peer_settings, peer_licence.  All options are those of `loom measure`."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from loomcloth import command
from loomcloth.errors import SpecError

ARRAYS = ("x", "v", "triangles", "time", "t_cpu")
TEXTS = ("peer", "peer_version", "peer_settings", "peer_licence")


def convert(path: str, to: str) -> None:
    """The NPZ file `path` as the HDF5 file `to`.  SpecError with file, array and remedy."""
    import h5py
    import numpy as np

    known = f"{', '.join(ARRAYS)}, dt and texts {', '.join(TEXTS)}"
    try:
        with np.load(path, allow_pickle=False) as data, h5py.File(to, "w") as out:
            for name in data.files:
                if name not in (*ARRAYS, *TEXTS, "dt"):
                    raise SpecError(f"{path}: the array '{name}' is not known; arrays are {known}")
                value = data[name]
                if name in TEXTS and value.shape == () and value.dtype.kind in "US":
                    out.attrs[name] = str(value[()])
                elif name == "dt" and value.size == 1 and value.dtype.kind in "iuf":
                    out.attrs["dt"] = float(value.reshape(()))
                elif name in ARRAYS and value.dtype.kind in "iuf":
                    out[name] = value
                else:
                    raise SpecError(f"{path}: '{name}' has the shape {value.shape} of {value.dtype}; "
                                    f"arrays are numbers, {known}")  # fmt: skip
            if "x" not in data.files:
                raise SpecError(f"{path}: there is no array x [frames][n][3] (m); it holds "
                                f"{', '.join(data.files) or 'none'}")  # fmt: skip
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise SpecError(f"{path}: cannot be read as NPZ: {error}; write it by numpy.savez") from None


def name_source(log: str, data: str, path: str) -> None:
    """The command that a log holds names the file of the user, not the temporary one."""
    import h5py
    import numpy as np

    with h5py.File(log, "r+") as file:
        said = bytes(file.attrs["command"])
        file.attrs["command"] = np.bytes_(said.replace(data.encode(), shlex.quote(path).encode()))


def main(argv: list[str]) -> int:
    if {"-h", "--help"} & set(argv):
        print(__doc__)
        return 0
    at = next((i for i, word in enumerate(argv) if word.endswith(".npz")), -1)
    if at < 0:
        raise SpecError("no NPZ file is named; ./loom measure --help shows the options")
    with tempfile.TemporaryDirectory(prefix="loom-measure-") as folder:
        data = os.path.join(folder, Path(argv[at]).stem + ".h5")
        convert(argv[at], data)
        words = [*argv[:at], data, *argv[at + 1 :]]
        call = [os.environ["LOOM_BIN"], "measure", *words]
        with subprocess.Popen(call, stderr=subprocess.PIPE, text=True) as child:
            assert child.stderr is not None
            for line in child.stderr:  # messages name the file that the user gave
                print(line.replace(data, argv[at]), end="", file=sys.stderr, flush=True)
        if child.returncode == 0:
            to = argv[argv.index("-o") + 1] if "-o" in argv else f"out/{Path(argv[at]).stem}_measured.h5"
            name_source(to, data, argv[at])
        return child.returncode


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    command.run("measure", main)
