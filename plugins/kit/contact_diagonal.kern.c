/* contact_diagonal.kern.c - see contact_diagonal.h. */
#include "kit/contact_diagonal.kern.h"

/* Corner e, of term l */
LK_FN int takes_part(const contact_diagonal_args *a, int64_t l, int64_t e)
{
  const int32_t v = a->v[e];
  return v >= 0 && v < a->n && !a->fixed[v] && a->k[l] > LK_R(0.0) && a->w[e] != LK_R(0.0);
}

LK_FN lk_real sum_of_parts(const contact_diagonal_args *a, int64_t l)
{
  lk_real all = LK_R(0.0);
  for (int64_t e = l * a->width; e < (l + 1) * a->width; ++e)
    if (takes_part(a, l, e)) all += LK_FABS(a->w[e]);
  return all;
}

LK_KERNEL_PLAIN(contact_diagonal_count, a, l)
{
  int64_t num = 0;
  for (int b = 0; b < a->width; ++b) num += takes_part(a, l, (int64_t)a->width * l + b);
  a->num[l] = num;
  a->all[l] = sum_of_parts(a, l);
}

LK_KERNEL_PLAIN(contact_diagonal_list, a, l)
{
  int64_t at = a->place[l];
  for (int b = 0; b < a->width; ++b) {
    const int64_t e = (int64_t)a->width * l + b;
    if (!takes_part(a, l, e)) continue;
    a->corner[at] = (int32_t)e;
    a->key[at++] = (uint64_t)a->v[e];
  }
}

LK_KERNEL_PLAIN(contact_diagonal_key, a, e)
{
  a->key[e] = takes_part(a, e / a->width, e) ? (uint64_t)a->v[e] : (uint64_t)a->n;
}

LK_KERNEL_PLAIN(contact_diagonal_sum, a, j)
{
  const uint64_t i = a->key[j];
  lk_real sum = LK_R(0.0);
  if (i >= (uint64_t)a->n || (j > 0 && a->key[j - 1] == i)) return;
  for (int64_t k = j; k < a->corners && a->key[k] == i; ++k) {
    const int64_t e = a->corner != NULL ? a->corner[a->order[k]] : a->order[k];
    const int64_t l = e / a->width;
    const lk_real all = a->all != NULL ? a->all[l] : sum_of_parts(a, l);
    sum += a->k[l] * LK_FABS(a->w[e]) * all;
  }
  a->weight[i] = sum;
}

LK_KERNEL(contact_diagonal_none, a, i) { a->weight[i] = LK_R(0.0); }
