"""Text for a terminal: text from a file or a path can neither steer it nor pass for another line."""

from __future__ import annotations

import os
import re
import sys
from typing import Any, TextIO

# Escape sequences (ECMA-48): CSI, then OSC, DCS, SOS, PM and APC with their text, then short ones.
SEQUENCES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]"
)
# Control characters, line and paragraph separators, marks that turn the direction of writing.
CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
BREAKS = re.compile(r"[\t\r\n\u2028\u2029\x85\x0b\x0c]+")
LONGEST = 2000  # characters of a text that a message repeats


def _printable(text: str) -> str:
    """Bytes of a file name that are no UTF-8 (surrogates) as \\xNN."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace") if any(
        "\ud800" <= c <= "\udfff" for c in text
    ) else text  # fmt: skip


def stripped(text: str) -> str:
    """Without escape sequences and control characters; line breaks, tabs and carriage returns stay."""
    try:
        text = _printable(text)
    except UnicodeEncodeError:  # a surrogate that no file name gives
        text = text.encode("utf-8", "backslashreplace").decode()
    return CONTROLS.sub("", SEQUENCES.sub("", text))


def clean(value: object) -> str:
    """One line of a text of a log, a path or an error; a long one is cut."""
    text = stripped(BREAKS.sub(" ", str(value)))
    return text if len(text) <= LONGEST else text[:LONGEST] + " ..."


class Stream:
    """A stream that strips all text written to it."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        self.stream.write(stripped(text))
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def guard() -> None:
    """From here on standard output and error pass through Stream, and no character ends the tool."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None or isinstance(stream, Stream):
            continue
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
        setattr(sys, name, Stream(stream))


def raw(text: str) -> None:
    """To standard output with the tool's own escape sequences."""
    stream = sys.stdout
    (stream.stream if isinstance(stream, Stream) else stream).write(text)
    sys.stdout.flush()


def say(tool: str, text: object, alarm: bool = False) -> None:
    """A line on standard error; alarm: red where that is a terminal."""
    line = f"loom: {tool}: {clean(text)}"
    stream = sys.stderr
    if alarm and stream.isatty() and not os.environ.get("NO_COLOR"):
        inner = stream.stream if isinstance(stream, Stream) else stream
        inner.write(f"\033[31m{line}\033[0m\n")
        return
    print(line, file=stream, flush=True)
