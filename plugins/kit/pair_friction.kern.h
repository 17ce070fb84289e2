/* pair_friction.kern.h - coefficients of friction of named pairs (loom/pair_friction.h), for
 * kernels. */
#ifndef KIT_PAIR_FRICTION_KERN_H
#define KIT_PAIR_FRICTION_KERN_H

#include "kit/pair_kinds.kern.h"

typedef struct pair_friction {
  const lk_real *LK_RESTRICT mu;     /* [objects + bodies][objects] 1, < 0: not named; NULL: none */
  const int32_t *LK_RESTRICT object; /* [n] */
  int32_t num_objects, n;
} pair_friction;

/* Coefficient of row i (an object, or num_objects + obstacle) and object j; `otherwise` where the
 * pair is not named. */
LK_FN lk_real pair_friction_of(const pair_friction *p, int32_t i, int32_t j, lk_real otherwise)
{
  const lk_real mu = p->mu[(int64_t)i * p->num_objects + j];
  return mu >= LK_R(0.0) ? mu : otherwise;
}

/* The same of vertex i of the scene and an obstacle. */
LK_FN lk_real pair_friction_on(const pair_friction *p, int64_t i, int32_t obst, lk_real otherwise)
{
  if (!p->mu) return otherwise;
  return pair_friction_of(p, p->num_objects + obst, p->object[i], otherwise);
}

/* The same of a pair of detection, v [4], -1: no vertex; obst: its body, or -1. */
LK_FN lk_real pair_friction_at(const pair_friction *p, int32_t kind, const int32_t *v, int32_t obst,
                               lk_real otherwise)
{
  int32_t a = v[0];
  if (!p->mu) return otherwise;
  if (obst < 0)
    return pair_friction_of(p, p->object[a], p->object[v[pair_first_side(kind, v)]], otherwise);
  for (int k = 1; k < 4 && a >= p->n; ++k) a = v[k]; /* the body's vertices may stand first */
  return pair_friction_on(p, a, obst, otherwise);
}

#endif
