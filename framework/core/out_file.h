/* out_file.h - a file that a command writes for its -o: one rule for all of them.
 *
 * A file of the same kind, told by its contents, is replaced, and so is an empty one; every other
 * file is refused.  The last component of the path is never a link.  The text goes to a temporary
 * file beside it, which takes its place when it is complete: the old file stays whole until then,
 * and of two commands that write one file the last one wins.  (Logs have a rule of their own:
 * they are replaced with --overwrite, log/h5log.h.) */
#ifndef LOOM_OUT_FILE_H
#define LOOM_OUT_FILE_H

#include <stdio.h>

#include "core/err.h"

enum {
  OUT_OBJ,
  OUT_PLY,
  OUT_VTK,
  OUT_SERIES, /* list of VTK files */
  OUT_XDMF,
  OUT_BCC,
  OUT_CSV,     /* with a line of names */
  OUT_PATTERN, /* with sections [piece.NAME] */
  OUT_HDF5     /* the caller checks which kind of HDF5 file */
};

typedef struct out_file {
  FILE *f;
  char path[4096], temp[4096 + 16];
  int kind;
} out_file;

/* Whether a file may be written there; LOOM_E_CONFIG with the remedy if not. */
loom_status out_file_check(loom_err *err, const char *path, int kind);
/* Checks, and opens o->f on a temporary file. */
loom_status out_file_open(loom_err *err, const char *path, int kind, out_file *o);
/* Closes o->f; if `so_far` is LOOM_OK and all was written, the temporary file takes its place at
 * the path, else it is removed.  Returns so_far, or the error of closing. */
loom_status out_file_close(loom_err *err, out_file *o, loom_status so_far);

/* ---- out_kind.c ---- */
/* Whether a file with these first bytes, head [len], is of the kind. */
int out_kind_is(int kind, const char *head, size_t len);
const char *out_kind_name(int kind); /* "an OBJ mesh" */

#endif
