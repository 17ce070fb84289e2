"""A log as an xarray Dataset: named dimensions, units and meanings as attributes."""

from __future__ import annotations

from typing import Any

import numpy as np

from loomcloth.log import Log

ROOT = ("config", "config_hash", "loom_version", "git_commit", "created", "seed")


def to_xarray(log: Log) -> Any:
    """The Dataset of an open log, all in memory; it needs xarray (ModuleNotFoundError without it).

    /steps by `step`, positions x (m) and velocities v (m/s) of the stored frames by `frame`, `vertex` and
    `axis`, fields of [log] fields as `field_NAME`.  Coordinates: step numbers, x, y and z, and of each frame
    the step that it ended (-1: the start) and its time (s).  Attributes of a variable: units, long_name."""
    import xarray

    rows, texts = log.table("steps"), log.columns("steps")
    data: dict[str, Any] = {}
    for name in texts:
        words = log.enum("steps", name)
        values = np.array([words.get(int(k), "") for k in rows[name]], dtype=object) if words else rows[name]
        unit, meaning = texts[name]
        data[name] = ("step", values, {"units": unit, "long_name": meaning})
    count, shape = log.num_frames, ("frame", "vertex", "axis")
    whole = (log.num_vertices, 3)
    for name, read, unit, meaning in (
        ("x", log.frame, "m", "positions"),
        ("v", log.velocity, "m/s", "velocities"),
    ):
        values = np.array([read(k) for k in range(count)]).reshape(count, *whole)
        data[name] = (shape, values, {"units": unit, "long_name": meaning})
    for name in log.field_names:
        values = np.asarray(log.field_data(name)[:count])
        data[f"field_{name}"] = (shape[: values.ndim], values, {"units": log.field_unit(name)})
    ended = np.asarray(log.fresh("frames/step")[:count])
    numbers = data.pop("step")
    return xarray.Dataset(
        data,
        coords={
            "step": numbers,
            "axis": ["x", "y", "z"],
            "frame_step": ("frame", ended, {"units": "1", "long_name": "step that ended, -1: the start"}),
            "frame_time": ("frame", log.times, {"units": "s", "long_name": "time of the frame"}),
        },
        attrs={name: log.attr(name) for name in ROOT},
    )
