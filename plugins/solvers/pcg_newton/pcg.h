/* pcg.h - preconditioned conjugate gradients on a matrix of 3x3 blocks, A d = -g.
 *
 * M. Hestenes, E. Stiefel, Methods of Conjugate Gradients for Solving Linear Systems, J. Res.
 * Nat. Bur. Standards 49(6), 1952, preconditioned by the inverse diagonal blocks P (block
 * Jacobi).  It starts at d = 0, so d is a descent direction of g at every iteration, whether
 * or not A is positive definite: -g'd is the sum of alpha rho > 0.
 *
 * The vectors and all scalars stay where `e` runs; the host reads one small record every few
 * iterations.  Same bits for any number of threads and whatever the period of that look.
 */
#ifndef PCG_H
#define PCG_H

#include "loom/plugin.h"
#include "pcg.kern.h"

typedef struct pcg { /* workspace; fine when zeroed */
  const loom_host *h;
  const loom_exec *e;
  int32_t n, max_iters;
  loom_buf *inv;           /* real [n][6] */
  loom_buf *r, *z, *p, *q; /* real [n][3] */
  loom_buf *s;             /* real [PCG_HISTORY + max_iters], the record of pcg.kern.h */
} pcg;

typedef struct pcg_forcing { /* relative tolerance on sqrt(r'P^-1 r) */
  double eta_min, eta_max, gamma;
  double eta_before, rho_before; /* of the last solve; rho_before = 0: there is none */
} pcg_forcing;

typedef struct pcg_result {
  int stop; /* PCG_CONVERGED ... */
  int32_t iters;
  double eta;       /* relative tolerance that was in force */
  double residual;  /* sqrt(r'P^-1 r / g'P^-1 g) at the end */
  double rho0;      /* J, g'P^-1 g */
  double decrement; /* J, -g'd */
} pcg_result;

loom_status pcg_new(pcg *c, const loom_host *h, const loom_exec *e, int32_t n, int32_t max_iters);

/* d [n][3], overwritten.  st: reports every iteration, from 1, with host->inner; NULL: does
 * not. */
loom_status pcg_solve(pcg *c, const loom_step *st, const loom_bsr3 *A, loom_buf *grad,
                      const pcg_forcing *f, loom_buf *d, pcg_result *out);

#endif
