"""extras.py [--update]: the packages of each extra of pyproject.toml, at the pins of requirements.txt.

`./loom` reads them from extras.txt, since a machine without the packages cannot resolve dependencies.  This
program finds them in the metadata of an environment that has all pins (.venv).  Without --update it prints
the lines that extras.txt should have.
"""

from __future__ import annotations

import re
import sys
import tomllib
from importlib import metadata
from pathlib import Path

from packaging.markers import default_environment
from packaging.requirements import Requirement

HERE = Path(__file__).resolve().parent
OWN = "loom-cloth"
HEAD = "# Packages of each extra, at the pins of requirements.txt; `extras.py --update` writes this file.\n"
# Extras that no command of ./loom installs, and whose packages have no pins.
UNPINNED = {"xarray"}


def plain(name: str) -> str:
    return re.sub("[-_.]+", "-", name).lower()


def pins() -> dict[str, str]:
    """Plain name: name as requirements.txt has it."""
    text = (HERE / "requirements.txt").read_text(encoding="utf-8")
    return {plain(name): name for name in re.findall(r"^([\w.-]+)==", text, re.MULTILINE)}


def needs(requirements: list[str], extras: set[str]) -> list[Requirement]:
    """Requirements whose markers hold on this machine, for one of the extras or for none."""
    found = [Requirement(r) for r in requirements]
    places = [{**default_environment(), "extra": e} for e in sorted(extras | {""})]
    return [r for r in found if r.marker is None or any(r.marker.evaluate(p) for p in places)]


def closure(roots: list[Requirement], own: dict[str, list[str]]) -> set[str]:
    """Plain names of all packages that the roots need."""
    done: set[tuple[str, frozenset[str]]] = set()
    pending = [(plain(r.name), frozenset(r.extras)) for r in roots]
    while pending:
        item = name, extras = pending.pop()
        if item in done:
            continue
        done.add(item)
        if name == OWN:
            more = [Requirement(r) for e in extras for r in own[e]]
        else:
            more = needs(metadata.requires(name) or [], set(extras))
        pending += [(plain(r.name), frozenset(r.extras)) for r in more]
    return {name for name, _ in done} - {OWN}


def lines() -> list[str]:
    project = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    own: dict[str, list[str]] = project["optional-dependencies"]
    named, result = pins(), []
    for extra in ["base", *sorted(own.keys() - UNPINNED)]:
        roots = [Requirement(r) for r in [*project["dependencies"], *own.get(extra, [])]]
        packages = closure(roots, own)
        unpinned = sorted(packages - named.keys())
        if unpinned:
            sys.exit(f"requirements.txt has no pin for {', '.join(unpinned)}, which the extra {extra} needs")
        result.append(f"{extra}: {' '.join(sorted(named[p] for p in packages))}\n")
    return result


if __name__ == "__main__":
    made = HEAD + "".join(lines())
    if "--update" in sys.argv[1:]:
        (HERE / "extras.txt").write_text(made, encoding="utf-8")
    else:
        print(made, end="")
