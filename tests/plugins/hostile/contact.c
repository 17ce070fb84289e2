/* contact.c - the hostile contact model: has every form, and no force. */
#include <math.h>

#include "hostile.h"

static loom_status hostile_contact_reset(void *self)
{
  fx *const f = self;
  FX_ENTER(f, "reset", f->sc->mass);
  return LOOM_OK;
}

static loom_status hostile_contact_begin_step(void *self, const loom_step *s)
{
  fx *const f = self;
  FX_ENTER(f, "begin_step", s->x);
  return LOOM_OK;
}

static loom_status hostile_contact_plan(void *self, const loom_step *s, loom_query *q)
{
  fx *const f = self;
  FX_ENTER(f, "plan", s->x);
  q->what = LOOM_DETECT_PROXIMITY;
  q->margin = (loom_real)1e-2;
  if (fx_is(act, "x0")) q->x0 = NULL;
  if (fx_is(act, "x0_short")) q->x0 = f->own;
  if (fx_is(act, "margin")) q->margin = (loom_real)NAN;
  if (fx_is(act, "what")) q->what = 64;
  if (fx_is(act, "undeclared")) q->what = LOOM_DETECT_CCD;
  if (fx_is(act, "undeclared_mask")) q->mask = f->sc->fixed;
  if (fx_is(act, "progress")) q->progress0 = 7.0;
  return LOOM_OK;
}

static loom_status hostile_contact_update(void *self, const loom_step *s, const loom_pairs *pairs,
                                          int when, uint32_t *changed)
{
  fx *const f = self;
  (void)pairs;
  FX_ENTER(f, when == LOOM_AFTER_DETECT ? "update" : "update_accept", s->x);
  *changed = LOOM_CHANGED_VALUES;
  if (fx_is(act, "changed")) *changed = 0xff00;
  if (fx_is(act, "resize_pairs")) return f->host->buf_resize(f->host, pairs->v, 1);
  if (fx_is(act, "free_pairs")) f->host->buf_free(f->host, pairs->v);
  return LOOM_OK;
}

static loom_status hostile_contact_eval(void *self, const loom_step *s, loom_buf *x, double *energy,
                                        double *dissipation, loom_buf *grad)
{
  fx *const f = self;
  FX_ENTER(f, "eval", s->x);
  (void)x;
  if (energy != NULL && fx_is(act, "minus_inf")) *energy = -INFINITY;
  if (energy != NULL && fx_is(act, "nan")) *energy = NAN;
  if (dissipation != NULL && fx_is(act, "nan_dissipation")) *dissipation = NAN;
  return grad != NULL && fx_is(act, "gradient") ? fx_poke(f, grad, 6, NAN) : LOOM_OK;
}

static loom_status hostile_contact_hessian(void *self, const loom_step *s, loom_buf *x, int how,
                                           loom_blocks3 *out)
{
  fx *const f = self;
  const int64_t at = out->count;
  (void)x, (void)how;
  FX_ENTER(f, "hessian", s->x);
  out->count = fx_is(act, "grow_most") ? INT64_MAX : fx_is(act, "grow_less") ? 0 : at + 1;
  if (fx_is(act, "grow_most") || fx_is(act, "grow_less")) return LOOM_GROW;
  if (out->count > out->capacity) return LOOM_GROW;
  LOOM_TRY(fx_poke_int(f, out->row, at, fx_is(act, "row") ? 123456789 : 0));
  LOOM_TRY(fx_poke_int(f, out->col, at, fx_is(act, "col") ? -1 : 0));
  for (int64_t c = 0; c < 9; ++c) LOOM_TRY(fx_poke(f, out->val, 9 * at + c, 0.0));
  if (fx_is(act, "over")) out->count = out->capacity + 1000;
  if (fx_is(act, "negative")) out->count = -1;
  return LOOM_OK;
}

static loom_status hostile_contact_quad(void *self, const loom_step *s, loom_buf *x, loom_quad *out)
{
  fx *const f = self;
  const int64_t at = out->count;
  (void)x;
  FX_ENTER(f, "quad", s->x);
  out->count = fx_is(act, "grow_most") ? INT64_MAX : fx_is(act, "grow_less") ? 0 : at + 1;
  if (fx_is(act, "grow_most") || fx_is(act, "grow_less")) return LOOM_GROW;
  if (out->count > out->capacity) return LOOM_GROW;
  for (int64_t c = 0; c < 4; ++c) {
    LOOM_TRY(fx_poke_int(f, out->v, 4 * at + c, c == 0 ? 0 : -1));
    LOOM_TRY(fx_poke(f, out->w, 4 * at + c, c == 0 ? 1.0 : 0.0));
  }
  for (int64_t c = 0; c < 3; ++c) LOOM_TRY(fx_poke(f, out->p, 3 * at + c, 0.0));
  for (int64_t c = 0; c < 3 && out->dir != NULL; ++c)
    LOOM_TRY(fx_poke(f, out->dir, 3 * at + c, 0.0));
  LOOM_TRY(fx_poke(f, out->k, at, 1e-9));
  if (fx_is(act, "id")) return fx_poke_int(f, out->v, 4 * at + 1, 123456789);
  if (fx_is(act, "id_negative")) return fx_poke_int(f, out->v, 4 * at + 1, -9);
  if (fx_is(act, "over")) out->count = out->capacity + 1000;
  if (fx_is(act, "negative")) out->count = -1;
  return LOOM_OK;
}

static loom_status hostile_contact_resolve(void *self, const loom_step *s, loom_buf *x_start,
                                           loom_buf *x_trial)
{
  fx *const f = self;
  const loom_pairs *pairs;
  (void)x_start;
  FX_ENTER(f, "resolve", s->x_start);
  if (fx_is(act, "nan")) return fx_poke(f, x_trial, 8, NAN);
  const loom_query q = {.struct_size = sizeof q,
                        .what = LOOM_DETECT_PROXIMITY,
                        .kinds = LOOM_BIT(LOOM_PAIR_VO),
                        .margin = (loom_real)1e-2,
                        .x0 = s->x_start,
                        .x1 = s->x_start,
                        .progress0 = 1.0,
                        .progress1 = 1.0};
  return f->host->detect(f->host, &q, &pairs);
}

static loom_status hostile_contact_metrics(void *self, const loom_step *s,
                                           loom_contact_metrics *out)
{
  fx *const f = self;
  FX_ENTER(f, "metrics", s->x);
  out->active = fx_is(act, "negative") ? -5 : 0;
  out->min_gap = 1e-3;
  return LOOM_OK;
}

static loom_status hostile_contact_velocity(void *self, const loom_step *s)
{
  fx *const f = self;
  FX_ENTER(f, "velocity", s->x);
  return fx_is(act, "nan") ? fx_poke(f, s->v_end, 9, NAN) : LOOM_OK;
}

static loom_status hostile_contact_end_step(void *self, const loom_step *s)
{
  fx *const f = self;
  FX_ENTER(f, "end_step", s->x);
  return LOOM_OK;
}

static loom_status hostile_contact_checkpoint(void *self, const loom_step *s, int restore)
{
  fx *const f = self;
  FX_ENTER(f, restore ? "restore" : "checkpoint", s->x);
  return LOOM_OK;
}

static uint32_t hostile_contact_lacks(const void *settings)
{
  fx f = {.fault = ((const fx_settings *)settings)->fault};
  loom_status ignored;
  (void)fx_common(&f, fx_act(f.fault, "lacks"), NULL, &ignored);
  if (fx_act(f.fault, "resolve")[0] == '\0') return 0;
  /* without forces, so that hostile_contact_resolve() is called with any solver */
  return LOOM_CONT_ENERGY | LOOM_CONT_GRADIENT | LOOM_CONT_HESSIAN | LOOM_CONT_QUAD;
}

const loom_contact_ops fx_contact = {.struct_size = sizeof fx_contact,
                                     .provides = LOOM_CONT_ENERGY | LOOM_CONT_GRADIENT |
                                                 LOOM_CONT_HESSIAN | LOOM_CONT_QUAD |
                                                 LOOM_CONT_RESOLVE | LOOM_CONT_VELOCITY,
                                     .needs = LOOM_COLL_PROXIMITY | LOOM_COLL_STEP_GLOBAL,
                                     .pair_kinds = LOOM_BIT(LOOM_PAIR_VO),
                                     .create = hostile_create,
                                     .destroy = hostile_destroy,
                                     .reset = hostile_contact_reset,
                                     .begin_step = hostile_contact_begin_step,
                                     .plan = hostile_contact_plan,
                                     .update = hostile_contact_update,
                                     .eval = hostile_contact_eval,
                                     .hessian = hostile_contact_hessian,
                                     .quad = hostile_contact_quad,
                                     .resolve = hostile_contact_resolve,
                                     .metrics = hostile_contact_metrics,
                                     .velocity = hostile_contact_velocity,
                                     .end_step = hostile_contact_end_step,
                                     .checkpoint = hostile_contact_checkpoint,
                                     .lacks = hostile_contact_lacks};
