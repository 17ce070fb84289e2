"""The resolved configuration of a log as flat keys, and which of them pose the problem."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

# The rule is that of a replay, framework/run/replay/replay_same.c: these sections and keys are methods,
# everything else poses the problem.
METHODS = ("solver", "peer", "collision", "contact", "stop", "detect", "filter", "exec", "log")
MAY_DIFFER_IN_RUN = (
    "steps", "seed", "guess", "forwarding", "forwarding_iters", "forwarding_below", "replay",
    "replay_first", "replay_state",
)  # fmt: skip
MAY_DIFFER = ("material", "sdf_resolution", "sdf_padding")
PATHS = ("file", "rest_file", "positions", "stitches", "keyframe_file", "frames", "replay")
# Say where and how a run was made; no two runs of a comparison need to agree in them.
BESIDE = ("exec.threads", "exec.plugin_path", "log.file")
# `same scene` or `other model` in logs of `loom peer`; a row of loom's own problem has none, as runs of loom.
PEER_KIND = "peer.kind"


# Keys of [cloth.NAME] that had another meaning or default, with the default of today, as loom prints it
# (framework/scene/base/stored.c translates them in loom).
TODAY = {"k_b": "1e-05", "bending": "2.4e-05", "pattern": "alternate"}
HINGES, PLATES = {"isometric", "hinge_isometric"}, {"plate", "plate_quadratic"}  # words of `model`
GENERATED = ("grid", "strip", "cylinder")  # shapes that read pattern


def translated(settings: dict[str, str]) -> dict[str, str]:
    """The settings of a log of an older version in today's keys: `bending` was the k_b of a hinge, and
    `pattern` has another default in cloths that do not read it."""
    found = dict(settings)
    for section in [k.rpartition(".")[0] for k in settings if re.fullmatch(r"cloth\..*\.model", k)]:
        parts, bending = set(settings[f"{section}.model"].split("+")), settings.get(f"{section}.bending")
        if bending is not None and f"{section}.k_b" not in settings:
            found[f"{section}.k_b"] = bending if parts & HINGES else TODAY["k_b"]
            if not parts & PLATES:
                found[f"{section}.bending"] = TODAY["bending"]
        if f"{section}.pattern" in settings and settings.get(f"{section}.shape") not in GENERATED:
            found[f"{section}.pattern"] = TODAY["pattern"]
    return found


def peer_settings(text: str) -> dict[str, str]:
    """Settings of a program whose steps were measured: a key each of a JSON object, else the text as one."""
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        return {"peer.settings": text}
    if found.get("kind") == "same problem":
        del found["kind"]
    return {f"peer.{k}": v if isinstance(v, str) else json.dumps(v) for k, v in found.items() if "." not in k}


def flat(text: str) -> dict[str, str]:
    """{"cloth.sheet.density": "0.2", ...} of an INI text as `loom check` prints it."""
    found: dict[str, str] = {}
    section = ""
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1].strip()
        elif line and line[0] not in ";#" and "=" in line:
            key, value = line.split("=", 1)
            found[f"{section}.{key.strip()}"] = value.strip()
    return found


def as_object(text: str) -> dict[str, Any]:
    """An INI file of loom as the object that `loom describe --schema` describes; values as texts."""
    found: dict[str, Any] = {}
    section: dict[str, Any] = found
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("["):
            section = found.setdefault(line[1 : line.index("]")].strip(), {})
        elif line and line[0] not in ";#" and "=" in line:
            key, value = (part.strip() for part in line.split("=", 1))
            quote = value[:1] if value[:1] in ('"', "'") else ""
            value = value[1:].split(quote)[0] if quote else re.split("[;#]", value, maxsplit=1)[0].strip()
            if section is found:
                found.setdefault(key, []).append(value)
            else:
                section[key] = value
    return found


def poses_problem(key: str) -> bool:
    """Whether "section.key" belongs to the problem and not to the method."""
    if key == PEER_KIND:  # the kinds of rows of `loom peer` never stand in one ranking
        return True
    section, name = key.rsplit(".", 1)
    if section.split(".")[0] in METHODS or name in MAY_DIFFER:
        return False
    return not (section == "run" and name in MAY_DIFFER_IN_RUN)


def comparable(key: str, value: str) -> str:
    """A value as it is compared: of a path the name of the file, as logs move."""
    return value.rsplit("/", 1)[-1] if key.rsplit(".", 1)[1] in PATHS else value


def owner_of(key: str) -> str:
    """The key that selects the plugin to which this setting belongs; "" for a setting of no plugin."""
    section = key.rsplit(".", 1)[0]
    if section == "peer":
        return "" if key == PEER_KIND else "solver.plugin"
    return f"{section}.plugin" if section.split(".")[0] in ("solver", "collision", "contact") else ""


def differing(configs: Sequence[Mapping[str, str]]) -> list[str]:
    """Keys with values that are not the same in all, in the order of their first appearance.  A key that
    some configuration lacks differs; settings of a plugin count only among runs with that plugin."""
    found = []
    for key in dict.fromkeys(k for config in configs for k in config):
        values: dict[str | None, set[str | None]] = {}
        owner = owner_of(key)
        for config in configs:
            who = config.get(owner) if owner not in ("", key) else ""
            values.setdefault(who, set()).add(comparable(key, config[key]) if key in config else None)
        if any(len(v) > 1 for v in values.values()):
            found.append(key)
    return found


def _contacts(config: Mapping[str, str]) -> list[str]:
    contacts = [v for k, v in config.items() if k.startswith("contact.") and k.endswith(".plugin")]
    return [v for v in dict.fromkeys(contacts) if v != "none"]


def contact_of(config: Mapping[str, str]) -> str:
    """The names of the contact models, in order; none where another program made the steps."""
    if "peer.version" in config:
        return "none"
    return " + ".join(_contacts(config)) or "none"


def method_of(config: Mapping[str, str]) -> str:
    """`solver + contact` by the names of the plugins, the contact models in order; of measured steps of
    another program its name and version alone, as the contact models only measured them."""
    if "peer.version" in config:
        return f"{config['solver.plugin']} {config['peer.version']}".strip()
    return " + ".join([config.get("solver.plugin", "?"), *_contacts(config)])


def short_names(keys: Sequence[str]) -> dict[str, str]:
    """The last words of keys, as many as tell them apart: "solver.plugin" stays, "run.dt" is "dt"."""
    short = {}
    for key in keys:
        words = key.split(".")
        for n in range(1, len(words) + 1):
            name = ".".join(words[-n:])
            alike = [k for k in keys if k == name or k.endswith("." + name)]
            if len(alike) == 1 and name != "plugin":
                break
        short[key] = name
    return short
