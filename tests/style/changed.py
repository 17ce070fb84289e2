"""Which sources have to be checked anew by a tool?

Usage: changed.py BUILD TOOL VERSION OPTIONS... < FILES

Prints all of FILES (sources below the current directory, one a line) with a change since the
commit that clean.txt, beside this file, has for TOOL and VERSION: in the source, in files of the project that it includes, in a
CMakeLists.txt above these, or in framework/cmake.  A tool without a finding at that commit has none now.  Prints all of them where
there is no such line, where the clone does not reach back to that commit, without git, where OPTIONS, files that say how the tool is
called, have changed, with LOOM_LINT_ALL, and a source with includes that BUILD does not know.  Comments of C and blank space at the
ends of lines are no change, but for comments that a tool reads: NOLINT, cppcheck-suppress, and the name of an argument before its value.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

CLEAN = pathlib.Path(__file__).with_name("clean.txt")
TOKENS = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//(?:\\\n|[^\n])*', re.DOTALL)
READ_BY_TOOLS = re.compile(r"NOLINT|cppcheck-suppress|=\s*\*/$")


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


def without_comments(text):
    """Lines of a C source: a comment is one space, unless a tool reads it; empty lines are left out."""

    def keep(token):
        word = token[0]
        return word if word[0] != "/" or READ_BY_TOOLS.search(word) else " "

    lines = (" ".join(line.split()) for line in TOKENS.sub(keep, text).splitlines())
    return [line for line in lines if line]


def changed_beyond_comments(commit, paths):
    """The paths, of those that differ from the commit, that differ in more than comments of C."""
    found = set()
    with subprocess.Popen(("git", "cat-file", "--batch"), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as git:
        for path in paths:
            if not path.endswith((".c", ".h")) or not os.path.exists(path):
                found.add(path)
                continue
            git.stdin.write(f"{commit}:{path}\n".encode())
            git.stdin.flush()
            head = git.stdout.readline().split()
            old = git.stdout.read(int(head[2]) + 1) if head[1:2] == [b"blob"] else None
            if old is None or without_comments(old[:-1].decode()) != without_comments(pathlib.Path(path).read_text()):
                found.add(path)
        git.stdin.close()
    return found


def changed_since(commit):
    """Paths that differ from the commit, or None where that is not known."""
    differ = output("git", "diff", "--name-only", "--no-renames", commit, "--")
    new = output("git", "ls-files", "--others", "--exclude-standard")
    if differ is None or new is None:
        return None
    return {*changed_beyond_comments(commit, differ), *new}


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
