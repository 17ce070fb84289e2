/* elastic.kern.c - see elastic.kern.h. */
#include "elements/elastic.kern.h"

LK_KERNEL_PLAIN(elastic_rows, a, i)
{
  const lk_int side = 3 * a->arity, e = i / side;
  const lk_real *row = a->H + (int64_t)side * i;
  lk_real s = LK_R(0.0);
  for (int v = 0; v < a->arity; ++v) {
    const lk_int q = a->verts[a->arity * e + v];
    s += row[3 * v] * a->p[3 * q] + row[3 * v + 1] * a->p[3 * q + 1] +
         row[3 * v + 2] * a->p[3 * q + 2];
  }
  a->out[i] = s;
}

LK_KERNEL_PLAIN(elastic_weigh, a, e)
{
  const lk_real w = a->one + a->scale * a->w[a->verts[(int64_t)a->arity * e]];
  lk_real *const H = a->H + (int64_t)a->len * e;
  for (lk_int k = 0; k < a->len; ++k) H[k] *= w;
}

LK_KERNEL_PLAIN(elastic_parts, a, i)
{
  const lk_int lo = ELASTIC_PART * i;
  const lk_int hi = a->num - lo < ELASTIC_PART ? a->num : lo + ELASTIC_PART;
  lk_real s = LK_R(0.0);
  for (lk_int k = lo; k < hi; ++k) s += a->v[k];
  a->part[i] = s;
}

LK_REDUCE_SUM(elastic_sum, a, i) { return a->v[i]; }
