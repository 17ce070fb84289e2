/* aa_pd.c - projective dynamics accelerated by Anderson's method, safeguarded by the energy.
 *
 * Y. Peng, B. Deng, J. Zhang, F. Geng, W. Qin, L. Liu, Anderson Acceleration for Geometry
 * Optimization and Physics Simulation, ACM TOG 37(4), 2018, doi 10.1145/3197517.3201290.
 *
 * A local and a global step form a fixed-point iteration x <- G(x) that never raises the energy E.
 * Anderson acceleration continues from a combination of the last m + 1 values of G (window.h). This
 * accelerated point may have a higher E.  So algorithm 1 of the paper takes the plain step G(x)
 * where E of the accelerated point is not below E of the iterate before.
 *
 * DEVIATION: the paper computes E of an iterate when it works on it, and goes back if E has risen.
 * Here the comparison is made before the point goes to the core, so that every iterate that the
 * core measures is an accepted one.
 *
 * Where contact changes from iterate to iterate, so does G.  The window is kept then, since the
 * safeguard measures both energies on the present problem.  FILTER may move a point away from G(x);
 * this empties the window.
 */
#include <math.h>

#include "kit/pd_global.h"
#include "loom/plug.h"
#include "window.h"

enum { COL_FACTORISED = 0, COL_MIXED = 1, COL_PLAIN = 2, COL_FACTOR_BYTES = 3 };

typedef struct {
  int64_t window;
  int32_t safeguard;
  int32_t refactor;
  int32_t ordering;
  int32_t rotation;
} settings;

static const loom_param params[] = {
    LOOM_PARAM_INT(settings, window, 5, 0, AA_PD_MOST, "1",
                   "m of Peng et al. 2018: differences of earlier iterates that are combined; 0 is "
                   "the plain iteration."),
    LOOM_PARAM_BOOL(settings, safeguard, 1,
                    "Take the plain step where the accelerated one does not lower the energy "
                    "(algorithm 1); without it the energy is not looked at."),
    PD_GLOBAL_PARAMS(settings),
};

static const loom_column columns[] = {
    {"factorised", "1", "numeric factorisations in this iteration"},
    {"mixed", "1", "earlier iterates that the point handed over was combined of; 0: plain step"},
    {"plain", "1", "1: the accelerated point did not lower the energy, the plain step was taken"},
    {"factor_bytes", "B", "memory of the factor: values, row indices, supernodes, ordering"},
};

typedef struct {
  const loom_host *host;
  const loom_scene *sc;
  const loom_exec *e;
  settings set;
  pd_global g;
  window w;
  loom_buf *mixed; /* real [n][3], m, the accelerated point; NULL with window = 0 */
  loom_buf *one;   /* real [n][3], m, the same of one island; NULL: there was one island so far */
  double energy;   /* J, of the iterate that comes; NaN: not known */
  int32_t epoch;   /* the problem that `energy` belongs to */
} aa_pd;

static void clear_anderson_history(aa_pd *s)
{
  window_forget(&s->w);
  s->energy = NAN;
}

static loom_status aa_pd_create(const loom_host *host, const loom_scene *sc, const loom_exec *e,
                                const void *set, void **self)
{
  LOOM_TRY(plug_new(host, sizeof(aa_pd), self));
  aa_pd *const s = *self;
  s->host = host;
  s->sc = sc;
  s->e = e;
  s->set = *(const settings *)set;
  s->energy = NAN;
  LOOM_TRY(pd_global_open(&s->g, host, sc, e, s->set.refactor, s->set.ordering, s->set.rotation));
  LOOM_TRY(window_new(&s->w, host, e, sc->num_verts, (int32_t)s->set.window));
  if (s->set.window == 0) return LOOM_OK;
  return host->buf_new(host, "accelerated", LOOM_REAL, 3 * (int64_t)sc->num_verts, &s->mixed);
}

static void aa_pd_destroy(void *self)
{
  aa_pd *s = self;
  if (s != NULL) pd_global_close(&s->g);
  plug_free(self);
}

static loom_status aa_pd_reset(void *self)
{
  aa_pd *s = self;
  clear_anderson_history(s);
  pd_global_forget(&s->g);
  return LOOM_OK;
}

static loom_status aa_pd_begin_step(void *self, const loom_step *st)
{
  aa_pd *s = self;
  clear_anderson_history(s);
  return pd_global_begin_step(&s->g, st);
}

static loom_status energy_at(aa_pd *s, const loom_step *st, loom_buf *x, double *out)
{
  loom_energies E = {0};
  const loom_status r = s->host->eval(s->host, st->problem, x, LOOM_EVAL_ENERGY, &E, NULL);
  *out = r == LOOM_REJECTED ? INFINITY : E.total; /* contact has no value there */
  return r == LOOM_REJECTED ? LOOM_OK : r;
}

/* *yes = 1: the accelerated point lowers the energy and may be used. */
static loom_status check_energy_descent(aa_pd *s, const loom_step *st, int *yes)
{
  double mixed;
  *yes = 1;
  if (!s->set.safeguard) return LOOM_OK;
  if (isnan(s->energy)) LOOM_TRY(energy_at(s, st, st->x, &s->energy));
  LOOM_TRY(energy_at(s, st, s->mixed, &mixed));
  *yes = mixed < s->energy;
  s->energy = *yes ? mixed : NAN;
  return LOOM_OK;
}

/* The same for each island, with all others at x; s->mixed becomes G(x), in trial, where one has no
 * accelerated point that may be used.  *yes: whether any has. */
static loom_status lowers_islands(aa_pd *s, const loom_step *st, const int32_t *used, int *yes)
{
  const loom_host *const host = s->host;
  double take[LOOM_ISLANDS_MOST] = {0.0};
  if (s->one == NULL)
    LOOM_TRY(host->buf_new(host, "accelerated island", LOOM_REAL, 3 * (int64_t)s->sc->num_verts,
                           &s->one));
  if (s->set.safeguard) LOOM_TRY(energy_at(s, st, st->x, &s->energy));
  *yes = 0;
  for (int32_t k = 0; k < s->w.islands; ++k) {
    double only[LOOM_ISLANDS_MOST] = {0.0}, less[LOOM_ISLANDS_MOST] = {0.0}, mixed = -INFINITY;
    only[k] = 1.0;
    less[k] = -1.0;
    if (used[k] == 0) continue;
    LOOM_TRY(host->buf_copy(host, s->e, s->one, st->x));
    LOOM_TRY(host->axpby_islands(host, s->e, less, st->x, 1.0, s->one)); /* island k: x - x = 0 */
    LOOM_TRY(host->axpby_islands(host, s->e, only, s->mixed, 1.0, s->one));
    if (s->set.safeguard) LOOM_TRY(energy_at(s, st, s->one, &mixed));
    take[k] = !s->set.safeguard || mixed < s->energy ? 1.0 : 0.0;
    *yes |= take[k] > 0.0;
  }
  s->energy = NAN;
  /* trial + take (mixed - trial), exact for both values of take */
  LOOM_TRY(host->axpby_islands(host, s->e, take, s->mixed, 0.0, s->one));
  for (int32_t k = 0; k < s->w.islands; ++k) take[k] = 1.0 - take[k];
  LOOM_TRY(host->axpby_islands(host, s->e, take, st->trial, 1.0, s->one));
  return host->buf_copy(host, s->e, s->mixed, s->one);
}

static loom_status accelerate_by_anderson(aa_pd *s, const loom_step *st, double *extra)
{
  const loom_host *const host = s->host;
  int32_t used[LOOM_ISLANDS_MOST], most = 0;
  int yes = 0;
  loom_islands at;
  if (st->epoch != s->epoch) s->energy = NAN;
  s->epoch = st->epoch;
  LOOM_TRY(host->islands(host, &at));
  window_islands(&s->w, at.num);
  LOOM_TRY(window_add(&s->w, st->x, st->trial));
  if (s->set.window > 0) LOOM_TRY(window_mix(&s->w, s->mixed, used, &most));
  if (most > 0)
    LOOM_TRY(at.num > 1 ? lowers_islands(s, st, used, &yes) : check_energy_descent(s, st, &yes));
  if (!yes) s->energy = NAN;
  extra[COL_PLAIN] = most > 0 && !yes;
  extra[COL_MIXED] = yes ? (double)most : 0.0;
  return yes ? host->axpby(host, s->e, 1.0, s->mixed, 0.0, st->trial) : LOOM_OK;
}

static loom_status aa_pd_iterate(void *self, const loom_step *st, loom_iterate *it)
{
  aa_pd *s = self;
  const loom_host *host = s->host;
  LOOM_TRY(pd_global_refresh(&s->g, st, &it->extra[COL_FACTORISED]));
  it->extra[COL_FACTOR_BYTES] = chol_factor_bytes(&s->g.c);
  host->tic(host, "global");
  LOOM_TRY(pd_global_step(&s->g, st, st->trial, &it->own_res));
  host->toc(host, "global");
  host->tic(host, "accelerate");
  LOOM_TRY(accelerate_by_anderson(s, st, it->extra));
  host->toc(host, "accelerate");
  it->inner_res = NAN;
  return LOOM_OK;
}

static loom_status aa_pd_accepted(void *self, const loom_step *st, const loom_accept *a)
{
  aa_pd *s = self;
  loom_islands at;
  (void)st;
  LOOM_TRY(s->host->islands(s->host, &at));
  if (at.alpha == NULL || at.num != s->w.islands || a->resolved) {
    if (a->alpha < 1.0 || a->toi < 1.0 || a->resolved) clear_anderson_history(s);
    return LOOM_OK;
  }
  for (int32_t k = 0; k < at.num; ++k)
    if (at.alpha[k] < 1.0 || at.toi[k] < 1.0) window_forget_island(&s->w, k);
  return LOOM_OK;
}

static loom_status aa_pd_checkpoint(void *self, const loom_step *st, int restore)
{
  aa_pd *s = self;
  (void)st;
  return pd_global_checkpoint(&s->g, restore);
}

static const loom_solver_ops ops = {
    .struct_size = sizeof ops,
    .needs = LOOM_NEED_ELEM_ENERGY | LOOM_NEED_ELEM_GRADIENT | LOOM_NEED_ELEM_PROJECT |
             LOOM_NEED_CONTACT_ENERGY | LOOM_NEED_CONTACT_QUAD | LOOM_READS_WIDE_QUADS |
             LOOM_NEED_CONTACT_ISO | LOOM_USES_GRADIENT | LOOM_USES_FACTOR,
    .trial = LOOM_TRIAL_POINT,
    .filter_when = LOOM_FILTER_EVERY,
    .create = aa_pd_create,
    .destroy = aa_pd_destroy,
    .reset = aa_pd_reset,
    .begin_step = aa_pd_begin_step,
    .iterate = aa_pd_iterate,
    .accepted = aa_pd_accepted,
    .checkpoint = aa_pd_checkpoint,
};

static const loom_plugin plugin = {
    LOOM_PLUGIN(solver, ops, LOOM_ON_CPU),
    .name = "aa_pd",
    .version = "0.1.0",
    .summary = "projective dynamics with Anderson acceleration, safeguarded by the energy",
    .reference = "Y. Peng, B. Deng, J. Zhang, F. Geng, W. Qin, L. Liu, Anderson Acceleration for "
                 "Geometry Optimization and Physics Simulation, ACM TOG 37(4), 2018, "
                 "doi 10.1145/3197517.3201290",
    .license = "GPL-2.0-or-later", /* CHOLMOD's supernodal module; this source is MIT */
    LOOM_SETTINGS(settings, params),
    LOOM_COLUMNS(columns),
};

LOOM_EXPORT_PLUGIN(&plugin)
