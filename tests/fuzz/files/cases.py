"""One hostile input of each kind: files in a folder and the commands that read them.

A maker gets a generator of its own (seed, kind, number), so that any one input can be made again
without the inputs before it.
"""

import shutil

import bases
import journals
import motions
import mutate
import tets
from values import KINDS, ODD, value

CHECK = ["check", "case.ini"]


def parsed(text):
    """Sections of a base and their lines; bases are plain."""
    found = {}
    for line in text.split("\n"):
        if line.startswith("["):
            found[line[1:-1]] = rows = []
        elif line:
            rows.append(line)
    return found


def change(rng, keys, sections, wild):
    """A key of a section that is there or new, replaced."""
    new = rng.choice(("filter", "detect", "cloth.b", "body.b", "yarn.a", "solid.a", "pin.a"))
    name = rng.choice(sorted(sections)) if rng.random() < 0.7 else new
    rows = sections.setdefault(name, [])
    plugin = next((r.split("=")[1].strip() for r in rows if r.startswith("plugin")), None)
    kind = name.split(".")[0]
    if kind in KINDS and rng.random() < 0.15:
        plugin = rng.choice(sorted(keys.plugin[kind]))
        rows[:] = [f"plugin = {plugin}"]
    known = keys.of(name, plugin)
    if not known:
        return
    p = rng.choice(known)
    rows[:] = [r for r in rows if r.split("=")[0].strip() != p["key"]] + [f"{p['key']} = {value(rng, p, wild)}"]


def ini(rng, keys, base, at):
    """A good config with keys of every section and plugin changed, at most one wildly; or damaged as a
    text."""
    scene = bases.SCENES[rng.choice(sorted(bases.SCENES))]
    if rng.random() < 0.3:
        data = mutate.of_text(rng, scene)
    else:
        sections = parsed(scene)
        for _ in range(rng.choice((0, 1, 3, 8))):
            change(rng, keys, sections, False)
        if rng.random() < 0.7:
            change(rng, keys, sections, True)
        data = "\n".join("\n".join([f"[{n}]", *rows]) for n, rows in sections.items()).encode("utf-8", "replace")
        if rng.random() < 0.1:
            data = mutate.of_bytes(rng, data)
    if rng.random() < 0.1:
        (at / "more.ini").write_bytes(b"include = case.ini\n" if rng.random() < 0.3 else data)
        data = b"include = more.ini\n" + data
    (at / "case.ini").write_bytes(data)
    (at / "keys.txt").write_text(bases.KEYS)
    return [CHECK]


def mesh(rng, keys, base, at):
    name = rng.choice(sorted(bases.MESHES))
    data, use = bases.MESHES[name]
    if data is None:
        data = (base / name).read_bytes()
    text = name.endswith("obj") or name == "a.ply"
    data = mutate.of_text(rng, data.decode()) if text and rng.random() < 0.7 else mutate.of_bytes(rng, data)
    (at / name).write_bytes(data)
    (at / "case.ini").write_text("[solver]\nplugin = gd\n" + use.replace("FILE", name))
    return [CHECK]


def solid(rng, keys, base, at):
    files = dict(tets.FILES)
    files["a.node"], files["a.ele"] = tets.tetgen()
    name = rng.choice(sorted(files))
    for other in ("a.node", "a.ele") if name.startswith("a.") else ():
        (at / other).write_bytes(files[other])
    text = "text" in name or name.startswith("a.")
    data = mutate.of_text(rng, files[name].decode()) if text and rng.random() < 0.6 else mutate.of_bytes(rng, files[name])
    (at / name).write_bytes(data)
    (at / "case.ini").write_text(f"[solver]\nplugin = gd\n[solid.a]\nshape = mesh\nfile = {name}\n")
    return [CHECK]


def grid(rng, keys, base, at):
    (at / "a.sdf").write_bytes(mutate.of_text(rng, bases.GRID))
    (at / "case.ini").write_text("[solver]\nplugin = gd\n" + bases.SHEET + "[body.a]\nshape = sdf\nfile = a.sdf\n")
    return [CHECK]


def keyframes(rng, keys, base, at):
    (at / "keys.txt").write_bytes(mutate.of_text(rng, bases.KEYS))
    (at / "case.ini").write_text("[solver]\nplugin = gd\n" + bases.SHEET + bases.BODIES)
    return [CHECK]


def damage(rng, path):
    if rng.random() < 0.5:
        mutate.of_hdf5(rng, path)
    else:
        path.write_bytes(mutate.of_bytes(rng, path.read_bytes()))


def log(rng, keys, base, at):
    name = rng.choice(sorted(bases.SCENES))
    shutil.copy(base / f"{name}.h5", at / "a.h5")
    shutil.copy(base / f"{name}.h5", at / "b.h5")
    damage(rng, at / "a.h5")
    kind = rng.choice(("obj", "ply", "vtu", "csv", "bcc", "tubes", "frames"))
    return [rng.choice((["info", "a.h5"], ["info", "--json", "a.h5"], ["info", "--config", "a.h5"], ["verify", "a.h5"],
                        ["verify", "--trajectory", "a.h5"], ["compare", "a.h5", "b.h5"], ["compare", "b.h5", "a.h5"],
                        ["export", "a.h5", "--format", kind, "-o", "out"],
                        ["export", "a.h5", "--format", kind, "-o", "out"]))]


def checkpoint(rng, keys, base, at):
    name = rng.choice(sorted(bases.SCENES))
    for part in ("ini", "h5", "check.h5", "check.prev.h5"):
        if (base / f"{name}.{part}").exists() and (part != "check.prev.h5" or rng.random() < 0.5):
            shutil.copy(base / f"{name}.{part}", at / f"case.{part}")
    (at / "keys.txt").write_text(bases.KEYS)
    damage(rng, at / rng.choice(("case.check.h5", "case.check.h5", "case.check.h5", "case.h5")))
    return [["run", "case.ini", "-n", "4", "-o", "case.h5", "--quiet", "--resume"]]


def journal(rng, keys, base, at):
    name = rng.choice(sorted(bases.SCENES))
    journals.put(rng, base / f"{name}.h5", at)
    shutil.copy(base / f"{name}.h5", at / "b.h5")
    return [rng.choice((["info", "a.h5"], ["info", "--json", "a.h5"], ["verify", "a.h5"], ["compare", "a.h5", "b.h5"],
                        ["export", "a.h5", "--format", "obj", "-o", "out"])), ["info", "a.h5"]]


def sets(rng, keys, base, at):
    """Settings from outside, and command lines of any shape."""
    name = rng.choice(sorted(bases.SCENES))
    shutil.copy(base / f"{name}.ini", at / "case.ini")
    shutil.copy(base / f"{name}.h5", at / "a.h5")
    (at / "keys.txt").write_text(bases.KEYS)
    args = list(CHECK)
    for _ in range(rng.choice((1, 1, 2, 3))):
        where = rng.choice(("run", "exec", "stop", "detect", "filter", "log", "cloth.sheet", "body.ball", "yarn.swatch",
                            "solver", "contact.all", "contact.bodies", "collision.bodies", "pin.a", "cloth.new"))
        kind = where.split(".")[0]
        plugin = rng.choice(sorted(keys.plugin[kind])) if kind in KINDS else None
        known = keys.of(where, plugin)
        p = rng.choice(known) if known else {"key": "plugin", "type": "text", "doc": ""}
        key = p["key"] if rng.random() < 0.95 else rng.choice(ODD)
        args += ["--set", f"{where}.{key}={value(rng, p, rng.random() < 0.5)}" if rng.random() < 0.95 else rng.choice(ODD)]
    if rng.random() < 0.3:
        known = ("check", "list", "describe", "info", "verify", "compare", "export", "ccd", "--help", "--version", "--json",
                 "--set", "case.ini", "a.h5", "keys.txt", ".", "missing", "-n", "1", "--frame", "--format", "csv", "all",
                 "penalty", "ndb", "body", "--tolerance", "--", "-")
        args = [rng.choice(known) for _ in range(rng.randrange(0, 7))]
        args = [rng.choice(ODD) if rng.random() < 0.1 else a for a in args]
    return [[a.replace("\0", "") for a in args]]


# Shares of all inputs.
MAKERS = {"ini": (ini, 0.3), "journal": (journal, 0.05), "mesh": (mesh, 0.2), "log": (log, 0.15), "sets": (sets, 0.14),
          "checkpoint": (checkpoint, 0.08), "grid": (grid, 0.04), "keyframes": (keyframes, 0.04), "solid": (solid, 0.06),
          "motion": (motions.motion, 0.06)}
