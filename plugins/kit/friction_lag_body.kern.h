/* friction_lag_body.kern.h - the kernels of a pair energy, and the one that freezes normal forces
 * and planes for friction; to be included with PAIR and PAIR_LAW defined, see pair_energy.kern.h.
 */
#include "kit/pair_energy_body.kern.h"
#define PAIR_KERNEL(name, a, i) LK_KERNEL_PLAIN(name, a, i)

/* Normal force of candidate c at the signed distance d, N, less its mollifier. */
LK_FN lk_real PAIR(force_at)(const fric_lag_args *a, lk_int c, lk_real d)
{
  lk_real b[3];
  PAIR_LAW(a->p.number, a->p.s.xi[c], PAIR(signed_square)(d), b);
  return LK_R(-2.0) * LK_FABS(d) * b[1];
}

/* Stiffness of candidate c at d, N/m, where its force is `force`; 0 where the law softens. */
LK_FN lk_real PAIR(stiffness_at)(const fric_lag_args *a, lk_int c, lk_real d, lk_real force)
{
  lk_real b[3];
  PAIR_LAW(a->p.number, a->p.s.xi[c], PAIR(signed_square)(d), b);
  const lk_real slope = LK_FABS(d) * b[2] * LK_R(2.0) + (d < LK_R(0.0) ? -b[1] : b[1]) / LK_FABS(d);
  return LK_FMAX(force * slope / -b[1], LK_R(0.0));
}

/* The force, limited as described at fric_temper; d is the distance at x. */
LK_FN lk_real PAIR(tempered)(const fric_lag_args *a, lk_int c, const lk_real *w, const lk_real *n,
                             lk_real d, lk_real force)
{
  const cand_state *const s = &a->p.s;
  lk_real ahead, behind, most = LK_R(0.0);
  const lk_real inverse = fric_approach(&a->t, s, s->v + 4 * c, w, n, &ahead, &behind);
  if (ahead > LK_R(0.0) && inverse > LK_R(0.0)) most = ahead / (a->t.h2 * inverse);
  if (!a->t.first) {
    const lk_real then = d + LK_FABS(behind);
    if (then <= s->xi[c] || (a->t.pull == NULL && behind <= LK_R(0.0))) return force;
    if (then - s->xi[c] < a->reach)
      most = LK_FMAX(most, force * PAIR(force_at)(a, c, then) / PAIR(force_at)(a, c, d));
  }
  return LK_FMIN(force, most);
}

PAIR_KERNEL(PAIR(lag), a, i)
{
  const cand_state *const s = &a->p.s;
  const int32_t c = a->p.list[i], kind = s->kind[c];
  const lk_real mu = cand_friction(s, c, a->self_friction);
  lk_real x[12], w[4], n[3], p[3], b[3], number[PAIR_NUMBERS], force, d;
  int64_t num = 0;
  if (pair_is_point(kind)) {
    d = PAIR(point_law)(&a->p, c, w, n, b);
    const lk_real len = lk_norm3(n);
    force = LK_R(-2.0) * LK_FABS(d) * b[1] * len;
    cand_point_at(s, c, w, p);
    for (int k = 0; k < 3; ++k) {
      n[k] /= len;
      p[k] -= d * n[k];
    }
  } else {
    pair_numbers(&a->p, c, number);
    const lk_real D = cand_pair(s, c, x, w);
    PAIR_LAW(number, s->xi[c], D, b);
    d = LK_SQRT(D);
    force = LK_R(-2.0) * d * cand_mollifier(s, c, x) * b[1];
    dist_combine(x, w, n);
    for (int k = 0; k < 3; ++k) {
      n[k] /= d > LK_R(0.0) ? d : LK_R(1.0); /* in one point there is no normal: no slip, too */
      p[k] = LK_R(0.0);
    }
  }
  if (a->t.push != NULL && force > LK_R(0.0))
    force = fric_end_force(&a->t, s, s->v + 4 * c, w, n, force, PAIR(stiffness_at)(a, c, d, force));
  else if (a->t.y != NULL && force > LK_R(0.0))
    force = PAIR(tempered)(a, c, w, n, d, force);
  for (int k = 0; k < 4; ++k) {
    a->v[4 * i + k] = s->v[4 * c + k];
    a->w[4 * i + k] = w[k];
    num += cand_is_free(s->v[4 * c + k], s->n, s->fixed);
  }
  a->obst[i] = pair_is_point(kind) ? s->obst[c] : -1;
  LK_STORE3(a->normal, i, n);
  LK_STORE3(a->point, i, p);
  a->most[i] = mu * force;
  a->blocks[i] = a->most[i] > LK_R(0.0) ? num * num : 0;
}

#undef PAIR_KERNEL
