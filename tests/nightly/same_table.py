"""framework/doc/same-physics.md: its two tables of friction, from the output of the nightly test `same_physics`.

Usage: same_table.py OUTPUT PAGE    writes the tables between the headings of PAGE anew

OUTPUT is what `ctest -R '^same_physics$' -V` prints.
"""

import collections
import pathlib
import re
import sys

ROWS = ["slope", "creep", "belt", "thrown", "turntable", "cloths", "sheets", "holds", "slips"]
LINE = re.compile(r"(\w+) +(exact|mesh) +(\w+) +(\w+) +(-?[\d.]+)( \*)? +(\d+) % of the steps short")
SOLVERS = [
    "cholmod_newton", "pcg_newton", "aa_pd", "ndb_pd", "pd_bfgs", "cama_pcg",
    "chebyshev_pd", "cholmod_pd", "vbd", "xpbd", "gd", "yarn_explicit",
]  # fmt: skip
CONTACTS = ["ipc_barrier", "penalty", "cama_repulsion", "dbb", "ndb", "pd_ipc", "ogc", "cubic_barrier"]
OFTEN = 5  # % of the steps that are short of their tolerance


def read(text: str) -> dict[str, dict[tuple[str, str], dict[str, str]]]:
    """Cells of both kinds of bodies by solver and contact model, then by row."""
    tables: dict[str, dict] = {"exact": collections.defaultdict(dict), "mesh": collections.defaultdict(dict)}
    for row, body, solver, contact, value, wrong, short in LINE.findall(text):
        number = round(float(value), 2) + 0.0  # no -0.00
        cell = f"{number:.2f}" if abs(number) < 100 else f"{number:.0f}"
        if wrong:
            cell = f"**{cell}**"
        tables[body][solver, contact][row] = cell + ("°" if int(short) > OFTEN else "")
    return tables


def table(cells: dict[tuple[str, str], dict[str, str]]) -> str:
    """Pairs in the order of the test; columns without any number are left out."""
    known = [(s, c) for s in SOLVERS for c in CONTACTS if (s, c) in cells]
    rows = [row for row in ROWS if any(row in pair for pair in cells.values())]
    lines = ["| solver | contact | " + " | ".join(rows) + " |", "|---" * (len(rows) + 2) + "|"]
    for solver, contact in known:
        pair = cells[solver, contact]
        lines.append(f"| `{solver}` | `{contact}` | " + " | ".join(pair.get(r, "") for r in rows) + " |")
    return "\n".join(lines)


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    tables = read(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8", errors="replace"))
    page = pathlib.Path(sys.argv[2])
    text = page.read_text(encoding="utf-8")
    for heading, body in (("## Exact shapes", "exact"), ("## Bodies that are meshes", "mesh")):
        if not tables[body]:
            print(f"{sys.argv[1]}: no row of the body {body}", file=sys.stderr)
            return 1
        pattern = re.compile(rf"({re.escape(heading)}\n\n)\|.*?(?=\n\n)", re.S)
        if not pattern.search(text):
            print(f"{page}: no table below '{heading}'", file=sys.stderr)
            return 1
        made = table(tables[body])
        text = pattern.sub(lambda m, made=made: m[1] + made, text)
    page.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
