"""`./loom fabric MEASURED.csv -o materials/NAME.ini`: a material from measurements of a fabric.

Strips pulled along the warp, the weft and, if possible, at 45 degrees, and bent strips or bending
lengths give the tables of the element tri_wang and the rigidities of a plate, or with `--bending wang_bend`
the table of the element hinge_wang; rules that the file states, number by
number, fill the entries that they do not determine.  A configuration finds materials/NAME.ini beside it:

    [cloth.sheet]
    material = NAME

Exit code: 0; 2 for wrong arguments or measurements, with file, line and the allowed values; 1 else,
as where simulated strips do not follow the material.
"""

from __future__ import annotations

import argparse
import os
import re
from functools import partial
from pathlib import Path

from loomcloth import command, output, terminal
from loomcloth.errors import SpecError


def parse(argv: list[str]) -> argparse.Namespace:
    doc, ends = (__doc__ or "").split("\n\nExit code")
    p = argparse.ArgumentParser(
        prog="loom fabric", allow_abbrev=False, description=doc.split(": ", 1)[1],
        epilog="Exit code" + ends, formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    p.add_argument("measured", help="CSV file; experiments/fabric/README.md has its columns and units")
    p.add_argument("-o", "--output", required=True, metavar="materials/NAME.ini", help="the material")
    p.add_argument(
        "--bending",
        choices=("plate", "wang_bend"),
        default="plate",
        help="the element that bends: plate (four numbers; default), or hinges whose stiffness changes "
        "with the curvature",
    )
    p.add_argument(
        "--check",
        action="store_true",
        help="also simulate the strips with it, in half a minute; exit code 1 if they do not follow it",
    )
    p.add_argument("--picture", metavar="FILE.png", help="draw measurements, model and the simulated strips")
    p.add_argument("--overwrite", action="store_true", help="replace it if it is there")
    return p.parse_args(argv)


say = partial(terminal.say, "fabric")


def main(argv: list[str]) -> int:
    args = parse(argv)
    out = Path(args.output)
    if out.suffix != ".ini" or not re.fullmatch("[a-z0-9_-]+", out.stem):
        raise SpecError(f"-o {out}: NAME.ini is expected, NAME of lower-case letters, digits, '_' and '-'")
    if args.picture and not args.picture.endswith(".png"):
        raise SpecError(f"--picture {args.picture}: FILE.png is expected")
    if os.path.lexists(out) and not args.overwrite:
        raise SpecError(f"{out} is there; --overwrite replaces it")
    output.check(out)
    if args.picture:
        output.check(args.picture, option="--picture")
    from loomcloth.fabric import fit, material, measured

    fabric = measured.read(args.measured)
    found = fit.fit(fabric, args.bending)
    with output.replacing(out) as part:
        Path(part).write_text(material.text(fabric, found, out.stem))
    for name, off in found.off.items():
        print(f"{name:26} {100 * off:6.2f} % of the largest reading (RMS)")
    for name, off in found.off.items():
        if off > fit.POOR:
            say(f"{name}: the model does not follow this curve: {material.limits(name, found)}")
    print(
        f"determined: {int(found.stretch_sure.sum())} of 24 numbers of stretching, {found.bending.count}; "
        f"{out} names the others, which are assumed"
    )
    if not args.check and not args.picture:
        return 0
    from loomcloth.fabric import check

    seen = check.check(out, fabric, found)
    print(*seen.lines(), sep="\n")
    if args.picture:
        from loomcloth.style import save

        print(*save(check.draw(fabric, found, seen), args.picture, ("png",)), sep="\n")
    return 0 if seen.passed else 1


if __name__ == "__main__":
    command.run("fabric", main)
