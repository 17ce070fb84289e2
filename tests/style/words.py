#!/usr/bin/env python3
"""Words that stand in for a noun, per 1,000 words of comments, messages, documents and Python's comments.

  words.py                  the rate of each folder; exit code 1 where one is above its bar
  words.py --list PATH...   each place in these files and folders

A stand-in hides the noun that the reader looks for: "Outputs that were not requested are NULL" names it.
"""

import collections
import io
import pathlib
import re
import sys
import tokenize

ROOT = pathlib.Path(__file__).resolve().parents[2]
STAND_INS = re.compile(r"\b(what|whatever|who|whose|whoever|those|nobody|somebody|anybody|nothing|likewise|such)\b", re.I)
WORD = re.compile(r"[A-Za-z][A-Za-z'-]+")
BARS = {"comments": 4.0, "messages": 2.0, "documents": 4.0, "python": 5.0}  # per 1,000 words
FEW = 300  # words: below them one stand-in is above each bar, so that one is allowed
C_PARTS = re.compile(r"""(?P<comment>/\*.*?\*/|//[^\n]*)|(?P<text>"(?:[^"\\\n]|\\.)*")|'(?:[^'\\\n]|\\.)+'""", re.S)


def parts_of_c(text):
    for m in C_PARTS.finditer(text):
        if m["comment"]:
            yield "comments", m.start(), m["comment"]
        elif m["text"] and len(WORD.findall(m["text"])) > 2:  # fewer: a name or a format
            yield "messages", m.start(), m["text"]


def parts_of_python(text):
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    last = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        stands_alone = token.type == tokenize.STRING and last in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
        if token.type == tokenize.COMMENT or stands_alone:
            yield "python", starts[token.start[0] - 1] + token.start[1], token.string
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            last = token.type


def parts_of(path):
    text = path.read_text(encoding="utf-8")
    if path.suffix in (".c", ".h", ".cu"):
        return text, parts_of_c(text)
    if path.suffix == ".py":
        return text, parts_of_python(text)
    if path.suffix == ".md":
        code = re.compile(r"^```.*?^```|`[^`\n]*`", re.S | re.M)
        return text, [("documents", 0, code.sub(lambda m: re.sub(r"\S", " ", m.group()), text))]
    sign = ";" if path.suffix == ".ini" else "#(?!!)"
    found = re.finditer(rf"(?:^|\s){sign}[^\n]*", text)
    return text, [("comments", m.start(), m.group()) for m in found]


def sources(below):
    suffixes = {".c", ".h", ".cu", ".py", ".md", ".sh", ".ini", ".cmake"}
    for path in [below] if below.is_file() else sorted(below.rglob("*")):
        inside = path.relative_to(ROOT).parts
        if path.is_file() and (path.suffix in suffixes or path.name in ("CMakeLists.txt", "loom")) and \
           not any(p.startswith(".") or p in ("build", "out", "results") for p in inside):
            yield path


def folder_of(path):
    inside = path.relative_to(ROOT).parts
    deep = 3 if inside[:2] == ("framework", "include") or inside[0] == "plugins" else 2
    return "/".join(inside[:min(deep, len(inside) - 1)]) or "."


def list_places(paths):
    for below in paths:
        for path in sources(pathlib.Path(below).resolve()):
            text, parts = parts_of(path)
            for _, start, part in parts:
                for m in STAND_INS.finditer(part):
                    at = start + m.start()
                    line = text[text.rfind("\n", 0, at) + 1:text.find("\n", at)].strip()
                    print(f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, at) + 1}: {m.group()}: {line}")


def main():
    if sys.argv[1:2] == ["--list"]:
        return list_places(sys.argv[2:])
    words, found = collections.Counter(), collections.Counter()
    for path in sources(ROOT):
        for kind, _, part in parts_of(path)[1]:
            for key in ((folder_of(path), kind), ("all", kind)):
                words[key] += len(WORD.findall(part))
                found[key] += len(STAND_INS.findall(part))
    over = []
    for key in sorted(words):
        folder, kind = key
        rate = 1000.0 * found[key] / max(words[key], 1)
        print(f"{folder:32} {kind:10} {words[key]:7} words {found[key]:5} stand-ins {rate:6.1f} in 1,000"
              f"  (at most {BARS[kind]:.0f})")
        if rate > BARS[kind] and found[key] > (1 if words[key] < FEW else 0):
            over.append(f"{folder}: {kind}: {rate:.1f} stand-ins in 1,000 words, at most {BARS[kind]:.0f}: "
                        f"tests/style/words.py --list {folder}")
    print("\n".join(over), end="\n" if over else "")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
