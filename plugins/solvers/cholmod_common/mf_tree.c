/* mf_tree.c - elimination tree, column counts, supernodes; all in time linear in the blocks of L.
 *
 * J. Liu, The Role of Elimination Trees in Sparse Factorization, SIAM J. Matrix Anal. Appl.
 * 11(1), 1990, doi 10.1137/0611010. */
#include "mf_symbolic.h"

/* Columns left of the diagonal of every row, renumbered by inverse: ptr [n+1], col. */
static void permuted_rows(const mf *f, const int32_t *inverse, int32_t *ptr, int32_t *col)
{
  const int32_t n = f->n;
  for (int32_t i = 0; i <= n; ++i) ptr[i] = 0;
  for (int32_t i = 0; i < n; ++i)
    for (int64_t k = f->ptr[i]; k < f->ptr[i + 1]; ++k) {
      const int32_t a = inverse[i], b = inverse[f->col[k]];
      ++ptr[a > b ? a : b];
    }
  int32_t sum = 0;
  for (int32_t i = 0; i <= n; ++i) {
    sum += ptr[i];
    ptr[i] = sum; /* end of row i: filling backwards leaves its begin */
  }
  for (int32_t i = n - 1; i >= 0; --i)
    for (int64_t k = f->ptr[i + 1] - 1; k >= f->ptr[i]; --k) {
      const int32_t a = inverse[i], b = inverse[f->col[k]];
      col[--ptr[a > b ? a : b]] = a > b ? b : a;
    }
}

static void elimination_tree(int32_t n, const int32_t *ptr, const int32_t *col, int32_t *parent,
                             int32_t *ancestor)
{
  for (int32_t i = 0; i < n; ++i) {
    parent[i] = ancestor[i] = -1;
    for (int32_t k = ptr[i]; k < ptr[i + 1]; ++k) {
      int32_t r = col[k];
      while (ancestor[r] >= 0 && ancestor[r] != i) {
        const int32_t next = ancestor[r];
        ancestor[r] = i;
        r = next;
      }
      if (ancestor[r] >= 0) continue;
      ancestor[r] = i;
      parent[r] = i;
    }
  }
}

/* Row i of L has an entry in every column on the way from its entries in A up to i. */
static void column_counts(int32_t n, const int32_t *ptr, const int32_t *col, const int32_t *parent,
                          int32_t *count, int32_t *mark)
{
  for (int32_t i = 0; i < n; ++i) {
    count[i] = 1;
    mark[i] = i;
    for (int32_t k = ptr[i]; k < ptr[i + 1]; ++k)
      for (int32_t j = col[k]; mark[j] != i; j = parent[j]) {
        mark[j] = i;
        ++count[j];
      }
  }
}

/* Children of every column: head [n+1] (the roots at n), next.  The fullest comes last: it is
 * the one that its parent may join. */
static void child_lists(int32_t n, const int32_t *parent, const int32_t *count, int32_t *head,
                        int32_t *next)
{
  for (int32_t i = 0; i <= n; ++i) head[i] = -1;
  for (int32_t i = n - 1; i >= 0; --i) {
    int32_t *at = &head[parent[i] < 0 ? n : parent[i]];
    while (*at >= 0 && count[*at] < count[i]) at = &next[*at];
    next[i] = *at;
    *at = i;
  }
}

static void postorder(int32_t n, const int32_t *parent, int32_t *head, const int32_t *next,
                      int32_t *post)
{
  int32_t k = 0, i = head[n];
  while (i >= 0) {
    while (head[i] >= 0) { /* down to a leaf; a head that was taken is removed */
      const int32_t down = head[i];
      head[i] = next[down];
      i = down;
    }
    post[k++] = i;
    if (parent[i] >= 0)
      i = parent[i];
    else
      i = next[i];
  }
}

void mf_tree(mf *f, int32_t *parent, int32_t *count, int32_t *scratch)
{
  const int32_t n = f->n;
  int32_t *const ptr = scratch, *const a = ptr + n + 1, *const b = a + n + 1, *const c = b + n;
  int32_t *const p = c + n; /* parents in the given order */
  for (int32_t k = 0; k < n; ++k) f->inverse[f->order[k]] = k;
  permuted_rows(f, f->inverse, ptr, f->row);
  elimination_tree(n, ptr, f->row, p, a);
  column_counts(n, ptr, f->row, p, c, a);
  child_lists(n, p, c, a, b);
  postorder(n, p, a, b, f->perm);
  for (int32_t k = 0; k < n; ++k) a[f->perm[k]] = k;
  for (int32_t k = 0; k < n; ++k) {
    const int32_t i = f->perm[k];
    parent[k] = p[i] < 0 ? -1 : a[p[i]];
    count[k] = c[i];
    f->perm[k] = f->order[i];
  }
  for (int32_t k = 0; k < n; ++k) f->inverse[f->perm[k]] = k;
}

/* ---- supernodes -------------------------------------------------------------------------- */

static double entries(int32_t cols, int32_t rows)
{
  return (double)cols * rows - 0.5 * (double)cols * (cols - 1);
}

/* Share of zeros a node of so many block columns may hold: small fronts cost more time than
 * zeros in them do (measured, see README). */
static double zeros_allowed(int32_t cols)
{
  return cols <= 4 ? 0.6 : cols <= 12 ? 0.3 : cols <= 32 ? 0.12 : 0.04;
}

int32_t mf_nodes(const mf *f, const int32_t *parent, const int32_t *count, mf_node *node,
                 int32_t *node_of)
{
  const int32_t n = f->n;
  int32_t num = 0;
  for (int32_t j = 0; j < n;) {
    /* columns with one pattern */
    mf_node s = {.first = j, .cols = 1, .rows = count[j]};
    while (j + s.cols < n && parent[j + s.cols - 1] == j + s.cols &&
           count[j + s.cols - 1] == count[j + s.cols] + 1)
      ++s.cols;
    j += s.cols;
    /* join the last child while that brings few zeros; row counts them here */
    double zeros = 0.0;
    while (num > 0) {
      const mf_node *const t = &node[num - 1];
      const int32_t up = parent[s.first - 1], cols = t->cols + s.cols, rows = t->cols + s.rows;
      if (up < 0 || up >= j) break;
      const double more = entries(cols, rows) - entries(t->cols, t->rows) - entries(s.cols, s.rows);
      if (zeros + more + (double)t->row > zeros_allowed(cols) * entries(cols, rows)) break;
      zeros += more + (double)t->row;
      s.first = t->first;
      s.cols = cols;
      s.rows = rows;
      --num;
    }
    s.row = (int64_t)zeros;
    node[num++] = s;
  }
  for (int32_t s = 0; s < num; ++s)
    for (int32_t c = 0; c < node[s].cols; ++c) node_of[node[s].first + c] = s;
  for (int32_t s = 0; s < num; ++s) {
    const int32_t up = parent[node[s].first + node[s].cols - 1];
    node[s].parent = up < 0 ? -1 : node_of[up];
  }
  return num;
}
