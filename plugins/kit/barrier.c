/* barrier.c - see barrier.h. */
#include "kit/barrier.h"

#include <math.h>
#include <stdlib.h>

#include "kit/state.h"

/* Stiffness 0.  The curvature d2b/dd2 at half of d_hat equals the mean m/h^2; it is doubled, up
 * to stiffest times, while the smallest gap stays below tiny d_hat in two accepted iterates in
 * a row and does not grow (Li et al. 2020, supplement, section 4: the same with 1e-9 of the
 * scene's size). */
static const double tiny = 1e-2, stiffest = 1024.0;

/* ---- stiffness ---- */

/* sum and num of v, real [n][width], over the free vertices of each object */
static loom_status add_up(const barrier *p, loom_buf *v, int width, double *sum, int64_t *num)
{
  const candidates *const c = &p->c;
  plug_maps m = plug_maps_on(c->h, c->e);
  const loom_real *const of = plug_bind(&m, v, LOOM_READ, LOOM_AT_HOST);
  const uint8_t *const fixed = plug_bind(&m, c->sc->fixed, LOOM_READ, LOOM_AT_HOST);
  const int32_t *const object =
      p->energy.share != NULL ? plug_bind(&m, c->sc->object, LOOM_READ, LOOM_AT_HOST) : NULL;
  LOOM_TRY(m.status);
  for (int64_t i = 0; i < c->sc->num_verts; ++i) {
    const int32_t o = object != NULL ? object[i] : 0;
    for (int k = 0; k < width && !fixed[i]; ++k, ++num[o]) sum[o] += (double)of[width * i + k];
  }
  return plug_unbind(&m);
}

/* *mean: mean of v, real [n][width], over free vertices; with several objects the largest of their
 * means.  The ratio of an object's mean to *mean is the factor on the stiffness of its pairs. */
static loom_status find_mean(barrier *p, loom_buf *v, int width, double *mean)
{
  const loom_host *const h = p->c.h;
  const int32_t objects = p->energy.share != NULL ? p->c.sc->num_objects : 1;
  double *const sum = calloc((size_t)objects, sizeof *sum);
  int64_t *const num = calloc((size_t)objects, sizeof *num);
  loom_status s = sum != NULL && num != NULL ? add_up(p, v, width, sum, num) : LOOM_E_NOMEM;
  double most = 0.0;
  void *share = NULL;
  for (int32_t o = 0; o < objects && s == LOOM_OK; ++o) {
    sum[o] = num[o] > 0 ? sum[o] / (double)num[o] : 0.0;
    most = fmax(most, sum[o]);
  }
  *mean = most > 0.0 ? most : 1.0;
  if (s == LOOM_OK && p->energy.share != NULL) {
    s = h->map(h, p->c.e, p->energy.share, LOOM_WRITE, LOOM_AT_HOST, &share);
    for (int32_t o = 0; o < objects && s == LOOM_OK;
         ++o) /* a pinned object leaves it to the other */
      ((loom_real *)share)[o] = (loom_real)(num[o] > 0 ? sum[o] / *mean : 1.0);
    if (s == LOOM_OK) s = h->unmap(h, p->energy.share);
  }
  free(sum);
  free(num);
  LOOM_CHECK(h, s != LOOM_E_NOMEM, s, "out of memory for the means of %d objects", objects);
  return s;
}

loom_status barrier_weigh(barrier *p, loom_buf *weight, int width)
{
  return find_mean(p, weight, width, &p->weight);
}

static void set_kappa(barrier *p, double kappa)
{
  p->kappa = kappa;
  p->energy.number[BARRIER_KAPPA] = kappa;
}

/* kappa for which d2b/dd2 at half of d_hat, without thickness, equals the mean m/h^2, or the mean
 * weight of barrier_weigh().  With several objects it is the value of the object with the largest
 * mean; pairs of other objects scale it by their share. */
static double first_stiffness(const barrier *p, const loom_step *s)
{
  const double weight = p->weight > 0.0 ? p->weight : p->mass / (s->h * s->h);
  return (double)(loom_real)(weight / p->unit);
}

static loom_status stiffen(barrier *p, const loom_step *s, uint32_t *changed)
{
  double gap;
  if (p->set.stiffness > 0.0) return LOOM_OK;
  const loom_status st = cand_activate(&p->c, s, s->x, s->progress);
  if (st != LOOM_OK) return st == LOOM_REJECTED ? LOOM_OK : st;
  LOOM_TRY(cand_least_gap_now(&p->c, &gap));
  const double limit = tiny * p->set.d_hat;
  const int stays = gap < limit && p->last_gap < limit && gap <= p->last_gap;
  p->last_gap = gap;
  if (!stays || p->kappa >= stiffest * first_stiffness(p, s)) return LOOM_OK;
  set_kappa(p, 2.0 * p->kappa);
  *changed |= LOOM_CHANGED_VALUES;
  return LOOM_OK;
}

/* ---- life ---- */

loom_status barrier_reset(barrier *p)
{
  cand_reset(&p->c);
  fric_reset(&p->friction);
  set_kappa(p, p->set.stiffness);
  p->last_gap = INFINITY;
  p->pending = LOOM_CHANGED_NONE;
  return LOOM_OK;
}

loom_status barrier_new(barrier *p, const loom_host *h, const loom_scene *sc, const loom_exec *e,
                        const barrier_settings *set, const barrier_model *model, double unit)
{
  p->set = *set;
  p->model = model;
  p->unit = unit;
  p->energy = (pair_energy){
      .c = &p->c, .k = &model->pair, .gauss_newton = set->hessian == BARRIER_HESSIAN_GAUSS_NEWTON};
  p->energy.number[BARRIER_D_HAT] = set->d_hat;
  LOOM_TRY(cand_new(&p->c, h, sc, e, set->d_hat, set->slack, BARRIER_SLACK));
  LOOM_TRY(fric_new(&p->friction, &p->c, set->self_friction, set->epsilon_v));
  if (!(set->stiffness > 0.0) && sc->num_objects > 1 && sc->object != NULL)
    LOOM_TRY(h->buf_new(h, "shares of stiffness", LOOM_REAL, sc->num_objects, &p->energy.share));
  LOOM_TRY(find_mean(p, sc->mass, 1, &p->mass));
  return barrier_reset(p);
}

static loom_status start_error(barrier *p, const loom_step *s)
{
  return cand_overlap_error(&p->c, s, "it starts with an overlap",
                            "move them apart, lower the thickness, or let a step bound keep them "
                            "apart ([filter] bound = global)");
}

/* A step bound always lets x move by at least a share of 1e-12 of the trial's way; with absurd
 * forces that can be more than the gap. */
static loom_status pushed_error(barrier *p, const loom_step *s, const char *what)
{
  return cand_overlap_error(&p->c, s, what,
                            "lower dt, or the forces and speeds that push it there, or let a step "
                            "bound keep them apart ([filter] bound = global)");
}

static loom_status lag(barrier *p, const loom_step *s, loom_buf *x, double progress,
                       uint32_t *changed)
{
  const loom_status st =
      fric_lag(&p->friction, &p->energy, &p->model->lag, s, x, progress, changed);
  p->rounds += st == LOOM_OK;
  return st;
}

/* Largest change of the sum of mu lambda, as a share of it, after which barrier_follow() ends. */
static const double follow_tolerance = 0.02;

loom_status barrier_follow(barrier *p, const loom_step *s, loom_buf *x, int *again)
{
  double before, after;
  uint32_t changed;
  *again = 0;
  LOOM_TRY(fric_most(&p->friction, &before));
  const int limited = p->set.lag_rounds > 0 && p->rounds >= p->set.lag_rounds;
  if (before > 0.0 || limited) return LOOM_OK;
  const loom_status st = lag(p, s, x, s->progress, &changed);
  if (st != LOOM_OK) return st == LOOM_REJECTED ? LOOM_OK : st;
  LOOM_TRY(fric_most(&p->friction, &after));
  *again = fabs(after - before) > follow_tolerance * after;
  return LOOM_OK;
}

loom_status barrier_begin_step(barrier *p, const loom_step *s)
{
  uint32_t changed;
  LOOM_TRY(cand_begin_step(&p->c));
  if (!(p->kappa > 0.0)) set_kappa(p, first_stiffness(p, s));
  p->last_gap = INFINITY;
  p->rounds = 0;
  p->friction.tempers =
      LOOM_HAS(s, problem) && s->problem != NULL && s->problem->contact == LOOM_CONTACT_FROZEN;
  p->c.thins = p->friction.tempers; /* friction of the pairs that the expansion has */
  const loom_status st = lag(p, s, s->x_start, 0.0, &changed);
  p->c.thins = 0;
  if (st == LOOM_REJECTED) return start_error(p, s);
  p->pending =
      fric_any(&p->friction) ? LOOM_CHANGED_PATTERN | LOOM_CHANGED_VALUES : LOOM_CHANGED_NONE;
  return st;
}

loom_status barrier_plan(barrier *p, const loom_step *s, loom_query *q)
{
  return cand_plan(&p->c, s, q);
}

static loom_status after_detect(barrier *p, const loom_step *s, const loom_pairs *pairs,
                                uint32_t *changed)
{
  LOOM_TRY(cand_update(&p->c, s, pairs));
  *changed = p->pending;
  p->pending = LOOM_CHANGED_NONE;
  if (s->iter >= 0) return LOOM_OK;
  const loom_status st = cand_activate(&p->c, s, s->x, s->progress);
  if (st != LOOM_REJECTED) return st;
  if (cand_activate(&p->c, s, s->x_start, 0.0) == LOOM_REJECTED) return start_error(p, s);
  (void)cand_activate(&p->c, s, s->x, s->progress); /* the pair to be named */
  return pushed_error(p, s, "its first guess overlaps");
}

loom_status barrier_update(barrier *p, const loom_step *s, const loom_pairs *pairs, int when,
                           uint32_t *changed)
{
  *changed = LOOM_CHANGED_NONE;
  if (when == LOOM_AFTER_DETECT) return after_detect(p, s, pairs, changed);
  LOOM_TRY(stiffen(p, s, changed));
  if (p->set.friction_lag == BARRIER_LAG_STEP) return LOOM_OK;
  if (p->set.lag_rounds > 0 && p->rounds >= p->set.lag_rounds) return LOOM_OK;
  uint32_t lagged = LOOM_CHANGED_NONE;
  const loom_status st = lag(p, s, s->x, s->progress, &lagged);
  *changed |= lagged;
  return st == LOOM_REJECTED ? LOOM_OK : st; /* unfiltered: the last forces stay */
}

/* A committed point with an overlap is an error. */
loom_status barrier_end_step(barrier *p, const loom_step *s)
{
  const loom_status st = cand_activate(&p->c, s, s->x, s->progress);
  if (st != LOOM_REJECTED) return st;
  return pushed_error(p, s, "it ends with an overlap");
}

/* Candidates are dropped so that a resumed run detects at the same moments; not where the state is
 * only recorded. */
loom_status barrier_checkpoint(barrier *p, const loom_step *s, int restore)
{
  const loom_host *const h = p->c.h;
  loom_real kappa = (loom_real)p->kappa;
  if (restore || !LOOM_HAS(s, recording) || !s->recording) p->c.valid = p->c.planned = 0;
  if (p->set.stiffness > 0.0) return LOOM_OK; /* kappa is the setting and never changes */
  LOOM_TRY(state_items(h, restore, "stiffness", LOOM_REAL, 1, &kappa));
  LOOM_CHECK(h, kappa >= 0 && isfinite(kappa), LOOM_E_IO,
             "checkpoint: the stiffness is %g; start the run again", (double)kappa);
  set_kappa(p, (double)kappa);
  return LOOM_OK;
}

/* ---- forms ---- */

static loom_status activate(barrier *p, const loom_step *s, loom_buf *x)
{
  p->c.thins = LOOM_HAS(s, expansion) && s->expansion == LOOM_EXPAND_STEP;
  const loom_status st = cand_activate(&p->c, s, x, s->progress);
  p->c.thins = 0;
  return st;
}

loom_status barrier_eval(barrier *p, const loom_step *s, loom_buf *x, double *energy,
                         double *dissipation, loom_buf *grad)
{
  LOOM_TRY(activate(p, s, x));
  LOOM_TRY(pair_eval(&p->energy, s, x, energy, grad));
  if (dissipation != NULL) LOOM_TRY(fric_sums(&p->friction, s, x, dissipation, NULL));
  return grad != NULL ? fric_gradient(&p->friction, s, x, grad) : LOOM_OK;
}

loom_status barrier_activate(barrier *p, const loom_step *s, loom_buf *x, const char *what)
{
  const loom_status st = activate(p, s, x);
  if (st != LOOM_REJECTED) return st;
  return cand_overlap_error(
      &p->c, s, what,
      "filter every iteration ([filter] when = every); where that is so, let a "
      "gap remain ([filter] min_gap = a twentieth of d_hat) or lower dt");
}

loom_status barrier_hessian(barrier *p, const loom_step *s, loom_buf *x, int how, loom_blocks3 *out)
{
  const int64_t first = out->count;
  int64_t normal = 0;
  LOOM_TRY(barrier_activate(p, s, x, "there is no Hessian where pairs overlap"));
  LOOM_TRY(cand_count(&p->c, 1, &normal));
  out->count = first + normal + p->friction.num_blocks;
  if (out->count > out->capacity) return LOOM_GROW;
  LOOM_TRY(pair_hessian(&p->energy, s, x, how, first, out));
  return fric_add_hessian(&p->friction, s, x, how, first + normal, out);
}

loom_status barrier_metrics(barrier *p, const loom_step *s, loom_contact_metrics *out)
{
  if (LOOM_HAS(out, extra) && out->extra != NULL) out->extra[0] = p->kappa;
  const loom_status st = cand_activate(&p->c, s, s->x, s->progress);
  if (st < LOOM_OK) return st;
  LOOM_TRY(cand_least_gap_later(&p->c, &out->min_gap));
  if (st != LOOM_OK) { /* infeasible: an unfiltered point */
    out->max_force = out->dissipated = NAN;
    return LOOM_OK;
  }
  out->active = p->c.act.num;
  LOOM_TRY(pair_strongest(&p->energy, s, s->x, &out->max_force));
  return fric_sums(&p->friction, s, s->x, NULL, &out->dissipated);
}
