/* features.kern.c - see features.kern.h. */
#include "features.kern.h"

LK_FN int edges_act(const cand_state *s, lk_int c)
{
  lk_real x[12], w[4];
  (void)cand_pair(s, c, x, w);
  return w[0] > FEATURE_BORDER && w[1] > FEATURE_BORDER && -w[2] > FEATURE_BORDER &&
         -w[3] > FEATURE_BORDER;
}

LK_KERNEL_PLAIN(cama_keep, a, c)
{
  if (!a->flag[c]) return;
  if (pair_is_edges(a->s.kind[c]))
    a->flag[c] = edges_act(&a->s, c);
  else if (a->keep == CAMA_KEEP_ACTING && feature_is_triangle(a->s.kind[c]))
    a->flag[c] = feature_acts(&a->f, &a->s, a->key, c);
}

/* ---- shared features ---- */

#define PAIR(name) cama_##name
#define PAIR_LAW   cama_law
#include "kit/feature_terms_body.kern.h"

LK_REDUCE_SUM(cama_kind, a, i)
{
  const int32_t kind = a->kind[a->list[i]];
  const int counts = a->edges ? pair_is_edges(kind) : feature_is_triangle(kind);
  return counts ? LK_R(1.0) : LK_R(0.0);
}
