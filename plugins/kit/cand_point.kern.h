/* cand_point.kern.h - candidates that are a point of cloth and the exact shape of a body
 * (pair_is_point()).
 *
 * The point is sum_b w_b x_b over the corners b of the candidate that are vertices; the w_b are not
 * negative and their sum is 1.  Laws, friction and quadratic forms are written for such points:
 * the derivative with respect to corner b is w_b times the one with respect to the point. */
#ifndef KIT_CAND_POINT_KERN_H
#define KIT_CAND_POINT_KERN_H

#include "kit/candidates.kern.h"

/* Signed distance of the point of candidate c and its body, m; g [3] its gradient, 1; w [4] the
 * weights of the corners, 0 for corners that are no vertices. */
LK_FN lk_real cand_point(const cand_state *s, lk_int c, lk_real *w, lk_real *g)
{
  w[0] = LK_R(1.0);
  w[1] = w[2] = w[3] = LK_R(0.0);
  LK_LOAD3(g, s->slope, s->row[c]);
  return s->gap[s->row[c]];
}

/* Hessian of this distance with respect to the point, [3][3] 1/m. */
LK_FN const lk_real *cand_point_curve(const cand_state *s, lk_int c)
{
  return s->curve + 9 * s->row[c];
}

/* Positions of the corners of candidate c, x [4][3] m; corners that are no vertices are left out.
 */
LK_FN void cand_point_corners(const cand_state *s, lk_int c, lk_real *x)
{
  for (int b = 0; b < 4; ++b)
    if (s->v[4 * c + b] >= 0) LK_LOAD3(x + 3 * b, s->x, s->v[4 * c + b]);
}

/* The point, m, of the weights w. */
LK_FN void cand_point_at(const cand_state *s, lk_int c, const lk_real *w, lk_real *p)
{
  LK_LOAD3(p, s->x, s->v[4 * c]);
  for (int k = 0; k < 3; ++k) p[k] *= w[0];
  for (int b = 1; b < 4; ++b) {
    const int32_t i = s->v[4 * c + b];
    for (int k = 0; k < 3 && i >= 0; ++k) p[k] += w[b] * s->x[3 * i + k];
  }
}

#endif
