/* rows.kern.h - kernels of the services on bodies (loom_body_rows).
 *
 * Distances have a kernel for each family of bodies: bodies that do not bend, and each field.  It
 * leaves the rows of other bodies alone. */
#ifndef LOOM_BODIES_ROWS_KERN_H
#define LOOM_BODIES_ROWS_KERN_H

#include "bodies/shapes.kern.h"

typedef struct body_rows {           /* as loom_body_rows */
  const obst_view *LK_RESTRICT view; /* [num_obstacles] */
  const int32_t *LK_RESTRICT body;   /* [.] or NULL */
  const int32_t *LK_RESTRICT point;  /* [.][stride] or NULL */
  const lk_real *LK_RESTRICT x;      /* [.][3] m */
  int64_t first, pair;
  int64_t num_points; /* rows of x */
  int32_t stride;
} body_rows;

/* Gaps that were known with the points elsewhere, as in loom_body_gap; x is NULL: none. */
typedef struct body_known {
  const lk_real *LK_RESTRICT x;      /* [.][3] m, of the points */
  const lk_real *LK_RESTRICT gap;    /* [pairs] m */
  const lk_real *LK_RESTRICT radius; /* [.] m, of the points */
  lk_real enough;                    /* m */
} body_known;

typedef struct body_gap_args {
  body_rows r;
  body_known known;
  lk_real progress;
  lk_real *LK_RESTRICT gap;       /* [.] m, or NULL, as the following */
  lk_real *LK_RESTRICT normal;    /* [.][3] */
  lk_real *LK_RESTRICT gradient;  /* [.][3] */
  lk_real *LK_RESTRICT curvature; /* [.][3][3] 1/m */
} body_gap_args;

/* Gaps and normals, NEURAL_MANY rows to an index, for bodies that take many points at once. */
typedef struct body_lanes_args {
  body_gap_args g;
  int64_t count; /* rows */
} body_lanes_args;
LK_DECLARE(body_lanes, body_lanes_args)

typedef struct body_impact_args {
  body_rows r;
  const lk_real *LK_RESTRICT x1;     /* [.][3] m */
  const lk_real *LK_RESTRICT radius; /* [.] m */
  const lk_real *LK_RESTRICT floor;  /* [.] m, of the rows */
  const lk_real *LK_RESTRICT tol;    /* [.] m */
  lk_real s0, s1;
  int32_t max_iters;
  lk_real *LK_RESTRICT toi;    /* [.] */
  lk_real *LK_RESTRICT gap;    /* [.] m, or NULL, as the following */
  lk_real *LK_RESTRICT normal; /* [.][3] */
  lk_real *LK_RESTRICT point;  /* [.][3] m */
} body_impact_args;

/* Elements of up to three corners, the columns of `point`; see near.kern.h. */
typedef struct body_near_args {
  body_rows r;
  lk_real progress;
  lk_real *LK_RESTRICT gap;       /* [.] m, or NULL, as the following */
  lk_real *LK_RESTRICT weight;    /* [.][4] */
  lk_real *LK_RESTRICT normal;    /* [.][3] */
  lk_real *LK_RESTRICT gradient;  /* [.][3] */
  lk_real *LK_RESTRICT curvature; /* [.][3][3] 1/m */
  lk_real *LK_RESTRICT flat;      /* [.] m */
} body_near_args;
LK_DECLARE(body_near, body_near_args)

typedef struct body_near_impact_args {
  body_impact_args i;
  lk_real *LK_RESTRICT weight; /* [.][4], or NULL */
} body_near_impact_args;
LK_DECLARE(body_near_impact, body_near_impact_args)

/* Reals that the gap of one point reads, a mean over the shipped scenes; one for each family. */
enum {
  BODY_READS_rigid = 16,
  BODY_READS_baked = 60,
  BODY_READS_capsules = 230,
  BODY_READS_exact = 740,
  BODY_READS_neural = 980,
  BODY_READS_neural_wide = 1720
};

/* body_gap_FAMILY, body_slope_FAMILY (with gradient or curvature), body_impact_FAMILY */
#define BODY_DECLARE(family)                     \
  LK_DECLARE(body_gap_##family, body_gap_args)   \
  LK_DECLARE(body_slope_##family, body_gap_args) \
  LK_DECLARE(body_impact_##family, body_impact_args)
BODY_DECLARE(rigid)
#define BODY_FIELD_SHAPE(name) BODY_DECLARE(name)
#include "bodies/bodies.def"

typedef struct body_carry_args {
  body_rows r;
  lk_real s0, s1;
  lk_real *LK_RESTRICT to; /* [.][3] m */
} body_carry_args;
LK_DECLARE(body_carry_rigid, body_carry_args)
LK_DECLARE(body_carry_bent, body_carry_args) /* all fields */

/* Impulses of rows on bodies that move by themselves, first summed over each BODY_CHUNK rows. */
enum { BODY_CHUNK = 3072, BODY_IMPULSE = 7 };
typedef struct body_push_args {
  body_rows r;
  const lk_real *LK_RESTRICT impulse; /* [.][3] N s */
  const lk_real *LK_RESTRICT mass;    /* [.] kg */
  const int32_t *LK_RESTRICT mover;   /* [num_obstacles] its number among the bodies that move by
                                       * themselves, -1: none of them */
  lk_real *LK_RESTRICT part;          /* [chunks][movers][BODY_IMPULSE] out */
  int64_t count;
  int32_t movers;
} body_push_args;
LK_DECLARE(body_push, body_push_args) /* one launch index per chunk */

typedef struct body_push_sum_args {
  const lk_real *LK_RESTRICT part;    /* [chunks][movers][BODY_IMPULSE] */
  const int32_t *LK_RESTRICT body_of; /* [movers] index of the obstacle */
  lk_real *LK_RESTRICT rows;          /* [num_obstacles][BODY_IMPULSE], added to: impulse, N s;
                                       * angular impulse about the origin of pose1, N m s; mass of
                                       * the objects that acted on it, kg */
  int64_t chunks;
  int32_t movers;
} body_push_sum_args;
LK_DECLARE(body_push_sum, body_push_sum_args)

#endif
