/* compare.h - the two launchers of a kernel on the same arguments; included by framework/mem only.
 *
 * With LOOM_KERNEL_COMPARE=FILE in the environment a launch on a device is also made on the CPU,
 * with copies of all buffers that its arguments point into, and what both have written is compared:
 * the same bits, or as near as LK_ENTRY_NEAR says.  Of each kernel the first launches are compared
 * and then fewer and fewer.  FILE is appended to, one line per kernel and process: "same NAME", or
 * "differs NAME: what"; a launch that differs fails with the same words. */
#ifndef LOOM_MEM_COMPARE_H
#define LOOM_MEM_COMPARE_H

#include "mem/mem.h"

const char *compare_file(void); /* NULL: nothing is compared */
/* A set of buffers begins and ends. */
void compare_add(mem *m);
void compare_remove(mem *m);
/* loom_exec.instead of a device */
loom_status compare_launch(const loom_exec *q, const lk_entry *k, const void *args, lk_int n,
                           loom_real *result);

#endif
