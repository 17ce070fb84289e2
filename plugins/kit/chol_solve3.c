/* chol_solve3.c - C C' x = b for three right-hand sides; see chol_solve3.h.
 *
 * A cloth's factor has many small supernodes (a few columns, some dozen rows), for which
 * the calls to BLAS in CHOLMOD's own solve cost more than the arithmetic.  Here the rows a
 * supernode touches are gathered into three short arrays that stay in the first cache, and
 * the factor is streamed through once per direction, so the solve is bound by memory.
 * The order of operations is fixed: the result does not depend on threads or on the BLAS.
 *
 * CHOLMOD's layout of a factor (cholmod_core.h, cholmod_factor_struct): supernode s has the
 * columns super[s] .. super[s+1]-1 and the rows s[pi[s]] .. s[pi[s+1]-1], its own columns
 * first; its entries are a dense column-major block at x[px[s]].
 */
#include "kit/chol_solve3.h"

size_t chol_solve3_work(const cholmod_factor *L)
{
  const int *pi = L->pi;
  int most = 1;
  for (size_t s = 0; s < L->nsuper; ++s) most = pi[s + 1] - pi[s] > most ? pi[s + 1] - pi[s] : most;
  return 3 * (size_t)most;
}

/* e [3][nrow] := rows of y */
static void gather_rhs_rows(const int *rows, int nrow, const double *restrict y, double *restrict e)
{
  for (int i = 0; i < nrow; ++i) {
    const double *const v = y + 3 * (size_t)rows[i];
    e[i] = v[0];
    e[nrow + i] = v[1];
    e[2 * nrow + i] = v[2];
  }
}

/* forward: e := rows of y; eliminate the columns one after the other; put back */
static void solve_forward_block(const int *rows, int nrow, int ncol, const double *restrict col,
                                double *restrict y, double *restrict e0)
{
  double *restrict e1 = e0 + nrow, *restrict e2 = e1 + nrow;
  gather_rhs_rows(rows, nrow, y, e0);
  for (int j = 0; j < ncol; ++j, col += nrow) {
    const double a0 = e0[j] / col[j], a1 = e1[j] / col[j], a2 = e2[j] / col[j];
    e0[j] = a0;
    e1[j] = a1;
    e2[j] = a2;
#pragma omp simd
    for (int i = j + 1; i < nrow; ++i) {
      e0[i] -= col[i] * a0;
      e1[i] -= col[i] * a1;
      e2[i] -= col[i] * a2;
    }
  }
  for (int i = 0; i < nrow; ++i) {
    double *v = y + 3 * (size_t)rows[i];
    v[0] = e0[i];
    v[1] = e1[i];
    v[2] = e2[i];
  }
}

/* backward: the rows below are known; solve the columns from the last to the first */
static void solve_backward_block(const int *rows, int nrow, int ncol, const double *restrict block,
                                 double *restrict y, double *restrict e0)
{
  double *restrict e1 = e0 + nrow, *restrict e2 = e1 + nrow;
  gather_rhs_rows(rows, nrow, y, e0);
  for (int j = ncol - 1; j >= 0; --j) {
    const double *restrict col = block + (size_t)j * (size_t)nrow;
    double s0 = 0.0, s1 = 0.0, s2 = 0.0;
#pragma omp simd reduction(+ : s0, s1, s2)
    for (int i = j + 1; i < nrow; ++i) {
      s0 += col[i] * e0[i];
      s1 += col[i] * e1[i];
      s2 += col[i] * e2[i];
    }
    e0[j] = (e0[j] - s0) / col[j];
    e1[j] = (e1[j] - s1) / col[j];
    e2[j] = (e2[j] - s2) / col[j];
  }
  for (int j = 0; j < ncol; ++j) {
    double *v = y + 3 * (size_t)rows[j];
    v[0] = e0[j];
    v[1] = e1[j];
    v[2] = e2[j];
  }
}

/* 1: the right-hand side of a supernode is zero, so the supernode contributes zero. */
static int is_zero_supernode(const double *y, int first, int end)
{
  for (int k = 3 * first; k < 3 * end; ++k)
    if (y[k] != 0.0) return 0;
  return 1;
}

void chol_forward3(const cholmod_factor *L, double *y, double *work)
{
  const int *super = L->super, *pi = L->pi, *px = L->px, *rows = L->s;
  const double *x = L->x;
  const int ns = (int)L->nsuper;
  for (int s = 0; s < ns; ++s) {
    if (is_zero_supernode(y, super[s], super[s + 1])) continue;
    solve_forward_block(rows + pi[s], pi[s + 1] - pi[s], super[s + 1] - super[s], x + px[s], y,
                        work);
  }
}

void chol_solve3(const cholmod_factor *L, double *y, double *work)
{
  const int *super = L->super, *pi = L->pi, *px = L->px, *rows = L->s;
  const double *x = L->x;
  const int ns = (int)L->nsuper;
  chol_forward3(L, y, work);
  for (int s = ns - 1; s >= 0; --s)
    solve_backward_block(rows + pi[s], pi[s + 1] - pi[s], super[s + 1] - super[s], x + px[s], y,
                         work);
}
