/* h5frames.h - moving triangle meshes in HDF5 files of other programs.
 *
 * /vertices [frames][n][3], numbers in m; /triangles [nt][3], ids from 0.  Any numeric type. */
#ifndef LOOM_H5FRAMES_H
#define LOOM_H5FRAMES_H

#include "core/err.h"

typedef struct h5frames_shape {
  int64_t num_frames, num_verts, num_tris;
} h5frames_shape;

/* Errors are LOOM_E_CONFIG and name the file and the data set. */
loom_status h5frames_shape_of(loom_err *err, const char *path, h5frames_shape *out);
/* The same, after all frames were read in a child process (h5guard.h): once for each file. */
loom_status h5frames_open(loom_err *err, const char *path, h5frames_shape *out);
/* x [num_verts][3] of one frame, tris [num_tris][3]; each may be NULL. */
loom_status h5frames_read(loom_err *err, const char *path, int64_t frame, double *x, int32_t *tris);

#endif
