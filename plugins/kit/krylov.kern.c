/* krylov.kern.c - conjugate gradients.  An iteration makes three passes over the vectors, besides
 * the passes of the matrix and of its preconditioner. */
#include "kit/krylov.kern.h"

#include "geom/small.kern.h"

/* Rows of some ns each: see loom/kernel.h. */
#undef LK_PARALLEL_MIN
#define LK_PARALLEL_MIN 4096

#ifdef __CUDACC__
/* One element per thread in sums, as in krylov_bsr3.kern.c. */
#undef LK_CHUNK
#define LK_CHUNK LK_BLOCK
#endif

LK_KERNEL_PLAIN(krylov_begin, a, i)
{
  lk_real zero[3];
  zero[0] = zero[1] = zero[2] = LK_R(0.0);
  LK_STORE3(a->d, (int64_t)i, zero);
  LK_STORE3(a->p, (int64_t)i, zero);
  if (i == 0) a->s->stop = KRYLOV_RUNNING;
}

LK_KERNEL_PLAIN(krylov_target, a, i)
{
  krylov_record *const s = a->s;
  const lk_real rho = s->rho_next;
  lk_real eta = a->eta_max;
  (void)i;
  if (a->rho_before > LK_R(0.0)) {
    const lk_real safe = a->gamma * a->eta_before * a->eta_before;
    eta = a->gamma * (rho / a->rho_before);
    if (safe > LK_R(0.1)) eta = LK_FMAX(eta, safe);
  }
  s->eta = LK_FMAX(a->eta_min, LK_FMIN(eta, a->eta_max));
  s->rho0 = rho;
  s->rho = rho;
  s->square0 = a->euclidean ? s->square : LK_R(0.0);
  s->iters = 0;
  s->decrement = LK_R(0.0);
  s->alpha = LK_R(0.0);
  s->beta = LK_R(0.0);
  s->stop = KRYLOV_RUNNING;
  if (rho == LK_R(0.0))
    s->stop = KRYLOV_CONVERGED;
  else if (!(rho > LK_R(0.0) && rho <= LK_REAL_MAX))
    s->stop = KRYLOV_BREAKDOWN;
}

LK_KERNEL_PLAIN(krylov_length, a, i)
{
  krylov_record *const s = a->s;
  const lk_real curvature = s->curvature;
  (void)i;
  if (s->stop != KRYLOV_RUNNING) return;
  if (curvature > LK_R(0.0) && curvature <= LK_REAL_MAX) {
    s->alpha = s->rho / curvature;
    return;
  }
  /* negative curvature ends the solve with the d found so far; in the first iteration d is zero and
   * the preconditioned residual becomes the direction (J. Nocedal, S. Wright, Numerical
   * Optimization, 2nd ed., algorithm 7.1) */
  s->stop = curvature <= LK_R(0.0) ? KRYLOV_NEGATIVE : KRYLOV_BREAKDOWN;
  s->alpha = s->iters == 0 ? LK_R(1.0) : LK_R(0.0);
  s->decrement += s->alpha * s->rho;
}

/* After a stop alpha is zero, except after a stop in the first iteration: there alpha = 1 and the
 * direction is p.  It stores d = p rather than adding, so that a repeated launch gives the same d.
 */
LK_KERNEL_PLAIN(krylov_advance, a, i)
{
  lk_real d[3], p[3], q[3], r[3];
  const lk_real alpha = a->s->alpha;
  LK_LOAD3(p, a->p, (int64_t)i);
  if (a->s->stop != KRYLOV_RUNNING) {
    if (alpha > LK_R(0.0)) LK_STORE3(a->d, (int64_t)i, p);
    return;
  }
  LK_LOAD3(d, a->d, (int64_t)i);
  LK_LOAD3(q, a->q, (int64_t)i);
  LK_LOAD3(r, a->r, (int64_t)i);
  LK_UNROLL
  for (int c = 0; c < 3; ++c) {
    d[c] += alpha * p[c];
    r[c] -= alpha * q[c];
  }
  LK_STORE3(a->d, (int64_t)i, d);
  LK_STORE3(a->r, (int64_t)i, r);
}

LK_KERNEL_PLAIN(krylov_conjugate, a, i)
{
  krylov_record *const s = a->s;
  const lk_real rho = s->rho, next = s->rho_next;
  (void)i;
  if (s->stop != KRYLOV_RUNNING) return;
  const int32_t k = s->iters;
  s->decrement += s->alpha * rho;
  s->beta = next / rho;
  s->rho = next;
  s->iters = k + 1;
  a->history[k] =
      a->euclidean ? LK_SQRT(s->square / s->square0) : LK_SQRT(LK_FMAX(next, LK_R(0.0)) / s->rho0);
  s->alpha = LK_R(0.0);
  if (!(next >= LK_R(0.0) && next <= LK_REAL_MAX))
    s->stop = KRYLOV_BREAKDOWN;
  else if (a->history[k] <= s->eta)
    s->stop = KRYLOV_CONVERGED;
  else if (k + 1 >= a->max_iters)
    s->stop = KRYLOV_MAX_ITERS;
}

LK_KERNEL_PLAIN(krylov_turn, a, i)
{
  lk_real p[3], z[3];
  const lk_real beta = a->s->beta;
  if (a->s->stop != KRYLOV_RUNNING) return;
  LK_LOAD3(p, a->p, (int64_t)i);
  LK_LOAD3(z, a->z, (int64_t)i);
  LK_UNROLL
  for (int c = 0; c < 3; ++c) p[c] = z[c] + beta * p[c];
  LK_STORE3(a->p, (int64_t)i, p);
}

LK_REDUCE_SUM_PLAIN(krylov_dot_rows, a, i)
{
  lk_real x[3], y[3];
  LK_LOAD3(x, a->x, (int64_t)i);
  LK_LOAD3(y, a->y, (int64_t)i);
  return lk_dot3(x, y);
}
