/* blas.h - the BLAS that a plugin's libraries bring in: its settings, and which one it is. */
#ifndef RUN_BLAS_H
#define RUN_BLAS_H

#include <stddef.h>

#include "core/err.h"
#include "run/settings.h"

/* Before the first plugin is opened: a BLAS reads its settings when it is loaded.  Its number of
 * threads changes bits. */
void blas_settle(const exec_settings *e);

/* Where ulimit -v or -d is set: takes what OpenBLAS keeps for its buffers, if the module that the
 * address `inside` lies in calls it, so that estimates of memory see what is left; *done then.
 * LOOM_E_NOMEM, with numbers, where there is too little: OpenBLAS would ask for it without an end.
 */
loom_status blas_reserve(loom_err *err, const exec_settings *e, const void *inside, int *done);

/* out: the BLAS that the plugin of this file calls, with its kernels; "" if it calls none */
void blas_name(const char *plugin, char *out, size_t len);

#endif
