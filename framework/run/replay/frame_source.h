/* frame_source.h - frames that another program made: an HDF5 file (log/h5motion.h), or a numbered
 * sequence of OBJ or PLY files. */
#ifndef LOOM_FRAME_SOURCE_H
#define LOOM_FRAME_SOURCE_H

#include "log/h5motion.h"

typedef struct frame_source frame_source;

/* path: the HDF5 file; the folder of a sequence, with no other OBJ or PLY files in it; or one file
 * of a sequence, whose other files have the same name but for the number before the ending.
 * Numbers must follow each other.  LOOM_E_CONFIG names the file, and the data set or the frame.
 * frame_source_close() frees *out. */
loom_status frame_source_open(loom_err *err, const char *path, frame_source **out);
void frame_source_close(frame_source *s);
const char *frame_source_path(const frame_source *s);
const h5motion_facts *frame_source_facts(const frame_source *s);
/* "FILE.h5: /x, frame 3" or "FOLDER/f_0003.obj", for messages. */
const char *frame_source_place(const frame_source *s, int64_t frame, const char *set, char *buf,
                               size_t len);
/* x, v [num_verts][3], m and m/s; v NULL: not wanted.  Not finite numbers are refused. */
loom_status frame_source_read(const frame_source *s, loom_err *err, int64_t frame, double *x,
                              double *v);
/* [num_tris][3]; not where the facts know none */
loom_status frame_source_tris(const frame_source *s, loom_err *err, int32_t *tris);
/* s, processor time of the step from `frame` on; NaN: not known */
double frame_source_cpu(const frame_source *s, int64_t frame);
/* A text attribute of the file, "" if absent. */
const char *frame_source_text(frame_source *s, const char *name);

#endif
