/* intersect.h - exact triangle mesh intersection test (audit, doctor, `loom verify`).
 *
 * All pairs of an edge and a triangle without a common vertex, with signs decided by
 * exact arithmetic where floating point cannot decide; touching counts.  Broad phase of
 * its own (a bounding-volume hierarchy), independent of every collision plugin.
 *
 * Two triangles with a common edge have no pair without a common vertex: a triangle folded
 * exactly onto the other (an angle of 180 degrees to the last bit) is found only through its
 * other neighbours.
 */
#ifndef LOOM_INTERSECT_H
#define LOOM_INTERSECT_H

#include "core/err.h"

typedef struct isect_pair {
  int32_t edge[2]; /* vertex ids, the smaller first */
  int32_t tri;     /* triangle id */
  int32_t body;    /* -1: of the mesh with itself; else index of the body */
  int32_t side;    /* with a body: 0 the edge is the mesh's, 1 it is the body's */
} isect_pair;

/* Pairs of vertices.  Two primitives that contain a listed pair are not compared, as primitives
 * with a common vertex are not. */
typedef struct isect_left_out {
  int32_t *first; /* [vertices of the mesh and of all bodies + 1] rows of `other` */
  int32_t *other; /* ascending in each row; w is in row v if v is in row w */
} isect_left_out;
/* pairs [num][2] in place: the smaller id first, ascending, each once, none of a vertex with
 * itself; returns how many are left. */
int64_t isect_settle_pairs(int32_t *pairs, int64_t num);
/* Makes the list of settled pairs with ids below `rows`; *out is zeroed or was made before. */
loom_status isect_left_out_make(loom_err *err, int64_t rows, const int32_t *pairs, int64_t num,
                                isect_left_out *out);
void isect_left_out_free(isect_left_out *l);
/* 1 if vertices v and w are listed. [any] */
int isect_is_left_out(const isect_left_out *l, int64_t v, int64_t w);

typedef struct isect_surface { /* a triangle mesh, at rest or on its way */
  const double *x;             /* [n][3], m */
  const double *x_end;         /* [n][3], m, where the vertices go; only for isect_path */
  int64_t n;
  const int32_t *tris; /* [nt][3] */
  int64_t nt;
  const isect_left_out *left_out; /* of the mesh, with all bodies; NULL: none */
  int64_t first_id;               /* of a body: id of its vertex 0 in left_out */
} isect_surface;

/* 1 if the closed segment pq meets the closed triangle abc, exact, also degenerate and
 * coplanar cases. [any] */
int isect_segment_triangle(const double p[3], const double q[3], const double a[3],
                           const double b[3], const double c[3]);
/* A point of both, for messages: rounded.  Call it only if they meet. [any] */
void isect_point(const double p[3], const double q[3], const double a[3], const double b[3],
                 const double c[3], double out[3]);

/* Find intersections of a mesh with itself and with bodies [num_bodies], not of bodies with
 * each other.  *total gets the number, pairs the first `capacity` of them, sorted by (body,
 * side, edge, triangle); the result does not depend on `threads`. */
loom_status isect_scene(loom_err *err, const isect_surface *m, const isect_surface *bodies,
                        int num_bodies, int threads, isect_pair *pairs, int64_t capacity,
                        int64_t *total);
/* The same, but the search ends when `enough` are found: *total is then at least that. */
loom_status isect_scene_upto(loom_err *err, const isect_surface *m, const isect_surface *bodies,
                             int num_bodies, int threads, int64_t enough, isect_pair *pairs,
                             int64_t capacity, int64_t *total);
/* A mesh alone: x [n][3], tris [nt][3]. */
loom_status isect_mesh(loom_err *err, const double *x, int64_t n, const int32_t *tris, int64_t nt,
                       int threads, isect_pair *pairs, int64_t capacity, int64_t *total);

/* "edge 3-4 meets triangle 7 (8 9 10)"; tris are the mesh's, `body` names the pair's body. */
void isect_describe(const isect_pair *p, const int32_t *tris, const char *body, char *buf,
                    size_t len);

/* out[i] = R x[i] + t: vertices of a body at a pose (R row-major, t) from a log.  The same
 * bits as contact saw (body_mesh.c), rounded to loom_real. */
void isect_place(const double pose[12], const double *x, int64_t n, double *out);

#endif
