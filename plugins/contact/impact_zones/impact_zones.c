/* impact_zones.c - inelastic impact zones: pairs that meet in a step end it with the gap they had.
 *
 * A post-only model: it fits every solver, and forces at a distance are for other models.
 * resolve() looks for impacts on the way from the start of the step to the solver's point, changes
 * the velocities of the vertices that take part, and repeats until there are none.
 *
 *   scheme = system    all impacts of the step so far in one linear system (response.h)
 *   scheme = zones     every round adds the earliest impacts of which no two share a vertex, and
 *                      solves for all impacts so far; they form zones that grow and merge, each a
 *                      block of the system
 *   scheme = impulses  one impulse for every impact of the round as if it were alone; rounds have
 *                      no memory
 *
 * M. Tang et al., CAMA: Contact-Aware Matrix Assembly with Unified Collision Handling for GPU-based
 * Cloth Simulation, Computer Graphics Forum 35(2), 2016, section 5; zones: D. Harmon et al., Robust
 * Treatment of Simultaneous Collisions, SIGGRAPH 2008; impulses: R. Bridson et al., Robust
 * Treatment of Collisions, Contact and Friction for Cloth Animation, SIGGRAPH 2002.
 *
 * Every solve starts from the velocities before any response.  Solved one set after the other,
 * impacts could open for ever the gaps that others have closed.  No state carries over between
 * steps.
 */
#include <math.h>

#include "impacts.h"
#include "response.h"
#include "rigid.h"
#include "start.h"

static const lk_entry k_loss = LK_ENTRY_MOVES(impact_loss, 10, 1),
                      k_clear = LK_ENTRY_MOVES(impact_clear, 0, 1);

enum { RIGID_ROUNDS = 100 }; /* in which rigid zones may grow and merge */
enum { SCHEME_SYSTEM = 0, SCHEME_ZONES = 1, SCHEME_IMPULSES = 2 };
enum { MODE_EQUALITY = 0, MODE_LCP = 1 };
enum { DETECT_TOUCHED = 0, DETECT_ALL = 1 };
enum { COL_ROUNDS = 0, COL_FIRST, COL_IMPACTS, COL_TOUCHED, COL_ITERS, COL_PULLING, COL_RIGID };

typedef struct {
  int32_t scheme;
  int32_t mode;
  int32_t detect;
  double tolerance;
  double shift;
  double clearance;
  double max_push;
  int64_t max_inner;
  int64_t rounds;
} settings;

static const loom_param params[] = {
    LOOM_PARAM_ENUM(settings, scheme, SCHEME_SYSTEM, "system|zones|impulses",
                    "All impacts of the step in one system; zones that grow by the earliest ones; "
                    "or single impulses."),
    LOOM_PARAM_ENUM(settings, mode, MODE_EQUALITY, "equality|lcp",
                    "Whether impacts may pull, as in the paper, or only push."),
    LOOM_PARAM_ENUM(settings, detect, DETECT_TOUCHED, "touched|all",
                    "Where later rounds look: around vertices that an impact has moved, or "
                    "everywhere."),
    LOOM_PARAM_REAL(settings, tolerance, 1e-3, 1e-14, 1.0, "1",
                    "Residual of the linear system that is left, in parts of its right-hand side."),
    LOOM_PARAM_REAL(
        settings, shift, 1e-6, 0, 1.0, "1",
        "With mode = equality this part of its diagonal is added to the matrix, so that "
        "equations which contradict each other a little move no vertex far."),
    LOOM_PARAM_REAL(settings, clearance, 1e-6, 0, 1e-1, "m",
                    "Least gap at the end of impacts that only push (mode = lcp, scheme = "
                    "impulses); other impacts end with the gap of the start of the step."),
    LOOM_PARAM_REAL(settings, max_push, 0, 0, 1e3, "m",
                    "Most that impacts move a vertex in a step; a step beyond it is made again in "
                    "halves, so that cloth is not stretched before elasticity learns of it. 0: no "
                    "limit."),
    LOOM_PARAM_INT(settings, max_inner, 200, 1, 1000000, "1",
                   "Iterations after which a linear solve ends with its present solution."),
    LOOM_PARAM_INT(settings, rounds, 50, 1, 10000, "1",
                   "Most rounds of detection and response in one step."),
};

static const loom_column step_columns[] = {
    {"rounds", "1", "rounds of response"},
    {"first", "1", "impacts that the first round found"},
    {"impacts", "1", "impacts of the last system"},
    {"touched", "1", "vertices of the last system"},
    {"inner", "1", "iterations of all linear solves"},
    {"pulling", "1", "impacts of the last system that pull"},
    {"rigid", "1", "vertices that had to move as rigid zones"},
};

typedef struct {
  const loom_host *host;
  const loom_scene *sc;
  const loom_exec *e;
  settings set;
  impacts all;
  response system;
  uint32_t kinds;   /* LOOM_BIT(LOOM_PAIR_*) this instance is asked for */
  loom_buf *wanted; /* real [n][3], m, where the solver wants to be */
  loom_buf *before; /* real [n][3], m, where the response starts from */
  loom_buf *mask;   /* u8 [n], 1: an impact has moved it in this step */
  loom_buf *result; /* real [1] */
  response_report report;
  int64_t rounds, first, rigid;
  double dissipated; /* J */
  int checked;       /* 1: impacts_check_start() has let this run begin */
} zones;

/* ---- life ---- */

static loom_status impact_zones_create(const loom_host *host, const loom_scene *sc,
                                       const loom_exec *e, const void *set, void **self)
{
  LOOM_TRY(plug_new(host, sizeof(zones), self));
  zones *const p = *self;
  const int64_t n3 = 3 * (int64_t)sc->num_verts;
  const plug_buf all[] = {{"wanted", LOOM_REAL, n3, &p->wanted},
                          {"before impacts", LOOM_REAL, n3, &p->before},
                          {"moved by impacts", LOOM_U8, sc->num_verts, &p->mask},
                          {"lost energy", LOOM_REAL, 1, &p->result}};
  p->host = host;
  p->sc = sc;
  p->e = e;
  p->set = *(const settings *)set;
  LOOM_TRY(plug_bufs_new(host, all, LOOM_COUNT(all)));
  LOOM_TRY(impacts_new(&p->all, host, sc, e));
  return response_new(&p->system, host, sc, e, (int32_t)p->set.max_inner);
}

static loom_status impact_zones_begin_step(void *self, const loom_step *s)
{
  zones *const p = self;
  (void)s;
  impacts_clear(&p->all);
  p->report = (response_report){0};
  p->rounds = p->first = p->rigid = 0;
  p->dissipated = 0.0;
  return LOOM_OK;
}

/* Asks for no detection before the end of the step; stores the kinds of pairs of this instance, and
 * looks once at the start of the run.  Each step ends apart, and the next one starts there. */
static loom_status impact_zones_plan(void *self, const loom_step *s, loom_query *q)
{
  zones *const p = self;
  p->kinds = q->kinds;
  if (p->checked) return LOOM_OK;
  LOOM_TRY(impacts_check_start(p->host, p->sc, p->e, s, p->kinds));
  p->checked = 1;
  return LOOM_OK;
}
static loom_status impact_zones_update(void *self, const loom_step *s, const loom_pairs *pairs,
                                       int when, uint32_t *changed)
{
  (void)self;
  (void)s;
  (void)pairs;
  (void)when;
  *changed = LOOM_CHANGED_NONE;
  return LOOM_OK;
}

/* ---- one round ---- */

static loom_status detect_impacts(zones *p, const loom_step *s, loom_buf *x0, loom_buf *x1,
                                  const loom_pairs **pairs)
{
  const int local = p->set.detect == DETECT_TOUCHED && p->set.scheme != SCHEME_ZONES;
  const loom_query q = {.struct_size = sizeof q,
                        .what = LOOM_DETECT_CCD,
                        .kinds = p->kinds,
                        .x0 = x0,
                        .x1 = x1,
                        .mask = local && p->rounds > 0 ? p->mask : NULL,
                        .progress0 = 0.0,
                        .progress1 = s->progress};
  return p->host->detect(p->host, &q, pairs);
}

static loom_status clear_mask(zones *p)
{
  plug_maps m = plug_maps_on(p->host, p->e);
  const impact_clear_args a = {.mask = plug_write(&m, p->mask)};
  return plug_launch(&m, &k_clear, &a, p->sc->num_verts, NULL);
}

/* The solve begins with the multipliers of earlier rounds, so that a round continues the solve that
 * conjugate gradients left unfinished in the round before. */
static loom_status solve_impacts(zones *p, loom_buf *x)
{
  const settings *const set = &p->set;
  response *const r = &p->system;
  const int go_on = set->scheme != SCHEME_IMPULSES && set->mode == MODE_EQUALITY;
  if (go_on) LOOM_TRY(response_apply(r, &p->all, p->before, x, p->mask));
  LOOM_TRY(response_missing(r, &p->all, go_on ? x : p->before));
  if (go_on) return response_solve(r, &p->all, set->shift, set->tolerance, &p->report);
  if (set->scheme == SCHEME_IMPULSES) return response_alone(r, &p->all, &p->report);
  return response_push(r, &p->all, set->tolerance, set->max_inner, &p->report);
}

/* Equations must not contradict each other.  They never do if every gap is to stay as it is.  Rows
 * of nearly the same direction that ask for slightly larger gaps would fling vertices away. */
static double least_impact_gap(const zones *p)
{
  const int pull = p->set.scheme != SCHEME_IMPULSES && p->set.mode == MODE_EQUALITY;
  return pull ? -INFINITY : p->set.clearance;
}

static loom_status respond_to_impacts(zones *p, const loom_step *s, const loom_pairs *pairs,
                                      loom_buf *x0, loom_buf *x)
{
  const loom_host *const host = p->host;
  const int choose = p->set.scheme == SCHEME_ZONES;
  if (p->set.scheme == SCHEME_IMPULSES) {
    impacts_clear(&p->all);
    LOOM_TRY(host->buf_copy(host, p->e, p->before, x));
  }
  if (choose) LOOM_TRY(impacts_choose_earliest(&p->all, pairs));
  LOOM_TRY(impacts_take(&p->all, s, pairs, x0, x, least_impact_gap(p), choose));
  LOOM_TRY(response_assemble(&p->system, &p->all));
  LOOM_TRY(solve_impacts(p, x));
  return response_apply(&p->system, &p->all, p->before, x, p->mask);
}

/* The last resort: vertices that impacts connect become rigid. */
static loom_status stiffen_zones(zones *p, const loom_step *s, const loom_pairs *pairs,
                                 loom_buf *x0, loom_buf *x)
{
  LOOM_TRY(impacts_take(&p->all, s, pairs, x0, x, 0.0, 0));
  return rigid_zones(&p->all, x0, p->before, x, p->mask, &p->rigid);
}

/* ---- resolve() ---- */

static loom_status lost_energy(zones *p, const loom_step *s, loom_buf *x0, loom_buf *x)
{
  plug_maps m = plug_maps_on(p->host, p->e);
  const impact_loss_args a = {.x_start = plug_read(&m, x0),
                              .x_before = plug_read(&m, p->wanted),
                              .x = plug_read(&m, x),
                              .mass = plug_read(&m, p->sc->mass),
                              .fixed = plug_read(&m, p->sc->fixed)};
  LOOM_TRY(plug_reduce(&m, &k_loss, &a, p->sc->num_verts, p->result, &p->dissipated));
  p->dissipated /= loom_problem_h2(s->problem);
  return LOOM_OK;
}

/* Rounds of detection and response until no pair meets (*left = 0) or all rounds are used. */
static loom_status run_impact_rounds(zones *p, const loom_step *s, loom_buf *x0, loom_buf *x,
                                     int rigid, int64_t *left)
{
  const loom_host *const host = p->host;
  for (int64_t k = 0;; ++k) {
    const loom_pairs *pairs;
    LOOM_TRY(detect_impacts(p, s, x0, x, &pairs));
    if (p->rounds == 0) p->first = pairs->count;
    *left = pairs->count;
    if (*left == 0 || k == (rigid ? RIGID_ROUNDS : p->set.rounds)) return LOOM_OK;
    host->tic(host, rigid ? "rigid" : "impacts");
    const int64_t known = p->all.m;
    LOOM_TRY(rigid ? stiffen_zones(p, s, pairs, x0, x) : respond_to_impacts(p, s, pairs, x0, x));
    host->toc(host, rigid ? "rigid" : "impacts");
    ++p->rounds;
    if (rigid && k > 0 && p->all.m == known) return LOOM_OK; /* zones would not change */
  }
}

/* *too_far = 1: impacts have moved a vertex by more than max_push.  A step of half the length moves
 * it by half as much. */
static loom_status test_push(zones *p, const loom_step *s, loom_buf *x, int *too_far)
{
  const loom_host *const host = p->host;
  double way;
  *too_far = 0;
  if (!(p->set.max_push > 0.0) || p->rounds == 0) return LOOM_OK;
  LOOM_TRY(host->buf_copy(host, p->e, p->before, x));
  LOOM_TRY(host->axpby(host, p->e, -1.0, p->wanted, 1.0, p->before));
  LOOM_TRY(host->norm_max3(host, p->e, p->before, &way));
  *too_far = way > p->set.max_push;
  if (*too_far)
    host->log(
        host, LOOM_LOG_INFO,
        "step %lld: impacts move a vertex by %.3g m, max_push is %.3g m; the step, %g s, is halved",
        (long long)s->index, way, p->set.max_push, s->h);
  return LOOM_OK;
}

static loom_status impact_zones_resolve(void *self, const loom_step *s, loom_buf *x_start,
                                        loom_buf *x_trial)
{
  zones *const p = self;
  const loom_host *const host = p->host;
  int64_t left;
  int too_far;
  LOOM_TRY(host->buf_copy(host, p->e, p->wanted, x_trial));
  LOOM_TRY(host->buf_copy(host, p->e, p->before, x_trial));
  LOOM_TRY(clear_mask(p));
  LOOM_TRY(response_begin(&p->system));
  LOOM_TRY(run_impact_rounds(p, s, x_start, x_trial, 0, &left));
  if (left > 0) {
    LOOM_TRY(host->buf_copy(host, p->e, p->before, p->wanted));
    LOOM_TRY(run_impact_rounds(p, s, x_start, x_trial, 1, &left));
  }
  if (left == 0) {
    LOOM_TRY(test_push(p, s, x_trial, &too_far));
    return too_far ? LOOM_REJECTED : lost_energy(p, s, x_start, x_trial);
  }
  host->log(
      host, LOOM_LOG_WARN,
      "step %lld: %lld impacts are left after %lld rounds, rigid zones among them; the step, %g "
      "s, is "
      "halved",
      (long long)s->index, (long long)left, (long long)p->rounds, s->h);
  return LOOM_REJECTED;
}

/* ---- the log ---- */

static loom_status impact_zones_metrics(void *self, const loom_step *s, loom_contact_metrics *out)
{
  const zones *const p = self;
  out->active = p->all.m;
  out->max_force = p->report.strongest / loom_problem_h2(s->problem);
  out->dissipated = p->dissipated;
  return LOOM_OK;
}

static loom_status impact_zones_log_step(void *self, const loom_step *s, double *out)
{
  const zones *const p = self;
  (void)s;
  out[COL_ROUNDS] = (double)p->rounds;
  out[COL_FIRST] = (double)p->first;
  out[COL_IMPACTS] = (double)p->all.m;
  out[COL_TOUCHED] = p->all.m > 0 ? (double)p->system.touched : 0.0;
  out[COL_ITERS] = (double)p->report.iters;
  out[COL_PULLING] = p->report.pulling;
  out[COL_RIGID] = (double)p->rigid;
  return LOOM_OK;
}

/* ---- descriptor ---- */

static const loom_contact_ops ops = {
    .struct_size = sizeof ops,
    .provides = LOOM_CONT_RESOLVE,
    .needs = LOOM_COLL_CCD | LOOM_COLL_MASKED,
    .pair_kinds = LOOM_BIT(LOOM_PAIR_VT) | LOOM_BIT(LOOM_PAIR_EE) | LOOM_BIT(LOOM_PAIR_VO) |
                  LOOM_BIT(LOOM_PAIR_BVT) | LOOM_BIT(LOOM_PAIR_BEE) | LOOM_BIT(LOOM_PAIR_EO),
    .create = impact_zones_create,
    .destroy = plug_free,
    .begin_step = impact_zones_begin_step,
    .plan = impact_zones_plan,
    .update = impact_zones_update,
    .resolve = impact_zones_resolve,
    .metrics = impact_zones_metrics,
    .log_step = impact_zones_log_step,
};

static const loom_plugin plugin = {
    LOOM_PLUGIN(contact, ops, LK_BACKENDS),
    .name = "impact_zones",
    .version = "0.1.0",
    .summary =
        "impacts of a step as one inelastic linear system, after the solve\n"
        "elasticity learns of an impact in the next step: a tilted sheet of 2 cm edges that "
        "meets a table by 12 mm a step has 8 times its energy for a step (`max_push` = 6 mm: "
        "none above its start)",
    .reference = "M. Tang et al., CAMA: Contact-Aware Matrix Assembly with Unified Collision "
                 "Handling for GPU-based Cloth Simulation, Computer Graphics Forum 35(2), 2016, "
                 "doi 10.1111/cgf.12851",
    .license = "MIT",
    LOOM_SETTINGS(settings, params),
    LOOM_STEP_COLUMNS(step_columns),
};

LOOM_EXPORT_PLUGIN(&plugin)
