/* reader.h - rig files through a module (loom/rig_reader.h) in a child process. */
#ifndef LOOM_RIG_READER_PROCESS_H
#define LOOM_RIG_READER_PROCESS_H

#include "core/err.h"
#include "loom/rig_reader.h"

/* The file as the module LOOM_RIG_READER or assimp.so reads it, checked.  Errors begin with the
 * path.  Free it with rig_reader_free(), also after an error. */
loom_status rig_reader_read(loom_err *err, const char *path, loom_rig_file *out);
/* The same for a surface, by read_surface() of the module. */
loom_status rig_reader_surface(loom_err *err, const char *path, loom_rig_file *out);
void rig_reader_free(loom_rig_file *f);

/* ---- reader_check.c ---- */
/* Checks that ids are within their arrays, numbers finite, names ended, and parents before their
 * joints; safe for any contents of the arrays.  A surface has neither joints nor animations.
 * LOOM_E_CONFIG without a place. */
loom_status rig_reader_check(loom_err *err, const loom_rig_file *f, int surface);

#endif
