/* bodies.kern.h - the last part of a global step: affine bodies by their own exact matrix. */
#ifndef NDB_PD_BODIES_KERN_H
#define NDB_PD_BODIES_KERN_H

#include "loom/kernel.h"

enum { NDB_PD_BODY_DATA = 11 }; /* of tet_arap: B, 1/m, V, m^3, and w, N/m^2 */

typedef struct ndb_pd_body_args {
  const int64_t *LK_RESTRICT ptr; /* [n+1], of H */
  const int32_t *LK_RESTRICT col;
  const lk_real *LK_RESTRICT val;   /* N/m */
  const lk_real *LK_RESTRICT w;     /* [n], N/m, contact weights */
  const lk_real *LK_RESTRICT x;     /* [n][3], m */
  const lk_real *LK_RESTRICT r;     /* [n][3], N, -grad - (H + W) total */
  const uint8_t *LK_RESTRICT fixed; /* [n] */
  const int32_t *LK_RESTRICT vert;  /* [bodies][4] */
  const lk_real *LK_RESTRICT data;  /* [bodies][NDB_PD_BODY_DATA] */
  lk_real *LK_RESTRICT matrix;      /* [bodies][12][12], N/m, room */
  lk_real *LK_RESTRICT total;       /* [n][3], m: rows of the control points get their d */
} ndb_pd_body_args;

LK_DECLARE(ndb_pd_turn_body, ndb_pd_body_args) /* per body */

#endif
