"""README.md of an archive."""

from __future__ import annotations

from pathlib import Path

from loomcloth.archive.crate import HASHES, METADATA, UNSTATED, About
from loomcloth.archive.versions import Software

TEXT = """\
# {title}

{runs} runs of loom {looms}, a framework for cloth simulation.
{authors}Licence of the data: {licence}

## Look at it

    sha256sum -c {hashes}     # are all files as they were?
    loom sweep {spec}
    loom table {folder}
    loom report {folder} -o report.html

The second command finds no run to make ({state}). It needs the same version of loom: another one may read
other settings out of the same files, and would make all runs again. h5py and pandas read a log (`*.h5`, HDF5)
without loom; `loom_version`, `git_commit`, `plugins` and `config` of each log say how it was made.

Unpack into a new folder, for example by `python3 -m zipfile -e FILE.zip FOLDER`. The archive holds plain
files alone: no links, no programs, no path that leaves the folder. The second command alone may start
programs. Before it reads an archive of a stranger, look for the keys `plugin_path` (modules that it would
load) and `[slurm] extra` (options of the command that submits jobs).

## Files

| path | |
|---|---|
{specs}
| `{folder}/*.h5` | logs of the runs |
{references}| `{folder}/state` | marks of the runs: key, exit code, processor seconds, bytes |
| `{hashes}` | SHA-256 of each file |
| `{metadata}` | description for machines, RO-Crate 1.1 |

Logs are packed: chunks end where the data end, and are deflated. Values and attributes are those of the runs,
and so are the paths and the names of machines in attributes such as `command` and `host`. Every other path is
relative.
{missing}
## Programs

| plugin | kind | version | licence | build |
|---|---|---|---|---|
{plugins}

Machines: {machines}. Libraries on the machine that made the archive: {libraries}.
Packages of Python there: {packages}.

Made by `{command}`, {date}; the last run ended {last}.

## Sources of the methods

{papers}
"""


def row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def write(stage: Path, about: About, software: Software, folder: str, references: list[str]) -> None:
    looms = " and ".join(f"{v} ({c})" for v, c in sorted(software.looms))
    plugins = sorted(software.plugins, key=lambda p: (p.kind, p.name))
    missing, replayed = "", "logs of the references, whose steps the runs replay"
    if about.missing:
        rows = "".join(f"- {name}: {why}\n" for name, why in sorted(about.missing.items()))
        missing = f"\n## Runs without a log\n\n{rows}"
    text = TEXT.format(
        title=about.title,
        runs=software.runs,
        looms=looms,
        authors=f"By {', '.join(about.authors)}. " if about.authors else "",
        licence=about.licence or UNSTATED,
        hashes=HASHES,
        metadata=METADATA,
        spec=about.specification,
        folder=folder,
        state=f"{len(about.missing)} runs are missing, see below" if about.missing else "all runs are there",
        specs="\n".join(f"| `{s}` | specification |" for s in about.specifications),
        references="".join(f"| `{r}/*.h5` | {replayed} |\n" for r in references),
        missing=missing,
        plugins="\n".join(row(p.name, p.kind, p.version, p.licence, p.build) for p in plugins),
        machines="; ".join(sorted(software.machines)),
        libraries=", ".join(f"{n} ({u})" for n, u in software.libraries.items()) or "not known",
        packages=", ".join(f"{n} {v}" for n, v in software.packages.items()),
        command=about.command,
        date=about.date,
        last=software.last,
        papers="\n".join(f"- {n}: {p}" for n, p in sorted(software.references.items())),
    )
    (stage / "README.md").write_text(text, encoding="utf-8")
