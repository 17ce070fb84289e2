"""The result of a system, from the files that run.sh has collected.

Usage: result.py FOLDER SUITE COMMIT OUT.json
Exit code 0: every bar holds; 1: one does not, and a line names it.
"""

import json
import os
import re
import sys
import time
from pathlib import Path

NAMES = ("run", "render", "test")
BAR_M = 1e-9  # largest distance of a vertex from the other machine's, in any frame
WARNING = re.compile(r"warning: |CMake (?:Deprecation )?Warning")
BUILDS = re.compile(r"^loom: building in (.*)$")
TESTED = re.compile(r"^\s*\d+/\d+ Test\s+#\d+: (\S+) [. ]*(?:\*\*\*)?(.*?)\s+[\d.]+ sec")
SKIPPED = re.compile(r"^(?:[0-9:]* *)?SKIP: (.*)$")


def read(path):
    return path.read_text(errors="replace") if path.is_file() else ""


def warnings_of(folder):
    """[(tree, text)]: each warning of compiler, linker and CMake once; tree: '' or 'asan'."""
    found = []
    for name in NAMES:
        tree = ""
        for line in read(folder / f"{name}.err").splitlines():
            builds = BUILDS.match(line)
            if builds:
                tree = "asan" if builds[1].endswith("/asan") else ""
            elif WARNING.search(line) and not line.startswith("loom: warning: "):  # of a run, not of its build
                found.append((tree, line.strip()))
    for log, tree in (("configure.log", ""), ("asan-configure.log", "asan")):
        found += [(tree, line.strip()) for line in read(folder / log).splitlines() if WARNING.search(line)]
    return list(dict.fromkeys(found))


def reasons_of(text):
    """{test: reason} of ctest's own log, in which a test that is left out says why"""
    reasons, name = {}, ""
    for line in text.splitlines():
        begin = re.match(r"^\d+/\d+ Test: (\S+)$", line)
        if begin:
            name = begin[1]
        skip = SKIPPED.match(line)
        if skip and name:
            reasons.setdefault(name, re.sub(rf"^{re.escape(name)}: ", "", skip[1]))
    return reasons


def tests_of(text, log):
    """Outcomes of a run of ctest: the number of passed tests, failures and skips by name."""
    outcome = {}
    for line in text.splitlines():
        done = TESTED.match(line)
        if done:
            outcome[done[1]] = done[2].strip()
    reasons = reasons_of(log)
    skipped = {n: reasons.get(n, "no reason was given") for n, o in outcome.items() if o == "Skipped"}
    failed = {n: o for n, o in outcome.items() if o not in ("Passed", "Skipped")}
    # a test that never started has no line of its own but stands in ctest's list
    for name, how in re.findall(r"^\s*\d+ - (\S+) \((.*?)\)", text, re.M):
        if name not in outcome and how != "Skipped":
            failed[name] = how
    return {"passed": sum(o == "Passed" for o in outcome.values()), "failed": failed, "skipped": skipped}


def compare(host, other):
    """Positions of all frames in two logs: the largest distance of a vertex (m), and whether all bits are equal."""
    import h5py
    import numpy

    with h5py.File(host, "r") as a, h5py.File(other, "r") as b:
        commits = [str(h.attrs["git_commit"].decode() if isinstance(h.attrs["git_commit"], bytes)
                       else h.attrs["git_commit"]) for h in (a, b)]
        if commits[0] != commits[1]:
            raise SystemExit(f"result.py: {host} is of commit {commits[0]}, {other} of {commits[1]}")
        xa, xb = a["frames/x"], b["frames/x"]
        if xa.shape != xb.shape:
            return {"frames": int(xb.shape[0]), "shape": f"{xb.shape}, not {xa.shape}", "largest_m": None, "same_bits": False}
        largest, same = 0.0, True
        for i in range(xa.shape[0]):
            p, q = xa[i], xb[i]
            same = same and p.tobytes() == q.tobytes()
            d = numpy.sqrt(((p.astype(float) - q.astype(float)) ** 2).sum(axis=1)).max()
            largest = max(largest, float(d)) if d == d else float("inf")
        return {"frames": int(xa.shape[0]), "vertices": int(xa.shape[1]), "largest_m": largest, "same_bits": same}


def versions_of(text):
    return dict(line.split(" ", 1) for line in text.splitlines() if " " in line)


def picture_of(path):
    """[width, height] of a PNG file, or None"""
    data = path.read_bytes()[:24] if path.is_file() else b""
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        return None
    return [int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")]


def gather(folder, suite, commit):
    out = folder / "out"
    commands = []
    for name in NAMES:
        if not (out / f"{name}.rc").exists() and not (out / f"{name}.err").exists():
            continue
        took = dict(re.findall(r"^(real|user|sys) ([\d.]+)$", read(out / f"{name}.time"), re.M))
        code = read(out / f"{name}.rc").strip()
        commands.append({
            "command": read(out / f"{name}.command").strip() or name,
            "exit_code": int(code) if code else None,
            "cpu_s": round(float(took.get("user", 0)) + float(took.get("sys", 0))),
            "wall_s": round(float(took.get("real", 0))),
        })
    warnings = warnings_of(out)
    result = {
        "suite": suite,
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "commit": commit,
        "made_new": (out / "new").exists(),
        "packages_before": int(read(folder / "packages") or 0),
        "cores": os.cpu_count(),
        "versions": versions_of(read(out / "versions")),
        "host": versions_of(read(folder / "host-versions")),
        "commands": commands,
        "warnings": [text for tree, text in warnings if not tree],
        "warnings_sanitized": [text for tree, text in warnings if tree],
        "picture": picture_of(out / "drape.png"),
    }
    if (out / "limit").exists():
        result["limit_s"] = int(read(out / "limit"))
    if (out / "drape.h5").exists():
        result["drape"] = compare(folder / f"host-{commit}.h5", out / "drape.h5")
    if (out / "test.log").exists():
        result["tests"] = tests_of(read(out / "test.log"), read(out / "Testing-Temporary-LastTest.log"))
    return result


def faults(result):
    """The failures, a line each."""
    found = []
    if "limit_s" in result:
        found.append(f"ended at the limit of {result['limit_s']} s of processor time")
    if not result["commands"]:
        found.append("no command was run")
    for c in result["commands"]:
        if c["exit_code"] != 0:
            ended = "did not end" if c["exit_code"] is None else f"ended with {c['exit_code']}"
            found.append(f"`{c['command']}` {ended}")
    found += [f"warning: {w}" for w in result["warnings"] + result["warnings_sanitized"]]
    drape = result.get("drape")
    if not drape:
        found.append("no log of the drape")
    elif drape["largest_m"] is None or not drape["largest_m"] <= BAR_M:
        found.append(f"the drape: {drape.get('shape') or drape['largest_m']} m from this machine's, {BAR_M} are allowed")
    if not result["picture"]:
        found.append("no picture of the drape")
    tests = result.get("tests")
    if tests:
        found += [f"test {name}: {how}" for name, how in tests["failed"].items()]
        if not tests["passed"]:
            found.append("no test passed")
    elif any(c["command"].startswith("./loom test") for c in result["commands"]):
        found.append("`./loom test` left no log of tests")
    return found


def main():
    folder, suite, commit, path = Path(sys.argv[1]), *sys.argv[2:5]
    result = gather(folder, suite, commit)
    result["faults"] = faults(result)
    Path(path).write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    v = result["versions"]
    print(f"{suite}: {v.get('system', 'unknown system')}, commit {commit[:12]}: {path}")
    for c in result["commands"]:
        print(f"  {c['command']}: exit {c['exit_code']}, {c['cpu_s']} s of processor time")
    print(f"  {len(result['warnings'])} warnings, {len(result['warnings_sanitized'])} with sanitizers")
    if "drape" in result:
        d = result["drape"]
        print(f"  drape: {d['largest_m']} m from this machine's, {'the same' if d['same_bits'] else 'other'} bits")
    if "tests" in result:
        t = result["tests"]
        print(f"  tests: {t['passed']} passed, {len(t['failed'])} failed, {len(t['skipped'])} skipped")
        for name, reason in t["skipped"].items():
            print(f"    skipped: {name}: {reason}")
    for fault in result["faults"]:
        print(f"  FAILED: {fault}")
    sys.exit(1 if result["faults"] else 0)


if __name__ == "__main__":
    main()
