"""`--frames` of all commands in Python, as `loom export` and `loom verify` of the binary read it."""

from __future__ import annotations

from loomcloth.errors import LogError

FORMS = "N, last, A:B (both included), A:, :B or A:B:STEP"


def frame_range(text: str, count: int) -> range:
    """Frames of a log with `count` of them: N, last, A:B, A:, :B or A:B:STEP.  B is included, and cut to the
    last frame; negative numbers count from the end.  LogError where there is no frame of these."""
    words = text.replace("last", "-1").split(":")
    try:
        first, end, step = (int(w) if w else None for w in [*words, "", ""][:3])
        if len(words) > 3 or (step is not None and step < 1):
            raise ValueError
    except ValueError:
        raise LogError(f"--frames {text}: is not {FORMS}") from None
    first = 0 if first is None else first
    if len(words) == 1:
        end = first
    chosen = range(count)[first : None if end in (None, -1) else end + 1 : step]
    if not chosen or not -count <= first < count:
        raise LogError(f"--frames {text}: the log holds frames 0 to {count - 1}")
    return chosen
