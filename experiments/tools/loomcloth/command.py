"""How a tool begins and ends: messages instead of tracebacks, exit codes, a process of its own."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable, Sequence

from loomcloth import style, terminal
from loomcloth.errors import FigureError, LogError, SpecError

FAILED, USAGE = 1, 2
# Module: package of Python, where their names differ.
PACKAGES = {"PIL": "pillow", "pxr": "usd-core", "yaml": "pyyaml", "vtkmodules": "vtk"}
UNFORESEEN = "or the tool is at fault"  # in the message of an error that no check has told

Main = Callable[[list[str]], int]


class Ended(BaseException):
    """A signal that asks the tool to end; an output file that it has begun is removed on the way."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def _end(number: int, frame: object) -> None:
    raise Ended(number)


def missing(error: ImportError) -> str:
    """Names the missing package and the command that installs it."""
    module = (error.name or "").split(".")[0]
    if not module:  # pandas asks for a package by a sentence
        return f"{error}; ./loom makes an environment that has it"
    package = PACKAGES.get(module, module)
    return (
        f"the Python package '{package}' is missing or broken ({error}): `{os.path.basename(sys.executable)} "
        f"-m pip install {package}` adds it; ./loom makes an environment that has all"
    )


def call(tool: str, main: Main, argv: Sequence[str], interrupted: int = 128 + signal.SIGINT) -> int:
    """The exit code of main(argv); any exception or signal that ends it is told in one line."""
    style.own_process()
    try:
        code = main(list(argv))
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return interrupted
    except Ended as error:
        return 128 + error.number
    except BrokenPipeError:  # the reader has closed the pipe
        sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115  to the end of the process
        return FAILED
    except SpecError as error:
        terminal.say(tool, error)
        return USAGE
    except (LogError, FigureError, OSError) as error:
        terminal.say(tool, error)
        return FAILED
    except ImportError as error:
        if (error.name or "").split(".")[0] == "loomcloth":
            raise
        terminal.say(tool, missing(error))
        return FAILED
    except MemoryError as error:
        terminal.say(tool, f"out of memory: {error}")
        return FAILED
    except Exception as error:
        if os.environ.get("LOOM_TRACEBACK"):
            traceback.print_exc()
        terminal.say(tool, f"{type(error).__name__}: {error}: a log may be damaged (`loom verify` on it says "
                           f"more), {UNFORESEEN}: LOOM_TRACEBACK=1 shows where")  # fmt: skip
        return FAILED


def _watch_over(tool: str, child: int) -> int:
    """The exit code of a child that does the work; signals go on to it."""

    def forward(number: int, frame: object) -> None:
        os.kill(child, number)

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends it to the child, too
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, forward)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return code
    name = signal.Signals(-code).name
    if -code in (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGFPE, signal.SIGILL):
        terminal.say(tool, f"a library crashed while it read or drew ({name}): a log is damaged; "
                           "`loom verify` tells of each whether it is")  # fmt: skip
    elif -code == signal.SIGALRM:
        terminal.say(tool, "reading a log did not come to an end: it is damaged")
    else:
        terminal.say(tool, f"ended by {name}")
    return FAILED


def run(tool: str, main: Main, guarded: bool = False, interrupted: int = 128 + signal.SIGINT) -> None:
    """A tool as a program.  guarded: in a process of its own, as libraries may crash on damaged logs."""
    terminal.guard()
    if guarded and not {"-h", "--help"} & set(sys.argv[1:]):
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if child:
            sys.exit(_watch_over(tool, child))
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)
    sys.exit(call(tool, main, sys.argv[1:], interrupted))
