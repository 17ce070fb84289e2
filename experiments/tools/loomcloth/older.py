"""Logs of older versions beside newer ones: keys that the older ones lack."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence

from loomcloth.config import owner_of
from loomcloth.search import binary

Settings = dict[str, str]


def defaults() -> dict[str, str]:
    """{"cloth.k_b": "1e-05", "contact.dbb.kappa": ...} of this version; {} without a binary."""
    try:
        done = subprocess.run([binary(), "describe", "--schema"], capture_output=True, text=True)
        parts = json.loads(done.stdout)["$defs"]
    except (OSError, ValueError, KeyError):
        return {}
    return {
        f"{part}.{key}": str(found["default"])
        for part, schema in parts.items()
        for key, found in schema.get("properties", {}).items()
        if "default" in found
    }


def _default(known: Mapping[str, str], section: str, plugin: str, key: str) -> str | None:
    kind, name = section.split(".")[0], key.rpartition(".")[2]
    return known.get(f"{kind}.{plugin}.{name}", known.get(f"{kind}.{name}"))


def fill(configs: Sequence[Settings]) -> None:
    """A key that a section of some configurations lacks, and that has its default in the others, gets it: a
    version without the key ran as this version runs with its default.  `loom run --resume` and replays
    do the same (cfg_add_defaults of framework/config/stored.c)."""
    members: dict[tuple[str, str], list[tuple[Settings, set[str]]]] = {}  # by section and plugin
    for config in configs:
        own: dict[str, set[str]] = {}
        for key in config:
            own.setdefault(key.rpartition(".")[0], set()).add(key)
        for section, keys in own.items():
            plugin = config.get(owner_of(f"{section}.plugin"), "")
            members.setdefault((section, plugin), []).append((config, keys))
    known: dict[str, str] | None = None
    for (section, plugin), rows in members.items():
        every = set().union(*(keys for _, keys in rows))
        for key in {k for _, keys in rows if len(keys) < len(every) for k in every - keys}:
            known = defaults() if known is None else known
            default = _default(known, section, plugin, key)
            if default is not None and {c[key] for c, keys in rows if key in keys} == {default}:
                for config, _ in rows:
                    config.setdefault(key, default)
