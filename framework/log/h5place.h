/* h5place.h - the file at a path of a log. */
#ifndef LOOM_H5PLACE_H
#define LOOM_H5PLACE_H

#include <sys/stat.h>

#include "core/err.h"

/* LOOM_E_CONFIG: "PATH: what; it is not replaced: ..." */
loom_status h5place_refuse(loom_err *err, const char *path, const char *what);
/* After lstat failed: LOOM_OK if there is no file.  Missing folders are reported where they are
 * made. */
loom_status h5place_absent(loom_err *err, const char *path);
/* LOOM_E_CONFIG unless lstat saw a regular file: a link is not followed. */
loom_status h5place_check_kind(loom_err *err, const char *path, const struct stat *st);

#endif
