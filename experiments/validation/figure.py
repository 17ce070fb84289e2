"""Does loom compute the physics that it says?  Rows of theory, loom, error, tolerance."""

from loomcloth.experiment import Bar
from loomcloth.validation import page


def bars_of(found):
    return [
        Bar(f"{row.key}: {row.quantity}, {row.method}: error", abs(row.error), row.tolerance, cause=row.cause)
        for rows in found.values() for row in rows if not row.note
    ]  # fmt: skip


def validation(experiment):
    found = page.measure(experiment, quick=False)
    experiment.keep_text("validation", page.lines(found))
    experiment.save(page.draw(found), "validation", keep=True)


def quick(experiment):
    print("\n".join(page.lines(page.measure(experiment, quick=True))))


def bars(experiment):
    return bars_of(page.measure(experiment, quick=False))


def quick_bars(experiment):
    return bars_of(page.measure(experiment, quick=True))


FIGURES = {
    "validation": ("theory, loom, error and tolerance of every quantity with a known answer", validation),
    "validation-quick": ("the same on coarse meshes, in seconds", quick),
    "validation-bars": ("rows of the validation as bars", bars),
    "validation-quick-bars": ("rows of the quick validation as bars", quick_bars),
}
