"""framework/doc/systems.md: the systems on which loom is tested, from tests/systems/results/*.json.

Usage: page.py ROOT           says whether the page is the one that the results make, and README.md names each system
       page.py ROOT --update  writes the page
"""

import json
import pathlib
import re
import sys

SUITES = ["bookworm", "trixie", "forky", "testing", "sid", "jammy", "noble", "questing", "resolute"]
HEAD = """# Systems on which loom is tested

Made from `tests/systems/results` by `tests/systems/page.py --update`; a test compares the two.

`tests/systems/run.sh SUITE --record`, as root on Debian, makes a new minimal system of that suite with debootstrap, clones the
checked-out commit into it, and runs the commands of the README there: they install their packages. `./loom test nightly` does so
for trixie and forky, and without the tests for noble and resolute. Processor times (s) include installing and building; in
a system that was kept they include only parts that were still missing.
"""


def title(versions):
    """'Debian 13 (trixie)', as README.md names a system"""
    name = versions["system"].replace("Debian GNU/Linux", "Debian").removesuffix(" LTS")
    testing = re.fullmatch(r"Debian (\w+)/sid", name)
    return f"Debian testing ({testing[1]})" if testing else name


def cell_of_command(result, word):
    for c in result["commands"]:
        if c["command"].split()[1:2] == [word]:
            arguments = c["command"].removeprefix("./loom test").strip() if word == "test" else ""
            return f"{f'only `{arguments}`: ' if arguments else ''}exit {c['exit_code']}, {c['cpu_s']} s"
    return "not run"


def cell_of_drape(result):
    d = result.get("drape")
    if not d:
        return "no log"
    if d["same_bits"]:
        return f"the same bits, {d['frames']} frames"
    return d.get("shape") or f"at most {d['largest_m']:.1e} m apart, {d['frames']} frames"


def cell_of_tests(result):
    t = result.get("tests")
    return f"{t['passed']} passed, {len(t['failed'])} failed, {len(t['skipped'])} skipped" if t else "not run"


def table(results):
    host = results[0]["host"]
    rows = [["", f"{title(host)}, compared with"] + [title(r["versions"]) for r in results],
            ["point release", host.get("release", "-")] + [r["versions"].get("release", "-") for r in results],
            ["tested on", ""] + [r["date"] for r in results],
            ["commit", ""] + [f"`{r['commit'][:12]}`" for r in results],
            ["made for this run", ""] + ["yes" if r["made_new"] else "no, kept from an earlier one" for r in results],
            ["packages at the start", ""] + [str(r["packages_before"]) for r in results]]
    names = [n for n in host if n not in ("system", "release")]
    for n in (n for r in results for n in r["versions"] if n not in ("system", "release")):
        if n not in names:
            names.append(n)
    rows += [[n, host.get(n, "-")] + [r["versions"].get(n, "-") for r in results] for n in names]
    for text, word in (("`./loom run configs/drape.ini`", "run"), ("`./loom render out/drape.h5 -o drape.png`", "render"),
                       ("`./loom test`", "test")):
        rows.append([text, ""] + [cell_of_command(r, word) for r in results])
    rows.append(["compiler warnings", ""] + [str(len(r["warnings"])) for r in results])
    rows.append(["with sanitizers", ""] + [str(len(r["warnings_sanitized"])) for r in results])
    rows.append(["positions of the drape", ""] + [cell_of_drape(r) for r in results])
    rows.append(["tests", ""] + [cell_of_tests(r) for r in results])
    rows.insert(1, ["---"] * len(rows[0]))
    lines = []
    for i, row in enumerate(rows):
        lines.append("|" + "|".join(row) + "|" if i == 1 else "| " + " | ".join(row) + " |")
    return "\n".join(lines)


def items(results, heading, lines_of):
    """A part of the page: its heading and, system by system, its lines; '' where there is none."""
    text = ""
    for r in results:
        lines = lines_of(r)
        if lines:
            text += f"\n{title(r['versions'])}:\n" + "".join(f"- {line}\n" for line in lines)
    return f"\n## {heading}\n{text}" if text else ""


def page(results):
    text = f"{HEAD}\n{table(results) if results else 'No result has been recorded.'}\n"
    text += items(results, "Tests that a system leaves out, with the reason",
                  lambda r: [f"`{n}`: {why}" for n, why in sorted(r.get("tests", {}).get("skipped", {}).items())])
    text += items(results, "Failures there", lambda r: [f.replace("|", "\\|") for f in r["faults"]])
    return text


def main():
    root = pathlib.Path(sys.argv[1])
    results = [json.loads(p.read_text()) for p in root.glob("tests/systems/results/*.json")]
    results.sort(key=lambda r: (SUITES + [r["suite"]]).index(r["suite"]))
    text, path = page(results), root / "framework/doc/systems.md"
    if "--update" in sys.argv[2:]:
        path.write_text(text)
    elif not path.is_file() or path.read_text() != text:
        sys.exit(f"{path.relative_to(root)} is not the page of the results; `python3 tests/systems/page.py . --update` makes it")
    readme = (root / "README.md").read_text()
    for r in results:
        if title(r["versions"]) not in readme:
            sys.exit(f"README.md does not name {title(r['versions'])}, which tests/systems/results/{r['suite']}.json has")


if __name__ == "__main__":
    main()
