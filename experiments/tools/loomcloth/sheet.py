"""Pictures set side by side on one sheet: labels, a time stamp, a scale bar."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from loomcloth.log import Log

INK, PAPER, HALO = "#222222", "#ffffff", "#ffffff"
COLOURS = "viridis"
TICKS = 5
EDGE = 12  # least contrast of an edge, of 255


def _font(size: int) -> Any:
    """The one that comes with matplotlib: the same on every machine."""
    import matplotlib

    path = Path(matplotlib.get_data_path()) / "fonts/ttf/DejaVuSans.ttf"
    return ImageFont.truetype(str(path), max(size, 8))


def _write(draw: Any, at: tuple[float, float], text: str, size: int, anchor: str) -> None:
    draw.text(
        at, text, fill=INK, font=_font(size), anchor=anchor, stroke_width=max(1, size // 10), stroke_fill=HALO
    )


def smoothed(image: np.ndarray) -> np.ndarray:
    """Each pixel at an edge is mixed with its neighbour across it, the more it stands out (the sub-pixel part
    of T. Lottes, FXAA, NVIDIA 2009)."""
    out = np.array(image)
    grey = image[:, :, 1].astype(np.int16)
    middle = grey[1:-1, 1:-1]
    sides = (grey[:-2, 1:-1], grey[2:, 1:-1], grey[1:-1, :-2], grey[1:-1, 2:])
    low, high = middle, middle
    for one in sides:
        low, high = np.minimum(low, one), np.maximum(high, one)
    y, x = np.nonzero(high - low > np.maximum(EDGE, high >> 3))
    y, x = y + 1, x + 1
    north, south, west, east = (s[y - 1, x - 1].astype(np.float32) for s in sides)
    centre, contrast = grey[y, x].astype(np.float32), (high - low)[y - 1, x - 1].astype(np.float32)
    corners = sum(grey[y + v, x + u].astype(np.float32) for v in (-1, 1) for u in (-1, 1))
    mean = (2 * (north + south + west + east) + corners) / 12
    part = np.clip(np.abs(mean - centre) / contrast, 0, 1)
    part = (part * part * (3 - 2 * part)) ** 2 * 0.75
    along = np.abs(north + south - 2 * centre) >= np.abs(west + east - 2 * centre)
    up = np.where(np.abs(north - centre) > np.abs(south - centre), -1, 1)
    aside = np.where(np.abs(west - centre) > np.abs(east - centre), -1, 1)
    other = image[y + np.where(along, up, 0), x + np.where(along, 0, aside)]
    own = image[y, x]
    out[y, x] = (own + part[:, None] * (other.astype(np.float32) - own) + 0.5).astype(np.uint8)
    return out


def text_size(height: int) -> int:
    """Of letters in a picture of so many pixels."""
    return max(9, height // 28)


def columns_of(count: int, size: tuple[int, int]) -> int:
    """So many beside each other that the sheet is near to 16:9 and few places stay empty."""
    width, height = size

    def off(n: int) -> float:
        rows = -(-count // n)
        return abs(float(np.log(n * width / (rows * height) / (16 / 9)))) + 2.5 * (1.0 - count / (n * rows))

    return min(range(1, count + 1), key=off)


def labelled(image: np.ndarray, label: str) -> np.ndarray:
    """With its label at the top left."""
    if not label:
        return image
    picture = Image.fromarray(image)
    size = text_size(picture.height)
    _write(ImageDraw.Draw(picture), (0.6 * size, 0.4 * size), label, size, "la")
    return np.asarray(picture)


def caption(log: Log, name: str, frame: int | None = None) -> str:
    """Name and size of a scene, and the time of one of its frames."""
    points = "points of yarns" if len(log.scene("triangles", ())) == 0 else "vertices"
    time = "" if frame is None else f", {log.times[frame]:.2f} s"
    return f"{name}, {len(log.scene('mass')):,} {points}{time}"


def joined(images: Sequence[np.ndarray], columns: int) -> np.ndarray:
    """In rows of so many; places left in the last row are paper."""
    height, width, _ = images[0].shape
    rows = -(-len(images) // columns)
    out = np.full((rows * height, columns * width, 3), 255, dtype=np.uint8)
    for i, image in enumerate(images):
        y, x = height * (i // columns), width * (i % columns)
        out[y : y + height, x : x + width] = image
    return out


def stamped(image: np.ndarray, text: str, height: int) -> np.ndarray:
    """With a time at the bottom left; height: of one picture of the sheet."""
    picture = Image.fromarray(image)
    size = text_size(height)
    _write(ImageDraw.Draw(picture), (0.6 * size, picture.height - 0.5 * size), text, size, "ld")
    return np.asarray(picture)


def _ticks(low: float, high: float) -> list[float]:
    from matplotlib.ticker import MaxNLocator

    found = MaxNLocator(TICKS).tick_values(low, high)
    slack = 1e-9 * (high - low)
    return [float(t) for t in found if low - slack <= t <= high + slack]


def tick_texts(ticks: Sequence[float]) -> tuple[list[str], int]:
    """Short numbers, and the power of ten that they are to be multiplied by (0: none)."""
    largest = max((abs(t) for t in ticks), default=0.0)
    power = int(np.floor(np.log10(largest))) if largest > 0 else 0
    power = 0 if -2 <= power < 4 else power
    return [f"{t / 10.0**power:.6g}" for t in ticks], power


class ScaleBar:
    """A strip to the right of a sheet that names the values of the colours; the same for all its frames."""

    def __init__(self, label: str, low: float, high: float, height: int, one: int):
        """height: of the sheet; one: of one of its pictures, pixels."""
        size = text_size(one)
        ticks = _ticks(low, high)
        texts, power = tick_texts(ticks)
        font = _font(size)
        wide = int(max((font.getlength(t) for t in texts), default=0))
        left, bar, top = size, size, int(1.6 * size)
        tall = min(height - 2 * top, 24 * size)
        top = (height - tall) // 2
        whole = left + bar + size // 2 + wide + size // 2 + int(1.5 * size) + size // 2
        picture = Image.new("RGB", (whole + whole % 2, height), PAPER)
        draw = ImageDraw.Draw(picture)
        picture.paste(Image.fromarray(self._strip(bar, tall)), (left, top))
        draw.rectangle((left, top, left + bar, top + tall), outline=INK)
        for tick, text in zip(ticks, texts, strict=True):
            y = top + tall * (1 - (tick - low) / (high - low))
            draw.line((left + bar, y, left + bar + size // 3, y), fill=INK)
            draw.text((left + bar + size // 2, y), text, fill=INK, font=font, anchor="lm")
        if power:
            draw.text((left, top - 0.3 * size), f"\u00d710^{power}", fill=INK, font=font, anchor="ld")
        self._title(picture, label, size, left + bar + size + wide, top + tall // 2)
        self.image = np.asarray(picture)

    @staticmethod
    def _strip(bar: int, tall: int) -> np.ndarray:
        import matplotlib

        shades = matplotlib.colormaps[COLOURS](np.linspace(1, 0, tall))[:, :3]
        return np.repeat((255 * shades).astype(np.uint8)[:, None], bar, axis=1)

    @staticmethod
    def _title(picture: Any, label: str, size: int, left: int, middle: int) -> None:
        font = _font(size)
        words = Image.new("RGB", (int(font.getlength(label)) + 2, int(1.5 * size)), PAPER)
        ImageDraw.Draw(words).text((1, 0.75 * size), label, fill=INK, font=font, anchor="lm")
        words = words.rotate(90, expand=True)
        picture.paste(words, (left, max(0, middle - words.height // 2)))

    def beside(self, image: np.ndarray) -> np.ndarray:
        return np.hstack([image, self.image])
