"""Services for figures: logs that are run once, a look that all figures share, bars."""

import hashlib
import importlib.util
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from loomcloth import made, search
from loomcloth.drawing import modules
from loomcloth.errors import FigureError, LogError
from loomcloth.log import Log
from loomcloth.style import COLOURS as COLOURS
from loomcloth.style import plain_axes as plain_axes
from loomcloth.style import save

BEGUN = time.time()  # of this command; the time of its own runs is in its processor time
ROOT = Path(os.environ.get("LOOM_ROOT", Path(__file__).resolve().parents[3]))


@dataclass
class Bar:
    """One measured number against its bound; `least`: the bound is a minimum; `cause`: why it is
    short, in words, printed only where it is."""

    name: str
    measured: float
    bound: float
    unit: str = ""
    least: bool = False
    cause: str = ""

    @property
    def passed(self):
        # a NaN is short
        return self.measured >= self.bound if self.least else self.measured <= self.bound

    def __str__(self):
        sign = ">=" if self.least else "<="
        unit = f" {self.unit}" if self.unit else ""
        word = "PASS" if self.passed else "SHORT"
        if self.cause and not self.passed:
            word += f": {self.cause}"
        return f"BAR {self.name} = {self.measured:.4g}{unit} ({sign} {self.bound:g}{unit}) {word}"


@dataclass
class NotMeasured:
    """A bar that cannot be measured on this machine, with the reason: neither passed nor short."""

    name: str
    reason: str

    passed = None

    def __str__(self):
        return f"BAR {self.name}: NOT MEASURED: {self.reason}"


class TimeOver(FigureError):
    """A run that did not end within the processor time that it was given.  path: its log with the steps that
    it made, None where it made none."""

    def __init__(self, path, seconds, steps, planned):
        self.reason = f"did not fit in {seconds} s of processor time: {steps} of {planned} steps"
        self.path = path if steps else None
        super().__init__(f"{path.stem}: {self.reason}")


def limited(seconds):
    """Options of subprocess: the process ends by SIGXCPU after so many processor seconds; 0: none."""
    if not seconds:
        return {}
    most = resource.getrlimit(resource.RLIMIT_CPU)[1]
    return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, most))}


def waited(process):
    """Exit code of a process that has begun, and the resources that it took."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage


def cpu_of(usage):
    """Processor time, s."""
    return usage.ru_utime + usage.ru_stime


def load_figures(folder):
    """The module figure.py of a folder under experiments/."""
    path = Path(folder) / "figure.py"
    spec = importlib.util.spec_from_file_location(f"figure_{path.parent.name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Experiment:
    """One folder under experiments/.  Logs and pictures go to its out/, which git ignores.

    kept: finished logs are taken as they are, from whichever build, and none is run; logs that the present
    sources and settings would not give are listed in `old`.
    plan: no run starts; the runs are checked and printed, up to the first log that is read.
    update: the files of this folder's figures under experiments/results/, which git tracks, are replaced, and
    made.csv there gets their origin: command, commits, date, machine.
    disturb: names of measurements that a control makes with a wrong input; a figure takes out those it has.
    options: values of arguments that only some figures read, by name; a figure takes out those it reads.
    """

    def __init__(self, folder, fresh=False, kept=False, plan=False, update=False, command="", disturb=(),
                 options=None):
        self.folder = Path(folder)
        self.command = command
        # sources of the results, beside the sources of this folder
        self.folders, self.read, self.programs = {self.folder.resolve()}, {}, {}
        self.out = self.folder / "out"
        self.out.mkdir(exist_ok=True)
        self.fresh, self.kept, self.old = fresh, kept, []
        self.disturb, self.options = set(disturb), dict(options or {})
        self.plan, self.planned, self.update = plan, set(), update
        self.binary = os.environ.get("LOOM_BIN", str(ROOT / "build/bin/loom"))

    def neighbour(self, folder, kept=False):
        """Module and Experiment of another folder, so that a figure can use its functions."""
        path, kept = self.folder.parent / folder, kept or self.kept
        other = Experiment(path, self.fresh and not kept, kept, self.plan, self.update, self.command)
        self.folders.add(path.resolve())
        other.folders, other.read, other.programs = self.folders, self.read, self.programs
        return load_figures(path), other

    # ---- runs ----
    def _is_there(self, path, stamp, key, limit=0):
        """Whether the log is finished, and made with this key or to be taken as it is; TimeOver if a run with
        the key did not end in the time of this limit."""
        facts = json.loads(stamp.read_text()) if stamp.exists() and not self.fresh else {}
        same = facts.get("key") == key
        if 0 < limit <= facts.get("over", 0) and (same or self.kept):
            raise TimeOver(path, *(facts[k] for k in ("over", "steps", "planned")))
        if not finished(path) or not (same or self.kept):
            return False
        if same:
            print(f"loom: figure: {path.name} is there", file=sys.stderr)
        else:
            self.old.append(path)
        return True

    def _key(self, config, settings, inputs):
        """Hash of all inputs of the result: the resolved configuration and the logs it reads."""
        done = subprocess.run(
            [self.binary, "check", str(config), *settings],
            cwd=self.folder, capture_output=True, text=True,
        )
        if done.returncode != 0:
            raise FigureError(done.stderr.strip())
        text = done.stdout.split("; resolved configuration", 1)[-1]
        stamps = [f"{p} {os.stat(p).st_mtime_ns}" for p in inputs]
        return hashlib.sha256("\n".join([text, *stamps]).encode()).hexdigest()

    def run(self, name, config, sets=None, inputs=(), limit=0):
        """The finished log out/NAME.h5 of CONFIG with the settings; runs it, or goes on with it,
        if needed.  limit: processor seconds after which it ends with TimeOver; 0: none."""
        settings = [w for k, v in (sets or {}).items() for w in ("--set", f"{k}={v}")]
        path, stamp = self.out / f"{name}.h5", self.out / f"{name}.key"
        self.read[path] = self.folder / config
        if self.plan and path in self.planned:
            return path
        read = {str(v) for v in [*inputs, *(sets or {}).values()]}
        if self.plan and read & {str(p) for p in self.planned}:
            print(f"would run {config} -> {path.relative_to(ROOT)}, which reads the above")
            self.planned.add(path)
            return path
        key = self._key(config, settings, inputs)
        if self._is_there(path, stamp, key, limit):
            return path
        if self.kept:
            raise FigureError(f"{path} is not there, or not finished")
        if self.plan:
            print(f"would run {config} -> {path.relative_to(ROOT)}")
            self.planned.add(path)
            return path
        stamp.unlink(missing_ok=True)
        # A run that was cut off goes on from its checkpoint, and its log keeps the steps that it holds.
        begun = self.out / f"{name}.begun"
        more = []
        if not self.fresh and begun.exists() and begun.read_text() == key and (
            path.with_suffix(".check.h5").exists()
        ):
            more = ["--resume"]
        else:
            set_aside(path)
            begun.write_text(key)
        print(f"loom: figure: {'resuming' if more else 'running'} {config} -> {path.name}",
              file=sys.stderr)
        # Not converging is a result here; the reason of every step is in the log.
        process = subprocess.Popen(
            [self.binary, "run", str(config), "-o", str(path), *settings, *more], cwd=self.folder,
            **limited(limit),
        )
        code, usage = waited(process)
        if code == -signal.SIGXCPU:
            steps, planned = steps_of(path)
            stamp.write_text(json.dumps({
                "key": key, "over": limit, "steps": steps, "planned": planned, "cpu_seconds": cpu_of(usage),
            }))
            raise TimeOver(path, limit, steps, planned)
        if not finished(path):
            raise FigureError(f"{config}: `loom run` ended with code {code}")
        begun.unlink()
        stamp.write_text(json.dumps({
            "key": key,
            "peak_bytes": 1024 * usage.ru_maxrss,
            "cpu_seconds": cpu_of(usage),
        }))
        return path

    def play(self, name, peer, config, sets=None, words=(), inputs=()):
        """The log out/NAME.h5 of `loom peer` on CONFIG; peer: a simulator of loom, or the folder of an
        adapter.  It is made if it is not there, or if another adapter or other settings made it.  Its last
        steps are missing where frames are not finite, or where --time of the words is over.
        EnvironmentMissing where the simulator cannot be installed."""
        from loomcloth.peer import environment
        from loomcloth.peer.__main__ import folder_of, load

        adapter, path, stamp = folder_of(str(peer)), self.out / f"{name}.h5", self.out / f"{name}.key"
        self.read[path] = self.folder / config
        self.folders |= {adapter, Path(environment.__file__).resolve().parent}
        if self.plan and path in self.planned:
            return path
        settings = [w for k, v in (sets or {}).items() for w in ("--set", f"{k}={v}")]
        poses = {k: v for k, v in (sets or {}).items() if not k.startswith("peer.")}
        shared = (f for f in Path(environment.__file__).parent.glob("*.py") if f.stem != "environment")
        files = [*shared, *adapter.glob("*.py"), adapter / "requirements.txt"]
        parts = [self._key(config, [w for k, v in poses.items() for w in ("--set", f"{k}={v}")], inputs),
                 *settings, *words, *(made.digest(f) for f in sorted(files) if f.is_file())]
        key = hashlib.sha256("\n".join(parts).encode()).hexdigest()
        if self._is_there(path, stamp, key):
            return path
        if self.kept:
            raise FigureError(f"{path} is not there, or not finished")
        if self.plan:
            print(f"would run {peer} on {config} -> {path.relative_to(ROOT)}")
            self.planned.add(path)
            return path
        environment.ensure(adapter.name, adapter / "requirements.txt", load(adapter).size_mb,
                           lambda text: print(f"loom: figure: {text}", file=sys.stderr))  # fmt: skip
        stamp.unlink(missing_ok=True)
        set_aside(path)  # a simulator that fails must not leave the log of another adapter in its place
        print(f"loom: figure: running {adapter.name} on {config} -> {path.name}", file=sys.stderr)
        code, usage = waited(subprocess.Popen(
            [sys.executable, "-m", "loomcloth.peer", str(peer), config, "-o", str(path), "--overwrite",
             "--quiet", *settings, *words],
            cwd=self.folder, env=os.environ | {"LOOM_BIN": self.binary},
        ))  # fmt: skip
        if code not in (0, 1) or not finished(path):
            raise FigureError(f"{config}: `loom peer {adapter.name}` ended with code {code}")
        stamp.write_text(json.dumps({"key": key, "early": code == 1, "cpu_seconds": cpu_of(usage)}))
        return path

    def compare(self, a, b):
        """The output of `loom compare A B` for two finished logs, as lines."""
        done = subprocess.run([self.binary, "compare", a, b, "--quiet"], capture_output=True, text=True)
        if done.returncode != 0:
            raise (LogError if self.plan else FigureError)(done.stderr.strip())
        return done.stdout.replace(f"{self.out}/", "").splitlines()

    def peak_bytes(self, name):
        """Largest resident memory of the run NAME."""
        return json.loads((self.out / f"{name}.key").read_text())["peak_bytes"]

    def cpu_seconds(self, name):
        """Processor time of the whole run NAME, start and recording included, s."""
        return json.loads((self.out / f"{name}.key").read_text())["cpu_seconds"]

    def build(self, target):
        """Builds a target that is not part of loom itself; the folder of the build."""
        build = Path(self.binary).parents[1]
        if not self._has_target(build, target):  # one of the tests, which a build by `./loom` leaves out
            on = ["cmake", "-S", str(ROOT), "-B", str(build), "-DLOOM_TESTS=ON"]
            if subprocess.run(on, stdout=sys.stderr).returncode != 0:
                raise FigureError(f"{target} needs a build with tests; see the messages above")
        done = subprocess.run(
            ["cmake", "--build", str(build), "--target", target], stdout=sys.stderr
        )
        if done.returncode != 0:
            raise FigureError(f"{target} was not built (CHOLMOD missing?); see the messages above")
        return build

    @staticmethod
    def _has_target(build, target):
        listed = subprocess.run(
            ["cmake", "--build", str(build), "--target", "help"], capture_output=True, text=True
        )
        return re.search(rf"^(\.\.\. )?{re.escape(target)}(:|$)", listed.stdout, re.MULTILINE) is not None

    def program(self, name, arguments, output, inputs=(), source="tests/bench", environment=None):
        """Standard output of a program of tests/bench/, kept in out/OUTPUT.  source: another folder of tests,
        whose program may fail, as its output tells; environment: variables that it reads."""
        build = Path(self.binary).parents[1] if self.plan or self.kept else self.build(name)
        program = build / ("bench" if source == "tests/bench" else "tests") / name
        path = self.out / output
        self.programs[path] = source
        stamp = path.with_suffix(".key")
        settings = {"environment": environment} if environment else {}
        stamps = [os.stat(p).st_mtime_ns for p in inputs]
        key = json.dumps([[str(a) for a in arguments], *stamps, *settings.items()])
        if not self.fresh and path.exists() and stamp.exists() and (
            json.loads(stamp.read_text())["key"] == key
        ):
            print(f"loom: figure: {path.name} is there", file=sys.stderr)
            return path
        words = " ".join(map(str, arguments))
        if self.kept:
            if not (path.exists() and stamp.exists()):
                raise FigureError(f"{path} is not there")
            self.old.append(path)
            return path
        if self.plan:
            print(f"would run {name} {words} -> {path.relative_to(ROOT)}")
            return path
        print(f"loom: figure: running {name} {words}", file=sys.stderr)
        variables = os.environ | {"LOOM_PLUGIN_PATH": str(build / "plugins")} | (environment or {})
        with open(path.with_suffix(".part"), "w") as part:
            code, usage = waited(subprocess.Popen(
                [str(program), *map(str, arguments)],
                cwd=self.folder, stdout=part, env=variables,
            ))
        if code not in ((0,) if source == "tests/bench" else (0, 1)):
            raise FigureError(f"{name} ended with code {code}")
        path.with_suffix(".part").rename(path)
        stamp.write_text(json.dumps({"key": key, "commit": self.commit(), "cpu_seconds": cpu_of(usage)}))
        return path

    def commit(self):
        """The sources as they are, "-dirty" with changes that are not committed."""
        return made.commit(ROOT)

    def made_by(self, outputs):
        """The commits that made these outputs of program()."""
        stamps = [(self.out / o).with_suffix(".key") for o in outputs]
        return sorted({json.loads(s.read_text())["commit"] for s in stamps})

    # ---- pictures ----
    def save(self, figure, name, keep=False):
        """out/NAME.png, .pdf and .svg; keep: the first is a result."""
        written = save(figure, self.out / name)
        print(*written, sep="\n")
        if keep:
            self.result(written[0])

    def keep_image(self, image, name):
        """A picture made of pixels, a result; in 256 colours, which halves its size in the history."""
        path = self.out / f"{name}.png"
        image.convert("RGB").quantize(256).save(path, optimize=True)
        print(path)
        self.result(path)

    def keep_text(self, name, lines):
        """Prints the lines and writes them to out/NAME.txt, a result."""
        print("\n".join(lines))
        path = self.out / f"{name}.txt"
        path.write_text("\n".join(lines) + "\n")
        self.result(path)

    def result(self, path):
        """With --update the file also goes to experiments/results/, which git tracks."""
        folder = self.folder.parent / "results"
        if self.update and self.plan:  # all logs were there, so that it came to an end
            print(f"would replace {folder / path.name}")
        elif self.update:
            folder.mkdir(exist_ok=True)
            line = self._made(path)
            shutil.copyfile(path, folder / path.name)
            made.record(folder, line)
            print(folder / path.name)

    def _seconds(self):
        """Processor time of this command and of runs that were there, s; "" where a time is not known."""
        there = [p for p in {*self.read, *self.programs} if p.exists() and p.stat().st_mtime < BEGUN]
        stamps = [p.with_suffix(".key") for p in there]
        facts = [json.loads(stamp.read_text()) if stamp.exists() else {} for stamp in stamps]
        if any("cpu_seconds" not in f for f in facts):
            return ""
        return f"{sum(os.times()[:4]) + sum(f['cpu_seconds'] for f in facts):.0f}"

    def _made(self, path):
        """The line of the index for a result."""
        root = ROOT.resolve()
        sources = {str(f.relative_to(root)) for f in self.folders} | modules(root, self.folders)
        code, runs = set(), set()
        folders = search.folders(self.binary, self.folder)
        for log_path, config in self.read.items():
            sources |= {str(p.relative_to(root)) for p in made.configs(config, root, folders)}
            if not log_path.exists():
                continue  # it was refused, which is a result as well
            with Log(log_path) as log:
                runs.add(log.attr("git_commit"))
                names = [row.split("\t")[0] for row in log.attr("plugins").splitlines()]
            code |= {made.CORE} | made.plugin_folders(names, root)
        for output, source in self.programs.items():
            runs.add(json.loads(output.with_suffix(".key").read_text())["commit"])
            code |= {made.CORE, source}
        # a folder stands for all files in it
        sources = {s for s in sources if not any(s.startswith(f"{o}/") for o in sources)}
        return made.Made(
            path.name, made.digest(path), self.command, made.commit(root, sources), " ".join(sorted(runs)),
            made.now(), made.machine(), self._seconds(), " ".join(sorted(sources)), " ".join(sorted(code)),
        )


def steps_of(path):
    """Steps that a log holds, also that of a run that was ended, and those that were planned."""
    with Log(path) as log:
        return len(log.table("steps")), log.planned_steps


def set_aside(path):
    """A finished log that other settings made is kept as NAME.old.h5: it may have taken an hour, and
    a new key of the configuration is enough to make it another one.  The rest goes."""
    if finished(path):
        old = path.with_suffix(".old.h5")
        path.replace(old)
        print(f"loom: figure: {path.name} is of other settings; kept as {old.name}", file=sys.stderr)
    path.unlink(missing_ok=True)


def finished(path):
    if not path.exists():
        return False
    try:
        with Log(path) as log:
            return log.status == "finished"
    except (LogError, OSError):
        return False
