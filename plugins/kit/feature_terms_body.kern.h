/* feature_terms_body.kern.h - kernels of the terms of shared features, to be included with PAIR and
 * PAIR_LAW defined as for pair_energy_body.kern.h; see feature_terms.kern.h. */
#define TERMS_SUM(name, a, i)    LK_REDUCE_SUM_PLAIN(name, a, i)
#define TERMS_KERNEL(name, a, i) LK_KERNEL_PLAIN(name, a, i)

/* c of feature `slot` of candidate c, if its triangle owns it and p is within reach: b of the law
 * and the weights w of the closest point; else 0. */
LK_FN lk_real PAIR(shared_term)(const feature_terms_args *a, lk_int c, int slot, const lk_real *x,
                                lk_real *w, lk_real *b)
{
  const cand_state *const s = &a->p.s;
  const int32_t T = feature_triangle(a->key[c]), *const v = s->v + 4 * c;
  const int32_t feature = feature_of(&a->f, T, v, slot);
  lk_real number[PAIR_NUMBERS];
  const lk_real R = a->p.number[FEATURE_REACH] + s->xi[c];
  if (a->f.owner[feature] != T || a->f.factor[feature] == 0) return LK_R(0.0);
  const lk_real D = feature_distance(x, slot, w);
  if (D >= R * R || feature_meets_excluded(&a->f, feature, v[0])) return LK_R(0.0);
  pair_numbers(&a->p, c, number);
  PAIR_LAW(number, s->xi[c], D, b);
  return (lk_real)a->f.factor[feature];
}

TERMS_SUM(PAIR(shared_energy), a, i)
{
  const int32_t c = a->p.list[i];
  lk_real x[12], w[4], b[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)}, sum = LK_R(0.0);
  if (!feature_is_triangle(a->p.s.kind[c])) return sum;
  feature_pair_corners(&a->p.s, c, x);
  for (int slot = 0; slot < 6; ++slot) {
    const lk_real factor = PAIR(shared_term)(a, c, slot, x, w, b);
    if (factor != LK_R(0.0)) sum += factor * b[0];
  }
  return sum;
}

TERMS_KERNEL(PAIR(shared_force), a, i)
{
  const cand_state *const s = &a->p.s;
  const int32_t c = a->p.list[i];
  lk_real x[12], w[4], b[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)}, r[3], g[12];
  if (!feature_is_triangle(s->kind[c])) return;
  feature_pair_corners(s, c, x);
  for (int k = 0; k < 12; ++k) g[k] = LK_R(0.0);
  for (int slot = 0; slot < 6; ++slot) {
    const lk_real factor = PAIR(shared_term)(a, c, slot, x, w, b);
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

#undef TERMS_SUM
#undef TERMS_KERNEL
