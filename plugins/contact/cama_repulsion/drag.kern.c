/* drag.kern.c - see drag.kern.h. */
#include "drag.kern.h"

/* T u of a lagged pair, m, u the slip of vertices that go from x_start to x; returns its length. */
LK_FN lk_real sliding_distance(const drag_limit_args *a, const lk_real *x, lk_int i, lk_real *u)
{
  const fric_state *const f = &a->f;
  lk_real n[3];
  LK_LOAD3(n, f->normal, i);
  u[0] = u[1] = u[2] = LK_R(0.0);
  for (int b = 0; b < 4; ++b) {
    const int32_t v = f->v[4 * i + b];
    if (v < 0) continue;
    const lk_real w = f->w[4 * i + b];
    for (int k = 0; k < 3; ++k)
      u[k] += w * (v < f->n ? x[3 * v + k] - f->x_start[3 * v + k]
                            : f->body1[3 * (v - f->n) + k] - f->body0[3 * (v - f->n) + k]);
  }
  if (f->obst[i] >= 0)
    for (int k = 0; k < 3; ++k) u[k] -= a->end[3 * i + k] - f->then[3 * i + k];
  const lk_real un = lk_dot3(n, u);
  for (int k = 0; k < 3; ++k) u[k] -= un * n[k];
  return lk_norm3(u);
}

/* The slip of pair i in the step to come, m. */
LK_FN lk_real sliding_ahead(const drag_limit_args *a, lk_int i)
{
  const ahead_ways *const way = &a->ahead;
  const int32_t *const v = a->f.v + 4 * i;
  const lk_real *const w = a->f.w + 4 * i;
  lk_real n[3], u[3], unused[3];
  const lk_real coast = sliding_distance(a, way->coast, i, u);
  if (way->outer == NULL) return coast;
  LK_LOAD3(n, a->f.normal, i);
  if (!ahead_is_with_body(v, w, a->f.n)) return ahead_cloth_slip(way, v, w, a->f.n, n, u);
  return ahead_slip(way, v, w, a->f.n, coast, sliding_distance(a, way->outer, i, unused),
                    sliding_distance(a, way->all, i, unused));
}

LK_KERNEL_PLAIN(cama_drag_limit, a, i)
{
  const lk_real most = a->f.most[i], way = LK_FMAX(sliding_ahead(a, i), a->f.eps);
  a->k[i] = most > LK_R(0.0) && way > LK_R(0.0) ? most / way : LK_R(0.0);
}

LK_REDUCE_SUM_PLAIN(cama_drag_work, a, i)
{
  lk_real u[3];
  const lk_real y = fric_slip(&a->f, i, u);
  return a->k[i] * y * y;
}

LK_KERNEL_PLAIN(cama_drag_force, a, i)
{
  lk_real u[3];
  int64_t at = a->at[i];
  (void)fric_slip(&a->f, i, u);
  for (int b = 0; b < 4; ++b) {
    if (!cand_is_free(a->f.v[4 * i + b], a->f.n, a->f.fixed)) continue;
    for (int c = 0; c < 3; ++c) a->force[3 * at + c] = a->f.w[4 * i + b] * a->k[i] * u[c];
    ++at;
  }
}

LK_KERNEL_PLAIN(cama_drag_blocks, a, i)
{
  const fric_state *const f = &a->f;
  lk_real n[3];
  int64_t at = a->first + a->at_block[i];
  if (a->at_block[i] == a->at_block[i + 1]) return;
  LK_LOAD3(n, f->normal, i);
  for (int r = 0; r < 4; ++r) {
    if (!cand_is_free(f->v[4 * i + r], f->n, f->fixed)) continue;
    for (int c = 0; c < 4; ++c) {
      if (!cand_is_free(f->v[4 * i + c], f->n, f->fixed)) continue;
      const lk_real k = f->w[4 * i + r] * f->w[4 * i + c] * a->k[i];
      a->row[at] = f->v[4 * i + r];
      a->col[at] = f->v[4 * i + c];
      for (int l = 0; l < 9; ++l)
        a->val[9 * at + l] = k * ((l % 4 == 0 ? LK_R(1.0) : LK_R(0.0)) - n[l / 3] * n[l % 3]);
      ++at;
    }
  }
}
