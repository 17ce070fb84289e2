/* baked.kern.h - a body that bends, its distance interpolated on grids that are baked anew: one for
 * each end of the step, and evenly in between. */
#ifndef LOOM_BODIES_BAKED_KERN_H
#define LOOM_BODIES_BAKED_KERN_H

#include "bodies/bend.kern.h"
#include "bodies/grid.kern.h"

typedef struct baked_grid {
  lk_real origin[3], spacing; /* m, body frame, node (0,0,0) */
  int32_t dims[3];
  int64_t at; /* values in the own array, real [dims2][dims1][dims0], m */
} baked_grid;

typedef struct baked_field {
  bend_head b;
  baked_grid end[2];
} baked_field;

LK_FN void baked_view(const baked_field *f, int end, obst_view *v)
{
  const baked_grid *const g = &f->end[end];
  for (int c = 0; c < 3; ++c) {
    v->origin[c] = g->origin[c];
    v->dims[c] = g->dims[c];
  }
  v->spacing = g->spacing;
  v->sdf = (const lk_real *)(const void *)((const unsigned char *)f + f->b.own_at) + g->at;
}

/* Share of the step, within it. */
LK_FN lk_real baked_share(lk_real s) { return LK_FMIN(LK_FMAX(s, LK_R(0.0)), LK_R(1.0)); }

LK_FN lk_real baked_hess(const obst_view *o, lk_real s, const lk_real *p, lk_real *g, lk_real *C)
{
  const baked_field *const f = (const baked_field *)o->field;
  const lk_real share[2] = {LK_R(1.0) - baked_share(s), baked_share(s)};
  lk_real value = LK_R(0.0);
  for (int c = 0; c < 3; ++c) g[c] = LK_R(0.0);
  for (int i = 0; i < 9; ++i) C[i] = LK_R(0.0);
  for (int end = 0; end < 2; ++end) {
    obst_view v;
    lk_real own[3], bent[9];
    if (!(share[end] > LK_R(0.0))) continue;
    baked_view(f, end, &v);
    value += share[end] * grid_hess(&v, p, own, bent);
    for (int c = 0; c < 3; ++c) g[c] += share[end] * own[c];
    for (int i = 0; i < 9; ++i) C[i] += share[end] * bent[i];
  }
  return value;
}

LK_FN lk_real baked_distance(const obst_view *o, lk_real s, const lk_real *p, lk_real *n)
{
  const lk_real up[3] = {LK_R(0.0), LK_R(0.0), LK_R(1.0)};
  lk_real g[3], C[9];
  const lk_real value = baked_hess(o, s, p, g, C);
  (void)obst_unit(g, up, n);
  return value;
}

LK_FN lk_real baked_value(const obst_view *o, lk_real s, const lk_real *p)
{
  lk_real g[3], C[9];
  return baked_hess(o, s, p, g, C);
}

#endif
