#!/usr/bin/env python3
"""Names of C functions: each stands once in the tree, and none is one word.  Constants of a file are lower case.

A backtrace, a profile or a search that says `find` names nothing.  Exit code 1, and a line each, where a function
shares its name with a function of another file, or has a name without `_`.

Left out: `main`; entry points that a loader or a library finds by name; functions of the C library that a test
replaces; the device layer, which is written three times (CUDA, simulated, none) behind one header.
"""

import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("framework", "plugins", "tests")
# One interface, several builds.
ALTERNATIVES = re.compile(r"framework/(mem/dev_(none|sim|cuda)\.c|linalg/prim_(sim\.c|cuda\.cu))")
ENTRY_POINTS = re.compile(r"main|LLVMFuzzerTestOneInput|loom_(plugin|mesher|factor|rig_reader)_query")
REPLACED = {  # file: the functions of the C library that it replaces
    "tests/support/trace_io.c": "open open64 openat openat64 pwrite pwrite64 ftruncate ftruncate64 rename unlink "
    "unlinkat fsync fdatasync",
    "tests/unit/log/test_h5kill.c": "pwrite ftruncate unlink unlinkat fdatasync fsync rename",
    "tests/unit/log/test_h5stage.c": "pwrite",
}
NOT_CODE = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.S | re.M)
DEFINITION = re.compile(
    r"^(?=[A-Za-z_])(?P<before>[^\n;{}=()]*?)\b(?P<name>[A-Za-z_]\w*)\s*\((?:[^;{}]|\{\s*\})*?\)\s*\{", re.M
)


def functions(text):
    """(line, name) of each function with a body; macros that make functions (LK_KERNEL, Test) are none."""
    code = NOT_CODE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
    for m in DEFINITION.finditer(code):
        if m["before"].strip() and not m["name"].isupper():
            yield code.count("\n", 0, m.start("name")) + 1, m["name"]


CONSTANT = re.compile(r"^static const \w+ \*?(?:const )?([A-Z][A-Z0-9_]+)\b", re.M)  # UPPER is for macros and enums


def main():
    places = collections.defaultdict(dict)
    bad = 0
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in (".c", ".h", ".cu", ".cpp") or not path.is_file():
                continue
            name = str(path.relative_to(ROOT))
            replaced = REPLACED.get(name, "").split()
            text = path.read_text()
            for constant in CONSTANT.findall(text) if folder != "tests" else ():
                bad += 1
                print(f"{constant}: a constant in upper case, in {name}")
            for line, function in functions(text):
                if not ENTRY_POINTS.fullmatch(function) and function not in replaced:
                    places[function].setdefault(name, line)
    for function, files in sorted(places.items()):
        kept = [f for f in files if not ALTERNATIVES.fullmatch(f)]
        alternatives = len(kept) == 0 or (len(kept) == 1 and len(files) == 1)
        if len(files) > 1 and not alternatives:
            bad += 1
            print(f"{function}: " + ", ".join(f"{f}:{n}" for f, n in files.items()))
        elif "_" not in function:
            bad += 1
            print(f"{function}: one word, in " + ", ".join(f"{f}:{n}" for f, n in files.items()))
    print(f"{len(places)} names of functions, {bad} faults")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
