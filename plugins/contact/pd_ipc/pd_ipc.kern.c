/* pd_ipc.kern.c - the terms of one pair, for CPU and CUDA alike.
 *
 * With the gap g = d - xi < d_hat, n from the second side to the first, and the masses m1, m2 of
 * the points that touch: target of a corner of the first side    x + (d_hat - g) m2/(m1 + m2) n
 *   target of a corner of the second side   x - (d_hat - g) m1/(m1 + m2) n
 *   weight of all     B + min(m1, m2)/h^2,  B = -kappa (g^2 - d_hat^2)^2 ln(g^2 / d_hat^2) /
 * d_hat^4 (L. Lan et al. 2022, as in the authors' code.)  A side that cannot move has infinite
 * mass. */
#include "pd_ipc.kern.h"

#include "kit/mass_share.kern.h"

typedef struct pd_ipc_pair {
  lk_real x[12];    /* corners, m */
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

LK_FN void look_at(const pd_ipc_args *a, lk_int c, pd_ipc_pair *p)
{
  const cand_state *const s = &a->s;
  lk_real w[4] = {LK_R(1.0), LK_R(0.0), LK_R(0.0), LK_R(0.0)}, d;
  if (s->kind[c] == LOOM_PAIR_VO) {
    LK_LOAD3(p->x, s->x, s->v[4 * c]);
    d = cand_body(s, c, p->n);
  } else {
    d = LK_SQRT(cand_pair(s, c, p->x, w));
    dist_combine(p->x, w, p->n);
  }
  const lk_real inv = dist_inverse(lk_norm3(p->n)), gap = d - s->xi[c];
  for (int k = 0; k < 3; ++k) p->n[k] *= inv;
  p->lack = a->d_hat - gap;
  p->weight = value_of_barrier(a, gap) + mass_share(s, a->mass, c, w, p->share) * a->inv_h2;
}

/* Way from corner b to its target, along n, m. */
LK_FN lk_real way_of(const pd_ipc_args *a, lk_int c, const pd_ipc_pair *p, int b)
{
  return b < cand_first_side(a->s.kind[c]) ? p->lack * p->share[0] : -p->lack * p->share[1];
}

LK_FN void corner_gradient(const pd_ipc_args *a, lk_int c, const pd_ipc_pair *p, int b, lk_real *g)
{
  const lk_real f = -p->weight * way_of(a, c, p, b);
  for (int k = 0; k < 3; ++k) g[k] = f * p->n[k];
}

LK_KERNEL_PLAIN(pd_ipc_quad, a, i)
{
  const int32_t c = a->p.list[i];
  int64_t at = a->at[i];
  pd_ipc_pair p;
  look_at(&a->p, c, &p);
  for (int b = 0; b < 4; ++b) {
    const int32_t j = a->p.s.v[4 * c + b];
    lk_real g[3];
    if (!cand_is_free(j, a->p.s.n, a->p.s.fixed)) continue;
    corner_gradient(&a->p, c, &p, b, g);
    iso_write(&a->t, at++, j, p.x + 3 * b, p.weight, g);
  }
}

LK_KERNEL_PLAIN(pd_ipc_force, a, i)
{
  const int32_t c = a->p.list[i];
  int64_t at = a->at[c];
  pd_ipc_pair p;
  look_at(&a->p, c, &p);
  for (int b = 0; b < 4; ++b)
    if (cand_is_free(a->p.s.v[4 * c + b], a->p.s.n, a->p.s.fixed))
      corner_gradient(&a->p, c, &p, b, a->force + 3 * at++);
}

LK_REDUCE_MAX(pd_ipc_strongest, a, i)
{
  const int32_t c = a->list[i];
  const int side = cand_first_side(a->s.kind[c]),
            other = a->s.kind[c] == LOOM_PAIR_VO ? 0 : 4 - side;
  pd_ipc_pair p;
  look_at(a, c, &p);
  return p.weight * p.lack * LK_FMAX((lk_real)side * p.share[0], (lk_real)other * p.share[1]);
}
