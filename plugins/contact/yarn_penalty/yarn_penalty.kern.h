/* yarn_penalty.kern.h - kernels of the exact contact force between yarns. */
#ifndef YARN_PENALTY_KERN_H
#define YARN_PENALTY_KERN_H

#include "geom/yarn.kern.h"

typedef struct yarn_penalty_points_args {
  yarn_line l;
  const lk_real *LK_RESTRICT x; /* [n][3] m */
  lk_real *LK_RESTRICT P;       /* [ns][3][YARN_LANES] m, out */
} yarn_penalty_points_args;
LK_DECLARE(yarn_penalty_points, yarn_penalty_points_args)

typedef struct yarn_penalty_pair_args {
  yarn_line l;
  const lk_real *LK_RESTRICT P;
  const int32_t *LK_RESTRICT v; /* [m][4] segments */
  const lk_real *LK_RESTRICT w; /* [m][4] ranges of parameters */
  lk_real *LK_RESTRICT g;       /* [m][2][4][3] N, out: by control point */
  lk_real *LK_RESTRICT energy;  /* [m] J, out */
  lk_real *LK_RESTRICT force;   /* [m] N, out: between the two segments */
  lk_real stiffness;            /* N/m */
  int32_t all;                  /* 1: all points, 0: points of the ranges only */
} yarn_penalty_pair_args;
LK_DECLARE(yarn_penalty_pair, yarn_penalty_pair_args)

typedef struct yarn_penalty_index_args {
  const int32_t *LK_RESTRICT v;    /* [m][4] */
  const uint64_t *LK_RESTRICT key; /* [m] ascending second segments */
  uint64_t *LK_RESTRICT second;    /* [m] out by yarn_penalty_second */
  int64_t *LK_RESTRICT
      at; /* [ns+1][2] out by yarn_penalty_index: first pair of a segment, either side */
  int64_t m;
} yarn_penalty_index_args;
LK_DECLARE(yarn_penalty_second, yarn_penalty_index_args)
LK_DECLARE(yarn_penalty_index, yarn_penalty_index_args)

typedef struct yarn_penalty_gather_args {
  const lk_real *LK_RESTRICT g;    /* [m][2][4][3] N */
  const int64_t *LK_RESTRICT at;   /* [ns+1][2] */
  const int32_t *LK_RESTRICT perm; /* [m] pairs in the order of their second segments */
  lk_real *LK_RESTRICT seg;        /* [ns][4][3] N, out by yarn_penalty_gather */
  const int32_t *LK_RESTRICT of;   /* [n][4] segment * 4 + place of a vertex in it, -1: none */
  lk_real *LK_RESTRICT grad;       /* [n][3] N, += by yarn_penalty_add */
} yarn_penalty_gather_args;
LK_DECLARE(yarn_penalty_gather, yarn_penalty_gather_args)
LK_DECLARE(yarn_penalty_add, yarn_penalty_gather_args)

typedef struct yarn_penalty_value_args {
  const lk_real *LK_RESTRICT value; /* [m] */
} yarn_penalty_value_args;
LK_DECLARE(yarn_penalty_sum, yarn_penalty_value_args)
LK_DECLARE(yarn_penalty_most, yarn_penalty_value_args)
LK_DECLARE(yarn_penalty_count, yarn_penalty_value_args) /* number of nonzero values */
LK_DECLARE(yarn_penalty_least, yarn_penalty_value_args) /* minus the smallest */

#endif
