/* pcg.kern.h - conjugate gradients with a block-Jacobi preconditioner: argument block and
 * prototypes of its kernels.
 *
 * All scalars stay where the kernels run, in the record s; the host reads it every few
 * iterations.  Once s[PCG_STOP] is set, every kernel leaves everything as it is, so that what
 * comes out does not depend on how often the host looks. */
#ifndef PCG_KERN_H
#define PCG_KERN_H

#include "loom/kernel.h"

enum { /* slots of the record s */
       PCG_STOP = 0,
       PCG_ITERS,     /* iterations done */
       PCG_RHO0,      /* J, g'P^-1 g */
       PCG_RHO,       /* J, r'P^-1 r now */
       PCG_RHO_NEXT,  /* J, of the next iterate: where its reduction leaves it */
       PCG_CURVATURE, /* J, p'A p: where its reduction leaves it */
       PCG_ALPHA,
       PCG_BETA,
       PCG_ETA,       /* relative tolerance in force */
       PCG_DECREMENT, /* J, -g'd: sum of alpha rho */
       PCG_HISTORY    /* [max_iters], sqrt(rho_k / rho_0), k = 1, 2, ... */
};
enum { /* why it stopped */
       PCG_RUNNING = 0,
       PCG_CONVERGED = 1, /* sqrt(rho) <= eta sqrt(rho_0) */
       PCG_NEGATIVE = 2,  /* p'A p <= 0: A is not positive definite */
       PCG_MAX_ITERS = 3,
       PCG_BREAKDOWN = 4 /* a scalar is not finite, or rho has underflowed */
};

typedef struct pcg_args {
  const int64_t *LK_RESTRICT row_ptr; /* [n+1] */
  const int32_t *LK_RESTRICT col;     /* [row_ptr[n]] */
  const lk_real *LK_RESTRICT val;     /* [row_ptr[n]][3][3] N/m */
  const lk_real *LK_RESTRICT grad;    /* [n][3] N, g */
  lk_real *LK_RESTRICT inv;           /* [n][6] m/N: P^-1 by its entries 00 01 02 11 12 22 */
  lk_real *LK_RESTRICT d;             /* [n][3] m, the solution so far */
  lk_real *LK_RESTRICT r;             /* [n][3] N, -g - A d */
  lk_real *LK_RESTRICT z;             /* [n][3] m, P^-1 r */
  lk_real *LK_RESTRICT p;             /* [n][3] m, search direction */
  lk_real *LK_RESTRICT q;             /* [n][3] N, A p */
  lk_real *LK_RESTRICT s;             /* record, see above */
  /* Forcing term (S. Eisenstat, H. Walker, Choosing the Forcing Terms in an Inexact Newton
   * Method, SIAM J. Sci. Comput. 17(1), 1996, choice 2 and its safeguard (2.6)):
   * eta = gamma (|g| / |g before|)^2, at least gamma eta_before^2 where that is above 0.1 */
  lk_real eta_min, eta_max, gamma;
  lk_real eta_before, rho_before; /* of the last solve; rho_before <= 0: none, take eta_max */
  int32_t max_iters, reserved;
} pcg_args;

LK_DECLARE(pcg_start, pcg_args)     /* preconditioner, r = -g, d = 0, p = z; sum r.z */
LK_DECLARE(pcg_target, pcg_args)    /* one element: the record before the first iteration */
LK_DECLARE(pcg_multiply, pcg_args)  /* q = A p; sum p.q */
LK_DECLARE(pcg_length, pcg_args)    /* one element: alpha, or stop */
LK_DECLARE(pcg_advance, pcg_args)   /* d, r, z; sum r.z */
LK_DECLARE(pcg_conjugate, pcg_args) /* one element: beta, or stop */
LK_DECLARE(pcg_turn, pcg_args)      /* p = z + beta p */

#endif
