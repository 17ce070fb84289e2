/* pcg.kern.c - conjugate gradients (M. Hestenes, E. Stiefel 1952; Y. Saad, Iterative Methods for
 * Sparse Linear Systems, 2nd ed., algorithm 9.1, doi 10.1137/1.9780898718003). */
#include "pcg.kern.h"

/* Rows of about 10 to 20 ns each: see loom/kernel.h. */
#undef LK_PARALLEL_MIN
#define LK_PARALLEL_MIN 4096

LK_KERNEL_PLAIN(ndb_pcg_zero, a, i)
{
  lk_real zero[3];
  zero[0] = zero[1] = zero[2] = LK_R(0.0);
  LK_STORE3(a->u, (int64_t)i, zero);
  LK_STORE3(a->p, (int64_t)i, zero);
}

LK_KERNEL_PLAIN(ndb_pcg_jacobi, a, i)
{
  lk_real r[3];
  LK_LOAD3(r, a->r, (int64_t)i);
  for (int c = 0; c < 3; ++c) r[c] *= a->dinv[i];
  LK_STORE3(a->z, (int64_t)i, r);
}

LK_REDUCE_SUM_PLAIN(ndb_pcg_rho, a, i)
{
  lk_real r[3], z[3];
  LK_LOAD3(r, a->r, (int64_t)i);
  LK_LOAD3(z, a->z, (int64_t)i);
  return r[0] * z[0] + r[1] * z[1] + r[2] * z[2];
}

LK_KERNEL_PLAIN(ndb_pcg_conjugate, a, i)
{
  lk_real *const s = a->s;
  (void)i;
  s[NDB_BETA] = a->first || !(s[NDB_RHO] > LK_R(0.0)) ? LK_R(0.0) : s[NDB_RHO_NEXT] / s[NDB_RHO];
  s[NDB_RHO] = s[NDB_RHO_NEXT];
}

LK_KERNEL_PLAIN(ndb_pcg_turn, a, i)
{
  lk_real p[3], z[3];
  LK_LOAD3(p, a->p, (int64_t)i);
  LK_LOAD3(z, a->z, (int64_t)i);
  for (int c = 0; c < 3; ++c) p[c] = z[c] + a->s[NDB_BETA] * p[c];
  LK_STORE3(a->p, (int64_t)i, p);
}

LK_REDUCE_SUM_PLAIN(ndb_pcg_multiply, a, i)
{
  lk_real p[3], y[3], q[3];
  const int64_t end = a->ptr[i + 1];
  LK_LOAD3(p, a->p, (int64_t)i);
  for (int c = 0; c < 3; ++c) q[c] = a->w[i] * p[c];
  for (int64_t k = a->ptr[i]; k < end; ++k) {
    const lk_real v = a->val[k];
    LK_LOAD3(y, a->p, (int64_t)a->col[k]);
    for (int c = 0; c < 3; ++c) q[c] += v * y[c];
  }
  LK_STORE3(a->q, (int64_t)i, q);
  return p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
}

/* Nothing is left to do where the curvature is zero: the residual was. */
LK_KERNEL_PLAIN(ndb_pcg_length, a, i)
{
  lk_real *const s = a->s;
  (void)i;
  s[NDB_ALPHA] = s[NDB_CURVATURE] > LK_R(0.0) ? s[NDB_RHO] / s[NDB_CURVATURE] : LK_R(0.0);
}

LK_KERNEL_PLAIN(ndb_pcg_advance, a, i)
{
  lk_real u[3], p[3], r[3], q[3];
  LK_LOAD3(u, a->u, (int64_t)i);
  LK_LOAD3(p, a->p, (int64_t)i);
  LK_LOAD3(r, a->r, (int64_t)i);
  LK_LOAD3(q, a->q, (int64_t)i);
  for (int c = 0; c < 3; ++c) {
    u[c] += a->s[NDB_ALPHA] * p[c];
    r[c] -= a->s[NDB_ALPHA] * q[c];
  }
  LK_STORE3(a->u, (int64_t)i, u);
  LK_STORE3(a->r, (int64_t)i, r);
}
