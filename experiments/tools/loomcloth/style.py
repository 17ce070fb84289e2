"""One look for all figures: a method has the same colour and marker in every one of them."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path
from typing import Any

from loomcloth import output
from loomcloth.errors import FigureError, near

# Colours that stay apart for colour-blind readers: Okabe and Ito 2008, then Tol's muted scheme 2021.
OKABE_ITO = ("#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7", "#000000")
MUTED = ("#332288", "#88CCEE", "#44AA99", "#117733", "#999933", "#DDCC77", "#CC6677", "#882255", "#AA4499")
COLOURS = {
    "gd": "#D55E00",
    "heavy_ball": "#E69F00",
    "cholmod_pd": "#0072B2",
    "cholmod_newton": "#009E73",
    "pcg_newton": "#000000",
    "cama_pcg": "#999933",
    "pd_bfgs": "#CC79A7",
    "ndb_pd": "#56B4E9",
    "yarn_explicit": "#882255",
    "vbd": "#AA44FF",
    "xpbd": "#553311",
    "aa_pd": "#332288",
    "chebyshev_pd": "#DDCC77",
}
# Of a contact model the marker; of a solver alone, a dot.
MARKERS = {
    "none": "o",
    "penalty": "s",
    "repulsion": "P",
    "ipc_barrier": "^",
    "dbb": "v",
    "pd_ipc": "<",
    "ndb": "D",
    "cama_repulsion": "X",
    "ogc": "d",
    "cubic_barrier": "H",
    "impact_zones": "*",
    "project": ">",
    "acl": "h",
    "yarn_penalty": "p",
}
DASHES = {"ipc_barrier": "-", "dbb": "--", "ndb": "-.", "penalty": ":", "pd_ipc": (0, (3, 1, 1, 1, 1, 1))}
FORMATS = ("png", "pdf", "svg")
# Inches of one column and of the whole text, as the classes of these publishers have them.
WIDTHS = {
    "acm": 3.33, "acm-wide": 7.0, "ieee": 3.5, "ieee-wide": 7.16, "elsevier": 3.54, "elsevier-wide": 7.48,
    "eurographics": 3.33, "eurographics-wide": 6.97, "springer": 4.8,
}  # fmt: skip
LOOK = {
    "figure.dpi": 150,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
}
# Text stays text in vector files, and the same figure gives the same file.
FILES = {"pdf.fonttype": 42, "svg.fonttype": "none", "svg.hashsalt": "loom"}
_is_program = False
TEX = ("xelatex", "lualatex", "pdflatex")  # one of them measures texts for pgf


def _pick(name: str, among: tuple[str, ...]) -> str:
    """The same for the same name in every figure and session."""
    return among[int(hashlib.sha256(name.encode()).hexdigest(), 16) % len(among)]


def colour(method: str) -> str:
    """Of a solver, or of "solver + contact" by its solver."""
    solver = method.split(" + ")[0].strip()
    return COLOURS.get(solver) or _pick(solver, MUTED)


def marker(method: str) -> str:
    """Of a contact model, or of "solver + contact" by its first contact model."""
    words = [w.strip() for w in method.split(" + ")]
    name = words[1] if len(words) > 1 else words[0]
    if name in COLOURS:
        return "o"
    return MARKERS.get(name) or _pick(name, tuple(MARKERS.values()))


def line(method: str) -> dict[str, Any]:
    """Keywords for matplotlib's plot(): colour, marker and dashes of a method."""
    contact = [*method.split(" + "), ""][1]
    return {
        "color": colour(method), "marker": marker(method), "linestyle": DASHES.get(contact, "-"),
        "markersize": 4, "label": method,
    }  # fmt: skip


def inches(width: str) -> float:
    """Of a name of WIDTHS, or a number; FigureError for another text."""
    if width in WIDTHS:
        return WIDTHS[width]
    try:
        value = float(width)
    except ValueError:
        value = 0.0
    if not 0.5 <= value <= 40:
        raise FigureError(f"width {width}: a name or 0.5 to 40 inches expected{near(width, WIDTHS)}")
    return value


def own_process() -> None:
    """For a command of loom: no figure of its process is shown, and all have one look."""
    global _is_program
    _is_program = True
    os.environ.setdefault("MPLBACKEND", "Agg")


def journal_axes(width: str = "acm", rows: int = 1, columns: int = 1, **options: Any) -> Any:
    """As plain_axes(), for a figure that is as wide as a column of a journal, with texts of 8 points."""
    each = inches(width) / columns
    return plain_axes(rows, columns, each, min(2.4, 0.8 * each + 0.6), font=8, **options)


def plain_axes(
    rows: int = 1,
    columns: int = 1,
    width: float = 4.6,
    height: float = 3.6,
    font: float = 9,
    **options: Any,
) -> Any:
    """Matplotlib figure and axes in the look of all figures; inches per plot, points of the texts.

    Settings of matplotlib and its backend stay as they are: other figures of a notebook do not change."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt
    from cycler import cycler

    look: Any = LOOK | {"font.size": font}
    if _is_program:  # legends and texts that come later have the same look
        mpl.rcParams.update(look)
    look |= {"axes.prop_cycle": mpl.rcParams["axes.prop_cycle"] * cycler(linewidth=[1.6])}
    size = (width * columns, height * rows)
    with mpl.rc_context(look):
        return plt.subplots(rows, columns, figsize=size, layout="constrained", **options)


def _save_for_latex(figure: Any, stem: Path) -> list[Path]:
    import matplotlib as mpl

    from loomcloth import latex

    pdf, tex = (stem.with_name(f"{stem.name}.{ending}") for ending in ("pdf", "tex"))
    with output.replacing(tex) as text, output.replacing(pdf) as part:
        settings: Any = FILES
        with mpl.rc_context(settings), latex.collected_texts() as lines:
            figure.savefig(part, metadata={"CreationDate": None})
        width, height = (72 * float(inches) for inches in figure.get_size_inches())
        whole = latex.document(output.FIGURE.decode(), pdf.name, width, height, lines)
        Path(text).write_text(whole, encoding="utf-8")
    return [pdf, tex]


def save(figure: Any, path: str | Path, formats: tuple[str, ...] = FORMATS) -> list[Path]:
    """Writes PATH.png, PATH.pdf and PATH.svg without the time of day; returns their paths.

    formats: also "tex", texts that LaTeX sets in the fonts of the document, and PATH.pdf without them; "pgf",
    one such file, which needs a TeX here."""
    import matplotlib as mpl

    settings: Any = dict(FILES)
    stem = Path(path)
    if stem.suffix.lstrip(".") in (*FORMATS, "pgf", "tex"):
        stem = stem.with_suffix("")
    dates: dict[str, dict[str, Any]] = {"png": {}, "pdf": {"CreationDate": None}, "svg": {"Date": None}}
    if "pgf" in formats:
        tex = next((t for t in TEX if shutil.which(t)), "")
        if not tex:
            raise FigureError(
                f"{stem}.pgf: a picture for LaTeX needs one of {', '.join(TEX)} to measure its texts; "
                ".pdf needs none"
            )
        settings |= {"pgf.texsystem": tex, "pgf.rcfonts": False}
    written = []
    if "tex" in formats:
        written += _save_for_latex(figure, stem)
        formats = tuple(f for f in formats if f not in ("tex", "pdf"))
    for ending in formats:
        written.append(stem.with_name(f"{stem.name}.{ending}"))
        with output.replacing(written[-1]) as part, mpl.rc_context(settings):
            figure.savefig(part, metadata=dates.get(ending))
    return written
