/* pcg.kern.h - kernels of conjugate gradients on (H + W) u = r: argument block and prototypes. */
#ifndef NDB_PD_PCG_KERN_H
#define NDB_PD_PCG_KERN_H

#include "loom/kernel.h"

typedef struct ndb_pd_pcg_args {
  const int64_t *LK_RESTRICT ptr; /* [n+1] */
  const int32_t *LK_RESTRICT col;
  const lk_real *LK_RESTRICT val;  /* N/m */
  const lk_real *LK_RESTRICT w;    /* [n], N/m */
  const lk_real *LK_RESTRICT dinv; /* [n], m/N */
  const lk_real *LK_RESTRICT x;    /* [n][3] */
  lk_real *LK_RESTRICT y;          /* [n][3] */
} ndb_pd_pcg_args;

LK_DECLARE(ndb_pd_pcg_jacobi, ndb_pd_pcg_args)   /* y = D^-1 x */
LK_DECLARE(ndb_pd_pcg_multiply, ndb_pd_pcg_args) /* y = (H + W) x; sum x.y */

#endif
