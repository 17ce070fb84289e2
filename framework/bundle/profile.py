"""Seconds by kernel, from the output of ncu.  Usage: profile.py NCU.csv

sectors: of 32 bytes per read of a warp; 8 if all 32 threads read neighbouring doubles.
"""

import collections
import csv
import sys

TIME, BYTES = "gpu__time_duration.sum", "dram__bytes.sum"
REGISTERS = "launch__registers_per_thread"
WARPS = "sm__warps_active.avg.pct_of_peak_sustained_active"
SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
REQUESTS = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
TO_US = {"ns": 1e-3, "nsecond": 1e-3, "us": 1.0, "usecond": 1.0, "ms": 1e3, "msecond": 1e3}
TO_MB = {"byte": 1e-6, "Kbyte": 1e-3, "Mbyte": 1.0, "Gbyte": 1e3}


def main(path):
    with open(path) as f:
        rows = list(csv.reader(line for line in f if line.startswith('"')))
    if len(rows) < 3:
        print("ncu wrote no launches")
        return 1
    column = {name: k for k, name in enumerate(rows[0])}
    unit = rows[1]

    def number(row, name):
        text = row[column[name]].replace(",", "") if name in column else ""
        return float(text) if text else 0.0

    total = collections.defaultdict(lambda: [0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    for row in rows[2:]:
        k = total[row[column["Kernel Name"]].split("(")[0]]
        k[0] += 1
        k[1] += TO_US[unit[column[TIME]]] * number(row, TIME)
        k[2] += TO_MB[unit[column[BYTES]]] * number(row, BYTES)
        k[3] = number(row, REGISTERS)
        k[4] += number(row, WARPS)
        k[5] += number(row, SECTORS)
        k[6] += number(row, REQUESTS)
    print(f"{'kernel':26} {'n':>5} {'us each':>9} {'us all':>9} {'TB/s':>6} {'regs':>5} {'warps%':>7} {'sectors':>7}")
    for name, k in sorted(total.items(), key=lambda e: -e[1][1])[:40]:
        print(f"{name[:26]:26} {k[0]:5} {k[1] / k[0]:9.2f} {k[1]:9.0f} {k[2] / k[1] if k[1] else 0:6.2f} "
              f"{k[3]:5.0f} {k[4] / k[0]:7.0f} {k[5] / k[6] if k[6] else 0:7.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
