#!/usr/bin/env python3
"""The container file, the recipe for Spack and the workflow name packages, options and files that exist.

Neither a container nor Spack runs here.  The workflow is read as YAML where Python has PyYAML.
"""

import ast
import os
import re
import sys
from pathlib import Path

ROOT = Path(os.environ["LOOM_SOURCE_DIR"])
failures = []


def check(holds, message):
    if not holds:
        failures.append(message)


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def installed(line):
    """Packages of each apt-get install."""
    joined = line.replace("\\\n", " ")
    return [
        [word for word in words.split() if word[0] != "-"]
        for words in re.findall(r"apt-get install ([^&\n]*)", joined)
    ]


# ---- the container has the packages of a build, and options that exist ----
container = read("framework/packaging/Containerfile")
wanted = {p.split("|")[0] for p in re.findall(r"^build +(\S+)", read("framework/cmake/packages.txt"), re.M)}
build, runtime = installed(container)
check(set(build) == wanted - {"ccache"}, f"Containerfile builds with {sorted(set(build) ^ (wanted - {'ccache'}))} more or less")
check(len(runtime) > 9, "Containerfile installs no libraries for runs")
options = set(re.findall(r"^(?:set|option)\((LOOM_\w+)", read("CMakeLists.txt"), re.M))
for name in ("framework/packaging/Containerfile", "framework/packaging/package.py", ".github/workflows/test.yml"):
    for option in re.findall(r"(?:-D|define(?:_from_variant)?\(\")(LOOM_\w+)", read(name)):
        check(option in options, f"{name} sets {option}, which CMakeLists.txt has not")

# ---- the recipe ----
tree = ast.parse(read("framework/packaging/package.py"))
recipe = next(n for n in tree.body if isinstance(n, ast.ClassDef))
variants, used = set(), set()
for call in (n for n in ast.walk(recipe) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)):
    if call.func.id == "variant":
        variants.add(call.args[0].value)
    used |= {k.value.value.lstrip("+~") for k in call.keywords if k.arg == "when"}
for call in (n for n in ast.walk(recipe) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)):
    if call.func.attr == "define_from_variant":
        used.add(call.args[1].value)
check(recipe.name == "Loom" and used and used <= variants, f"package.py has no variants {used - variants}")

# ---- the workflow ----
workflow = read(".github/workflows/test.yml")
for name in re.findall(r"(?<![\w/.])(\.ci/\w+|\./loom|framework/\S+\.py)", workflow):
    check((ROOT / name).exists(), f"test.yml runs {name}, which is not there")
try:
    import yaml
except ImportError:
    print("SKIP: test.yml as YAML: Python has no PyYAML")
else:
    jobs = yaml.safe_load(workflow)["jobs"]
    for name, job in jobs.items():
        check(job["steps"] and all("run" in s or "uses" in s for s in job["steps"]), f"test.yml: the job {name} has no steps")

for failure in failures:
    print(f"FAILED: {failure}")
sys.exit(1 if failures else 0)
