"""`./loom peer NAME CONFIG [-o LOG]`: a public simulator on the scene of a configuration, measured by loom.

The scene comes from a run of loom of no steps.  The simulator gets it in an environment of its own, which
is made when it is first needed, and its frames go to `loom measure`: the log has the residual of loom's
equation, energies, intersections, the simulator's own processor time, and its name in the place of a method.

NAME is a simulator of `./loom peer --list`, or a folder with a peer.py of your own.  What it cannot pose is
refused by key, or left out with --differ.  The settings and the kind of the row stand in the log:
same problem (energy, masses, pins and step are loom's), same scene (a calibrated energy, or contact by
another law), other model (all else).

exit codes: 0 measured; 1 a failure, a missing environment or GPU, frames that are not finite or --time that
is over (the steps before are measured); 2 wrong use or configuration, or a scene that the simulator cannot
pose
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loomcloth import command, terminal
from loomcloth.errors import LogError, SpecError, near
from loomcloth.peer.devices import count_gpus

if TYPE_CHECKING:
    from loomcloth.peer.adapter import Peer, Scene

HERE = Path(__file__).resolve().parent
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
STARTS = ("run.start_log", "run.start_frame")  # settings of the scene alone: the frames begin with the state
say = partial(terminal.say, "peer")


def parse(argv: list[str]) -> argparse.Namespace:
    doc, ends = (__doc__ or "").split("\n\nexit codes")
    p = argparse.ArgumentParser(
        prog="loom peer", allow_abbrev=False, description=doc.split(": ", 1)[1],
        epilog=f"exit codes{ends}", formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    p.add_argument("name", nargs="?", metavar="NAME", help="a simulator, or a folder with a peer.py")
    p.add_argument("config", nargs="?", metavar="CONFIG", help="poses the scene")
    p.add_argument("-o", "--output", metavar="LOG.h5", help="default: out/CONFIG_NAME.h5")
    p.add_argument("-n", "--steps", type=int, help="replaces [run] steps")
    p.add_argument("--set", action="append", default=[], metavar="SECTION.KEY=V", dest="sets",
                   help="of the configuration, or peer.KEY=V of the simulator")  # fmt: skip
    p.add_argument("--solver", metavar="NAME", help="of a simulator that has several: --set peer.solver=NAME")
    p.add_argument("--device", metavar="NAME",
                   help="cpu or cuda, of a simulator that has both: --set peer.device=NAME")  # fmt: skip
    p.add_argument("--differ", action="append", default=[], metavar="KEY",
                   help="a thing that the simulator may leave out or pose in another way; may be given "
                        "several times, and stands in the row")  # fmt: skip
    way = p.add_mutually_exclusive_group()
    way.add_argument("--as-equal", action="store_true", help="loom's step (default)")
    way.add_argument("--as-recommended", action="store_true",
                     help="settings and step of the project's own examples; every step of the simulator is "
                          "one of the log")  # fmt: skip
    p.add_argument("--time", type=float, default=0.0, metavar="S",
                   help="processor seconds for the simulator: after a step that ends later the log ends, "
                        "with exit code 1, and says so (default: no bound)")  # fmt: skip
    p.add_argument("--reference", metavar="RUN.h5", help="a run of the scene: e_ref is the distance to it")
    p.add_argument("--overwrite", action="store_true", help="replace a log that is there")
    p.add_argument("--trust-config", action="store_true", help="as for run")
    p.add_argument("--plugin-path", metavar="DIRS", help="as for run")
    p.add_argument("--quiet", action="store_true", help="only warnings")
    p.add_argument("--list", action="store_true", help="the simulators; with NAME its settings")
    p.add_argument("--prepare", action="store_true", help="only make the environment of NAME")
    args = p.parse_args(argv)
    if not args.list and (args.name is None or (args.config is None and not args.prepare)):
        p.error("NAME and CONFIG are needed; --list shows the simulators")
    if args.steps is not None and args.steps < 1:
        p.error("-n: at least 1")
    if not 0 <= args.time < float("inf"):
        p.error("--time: a number of seconds above 0 is expected")
    return args


def folder_of(name: str) -> Path:
    """Of an adapter: by name one of loom, with a '/' any."""
    if "/" in name:
        if not (Path(name) / "peer.py").is_file():
            raise SpecError(f"{name}: there is no peer.py in it; framework/doc/peers.md has the interface")
        return Path(name).resolve()
    known = sorted(p.parent.name for p in HERE.glob("*/peer.py"))
    if name not in known:
        raise SpecError(f"the simulator '{name}' is not known{near(name, known)}")
    return HERE / name


def name_of(folder: Path, peer: Peer) -> str:
    """The simulator's, with its way to solve where that is not the usual one."""
    return f"{folder.name} {peer.variant}".strip()


def load(folder: Path) -> Peer:
    from loomcloth.peer.adapter import load_adapter

    return load_adapter(folder)()


def show_list(name: str | None) -> None:
    for folder in [folder_of(name)] if name else sorted(p.parent for p in HERE.glob("*/peer.py")):
        peer = load(folder)
        poses, bodies = ", ".join(sorted(peer.can)), ", ".join(peer.bodies) or "none"
        print(f"{folder.name}: {peer.licence}, environment of {peer.size_mb} MB; poses {poses}; "
              f"bodies: {bodies}")  # fmt: skip
        if name is None:
            continue
        for key, (value, meaning) in peer.settings.items():
            print(f"  peer.{key} = {value}  {meaning}")
        if peer.recommended:
            step = f"step {peer.recommended_step:g} s, " if peer.recommended_step else ""
            words = ", ".join(f"{k} = {v}" for k, v in peer.recommended.items())
            print(f"  --as-recommended: {step}{words}; {peer.source}")


def settings_of(peer: Peer, args: argparse.Namespace) -> dict[str, Any]:
    """The simulator's settings: its own values, those recommended, and --set peer.KEY=V over them."""
    own = given_settings(peer, args)
    found = {k: v for k, (v, _) in peer.settings.items()}
    try:
        found |= peer.choose(found | own)
    except ValueError as error:
        raise SpecError(str(error)) from None
    if args.as_recommended:
        if not peer.recommended:
            raise SpecError(f"--as-recommended: {args.name} has no recommended settings")
        found |= peer.recommended
    return found | own


def given_settings(peer: Peer, args: argparse.Namespace) -> dict[str, Any]:
    """Values of --set peer.KEY=V, --solver and --device."""
    found: dict[str, Any] = {}
    if args.device and "device" not in peer.settings:
        raise SpecError(f"--device {args.device}: {args.name} runs on the processor alone, and has no choice")
    short = [f"peer.{k}={v}" for k, v in (("solver", args.solver), ("device", args.device)) if v]
    for words in [*args.sets, *short]:
        key, sign, text = words.partition("=")
        if not sign:
            raise SpecError(f"--set {words}: SECTION.KEY=V is expected")
        if not key.startswith("peer."):
            continue
        name = key.removeprefix("peer.").strip()
        if name not in peer.settings:
            raise SpecError(f"--set {words}: {args.name} has no setting '{name}'{near(name, peer.settings)}")
        kind = type(peer.settings[name][0])
        try:
            found[name] = text.strip() if kind is str else kind(float(text)) if kind is int else kind(text)
            if kind is int and found[name] != float(text):
                raise ValueError
        except (ValueError, OverflowError):
            word = "a whole number" if kind is int else "a number"
            raise SpecError(f"--set {words}: {word} is expected") from None
    return found


def run_loom(words: list[str], quiet: bool) -> int:
    binary = os.environ.get("LOOM_BIN", "loom")
    return subprocess.run([binary, *words, *(["--quiet"] if quiet else [])], check=False).returncode


def config_words(args: argparse.Namespace, state: bool) -> list[str]:
    """Options that run and measure have in common; state: with the settings of the start."""
    sets = [s for s in args.sets if not s.startswith("peer.")]
    sets = [s for s in sets if state or not s.startswith(STARTS)]
    words = [w for s in sets for w in ("--set", s)]
    words += ["--trust-config"] if args.trust_config else []
    return words + (["--plugin-path", args.plugin_path] if args.plugin_path else [])


def pose(args: argparse.Namespace, work: Path) -> tuple[Scene, dict[str, str]]:
    """The scene of a run of no steps, and its needs.  A SpecError tells a configuration that loom refuses."""
    from loomcloth.peer import needs

    log = work / "scene.h5"
    words = ["run", args.config, "-n", "0", "-o", str(log), *config_words(args, True)]
    words += ["--set", "log.audit=off"]
    if run_loom(words, True) != 0:
        raise SpecError(f"{args.config}: loom cannot pose the scene; the reason stands above")
    scene, found = needs.read(log)
    if args.steps is not None:
        scene.steps = args.steps * scene.parts
    if scene.steps < 1:
        raise SpecError(f"{args.config}: [run] steps = 0; -n gives the number of steps")
    return scene, found


def refuse(name: str, peer: Peer, scene: Scene, found: dict[str, str], differ: list[str]) -> dict[str, str]:
    """The needs that the simulator lacks and the caller allows; a SpecError names the others by key."""
    from loomcloth.peer import needs

    for word in differ:
        if word not in needs.NAMES:
            raise SpecError(f"--differ {word}: is not known{near(word, needs.NAMES)}")
    lacks = needs.lacking(peer, scene, found)
    over = [n for n in lacks if n not in differ]
    if over:
        reasons = "; ".join(f"{lacks[n]}: {needs.NAMES[n]} ({n})" for n in over)
        raise SpecError(f"{name} cannot pose {reasons}. Change the configuration, or allow it with "
                        f"{' '.join(f'--differ {n}' for n in over)}: the row then says so")  # fmt: skip
    return lacks


def play(args: argparse.Namespace, folder: Path, peer: Peer, scene: Scene, settings: dict[str, Any],
         work: Path) -> dict[str, str]:  # fmt: skip
    """Runs the worker in the environment; the facts that it tells."""
    from loomcloth.peer import environment

    python = environment.ensure(folder.name, folder / "requirements.txt", peer.size_mb, say)
    scene.save(work)
    job = {"adapter": str(folder), "name": folder.name, "settings": settings, "time": args.time}
    (work / "job.json").write_text(json.dumps(job))
    (work / "lib").mkdir()  # holds loomcloth alone: no package beside it may replace the simulator's
    (work / "lib/loomcloth").symlink_to(HERE.parent)
    env = os.environ | dict.fromkeys(THREADS, "1")
    env |= {"PYTHONPATH": str(work / "lib"), "PYTHONNOUSERSITE": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    out = subprocess.DEVNULL if args.quiet else sys.stderr.fileno()
    code = subprocess.run([str(python), "-m", "loomcloth.peer.worker", str(work)], env=env, stdout=out,
                          stdin=subprocess.DEVNULL, check=False).returncode  # fmt: skip
    if code < 0:
        raise LogError(f"{args.name} ended by {signal.Signals(-code).name}: no frames are left to measure")
    if code != 0 or not (work / "facts.json").is_file():
        raise LogError(f"{args.name} made no frames; the reason stands above")
    facts: dict[str, str] = json.loads((work / "facts.json").read_text())
    return facts


def label(scene: Scene, peer: Peer, lacks: dict[str, str], settings: dict[str, Any], args: argparse.Namespace,
          facts: dict[str, str]) -> dict[str, Any]:  # fmt: skip
    """The settings of the row, as the log has them."""
    from loomcloth.peer import needs

    out: dict[str, Any] = {"kind": needs.kind_of(peer, scene, lacks, settings)}
    out |= {"differ": lacks} if lacks else {}
    out |= {"energy": peer.energy(scene)} if "model" not in lacks and peer.energy(scene) else {}
    out |= {"contact": "its own law"} if scene.bodies or scene.self_contact else {}
    out |= {key: facts[key] for key in ("note", "early") if facts[key]}
    out["as"] = f"recommended: {peer.source}" if args.as_recommended else "equal"
    return out | {"h": scene.h} | settings


def write_frames(work: Path, scene: Scene, facts: dict[str, str]) -> int:
    """frames.h5 of frames.npz, as `loom measure` reads it; the number of frames."""
    import h5py
    import numpy as np

    with np.load(work / "frames.npz") as data, h5py.File(work / "frames.h5", "w") as out:
        for key in data.files:
            out[key] = data[key]
        out["triangles"], out.attrs["dt"] = scene.triangles, scene.h
        for key, text in facts.items():
            out.attrs[key] = text
        return len(data["x"])


def main(argv: list[str]) -> int:
    args = parse(argv)
    if args.list:
        show_list(args.name)
        return 0
    folder = folder_of(args.name)
    peer = load(folder)
    if args.prepare:
        from loomcloth.peer import environment

        python = environment.ensure(folder.name, folder / "requirements.txt", peer.size_mb, say)
        print(python.parent.parent)
        return 0
    out = args.output or f"out/{Path(args.config).stem}_{folder.name}.h5"
    if os.path.lexists(out) and not args.overwrite:
        raise SpecError(f"{out}: is there; name another file, or replace it with --overwrite")
    settings = settings_of(peer, args)
    if settings.get("device") == "cuda" and count_gpus() == 0:
        raise LogError("--device cuda: this machine has no GPU with a driver of CUDA; with --device cpu "
                       f"{args.name} runs on the processor")  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="loom-peer-") as name:
        return measured(args, folder, peer, settings, out, Path(name))


def find_pins(args: argparse.Namespace, scene: Scene, work: Path) -> None:
    """The way of pins that move, from a run of loom whose steps end after one iteration without contact."""
    from loomcloth.peer import needs

    log = work / "pins.h5"
    none = [w for c in needs.contacts_of(work / "scene.h5") for w in ("--set", f"{c}.plugin=none")]
    sets = ("solver.plugin=gd", "stop.max_iters=1", "log.audit=off", "log.frames_every=1", "run.substeps=1",
            f"run.dt={scene.h!r}")  # fmt: skip
    words = ["run", args.config, "-n", str(scene.steps), "-o", str(log), *config_words(args, True), *none]
    words += [w for s in sets for w in ("--set", s)]
    done = subprocess.run([os.environ.get("LOOM_BIN", "loom"), *words, "--quiet"], stderr=subprocess.PIPE,
                          text=True, check=False)  # fmt: skip
    if done.returncode not in (0, 3):
        raise LogError(f"{args.config}: loom did not find the way of its pins: {done.stderr.strip()}")
    needs.follow_pins(scene, log)
    if len(scene.pin_path) != scene.steps + 1:
        places = f"{len(scene.pin_path)} places, not {scene.steps + 1}"
        raise LogError(f"{args.config}: the way of its pins has {places}")


def take_own_step(scene: Scene, peer: Peer) -> None:
    """Divides the steps of the scene so that they are about as long as those of the simulator's examples."""
    parts = max(1, round(scene.h / peer.recommended_step)) if peer.recommended_step else 1
    scene.parts, scene.steps, scene.h = scene.parts * parts, scene.steps * parts, scene.h / parts


def measured(args: argparse.Namespace, folder: Path, peer: Peer, settings: dict[str, Any], out: str,
             work: Path) -> int:  # fmt: skip
    scene, found = pose(args, work)
    lacks = refuse(name_of(folder, peer), peer, scene, found, args.differ)
    scene.bodies = [b for b in scene.bodies if b.kind in peer.bodies]  # --differ bodies leaves the others out
    scene.self_contact = scene.self_contact and "self_contact" not in lacks
    if args.as_recommended:
        take_own_step(scene, peer)
    if "moving_pins" in found and "moving_pins" not in lacks:
        find_pins(args, scene, work)
    facts = play(args, folder, peer, scene, settings, work)
    row = label(scene, peer, lacks, settings, args, facts)
    count = write_frames(work, scene, {
        "peer": name_of(folder, peer) + (f" (differs: {', '.join(lacks)})" if lacks else ""),
        "peer_version": facts["version"], "peer_settings": json.dumps(row, default=str),
        "peer_licence": peer.licence,
    })  # fmt: skip
    if count < 2:
        raise LogError(f"{args.name}: {facts['early']}: no step is left to measure")
    words = ["measure", str(work / "frames.h5"), args.config, "-o", out, *config_words(args, False)]
    words += ["--set", f"run.substeps={scene.parts}", "--set", f"run.steps={scene.steps // scene.parts}"]
    words += ["--reference", args.reference] if args.reference else []
    words += ["--overwrite"] if args.overwrite else []
    code = run_loom(words, args.quiet)
    if code == 0 and not args.quiet:
        print(f"  {row['kind']}" + "".join(f"; differs: {key}" for key in lacks.values()))
    if facts["early"]:
        say(f"{facts['early']}: the log has the steps before it", alarm=True)
        return code or 1
    return code


if __name__ == "__main__":
    command.run("peer", main)
