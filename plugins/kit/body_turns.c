/* body_turns.c - see body_turns.h. */
#include "kit/body_turns.h"

#include <string.h>

static const lk_entry k_solve = LK_ENTRY_MOVES(body_turns_solve, 700, 40);

loom_status body_turns_new(body_turns *b, const loom_host *host, const loom_scene *sc,
                           const loom_exec *e)
{
  b->host = host;
  b->sc = sc;
  b->e = e;
  LOOM_TRY(control_points_find(&b->bodies, host, sc, e));
  if (b->bodies.num == 0) return LOOM_OK;
  const int64_t num = b->bodies.num;
  const plug_buf all[] = {{"control points", LOOM_I32, 4 * num, &b->vert},
                          {"bodies", LOOM_REAL, BODY_TURNS_DATA * num, &b->data},
                          {"matrices of bodies", LOOM_REAL, 144 * num, &b->matrix}};
  LOOM_TRY(plug_bufs_new(host, all, LOOM_COUNT(all)));
  plug_maps m = plug_maps_on(host, e);
  int32_t *const to = plug_write_host(&m, b->vert);
  for (int32_t k = 0; m.status == LOOM_OK && k < num; ++k)
    memcpy(to + 4 * (int64_t)k, b->bodies.body[k].vert, sizeof b->bodies.body[k].vert);
  return plug_unbind(&m);
}

void body_turns_free(body_turns *b) { control_points_free(&b->bodies); }

loom_status body_turns_make(body_turns *b)
{
  if (b->bodies.num == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(b->host, b->e);
  loom_real *const to = plug_write_host(&m, b->data);
  for (int32_t i = 0; i < b->bodies.num && m.status == LOOM_OK; ++i) {
    const control_body *const k = &b->bodies.body[i];
    plug_maps of = plug_maps_on(b->host, b->e);
    const loom_real *const rest = plug_read_host(&of, b->sc->blocks[k->block].rest);
    const loom_real *const mat = plug_read_host(&of, b->sc->blocks[k->block].mat);
    for (int c = 0; of.status == LOOM_OK && c < BODY_TURNS_DATA; ++c)
      to[BODY_TURNS_DATA * i + c] = c < 10 ? rest[10 * (int64_t)k->elem + c] : mat[k->elem];
    m.status = of.status == LOOM_OK ? plug_unbind(&of) : of.status;
  }
  return plug_unbind(&m);
}

loom_status body_turns_apply(body_turns *b, const body_turns_args *on, loom_buf *x)
{
  if (b->bodies.num == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(b->host, b->e);
  body_turns_args a = *on;
  a.x = plug_read(&m, x);
  a.fixed = plug_read(&m, b->sc->fixed);
  a.vert = plug_read(&m, b->vert);
  a.data = plug_read(&m, b->data);
  a.matrix = plug_rdwr(&m, b->matrix);
  return plug_launch(&m, &k_solve, &a, b->bodies.num, NULL);
}
