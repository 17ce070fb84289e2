/* sequence.h - bodies that move as meshes: motion = sequence, a mesh file for every frame. */
#ifndef LOOM_SCENE_SEQUENCE_H
#define LOOM_SCENE_SEQUENCE_H

#include "mesh/mesh.h"
#include "scene/base/scene_data.h"

typedef struct body_sequence {
  int64_t num_frames, num_verts;
  loom_real rate; /* 1/s */
  loom_real *x;   /* [num_frames][num_verts][3], m, body frame */
} body_sequence;

/* Which files: `pattern` holds one %d or %0Nd for the number of the frame, or is one HDF5 file with
 * all of them (log/h5frames.h), which ends in .h5. */
typedef struct sequence_files {
  const char *pattern;
  int64_t first, count; /* 0: all there are from the first on */
  double rate, scale;   /* 1/s, factor on coordinates */
} sequence_files;

/* The mesh of frame number `number`, not scaled; name [room] gets its file.  LOOM_E_CONFIG for a
 * pattern without a place for the number, a file that is none. */
loom_status sequence_mesh(loom_err *err, const char *pattern, int64_t number, char *name,
                          size_t room, mesh *out);
/* All frames: with the triangles of `m`, which is the first one, and as many vertices.  Messages
 * name the file and begin without a place.  *out is the caller's, also after an error. */
loom_status sequence_read(loom_err *err, const sequence_files *files, const mesh *m,
                          body_sequence **out);
void sequence_free(body_sequence *q);
/* Position x [3] (m, body frame) of vertex v at time t (s). */
void sequence_at(const body_sequence *q, double t, int64_t v, double x[3]);
/* Of body k, or NULL: it is rigid. */
const body_sequence *scene_sequence(const scene_data *s, int k);

#endif
