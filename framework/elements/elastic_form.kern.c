/* elastic_form.kern.c - see elastic_form.kern.h. */
#include "elements/elastic_form.kern.h"

#include "geom/small.kern.h"

LK_KERNEL_PLAIN(elastic_form, a, i)
{
  const int64_t hi = a->row_ptr[i + 1];
  lk_real o[3], g[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)}, e = LK_R(0.0);
  LK_LOAD3(o, a->x, (int64_t)i);
  for (int64_t k = a->row_ptr[i]; k < hi; ++k) {
    lk_real d[3];
    LK_LOAD3(d, a->x, (int64_t)a->col[k]);
    lk_sub3(d, o, d);
    const lk_real v = a->val[k];
    g[0] += v * d[0];
    g[1] += v * d[1];
    g[2] += v * d[2];
    e -= v * lk_dot3(d, d);
  }
  if (a->energy) a->energy[i] = LK_R(0.25) * e;
  if (a->grad == NULL) return;
  LK_UNROLL
  for (int c = 0; c < 3; ++c) a->grad[3 * (int64_t)i + c] += g[c];
}
