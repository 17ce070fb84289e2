/* solver.c - the hostile solver: steepest descent, and every service with arguments it refuses. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hostile.h"

static loom_status hostile_solver_reset(void *self)
{
  fx *const f = self;
  FX_ENTER(f, "reset", f->sc->mass);
  return LOOM_OK;
}

static loom_status hostile_solver_begin_step(void *self, const loom_step *s)
{
  fx *const f = self;
  FX_ENTER(f, "begin_step", s->x);
  return fx_is(act, "nan") ? fx_poke(f, s->trial, 4, NAN) : LOOM_OK;
}

static loom_status contact_changed(void *self, const loom_step *s, uint32_t changed)
{
  fx *const f = self;
  (void)changed;
  FX_ENTER(f, "contact_changed", s->x);
  return LOOM_OK;
}

/* trial = -share h^2/m grad */
static loom_status descend_gradient(fx *f, const loom_step *s, double share, int64_t num)
{
  const loom_host *const host = f->host;
  void *g, *m, *t;
  LOOM_TRY(host->map(host, f->e, s->grad, LOOM_READ, LOOM_AT_HOST, &g));
  LOOM_TRY(host->map(host, f->e, f->sc->mass, LOOM_READ, LOOM_AT_HOST, &m));
  LOOM_TRY(host->map(host, f->e, s->trial, LOOM_RDWR, LOOM_AT_HOST, &t));
  for (int64_t i = 0; i < num; ++i)
    ((loom_real *)t)[i] =
        (loom_real)(-share * s->h * s->h / (double)((loom_real *)m)[i / 3]) * ((loom_real *)g)[i];
  LOOM_TRY(host->unmap(host, s->trial));
  LOOM_TRY(host->unmap(host, f->sc->mass));
  return host->unmap(host, s->grad);
}

/* Services of the step's problem, called in wrong ways. */
static loom_status misuse_problem(fx *f, const loom_step *s, const char *act)
{
  const loom_host *const host = f->host;
  loom_energies e;
  const loom_bsr3 *H;
  const loom_blocks3 *b;
  const loom_csr *L;
  loom_problem p = *s->problem;
  if (fx_is(act, "eval_p")) return host->eval(host, NULL, s->x, LOOM_EVAL_ENERGY, &e, NULL);
  if (fx_is(act, "eval_x")) return host->eval(host, s->problem, NULL, LOOM_EVAL_ENERGY, &e, NULL);
  if (fx_is(act, "eval_short"))
    return host->eval(host, s->problem, f->own, LOOM_EVAL_ENERGY, &e, NULL);
  if (fx_is(act, "eval_type"))
    return host->eval(host, s->problem, f->sc->object, LOOM_EVAL_ENERGY, &e, NULL);
  if (fx_is(act, "eval_e")) return host->eval(host, s->problem, s->x, LOOM_EVAL_ENERGY, NULL, NULL);
  if (fx_is(act, "eval_grad"))
    return host->eval(host, s->problem, s->x, LOOM_EVAL_GRADIENT, &e, NULL);
  if (fx_is(act, "eval_what")) return host->eval(host, s->problem, s->x, 64, &e, NULL);
  if (fx_is(act, "hessian_x")) return host->hessian(host, s->problem, NULL, LOOM_HESS_EXACT, &H);
  if (fx_is(act, "hessian_how")) return host->hessian(host, s->problem, s->x, 77, &H);
  if (fx_is(act, "hessian_out"))
    return host->hessian(host, s->problem, s->x, LOOM_HESS_EXACT, NULL);
  if (fx_is(act, "apply_p")) return host->hess_apply(host, s->problem, s->x, 0, NULL, s->trial);
  if (fx_is(act, "apply_how")) return host->hess_apply(host, s->problem, s->x, 3, s->x, s->trial);
  if (fx_is(act, "elem_block")) return host->elem_hessians(host, 99, 0, 1, s->x, 0, s->trial);
  if (fx_is(act, "elem_range"))
    return host->elem_hessians(host, 0, 1, INT32_MAX, s->x, 0, s->trial);
  if (fx_is(act, "elem_out"))
    return host->elem_hessians(host, 0, 0, f->sc->blocks[0].num_elems, s->x, 0, s->trial);
  if (fx_is(act, "blocks_how")) return host->contact_hessian(host, s->problem, s->x, -1, &b);
  if (fx_is(act, "quad_out")) return host->contact_quad(host, s->x, NULL);
  if (fx_is(act, "terms")) p.terms = 64;
  if (fx_is(act, "h")) p.h = NAN;
  if (fx_is(act, "inertia")) p.inertia = 0.0;
  if (fx_is(act, "target")) p.target = f->own;
  if (fx_is(act, "contact")) p.contact = 7;
  if (fx_is(act, "metric")) p.metric = 2;
  if (fx_is(act, "metric_pd")) {
    p.metric = LOOM_METRIC_DIAGONAL;
    return host->pd_operator(host, &p, &L);
  }
  if (fx_is(act, "frozen")) p.contact = LOOM_CONTACT_FROZEN;
  if (memcmp(&p, s->problem, sizeof p) != 0)
    return host->hessian(host, &p, s->x, LOOM_HESS_EXACT, &H);
  if (fx_is(act, "undeclared")) return host->pd_operator(host, s->problem, &L);
  if (fx_is(act, "undeclared_freeze")) return host->freeze_contact(host, s->x, 1.0);
  return LOOM_E_UNSUPPORTED;
}

static loom_status misuse_others(fx *f, const loom_step *s, const char *act)
{
  const loom_host *const host = f->host;
  loom_query q = {.struct_size = sizeof q, .what = LOOM_DETECT_PROXIMITY, .kinds = 16};
  const loom_pairs *pairs;
  loom_buf *made;
  void *p;
  if (fx_is(act, "map_buf")) return host->map(host, f->e, NULL, LOOM_READ, LOOM_AT_HOST, &p);
  if (fx_is(act, "map_p")) return host->map(host, f->e, s->x, LOOM_READ, LOOM_AT_HOST, NULL);
  if (fx_is(act, "copy_src")) return host->buf_copy(host, f->e, s->trial, NULL);
  if (fx_is(act, "new_out")) return host->buf_new(host, "more", LOOM_REAL, 3, NULL);
  if (fx_is(act, "new_name")) return host->buf_new(host, NULL, LOOM_REAL, 3, &made);
  if (fx_is(act, "dot_out")) return host->dot(host, f->e, s->x, s->x, NULL);
  if (fx_is(act, "dot_a")) return host->dot(host, f->e, NULL, s->x, &(double){0});
  if (fx_is(act, "axpby_y")) return host->axpby(host, f->e, 1.0, s->x, 1.0, NULL);
  if (fx_is(act, "norm_out")) return host->norm_max3(host, f->e, s->x, NULL);
  if (fx_is(act, "spmv_A")) return host->spmv_bsr3(host, f->e, NULL, s->x, s->trial);
  if (fx_is(act, "scan_in")) return host->scan_i64(host, f->e, NULL, s->x, NULL);
  if (fx_is(act, "sort_perm")) return host->sort_u64(host, f->e, s->x, NULL);
  if (fx_is(act, "match_old")) return host->match_keys(host, f->e, NULL, 1, s->x, 1, s->x);
  if (fx_is(act, "detect_q")) return host->detect(host, NULL, &pairs);
  if (fx_is(act, "detect_x0")) return host->detect(host, &q, &pairs);
  if (fx_is(act, "step_out")) return host->max_step(host, s->x, s->x, NULL);
  if (fx_is(act, "state_io")) return host->state_io(host, 0, "own", f->own);
  if (fx_is(act, "count_buf")) return host->buf_count(host, NULL) == 0 ? LOOM_OK : LOOM_E_ARG;
  return LOOM_E_UNSUPPORTED;
}

/* NaN, infinity, or a number with an infinite square. */
static loom_real wild_number(const char *act)
{
  if (fx_is(act, "nan")) return NAN;
  return fx_is(act, "huge") ? (loom_real)(sizeof(loom_real) == sizeof(double) ? 1e300 : 1e38)
                            : INFINITY;
}

static loom_status hostile_solver_iterate(void *self, const loom_step *s, loom_iterate *it)
{
  fx *const f = self;
  const int64_t n3 = 3 * (int64_t)f->sc->num_verts;
  const loom_host *const host = f->host;
  const loom_bsr3 *H;
  const loom_quad *q;
  loom_energies e;
  FX_ENTER(f, "iterate", s->x);
  if (fx_is(act, "nothing")) return LOOM_OK;
  if (fx_is(act, "half")) return descend_gradient(f, s, 0.1, n3 / 2);
  if (act[0] != '\0' && !fx_is(act, "nan") && !fx_is(act, "inf") && !fx_is(act, "huge")) {
    const loom_status t = misuse_problem(f, s, act);
    return t != LOOM_E_UNSUPPORTED ? t : misuse_others(f, s, act);
  }
  LOOM_TRY(host->eval(host, s->problem, s->x, LOOM_EVAL_ENERGY, &e, NULL));
  LOOM_TRY(host->hessian(host, s->problem, s->x, LOOM_HESS_PSD_CLAMP, &H));
  LOOM_TRY(host->contact_quad(host, s->x, &q));
  LOOM_TRY(descend_gradient(f, s, 0.1, n3));
  it->inner_iters = 1;
  if (act[0] != '\0') return fx_poke(f, s->trial, 7, wild_number(act));
  return LOOM_OK;
}

static loom_status hostile_solver_accepted(void *self, const loom_step *s, const loom_accept *a)
{
  fx *const f = self;
  (void)a;
  FX_ENTER(f, "accepted", s->x);
  return LOOM_OK;
}

static loom_status hostile_solver_end_step(void *self, const loom_step *s)
{
  fx *const f = self;
  FX_ENTER(f, "end_step", s->x);
  if (fx_is(act, "nan")) return fx_poke(f, s->v_end, 5, NAN);
  return fx_is(act, "nan_force") ? fx_poke(f, s->f_next, 5, NAN) : LOOM_OK;
}

static loom_status hostile_solver_checkpoint(void *self, const loom_step *s, int restore)
{
  fx *const f = self;
  FX_ENTER(f, restore ? "restore" : "checkpoint", s->x);
  if (fx_is(act, "name")) return f->host->state_io(f->host, restore, NULL, f->own);
  return f->host->state_io(f->host, restore, "own", f->own);
}

const loom_solver_ops fx_solver = {.struct_size = sizeof fx_solver,
                                   .needs = LOOM_NEED_ELEM_ENERGY | LOOM_NEED_ELEM_GRADIENT |
                                            LOOM_NEED_ELEM_HESSIAN | LOOM_NEED_CONTACT_ENERGY |
                                            LOOM_NEED_CONTACT_GRADIENT | LOOM_NEED_CONTACT_HESSIAN |
                                            LOOM_NEED_CONTACT_QUAD | LOOM_USES_GRADIENT,
                                   .trial = LOOM_TRIAL_DIRECTION,
                                   .filter_when = LOOM_FILTER_EVERY,
                                   .create = hostile_create,
                                   .destroy = hostile_destroy,
                                   .reset = hostile_solver_reset,
                                   .begin_step = hostile_solver_begin_step,
                                   .contact_changed = contact_changed,
                                   .iterate = hostile_solver_iterate,
                                   .accepted = hostile_solver_accepted,
                                   .end_step = hostile_solver_end_step,
                                   .checkpoint = hostile_solver_checkpoint};
