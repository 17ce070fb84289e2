/* cubic_barrier.kern.c - see cubic_barrier.kern.h and cubic_law.kern.h. */
#include "cubic_barrier.kern.h"

#include "cubic_law.kern.h"

LK_FN void cubic_barrier_law(const lk_real *number, lk_real xi, lk_real D, lk_real *b)
{
  lk_real d, e[3];
  cubic_of_gap(number[0], number[1], pair_gap(xi, D, &d), e);
  pair_law_of_gap(d, D, e, b);
}

#define PAIR(name) cubic_barrier_##name
#define PAIR_LAW   cubic_barrier_law
#include "kit/friction_lag_body.kern.h"
#include "kit/pair_mollified_body.kern.h"

/* Gap of candidate c, m, the unit normal n [3] and the weights w [4] of its vertices. */
LK_FN lk_real cubic_gap(const cand_state *s, lk_int c, lk_real *w, lk_real *n)
{
  lk_real d, gap;
  if (pair_is_point(s->kind[c])) {
    gap = cand_point(s, c, w, n) - s->xi[c];
    d = lk_norm3(n);
  } else {
    lk_real x[12];
    gap = pair_gap(s->xi[c], cand_pair(s, c, x, w), &d);
    dist_combine(x, w, n);
  }
  for (int k = 0; k < 3; ++k) n[k] = d > LK_R(0.0) ? n[k] / d : LK_R(0.0);
  return gap;
}

/* A contact of fixed vertices alone moves nothing, its stiffness is 0. */
LK_KERNEL_PLAIN(cubic_weigh, a, c)
{
  lk_real w[4], n[3], sum = LK_R(0.0), mass = LK_R(0.0), bend = LK_R(0.0);
  const lk_real least = CUBIC_LEAST * a->d_hat, gap = cubic_gap(&a->s, c, w, n);
  const lk_real g = LK_FMIN(LK_FMAX(gap, least), a->d_hat);
  for (int b = 0; b < 4; ++b) {
    const int32_t i = a->s.v[4 * c + b];
    if (!cand_is_free(i, a->s.n, a->s.fixed)) continue;
    const lk_real w2 = w[b] * w[b], *const H = a->elastic + 9 * i;
    sum += w2;
    mass += w2 * a->mass[i];
    for (int k = 0; k < 3; ++k) bend += w2 * n[k] * lk_dot3(H + 3 * k, n);
  }
  a->each[c] = sum > LK_R(0.0) ? (mass * a->speed2 / (g * g) + bend) / sum : LK_R(0.0);
}

LK_REDUCE_MAX(cubic_most, a, i) { return a->each[a->list[i]]; }
