/* fused.c - two sweeps as one gather over two rings, the form of Lan et al. 2024 (section 4.2): the
 * products b_ij b_jk of the off-diagonal entries are made once, and only multiplied by the
 * present diagonal when contact changes it. */
#include <stdlib.h>

#include "kit/sort_i32.h"
#include "ndb_pd.h"

static const lk_entry k_entries = LK_ENTRY_MOVES(ndb_pd_fused_entries, 284, 105);
static const lk_entry k_entries_f = LK_ENTRY_MOVES(ndb_pd_fused_entries_f, 50, 339);
static const lk_entry k_shift = LK_ENTRY_MOVES(ndb_pd_fused_shift, 67, 8),
                      k_shift_f = LK_ENTRY_MOVES(ndb_pd_fused_shift_f, 2, 73);
static const lk_entry k_sweep = LK_ENTRY_MOVES(ndb_pd_fused_sweep, 84, 19),
                      k_sweep_f = LK_ENTRY_MOVES(ndb_pd_fused_sweep_f, 2, 101);

typedef struct rings { /* host: the pattern of two rings and its products */
  const int64_t *ptr;
  const int32_t *col;
  const loom_real *val;
  int32_t n, filled;
  int64_t entries, products;
  int64_t *row, *list; /* [n+1], [entries+1] */
  int32_t *to, *middle;
  double *b1, *product;
  int32_t *slot; /* [n], entry of a column in this row, -1 */
  int32_t *cols; /* [n], columns of this row, ascending */
  int64_t *used; /* [n], products of a column in this row */
} rings;

static int32_t add_column(rings *g, int32_t count, int32_t k)
{
  if (g->slot[k] >= 0) return count;
  g->slot[k] = count;
  g->used[k] = 0;
  g->cols[count] = k;
  return count + 1;
}

/* Columns that vertex i reaches in at most two steps. */
static int32_t gather_ring_columns(rings *g, int32_t i)
{
  int32_t count = add_column(g, 0, i);
  for (int64_t e = g->ptr[i]; e < g->ptr[i + 1]; ++e) {
    const int32_t j = g->col[e];
    count = add_column(g, count, j);
    if (j == i) continue;
    for (int64_t f = g->ptr[j]; f < g->ptr[j + 1]; ++f) {
      if (g->col[f] == j) continue;
      count = add_column(g, count, g->col[f]);
      ++g->used[g->col[f]];
      ++g->products;
    }
  }
  sort_i32(g->cols, count);
  return count;
}

/* One row: counted (filled = 0) or written. */
static void build_ring_row(rings *g, int32_t i)
{
  const int64_t first = g->entries, at = g->products;
  const int32_t count = gather_ring_columns(g, i);
  if (g->filled) {
    int64_t m = at;
    g->row[i] = first;
    for (int32_t c = 0; c < count; ++c) {
      const int32_t k = g->cols[c];
      g->to[first + c] = k;
      g->b1[first + c] = 0.0;
      g->list[first + c] = m;
      m += g->used[k];
      g->used[k] = g->list[first + c]; /* from here: where its next product goes */
      g->slot[k] = c;
    }
    for (int64_t e = g->ptr[i]; e < g->ptr[i + 1]; ++e) {
      const int32_t j = g->col[e];
      if (j == i) continue;
      g->b1[first + g->slot[j]] = -(double)g->val[e];
      for (int64_t f = g->ptr[j]; f < g->ptr[j + 1]; ++f) {
        const int32_t k = g->col[f];
        if (k == j) continue;
        g->middle[g->used[k]] = j;
        g->product[g->used[k]++] = (double)g->val[e] * (double)g->val[f];
      }
    }
  }
  for (int32_t c = 0; c < count; ++c) g->slot[g->cols[c]] = -1;
  g->entries += count;
}

static void all_rows(rings *g)
{
  g->entries = g->products = 0;
  for (int32_t i = 0; i < g->n; ++i) build_ring_row(g, i);
  if (!g->filled) return;
  g->row[g->n] = g->entries;
  g->list[g->entries] = g->products;
}

static void rings_close(rings *g)
{
  void *const all[] = {g->row,     g->list, g->to,   g->middle, g->b1,
                       g->product, g->slot, g->cols, g->used};
  for (size_t k = 0; k < LOOM_COUNT(all); ++k) free(all[k]);
}

static int build_two_rings(rings *g)
{
  const size_t n = (size_t)g->n + 1;
  g->slot = malloc(n * sizeof *g->slot);
  g->cols = malloc(n * sizeof *g->cols);
  g->used = malloc(n * sizeof *g->used);
  if (g->slot == NULL || g->cols == NULL || g->used == NULL) return 0;
  for (int32_t i = 0; i < g->n; ++i) g->slot[i] = -1;
  all_rows(g);
  const size_t m = (size_t)g->entries + 1, k = (size_t)g->products + 1;
  g->row = malloc(n * sizeof *g->row);
  g->to = malloc(m * sizeof *g->to);
  g->b1 = malloc(m * sizeof *g->b1);
  g->list = malloc(m * sizeof *g->list);
  g->middle = malloc(k * sizeof *g->middle);
  g->product = malloc(k * sizeof *g->product);
  if (g->row == NULL || g->to == NULL || g->b1 == NULL || g->list == NULL || g->middle == NULL ||
      g->product == NULL)
    return 0;
  g->filled = 1;
  all_rows(g);
  return 1;
}

/* ---- into buffers ---- */

/* doubles as loom_real or float */
static loom_status put_numbers(const ndb_pd *s, loom_buf *b, const double *from, int64_t count)
{
  void *p;
  LOOM_TRY(s->host->buf_resize(s->host, b, count));
  LOOM_TRY(s->host->map(s->host, s->e, b, LOOM_WRITE, LOOM_AT_HOST, &p));
  if (s->set.precision == PRECISION_MIXED)
    for (int64_t k = 0; k < count; ++k) ((float *)p)[k] = (float)from[k];
  else
    for (int64_t k = 0; k < count; ++k) ((loom_real *)p)[k] = (loom_real)from[k];
  return s->host->unmap(s->host, b);
}

static loom_status to_buffers(ndb_pd *s, const rings *g)
{
  const loom_host *const host = s->host;
  ndb_pd_twofold *const t = &s->two;
  LOOM_TRY(plug_put(host, s->e, t->ptr, LOOM_I64, g->row, (int64_t)g->n + 1));
  LOOM_TRY(plug_put(host, s->e, t->col, LOOM_I32, g->to, g->entries));
  LOOM_TRY(put_numbers(s, t->b1, g->b1, g->entries));
  LOOM_TRY(plug_put(host, s->e, t->list, LOOM_I64, g->list, g->entries + 1));
  LOOM_TRY(plug_put(host, s->e, t->middle, LOOM_I32, g->middle, g->products));
  LOOM_TRY(put_numbers(s, t->product, g->product, g->products));
  LOOM_TRY(host->buf_resize(host, t->val, g->entries));
  return host->buf_resize(host, t->shift, 3 * (int64_t)g->n);
}

loom_status ndb_pd_fused_make(ndb_pd *s)
{
  const loom_host *const host = s->host;
  ndb_pd_twofold *const t = &s->two;
  t->fresh = 0;
  if (s->set.smoother != SMOOTHER_A_JACOBI || !s->set.fused) return LOOM_OK;
  const int number = s->set.precision == PRECISION_MIXED ? LOOM_I32 : LOOM_REAL;
  const struct {
    const char *name;
    int type;
    loom_buf **b;
  } all[] = {{"two-ring rows", LOOM_I64, &t->ptr},      {"two-ring columns", LOOM_I32, &t->col},
             {"one-ring entries", number, &t->b1},      {"product lists", LOOM_I64, &t->list},
             {"middle vertices", LOOM_I32, &t->middle}, {"A-products", number, &t->product},
             {"two-ring values", number, &t->val},      {"two-ring shift", number, &t->shift}};
  for (size_t k = 0; t->shift == NULL && k < LOOM_COUNT(all); ++k)
    LOOM_TRY(host->buf_new(host, all[k].name, all[k].type, 0, all[k].b));
  plug_maps m;
  ndb_pd_matrix A;
  LOOM_TRY(ndb_pd_matrix_open(s, &m, &A));
  rings g = {.ptr = A.ptr, .col = A.col, .val = A.val, .n = s->n};
  loom_status st;
  if (build_two_rings(&g))
    st = to_buffers(s, &g);
  else
    st = LOOM_FAIL(host, LOOM_E_NOMEM,
                   "no memory for the two-ring operator of %d vertices; set "
                   "fused = false",
                   s->n);
  rings_close(&g);
  LOOM_TRY(st);
  return plug_unbind(&m);
}

/* Entries for the present diagonal, unless they are, and the constant part for the present r. */
loom_status ndb_pd_fused_open(ndb_pd *s, const ndb_pd_view *v, double theta, ndb_pd_fused_call *c)
{
  ndb_pd_twofold *const t = &s->two;
  const int single = s->set.precision == PRECISION_MIXED;
  c->m = plug_maps_on(s->host, s->e);
  const int64_t *const ptr = plug_read(&c->m, t->ptr), *const list = plug_read(&c->m, t->list);
  const int32_t *const col = plug_read(&c->m, t->col), *const middle = plug_read(&c->m, t->middle);
  const void *const b1 = plug_read(&c->m, t->b1), *const product = plug_read(&c->m, t->product);
  void *const val = plug_rdwr(&c->m, t->val), *const shift = plug_rdwr(&c->m, t->shift);
  LOOM_TRY(c->m.status);
  c->d = (ndb_pd_fused_args){.ptr = ptr,
                             .col = col,
                             .b1 = b1,
                             .list = list,
                             .middle = middle,
                             .product = product,
                             .dinv = v->dinv,
                             .val = val,
                             .rhs = v->r,
                             .shift = shift,
                             .theta = (lk_real)theta};
  c->f = (ndb_pd_fused_f_args){.ptr = ptr,
                               .col = col,
                               .b1 = b1,
                               .list = list,
                               .middle = middle,
                               .product = product,
                               .dinv = v->dinvf,
                               .val = val,
                               .rhs = v->rf,
                               .shift = shift,
                               .theta = (float)theta};
  const void *const a = single ? (const void *)&c->f : (const void *)&c->d;
  if (!t->fresh || t->theta != theta)
    LOOM_TRY(ndb_pd_run(s, single ? &k_entries_f : &k_entries, a, s->n, NULL));
  t->fresh = 1;
  t->theta = theta;
  return ndb_pd_run(s, single ? &k_shift_f : &k_shift, a, s->n, NULL);
}

loom_status ndb_pd_fused_sweep_run(ndb_pd *s, ndb_pd_fused_call *c, const void *from, void *to)
{
  const int single = s->set.precision == PRECISION_MIXED;
  c->d.from = single ? NULL : (const lk_real *)from;
  c->d.to = single ? NULL : (lk_real *)to;
  c->f.from = single ? (const float *)from : NULL;
  c->f.to = single ? (float *)to : NULL;
  const void *const a = single ? (const void *)&c->f : (const void *)&c->d;
  return ndb_pd_run(s, single ? &k_sweep_f : &k_sweep, a, s->n, NULL);
}
