/* factor.c - see factor.h.
 *
 * Contact changes the pattern in most iterations.  Ordering it anew each time would cost about
 * as much as a factorisation, the pattern of the factor a tenth of it.  So the order is kept
 * while the work of the factorisation shows that it serves.  The factorised matrix depends on H and
 * on the order alone, and the order goes into checkpoints. */
#include "factor.h"

#include <stdlib.h>
#include <string.h>

#include "loom/kernel.h"
#include "loom/plug.h"

/* The order is made anew when the work of the factorisation leaves this range, relative to the work
 * when the order was made: new contact adds fill, ended contact leaves an order worse than needed.
 */
static const double work_most = 1.3, work_least = 0.5;

loom_status cholmod_newton_factor_open(cholmod_newton_factor *f, const loom_host *host,
                                       const loom_exec *e, int32_t n, int ordering)
{
  *f = (cholmod_newton_factor){.host = host, .e = e, .g.n = n};
  f->g.ptr = calloc((size_t)n + 1, sizeof *f->g.ptr);
  f->order = calloc((size_t)n + 1, sizeof *f->order);
  LOOM_CHECK(host, f->g.ptr != NULL && f->order != NULL, LOOM_E_NOMEM,
             "no memory for the factorisation of %d vertices", n);
  LOOM_TRY(chol_open(&f->c, host, ordering, 0, CHOL_REMEDY));
  LOOM_TRY(host->buf_new(host, "order", LOOM_I32, 0, &f->saved_order));
  return host->buf_new(host, "order's work", LOOM_U64, 1, &f->saved_flops);
}

void cholmod_newton_factor_close(cholmod_newton_factor *f)
{
  chol_close(&f->c);
  free(f->g.ptr);
  free(f->g.col);
  free(f->place);
  free(f->order);
}

void cholmod_newton_factor_forget(cholmod_newton_factor *f) { f->ordered = f->shaped = 0; }

/* ---- checkpoint ---- */

static loom_status save_factor_order(cholmod_newton_factor *f)
{
  const int32_t n = f->ordered ? f->g.n : 0;
  LOOM_TRY(plug_put(f->host, f->e, f->saved_order, LOOM_I32, f->order, n));
  return plug_put(f->host, f->e, f->saved_flops, LOOM_U64, &f->order_flops, 1);
}

static loom_status load_factor_order(cholmod_newton_factor *f)
{
  const loom_host *const host = f->host;
  const int32_t n = f->g.n;
  void *p;
  cholmod_newton_factor_forget(f);
  LOOM_CHECK(host, host->buf_count(host, f->saved_flops) == 1, LOOM_E_IO,
             "checkpoint: order_work has %lld values; start the run again",
             (long long)host->buf_count(host, f->saved_flops));
  LOOM_TRY(host->map(host, f->e, f->saved_flops, LOOM_READ, LOOM_AT_HOST, &p));
  memcpy(&f->order_flops, p, sizeof f->order_flops);
  LOOM_TRY(host->unmap(host, f->saved_flops));
  const int64_t count = host->buf_count(host, f->saved_order);
  if (count == 0) return LOOM_OK;
  LOOM_TRY(host->map(host, f->e, f->saved_order, LOOM_READ, LOOM_AT_HOST, &p));
  const int32_t *const order = p;
  int32_t *const seen = calloc((size_t)n + 1, sizeof *seen), bad = count != n;
  LOOM_CHECK(host, seen != NULL, LOOM_E_NOMEM, "no memory for the order of %d rows", n);
  for (int32_t k = 0; k < n && !bad; ++k) {
    bad = order[k] < 0 || order[k] >= n || seen[order[k]]++ != 0;
    f->order[k] = order[k];
  }
  free(seen);
  LOOM_CHECK(host, f->order_flops >= 0.0, LOOM_E_IO,
             "checkpoint: the work of the order is %g operations; start the run again",
             f->order_flops);
  LOOM_CHECK(host, !bad, LOOM_E_IO, "checkpoint: the order of elimination is no permutation of %d",
             n);
  f->ordered = 1;
  return host->unmap(host, f->saved_order);
}

loom_status cholmod_newton_factor_checkpoint(cholmod_newton_factor *f, int restore)
{
  const loom_host *const host = f->host;
  if (!restore) LOOM_TRY(save_factor_order(f));
  LOOM_TRY(host->state_io(host, restore, "order", f->saved_order));
  LOOM_TRY(host->state_io(host, restore, "order_work", f->saved_flops));
  return restore ? load_factor_order(f) : LOOM_OK;
}

/* ---- factorisation ---- */

static int is_graph_unchanged(const cholmod_newton_factor *f, const chol_graph *g)
{
  const size_t n = (size_t)g->n;
  return f->shaped && memcmp(f->g.ptr, g->ptr, (n + 1) * sizeof *g->ptr) == 0 &&
         memcmp(f->g.col, g->col, (size_t)g->ptr[n] * sizeof *g->col) == 0;
}

static loom_status copy_block_graph(cholmod_newton_factor *f, const chol_graph *g)
{
  const int64_t n = g->n, blocks = g->ptr[n];
  if (f->g.col == NULL || blocks > f->cap) {
    free(f->g.col);
    free(f->place);
    const int64_t cap = blocks + blocks / 8;
    f->cap = -1;                                             /* until both arrays are there */
    f->g.col = malloc(((size_t)cap + 1) * sizeof *f->g.col); /* + 1: never NULL for 0 blocks */
    f->place = malloc(((size_t)(cap + n) + 1) * sizeof *f->place);
    LOOM_CHECK(f->host, f->g.col != NULL && f->place != NULL, LOOM_E_NOMEM,
               "no memory for the pattern of %lld blocks", (long long)blocks);
    f->cap = cap;
  }
  memcpy(f->g.ptr, g->ptr, ((size_t)n + 1) * sizeof *g->ptr);
  if (blocks > 0) memcpy(f->g.col, g->col, (size_t)blocks * sizeof *g->col);
  return LOOM_OK;
}

/* Analyses in the present order; makes a new order where the work leaves its range. */
static loom_status analyse_block_graph(cholmod_newton_factor *f)
{
  double flops;
  if (f->ordered) {
    LOOM_TRY(chol_analyse_blocks(&f->c, &f->g, f->order, f->place, &flops));
    if (flops <= work_most * f->order_flops && flops >= work_least * f->order_flops) return LOOM_OK;
  }
  LOOM_TRY(chol_order_blocks(&f->c, &f->g, f->order));
  LOOM_TRY(chol_analyse_blocks(&f->c, &f->g, f->order, f->place, &f->order_flops));
  f->ordered = 1;
  return LOOM_OK;
}

loom_status cholmod_newton_factor_analyse(cholmod_newton_factor *f, const chol_graph *g)
{
  if (is_graph_unchanged(f, g)) return LOOM_OK;
  f->shaped = 0;
  f->host->tic(f->host, "analyse");
  LOOM_TRY(copy_block_graph(f, g));
  LOOM_TRY(analyse_block_graph(f));
  f->host->toc(f->host, "analyse");
  f->shaped = 1;
  return LOOM_OK;
}

static void widen_block(const loom_real *v, double *b)
{
  for (int c = 0; c < 9; ++c) b[c] = (double)v[c];
}

loom_status cholmod_newton_factor_make(cholmod_newton_factor *f, const cholmod_newton_entries *v,
                                       int32_t *pivot)
{
  double *const val = chol_val(&f->c);
  const int32_t n = f->g.n;
  const int64_t blocks = f->g.ptr[n];
  int row;
#pragma omp parallel for schedule(static) num_threads(f->e->num_threads) if (n >= LK_PARALLEL_MIN)
  for (int64_t k = 0; k < blocks; ++k) {
    double b[9];
    widen_block(v->val + 9 * v->lower[k], b);
    chol_put(val, f->place[k], b);
  }
#pragma omp parallel for schedule(static) num_threads(f->e->num_threads) if (n >= LK_PARALLEL_MIN)
  for (int32_t i = 0; i < n; ++i) {
    double b[9];
    widen_block(v->val + 9 * v->diagonal[i], b);
    /* rows of fixed vertices are unit, so a shift has no effect there */
    for (int c = 0; c < 9; c += 4) b[c] += v->shift * (double)v->mass[i];
    chol_put_diagonal(val, f->place[blocks + i], b);
  }
  const loom_status s = chol_factorise(&f->c, &row);
  *pivot = s == LOOM_REJECTED ? row / 3 : -1;
  return s;
}

loom_status cholmod_newton_factor_solve(cholmod_newton_factor *f, double *x)
{
  const size_t m = f->c.A->nrow;
  const int *const perm = chol_perm(&f->c);
  double *const y = chol_rhs(&f->c);
  for (size_t k = 0; k < m; ++k) y[k] = x[perm[k]];
  LOOM_TRY(chol_solve(&f->c));
  for (size_t k = 0; k < m; ++k) x[perm[k]] = y[k];
  return LOOM_OK;
}
