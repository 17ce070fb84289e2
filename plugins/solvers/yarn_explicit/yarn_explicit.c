/* yarn_explicit.c - yarns in explicit steps: J. M. Kaldor, D. L. James and S. Marschner,
 * Efficient Yarn-based Cloth with Adaptive Contact Linearization, ACM TOG 29(4), 2010, Fig. 4.
 *
 * One step is one outer iteration:
 *   v += h M^-1 f(x)          all forces at the start of the step, contact among them
 *   glue, then lengths        projections at x + h v (Goldenthal et al. 2007)
 *   v = (x' - x)/h            and non-rigid damping of blocks of loops
 * The result is the trial point.  Contact with objects comes last, in FILTER (plugin `project`),
 * and the scheduler moves the frames of the yarns on (elements yarn_bend, yarn_twist).  The core
 * then measures the residual of the implicit step, an equation that this method does not solve. */
#include <math.h>

#include "loom/plug.h"
#include "yarn.kern.h"
#include "yarn_explicit.h"

static const loom_param params[] = {
    LOOM_PARAM_REAL(settings, stability, 0.5, 0, 10, "1",
                    "The step must be below this times the least l^2 sqrt(rho/k_b) (l lengths of "
                    "segments, rho mass per length, k_b bending stiffness), or it is refused; 0: "
                    "no check.  Stiff yarns were stable to 0.6 and not at 0.7 (figure acl-dt)."),
    LOOM_PARAM_REAL(settings, tolerance, 1e-6, 1e-14, 1, "1",
                    "Lengths are projected until | |e|^2/l^2 - 1 | is below this."),
    LOOM_PARAM_INT(settings, max_iters, 10, 0, 1000, "1",
                   "Most iterations of that projection; 0: lengths are free."),
    LOOM_PARAM_INT(settings, block, 4, 1, 1000, "1",
                   "Non-rigid motion is damped in blocks of this many rows and columns of loops."),
    LOOM_PARAM_REAL(settings, mu_prop, 1500, 0, 1e6, "1/s",
                    "Damping in proportion to non-rigid velocity (1500 to 4500 in the paper).",
                    LOOM_P_PROBLEM),
    LOOM_PARAM_REAL(
        settings, mu_const, 5, 0, 1e6, "m/s^2",
        "Damping independent of non-rigid velocity, which brings cloth to rest (500 cm/s^2).  It "
        "also holds a yarn where forces leave up to this acceleration, half of gravity: "
        "a catenary of 0.5 m over 0.3 m stands still up to 22 mm off its curve.",
        LOOM_P_PROBLEM),
    LOOM_PARAM_REAL(settings, mu_const_end, 0, 0, 1e6, "s",
                    "Time from which mu_const is 0, so that a run ends where forces balance (give "
                    "the object some damping: mu_prop does not act on a swing); 0: never.",
                    LOOM_P_PROBLEM),
    LOOM_PARAM_REAL(settings, shrink, 1, 0.1, 2, "1",
                    "Factor on all rest lengths in the end, to tighten a fresh knit (0.85): of the "
                    "projection, of bending and twist, and as weights of contact (the energy "
                    "has its square).  An evenly shrunk yarn is at rest.  Radii, masses and "
                    "glue stay.",
                    LOOM_P_PROBLEM),
    LOOM_PARAM_REAL(settings, shrink_time, 0.05, 0, 1e3, "s",
                    "Time in which lengths reach this factor, evenly.", LOOM_P_PROBLEM),
};

static const loom_column columns[] = {
    {"length_error", "1", "largest | |e|^2/l^2 - 1 | after projection"},
    {"limit", "1", "step over the one that bending allows at most"},
};

typedef struct {
  const loom_host *host;
  const loom_scene *sc;
  const loom_exec *e;
  settings set;
  yarn_explicit_limit limit;
  yarn_explicit_blocks blocks;
  loom_buf *work;   /* real [YARN_EXPLICIT_WORK][ns] */
  loom_buf *report; /* real [2][ny]: iterations, error */
} solver;

static loom_status yarn_explicit_create(const loom_host *host, const loom_scene *sc,
                                        const loom_exec *e, const void *set, void **self)
{
  LOOM_TRY(plug_new(host, sizeof(solver), self));
  solver *const g = *self;
  g->host = host;
  g->sc = sc;
  g->e = e;
  g->set = *(const settings *)set;
  LOOM_TRY(limit_find(host, e, sc, &g->set, &g->limit));
  LOOM_TRY(limit_check_glue(host, e, sc));
  if (sc->num_yarns == 0) return LOOM_OK;
  LOOM_TRY(host->buf_new(host, "length projection", LOOM_REAL,
                         YARN_EXPLICIT_WORK * (int64_t)sc->num_segs, &g->work));
  LOOM_TRY(host->buf_new(host, "iterations and errors", LOOM_REAL, 2 * (int64_t)sc->num_yarns,
                         &g->report));
  return blocks_make(host, e, sc, g->set.block, &g->blocks);
}

/* The first iterate is the start of the step, so that forces are taken there. */
static loom_status yarn_explicit_begin_step(void *self, const loom_step *s)
{
  solver *g = self;
  const yarn_explicit_limit *l = &g->limit;
  LOOM_CHECK(g->host, g->set.stability <= 0 || s->h <= l->h, LOOM_E_CONFIG,
             "the step of %.6g s is longer than bending allows, %.6g s at vertex %d (segments of "
             "%.4g m, %.4g kg/m, k_b %.4g N m^2); set [run] dt (or dt/substeps) below it, lower "
             "bending, or raise [solver] stability at your own risk",
             s->h, l->h, l->vert, l->length, l->rho, l->k_b);
  return g->host->buf_copy(g->host, g->e, s->trial, s->x_start);
}

static loom_status apply_yarn_forces(solver *g, const loom_step *s)
{
  static const lk_entry k = LK_ENTRY_MOVES(yarn_explicit_force, 10, 1);
  plug_maps m = plug_maps_on(g->host, g->e);
  const yarn_explicit_force_args a = {.x = plug_read(&m, s->x),
                                      .y = plug_read(&m, s->y),
                                      .grad = plug_read(&m, s->grad),
                                      .mass = plug_read(&m, g->sc->mass),
                                      .fixed = plug_read(&m, g->sc->fixed),
                                      .out = plug_write(&m, s->trial),
                                      .h2 = (lk_real)(s->h * s->h)};
  return plug_launch(&m, &k, &a, g->sc->num_verts, NULL);
}

static loom_status project_glue_pairs(solver *g, const loom_step *s)
{
  static const lk_entry k = LK_ENTRY_MOVES(yarn_explicit_glue, 15, 4);
  const loom_scene *sc = g->sc;
  plug_maps m = plug_maps_on(g->host, g->e);
  if (sc->num_glue == 0) return LOOM_OK;
  const yarn_explicit_glue_args a = {.glue = plug_read(&m, sc->glue),
                                     .len = plug_read(&m, sc->glue_len),
                                     .mass = plug_read(&m, sc->mass),
                                     .fixed = plug_read(&m, sc->fixed),
                                     .x = plug_rdwr(&m, s->trial)};
  return plug_launch(&m, &k, &a, sc->num_glue, NULL);
}

static loom_status yarn_explicit_rest_change(void *self, const loom_step *s, double *change)
{
  const solver *const g = self;
  const double all = g->set.shrink - 1.0, time = g->set.shrink_time;
  *change = time > 0 && s->time < time ? all * s->time / time : all;
  return LOOM_OK;
}

static loom_status project_segment_lengths(solver *g, const loom_step *s)
{
  static const lk_entry k = LK_ENTRY_MOVES(yarn_explicit_length, 0, 0);
  const loom_scene *sc = g->sc;
  plug_maps m = plug_maps_on(g->host, g->e);
  lk_real *const report = plug_write(&m, g->report);
  LOOM_TRY(m.status);
  const yarn_explicit_length_args a = {.vert = plug_read(&m, sc->yarn_vert),
                                       .seg = plug_read(&m, sc->yarn_seg),
                                       .closed = plug_read(&m, sc->yarn_closed),
                                       .len = plug_read(&m, sc->seg_len),
                                       .mass = plug_read(&m, sc->mass),
                                       .fixed = plug_read(&m, sc->fixed),
                                       .x = plug_rdwr(&m, s->trial),
                                       .work = plug_write(&m, g->work),
                                       .iters = report,
                                       .error = report + sc->num_yarns,
                                       .shrink = (lk_real)(1.0 + s->rest_change),
                                       .tolerance = (lk_real)g->set.tolerance,
                                       .num_segs = sc->num_segs,
                                       .max_iters = (int32_t)g->set.max_iters};
  LOOM_TRY(m.status);
  lk_moved(g->e, sc->num_segs, LK_MOVES(94, 8)); /* with the usual number of iterations */
  return plug_launch(&m, &k, &a, sc->num_yarns, NULL);
}

static loom_status damp_yarn_blocks(solver *g, const loom_step *s)
{
  static const lk_entry k = LK_ENTRY_MOVES(yarn_explicit_damp, 4024, 557);
  plug_maps m = plug_maps_on(g->host, g->e);
  const int on = !(g->set.mu_const_end > 0) || s->time <= g->set.mu_const_end;
  const yarn_explicit_damp_args a = {.first = plug_read(&m, g->blocks.first),
                                     .verts = plug_read(&m, g->blocks.verts),
                                     .mass = plug_read(&m, g->sc->mass),
                                     .start = plug_read(&m, s->x_start),
                                     .x = plug_rdwr(&m, s->trial),
                                     .h = (lk_real)s->h,
                                     .mu_prop = (lk_real)g->set.mu_prop,
                                     .mu_const = (lk_real)(on ? g->set.mu_const : 0.0)};
  return plug_launch(&m, &k, &a, g->blocks.num, NULL);
}

/* Reads the results of the projection on the host. */
static loom_status report_length_projection(solver *g, const loom_step *s, loom_iterate *it)
{
  void *p;
  const int32_t ny = g->sc->num_yarns;
  LOOM_TRY(g->host->map(g->host, g->e, g->report, LOOM_READ, LOOM_AT_HOST, &p));
  const loom_real *r = p;
  double error = 0;
  for (int32_t k = 0; k < ny; ++k) {
    it->inner_iters = r[k] > it->inner_iters ? (int32_t)r[k] : it->inner_iters;
    error = fmax(error, (double)r[ny + k]);
  }
  LOOM_TRY(g->host->unmap(g->host, g->report));
  it->extra[0] = error;
  if (isfinite(g->limit.h) && g->set.stability > 0) it->extra[1] = s->h / g->limit.h;
  return LOOM_OK;
}

static loom_status yarn_explicit_iterate(void *self, const loom_step *s, loom_iterate *it)
{
  solver *g = self;
  it->inner_res = NAN;
  it->own_res = NAN;
  LOOM_TRY(apply_yarn_forces(g, s));
  if (g->sc->num_yarns == 0) return LOOM_OK;
  LOOM_TRY(project_glue_pairs(g, s));
  LOOM_TRY(project_segment_lengths(g, s));
  LOOM_TRY(damp_yarn_blocks(g, s));
  return report_length_projection(g, s, it);
}

static const loom_solver_ops ops = {
    .struct_size = sizeof ops,
    .needs = LOOM_NEED_ELEM_GRADIENT | LOOM_NEED_CONTACT_GRADIENT | LOOM_USES_GRADIENT |
             LOOM_MADE_FOR_YARNS,
    .trial = LOOM_TRIAL_POINT,
    .max_outer = 1,
    .filter_when = LOOM_FILTER_EVERY,
    .create = yarn_explicit_create,
    .destroy = plug_free,
    .begin_step = yarn_explicit_begin_step,
    .iterate = yarn_explicit_iterate,
    .rest_change = yarn_explicit_rest_change,
};

static const loom_plugin plugin = {
    LOOM_PLUGIN(solver, ops, LK_BACKENDS),
    .name = "yarn_explicit",
    .version = "0.1.0",
    .summary = "explicit steps for yarns: glue, inextensible lengths, non-rigid damping\n"
               "its explicit steps know no friction of sheets: they slide as on ice",
    .reference = "J. M. Kaldor, D. L. James and S. Marschner, Efficient Yarn-based Cloth with "
                 "Adaptive Contact Linearization, ACM TOG 29(4), 2010, doi 10.1145/1778765.1778842",
    .license = "MIT",
    LOOM_SETTINGS(settings, params),
    LOOM_COLUMNS(columns),
};

LOOM_EXPORT_PLUGIN(&plugin)
