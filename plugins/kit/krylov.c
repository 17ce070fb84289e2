/* krylov.c - the loop of conjugate gradients; see krylov.h. */
#include "kit/krylov.h"

#include "loom/plug.h"

static const lk_entry k_begin = LK_ENTRY_MOVES(krylov_begin, 6, 0),
                      k_target = LK_ENTRY_MOVES(krylov_target, 10, 0);
static const lk_entry k_length = LK_ENTRY_MOVES(krylov_length, 4, 0),
                      k_advance = LK_ENTRY_MOVES(krylov_advance, 18, 0);
static const lk_entry k_conjugate = LK_ENTRY_MOVES(krylov_conjugate, 16, 0),
                      k_turn = LK_ENTRY_MOVES(krylov_turn, 9, 0);
static const lk_entry k_dot = LK_ENTRY_MOVES(krylov_dot_rows, 6, 0);

/* Iterations before the host first reads the record of a device, and between the next reads: the
 * device does about as many in the time of one read. */
enum { LOOK_AFTER = 16 };

/* Number of iterations to launch before the next read of the record; launches after the end of a
 * solve have no effect.  Within a step the first read comes where the last solve of that step
 * ended. A solve of N iterations is then read log N times, for at most half as many launches more.
 * Solves of other steps are ignored, so that a resumed run launches as much as an uninterrupted
 * one. */
static int32_t until_look(const krylov_cg *c, const loom_step *st, int32_t done)
{
  const int known = st != NULL && c->last > LOOK_AFTER && c->last_step == st->index;
  if (c->e->backend == LOOM_CPU) return 1;
  if (done == 0) return known ? c->last : LOOK_AFTER;
  return done / 2 > LOOK_AFTER ? done / 2 : LOOK_AFTER;
}

loom_status krylov_cg_new(krylov_cg *c, const loom_host *host, const loom_exec *e, int32_t n,
                          int32_t max_iters)
{
  const int64_t n3 = 3 * (int64_t)n;
  const plug_buf all[] = {{"z", LOOM_REAL, n3, &c->z},
                          {"p", LOOM_REAL, n3, &c->p},
                          {"q", LOOM_REAL, n3, &c->q},
                          {"record", LOOM_REAL, KRYLOV_RECORD_LEN + (int64_t)max_iters, &c->s}};
  c->host = host;
  c->e = e;
  c->n = n;
  c->max_iters = max_iters;
  return plug_bufs_new(host, all, LOOM_COUNT(all));
}

loom_status krylov_cg_resize(krylov_cg *c, int32_t n)
{
  loom_buf *const all[] = {c->z, c->p, c->q};
  c->n = n;
  for (size_t i = 0; i < LOOM_COUNT(all); ++i)
    LOOM_TRY(c->host->buf_resize(c->host, all[i], 3 * (int64_t)n));
  return LOOM_OK;
}

static loom_status run_cg_kernel(const krylov_cg *c, const lk_entry *k, const krylov_args *a,
                                 int32_t n)
{
  return plug_run(c->host, c->e, k, a, n, NULL);
}

loom_status krylov_dot(const krylov_cg *c, const krylov_product *p)
{
  const krylov_dot_args a = {.x = p->x, .y = p->y};
  return plug_run(c->host, c->e, &k_dot, &a, c->n, p->dot);
}

/* z = P^-1 r, rho_next = r'z, and with `euclidean` square = r'r. */
static loom_status precondition_residual(const krylov_cg *c, const krylov_system *A,
                                         const krylov_args *a)
{
  krylov_record *const s = a->s;
  const krylov_product square = {.x = a->r, .y = a->r, .dot = &s->square};
  const krylov_product p = {.x = a->r, .y = a->z, .dot = &s->rho_next, .stop = &s->stop};
  if (a->euclidean) LOOM_TRY(krylov_dot(c, &square));
  return A->precondition(A->self, &p);
}

/* d = 0 and the first search direction. */
static loom_status begin_cg(const krylov_cg *c, const krylov_system *A, const krylov_args *a)
{
  LOOM_TRY(run_cg_kernel(c, &k_begin, a, c->n)); /* d = p = 0 */
  LOOM_TRY(precondition_residual(c, A, a));      /* z = P^-1 r,  rho_0 = r'z */
  LOOM_TRY(run_cg_kernel(c, &k_target, a, 1));   /* rho = rho_0, beta = 0, eta */
  return run_cg_kernel(c, &k_turn, a, c->n);     /* p = z + beta p */
}

/* Along the search direction to the minimum. */
static loom_status advance_cg(const krylov_cg *c, const krylov_system *A, const krylov_args *a)
{
  krylov_record *const s = a->s;
  const krylov_product p = {.x = a->p, .y = a->q, .dot = &s->curvature, .stop = &s->stop};
  LOOM_TRY(A->multiply(A->self, &p));           /* q = A p,  curvature = p'q */
  LOOM_TRY(run_cg_kernel(c, &k_length, a, 1));  /* alpha = rho / p'q, or the end */
  return run_cg_kernel(c, &k_advance, a, c->n); /* d = d + alpha p,  r = r - alpha q */
}

/* The next search direction, or the end. */
static loom_status turn_cg_direction(const krylov_cg *c, const krylov_system *A,
                                     const krylov_args *a)
{
  LOOM_TRY(precondition_residual(c, A, a)); /* z = P^-1 r,  rho_next = r'z */
  LOOM_TRY(
      run_cg_kernel(c, &k_conjugate, a, 1)); /* beta = rho_next / rho, rho = rho_next, or the end */
  return run_cg_kernel(c, &k_turn, a, c->n); /* p = z + beta p */
}

/* The record and the history behind it, at the address of c->s. */
static void place_cg_record(krylov_args *a, void *s)
{
  a->s = s;
  a->history = s != NULL ? (lk_real *)s + KRYLOV_RECORD_LEN : NULL;
}

static krylov_args map_cg_vectors(const krylov_cg *c, plug_maps *m, lk_real *r, lk_real *d)
{
  return (krylov_args){.d = d,
                       .r = r,
                       .z = plug_write(m, c->z),
                       .p = plug_write(m, c->p),
                       .q = plug_write(m, c->q),
                       .max_iters = c->max_iters};
}

/* The record on the host; its numbers into *out, iterations from *told on to the log. */
static loom_status read_cg_record(const krylov_cg *c, const loom_step *st, int norm, int32_t *told,
                                  krylov_result *out)
{
  const loom_host *const host = c->host;
  void *p;
  LOOM_TRY(host->map(host, c->e, c->s, LOOM_READ, LOOM_AT_HOST, &p));
  krylov_args at;
  place_cg_record(&at, p);
  out->stop = at.s->stop;
  out->iters = at.s->iters;
  out->products = out->iters + (out->stop == KRYLOV_NEGATIVE);
  out->eta = (double)at.s->eta;
  out->rho0 = (double)at.s->rho0;
  out->decrement = (double)at.s->decrement;
  out->residual = out->iters > 0 ? (double)at.history[out->iters - 1] : 1.0;
  if (st != NULL)
    for (; *told < out->iters; ++*told)
      host->inner(host, *told + 1, norm, (double)at.history[*told]);
  return host->unmap(host, c->s);
}

loom_status krylov_cg_solve(krylov_cg *c, const loom_step *st, const krylov_system *A, lk_real *r,
                            lk_real *d, const krylov_forcing *f, krylov_result *out)
{
  const int norm = f->euclidean ? LOOM_NORM_RESIDUAL_2 : LOOM_NORM_PRECONDITIONED;
  int32_t told = 0, done = 0;
  plug_maps m = plug_maps_on(c->host, c->e);
  krylov_args a = map_cg_vectors(c, &m, r, d);
  a.eta_min = (lk_real)f->eta_min;
  a.eta_max = (lk_real)f->eta_max;
  a.gamma = (lk_real)f->gamma;
  a.eta_before = (lk_real)f->eta_before;
  a.rho_before = (lk_real)f->rho_before;
  a.euclidean = f->euclidean;
  LOOM_TRY(m.status);
  out->stop = KRYLOV_RUNNING;
  while (out->stop == KRYLOV_RUNNING) {
    const int32_t until = done + until_look(c, st, done);
    plug_maps record = plug_maps_on(c->host, c->e);
    place_cg_record(&a, plug_rdwr(&record, c->s));
    LOOM_TRY(record.status);
    if (done == 0) LOOM_TRY(begin_cg(c, A, &a));
    for (; done < until; ++done) {
      LOOM_TRY(advance_cg(c, A, &a));
      LOOM_TRY(turn_cg_direction(c, A, &a));
    }
    LOOM_TRY(plug_unbind(&record));
    LOOM_TRY(read_cg_record(c, st, norm, &told, out));
  }
  c->last = out->iters;
  c->last_step = st != NULL ? st->index : -1;
  return plug_unbind(&m);
}

loom_status krylov_cg_iterate(krylov_cg *c, const krylov_system *A, lk_real *r, lk_real *d,
                              int32_t count)
{
  plug_maps m = plug_maps_on(c->host, c->e);
  krylov_args a = map_cg_vectors(c, &m, r, d);
  place_cg_record(&a, plug_write(&m, c->s));
  LOOM_TRY(m.status);
  LOOM_TRY(begin_cg(c, A, &a));
  for (int32_t k = 0; k < count; ++k) {
    if (k > 0) LOOM_TRY(turn_cg_direction(c, A, &a));
    LOOM_TRY(advance_cg(c, A, &a));
    if (A->iterated != NULL) A->iterated(A->self);
  }
  return plug_unbind(&m);
}

loom_status krylov_cg_curvature(const krylov_cg *c, double *curvature)
{
  void *p;
  LOOM_TRY(c->host->map(c->host, c->e, c->s, LOOM_READ, LOOM_AT_HOST, &p));
  *curvature = (double)((const krylov_record *)p)->curvature;
  return c->host->unmap(c->host, c->s);
}
