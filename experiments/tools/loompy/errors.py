"""What ends a tool with a message; here so that --help needs none of the libraries."""


class LogError(Exception):
    """A log that cannot be used, with the reason and the remedy."""


class FigureError(Exception):
    """A figure that cannot be drawn, with the reason."""


class SpecError(Exception):
    """A sweep's specification that cannot be used, with place and remedy."""
