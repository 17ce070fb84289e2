/* xpbd.kern.c - see xpbd.kern.h and the beginning of xpbd.c. */
#include "xpbd.kern.h"

#include "geom/small.kern.h"

/* A x = b for symmetric positive definite A [n][n] and three right-hand sides, in place. */
LK_FN void xpbd_solve(int n, lk_real *A, lk_real *b)
{
  for (int j = 0; j < n; ++j) { /* A = L L', L in the lower triangle */
    for (int k = 0; k < j; ++k)
      for (int i = j; i < n; ++i) A[n * i + j] -= A[n * i + k] * A[n * j + k];
    const lk_real d = LK_SQRT(A[n * j + j]);
    for (int i = j; i < n; ++i) A[n * i + j] /= d;
  }
  for (int c = 0; c < 3; ++c) {
    for (int i = 0; i < n; ++i) {
      for (int k = 0; k < i; ++k) b[3 * i + c] -= A[n * i + k] * b[3 * k + c];
      b[3 * i + c] /= A[n * i + i];
    }
    for (int i = n - 1; i >= 0; --i) {
      for (int k = i + 1; k < n; ++k) b[3 * i + c] -= A[n * k + i] * b[3 * k + c];
      b[3 * i + c] /= A[n * i + i];
    }
  }
}

/* (M + h^2 w A'A) dx = -(h^2 g + A' lambda), A' lambda += M dx; corners that are fixed stay. */
LK_KERNEL_PLAIN(xpbd_project, a, i)
{
  const int n = a->arity;
  const int64_t e = a->elem[i];
  const int32_t *const v = a->verts + n * e;
  const lk_real *const W = a->weight + n * n * e, *const g = a->grad + 3 * n * (int64_t)i;
  lk_real *const pull = a->pull + 3 * n * e;
  lk_real A[XPBD_ARITY * XPBD_ARITY] = {LK_R(0.0)}, d[3 * XPBD_ARITY] = {LK_R(0.0)};
  for (int r = 0; r < n; ++r) {
    const int held = a->fixed[v[r]];
    for (int s = 0; s < n; ++s)
      A[n * r + s] = held || a->fixed[v[s]] ? LK_R(0.0) : a->scale * W[n * r + s];
    A[n * r + r] = held ? LK_R(1.0) : A[n * r + r] + a->mass[v[r]];
    for (int c = 0; c < 3; ++c)
      d[3 * r + c] = held ? LK_R(0.0) : -(a->scale * g[3 * r + c] + pull[3 * r + c]);
  }
  xpbd_solve(n, A, d);
  for (int r = 0; r < n; ++r) {
    if (a->fixed[v[r]]) continue;
    for (int c = 0; c < 3; ++c) {
      pull[3 * r + c] += a->mass[v[r]] * d[3 * r + c];
      a->x[3 * (int64_t)v[r] + c] += d[3 * r + c];
    }
  }
}

/* The same for contact as one constraint, in Jacobi's way: D bounds the row of its Hessian, so that
 * all vertices may move at once. */
LK_KERNEL_PLAIN(xpbd_contact, a, i)
{
  const int64_t v = i;
  lk_real x[3], f[3], D = LK_R(0.0);
  LK_LOAD3(x, a->x0, v);
  if (!a->fixed[v]) {
    LK_LOAD3(f, a->pull, v);
    if (a->force) {
      for (int c = 0; c < 3; ++c) f[c] += a->h2 * a->force[3 * v + c];
      for (int64_t k = a->row[v]; k < a->row[v + 1]; ++k)
        if (!a->fixed[a->col[k]]) D += a->h2 * lk_row_norm33(a->val + 9 * k);
    }
    const lk_real m = a->mass[v], w = LK_R(1.0) / (m + D);
    for (int c = 0; c < 3; ++c) {
      const lk_real d = -w * f[c];
      a->pull[3 * v + c] += m * d;
      x[c] += d;
    }
  }
  LK_STORE3(a->x, v, x);
}

LK_KERNEL_PLAIN(xpbd_absorb, a, i)
{
  const int64_t v = i;
  const lk_real m = a->fixed[v] ? LK_R(0.0) : a->sign * a->mass[v];
  for (int c = 0; c < 3; ++c)
    a->pull[3 * v + c] += m * (a->a[3 * v + c] - (a->b ? a->b[3 * v + c] : LK_R(0.0)));
}
