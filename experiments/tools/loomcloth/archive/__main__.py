"""`./loom archive SPEC -o FILE.zip`: a finished study as one file, for a repository or another machine.

SPEC is the specification of `loom sweep`.  The archive holds it and the specifications that it names,
configurations and inputs of the runs, all logs (of references, too), marks of the runs, README.md, hashes,
licences, versions of the programs, and a description as RO-Crate 1.1.  Logs are packed: the same values and
attributes in less room, compared value by value.  Paths between files are relative.

In the unpacked folder `loom sweep` finds no run to make, and `loom table` and `loom report` give the same
output.  A run that is not finished, and a log that is missing or damaged, is named and ends the command;
--incomplete archives the others and lists the missing ones in README.md.

exit codes: 0 the archive is written; 1 a run or a log is missing, or damaged; 2 wrong use or specification
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import time
import zipfile
from functools import partial
from pathlib import Path

from loomcloth import command, output, terminal
from loomcloth.errors import LogError

say = partial(terminal.say, "archive")
FOLDER_OF_LICENCE = Path(__file__).resolve().parents[4]


def parse(argv: list[str]) -> argparse.Namespace:
    doc, ends = (__doc__ or "").split("\n\nexit codes")
    p = argparse.ArgumentParser(
        prog="loom archive", allow_abbrev=False, description=doc.split(": ", 1)[1],
        epilog=f"exit codes{ends}", formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    p.add_argument("spec", metavar="SPEC", type=Path, help="the specification of a sweep")
    p.add_argument("-o", "--output", required=True, metavar="FILE.zip", help="the archive")
    p.add_argument("--overwrite", action="store_true", help="replace an archive that is there")
    p.add_argument("--incomplete", action="store_true", help="also where runs are missing; they are listed")
    p.add_argument("--title", help="of the study (default: the name of the specification)")
    p.add_argument("--author", action="append", default=[], metavar="NAME", help="may be given several times")
    p.add_argument("--licence", default="", metavar="TEXT",
                   help="of the data: an SPDX identifier such as CC-BY-4.0")  # fmt: skip
    p.add_argument("--date", default=time.strftime("%F", time.gmtime()), help="YYYY-MM-DD (default: today)")
    p.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)), help="default: all")
    args = p.parse_args(argv)
    if not args.output.endswith(".zip"):
        p.error(f"-o {args.output}: the ending of an archive is .zip")
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", args.date):
        p.error(f"--date {args.date}: YYYY-MM-DD is expected")
    if args.cores < 1:
        p.error("--cores: at least 1")
    return args


def write_zip(stage: Path, path: str, date: str) -> None:
    """The same files give the same bytes: times in the archive are its date."""
    from loomcloth.archive.crate import names_in

    year, month, day = (int(w) for w in date.split("-"))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name in names_in(stage):
            entry = zipfile.ZipInfo(name, (max(year, 1980), month, day, 0, 0, 0))
            entry.external_attr, entry.compress_type = 0o100644 << 16, zipfile.ZIP_DEFLATED
            with open(stage / name, "rb") as source, file.open(entry, "w", force_zip64=True) as target:
                shutil.copyfileobj(source, target, 1 << 20)


def main(argv: list[str]) -> int:
    args = parse(argv)
    output.check(args.output)
    if os.path.lexists(args.output) and not args.overwrite:
        raise LogError(f"-o {args.output}: is there; name another file, or replace it with --overwrite")
    from loomcloth.archive import crate, readme, stage, versions

    parts = stage.parts_of(args.spec, args.cores)
    missing: dict[str, str] = {}
    for part in parts:
        stage.look(part)
        for name, why in part.missing.items():
            words = f"{'reference ' if part.is_reference else ''}{name}"
            missing[words] = why
            say(f"{words}: {why}")
    if missing and not args.incomplete:
        say(f"{len(missing)} runs have no whole log; `loom sweep {args.spec}` makes them, or archive the "
            "others with --incomplete")  # fmt: skip
        return 1
    for path in stage.strangers(parts):
        say(f"note: {path}: belongs to no run of the study and is left out")
    found = stage.files_of(parts)
    software = versions.Software()
    for part in parts:
        for c in part.whole():
            software.add(part.log(c))
    software.ask()
    if software.runs == 0:
        raise LogError(f"{args.spec}: no run is finished; `loom sweep {args.spec}` makes them")
    with output.replacing(args.output) as file:
        folder = Path(file).parent / "study"
        stage.build(parts, found, folder, args.cores)
        shutil.copyfile(FOLDER_OF_LICENCE / "LICENSE", folder / "LICENSE-loom")
        spec = parts[-1].plan.spec.path
        place = found.place(parts[-1].output)
        kinds = {found.place(p): k for p, k in found.found.items()}
        kinds |= {os.path.normpath(f"{found.place(at)}/{name}"): "input" for at, name in found.copies}
        for part in parts:
            kind = "log of a reference" if part.is_reference else "log"
            kinds |= {f"{found.place(part.output)}/{c.run.name}.h5": kind for c in part.whole()}
        kinds |= {"README.md": "description to read", "LICENSE-loom": "licence of loom"}
        roots = [str(r) for r in found.roots]
        shown = {k: _without(roots, why) for k, why in missing.items()}
        about = crate.About(
            args.title or f"loom study {spec.stem}", args.author, args.licence, args.date,
            shlex.join(["loom", "archive", found.place(spec), "-o", os.path.basename(args.output)]),
            found.place(spec), shown,
            [found.place(p.plan.spec.path) for p in parts if not p.is_reference], kinds,
        )  # fmt: skip
        references = [found.place(p.output) for p in parts if p.is_reference]
        readme.write(folder, about, software, place, references)
        crate.write_metadata(folder, about, software)
        crate.write_hashes(folder)
        write_zip(folder, file, args.date)
        size = sum((folder / n).stat().st_size for n, kind in kinds.items() if kind.startswith("log"))
    before = sum(part.log(c).stat().st_size for part in parts for c in part.whole())
    print(f"{args.output}: {software.runs} runs, logs of {before / 1e6:.3g} MB packed to {size / 1e6:.3g} MB"
          f", the archive has {os.path.getsize(args.output) / 1e6:.3g} MB")  # fmt: skip
    return 0


def _without(roots: list[str], text: str) -> str:
    for root in sorted(roots, key=len, reverse=True):
        text = text.replace(f"{root}/", "")
    return text


if __name__ == "__main__":
    command.run("archive", main, guarded=True)
