"""The claims of the five papers: the tables of coverage."""

from loomcloth.experiment import ROOT, FigureError


def claims(experiment):
    from loomcloth import coverage
    from loomcloth.figure import all_figures

    data = coverage.load(ROOT)
    for paper, states in coverage.counts(data).items():
        words = ", ".join(f"{states[s]} {s}" for s in coverage.STATES)
        print(f"coverage of {paper}: {sum(states.values())} rows: {words}")
    folders = {name: folder.name for name, (folder, _, _) in all_figures().items()}
    found = coverage.check(ROOT, folders, experiment.update)
    print(*found, sep="\n", end="\n" if found else "")
    missing = sum(text.endswith("is missing") for text in found)
    print(f"BAR coverage: rows missing = {missing} (<= 0) {'SHORT' if missing else 'PASS'}")
    if found:
        raise FigureError(f"{len(found)} faults of the coverage")


FIGURES = {"claims": ("coverage of the papers", claims)}
