"""Do kernels fit a GPU?  Registers, stack and spills of every kernel, as ptxas tells them.

Usage: kernel_resources.py ROOT KERNEL_FILES [PATTERN]

KERNEL_FILES: a file with the paths of all *.kern.c.  Each is compiled for sm_90 as the build does it, and
held to: at most 512 bytes of stack, and no spills in a kernel of more than 128 registers or in the functions
that it calls.
Exit code 0: all hold; 1: one does not; 77: there is no nvcc.
"""

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

STACK, REGISTERS = 512, 128
ENTRY = re.compile(r"Compiling entry function '_Z\w*?(\d+)(\w+)' for")
FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"Used (\d+) registers")


def nvcc():
    for name in (os.environ.get("CUDACXX"), "nvcc", "/usr/local/cuda/bin/nvcc"):
        if name and shutil.which(name):
            return shutil.which(name)
    return None


def kernels_of(compiler, root, file, folder, includes):
    """[(name, registers, stack, spill stores, spill loads)] of one file, or the compiler's message."""
    wrapper = folder / (re.sub(r"\W", "_", file) + ".cu")
    wrapper.write_text(f'#include "{file}"\n')
    command = [compiler, "-std=c++17", "-arch=sm_90", "-fmad=false", "-O3", "-Xptxas", "-v", "-cubin",
               "-o", str(wrapper.with_suffix(".cubin")), *(f"-I{i}" for i in includes), str(wrapper)]
    ccache = shutil.which("ccache")
    done = subprocess.run([ccache, *command] if ccache else command, capture_output=True, text=True,
                          check=False, cwd=root)
    if done.returncode != 0:
        return done.stderr
    found, name, frame = [], None, (0, 0, 0)  # functions that a kernel calls are told behind it
    for line in done.stderr.splitlines():
        if match := ENTRY.search(line):
            name, frame = match[2][:int(match[1])], (0, 0, 0)
        elif match := FRAME.search(line):
            frame = tuple(int(v) for v in match.groups())
            if name is None and found:
                *kernel, stores, loads = found[-1]
                found[-1] = (*kernel, stores + frame[1], loads + frame[2])
        elif (match := USED.search(line)) and name:
            found.append((name, int(match[1]), *frame))
            name = None
    return found


def wrong_with(registers, stack, stores):
    """The bound that is broken, or None."""
    if stack > STACK:
        return f"more than {STACK} bytes of stack"
    return f"spills with more than {REGISTERS} registers" if stores > 0 and registers > REGISTERS else None


def main(root, listing, pattern=""):
    compiler = nvcc()
    if compiler is None:
        print("SKIP: kernel_resources: there is no nvcc")
        return 77
    build = pathlib.Path(listing).parent
    includes = [f"{root}/{i}" for i in ("framework", "framework/include", "plugins", "tests")]
    includes += [str(build / "framework" / i) for i in ("bodies", "elements")]
    files = [f for f in pathlib.Path(listing).read_text().split() if re.search(pattern, f)]
    failed, seen = 0, {}
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(
            int(os.environ.get("LOOM_JOBS", os.cpu_count()))) as pool:
        jobs = {pool.submit(kernels_of, compiler, root, f, pathlib.Path(folder), includes): f for f in files}
        for job in concurrent.futures.as_completed(jobs):
            kernels = job.result()
            if isinstance(kernels, str):
                print(f"{jobs[job]} does not compile:\n{kernels}")
                failed += 1
                continue
            for name, *numbers in kernels:
                seen[name] = max(seen.get(name, tuple(numbers)), tuple(numbers))
    print(f"{'kernel':32} {'registers':>9} {'stack B':>8} {'spill B':>8}")
    for name, (registers, stack, stores, loads) in sorted(seen.items(), key=lambda e: (-e[1][1], -e[1][0])):
        why = wrong_with(registers, stack, stores)
        failed += why is not None
        if why or registers > REGISTERS or stack > 128:
            print(f"{name:32} {registers:9} {stack:8} {stores:4}/{loads:<5}{'  ' + why if why else ''}")
    print(f"{len(seen)} kernels of {len(files)} files, {failed} out of bounds")
    return 1 if failed or not seen else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
