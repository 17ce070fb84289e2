/* sym3_cg.c - conjugate gradients with a matrix of sym3.h.
 *
 * The energy of x is summed up as it grows: each iteration adds alpha r' C^-1 r to b' x, and
 * reduces the squared distance to the solution, in the norm of the matrix, by the same amount (M.
 * R. Hestenes, E. Stiefel, J. Res. Nat. Bur. Stand. 49, 1952, section 6). */
#include <math.h>

#include "linalg/sym3.h"

/* Four sums side by side: one would wait for itself. */
static double dot_product(size_t n, const double *a, const double *b)
{
  double s[4] = {0.0, 0.0, 0.0, 0.0};
  size_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (size_t k = 0; k < 4; ++k) s[k] += a[i + k] * b[i + k];
  for (; i < n; ++i) s[0] += a[i] * b[i];
  return (s[0] + s[1]) + (s[2] + s[3]);
}

/* y += B x */
static void multiply_add_blocks(const sym3_blocks *B, const double *x, double *y)
{
  for (int64_t k = 0; k < B->count; ++k) {
    const size_t i = (size_t)B->row[k], j = (size_t)B->col[k];
    const loom_real *const v = B->val + 9 * k;
    if (B->fixed[i] || B->fixed[j]) continue;
    for (int c = 0; c < 3; ++c)
      y[3 * i + (size_t)c] += (double)v[3 * c] * x[3 * j] + (double)v[3 * c + 1] * x[3 * j + 1] +
                              (double)v[3 * c + 2] * x[3 * j + 2];
  }
}

/* d [n][3][3]: the blocks on the diagonal of A + B */
static void take_diagonal(const sym3_system *s, double *d)
{
  const sym3 *const A = s->A;
  for (size_t i = 0; i < (size_t)A->n; ++i)
    for (size_t c = 0; c < 9; ++c)
      d[9 * i + c] = A->block == 3 ? A->diag[9 * i + c] : c % 4 == 0 ? A->diag[i] : 0.0;
  for (int64_t k = 0; s->B != NULL && k < s->B->count; ++k) {
    const size_t i = (size_t)s->B->row[k];
    if (s->B->col[k] != s->B->row[k] || s->B->fixed[i]) continue;
    for (size_t c = 0; c < 9; ++c) d[9 * i + c] += (double)s->B->val[9 * (size_t)k + c];
  }
}

/* z = D^-1 r; where a block is not positive definite z = r. */
static void by_diagonal(int32_t n, const double *diagonal, const double *r, double *z)
{
  for (int32_t i = 0; i < n; ++i) {
    /* Cholesky of 3 x 3 */
    const double *const d = diagonal + 9 * (size_t)i, *const b = r + 3 * (size_t)i;
    double *const x = z + 3 * (size_t)i;
    const double l00 = sqrt(d[0]), l10 = d[3] / l00, l20 = d[6] / l00;
    const double l11 = sqrt(d[4] - l10 * l10), l21 = (d[7] - l20 * l10) / l11;
    const double l22 = sqrt(d[8] - l20 * l20 - l21 * l21);
    if (!(l00 > 0.0 && l11 > 0.0 && l22 > 0.0)) {
      for (int c = 0; c < 3; ++c) x[c] = b[c];
      continue;
    }
    const double y0 = b[0] / l00, y1 = (b[1] - l10 * y0) / l11,
                 y2 = (b[2] - l20 * y0 - l21 * y1) / l22;
    x[2] = y2 / l22;
    x[1] = (y1 - l21 * x[2]) / l11;
    x[0] = (y0 - l10 * x[1] - l20 * x[2]) / l00;
  }
}

static loom_status apply_preconditioner(const sym3_system *s, const double *diagonal,
                                        const double *r, double *z)
{
  if (s->precondition != NULL) return s->precondition(s->user, r, z);
  by_diagonal(s->A->n, diagonal, r, z);
  return LOOM_OK;
}

/* A residual below this share of |b| is rounding and ends the solve, without a test by the
 * preconditioner. */
static const double nothing = 1e-10;

/* r' A^-1 r of the residual after a first step along z = A^-1 r.  With alpha = r'z / z'(A + B)z
 * this residual is (1 - alpha) r - alpha B z, where B z is sparse, so that a factor solves for it
 * quickly. */
static double remainder_by_A(double rz, double curvature, double square_of_Bz)
{
  const double alpha = rz / curvature, rest = 1.0 - alpha;
  return rest * rest * rz - 2.0 * alpha * rest * (curvature - rz) + alpha * alpha * square_of_Bz;
}

/* vectors: r, z, p, q [3n], and the diagonal [n][3][3] where it is the preconditioner */
static loom_status run_cg_iterations(const sym3_system *s, const double *b, double *x,
                                     double *vectors, double tol, int64_t max_iters,
                                     sym3_solution *out)
{
  const size_t n = 3 * (size_t)s->A->n;
  double *const r = vectors, *const z = r + n, *const p = z + n, *const q = p + n;
  double *const diagonal = q + n, *const Bp = diagonal; /* one of them */
  for (size_t i = 0; i < n; ++i) {
    x[i] = 0.0;
    r[i] = b[i];
  }
  if (s->precondition == NULL) take_diagonal(s, diagonal);
  LOOM_TRY(apply_preconditioner(s, diagonal, r, z));
  double rz = dot_product(n, r, z);
  const double rounding = nothing * nothing * dot_product(n, r, r);
  const double least = tol * tol * rz;
  out->converged = !(rz > 0.0);
  for (size_t i = 0; i < n; ++i) p[i] = z[i];
  while (!out->converged && out->iters < max_iters) {
    const int by_A = s->by_A && s->B != NULL && out->iters == 0; /* then A p = r */
    for (size_t i = 0; i < n; ++i) q[i] = 0.0;
    if (!by_A) sym3_multiply_add(s->A, p, q);
    if (s->B != NULL) multiply_add_blocks(s->B, p, q);
    for (size_t i = 0; by_A && i < n; ++i) {
      Bp[i] = q[i];
      q[i] += r[i];
    }
    ++out->iters;
    const double curvature = dot_product(n, p, q);
    if (!(curvature > 0.0)) {
      out->indefinite = 1;
      return LOOM_OK;
    }
    const double alpha = rz / curvature;
    for (size_t i = 0; i < n; ++i) {
      x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
    }
    out->energy += alpha * rz;
    out->converged = dot_product(n, r, r) <= rounding;
    if (out->converged) break;
    if (s->norm2 != NULL && out->iters == 1) { /* one product is often enough */
      double left;
      LOOM_TRY(s->norm2(s->user, by_A ? Bp : r, &left));
      if (by_A) left = remainder_by_A(rz, curvature, left);
      out->converged = left <= least;
      if (out->converged) break;
    }
    LOOM_TRY(apply_preconditioner(s, diagonal, r, z));
    const double next = dot_product(n, r, z), beta = next / rz;
    for (size_t i = 0; i < n; ++i) p[i] = z[i] + beta * p[i];
    rz = next;
    out->converged = rz <= least;
  }
  return LOOM_OK;
}

loom_status sym3_solve(const sym3_system *s, const double *b, double *x, double *work, double tol,
                       int64_t max_iters, sym3_solution *out)
{
  *out = (sym3_solution){0};
  return run_cg_iterations(s, b, x, work, tol, max_iters, out);
}
