/* krylov.kern.h - conjugate gradients: argument blocks and prototypes of the kernels.
 *
 * All scalars stay where the kernels run, in the record; the host reads it every few iterations.
 * Once its member `stop` is set, every kernel leaves its outputs as they are, so that the result
 * does not depend on how often the host reads. */
#ifndef KIT_KRYLOV_KERN_H
#define KIT_KRYLOV_KERN_H

#include "loom/kernel.h"

enum { /* why it stopped */
       KRYLOV_RUNNING = 0,
       KRYLOV_CONVERGED = 1, /* sqrt(rho) <= eta sqrt(rho_0); |r| <= eta |r_0| */
       KRYLOV_NEGATIVE = 2,  /* p'A p <= 0: A is not positive definite */
       KRYLOV_MAX_ITERS = 3,
       KRYLOV_BREAKDOWN = 4 /* a scalar is not finite, P is not definite, or rho has underflowed */
};

typedef struct krylov_record {
  lk_real rho0;      /* J, r'P^-1 r at the start */
  lk_real rho;       /* J, r'P^-1 r now */
  lk_real rho_next;  /* J, of the next iterate: where its reduction leaves it */
  lk_real curvature; /* J, p'A p: where its reduction leaves it */
  lk_real alpha, beta;
  lk_real eta;       /* relative tolerance in force */
  lk_real decrement; /* J, r'd with the r of the start: sum of alpha rho */
  lk_real square0;   /* N^2, r'r at the start, with `euclidean` */
  lk_real square;    /* N^2, of the next iterate: where its reduction leaves it */
  int32_t stop;      /* KRYLOV_RUNNING, KRYLOV_CONVERGED ... */
  int32_t iters;     /* iterations done */
} krylov_record;
enum { KRYLOV_RECORD_LEN = sizeof(krylov_record) / sizeof(lk_real) }; /* its size in reals */

typedef struct krylov_args {
  lk_real *LK_RESTRICT d; /* [n][3] m, the solution so far */
  lk_real *LK_RESTRICT r; /* [n][3] N, the residual r - A d */
  lk_real *LK_RESTRICT z; /* [n][3] m, P^-1 r */
  lk_real *LK_RESTRICT p; /* [n][3] m, search direction */
  lk_real *LK_RESTRICT q; /* [n][3] N, A p */
  krylov_record *LK_RESTRICT s;
  lk_real *LK_RESTRICT history; /* [max_iters], sqrt(rho_k / rho_0), k = 1, 2, ...; |r_k| / |r_0| */
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
