/* limits.h - the memory that this process may still take, as far as the system tells. */
#ifndef LOOM_MEM_LIMITS_H
#define LOOM_MEM_LIMITS_H

#include <stdint.h>

typedef struct mem_limit {
  double bytes;   /* free bytes, at least 0 */
  char what[128]; /* source of the limit: "MemAvailable of the machine" */
} mem_limit;

/* The least of MemAvailable, ulimit -v and -d, the memory of the process's control groups (v1 and
 * v2), and the memory of its Slurm job; returns 0 if no limit is known.  `root` is a prefix of
 * /proc and /sys: "" except in tests. */
int mem_available(const char *root, mem_limit *out);

/* Bytes in the largest unit that keeps them above 1: "1.3 GB". */
const char *mem_bytes_text(double bytes, char buf[32]);

#endif
