/* blas.h - the BLAS that a plugin's libraries bring in: its settings, and which one it is. */
#ifndef RUN_BLAS_H
#define RUN_BLAS_H

#include <stddef.h>

#include "core/err.h"
#include "run/base/settings.h"

/* Before the first plugin is opened: a BLAS reads its settings when it is loaded.  Its number of
 * threads changes bits. */
void blas_settle(const exec_settings *e);

/* Where ulimit -v or -d is set: makes OpenBLAS allocate its buffers now, if the
 * module that holds the address `inside` calls it, so that later estimates of memory count them;
 * sets *done.  LOOM_E_NOMEM, with numbers, where memory is short: OpenBLAS would repeat the
 * allocation for ever. */
loom_status blas_reserve(loom_err *err, const exec_settings *e, const void *inside, int *done);

/* out: the BLAS that the plugin of this file calls, with its kernels; "" if it calls none */
void blas_name(const char *plugin, char *out, size_t len);

#endif
