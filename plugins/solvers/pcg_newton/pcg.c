/* pcg.c - the loop of conjugate gradients; see pcg.h. */
#include "pcg.h"

#include <math.h>

#include "loom/plug.h"

static const lk_entry k_start = LK_ENTRY(pcg_start), k_target = LK_ENTRY(pcg_target);
static const lk_entry k_multiply = LK_ENTRY(pcg_multiply), k_length = LK_ENTRY(pcg_length);
static const lk_entry k_advance = LK_ENTRY(pcg_advance), k_conjugate = LK_ENTRY(pcg_conjugate);
static const lk_entry k_turn = LK_ENTRY(pcg_turn);

/* Iterations between two looks at the record: what a GPU does in the time of one look. */
enum { LOOK_EVERY = 16 };

loom_status pcg_new(pcg *c, const loom_host *h, const loom_exec *e, int32_t n, int32_t max_iters)
{
  const int64_t n3 = 3 * (int64_t)n;
  c->h = h;
  c->e = e;
  c->n = n;
  c->max_iters = max_iters;
  LOOM_TRY(h->buf_new(h, "preconditioner", LOOM_REAL, 2 * n3, &c->inv));
  LOOM_TRY(h->buf_new(h, "r", LOOM_REAL, n3, &c->r));
  LOOM_TRY(h->buf_new(h, "z", LOOM_REAL, n3, &c->z));
  LOOM_TRY(h->buf_new(h, "p", LOOM_REAL, n3, &c->p));
  LOOM_TRY(h->buf_new(h, "q", LOOM_REAL, n3, &c->q));
  return h->buf_new(h, "record", LOOM_REAL, PCG_HISTORY + (int64_t)max_iters, &c->s);
}

/* One kernel over `n` elements; `slot` of the record receives a reduction, -1: no reduction. */
static loom_status run(const pcg *c, const lk_entry *k, const pcg_args *a, int32_t n, int slot)
{
  return plug_run(c->h, c->e, k, a, n, slot < 0 ? NULL : a->s + slot);
}

static loom_status start(const pcg *c, const pcg_args *a)
{
  LOOM_TRY(run(c, &k_start, a, c->n, PCG_RHO_NEXT));
  return run(c, &k_target, a, 1, -1);
}

static loom_status iterate(const pcg *c, const pcg_args *a, int32_t times)
{
  for (int32_t k = 0; k < times; ++k) {
    LOOM_TRY(run(c, &k_multiply, a, c->n, PCG_CURVATURE));
    LOOM_TRY(run(c, &k_length, a, 1, -1));
    LOOM_TRY(run(c, &k_advance, a, c->n, PCG_RHO_NEXT));
    LOOM_TRY(run(c, &k_conjugate, a, 1, -1));
    LOOM_TRY(run(c, &k_turn, a, c->n, -1));
  }
  return LOOM_OK;
}

/* The record on the host; its numbers into *out, iterations from *told on to the log. */
static loom_status look(const pcg *c, const loom_step *st, int32_t *told, pcg_result *out)
{
  const loom_host *const h = c->h;
  void *p;
  LOOM_TRY(h->map(h, c->e, c->s, LOOM_READ, LOOM_AT_HOST, &p));
  const loom_real *const s = p;
  out->stop = (int)s[PCG_STOP];
  out->iters = (int32_t)s[PCG_ITERS];
  out->eta = (double)s[PCG_ETA];
  out->rho0 = (double)s[PCG_RHO0];
  out->decrement = (double)s[PCG_DECREMENT];
  out->residual = out->iters > 0 ? (double)s[PCG_HISTORY + out->iters - 1] : 1.0;
  if (st != NULL)
    for (; *told < out->iters; ++*told)
      h->inner(h, *told + 1, LOOM_NORM_PRECONDITIONED, (double)s[PCG_HISTORY + *told]);
  return h->unmap(h, c->s);
}

loom_status pcg_solve(pcg *c, const loom_step *st, const loom_bsr3 *A, loom_buf *grad,
                      const pcg_forcing *f, loom_buf *d, pcg_result *out)
{
  const loom_host *const h = c->h;
  int32_t told = 0;
  plug_maps m = plug_maps_on(h, c->e);
  pcg_args a = {.row_ptr = plug_read(&m, A->row_ptr),
                .col = plug_read(&m, A->col),
                .val = plug_read(&m, A->val),
                .grad = plug_read(&m, grad),
                .inv = plug_write(&m, c->inv),
                .d = plug_write(&m, d),
                .r = plug_write(&m, c->r),
                .z = plug_write(&m, c->z),
                .p = plug_write(&m, c->p),
                .q = plug_write(&m, c->q),
                .eta_min = (lk_real)f->eta_min,
                .eta_max = (lk_real)f->eta_max,
                .gamma = (lk_real)f->gamma,
                .eta_before = (lk_real)f->eta_before,
                .rho_before = (lk_real)f->rho_before,
                .max_iters = c->max_iters};
  LOOM_TRY(m.status);
  out->stop = PCG_RUNNING;
  for (int begun = 0; out->stop == PCG_RUNNING; begun = 1) {
    plug_maps record = plug_maps_on(h, c->e);
    a.s = plug_rdwr(&record, c->s);
    LOOM_TRY(record.status);
    if (!begun) LOOM_TRY(start(c, &a));
    LOOM_TRY(iterate(c, &a, LOOK_EVERY));
    LOOM_TRY(plug_unbind(&record));
    LOOM_TRY(look(c, st, &told, out));
  }
  LOOM_TRY(plug_unbind(&m));
  h->count(h, LOOM_C_SPMV, out->iters + (out->stop == PCG_NEGATIVE));
  LOOM_CHECK(h, isfinite(out->rho0) && out->rho0 >= 0.0, LOOM_E_NUMERIC,
             "the gradient or the diagonal of the Hessian is not finite (g'P^-1 g = %g): look for "
             "collapsed elements, or try a smaller dt",
             out->rho0);
  return LOOM_OK;
}
