/* intersect.h - exact triangle mesh intersection test (audit, doctor, `loom verify`).
 *
 * All pairs of an edge and a triangle without a common vertex, with signs decided by
 * exact arithmetic where floating point cannot decide; touching counts.  Broad phase of
 * its own (a bounding-volume hierarchy), independent of every collision plugin.
 */
#ifndef LOOM_INTERSECT_H
#define LOOM_INTERSECT_H

#include "core/err.h"

typedef struct isect_pair {
  int32_t edge[2]; /* vertex ids */
  int32_t tri;     /* triangle id */
} isect_pair;

/* Sign of det[b-a, c-a, d-a], exact: -1, 0, +1. [any] */
int isect_orient3d(const double a[3], const double b[3], const double c[3], const double d[3]);
/* 1 if the closed segment pq meets the closed triangle abc, exact, also degenerate and
 * coplanar cases. [any] */
int isect_segment_triangle(const double p[3], const double q[3], const double a[3],
                           const double b[3], const double c[3]);

/* Find intersections of a mesh with itself.  x [n][3], tris [nt][3].  *total gets the
 * number, pairs the first `capacity` of them, sorted by (edge, triangle); the result
 * does not depend on `threads`. */
loom_status isect_mesh(loom_err *err, const double *x, int64_t n, const int32_t *tris, int64_t nt,
                       int threads, isect_pair *pairs, int64_t capacity, int64_t *total);

#endif
