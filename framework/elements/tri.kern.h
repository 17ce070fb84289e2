/* tri.kern.h - common part of the triangle elements: F = [x1-x0, x2-x0] Dm^-1 and F' = G x. */
#ifndef LOOM_ELEM_TRI_KERN_H
#define LOOM_ELEM_TRI_KERN_H

#include "elements/elements.h"
#include "geom/small.kern.h"

/* rest [TRI_REST]: Dm^-1 row-major (1/m), det > 0, then data of the type, which defines TRI_REST
 * before it includes this header.  Four reals alone make a stride that vectorises. */
#ifndef TRI_REST
#define TRI_REST 4
#endif

/* Rest area, m^2 */
LK_FN lk_real tri_rest_area(const elem_args *a, lk_int i)
{
  const lk_real *const D = a->rest + TRI_REST * i;
  return LK_R(0.5) / (D[0] * D[3] - D[1] * D[2]);
}

/* Columns f0 = dx/du, f1 = dx/dv of F (3x2) of triangle i. */
LK_FN void tri_deformation(const elem_args *a, lk_int i, lk_real *f0, lk_real *f1)
{
  lk_real x0[3], x1[3], x2[3];
  LK_LOAD3(x0, a->x, a->verts[3 * i]);
  LK_LOAD3(x1, a->x, a->verts[3 * i + 1]);
  LK_LOAD3(x2, a->x, a->verts[3 * i + 2]);
  const lk_real d00 = a->rest[TRI_REST * i], d01 = a->rest[TRI_REST * i + 1];
  const lk_real d10 = a->rest[TRI_REST * i + 2], d11 = a->rest[TRI_REST * i + 3];
  LK_UNROLL
  for (int c = 0; c < 3; ++c) {
    const lk_real e1 = x1[c] - x0[c], e2 = x2[c] - x0[c];
    f0[c] = e1 * d00 + e2 * d10;
    f1[c] = e1 * d01 + e2 * d11;
  }
}

/* g [3][2]: row a is column a of the G of F^T = G [x0^T; x1^T; x2^T]; 1/m. */
LK_FN void tri_shape(const elem_args *a, lk_int i, lk_real *g)
{
  LK_UNROLL
  for (int j = 0; j < 2; ++j) {
    g[2 + j] = a->rest[TRI_REST * i + j];
    g[4 + j] = a->rest[TRI_REST * i + 2 + j];
    g[j] = -(g[2 + j] + g[4 + j]);
  }
}

/* out [3][3] of triangle i = [p0, p1] G: vertex vectors of a 3x2 matrix with columns p0, p1.
 * Vertex 0 gets minus the sum of the others: no net force in floating point either. */
LK_FN void tri_scatter(const elem_args *a, lk_int i, const lk_real *p0, const lk_real *p1)
{
  const lk_real d00 = a->rest[TRI_REST * i], d01 = a->rest[TRI_REST * i + 1];
  const lk_real d10 = a->rest[TRI_REST * i + 2], d11 = a->rest[TRI_REST * i + 3];
  LK_UNROLL
  for (int c = 0; c < 3; ++c) {
    const lk_real v1 = p0[c] * d00 + p1[c] * d01, v2 = p0[c] * d10 + p1[c] * d11;
    a->out[9 * i + c] = -(v1 + v2);
    a->out[9 * i + 3 + c] = v1;
    a->out[9 * i + 6 + c] = v2;
  }
}

#endif
