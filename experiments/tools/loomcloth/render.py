"""`./loom render FILES.h5`: a shaded picture or movie of the frames, without a display.

Several logs stand side by side, in step, under one camera and one scale of colours.  A damaged one among
them is left out with the reason, and the exit code is 1.
"""

import argparse
import math
import os
import sys

# Without X: EGL, which Mesa draws in software where there is no GPU; VTK falls back to OSMesa where EGL is
# missing.
os.environ.setdefault("VTK_DEFAULT_OPENGL_WINDOW", "vtkEGLRenderWindow")

from loomcloth import command, output, terminal
from loomcloth.errors import LogError
from loomcloth.frames import frame_range

MOVIES = (".mp4", ".mkv", ".mov", ".gif")
PICTURES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp")
FASTEST = 60.0  # frames per second that players show
SLOWEST = 5.0  # below this a player steps from picture to picture; frames are repeated instead
LAST = -1  # frame of a picture, where none is given


def parse(argv):
    p = argparse.ArgumentParser(
        prog="loom render", description=__doc__, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    p.add_argument("files", nargs="+", metavar="FILE", help="a log; several stand side by side")
    p.add_argument("-o", "--output", help="PICTURE.png or MOVIE.mp4 (default, of one log: FILE.png)")
    p.add_argument("--frame", type=int, default=LAST, help="of a picture; negative: from the end")
    p.add_argument("--frames", default=":", metavar="A:B[:STEP]",
                   help="of a movie or strip, both included; also N and last")  # fmt: skip
    p.add_argument("--strip", type=int, metavar="N", help="N frames side by side, with name, size and times")
    p.add_argument("--size", default="1280x960", metavar="WxH", help="pixels (of one frame)")
    p.add_argument("--color", metavar="FIELD", help="colour by speed, stretch, a field of [log] fields, or, "
                   "of several logs, the distance to the first; with a scale bar")
    p.add_argument("--range", metavar="LO,HI", help="ends of its scale (default: those of the frames)")
    p.add_argument("--label", action="append", metavar="TEXT", default=[],
                   help="of a log, once for each (default, of several: their names)")
    p.add_argument("--columns", type=int, metavar="N", help="so many logs beside each other")
    p.add_argument("--stamp", action="store_true", help="write the time, as in movies, strips and of several logs")
    p.add_argument("--view", default="-60,20", metavar="AZ,EL", help="camera direction, degrees")
    p.add_argument("--zoom", type=float, default=1.0)
    p.add_argument("--camera", metavar="FILE", help="a camera that --save-camera wrote")
    p.add_argument("--save-camera", metavar="FILE", help="write the camera as JSON; -: print it")
    p.add_argument("--speed", type=float, default=1.0, help="of a movie: 1 is real time, 0.1 a tenth of it")
    p.add_argument("--fps", type=float, help="pictures per second of a movie (default: those of the log, "
                   "at most 60); the motion keeps its speed")
    p.add_argument("--wireframe", action="store_true", help="show the edges of the mesh")
    p.add_argument("--fast", action="store_true", help="no shadows and no ambient occlusion")
    argv = list(argv)
    for option in ("--view", "--range"):  # argparse takes "-60,20" for an option
        if option in argv[:-1]:
            at = argv.index(option)
            argv[at : at + 2] = [f"{option}={argv[at + 1]}"]
    args = p.parse_args(argv)
    if args.output is None and len(args.files) > 1:
        p.error("several logs: name the picture with -o")
    if args.label and len(args.label) != len(args.files):
        p.error(f"--label: {len(args.label)} for {len(args.files)} logs")
    for name in ("speed", "fps", "zoom", "columns"):
        value = getattr(args, name)
        if value is not None and not 0 < value < math.inf:
            p.error(f"--{name} {value:g}: a number above 0")
    return args


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


def check_choice(args, movie):
    """A choice of frames that the output would not follow is an error."""
    if args.frames != ":" and not movie and not args.strip:
        raise LogError(f"--frames {args.frames}: of a movie or a strip; a picture takes --frame N, or --strip N")
    if args.frame != LAST and (movie or args.strip):
        raise LogError(f"--frame {args.frame}: of one picture; a movie and a strip take --frames A:B")


def picture_frames(args, count):
    if args.strip:
        chosen = frame_range(args.frames, count)
        if args.strip < 1:
            raise LogError(f"--strip {args.strip} --frames '{args.frames}': no frame")
        last = len(chosen) - 1
        shown = min(args.strip, len(chosen))  # each frame once
        return [chosen[round(i * last / max(shown - 1, 1))] for i in range(shown)]
    if not -count <= args.frame < count:
        raise LogError(f"--frame {args.frame}: the log holds {count} frames")
    return [args.frame % count]


def rate_of(shown, gif):
    """Pictures per second that a player shows, where the motion passes `shown` frames in a second."""
    if shown > FASTEST:
        rate = shown / math.ceil(shown / FASTEST * (1 - 1e-9))
    else:
        rate = shown * math.ceil(SLOWEST / shown) if shown < SLOWEST else shown
    return 100.0 / math.ceil(100.0 / rate * (1 - 1e-9)) if gif else rate  # a GIF counts in 1/100 s


def real_time(times, frames, speed=1.0, fps=None, gif=False):
    """The frame of each picture of a movie and the pictures per second, so that the motion passes at
    `speed` times its own pace: each picture shows the frame nearest to its time."""
    shown = [times[f] for f in frames]
    span = shown[-1] - shown[0]
    if len(frames) < 2 or span <= 0:
        return list(frames), fps or (1.0 if len(frames) < 2 else 30.0)
    rate = fps or rate_of(speed * (len(frames) - 1) / span, gif)
    chosen = []
    at = 0
    for i in range(math.floor(span / speed * rate * (1 + 1e-9)) + 1):
        t = shown[0] + i * speed / rate
        while at + 1 < len(frames) and abs(shown[at + 1] - t) <= abs(shown[at] - t):
            at += 1
        chosen.append(frames[at])
    return chosen, rate


def write_movie(draw, frames, path, fps):
    import imageio.v2 as imageio

    gif = path.lower().endswith(".gif")
    options = {"duration": 1000.0 / fps, "loop": 0} if gif else {
        "fps": fps, "quality": 8, "macro_block_size": 2, "output_params": ["-preset", "veryfast"]}
    image, last = None, None
    with imageio.get_writer(path, **options) as out:
        for i, frame in enumerate(frames):
            if frame != last:
                image, last = draw(frame), frame
            out.append_data(image)
            print(f"\rloom: render: picture {i + 1} of {len(frames)}", end="", file=sys.stderr)
    print(file=sys.stderr)


def write_picture(draw, frames, path):
    import numpy as np
    from PIL import Image

    Image.fromarray(np.hstack([draw(f) for f in frames])).save(path)


def look(path):
    """Reads all data of a log that a picture uses, once; LogError where it cannot be drawn."""
    from loomcloth import checks
    from loomcloth.log import Log

    with Log(path) as log:
        if log.num_frames == 0:
            raise LogError(f"{log.path}: no frame is stored; see [log] frames_every")
        log.obstacles()
        checks.yarns(log)
        for name in ("triangles", "rest", "object", "material/uv", "material/piece"):
            log.scene(name)
        for name in log.field_names:
            log.field_data(name)
        for frame in (0, log.num_frames - 1):
            log.frame(frame)
            log.velocity(frame)
        return log.times


def sound(paths):
    """Which of several logs can be drawn, by their numbers, and how many were left out; LogError if none
    is left."""
    import loomcloth.log  # noqa: F401  once, not in every process
    from loomcloth.selection import read_all

    found = [error for _, error in read_all(look, paths)]
    wrong = [e for e in found if isinstance(e, LogError)]
    if len(wrong) == len(paths) == 1:
        raise wrong[0]
    for error in wrong:
        terminal.say("render", f"left out: {error}")
    if len(wrong) == len(paths):
        raise LogError("no log is left that could be drawn")
    return [i for i, e in enumerate(found) if not isinstance(e, LogError)], len(wrong)


def draw_all(args, stack):
    """The work of the command, once the arguments are known to be good."""
    from loomcloth.log import Log
    from loomcloth.stage import Stage

    target = args.output or os.path.splitext(args.files[0])[0] + ".png"
    movie = kind_of(target) == "movie"
    check_choice(args, movie)
    output.check(target)
    if args.save_camera not in (None, "-"):
        output.check(args.save_camera, "camera", "--save-camera")
    good, left_out = sound(args.files)
    labels = [args.label[i] for i in good] if args.label else []
    logs = [stack.enter_context(Log(args.files[i])) for i in good]
    count = logs[0].num_frames
    frames = list(frame_range(args.frames, count)) if movie else picture_frames(args, count)
    rate = 0.0
    if movie:
        gif = target.lower().endswith(".gif")
        frames, rate = real_time(logs[0].times, frames, args.speed, args.fps, gif)
    stage = Stage(
        logs, sorted(set(frames)), pair(args.size, "x", int, "--size"), pair(args.view, ",", float, "--view"),
        args.zoom, args.camera, columns=args.columns, labels=labels, stamp=args.stamp or movie,
        field=args.color, ends=pair(args.range, ",", float, "--range") if args.range else None,
        wireframe=args.wireframe, lamps=0 if args.fast else 1 if movie else 8, bar=not args.strip,
        movie=movie,
    )
    if args.save_camera == "-":
        print(stage.camera.text(), end="")
    elif args.save_camera:
        with output.replacing(args.save_camera, "camera", "--save-camera") as part, open(part, "w") as out:
            out.write(stage.camera.text())
    with output.replacing(target) as part:
        if movie:
            write_movie(stage.sheet, frames, part, rate)
        elif args.strip:
            stage.write_strip(frames, part)
        else:
            write_picture(stage.sheet, frames, part)
    print(target)
    return 1 if left_out else 0


def main(argv):
    from contextlib import ExitStack

    args = parse(argv)
    kind_of(args.output or "x.png")
    with ExitStack() as stack:
        return draw_all(args, stack)


if __name__ == "__main__":
    command.run("render", main, guarded=True)
