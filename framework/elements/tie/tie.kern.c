/* tie.kern.c - kernels of the tie element. */
#include "elements/tie/tie.kern.h"

#include "geom/small.kern.h"

/* A as a row of five weights. */
LK_FN void tie_row(const elem_args *a, lk_int i, lk_real *w)
{
  w[0] = LK_R(1.0);
  LK_UNROLL
  for (int v = 1; v < TIE_ARITY; ++v) w[v] = -a->mat[TIE_MAT * i + TIE_WEIGHTS + v - 1];
}

/* d = A x; returns |d|. */
LK_FN lk_real tie_offset(const elem_args *a, lk_int i, lk_real *d)
{
  lk_real w[TIE_ARITY], x[3];
  tie_row(a, i, w);
  for (int c = 0; c < 3; ++c) d[c] = LK_R(0.0);
  for (int v = 0; v < TIE_ARITY; ++v) {
    LK_LOAD3(x, a->x, a->verts[TIE_ARITY * i + v]);
    for (int c = 0; c < 3; ++c) d[c] += w[v] * x[c];
  }
  return lk_norm3(d);
}

/* By how much the thread is too long, as a share of |d|: 1 - L/|d|, 0 where it is loose. */
LK_FN lk_real tie_share(lk_real len, lk_real L) { return len > L ? (len - L) / len : LK_R(0.0); }

LK_REDUCE_SUM_PLAIN(tie_energy, a, i)
{
  lk_real d[3];
  const lk_real r = tie_offset(a, i, d) - a->mat[TIE_MAT * i + TIE_LENGTH];
  return r > LK_R(0.0) ? LK_R(0.5) * a->mat[TIE_MAT * i + TIE_K] * r * r : LK_R(0.0);
}

LK_KERNEL_PLAIN(tie_gradient, a, i)
{
  lk_real d[3], w[TIE_ARITY];
  const lk_real k = a->mat[TIE_MAT * i + TIE_K], L = a->mat[TIE_MAT * i + TIE_LENGTH];
  const lk_real len = tie_offset(a, i, d), f = k * tie_share(len, L);
  tie_row(a, i, w);
  if (a->energy) a->energy[i] = len > L ? LK_R(0.5) * k * (len - L) * (len - L) : LK_R(0.0);
  for (int v = 0; v < TIE_ARITY; ++v)
    for (int c = 0; c < 3; ++c) a->out[3 * TIE_ARITY * (int64_t)i + 3 * v + c] = w[v] * f * d[c];
}

/* k (n n' + s (I - n n')) with s = 1 - L/|d| and n = d/|d|, between the weights of A: semidefinite
 */
LK_KERNEL_PLAIN(tie_hessian, a, i)
{
  enum { ROWS = 3 * TIE_ARITY };
  lk_real d[3], w[TIE_ARITY];
  lk_real *H = a->out + (int64_t)ROWS * ROWS * i;
  const lk_real k = a->mat[TIE_MAT * i + TIE_K], L = a->mat[TIE_MAT * i + TIE_LENGTH];
  const lk_real len = tie_offset(a, i, d);
  const int tight = len > L, closed = !(L > LK_R(0.0));
  const lk_real s = closed ? LK_R(1.0) : tie_share(len, L);
  const lk_real q = tight && !closed ? (LK_R(1.0) - s) / (len * len) : LK_R(0.0);
  tie_row(a, i, w);
  for (int c = 0; c < 3; ++c)
    for (int e = 0; e < 3; ++e) {
      const lk_real b = k * ((c == e ? s : LK_R(0.0)) + q * (d[c] * d[e]));
      for (int u = 0; u < TIE_ARITY; ++u)
        for (int v = 0; v < TIE_ARITY; ++v) H[ROWS * (3 * u + c) + 3 * v + e] = w[u] * w[v] * b;
    }
}

LK_KERNEL_PLAIN(tie_project, a, i)
{
  lk_real d[3], w[TIE_ARITY];
  const lk_real len = tie_offset(a, i, d);
  const lk_real near = LK_R(1.0) - tie_share(len, a->mat[TIE_MAT * i + TIE_LENGTH]);
  const lk_real f = a->mat[TIE_MAT * i + TIE_K] * near;
  tie_row(a, i, w);
  for (int v = 0; v < TIE_ARITY; ++v)
    for (int c = 0; c < 3; ++c) a->out[3 * TIE_ARITY * (int64_t)i + 3 * v + c] = w[v] * f * d[c];
}

LK_KERNEL_PLAIN(tie_weights, a, i)
{
  lk_real w[TIE_ARITY];
  tie_row(a, i, w);
  for (int u = 0; u < TIE_ARITY; ++u)
    for (int v = 0; v < TIE_ARITY; ++v)
      a->out[TIE_ARITY * TIE_ARITY * (int64_t)i + TIE_ARITY * u + v] =
          a->mat[TIE_MAT * i + TIE_K] * (w[u] * w[v]);
}

ELEM_LISTED(tie, TIE_ARITY, 0, TIE_MAT)
ELEM_CORNER(tie, TIE_ARITY, 0, TIE_MAT)
