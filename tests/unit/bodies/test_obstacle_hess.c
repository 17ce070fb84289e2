/* test_obstacle_hess.c - gradient and Hessian of the signed distance by finite differences. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "bodies/body.h"
#include "bodies/shapes.kern.h"
#include "support/shapes.h"
#include "support/test_host.h"

enum { GRID = 13 };
static loom_real values[GRID * GRID * GRID];

/* A wavy field that is negative on part of one side of the grid. */
static obst_view create_wavy_view(int k)
{
  static char a_buffer; /* only its being there matters */
  static const double axis[3] = {0.6, 0, 0.8}, t0[3] = {0.1, 0.2, 0}, t1[3] = {0.2, 0, 0.1};
  const loom_real *const sizes = shapes_sizes(body_kind_at(k)->name);
  cr_assert(sizes != NULL, "no sizes of a %s in support/shapes.h", body_kind_at(k)->name);
  loom_obstacle o = th_obstacle(body_kind_at(k)->name, sizes, 8);
  obst_view v;
  th_pose(o.pose0, axis, 0.3, t0);
  th_pose(o.pose1, axis, 0.9, t1);
  if (k == BODY_SHAPE_grid) {
    o.sdf = (loom_buf *)(void *)&a_buffer;
    o.spacing = 0.1;
    for (int c = 0; c < 3; ++c) {
      o.dims[c] = GRID;
      o.origin[c] = -0.6;
    }
    for (int i = 0; i < GRID * GRID * GRID; ++i)
      values[i] = 0.1 * (i / GRID / GRID) - 0.5 + 0.05 * sin(2.0 * (i % GRID)) +
                  0.04 * cos(1.7 * (i / GRID % GRID));
  }
  cr_assert(obst_view_fill(&o, &v) == NULL);
  v.sdf = values;
  return v;
}

Test(obstacle_hess, derivatives_by_differences)
{
  uint64_t seed = 7;
  for (int k = 0; k < BODY_NUM_SHAPES; ++k) {
    const obst_view v = create_wavy_view(k);
    const double e = 1e-6;
    obst_pose P;
    int used = 0;
    obst_pose_at(&v, 0.4, &P);
    for (int n = 0; n < 3000; ++n) {
      lk_real x[3], g[3], C[9], gp[3], gm[3], Cp[9], Cm[9], normal[3];
      int kink = 0;
      for (int c = 0; c < 3; ++c) x[c] = th_random(&seed);
      const double f = obst_hess(&v, &P, x, g, C);
      cr_assert(fabs(f - obst_distance(&v, &P, x, normal)) < 1e-14);
      double len = 0.0, size = 1.0;
      for (int c = 0; c < 3; ++c) len += g[c] * g[c];
      for (int i = 0; i < 9; ++i) size = fmax(size, fabs(C[i]));
      for (int c = 0; c < 3; ++c)
        cr_assert(fabs(g[c] / sqrt(len) - normal[c]) < 1e-12, "shape %d: the normal", k);
      if (size > 50) continue; /* close to an axis or centre: differences see more */
      for (int i = 0; i < 3; ++i) {
        lk_real y[3] = {x[0], x[1], x[2]};
        y[i] = x[i] + e;
        const double hi = obst_hess(&v, &P, y, gp, Cp);
        y[i] = x[i] - e;
        const double lo = obst_hess(&v, &P, y, gm, Cm);
        for (int j = 0; j < 9; ++j) kink |= fabs(Cp[j] - Cm[j]) > 1e-3 * size * size;
        if (kink) break; /* another face or cell */
        cr_assert(fabs((hi - lo) / (2 * e) - g[i]) < 1e-8 * size, "shape %d: %g, want %g", k, g[i],
                  (hi - lo) / (2 * e));
        for (int j = 0; j < 3; ++j)
          cr_assert(fabs((gp[j] - gm[j]) / (2 * e) - C[3 * j + i]) < 1e-7 * size * size,
                    "shape %d, point %d, %d %d: %g, want %g", k, n, j, i, C[3 * j + i],
                    (gp[j] - gm[j]) / (2 * e));
      }
      used += !kink;
    }
    cr_expect(used > 2500, "shape %d: only %d", k, used);
  }
}
