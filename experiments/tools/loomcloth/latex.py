"""A figure for LaTeX whose texts LaTeX sets: a PDF without texts, and a .tex file that places them on it.

No TeX is needed where the figure is drawn.  The document loads graphicx and xcolor, says `\\input{FILE.tex}`,
and names the folder of the PDF by \\graphicspath if that is not the document's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "_": r"\_", "%": r"\%", "&": r"\&", "#": r"\#",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip
HORIZONTAL = {"left": "l", "right": "r", "center": ""}
VERTICAL = {"top": "t", "bottom": "b", "center": "", "center_baseline": ""}


def escaped(text: str) -> str:
    """A text of matplotlib for LaTeX: formulas between $ stay, other characters stand for themselves."""
    parts = re.split(r"((?<!\\)\$.*?(?<!\\)\$)", text)
    for i in range(0, len(parts), 2):
        plain = parts[i].replace(r"\$", "$")
        parts[i] = "".join(SPECIAL.get(c, r"\$" if c == "$" else c) for c in plain)
    return "".join(parts)


def _box(mtext: Any, x: float, y: float, angle: float) -> tuple[float, float, str]:
    """The point of a text, in points, and the empty box that holds it there."""
    if mtext is None:  # a line of several
        return x, y, r"\makebox[0pt][l]"
    if angle and mtext.get_rotation_mode() != "anchor":
        frame = mtext.get_window_extent()
        return (frame.x0 + frame.x1) / 2, (frame.y0 + frame.y1) / 2, r"\makebox(0,0)"
    x, y = mtext.get_transform().transform(mtext.get_unitless_position())
    across, up = mtext.get_horizontalalignment(), mtext.get_verticalalignment()
    if up in VERTICAL:
        return x, y, rf"\makebox(0,0)[{HORIZONTAL[across]}{VERTICAL[up]}]"
    return x, y, rf"\makebox[0pt][{HORIZONTAL[across] or 'c'}]"


@contextmanager
def collected_texts() -> Iterator[list[str]]:
    """While it is open, PDF files of matplotlib get no texts; the list gets a line of LaTeX for each."""
    from matplotlib.backends.backend_pdf import RendererPdf

    lines: list[str] = []

    def collect(
        self: Any, gc: Any, x: float, y: float, s: str, prop: Any, angle: float,
        ismath: Any = False, mtext: Any = None,
    ) -> None:  # fmt: skip
        x, y, box = _box(mtext, x, y, angle)
        size = prop.get_size_in_points()
        colour = ",".join(f"{c:.3f}" for c in tuple(gc.get_rgb())[:3])
        font = rf"\fontsize{{{size:g}}}{{{1.2 * size:g}}}\selectfont"
        shown = rf"{box}{{{font}\textcolor[rgb]{{{colour}}}{{{escaped(s)}}}}}"
        lines.append(rf"\put({x:.2f},{y:.2f}){{\rotatebox{{{angle:g}}}{{{shown}}}}}%")

    before = RendererPdf.draw_text
    RendererPdf.draw_text = collect  # type: ignore[method-assign]
    try:
        yield lines
    finally:
        RendererPdf.draw_text = before  # type: ignore[method-assign]


def document(head: str, pdf: str, width: float, height: float, lines: list[str]) -> str:
    """The .tex file; width and height in points."""
    return "\n".join([
        head,
        r"\begingroup\setlength{\unitlength}{1bp}\providecommand{\mathdefault}[1]{#1}%",
        rf"\begin{{picture}}({width:.2f},{height:.2f})%",
        rf"\put(0,0){{\includegraphics{{{pdf}}}}}%",
        *lines,
        r"\end{picture}\endgroup",
        "",
    ])  # fmt: skip
