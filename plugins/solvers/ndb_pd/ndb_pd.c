/* ndb_pd.c - projective dynamics with a subspace, aggregated Jacobi and subspace reuse.
 *
 * L. Lan et al., Efficient GPU Cloth Simulation with Non-distance Barriers and Subspace Reuse,
 * ACM TOG 43(6), 2024, doi 10.1145/3687760: the global solver of the paper; its contact model is
 * a plugin of its own.
 *
 * In a local-global iteration the core measures grad E(x), and this evaluation is the local step.
 * The contact model gives isotropic terms, global.c improves u in (H + W) u = -grad E(x), and
 * x + u goes to the core.  Corrections and damped sweeps that start from x never raise the
 * quadratic model that touches E at x.  So, without momentum, E falls in every iteration with any
 * number of sweeps.
 *
 * The two loops of Alg. 1: the core's outer iterations are the inner loop.  A contact model that is
 * defined at points that intersect asks for the filter (full collision detection) when its inner
 * loop ends; the solver asks for it, too, every `inner` iterations.  With other contact models the
 * filter runs in each iteration. */
#include <math.h>
#include <stdlib.h>

#include "ndb_pd.h"
#include "operator.kern.h"

static const lk_entry k_point = LK_ENTRY_MOVES(ndb_pd_point, 9, 0),
                      k_uphill = LK_ENTRY_MOVES(ndb_pd_uphill, 9, 0);
static const lk_entry k_accelerate = LK_ENTRY_MOVES(ndb_pd_accelerate, 15, 0);

/* Global steps before Chebyshev's weights set in. */
enum { CHEBYSHEV_DELAY = 5 };

static void restart_momentum(ndb_pd *s)
{
  s->t = s->omega = 1.0;
  s->momentum_steps = 0;
  s->restart = 1;
}

static loom_status ndb_pd_create(const loom_host *host, const loom_scene *sc, const loom_exec *e,
                                 const void *set, void **self)
{
  LOOM_TRY(plug_new(host, sizeof(ndb_pd), self));
  ndb_pd *const s = *self;
  s->host = host;
  s->sc = sc;
  s->e = e;
  s->n = sc->num_verts;
  s->set = *(const ndb_pd_settings *)set;
  restart_momentum(s);
  LOOM_TRY(ndb_pd_check(host, e, &s->set));
  LOOM_TRY(ndb_pd_ahead_new(s));
  if (s->set.rotation == ROTATION_EXACT) LOOM_TRY(body_turns_new(&s->turns, host, sc, e));
  return ndb_pd_operator_new(s);
}

static void ndb_pd_destroy(void *self)
{
  ndb_pd *s = self;
  if (s == NULL) return;
  ndb_pd_basis_free(s);
  ndb_pd_monitor_free(s);
  body_turns_free(&s->turns);
  free(s);
}

static loom_status ndb_pd_reset(void *self)
{
  ndb_pd *s = self;
  restart_momentum(s);
  s->ready = 0;
  return LOOM_OK;
}

static loom_status ndb_pd_begin_step(void *self, const loom_step *st)
{
  ndb_pd *s = self;
  restart_momentum(s);
  s->since_filter = s->holding = s->leads = s->ready = 0;
  s->tells[TOLD_FAILED] = 0.0;
  if (st->problem->inertia != s->inertia_made) {
    s->inertia_made = 0.0;
    s->host->tic(s->host, "precompute");
    LOOM_TRY(ndb_pd_operator_make(s, st));
    LOOM_TRY(ndb_pd_basis_make(s));
    LOOM_TRY(ndb_pd_reuse_new(s));
    LOOM_TRY(ndb_pd_fused_make(s));
    LOOM_TRY(ndb_pd_ahead_make(s));
    LOOM_TRY(body_turns_make(&s->turns));
    s->host->toc(s->host, "precompute");
    s->inertia_made = st->problem->inertia;
  }
  return ndb_pd_warm(s, st);
}

/* Chebyshev's momentum starts anew when contact changes, because it has no test of its own against
 * an extrapolation in an old direction.  Nesterov's momentum is tested by the gradient and goes on:
 * if it started anew at every change, it would never gain speed in contact (drape of 41 x 41, 15
 * iterations per step: twice as far off). */
static loom_status ndb_pd_contact_changed(void *self, const loom_step *st, uint32_t changed)
{
  ndb_pd *s = self;
  (void)st;
  if (changed != LOOM_CHANGED_NONE && s->set.momentum == MOMENTUM_CHEBYSHEV) restart_momentum(s);
  return LOOM_OK;
}

/* ---- momentum ---- */

static double nesterov_weight(ndb_pd *s, double uphill)
{
  if (uphill > 0.0) s->t = 1.0;
  const double next = 0.5 * (1.0 + sqrt(1.0 + 4.0 * s->t * s->t));
  const double beta = (s->t - 1.0) / next;
  s->t = next;
  return beta;
}

static double chebyshev_weight(ndb_pd *s)
{
  const double rho2 = s->set.momentum_rho * s->set.momentum_rho;
  const int32_t k = s->momentum_steps++;
  if (k < CHEBYSHEV_DELAY)
    s->omega = 1.0;
  else
    s->omega = k == CHEBYSHEV_DELAY ? 2.0 / (2.0 - rho2) : 4.0 / (4.0 - rho2 * s->omega);
  return s->omega;
}

/* trial = x + total, and momentum on it */
static loom_status next_point(ndb_pd *s, const loom_step *st, double *beta)
{
  plug_maps m = plug_maps_on(s->host, s->e), sum = m;
  ndb_pd_vector_args a = {.x = plug_read(&m, st->x),
                          .grad = plug_read(&m, st->grad),
                          .total = plug_bind(&m, s->total, LOOM_READ, LOOM_AT_EXEC),
                          .trial = plug_write(&m, st->trial),
                          .before = plug_rdwr(&m, s->before),
                          .beta = 0,
                          .omega = 1,
                          .chebyshev = s->set.momentum == MOMENTUM_CHEBYSHEV};
  double uphill = 0.0;
  *beta = 0.0;
  LOOM_TRY(plug_run_on(&m, &k_point, &a, s->n, NULL));
  if (s->ahead) {
    if (a.chebyshev) a.omega = (lk_real)chebyshev_weight(s);
    *beta = a.chebyshev ? (double)a.omega - 1.0 : 0.0;
    return ndb_pd_ahead_momentum(s, &m, &a);
  }
  if (s->set.momentum == MOMENTUM_NONE) return plug_unbind(&m);
  if (s->t > 1.0) {
    lk_real *const result = plug_rdwr(&sum, s->result);
    LOOM_TRY(plug_launch(&sum, &k_uphill, &a, s->n, result));
    LOOM_TRY(plug_fetch(s->host, s->e, s->result, 1, &uphill));
  }
  if (a.chebyshev)
    a.omega = (lk_real)chebyshev_weight(s);
  else
    a.beta = (lk_real)nesterov_weight(s, uphill);
  *beta = a.chebyshev ? (double)a.omega - 1.0 : (double)a.beta;
  return plug_launch(&m, &k_accelerate, &a, s->n, NULL);
}

/* ---- one local-global iteration ---- */

static loom_status ndb_pd_iterate(void *self, const loom_step *st, loom_iterate *it)
{
  ndb_pd *s = self;
  const loom_host *const host = s->host;
  const loom_quad *q = NULL;
  ndb_pd_report r;
  double theta, moved = NAN;
  LOOM_CHECK(host, s->inertia_made > 0.0, LOOM_E_STATE, "iterate() came before begin_step()");
  LOOM_CHECK(
      host, s->tells[TOLD_FAILED] == 0.0, LOOM_E_NUMERIC,
      "the reduced matrix of %d modes cannot be inverted: largest contact weight %g N/m; try "
      "subspace = none",
      s->r2, s->w_max);
  if (s->ready) {
    LOOM_TRY(ndb_pd_contact_end(s, s->found));
  } else {
    LOOM_TRY(host->contact_quad(host, st->x, &q));
    LOOM_TRY(ndb_pd_contact(s, q));
  }
  s->ready = 0;
  host->tic(host, "global");
  LOOM_TRY(ndb_pd_solve(s, st, st->x, st->grad, 1, &r, &theta));
  LOOM_TRY(next_point(s, st, &it->extra[COL_BETA]));
  if (!s->ahead) LOOM_TRY(host->norm_max3(host, s->e, s->total, &moved));
  host->toc(host, "global");
  host->count(host, LOOM_C_PROJECT, 1);

  it->inner_iters = r.sweeps;
  it->inner_res = r.last;
  it->own_res = moved;
  it->extra[COL_MV] = (double)r.mv;
  it->extra[COL_CORRECTIONS] = (double)r.corrections;
  it->extra[COL_MODES] = s->space.cols > 0 ? (double)(s->rows > 0 ? s->r2 : s->r1) : 0.0;
  it->extra[COL_ROWS] = (double)s->rows;
  it->extra[COL_W_MAX] = s->w_max;
  it->extra[COL_THETA] = theta;
  it->extra[COL_MU_HI] = s->mu_hi;
  ++s->since_filter;
  it->filter = (s->set.inner > 0 && s->since_filter >= s->set.inner) ||
               (s->set.inner_tolerance > 0.0 && moved <= s->set.inner_tolerance);
  return s->ahead ? ndb_pd_ahead_tell(s, it) : LOOM_OK;
}

/* A point that collision or contact moved is not where momentum pointed. */
static loom_status ndb_pd_accepted(void *self, const loom_step *st, const loom_accept *a)
{
  ndb_pd *s = self;
  if (a->alpha < 1.0 || a->resolved) restart_momentum(s);
  if (a->filtered) s->since_filter = 0;
  if (!a->filtered) s->leads = 1;
  s->ready = 0;
  return a->final ? LOOM_OK : ndb_pd_ahead_contact(s, st);
}

/* All data that carry over between steps are functions of the system (momentum starts anew in every
 * step), so there is no checkpoint(); eigenvectors from a file have the bits of computed ones. */
static const loom_solver_ops ops = {
    .struct_size = sizeof ops,
    .needs = LOOM_NEED_ELEM_GRADIENT | LOOM_NEED_ELEM_PROJECT | LOOM_NEED_CONTACT_QUAD |
             LOOM_READS_WIDE_QUADS | LOOM_NEED_CONTACT_ISO | LOOM_USES_GRADIENT,
    .trial = LOOM_TRIAL_POINT,
    .filter_when = LOOM_FILTER_EVERY,
    .create = ndb_pd_create,
    .destroy = ndb_pd_destroy,
    .reset = ndb_pd_reset,
    .begin_step = ndb_pd_begin_step,
    .contact_changed = ndb_pd_contact_changed,
    .iterate = ndb_pd_iterate,
    .accepted = ndb_pd_accepted,
};

static const loom_plugin plugin = {
    LOOM_PLUGIN(solver, ops, LK_BACKENDS),
    .name = "ndb_pd",
    .version = "0.1.0",
    .summary = "projective dynamics by subspace, aggregated Jacobi and subspace reuse",
    .reference = "L. Lan et al., Efficient GPU Cloth Simulation with Non-distance Barriers and "
                 "Subspace Reuse, ACM TOG 43(6), 2024, doi 10.1145/3687760",
    .license = "GPL-2.0-or-later", /* CHOLMOD's supernodal module; this source is MIT */
    LOOM_SETTINGS(ndb_pd_settings, ndb_pd_params),
    LOOM_COLUMNS(ndb_pd_columns),
};

LOOM_EXPORT_PLUGIN(&plugin)
