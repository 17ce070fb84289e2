#!/usr/bin/env python3
"""A stranger's first day: every command that the documents show works as described.

In a fresh copy of the sources, page by page and line by line, the same text; long commands are
shortened by the one table in commands.py, and one file of runs by stage.py.  Then every exit code of exit-codes.md, each by a command
that ends with it.  LOOM_SOURCE_DIR, LOOM_BINARY_DIR: the sources to copy, and their build.
--day: the pages of a first day only, and no exit codes.  --fresh: a clone that builds itself from an empty tree.  --only=REGEX: places and commands that match.
LOOM_KEEP=1 leaves the copy.
"""

import os
import re
import sys
import time

from commands import DAY, RULES, commands_of, pages, rule_of
from exit_codes import exit_codes
from stage import Stage


def try_command(stage, command):
    """'' or the failure; a skip is told and is none."""
    if command.language == "python":
        code, out = stage.python(command.text)
        if code is None:
            print(f"SKIP: {command.place}: the Python example: {out}")
            return ""
        return "" if code == 0 else f"the Python example ended with {code}\n{out}"
    rule = rule_of(command.text)
    reason = rule.skip(stage) if rule.skip else None
    if reason:
        print(f"SKIP: {command.place}: {command.text}: {reason}")
        return ""
    page_folder = str(command.page.parent)
    away = command.text.startswith("../../loom")
    text = rule.reduced(command.text, stage).replace("/tmp/", f"{stage.work}/tmp/")
    if (text, away) in stage.done:  # says the same wherever it stands
        return ""
    stage.done.add((text, away))
    began = time.monotonic()
    code, out = stage.run(text, page_folder if away else ".")
    print(f"{time.monotonic() - began:6.1f} s  {command.place}: {text}", flush=True)
    if code in rule.codes:
        return ""
    return f"{command.text}\n  run as: {text}\n  exit code {code}\n{out[-3000:]}"


def main():
    fresh, day = "--fresh" in sys.argv[1:], "--day" in sys.argv[1:]
    stage = Stage(os.environ["LOOM_SOURCE_DIR"], os.environ["LOOM_BINARY_DIR"], fresh)
    only = next((a[7:] for a in sys.argv[1:] if a.startswith("--only=")), "")
    failures, count = [], 0
    try:
        for page in pages(stage.root, DAY if day else None):
            for command in commands_of(stage.root, page):
                if not re.search(only, f"{command.place}: {command.text}"):
                    continue
                count += 1
                wrong = try_command(stage, command)
                if wrong:
                    failures.append(f"{command.place}: {wrong}")
        if not day and re.search(only, "exit codes"):
            failures += exit_codes(stage)
        left = stage.run("git status --porcelain --untracked-files=no")[1] if fresh else ""
        if left.strip():
            failures.append(f"the commands left the repository changed:\n{left}")
    finally:
        stage.close()
    failures += [] if only or day else [f"commands.py: no command matches the rule {rule.pattern.pattern}"
                 for rule in RULES if not rule.used]
    for failure in failures:
        print(f"FAILED: {failure}")
    print(f"{count} commands, {len(failures)} failures")
    return 1 if failures or (not only and count < (30 if day else 60)) else 0


if __name__ == "__main__":
    sys.exit(main())
