/* collision.c - the hostile collision plugin: the first two vertices touch the first body. */
#include <math.h>

#include "hostile.h"

enum { PAIRS = 2 };

static loom_status hostile_collision_reset(void *self)
{
  fx *const f = self;
  FX_ENTER(f, "reset", f->sc->mass);
  return LOOM_OK;
}

static loom_status hostile_collision_begin_step(void *self, const loom_step *s)
{
  fx *const f = self;
  FX_ENTER(f, "begin_step", s->x);
  return LOOM_OK;
}

static loom_status write_body_pair(fx *f, const loom_pairs *out, int64_t at, int32_t vertex)
{
  LOOM_TRY(fx_poke_int(f, out->kind, at, LOOM_PAIR_VO));
  LOOM_TRY(fx_poke_int(f, out->obst, at, 0));
  for (int64_t c = 0; c < 4; ++c) {
    LOOM_TRY(fx_poke_int(f, out->v, 4 * at + c, c == 0 ? vertex : -1));
    LOOM_TRY(fx_poke(f, out->w, 4 * at + c, c == 0 ? 1.0 : 0.0));
  }
  for (int64_t c = 0; c < 3; ++c) {
    LOOM_TRY(fx_poke(f, out->normal, 3 * at + c, c == 2 ? 1.0 : 0.0));
    LOOM_TRY(fx_poke(f, out->point, 3 * at + c, 0.0));
  }
  LOOM_TRY(fx_poke(f, out->gap, at, 1e-3));
  LOOM_TRY(fx_poke(f, out->toi, at, 2.0));
  void *key;
  LOOM_TRY(f->host->map(f->host, f->e, out->key, LOOM_RDWR, LOOM_AT_HOST, &key));
  ((uint64_t *)key)[at] = (uint64_t)vertex;
  return f->host->unmap(f->host, out->key);
}

/* Spoils the pairs that are there. */
static loom_status spoil_last_pair(fx *f, loom_pairs *out, const char *act, int64_t before)
{
  const int64_t last = out->count - 1;
  if (fx_is(act, "over")) out->count = out->capacity + 1000;
  if (fx_is(act, "negative")) out->count = -1;
  if (fx_is(act, "fewer")) out->count = before - 1;
  if (fx_is(act, "kind")) return fx_poke_int(f, out->kind, last, 77);
  if (fx_is(act, "other_kind")) return fx_poke_int(f, out->kind, last, LOOM_PAIR_VT);
  if (fx_is(act, "id")) return fx_poke_int(f, out->v, 4 * last, 123456789);
  if (fx_is(act, "id_negative")) return fx_poke_int(f, out->v, 4 * last, -5);
  if (fx_is(act, "id_unused")) return fx_poke_int(f, out->v, 4 * last + 3, 123456789);
  if (fx_is(act, "body")) return fx_poke_int(f, out->obst, last, 99);
  if (fx_is(act, "body_negative")) return fx_poke_int(f, out->obst, last, -2);
  if (fx_is(act, "gap")) return fx_poke(f, out->gap, last, NAN);
  if (fx_is(act, "normal")) return fx_poke(f, out->normal, 3 * last, NAN);
  return LOOM_OK;
}

static loom_status hostile_collision_detect(void *self, const loom_step *s, const loom_query *q,
                                            loom_pairs *out)
{
  fx *const f = self;
  const int64_t before = out->count;
  /* the contact model asks again, in resolve(), at the start of the step */
  FX_ENTER(f, q->x0 == s->x_start ? "detect_again" : "detect", s->x);
  if (fx_is(act, "grow_most")) {
    out->count = INT64_MAX;
    return LOOM_GROW;
  }
  if (fx_is(act, "grow_huge")) {
    out->count = INT64_C(2000000000);
    return LOOM_GROW;
  }
  if (fx_is(act, "grow_less")) {
    out->count = 0;
    return LOOM_GROW;
  }
  out->count = before + PAIRS;
  if (out->count > out->capacity) return LOOM_GROW;
  for (int32_t i = 0; i < PAIRS; ++i) LOOM_TRY(write_body_pair(f, out, before + i, i));
  return spoil_last_pair(f, out, act, before);
}

static loom_status max_step(void *self, const loom_step *s, loom_buf *x0, loom_buf *x1,
                            loom_bound *out)
{
  fx *const f = self;
  (void)x0, (void)x1;
  FX_ENTER(f, "max_step", s->x);
  out->t_global = 1.0;
  if (fx_is(act, "long")) out->t_global = 2.0;
  if (fx_is(act, "nan")) out->t_global = NAN;
  if (fx_is(act, "blocker")) out->blocker = 9999;
  const int spoils = fx_is(act, "vertex_long") || fx_is(act, "vertex_nan");
  if (spoils) out->t_global = 0.5; /* else no bound per vertex is asked for */
  if (!out->per_vertex) return LOOM_OK;
  for (int32_t i = 0; i < f->sc->num_verts; ++i) LOOM_TRY(fx_poke(f, out->t_vertex, i, 1.0));
  if (fx_is(act, "vertex_long")) return fx_poke(f, out->t_vertex, 3, 1.5);
  return fx_is(act, "vertex_nan") ? fx_poke(f, out->t_vertex, 3, NAN) : LOOM_OK;
}

static loom_status hostile_collision_end_step(void *self, const loom_step *s)
{
  fx *const f = self;
  FX_ENTER(f, "end_step", s->x);
  return LOOM_OK;
}

static loom_status hostile_collision_checkpoint(void *self, const loom_step *s, int restore)
{
  fx *const f = self;
  FX_ENTER(f, restore ? "restore" : "checkpoint", s->x);
  return LOOM_OK;
}

const loom_collision_ops fx_collision = {.struct_size = sizeof fx_collision,
                                         .provides = LOOM_COLL_PROXIMITY | LOOM_COLL_STEP_GLOBAL |
                                                     LOOM_COLL_STEP_VERTEX,
                                         .pair_kinds = LOOM_BIT(LOOM_PAIR_VO),
                                         .create = hostile_create,
                                         .destroy = hostile_destroy,
                                         .reset = hostile_collision_reset,
                                         .begin_step = hostile_collision_begin_step,
                                         .detect = hostile_collision_detect,
                                         .max_step = max_step,
                                         .end_step = hostile_collision_end_step,
                                         .checkpoint = hostile_collision_checkpoint};
