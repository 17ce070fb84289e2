"""A log in less room: the same data sets and attributes, with chunks no longer than the data, deflated."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from loomcloth import checks
from loomcloth.errors import LogError
from loomcloth.log import Log

SLAB = 1 << 24  # bytes that are copied or compared at once
SMALL = 1 << 10  # bytes of a data set that stays as it is
LEVEL = 6  # of deflate
VERSION = ("v110", "v110")  # of the file format: HDF5 1.10, with which loom is built, reads it


def finished(path: Path) -> str:
    """Why a log cannot be archived, "" if it is whole and its run has come to its end."""
    if not path.exists():
        return "is missing"
    try:
        with Log(path) as log:
            status = log.status
            log.file.visititems(lambda name, item: _read(path, name, item))
    except LogError as error:
        return f"damaged: {str(error).removeprefix(f'{path}: ').removeprefix('damaged: ')}"
    return "" if status == "finished" else f"is {status}, not finished"


def _read(path: Path, name: str, item: h5py.HLObject) -> None:
    """Reads each value once: damage inside of a chunk shows only then."""
    if isinstance(item, h5py.Dataset):
        checks.dataset(item.file, name, str(path))
        try:
            for part in _slabs(item):
                item[part]
        except checks.ERRORS as error:
            raise LogError(f"{path}: /{name}: {error}") from None


def _slabs(item: h5py.Dataset) -> list[Any]:
    """Parts of a data set of about SLAB bytes, along its first axis."""
    if item.shape is None or item.size == 0:
        return []
    if item.ndim == 0:
        return [()]
    rows = max(1, SLAB * item.shape[0] // max(1, item.size * item.dtype.itemsize))
    if item.chunks:  # whole chunks, each unpacked once
        rows = max(item.chunks[0], rows // item.chunks[0] * item.chunks[0])
    return [slice(i, min(i + rows, item.shape[0])) for i in range(0, item.shape[0], rows)]


def _layout(item: h5py.Dataset) -> Any:
    """Its properties; chunks end where the data end."""
    form = item.id.get_create_plist()
    form.set_obj_track_times(False)  # so that the same log gives the same bytes
    if item.size * item.dtype.itemsize <= SMALL and not item.chunks:
        return form
    if item.size == 0:
        return form
    chunk = item.chunks or item.shape
    form.set_chunk(tuple(max(1, min(c, n)) for c, n in zip(chunk, item.shape, strict=True)))
    if form.get_nfilters() == 0 and h5py.check_vlen_dtype(item.dtype) is None:
        form.set_shuffle()
        form.set_deflate(LEVEL)
    return form


def _copy_attributes(source: h5py.HLObject, target: h5py.HLObject) -> None:
    """With their types: a text of fixed length stays one."""
    for i in range(h5py.h5a.get_num_attrs(source.id)):
        one = h5py.h5a.open(source.id, index=i)
        made = h5py.h5a.create(target.id, one.name, one.get_type(), one.get_space())
        if one.get_space().get_simple_extent_type() == h5py.h5s.NULL:
            continue
        values = np.empty(one.shape, dtype=one.dtype)
        one.read(values)
        made.write(values)


def _copy(source: h5py.Group, target: h5py.Group) -> None:
    for name in source:
        item = source[name]
        if isinstance(item, h5py.Group):
            # with the properties of the source, HDF5 2.0 refuses data sets in some groups, such as a rig's
            form = h5py.h5p.create(h5py.h5p.GROUP_CREATE)
            form.set_link_creation_order(item.id.get_create_plist().get_link_creation_order())
            form.set_obj_track_times(False)
            made = h5py.h5g.create(target.id, name.encode(), gcpl=form)
            _copy(item, h5py.Group(made))
            _copy_attributes(item, h5py.Group(made))
            continue
        space = item.id.get_space()
        made = h5py.h5d.create(target.id, name.encode(), item.id.get_type(), space, _layout(item))
        new = h5py.Dataset(made)
        for part in _slabs(item):
            new[part] = item[part]
        _copy_attributes(item, new)


def pack(source: Path, target: Path) -> None:
    """Writes the packed copy.  LogError where it is not the same, which is looked at value by value."""
    with Log(source) as log, h5py.File(target, "w", libver=VERSION) as file:
        _copy(log.file, file)
        _copy_attributes(log.file, file)
    wrong = difference(source, target)
    if wrong:
        raise LogError(f"{source}: its packed copy differs: {wrong}")


def _same(a: Any, b: Any) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    return a.tolist() == b.tolist() if a.dtype.hasobject else a.tobytes() == b.tobytes()


def _attributes(a: h5py.HLObject, b: h5py.HLObject) -> str:
    if set(a.attrs) != set(b.attrs):
        return "its attributes"
    for name in a.attrs:
        one, two = a.attrs.get_id(name), b.attrs.get_id(name)
        if not one.get_type().equal(two.get_type()) or not _same(a.attrs[name], b.attrs[name]):
            return f"the attribute '{name}'"
    return ""


def _objects(file: h5py.File) -> dict[str, h5py.HLObject]:
    found: dict[str, h5py.HLObject] = {"": file}
    file.visititems(lambda name, item: found.update({name: item}))
    return found


def difference(one: Path, two: Path) -> str:
    """The first object, value or attribute in which two logs differ, "" if there is none."""
    with h5py.File(one, "r") as a, h5py.File(two, "r") as b:
        left, right = _objects(a), _objects(b)
        if left.keys() != right.keys():
            return f"/{min(left.keys() ^ right.keys())} is in one of both"
        for name, item in left.items():
            other = right[name]
            wrong = _attributes(item, other)
            if wrong:
                return f"/{name}: {wrong}"
            if not isinstance(item, h5py.Dataset):
                continue
            if item.shape != other.shape or item.maxshape != other.maxshape or not (
                item.id.get_type().equal(other.id.get_type())
            ):
                return f"/{name}: its form"
            for part in _slabs(item):
                if not _same(item[part], other[part]):
                    return f"/{name}: its values"
    return ""


def bytes_of(path: Path) -> int:
    return os.stat(path).st_size


def attribute(path: Path, name: str) -> str:
    """A text of the root."""
    with Log(path) as log:
        return str(log.attr(name))
