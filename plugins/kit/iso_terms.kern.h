/* iso_terms.kern.h - isotropic terms of a quadratic form, k/2 |q - p|^2 with q = sum_b w_b x_b.  A
 * contact model with LOOM_CONT_QUAD_ISO writes them into a loom_quad, from its term `first` on. */
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

/* Term l, of the vertices v [4] with weights w [4], with the gradient g, N, at q. */
LK_FN void iso_write_sum(const iso_terms *t, int64_t l, const int32_t *v, const lk_real *w,
                         const lk_real *q, lk_real k, const lk_real *g)
{
  const int64_t at = t->first + l;
  for (int b = 0; b < 4; ++b) {
    t->v[4 * at + b] = v[b];
    t->w[4 * at + b] = w[b];
  }
  t->k[at] = k;
  for (int c = 0; c < 3; ++c) {
    t->p[3 * at + c] = k > LK_R(0.0) ? q[c] - g[c] / k : q[c];
    if (t->dir != NULL) t->dir[3 * at + c] = LK_R(0.0);
  }
}

/* Term l, of the vertex i at x. */
LK_FN void iso_write(const iso_terms *t, int64_t l, int32_t i, const lk_real *x, lk_real k,
                     const lk_real *g)
{
  const int32_t v[4] = {i, -1, -1, -1};
  const lk_real w[4] = {LK_R(1.0), LK_R(0.0), LK_R(0.0), LK_R(0.0)};
  iso_write_sum(t, l, v, w, x, k, g);
}

#endif
