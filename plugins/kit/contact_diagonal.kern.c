/* contact_diagonal.kern.c - see contact_diagonal.h. */
#include "kit/contact_diagonal.kern.h"

#include "geom/sorted.kern.h"

LK_FN int takes_part(const contact_diagonal_args *a, int64_t e)
{
  const int32_t v = a->v[e];
  return v >= 0 && v < a->n && !a->fixed[v] && a->k[e / a->width] > LK_R(0.0) &&
         a->w[e] != LK_R(0.0);
}

LK_KERNEL_PLAIN(contact_diagonal_count, a, l)
{
  int64_t num = 0;
  for (int b = 0; b < a->width; ++b) num += takes_part(a, (int64_t)a->width * l + b);
  a->num[l] = num;
}

LK_KERNEL_PLAIN(contact_diagonal_list, a, l)
{
  int64_t at = a->place[l];
  for (int b = 0; b < a->width; ++b) {
    const int64_t e = (int64_t)a->width * l + b;
    if (!takes_part(a, e)) continue;
    a->corner[at] = (int32_t)e;
    a->key[at++] = (uint64_t)a->v[e];
  }
}

LK_KERNEL_PLAIN(contact_diagonal_key, a, e)
{
  a->key[e] = takes_part(a, e) ? (uint64_t)a->v[e] : (uint64_t)a->n;
}

LK_KERNEL_PLAIN(contact_diagonal_sum, a, i)
{
  lk_real sum = LK_R(0.0);
  int64_t k = lk_lower_bound(a->key, a->corners, (uint64_t)i);
  for (; k < a->corners && a->key[k] == (uint64_t)i; ++k) {
    const int64_t e = a->corner != NULL ? a->corner[a->order[k]] : a->order[k];
    const int64_t first = e - e % a->width;
    lk_real all = LK_R(0.0);
    for (int64_t b = first; b < first + a->width; ++b)
      if (takes_part(a, b)) all += LK_FABS(a->w[b]);
    sum += a->k[e / a->width] * LK_FABS(a->w[e]) * all;
  }
  a->weight[i] = sum;
}

LK_KERNEL(contact_diagonal_none, a, i) { a->weight[i] = LK_R(0.0); }
