"""Keys and values that messages name, against `loom describe`; sources of the core on standard input.

A plugin's messages are taken from its .so, which also holds messages of shared sources: a remedy must
exist in the plugin that gives it."""
import json
import re
import subprocess
import sys

SECTIONS = "run exec stop detect filter log cloth solid yarn body pin wind pressure friction dress solver collision contact".split()
PROSE = {"and", "or", "of", "is", "has", "needs", "section", "sections", "beside", "nor"}  # behind [section]
NO_KEYS = {"key", "eta", "loom_real"}  # "key = value" in general, a formula, a C type
EVERYWHERE = {"plugin": set(), "include": set()}
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def ask(binary, *command):
    text = subprocess.run([binary, *command, "--json"], check=True, capture_output=True, text=True)
    return json.loads(text.stdout)


def choices(params):
    """Key -> set of choices, empty if it has none."""
    return {p["key"]: set((p.get("choices") or "").split("|")) - {""} for p in params}


def literals(path):
    """Place and text of string literals; adjacent ones are one."""
    with open(path, encoding="utf-8") as file:
        source = re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group().count("\n"), file.read(), flags=re.S)
    texts = []
    for m in LITERAL.finditer(source):
        if texts and source[texts[-1][1]:m.start()].strip() == "":
            texts[-1][1:] = [m.end(), texts[-1][2] + m.group(1)]
        else:
            texts.append([m.start(), m.end(), m.group(1)])
    texts = [(start, end, text.replace("\\n", "\n")) for start, end, text in texts]
    return [(f"{path}:{source.count(chr(10), 0, start) + 1}", text) for start, _, text in texts]


def strings(path):
    with open(path, "rb") as file:
        return [(path, text.decode()) for text in re.findall(rb"[\t\n -~]{8,}", file.read())]


def complaints(text, known):
    """known: section -> key -> choices"""
    for section, key in re.findall(r"\[([a-z]+)(?:\.[A-Za-z]+)?\] ([a-z][a-z_0-9]*)", text):
        if section in known and key not in known[section] and key not in PROSE and key not in EVERYWHERE:
            yield f"[{section}] has no key {key}"
    for key, value in re.findall(r"(?<![\w.])([a-z][a-z_0-9]+) = ([a-z][a-z_0-9+]*)(?![\w%+])", text):
        homes = [keys[key] for keys in [*known.values(), EVERYWHERE] if key in keys]
        if not homes and key not in NO_KEYS:
            yield f"there is no key {key} to be set to {value}"
        if homes and all(homes) and value not in set().union(*homes):
            yield f"{key} has no choice {value}"


def main():
    binary = sys.argv[1]
    core = {s: choices(p for e in ask(binary, "describe", s) if "section" in e for p in e["params"])
            for s in SECTIONS}
    found, everything = [], {s: dict(keys) for s, keys in core.items()}
    for plugin in ask(binary, "list")["plugins"]:
        if "path" not in plugin:
            continue
        kind, known = plugin["kind"], {s: dict(keys) for s, keys in core.items()}
        for entry in ask(binary, "describe", plugin["name"]):
            if entry.get("kind") == kind:
                known[kind].update(choices(entry["params"]))
                everything[kind].update(choices(entry["params"]))
        found += [(place, what) for place, text in strings(plugin["path"]) for what in complaints(text, known)]
    for path in sys.stdin.read().split():
        found += [(place, what) for place, text in literals(path) for what in complaints(text, everything)]
    for place, what in sorted(set(found)):
        print(f"{place}: {what}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
