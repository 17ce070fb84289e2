/* acl.kern.h - contact sets and the kernels that evaluate and rebuild them.
 *
 * A set C is a box of points [u0, u1] x [v0, v1] of two yarns (or two parts of one).  Its control
 * points stand in slots: the points of the segments of the first range, then of the second; if
 * the two share vertices they are one range.  The slot of a missing neighbour at the end of an
 * open yarn holds the reflected point.  Model (Kaldor et al. 2010, eqs. 3 to 6):
 *   X = R'(q - c) - (qbar - cbar),   F = R (fbar + K X),
 *   metric = max_i M_i 2r |X_i| / eps^2.
 * Models and energies are stored for the scene's rest lengths; their forces and energies are
 * weighed for the rest lengths of the step.
 * K is stored as its blocks (a, b), a <= b, row by row; a block is symmetric, and a row holds its
 * components xx, xy, xz, yy, yz, zz one after the other, so that it is worked on as vectors. */
#ifndef ACL_KERN_H
#define ACL_KERN_H

#include "geom/yarn.kern.h"

enum { ACL_SPRINGS = 4, ACL_ROW = 16 };

/* Where a set is.  The host decides; kernels have a copy in the set's model from when it was
 * built. */
typedef struct acl_place {
  int32_t u0, u1, v0, v1; /* points, ends included */
  int32_t sa, sb;         /* first segment of either range */
  int32_t off;            /* slot of the second range's first control point */
  int32_t slots;          /* their number */
  int32_t with_K;         /* 1: it has room for K */
  int32_t reserved;
  int64_t slot, block;            /* the first ones */
  lk_real reach;                  /* m, r_a + r_b */
  lk_real eps2;                   /* m^2, smallest squared distance when built */
  int32_t spring[ACL_SPRINGS][2]; /* points of the stiction springs */
  int32_t from[ACL_SPRINGS];      /* where they come from, ACL_SPRINGS set + spring; -1: new */
} acl_place;

typedef struct acl_model { /* a set as the kernels know it */
  acl_place at;
  int32_t pairs; /* in contact when built */
  int32_t reserved;
  lk_real energy;              /* J, when built */
  lk_real R[9];                /* rotation since, of the last step: where the next one begins */
  lk_real length[ACL_SPRINGS]; /* m, at rest; < 0: not there yet */
} acl_model;

typedef struct acl_job { /* one set to work on */
  int32_t set;
  int32_t out; /* its place in the lists of arguments and results */
} acl_job;

typedef struct acl_out {  /* results of kernels for a set */
  lk_real metric, energy; /* 1, J */
  lk_real smallest;       /* m^2, smallest squared distance */
  int32_t range[5];       /* points in contact, number of pairs */
  int32_t reserved;
} acl_out;

typedef struct acl_pool {    /* of the slots */
  int32_t *LK_RESTRICT vert; /* vertex; -1, -2: reflected, at the start or the end of a yarn */
  lk_real *LK_RESTRICT qbar; /* [.][3] m, less their mean */
  lk_real *LK_RESTRICT fbar; /* [.][3] N */
  lk_real *LK_RESTRICT M;    /* weights of the metric, 1 */
  lk_real *LK_RESTRICT X;    /* [.][3] m, workspace: x of all slots of a set, y, z */
  lk_real *LK_RESTRICT Y;    /* [.][3] N, workspace, as X */
  lk_real *LK_RESTRICT F;    /* [.][3] N, force */
  lk_real *LK_RESTRICT K;    /* [.][6] N/m, of the blocks */
} acl_pool;

typedef struct acl_args {
  yarn_line l;
  acl_pool p;
  acl_model *LK_RESTRICT model;       /* [sets] */
  const acl_job *LK_RESTRICT job;     /* sets to work on, in any order */
  const acl_place *LK_RESTRICT place; /* by acl_job.out: where they are now */
  acl_out *LK_RESTRICT out;           /* by acl_job.out */
  lk_real *LK_RESTRICT length;        /* [.][ACL_SPRINGS] m, by acl_job.out: of acl_springs_of */
  const lk_real *LK_RESTRICT x;       /* [n][3] m */
  const lk_real *LK_RESTRICT P;       /* [ns][3][YARN_LANES] m, points at x */
  lk_real stiffness;                  /* N/m */
  lk_real stiction;                   /* N/m, of one spring */
  lk_real breaks;                     /* J, energy at which a spring breaks */
  lk_real change;                     /* 1, loom_step.rest_change: contact has (1 + change)^2 */
  int32_t keep;                       /* 1: rotations and springs are stored, in a new step */
  int32_t exact;                      /* 1: tolerance 0, no models */
} acl_args;
LK_DECLARE(acl_apply, acl_args)      /* pose, metric, force by the model */
LK_DECLARE(acl_range, acl_args)      /* which points are in contact at `place` */
LK_DECLARE(acl_springs_of, acl_args) /* rest lengths of springs that come from other sets */
LK_DECLARE(acl_build, acl_args)      /* the model at x, and its force */
LK_DECLARE(acl_force, acl_args)      /* exact force at x */

typedef struct acl_touch { /* bit j of row i: points i, j of a pair of segments are in contact */
  uint16_t row[YARN_LANES];
} acl_touch;

typedef struct acl_touch_args { /* pairs of segments */
  yarn_line l;
  const lk_real *LK_RESTRICT P;
  const int32_t *LK_RESTRICT kind;
  const int32_t *LK_RESTRICT v; /* [.][4], as in loom_pairs */
  const lk_real *LK_RESTRICT w; /* [.][4] */
  acl_touch *LK_RESTRICT out;
} acl_touch_args;
LK_DECLARE(acl_touching, acl_touch_args)

typedef struct acl_move_args { /* sets move to other memory: jobs as above */
  acl_pool from, to;
  acl_model *LK_RESTRICT model;
  const acl_job *LK_RESTRICT job;
  const acl_place *LK_RESTRICT place;
} acl_move_args;
LK_DECLARE(acl_move, acl_move_args)

typedef struct acl_gather_args {
  const lk_real *LK_RESTRICT F;    /* [slots][3] N */
  const int64_t *LK_RESTRICT at;   /* [n+1] */
  const int32_t *LK_RESTRICT slot; /* [.] slots of a vertex */
  lk_real *LK_RESTRICT force;      /* [n][3] N, out */
} acl_gather_args;
LK_DECLARE(acl_gather, acl_gather_args)

typedef struct acl_vector_args { /* vertices */
  const lk_real *LK_RESTRICT a;  /* [n][3] */
  const lk_real *LK_RESTRICT b;  /* [n][3] */
  lk_real *LK_RESTRICT out;      /* [n][3] */
} acl_vector_args;
LK_DECLARE(acl_differ, acl_vector_args)   /* 1 if a and b are not the same */
LK_DECLARE(acl_longest, acl_vector_args)  /* |a| */
LK_DECLARE(acl_subtract, acl_vector_args) /* out -= a */

typedef struct acl_lanes_args {
  yarn_line l;
  const lk_real *LK_RESTRICT x;
  lk_real *LK_RESTRICT P; /* out */
} acl_lanes_args;
LK_DECLARE(acl_lanes, acl_lanes_args)

#endif
