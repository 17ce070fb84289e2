"""Errors that end a tool with a message; in a file of their own so that --help needs no library."""

import difflib
from collections.abc import Iterable


class LogError(Exception):
    """A log that cannot be used, with the reason and the remedy."""


class FigureError(Exception):
    """A figure that cannot be drawn, with the reason."""


class SpecError(Exception):
    """A sweep's specification that cannot be used, with place and remedy."""


def near(word: str, among: Iterable[str]) -> str:
    """The end of a message about an unknown name: the nearest valid one, or all."""
    known = list(among)
    found = difflib.get_close_matches(word, known, 1)
    return f"; did you mean '{found[0]}'?" if found else f"; there are: {', '.join(known)}"
