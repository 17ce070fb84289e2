/* h5motion.h - positions and velocities that another program wrote into an HDF5 file.
 *
 * /x [frames][n][3] (m), and where the program knows them /v of the same shape (m/s), /triangles
 * [nt][3] (ids from 0), /time [frames] (s) or the root attribute `dt` (s), /t_cpu [frames - 1] (s,
 * processor time of each step).  Any numeric type.  Text attributes of the root: peer,
 * peer_version, peer_settings, peer_licence. */
#ifndef LOOM_H5MOTION_H
#define LOOM_H5MOTION_H

#include "core/err.h"

typedef struct h5motion h5motion;
typedef struct h5motion_facts {
  int64_t num_frames, num_verts;
  int64_t num_tris; /* -1: the file has no /triangles */
  int has_v;
  double dt; /* s between two frames, NaN: the file does not say */
  int has_cpu;
} h5motion_facts;

/* 1: the file begins as HDF5 files do. */
int h5motion_is_hdf5(const char *path);
/* 1: it is a log of loom (h5read.h). */
int h5motion_is_log(const char *path);
/* All of the file is read in a child process first (h5guard.h).  Errors are LOOM_E_CONFIG and name
 * the file and the data set.  h5motion_close() frees *out. */
loom_status h5motion_open(loom_err *err, const char *path, h5motion **out);
void h5motion_close(h5motion *m);
const h5motion_facts *h5motion_facts_of(const h5motion *m);
/* x, v [num_verts][3] of one frame; v may be NULL, and must be where `has_v` is 0. */
loom_status h5motion_frame(const h5motion *m, loom_err *err, int64_t frame, double *x, double *v);
loom_status h5motion_tris(const h5motion *m, loom_err *err, int32_t *tris); /* [num_tris][3] */
/* s, of the step from `frame` to the next one; NaN where `has_cpu` is 0 */
double h5motion_cpu(const h5motion *m, int64_t frame);
/* A text attribute of the root, "" if absent; valid until close. */
const char *h5motion_text(h5motion *m, const char *name);

#endif
