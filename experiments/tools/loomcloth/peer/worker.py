"""Runs an adapter in the environment of its simulator: `python -m loomcloth.peer.worker FOLDER`.

FOLDER holds job.json and the scene; frames.npz and facts.json come beside them.  A step costs the processor
time of all threads of this process; compilation is done before the clock starts."""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import numpy as np

from loomcloth.peer.adapter import Peer, Scene, load_adapter, load_scene

EVERY = 10.0  # s between two lines of progress


def start(peer: Peer, scene: Scene, settings: dict[str, Any]) -> None:
    peer.build(scene, settings)
    peer.set(scene.x, scene.v)


def play(peer: Peer, scene: Scene, job: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Arrays x, v and t_cpu of `loom measure`, and the reason for an early end.  job: as main() reads it;
    "time" are processor seconds of the steps, 0: no bound."""
    name, limit, settings = job["name"], job["time"], job["settings"]
    xs: list[np.ndarray] = [scene.x]
    vs: list[np.ndarray | None] = [scene.v]
    costs: list[float] = []
    early, told = "", time.monotonic()
    for k in range(scene.steps):
        before = time.process_time()
        peer.step()
        costs.append(time.process_time() - before)
        x, v = peer.get()
        if not np.isfinite(x).all() or (v is not None and not np.isfinite(v).all()):
            del costs[-1]
            early = f"step {k} of {scene.steps} is not finite"
            break
        xs.append(np.array(x, float))
        vs.append(None if v is None else np.array(v, float))
        if 0 < limit < sum(costs) and k + 1 < scene.steps:
            early = f"{limit:g} s of processor time are over after step {k + 1} of {scene.steps}"
            break
        if time.monotonic() - told >= EVERY:
            told = time.monotonic()
            print(f"loom: peer: {name}: step {k + 1}/{scene.steps}", file=sys.stderr, flush=True)
    arrays = {"x": np.array(xs), "t_cpu": np.array(costs)}
    known = [v for v in vs if v is not None]
    if settings.get("device") == "cuda":  # the processor's share of a step of a GPU is no cost of it
        del arrays["t_cpu"]
    return arrays | ({"v": np.array(known)} if len(known) == len(xs) else {}), early


def main(folder: Path) -> None:
    job = json.loads((folder / "job.json").read_text())
    scene, peer = load_scene(folder), load_adapter(Path(job["adapter"]))()
    start(peer, scene, job["settings"])
    if peer.compiles and scene.steps > 0:
        peer.step()
        start(peer, scene, job["settings"])
    arrays, early = play(peer, scene, job)
    np.savez(folder / "frames.npz", **arrays)
    facts = {"version": peer.version(), "early": early, "note": peer.note}
    (folder / "facts.json").write_text(json.dumps(facts))


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]))
    except Exception as error:
        if os.environ.get("LOOM_TRACEBACK"):
            traceback.print_exc()
        print(f"loom: peer: {type(error).__name__}: {error}; LOOM_TRACEBACK=1 shows where", file=sys.stderr)
        sys.exit(1)
