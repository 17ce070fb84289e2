/* pd_ipc.kern.c - the terms of one pair, for CPU and CUDA alike.
 *
 * With the gap g = d - xi < d_hat, n from the second side to the first, and the masses m1, m2 of
 * the points that touch: target of a corner of the first side    x + (d_hat - g) m2/(m1 + m2) n
 *   target of a corner of the second side   x - (d_hat - g) m1/(m1 + m2) n
 *   weight of all     B + min(m1, m2)/h^2,  B = -kappa (g^2 - d_hat^2)^2 ln(g^2 / d_hat^2) /
 * d_hat^4 (L. Lan et al. 2022, as in the authors' code.)  A side that cannot move has infinite
 * mass. */
#include "pd_ipc.kern.h"

#include "kit/cand_point.kern.h"
#include "kit/mass_share.kern.h"

typedef struct pd_ipc_pair {
  lk_real x[12];    /* corners, m */
  lk_real w[4];     /* 1, their weights in the points that are closest */
  lk_real weight;   /* N/m */
  lk_real lack;     /* m, d_hat - g */
  lk_real share[2]; /* 1, of both sides */
  lk_real n[3];     /* 1 */
} pd_ipc_pair;

LK_FN lk_real value_of_barrier(const pd_ipc_args *a, lk_real gap)
{
  const lk_real z = gap / a->d_hat, y = z * z - LK_R(1.0);
  return -a->kappa * y * y * LK_R(2.0) * LK_LOG(z);
}

LK_FN void evaluate_pd_ipc_pair(const pd_ipc_args *a, lk_int c, pd_ipc_pair *p)
{
  const cand_state *const s = &a->s;
  lk_real d, m = LK_R(1.0);
  if (pair_is_point(s->kind[c])) {
    cand_point_corners(s, c, p->x);
    d = cand_point(s, c, p->w, p->n);
    m = cand_share(s, c);
  } else {
    d = LK_SQRT(cand_pair(s, c, p->x, p->w));
    dist_combine(p->x, p->w, p->n);
  }
  const lk_real inv = dist_inverse(lk_norm3(p->n)), gap = d - s->xi[c];
  for (int k = 0; k < 3; ++k) p->n[k] *= inv;
  p->lack = a->d_hat - gap;
  p->weight =
      m * (value_of_barrier(a, gap) + mass_share(s, a->mass, c, p->w, p->share) * a->inv_h2);
}

/* Way from corner b to its target, along n, m. */
LK_FN lk_real corner_target_offset(const pd_ipc_args *a, lk_int c, const pd_ipc_pair *p, int b)
{
  return b < pair_first_side(a->s.kind[c], a->s.v + 4 * c) ? p->lack * p->share[0]
                                                           : -p->lack * p->share[1];
}

LK_FN void pd_ipc_corner_gradient(const pd_ipc_args *a, lk_int c, const pd_ipc_pair *p, int b,
                                  lk_real *g)
{
  const lk_real f = -p->weight * corner_target_offset(a, c, p, b);
  for (int k = 0; k < 3; ++k) g[k] = f * p->n[k];
}

LK_KERNEL_PLAIN(pd_ipc_quad, a, i)
{
  const int32_t c = a->p.list[i];
  int64_t at = a->at[i];
  pd_ipc_pair p;
  evaluate_pd_ipc_pair(&a->p, c, &p);
  for (int b = 0; b < 4; ++b) {
    const int32_t j = a->p.s.v[4 * c + b];
    lk_real g[3];
    if (!cand_is_free(j, a->p.s.n, a->p.s.fixed)) continue;
    pd_ipc_corner_gradient(&a->p, c, &p, b, g);
    iso_write(&a->t, at++, j, p.x + 3 * b, p.weight, g);
  }
}

LK_KERNEL_PLAIN(pd_ipc_force, a, i)
{
  const int32_t c = a->p.list[i];
  int64_t at = a->at[c];
  pd_ipc_pair p;
  evaluate_pd_ipc_pair(&a->p, c, &p);
  for (int b = 0; b < 4; ++b)
    if (cand_is_free(a->p.s.v[4 * c + b], a->p.s.n, a->p.s.fixed))
      pd_ipc_corner_gradient(&a->p, c, &p, b, a->force + 3 * at++);
}

/* ---- friction ----
 * of cloth on bodies, which the paper does not have */

/* The normal force of a pair is the sum of its forces on the free corners of cloth. */
LK_KERNEL_PLAIN(pd_ipc_lag, a, i)
{
  const cand_state *const s = &a->p.s;
  const int32_t c = a->p.list[i], kind = s->kind[c];
  lk_real at[3] = {0, 0, 0}, force = LK_R(0.0);
  int64_t num = 0;
  pd_ipc_args of;
  pd_ipc_pair p;
  of.s = *s;
  of.mass = a->t.mass;
  of.list = a->p.list;
  of.kappa = a->p.number[PD_IPC_KAPPA];
  of.d_hat = a->p.number[PD_IPC_D_HAT];
  of.inv_h2 = a->p.number[PD_IPC_INV_H2];
  evaluate_pd_ipc_pair(&of, c, &p);
  if (pair_is_point(kind)) {
    cand_point_at(s, c, p.w, at);
    for (int k = 0; k < 3; ++k) at[k] -= (of.d_hat - p.lack + s->xi[c]) * p.n[k];
  }
  for (int b = 0; b < 4; ++b) {
    const int32_t j = s->v[4 * c + b];
    a->v[4 * i + b] = j;
    a->w[4 * i + b] = p.w[b];
    if (!cand_is_free(j, s->n, s->fixed)) continue;
    force += p.weight * LK_FABS(corner_target_offset(&of, c, &p, b));
    ++num;
  }
  a->obst[i] = pair_is_point(kind) ? s->obst[c] : -1;
  LK_STORE3(a->normal, i, p.n);
  LK_STORE3(a->point, i, at);
  a->most[i] = pair_is_body(kind) ? cand_friction(s, c, LK_R(0.0)) * force : LK_R(0.0);
  a->blocks[i] = a->most[i] > LK_R(0.0) ? num * num : 0;
}

/* Gradient W_b K u with K = mu lambda f1 / |u|, and the diagonal not below K W W'. */
LK_KERNEL_PLAIN(pd_ipc_drag, a, i)
{
  const fric_state *const f = &a->f;
  lk_real u[3], w[4], sum = LK_R(0.0);
  const lk_real y = fric_slip(f, i, u), K = f->most[i] * friction_f1_over(y, f->eps);
  int64_t at = a->at[i];
  for (int b = 0; b < 4; ++b) {
    w[b] = f->w[4 * i + b];
    sum += LK_FABS(w[b]);
  }
  for (int b = 0; b < 4; ++b) {
    const int32_t j = f->v[4 * i + b];
    lk_real x[3], g[3];
    if (!cand_is_free(j, f->n, f->fixed)) continue;
    LK_LOAD3(x, f->x, j);
    for (int k = 0; k < 3; ++k) g[k] = w[b] * K * u[k];
    iso_write(&a->t, at++, j, x, K * LK_FABS(w[b]) * sum, g);
  }
}

LK_REDUCE_MAX(pd_ipc_strongest, a, i)
{
  const int32_t c = a->list[i], kind = a->s.kind[c];
  pd_ipc_pair p;
  evaluate_pd_ipc_pair(a, c, &p);
  return p.weight * p.lack *
         LK_FMAX((lk_real)pair_first_side(kind, a->s.v + 4 * c) * p.share[0],
                 (lk_real)pair_second_side(kind) * p.share[1]);
}
