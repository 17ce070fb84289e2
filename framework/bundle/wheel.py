#!/usr/bin/env python3
"""wheel.py BUILD OUT: a finished build as two wheels of Python, and the Python package as an sdist.

    loom_cloth-VERSION-py3-none-linux_x86_64.whl       tools, binary, MIT plugins, headers, configurations: MIT
    loom_cloth_gpl-VERSION-py3-none-linux_x86_64.whl   plugins and modules that link GPL libraries: GPL-2.0-or-later
    loom_cloth-VERSION.tar.gz                          the tools alone

The binary lies in bin/ of the environment, all other files where `cmake --install` puts them, and so it finds them.
Shared libraries (HDF5, GMP, ...) are those of the system: the wheels are for machines with the distribution of this one.
A build for this processor alone (LOOM_NATIVE) is refused without --native.  Needs pip and setuptools 77 or newer.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / "experiments/tools"
GPL_LIBRARIES = re.compile(r"\b(libcholmod|libgmsh)\.so")
GPL = "GPL-2.0-or-later"
MISSING = "it links GPL libraries: pip install loom-cloth-gpl adds it"
# Names in a wheel and in the installed tree: Python has the tools as a package, CMake packages are no part.
LEFT_OUT = ("share/loom/python/", "lib/cmake/", "lib/pkgconfig/")


def run(*words: str | Path, cwd: Path | None = None) -> str:
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, cwd=cwd)
    if done.returncode != 0:
        sys.exit(f"wheel.py: {' '.join(map(str, words))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def links_gpl(path: Path) -> bool:
    return path.suffix == ".so" and bool(GPL_LIBRARIES.search(run("ldd", path)))


def write_wheel(path: Path, folder: Path) -> None:
    """All files below the folder, with RECORD as the last one."""
    info = next(folder.glob("*.dist-info"))
    (info / "RECORD").unlink(missing_ok=True)
    record = f"{info.name}/RECORD"
    rows = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for file in sorted(p for p in folder.rglob("*") if p.is_file()):
            name, data = str(file.relative_to(folder)), file.read_bytes()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.append(f"{name},sha256={digest},{len(data)}\n")
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (file.stat().st_mode & 0o777 | 0o100000) << 16
            wheel.writestr(entry, data, zipfile.ZIP_DEFLATED)
        wheel.writestr(record, "".join(rows) + f"{record},,\n")


def write_tag(info: Path, tag: str) -> None:
    text = f"Wheel-Version: 1.0\nGenerator: loom wheel.py\nRoot-Is-Purelib: false\nTag: {tag}\n"
    (info / "WHEEL").write_text(text, encoding="utf-8")


def copy(source: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, to)


def copy_licence(info: Path, file: Path) -> None:
    copy(file, info / "licenses" / file.name)


def stage(work: Path, prefix: Path, pure: Path, version: str, tag: str) -> tuple[Path, Path]:
    """Folders with the contents of the two wheels."""
    mit, gpl = work / "mit", work / "gpl"
    with zipfile.ZipFile(pure) as wheel:
        wheel.extractall(mit)
    infos = mit / f"loom_cloth-{version}.dist-info", gpl / f"loom_cloth_gpl-{version}.dist-info"
    infos[1].mkdir(parents=True)
    infos[1].joinpath("METADATA").write_text(
        f"Metadata-Version: 2.4\nName: loom-cloth-gpl\nVersion: {version}\n"
        "Summary: plugins and modules of loom that link CHOLMOD or Gmsh\n"
        f"License-Expression: {GPL}\nRequires-Dist: loom-cloth=={version}\n"
        "\nThe source text of these modules is MIT; with the libraries that they link they are\n"
        f"{GPL}.  Their sources are those of loom {version}.\n",
        encoding="utf-8",
    )
    for info in infos:
        write_tag(info, tag)
        copy_licence(info, ROOT / "LICENSE")
    common = Path("/usr/share/common-licenses/GPL-2")
    if common.exists():
        copy_licence(infos[1], common)
    for file in sorted(p for p in prefix.rglob("*") if p.is_file()):
        name = str(file.relative_to(prefix))
        if name.startswith(LEFT_OUT):
            continue
        kind = "scripts/loom" if name == "bin/loom" else f"data/{name}"
        if links_gpl(file):
            copy(file, gpl / f"loom_cloth_gpl-{version}.data" / kind)
            if "/plugins/" in name:
                note = mit / f"loom_cloth-{version}.data" / Path(kind).with_suffix(".missing")
                note.parent.mkdir(parents=True, exist_ok=True)
                note.write_text(MISSING + "\n", encoding="utf-8")
        else:
            copy(file, mit / f"loom_cloth-{version}.data" / kind)
    return mit, gpl


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("build", type=Path, metavar="BUILD")
    p.add_argument("out", type=Path, metavar="OUT", help="folder for the files")
    p.add_argument("--native", action="store_true", help="accept a build for this processor alone")
    args = p.parse_args()
    cache = (args.build / "CMakeCache.txt").read_text(encoding="utf-8")
    if re.search(r"^LOOM_NATIVE:BOOL=(ON|1)", cache, re.M) and not args.native:
        sys.exit("wheel.py: the build is for this processor alone; cmake -DLOOM_NATIVE=OFF, or --native")
    version = tomllib.loads((TOOLS / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    tag = f"py3-none-linux_{platform.machine()}"
    args.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        # a copy: setuptools leaves files beside the sources
        shutil.copytree(TOOLS, work / "tools", ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
        for what in ("sdist", "wheel"):
            program = f"import setuptools.build_meta as b; b.build_{what}({str(work / what)!r})"
            (work / what).mkdir()
            run(sys.executable, "-c", program, cwd=work / "tools")
        run("cmake", "--install", args.build, "--prefix", work / "prefix")
        mit, gpl = stage(work, work / "prefix", next((work / "wheel").glob("*.whl")), version, tag)
        made = [args.out / f"loom_cloth-{version}-{tag}.whl", args.out / f"loom_cloth_gpl-{version}-{tag}.whl"]
        write_wheel(made[0], mit)
        if (gpl / f"loom_cloth_gpl-{version}.data").exists():
            write_wheel(made[1], gpl)
        else:
            made.pop()  # a build without these libraries
        sdist = next((work / "sdist").glob("*.tar.gz"))
        made.append(Path(shutil.copy2(sdist, args.out)))
    for file in made:
        print(f"{file} {os.path.getsize(file) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
