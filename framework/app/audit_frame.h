/* audit_frame.h - what `loom verify` checks of one frame, independent of the solver side. */
#ifndef LOOM_AUDIT_FRAME_H
#define LOOM_AUDIT_FRAME_H

#include "geom/intersect.h"
#include "log/h5log.h"

enum { AUDIT_MAX_BODIES = 64, AUDIT_NAME_LEN = 64 };

typedef struct audit_body { /* an obstacle with a closed form */
  char name[AUDIT_NAME_LEN];
  int kind;        /* LOOM_OBST_* */
  double shape[8]; /* body frame, m, as in loom_obstacle */
  double *poses;   /* [num_poses][12] body to world */
  int64_t num_poses;
} audit_body;

typedef struct audit { /* the scene a log describes */
  int64_t n, nt, num_tets;
  int32_t *tris;   /* [nt][3] */
  int32_t *tets;   /* [num_tets][4], NULL if none */
  double *area;    /* rest areas, m^2 [nt] */
  double *volume;  /* signed rest volumes, m^3 [num_tets] */
  double min_area; /* least share of its rest area a triangle may have */
  int threads;
  int num_bodies, skipped_bodies;
  audit_body bodies[AUDIT_MAX_BODIES];
  isect_pair *pairs; /* [max_pairs] */
  int64_t max_pairs;
} audit;

typedef struct audit_result {
  int64_t not_finite; /* vertices with a NaN or infinite coordinate */
  int64_t degenerate; /* triangles below min_area times their rest area */
  int64_t inverted;   /* tetrahedra whose volume is not of its rest volume's sign */
  int64_t intersections;
  int64_t first_bad[3]; /* vertex, triangle, tetrahedron: the first found, or -1 */
  double depth;         /* m, deepest a vertex lies inside a body, 0 if none does */
  int64_t depth_vertex;
  int depth_body;
} audit_result;

loom_status audit_open(loom_err *err, h5read *r, double min_area, int64_t max_pairs, audit *a);
void audit_close(audit *a);
/* x [n][3]; frame is its index, for the poses.  Pairs lie in a->pairs afterwards. */
loom_status audit_frame(loom_err *err, audit *a, const double *x, int64_t frame, audit_result *out);

#endif
