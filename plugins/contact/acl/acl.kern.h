/* acl.kern.h - contact sets and the kernels that evaluate and rebuild them.
 *
 * A set C is a box of points [u0, u1] x [v0, v1] of two yarns (or two parts of one).  Its control
 * points stand in slots: those of the segments of the first range, then those of the second; if
 * the two share vertices they are one range.  The slot of a missing neighbour at the end of an
 * open yarn holds the reflected point.  Model (Kaldor et al. 2010, eqs. 3 to 6):
 *   X = R'(q - c) - (qbar - cbar),   F = R (fbar + K X),
 *   metric = max_i M_i 2r |X_i| / eps^2.
 * K is stored as its blocks (a, b), a <= b, row by row; a block is symmetric, and a row holds its
 * components xx, xy, xz, yy, yz, zz one after the other, so that it is worked on as vectors. */
#ifndef ACL_KERN_H
#define ACL_KERN_H

#include "geom/yarn.kern.h"

enum { /* states: DIRTY and NEW have no model yet; what a NEW one holds was not measured */
       ACL_DEAD = 0,
       ACL_CLEAN = 1,
       ACL_DIRTY = 2,
       ACL_NEW = 3
};
enum { ACL_SPRINGS = 4, ACL_ROW = 16 };

typedef struct acl_set {
  int32_t u0, u1, v0, v1; /* points, ends included */
  int32_t state;          /* ACL_DEAD ... */
  int32_t sa, sb;         /* first segment of either range */
  int32_t off;            /* slot of the second range's first control point */
  int32_t slots, pairs;   /* their numbers */
  int32_t slot_cap, block_cap;
  int64_t slot, block;            /* the first ones */
  int64_t updates;                /* times the model was built */
  lk_real reach;                  /* m, r_a + r_b */
  lk_real eps2;                   /* m^2, smallest squared distance when built */
  lk_real energy;                 /* J, when built */
  lk_real cbar[3];                /* m, mean of the control points when built */
  lk_real R[9];                   /* rotation since, of the last step: where the next one begins */
  int32_t spring[ACL_SPRINGS][2]; /* points of the stiction springs */
  lk_real length[ACL_SPRINGS];    /* m, at rest; < 0: not there yet */
} acl_set;

typedef struct acl_pool {    /* of the slots */
  int32_t *LK_RESTRICT vert; /* vertex; -1, -2: reflected, at the start or the end of a yarn */
  lk_real *LK_RESTRICT qbar; /* [.][3] m, less cbar */
  lk_real *LK_RESTRICT fbar; /* [.][3] N */
  lk_real *LK_RESTRICT M;    /* weights of the metric, 1 */
  lk_real *LK_RESTRICT X;    /* [.][3] m, workspace: x of all slots of a set, y, z */
  lk_real *LK_RESTRICT Y;    /* [.][3] N, workspace, likewise */
  lk_real *LK_RESTRICT F;    /* [.][3] N, force */
  lk_real *LK_RESTRICT K;    /* [.][6] N/m, of the blocks */
} acl_pool;

typedef struct acl_args {
  yarn_line l;
  acl_pool p;
  acl_set *LK_RESTRICT set;
  const int32_t *LK_RESTRICT list; /* sets to work on */
  const lk_real *LK_RESTRICT x;    /* [n][3] m */
  const lk_real *LK_RESTRICT P;    /* [ns][3][YARN_LANES] m, points at x */
  lk_real *LK_RESTRICT metric;     /* [list] out */
  lk_real *LK_RESTRICT energy;     /* [list] J, out */
  int32_t *LK_RESTRICT range;      /* [list][5] out of acl_range: contact range, number of pairs */
  lk_real *LK_RESTRICT smallest;   /* [list] m^2, out: smallest squared distance */
  lk_real stiffness;               /* N/m */
  lk_real stiction;                /* N/m, of one spring */
  lk_real breaks;                  /* J, energy at which a spring breaks */
  int32_t keep;                    /* 1: rotations and springs are those of a new step */
  int32_t exact;                   /* 1: tolerance 0, no models */
} acl_args;
LK_DECLARE(acl_apply, acl_args) /* pose, metric, force by the model */
LK_DECLARE(acl_range, acl_args) /* which points are in contact */
LK_DECLARE(acl_build, acl_args) /* the model at x, and its force */
LK_DECLARE(acl_force, acl_args) /* exact force at x */

typedef struct acl_gather_args {
  const lk_real *LK_RESTRICT F;    /* [slots][3] N */
  const int64_t *LK_RESTRICT at;   /* [n+1] */
  const int32_t *LK_RESTRICT slot; /* [.] slots of a vertex */
  lk_real *LK_RESTRICT force;      /* [n][3] N, out */
} acl_gather_args;
LK_DECLARE(acl_gather, acl_gather_args)

typedef struct acl_lanes_args {
  yarn_line l;
  const lk_real *LK_RESTRICT x;
  lk_real *LK_RESTRICT P; /* out */
} acl_lanes_args;
LK_DECLARE(acl_lanes, acl_lanes_args)

#endif
