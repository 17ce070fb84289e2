"""Each exit code that framework/doc/exit-codes.md lists, by a command that ends with it."""

import re

# Two sheets that fly through each other, as no contact holds them apart.
CROSSING = """\
include = {root}/configs/scenes/collide_sheets.ini
include = {root}/configs/methods/pd.ini
[run]
dt = 0.01
[log]
audit = every
[cloth.left]
resolution = 8 8
[cloth.right]
resolution = 8 8
"""
SHEET = "./loom run configs/hang.ini --set 'cloth.sheet.resolution=9 9' --quiet"
STOPPED = f"""{SHEET} -n 1000000 -o out/stopped.h5 & job=$!
for i in $(seq 300); do [ -s out/stopped.h5 ] && break; sleep 0.1; done
sleep 1; kill -TERM $(pgrep -P $job -x loom || echo $job); wait $job"""

CASES = [
    (0, f"{SHEET} -n 2 -o out/a.h5"),
    (1, f"{SHEET} -n 2 -o out/none.h5 --resume"),
    (2, f"{SHEET} -n 2 -o out/b.h5 --set solver.momentun=nesterov"),
    (3, "./loom run crossing.ini -n 20 --quiet -o out/crossing.h5"),
    (3, "./loom verify out/crossing.h5"),
    (4, f"{SHEET} -n 2 -o out/c.h5 --set cloth.sheet.density=0.4 --set cloth.sheet.k_b=1 "
        "&& ./loom compare out/a.h5 out/c.h5 --tol 1e-12"),
    (5, STOPPED),
    (6, f"{SHEET} -n 1000000 --max-time 0.5 -o out/time.h5"),
]


def exit_codes(stage):
    """The failures, a text each."""
    failures = []
    (stage.root / "crossing.ini").write_text(CROSSING.format(root=stage.root))
    for code, command in CASES:
        got, out = stage.run(command)
        print(f"  exit code {got} (documented {code}): {command.splitlines()[0]}", flush=True)
        if got != code:
            failures.append(f"exit code {got} instead of {code}: {command}\n{out[-2000:]}")
    table = re.findall(r"^\| *([0-9]) *\|", (stage.root / "framework/doc/exit-codes.md").read_text(), re.M)
    if table != sorted({str(code) for code, _ in CASES}):
        failures.append(f"exit-codes.md lists the exit codes {table}")
    return failures
