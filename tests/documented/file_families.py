#!/usr/bin/env python3
"""Each row of the table of `framework/doc/files.md` against the binary: a small file of its family is read, or refused.

`file_families.py [PART]...` tries the rows with PART in their name."""

import os
import pathlib
import sys
import tempfile

from families import FAMILIES, answer_of

SOURCE = pathlib.Path(os.environ["LOOM_SOURCE_DIR"])
BINARY = os.path.join(os.environ["LOOM_BINARY_DIR"], "bin/loom")
AT_LEAST = 40
READ, REFUSED = "yes", "refused"


def table():
    """{family: its column `read`} of the page."""
    rows = [line.strip("|\n ").split(" | ") for line in (SOURCE / "framework/doc/files.md").open() if line[0] == "|"]
    return {row[0].strip(): row[2].strip() for row in rows if len(row) >= 3 and row[2].startswith((READ, REFUSED))}


def faults_of(family, said):
    with tempfile.TemporaryDirectory(prefix="loom-families-") as folder:
        cases = FAMILIES[family](pathlib.Path(folder))
        if cases is None:
            print(f"SKIP: {family}: Assimp is not there")
            return []
        found = []
        for command, want in cases:
            code, text = answer_of(BINARY, command, folder)
            done = READ if code == 0 else REFUSED if code in (1, 2) else f"exit code {code}"
            if not said.startswith(done):
                found.append(f"{family}: the page says '{said}', `loom {' '.join(command)}`: {done}\n{text}")
            elif want not in text:
                found.append(f"{family}: '{want}' is not in the answer of `loom {' '.join(command)}`:\n{text}")
        return found


def main(parts):
    rows = table()
    faults = [f"{name}: has no case in families.py" for name in rows if name not in FAMILIES]
    faults += [f"{name}: has no row in files.md" for name in FAMILIES if name not in rows]
    if len(rows) < AT_LEAST:
        faults.append(f"files.md has {len(rows)} families, fewer than {AT_LEAST}")
    for family, said in rows.items():
        if family in FAMILIES and (not parts or any(part in family for part in parts)):
            faults += faults_of(family, said)
    print("\n".join(faults))
    print(f"{len(rows)} families, {sum(said.startswith(READ) for said in rows.values())} of them read, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
