/* yarn_penalty.kern.c - see yarn_penalty.kern.h. */
#include "yarn_penalty.kern.h"

LK_KERNEL_PLAIN(yarn_penalty_points, a, s) { yarn_points(&a->l, a->x, s, a->P + YARN_POS * s); }

LK_FN int yarn_lane_index(lk_real u) { return (int)(u * (lk_real)YARN_B + LK_R(0.5)); }

LK_KERNEL_PLAIN(yarn_penalty_pair, a, k)
{
  const int32_t p = a->v[4 * k], q = a->v[4 * k + 1];
  const int last = a->l.pt0[p + 1] - a->l.pt0[p] - 1;
  const lk_real sum = a->l.radius[p] + a->l.radius[q];
  lk_real ga[YARN_POS], gb[YARN_POS], f[3];
  uint16_t mask[YARN_LANES];
  const int masked = yarn_adjacent(&a->l, p, q);
  if (masked) yarn_rule(&a->l, p, q, mask);
  for (int i = 0; i < YARN_POS; ++i) ga[i] = gb[i] = LK_R(0.0);
  a->energy[k] = yarn_pair_gradient(
      a->P + YARN_POS * p, a->l.weight + YARN_LANES * p, a->all ? 0 : yarn_lane_index(a->w[4 * k]),
      a->all ? last : yarn_lane_index(a->w[4 * k + 1]), a->P + YARN_POS * q,
      a->l.weight + YARN_LANES * q, sum * sum, a->stiffness, masked ? mask : NULL, ga, gb);
  for (int c = 0; c < 3; ++c) {
    f[c] = LK_R(0.0);
    for (int i = 0; i < YARN_LANES; ++i) f[c] += ga[YARN_LANES * c + i];
  }
  a->force[k] = LK_SQRT(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]);
  yarn_to_vertices(&a->l, p, ga, a->g + 24 * (int64_t)k);
  yarn_to_vertices(&a->l, q, gb, a->g + 24 * (int64_t)k + 12);
}

LK_KERNEL(yarn_penalty_second, a, k) { a->second[k] = (uint64_t)a->v[4 * k + 1]; }

/* First pair with a segment of at least s; pairs are sorted by the first one already. */
LK_KERNEL_PLAIN(yarn_penalty_index, a, s)
{
  for (int side = 0; side < 2; ++side) {
    int64_t lo = 0, hi = a->m;
    while (lo < hi) {
      const int64_t mid = lo + (hi - lo) / 2;
      const int64_t seg = side == 0 ? (int64_t)a->v[4 * mid] : (int64_t)a->key[mid];
      if (seg < (int64_t)s)
        lo = mid + 1;
      else
        hi = mid;
    }
    a->at[2 * s + side] = lo;
  }
}

LK_KERNEL_PLAIN(yarn_penalty_gather, a, s)
{
  lk_real sum[12];
  for (int i = 0; i < 12; ++i) sum[i] = LK_R(0.0);
  for (int64_t k = a->at[2 * s]; k < a->at[2 * s + 2]; ++k)
    for (int i = 0; i < 12; ++i) sum[i] += a->g[24 * k + i];
  for (int64_t k = a->at[2 * s + 1]; k < a->at[2 * s + 3]; ++k)
    for (int i = 0; i < 12; ++i) sum[i] += a->g[24 * (int64_t)a->perm[k] + 12 + i];
  for (int i = 0; i < 12; ++i) a->seg[12 * s + i] = sum[i];
}

LK_KERNEL_PLAIN(yarn_penalty_add, a, i)
{
  for (int j = 0; j < 4; ++j) {
    const int32_t at = a->of[4 * i + j];
    for (int c = 0; c < 3 && at >= 0; ++c) a->grad[3 * i + c] += a->seg[3 * at + c];
  }
}

LK_REDUCE_SUM(yarn_penalty_sum, a, k) { return a->value[k]; }
LK_REDUCE_MAX(yarn_penalty_most, a, k) { return a->value[k]; }
LK_REDUCE_SUM(yarn_penalty_count, a, k) { return a->value[k] != LK_R(0.0) ? LK_R(1.0) : LK_R(0.0); }
LK_REDUCE_MAX(yarn_penalty_least, a, k) { return -a->value[k]; }
