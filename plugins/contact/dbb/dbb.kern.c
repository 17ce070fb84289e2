/* dbb.kern.c - terms of active and of lagged pairs.
 *
 * Every term has the gradient g of its corner at x, k (x - p) = g, so p = x - g / k for any
 * k > 0; without the mollifier g = -w (d_hat - gap) W n and with k = w the target is
 * p = x + (d_hat - gap) W n. */
#include "dbb.kern.h"

LK_FN void dbb_law(const lk_real *number, lk_real xi, lk_real D, lk_real *b)
{
  barrier_law law;
  barrier_law_distance(number[0], number[1], xi, &law);
  b[0] = barrier_value(&law, D);
  b[1] = barrier_slope(&law, D);
  b[2] = barrier_curvature(&law, D);
}

#define PAIR(name) dbb_##name
#define PAIR_LAW   dbb_law
#include "kit/friction_lag_body.kern.h"
#include "kit/pair_mollified_body.kern.h"

/* ---- quadratic form ---- */

LK_FN lk_real sum_abs_weights(const lk_real *w)
{
  return LK_FABS(w[0]) + LK_FABS(w[1]) + LK_FABS(w[2]) + LK_FABS(w[3]);
}

LK_KERNEL_PLAIN(dbb_quad, a, i)
{
  const cand_state *const s = &a->p.s;
  const int32_t c = a->p.list[i];
  int64_t at = a->at[i];
  lk_real x[12], w[4], g[12], number[PAIR_NUMBERS], D, m = LK_R(1.0);
  int mollified = 0;
  barrier_law law;
  pair_numbers(&a->p, c, number);
  barrier_law_distance(number[0], number[1], s->xi[c], &law);
  if (pair_is_point(s->kind[c])) {
    D = PAIR(signed_square)(cand_point(s, c, w, g));
    cand_point_corners(s, c, x);
    m = cand_share(s, c);
    dbb_point_gradient(&a->p, c, g);
  } else {
    D = cand_pair(s, c, x, w);
    mollified = s->par[c] > LK_R(0.0) && mollifier_cross(x) < s->par[c];
    dbb_gradient(s, c, number, g);
  }
  const lk_real k =
      m * (a->weight == DBB_WEIGHT_ENERGY ? barrier_weight(&law, D) : barrier_curvature_d(&law, D));
  for (int b = 0; b < 4; ++b) {
    const int32_t j = s->v[4 * c + b];
    lk_real kb = k;
    if (!cand_is_free(j, s->n, s->fixed)) continue;
    /* |W_b| sum |W|: the diagonal that is not below W W'.  The mollifier also moves corners
     * that have no weight.  The deepest point of an element also slides: that adds stiffness
     * across the normal, where terms without a direction have room for it. */
    if (a->weight == DBB_WEIGHT_CURVATURE)
      kb *= sum_abs_weights(w) * (mollified ? 1 : LK_FABS(w[b]));
    iso_write(&a->t, at++, j, x + 3 * b, kb, g + 3 * b);
  }
}

/* Friction: gradient W_b K u with K = mu lambda f1 / |u|, and the diagonal not below K W W'. */
LK_KERNEL_PLAIN(dbb_drag, a, i)
{
  const fric_state *const f = &a->f;
  lk_real u[3], w[4];
  const lk_real y = fric_slip(f, i, u);
  const lk_real K = f->most[i] * friction_f1_over(y, f->eps);
  int64_t at = a->at[i];
  for (int b = 0; b < 4; ++b) w[b] = f->w[4 * i + b];
  for (int b = 0; b < 4; ++b) {
    const int32_t j = f->v[4 * i + b];
    lk_real x[3], g[3];
    if (!cand_is_free(j, f->n, f->fixed)) continue;
    LK_LOAD3(x, f->x, j);
    for (int c = 0; c < 3; ++c) g[c] = w[b] * K * u[c];
    iso_write(&a->t, at++, j, x, K * LK_FABS(w[b]) * sum_abs_weights(w), g);
  }
}
