/* objective.kern.c - see objective.kern.h; common subset of C11 and C++17. */
#include "run/objective/objective.kern.h"

/* Bodies of about 4 ns each: see loom/kernel.h. */
#undef LK_PARALLEL_MIN
#define LK_PARALLEL_MIN 8192

LK_KERNEL_PLAIN(run_forward, a, i)
{
  const lk_real k = a->fixed[i] ? LK_R(0.0) : a->m[i] * a->per_h2;
  for (int c = 0; c < 3; ++c)
    a->f[3 * i + c] += k * (LK_R(2.0) * a->delta[3 * i + c] - a->share * a->last[3 * i + c]);
}

LK_KERNEL(run_inertia_gradient, a, i)
{
  const lk_real s = a->m[i] * a->inv_h2;
  for (int c = 0; c < 3; ++c) a->out[3 * i + c] = s * (a->x[3 * i + c] - a->y[3 * i + c]);
}

LK_REDUCE_SUM(run_inertia_energy, a, i)
{
  lk_real s = LK_R(0.0);
  for (int c = 0; c < 3; ++c) {
    const lk_real d = a->x[3 * i + c] - a->y[3 * i + c];
    s += d * d;
  }
  return a->fixed[i] ? LK_R(0.0) : LK_R(0.5) * a->inv_h2 * a->m[i] * s;
}

LK_KERNEL(run_inertia_apply, a, i)
{
  const lk_real s = a->m[i] * a->inv_h2;
  for (int c = 0; c < 3; ++c) a->out[3 * i + c] += s * a->x[3 * i + c];
}

LK_KERNEL(run_mass_times, a, i)
{
  const lk_real s = a->m[i] * a->inv_h2;
  for (int c = 0; c < 3; ++c) a->out[3 * i + c] = s * a->y[3 * i + c];
}

LK_KERNEL(run_zero_fixed, a, i)
{
  for (int c = 0; c < 3; ++c) a->a[3 * i + c] = a->fixed[i] ? LK_R(0.0) : a->a[3 * i + c];
}

LK_KERNEL(run_copy_fixed, a, i)
{
  for (int c = 0; c < 3; ++c) a->a[3 * i + c] = a->fixed[i] ? a->b[3 * i + c] : a->a[3 * i + c];
}

LK_FN lk_real row_sq(const lk_real *g, lk_int i)
{
  return g[3 * i] * g[3 * i] + g[3 * i + 1] * g[3 * i + 1] + g[3 * i + 2] * g[3 * i + 2];
}

LK_REDUCE_SUM(run_norm_sum, a, i)
{
  const int out = a->fixed[i] || (a->touched && a->touched[i]);
  return out ? LK_R(0.0) : row_sq(a->g, i) / a->m[i];
}

LK_REDUCE_MAX(run_norm_max, a, i)
{
  return a->fixed[i] ? LK_R(0.0) : row_sq(a->g, i) / (a->m[i] * a->m[i]);
}

LK_REDUCE_SUM(run_norm_mass, a, i)
{
  const int out = a->fixed[i] || (a->touched && a->touched[i]);
  return out ? LK_R(0.0) : a->m[i];
}

LK_REDUCE_SUM(run_weighted_sq, a, i)
{
  lk_real s = LK_R(0.0);
  for (int c = 0; c < 3; ++c) {
    const lk_real d = a->a[3 * i + c] - (a->b ? a->b[3 * i + c] : LK_R(0.0));
    s += d * d;
  }
  return a->m[i] * s;
}

LK_REDUCE_SUM(run_weighted_dot, a, i)
{
  lk_real s = LK_R(0.0);
  for (int c = 0; c < 3; ++c)
    s += a->g[c] * (a->a[3 * i + c] - (a->b ? a->b[3 * i + c] : LK_R(0.0)));
  return a->m[i] * s;
}

/* ---- quadratic terms ---- */

/* u = sum w x - p, reduced to its part along dir where there is one */
LK_FN void quad_u(const quad_args *a, lk_int j, lk_real u[3], int *directional)
{
  for (int c = 0; c < 3; ++c) u[c] = -a->p[3 * j + c];
  for (int s = 0; s < 4; ++s) {
    const lk_int i = a->v[4 * j + s];
    if (i < 0) continue;
    for (int c = 0; c < 3; ++c) u[c] += a->w[4 * j + s] * a->x[3 * i + c];
  }
  *directional = 0;
  if (a->dir) {
    lk_real d[3];
    LK_LOAD3(d, a->dir, j);
    if (d[0] != LK_R(0.0) || d[1] != LK_R(0.0) || d[2] != LK_R(0.0)) {
      const lk_real t = d[0] * u[0] + d[1] * u[1] + d[2] * u[2];
      for (int c = 0; c < 3; ++c) u[c] = t * d[c];
      *directional = 1;
    }
  }
}

LK_REDUCE_SUM(run_quad_energy, a, j)
{
  lk_real u[3];
  int directional;
  quad_u(a, j, u, &directional);
  return LK_R(0.5) * a->k[j] * (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
}

LK_KERNEL_PLAIN(run_quad_gradient, a, j)
{
  lk_real u[3];
  int directional;
  quad_u(a, j, u, &directional);
  for (int s = 0; s < 4; ++s)
    for (int c = 0; c < 3; ++c)
      a->out[INT64_C(12) * j + 3 * s + c] =
          a->v[4 * j + s] < 0 ? LK_R(0.0) : a->k[j] * a->w[4 * j + s] * u[c];
}

LK_KERNEL_PLAIN(run_quad_hessian, a, j)
{
  lk_real u[3], d[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)};
  int directional;
  quad_u(a, j, u, &directional);
  if (directional) LK_LOAD3(d, a->dir, j);
  for (int s = 0; s < 4; ++s)
    for (int t = 0; t < 4; ++t) {
      const lk_int vs = a->v[4 * j + s], vt = a->v[4 * j + t];
      const int used = vs >= 0 && vt >= 0;
      const int64_t at = INT64_C(16) * j + 4 * s + t; /* 15 M terms are enough for 2^31 numbers */
      const lk_real kw = used ? a->k[j] * a->w[4 * j + s] * a->w[4 * j + t] : LK_R(0.0);
      a->row[at] = used ? vs : a->v[4 * j];
      a->col[at] = used ? vt : a->v[4 * j];
      for (int c = 0; c < 3; ++c)
        for (int e = 0; e < 3; ++e)
          a->out[9 * at + 3 * c + e] =
              kw * (directional ? d[c] * d[e] : (c == e ? LK_R(1.0) : LK_R(0.0)));
    }
}
