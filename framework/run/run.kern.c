/* run.kern.c - kernels of a run, common subset of C11 and C++17. */
#include "run/run.kern.h"

/* Bodies of about 4 ns each: see loom/kernel.h. */
#undef LK_PARALLEL_MIN
#define LK_PARALLEL_MIN 8192

LK_FN lk_real decay(lk_real c, lk_real h) { return c > LK_R(0.0) ? LK_EXP(-(c * h)) : LK_R(1.0); }

LK_KERNEL_PLAIN(run_predict, a, i)
{
  const lk_real d = decay(a->damping[i], a->h);
  for (int c = 0; c < 3; ++c) {
    lk_real acc = a->g[c];
    if (a->fixed[i]) {
      a->y[3 * i + c] = a->x[3 * i + c];
      continue;
    }
    if (a->f) acc += a->f[3 * i + c] / a->m[i];
    a->y[3 * i + c] = a->x[3 * i + c] + a->h * (d * a->v[3 * i + c] + a->h * acc);
  }
}

LK_KERNEL_PLAIN(run_guess, a, i)
{
  const lk_real d = decay(a->damping[i], a->h);
  for (int c = 0; c < 3; ++c)
    a->out[3 * i + c] =
        a->fixed[i] ? a->y[3 * i + c] : a->x[3 * i + c] + a->h * d * a->v[3 * i + c];
}

LK_KERNEL_PLAIN(run_forward, a, i)
{
  const lk_real k = a->fixed[i] ? LK_R(0.0) : a->m[i] * a->per_h2;
  for (int c = 0; c < 3; ++c)
    a->f[3 * i + c] += k * (LK_R(2.0) * a->delta[3 * i + c] - a->share * a->last[3 * i + c]);
}

LK_KERNEL(run_velocity, a, i)
{
  for (int c = 0; c < 3; ++c) a->v[3 * i + c] = (a->x[3 * i + c] - a->x0[3 * i + c]) / a->h;
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

LK_KERNEL(run_blend, a, i)
{
  const lk_real t = a->fixed[i] || !a->t ? a->t_all : a->t[i];
  for (int c = 0; c < 3; ++c) {
    const lk_real p = a->a[3 * i + c], q = a->b[3 * i + c];
    /* t = 1 must give q exactly */
    a->out[3 * i + c] = t >= LK_R(1.0) ? q : p + t * (q - p);
  }
}

LK_KERNEL(run_min, a, i) { a->a[i] = a->b[i] < a->a[i] ? a->b[i] : a->a[i]; }

LK_KERNEL_PLAIN(run_touch, a, j)
{
  for (int c = 0; c < 4; ++c)
    if (a->v[4 * j + c] >= 0 && a->v[4 * j + c] < a->n) a->touched[a->v[4 * j + c]] = 1;
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

/* ---- pair lists ---- */

LK_REDUCE_SUM(run_pair_disorder, a, i)
{
  const int32_t k0 = a->kind[i], k1 = a->kind[i + 1];
  const int ascending = k0 < k1 || (k0 == k1 && a->key[i] < a->key[i + 1]);
  return ascending ? LK_R(0.0) : LK_R(1.0);
}

LK_KERNEL(run_pair_kind_key, a, i) { a->out[i] = (uint64_t)a->kind[a->perm[i]]; }

LK_KERNEL_PLAIN(run_pair_first, a, i)
{
  const lk_int j = a->perm[i];
  const lk_int before = i > 0 ? a->perm[i - 1] : -1;
  a->flag[i] = before < 0 || a->kind[j] != a->kind[before] || a->key[j] != a->key[before];
}

LK_KERNEL_PLAIN(run_pair_move, a, i)
{
  if (a->place[i + 1] == a->place[i]) return;
  const lk_int j = a->perm[i], t = (lk_int)a->place[i];
  a->kind2[t] = a->kind[j];
  a->obst2[t] = a->obst[j];
  a->gap2[t] = a->gap[j];
  a->toi2[t] = a->toi[j];
  a->key2[t] = a->key[j];
  for (int c = 0; c < 4; ++c) {
    a->v2[4 * t + c] = a->v[4 * j + c];
    a->w2[4 * t + c] = a->w[4 * j + c];
  }
  for (int c = 0; c < 3; ++c) {
    a->normal2[3 * t + c] = a->normal[3 * j + c];
    a->point2[3 * t + c] = a->point[3 * j + c];
  }
}
