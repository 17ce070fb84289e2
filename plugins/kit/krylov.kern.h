/* krylov.kern.h - conjugate gradients: argument blocks and prototypes of the kernels.
 *
 * All scalars stay where the kernels run, in the record s; the host reads it every few
 * iterations.  Once s[KRYLOV_STOP] is set, every kernel leaves its outputs as they are, so that the
 * result does not depend on how often the host reads. */
#ifndef KIT_KRYLOV_KERN_H
#define KIT_KRYLOV_KERN_H

#include "loom/kernel.h"

enum { /* slots of the record s */
       KRYLOV_STOP = 0,
       KRYLOV_ITERS,     /* iterations done */
       KRYLOV_RHO0,      /* J, r'P^-1 r at the start */
       KRYLOV_RHO,       /* J, r'P^-1 r now */
       KRYLOV_RHO_NEXT,  /* J, of the next iterate: where its reduction leaves it */
       KRYLOV_CURVATURE, /* J, p'A p: where its reduction leaves it */
       KRYLOV_ALPHA,
       KRYLOV_BETA,
       KRYLOV_ETA,       /* relative tolerance in force */
       KRYLOV_DECREMENT, /* J, r'd with the r of the start: sum of alpha rho */
       KRYLOV_SQUARE0,   /* N^2, r'r at the start, with `euclidean` */
       KRYLOV_SQUARE,    /* N^2, of the next iterate: where its reduction leaves it */
       KRYLOV_HISTORY    /* [max_iters], sqrt(rho_k / rho_0), k = 1, 2, ...; |r_k| / |r_0| */
};
enum { /* why it stopped */
       KRYLOV_RUNNING = 0,
       KRYLOV_CONVERGED = 1, /* sqrt(rho) <= eta sqrt(rho_0); |r| <= eta |r_0| */
       KRYLOV_NEGATIVE = 2,  /* p'A p <= 0: A is not positive definite */
       KRYLOV_MAX_ITERS = 3,
       KRYLOV_BREAKDOWN = 4 /* a scalar is not finite, P is not definite, or rho has underflowed */
};

typedef struct krylov_args {
  lk_real *LK_RESTRICT d; /* [n][3] m, the solution so far */
  lk_real *LK_RESTRICT r; /* [n][3] N, the residual r - A d */
  lk_real *LK_RESTRICT z; /* [n][3] m, P^-1 r */
  lk_real *LK_RESTRICT p; /* [n][3] m, search direction */
  lk_real *LK_RESTRICT q; /* [n][3] N, A p */
  lk_real *LK_RESTRICT s; /* record, see above */
  /* Forcing term (S. Eisenstat, H. Walker, Choosing the Forcing Terms in an Inexact Newton
   * Method, SIAM J. Sci. Comput. 17(1), 1996, choice 2 and its safeguard (2.6)):
   * eta = gamma (|g| / |g before|)^2, at least gamma eta_before^2 where that is above 0.1 */
  lk_real eta_min, eta_max, gamma;
  lk_real eta_before, rho_before; /* of the last solve; rho_before <= 0: none, take eta_max */
  int32_t max_iters;
  int32_t euclidean; /* 1: the test is on |r|, not on sqrt(rho) */
} krylov_args;

LK_DECLARE(krylov_begin, krylov_args)     /* d = p = 0, running */
LK_DECLARE(krylov_target, krylov_args)    /* one element: the record before the first iteration */
LK_DECLARE(krylov_length, krylov_args)    /* one element: alpha, or stop */
LK_DECLARE(krylov_advance, krylov_args)   /* d += alpha p, r -= alpha q */
LK_DECLARE(krylov_conjugate, krylov_args) /* one element: beta, or stop */
LK_DECLARE(krylov_turn, krylov_args)      /* p = z + beta p */

typedef struct krylov_dot_args {
  const lk_real *LK_RESTRICT x; /* [n][3] */
  const lk_real *LK_RESTRICT y; /* [n][3] */
} krylov_dot_args;
LK_DECLARE(krylov_dot_rows, krylov_dot_args) /* sum x.y */

#endif
