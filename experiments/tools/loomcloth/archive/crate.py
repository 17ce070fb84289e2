"""The description of an archive: RO-Crate 1.1 (https://w3id.org/ro/crate/1.1), hashes, and a page to read."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from loomcloth.archive.versions import Software

METADATA = "ro-crate-metadata.json"
HASHES = "manifest-sha256.txt"
CRATE = "https://w3id.org/ro/crate/1.1"
FORMATS = {
    ".h5": "application/x-hdf5", ".ini": "text/plain", ".json": "application/json", ".md": "text/markdown",
    ".yaml": "application/yaml", ".yml": "application/yaml", ".obj": "model/obj", ".txt": "text/plain",
    ".done": "application/json", ".failed": "application/json",
}  # fmt: skip
SPDX = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*")
UNSTATED = "No licence is stated: ask the authors."


@dataclass
class About:
    """What the user says of the study."""

    title: str
    authors: list[str]
    licence: str
    date: str
    command: str
    specification: str  # its path in the archive
    missing: dict[str, str]
    specifications: list[str]
    kinds: dict[str, str]  # file: kind


def sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def names_in(stage: Path) -> list[str]:
    """Every file below the folder, by its path in it."""
    return sorted(p.relative_to(stage).as_posix() for p in stage.rglob("*") if p.is_file())


def write_hashes(stage: Path) -> None:
    """Lines that `sha256sum -c` reads."""
    lines = [f"{sha256(stage / n)}  {n}\n" for n in names_in(stage) if n != HASHES]
    (stage / HASHES).write_text("".join(lines))


def licence_entity(licence: str) -> dict[str, Any]:
    """An SPDX identifier, a URL, or a sentence."""
    if SPDX.fullmatch(licence):
        return {"@id": f"https://spdx.org/licenses/{licence}", "@type": "CreativeWork", "name": licence,
                "identifier": licence, "description": f"SPDX licence {licence}"}  # fmt: skip
    if re.match(r"https?://\S+$", licence):
        return {"@id": licence, "@type": "CreativeWork", "name": licence,
                "description": "licence of the data"}  # fmt: skip
    return {"@id": "#licence", "@type": "CreativeWork", "name": licence or UNSTATED,
            "description": licence or UNSTATED}  # fmt: skip


def _file(stage: Path, name: str, kind: str) -> dict[str, Any]:
    path = stage / name
    ending = os.path.splitext(name)[1]
    form = FORMATS.get(ending) or ("text/plain" if _is_text(path) else "application/octet-stream")
    entity = {"@id": quote(name), "@type": "File", "name": os.path.basename(name), "description": kind}
    entity |= {"encodingFormat": form, "contentSize": str(path.stat().st_size), "sha256": sha256(path)}
    return entity


def _is_text(path: Path) -> bool:
    with open(path, "rb") as file:
        return b"\0" not in file.read(1 << 12)


def _refer(entities: Iterable[dict[str, Any]]) -> dict[str, str] | list[dict[str, str]]:
    """One reference stands alone, several as a list."""
    found = [{"@id": e["@id"]} for e in entities]
    return found[0] if len(found) == 1 else found


def _software(software: Software) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Entities of programs, and of licences and papers that they name."""
    more: dict[str, dict[str, Any]] = {}
    found = []

    def licensed(text: str) -> dict[str, Any]:
        one = licence_entity(text)
        more[one["@id"]] = one
        return {"license": {"@id": one["@id"]}}

    for version, commit in sorted(software.looms):
        found.append({"@id": f"#loom-{version}-{commit}", "@type": "SoftwareApplication", "name": "loom",
                      "version": version, "identifier": commit, **licensed("MIT")})  # fmt: skip
    for i, p in enumerate(sorted(software.plugins, key=lambda p: (p.kind, p.name, p.build))):
        entity = {"@id": f"#plugin-{i}-{p.kind}-{p.name}", "@type": "SoftwareApplication", "name": p.name,
                  "version": p.version, "description": f"{p.kind} plugin of loom, build {p.build}",
                  **licensed(p.licence)}  # fmt: skip
        paper = software.references.get(p.name)
        if paper:
            doi = re.search(r"doi (10\.\S+)", paper)
            one = {"@id": f"https://doi.org/{doi[1]}" if doi else f"#paper-{p.name}", 
                   "@type": "ScholarlyArticle", "name": paper}  # fmt: skip
            more.setdefault(one["@id"], one)
            entity["citation"] = {"@id": one["@id"]}
        found.append(entity)
    for name, users in software.libraries.items():
        users = f"library of {users}, on the machine that made the archive"
        found.append({"@id": f"#library-{quote(name)}", "@type": "SoftwareApplication", "name": name,
                      "description": users})  # fmt: skip
    for name, version in software.packages.items():
        found.append({"@id": f"#python-{name}", "@type": "SoftwareApplication", "name": name,
                      "version": version, "description": "made the archive"})  # fmt: skip
    return found, list(more.values())


def write_metadata(stage: Path, about: About, software: Software) -> None:
    programs, beside = _software(software)
    names = [n for n in names_in(stage) if n not in (METADATA, HASHES)]
    parts = [_file(stage, n, about.kinds.get(n, "state of a sweep")) for n in names]
    licence = licence_entity(about.licence)
    authors = [{"@id": f"#author-{i}", "@type": "Person", "name": a} for i, a in enumerate(about.authors)]
    inputs = [p for p in parts if p["description"] in ("specification", "configuration", "input")]
    results = [p for p in parts if p["description"] in ("log", "log of a reference")]
    instruments = [p for p in programs if not p["@id"].startswith("#python")]
    action = {
        "@id": "#runs", "@type": "CreateAction", "name": f"loom sweep {about.specification}",
        "description": f"{software.runs} runs on {'; '.join(sorted(software.machines))}",
        "instrument": _refer(instruments), "object": _refer(inputs), "result": _refer(results),
        "endTime": software.last,
    }  # fmt: skip
    archived = {
        "@id": "#archive", "@type": "CreateAction", "name": about.command, "endTime": about.date,
        "instrument": _refer(p for p in programs if p["@id"].startswith("#python")), "result": {"@id": "./"},
    }  # fmt: skip
    papers = [e for e in beside if e["@type"] == "ScholarlyArticle"]
    root = {
        "@id": "./", "@type": "Dataset", "name": about.title, "datePublished": about.date,
        "description": f"Logs of {software.runs} cloth simulations by loom, with specification and inputs",
        "license": {"@id": licence["@id"]}, "hasPart": _refer(parts), "mentions": _refer([action, archived]),
        "citation": _refer(papers),
    }  # fmt: skip
    if authors:
        root["author"] = _refer(authors)
    entities = {e["@id"]: e for e in [licence, *beside]}
    graph = [
        {"@id": METADATA, "@type": "CreativeWork", "conformsTo": {"@id": CRATE}, "about": {"@id": "./"}},
        root, *parts, *authors, action, archived, *programs, *entities.values(),
    ]  # fmt: skip
    context = [f"{CRATE}/context", {"sha256": "https://schema.org/sha256"}]
    text = json.dumps({"@context": context, "@graph": graph}, indent=1, ensure_ascii=False)
    (stage / METADATA).write_text(text + "\n", encoding="utf-8")
