/* bfgs.kern.c - see bfgs.kern.h. */
#include "bfgs.kern.h"

#include "geom/small.kern.h"

#undef LK_PARALLEL_MIN
#define LK_PARALLEL_MIN 8192

LK_REDUCE_SUM_PLAIN(bfgs_dot, a, i)
{
  lk_real x[3], y[3];
  LK_LOAD3(x, a->a, (int64_t)i);
  LK_LOAD3(y, a->b, (int64_t)i);
  return lk_dot3(x, y);
}

LK_KERNEL_PLAIN(bfgs_add, a, i)
{
  const lk_real curvature = *a->curvature;
  const lk_real plus = a->plus != NULL ? *a->plus : LK_R(0.0);
  const lk_real minus = a->minus != NULL ? *a->minus : LK_R(0.0);
  const lk_real w = curvature > LK_R(0.0) ? (plus - minus) / curvature : LK_R(0.0);
  lk_real x[3], y[3];
  LK_LOAD3(x, a->x, (int64_t)i);
  LK_LOAD3(y, a->y, (int64_t)i);
  for (int c = 0; c < 3; ++c) y[c] += w * x[c];
  LK_STORE3(a->y, (int64_t)i, y);
}

/* Without finite positive curvature of the direction the pair is empty: its curvature is stored as
 * 0 and it is passed over. */
LK_KERNEL_PLAIN(bfgs_length, a, i)
{
  const lk_real dg = a->record[BFGS_DG], dAd = a->record[BFGS_DAD];
  const int fine = dAd > LK_R(0.0) && dAd <= LK_REAL_MAX;
  const lk_real step = fine ? dg / dAd : LK_R(0.0);
  (void)i;
  a->record[BFGS_STEP] = step;
  *a->sas = step * step * dAd;
}

LK_KERNEL_PLAIN(bfgs_advance, a, i)
{
  const lk_real step = a->record[BFGS_STEP];
  lk_real d[3], ad[3], y[3], g[3];
  LK_LOAD3(d, a->d, (int64_t)i);
  LK_LOAD3(ad, a->ad, (int64_t)i);
  LK_LOAD3(y, a->y, (int64_t)i);
  LK_LOAD3(g, a->g, (int64_t)i);
  for (int c = 0; c < 3; ++c) {
    d[c] *= step;
    ad[c] *= step;
    y[c] += d[c];
    g[c] -= ad[c];
  }
  LK_STORE3(a->y, (int64_t)i, y);
  LK_STORE3(a->g, (int64_t)i, g);
  LK_STORE3(a->s, (int64_t)i, d);
  LK_STORE3(a->as, (int64_t)i, ad);
}
