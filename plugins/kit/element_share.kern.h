/* element_share.kern.h - the share of an edge or a triangle and the exact shape of a body (EO) in a
 * law; see element_share.h. */
#ifndef KIT_ELEMENT_SHARE_KERN_H
#define KIT_ELEMENT_SHARE_KERN_H

#include "kit/pair_kinds.kern.h"

/* Rows that are asked for each element: itself and its rim, the ends of an edge or the edges of a
 * triangle. */
enum { SHARE_ROWS = 4 };

/* The least share of an element that is not over a flat face, 1, and the depth below the rim, of
 * the longest edge, from which on it is 1. */
#define SHARE_LEAST LK_R(0.01)
#define SHARE_DEPTH LK_R(1e-4)

typedef struct share_rows_args {
  const int32_t *LK_RESTRICT kind; /* [m] */
  const int32_t *LK_RESTRICT v;    /* [m][4] */
  const int32_t *LK_RESTRICT obst; /* [m] */
  int64_t *LK_RESTRICT flag;       /* [m] out of share_flag: 1: an element */
  const int64_t *LK_RESTRICT row;  /* [m+1] exclusive sums of `flag` */
  int32_t *LK_RESTRICT body;       /* [num][4] out */
  int32_t *LK_RESTRICT point;      /* [num][4][3] out, corners; -1: none */
} share_rows_args;
LK_DECLARE(share_flag, share_rows_args)
LK_DECLARE(share_rows, share_rows_args)

typedef struct share_blend_args {
  const lk_real *LK_RESTRICT x;    /* [n][3] m, start of the step */
  const int32_t *LK_RESTRICT v;    /* [m][4] */
  const int64_t *LK_RESTRICT row;  /* [m+1] */
  const lk_real *LK_RESTRICT gap;  /* [num][4] m, distances of the rows */
  const lk_real *LK_RESTRICT flat; /* [num][4] m, see loom_body_near */
  lk_real reach;                   /* m */
  lk_real *LK_RESTRICT share;      /* [m] out, 1; 1 of pairs that are no elements */
} share_blend_args;
LK_DECLARE(share_blend, share_blend_args)

#endif
