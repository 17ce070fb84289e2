/* following.kern.c - see following.kern.h; common subset of C11 and C++17. */
#include "run/objects/following.kern.h"

/* Bodies of about 4 ns each: see loom/kernel.h. */
#undef LK_PARALLEL_MIN
#define LK_PARALLEL_MIN 8192

LK_KERNEL_PLAIN(run_follow, a, k)
{
  lk_real s[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)};
  for (int32_t j = a->first[k]; j < a->first[k + 1]; ++j) {
    const lk_real *p = a->x + 3 * (int64_t)a->node[j];
    for (int c = 0; c < 3; ++c) s[c] += a->weight[j] * p[c];
  }
  for (int c = 0; c < 3; ++c) a->x[3 * (int64_t)a->id[k] + c] = s[c];
}

LK_KERNEL_PLAIN(run_follow_clear, a, k)
{
  for (int c = 0; c < 3; ++c) a->x[3 * (int64_t)a->id[k] + c] = LK_R(0.0);
}

LK_KERNEL_PLAIN(run_fold_part, a, k)
{
  lk_real s[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)};
  for (int32_t j = a->first[k]; j < a->first[k + 1]; ++j) {
    const lk_real *p = a->g + 3 * (int64_t)a->member[j];
    for (int c = 0; c < 3; ++c) s[c] += a->weight[j] * p[c];
  }
  for (int c = 0; c < 3; ++c) a->part[3 * k + c] = s[c];
}

LK_KERNEL_PLAIN(run_fold_sum, a, i)
{
  lk_real *g = a->g + 3 * (int64_t)a->node[i];
  for (int32_t k = a->first_chunk[i]; k < a->first_chunk[i + 1]; ++k)
    for (int c = 0; c < 3; ++c) g[c] += a->part[3 * k + c];
}

LK_KERNEL_PLAIN(run_share_part, a, k)
{
  lk_real t = LK_R(1.0);
  for (int32_t j = a->first[k]; j < a->first[k + 1]; ++j) t = LK_FMIN(t, a->g[a->member[j]]);
  a->part[k] = t;
}

LK_KERNEL_PLAIN(run_share_least, a, i)
{
  lk_real t = a->g[a->node[i]];
  for (int32_t k = a->first_chunk[i]; k < a->first_chunk[i + 1]; ++k) t = LK_FMIN(t, a->part[k]);
  a->g[a->node[i]] = t;
}

/* Nodes of vertex v: itself, or those that it follows. */
LK_FN int fold_nodes(const fold_block_args *a, int32_t v)
{
  const int32_t k = a->slot[v];
  return k < 0 ? 1 : (int)(a->first[k + 1] - a->first[k]);
}

LK_FN int32_t fold_node(const fold_block_args *a, int32_t v, int i, lk_real *w)
{
  const int32_t k = a->slot[v];
  *w = k < 0 ? LK_R(1.0) : a->weight[a->first[k] + i];
  return k < 0 ? v : a->node[a->first[k] + i];
}

LK_KERNEL_PLAIN(run_fold_count, a, j)
{
  a->num[j] = (int64_t)fold_nodes(a, a->row[j]) * fold_nodes(a, a->col[j]);
}

LK_KERNEL_PLAIN(run_fold_expand, a, j)
{
  const int rows = fold_nodes(a, a->row[j]), cols = fold_nodes(a, a->col[j]);
  int64_t at = a->place[j];
  for (int p = 0; p < rows; ++p)
    for (int q = 0; q < cols; ++q, ++at) {
      lk_real u, v;
      a->row2[at] = fold_node(a, a->row[j], p, &u);
      a->col2[at] = fold_node(a, a->col[j], q, &v);
      for (int c = 0; c < 9; ++c) a->val2[9 * at + c] = u * v * a->val[9 * (int64_t)j + c];
    }
}

/* Adds w at vertex v to a term of `used` vertices; returns their number. */
LK_FN int fold_corner(const fold_quad_args *a, lk_int j, int used, int32_t v, lk_real w)
{
  int32_t *to = a->v2 + (int64_t)a->width * j;
  int at = 0;
  while (at < used && to[at] != v) ++at;
  if (at == a->width) return used; /* no pair has so many */
  if (at == used) {
    to[at] = v;
    a->w2[(int64_t)a->width * j + at] = LK_R(0.0);
    ++used;
  }
  a->w2[(int64_t)a->width * j + at] += w;
  return used;
}

LK_KERNEL_PLAIN(run_fold_quad, a, j)
{
  int used = 0;
  for (int c = 0; c < 4; ++c) {
    const int32_t v = a->v[4 * (int64_t)j + c];
    const int32_t k = v < 0 ? -1 : a->slot[v];
    const lk_real w = v < 0 ? LK_R(0.0) : a->w[4 * (int64_t)j + c];
    if (v >= 0 && k < 0) used = fold_corner(a, j, used, v, w);
    if (k < 0) continue;
    for (int32_t i = a->first[k]; i < a->first[k + 1]; ++i)
      used = fold_corner(a, j, used, a->node[i], w * a->weight[i]);
  }
  for (; used < a->width; ++used) {
    a->v2[(int64_t)a->width * j + used] = -1;
    a->w2[(int64_t)a->width * j + used] = LK_R(0.0);
  }
}
