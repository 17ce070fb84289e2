"""Which sources have to be checked anew by a tool?

Usage: changed.py BUILD TOOL VERSION OPTIONS... < FILES

Prints all of FILES (sources below the current directory, one a line) with a change since the
commit that clean.txt, beside this file, has for TOOL and VERSION: in the source, in files of the project that it includes, in a
CMakeLists.txt above these, or in framework/cmake.  A tool without a finding at that commit has none now.  Prints all of them where
there is no such line, where the clone does not reach back to that commit, without git, where OPTIONS, files that say how the tool is
called, have changed, with LOOM_LINT_ALL, and a source with includes that BUILD does not know.
"""

import os
import pathlib
import shutil
import subprocess
import sys

CLEAN = pathlib.Path(__file__).with_name("clean.txt")


def output(*command):
    if shutil.which(command[0]) is None:
        return None
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else None


def commit_of(tool, version):
    """The commit at which the tool had no finding, or None."""
    for line in CLEAN.read_text().splitlines():
        commit, _, of = line.partition(" ")
        if of == f"{tool} {version}" or of.startswith(f"{tool} {version}."):
            return commit
    return None


def changed_since(commit):
    """Paths that differ from the commit, or None where that is not known."""
    differ = output("git", "diff", "--name-only", "--no-renames", commit, "--")
    new = output("git", "ls-files", "--others", "--exclude-standard")
    return None if differ is None or new is None else {*differ, *new}


def includes(build):
    """{source: files it was compiled from}, of all targets; relative to the current directory."""
    here, found, source = f"{os.getcwd()}/", {}, None
    for line in output("ninja", "-C", build, "-t", "deps") or []:
        if not line.startswith("    "):
            source = None
            continue
        path = os.path.normpath(os.path.join(build, line.strip()))
        if source is None:
            source = path.removeprefix(here)
            found.setdefault(source, set())
        if path.startswith(f"{build}/"):  # generated: its folder's CMakeLists.txt tells its sources
            path = here + path.removeprefix(f"{build}/")
        if path.startswith(here):
            found[source].add(path.removeprefix(here))
    return found


def makers(path):
    """The CMakeLists.txt that say how a path is compiled."""
    return {str(folder / "CMakeLists.txt") for folder in pathlib.PurePath(path).parents}


def main(build, tool, version, *options):
    files = sys.stdin.read().split()
    commit = None if os.environ.get("LOOM_LINT_ALL") else commit_of(tool, version)
    changed = commit and changed_since(commit)
    if changed is None or changed & {*options} or any(path.startswith("framework/cmake/") for path in changed):
        print(*files, sep="\n")
        return
    of = includes(os.path.realpath(build))
    for file in files:
        touched = of.get(file)
        if touched is None or changed & {file, *touched, *(maker for path in touched for maker in makers(path))}:
            print(file)


if __name__ == "__main__":
    main(*sys.argv[1:])
