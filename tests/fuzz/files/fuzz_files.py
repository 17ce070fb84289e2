"""Mutation fuzzing of everything loom reads, through the real binary (best one with sanitizers).

  fuzz_files.py LOOM FAILURES            LOOM_FUZZ_COUNT inputs (10,000) of a new seed, and LOOM_FUZZ_FOREIGN
                                         (half of that) of other programs' files
  fuzz_files.py LOOM FAILURES KIND:N     one of them again, with the seed of LOOM_FUZZ_SEED

With LOOM_FUZZ_KIND all are of that kind.  LOOM_FUZZ_SERVER is the program of tests/fuzz/fork_server.c in the
binary's tree: it runs the inputs without a start of the binary for each.

LOOM is the binary, FAILURES the folder where inputs that fail stay, each with the command that
repeats it.  An input passes when loom ends with a documented exit code, says why where that is not
0, within 10 s of processor time and 2 GB of memory.  Sanitizers take several times as much of both: an
input that is over the limits with them is judged again by LOOM_FUZZ_PLAIN, the binary without, which
gets no more memory than that and has to say so.
"""

import concurrent.futures
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import bases
import cases
import foreign
import server
import values

CPU_S, WALL_S, MEMORY_MB, FILE_BYTES = 10, 150, 2048, 1 << 30
LIMITS = ("prlimit", f"--cpu={CPU_S}:{CPU_S + 2}", "--core=0", f"--fsize={FILE_BYTES}", "--")
SANITIZER_CODE = 77
MAKERS = {**cases.MAKERS, **foreign.MAKERS}
NIGHT = 10000  # inputs of a night, and half as many of other programs
CODES = range(0, 6)  # loom run --help


def environment():
    env = {k: v for k, v in os.environ.items() if not k.startswith("LOOM_")}
    env["ASAN_OPTIONS"] = (f"exitcode={SANITIZER_CODE}:detect_leaks=0:hard_rss_limit_mb={MEMORY_MB}:"
                           "allocator_may_return_null=1:detect_stack_use_after_return=0")
    env["UBSAN_OPTIONS"] = f"halt_on_error=1:exitcode={SANITIZER_CODE}:print_stacktrace=1"
    env.update(OMP_NUM_THREADS="1", OMP_WAIT_POLICY="passive", LC_ALL="C.UTF-8")
    return env


def innermost(text):
    """The first frame of a report that is not the sanitizer's own."""
    frames = (line for line in text.splitlines() if re.match(r" +#[0-9]+ 0x", line))
    return next((f for f in frames if "libasan" not in f and "libubsan" not in f and "/libsanitizer/" not in f), "")


def fault_of(code, text, peak_mb):
    """The fault of an end, or None."""
    if code == -signal.SIGXCPU or code == 128 + signal.SIGXCPU or code == -signal.SIGKILL:
        return f"more than {CPU_S} s of processor time, or killed"
    if "hard rss limit exhausted" in text or peak_mb > MEMORY_MB:
        return f"more than {MEMORY_MB} MB of memory"
    if code == SANITIZER_CODE or "runtime error:" in text or "ERROR: AddressSanitizer" in text:
        # a guarded reader may die inside HDF5, which damaged files make crash: loom says so then
        inside = "libhdf5" in text.split("#1 ")[-1][:400] or "libhdf5" in text.split("#0 ")[-1][:200]
        if inside and ("the HDF5 library crashed" in text or "the HDF5 library ended" in text):
            return None
        # nor is a crash of Assimp in its child process, which loom reports
        if "libassimp.so" in innermost(text) and "the reader 'assimp'" in text:
            return None
        return "the sanitizers report an error"
    if code not in CODES:
        return f"exit code {code}"
    if code != 0 and not text.strip():
        return f"exit code {code} without a word"
    return None


def execute(binary, args, folder, env, more=()):
    """Exit code, output and peak memory in MB of one command; wall time is limited loosely."""
    with tempfile.TemporaryFile() as out:
        with subprocess.Popen([*LIMITS[:-1], *more, LIMITS[-1], binary, *args], cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=out,
                              stderr=out, start_new_session=True) as child:
            end, done = time.monotonic() + WALL_S, 0
            while done == 0:
                done, status, usage = os.wait4(child.pid, os.WNOHANG)
                if done == 0 and time.monotonic() > end:
                    os.killpg(child.pid, signal.SIGKILL)
                    end += WALL_S
                if done == 0:
                    time.sleep(0.002)
            child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        return child.returncode, out.read(1 << 20).decode("utf-8", "replace"), usage.ru_maxrss / 1024


def is_limit(fault):
    return fault is not None and fault.startswith("more than ")


def shown(a):
    return shlex.quote(a)


def copy(folder, to):
    """A folder with its links and pipes; files with two names become two."""
    to.mkdir()
    for f in folder.iterdir():
        if f.is_fifo():
            os.mkfifo(to / f.name)
        elif f.is_dir() and not f.is_symlink():
            copy(f, to / f.name)
        else:
            shutil.copy2(f, to / f.name, follow_symlinks=False)


class Fuzzer:
    def __init__(self, binary, failures, seed):
        self.binary, self.failures, self.seed, self.env = binary, pathlib.Path(failures), seed, environment()
        self.plain = os.environ.get("LOOM_FUZZ_PLAIN")
        program = os.environ.get("LOOM_FUZZ_SERVER")
        self.server = program and server.Server(os.path.abspath(program), server.plugins_of(program), self.env, CPU_S,
                                                FILE_BYTES, MEMORY_MB, WALL_S)
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="loom_fuzz_"))
        self.base = self.scratch / "base"
        self.base.mkdir()
        bases.make(self.plain or binary, self.base, self.env)
        foreign.make(self.base, self.plain or binary, self.env)
        self.keys = values.Keys(binary, self.env)

    def run(self, args, folder):
        if self.server:
            return self.server.ask(args, folder)
        return execute(self.binary, args, folder, self.env)

    def input(self, kind, number):
        """The folder of one input, and the commands that read it."""
        folder = self.scratch / f"{kind}-{number}"
        folder.mkdir()
        rng = random.Random(f"{self.seed} {kind}:{number}")
        return folder, MAKERS[kind][0](rng, self.keys, self.base, folder)

    def one(self, kind, number):
        """Runs one input; returns (name, fault, text) with a fault of None where it passed."""
        name = f"{kind}:{number}"
        folder, commands = self.input(kind, number)
        kept = self.scratch / f"{kind}-{number}-input"
        copy(folder, kept)
        fault, text = None, ""
        for args in commands:
            code, text, peak = self.run(args, folder)
            now = fault_of(code, text, peak)
            if is_limit(now) and self.plain:
                shutil.rmtree(folder)
                copy(kept, folder)
                code, text, peak = execute(self.plain, args, folder, self.env, (f"--as={MEMORY_MB << 20}",))
                now = fault_of(code, text, peak)
            fault = fault or now
        for victim in kept.glob("victim*"):
            if (folder / victim.name).read_bytes() != victim.read_bytes():
                fault = fault or f"{victim.name} was changed"
        if fault is not None:
            self.keep(name, kept, commands, fault, text)
        shutil.rmtree(folder)
        shutil.rmtree(kept)
        return name, fault, text

    def keep(self, name, folder, commands, fault, text):
        place = self.failures / f"{name.replace(':', '-')}-{self.seed}"
        shutil.rmtree(place, ignore_errors=True)
        copy(folder, place)
        lines = [" ".join(map(shown, [self.binary, *args])) for args in commands]
        (place / "command").write_text("\n".join(["cd " + shown(str(place)), *lines]) + "\n", errors="replace")
        (place / "output").write_text(f"{fault}\n{text}", errors="replace")

    def close(self):
        if self.server:
            self.server.close()
        shutil.rmtree(self.scratch, ignore_errors=True)


def plan(count, foreign_count):
    """`count` inputs of formats that loom itself writes or documents, `foreign_count` of other programs' files."""
    return [(kind, i) for makers, num in ((cases.MAKERS, count), (foreign.MAKERS, foreign_count))
            for kind, (_, share) in makers.items() for i in range(max(1, round(share * num)) if num > 0 else 0)]


def main(argv):
    if len(argv) not in (3, 4):
        sys.exit(__doc__)
    binary, failures = os.path.abspath(argv[1]), os.path.abspath(argv[2])
    seed = os.environ.get("LOOM_FUZZ_SEED") or str(random.SystemRandom().randrange(1 << 31))
    count = int(os.environ.get("LOOM_FUZZ_COUNT") or NIGHT)
    inputs = plan(count, int(os.environ.get("LOOM_FUZZ_FOREIGN") or max(1, count // 2)))
    if os.environ.get("LOOM_FUZZ_KIND"):
        kind = os.environ["LOOM_FUZZ_KIND"]
        inputs = [(kind, i) for i in range(count)]
    if len(argv) == 4:
        kind, number = argv[3].split(":")
        inputs = [(kind, int(number))]
    print(f"fuzz_files: {len(inputs)} inputs, LOOM_FUZZ_SEED={seed}", flush=True)
    fuzzer = Fuzzer(binary, failures, seed)
    failed = 0
    try:
        with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("LOOM_FUZZ_JOBS") or 1)) as pool:
            for name, fault, text in pool.map(lambda c: fuzzer.one(*c), inputs):
                if fault is None:
                    continue
                failed += 1
                print(f"FAILED {name}: {fault}\n" + "\n".join(text.splitlines()[-25:]) +
                      f"\nrepeat: LOOM_FUZZ_SEED={seed} {sys.executable} {shown(os.path.abspath(argv[0]))} {shown(binary)} "
                      f"{shown(failures)} {name}\n", flush=True)
    finally:
        fuzzer.close()
    print(f"fuzz_files: {failed} of {len(inputs)} inputs failed")
    return 1 if failed else 0


def has_h5py():
    try:
        import h5py  # noqa: F401
    except ImportError:
        print("SKIP: fuzz_files: no h5py; set LOOM_PYTHON to an interpreter that has it")
        return False
    return True


if __name__ == "__main__":
    if not has_h5py():
        sys.exit(77)
    sys.exit(main(sys.argv))
