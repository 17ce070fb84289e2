/* state.c - what the penalty keeps about its pairs: planes, stiffness, normal forces, and
 * where their corners stand in the gradient and the Hessian. */
#include <stdlib.h>
#include <string.h>

#include "penalty.h"

static const lk_entry k_setup = LK_ENTRY(pen_setup), k_lag = LK_ENTRY(pen_lag);
static const lk_entry k_keys = LK_ENTRY(pen_corner_keys), k_totals = LK_ENTRY(pen_totals);
static const lk_entry k_differ = LK_ENTRY(pen_differ);

loom_status pen_state_new(penalty *p)
{
  const loom_host *const h = p->h;
  const int64_t bytes = (int64_t)p->sc->num_obstacles * (int64_t)sizeof *p->view;
  p->view = calloc((size_t)p->sc->num_obstacles + 1, sizeof *p->view);
  LOOM_CHECK(h, p->view != NULL, LOOM_E_NOMEM, "no memory for %d bodies", p->sc->num_obstacles);
  const struct {
    const char *name;
    int type;
    int64_t count;
    loom_buf **out;
  } all[] = {{"bodies", LOOM_U8, bytes, &p->views},
             {"keys", LOOM_U64, 0, &p->key},
             {"planes", LOOM_REAL, 0, &p->c},
             {"stiffness", LOOM_REAL, 0, &p->k},
             {"friction", LOOM_REAL, 0, &p->mu},
             {"obstacle motion", LOOM_REAL, 0, &p->move},
             {"normal forces", LOOM_REAL, 0, &p->lambda},
             {"number of corners", LOOM_I64, 0, &p->num_corners},
             {"number of blocks", LOOM_I64, 0, &p->num_blocks},
             {"first corners", LOOM_I64, 1, &p->at},
             {"first blocks", LOOM_I64, 1, &p->at_block},
             {"totals", LOOM_I64, 2, &p->total},
             {"corner vertices", LOOM_U64, 0, &p->vertex},
             {"corner places", LOOM_I32, 0, &p->place},
             {"corner forces", LOOM_REAL, 0, &p->force},
             {"sums", LOOM_REAL, 4, &p->result}};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
    LOOM_TRY(h->buf_new(h, all[i].name, all[i].type, all[i].count, all[i].out));
  return LOOM_OK;
}

void pen_state_free(penalty *p)
{
  loom_buf *const all[] = {p->views,  p->key,   p->c,          p->k,           p->mu, p->move,
                           p->lambda, p->total, p->num_blocks, p->num_corners, p->at, p->at_block,
                           p->vertex, p->place, p->force,      p->result};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) p->h->buf_free(p->h, all[i]);
  free(p->view);
}

loom_status pen_obstacles(penalty *p)
{
  const loom_host *const h = p->h;
  void *bytes;
  p->friction = p->set.self_friction > 0.0;
  for (int i = 0; i < p->sc->num_obstacles; ++i) {
    const loom_obstacle *const o = &p->sc->obstacles[i];
    const char *const why = obst_view_fill(o, &p->view[i]);
    LOOM_CHECK(h, why == NULL, LOOM_E_CONFIG, "body '%s': %s", o->name != NULL ? o->name : "?",
               why);
    p->friction |= o->friction > 0;
  }
  LOOM_TRY(h->map(h, p->e, p->views, LOOM_WRITE, LOOM_AT_HOST, &bytes));
  memcpy(bytes, p->view, (size_t)p->sc->num_obstacles * sizeof *p->view);
  return h->unmap(h, p->views);
}

loom_status pen_open(penalty *p, const loom_step *s, loom_buf *x, plug_map m[PEN_MAPS],
                     pen_state *out)
{
  void *q[PEN_MAPS];
  const plug_map all[PEN_MAPS] = {
      {x, LOOM_READ},         {s->x_start, LOOM_READ}, {p->v, LOOM_READ}, {p->w, LOOM_READ},
      {p->normal, LOOM_READ}, {p->c, LOOM_READ},       {p->k, LOOM_READ}, {p->mu, LOOM_READ},
      {p->move, LOOM_READ},   {p->lambda, LOOM_READ}};
  memcpy(m, all, sizeof all);
  LOOM_TRY(plug_map_all(p->h, p->e, PEN_MAPS, m, q));
  const pen_state state = {.x = q[0],
                           .x_start = q[1],
                           .v = q[2],
                           .w = q[3],
                           .normal = q[4],
                           .c = q[5],
                           .k = q[6],
                           .mu = q[7],
                           .move = q[8],
                           .lambda = q[9],
                           .offset = (lk_real)p->set.offset,
                           .eps = (lk_real)(p->set.epsilon_v * s->h),
                           .stick = (lk_real)p->set.stick};
  *out = state;
  return LOOM_OK;
}

static loom_status resize_pairs(penalty *p, int64_t m)
{
  const loom_host *const h = p->h;
  LOOM_TRY(h->buf_resize(h, p->c, m));
  LOOM_TRY(h->buf_resize(h, p->k, m));
  LOOM_TRY(h->buf_resize(h, p->mu, m));
  LOOM_TRY(h->buf_resize(h, p->move, 3 * m));
  LOOM_TRY(h->buf_resize(h, p->lambda, m));
  LOOM_TRY(h->buf_resize(h, p->num_corners, m));
  LOOM_TRY(h->buf_resize(h, p->num_blocks, m));
  LOOM_TRY(h->buf_resize(h, p->at, m + 1));
  return h->buf_resize(h, p->at_block, m + 1);
}

/* Planes, stiffness, friction and motion at the pairs' contact points. */
static loom_status setup(penalty *p, const loom_step *s, const loom_pairs *pairs)
{
  void *q[16];
  const plug_map m[16] = {
      {s->x, LOOM_READ},          {p->sc->mass, LOOM_READ}, {p->sc->fixed, LOOM_READ},
      {pairs->v, LOOM_READ},      {pairs->w, LOOM_READ},    {pairs->obst, LOOM_READ},
      {pairs->normal, LOOM_READ}, {pairs->gap, LOOM_READ},  {pairs->point, LOOM_READ},
      {p->views, LOOM_READ},      {p->c, LOOM_WRITE},       {p->k, LOOM_WRITE},
      {p->mu, LOOM_WRITE},        {p->move, LOOM_WRITE},    {p->num_corners, LOOM_WRITE},
      {p->num_blocks, LOOM_WRITE}};
  LOOM_TRY(plug_map_all(p->h, p->e, 16, m, q));
  const pen_setup_args a = {.x = q[0],
                            .mass = q[1],
                            .fixed = q[2],
                            .v = q[3],
                            .w = q[4],
                            .obst = q[5],
                            .normal = q[6],
                            .gap = q[7],
                            .point = q[8],
                            .view = q[9],
                            .c = q[10],
                            .k = q[11],
                            .mu = q[12],
                            .move = q[13],
                            .corners = q[14],
                            .blocks = q[15],
                            .stiffness = (lk_real)p->set.stiffness,
                            .self_friction = (lk_real)p->set.self_friction};
  LOOM_TRY(plug_run(p->h, p->e, &k_setup, &a, p->m, NULL));
  return plug_unmap_all(p->h, 16, m);
}

/* Corners of all pairs sorted by vertex, so that forces are gathered in a fixed order. */
static loom_status sort_corners(penalty *p)
{
  const loom_host *const h = p->h;
  void *q[4];
  LOOM_TRY(h->scan_i64(h, p->e, p->num_corners, p->at));
  LOOM_TRY(h->scan_i64(h, p->e, p->num_blocks, p->at_block));
  const plug_map t[3] = {{p->at, LOOM_READ}, {p->at_block, LOOM_READ}, {p->total, LOOM_WRITE}};
  LOOM_TRY(plug_map_all(h, p->e, 3, t, q));
  const pen_corner_args ta = {.at = q[0], .at_block = q[1], .total = q[2], .m = p->m};
  LOOM_TRY(plug_run(h, p->e, &k_totals, &ta, 1, NULL));
  LOOM_TRY(plug_unmap_all(h, 3, t));
  LOOM_TRY(h->map(h, p->e, p->total, LOOM_READ, LOOM_AT_HOST, &q[0]));
  p->corners = ((const int64_t *)q[0])[0];
  p->blocks = ((const int64_t *)q[0])[1];
  LOOM_TRY(h->unmap(h, p->total));

  LOOM_TRY(h->buf_resize(h, p->vertex, p->corners));
  LOOM_TRY(h->buf_resize(h, p->place, p->corners));
  LOOM_TRY(h->buf_resize(h, p->force, 3 * p->corners));
  const plug_map k[3] = {{p->v, LOOM_READ}, {p->at, LOOM_READ}, {p->vertex, LOOM_WRITE}};
  LOOM_TRY(plug_map_all(h, p->e, 3, k, q));
  const pen_corner_args ka = {.v = q[0], .at = q[1], .key = q[2]};
  LOOM_TRY(plug_run(h, p->e, &k_keys, &ka, p->m, NULL));
  LOOM_TRY(plug_unmap_all(h, 3, k));
  return h->sort_u64(h, p->e, p->vertex, p->place);
}

/* Are these the pairs of last time? */
static loom_status same_pairs(penalty *p, const loom_pairs *pairs, int *same)
{
  void *q[3];
  double differ = 0.0;
  *same = pairs->count == p->num_keys;
  if (!*same || p->num_keys == 0) return LOOM_OK;
  const plug_map m[3] = {{p->key, LOOM_READ}, {pairs->key, LOOM_READ}, {p->result, LOOM_WRITE}};
  LOOM_TRY(plug_map_all(p->h, p->e, 3, m, q));
  const pen_differ_args a = {q[0], q[1]};
  LOOM_TRY(plug_run(p->h, p->e, &k_differ, &a, p->num_keys, q[2]));
  LOOM_TRY(plug_unmap_all(p->h, 3, m));
  LOOM_TRY(plug_fetch(p->h, p->e, p->result, 1, &differ));
  *same = differ == 0.0;
  return LOOM_OK;
}

loom_status pen_take_pairs(penalty *p, const loom_step *s, const loom_pairs *pairs,
                           uint32_t *changed)
{
  int same = 0;
  LOOM_TRY(same_pairs(p, pairs, &same));
  *changed = same ? LOOM_CHANGED_NONE : LOOM_CHANGED_PATTERN | LOOM_CHANGED_VALUES;
  p->m = pairs->count;
  p->v = pairs->v;
  p->w = pairs->w;
  p->normal = pairs->normal;
  p->num_keys = p->m;
  LOOM_TRY(resize_pairs(p, p->m));
  if (p->m == 0) {
    p->corners = p->blocks = 0;
    return LOOM_OK;
  }
  *changed |= LOOM_CHANGED_VALUES;
  LOOM_TRY(setup(p, s, pairs));
  LOOM_TRY(sort_corners(p));
  if (!same) {
    LOOM_TRY(p->h->buf_resize(p->h, p->key, p->m));
    LOOM_TRY(p->h->buf_copy(p->h, p->e, p->key, pairs->key));
  }
  return pen_take_forces(p, s);
}

loom_status pen_take_forces(penalty *p, const loom_step *s)
{
  const int at_start = p->set.friction_lag == LAG_STEP;
  plug_map m[PEN_MAPS];
  pen_lag_args a;
  if (p->m == 0) return LOOM_OK;
  LOOM_TRY(pen_open(p, s, at_start ? s->x_start : s->x, m, &a.s));
  /* lambda is what is written: exchange its map */
  void *lambda;
  LOOM_TRY(p->h->unmap(p->h, p->lambda));
  LOOM_TRY(p->h->map(p->h, p->e, p->lambda, LOOM_WRITE, LOOM_AT_EXEC, &lambda));
  a.s.lambda = NULL;
  a.lambda = lambda;
  a.at_start = at_start;
  LOOM_TRY(plug_run(p->h, p->e, &k_lag, &a, p->m, NULL));
  return plug_unmap_all(p->h, PEN_MAPS, m);
}
