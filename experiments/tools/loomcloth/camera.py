"""The camera of pictures: fitted to a box, or read from a file that an earlier picture saved."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from loomcloth.errors import LogError

VIEW_ANGLE = 28.0  # degrees, vertical
MARGIN = 1.12


@dataclass
class Camera:
    """Places in m of the world; view_angle: vertical, degrees."""

    position: list[float]
    target: list[float]
    up: list[float]
    view_angle: float

    def angles(self, up_axis: int) -> tuple[float, float]:
        """Azimuth and elevation from which it looks, degrees."""
        away = np.subtract(self.position, self.target)
        away = away / np.linalg.norm(away)
        a, b = away[(up_axis + 1) % 3], away[(up_axis + 2) % 3]
        return float(np.degrees(np.arctan2(b, a))), float(np.degrees(np.arcsin(away[up_axis])))

    def text(self) -> str:
        return json.dumps(asdict(self), indent=2) + "\n"


def direction(up_axis: int, azimuth: float, elevation: float) -> np.ndarray:
    """Unit vector towards azimuth and elevation in degrees."""
    a, e = np.radians([azimuth, elevation])
    side = np.eye(3)[[(up_axis + 1) % 3, (up_axis + 2) % 3]]
    flat = np.cos(a) * side[0] + np.sin(a) * side[1]
    return np.cos(e) * flat + np.sin(e) * np.eye(3)[up_axis]


def fitted(
    box: np.ndarray, up_axis: int, angles: tuple[float, float], aspect: float, zoom: float = 1.0
) -> Camera:
    """From azimuth and elevation so near that the box [2][3] just fits; aspect: width over height."""
    corners = np.array(np.meshgrid(*box.T)).reshape(3, -1).T
    middle = box.mean(axis=0)
    away = direction(up_axis, *angles)
    up = np.eye(3)[up_axis]
    if np.linalg.norm(np.cross(up, away)) < 1e-6:  # straight down or up
        up = -np.sign(away[up_axis]) * direction(up_axis, angles[0], 0.0)
    right = np.cross(up, away)
    right /= np.linalg.norm(right)
    above = np.cross(away, right)
    half = np.radians(VIEW_ANGLE) / 2
    q = corners - middle
    # farthest distance at which some corner would touch the border
    sides = np.abs(q @ right) / (aspect * np.tan(half))
    need = np.maximum(np.abs(q @ above) / np.tan(half), sides) + q @ away
    place = middle + away * (MARGIN * need.max() / zoom)
    return Camera(place.tolist(), middle.tolist(), up.tolist(), VIEW_ANGLE)


def _vector(path: str, found: dict[str, Any], name: str) -> list[float]:
    value = found.get(name)
    if not isinstance(value, list) or len(value) != 3 or not all(_number(v) for v in value):
        raise LogError(f"--camera {path}: '{name}' must be three numbers")
    return [float(v) for v in value]


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and bool(np.isfinite(value))


def load(path: str) -> Camera:
    """Reads a file of `--save-camera`.  LogError names the fault."""
    try:
        found = json.loads(Path(path).read_text())
    except OSError as error:
        raise LogError(f"--camera {path}: {error.strerror}") from None
    except ValueError as error:
        raise LogError(f"--camera {path}: not a camera that --save-camera wrote: {error}") from None
    if not isinstance(found, dict):
        raise LogError(f"--camera {path}: not a camera that --save-camera wrote")
    known = ("position", "target", "up", "view_angle")
    for name in found:
        if name not in known:
            raise LogError(f"--camera {path}: unknown '{name}'; known: {', '.join(known)}")
    angle = found.get("view_angle", VIEW_ANGLE)
    if not _number(angle) or not 0 < angle < 180:
        raise LogError(f"--camera {path}: 'view_angle' must be between 0 and 180 degrees")
    position, target, up = (_vector(path, found, name) for name in known[:3])
    if not np.linalg.norm(np.cross(np.subtract(position, target), up)) > 0:
        raise LogError(f"--camera {path}: it looks along 'up', or at its own position")
    return Camera(position, target, up, float(angle))
