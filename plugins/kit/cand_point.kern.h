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
 * weights of the corners, 0 for corners that are no vertices.  Of an element (EO) it is the deepest
 * point at x, so the derivative of the distance with respect to corner b is w_b g there, too: a
 * point that slides along the element does so without a slope. */
LK_FN lk_real cand_point(const cand_state *s, lk_int c, lk_real *w, lk_real *g)
{
  const int element = s->kind[c] == LOOM_PAIR_EO;
  w[0] = element ? s->weight[4 * s->row[c]] : LK_R(1.0);
  for (int b = 1; b < 4; ++b) w[b] = element ? s->weight[4 * s->row[c] + b] : LK_R(0.0);
  LK_LOAD3(g, s->slope, s->row[c]);
  return s->gap[s->row[c]];
}

/* Factor of the law of candidate c, constant within a step (element_share.h). */
LK_FN lk_real cand_share(const cand_state *s, lk_int c)
{
  return s->share != NULL ? s->share[c] : LK_R(1.0);
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

/* ---- sliding ----
 * The deepest point q = sum w_b x_b of an element slides along it as corners move.  With the edges
 * e_k = x_k - x_0 from one of the corners that have a weight, w_k the weight of e_k's end, g and C
 * gradient and Hessian of the body's distance at q, the Hessian of the least distance has the
 * blocks
 *
 *   w_i w_j C - sum_kl B_ik (S^-1)_kl B_jl',   B_ik = w_i C e_k + (dw_i/dw_k) g,   S_kl = e_k' C
 * e_l
 *
 * (implicit function theorem for g.e_k = 0).  The second part only lowers the distance: a force
 * that pushes out of the body makes it a stiffness that is never negative. */
typedef struct cand_slide {
  int32_t num;     /* directions; 0: the point does not slide */
  lk_real B[4][6]; /* B L'^-1 for each corner, L L' = S; [k][3] */
} cand_slide;

/* Directions that bend by less than this share of what the body bends by elsewhere do not count as
 * bent: there the deepest point is not unique. */
#define CAND_BENT LK_R(1e-6)

/* L [3] of S = L L' (L00, L10, L11); 0: a direction is not bent. */
LK_FN int cand_factor_bend(const lk_real *C, int num, const lk_real *e, const lk_real *Ce,
                           lk_real *L)
{
  lk_real most = LK_R(0.0), S[3];
  for (int i = 0; i < 9; ++i) most += C[i] * C[i];
  most = CAND_BENT * LK_SQRT(most);
  S[0] = lk_dot3(e, Ce);
  if (!(S[0] > most * lk_dot3(e, e))) return 0;
  L[0] = LK_SQRT(S[0]);
  if (num < 2) return 1;
  S[1] = lk_dot3(e + 3, Ce);
  S[2] = lk_dot3(e + 3, Ce + 3);
  L[1] = S[1] / L[0];
  S[2] -= L[1] * L[1];
  if (!(S[2] > most * lk_dot3(e + 3, e + 3))) return 0;
  L[2] = LK_SQRT(S[2]);
  return 1;
}

/* w, g: of cand_point(). */
LK_FN void cand_slide_of(const cand_state *s, lk_int c, const lk_real *w, const lk_real *g,
                         cand_slide *out)
{
  const lk_real *const C = cand_point_curve(s, c);
  lk_real x[12], e[6], Ce[6], L[3] = {LK_R(1.0), LK_R(0.0), LK_R(1.0)};
  int at[4], corners = 0;
  out->num = 0;
  for (int b = 0; b < 4; ++b)
    if (s->v[4 * c + b] >= 0 && w[b] > LK_R(0.0)) at[corners++] = b;
  if (corners < 2) return;
  cand_point_corners(s, c, x);
  for (int k = 0; k < corners - 1; ++k) {
    lk_sub3(x + 3 * at[k + 1], x + 3 * at[0], e + 3 * k);
    for (int r = 0; r < 3; ++r) Ce[3 * k + r] = lk_dot3(C + 3 * r, e + 3 * k);
  }
  if (!cand_factor_bend(C, corners - 1, e, Ce, L)) return;
  out->num = corners - 1;
  for (int b = 0; b < 4; ++b)
    for (int k = 0; k < out->num; ++k) {
      const lk_real dw = b == at[k + 1] ? LK_R(1.0) : b == at[0] ? LK_R(-1.0) : LK_R(0.0);
      lk_real *const B = out->B[b] + 3 * k;
      for (int r = 0; r < 3; ++r) {
        B[r] = w[b] * Ce[3 * k + r] + dw * g[r];
        if (k > 0) B[r] -= L[1] * B[r - 3];
        B[r] /= k > 0 ? L[2] : L[0];
      }
    }
}

/* Block of corners i and j of sum_kl B_ik (S^-1)_kl B_jl', times f, added to H [3][3]. */
LK_FN void cand_slide_block(const cand_slide *S, int i, int j, lk_real f, lk_real *H)
{
  for (int k = 0; k < S->num; ++k)
    for (int n = 0; n < 9; ++n) H[n] += f * S->B[i][3 * k + n / 3] * S->B[j][3 * k + n % 3];
}

#endif
