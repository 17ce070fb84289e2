/* cholmod_pd.c - projective dynamics with an exact, prefactored global step.
 *
 * S. Bouaziz, S. Martin, T. Liu, L. Kavan, M. Pauly, Projective Dynamics: Fusing Constraint
 * Projections for Fast Simulation, ACM TOG 33(4), 2014, doi 10.1145/2601097.2601116; for
 * springs first T. Liu, A. Bargteil, J. O'Brien, L. Kavan, Fast Simulation of Mass-Spring
 * Systems, ACM TOG 32(6), 2013, doi 10.1145/2508363.2508406.
 *
 * Local step:   p_e = closest allowed configuration to A_e x
 * Global step:  L x' = M y/h^2 + sum w A'p,   L = M/h^2 + sum w A'A
 * which kit/pd_global.h solves for the change of x, by a factor that it keeps.
 *
 * momentum = nesterov: x_k+1 = y_k + dx(y_k), y_k+1 = x_k+1 + beta_k (x_k+1 - x_k) with
 * t_k+1 = (1 + sqrt(1 + 4 t_k^2))/2, beta_k = (t_k - 1)/t_k+1 (Y. Nesterov 1983), restarted
 * when grad(y_k).(x_k+1 - x_k) > 0 (B. O'Donoghue, E. Candes, Adaptive Restart for
 * Accelerated Gradient Schemes, Found. Comput. Math. 15, 2015, gradient scheme); the core's iterate
 * is y.
 */
#include <math.h>
#include <stdlib.h>

#include "kit/pd_global.h"
#include "loom/plug.h"

enum { MOMENTUM_NONE = 0, MOMENTUM_NESTEROV = 1 };
enum { COL_FACTORISED = 0, COL_BETA = 1, COL_FACTOR_BYTES = 2 };

typedef struct {
  int32_t momentum;
  int32_t refactor;
  int32_t ordering;
  int32_t rotation;
} settings;

static const loom_param params[] = {
    LOOM_PARAM_ENUM(settings, momentum, MOMENTUM_NONE, "none|nesterov",
                    "Acceleration over global steps: none is the textbook iteration; nesterov "
                    "adds momentum with gradient restart."),
    PD_GLOBAL_PARAMS(settings),
};

static const loom_column columns[] = {
    {"factorised", "1", "numeric factorisations in this iteration"},
    {"beta", "1", "weight of the momentum, 0 without or after a restart"},
    {"factor_bytes", "B", "memory of the factor: values, row indices, supernodes, ordering"},
};

typedef struct {
  const loom_host *host;
  const loom_scene *sc;
  const loom_exec *e;
  settings set;
  pd_global g;
  double *x_prev; /* [n][3], m, last global step (momentum), else NULL */
  double t;       /* Nesterov's sequence; 1: start */
} cholmod_pd;

static loom_status cholmod_pd_create(const loom_host *host, const loom_scene *sc,
                                     const loom_exec *e, const void *set, void **self)
{
  LOOM_TRY(plug_new(host, sizeof(cholmod_pd), self));
  cholmod_pd *const s = *self;
  s->host = host;
  s->sc = sc;
  s->e = e;
  s->set = *(const settings *)set;
  s->t = 1.0;
  if (s->set.momentum == MOMENTUM_NESTEROV) {
    s->x_prev = calloc(3 * (size_t)sc->num_verts, sizeof *s->x_prev);
    LOOM_CHECK(host, s->x_prev != NULL, LOOM_E_NOMEM, "no memory for the momentum of %d vertices",
               sc->num_verts);
  }
  return pd_global_open(&s->g, host, sc, e, s->set.refactor, s->set.ordering, s->set.rotation);
}

static void cholmod_pd_destroy(void *self)
{
  cholmod_pd *s = self;
  if (s == NULL) return;
  pd_global_close(&s->g);
  free(s->x_prev);
  free(s);
}

static loom_status cholmod_pd_reset(void *self)
{
  cholmod_pd *s = self;
  s->t = 1.0;
  pd_global_forget(&s->g);
  return LOOM_OK;
}

static loom_status cholmod_pd_begin_step(void *self, const loom_step *st)
{
  cholmod_pd *s = self;
  s->t = 1.0;
  return pd_global_begin_step(&s->g, st);
}

/* Turn the global step in `trial` into the next iterate; returns beta. */
static double add_momentum(cholmod_pd *s, const loom_real *grad, loom_real *trial)
{
  const size_t m = 3 * (size_t)s->sc->num_verts;
  double uphill = 0.0;
  if (s->t > 1.0)
    for (size_t i = 0; i < m; ++i) uphill += (double)grad[i] * ((double)trial[i] - s->x_prev[i]);
  if (uphill > 0.0) s->t = 1.0;
  const double next = 0.5 * (1.0 + sqrt(1.0 + 4.0 * s->t * s->t));
  const double beta = (s->t - 1.0) / next;
  for (size_t i = 0; i < m; ++i) {
    const double x = (double)trial[i];
    if (beta > 0.0) trial[i] = (loom_real)(x + beta * (x - s->x_prev[i]));
    s->x_prev[i] = x;
  }
  s->t = next;
  return beta;
}

static loom_status apply_trial_momentum(cholmod_pd *s, const loom_step *st, double *beta)
{
  plug_maps m = plug_maps_on(s->host, s->e);
  const loom_real *const grad = plug_read_host(&m, st->grad);
  loom_real *const trial = plug_rdwr_host(&m, st->trial);
  LOOM_TRY(m.status);
  *beta = add_momentum(s, grad, trial);
  return plug_unbind(&m);
}

static loom_status cholmod_pd_iterate(void *self, const loom_step *st, loom_iterate *it)
{
  cholmod_pd *s = self;
  const loom_host *host = s->host;
  LOOM_TRY(pd_global_refresh(&s->g, st, &it->extra[COL_FACTORISED]));
  it->extra[COL_FACTOR_BYTES] = chol_factor_bytes(&s->g.c);
  host->tic(host, "global");
  LOOM_TRY(pd_global_step(&s->g, st, st->trial, &it->own_res));
  it->extra[COL_BETA] = 0.0;
  if (s->set.momentum == MOMENTUM_NESTEROV)
    LOOM_TRY(apply_trial_momentum(s, st, &it->extra[COL_BETA]));
  it->inner_res = NAN;
  host->toc(host, "global");
  return LOOM_OK;
}

/* A point that collision or contact moved is not where momentum pointed: start again. */
static loom_status cholmod_pd_accepted(void *self, const loom_step *st, const loom_accept *a)
{
  cholmod_pd *s = self;
  (void)st;
  if (a->alpha < 1.0 || a->toi < 1.0 || a->resolved) s->t = 1.0;
  return LOOM_OK;
}

static loom_status cholmod_pd_checkpoint(void *self, const loom_step *st, int restore)
{
  cholmod_pd *s = self;
  (void)st;
  return pd_global_checkpoint(&s->g, restore);
}

static const loom_solver_ops ops = {
    .struct_size = sizeof ops,
    .needs = LOOM_NEED_ELEM_GRADIENT | LOOM_NEED_ELEM_PROJECT | LOOM_NEED_CONTACT_QUAD |
             LOOM_READS_WIDE_QUADS | LOOM_NEED_CONTACT_ISO | LOOM_USES_GRADIENT | LOOM_USES_FACTOR,
    .trial = LOOM_TRIAL_POINT,
    .filter_when = LOOM_FILTER_EVERY,
    .create = cholmod_pd_create,
    .destroy = cholmod_pd_destroy,
    .reset = cholmod_pd_reset,
    .begin_step = cholmod_pd_begin_step,
    .iterate = cholmod_pd_iterate,
    .accepted = cholmod_pd_accepted,
    .checkpoint = cholmod_pd_checkpoint,
};

static const loom_plugin plugin = {
    LOOM_PLUGIN(solver, ops, LOOM_ON_CPU),
    .name = "cholmod_pd",
    .version = "0.1.0",
    .summary = "projective dynamics with an exact global step, prefactored by CHOLMOD",
    .reference = "S. Bouaziz, S. Martin, T. Liu, L. Kavan, M. Pauly, Projective Dynamics: Fusing "
                 "Constraint Projections for Fast Simulation, ACM TOG 33(4), 2014, "
                 "doi 10.1145/2601097.2601116",
    .license = "GPL-2.0-or-later", /* CHOLMOD's supernodal module; this source is MIT */
    LOOM_SETTINGS(settings, params),
    LOOM_COLUMNS(columns),
};

LOOM_EXPORT_PLUGIN(&plugin)
