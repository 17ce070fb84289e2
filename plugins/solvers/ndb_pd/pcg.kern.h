/* pcg.kern.h - conjugate gradients on (H + W) u = r: argument block and prototypes.  All scalars
 * stay where the kernels run, in the record s. */
#ifndef NDB_PCG_KERN_H
#define NDB_PCG_KERN_H

#include "loom/kernel.h"

enum { NDB_RHO = 0, NDB_RHO_NEXT, NDB_CURVATURE, NDB_ALPHA, NDB_BETA, NDB_RECORD };

typedef struct ndb_pcg_args {
  const int64_t *LK_RESTRICT ptr; /* [n+1] */
  const int32_t *LK_RESTRICT col;
  const lk_real *LK_RESTRICT val;  /* N/m */
  const lk_real *LK_RESTRICT w;    /* [n], N/m */
  const lk_real *LK_RESTRICT dinv; /* [n], m/N */
  lk_real *LK_RESTRICT u;          /* [n][3], m */
  lk_real *LK_RESTRICT r;          /* [n][3], N */
  lk_real *LK_RESTRICT z;          /* [n][3], m, P^-1 r */
  lk_real *LK_RESTRICT p;          /* [n][3], m, search direction */
  lk_real *LK_RESTRICT q;          /* [n][3], N, (H + W) p */
  lk_real *LK_RESTRICT s;          /* [NDB_RECORD] */
  int32_t first, reserved;         /* nonzero: no direction before this one */
} ndb_pcg_args;

LK_DECLARE(ndb_pcg_zero, ndb_pcg_args)      /* u = p = 0 */
LK_DECLARE(ndb_pcg_jacobi, ndb_pcg_args)    /* z = D^-1 r */
LK_DECLARE(ndb_pcg_rho, ndb_pcg_args)       /* sum r.z */
LK_DECLARE(ndb_pcg_conjugate, ndb_pcg_args) /* one element: beta */
LK_DECLARE(ndb_pcg_turn, ndb_pcg_args)      /* p = z + beta p */
LK_DECLARE(ndb_pcg_multiply, ndb_pcg_args)  /* q = (H + W) p; sum p.q */
LK_DECLARE(ndb_pcg_length, ndb_pcg_args)    /* one element: alpha */
LK_DECLARE(ndb_pcg_advance, ndb_pcg_args)   /* u += alpha p; r -= alpha q */

#endif
