/* state.c - data of the pairs: planes, stiffness, normal forces, and the places of their corners in
 * the gradient and the Hessian. */
#include "penalty.h"

#include "kit/pair_friction.h"

static const lk_entry k_setup = LK_ENTRY_MOVES(penalty_setup, 25, 10),
                      k_lag = LK_ENTRY_MOVES(penalty_lag, 17, 5);
static const lk_entry k_hold = LK_ENTRY_MOVES(penalty_hold, 20, 13),
                      k_temper = LK_ENTRY_MOVES(penalty_temper, 40, 7);
static const lk_entry k_differ = LK_ENTRY_MOVES(penalty_differ, 3, 0);

loom_status penalty_state_new(penalty *p)
{
  const loom_host *const host = p->host;
  p->friction = p->set.self_friction > 0.0;
  p->friction |= pair_friction_any(p->sc);
  const plug_buf all[] = {{"keys", LOOM_U64, 0, &p->key},
                          {"planes", LOOM_REAL, 0, &p->c},
                          {"stiffness", LOOM_REAL, 0, &p->k},
                          {"friction", LOOM_REAL, 0, &p->mu},
                          {"obstacle motion", LOOM_REAL, 0, &p->move},
                          {"normal forces", LOOM_REAL, 0, &p->lambda},
                          {"normals of friction", LOOM_REAL, 0, &p->across},
                          {"forces at vertices", LOOM_REAL, 0, &p->push},
                          {"sizes of forces at vertices", LOOM_REAL, 0, &p->size},
                          {"number of blocks", LOOM_I64, 0, &p->num_blocks},
                          {"first blocks", LOOM_I64, 1, &p->at_block},
                          {"sums", LOOM_REAL, 4, &p->result}};
  LOOM_TRY(plug_bufs_new(host, all, LOOM_COUNT(all)));
  LOOM_TRY(ahead_create(&p->ahead, host, p->e, p->sc));
  LOOM_TRY(element_share_new(&p->shares, host, p->e));
  return gather_create(&p->corner, host, p->e);
}

penalty_state penalty_open(penalty *p, plug_maps *m, const loom_step *s, loom_buf *x,
                           loom_buf *lambda, int expands)
{
  return (penalty_state){.x = plug_read(m, x),
                         .x_start = plug_read(m, s->x_start),
                         .v = plug_read(m, p->v),
                         .w = plug_read(m, p->w),
                         .normal = plug_read(m, p->normal),
                         .c = plug_read(m, p->c),
                         .k = plug_read(m, p->k),
                         .mu = plug_read(m, p->mu),
                         .move = plug_read(m, p->move),
                         .lambda = plug_read(m, lambda),
                         .across = lambda != NULL ? plug_read(m, p->across) : NULL,
                         .ahead =
                             expands ? ahead_open(&p->ahead, m, s) : (ahead_ways){.coast = NULL},
                         .n = p->sc->num_verts,
                         .offset = (lk_real)p->set.offset,
                         .eps = (lk_real)(p->set.epsilon_v * s->h),
                         .stick = (lk_real)p->set.stick};
}

static loom_status resize_pairs(penalty *p, int64_t m)
{
  const loom_host *const host = p->host;
  LOOM_TRY(host->buf_resize(host, p->c, m));
  LOOM_TRY(host->buf_resize(host, p->k, m));
  LOOM_TRY(host->buf_resize(host, p->mu, m));
  LOOM_TRY(host->buf_resize(host, p->move, 3 * m));
  LOOM_TRY(host->buf_resize(host, p->lambda, m));
  LOOM_TRY(host->buf_resize(host, p->across, 3 * m));
  LOOM_TRY(host->buf_resize(host, p->num_blocks, m));
  return host->buf_resize(host, p->at_block, m + 1);
}

/* Planes, stiffness, friction and motion at the pairs' contact points. */
static loom_status setup_penalty_pairs(penalty *p, const loom_step *s, const loom_pairs *pairs)
{
  const loom_body_rows rows = {
      .struct_size = sizeof rows, .count = p->m, .body = pairs->obst, .x = pairs->point};
  LOOM_TRY(p->host->body_carry(p->host, p->e, &rows, 1.0, 0.0, p->move));
  LOOM_TRY(element_share_find(&p->shares, s, pairs->kind, pairs->v, pairs->obst, p->m, pairs->kinds,
                              p->set.offset + p->set.margin));
  plug_maps m = plug_maps_on(p->host, p->e);
  const penalty_setup_args a = {.x = plug_read(&m, s->x),
                                .mass = plug_read(&m, p->sc->mass),
                                .fixed = plug_read(&m, p->sc->fixed),
                                .kind = plug_read(&m, pairs->kind),
                                .v = plug_read(&m, pairs->v),
                                .w = plug_read(&m, pairs->w),
                                .obst = plug_read(&m, pairs->obst),
                                .normal = plug_read(&m, pairs->normal),
                                .gap = plug_read(&m, pairs->gap),
                                .point = plug_read(&m, pairs->point),
                                .friction = plug_read(&m, p->sc->body_friction),
                                .share = plug_read(&m, element_share_of(&p->shares)),
                                .c = plug_write(&m, p->c),
                                .k = plug_write(&m, p->k),
                                .mu = plug_write(&m, p->mu),
                                .move = plug_rdwr(&m, p->move),
                                .blocks = plug_write(&m, p->num_blocks),
                                .stiffness = (lk_real)p->set.stiffness,
                                .self_friction = (lk_real)p->set.self_friction,
                                .named = pair_friction_open(&m, p->sc)};
  return plug_launch(&m, &k_setup, &a, p->m, NULL);
}

/* Places of the forces and blocks of pairs; the core clears rows and blocks of fixed vertices. */
static loom_status sort_penalty_corners(penalty *p)
{
  const loom_host *const host = p->host;
  LOOM_TRY(host->scan_i64(host, p->e, p->num_blocks, p->at_block, &p->blocks));
  return gather_sort(&p->corner, p->v, NULL, p->sc->num_verts, p->m);
}

/* Are these the pairs of last time? */
static loom_status compare_penalty_pairs(penalty *p, const loom_pairs *pairs, int *same)
{
  double differ = 0.0;
  *same = pairs->count == p->num_keys;
  if (!*same || p->num_keys == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(p->host, p->e);
  const penalty_differ_args a = {.a = plug_read(&m, p->key), .b = plug_read(&m, pairs->key)};
  LOOM_TRY(plug_reduce(&m, &k_differ, &a, p->num_keys, p->result, &differ));
  *same = differ == 0.0;
  return LOOM_OK;
}

loom_status penalty_take_pairs(penalty *p, const loom_step *s, const loom_pairs *pairs,
                               uint32_t *changed)
{
  int same = 0;
  LOOM_TRY(compare_penalty_pairs(p, pairs, &same));
  *changed = same ? LOOM_CHANGED_NONE : LOOM_CHANGED_PATTERN | LOOM_CHANGED_VALUES;
  p->m = pairs->count;
  p->v = pairs->v;
  p->w = pairs->w;
  p->normal = pairs->normal;
  p->kind = pairs->kind;
  p->num_keys = p->m;
  LOOM_TRY(resize_pairs(p, p->m));
  if (p->m == 0) {
    p->corner.count = p->blocks = 0;
    return LOOM_OK;
  }
  *changed |= LOOM_CHANGED_VALUES;
  LOOM_TRY(setup_penalty_pairs(p, s, pairs));
  LOOM_TRY(sort_penalty_corners(p));
  if (!same) {
    LOOM_TRY(p->host->buf_resize(p->host, p->key, p->m));
    LOOM_TRY(p->host->buf_copy(p->host, p->e, p->key, pairs->key));
  }
  return penalty_take_forces(p, s, p->set.friction_lag == LAG_STEP);
}

loom_status penalty_take_forces(penalty *p, const loom_step *s, int at_start)
{
  if (p->m == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(p->host, p->e);
  const penalty_lag_args a = {
      .s = penalty_open(p, &m, s, at_start ? s->x_start : s->x, NULL, 0),
      .kind = plug_read(&m, p->kind),
      .lambda = plug_write(&m, p->lambda),
      .across = plug_write(&m, p->across),
      .at_start = at_start,
      /* The first guess has fallen freely, by g h^2: on cloth 10 ms long its normal forces are 85
       * times those to come, and friction would stop cloth that slides on cloth.  On bodies they
       * send it right where it goes in one local-global iteration. */
      .cloth_at_start = at_start || s->iter < 0};
  return plug_launch(&m, &k_lag, &a, p->m, NULL);
}

loom_status penalty_sum_forces(penalty *p, const loom_step *s, int which, loom_buf *out)
{
  plug_maps m = plug_maps_on(p->host, p->e);
  const penalty_hold_args a = {.s = penalty_open(p, &m, s, s->x_start, p->lambda, 0),
                               .sum = which,
                               .at = plug_read(&m, p->corner.at),
                               .force = plug_write(&m, p->corner.force)};
  LOOM_TRY(plug_launch(&m, &k_hold, &a, p->m, NULL));
  return gather_add(&p->corner, NULL, NULL, out);
}

loom_status penalty_temper_forces(penalty *p, const loom_step *s)
{
  loom_buf *const sum[] = {p->push, p->size};
  if (ahead_pull(&p->ahead, s) == NULL) return LOOM_OK;
  for (size_t k = 0; k < LOOM_COUNT(sum); ++k) {
    LOOM_TRY(p->host->buf_resize(p->host, sum[k], 3 * (int64_t)p->sc->num_verts));
    LOOM_TRY(p->host->fill(p->host, p->e, sum[k], 0.0));
    LOOM_TRY(penalty_sum_forces(p, s, k == 0 ? PENALTY_PUSH : PENALTY_SIZE, sum[k]));
  }
  plug_maps m = plug_maps_on(p->host, p->e);
  const penalty_temper_args a = {.s = penalty_open(p, &m, s, s->x_start, NULL, 0),
                                 .fixed = plug_read(&m, p->sc->fixed),
                                 .lambda = plug_rdwr(&m, p->lambda),
                                 .across = plug_read(&m, p->across),
                                 .t = {.y = plug_read(&m, s->y),
                                       .pull = plug_read(&m, ahead_pull(&p->ahead, s)),
                                       .push = plug_read(&m, p->push),
                                       .size = plug_read(&m, p->size),
                                       .v = plug_read(&m, s->v_start),
                                       .mass = plug_read(&m, p->sc->mass),
                                       .h = (lk_real)s->h,
                                       .h2 = (lk_real)loom_problem_h2(s->problem)}};
  return plug_launch(&m, &k_temper, &a, p->m, NULL);
}
