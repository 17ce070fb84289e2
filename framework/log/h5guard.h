/* h5guard.h - foreign HDF5 files are read in a child process first, as damaged ones crash HDF5. */
#ifndef LOOM_H5GUARD_H
#define LOOM_H5GUARD_H

#include <stdio.h>

#include "core/err.h"

/* Calls body(arg, out) in a child process (core/guard.h).  It reads all of the file that the caller
 * will read; the child's results are dropped.  body returns 0 also where it refuses the file: the
 * caller then meets the same error in its own process.  LOOM_E_CONFIG, with the file's path, where
 * the child crashes, hangs or takes more than 60 s of processor time or 4 GB of memory. */
loom_status h5_rehearse(loom_err *err, const char *path, int (*body)(void *arg, FILE *out),
                        void *arg);
/* The same; *answer (to be freed) is the text that the child wrote to `out`. */
loom_status h5_answer(loom_err *err, const char *path, int (*body)(void *arg, FILE *out), void *arg,
                      char **answer);

#endif
