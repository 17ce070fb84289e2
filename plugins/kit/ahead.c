/* ahead.c - see ahead.h. */
#include "kit/ahead.h"

static const lk_entry k_move = LK_ENTRY_MOVES(ahead_move, 24, 1);

loom_status ahead_create(ahead_data *a, const loom_host *host, const loom_exec *e,
                         const loom_scene *sc)
{
  const plug_buf all[] = {{"elasticity at the start", LOOM_REAL, 0, &a->pull},
                          {"cloth going on", LOOM_REAL, 0, &a->coast},
                          {"cloth under forces", LOOM_REAL, 0, &a->outer},
                          {"cloth under elasticity", LOOM_REAL, 0, &a->all},
                          {"friction of vertices", LOOM_REAL, 0, &a->hold}};
  a->host = host;
  a->e = e;
  a->sc = sc;
  a->step = -1;
  return plug_bufs_new(host, all, LOOM_COUNT(all));
}

loom_status ahead_take(ahead_data *a, const loom_step *s)
{
  if (s->problem == NULL || s->problem->contact != LOOM_CONTACT_FROZEN || s->iter >= 0)
    return LOOM_OK;
  a->step = s->index;
  LOOM_TRY(a->host->buf_resize(a->host, a->pull, 3 * (int64_t)a->sc->num_verts));
  return a->host->buf_copy(a->host, a->e, a->pull, s->grad);
}

loom_buf *ahead_pull(const ahead_data *a, const loom_step *s)
{
  return a->step == s->index ? a->pull : NULL;
}

loom_status ahead_begin(ahead_data *a)
{
  LOOM_TRY(a->host->buf_resize(a->host, a->hold, 3 * (int64_t)a->sc->num_verts));
  return a->host->fill(a->host, a->e, a->hold, 0.0);
}

static loom_status coast_alone(ahead_data *a, const loom_step *s)
{
  LOOM_TRY(a->host->buf_copy(a->host, a->e, a->coast, s->x_start));
  return a->host->axpby(a->host, a->e, s->h, s->v_start, 1.0, a->coast);
}

loom_status ahead_find(ahead_data *a, const loom_step *s)
{
  loom_buf *const all[] = {a->coast, a->outer, a->all};
  for (size_t k = 0; k < LOOM_COUNT(all); ++k)
    LOOM_TRY(a->host->buf_resize(a->host, all[k], 3 * (int64_t)a->sc->num_verts));
  if (ahead_pull(a, s) == NULL) return coast_alone(a, s);
  plug_maps m = plug_maps_on(a->host, a->e);
  const ahead_args args = {.x_start = plug_read(&m, s->x_start),
                           .v_start = plug_read(&m, s->v_start),
                           .y = plug_read(&m, s->y),
                           .pull = plug_read(&m, a->pull),
                           .mass = plug_read(&m, a->sc->mass),
                           .fixed = plug_read(&m, a->sc->fixed),
                           .coast = plug_write(&m, a->coast),
                           .outer = plug_write(&m, a->outer),
                           .all = plug_write(&m, a->all),
                           .hold = plug_rdwr(&m, a->hold),
                           .h = (lk_real)s->h,
                           .h2 = (lk_real)loom_problem_h2(s->problem)};
  return plug_launch(&m, &k_move, &args, a->sc->num_verts, NULL);
}

ahead_ways ahead_open(const ahead_data *a, plug_maps *m, const loom_step *s)
{
  const int known = ahead_pull(a, s) != NULL;
  return (ahead_ways){.coast = plug_read(m, a->coast),
                      .outer = plug_read(m, known ? a->outer : NULL),
                      .all = plug_read(m, known ? a->all : NULL),
                      .hold = plug_read(m, a->hold)};
}
