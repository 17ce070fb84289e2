"""Pages that GitHub shows, rewritten for Python-Markdown, which is behind MkDocs.

It indents the text of a list by 4 columns, wants an empty line before a list or a table, and knows no fence
inside of a list.
"""

from __future__ import annotations

import re

ITEM = re.compile(r" *([-*]|\d+\.) +")


class Lists:
    def __init__(self) -> None:
        self.out: list[str] = []
        self.insides: list[int] = []  # columns where the text of the open items begins
        self.depth = 0  # open items at the last line
        self.loose = False  # the open list has empty lines
        self.fence: int | None = None  # column of an open fence

    def indent(self, column: int) -> str:
        """The new indent of a line that begins there; ends items that it is not in."""
        while self.insides and column < self.insides[-1]:
            self.insides.pop()
        return " " * (4 * len(self.insides) + column - (self.insides[-1] if self.insides else 0))

    def part(self) -> None:
        if self.out and self.out[-1]:
            self.out.append("")

    def in_fence(self, line: str) -> None:
        ends = line.strip() == "```"
        if self.insides:
            self.out.append("" if ends else " " * (4 * len(self.insides) + 4) + line[self.fence :])
        else:
            self.out.append(line)
        self.fence = None if ends else self.fence

    def add(self, line: str) -> None:
        column = len(line) - len(line.lstrip(" "))
        item = ITEM.match(line)
        before = self.out[-1] if self.out else ""
        if self.fence is not None:
            self.in_fence(line)
        elif line.strip().startswith("```"):
            indent, self.fence = self.indent(column), column
            self.part() if indent else self.out.append(line)
        elif item:
            indent = self.indent(column)
            if len(self.insides) >= self.depth or self.loose:  # the first item, or one after paragraphs
                self.part()
            self.insides.append(len(item[0]))
            self.out.append(indent + line[column:])
        elif not line:
            self.out.append("")
        elif self.insides and column >= self.insides[0]:
            self.out.append(self.indent(column) + line[column:])
        elif self.insides and before:  # goes on at the margin
            self.out.append(line)
        else:
            self.insides.clear()
            if line.startswith("|") and not before.startswith("|"):
                self.part()
            self.out.append(line)
        self.depth = len(self.insides)
        self.loose = bool(self.insides) and (self.loose or not line)


def spaced(lines: list[str]) -> list[str]:
    lists = Lists()
    for line in lines:
        lists.add(line.rstrip())
    return lists.out
