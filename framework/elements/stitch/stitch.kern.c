/* stitch.kern.c - kernels of the stitch element. */
#include "elements/stitch/stitch.kern.h"

#include "geom/small.kern.h"

/* A as a row of three weights. */
LK_FN void stitch_row(const elem_args *a, lk_int i, lk_real *w)
{
  const lk_real t = a->mat[STITCH_MAT * i + STITCH_T];
  w[0] = LK_R(1.0);
  w[1] = t - LK_R(1.0);
  w[2] = -t;
}

/* d = A x; returns |d|. */
LK_FN lk_real stitch_offset(const elem_args *a, lk_int i, lk_real *d)
{
  lk_real w[3], x0[3], x1[3], x2[3];
  stitch_row(a, i, w);
  LK_LOAD3(x0, a->x, a->verts[3 * i]);
  LK_LOAD3(x1, a->x, a->verts[3 * i + 1]);
  LK_LOAD3(x2, a->x, a->verts[3 * i + 2]);
  LK_UNROLL
  for (int c = 0; c < 3; ++c) d[c] = w[0] * x0[c] + w[1] * x1[c] + w[2] * x2[c];
  return lk_norm3(d);
}

/* By how much the thread is too long, as a share of |d|: 1 - L/|d|, 0 where it is loose. */
LK_FN lk_real stitch_share(lk_real len, lk_real L) { return len > L ? (len - L) / len : LK_R(0.0); }

LK_REDUCE_SUM_PLAIN(stitch_energy, a, i)
{
  lk_real d[3];
  const lk_real r = stitch_offset(a, i, d) - a->mat[STITCH_MAT * i + STITCH_LENGTH];
  return r > LK_R(0.0) ? LK_R(0.5) * a->mat[STITCH_MAT * i + STITCH_K] * r * r : LK_R(0.0);
}

LK_KERNEL_PLAIN(stitch_gradient, a, i)
{
  lk_real d[3], w[3];
  const lk_real k = a->mat[STITCH_MAT * i + STITCH_K];
  const lk_real L = a->mat[STITCH_MAT * i + STITCH_LENGTH];
  const lk_real len = stitch_offset(a, i, d), f = k * stitch_share(len, L);
  stitch_row(a, i, w);
  if (a->energy) a->energy[i] = len > L ? LK_R(0.5) * k * (len - L) * (len - L) : LK_R(0.0);
  LK_UNROLL
  for (int v = 0; v < 3; ++v) {
    LK_UNROLL
    for (int c = 0; c < 3; ++c) a->out[9 * i + 3 * v + c] = w[v] * f * d[c];
  }
}

/* k (n n' + s (I - n n')) with s = 1 - L/|d| and n = d/|d|, between the weights of A: semidefinite
 */
LK_KERNEL_PLAIN(stitch_hessian, a, i)
{
  lk_real d[3], w[3];
  lk_real *H = a->out + (int64_t)81 * i;
  const lk_real k = a->mat[STITCH_MAT * i + STITCH_K];
  const lk_real L = a->mat[STITCH_MAT * i + STITCH_LENGTH];
  const lk_real len = stitch_offset(a, i, d);
  const int tight = len > L, closed = !(L > LK_R(0.0));
  const lk_real s = closed ? LK_R(1.0) : stitch_share(len, L);
  const lk_real q = tight && !closed ? (LK_R(1.0) - s) / (len * len) : LK_R(0.0);
  stitch_row(a, i, w);
  for (int c = 0; c < 3; ++c)
    for (int e = 0; e < 3; ++e) {
      const lk_real b = k * ((c == e ? s : LK_R(0.0)) + q * (d[c] * d[e]));
      for (int u = 0; u < 3; ++u)
        for (int v = 0; v < 3; ++v) H[9 * (3 * u + c) + 3 * v + e] = w[u] * w[v] * b;
    }
}

LK_KERNEL_PLAIN(stitch_project, a, i)
{
  lk_real d[3], w[3];
  const lk_real len = stitch_offset(a, i, d);
  const lk_real near = LK_R(1.0) - stitch_share(len, a->mat[STITCH_MAT * i + STITCH_LENGTH]);
  const lk_real f = a->mat[STITCH_MAT * i + STITCH_K] * near;
  stitch_row(a, i, w);
  LK_UNROLL
  for (int v = 0; v < 3; ++v) {
    LK_UNROLL
    for (int c = 0; c < 3; ++c) a->out[9 * i + 3 * v + c] = w[v] * f * d[c];
  }
}

LK_KERNEL_PLAIN(stitch_weights, a, i)
{
  lk_real w[3];
  stitch_row(a, i, w);
  for (int u = 0; u < 3; ++u)
    for (int v = 0; v < 3; ++v)
      a->out[9 * i + 3 * u + v] = a->mat[STITCH_MAT * i + STITCH_K] * (w[u] * w[v]);
}

ELEM_LISTED(stitch, 3, 0, STITCH_MAT)
ELEM_CORNER(stitch, 3, 0, STITCH_MAT)
