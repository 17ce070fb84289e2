#!/usr/bin/env python3
"""`loom cite`, and the cite.bib of each plugin: entries parse, and have the DOIs that the descriptors name."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(os.environ["LOOM_SOURCE_DIR"])
LOOM = os.environ["LOOM_BIN"]
ENTRY = re.compile(r"@(article|inproceedings|software)\{(\w+),\n((?:  [a-z]+ = \{.*\},?\n)+)\}\n")
FIELD = re.compile(r"  ([a-z]+) = \{(.*)\}(,?)")
DOI = re.compile(r"\bdoi[ :]\s*(10\.\d+/\S+?)(?=[;,.:)]*(?:\s|$))")
NEEDS = {"article": {"author", "title", "journal", "year"}, "inproceedings": {"author", "title", "booktitle", "year"},
         "software": {"author", "title", "version"}}
faults = []


def expect(holds, text):
    if not holds:
        faults.append(text)


def parse(text, place):
    """{key: (whole text, fields)}; lines between the entries are empty or begin with %."""
    found = {}
    rest = ENTRY.sub("", text)
    expect(not [line for line in rest.split("\n") if line and not line.startswith("%")], f"{place}: no entry: {rest!r}")
    for kind, key, body in ENTRY.findall(text):
        lines = [FIELD.fullmatch(line) for line in body.rstrip("\n").split("\n")]
        expect(all(lines), f"{place}: {key}: a field has not the form `name = {{value}}`")
        fields = {line[1]: line[2] for line in lines if line}
        for value in fields.values():
            expect(value.count("{") == value.count("}"), f"{place}: {key}: braces of {value!r}")
        expect([line[3] for line in lines if line] == [","] * (len(lines) - 1) + [""], f"{place}: {key}: commas")
        expect(NEEDS[kind] <= fields.keys(), f"{place}: {key}: no {NEEDS[kind] - fields.keys()}")
        expect(key not in found, f"{place}: {key} stands twice")
        found[key] = (f"@{kind}{{{key},\n{body}}}\n", fields)
    return found


def loom(*arguments, code=0):
    done = subprocess.run([LOOM, *map(str, arguments)], cwd=ROOT, capture_output=True, text=True)
    expect(done.returncode == code, f"loom {arguments}: exit code {done.returncode}: {done.stderr}")
    return done.stdout


def dois(entries):
    return {fields["doi"] for _, fields in entries.values() if "doi" in fields}


def check_plugins(plugins):
    """The entries of all plugins, and the DOIs of each plugin."""
    known = "".join(p.read_text() for p in ROOT.glob("plugins/*/*/README.md")) + "".join(p["reference"] for p in plugins)
    everything, of = {}, {}
    for p in plugins:
        source = list(ROOT.glob(f"plugins/*/{p['name']}/cite.bib"))
        if p["reference"].startswith("none"):
            expect(not source, f"{p['name']}: its descriptor names no paper, and there is {source}")
            continue
        expect(len(source) == 1, f"{p['name']}: no cite.bib beside the sources; its descriptor names {p['reference']}")
        if not source:
            continue
        text = source[0].read_text()
        beside = pathlib.Path(p["path"]).with_suffix(".bib")
        expect(beside.is_file() and beside.read_text() == text, f"{beside} is not {source[0]}; configure the build again")
        entries = parse(text, source[0])
        expect(entries, f"{source[0]}: no entries")
        wanted = set(DOI.findall(p["reference"]))
        expect(wanted <= dois(entries), f"{p['name']}: not in its cite.bib: {wanted - dois(entries)}")
        expect(("doi" in p["reference"]) == bool(wanted), f"{p['name']}: a DOI of {p['reference']} is not read")
        for doi in dois(entries):
            expect(doi in known, f"{source[0]}: no descriptor and README names {doi}")
        for key, (whole, _) in entries.items():
            expect(everything.setdefault(key, whole) == whole, f"{source[0]}: {key} is another entry elsewhere")
        of[p["kind"], p["name"]] = set(entries)
    expect(len(of) > 20, f"only {len(of)} plugins have papers")
    return of


def check_command(of):
    citation = (ROOT / "CITATION.cff").read_text()
    # detection and contact model both have lan2024; the solver is first and has li2023
    with tempfile.TemporaryDirectory() as work:
        config = pathlib.Path(work, "cited.ini")
        config.write_text(f"include = {ROOT}/configs/drape_self.ini\n[solver]\nplugin = pd_bfgs\n"
                          "[contact.all]\nplugin = ndb\n")
        printed = loom("cite", config)
        entries = parse(printed, "loom cite")
        used = re.findall(r"^  (solver|collision\.\S+|contact\.\S+) +(\w+) ", loom("check", config), re.M)
        wanted = {"loom"}.union(*(of.get((name.split(".")[0], plugin), set()) for name, plugin in used))
        expect(set(entries) == wanted and {"lan2024", "li2020"} < wanted, f"cited: {set(entries)}, wanted: {wanted}")
        keys = [key for _, key, _ in ENTRY.findall(printed)]
        expect(keys == ["loom", *sorted(keys[1:])], f"not sorted: {keys}")
        title = re.search(r'^title: "(.*)"', citation, re.M)[1]
        expect(entries["loom"][1]["title"] == "{" + title + "}", f"title of loom: {entries['loom'][1]}")
        version = re.search(r"^version: (.*)", citation, re.M)[1]
        expect(entries["loom"][1]["version"] == version, f"version of loom: {entries['loom'][1]}")
        log = pathlib.Path(work, "cited.h5")
        loom("run", config, "-o", log, "-n", 1, "--quiet")
        expect(loom("cite", log) == printed, "the log has other citations than its configuration")
        loom("cite", code=2)
        loom("cite", pathlib.Path(work, "absent.ini"), code=2)


def main():
    plugins = json.loads(loom("list", "--json"))["plugins"]
    check_command(check_plugins(plugins))
    print("\n".join(faults))
    sys.exit(1 if faults else 0)


main()
