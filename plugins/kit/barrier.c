/* barrier.c - see barrier.h. */
#include "kit/barrier.h"

#include <math.h>

/* ---- life ---- */

loom_status barrier_reset(barrier *p)
{
  cand_reset(&p->c);
  fric_reset(&p->friction);
  p->pending = LOOM_CHANGED_NONE;
  return stiffness_reset(&p->stiffness);
}

loom_status barrier_new(barrier *p, const loom_host *host, const loom_scene *sc, const loom_exec *e,
                        const barrier_settings *set, const barrier_model *model, double unit)
{
  p->set = *set;
  p->model = model;
  p->frozen_rule = FRIC_END;
  p->energy = (pair_energy){
      .c = &p->c, .k = &model->pair, .gauss_newton = set->hessian == BARRIER_HESSIAN_GAUSS_NEWTON};
  p->energy.number[BARRIER_D_HAT] = set->d_hat;
  LOOM_TRY(cand_new(&p->c, host, sc, e, set->d_hat, set->slack, BARRIER_SLACK));
  LOOM_TRY(fric_new(&p->friction, &p->c, set->self_friction, set->epsilon_v));
  LOOM_TRY(stiffness_new(&p->stiffness, &p->energy, set->stiffness, set->d_hat, unit));
  return barrier_reset(p);
}

void barrier_free(barrier *p) { stiffness_free(&p->stiffness); }

loom_status barrier_weigh(barrier *p, loom_buf *weight, int width)
{
  return stiffness_weigh(&p->stiffness, weight, width);
}

static loom_status start_error(barrier *p, const loom_step *s)
{
  return cand_overlap_error(&p->c, s, "it starts with an overlap",
                            "move them apart, set [run] start = untangle, lower the thickness, or "
                            "let a step bound keep them apart ([filter] bound = global)");
}

/* A step bound always lets x move by at least a share of 1e-12 of the trial's way; with absurd
 * forces that can be more than the gap. */
static loom_status report_barrier_overlap(barrier *p, const loom_step *s, const char *what)
{
  return cand_overlap_error(&p->c, s, what,
                            "lower dt, or the forces and speeds that push it there, or let a step "
                            "bound keep them apart ([filter] bound = global)");
}

static loom_status lag_barrier_friction(barrier *p, const loom_step *s, loom_buf *x,
                                        double progress, uint32_t *changed)
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
  const loom_status st = lag_barrier_friction(p, s, x, s->progress, &changed);
  if (st != LOOM_OK) return st == LOOM_REJECTED ? LOOM_OK : st;
  LOOM_TRY(fric_most(&p->friction, &after));
  *again = fabs(after - before) > follow_tolerance * after;
  return LOOM_OK;
}

loom_status barrier_begin_step(barrier *p, const loom_step *s)
{
  uint32_t changed;
  LOOM_TRY(cand_begin_step(&p->c));
  LOOM_TRY(stiffness_begin_step(&p->stiffness, s));
  p->rounds = 0;
  const int frozen = s->problem != NULL && s->problem->contact == LOOM_CONTACT_FROZEN;
  p->friction.rule = frozen ? p->frozen_rule : FRIC_START;
  p->c.thins = frozen; /* friction of the pairs that the expansion has */
  const loom_status st = lag_barrier_friction(p, s, s->x_start, 0.0, &changed);
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

static loom_status barrier_after_detect(barrier *p, const loom_step *s, const loom_pairs *pairs,
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
  return report_barrier_overlap(p, s, "its first guess overlaps");
}

loom_status barrier_update(barrier *p, const loom_step *s, const loom_pairs *pairs, int when,
                           uint32_t *changed)
{
  *changed = LOOM_CHANGED_NONE;
  if (when == LOOM_AFTER_DETECT) return barrier_after_detect(p, s, pairs, changed);
  LOOM_TRY(stiffness_follow(&p->stiffness, s, changed));
  if (p->set.friction_lag == BARRIER_LAG_STEP) return LOOM_OK;
  if (p->set.lag_rounds > 0 && p->rounds >= p->set.lag_rounds) return LOOM_OK;
  uint32_t lagged = LOOM_CHANGED_NONE;
  const loom_status st = lag_barrier_friction(p, s, s->x, s->progress, &lagged);
  *changed |= lagged;
  return st == LOOM_REJECTED ? LOOM_OK : st; /* unfiltered: the last forces stay */
}

/* A committed point with an overlap is an error. */
loom_status barrier_end_step(barrier *p, const loom_step *s)
{
  const loom_status st = cand_activate(&p->c, s, s->x, s->progress);
  if (st != LOOM_REJECTED) return st;
  return report_barrier_overlap(p, s, "it ends with an overlap");
}

/* Candidates are dropped so that a resumed run detects at the same moments; not where the state is
 * only recorded. */
loom_status barrier_checkpoint(barrier *p, const loom_step *s, int restore)
{
  if (restore || !s->recording) p->c.valid = p->c.planned = 0;
  return stiffness_checkpoint(&p->stiffness, restore);
}

/* ---- forms ---- */

static loom_status activate_barrier_pairs(barrier *p, const loom_step *s, loom_buf *x)
{
  p->c.thins = s->expansion == LOOM_EXPAND_STEP;
  const loom_status st = cand_activate(&p->c, s, x, s->progress);
  p->c.thins = 0;
  return st;
}

loom_status barrier_eval(barrier *p, const loom_step *s, loom_buf *x, double *energy,
                         double *dissipation, loom_buf *grad)
{
  LOOM_TRY(activate_barrier_pairs(p, s, x));
  LOOM_TRY(pair_eval(&p->energy, s, x, energy, grad));
  if (dissipation != NULL) LOOM_TRY(fric_sums(&p->friction, s, x, dissipation, NULL));
  return grad != NULL ? fric_gradient(&p->friction, s, x, grad) : LOOM_OK;
}

loom_status barrier_activate(barrier *p, const loom_step *s, loom_buf *x, const char *what)
{
  const loom_status st = activate_barrier_pairs(p, s, x);
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
  LOOM_TRY(pair_energy_hessian(&p->energy, s, x, how, first, out));
  return fric_add_hessian(&p->friction, s, x, how, first + normal, out);
}

loom_status barrier_metrics(barrier *p, const loom_step *s, loom_contact_metrics *out)
{
  if (out->extra != NULL) out->extra[0] = stiffness_most(&p->stiffness);
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
