/* hinge_wang.kern.c - kernels of the hinge of measured fabrics. */
#include "elements/hinge_wang/hinge_wang.kern.h"

#define HINGE_REST HINGE_WANG_REST
#include "elements/hinge.kern.h"

#define HINGE_WANG_SPACING LK_R(0.2) /* m: rows for a curvature of 1/m */

/* k_e, N m, of hinge i */
LK_FN lk_real hinge_wang_stiffness(const elem_args *a, lk_int i)
{
  const lk_real *const rest = a->rest + (int64_t)HINGE_WANG_REST * i;
  const lk_real angle = rest[HINGE_WANG_ANGLE], bent = rest[HINGE_WANG_CURVATURE];
  const int side = angle < LK_R(1.0) ? 0 : 1;
  const int row = bent < LK_R(1.0) ? 0 : bent < LK_R(2.0) ? 1 : bent < LK_R(3.0) ? 2 : 3;
  const lk_real *const lo = a->mat + (int64_t)HINGE_WANG_MAT * i + 3 * row + side;
  const lk_real s = angle - (lk_real)side, t = bent - (lk_real)row;
  return (LK_R(1.0) - t) * ((LK_R(1.0) - s) * lo[0] + s * lo[1]) +
         t * ((LK_R(1.0) - s) * lo[3] + s * lo[4]);
}

LK_REDUCE_SUM_PLAIN(hinge_wang_energy, a, i)
{
  return hinge_energy(a, i, hinge_wang_stiffness(a, i));
}

LK_KERNEL_PLAIN(hinge_wang_gradient, a, i) { hinge_gradient(a, i, hinge_wang_stiffness(a, i)); }

LK_KERNEL_PLAIN(hinge_wang_hessian, a, i) { hinge_hessian(a, i, hinge_wang_stiffness(a, i)); }

LK_KERNEL_PLAIN(hinge_wang_move, a, i)
{
  lk_real *const rest = a->rest + (int64_t)HINGE_WANG_REST * i;
  elem_args at;
  hinge_geom q;
  at.x = a->x;
  at.verts = a->verts;
  hinge_geometry(&at, i, &q);
  const lk_real curvature = LK_FABS(q.theta - rest[2]) * rest[0] / (LK_R(2.0) * rest[1]);
  rest[HINGE_WANG_CURVATURE] =
      LK_FMIN(HINGE_WANG_SPACING * curvature, (lk_real)(HINGE_WANG_ROWS - 1));
}

ELEM_CORNER(hinge_wang, 4, HINGE_WANG_REST, HINGE_WANG_MAT)
