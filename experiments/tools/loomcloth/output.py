"""The file of `-o`: it replaces one of its own kind, told by content, and no other; one rule for all tools.

The last component of the path is never a link.  The file is written whole in a folder of its own beside the
place where it goes, then renamed: two tools with one output leave the file of one of them, whole.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from loomcloth.errors import LogError

HEAD = 1 << 16  # bytes of a file by which its kind is told
TABLE = b"run,method,problem,"  # how a table of `loom table` begins
GROUPS = (b",mean,spread,median,least,most", b",rises,why")  # in the first line of one of groups
LATEX = b"% of loom table"
FIGURE = b"% of loom: a figure; \\input it where graphicx and xcolor are loaded"
REPORT = b'<meta name="generator" content="loom report">'
OLD_REPORT = b'<section id="summary" data-title="What was compared">'  # of reports without the line above
MATERIAL = b"fitted by `./loom fabric` to "
CAMERA = {"position", "target", "up", "view_angle"}


def _svg(head: bytes, path: str) -> bool:
    return head.lstrip().startswith((b"<?xml", b"<svg", b"<!DOCTYPE svg")) and b"<svg" in head


def _bitmap(head: bytes, path: str) -> bool:
    return head[:2] == b"BM" and int.from_bytes(head[2:6], "little") == os.path.getsize(path)


def _webp(head: bytes, path: str) -> bool:
    return head[:4] == b"RIFF" and head[8:12] == b"WEBP"


def _box(head: bytes, path: str) -> bool:
    return head[4:8] == b"ftyp"


def _begins(*words: bytes) -> Callable[[bytes, str], bool]:
    return lambda head, path: head.startswith(words)


def _csv(head: bytes, path: str) -> bool:
    return head.startswith(TABLE) or head.split(b"\n", 1)[0].rstrip(b"\r").endswith(GROUPS)


def _parquet(head: bytes, path: str) -> bool:
    if not head.startswith(b"PAR1"):
        return False
    import pyarrow.parquet

    try:
        names = [str(n) for n in pyarrow.parquet.read_schema(path).names]
    except (OSError, ValueError):
        return False
    return names[:3] == ["run", "method", "problem"] or f",{','.join(names)}".encode().endswith(GROUPS)


def _vtkhdf(head: bytes, path: str) -> bool:
    if not head.startswith(b"\x89HDF\r\n\x1a\n"):
        return False
    import h5py

    try:
        with h5py.File(path, "r") as file:
            return "VTKHDF" in file and "schema" not in file.attrs
    except (OSError, KeyError, RuntimeError, ValueError):
        return False


def _report(head: bytes, path: str) -> bool:
    return head[:15].lower() == b"<!doctype html>" and (REPORT in head or OLD_REPORT in head)


def _material(head: bytes, path: str) -> bool:
    return head.startswith(b"; ") and MATERIAL in head.split(b"\n", 1)[0]


def _archive(head: bytes, path: str) -> bool:
    import zipfile

    try:
        with zipfile.ZipFile(path) as file:
            return {"ro-crate-metadata.json", "manifest-sha256.txt"} <= set(file.namelist())
    except (OSError, ValueError, zipfile.BadZipFile):
        return False


def _camera(head: bytes, path: str) -> bool:
    try:
        found = json.loads(head)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and set(found) <= CAMERA and "position" in found


# The name of each kind of file in messages, and the test by which it is recognised.
KINDS: dict[str, tuple[str, Callable[[bytes, str], bool]]] = {
    ".png": ("a PNG picture", _begins(b"\x89PNG\r\n\x1a\n")),
    ".jpg": ("a JPEG picture", _begins(b"\xff\xd8\xff")),
    ".jpeg": ("a JPEG picture", _begins(b"\xff\xd8\xff")),
    ".tif": ("a TIFF picture", _begins(b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")),
    ".tiff": ("a TIFF picture", _begins(b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")),
    ".bmp": ("a BMP picture", _bitmap),
    ".webp": ("a WebP picture", _webp),
    ".pdf": ("a PDF file", _begins(b"%PDF-")),
    ".pgf": ("a PGF picture", _begins(b"%% Creator: Matplotlib, PGF backend")),
    ".svg": ("an SVG picture", _svg),
    ".gif": ("a GIF movie", _begins(b"GIF87a", b"GIF89a")),
    ".mp4": ("an MP4 movie", _box),
    ".mov": ("a MOV movie", _box),
    ".mkv": ("a Matroska movie", _begins(b"\x1a\x45\xdf\xa3")),
    ".csv": ("a table of `loom table`", _csv),
    ".tex": ("a figure of loom for LaTeX", _begins(FIGURE)),
    "tex": ("a table of `loom table`", _begins(LATEX)),
    ".parquet": ("a table of `loom table`", _parquet),
    ".html": ("a report of `loom report`", _report),
    ".htm": ("a report of `loom report`", _report),
    ".vtkhdf": ("a VTK-HDF file", _vtkhdf),
    ".glb": ("a binary glTF file", _begins(b"glTF")),
    ".usd": ("a USD file", _begins(b"PXR-USDC", b"#usda")),
    ".usda": ("a USD text", _begins(b"#usda")),
    ".usdc": ("a USD file", _begins(b"PXR-USDC")),
    ".zip": ("an archive of `loom archive`", _archive),
    ".ini": ("a material of `loom fabric`", _material),
    "camera": ("a camera of `loom render`", _camera),
    # pictures and texts of figures, which stand in folders of their own
    ".txt": ("a text", lambda head, path: b"\0" not in head),
}


def check(path: str | os.PathLike[str], kind: str = "", option: str = "-o") -> None:
    """LogError where PATH may not be written or replaced; kind: a name of KINDS, else the ending."""
    path = os.fspath(path)
    words, own = KINDS[kind or os.path.splitext(path)[1].lower()]
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        raise LogError(f"{option} {path}: {getattr(error, 'strerror', '') or error}") from None
    if stat.S_ISLNK(found.st_mode):
        raise LogError(f"{option} {path}: is a symbolic link; name the file itself, or remove the link")
    if not stat.S_ISREG(found.st_mode):
        raise LogError(f"{option} {path}: is a folder or a device; name a file")
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        head = file.read(HEAD)
    if not own(head, path):
        raise LogError(f"{option} {path}: is there and is not {words}; name another file, or remove it")


@contextmanager
def replacing(path: str | os.PathLike[str], kind: str = "", option: str = "-o") -> Iterator[str]:
    """The name under which the file is to be written; it takes its place when the block ends well."""
    path = os.fspath(path)
    check(path, kind, option)
    folder, name = os.path.split(os.path.abspath(path))
    os.makedirs(folder, exist_ok=True)
    work = tempfile.mkdtemp(prefix=".loom-part-", dir=folder)
    try:
        part = os.path.join(work, name)
        yield part
        check(path, kind, option)  # while it was made, another file may have come there
        os.replace(part, path)
    finally:
        with suppress(OSError):
            shutil.rmtree(work)
