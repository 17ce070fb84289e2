/* fx_wrong_solver.c - gradient descent in the mass metric, and a fault on request: the contract
 * tests and check mode must find each. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loom/plug.h"
#include "loom/plugin.h"

typedef struct settings {
  int32_t fault;
} settings;

enum {
  NONE,
  CHECKPOINT,
  THREADS,
  LEAK,
  CRASH,
  LEAVE,
  HANG,
  PAST_END,
  PAST_END_QUIET,
  READ,
  COLUMN,
  RESET
};
static const loom_param params[] = {
    LOOM_PARAM_ENUM(
        settings, fault, NONE,
        "none|checkpoint|threads|leak|crash|leave|hang|past_end|past_end_quiet|read|"
        "column|reset",
        "The fault: checkpoint() saves no data, bits depend on threads, every iteration "
        "makes a buffer, iterate() crashes, calls _exit, never returns, writes past the end of "
        "trial (and does not look at unmap), through a READ map, past its columns, "
        "reset() keeps all data."),
};
static const loom_column columns[] = {{"sigma", "1", "Step length."}};

typedef struct solver {
  const loom_host *host;
  const loom_scene *sc;
  const loom_exec *e;
  int fault;
  loom_real sigma;
  loom_buf *saved; /* real [1] */
} solver;

static loom_status wrong_solver_create(const loom_host *host, const loom_scene *sc,
                                       const loom_exec *e, const void *set, void **self)
{
  solver *const p = calloc(1, sizeof *p);
  LOOM_CHECK(host, p != NULL, LOOM_E_NOMEM, "no memory");
  *self = p;
  p->host = host;
  p->sc = sc;
  p->e = e;
  p->fault = ((const settings *)set)->fault;
  p->sigma = 1;
  return host->buf_new(host, "saved", LOOM_REAL, 1, &p->saved);
}

static void wrong_solver_destroy(void *self) { free(self); }

static loom_status fx_reset(void *self)
{
  solver *const p = self;
  if (p->fault != RESET) p->sigma = 1;
  return LOOM_OK;
}

static loom_status wrong_solver_begin_step(void *self, const loom_step *s)
{
  (void)self, (void)s;
  return LOOM_OK;
}

/* Services that are seldom used elsewhere: fill() and dots() agree with dot(). */
static loom_status use_services(solver *p, const loom_step *s)
{
  loom_buf *const a[2] = {s->trial, s->grad}, *const b[2] = {s->trial, s->trial};
  const double n = 3.0 * p->sc->num_verts;
  double two[2], one;
  LOOM_TRY(p->host->fill(p->host, p->e, s->trial, 2.0));
  LOOM_TRY(p->host->dots(p->host, p->e, 2, a, b, two));
  LOOM_TRY(p->host->dot(p->host, p->e, s->grad, s->trial, &one));
  LOOM_CHECK(p->host, two[0] == 4.0 * n && two[1] == one, LOOM_E_INTERNAL,
             "dots() are %g and %g, not %g and %g", two[0], two[1], 4.0 * n, one);
  return LOOM_OK;
}

static loom_status wrong_solver_iterate(void *self, const loom_step *s, loom_iterate *it)
{
  solver *const p = self;
  plug_maps m = plug_maps_on(p->host, p->e);
  const int32_t n = p->sc->num_verts;
  double factor = (double)p->sigma * s->h * s->h;
  if (p->fault == CRASH && s->index == 1) raise(SIGSEGV);
  if (p->fault == LEAVE) _exit(0);
  while (p->fault == HANG) sleep(1);
  if (p->fault == LEAK) {
    loom_buf *one;
    LOOM_TRY(p->host->buf_new(p->host, "one more", LOOM_REAL, 1, &one));
  }
  LOOM_TRY(use_services(p, s));
  if (p->fault == THREADS) factor *= 1 + 1e-12 * p->e->num_threads;
  const loom_real *const g = plug_read(&m, s->grad);
  loom_real *const mass = plug_bind(&m, p->sc->mass, LOOM_READ, LOOM_AT_EXEC);
  loom_real *const d = plug_write(&m, s->trial);
  LOOM_TRY(m.status);
  for (int32_t i = 0; i < 3 * n; ++i) d[i] = (loom_real)(-factor * (double)(g[i] / mass[i / 3]));
  if (p->fault == PAST_END || p->fault == PAST_END_QUIET)
    for (int k = 0; k < 40; ++k) d[3 * n + k] = 1;
  if (p->fault == READ) mass[1] *= 2;
  const loom_status done = plug_unbind(&m);
  if (done != LOOM_OK && p->fault == PAST_END_QUIET) { /* ignores the status */
    (void)p->host->unmap(p->host, p->sc->mass);
    (void)p->host->unmap(p->host, s->grad);
  } else if (done != LOOM_OK) {
    return done;
  }
  it->inner_res = it->own_res = NAN;
  it->extra[0] = (double)p->sigma;
  if (p->fault == COLUMN) it->extra[1] = 1.0;
  return LOOM_OK;
}

static loom_status fx_accepted(void *self, const loom_step *s, const loom_accept *a)
{
  solver *const p = self;
  (void)s;
  if (a->toi == 1.0 && a->alpha > 0.0) p->sigma *= (loom_real)(a->alpha < 1.0 ? a->alpha : 1.7);
  return LOOM_OK;
}

static loom_status fx_checkpoint(void *self, const loom_step *s, int restore)
{
  solver *const p = self;
  void *q;
  (void)s;
  if (p->fault == CHECKPOINT) return LOOM_OK;
  if (!restore) {
    LOOM_TRY(p->host->map(p->host, p->e, p->saved, LOOM_WRITE, LOOM_AT_HOST, &q));
    *(loom_real *)q = p->sigma;
    LOOM_TRY(p->host->unmap(p->host, p->saved));
  }
  LOOM_TRY(p->host->state_io(p->host, restore, "sigma", p->saved));
  if (restore) {
    LOOM_TRY(p->host->map(p->host, p->e, p->saved, LOOM_READ, LOOM_AT_HOST, &q));
    p->sigma = *(const loom_real *)q;
    LOOM_TRY(p->host->unmap(p->host, p->saved));
  }
  return LOOM_OK;
}

static const loom_solver_ops ops = {.struct_size = sizeof ops,
                                    .needs = LOOM_NEED_ELEM_ENERGY | LOOM_NEED_ELEM_GRADIENT |
                                             LOOM_NEED_CONTACT_ENERGY | LOOM_NEED_CONTACT_GRADIENT |
                                             LOOM_USES_GRADIENT | LOOM_NEEDS_LINE_SEARCH,
                                    .trial = LOOM_TRIAL_DIRECTION,
                                    .filter_when = LOOM_FILTER_EVERY,
                                    .create = wrong_solver_create,
                                    .destroy = wrong_solver_destroy,
                                    .reset = fx_reset,
                                    .begin_step = wrong_solver_begin_step,
                                    .iterate = wrong_solver_iterate,
                                    .accepted = fx_accepted,
                                    .checkpoint = fx_checkpoint};

static const loom_plugin plugin = {
    LOOM_PLUGIN(solver, ops, LOOM_ON_CPU),     .name = "fx_wrong_solver", .version = "1.0.0",
    .summary = "right, or wrong in one place", .reference = "none",       .license = "MIT",
    LOOM_SETTINGS(settings, params),           LOOM_COLUMNS(columns)};

LOOM_EXPORT_PLUGIN(&plugin)
