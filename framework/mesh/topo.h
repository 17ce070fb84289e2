/* topo.h - edges of a triangle mesh and the triangles around them, in linear time. */
#ifndef LOOM_MESH_TOPO_H
#define LOOM_MESH_TOPO_H

#include "core/err.h"

/* Corner c of triangle t is number 3 t + c; it stands for the side from that vertex to
 * the next one of the triangle. */
typedef struct topo {
  int64_t num_edges;
  int32_t *edges; /* [num_edges][2], smaller id first, in ascending order */
  int64_t *first; /* [num_edges + 1] into sides */
  int32_t *sides; /* [3 nt] sides grouped by edge, ascending within one */
} topo;

/* tris [nt][3] with all ids in [0, n). */
loom_status topo_build(loom_err *err, const int32_t *tris, int64_t nt, int64_t n, topo *out);
void topo_free(topo *t);

/* Vertices at the start and end of a side, and the one opposite to it. */
void topo_side(const int32_t *tris, int32_t side, int32_t *from, int32_t *to, int32_t *opposite);

/* Indices 0..count-1 in ascending order of rows of `key` [count][width], ids in [0, n):
 * a stable counting sort per column, linear in count + n. */
loom_status topo_sort_rows(loom_err *err, const int32_t *key, int64_t count, int width, int64_t n,
                           int32_t *order);

#endif
