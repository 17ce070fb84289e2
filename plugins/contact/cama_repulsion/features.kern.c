/* features.kern.c - see features.kern.h. */
#include "features.kern.h"

/* Weights below this count as zero: p above an edge within rounding has that edge as closest
 * feature of both triangles.  A neighbour leads closer where it does by more than `steeper`, which
 * is larger, so that a p so near to an edge is held by one of them at least. */
#define ON_BORDER (LK_R(1e-9) + LK_R(16.0) * LK_EPSILON)
#define STEEPER   (LK_R(100.0) * ON_BORDER)

LK_FN int32_t triangle_of(uint64_t key) { return (int32_t)(key & 0xffffffffu); }

/* Feature `slot` of triangle T: opposite to corner `slot` for 0 to 2, then the corners v [4]. */
LK_FN int32_t feature_of(const cama_features *f, int32_t T, const int32_t *v, int slot)
{
  return slot < 3 ? f->points + f->edge[3 * T + slot] : v[slot - 2];
}

/* Slot of the closest feature by the weights of the closest point; -1: the inside. */
LK_FN int closest_slot(const lk_real *w)
{
  int zeros = 0, last_zero = 0, last = 0;
  for (int k = 0; k < 3; ++k) {
    const int zero = -w[k + 1] <= ON_BORDER;
    zeros += zero;
    if (zero)
      last_zero = k;
    else
      last = k;
  }
  return zeros == 0 ? -1 : zeros == 1 ? last_zero : 3 + last;
}

LK_FN int is_excluded_vertex(const cama_features *f, int32_t p, int32_t u)
{
  if (f->out == NULL) return 0;
  for (int32_t k = f->out[p]; k < f->out[p + 1]; ++k)
    if (f->other[k] == u) return 1;
  return 0;
}

/* 1: feature s borders on triangles that may not touch p. */
LK_FN int has_excluded_neighbour(const cama_features *f, int32_t s, int32_t p)
{
  for (int64_t k = f->first[s]; k < f->first[s + 1]; ++k)
    if (f->ring[k] == p || is_excluded_vertex(f, p, f->ring[k])) return 1;
  return 0;
}

/* p is as close to feature s as to anything around it; q: closest point, r = p - q. */
LK_FN int is_local_minimum(const cama_features *f, const cand_state *s, int32_t feature,
                           const lk_real *q, const lk_real *r)
{
  for (int64_t k = f->first[feature]; k < f->first[feature + 1]; ++k) {
    lk_real u[3], d[3];
    cand_position(s, f->ring[k], u);
    lk_sub3(u, q, d);
    if (lk_dot3(r, d) > STEEPER * lk_dot3(d, d)) return 0;
  }
  return 1;
}

LK_FN int triangle_acts(const cama_keep_args *a, lk_int c)
{
  const int32_t T = triangle_of(a->key[c]), *const v = a->s.v + 4 * c;
  lk_real x[12], w[4], r[3], q[3];
  (void)cand_pair(&a->s, c, x, w);
  const int slot = closest_slot(w);
  if (slot < 0) return 1;
  const int32_t feature = feature_of(&a->f, T, v, slot);
  if (has_excluded_neighbour(&a->f, feature, v[0])) return 1; /* its owner may be no pair */
  if (a->f.owner[feature] != T) return 0;
  dist_combine(x, w, r);
  lk_sub3(x, r, q);
  return is_local_minimum(&a->f, &a->s, feature, q, r);
}

LK_FN int edges_act(const cand_state *s, lk_int c)
{
  lk_real x[12], w[4];
  (void)cand_pair(s, c, x, w);
  return w[0] > ON_BORDER && w[1] > ON_BORDER && -w[2] > ON_BORDER && -w[3] > ON_BORDER;
}

LK_KERNEL_PLAIN(cama_keep, a, c)
{
  if (!a->flag[c]) return;
  if (pair_is_edges(a->s.kind[c]))
    a->flag[c] = edges_act(&a->s, c);
  else if (a->keep == CAMA_KEEP_ACTING && cama_is_triangle(a->s.kind[c]))
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
  const int32_t T = triangle_of(a->key[c]), *const v = s->v + 4 * c;
  const int32_t feature = feature_of(&a->f, T, v, slot);
  const lk_real R = a->p.number[CAMA_REACH] + s->xi[c];
  if (a->f.owner[feature] != T || a->f.factor[feature] == 0) return LK_R(0.0);
  const lk_real D = distance_to(x, slot, w);
  if (D >= R * R || has_excluded_neighbour(&a->f, feature, v[0])) return LK_R(0.0);
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
  if (!cama_is_triangle(a->p.s.kind[c])) return sum;
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
  if (!cama_is_triangle(s->kind[c])) return;
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
  const int counts = a->edges ? pair_is_edges(kind) : cama_is_triangle(kind);
  return counts ? LK_R(1.0) : LK_R(0.0);
}
