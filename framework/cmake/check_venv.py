"""check_venv.py PINS [--files]: does the environment of this Python hold each package at its pin?

--files: and each of their files at its size, so that one that a cleaner of caches has thinned out is
found.  A pin with a marker, "name==1.0; ...", may not be meant for this Python and is not asked for.
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
        name, dash, version = folder.removesuffix(".dist-info").partition("-")
        if dash and folder.endswith(".dist-info"):
            folders[plain(name), version] = folder
    with open(sys.argv[1], encoding="utf-8") as pins:
        wanted = re.findall(r"^([\w.-]+)==([^\s;#]+)[ \t]*$", pins.read(), re.MULTILINE)
    for name, version in wanted:
        record = os.path.join(site, folders.get((plain(name), version), "none"), "RECORD")
        if not os.path.isfile(record):
            sys.exit(f"{name} {version} is missing")
        if "--files" not in sys.argv[2:]:
            continue
        with open(record, encoding="utf-8", newline="") as files:
            for path, _, size in csv.reader(files):
                full = os.path.join(site, path)
                if size and (not os.path.isfile(full) or os.path.getsize(full) != int(size)):
                    sys.exit(f"{full} is missing or damaged")


main()
