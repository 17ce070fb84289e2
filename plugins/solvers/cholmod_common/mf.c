/* mf.c - memory, ordering and the pattern of the multifrontal factorisation; see mf.h. */
#include "mf.h"

#include <cholmod.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "dense.h"
#include "mf_symbolic.h"

/* ---- memory -------------------------------------------------------------------------------- */

/* An array with room for `count` items of `size` bytes in place of `old`, whose contents are
 * lost.  Patterns that grow slowly get some more, so as not to be copied every time. */
static void *room(void *old, int64_t *capacity, int64_t count, size_t size)
{
  if (count < 1) count = 1; /* never NULL, so that nothing has a place too */
  if (count <= *capacity) return old;
  free(old);
  count += count / 8;
  void *const p = malloc((size_t)count * size);
  *capacity = p != NULL ? count : 0;
  return p;
}

static loom_status have(const mf *f, const void *p, int64_t count, size_t size, const char *what)
{
  LOOM_CHECK(f->h, p != NULL, LOOM_E_NOMEM,
             "no memory for the %s of the factorisation (%.3g GB); use a smaller mesh, ordering = "
             "metis or a solver without factorisation",
             what, 1e-9 * (double)count * (double)size);
  return LOOM_OK;
}

#define GROW(f, array, capacity, count, what)                                \
  ((f)->array = room((f)->array, &(f)->capacity, count, sizeof *(f)->array), \
   have(f, (f)->array, count, sizeof *(f)->array, what))

loom_status mf_open(mf *f, const loom_host *h, int32_t n)
{
  const size_t m = (size_t)n + 1;
  *f = (mf){.h = h, .n = n};
  f->ptr = calloc(m, sizeof *f->ptr);
  f->order = calloc(m, sizeof *f->order);
  f->perm = calloc(m, sizeof *f->perm);
  f->inverse = calloc(m, sizeof *f->inverse);
  f->work_i = calloc(MF_WORK * m, sizeof *f->work_i);
  LOOM_CHECK(h, f->ptr && f->order && f->perm && f->inverse && f->work_i, LOOM_E_NOMEM,
             "no memory for the matrix of %d vertices", n);
  for (int32_t i = 0; i < n; ++i) f->order[i] = i;
  return LOOM_OK;
}

void mf_close(mf *f)
{
  void *const all[] = {f->ptr, f->col,   f->order, f->perm,  f->inverse, f->work_i, f->node,
                       f->row, f->place, f->val,   f->stack, f->work,    f->waiting};
  for (size_t k = 0; k < LOOM_COUNT(all); ++k) free(all[k]);
  memset(f, 0, sizeof *f);
}

loom_status mf_reserve(mf *f, int64_t blocks)
{
  LOOM_CHECK(f->h, blocks < INT32_MAX - f->n, LOOM_E_UNSUPPORTED,
             "a matrix of %lld blocks is beyond 32-bit indices; use a smaller mesh or a solver "
             "without factorisation",
             (long long)blocks);
  return GROW(f, col, cap_col, blocks, "pattern");
}

/* ---- ordering ------------------------------------------------------------------------------ */

/* The graph as CHOLMOD wants it: upper triangle by columns, which is the lower one by rows. */
static cholmod_sparse *graph(const mf *f, cholmod_common *cm)
{
  const size_t n = (size_t)f->n, m = (size_t)f->ptr[f->n];
  cholmod_sparse *G = cholmod_allocate_sparse(n, n, m, 1, 1, 1, CHOLMOD_PATTERN, cm);
  if (G == NULL) return NULL;
  int *p = G->p, *i = G->i;
  for (size_t j = 0; j <= n; ++j) p[j] = (int)f->ptr[j];
  for (size_t k = 0; k < m; ++k) i[k] = f->col[k];
  return G;
}

loom_status mf_order(mf *f, int ordering)
{
  cholmod_common cm;
  LOOM_CHECK(f->h, cholmod_start(&cm), LOOM_E_NOMEM, "CHOLMOD could not be started");
  cm.print = 0;
  cm.error_handler = NULL;
  cholmod_sparse *G = graph(f, &cm);
  int ok = 0;
  if (G != NULL)
    ok = ordering == MF_METIS ? cholmod_metis(G, NULL, 0, 1, f->order, &cm)
                              : cholmod_amd(G, NULL, 0, f->order, &cm);
  const int status = cm.status;
  cholmod_free_sparse(&G, &cm);
  cholmod_finish(&cm);
  if (ok) return LOOM_OK;
  if (status == CHOLMOD_NOT_INSTALLED)
    return LOOM_FAIL(f->h, LOOM_E_CONFIG,
                     "this CHOLMOD was built without METIS; set ordering = amd");
  return LOOM_FAIL(f->h, status == CHOLMOD_OUT_OF_MEMORY ? LOOM_E_NOMEM : LOOM_E_INTERNAL,
                   "CHOLMOD status %d while ordering the matrix (%d vertices, %lld blocks)", status,
                   f->n, (long long)f->ptr[f->n]);
}

/* ---- pattern of L -------------------------------------------------------------------------- */

static int compare_i32(const void *a, const void *b)
{
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

static void sort_rows(int32_t *row, int32_t n)
{
  enum { INSERTION_MAX = 32 };
  if (n > INSERTION_MAX) {
    qsort(row, (size_t)n, sizeof *row, compare_i32);
    return;
  }
  for (int32_t k = 1; k < n; ++k) {
    const int32_t v = row[k];
    int32_t at = k;
    for (; at > 0 && row[at - 1] > v; --at) row[at] = row[at - 1];
    row[at] = v;
  }
}

/* Rows below the diagonal in every column of A, in the order of elimination: ptr [n+1], row. */
static void columns(const mf *f, int32_t *ptr, int32_t *row)
{
  const int32_t n = f->n;
  for (int32_t i = 0; i <= n; ++i) ptr[i] = 0;
  for (int32_t i = 0; i < n; ++i)
    for (int64_t k = f->ptr[i]; k < f->ptr[i + 1]; ++k) {
      const int32_t a = f->inverse[i], b = f->inverse[f->col[k]];
      ++ptr[a < b ? a : b];
    }
  int32_t sum = 0;
  for (int32_t i = 0; i <= n; ++i) {
    sum += ptr[i];
    ptr[i] = sum;
  }
  for (int32_t i = 0; i < n; ++i)
    for (int64_t k = f->ptr[i]; k < f->ptr[i + 1]; ++k) {
      const int32_t a = f->inverse[i], b = f->inverse[f->col[k]];
      row[--ptr[a < b ? a : b]] = a < b ? b : a;
    }
}

/* Rows of node s: its columns, then what A and the children have below, sorted. */
static void node_rows(mf *f, int32_t s, const int32_t *ptr, const int32_t *below,
                      const int32_t *head, const int32_t *next, int32_t *mark)
{
  mf_node *const p = &f->node[s];
  const int32_t last = p->first + p->cols - 1;
  int32_t *const row = f->row + p->row, num = p->cols;
  for (int32_t c = 0; c < p->cols; ++c) row[c] = p->first + c;
  for (int32_t j = p->first; j <= last; ++j)
    for (int32_t k = ptr[j]; k < ptr[j + 1]; ++k) {
      if (below[k] <= last || mark[below[k]] == s) continue;
      mark[below[k]] = s;
      row[num++] = below[k];
    }
  for (int32_t c = head[s]; c >= 0; c = next[c]) {
    const mf_node *const q = &f->node[c];
    for (int32_t k = q->cols; k < q->rows; ++k) {
      const int32_t i = f->row[q->row + k];
      if (i <= last || mark[i] == s) continue;
      mark[i] = s;
      row[num++] = i;
    }
  }
  sort_rows(row + p->cols, num - p->cols);
}

/* Where the block of rows i, j (of the caller) goes. */
static mf_place place_of(const mf *f, int32_t i, int32_t j, const int32_t *node_of)
{
  const int32_t a = f->inverse[i], b = f->inverse[j], c = a < b ? a : b, r = a < b ? b : a;
  const mf_node *const s = &f->node[node_of[c]];
  const int32_t *const row = f->row + s->row;
  int32_t lo = r - s->first; /* its own columns come first, without gaps */
  if (lo >= s->cols) {
    int32_t len = s->rows - s->cols;
    lo = s->cols;
    while (len > 1) {
      const int32_t half = len / 2;
      lo += row[lo + half] <= r ? half : 0;
      len -= half;
    }
  }
  const int64_t ld = 3 * (int64_t)s->rows;
  const mf_place p = {s->val + 3 * (ld * (c - s->first) + lo), (int32_t)(a < b ? -ld : ld), 0};
  return p;
}

static loom_status fill_places(mf *f, const int32_t *node_of)
{
  const int64_t m = f->ptr[f->n];
  LOOM_TRY(GROW(f, place, cap_place, m + f->n, "places"));
  for (int32_t i = 0; i < f->n; ++i) {
    for (int64_t k = f->ptr[i]; k < f->ptr[i + 1]; ++k)
      f->place[k] = place_of(f, i, f->col[k], node_of);
    f->place[m + i] = place_of(f, i, i, node_of);
  }
  return LOOM_OK;
}

/* Sizes of everything numeric: val of the nodes, the stack at its highest, workspace, flops. */
static loom_status sizes(mf *f)
{
  int64_t top = 0, most = 0, val = 0;
  int32_t tallest = 0;
  int32_t *const open = f->work_i; /* nodes whose update waits */
  int32_t num_open = 0;
  f->flops = 0.0;
  for (int32_t s = 0; s < f->num_nodes; ++s) {
    mf_node *const p = &f->node[s];
    const int64_t rows = 3 * (int64_t)p->rows, cols = 3 * (int64_t)p->cols, u = rows - cols;
    p->val = val;
    val += rows * cols;
    if (p->rows > tallest) tallest = p->rows;
    for (int64_t c = 0; c < cols; ++c) f->flops += (double)(rows - c) * (double)(rows - c);
    if (top + u * u > most) most = top + u * u;
    while (num_open > 0 && f->node[open[num_open - 1]].parent == s) {
      const mf_node *const q = &f->node[open[--num_open]];
      const int64_t w = 3 * (int64_t)(q->rows - q->cols);
      top -= w * w;
    }
    top += u * u;
    if (p->parent >= 0) open[num_open++] = s;
  }
  f->num_val = val;
  const size_t work = dense_work(3 * (size_t)tallest) + 3 * ((size_t)f->n + (size_t)tallest);
  LOOM_TRY(GROW(f, val, cap_val, val, "factor"));
  LOOM_TRY(GROW(f, stack, cap_stack, most, "update matrices"));
  return GROW(f, work, cap_work, (int64_t)work, "workspace");
}

loom_status mf_analyse(mf *f)
{
  const int32_t n = f->n;
  const size_t m = (size_t)n + 1;
  int32_t *const parent = f->work_i, *const count = parent + m, *const node_of = count + m;
  int32_t *const ptr = node_of + m, *const head = ptr + m, *const next = head + m;
  int32_t *const mark = next + m, *const scratch = mark + m;
  int32_t *below = NULL;
  int64_t rows = 0;
  if (f->cap_node < n) {
    free(f->waiting);
    f->waiting = malloc(m * sizeof *f->waiting);
    LOOM_CHECK(f->h, f->waiting != NULL, LOOM_E_NOMEM, "no memory for %d nodes", n);
    LOOM_TRY(GROW(f, node, cap_node, n, "supernodes"));
  }
  LOOM_TRY(GROW(f, row, cap_row, f->ptr[n], "pattern"));
  mf_tree(f, parent, count, scratch);
  f->num_nodes = mf_nodes(f, parent, count, f->node, node_of);
  for (int32_t s = 0; s < f->num_nodes; ++s) {
    f->node[s].row = rows;
    rows += f->node[s].rows;
    head[s] = -1;
  }
  LOOM_TRY(GROW(f, row, cap_row, rows, "pattern"));
  below = malloc(((size_t)f->ptr[n] + 1) * sizeof *below);
  LOOM_CHECK(f->h, below != NULL, LOOM_E_NOMEM, "no memory for the columns of the matrix");
  columns(f, ptr, below);
  for (int32_t s = f->num_nodes - 1; s >= 0; --s) {
    const int32_t up = f->node[s].parent;
    if (up < 0) continue;
    next[s] = head[up];
    head[up] = s;
  }
  for (int32_t i = 0; i < n; ++i) mark[i] = -1;
  for (int32_t s = 0; s < f->num_nodes; ++s) node_rows(f, s, ptr, below, head, next, mark);
  free(below);
  memmove(scratch, node_of, (size_t)n * sizeof *node_of); /* sizes() takes the front */
  LOOM_TRY(sizes(f));
  return fill_places(f, scratch);
}
