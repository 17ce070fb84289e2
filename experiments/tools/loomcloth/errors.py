"""Errors that end a tool with a message; in a file of their own so that --help needs no library."""


class LogError(Exception):
    """A log that cannot be used, with the reason and the remedy."""


class FigureError(Exception):
    """A figure that cannot be drawn, with the reason."""


class SpecError(Exception):
    """A sweep's specification that cannot be used, with place and remedy."""
