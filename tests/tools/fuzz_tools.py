"""The tools in Python on mutated logs, frames, specifications of sweeps and measurements of fabrics.

  fuzz_tools.py              LOOM_FUZZ_COUNT folders (20) for each tool, 25 times as many texts; a new seed
  fuzz_tools.py KIND:N ...   these again, with the seed of LOOM_FUZZ_SEED

No input may end in a traceback or an error that no check has told, take more than 10 s of processor time or
touch a file beside the output.
Exit code 1 if one does; its folder is kept.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import damage
from logs import Bench, inside
from loomcloth.command import UNFORESEEN

MOST_CPU, MOST_WALL = 10.0, 600
LOGS = ("table", "report", "watch", "render", "export")
FRAMES = ("measure",)
TEXTS = ("spec", "fabric")


def words_of(kind: str, logs: list[str], rng: random.Random) -> list[list[str]]:
    """Calls of one tool on a folder in which these logs are."""
    if kind == "table":
        more = rng.choice(([], ["--sort", "steps"], ["--to", "residual=1e-3"], ["--to", "energy=1e-6"]))
        return [["table", ".", "-o", rng.choice(("out.csv", "out.parquet")), *more]]
    if kind == "report":
        return [["report", ".", "-o", "out.html", *rng.choice(([], [], ["--no-replay"]))]]
    if kind == "watch":
        return [["watch", log, "--once", *rng.choice(([], ["-o", "out.png"]))] for log in logs]
    if kind == "render":
        more = rng.choice(([], ["--color", "stretch"], ["--color", "speed"], ["--strip", "2"]))
        return [["render", *logs[:2], "-o", "out.png", "--size", "48x48", "--fast", *more]]
    form, ending = rng.choice((("vtkhdf", "vtkhdf"), ("glb", "glb"), ("usd", "usdc")))
    return [["export", log, "--format", form, "-o", f"out.{ending}"] for log in logs]


def state(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Kind and contents of every file below."""
    found = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        data = b""
        if path.is_symlink():
            data = os.readlink(path).encode()
        elif path.is_file():
            data = path.read_bytes()
        found[str(path.relative_to(folder))] = (mode, data)
    return found


class Fuzzer:
    def __init__(self, seed: str) -> None:
        self.seed, self.failures, self.told = seed, 0, Counter()
        self.slowest: dict[str, float] = {}
        self.bench = Bench()
        self.bases = damage.bases(self.bench)

    def fail(self, name: str, work: Path, text: str) -> None:
        self.failures += 1
        kept = Path(tempfile.mkdtemp(prefix=f"fuzz-{name.replace(':', '-')}-"))
        shutil.copytree(work, kept / "work", symlinks=True)
        again = f"LOOM_FUZZ_SEED={self.seed} fuzz_tools.py {name}"
        print(f"FAILED {name}: {text}\n  {kept}; again: {again}", flush=True)

    # ---- logs ----
    def folder(self, name: str, number: int) -> None:
        rng = random.Random(f"{self.seed} {name}:{number}")
        with tempfile.TemporaryDirectory(prefix="loom-fuzz-") as top:
            work = Path(top) / "work"
            work.mkdir()
            (Path(top) / "victim").write_bytes(self.bases[0][1])
            if name in FRAMES:
                damage.frames(work / "a.npz", self.bench.path / "plain.h5", rng)
                words = [name, "a.npz", str(self.bench.path / "drape.ini"), *damage.PLAIN]
                self.call(f"{name}:{number}", Path(top), work, [*words, "-o", "out.h5", "--quiet"])
                return
            logs = damage.fill(work, self.bases, rng)
            for words in words_of(name, logs, rng):
                self.call(f"{name}:{number}", Path(top), work, words)

    def call(self, name: str, top: Path, work: Path, words: list[str]) -> None:
        before, began = state(top), used()
        done = inside(work, *words, limit=MOST_WALL)
        cpu = used() - began
        kind = name.split(":")[0]
        self.slowest[kind] = max(self.slowest.get(kind, 0.0), cpu)
        after = state(top)
        self.told[f"{kind} {'crash' if done.returncode < 0 else done.returncode}"] += 1
        wrong = []
        if "Traceback" in done.stderr or done.returncode not in (0, 1, 2, -11, -7, -6):
            wrong.append(f"ended with {done.returncode}\n{done.stderr[-3000:]}")
        if done.returncode < 0 and kind == "table":  # its logs are read by processes of their own
            wrong.append(f"ended with {done.returncode}")
        if UNFORESEEN in done.stderr:
            wrong.append(f"no check told the error\n{done.stderr[-600:]}")
        if cpu > MOST_CPU:
            wrong.append(f"{cpu:.1f} s of processor time")
        for path in before.keys() | after.keys():
            old, new = before.get(path), after.get(path)
            if old == new or path.startswith("work/out."):
                continue
            if old and new and damage.may_be_finished(old[1]):
                continue  # the log of a dead writer is a plain file again
            if old and not new and path.endswith(".journal"):
                continue
            wrong.append(f"{path} was {'removed' if not new else 'changed' if old else 'made'}")
        if wrong:
            self.fail(name, work, f"{words}: " + "; ".join(wrong))

    # ---- texts ----
    def texts(self, kind: str, numbers: range) -> None:
        """Many in one process; any other error than SpecError is a failure."""
        with tempfile.TemporaryDirectory(prefix="loom-fuzz-") as top:
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    code = damage.read_texts(kind, numbers, self.seed, Path(top))
                finally:
                    sys.stdout.flush()
                    os._exit(code)
            _, status = os.waitpid(child, 0)
            code = os.waitstatus_to_exitcode(status)
            self.told[f"{kind} {code}"] += len(numbers)
            if code:
                self.fail(f"{kind}:{numbers[0]}", Path(top), f"numbers {numbers}: ended with {code}")


def used() -> float:
    total = resource.getrusage(resource.RUSAGE_CHILDREN)
    return total.ru_utime + total.ru_stime


def main(argv: list[str]) -> int:
    seed = os.environ.get("LOOM_FUZZ_SEED") or str(random.SystemRandom().randrange(1 << 31))
    count = int(os.environ.get("LOOM_FUZZ_COUNT", "20"))
    kinds = [w for w in os.environ.get("LOOM_FUZZ_KINDS", " ".join(LOGS + FRAMES + TEXTS)).split()]
    print(f"fuzz_tools: {count} folders for each tool, LOOM_FUZZ_SEED={seed}", flush=True)
    fuzzer = Fuzzer(seed)
    began = time.process_time() + used()
    try:
        if argv:
            for name in argv:
                kind, number = name.split(":")
                first = int(number)
                if kind in LOGS + FRAMES:
                    fuzzer.folder(kind, first)
                    print(f"{name}: {fuzzer.failures} failures", flush=True)
                else:
                    fuzzer.texts(kind, range(first, first + 1))
        else:
            for kind in kinds:
                if kind in LOGS + FRAMES:
                    for number in range(count):
                        fuzzer.folder(kind, number)
                        if number % 20 == 19:
                            print(f"{kind}: {number + 1} folders, {fuzzer.failures} failures", flush=True)
                else:
                    for first in range(0, 25 * count, 25):
                        fuzzer.texts(kind, range(first, first + 25))
                print(f"{kind}: slowest {fuzzer.slowest.get(kind, 0.0):.1f} s, "
                      f"{time.process_time() + used() - began:.0f} s of processor time so far", flush=True)
    finally:
        fuzzer.bench.close()
    print(dict(sorted(fuzzer.told.items())))
    print(f"{fuzzer.failures} failures")
    return 1 if fuzzer.failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
