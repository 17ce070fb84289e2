/* subspace.c - see subspace.h. */
#include "kit/subspace.h"

static const lk_entry k_part = LK_ENTRY_MOVES(subspace_restrict_part, 0, 0);
static const lk_entry k_sum = LK_ENTRY_MOVES(subspace_restrict_sum, 0, 0);
static const lk_entry k_invert = LK_ENTRY_MOVES(subspace_invert, 234, 0);
static const lk_entry k_prolong = LK_ENTRY_MOVES(subspace_prolong_rows, 0, 0);

loom_status subspace_new(subspace *s, const loom_host *host, const loom_exec *e, int32_t n)
{
  const plug_buf all[] = {{"basis", LOOM_REAL, 0, &s->U},
                          {"partial sums", LOOM_REAL, 0, &s->part},
                          {"reduced rhs", LOOM_REAL, 0, &s->g},
                          {"reduced u", LOOM_REAL, 0, &s->q}};
  s->host = host;
  s->e = e;
  s->n = n;
  s->cols = s->ld = 0;
  return plug_bufs_new(host, all, LOOM_COUNT(all));
}

loom_status subspace_set(subspace *s, int32_t cols, const double *U)
{
  const loom_host *const host = s->host;
  const int64_t chunks = (s->n + SUBSPACE_ROWS - 1) / SUBSPACE_ROWS;
  void *p;
  s->cols = cols;
  s->ld = subspace_ld(cols);
  const int64_t all = (int64_t)s->n * s->ld;
  LOOM_TRY(host->buf_resize(host, s->U, all));
  LOOM_TRY(host->buf_resize(host, s->part, 3 * chunks * s->ld));
  LOOM_TRY(host->buf_resize(host, s->g, 3 * (int64_t)s->ld));
  LOOM_TRY(host->buf_resize(host, s->q, 3 * (int64_t)s->ld));
  LOOM_TRY(host->map(host, s->e, s->U, LOOM_WRITE, LOOM_AT_HOST, &p));
  loom_real *const to = p;
  for (int64_t k = 0; k < all; ++k) to[k] = (loom_real)U[k];
  return host->unmap(host, s->U);
}

subspace_args subspace_bind(const subspace *s, plug_maps *m)
{
  return (subspace_args){.U = plug_read(m, s->U),
                         .part = plug_rdwr(m, s->part),
                         .g = plug_rdwr(m, s->g),
                         .q = plug_rdwr(m, s->q),
                         .n = s->n,
                         .ld = s->ld,
                         .cols = s->cols};
}

static loom_status run_subspace_kernel(const subspace *s, const lk_entry *k, const subspace_args *a,
                                       int64_t n)
{
  return plug_run(s->host, s->e, k, a, n, NULL);
}

loom_status subspace_restrict(const subspace *s, const subspace_args *a)
{
  const int64_t chunks = (s->n + SUBSPACE_ROWS - 1) / SUBSPACE_ROWS;
  /* the basis once, the vector once for each group of columns */
  lk_moved(s->e, s->n, LK_MOVES(s->ld + 3 * (s->ld / SUBSPACE_GROUP), 0));
  lk_moved(s->e, chunks * s->ld, LK_MOVES(3, 0));
  LOOM_TRY(run_subspace_kernel(s, &k_part, a, chunks * (subspace_ld(a->cols) / SUBSPACE_GROUP)));
  lk_moved(s->e, chunks * s->ld, LK_MOVES(3, 0));
  return run_subspace_kernel(s, &k_sum, a, 3 * (int64_t)a->cols);
}

loom_status subspace_prolong(const subspace *s, const subspace_args *a)
{
  lk_moved(s->e, s->n, LK_MOVES(s->ld + (a->add ? 6 : 3), 0));
  /* threads of a device wait for each other's numbers: one row each */
  subspace_args by = *a;
  by.lanes = s->e->backend == LOOM_CUDA ? 1 : SUBSPACE_LANES;
  return run_subspace_kernel(s, &k_prolong, &by, (s->n + by.lanes - 1) / by.lanes);
}

loom_status subspace_correct(const subspace *s, const subspace_args *a)
{
  LOOM_TRY(subspace_restrict(s, a));
  LOOM_TRY(run_subspace_kernel(s, &k_invert, a, a->cols));
  return subspace_prolong(s, a);
}
