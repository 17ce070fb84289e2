/* operator.kern.c - see operator.kern.h. */
#include "operator.kern.h"

/* Weights that follow the gap by a law (barriers) jump up and down between iterations; a matrix
 * that follows them overshoots.  Within a step they only rise, with some headroom: the fixed
 * points are the same, and a matrix that is not below keeps the step one of descent. */
LK_KERNEL(ndb_pd_hold, a, i)
{
  const lk_real now = a->now[i], had = a->held[i];
  a->held[i] = a->first ? now : (now > had ? a->headroom * now : had);
}

LK_KERNEL(ndb_pd_diagonal, a, i)
{
  const lk_real inv = LK_R(1.0) / (a->h[i] + a->w[i]);
  a->dinv[i] = inv;
  a->mask[i] = a->h[i] * inv;
  a->touched[i] = a->w[i] > LK_R(0.0);
  if (a->wf != NULL) {
    a->wf[i] = (float)a->w[i];
    a->dinvf[i] = (float)inv;
  }
}

LK_REDUCE_MAX(ndb_pd_heaviest, a, i) { return a->w[i]; }

LK_REDUCE_SUM(ndb_pd_touched, a, i) { return a->w[i] > LK_R(0.0) ? LK_R(1.0) : LK_R(0.0); }

LK_KERNEL_PLAIN(ndb_pd_begin, a, i)
{
  lk_real g[3], zero[3];
  LK_LOAD3(g, a->grad, (int64_t)i);
  for (int c = 0; c < 3; ++c) {
    zero[c] = LK_R(0.0);
    g[c] = a->fixed[i] ? LK_R(0.0) : -g[c];
  }
  LK_STORE3(a->r, (int64_t)i, g);
  LK_STORE3(a->total, (int64_t)i, zero);
}

LK_KERNEL_PLAIN(ndb_pd_from_rest, a, i)
{
  lk_real x[3], y[3];
  LK_LOAD3(x, a->x, (int64_t)i);
  LK_LOAD3(y, a->rest, (int64_t)i);
  for (int c = 0; c < 3; ++c) y[c] = a->fixed[i] ? LK_R(0.0) : y[c] - x[c];
  LK_STORE3(a->u, (int64_t)i, y);
}

LK_KERNEL_PLAIN(ndb_pd_point, a, i)
{
  const lk_real *const from = a->x != NULL ? a->x : a->trial;
  lk_real x[3], d[3];
  LK_LOAD3(x, from, (int64_t)i);
  LK_LOAD3(d, a->total, (int64_t)i);
  for (int c = 0; c < 3; ++c) x[c] += d[c];
  LK_STORE3(a->trial, (int64_t)i, x);
}

LK_REDUCE_SUM_PLAIN(ndb_pd_uphill, a, i)
{
  lk_real g[3], x[3], y[3], sum = LK_R(0.0);
  LK_LOAD3(g, a->grad, (int64_t)i);
  LK_LOAD3(x, a->trial, (int64_t)i);
  LK_LOAD3(y, a->before, (int64_t)i);
  for (int c = 0; c < 3; ++c) sum += g[c] * (x[c] - y[c]);
  return sum;
}

/* As nesterov_weight() on the host. */
LK_KERNEL_PLAIN(ndb_pd_nesterov, a, i)
{
  const lk_real t = a->restart || *a->uphill > LK_R(0.0) ? LK_R(1.0) : *a->t;
  const lk_real next = LK_R(0.5) * (LK_R(1.0) + LK_SQRT(LK_R(1.0) + LK_R(4.0) * t * t));
  a->beta[i] = (t - LK_R(1.0)) / next;
  a->t[i] = next;
}

LK_REDUCE_MAX(ndb_pd_longest, a, i)
{
  lk_real v[3];
  LK_LOAD3(v, a->total, (int64_t)i);
  return LK_SQRT(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

LK_KERNEL_PLAIN(ndb_pd_accelerate, a, i)
{
  const lk_real beta = a->weight != NULL ? *a->weight : a->beta;
  lk_real p[3], x[3], y[3], t[3];
  LK_LOAD3(p, a->trial, (int64_t)i);
  LK_LOAD3(x, a->x, (int64_t)i);
  LK_LOAD3(y, a->before, (int64_t)i);
  for (int c = 0; c < 3; ++c) {
    if (a->chebyshev)
      t[c] = a->omega != LK_R(1.0) ? a->omega * (p[c] - y[c]) + y[c] : p[c];
    else
      t[c] = beta > LK_R(0.0) ? p[c] + beta * (p[c] - y[c]) : p[c];
    y[c] = a->chebyshev ? x[c] : p[c];
  }
  LK_STORE3(a->trial, (int64_t)i, t);
  LK_STORE3(a->before, (int64_t)i, y);
}
