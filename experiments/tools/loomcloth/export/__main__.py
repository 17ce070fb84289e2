"""`./loom export FILE.h5 --format vtkhdf|glb|usd`: cloths, yarns, bodies and fields in one file.

  vtkhdf  VTK-HDF for ParaView: bodies, velocities and the fields of the log, as doubles; yarns as
          polylines; material coordinates of the three corners as cell array uv, pieces as piece
  glb     glTF 2.0 with animation: cloths, yarns (lines) and bodies that deform as morph targets, others
          as nodes; material coordinates as TEXCOORD_0 (m, 1 - v); no fields
  usd     USD (.usdc): samples over time, velocities, fields as primvars, material coordinates as st,
          pieces as subsets; yarns as the curves that they are (Catmull-Rom), with their widths

The other formats (obj, ply, vtk, bcc, tubes, csv) are the binary's: `loom export --help`.
"""

from __future__ import annotations

import argparse
import os

from loomcloth import command, output

ENDINGS = {"vtkhdf": (".vtkhdf",), "glb": (".glb",), "usd": (".usdc", ".usda", ".usd")}


def parse(argv: list[str]) -> argparse.Namespace:
    p = argparse.ArgumentParser(
        prog="loom export", description=__doc__, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    p.add_argument("file", metavar="FILE", help="a log")
    p.add_argument("--format", required=True, choices=list(ENDINGS))
    p.add_argument("-o", "--output", help="the file (default: beside the log, with the ending of the format)")
    p.add_argument("--frames", default=":", metavar="A:B",
                   help="frames A to B, both included; also N, A:, :B, last")  # fmt: skip
    p.add_argument("--no-bodies", action="store_true", help="cloths and yarns alone")
    args = p.parse_args(argv)
    endings = ENDINGS[args.format]
    args.output = args.output or os.path.splitext(args.file)[0] + endings[0]
    if not args.output.endswith(endings):
        p.error(f"-o {args.output}: the ending of {args.format} is {' or '.join(endings)}")
    return args


def main(argv: list[str]) -> int:
    args = parse(argv)
    output.check(args.output)
    from importlib import import_module

    from loomcloth.export.parts import clip_of
    from loomcloth.log import Log

    with Log(args.file) as log:
        clip = clip_of(log, args.frames, not args.no_bodies)
        with output.replacing(args.output) as part:
            import_module(f"loomcloth.export.{args.format}").write(clip, part)
    cloths, yarns, bodies = (sum(p.kind == kind for p in clip.parts) for kind in ("cloth", "yarn", "body"))
    knit = f"{yarns} objects of yarn, " if yarns else ""
    print(
        f"{args.output}: frames {clip.frames[0]} to {clip.frames[-1]}, {cloths} cloths, {knit}{bodies} bodies"
    )
    return 0


if __name__ == "__main__":
    command.run("export", main, guarded=True)
