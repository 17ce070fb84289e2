/* blas.h - the BLAS that a plugin's libraries bring in: its settings, and which one it is. */
#ifndef RUN_BLAS_H
#define RUN_BLAS_H

#include <stddef.h>

#include "run/settings.h"

/* Before the first plugin is opened: a BLAS reads its settings when it is loaded.  Its number of
 * threads changes bits. */
void blas_settle(const exec_settings *e);

/* out: the BLAS that the plugin of this file calls, with its kernels; "" if it calls none */
void blas_name(const char *plugin, char *out, size_t len);

#endif
