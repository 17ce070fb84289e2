/* tri_wang.kern.c - kernels of the membrane of measured fabrics. */
#include "elements/tri_wang/tri_wang.kern.h"

#define TRI_REST WANG_REST
#include "elements/green.kern.h"

#define WANG_PER_QUARTER LK_R(2.546479089470325) /* 8/pi: steps of angle in a radian */

/* k [4], N/m, of triangle i */
LK_FN void wang_moduli(const elem_args *a, lk_int i, lk_real *k)
{
  const lk_real *const rows = a->mat + (int64_t)WANG_MAT * i;
  const lk_real t = a->rest[WANG_REST * i + WANG_SHARE],
                angle = a->rest[WANG_REST * i + WANG_ANGLE];
  const int first = angle < LK_R(1.0) ? 0 : angle < LK_R(2.0) ? 1 : angle < LK_R(3.0) ? 2 : 3;
  const lk_real f = angle - (lk_real)first;
  const lk_real *const lo = rows + 4 + 4 * first, *const hi = lo + 4;
  LK_UNROLL
  for (int j = 0; j < 4; ++j) {
    const lk_real far = (LK_R(1.0) - f) * lo[j] + f * hi[j];
    k[j] = LK_R(2.0) * LK_FMAX((LK_R(1.0) - t) * rows[j] + t * far, LK_R(0.0));
  }
}

LK_REDUCE_SUM_PLAIN(tri_wang_energy, a, i)
{
  lk_real k[4];
  wang_moduli(a, i, k);
  return green_energy(a, i, k);
}

LK_KERNEL_PLAIN(tri_wang_gradient, a, i)
{
  lk_real k[4];
  wang_moduli(a, i, k);
  green_gradient(a, i, k);
}

LK_KERNEL_PLAIN(tri_wang_hessian, a, i)
{
  lk_real k[4];
  wang_moduli(a, i, k);
  green_hessian(a, i, k);
}

LK_KERNEL_PLAIN(tri_wang_move, a, i)
{
  elem_args at;
  lk_real f0[3], f1[3], l[2], c, s;
  at.x = a->x;
  at.verts = a->verts;
  at.rest = a->rest;
  tri_deformation(&at, i, f0, f1);
  lk_sym2_eig(lk_dot3(f0, f0), lk_dot3(f0, f1), lk_dot3(f1, f1), l, &c, &s);
  const lk_real share = LK_R(6.0) * (LK_SQRT(LK_FMAX(l[0], LK_R(0.0))) - LK_R(1.0));
  const lk_real angle = WANG_PER_QUARTER * LK_ATAN2(LK_FABS(s), LK_FABS(c));
  a->rest[WANG_REST * i + WANG_SHARE] = LK_FMIN(LK_FMAX(share, LK_R(0.0)), LK_R(1.0));
  a->rest[WANG_REST * i + WANG_ANGLE] = LK_FMIN(angle, LK_R(4.0));
}

ELEM_CORNER(tri_wang, 3, WANG_REST, WANG_MAT)
