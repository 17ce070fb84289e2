"""Every figure, table and headline part of five papers, and its state here: experiments/coverage.toml.

  python -m loomcloth.coverage --check     lists faults of the file and of its pages, if any with exit code 1
  python -m loomcloth.coverage --update    makes the part of experiments/README.md, and "Not here" of families

Numbers stand in the file as {LINE::N}, the N-th number behind the text LINE in the file `result` of the row
(^LINE: at the beginning of a line), so that the table changes with the result.  A number that is written out
has to occur in `result`, or in the page of a folder whose figure the row names.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

DATA, PAGE = "experiments/coverage.toml", "experiments/README.md"
BEGIN = "<!-- made by loomcloth.coverage from coverage.toml -->"
END = "<!-- end of the tables of coverage -->"
GAPS_BEGIN = "<!-- made by loomcloth.coverage from ../coverage.toml -->"
GAPS_END = "<!-- end of the part that coverage.toml makes -->"
HOMES = {"ndb": "ndb-scenes", "acl": "acl", "pdbfgs": "pdbfgs-scenes", "cama": "cama", "ssdf": "ssdf"}
STATES = ("done", "partial", "not here", "diagram", "lost")
# Items of each paper, by its own numbers: each has to be in one row.
ITEMS = {
    "ndb": {"Figure": 20, "Table": 2, "Equation": 25, "Algorithm": 1},
    "acl": {"Figure": 9, "Table": 2, "Equation": 6},
    "pdbfgs": {"Scene": 5},
    "cama": {"Figure": 19, "Equation": 2, "Algorithm": 2},
    "ssdf": {"Figure": 10, "Table Network choices": 0, "Table Examples": 0},
}
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")
CITED = re.compile(r"\{([^{}]+?)::(\d+)\}")
KEYS = {"covers", "item", "paper", "ours", "state", "command", "result", "reason"}

Row = dict[str, Any]


class Fault(ValueError):
    """A row that contradicts the repository."""


def load(root: Path) -> dict[str, Any]:
    with open(root / DATA, "rb") as file:
        return tomllib.load(file)


def plain(number: str) -> str:
    return number.replace(",", "").rstrip(".")


def numbers(text: str) -> list[str]:
    return [plain(m.group()) for m in NUMBER.finditer(text)]


def cite(text: str, line: str, place: int) -> str:
    """The place-th number behind `line` in the one line that holds it; white space counts as one blank."""
    words = " ".join(line.removeprefix("^").split())
    behind = " " if line[-1].isspace() else r"(?![\w.])" if line[-1].isalnum() else ""
    before = "^" if line[0] == "^" else r"(?<![\w.,])"
    begin = re.compile(before + re.escape(words) + behind)
    lines = [" ".join(here.split()) for here in text.splitlines()]
    found = [here[m.end() :] for here in lines if (m := begin.search(here))]
    if len(found) != 1:
        raise Fault(f"'{line}' is in {len(found)} lines")
    every = NUMBER.findall(found[0])
    if not 1 <= place <= len(every):
        raise Fault(f"behind '{line}' there are {len(every)} numbers, not {place}")
    return every[place - 1].rstrip(",")


def without_gaps(text: str) -> str:
    """A page without the part "Not here", which repeats the rows."""
    return re.sub(f"{GAPS_BEGIN}.*?{GAPS_END}", "", text, flags=re.S)


def covered(words: list[str]) -> list[str]:
    """["Figures 8-9", "Table Examples"] as single items."""
    out = []
    for word in words:
        kind, _, which = word.partition(" ")
        kind = kind.removesuffix("s")
        first, dash, last = which.partition("-")
        if not first.isdigit():
            out.append(word)
        else:
            out += [f"{kind} {n}" for n in range(int(first), int(last if dash else first) + 1)]
    return out


def expected(paper: str) -> list[str]:
    counts = ITEMS[paper]
    return [f"{k} {n}" for k, count in counts.items() for n in range(1, count + 1)] + [
        k for k, count in counts.items() if count == 0
    ]


def fill(root: Path, row: Row) -> str:
    """The row's `ours` with the numbers that it cites."""
    if not CITED.search(row["ours"]):
        return str(row["ours"])
    if "result" not in row:
        raise Fault("cites a number and names no result")
    text = without_gaps((root / "experiments" / row["result"]).read_text())
    return CITED.sub(lambda m: cite(text, m[1], int(m[2])), row["ours"])


def faults_of(root: Path, row: Row, folders: dict[str, str]) -> list[str]:
    """Where a row contradicts the repository; folders: {figure: its folder}."""
    out = []
    if set(row) - KEYS or KEYS - {"result", "reason"} - set(row):
        return [f"keys are {', '.join(row)}"]
    if row["state"] not in STATES:
        out.append(f"the state '{row['state']}' is none of {', '.join(STATES)}")
    if row["state"] != "done" and not row.get("reason"):
        out.append("has no reason")
    if row["state"] in ("done", "partial") and not (row["ours"] and row["command"]):
        out.append("is here, and has no number or no command")
    for command in row["command"]:
        if command not in folders and not ("/" in command and (root / command).exists()):
            out.append(f"'{command}' is neither a figure nor a path")
    if row.get("result") and not (root / "experiments" / row["result"]).is_file():
        return [*out, f"there is no experiments/{row['result']}"]
    try:
        fill(root, row)
    except Fault as fault:
        return [*out, str(fault)]
    if row.get("result"):
        pages = {f"experiments/{folders[c]}/README.md" for c in row["command"] if c in folders}
        known = set(numbers(without_gaps((root / "experiments" / row["result"]).read_text())))
        known |= {n for page in pages for n in numbers(without_gaps((root / page).read_text()))}
        written = numbers(re.sub(r"`[^`]*`", "", CITED.sub("", row["ours"])))
        out += [f"{n} is not in {row['result']}" for n in written if n not in known]
    return out


def faults(root: Path, data: dict[str, Any], folders: dict[str, str]) -> list[str]:
    out = []
    for paper in ITEMS:
        rows = data.get(paper, [])
        for row in rows:
            name = f"{paper}: {row.get('item', '?')}"
            out += [f"{name}: {fault}" for fault in faults_of(root, row, folders)]
        there = Counter(item for row in rows for item in covered(row.get("covers", [])))
        out += [f"{paper}: {item} is missing" for item in expected(paper) if item not in there]
        out += [f"{paper}: {item} is no item of the paper" for item in there if item not in expected(paper)]
        out += [f"{paper}: {item} is in {n} rows" for item, n in there.items() if n > 1]
    return out


def counts(data: dict[str, Any]) -> dict[str, Counter[str]]:
    return {paper: Counter(row["state"] for row in data[paper]) for paper in ITEMS}


def tables(root: Path, data: dict[str, Any]) -> str:
    """The part of the page between BEGIN and END."""
    out = ["| paper | " + " | ".join(STATES) + " |", "|---" * (1 + len(STATES)) + "|"]
    found = counts(data)
    for paper in ITEMS:
        out.append(f"| {data['papers'][paper]} | " + " | ".join(str(found[paper][s]) for s in STATES) + " |")
    for paper in ITEMS:
        out += ["", f"### {data['papers'][paper]}", ""]
        out += ["| item | paper | here | state | command | reason |", "|---|---|---|---|---|---|"]
        for row in data[paper]:
            item = ": ".join([*([", ".join(row["covers"])] if row["covers"] else []), row["item"]])
            commands = ", ".join(f"`{c}`" for c in row["command"])
            ours = fill(root, row)
            if row.get("result"):
                ours += f" ([numbers]({row['result']}))"
            cells = [item, row["paper"], ours, row["state"], commands, row.get("reason", "")]
            out.append("| " + " | ".join(c.replace("|", "\\|") for c in cells) + " |")
    return "\n".join([*out, *control_table(root)])


def control_table(root: Path) -> list[str]:
    """The rows of tests/control/claims.toml with their committed numbers."""
    from loomcloth import controls

    out = ["", "### One part switched off", ""]
    out += ["| control | claim | off | measure | bar | whole | off | |", "|---|---|---|---|---|---|---|---|"]
    for row, found in controls.results(root):
        numbers = [f"{value:.4g}" for value in found] if found else ["not measured", ""]
        word = "fails, as it has to" if row.effect == "fails" else "**no effect**"
        if found and not row.as_told(*found):
            word = "**not as told**"
        if row.note:
            word += f": {row.note}"
        cells = [f"`{row.name}`", row.claim, row.part, row.measure, controls.bounds(row), *numbers, word]
        out.append("| " + " | ".join(cells) + " |")
    return out


def gaps(data: dict[str, Any], folders: dict[str, str]) -> dict[str, str]:
    """{page: its part "Not here"}: the rows that are not done, in the folder of their first figure, or of the
    paper where a folder of another family, or none, has it."""
    rows: dict[str, list[str]] = {}
    for paper, home in HOMES.items():
        for row in data[paper]:
            if row["state"] not in ("partial", "not here"):
                continue
            own = [folders[c] for c in row["command"] if folders.get(c, "").startswith(paper)]
            item = ", ".join([*row["covers"], row["item"]])
            line = f"- {item} (paper: {row['paper']}): {row['state']}; {row['reason']}."
            rows.setdefault([*own, home][0], []).append(line)
    head = "## Not here\n\nItems of the paper that this folder shows in part or not, with the reason:\n\n"
    return {f"experiments/{at}/README.md": head + "\n".join(lines) for at, lines in rows.items()}


def placed(root: Path, name: str, begin: str, made: str, end: str) -> tuple[str, str]:
    """A page as it is, and as it should be."""
    text = (root / name).read_text()
    if text.count(begin) != 1 or text.count(end) != 1:
        raise Fault(f"{name} has no place for its part: a line {begin}, and a line {end}")
    before, _, rest = text.partition(begin)
    return text, before + begin + "\n" + made + "\n" + end + rest.partition(end)[2]


def check(root: Path, folders: dict[str, str], update: bool = False) -> list[str]:
    """Faults; with `update` the pages are made anew where the rows have none."""
    data = load(root)
    found = faults(root, data, folders)
    if found:
        return found
    parts = [(PAGE, BEGIN, tables(root, data), END)]
    parts += [(name, GAPS_BEGIN, part, GAPS_END) for name, part in gaps(data, folders).items()]
    for name, *part in parts:
        try:
            text, wanted = placed(root, name, *part)
        except Fault as fault:
            found.append(str(fault))
            continue
        if text != wanted and update:
            (root / name).write_text(wanted)
        elif text != wanted:
            found.append(f"{name} is not made of {DATA}: python -m loomcloth.coverage --update")
    return found


def main(argv: list[str]) -> int:
    about = (__doc__ or "").splitlines()[0]
    p = argparse.ArgumentParser(prog="python -m loomcloth.coverage", description=about)
    kind = p.add_mutually_exclusive_group(required=True)
    kind.add_argument("--check", action="store_true", help="compare, change no file")
    kind.add_argument("--update", action="store_true", help="make the part of experiments/README.md")
    args = p.parse_args(argv)
    from loomcloth.experiment import ROOT
    from loomcloth.figure import all_figures

    folders = {name: folder.name for name, (folder, _, _) in all_figures().items()}
    found = check(ROOT, folders, args.update)
    print(*found, sep="\n", file=sys.stderr, end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
