/* pair_energy.kern.h - an energy that is a sum over active pairs of m b(D): b a function of the
 * squared distance D alone, m the mollifier of nearly parallel edges (geom/barrier.kern.h), else 1.
 * Of a vertex and a body D has the sign of the distance.
 *
 * The model supplies b; the headers below make its kernels.  In its kernel header and its kernel
 * file:
 *
 *   PAIR_DECLARE(my_model)                  my_model_energy, ...
 *   PAIR_DECLARE_MOLLIFIED(my_model)        my_model_mollified, unless it is always Gauss-Newton
 *
 *   LK_FN void my_law(const lk_real *number, lk_real xi, lk_real D, lk_real *b) { ... }
 *   #define PAIR(name) my_model_##name
 *   #define PAIR_LAW my_law
 *   #include "kit/pair_energy_body.kern.h"
 *   #include "kit/pair_mollified_body.kern.h"
 *
 * number: PAIR_NUMBERS of the model's own; xi: sum of both radii, m; b: value, J, and its first two
 * derivatives in D. */
#ifndef KIT_PAIR_ENERGY_KERN_H
#define KIT_PAIR_ENERGY_KERN_H

#include "kit/cand_point.kern.h"

enum { PAIR_NUMBERS = 5 };

typedef struct pair_args {
  cand_state s;
  const int32_t *LK_RESTRICT list;     /* [active] candidates */
  const int64_t *LK_RESTRICT at;       /* [m+1] first corner of a candidate */
  lk_real *LK_RESTRICT force;          /* [corners][3] N, out: gradient per corner */
  const int64_t *LK_RESTRICT at_block; /* [active+1] */
  int64_t first;                       /* blocks already there */
  int32_t *LK_RESTRICT row;
  int32_t *LK_RESTRICT col;
  lk_real *LK_RESTRICT val; /* [.][3][3] N/m */
  int32_t how;              /* LOOM_HESS_* */
  int32_t gauss_newton;     /* 1: without the curvature of the distance */
  int32_t flat;             /* 1: pairs of vertices are without it, also where gauss_newton is 0 */
  lk_real number[PAIR_NUMBERS];
  /* Factors on number[0], one per object: a pair takes the least factor of its vertices' objects;
   * NULL: 1 */
  const int32_t *LK_RESTRICT object; /* [n] */
  const lk_real *LK_RESTRICT share;  /* [num_objects] */
  /* A further factor on number[0], one per candidate; NULL: 1 */
  const lk_real *LK_RESTRICT each; /* [m] */
} pair_args;

/* For a law of the gap alone: the gap of a pair with the squared distance D, m; its distance in *d.
 */
LK_FN lk_real pair_gap(lk_real xi, lk_real D, lk_real *d)
{
  *d = LK_SQRT(D);
  return (D - xi * xi) / (*d + xi);
}

/* The law's b from e, value and derivatives in the gap of a pair at the distance d: with D = d |d|
 * b' = e' / (2 |d|), b'' = (e'' - e' / |d|) / (4 D). */
LK_FN void pair_law_of_gap(lk_real d, lk_real D, const lk_real *e, lk_real *b)
{
  b[0] = e[0];
  b[1] = LK_R(0.5) * e[1] / d;
  b[2] = LK_R(0.25) * (e[2] - e[1] / d) / D;
}

/* The numbers of candidate c. */
LK_FN void pair_numbers(const pair_args *a, lk_int c, lk_real *number)
{
  lk_real least = LK_REAL_MAX;
  for (int k = 0; k < PAIR_NUMBERS; ++k) number[k] = a->number[k];
  if (a->each) number[0] *= a->each[c];
  if (!a->share) return;
  for (int k = 0; k < 4; ++k) {
    const int32_t i = a->s.v[4 * c + k];
    if (i < 0 || i >= a->s.n) continue; /* of a body */
    if (a->share[a->object[i]] < least) least = a->share[a->object[i]];
  }
  if (least < LK_REAL_MAX) number[0] *= least;
}

#define PAIR_DECLARE(model)                                              \
  LK_DECLARE(model##_energy, pair_args)    /* sum of m b, J */           \
  LK_DECLARE(model##_strongest, pair_args) /* largest normal force, N */ \
  LK_DECLARE(model##_force, pair_args)     /* gradient per corner */     \
  LK_DECLARE(model##_hessian, pair_args)   /* blocks of the corners */
/* Blocks of nearly parallel edges, which model_hessian leaves out unless `flat` is set. */
#define PAIR_DECLARE_MOLLIFIED(model) LK_DECLARE(model##_mollified, pair_args)

#endif
