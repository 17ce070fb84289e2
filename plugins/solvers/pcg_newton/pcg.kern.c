/* pcg.kern.c - conjugate gradients with a block-Jacobi preconditioner, three passes over the
 * vectors per iteration (Y. Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., SIAM
 * 2003, algorithm 9.1, doi 10.1137/1.9780898718003). */
#include "pcg.kern.h"

#include "geom/small.kern.h"

/* Rows of about 10 to 30 ns each: see loom/kernel.h. */
#undef LK_PARALLEL_MIN
#define LK_PARALLEL_MIN 4096

/* A positive definite stand-in for a diagonal block D that is not: its largest row sum times
 * the identity.  D is symmetric. */
LK_FN lk_real pcg_row_sum(const lk_real *D)
{
  lk_real most = LK_R(0.0);
  LK_UNROLL
  for (int r = 0; r < 3; ++r)
    most = LK_FMAX(most, LK_FABS(D[3 * r]) + LK_FABS(D[3 * r + 1]) + LK_FABS(D[3 * r + 2]));
  return most > LK_R(0.0) ? most : LK_R(1.0);
}

LK_FN void pcg_invert(const lk_real *D, lk_real *inv)
{
  lk_real L[9], B[9];
  const int definite = lk_sym_definite(3, D, L);
  const lk_real one = LK_R(1.0) / pcg_row_sum(D);
  LK_UNROLL
  for (int k = 0; k < 9; ++k) B[k] = k % 4 == 0 ? one : LK_R(0.0);
  if (definite) lk_inv33(D, B);
  inv[0] = B[0];
  inv[1] = B[1];
  inv[2] = B[2];
  inv[3] = B[4];
  inv[4] = B[5];
  inv[5] = B[8];
}

/* z = P^-1 r; returns r.z */
LK_FN lk_real pcg_precondition(const lk_real *inv, const lk_real *r, lk_real *z)
{
  z[0] = inv[0] * r[0] + inv[1] * r[1] + inv[2] * r[2];
  z[1] = inv[1] * r[0] + inv[3] * r[1] + inv[4] * r[2];
  z[2] = inv[2] * r[0] + inv[4] * r[1] + inv[5] * r[2];
  return lk_dot3(r, z);
}

LK_REDUCE_SUM_PLAIN(pcg_start, a, i)
{
  lk_real g[3], r[3], z[3], inv[6], zero[3];
  int64_t k = a->row_ptr[i];
  const int64_t last = a->row_ptr[i + 1] - 1;
  while (k < last && a->col[k] != i) ++k; /* the diagonal block is always there */
  pcg_invert(a->val + 9 * k, inv);
  LK_UNROLL
  for (int c = 0; c < 6; ++c) a->inv[6 * (int64_t)i + c] = inv[c];
  LK_LOAD3(g, a->grad, (int64_t)i);
  LK_UNROLL
  for (int c = 0; c < 3; ++c) {
    r[c] = -g[c];
    zero[c] = LK_R(0.0);
  }
  const lk_real rz = pcg_precondition(inv, r, z);
  LK_STORE3(a->d, (int64_t)i, zero);
  LK_STORE3(a->r, (int64_t)i, r);
  LK_STORE3(a->z, (int64_t)i, z);
  LK_STORE3(a->p, (int64_t)i, z);
  return rz;
}

LK_KERNEL_PLAIN(pcg_target, a, i)
{
  lk_real *s = a->s;
  const lk_real rho = s[PCG_RHO_NEXT];
  lk_real eta = a->eta_max;
  (void)i;
  if (a->rho_before > LK_R(0.0)) {
    const lk_real safe = a->gamma * a->eta_before * a->eta_before;
    eta = a->gamma * (rho / a->rho_before);
    if (safe > LK_R(0.1)) eta = LK_FMAX(eta, safe);
  }
  s[PCG_ETA] = LK_FMAX(a->eta_min, LK_FMIN(eta, a->eta_max));
  s[PCG_RHO0] = rho;
  s[PCG_RHO] = rho;
  s[PCG_ITERS] = LK_R(0.0);
  s[PCG_DECREMENT] = LK_R(0.0);
  s[PCG_ALPHA] = LK_R(0.0);
  s[PCG_BETA] = LK_R(0.0);
  s[PCG_STOP] = (lk_real)PCG_RUNNING;
  if (rho == LK_R(0.0))
    s[PCG_STOP] = (lk_real)PCG_CONVERGED;
  else if (!(rho > LK_R(0.0) && rho <= LK_REAL_MAX))
    s[PCG_STOP] = (lk_real)PCG_BREAKDOWN;
}

LK_REDUCE_SUM_PLAIN(pcg_multiply, a, i)
{
  if (a->s[PCG_STOP] > LK_R(0.0)) return LK_R(0.0);
  const int64_t hi = a->row_ptr[i + 1];
  lk_real p[3], q[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)};
  for (int64_t k = a->row_ptr[i]; k < hi; ++k) {
    const lk_real *v = a->val + 9 * k;
    LK_LOAD3(p, a->p, (int64_t)a->col[k]);
    q[0] += v[0] * p[0] + v[1] * p[1] + v[2] * p[2];
    q[1] += v[3] * p[0] + v[4] * p[1] + v[5] * p[2];
    q[2] += v[6] * p[0] + v[7] * p[1] + v[8] * p[2];
  }
  LK_STORE3(a->q, (int64_t)i, q);
  LK_LOAD3(p, a->p, (int64_t)i);
  return lk_dot3(p, q);
}

LK_KERNEL_PLAIN(pcg_length, a, i)
{
  lk_real *s = a->s;
  const lk_real curvature = s[PCG_CURVATURE];
  (void)i;
  if (s[PCG_STOP] > LK_R(0.0)) return;
  if (curvature > LK_R(0.0) && curvature <= LK_REAL_MAX) {
    s[PCG_ALPHA] = s[PCG_RHO] / curvature;
    return;
  }
  /* not along a negative curvature: what was found so far is the direction; in the first
   * iteration that is nothing, and the preconditioned gradient is taken (J. Nocedal,
   * S. Wright, Numerical Optimization, 2nd ed., algorithm 7.1) */
  s[PCG_STOP] = (lk_real)(curvature <= LK_R(0.0) ? PCG_NEGATIVE : PCG_BREAKDOWN);
  s[PCG_ALPHA] = s[PCG_ITERS] == LK_R(0.0) ? LK_R(1.0) : LK_R(0.0);
  s[PCG_DECREMENT] += s[PCG_ALPHA] * s[PCG_RHO];
}

/* alpha is zero once it has stopped, except after a stop in the first iteration, when d is
 * still zero and alpha p is the direction: hence d = alpha p there, whoever comes twice. */
LK_REDUCE_SUM_PLAIN(pcg_advance, a, i)
{
  lk_real inv[6], d[3], p[3], q[3], r[3], z[3];
  const lk_real alpha = a->s[PCG_ALPHA];
  if (a->s[PCG_STOP] > LK_R(0.0)) {
    if (alpha > LK_R(0.0)) {
      LK_LOAD3(p, a->p, (int64_t)i);
      LK_STORE3(a->d, (int64_t)i, p);
    }
    return LK_R(0.0);
  }
  LK_LOAD3(d, a->d, (int64_t)i);
  LK_LOAD3(p, a->p, (int64_t)i);
  LK_LOAD3(q, a->q, (int64_t)i);
  LK_LOAD3(r, a->r, (int64_t)i);
  LK_UNROLL
  for (int c = 0; c < 6; ++c) inv[c] = a->inv[6 * (int64_t)i + c];
  LK_UNROLL
  for (int c = 0; c < 3; ++c) {
    d[c] += alpha * p[c];
    r[c] -= alpha * q[c];
  }
  const lk_real rz = pcg_precondition(inv, r, z);
  LK_STORE3(a->d, (int64_t)i, d);
  LK_STORE3(a->r, (int64_t)i, r);
  LK_STORE3(a->z, (int64_t)i, z);
  return rz;
}

LK_KERNEL_PLAIN(pcg_conjugate, a, i)
{
  lk_real *s = a->s;
  const lk_real rho = s[PCG_RHO], next = s[PCG_RHO_NEXT];
  (void)i;
  if (s[PCG_STOP] > LK_R(0.0)) return;
  const int k = (int)s[PCG_ITERS];
  s[PCG_DECREMENT] += s[PCG_ALPHA] * rho;
  s[PCG_BETA] = next / rho;
  s[PCG_RHO] = next;
  s[PCG_ITERS] = (lk_real)(k + 1);
  s[PCG_HISTORY + k] = LK_SQRT(LK_FMAX(next, LK_R(0.0)) / s[PCG_RHO0]);
  s[PCG_ALPHA] = LK_R(0.0);
  if (!(next >= LK_R(0.0) && next <= LK_REAL_MAX))
    s[PCG_STOP] = (lk_real)PCG_BREAKDOWN;
  else if (s[PCG_HISTORY + k] <= s[PCG_ETA])
    s[PCG_STOP] = (lk_real)PCG_CONVERGED;
  else if (k + 1 >= a->max_iters)
    s[PCG_STOP] = (lk_real)PCG_MAX_ITERS;
}

LK_KERNEL_PLAIN(pcg_turn, a, i)
{
  lk_real p[3], z[3];
  const lk_real beta = a->s[PCG_BETA];
  if (a->s[PCG_STOP] > LK_R(0.0)) return;
  LK_LOAD3(p, a->p, (int64_t)i);
  LK_LOAD3(z, a->z, (int64_t)i);
  LK_UNROLL
  for (int c = 0; c < 3; ++c) p[c] = z[c] + beta * p[c];
  LK_STORE3(a->p, (int64_t)i, p);
}
