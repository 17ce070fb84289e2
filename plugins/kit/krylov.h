/* krylov.h - preconditioned conjugate gradients, A d = r, on vectors of n rows of three.
 *
 * M. Hestenes, E. Stiefel, Methods of Conjugate Gradients for Solving Linear Systems, J. Res. Nat.
 * Bur. Standards 49(6), 1952, in the form of Y. Saad, Iterative Methods for Sparse Linear Systems,
 * 2nd ed., SIAM 2003, algorithm 9.1, doi 10.1137/1.9780898718003.  It starts at d = 0, so d is a
 * descent direction of -r'd at every iteration, whether or not A is positive definite: r'd is the
 * sum of alpha rho > 0.
 *
 * The matrix and its preconditioner P are the caller's: two functions that launch kernels.  For
 * matrices of 3x3 blocks they are in krylov_bsr3.h.  All vectors and scalars stay where `e` runs;
 * the host reads one small record now and then, or never.  The same bits for any number of threads
 * and whenever that is.
 */
#ifndef KIT_KRYLOV_H
#define KIT_KRYLOV_H

#include "kit/krylov.kern.h"
#include "loom/plugin.h"

/* y = A x, or z = P^-1 r; pointers where `e` runs. */
typedef struct krylov_product {
  const lk_real *x;    /* [n][3] */
  lk_real *y;          /* [n][3], overwritten */
  lk_real *dot;        /* [1], overwritten by the sum of x.y over all rows */
  const int32_t *stop; /* [1], not 0: the solve has ended, and kernels may leave y as it is */
} krylov_product;

typedef struct krylov_system {
  loom_status (*multiply)(void *self, const krylov_product *p); /* [required] y = A x */
  /* [required] y = P^-1 x for a symmetric positive definite P */
  loom_status (*precondition)(void *self, const krylov_product *p);
  /* [optional: no progress callback] krylov_cg_iterate() has launched an iteration */
  void (*iterated)(void *self);
  void *self;
} krylov_system;

typedef struct krylov_cg { /* workspace; fine when zeroed */
  const loom_host *host;
  const loom_exec *e;
  int32_t n, max_iters;
  int32_t last;        /* iterations of the last solve */
  int64_t last_step;   /* index of the step of the last solve */
  loom_buf *z, *p, *q; /* real [n][3] */
  loom_buf *s;         /* real [KRYLOV_RECORD_LEN + max_iters]: the record of krylov.kern.h, then
                        * the history */
} krylov_cg;

/* Relative tolerance on sqrt(r'P^-1 r), or on |r|: eta_min where both ends are equal, else the
 * forcing term of an inexact Newton method (krylov.kern.h). */
typedef struct krylov_forcing {
  double eta_min, eta_max, gamma;
  int32_t euclidean; /* 1: on |r|, which means the same for every P; one more pass over r */
  double eta_before, rho_before; /* of the last solve; rho_before = 0: no solve yet */
} krylov_forcing;

typedef struct krylov_result {
  int stop; /* KRYLOV_CONVERGED ... */
  int32_t iters;
  int32_t products; /* with A */
  double eta;       /* relative tolerance that was in force */
  double residual;  /* at the end, in parts of that at the start, in the norm of the test */
  double rho0;      /* J, r'P^-1 r at the start; not finite if r or P are not */
  double decrement; /* J, r'd with the r of the start */
} krylov_result;

loom_status krylov_cg_new(krylov_cg *c, const loom_host *host, const loom_exec *e, int32_t n,
                          int32_t max_iters);
/* For systems of another size. */
loom_status krylov_cg_resize(krylov_cg *c, int32_t n);

/* Iterates until the tolerance or max_iters.  r [n][3]: the right-hand side, then the residual; d
 * [n][3], overwritten; both mapped where `e` runs.  st: every iteration, from 1, is reported with
 * host->inner(); NULL: no reports. */
loom_status krylov_cg_solve(krylov_cg *c, const loom_step *st, const krylov_system *A, lk_real *r,
                            lk_real *d, const krylov_forcing *f, krylov_result *out);

/* Does `count` <= max_iters iterations without a tolerance and without waiting for the device.  It
 * ends earlier only where the residual vanishes or A is not definite. */
loom_status krylov_cg_iterate(krylov_cg *c, const krylov_system *A, lk_real *r, lk_real *d,
                              int32_t count);

/* *curvature: p'A p (J) of the last iteration; waits for the device. */
loom_status krylov_cg_curvature(const krylov_cg *c, double *curvature);

/* *p->dot for an operator that leaves it to this. */
loom_status krylov_dot(const krylov_cg *c, const krylov_product *p);

#endif
