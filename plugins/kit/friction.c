/* friction.c - see friction.h. */
#include "kit/friction.h"

static const lk_entry k_differ = LK_ENTRY_MOVES(fric_differ, 0, 2),
                      k_loss = LK_ENTRY_MOVES(fric_dissipation, 32, 5);
static const lk_entry k_work = LK_ENTRY_MOVES(fric_work, 32, 5),
                      k_drag = LK_ENTRY_MOVES(fric_drag, 45, 11);
static const lk_entry k_hold = LK_ENTRY_MOVES(fric_hold, 20, 8);
static const lk_entry k_size = LK_ENTRY_MOVES(fric_size, 6, 3);
static const lk_entry k_hessian = LK_ENTRY_MOVES(fric_hessian, 144, 39),
                      k_most = LK_ENTRY_MOVES(fric_sum_most, 1, 0);

loom_status fric_new(friction *f, candidates *c, double self_friction, double epsilon_v)
{
  const plug_buf all[] = {{"friction vertices", LOOM_I32, 0, &f->v},
                          {"last friction vertices", LOOM_I32, 0, &f->v_old},
                          {"friction obstacles", LOOM_I32, 0, &f->obst},
                          {"friction weights", LOOM_REAL, 0, &f->w},
                          {"friction normals", LOOM_REAL, 0, &f->normal},
                          {"friction points", LOOM_REAL, 0, &f->point},
                          {"friction points at the start", LOOM_REAL, 0, &f->then},
                          {"friction points now", LOOM_REAL, 0, &f->now},
                          {"friction limits", LOOM_REAL, 0, &f->most},
                          {"contact at the start", LOOM_REAL, 0, &f->push},
                          {"sizes of contact at the start", LOOM_REAL, 0, &f->size},
                          {"friction blocks", LOOM_I64, 0, &f->blocks},
                          {"first friction blocks", LOOM_I64, 1, &f->at_block}};
  f->c = c;
  f->self_friction = self_friction;
  f->epsilon_v = epsilon_v;
  LOOM_TRY(plug_bufs_new(c->host, all, LOOM_COUNT(all)));
  LOOM_TRY(ahead_create(&f->ahead, c->host, c->e, c->sc));
  return gather_create(&f->corner, c->host, c->e);
}

void fric_reset(friction *f) { f->num = f->num_blocks = f->corner.count = 0; }

int fric_any(const friction *f) { return f->self_friction > 0.0 || f->c->rough; }

static loom_status resize_lagged_pairs(friction *f)
{
  const loom_host *const host = f->c->host;
  const int64_t m = f->num;
  LOOM_TRY(host->buf_resize(host, f->v, 4 * m));
  LOOM_TRY(host->buf_resize(host, f->obst, m));
  LOOM_TRY(host->buf_resize(host, f->w, 4 * m));
  LOOM_TRY(host->buf_resize(host, f->normal, 3 * m));
  LOOM_TRY(host->buf_resize(host, f->point, 3 * m));
  LOOM_TRY(host->buf_resize(host, f->then, 3 * m));
  LOOM_TRY(host->buf_resize(host, f->now, 3 * m));
  LOOM_TRY(host->buf_resize(host, f->most, m));
  LOOM_TRY(host->buf_resize(host, f->blocks, m));
  return host->buf_resize(host, f->at_block, m + 1);
}

loom_status fric_carry(const candidates *c, loom_buf *obst, loom_buf *point, int64_t num,
                       double from, double to, loom_buf *out)
{
  const loom_body_rows rows = {.struct_size = sizeof rows, .count = num, .body = obst, .x = point};
  return c->host->body_carry(c->host, c->e, &rows, from, to, out);
}

/* f->push and f->size, with bodies at `progress`. */
static loom_status find_push(friction *f, const pair_energy *p, const loom_step *s, double progress)
{
  const loom_host *const host = f->c->host;
  gather *const corner = &f->c->corner;
  loom_buf *const sum[] = {f->push, f->size};
  loom_step at = *s;
  at.progress = progress;
  for (size_t k = 0; k < LOOM_COUNT(sum); ++k) {
    LOOM_TRY(host->buf_resize(host, sum[k], 3 * (int64_t)f->c->sc->num_verts));
    LOOM_TRY(host->fill(host, f->c->e, sum[k], 0.0));
  }
  LOOM_TRY(pair_eval(p, &at, s->x_start, NULL, f->push));
  plug_maps m = plug_maps_on(host, f->c->e);
  const fric_size_args a = {.force = plug_rdwr(&m, corner->force)};
  LOOM_TRY(plug_launch(&m, &k_size, &a, corner->count, NULL));
  return gather_add(corner, f->c->act.place, NULL, f->size);
}

static fric_temper map_friction_temper(const friction *f, plug_maps *m, const loom_step *s,
                                       int rule)
{
  return (fric_temper){.y = plug_read(m, s->y),
                       .pull = plug_read(m, ahead_pull(&f->ahead, s)),
                       .push = plug_read(m, rule == FRIC_END ? f->push : NULL),
                       .size = plug_read(m, rule == FRIC_END ? f->size : NULL),
                       .v = plug_read(m, s->v_start),
                       .mass = plug_read(m, f->c->sc->mass),
                       .h = (lk_real)s->h,
                       .h2 = (lk_real)loom_problem_h2(s->problem),
                       .first = s->index == 0};
}

/* The rule at x: FRIC_END needs elasticity at x_start. */
static int lag_rule(const friction *f, const loom_step *s, const loom_buf *x)
{
  if (x != s->x_start) return FRIC_START;
  return f->rule == FRIC_END && ahead_pull(&f->ahead, s) == NULL ? FRIC_LIMIT : f->rule;
}

/* Freeze the active pairs of x. */
static loom_status freeze_lagged_pairs(friction *f, const pair_energy *p, const lk_entry *lag,
                                       const loom_step *s, loom_buf *x, double progress)
{
  candidates *const c = f->c;
  const int rule = lag_rule(f, s, x);
  if (rule == FRIC_END) LOOM_TRY(find_push(f, p, s, progress));
  plug_maps m = plug_maps_on(c->host, c->e);
  fric_lag_args a = {.p = pair_open(p, &m, s, x),
                     .v = plug_write(&m, f->v),
                     .obst = plug_write(&m, f->obst),
                     .w = plug_write(&m, f->w),
                     .normal = plug_write(&m, f->normal),
                     .point = plug_write(&m, f->point),
                     .most = plug_write(&m, f->most),
                     .blocks = plug_write(&m, f->blocks),
                     .self_friction = (lk_real)f->self_friction,
                     .reach = (lk_real)c->reach,
                     .t = {.mass = plug_read(&m, c->sc->mass)}};
  if (rule != FRIC_START) a.t = map_friction_temper(f, &m, s, rule);
  a.p.s.progress = (lk_real)progress;
  f->progress = progress;
  LOOM_TRY(plug_launch(&m, lag, &a, f->num, NULL));
  return fric_carry(c, f->obst, f->point, f->num, progress, 0.0, f->then);
}

/* *same = 1: the lagged pairs have the same vertices as after the last lag. */
static loom_status compare_lagged_pairs(friction *f, int64_t before, int *same)
{
  candidates *const c = f->c;
  double differ = 0.0;
  *same = before == f->num;
  if (!*same || f->num == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(c->host, c->e);
  const fric_differ_args args = {.a = plug_read(&m, f->v), .b = plug_read(&m, f->v_old)};
  LOOM_TRY(plug_reduce(&m, &k_differ, &args, 4 * f->num, c->result, &differ));
  *same = differ == 0.0;
  return LOOM_OK;
}

loom_status fric_lag(friction *f, const pair_energy *p, const lk_entry *lag, const loom_step *s,
                     loom_buf *x, double progress, uint32_t *changed)
{
  *changed = LOOM_CHANGED_NONE;
  if (!fric_any(f)) return LOOM_OK;
  LOOM_TRY(cand_activate(f->c, s, x, progress));
  return fric_lag_active(f, p, lag, s, x, progress, changed);
}

loom_status fric_lag_active(friction *f, const pair_energy *p, const lk_entry *lag,
                            const loom_step *s, loom_buf *x, double progress, uint32_t *changed)
{
  candidates *const c = f->c;
  const loom_host *const host = c->host;
  const int64_t before = f->num;
  int same;
  *changed = LOOM_CHANGED_NONE;
  LOOM_TRY(ahead_take(&f->ahead, s));
  LOOM_TRY(host->buf_resize(host, f->v_old, 4 * before));
  LOOM_TRY(host->buf_copy(host, c->e, f->v_old, f->v));
  fric_reset(f);
  f->num = c->act.num;
  if (f->num > 0) {
    LOOM_TRY(resize_lagged_pairs(f));
    LOOM_TRY(freeze_lagged_pairs(f, p, lag, s, x, progress));
    LOOM_TRY(host->scan_i64(host, c->e, f->blocks, f->at_block, &f->num_blocks));
    LOOM_TRY(gather_sort(&f->corner, f->v, c->sc->fixed, c->sc->num_verts, f->num));
  }
  LOOM_TRY(compare_lagged_pairs(f, before, &same));
  if (!same) *changed |= LOOM_CHANGED_PATTERN;
  if (!same || f->num > 0) *changed |= LOOM_CHANGED_VALUES;
  return LOOM_OK;
}

static fric_state open_at(friction *f, plug_maps *m, const loom_step *s, loom_buf *x,
                          double progress)
{
  candidates *const c = f->c;
  const int bodies = c->sc->num_body_verts > 0;
  if (m->status == LOOM_OK && c->moving)
    m->status = fric_carry(c, f->obst, f->point, f->num, f->progress, progress, f->now);
  return (fric_state){.x = plug_read(m, x),
                      .x_start = plug_read(m, s->x_start),
                      .body0 = plug_read(m, bodies ? s->body0 : NULL),
                      .body1 = plug_read(m, bodies ? s->body1 : NULL),
                      .fixed = plug_read(m, c->sc->fixed),
                      .v = plug_read(m, f->v),
                      .obst = plug_read(m, f->obst),
                      .w = plug_read(m, f->w),
                      .normal = plug_read(m, f->normal),
                      .then = plug_read(m, f->then),
                      .now = plug_read(m, c->moving ? f->now : f->then),
                      .most = plug_read(m, f->most),
                      .progress = (lk_real)progress,
                      .eps = (lk_real)(f->epsilon_v * s->h),
                      .n = c->sc->num_verts};
}

/* 1: evaluate an expansion that serves the step, with bodies at the end of their motion. */
static int is_step_expansion(const loom_step *s) { return s->expansion == LOOM_EXPAND_STEP; }

fric_state fric_open(friction *f, plug_maps *m, const loom_step *s, loom_buf *x)
{
  return open_at(f, m, s, x, is_step_expansion(s) ? 1.0 : s->progress);
}

loom_status fric_find_ahead(friction *f, const loom_step *s)
{
  candidates *const c = f->c;
  LOOM_TRY(ahead_begin(&f->ahead));
  plug_maps m = plug_maps_on(c->host, c->e);
  const fric_hold_args a = {.f = open_at(f, &m, s, s->x_start, 1.0),
                            .at = plug_read(&m, f->corner.at),
                            .force = plug_write(&m, f->corner.force)};
  LOOM_TRY(plug_launch(&m, &k_hold, &a, f->num, NULL));
  LOOM_TRY(gather_add(&f->corner, NULL, NULL, f->ahead.hold));
  return ahead_find(&f->ahead, s);
}

/* Maps where cloth goes, for secants; zeros without them. */
static ahead_ways open_ahead(friction *f, plug_maps *m, const loom_step *s, int wanted)
{
  return wanted ? ahead_open(&f->ahead, m, s) : (ahead_ways){.coast = NULL};
}

static loom_status sum_lagged_pairs(friction *f, const loom_step *s, loom_buf *x, const lk_entry *k,
                                    double *out)
{
  candidates *const c = f->c;
  const int expands = is_step_expansion(s);
  if (expands) LOOM_TRY(fric_find_ahead(f, s));
  plug_maps m = plug_maps_on(c->host, c->e);
  const fric_slip_args a = {.f = fric_open(f, &m, s, x), .ahead = open_ahead(f, &m, s, expands)};
  return plug_reduce_later(&m, k, &a, f->num, c->result, &c->later, 1.0, out);
}

loom_status fric_sums(friction *f, const loom_step *s, loom_buf *x, double *potential, double *work)
{
  if (f->num == 0) return LOOM_OK;
  if (potential != NULL) LOOM_TRY(sum_lagged_pairs(f, s, x, &k_loss, potential));
  return work != NULL ? sum_lagged_pairs(f, s, x, &k_work, work) : LOOM_OK;
}

loom_status fric_most(friction *f, double *sum)
{
  const candidates *const c = f->c;
  *sum = 0.0;
  if (f->num == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(c->host, c->e);
  const fric_most_args a = {.most = plug_read(&m, f->most)};
  return plug_reduce(&m, &k_most, &a, f->num, c->result, sum);
}

loom_status fric_gradient(friction *f, const loom_step *s, loom_buf *x, loom_buf *grad)
{
  candidates *const c = f->c;
  const int expands = is_step_expansion(s);
  if (f->num == 0) return LOOM_OK;
  if (expands) LOOM_TRY(fric_find_ahead(f, s));
  plug_maps m = plug_maps_on(c->host, c->e);
  const fric_drag_args a = {.f = fric_open(f, &m, s, x),
                            .ahead = open_ahead(f, &m, s, expands),
                            .at = plug_read(&m, f->corner.at),
                            .force = plug_write(&m, f->corner.force)};
  LOOM_TRY(plug_launch(&m, &k_drag, &a, f->num, NULL));
  return gather_add(&f->corner, NULL, NULL, grad);
}

loom_status fric_add_hessian(friction *f, const loom_step *s, loom_buf *x, int how, int64_t first,
                             loom_blocks3 *out)
{
  const int secants = how == LOOM_HESS_EXPANSION;
  candidates *const c = f->c;
  if (f->num_blocks == 0) return LOOM_OK;
  if (secants) LOOM_TRY(fric_find_ahead(f, s));
  plug_maps m = plug_maps_on(c->host, c->e);
  const fric_hessian_args a = {.f = open_at(f, &m, s, x, secants ? 1.0 : s->progress),
                               .ahead = open_ahead(f, &m, s, secants),
                               .at_block = plug_read(&m, f->at_block),
                               .first = first,
                               .row = plug_rdwr(&m, out->row),
                               .col = plug_rdwr(&m, out->col),
                               .val = plug_rdwr(&m, out->val)};
  return plug_launch(&m, &k_hessian, &a, f->num, NULL);
}
