/* yarn.kern.c - kernels of the explicit step of yarns. */
#include "yarn.kern.h"

#include "geom/small.kern.h"
#include "geom/tridiag.kern.h"

LK_KERNEL_PLAIN(yarn_explicit_force, a, i)
{
  lk_real x[3], g[3];
  if (a->fixed[i]) {
    LK_LOAD3(x, a->y, i);
  } else {
    const lk_real f = a->h2 / a->mass[i];
    LK_LOAD3(x, a->x, i);
    LK_LOAD3(g, a->grad, i);
    for (int c = 0; c < 3; ++c) x[c] -= f * g[c];
  }
  LK_STORE3(a->out, i, x);
}

LK_KERNEL_PLAIN(yarn_explicit_glue, a, i)
{
  const int32_t p = a->glue[2 * i], q = a->glue[2 * i + 1];
  const lk_real wp = a->fixed[p] ? LK_R(0.0) : LK_R(1.0) / a->mass[p];
  const lk_real wq = a->fixed[q] ? LK_R(0.0) : LK_R(1.0) / a->mass[q];
  lk_real x[3], y[3], d[3];
  LK_LOAD3(x, a->x, p);
  LK_LOAD3(y, a->x, q);
  lk_sub3(y, x, d);
  const lk_real len = lk_norm3(d);
  /* vertices at one point give no direction; contact keeps yarns from getting there */
  if (!(wp + wq > LK_R(0.0)) || !(len > LK_R(0.0))) return;
  const lk_real f = (len - a->len[i]) / (len * (wp + wq));
  for (int c = 0; c < 3; ++c) {
    x[c] += f * wp * d[c];
    y[c] -= f * wq * d[c];
  }
  LK_STORE3(a->x, p, x);
  LK_STORE3(a->x, q, y);
}

/* ---- lengths ---- */

enum { LOWER, DIAGONAL, UPPER, LAMBDA, SPARE };

typedef struct length_yarn {
  const yarn_explicit_length_args *a;
  int32_t first, verts, seg, segs, closed;
  lk_real *col[YARN_EXPLICIT_WORK]; /* [segs] */
} length_yarn;

LK_FN lk_real length_weight(const length_yarn *y, int32_t j)
{
  const int32_t v = y->first + (j < y->verts ? j : 0);
  return y->a->fixed[v] ? LK_R(0.0) : LK_R(1.0) / y->a->mass[v];
}

/* e of segment j; returns its rest length */
LK_FN lk_real length_edge(const length_yarn *y, int32_t j, lk_real *e)
{
  lk_real p[3], q[3];
  LK_LOAD3(p, y->a->x, y->first + j);
  LK_LOAD3(q, y->a->x, y->first + (j + 1 < y->verts ? j + 1 : 0));
  lk_sub3(q, p, e);
  return y->a->shrink * y->a->len[y->seg + j];
}

/* The system at x; returns the largest error.  Segments between two fixed vertices keep the
 * length they have. */
LK_FN lk_real length_system(const length_yarn *y)
{
  lk_real most = LK_R(0.0), e[3], before[3];
  for (int c = 0; c < 3; ++c) before[c] = LK_R(0.0);
  /* a closed yarn's first row couples to its last one */
  lk_real l_before = y->closed ? length_edge(y, y->segs - 1, before) : LK_R(0.0);
  for (int32_t j = 0; j < y->segs; ++j) {
    const lk_real l = length_edge(y, j, e), wj = length_weight(y, j);
    const lk_real w = wj + length_weight(y, j + 1), e2 = lk_dot3(e, e), inv = LK_R(1.0) / l;
    y->col[LOWER][j] = LK_R(0.0);
    if (j > 0 || y->closed)
      y->col[LOWER][j] = LK_R(-4.0) * wj * lk_dot3(before, e) / (l_before * l);
    y->col[DIAGONAL][j] = LK_R(4.0) * e2 * inv * inv * w;
    y->col[LAMBDA][j] = e2 * inv - l;
    if (!(w > LK_R(0.0))) {
      y->col[DIAGONAL][j] = LK_R(1.0);
      y->col[LAMBDA][j] = LK_R(0.0);
    }
    most = LK_NANMAX(most, LK_FABS(y->col[LAMBDA][j]) * inv);
    for (int c = 0; c < 3; ++c) before[c] = e[c];
    l_before = l;
  }
  for (int32_t j = 0; j + 1 < y->segs; ++j) y->col[UPPER][j] = y->col[LOWER][j + 1];
  y->col[UPPER][y->segs - 1] = y->col[LOWER][0];
  return most;
}

/* x -= M^-1 J' lambda: segment j pulls its ends together by lambda_j 2 e_j/l_j. */
LK_FN void length_apply(const length_yarn *y)
{
  lk_real e[3], before[3], start[3];
  for (int c = 0; c < 3; ++c) before[c] = start[c] = LK_R(0.0);
  for (int32_t j = 0; j <= y->segs; ++j) {
    /* vertex j lies behind segment j - 1 and before segment j; all edges are taken before their
     * vertices move */
    for (int c = 0; c < 3; ++c) e[c] = LK_R(0.0);
    if (j < y->segs) {
      const lk_real f = LK_R(2.0) * y->col[LAMBDA][j] / length_edge(y, j, e);
      for (int c = 0; c < 3; ++c) e[c] *= f;
    }
    if (j == 0)
      for (int c = 0; c < 3; ++c) start[c] = e[c];
    if (j < y->verts && (j > 0 || !y->closed)) {
      const lk_real w = length_weight(y, j);
      lk_real x[3];
      LK_LOAD3(x, y->a->x, y->first + j);
      for (int c = 0; c < 3; ++c) x[c] += w * (e[c] - before[c]);
      LK_STORE3(y->a->x, y->first + j, x);
    }
    for (int c = 0; c < 3; ++c) before[c] = j < y->segs ? e[c] : before[c];
  }
  if (!y->closed) return;
  const lk_real w = length_weight(y, 0);
  lk_real x[3];
  LK_LOAD3(x, y->a->x, y->first);
  for (int c = 0; c < 3; ++c) x[c] += w * (start[c] - before[c]);
  LK_STORE3(y->a->x, y->first, x);
}

LK_KERNEL_PLAIN(yarn_explicit_length, a, k)
{
  length_yarn y;
  y.a = a;
  y.first = a->vert[k];
  y.verts = a->vert[k + 1] - y.first;
  y.seg = a->seg[k];
  y.segs = a->seg[k + 1] - y.seg;
  y.closed = a->closed[k];
  for (int b = 0; b < YARN_EXPLICIT_WORK; ++b)
    y.col[b] = a->work + (int64_t)b * a->num_segs + y.seg;
  lk_real error = LK_R(0.0);
  int32_t it = 0;
  if (y.segs < 1) return;
  for (;; ++it) {
    error = length_system(&y);
    if (!(error >= a->tolerance) || it == a->max_iters) break;
    tridiag_solve(y.segs, y.closed, y.col[LOWER], y.col[DIAGONAL], y.col[UPPER], y.col[LAMBDA],
                  y.col[SPARE]);
    length_apply(&y);
  }
  a->iters[k] = (lk_real)it;
  a->error[k] = error;
}

/* ---- damping ---- */

/* out = I^-1 L, with I a little enlarged: a block on one line does not resist turning about it */
LK_FN void damp_spin(const lk_real *I, const lk_real *L, lk_real *out)
{
  lk_real A[9], B[9];
  const lk_real more = LK_R(1e-9) * (I[0] + I[4] + I[8]);
  for (int k = 0; k < 9; ++k) {
    A[k] = I[k] + (k % 4 == 0 ? more : LK_R(0.0));
    B[k] = LK_R(0.0);
  }
  for (int k = 0; k < 3; ++k) out[k] = LK_R(0.0);
  if (!(more > LK_R(0.0)) || !(LK_FABS(lk_inv33(A, B)) > LK_R(0.0))) return;
  for (int k = 0; k < 3; ++k) out[k] = lk_dot3(B + 3 * k, L);
}

LK_FN void damp_load(const yarn_explicit_damp_args *a, int32_t i, lk_real *x, lk_real *v)
{
  lk_real y[3];
  LK_LOAD3(x, a->start, i);
  LK_LOAD3(y, a->x, i);
  for (int c = 0; c < 3; ++c) v[c] = (y[c] - x[c]) / a->h;
}

LK_KERNEL_PLAIN(yarn_explicit_damp, a, b)
{
  const int32_t lo = a->first[b], hi = a->first[b + 1];
  lk_real m = LK_R(0.0), c0[3], v0[3], I[9], L[3], w[3], x[3], v[3], r[3], u[3], n2 = LK_R(0.0);
  for (int k = 0; k < 3; ++k) c0[k] = v0[k] = L[k] = LK_R(0.0);
  for (int k = 0; k < 9; ++k) I[k] = LK_R(0.0);
  for (int32_t q = lo; q < hi; ++q) {
    const lk_real mi = a->mass[a->verts[q]];
    damp_load(a, a->verts[q], x, v);
    m += mi;
    for (int k = 0; k < 3; ++k) {
      c0[k] += mi * x[k];
      v0[k] += mi * v[k];
    }
  }
  for (int k = 0; k < 3; ++k) {
    c0[k] /= m;
    v0[k] /= m;
  }
  for (int32_t q = lo; q < hi; ++q) {
    const lk_real mi = a->mass[a->verts[q]];
    damp_load(a, a->verts[q], x, v);
    for (int k = 0; k < 3; ++k) {
      r[k] = x[k] - c0[k];
      v[k] -= v0[k];
    }
    const lk_real r2 = lk_dot3(r, r);
    lk_cross3(r, v, u);
    for (int k = 0; k < 3; ++k) {
      L[k] += mi * u[k];
      for (int l = 0; l < 3; ++l) I[3 * k + l] += mi * ((k == l ? r2 : LK_R(0.0)) - r[k] * r[l]);
    }
  }
  damp_spin(I, L, w);
  for (int pass = 0; pass < 2; ++pass) {
    const lk_real size = LK_SQRT(n2);
    lk_real f = a->h * a->mu_prop;
    if (pass == 1) {
      const lk_real k = (lk_real)(hi - lo);
      if (!(size > LK_R(0.0))) return;
      f = LK_FMAX(f, a->h * a->mu_const * LK_SQRT(k) / size);
      f = LK_FMIN(f, LK_R(1.0)) * a->h;
    }
    for (int32_t q = lo; q < hi; ++q) {
      const int32_t i = a->verts[q];
      damp_load(a, i, x, v);
      for (int k = 0; k < 3; ++k) r[k] = x[k] - c0[k];
      lk_cross3(w, r, u);
      for (int k = 0; k < 3; ++k) u[k] = v[k] - v0[k] - u[k];
      n2 += pass == 0 ? lk_dot3(u, u) : LK_R(0.0);
      if (pass == 0) continue;
      LK_LOAD3(x, a->x, i);
      for (int k = 0; k < 3; ++k) x[k] -= f * u[k];
      LK_STORE3(a->x, i, x);
    }
  }
}
