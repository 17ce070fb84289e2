/* element_share.kern.c - see element_share.h. */
#include "kit/element_share.kern.h"

#include "geom/small.kern.h"

LK_KERNEL_PLAIN(share_flag, a, j) { a->flag[j] = a->kind[j] == LOOM_PAIR_EO; }

LK_KERNEL_PLAIN(share_rows, a, j)
{
  const int64_t row = a->row[j];
  const int32_t *const v = a->v + 4 * (int64_t)j;
  const int triangle = v[2] >= 0;
  if (row == a->row[j + 1]) return;
  for (int k = 0; k < SHARE_ROWS; ++k) {
    int32_t *const p = a->point + 3 * (SHARE_ROWS * row + k);
    const int first =
        k == 0 ? 0 : k - 1; /* of the rim: a corner and, of a triangle, the next one */
    a->body[SHARE_ROWS * row + k] = k < 3 || triangle ? a->obst[j] : -1;
    p[0] = v[first % (triangle ? 3 : 2)];
    p[1] = k == 0 ? v[1] : triangle ? v[k % 3] : -1;
    p[2] = k == 0 ? v[2] : -1;
  }
}

/* 3 t^2 - 2 t^3 between 0 and 1 */
LK_FN lk_real blend_of_depth(lk_real t)
{
  const lk_real s = LK_FMIN(LK_FMAX(t, LK_R(0.0)), LK_R(1.0));
  return s * s * (LK_R(3.0) - LK_R(2.0) * s);
}

LK_FN lk_real longest_edge_of(const lk_real *x, const int32_t *v)
{
  lk_real longest2 = LK_R(0.0);
  for (int k = 0; k < 3; ++k) {
    const int32_t i = v[k], j = v[(k + 1) % 3];
    lk_real p[3], q[3], e[3];
    if (i < 0 || j < 0) continue;
    LK_LOAD3(p, x, i);
    LK_LOAD3(q, x, j);
    lk_sub3(p, q, e);
    longest2 = LK_FMAX(longest2, lk_dot3(e, e));
  }
  return LK_SQRT(longest2);
}

LK_KERNEL_PLAIN(share_blend, a, j)
{
  const int64_t row = a->row[j];
  const int32_t *const v = a->v + 4 * (int64_t)j;
  a->share[j] = LK_R(1.0);
  if (row == a->row[j + 1]) return;
  const lk_real full = SHARE_DEPTH * longest_edge_of(a->x, v), *const gap =
                                                                   a->gap + SHARE_ROWS * row;
  lk_real product = LK_R(1.0);
  for (int k = 1; k < (v[2] >= 0 ? 4 : 3); ++k)
    product *= blend_of_depth(full > LK_R(0.0) ? (gap[k] - gap[0]) / full : LK_R(0.0));
  a->share[j] = SHARE_LEAST + (LK_R(1.0) - SHARE_LEAST) * product;
  if (a->flat[SHARE_ROWS * row] > a->reach) a->share[j] = LK_R(0.0);
}
