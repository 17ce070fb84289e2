"""Extras of the Python package: extras.txt is up to date, each tool imports packages of its extra alone."""

import ast
import importlib.util
import re
import subprocess
import sys
import tomllib
import unittest
from importlib import metadata
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / "experiments/tools"
PACKAGE = TOOLS / "loomcloth"
LINES = (TOOLS / "extras.txt").read_text(encoding="utf-8").splitlines()
EXTRAS = dict(line.split(": ", 1) for line in LINES if line[0] != "#")
# Modules that tools without the extra reach and do not call into: the extra that has the packages.
OPTIONAL = {"style": "plot", "latex": "plot", "output": "parquet", "sweep.spec": "sweep"}
# Module: tool of ./loom.  The formats of `export` are modules of their own.
STARTS = {
    "archive.__main__": "base", "convert.__main__": "usd", "docs": "docs", "experiment": "figure", "export.glb": "glb",
    "export.usd": "usd", "export.vtkhdf": "vtkhdf", "fabric.__main__": "base", "figure": "figure",
    "measure": "base", "render": "render", "report.__main__": "report", "sweep.__main__": "sweep",
    "sweep.workflow": "sweep", "table": "table", "watch": "watch",
}  # fmt: skip


def plain(name):
    return re.sub("[-_.]+", "-", name).lower()


def imports(path):
    """Modules that a file imports anywhere, but for the checks of types."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typed = {n for b in ast.walk(tree) if isinstance(b, ast.If) and "TYPE_CHECKING" in ast.dump(b.test)
             for n in ast.walk(b)}  # fmt: skip
    for node in ast.walk(tree):
        if node in typed:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def reached(start):
    """(module of loomcloth, package of others) for all imports below a module."""
    seen, waiting = set(), [start]
    while waiting:
        module = waiting.pop()
        stem = PACKAGE / module.replace(".", "/")
        path = stem / "__init__.py" if stem.is_dir() else stem.with_suffix(".py")
        if module in seen or not path.exists():
            continue
        seen.add(module)
        for name in imports(path):
            head, _, rest = name.partition(".")
            if head == "loomcloth":
                waiting.append(rest)
            elif head not in sys.stdlib_module_names:
                yield module, head


class Extras(unittest.TestCase):
    def test_the_list_is_up_to_date(self):
        done = subprocess.run([sys.executable, TOOLS / "extras.py"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, (TOOLS / "extras.txt").read_text(), "extras.py --update writes it")

    def test_every_pin_is_needed(self):
        pins = re.findall(r"^([\w.-]+)==", (TOOLS / "requirements.txt").read_text(), re.MULTILINE)
        self.assertEqual(sorted(set(pins) - set(EXTRAS["test"].split())), [])

    def test_figures_import_packages_of_their_extra(self):
        owners, have = metadata.packages_distributions(), {plain(name) for name in EXTRAS["figure"].split()}
        scripts = [p for p in TOOLS.parent.glob("*/*.py") if p.parent != TOOLS and p.name != "train.py"]
        self.assertGreater(len(scripts), 20)
        for path in scripts:
            for name in {n.split(".")[0] for n in imports(path)} - sys.stdlib_module_names - {"loomcloth"}:
                if not (path.parent / f"{name}.py").exists():
                    with self.subTest(script=path.name, package=name):
                        self.assertTrue({plain(name) for name in owners[name]} & have)

    def test_tools_import_packages_of_their_extra(self):
        owners = metadata.packages_distributions()
        for start, extra in STARTS.items():
            self.assertTrue((PACKAGE / (start.replace(".", "/") + ".py")).exists(), start)
            have = {plain(name) for name in EXTRAS[extra].split()}
            for module, package in reached(start):
                also = {plain(name) for name in EXTRAS[OPTIONAL.get(module, extra)].split()}
                with self.subTest(tool=start, module=module, package=package):
                    self.assertIsNotNone(importlib.util.find_spec(package))
                    self.assertTrue({plain(name) for name in owners[package]} & (have | also))



class Installed(unittest.TestCase):
    """pip installs every folder of the package, and the files that stand beside its modules."""

    def setUp(self):
        self.table = tomllib.loads((TOOLS / "pyproject.toml").read_text())["tool"]["setuptools"]

    def name(self, folder):
        return ".".join(folder.relative_to(TOOLS).parts)

    def test_folders(self):
        folders = {self.name(p.parent) for p in PACKAGE.rglob("*.py")}
        self.assertEqual(set(self.table["packages"]), folders)

    def test_files(self):
        beside = [p for p in PACKAGE.rglob("*.*") if p.is_file() and p.suffix not in (".py", ".pyc")]
        self.assertGreater(len(beside), 5)
        for path in beside:
            with self.subTest(path.name):
                self.assertIn(path.name, self.table["package-data"].get(self.name(path.parent), []))


if __name__ == "__main__":
    unittest.main()
