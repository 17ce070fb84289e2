"""`./loom watch FILE.h5`: a run as it goes, read beside its writer (SWMR).

On a terminal the curves are drawn again at every interval; elsewhere a line is written for new steps.
With -o a picture is drawn again instead, whole at every time.  It ends with the run.

Exit code: 0 if the run has finished, or is read once; 1 if it failed, was stopped or its process died;
5 if Ctrl-C ends the watching.  The log of a run with a dead process is made a plain file again.
"""

from __future__ import annotations

import argparse
import math
import os
import shutil
import sys
import time
from typing import Any

from loomcloth import command, output, terminal
from loomcloth.errors import LogError

PICTURES = ("png", "pdf", "svg")
SHOWN = ("r_final", "iters", "t_cpu")
LEAST = (60, 20)  # columns and lines of a terminal that hold the plots
TELLING = {
    "r_final": "residual",
    "iters": "iterations",
    "contacts": "contacts",
    "t_cpu": "CPU",
    "min_gap": "gap",
}


def parse(argv: list[str]) -> argparse.Namespace:
    p = argparse.ArgumentParser(
        prog="loom watch", description=__doc__, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    p.add_argument("file", metavar="FILE", help="a log that a run writes, or has written")
    p.add_argument("-o", "--output", metavar="PICTURE", help="draw into this file (.png, .pdf, .svg)")
    p.add_argument("--plot", default=",".join(SHOWN), metavar="A,B,...",
                   help=f"columns of /steps to draw, at most 3 (default: {','.join(SHOWN)})")  # fmt: skip
    p.add_argument("--interval", type=float, default=1.0, metavar="S", help="seconds between looks")
    p.add_argument("--lines", action="store_true", help="lines also on a terminal")
    p.add_argument("--once", action="store_true", help="look once and end")
    args = p.parse_args(argv)
    if not 0.05 <= args.interval <= 3600:
        p.error(f"--interval {args.interval:g}: between 0.05 and 3600 s")
    ending = os.path.splitext(args.output or "x.png")[1].lstrip(".").lower()
    if ending not in PICTURES:
        p.error(f"-o {args.output}: one of {', '.join('.' + e for e in PICTURES)}")
    return args


def columns_of(run: Any, text: str) -> list[str]:
    """The columns that are drawn; LogError for one that /steps lacks."""
    import difflib

    names = [w.strip() for w in text.split(",") if w.strip()]
    if not 1 <= len(names) <= 3:
        raise LogError(f"--plot {text}: one to three columns of /steps")
    for name in names:
        if name not in run.units:
            near = difflib.get_close_matches(name, run.units, 1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            raise LogError(f"--plot {name}: /steps has no such column{hint}")
    return names


def title(run: Any, name: str) -> str:
    unit, text = run.units[name]
    return terminal.clean(text + ("" if unit == "1" else f" ({unit})"))


def logarithmic(values: Any) -> bool:
    """Whether positive numbers range over so much that their logarithms are drawn."""
    known = values[values > 0]
    return len(known) > 1 and len(known) == len(values) and known.max() > 50 * known.min()


def curves(run: Any, names: list[str]) -> list[tuple[str, str, Any, Any]]:
    """Title, label of the axis, x and y of each plot; NaN and infinity are left out."""
    import numpy as np

    plots = [(title(run, n), "step", np.asarray(run.steps["step"], float), run.column(n)) for n in names]
    if len(run.last):
        k = np.arange(len(run.last))
        of = f"residual in step {int(run.last['step'][0])} (m)"
        plots.append((of, "iteration", k.astype(float), np.asarray(run.last["r_next_rms"], float)))
    kept = [(*p[:2], p[2][np.isfinite(p[3])], p[3][np.isfinite(p[3])]) for p in plots]
    return [p for p in kept if len(p[3])]


def remaining(run: Any) -> str:
    """The time that the planned steps will take at the pace of the last steps."""
    left = run.planned - len(run.steps)
    if run.ended or left <= 0 or len(run.steps) == 0:
        return ""
    seconds = left * float(run.column("t_total")[-20:].mean())
    if not 0 <= seconds < 1e9:  # no clock that makes sense
        return ""
    hours, minutes = int(seconds // 3600), int(seconds // 60) % 60
    if seconds < 60:
        return f"about {math.ceil(seconds)} s left"
    return f"about {hours} h {minutes} min left" if hours else f"about {minutes} min left"


def headline(run: Any) -> str:
    """Where the run stands."""
    words = [os.path.basename(run.path), run.status]
    done = len(run.steps)
    words.append(f"{done} of {run.planned} steps" if run.planned else f"{done} steps")
    if done:
        words.append(f"{run.steps['time'][-1]:.4g} s")
        words += [f"{count} {reason}" for reason, count in run.reasons.items()]
        met = int((run.steps["intersections"] > 0).sum())
        words += [f"intersections in {met} steps"] if met else []
    words.append(remaining(run))
    return terminal.clean("  ".join(w for w in words if w))


def line_of(run: Any) -> str:
    """The last step in one line."""
    row = run.steps[-1]
    words = [f"step {int(row['step']) + 1}" + (f" of {run.planned}" if run.planned else "")]
    words.append(run.log.enum("steps", "reason").get(int(row["reason"]), "?"))
    for name, text in TELLING.items():
        value, unit = float(row[name]), run.units[name][0]
        if math.isfinite(value):
            words.append(f"{text} {value:.3g}" + ("" if unit == "1" else f" {unit}"))
    return terminal.clean("  ".join([*words, remaining(run)]).rstrip())


class Lines:
    """A line for every look that finds something new, warnings, and how it ended."""

    def __init__(self, run: Any) -> None:
        self.run, self.told, self.begun = run, 0, False

    def show(self) -> None:
        for step, level, text in self.run.said[self.told :]:
            print(terminal.clean(f"{level} in step {step}: {text}"))
            self.told += 1
        if not self.begun or self.run.ended:
            print(headline(self.run))
        if not self.run.ended and len(self.run.steps):
            print(line_of(self.run))
        self.begun = True
        sys.stdout.flush()


def whole_ticks(x: Any) -> tuple[list[float], list[str]]:
    """At whole numbers, with their texts."""
    step = max(1, math.ceil((x[-1] - x[0]) / 4))
    at = [float(v) for v in range(int(x[0]), int(x[-1]) + 1, step)]
    return at, [f"{v:.0f}" for v in at]


def power_ticks(y: Any) -> tuple[list[float], list[str]]:
    """Logarithms at powers of ten, or at the ends if no two are in the range, with their texts."""
    low, high = math.log10(y.min()), math.log10(y.max())
    first, last = math.ceil(low), math.floor(high)
    if last - first < 1:
        return [low, high], [f"{y.min():.1e}", f"{y.max():.1e}"]
    at = [float(v) for v in range(first, last + 1, max(1, math.ceil((last - first) / 5)))]
    return at, [f"1e{v:+03.0f}" for v in at]


class Screen:
    """Plots of characters that fill the terminal."""

    def __init__(self, run: Any, names: list[str]) -> None:
        self.run, self.names = run, names

    def text(self, columns: int, lines: int) -> str:
        import numpy as np
        import plotext as plt

        shown = curves(self.run, self.names)
        said = self.run.said[-2:]
        notes = [terminal.clean(f"{level} in step {step}: {text}") for step, level, text in said]
        head = [headline(self.run), *notes]
        if not shown:
            return "\n".join([*head, "no step has ended yet"])
        plt.main().clear_figure()  # else a plot of the page before would be active
        plt.theme("clear")
        across = 2 if len(shown) > 1 else 1
        down = -(-len(shown) // across)
        plt.subplots(down, across)
        plt.plot_size(columns, lines - len(head) - 1)
        for i, (name, axis, x, y) in enumerate(shown):
            part = plt.subplot(i // across + 1, i % across + 1)
            log = logarithmic(y)
            part.plot(list(x), list(np.log10(y) if log else y), marker="braille" if utf8() else ".")
            part.title(name[: columns // across - 4])
            part.xlabel(axis)
            part.xticks(*whole_ticks(x))
            if log:
                part.yticks(*power_ticks(y))
        return "\n".join([*(w[:columns] for w in head), str(plt.build())])

    def show(self) -> None:
        size = shutil.get_terminal_size()
        if size < LEAST:
            text = headline(self.run) + f"\n(the terminal has {size[0]} x {size[1]}; plots need "
            text += "{} x {})".format(*LEAST)
        else:
            text = self.text(*size)
        terminal.raw(f"\x1b[H\x1b[2J{text}\n")


def utf8() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"


def plain(text: str) -> str:
    """So that matplotlib takes no sign in it for mathematics."""
    return text.replace("\\", "\\\\").replace("$", r"\$") if "$" in text else text


class Picture:
    """The same plots in a file, replaced whole."""

    def __init__(self, run: Any, names: list[str], path: str) -> None:
        self.run, self.names, self.path = run, names, path

    def show(self) -> None:
        from loomcloth.style import plain_axes

        shown = curves(self.run, self.names)
        figure, axes = plain_axes(2, 2, squeeze=False)
        for a in axes.flat:
            a.set_visible(False)
        for a, (name, axis, x, y) in zip(axes.flat, shown, strict=False):
            a.set_visible(True)
            a.plot(x, y, marker="." if len(x) < 60 else "", color="#0072B2")
            a.set_title(plain(name), fontsize=9)
            a.set_xlabel(axis)
            if logarithmic(y):
                a.set_yscale("log")
        figure.suptitle(plain(headline(self.run)), fontsize=9)
        with output.replacing(self.path) as part:
            figure.savefig(part)
        import matplotlib.pyplot as plt

        plt.close(figure)


def main(argv: list[str]) -> int:
    args = parse(argv)
    if args.output:
        output.check(args.output)
    from loomcloth.follow import Follower

    with Follower(args.file) as run:
        names = columns_of(run, args.plot)
        live = sys.stdout.isatty() and not args.lines and not args.output
        shows: list[Any] = [Screen(run, names)] if live else [Lines(run)]
        if args.output:
            shows.append(Picture(run, names, args.output))
        first = True
        while True:
            if run.update() or first:
                for show in shows:
                    show.show()
            first = False
            if run.ended or args.once:
                break
            time.sleep(args.interval)
        if run.status == "died":
            run.finish()
        if args.output:
            print(args.output)
        return 0 if run.status in ("finished", "running") else 1


if __name__ == "__main__":
    command.run("watch", main, guarded=True, interrupted=5)
