/* isect_path.h - do moving meshes pass through each other between two frames?
 *
 * Vertices move on straight lines from x (time 0) to x_end (time 1).  A vertex and a
 * triangle, or two edges, without a common vertex pass each other if they touch at some
 * time in between, the ends included.  The search misses none: it bisects time and the two
 * coordinates on the pair, and drops only parts that interval bounds of the distance vector,
 * widened by a proven bound of their rounding error, exclude.  A reported pair came nearer
 * than sqrt(3) `tolerance`, or is marked unsure.
 */
#ifndef LOOM_ISECT_PATH_H
#define LOOM_ISECT_PATH_H

#include "audit/intersect.h"

enum { ISECT_VT = 0, ISECT_EE = 1 };

typedef struct isect_pass {
  int32_t kind;   /* ISECT_VT, ISECT_EE */
  int32_t body;   /* -1: of the mesh with itself; else index of the body */
  int32_t side;   /* with a body: 1 the vertex of VT is the body's and the triangle the mesh's */
  int32_t v[4];   /* VT: vertex, triangle; EE: edge, edge (with a body: the mesh's, the body's) */
  int32_t unsure; /* 1: the search gave up; nearer than can be told from touching */
  double time;    /* in [0,1], when they first come so near */
} isect_pass;

/* One pair: x0, x1 the four points at both times, in the order of `v`.  Returns 0 (they do
 * not pass), 1 (they do, first at *time), 2 (unsure). [any] */
int isect_pass_pair(int kind, const double *const x0[4], const double *const x1[4],
                    double tolerance, double *time);

/* "vertex 3 of body rock and triangle (0 1 2)" into buf; body: name of p->body. */
void isect_pass_describe(const isect_pass *p, const char *body, char *buf, size_t len);

/* A search for passes ends when about so many are found: damaged positions have them without
 * number. */
enum { ISECT_MOST_PASSES = 100000 };

/* All pairs of mesh m with itself and with the bodies [num_bodies]; a surface without x_end stands
 * still.  tolerance > 0, m.  *total gets the number of passes, `passes` the first `capacity` of
 * them, sorted by (body, kind, side, v). */
loom_status isect_path(loom_err *err, const isect_surface *m, const isect_surface *bodies,
                       int num_bodies, double tolerance, int threads, isect_pass *passes,
                       int64_t capacity, int64_t *total);

#endif
