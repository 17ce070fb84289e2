/* tet.kern.h - deformation gradient and forces of a tetrahedron, for kernel bodies.
 *
 * rest [10] of element i: Dm^-1 row-major (1/m), volume V (m^3). */
#ifndef LOOM_ELEM_TET_KERN_H
#define LOOM_ELEM_TET_KERN_H

#include "elements/elements.h"
#include "geom/small.kern.h"

/* F [3][3] = [x1-x0, x2-x0, x3-x0] Dm^-1 */
LK_FN void tet_deformation(const elem_args *a, lk_int i, lk_real *F)
{
  lk_real x0[3], x[3], D[9];
  LK_LOAD3(x0, a->x, a->verts[4 * i]);
  LK_UNROLL
  for (int k = 0; k < 3; ++k) {
    LK_LOAD3(x, a->x, a->verts[4 * i + 1 + k]);
    LK_UNROLL
    for (int c = 0; c < 3; ++c) D[3 * c + k] = x[c] - x0[c];
  }
  lk_mul33(D, a->rest + 10 * i, F);
}

/* out [4][3] of tetrahedron i = P G, G the columns of Dm^-T and minus their sum */
LK_FN void tet_scatter(const elem_args *a, lk_int i, const lk_real *P)
{
  const lk_real *B = a->rest + 10 * i;
  LK_UNROLL
  for (int c = 0; c < 3; ++c) {
    const lk_real v1 = lk_dot3(P + 3 * c, B), v2 = lk_dot3(P + 3 * c, B + 3);
    const lk_real v3 = lk_dot3(P + 3 * c, B + 6);
    a->out[12 * i + c] = -(v1 + v2 + v3);
    a->out[12 * i + 3 + c] = v1;
    a->out[12 * i + 6 + c] = v2;
    a->out[12 * i + 9 + c] = v3;
  }
}

/* g [4][3]: row a is the gradient of vertex a's shape function, 1/m */
LK_FN void tet_shape(const elem_args *a, lk_int i, lk_real *g)
{
  LK_UNROLL
  for (int c = 0; c < 3; ++c) {
    g[3 + c] = a->rest[10 * i + c];
    g[6 + c] = a->rest[10 * i + 3 + c];
    g[9 + c] = a->rest[10 * i + 6 + c];
    g[c] = -(g[3 + c] + g[6 + c] + g[9 + c]);
  }
}

#endif
