/* mf_numeric.c - numbers of the multifrontal factorisation, and solves; see mf.h. */
#include <string.h>

#include "dense.h"
#include "mf.h"

enum { LANES = 8 };

void mf_clear(mf *f) { memset(f->val, 0, (size_t)f->num_val * sizeof *f->val); }

/* Add the update matrix U [u][u] of a child to the front of p: columns of p into L, the rest
 * into its own update matrix V [v][v].  at [rows of the child's update]: rows of the front. */
static void extend_add(const mf_node *p, const double *U, int64_t u, double *L, double *V,
                       const int32_t *at)
{
  const int64_t ld = 3 * (int64_t)p->rows, own = 3 * (int64_t)p->cols, v = ld - own;
  for (int64_t j = 0; j < u; ++j) {
    const int64_t col = 3 * (int64_t)at[j / 3] + j % 3;
    double *const to = col < own ? L + ld * col : V + v * (col - own) - own;
    const double *const from = U + u * j;
    for (int64_t b = j / 3; b < u / 3; ++b) { /* the block above the diagonal's is not used */
      double *const d = to + 3 * (int64_t)at[b];
      d[0] += from[3 * b];
      d[1] += from[3 * b + 1];
      d[2] += from[3 * b + 2];
    }
  }
}

/* Rows of the front p where the rows of q's update go; both lists ascend. */
static void match(const mf *f, const mf_node *p, const mf_node *q, int32_t *at)
{
  const int32_t *const to = f->row + p->row, *const from = f->row + q->row + q->cols;
  int32_t k = 0;
  for (int32_t i = 0; i < q->rows - q->cols; ++i) {
    if (from[i] < p->first + p->cols)
      k = from[i] - p->first;
    else
      while (to[k] != from[i]) ++k;
    at[i] = k;
  }
}

loom_status mf_factor(mf *f, int32_t *pivot)
{
  int32_t *const open = f->work_i, *const at = open + f->n + 1; /* nodes whose update waits */
  int32_t num_open = 0;
  int64_t top = 0;
  *pivot = -1;
  for (int32_t s = 0; s < f->num_nodes; ++s) {
    const mf_node *const p = &f->node[s];
    const int64_t ld = 3 * (int64_t)p->rows, own = 3 * (int64_t)p->cols, v = ld - own;
    double *const L = f->val + p->val, *const V = f->stack + top;
    int32_t k = num_open;
    memset(V, 0, (size_t)(v * v) * sizeof *V);
    while (k > 0 && f->node[open[k - 1]].parent == s) --k;
    const int64_t base = k < num_open ? f->waiting[open[k]] : top;
    for (int32_t c = k; c < num_open; ++c) {
      const mf_node *const q = &f->node[open[c]];
      match(f, p, q, at);
      extend_add(p, f->stack + f->waiting[open[c]], 3 * (int64_t)(q->rows - q->cols), L, V, at);
    }
    const long bad = dense_factor(L, (size_t)ld, (size_t)own, f->work);
    if (bad >= 0) {
      *pivot = f->perm[p->first + (int32_t)(bad / 3)];
      return LOOM_REJECTED;
    }
    const dense_update u = {L + own,   L + own,   V,           (size_t)ld, (size_t)v,
                            (size_t)v, (size_t)v, (size_t)own, 1};
    dense_subtract(&u, f->work);
    if (base < top) memmove(f->stack + base, V, (size_t)(v * v) * sizeof *V);
    f->waiting[s] = base;
    top = base + v * v;
    num_open = k;
    if (p->parent >= 0) open[num_open++] = s;
  }
  return LOOM_OK;
}

/* ---- solves ---------------------------------------------------------------------------------- */

/* y := L^-1 y for the columns of one node; t [v] is workspace. */
static void forward(const mf_node *p, const int32_t *row, const double *L, double *y, double *t)
{
  const int64_t ld = 3 * (int64_t)p->rows, own = 3 * (int64_t)p->cols, v = ld - own;
  double *const x = y + 3 * (int64_t)p->first;
  memset(t, 0, (size_t)v * sizeof *t);
  for (int64_t j = 0; j < own; ++j) {
    const double *const l = L + ld * j;
    const double f = x[j] /= l[j];
    for (int64_t i = j + 1; i < own; ++i) x[i] -= f * l[i];
    for (int64_t i = 0; i < v; ++i) t[i] += f * l[own + i];
  }
  for (int64_t i = 0; i < v; ++i) y[3 * (int64_t)row[p->cols + i / 3] + i % 3] -= t[i];
}

/* a.b, summed in LANES parts: independent sums go on at the same time */
static double dot(const double *a, const double *b, int64_t n)
{
  double s[LANES] = {0.0}, sum = 0.0;
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES)
    for (int k = 0; k < LANES; ++k) s[k] += a[i + k] * b[i + k];
  for (; i < n; ++i) sum += a[i] * b[i];
  for (int k = 0; k < LANES; ++k) sum += s[k];
  return sum;
}

/* y := L'^-1 y for the columns of one node. */
static void backward(const mf_node *p, const int32_t *row, const double *L, double *y, double *t)
{
  const int64_t ld = 3 * (int64_t)p->rows, own = 3 * (int64_t)p->cols, v = ld - own;
  double *const x = y + 3 * (int64_t)p->first;
  for (int64_t i = 0; i < v; ++i) t[i] = y[3 * (int64_t)row[p->cols + i / 3] + i % 3];
  for (int64_t j = own - 1; j >= 0; --j) {
    const double *const l = L + ld * j;
    const double s = dot(l + j + 1, x + j + 1, own - j - 1) + dot(l + own, t, v);
    x[j] = (x[j] - s) / l[j];
  }
}

void mf_solve(mf *f, double *x)
{
  double *const y = f->work, *const t = y + 3 * (size_t)f->n;
  for (int32_t k = 0; k < f->n; ++k)
    for (int c = 0; c < 3; ++c) y[3 * (int64_t)k + c] = x[3 * (int64_t)f->perm[k] + c];
  for (int32_t s = 0; s < f->num_nodes; ++s)
    forward(&f->node[s], f->row + f->node[s].row, f->val + f->node[s].val, y, t);
  for (int32_t s = f->num_nodes - 1; s >= 0; --s)
    backward(&f->node[s], f->row + f->node[s].row, f->val + f->node[s].val, y, t);
  for (int32_t k = 0; k < f->n; ++k)
    for (int c = 0; c < 3; ++c) x[3 * (int64_t)f->perm[k] + c] = y[3 * (int64_t)k + c];
}
