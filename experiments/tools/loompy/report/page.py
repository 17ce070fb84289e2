"""The file: one page with its data and libraries in it, compressed; nothing is fetched."""

from __future__ import annotations

import base64
import html
import json
import zlib
from importlib.resources import files
from pathlib import Path
from typing import Any


def _packed(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, 9)).decode()


def _asset(package: str, *names: str) -> str:
    return files(package).joinpath(*names).read_text(encoding="utf-8")


def table(head: list[str], rows: list[list[Any]]) -> str:
    cells = "".join(f"<th>{html.escape(str(h))}</th>" for h in head)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(str(c))}</td>" for c in row) + "</tr>" for row in rows)
    return f"<div class=wide><table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table></div>"


def write(path: Path, title: str, parts: dict[str, str], data: dict[str, Any], snapshot: bytes | None) -> int:
    """PATH with the texts in their places; its size in bytes."""
    page = _asset("loompy.report", "page.html")
    packed = {
        "plotly": _packed(_asset("plotly", "package_data", "plotly.min.js").encode()),
        "k3d": _packed(_asset("k3d", "static", "standalone.js").encode()) if snapshot else "",
        # </ would end the script that it stands in
        "data": json.dumps(data, separators=(",", ":"), allow_nan=False).replace("</", "<\\/"),
        "scene": base64.b64encode(snapshot).decode() if snapshot else "",
        "fflate": _asset("k3d", "static", "fflate.js"),
        "require": _asset("k3d", "static", "require.js") if snapshot else "",
        "style": _asset("loompy.report", "page.css"),
        "script": _asset("loompy.report", "page.js"),
        "title": html.escape(title),
        **parts,
    }
    for part in page.split("@@")[1::2]:
        page = page.replace(f"@@{part}@@", packed[part], 1)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8")
    return path.stat().st_size
