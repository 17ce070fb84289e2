/* bodies.c - affine bodies in the global step: an exact solve of the 12 unknowns of each body.
 *
 * The operator H of projective dynamics holds the rotation of a body, and a body that contact or a
 * tie turns within the step then needs as many iterations as its stiffness over its inertia.  After
 * the last sweep each body gets d with
 *   (H + W + C)_bb d = (r - (H + W) u - C u)_b
 * on its control points b, with C the change of its rotation (kit/body_turn.kern.h): the step of
 * Newton's method where all else stands still.  The cost is linear in the number of bodies. */
#include "bodies.kern.h"

#include <string.h>

#include "ndb_pd.h"

static const lk_entry k_turn = LK_ENTRY_MOVES(ndb_pd_turn_body, 700, 40);

loom_status ndb_pd_bodies_new(ndb_pd *s)
{
  const loom_host *const host = s->host;
  if (s->set.rotation == ROTATION_PLAIN) return LOOM_OK;
  LOOM_TRY(control_points_find(&s->bodies, host, s->sc, s->e));
  if (s->bodies.num == 0) return LOOM_OK;
  const int64_t num = s->bodies.num;
  const plug_buf all[] = {{"control points", LOOM_I32, 4 * num, &s->body_vert},
                          {"bodies", LOOM_REAL, NDB_PD_BODY_DATA * num, &s->body_data},
                          {"matrices of bodies", LOOM_REAL, 144 * num, &s->body_matrix}};
  LOOM_TRY(plug_bufs_new(host, all, LOOM_COUNT(all)));
  plug_maps m = plug_maps_on(host, s->e);
  int32_t *const to = plug_write_host(&m, s->body_vert);
  for (int32_t b = 0; m.status == LOOM_OK && b < num; ++b)
    memcpy(to + 4 * (int64_t)b, s->bodies.body[b].vert, sizeof s->bodies.body[b].vert);
  return plug_unbind(&m);
}

loom_status ndb_pd_bodies_make(ndb_pd *s)
{
  if (s->bodies.num == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(s->host, s->e);
  loom_real *const to = plug_write_host(&m, s->body_data);
  for (int32_t b = 0; b < s->bodies.num && m.status == LOOM_OK; ++b) {
    const control_body *const k = &s->bodies.body[b];
    plug_maps of = plug_maps_on(s->host, s->e);
    const loom_real *const rest = plug_read_host(&of, s->sc->blocks[k->block].rest);
    const loom_real *const mat = plug_read_host(&of, s->sc->blocks[k->block].mat);
    for (int c = 0; of.status == LOOM_OK && c < NDB_PD_BODY_DATA; ++c)
      to[NDB_PD_BODY_DATA * b + c] = c < 10 ? rest[10 * (int64_t)k->elem + c] : mat[k->elem];
    m.status = of.status == LOOM_OK ? plug_unbind(&of) : of.status;
  }
  return plug_unbind(&m);
}

loom_status ndb_pd_turn_bodies(ndb_pd *s, const ndb_pd_view *v, loom_buf *x)
{
  if (s->bodies.num == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(s->host, s->e);
  const ndb_pd_body_args a = {.ptr = v->ptr,
                              .col = v->col,
                              .val = v->val,
                              .w = v->w,
                              .x = plug_read(&m, x),
                              .r = v->r,
                              .fixed = plug_read(&m, s->sc->fixed),
                              .vert = plug_read(&m, s->body_vert),
                              .data = plug_read(&m, s->body_data),
                              .matrix = plug_rdwr(&m, s->body_matrix),
                              .total = v->total};
  return plug_launch(&m, &k_turn, &a, s->bodies.num, NULL);
}
