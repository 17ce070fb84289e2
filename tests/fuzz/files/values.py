"""Values for the keys of loom: valid, at the edge, beyond it, and none at all.

The keys, their types and ranges come out of `loom describe --json`, so that a new key is fuzzed from
the day it exists.
"""

import json
import re
import subprocess

SECTIONS = ("run", "exec", "stop", "detect", "filter", "log", "cloth", "body", "yarn", "solid", "pin")
KINDS = ("solver", "collision", "contact")
# Where a run may end up is no place for chance, and a memory that is not to be checked may be used up.
NEVER = {("exec", "plugin_path"), ("exec", "memory_check"), ("log", "file"), ("run", "replay")}

ODD = ("", "nan", "inf", "-inf", "-1", "0", "1e308", "1e309", "-1e308", "4.9e-324", "1e-300", "0x10",
       "9223372036854775807", "9223372036854775808", "-9223372036854775809", "1e30", "1 2 3 4 5 6 7",
       "0 0 0", "nan nan nan", "1e300 1e300 1e300", "yes", "no", "none", "auto", "all", "'", '"', "\\",
       "%s%s%n", "|", "| |", ";", "#", "1 mm", "1 furlong", "1 cm cm", "3/4", "1,5", "\u00e4", "a" * 5000,
       "-0", "+1", "1e", ".", "..", "/", "/dev/null", "[", "]", "=", "0 0", "1 1", "2 2", "3 3", "100 2")


def describe(binary, name, env):
    done = subprocess.run([binary, "describe", name, "--json"], env=env, capture_output=True, text=True,
                          timeout=120, check=False)
    if done.returncode != 0:
        return []
    found = json.loads(done.stdout)
    return found if isinstance(found, list) else [found]


class Keys:
    """Parameters of every section and plugin."""

    def __init__(self, binary, env):
        listed = subprocess.run([binary, "list", "--json"], env=env, capture_output=True, text=True,
                                timeout=120, check=True)
        self.section = {name: p["params"] for name in SECTIONS for p in describe(binary, name, env)}
        self.plugin = {kind: {} for kind in KINDS}
        for name in sorted({p["name"] for p in json.loads(listed.stdout)["plugins"]}):
            for entry in describe(binary, name, env):
                self.plugin[entry["kind"]][name] = entry["params"]

    def of(self, section, plugin=None):
        kind = section.split(".")[0]
        own = self.section.get(kind, []) + self.plugin.get(kind, {}).get(plugin, [])
        return [p for p in own if (kind, p["key"]) not in NEVER]


def number(rng, p, wild):
    low, high = float(p.get("min", 0) or 0), float(p.get("max", 1) or 1)
    pick = rng.randrange(4)
    if wild and pick < 2:
        return low - abs(low) - 1 if pick == 0 else high + abs(high) + 1
    if pick == 0:
        return low
    if pick == 1 and high < 1e4:
        return high
    if pick == 2 and re.match(r"^[-0-9.e+]+( |$)", p.get("default", "")):
        return float(p.get("default", "").split()[0])
    if low <= 0 < high:
        return min(high, 1e3) * 10.0 ** rng.uniform(-12, 0)
    return rng.uniform(low, min(high, low + 1000))  # a large scene is honest work


def value(rng, p, wild=True):
    """One text for a parameter; not `wild`: one that it should take."""
    kind = p["type"]
    if wild and rng.random() < 0.4:
        return rng.choice(ODD)
    if kind == "enum":
        return rng.choice(p["choices"].split("|"))
    if kind == "bool":
        return rng.choice(("yes", "no", "maybe", "1") if wild else ("yes", "no"))
    if kind == "int":
        return str(int(min(max(number(rng, p, wild), -2e18), 2e18)))
    if kind == "real":
        return repr(number(rng, p, wild))
    if kind == "vec3":
        return " ".join(repr(number(rng, p, wild)) for _ in range(rng.choice((2, 3, 4)) if wild else 3))
    return words(rng, p) if wild else p.get("default", "")


def words(rng, p):
    """A text of words from the documentation, and numbers."""
    known = re.findall(r"[a-z_]{3,}", p.get("doc", "")) + ["translate", "rotate", "scale", "hold"]
    out = []
    for _ in range(rng.choice((1, 1, 2, 4, 8, 30))):
        out.append(rng.choice((rng.choice(known), rng.choice(ODD), f"{rng.uniform(-2, 2):.3g}",
                               str(rng.randrange(-3, 200)), "|")))
    return " ".join(out)
