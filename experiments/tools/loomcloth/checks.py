"""The data sets that a log must hold and their forms: damage is reported by name before the data are used."""

from __future__ import annotations

from typing import Any

import h5py
import numpy as np

from loomcloth.errors import LogError

# Errors of h5py and numpy on damaged files.
ERRORS = (OSError, KeyError, ValueError, TypeError, IndexError, RuntimeError, OverflowError)
PADDING = 1 << 24  # bytes that chunks at the ends of a data set may lack
PACKED = 1100  # deflate makes no data smaller than by this factor (zlib's FAQ: 1032)
# Positions and lengths that are drawn, m: the fourth power of a larger one is no number of single precision,
# in which VTK draws.
LARGEST = 1e9
FLOATS, INTEGERS = "f", "iu"
# Data sets beside /scene and /fields: kinds of the elements, and the lengths of axes behind the first.
FRAMES = {"x": (FLOATS, (None, 3)), "v": (FLOATS, (None, 3)), "time": (FLOATS, ()), "step": (INTEGERS, ())}
SCENE = {
    "triangles": (INTEGERS, (3,)),
    "rest": (FLOATS, (3,)),
    "object": (INTEGERS, ()),
    "radius": (FLOATS, ()),
    "material/uv": (FLOATS, (3, 2)),
    "material/piece": (INTEGERS, ()),
    "yarns/first": (INTEGERS, ()),
    "yarns/closed": (INTEGERS, ()),
    "yarns/segments": (INTEGERS, (4,)),
    "yarns/yarn": (INTEGERS, ()),
}
# Columns that the tools read of every log.
STEPS = ("step", "time", "iters", "reason", "r_final", "min_gap", "contacts", "intersections", "t_total")
ITERS = ("step", "k")


def text(value: Any, where: str) -> str:
    """A text of HDF5; LogError where it is no text in UTF-8."""
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.reshape(-1)[0]
    if isinstance(value, bytes):
        try:
            return value.decode().rstrip("\0")
        except UnicodeDecodeError:
            raise LogError(f"{where} is no text in UTF-8") from None
    if not isinstance(value, str):
        raise LogError(f"{where} is no text")
    if any("\ud800" <= c <= "\udfff" for c in value):
        raise LogError(f"{where} is no text in UTF-8")
    return value


def stored(item: h5py.Dataset, where: str) -> None:
    """LogError where more rows are promised than the file holds, or the data are outside of the file."""
    if item.external or item.is_virtual:
        raise LogError(f"{where} refers to another file")
    if h5py.check_vlen_dtype(item.dtype) is not None or item.dtype.hasobject:
        return  # strings of any length, which stand elsewhere in the file
    size, there = item.size * item.dtype.itemsize, item.id.get_storage_size()
    packed = item.id.get_create_plist().get_nfilters() > 0
    room = there * PACKED if packed else there
    if item.chunks:
        room += PADDING
    elif there == 0 and size <= PADDING:
        room = size  # contiguous and never written
    if size > room:
        raise LogError(f"{where} promises {size} bytes, the file holds {there}")


def item(group: h5py.Group, name: str, path: str) -> Any:
    """The object NAME of the file itself; LogError where it is missing or in another file."""
    where = f"{path}: /{name}"
    here: Any = group
    for part in name.split("/"):
        if not isinstance(here, h5py.Group):
            raise LogError(f"{where} is missing")
        try:
            link = here.get(part, getlink=True)
            if link is None:
                raise LogError(f"{where} is missing")
            if isinstance(link, h5py.ExternalLink):
                raise LogError(f"{where} refers to another file")
            here = here[part]
        except ERRORS as error:
            raise LogError(f"{where} cannot be read: {error}") from None
    return here


def dataset(group: h5py.Group, name: str, path: str) -> h5py.Dataset:
    """The data set NAME; LogError where the file holds fewer bytes than its shape promises."""
    found, where = item(group, name, path), f"{path}: /{name}"
    if not isinstance(found, h5py.Dataset):
        raise LogError(f"{where} is no data set")
    if found.shape is None:
        raise LogError(f"{where} is empty")
    stored(found, where)
    return found


def array(group: h5py.Group, name: str, path: str, kinds: str, axes: tuple[int | None, ...]) -> h5py.Dataset:
    """The data set NAME of numbers, with these lengths of the axes behind the first (None: any)."""
    found, where = dataset(group, name, path), f"{path}: /{name}"
    if found.dtype.kind not in kinds:
        raise LogError(f"{where} holds {found.dtype}, where {'floats' if kinds == FLOATS else 'ids'} belong")
    if found.ndim != 1 + len(axes) or any(
        want is not None and have != want for have, want in zip(found.shape[1:], axes, strict=True)
    ):
        raise LogError(f"{where} has the shape {found.shape}")
    return found


def table(group: h5py.Group, name: str, path: str, columns: tuple[str, ...] = ()) -> h5py.Dataset:
    """The table NAME, which has these columns of single numbers."""
    found, where = dataset(group, name, path), f"{path}: /{name}"
    if found.ndim != 1 or found.dtype.names is None:
        raise LogError(f"{where} is no table")
    for column in columns:
        if column not in found.dtype.names:
            raise LogError(f"{where} has no column '{column}'")
    for column in found.dtype.names:
        kind = found.dtype[column]
        if column in columns and (kind.shape != () or kind.kind not in "fiub"):
            raise LogError(f"{where}: column '{column}' holds {kind}, where numbers belong")
    return found


def log(file: h5py.File, path: str) -> None:
    """Checks all that every tool relies on; the contents of /scene are checked when they are read."""
    for name, columns in (("steps", STEPS), ("iters", ITERS)):
        table(file, name, path, columns)
    frames = {name: array(file, f"frames/{name}", path, *form) for name, form in FRAMES.items()}
    x, v = frames["x"], frames["v"]
    if v.shape[1] != x.shape[1] or x.shape[1] == 0:
        raise LogError(f"{path}: /frames/x and /frames/v have {x.shape[1]} and {v.shape[1]} vertices")
    if not isinstance(item(file, "scene", path), h5py.Group):
        raise LogError(f"{path}: /scene is no group")


def yarns(log: Any) -> None:
    """LogError where the curves of a log are damaged; log: a loomcloth.log.Log."""
    parts = ("first", "closed", "segments", "yarn")
    first, closed, segments, owner = (log.scene(f"yarns/{name}") for name in parts)
    if first is None:
        return
    radius, objects = log.scene("radius"), log.scene("object")
    n, where = log.num_vertices, f"{log.path}: /scene/yarns"
    if closed is None or segments is None or owner is None or radius is None or objects is None:
        raise LogError(f"{where}: an array is missing, or /scene/radius or object")
    count = len(first) - 1
    if count < 0 or first[0] != 0 or first[-1] > n or (np.diff(first) < 1).any():
        raise LogError(f"{where}/first does not increase from 0 to {n}")
    if len(closed) != count or len(owner) != len(segments):
        raise LogError(f"{where}: its arrays do not fit each other")
    ids(segments, -1, n, f"{where}/segments")
    ids(segments[:, 1:3], 0, n, f"{where}/segments")
    ids(owner, 0, count, f"{where}/yarn")
    if len(np.unique(owner)) != count:
        raise LogError(f"{where}/yarn names no segment of some yarn")
    if not (drawable(radius) and (radius[first[:-1]] > 0).all()):
        raise LogError(f"{log.path}: /scene/radius: the thickness of a yarn is 0, NaN or above {LARGEST:g} m")


def drawable(values: np.ndarray) -> bool:
    """Whether these positions or lengths are finite and not above LARGEST."""
    return bool((np.abs(values) <= LARGEST).all())  # NaN compares as False


def ids(values: np.ndarray, first: int, count: int, where: str) -> np.ndarray:
    """VALUES, if each is in [first, count)."""
    if values.size and not (first <= int(values.min()) and int(values.max()) < count):
        raise LogError(f"{where} names {values.min()} to {values.max()}, where {first} to {count - 1} are")
    return values
