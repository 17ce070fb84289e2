/* limits.h - how much memory this process may still take, as far as the system tells. */
#ifndef LOOM_MEM_LIMITS_H
#define LOOM_MEM_LIMITS_H

#include <stdint.h>

typedef struct mem_limit {
  double bytes;   /* that are left, at least 0 */
  char what[128]; /* whose limit it is: "MemAvailable of the machine" */
} mem_limit;

/* The least of MemAvailable, ulimit -v and -d, the memory of the control groups (v1 and v2) that
 * the process is in, and what Slurm gave it; 0 if nothing is known.  `root` stands before /proc and
 * /sys: "" but in tests. */
int mem_available(const char *root, mem_limit *out);

/* Bytes in the largest unit that keeps them above 1: "1.3 GB". */
const char *mem_bytes_text(double bytes, char buf[32]);

#endif
