/* body_turns.kern.h - affine bodies in a global step by their own exact matrix. */
#ifndef KIT_BODY_TURNS_KERN_H
#define KIT_BODY_TURNS_KERN_H

#include "loom/kernel.h"

enum { BODY_TURNS_DATA = 11 }; /* of tet_arap: B, 1/m, V, m^3, and w, N/m^2 */

typedef struct body_turns_args {
  const int64_t *LK_RESTRICT ptr; /* [n+1], of H; rows of control points alone are read, none has a
                                     coupling with a fixed row */
  const int32_t *LK_RESTRICT col;
  const lk_real *LK_RESTRICT val;   /* N/m */
  const lk_real *LK_RESTRICT w;     /* [n], N/m, contact weights */
  const lk_real *LK_RESTRICT x;     /* [n][3], m */
  const lk_real *LK_RESTRICT r;     /* [n][3], N, -grad - (H + W) total */
  const uint8_t *LK_RESTRICT fixed; /* [n] */
  const int32_t *LK_RESTRICT vert;  /* [bodies][4] */
  const lk_real *LK_RESTRICT data;  /* [bodies][BODY_TURNS_DATA] */
  lk_real *LK_RESTRICT matrix;      /* [bodies][12][12], N/m, room */
  lk_real *LK_RESTRICT total;       /* [n][3], m: rows of the control points get their d */
} body_turns_args;

LK_DECLARE(body_turns_solve, body_turns_args) /* per body */

#endif
