/* hinge_fold.kern.c - kernels of the hinge that keeps folds. */
#include "elements/hinge_fold/hinge_fold.kern.h"

#define HINGE_REST HINGE_FOLD_REST
#include "elements/hinge.kern.h"

LK_REDUCE_SUM_PLAIN(hinge_fold_energy, a, i)
{
  return hinge_energy(a, i, a->mat[HINGE_FOLD_MAT * i]);
}

LK_KERNEL_PLAIN(hinge_fold_gradient, a, i) { hinge_gradient(a, i, a->mat[HINGE_FOLD_MAT * i]); }

LK_KERNEL_PLAIN(hinge_fold_hessian, a, i) { hinge_hessian(a, i, a->mat[HINGE_FOLD_MAT * i]); }

LK_KERNEL_PLAIN(hinge_fold_move, a, i)
{
  lk_real *const rest = a->rest + (int64_t)HINGE_FOLD_REST * i;
  const lk_real *const mat = a->mat + (int64_t)HINGE_FOLD_MAT * i;
  elem_args at;
  hinge_geom q;
  at.x = a->x;
  at.verts = a->verts;
  hinge_geometry(&at, i, &q);
  const lk_real bent = q.theta - rest[2], yield = mat[1] * LK_R(2.0) * rest[1] / rest[0];
  const lk_real move =
      LK_FMAX(LK_FABS(bent) - yield - mat[2] * rest[3], LK_R(0.0)) / (LK_R(1.0) + mat[2]);
  rest[2] += bent < LK_R(0.0) ? -move : move;
  rest[3] += move;
}

ELEM_CORNER(hinge_fold, 4, HINGE_FOLD_REST, HINGE_FOLD_MAT)
