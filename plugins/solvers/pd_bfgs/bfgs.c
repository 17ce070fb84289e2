/* bfgs.c - see bfgs.h. */
#include "bfgs.h"

#include "bfgs.kern.h"

static const lk_entry k_dot = LK_ENTRY_MOVES(bfgs_dot, 6, 0),
                      k_add = LK_ENTRY_MOVES(bfgs_add, 9, 0);
static const lk_entry k_length = LK_ENTRY_MOVES(bfgs_length, 5, 0),
                      k_advance = LK_ENTRY_MOVES(bfgs_advance, 24, 0);

loom_status bfgs_new(bfgs *b, const loom_host *host, const loom_exec *e, int32_t history)
{
  const plug_buf all[] = {{"steps", LOOM_REAL, 0, &b->s},
                          {"A steps", LOOM_REAL, 0, &b->as},
                          {"scalars", LOOM_REAL, BFGS_PAIRS + 2 * (int64_t)history, &b->record},
                          {"reduced y", LOOM_REAL, 0, &b->y},
                          {"reduced g", LOOM_REAL, 0, &b->g},
                          {"reduced q", LOOM_REAL, 0, &b->q},
                          {"reduced d", LOOM_REAL, 0, &b->d},
                          {"reduced A d", LOOM_REAL, 0, &b->ad}};
  b->host = host;
  b->e = e;
  b->history = history;
  b->rows = 0;
  bfgs_forget(b);
  return plug_bufs_new(host, all, LOOM_COUNT(all));
}

loom_status bfgs_resize(bfgs *b, int32_t rows)
{
  const int64_t one = 3 * (int64_t)rows;
  loom_buf *const single[] = {b->y, b->g, b->q, b->d, b->ad};
  b->rows = rows;
  bfgs_forget(b);
  for (size_t i = 0; i < LOOM_COUNT(single); ++i)
    LOOM_TRY(b->host->buf_resize(b->host, single[i], one));
  LOOM_TRY(b->host->buf_resize(b->host, b->s, b->history * one));
  return b->host->buf_resize(b->host, b->as, b->history * one);
}

loom_status bfgs_begin(bfgs *b) { return b->host->fill(b->host, b->e, b->y, 0.0); }

/* ---- the history ---- */

typedef struct pairs { /* mapped where the kernels run */
  lk_real *s, *as, *record;
} pairs;

static pairs map_bfgs_pairs(const bfgs *b, plug_maps *m)
{
  return (pairs){
      .s = plug_rdwr(m, b->s), .as = plug_rdwr(m, b->as), .record = plug_rdwr(m, b->record)};
}

/* Slot of pair k, the oldest is 0. */
static int32_t bfgs_pair_slot(const bfgs *b, int32_t k)
{
  return (b->next - b->num + k + b->history) % b->history;
}

static lk_real *bfgs_pair_alpha(const pairs *p, int32_t at) { return p->record + BFGS_PAIRS + at; }
static lk_real *bfgs_pair_curvature(const bfgs *b, const pairs *p, int32_t at)
{
  return p->record + BFGS_PAIRS + b->history + at;
}

static loom_status run_bfgs_kernel(const bfgs *b, const lk_entry *k, const void *a, int32_t n,
                                   lk_real *result)
{
  return plug_run(b->host, b->e, k, a, n, result);
}

static loom_status dot_bfgs_vectors(const bfgs *b, const lk_real *x, const lk_real *y,
                                    lk_real *result)
{
  const bfgs_dot_args a = {.a = x, .b = y};
  return run_bfgs_kernel(b, &k_dot, &a, b->rows, result);
}

/* First loop, newest pair first: alpha = s'q / s'As, q -= alpha A s. */
static loom_status run_backward_loop(const bfgs *b)
{
  plug_maps m = plug_maps_on(b->host, b->e);
  const pairs p = map_bfgs_pairs(b, &m);
  lk_real *const q = plug_rdwr(&m, b->q);
  LOOM_TRY(m.status);
  for (int32_t k = b->num - 1; k >= 0; --k) {
    const int32_t at = bfgs_pair_slot(b, k);
    const int64_t row = 3 * (int64_t)at * b->rows;
    const bfgs_add_args a = {.x = p.as + row,
                             .y = q,
                             .minus = bfgs_pair_alpha(&p, at),
                             .curvature = bfgs_pair_curvature(b, &p, at)};
    LOOM_TRY(dot_bfgs_vectors(b, p.s + row, q, bfgs_pair_alpha(&p, at)));
    LOOM_TRY(run_bfgs_kernel(b, &k_add, &a, b->rows, NULL));
  }
  return plug_unbind(&m);
}

/* Second loop, oldest first: d += s (alpha - (A s)'d / s'As). */
static loom_status run_forward_loop(const bfgs *b)
{
  plug_maps m = plug_maps_on(b->host, b->e);
  const pairs p = map_bfgs_pairs(b, &m);
  lk_real *const d = plug_rdwr(&m, b->d);
  LOOM_TRY(m.status);
  for (int32_t k = 0; k < b->num; ++k) {
    const int32_t at = bfgs_pair_slot(b, k);
    const int64_t row = 3 * (int64_t)at * b->rows;
    const bfgs_add_args a = {.x = p.s + row,
                             .y = d,
                             .plus = bfgs_pair_alpha(&p, at),
                             .minus = p.record + BFGS_BETA,
                             .curvature = bfgs_pair_curvature(b, &p, at)};
    LOOM_TRY(dot_bfgs_vectors(b, p.as + row, d, p.record + BFGS_BETA));
    LOOM_TRY(run_bfgs_kernel(b, &k_add, &a, b->rows, NULL));
  }
  return plug_unbind(&m);
}

/* ---- an iteration ---- */

static loom_status append_bfgs_pair(bfgs *b)
{
  plug_maps m = plug_maps_on(b->host, b->e);
  const pairs p = map_bfgs_pairs(b, &m);
  const int64_t row = 3 * (int64_t)b->next * b->rows;
  const bfgs_step_args a = {.record = p.record,
                            .sas = bfgs_pair_curvature(b, &p, b->next),
                            .d = plug_read(&m, b->d),
                            .ad = plug_read(&m, b->ad),
                            .y = plug_rdwr(&m, b->y),
                            .g = plug_rdwr(&m, b->g),
                            .s = p.s + row,
                            .as = p.as + row};
  LOOM_TRY(m.status);
  LOOM_TRY(dot_bfgs_vectors(b, a.d, a.g, p.record + BFGS_DG));
  LOOM_TRY(dot_bfgs_vectors(b, a.d, a.ad, p.record + BFGS_DAD));
  LOOM_TRY(run_bfgs_kernel(b, &k_length, &a, 1, NULL));
  LOOM_TRY(run_bfgs_kernel(b, &k_advance, &a, b->rows, NULL));
  b->next = (b->next + 1) % b->history;
  if (b->num < b->history) ++b->num;
  return plug_unbind(&m);
}

loom_status bfgs_iterate(bfgs *b, const bfgs_system *A)
{
  LOOM_TRY(b->host->buf_copy(b->host, b->e, b->q, b->g));
  LOOM_TRY(run_backward_loop(b));
  LOOM_TRY(A->solve(A->self, b->q, b->d));
  LOOM_TRY(run_forward_loop(b));
  LOOM_TRY(A->multiply(A->self, b->d, b->ad));
  return append_bfgs_pair(b);
}
