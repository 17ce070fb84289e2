"""`./loom convert FILE.usd -o FOLDER`: meshes and curves of a USD stage as files that loom reads.

  NAME.obj   a mesh, or curves of one radius as polylines, in metres, where the stage puts them at its
             first time; faces, material coordinates (st) and subsets (as groups) of meshes are kept
  scene.ini  a section [yarn.NAME] with file and radius for each file of curves, and the up axis: an
             `include` of a configuration; meshes stand there as comments, since the stage does not
             say which of them is cloth and which is a body

Curves (BasisCurves): linear, and cubic with the basis catmullRom, which is loom's own spline; half of
their widths is the radius; periodic ones are closed.  Curves of the wrap nonperiodic lose their two end
points, which are no points of the spline.  The bases bezier, bspline and hermite are refused: resample them.
"""

from __future__ import annotations

import argparse
import os

from loomcloth import command
from loomcloth.errors import LogError


def parse(argv: list[str]) -> argparse.Namespace:
    p = argparse.ArgumentParser(
        prog="loom convert", description=__doc__, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    p.add_argument("file", metavar="FILE", help="a stage: .usd, .usda, .usdc or .usdz")
    p.add_argument("-o", "--output", required=True, metavar="FOLDER", help="a folder that is not there yet")
    return p.parse_args(argv)


def main(argv: list[str]) -> int:
    args = parse(argv)
    if not os.path.isfile(args.file):
        raise LogError(f"{args.file}: no such file")
    from loomcloth.convert.usd import read

    texts = read(args.file)
    try:
        os.makedirs(args.output)
    except FileExistsError:
        raise LogError(f"{args.output} is there; -o names a new folder") from None
    for name, text in texts.items():
        with open(os.path.join(args.output, name), "w", encoding="utf-8") as f:
            f.write(text)
    print(f"{args.output}: {len(texts) - 1} OBJ files, scene.ini")
    return 0


if __name__ == "__main__":
    command.run("convert", main, guarded=True)
