/* ahead.c - an iteration on a device in which the host does not wait.
 *
 * Decisions that depend on numbers of the device are made earlier, or on the device.  Contact of
 * the next iteration is gathered in accepted(), so that the core reads the number of its rows
 * together with its own numbers at the end of this iteration.  Kernels compute Nesterov's weight
 * and the inverse of the reduced matrix, in the order of the host's loops. */
#include "reduced.kern.h"

#include "ndb_pd.h"

static const lk_entry k_invert = LK_ENTRY_MOVES(ndb_pd_invert_block, 0, 0);
static const lk_entry k_uphill = LK_ENTRY_MOVES(ndb_pd_uphill, 9, 0),
                      k_nesterov = LK_ENTRY_MOVES(ndb_pd_nesterov, 4, 0);
static const lk_entry k_accelerate = LK_ENTRY_MOVES(ndb_pd_accelerate, 15, 0);
static const lk_entry k_longest = LK_ENTRY_MOVES(ndb_pd_longest, 3, 0);

loom_status ndb_pd_ahead_new(ndb_pd *s)
{
  const plug_buf all[] = {{"told", LOOM_REAL, TOLD_NUM, &s->told},
                          {"reduced", LOOM_REAL, 0, &s->S_copy},
                          {"reduced with contact", LOOM_REAL, 0, &s->M},
                          {"factor", LOOM_REAL, 0, &s->L}};
  /* an inner tolerance asks for a number of the iteration at once */
  s->ahead = s->e->backend == LOOM_CUDA && !(s->set.inner_tolerance > 0.0);
  return s->ahead ? plug_bufs_new(s->host, all, LOOM_COUNT(all)) : LOOM_OK;
}

loom_status ndb_pd_ahead_make(ndb_pd *s)
{
  const loom_host *const host = s->host;
  const int64_t square = (int64_t)s->space.cols * s->space.cols;
  if (!s->ahead || square == 0) return LOOM_OK;
  LOOM_TRY(host->buf_resize(host, s->S_copy, square));
  LOOM_TRY(host->buf_resize(host, s->M, (int64_t)s->r2 * s->r2));
  LOOM_TRY(host->buf_resize(host, s->L, (int64_t)s->r2 * s->r2));
  plug_maps m = plug_maps_on(host, s->e);
  loom_real *const to = plug_write_host(&m, s->S_copy);
  for (int64_t k = 0; m.status == LOOM_OK && k < square; ++k) to[k] = (loom_real)s->S[k];
  return plug_unbind(&m);
}

loom_status ndb_pd_ahead_contact(ndb_pd *s, const loom_step *st)
{
  const loom_host *const host = s->host;
  const loom_quad *q = NULL;
  if (!s->ahead) return LOOM_OK;
  LOOM_TRY(host->contact_quad(host, st->x, &q));
  LOOM_TRY(ndb_pd_contact_begin(s, q));
  s->ready = 1;
  return host->fetch_later(host, s->e, s->result, 2, s->found, NULL, NULL);
}

loom_status ndb_pd_ahead_invert(ndb_pd *s)
{
  plug_maps m = plug_maps_on(s->host, s->e);
  lk_real *const told = plug_rdwr(&m, s->told);
  LOOM_TRY(m.status);
  const ndb_pd_invert_args a = {.S = plug_read(&m, s->S_copy),
                                .extra = plug_read(&m, s->S2),
                                .M = plug_rdwr(&m, s->M),
                                .L = plug_rdwr(&m, s->L),
                                .inv = plug_rdwr(&m, s->inv2),
                                .failed = told + TOLD_FAILED,
                                .cols = s->r2,
                                .ld = s->space.cols};
  lk_moved(s->e, (int64_t)s->r2 * s->r2, LK_MOVES(4 + 2 * s->r2, 0));
  return plug_launch(&m, &k_invert, &a, 1, NULL);
}

loom_status ndb_pd_ahead_momentum(ndb_pd *s, plug_maps *m, ndb_pd_vector_args *a)
{
  plug_maps sum = plug_maps_on(s->host, s->e);
  lk_real *const told = plug_rdwr(&sum, s->told), *const uphill = plug_rdwr(&sum, s->result);
  LOOM_TRY(sum.status);
  LOOM_TRY(plug_run_on(&sum, &k_longest, a, s->n, told + TOLD_MOVED));
  if (s->set.momentum == MOMENTUM_NESTEROV) {
    const ndb_pd_nesterov_args na = {
        .uphill = uphill, .t = told + TOLD_T, .beta = told + TOLD_BETA, .restart = s->restart};
    LOOM_TRY(plug_run_on(&sum, &k_uphill, a, s->n, uphill));
    LOOM_TRY(plug_run_on(&sum, &k_nesterov, &na, 1, NULL));
    a->weight = told + TOLD_BETA;
    s->restart = 0;
  }
  if (s->set.momentum != MOMENTUM_NONE) LOOM_TRY(plug_run_on(m, &k_accelerate, a, s->n, NULL));
  LOOM_TRY(plug_unbind(&sum));
  return plug_unbind(m);
}

static void report_ahead_results(void *user)
{
  ndb_pd *const s = user;
  if (s->set.momentum == MOMENTUM_NESTEROV) s->it->extra[COL_BETA] = s->tells[TOLD_BETA];
  s->it->own_res = s->tells[TOLD_MOVED];
}

loom_status ndb_pd_ahead_tell(ndb_pd *s, loom_iterate *it)
{
  s->it = it;
  return s->host->fetch_later(s->host, s->e, s->told, TOLD_NUM, s->tells, report_ahead_results, s);
}
