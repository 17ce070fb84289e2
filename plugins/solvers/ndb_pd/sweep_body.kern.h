/* sweep_body.kern.h - bodies of the smoothers for one type of numbers, SW_T; sweep.kern.c
 * includes it once for each.
 *
 * Splitting H + W = D - B, R = D^-1 B, c = D^-1 r.  Damped Jacobi x+ = (1-t) x + t (R x + c);
 * two sweeps at once (Lan et al. 2024, section 4.2)
 *   x++ = [(1-t)^2 + 2 t (1-t) R + t^2 R^2] x + t (2-t) c + t^2 R c.
 * The products b_ij b_jk do not change with contact, only D does (middle vertex j).
 * Chebyshev: H. Wang, A Chebyshev Semi-Iterative Approach for Accelerating Projective and
 * Position-Based Dynamics, ACM TOG 34(6), 2015, doi 10.1145/2816795.2818063. */
#ifndef SW_T
#define SW_T     lk_real
#define SW(name) name
#include "sweep.kern.h"
#endif
#define SW_PLAIN(name, a, i) LK_KERNEL_PLAIN(name, a, i)

SW_PLAIN(SW(ndb_pd_sweep), a, i)
{
  const SW_T *const from = a->from;
  SW_T q[3], x[3], y[3];
  x[0] = x[1] = x[2] = (SW_T)0;
  LK_LOAD3(q, a->rhs, (int64_t)i);
  if (from != NULL) {
    const int64_t end = a->ptr[i + 1];
    LK_LOAD3(x, from, (int64_t)i);
    for (int c = 0; c < 3; ++c) q[c] -= a->w[i] * x[c];
    for (int64_t k = a->ptr[i]; k < end; ++k) {
      const SW_T v = a->val[k];
      LK_LOAD3(y, from, (int64_t)a->col[k]);
      for (int c = 0; c < 3; ++c) q[c] -= v * y[c];
    }
  }
  for (int c = 0; c < 3; ++c) x[c] += a->theta * a->dinv[i] * q[c];
  if (a->omega != (SW_T)1) {
    y[0] = y[1] = y[2] = (SW_T)0;
    if (a->before != NULL) LK_LOAD3(y, a->before, (int64_t)i);
    for (int c = 0; c < 3; ++c) x[c] = a->omega * (x[c] - y[c]) + y[c];
  }
  LK_STORE3(a->to, (int64_t)i, x);
}

SW_PLAIN(SW(ndb_pd_fused_entries), a, i)
{
  const SW_T t = a->theta, one = (SW_T)1 - t, two = t + t;
  const int64_t end = a->ptr[i + 1];
  for (int64_t k = a->ptr[i]; k < end; ++k) {
    SW_T sum = (SW_T)0;
    for (int64_t m = a->list[k]; m < a->list[k + 1]; ++m)
      sum += a->product[m] * a->dinv[a->middle[m]];
    sum = a->dinv[i] * (t * t * sum + two * one * a->b1[k]);
    a->val[k] = a->col[k] == i ? sum + one * one : sum;
  }
}

SW_PLAIN(SW(ndb_pd_fused_shift), a, i)
{
  const SW_T t = a->theta;
  const int64_t end = a->ptr[i + 1];
  SW_T s[3], y[3];
  LK_LOAD3(s, a->rhs, (int64_t)i);
  for (int c = 0; c < 3; ++c) s[c] *= t * ((SW_T)2 - t);
  for (int64_t k = a->ptr[i]; k < end; ++k) {
    if (a->b1[k] == (SW_T)0) continue;
    const SW_T v = t * t * a->b1[k] * a->dinv[a->col[k]];
    LK_LOAD3(y, a->rhs, (int64_t)a->col[k]);
    for (int c = 0; c < 3; ++c) s[c] += v * y[c];
  }
  for (int c = 0; c < 3; ++c) s[c] *= a->dinv[i];
  LK_STORE3(a->shift, (int64_t)i, s);
}

SW_PLAIN(SW(ndb_pd_fused_sweep), a, i)
{
  const SW_T *const from = a->from;
  SW_T x[3], y[3];
  LK_LOAD3(x, a->shift, (int64_t)i);
  if (from != NULL) {
    const int64_t end = a->ptr[i + 1];
    for (int64_t k = a->ptr[i]; k < end; ++k) {
      const SW_T v = a->val[k];
      LK_LOAD3(y, from, (int64_t)a->col[k]);
      for (int c = 0; c < 3; ++c) x[c] += v * y[c];
    }
  }
  LK_STORE3(a->to, (int64_t)i, x);
}

SW_PLAIN(SW(ndb_pd_settle), a, j)
{
  const lk_int i = a->row != NULL ? a->row[j] : j;
  lk_real t[3], q[3];
  SW_T y[3];
  LK_LOAD3(y, a->u, (int64_t)i);
  if (a->total != NULL) {
    LK_LOAD3(t, a->total, (int64_t)i);
    for (int c = 0; c < 3; ++c) t[c] += (lk_real)y[c];
    LK_STORE3(a->total, (int64_t)i, t);
  }
  if (a->r == NULL) return;
  const int64_t end = a->ptr[i + 1];
  LK_LOAD3(q, a->r, (int64_t)i);
  for (int c = 0; c < 3; ++c) q[c] -= a->w[i] * (lk_real)y[c];
  for (int64_t k = a->ptr[i]; k < end; ++k) {
    const lk_real v = a->val[k];
    LK_LOAD3(y, a->u, (int64_t)a->col[k]);
    for (int c = 0; c < 3; ++c) q[c] -= v * (lk_real)y[c];
  }
  LK_STORE3(a->r, (int64_t)i, q);
}

#undef SW_PLAIN
#undef SW
#undef SW_T
