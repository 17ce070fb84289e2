#!/usr/bin/env python3
"""Links of the Markdown pages lead to files, and files that the pages name exist.

A name counts that begins with a folder of the sources, in `code` or in a block of commands.  The word NAME, <name>,
{a,b}, * and ... stand for many names; `out/` holds results of the reader.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\(([^)\s#]+)(#[^)\s]*)?\)")
NAME = re.compile(r"(?<![\w./~<-])((?:framework|plugins|configs|experiments|tests)/[\w./+-]*\w)(?![\w*{<]|/?[*{<])")
OPEN = re.compile(r"NAME|/out(/|$)|\.\.\.")
MADE = {"configs/materials/my_fabric.ini"}  # by a command of the pages


def known():
    done = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                          capture_output=True, text=True)
    files = done.stdout.split("\n") if done.returncode == 0 else [str(p.relative_to(ROOT)) for p in ROOT.rglob("*.md")]
    return [ROOT / f for f in files if f.endswith(".md") and (ROOT / f).is_file()]


def names_file(name):
    """A file, a folder, or a source without its ending: `framework/geom/distance`."""
    path = ROOT / name
    return path.exists() or any(path.parent.glob(path.name + ".*"))


def dead(page):
    text = page.read_text(encoding="utf-8")
    for number, line in enumerate(text.split("\n"), 1):
        place = f"{page.relative_to(ROOT)}:{number}"
        for target, _ in LINK.findall(line):
            if not re.match("[a-z]+:", target) and not (page.parent / target).exists():
                yield f"{place}: the link {target} leads nowhere"
        for name in NAME.findall(line):
            if not OPEN.search(name) and name not in MADE and not names_file(name) and not (page.parent / name).exists():
                yield f"{place}: there is no {name}"


def main():
    pages = known()
    found = [line for page in pages for line in dead(page)]
    print("\n".join(found))
    print(f"{len(pages)} pages, {len(found)} dead names")
    return 1 if found or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
