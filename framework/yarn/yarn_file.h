/* yarn_file.h - curves as yarns from files: BCC (C. Yuksel's binary curve collections) and OBJ
 * polylines.
 *
 * A BCC file is little-endian: a header of 64 bytes, "BCC", 0x44 (4-byte integers and floats),
 * "C0" (uniform Catmull-Rom), the number of dimensions 3, the dimension that points up, the
 * numbers of curves and of points (u64), 40 bytes of text; then for each curve the number of its
 * points (i32, negative: closed) and x y z of each (f32).  In an OBJ file every statement `l` is
 * a yarn, closed if its last vertex is its first one; in a file with statements of two points all
 * statements are segments, and chains of them are the yarns. */
#ifndef LOOM_YARN_YARN_FILE_H
#define LOOM_YARN_YARN_FILE_H

#include "yarn/yarn.h"

enum { BCC_HEADER = 64 };

/* Positions as in the file into m->x, yarn after yarn.  Errors are "PATH:LINE: ..." or "PATH: ...".
 */
loom_status bcc_read(loom_err *err, const char *path, mesh *m, yarn_set *y);
loom_status lines_read(loom_err *err, const char *path, mesh *m, yarn_set *y);
/* The same from memory, text[len] a NUL. */
loom_status bcc_parse(loom_err *err, const char *name, const char *data, size_t len, mesh *m,
                      yarn_set *y);
loom_status lines_parse(loom_err *err, const char *name, const char *text, size_t len, mesh *m,
                        yarn_set *y);

#endif
