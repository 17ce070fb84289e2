/* features.kern.c - see features.kern.h. */
#include "features.kern.h"

LK_FN int triangle_acts(const cama_keep_args *a, lk_int c)
{
  const int32_t T = feature_triangle(a->key[c]), *const v = a->s.v + 4 * c;
  lk_real x[12], w[4], r[3], q[3];
  (void)cand_pair(&a->s, c, x, w);
  const int slot = feature_slot(w);
  if (slot < 0) return 1;
  const int32_t feature = feature_of(&a->f, T, v, slot);
  if (feature_meets_excluded(&a->f, feature, v[0])) return 1; /* its owner may be no pair */
  if (a->f.owner[feature] != T) return 0;
  dist_combine(x, w, r);
  lk_sub3(x, r, q);
  return feature_is_closest(&a->f, &a->s, feature, q, r);
}

LK_FN int edges_act(const cand_state *s, lk_int c)
{
  lk_real x[12], w[4];
  (void)cand_pair(s, c, x, w);
  return w[0] > FEATURE_BORDER && w[1] > FEATURE_BORDER && -w[2] > FEATURE_BORDER &&
         -w[3] > FEATURE_BORDER;
}

LK_KERNEL_PLAIN(cama_keep, a, c)
{
  if (!a->flag[c]) return;
  if (pair_is_edges(a->s.kind[c]))
    a->flag[c] = edges_act(&a->s, c);
  else if (a->keep == CAMA_KEEP_ACTING && feature_is_triangle(a->s.kind[c]))
    a->flag[c] = triangle_acts(a, c);
}

/* ---- shared features ---- */

/* Squared distance of x[0] and feature `slot` of the triangle behind it, m^2; w [4]. */
LK_FN lk_real distance_to(const lk_real *x, int slot, lk_real *w)
{
  lk_real p[3], r[3];
  w[0] = LK_R(1.0);
  w[1] = w[2] = w[3] = LK_R(0.0);
  if (slot >= 3) {
    w[slot - 2] = LK_R(-1.0);
    lk_sub3(x, x + 3 * (slot - 2), p);
    return lk_dot3(p, p);
  }
  const int i = 1 + (slot + 1) % 3, j = 1 + (slot + 2) % 3;
  lk_real e[3];
  lk_sub3(x, x + 3 * i, p);
  lk_sub3(x + 3 * j, x + 3 * i, e);
  const lk_real t = dist_clamp(lk_dot3(p, e) * dist_inverse(lk_dot3(e, e)));
  w[i] = t - LK_R(1.0);
  w[j] = -t;
  return dist_minus(p, t, e, r);
}

/* c of feature `slot` of candidate c, if its triangle owns it and p is within reach: b of the law
 * and the weights w of the closest point; else 0. */
LK_FN lk_real shared_term(const cama_shared_args *a, lk_int c, int slot, const lk_real *x,
                          lk_real *w, lk_real *b)
{
  const cand_state *const s = &a->p.s;
  const int32_t T = feature_triangle(a->key[c]), *const v = s->v + 4 * c;
  const int32_t feature = feature_of(&a->f, T, v, slot);
  const lk_real R = a->p.number[CAMA_REACH] + s->xi[c];
  if (a->f.owner[feature] != T || a->f.factor[feature] == 0) return LK_R(0.0);
  const lk_real D = distance_to(x, slot, w);
  if (D >= R * R || feature_meets_excluded(&a->f, feature, v[0])) return LK_R(0.0);
  cama_law(a->p.number, s->xi[c], D, b);
  return (lk_real)a->f.factor[feature];
}

LK_FN void load_pair_corners(const cand_state *s, lk_int c, lk_real *x)
{
  for (int k = 0; k < 4; ++k) cand_position(s, s->v[4 * c + k], x + 3 * k);
}

LK_REDUCE_SUM_PLAIN(cama_shared_energy, a, i)
{
  const int32_t c = a->p.list[i];
  lk_real x[12], w[4], b[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)}, sum = LK_R(0.0);
  if (!feature_is_triangle(a->p.s.kind[c])) return sum;
  load_pair_corners(&a->p.s, c, x);
  for (int slot = 0; slot < 6; ++slot) {
    const lk_real factor = shared_term(a, c, slot, x, w, b);
    if (factor != LK_R(0.0)) sum += factor * b[0];
  }
  return sum;
}

LK_KERNEL_PLAIN(cama_shared_force, a, i)
{
  const cand_state *const s = &a->p.s;
  const int32_t c = a->p.list[i];
  lk_real x[12], w[4], b[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)}, r[3], g[12];
  if (!feature_is_triangle(s->kind[c])) return;
  load_pair_corners(s, c, x);
  for (int k = 0; k < 12; ++k) g[k] = LK_R(0.0);
  for (int slot = 0; slot < 6; ++slot) {
    const lk_real factor = shared_term(a, c, slot, x, w, b);
    if (factor == LK_R(0.0)) continue;
    dist_combine(x, w, r);
    for (int k = 0; k < 12; ++k) g[k] += LK_R(2.0) * factor * b[1] * w[k / 3] * r[k % 3];
  }
  int64_t at = a->p.at[c];
  for (int k = 0; k < 4; ++k) {
    if (!cand_is_free(s->v[4 * c + k], s->n, s->fixed)) continue;
    for (int l = 0; l < 3; ++l) a->p.force[3 * at + l] += g[3 * k + l];
    ++at;
  }
}

LK_REDUCE_SUM(cama_kind, a, i)
{
  const int32_t kind = a->kind[a->list[i]];
  const int counts = a->edges ? pair_is_edges(kind) : feature_is_triangle(kind);
  return counts ? LK_R(1.0) : LK_R(0.0);
}
