/* truth.h - exact signed distance to a closed surface that may meet itself.
 *
 * A skin that bends far meets itself.  The enclosed space is then taken as one solid: a point is
 * inside where the winding number is 1 or more, and its distance is the distance to the exposed
 * triangles.  A triangle is buried, not exposed, if the surface winds around the points just
 * outside of it.  DEVIATION: Akar et al. 2024 separate the surface by simulating its inside; points
 * outside have the same distance here, but there is no room for cloth in the crease. */
#ifndef LOOM_SSDF_TRUTH_H
#define LOOM_SSDF_TRUTH_H

#include "core/err.h"
#include "mesh/bvh.h"

typedef struct ssdf_truth {
  bvh *all;            /* for the side */
  bvh *exposed;        /* for the distance */
  double *x;           /* [.][3] m, vertices of the surface, then vertices of parts */
  int32_t *tris;       /* [num_exposed][3] triangles, and parts of them */
  int32_t *number;     /* [num_exposed] triangle of the surface that each belongs to */
  int32_t num_exposed; /* 0 never */
  int32_t num_buried;  /* triangles that are not exposed at all */
} ssdf_truth;

/* Of the surface x [n][3] (m), tris [nt][3], nt > 0, triangles outwards; the caller keeps both
 * arrays.  correct 0: buried triangles count as exposed, for comparison. */
loom_status ssdf_truth_build(loom_err *err, const double *x, int32_t n, const int32_t *tris,
                             int32_t nt, int correct, ssdf_truth *out);
void ssdf_truth_free(ssdf_truth *t);
/* Signed distance of p, m, negative inside.  `bound` (m) as in bvh_closest(); hit, or NULL: the
 * closest point, and its triangle of the whole surface.  [any] */
double ssdf_truth_distance(const ssdf_truth *t, const double p[3], double bound, bvh_hit *hit);

#endif
