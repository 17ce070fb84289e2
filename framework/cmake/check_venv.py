"""check_venv.py PINS [--files]: does the environment of this Python hold each package at its pin?

--files: and each of their files at its size, so that one that a cleaner of caches has thinned out is
found.  A pin with a marker, "name==1.0; ...", may not be meant for this Python and is not asked for.
A package without a wheel is an .egg-info folder where pip is older than 23.1 and has no `wheel` (Debian 12).
"""

import csv
import os
import re
import sys
import sysconfig

site = sysconfig.get_path("purelib")


def plain(name):
    return re.sub("[-_.]+", "-", name).lower()


def main():
    folders = {}
    for folder in os.listdir(site):
        parts = re.fullmatch(r"([^-]+)-([^-]+)(\.dist-info|(-py[\d.]+)?\.egg-info)", folder)
        if parts:
            folders[plain(parts[1]), parts[2]] = folder
    with open(sys.argv[1], encoding="utf-8") as pins:
        wanted = re.findall(r"^([\w.-]+)==([^\s;#]+)[ \t]*$", pins.read(), re.MULTILINE)
    for name, version in wanted:
        folder = os.path.join(site, folders.get((plain(name), version), "none"))
        egg = folder.endswith(".egg-info")
        record = os.path.join(folder, "installed-files.txt" if egg else "RECORD")
        if not os.path.isfile(record):
            sys.exit(f"{name} {version} is missing")
        if "--files" not in sys.argv[2:]:
            continue
        with open(record, encoding="utf-8", newline="") as files:
            for row in csv.reader(files):
                # an egg's list has paths from its folder, and no sizes
                full, size = os.path.join(folder if egg else site, row[0]), "" if egg else row[2]
                if (egg and not os.path.exists(full)) or (
                    size and (not os.path.isfile(full) or os.path.getsize(full) != int(size))
                ):
                    sys.exit(f"{full} is missing or damaged")


main()
