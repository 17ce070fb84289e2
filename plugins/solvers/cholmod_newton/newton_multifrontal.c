/* newton_multifrontal.c - Newton's matrix factorised by the multifrontal method of mf.h.
 *
 * Contact changes the pattern in most iterations.  Ordering it anew each time would cost about
 * as much as a factorisation, the pattern of the factor a twentieth of it.  So the order is kept
 * while it serves, which is measured by what counts, the work of the factorisation.  What is
 * factorised depends on H and on the order alone, and the order goes into checkpoints. */
#include <stdlib.h>
#include <string.h>

#include "mf.h"
#include "newton_factor.h"

/* The order is made anew when the work leaves this range about what it was made for: new
 * contact brings fill in wrong places, contact that went leaves detours. */
static const double work_most = 1.3, work_least = 0.5;

typedef struct multifrontal {
  const loom_host *h;
  const loom_exec *e;
  mf f;
  int32_t ordering;        /* MF_* */
  int32_t ordered, shaped; /* there is a fill-reducing order; a pattern */
  double order_flops;      /* of the factorisation the order was made for */
  loom_buf *saved_order;   /* i32 [n] or [0], for checkpoints */
  loom_buf *saved_flops;   /* u64 [1], the bits of order_flops */
} multifrontal;

static loom_status multifrontal_open(const loom_host *h, const loom_exec *e, int32_t n,
                                     int ordering, void **self)
{
  multifrontal *const s = calloc(1, sizeof *s);
  LOOM_CHECK(h, s != NULL, LOOM_E_NOMEM, "no memory for the factorisation");
  *self = s;
  s->h = h;
  s->e = e;
  s->ordering = ordering == NEWTON_METIS ? MF_METIS : MF_AMD;
  LOOM_TRY(mf_open(&s->f, h, n));
  LOOM_TRY(h->buf_new(h, "order", LOOM_I32, 0, &s->saved_order));
  return h->buf_new(h, "order's work", LOOM_U64, 1, &s->saved_flops);
}

static void multifrontal_close(void *self)
{
  multifrontal *const s = self;
  if (s == NULL) return;
  mf_close(&s->f);
  free(s);
}

static void multifrontal_forget(void *self)
{
  multifrontal *const s = self;
  s->ordered = s->shaped = 0;
}

/* ---- checkpoint ------------------------------------------------------------------------------ */

static loom_status save(multifrontal *s)
{
  const loom_host *const h = s->h;
  void *p;
  LOOM_TRY(h->buf_resize(h, s->saved_order, s->ordered ? s->f.n : 0));
  LOOM_TRY(h->map(h, s->e, s->saved_order, LOOM_WRITE, LOOM_AT_HOST, &p));
  if (s->ordered) memcpy(p, s->f.order, (size_t)s->f.n * sizeof *s->f.order);
  LOOM_TRY(h->unmap(h, s->saved_order));
  LOOM_TRY(h->map(h, s->e, s->saved_flops, LOOM_WRITE, LOOM_AT_HOST, &p));
  memcpy(p, &s->order_flops, sizeof s->order_flops);
  return h->unmap(h, s->saved_flops);
}

static loom_status load(multifrontal *s)
{
  const loom_host *const h = s->h;
  const int32_t n = s->f.n;
  void *p;
  multifrontal_forget(s);
  LOOM_CHECK(h, h->buf_count(h, s->saved_flops) == 1, LOOM_E_IO,
             "checkpoint: order_work has %lld values; start the run again",
             (long long)h->buf_count(h, s->saved_flops));
  LOOM_TRY(h->map(h, s->e, s->saved_flops, LOOM_READ, LOOM_AT_HOST, &p));
  memcpy(&s->order_flops, p, sizeof s->order_flops);
  LOOM_TRY(h->unmap(h, s->saved_flops));
  const int64_t count = h->buf_count(h, s->saved_order);
  if (count == 0) return LOOM_OK;
  LOOM_TRY(h->map(h, s->e, s->saved_order, LOOM_READ, LOOM_AT_HOST, &p));
  const int32_t *const order = p;
  int32_t *const seen = calloc((size_t)n + 1, sizeof *seen), bad = count != n || seen == NULL;
  for (int32_t k = 0; k < n && !bad; ++k) {
    bad = order[k] < 0 || order[k] >= n || seen[order[k]]++ != 0;
    s->f.order[k] = order[k];
  }
  free(seen);
  LOOM_CHECK(h, s->order_flops >= 0.0, LOOM_E_IO,
             "checkpoint: the work of the order is %g operations; start the run again",
             s->order_flops);
  LOOM_CHECK(h, !bad, LOOM_E_IO, "checkpoint: the order of elimination is no permutation of %d", n);
  s->ordered = 1;
  return h->unmap(h, s->saved_order);
}

static loom_status multifrontal_checkpoint(void *self, int restore)
{
  multifrontal *const s = self;
  const loom_host *const h = s->h;
  if (!restore) LOOM_TRY(save(s));
  LOOM_TRY(h->state_io(h, restore, "order", s->saved_order));
  LOOM_TRY(h->state_io(h, restore, "order_work", s->saved_flops));
  return restore ? load(s) : LOOM_OK;
}

/* ---- factorisation --------------------------------------------------------------------------- */

/* Analyse f's pattern in the order there is, in a new one where that does not serve. */
static loom_status analyse(multifrontal *s)
{
  mf *const f = &s->f;
  if (s->ordered) {
    LOOM_TRY(mf_analyse(f));
    if (f->flops <= work_most * s->order_flops && f->flops >= work_least * s->order_flops)
      return LOOM_OK;
  }
  LOOM_TRY(mf_order(f, s->ordering));
  LOOM_TRY(mf_analyse(f));
  s->ordered = 1;
  s->order_flops = f->flops;
  return LOOM_OK;
}

static loom_status multifrontal_analyse(void *self, const newton_pattern *p)
{
  multifrontal *const s = self;
  const loom_host *const h = s->h;
  const size_t n = (size_t)p->n, blocks = (size_t)p->ptr[n];
  if (s->shaped && memcmp(s->f.ptr, p->ptr, (n + 1) * sizeof *p->ptr) == 0 &&
      memcmp(s->f.col, p->col, blocks * sizeof *p->col) == 0)
    return LOOM_OK;
  s->shaped = 0;
  h->tic(h, "analyse");
  LOOM_TRY(mf_reserve(&s->f, (int64_t)blocks));
  memcpy(s->f.ptr, p->ptr, (n + 1) * sizeof *p->ptr);
  if (blocks > 0) memcpy(s->f.col, p->col, blocks * sizeof *p->col);
  LOOM_TRY(analyse(s));
  h->toc(h, "analyse");
  s->shaped = 1;
  return LOOM_OK;
}

static loom_status multifrontal_factorise(void *self, const newton_pattern *p,
                                          const newton_entries *v, int32_t *pivot)
{
  multifrontal *const s = self;
  const int64_t blocks = p->ptr[p->n];
  double b[9];
  mf_clear(&s->f);
  for (int64_t k = 0; k < blocks; ++k) {
    newton_lower(v, k, b);
    mf_put(&s->f, k, b);
  }
  for (int32_t i = 0; i < p->n; ++i) {
    newton_diagonal(v, i, b);
    mf_put(&s->f, blocks + i, b);
  }
  return mf_factor(&s->f, pivot);
}

static loom_status multifrontal_solve(void *self, double *x)
{
  multifrontal *const s = self;
  mf_solve(&s->f, x);
  return LOOM_OK;
}

const newton_factor_ops newton_multifrontal = {
    .open = multifrontal_open,
    .close = multifrontal_close,
    .analyse = multifrontal_analyse,
    .factorise = multifrontal_factorise,
    .solve = multifrontal_solve,
    .forget = multifrontal_forget,
    .checkpoint = multifrontal_checkpoint,
};
