"""The commands that the documents show, and the changes that let a test do them in seconds."""

import re

# Words with which a line of an indented block is a command.
WORDS = re.compile(r"^(\.\./\.\./loom|\./loom|~/loom/bin/loom|cmake|ninja|pip) ")


# Pages of commands, in this order: later ones read logs of earlier ones.
GUIDES = ("first-run", "building", "configuring", "comparing", "export-runs", "measure", "peers", "exit-codes", "scenes", "measuring", "plugin-guide")
# Guides that a newcomer types from on the first day, beside the README.
DAY = ("first-run", "building", "configuring", "plugin-guide")


class Command:
    def __init__(self, page, line, text, language="sh"):
        self.page, self.line, self.text, self.language = page, line, text, language

    @property
    def place(self):
        return f"{self.page}:{self.line}"


def pages(root, only=None):
    """Every page that users type from; only: the README and these guides."""
    found = [root / "README.md"]
    found += [root / f"framework/doc/{name}.md" for name in GUIDES if only is None or name in only]
    for folder in ("experiments", "plugins") if only is None else ():
        found += sorted(p for p in (root / folder).rglob("README.md") if "out" not in p.parts)
    return [p.relative_to(root) for p in found]


def without_comment(line):
    return re.sub(r"\s+# .*$", "", line).strip()


def commands_of(root, page):
    """Lines of ```sh blocks and of indented blocks, ```python blocks, and `./loom ...` in the text."""
    found, fence, block, paragraph_open = [], None, [], False
    lines = (root / page).read_text().replace("\\\n", "\\\r").split("\n")
    number = 0
    for line in lines:
        number += 1 + line.count("\r")
        line = re.sub(r"\\\r\s*", "", line)  # a command that goes on in the next line
        if line.strip().startswith("```"):
            if fence == "python" and any(text.startswith("import ") for text in block):
                found.append(Command(page, number, "\n".join(block), "python"))
            fence = line.strip()[3:] or "text" if fence is None else None
            block = []
        elif fence is not None:
            block.append(line)
            if fence == "sh" and without_comment(line) and not line.startswith("#"):
                found.append(Command(page, number, without_comment(line)))
        elif line.startswith("    ") and not paragraph_open and WORDS.match(line.strip()):
            found.append(Command(page, number, without_comment(line)))
        else:
            for text in re.findall(r"`(\./loom [a-z][^`]*)`", line):
                found.append(Command(page, number, text))
        if not line.startswith("    "):
            paragraph_open = bool(line.strip()) and fence is None
    return found


class Rule:
    """A pattern of commands and the test's treatment of them.

    more: appended, a text or a function of the stage that gives one; swap: (text, other text); codes: exit codes that are fine; skip: a reason, or a
    function of the stage that returns one, or None to run it.
    """

    def __init__(self, pattern, more="", swap=(), codes=(0,), skip=None, why=""):
        self.pattern, self.more, self.swap = re.compile(pattern), more, swap
        self.codes, self.skip, self.why = codes, skip, why
        self.used = False

    def reduced(self, text, stage):
        for old, new in self.swap:
            text = text.replace(old, new)
        more = self.more(stage) if callable(self.more) else self.more
        return text + (f" {more}" if more else "")


def needs_venv(stage):
    return None if stage.venv else "there is no .venv; the first `./loom render` makes it (2 GB)"


def needs_slurm(stage):
    return needs_venv(stage) or (
        None if stage.tool("sinfo") and stage.run("sinfo -h")[0] == 0 else "there is no Slurm here")


def at_night(stage):
    return needs_venv(stage) or (None if stage.fresh else "documented_fresh runs it, at night")


def no_simulator(stage):
    return "an environment of 200 MB and more from the package index; tool_peers runs simulators at night"


def half_a_minute(stage):
    return "" if stage.fresh else "--plan"


YARNS = "-n 1 --set run.dt=1e-4 --set run.substeps=2"  # a frame is hundreds of substeps

# The first rule that matches a command holds; a command without a rule runs as it stands.
RULES = [
    Rule(r"^\./loom describe (<name>|NAME)$", swap=[("<name>", "gd"), ("NAME", "gd")]),
    Rule(r"^\./loom contract (NAME|gd)$", more="--check descriptor", swap=[("NAME", "gd")]),
    Rule(r"^\./loom ssdf-data", more="--set ssdf.resolution=8 --set ssdf.tests=1 --set ssdf.edge=0.05"),
    Rule(r"^\./loom peer --list", skip=needs_venv),
    Rule(r"^\./loom peer ", skip=no_simulator),
    Rule(r"^\./loom info out/hang_mujoco.h5", skip=no_simulator),
    Rule(r"^\./loom figure --list", skip=needs_venv),
    Rule(r"^\./loom figure --check", codes=(0, 1), skip=needs_venv, why="some results are older than their sources"),
    Rule(r"^\./loom figure NAME", more="--plan", swap=[("NAME", "convergence")], skip=needs_venv),
    Rule(r"^\./loom figure convergence(-bars)?$", more=half_a_minute, skip=needs_venv),
    Rule(r"^\./loom figure", more="--plan", skip=at_night, why="minutes to hours; plans of all: one or two minutes"),
    Rule(r"^\./loom render", more="--size 160x120 --fast", skip=needs_venv),
    Rule(r"^\./loom docs", skip=at_night, why="tool_docs makes the site by day"),
    Rule(r"^\./loom fabric .*--check", skip=at_night, why="half a minute of processor time"),
    Rule(r"^\./loom \w+ experiments/study", skip=lambda stage: "tool_whole_study runs it, at night"),
    Rule(r"^\./loom (table|report|archive|watch|fabric|convert)", skip=needs_venv),
    Rule(r"^python3 -m zipfile -e ", skip=needs_venv),  # of a file that `loom archive` makes
    Rule(r"^\./loom export .*--format (vtkhdf|glb|usd)", skip=needs_venv),
    Rule(r"^\./loom sweep .*--slurm$", skip=needs_slurm),
    Rule(r"^\./loom sweep", skip=needs_venv),
    Rule(r"^\./loom run configs/yarn_", more=YARNS),
    Rule(r"^\./loom run .*run\.detail", more="-n 1"),
    Rule(r"^(\./loom|~/loom/bin/loom) run ", more="-n 2"),
    Rule(r"^\./loom test$", more="unit -R '^test_err$'", why="a quarter of an hour"),
    Rule(r"^\./loom test [a-z]+$", more="-R '^test_(err|contract_descriptor)$'", why="minutes"),
    Rule(r"^(\./loom bundle|out/loom-bundle/)", skip=lambda stage: "tests/nightly/bundle.sh runs it"),
    Rule(r"^pip install", skip=lambda stage: "installs from the network"),
]


def rule_of(text):
    for rule in RULES:
        if rule.pattern.search(text):
            rule.used = True
            return rule
    return Rule("")
