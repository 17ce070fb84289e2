/* gather.kern.c - see gather.kern.h. */
#include "kit/gather.kern.h"

LK_KERNEL_PLAIN(gather_count, a, j)
{
  int64_t num = 0;
  for (int b = 0; b < 4; ++b) num += gather_is_corner(a->v[4 * j + b], a->n, a->fixed);
  a->num[j] = num;
}

LK_KERNEL_PLAIN(gather_keys, a, j)
{
  int64_t at = a->at[j];
  for (int b = 0; b < 4; ++b) {
    const int32_t i = a->v[4 * j + b];
    if (!gather_is_corner(i, a->n, a->fixed)) continue;
    a->owner[at] = j;
    a->vertex[at++] = (uint64_t)i;
  }
}

/* Entry l ends the row of the vertex before it and begins those of all vertices up to its own. */
LK_KERNEL_PLAIN(gather_rows, a, l)
{
  const int64_t own = l < a->corners ? (int64_t)a->vertex[l] : a->n;
  for (int64_t i = l > 0 ? (int64_t)a->vertex[l - 1] + 1 : 0; i <= own; ++i) a->first[i] = l;
  if (l < a->corners) a->owner[l] = a->by_place[a->place[l]];
}

/* Whether entry l has a force.  Most pairs near a vertex have none: their corners cost an index and
 * a flag. */
LK_FN int has_force(const gather_sum_args *a, int64_t l)
{
  const int32_t o = a->owner[l];
  if (a->active != NULL && a->active[o] == a->active[o + 1]) return 0;
  return a->live == NULL || a->live[o];
}

/* Place in force of entry l. */
LK_FN int64_t find_force_place(const gather_sum_args *a, int64_t l)
{
  const int32_t o = a->owner[l];
  return a->live_at == NULL ? a->place[l] : a->place[l] - a->at[o] + a->live_at[o];
}

/* In the order of the pairs. */
LK_FN void sum_vertex(const gather_sum_args *a, lk_int i)
{
  const int64_t end = a->first[i + 1];
  lk_real sum[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)};
  if (a->first[i] == end) return;
  for (int64_t l = a->first[i]; l < end; ++l) {
    if (!has_force(a, l)) continue;
    const int64_t at = find_force_place(a, l);
    for (int c = 0; c < 3; ++c) sum[c] += a->force[3 * at + c];
  }
  for (int c = 0; c < 3; ++c) a->out[3 * i + c] += sum[c];
}

/* The same for component t % 3 of vertex t / 3. */
LK_FN void sum_component(const gather_sum_args *a, lk_int t)
{
  const lk_int i = t / 3, c = t % 3;
  const int64_t end = a->first[i + 1];
  lk_real sum = LK_R(0.0);
  if (a->first[i] == end) return;
  for (int64_t l = a->first[i]; l < end; ++l)
    if (has_force(a, l)) sum += a->force[3 * find_force_place(a, l) + c];
  a->out[t] += sum;
}

LK_KERNEL_PLAIN(gather_sum, a, i)
{
  if (a->split)
    sum_component(a, i);
  else
    sum_vertex(a, i);
}
