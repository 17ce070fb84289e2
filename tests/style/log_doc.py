"""framework/doc/log.md: the tables of a log, from the column lists of framework/log/h5log_schema.h.

Usage: log_doc.py ROOT           says whether the page is up to date with the header
       log_doc.py ROOT --update  writes it
"""

import os
import pathlib
import re
import subprocess
import sys

TYPES = {"I": "int64", "R": "float64", "S": "enum", "N": "text"}
TABLES = [
    ("steps", "STEP", "one row per time step"),
    ("iters", "ITER", "one row per outer iteration, and the rows of stage -1"),
    ("inner", "INNER", "numbers that plugins report of inner iterations"),
    ("sections", "SECTION", "where plugins say their time goes (`tic`, `toc`), one row per step and section"),
    ("kernels", "KERNEL", "time by kernel with `[log] kernels = 1`, one row per step and kernel"),
]
HEAD = """# The log of a run

Made from `framework/log/h5log_schema.h` by `tests/style/log_doc.py --update`; a test compares the two. Schema
version {schema}. Every table carries the units and these texts as its attributes `column_unit` and
`column_doc`, so that a log explains itself. A row of a table is a compound value.

| dataset | content |
|---|---|
| `/frames/x`, `/frames/v` | positions (m) and velocities (m/s) of stored steps, `[frame][vertex][3]` |
| `/frames/step`, `/frames/time` | the step that ended when each frame was taken, and its time (s); -1: the start |
| `/fields/NAME` | of the same frames, the fields that `[log] fields` names, see below |
| `/steps`, `/iters`, `/inner`, `/sections`, `/kernels` | the tables below |
| `/iters_extra`, `/steps_extra` | columns of the plugins, row by row with `/iters` and `/steps`; `loom describe NAME` lists them |
| `/messages` | warnings and errors of core and plugins, with their step |
| `/state`, `/state_data` | data that plugins keep from step to step, for a replay (`[log] state`) |
| `/scene` | meshes, masses, pins, bodies, their poses and joints ([rigs.md](rigs.md)) |
| `/status` | `running`, `finished`, `stopped`, or why the run failed |

Attributes of the root: the config as it took effect and its hash, versions and commits of loom and of
every plugin, the command, the machine, threads and precision. `commands` and `jobs` have a line for
every process that wrote the log, the first one and each `--resume`: its command, quoted for a
shell, and the ids that a scheduler gave its job. `exit_reason`, `end_time` and `rss_peak` (bytes) tell
how the last one ended; `num_dof` counts free coordinates, `t_cpu_open` is the processor time (s) before
the log was made. `first_step` is the step with which the log begins, and `continued` says why where that
is not the first one of the run: `--resume` found no log that could go on. Frames, `/fields` and the arrays of
`/scene` carry a checksum of their bytes (HDF5's filter `fletcher32`), which HDF5 compares on reading, without loom.
Tables and `/state_data` have none: rows are added to a chunk, a filter would write the whole chunk anew for
each, and a kill in the middle of that would take finished rows with it. Processor times count all threads on the host, and no other process.

A solution has no residual r, so that momentum changes by gravity, contact and pins alone. The residual at
the end of a step acts as a force from outside: `defect_force` is |sum of r| over the weight of the free vertices
(their mass times 9.80665 m/s^2 where there is no gravity), `defect_torque` the torque of r about their centre
of mass over the weight times their radius of gyration. Both are NaN where contact models correct positions
without a force. A run, `info`, `table` and `report` tell of them from 1 % on.

`n_bytes` is work in one unit: the numbers that kernels read from and write to arrays, each access in the source counted
once, a gather once per read, without regard to caches. Every kernel declares its bytes per element, in detection and
contact as well as in elements, matrices and solvers; where they depend on data (searches, closest features) they are
means over the shipped scenes. A sparse factor counts as written once and read twice a solve. Work of measuring is left
out. Logs of versions before 0.5 lack detection and contact in it.
"""


def columns(root, name):
    """[(type, column, unit, doc)] of a list, as the preprocessor expands it"""
    source = ("#include \"log/h5log_schema.h\"\n#define ROW_(kind, column, unit, doc) COLUMN(kind, column, unit, doc)\n"
              f"H5LOG_{name}_COLUMNS(ROW_)\n")
    run = subprocess.run([os.environ.get("CC", "cc"), "-E", "-P", "-x", "c", "-I", root / "framework",
                          "-I", root / "framework/include", "-"], input=source, stdout=subprocess.PIPE, text=True, check=True)
    item = r'COLUMN\((\w), (\w+), "([^"]*)",\s*((?:"[^"]*"\s*)+)\)'
    return [(TYPES[kind], column, unit, "".join(re.findall(r'"([^"]*)"', doc)))
            for kind, column, unit, doc in re.findall(item, run.stdout)]


def page(root):
    text = (root / "framework/log/h5log_schema.h").read_text()
    schema = re.search(r"H5LOG_SCHEMA = (\d+)", text).group(1)
    lines = [HEAD.format(schema=schema)]
    for table, name, doc in TABLES:
        rows = columns(root, name)
        assert len(rows) > 3, f"no columns of /{table} were found"
        lines += [f"## /{table}", "", doc[0].upper() + doc[1:] + ".", "",
                  "| column | type | unit | description |", "|---|---|---|---|"]
        lines += [f"| `{column}` | {kind} | {unit} | {what.replace('|', chr(92) + '|')} |"
                  for kind, column, unit, what in rows]
        lines.append("")
    fields = re.search(r"#define H5LOG_FIELDS\(X\)(.*?)[^\\]\n", text, re.S).group(0)
    lines += ["## /fields", "", "Numbers per vertex, float32, `[frame][vertex]` or `[frame][vertex][3]`.", "",
              "| field | numbers | unit | description |", "|---|---|---|---|"]
    found = re.findall(r'X\((\w+), (\d), "([^"]*)", "([^"]*)"\)', fields)
    assert len(found) > 1, "no fields were found"
    lines += [f"| `{name}` | {width} | {unit} | {doc} |" for name, width, unit, doc in found] + [""]
    reasons = re.search(r"#define H5LOG_REASONS\(X\)(.*?)\n#", text, re.S).group(1)
    lines += ["`reason` is one of "
              + ", ".join(f"`{r}`" for r in re.findall(r"X\((\w+)\)", reasons)) + ".", ""]
    return "\n".join(lines)


def main():
    root = pathlib.Path(sys.argv[1])
    path = root / "framework/doc/log.md"
    if sys.argv[2:] == ["--update"]:
        path.write_text(page(root))
        return 0
    if path.exists() and path.read_text() == page(root):
        return 0
    print("framework/doc/log.md is not up to date with framework/log/h5log_schema.h;"
          " tests/style/log_doc.py . --update writes it")
    return 1


if __name__ == "__main__":
    sys.exit(main())
