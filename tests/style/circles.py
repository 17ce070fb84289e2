"""Do files of framework/ depend on each other in circles?

Usage: circles.py SOURCES OBJECTS   framework/, and the folder of its objects in a build

Files depend on each other one way: in a circle it is unclear which one to read first.  Two relations
count: calls within a folder, and includes between headers.  Prints
every circle; exit code 1 if there are any.  Folders of run/ and scene/ call each other one way.
"""

import collections
import pathlib
import re
import subprocess
import sys


def circles(uses):
    """Sets of nodes that reach each other, from {node: {node: why}}."""

    def reach(start):
        seen, found = set(), [start]
        while found:
            for to in uses.get(found.pop(), {}):
                if to not in seen:
                    seen.add(to)
                    found.append(to)
        return seen

    reached = {a: reach(a) for a in uses}
    return {frozenset(b for b in to if a in reached.get(b, ())) for a, to in reached.items() if a in to}


def calls(sources, objects):
    """{file: {file: names}} within each folder."""
    uses = collections.defaultdict(lambda: collections.defaultdict(set))
    for folder in sorted(p for p in objects.iterdir() if p.is_dir()):
        owner, needed = {}, {}
        for path in sorted(folder.rglob("*.o")):
            file = str(path.relative_to(objects))[:-2]
            if not (sources / file).exists():
                continue  # of a file that was removed
            needed[file] = set()
            for line in subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout.splitlines():
                *_, kind, name = line.split()
                if kind in "TDRB":
                    owner[name] = file
                elif kind == "U":
                    needed[file].add(name)
        for file, names in needed.items():
            for name in names & owner.keys():
                if owner[name] != file:
                    uses[file][owner[name]].add(name)
    return uses


def folders(uses):
    """{folder: {folder: names}} of the calls between files of the folders of run/ and scene/."""
    between = collections.defaultdict(lambda: collections.defaultdict(set))
    for file, called in uses.items():
        if not file.startswith(("run/", "scene/")):
            continue
        for other, names in called.items():
            here, there = (f.rsplit("/", 1)[0] for f in (file, other))
            if here != there:
                between[here][there] |= names
    return between


def includes(sources):
    """{header: {header: ()}}"""
    uses = {}
    for path in sources.rglob("*.h"):
        text = path.read_text()
        found = re.findall(r'^#include "([^"]+)"', text, re.M)
        here = [path.parent / f if (path.parent / f).exists() else sources / f for f in found]
        uses[str(path.relative_to(sources))] = {str(h.relative_to(sources)): () for h in here if h.exists()}
    return uses


def main(sources, objects):
    called = calls(sources, objects)
    if not called:
        sys.exit(f"{objects}: no objects")
    bad = 0
    for uses, what in (
        (called, "files call"),
        (folders(called), "folders call"),
        (includes(sources), "files include"),
    ):
        for circle in sorted(circles(uses), key=sorted):
            bad += 1
            print(f"{len(circle)} {what} each other in a circle:")
            for a in sorted(circle):
                for b in sorted(uses[a].keys() & circle):
                    print(f"  {a} -> {b}: {', '.join(sorted(uses[a][b]))}".rstrip(": "))
    return bad > 0


sys.exit(main(*map(pathlib.Path, sys.argv[1:])))
