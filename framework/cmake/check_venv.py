"""check_venv.py PINS|- [--files] [--forget]: prints the pins that the environment of this Python lacks.

--files: a package with a file that is missing or has another size is lacking, too, so that an environment that a
cleaner of caches has thinned out is found.  --forget: removes the metadata of packages that are there in part, so
that pip installs them anew.  Exit code 3: a pin is lacking.

A pin with a marker, "name==1.0; ...", may not be meant for this Python and is not asked for.  pip writes RECORD last.
A package without a wheel is an .egg-info folder where pip is older than 23.1 and has no `wheel` (Debian 12).
"""

import csv
import os
import re
import shutil
import sys
import sysconfig

LACKING = 3
site = sysconfig.get_path("purelib")


def plain(name):
    return re.sub("[-_.]+", "-", name).lower()


def fault(folder, files):
    """The fault of the package with this metadata folder; an empty text: none."""
    egg = folder.endswith(".egg-info")
    record = os.path.join(folder, "installed-files.txt" if egg else "RECORD")
    if not os.path.isfile(record):
        return "no list of its files"
    if not files:
        return ""
    with open(record, encoding="utf-8", newline="") as rows:
        for row in csv.reader(rows):
            # an egg's list has paths from its folder, and no sizes
            full, size = os.path.join(folder if egg else site, row[0]), "" if egg else row[2]
            if (egg and not os.path.exists(full)) or (
                size and (not os.path.isfile(full) or os.path.getsize(full) != int(size))
            ):
                return f"{full} is missing or damaged"
    return ""


def main():
    options = sys.argv[2:]
    folders = {}
    for folder in os.listdir(site) if os.path.isdir(site) else []:
        parts = re.fullmatch(r"([^-]+)-([^-]+)(\.dist-info|(-py[\d.]+)?\.egg-info)", folder)
        if parts:
            folders[plain(parts[1]), parts[2]] = os.path.join(site, folder)
    if sys.argv[1] == "-":
        text = sys.stdin.read()
    else:
        with open(sys.argv[1], encoding="utf-8") as pins:
            text = pins.read()
    lacking = 0
    for name, version in re.findall(r"^([\w.-]+)==([^\s;#]+)[ \t]*$", text, re.MULTILINE):
        folder = folders.get((plain(name), version))
        why = fault(folder, "--files" in options) if folder else "the package is absent"
        if not why:
            continue
        lacking += 1
        print(f"{name}=={version}")
        print(f"{name} {version}: {why}", file=sys.stderr)
        if folder and "--forget" in options:
            shutil.rmtree(folder)
    return LACKING if lacking and "--forget" not in options else 0


sys.exit(main())
