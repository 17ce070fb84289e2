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

/* The first of a run of equal vertices adds up the run, in the order of the pairs. */
LK_KERNEL_PLAIN(gather_sum, a, j)
{
  const uint64_t i = a->vertex[j];
  lk_real sum[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)};
  if (j > 0 && a->vertex[j - 1] == i) return;
  for (int64_t l = j; l < a->corners && a->vertex[l] == i; ++l) {
    const int64_t at = a->place[l];
    const int32_t o = a->owner[at];
    if (a->active != NULL && a->active[o] == a->active[o + 1]) continue;
    for (int c = 0; c < 3; ++c) sum[c] += a->force[3 * at + c];
  }
  for (int c = 0; c < 3; ++c) a->out[3 * i + (uint64_t)c] += sum[c];
}
