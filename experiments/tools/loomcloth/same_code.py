"""Source files that differ in comments, pages of documentation and layout alone: a result made with one is
as good as made with the other."""

from __future__ import annotations

import ast
import re

C_TOKEN = re.compile(
    r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|\w+|[()\[\]{};,/]|[^\w\s()\[\]{};,/\"']+|\S|\n",
    re.S,
)  # neighbours may be one operator: `- -b` is not `--b`
INI_COMMENT = re.compile(r"(^|\s)[;#].*$", re.M)
Code = tuple[str, ...]


def c_code(text: str) -> Code:
    """Tokens without comments.  A directive of the preprocessor ends with its line, so its end counts."""
    out: list[str] = []
    directive = False
    for token in C_TOKEN.findall(text.replace("\\\n", " ")):
        if token.startswith(("/*", "//")):
            continue
        if token == "\n":
            if directive:
                out.append(token)
            directive = False
            continue
        directive = directive or token == "#"
        out.append(token)
    return tuple(out)


def python_code(text: str) -> Code:
    """The syntax tree without its documentation; the text where it is no Python."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return (text,)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if (
            not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            or not body
        ):
            continue
        first = body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            del body[0]
    return (ast.dump(tree),)


def ini_code(text: str) -> Code:
    lines = (line.strip() for line in INI_COMMENT.sub("", text).splitlines())
    return tuple(line for line in lines if line)


READERS = {".c": c_code, ".h": c_code, ".py": python_code, ".ini": ini_code}


def code_of(name: str, text: str) -> Code:
    """The part of a source file that a result may depend on, by the end of its name."""
    read = READERS.get(name[name.rfind(".") :]) if "." in name else None
    return read(text) if read else (text,)
