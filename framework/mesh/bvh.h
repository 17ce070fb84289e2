/* bvh.h - closest point of a triangle mesh by a hierarchy of boxes. */
#ifndef LOOM_MESH_BVH_H
#define LOOM_MESH_BVH_H

#include "core/err.h"

enum { /* closest feature of the triangle; edge k runs from corner k to corner k + 1 */
       BVH_VERTEX0 = 0,
       BVH_EDGE0 = 3,
       BVH_FACE = 6
};

typedef struct bvh bvh;

typedef struct bvh_hit {
  int32_t tri, feature;
  double dist;     /* m */
  double point[3]; /* m */
} bvh_hit;

typedef struct bvh_node {
  double lo[3], hi[3];  /* m */
  int32_t first, count; /* leaf: triangles order[first ..]; inner: count 0, first = right child;
                         * the left child follows its parent */
} bvh_node;

typedef struct bvh_view { /* of a hierarchy, for callers with a traversal of their own */
  const bvh_node *nodes;  /* [num_nodes], children behind their parents */
  const int32_t *order;   /* [nt] */
  int32_t num_nodes;
} bvh_view;

/* Keeps x [.][3] and tris [nt][3], nt > 0, of the caller. */
loom_status bvh_build(loom_err *err, const double *x, const int32_t *tris, int32_t nt, bvh **out);
void bvh_free(bvh *b);
bvh_view bvh_look(const bvh *b); /* good as long as b */
/* `bound` (m) must not be below the distance; DBL_MAX: no bound is known.  [any] */
void bvh_closest(const bvh *b, const double p[3], double bound, bvh_hit *hit);

/* Winding number of the closed surface around p: how often the surface encloses p, 0 outside; also
 * of surfaces that meet themselves.  Counted along one ray; triangles that share an edge agree on
 * the side of the edge on which the ray passes.  [any] */
int32_t bvh_winding(const bvh *b, const double p[3]);

/* Closest point of triangle abc to p: fills all of *hit but tri.  [any] */
void bvh_closest_on_triangle(const double p[3], const double a[3], const double b[3],
                             const double c[3], bvh_hit *hit);

#endif
