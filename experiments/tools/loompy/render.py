"""`./loom render FILE.h5`: a shaded picture or movie of the frames, without a display."""

import argparse
import math
import os
import sys

# Without X; VTK falls back to software (OSMesa) where EGL is missing.
os.environ.setdefault("VTK_DEFAULT_OPENGL_WINDOW", "vtkEGLRenderWindow")

from loompy.errors import LogError

MOVIES = (".mp4", ".mkv", ".mov", ".gif")
PICTURES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp")
FASTEST = 60.0  # frames per second that players show


def parse(argv):
    p = argparse.ArgumentParser(prog="loom render", description=__doc__, allow_abbrev=False)
    p.add_argument("file", help="a log")
    p.add_argument("-o", "--output", help="PICTURE.png or MOVIE.mp4 (default: FILE.png)")
    p.add_argument("--frame", type=int, default=-1, help="of a picture; negative: from the end")
    p.add_argument("--frames", default=":", metavar="A:B[:STEP]", help="of a movie or strip")
    p.add_argument("--strip", type=int, metavar="N", help="N frames side by side in one picture")
    p.add_argument("--size", default="1280x960", metavar="WxH", help="pixels (of one frame)")
    p.add_argument("--view", default="-60,20", metavar="AZ,EL", help="camera direction, degrees")
    p.add_argument("--zoom", type=float, default=1.0)
    p.add_argument("--fps", type=float, help="of a movie (default: real time; frames are left out above 60)")
    p.add_argument("--wireframe", action="store_true", help="show the edges of the mesh")
    p.add_argument("--fast", action="store_true", help="no shadows and no ambient occlusion")
    argv = list(argv)
    if "--view" in argv[:-1]:  # argparse takes "-60,20" for an option
        at = argv.index("--view")
        argv[at : at + 2] = [f"--view={argv[at + 1]}"]
    return p.parse_args(argv)


def kind_of(path):
    """Picture or movie, by the ending of its name; told before anything is rendered."""
    ending = os.path.splitext(path)[1].lower()
    if ending not in MOVIES + PICTURES:
        raise LogError(
            f"-o {path}: the ending '{ending}' is not known; pictures: {' '.join(PICTURES)}; "
            f"movies: {' '.join(MOVIES)}"
        )
    return "movie" if ending in MOVIES else "picture"


def pair(text, sep, kind, what):
    try:
        a, b = text.split(sep)
        return kind(a), kind(b)
    except ValueError:
        raise LogError(f"{what} '{text}': two numbers with '{sep}' between them") from None


def frame_range(text, count):
    try:
        return range(count)[slice(*(int(w) if w else None for w in text.split(":")))]
    except (ValueError, TypeError):
        raise LogError(f"--frames '{text}': A:B or A:B:STEP") from None


def picture_frames(args, count):
    if args.strip:
        chosen = frame_range(args.frames, count)
        if not chosen or args.strip < 1:
            raise LogError(f"--strip {args.strip} --frames '{args.frames}': no frame")
        last = len(chosen) - 1
        return [chosen[round(i * last / max(args.strip - 1, 1))] for i in range(args.strip)]
    if not -count <= args.frame < count:
        raise LogError(f"--frame {args.frame}: the log holds {count} frames")
    return [args.frame % count]


def write_movie(view, frames, path, fps):
    import imageio.v2 as imageio

    options = {} if path.endswith(".gif") else {"quality": 8, "macro_block_size": 2}
    with imageio.get_writer(path, fps=fps, **options) as out:
        for i, frame in enumerate(frames):
            out.append_data(view.image(frame))
            print(f"\rloom: render: frame {i + 1} of {len(frames)}", end="", file=sys.stderr)
    print(file=sys.stderr)


def real_time(times, frames):
    """The frames to show, and how many per second, so that the motion has its own pace: where that
    is more than players show, only every second, third ... frame is taken."""
    span = times[frames[-1]] - times[frames[0]]
    if len(frames) < 2 or span <= 0:
        return frames, 1.0 if len(frames) < 2 else 30.0
    rate = (len(frames) - 1) / span
    skip = max(1, math.ceil(rate / FASTEST * (1 - 1e-9)))
    return frames[::skip], max(rate / skip, 1.0)


def main(argv):
    args = parse(argv)
    size = pair(args.size, "x", int, "--size")
    angles = pair(args.view, ",", float, "--view")
    output = args.output or os.path.splitext(args.file)[0] + ".png"
    movie = kind_of(output) == "movie"
    from loompy.log import Log

    with Log(args.file) as log:
        count = log.num_frames
        if count == 0:
            raise LogError(f"{args.file}: no frame is stored; see [log] frames_every")
        frames = list(frame_range(args.frames, count)) if movie else picture_frames(args, count)
        if not frames:
            raise LogError(f"--frames '{args.frames}': the log holds {count} frames")
        rate = args.fps
        if movie and rate is None:
            frames, rate = real_time(log.times, frames)
        from loompy.view import View

        lamps = 0 if args.fast else 2 if movie else 8
        view = View(log, frames, size, angles, args.zoom, args.wireframe, lamps)
        os.makedirs(os.path.dirname(os.path.abspath(output)), exist_ok=True)
        if movie:
            write_movie(view, frames, output, rate)
        else:
            import numpy as np
            from PIL import Image

            Image.fromarray(np.hstack([view.image(f) for f in frames])).save(output)
    print(output)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (LogError, OSError) as error:
        print(f"loom: render: {error}", file=sys.stderr)
        sys.exit(1)
