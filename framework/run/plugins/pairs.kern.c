/* pairs.kern.c - see pairs.kern.h; common subset of C11 and C++17. */
#include "run/plugins/pairs.kern.h"

#include "loom/scene.h"

/* Bodies of about 4 ns each: see loom/kernel.h. */
#undef LK_PARALLEL_MIN
#define LK_PARALLEL_MIN 8192

LK_KERNEL(run_min, a, i) { a->a[i] = a->b[i] < a->a[i] ? a->b[i] : a->a[i]; }

LK_KERNEL_PLAIN(run_touch, a, j)
{
  for (int c = 0; c < 4; ++c)
    if (a->v[4 * j + c] >= 0 && a->v[4 * j + c] < a->n) a->touched[a->v[4 * j + c]] = 1;
}

/* ---- pair lists ---- */

LK_REDUCE_SUM(run_pair_disorder, a, i)
{
  const int32_t k0 = a->kind[i], k1 = a->kind[i + 1];
  const int ascending = k0 < k1 || (k0 == k1 && a->key[i] < a->key[i + 1]);
  return ascending ? LK_R(0.0) : LK_R(1.0);
}

LK_KERNEL(run_pair_kind_key, a, i) { a->out[i] = (uint64_t)a->kind[a->perm[i]]; }

/* Each side of a pair is in one object. */
LK_FN int is_within_rigid(const pair_owners *a, lk_int i)
{
  const int32_t kind = a->kind[i], *const v = a->v + 4 * (int64_t)i;
  const int four = kind == LOOM_PAIR_VT || kind == LOOM_PAIR_EE;
  const int last = four ? 3 : kind == LOOM_PAIR_VE ? 2 : kind == LOOM_PAIR_VV ? 1 : 0;
  if (last == 0) return 0;
  const int32_t object = a->object[v[0]];
  return a->rigid[object] && a->object[v[last]] == object;
}

LK_KERNEL_PLAIN(run_pair_first, a, i)
{
  const lk_int j = a->perm[i];
  const lk_int before = i > 0 ? a->perm[i - 1] : -1;
  const int first = before < 0 || a->kind[j] != a->kind[before] || a->key[j] != a->key[before];
  a->flag[i] = first && (a->of.rigid == NULL || !is_within_rigid(&a->of, j));
}

LK_KERNEL_PLAIN(run_pair_apart, a, i)
{
  a->perm[i] = i;
  a->flag[i] = !is_within_rigid(&a->of, i);
}

LK_REDUCE_SUM_PLAIN(run_pair_within, a, i) { return is_within_rigid(a, i) ? LK_R(1.0) : LK_R(0.0); }

LK_FN void move_places(const pair_move_args *a, lk_int j, lk_int t)
{
  if (a->w2 != NULL)
    for (int c = 0; c < 4; ++c) a->w2[4 * t + c] = a->w[4 * j + c];
  if (a->normal2 != NULL)
    for (int c = 0; c < 3; ++c) a->normal2[3 * t + c] = a->normal[3 * j + c];
  if (a->point2 != NULL)
    for (int c = 0; c < 3; ++c) a->point2[3 * t + c] = a->point[3 * j + c];
}

LK_KERNEL_PLAIN(run_pair_move, a, i)
{
  if (a->place[i + 1] == a->place[i]) return;
  const lk_int j = a->perm[i], t = (lk_int)a->place[i];
  if (a->kind2 != NULL) {
    a->kind2[t] = a->kind[j];
    a->obst2[t] = a->obst[j];
    for (int c = 0; c < 4; ++c) a->v2[4 * t + c] = a->v[4 * j + c];
  }
  if (a->key2 != NULL) {
    a->gap2[t] = a->gap[j];
    a->toi2[t] = a->toi[j];
    a->key2[t] = a->key[j];
  }
  move_places(a, j, t);
}
