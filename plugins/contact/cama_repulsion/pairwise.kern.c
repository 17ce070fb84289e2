/* pairwise.kern.c - see pairwise.kern.h. */
#include "pairwise.kern.h"

LK_FN int is_free(const cand_state *s, lk_int c, int k)
{
  return cand_is_free(s->v[4 * c + k], s->n, s->fixed);
}

LK_KERNEL_PLAIN(cama_pairwise_count, a, i)
{
  const int32_t c = a->list[i];
  const int first = pair_first_side(a->s.kind[c], a->s.v + 4 * c);
  int64_t one = 0, two = 0;
  for (int k = 0; k < 4; ++k) {
    if (!is_free(&a->s, c, k)) continue;
    one += k < first;
    two += k >= first;
  }
  a->count[i] = one + two + 2 * one * two;
}

/* Stiffness k of candidate c, N/m, its unit normal and the weights. */
LK_FN lk_real stiffness_of(const pair_args *a, lk_int c, lk_real *n, lk_real *w)
{
  const cand_state *const s = &a->s;
  lk_real x[12], energy, force, k, d, m = LK_R(1.0);
  if (pair_is_point(s->kind[c])) {
    d = cand_point(s, c, w, n);
    m = cand_share(s, c);
  } else {
    d = LK_SQRT(cand_pair(s, c, x, w));
    dist_combine(x, w, n);
    const lk_real inv = dist_inverse(lk_norm3(n));
    for (int l = 0; l < 3; ++l) n[l] *= inv;
    m = cand_mollifier(s, c, x);
  }
  cama_force_law(a->number, a->number[CAMA_REACH] + s->xi[c] - d, &energy, &force, &k);
  return m * k;
}

LK_FN void write_block(const pair_args *a, int64_t at, int32_t row, int32_t col, lk_real k,
                       const lk_real *n)
{
  a->row[at] = row;
  a->col[at] = col;
  for (int l = 0; l < 9; ++l) a->val[9 * at + l] = k * n[l / 3] * n[l % 3];
}

LK_KERNEL_PLAIN(cama_pairwise, a, i)
{
  const cand_state *const s = &a->s;
  const int32_t c = a->list[i], *const v = s->v + 4 * c;
  const int first = pair_first_side(s->kind[c], v);
  int64_t at = a->first + a->at_block[i];
  lk_real n[3], w[4];
  const lk_real stiffness = stiffness_of(a, c, n, w);
  for (int k = 0; k < 4; ++k)
    if (is_free(s, c, k)) write_block(a, at++, v[k], v[k], stiffness * LK_FABS(w[k]), n);
  for (int k = 0; k < first; ++k)
    for (int l = first; l < 4; ++l) {
      if (!is_free(s, c, k) || !is_free(s, c, l)) continue;
      const lk_real share = -stiffness * LK_FABS(w[k] * w[l]);
      write_block(a, at++, v[k], v[l], share, n);
      write_block(a, at++, v[l], v[k], share, n);
    }
}
