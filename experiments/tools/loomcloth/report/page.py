"""The file: one page with its data and libraries in it, compressed; it loads no other file.

Values from logs are text or data of the page, never a part of its program: the template is filled in one
pass, data hold none of the characters that HTML reads, and the page's policy admits only its own scripts, by
their hashes.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import zlib
from importlib.resources import files
from pathlib import Path
from typing import Any

from loomcloth import output
from loomcloth.terminal import stripped

# Characters of JSON that HTML or a script would interpret; as escapes of JSON they mean the same.
IN_JSON = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029\x7f"}
# Fonts that K3D would look for beside the page.
FONT_FILES = re.compile(r'url\(fonts/[\w-]+\.\w+\) format\("\w+"\)')
SCRIPTS = ("fflate", "began", "script", "require")  # that stand in the page as they are
UNPACKED = ("plotly", "k3d")  # that the page unpacks and adds as scripts


def _packed(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, 9)).decode()


def _asset(package: str, *names: str) -> str:
    return files(package).joinpath(*names).read_text(encoding="utf-8")


def text(value: object) -> str:
    """As text of the page."""
    return html.escape(stripped(str(value)))


def table(head: list[str], rows: list[list[Any]]) -> str:
    cells = "".join(f"<th>{text(h)}</th>" for h in head)
    body = "".join("<tr>" + "".join(f"<td>{text(c)}</td>" for c in row) + "</tr>" for row in rows)
    return f"<div class=wide><table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table></div>"


def in_script(data: dict[str, Any]) -> str:
    """JSON that may stand in a script element."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).translate(IN_JSON)


def policy(scripts: list[str]) -> str:
    """Of the page: only these scripts, its own style, pictures that it draws itself; no network."""
    hashes = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts]
    return "; ".join(
        [
            "default-src 'none'",
            "script-src " + " ".join(f"'sha256-{h}'" for h in hashes),
            "style-src 'unsafe-inline'",
            "img-src data: blob:",
            "font-src data:",
            "worker-src blob:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def filled(page: str, parts: dict[str, str]) -> str:
    """The template with its parts, in one pass: a part that holds @@NAME@@ holds it as text."""
    return re.sub("@@([a-z0-9]+)@@", lambda found: parts[found[1]], page)


def write(path: Path, title: str, parts: dict[str, str], data: dict[str, Any], snapshot: bytes | None) -> int:
    """PATH with the texts in their places; its size in bytes."""
    sources = {
        "plotly": _asset("plotly", "package_data", "plotly.min.js"),
        "k3d": FONT_FILES.sub('local("none")', _asset("k3d", "static", "standalone.js")) if snapshot else "",
        "fflate": _asset("k3d", "static", "fflate.js"),
        "began": "window.reportBegan = performance.now();",
        "script": _asset("loomcloth.report", "page.js"),
        "require": _asset("k3d", "static", "require.js") if snapshot else "",
    }
    page = filled(
        _asset("loomcloth.report", "page.html"),
        {
            **{name: sources[name] for name in SCRIPTS},
            **{name: _packed(sources[name].encode()) for name in UNPACKED},
            "policy": policy([s for s in sources.values() if s]),
            "data": in_script(data),
            "scene": base64.b64encode(snapshot).decode() if snapshot else "",
            "style": _asset("loomcloth.report", "page.css"),
            "title": text(title),
            **parts,
        },
    )
    with output.replacing(path) as part:
        Path(part).write_text(page, encoding="utf-8", newline="")
    return path.stat().st_size
