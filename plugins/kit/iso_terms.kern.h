/* iso_terms.kern.h - isotropic terms of a quadratic form, k/2 |x_i - p|^2: what a contact model
 * with LOOM_CONT_QUAD_ISO writes into a loom_quad, from its term `first` on. */
#ifndef KIT_ISO_TERMS_KERN_H
#define KIT_ISO_TERMS_KERN_H

#include "loom/kernel.h"

typedef struct iso_terms {
  int64_t first;
  int32_t *LK_RESTRICT v;   /* [.][4] */
  lk_real *LK_RESTRICT w;   /* [.][4] */
  lk_real *LK_RESTRICT k;   /* [.] N/m */
  lk_real *LK_RESTRICT p;   /* [.][3] m */
  lk_real *LK_RESTRICT dir; /* [.][3] or NULL */
} iso_terms;

/* Term l: k/2 |x_i - p|^2 with the gradient g, N, at x. */
LK_FN void iso_write(const iso_terms *t, int64_t l, int32_t i, const lk_real *x, lk_real k,
                     const lk_real *g)
{
  const int64_t at = t->first + l;
  for (int b = 0; b < 4; ++b) {
    t->v[4 * at + b] = b == 0 ? i : -1;
    t->w[4 * at + b] = b == 0 ? LK_R(1.0) : LK_R(0.0);
  }
  t->k[at] = k;
  for (int c = 0; c < 3; ++c) {
    t->p[3 * at + c] = k > LK_R(0.0) ? x[c] - g[c] / k : x[c];
    if (t->dir != NULL) t->dir[3 * at + c] = LK_R(0.0);
  }
}

#endif
