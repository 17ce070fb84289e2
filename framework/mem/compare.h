/* compare.h - both launchers of a kernel on the same arguments; included by framework/mem only.
 *
 * With LOOM_KERNEL_COMPARE=FILE in the environment each launch on a device is repeated on the CPU
 * with copies of all buffers that its arguments point into, and the results are compared: the same
 * bits, or as near as LK_ENTRY_NEAR says.  The first launches of each kernel are compared, then
 * fewer and fewer.  FILE gets one line per kernel and process appended: "same NAME", or
 * "differs NAME: difference"; a launch that differs fails with the same words. */
#ifndef LOOM_MEM_COMPARE_H
#define LOOM_MEM_COMPARE_H

#include "mem/mem.h"

const char *compare_file(void); /* NULL: no launch is compared */
/* A set of buffers begins or ends to exist. */
void compare_add(mem *m);
void compare_remove(mem *m);
/* loom_exec.instead of a device's exec */
loom_status compare_launch(const loom_exec *q, const lk_entry *k, const void *args, lk_int n,
                           loom_real *result);

#endif
