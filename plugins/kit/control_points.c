/* control_points.c - see control_points.h. */
#include "kit/control_points.h"

#include <stdlib.h>
#include <string.h>

#include "loom/followers.h"
#include "loom/plug.h"

enum { NODE = 1, TAKEN = 2 };

static int is_control_body(const int32_t *v, const uint8_t *kind)
{
  for (int a = 0; a < 4; ++a)
    if (kind[v[a]] != NODE) return 0;
  return 1;
}

/* Marks the nodes of followers; the array is the caller's. */
static loom_status mark_nodes(const loom_host *host, const loom_exec *e, const loom_followers *f,
                              int32_t num_verts, uint8_t **kind)
{
  plug_maps m = plug_maps_on(host, e);
  const int32_t *const node = plug_read_host(&m, f->node);
  LOOM_TRY(m.status);
  const int64_t count = host->buf_count(host, f->node);
  *kind = calloc((size_t)num_verts, sizeof **kind);
  LOOM_CHECK(host, *kind != NULL, LOOM_E_NOMEM, "no memory for the nodes of %d vertices",
             num_verts);
  for (int64_t k = 0; k < count; ++k) (*kind)[node[k]] = NODE;
  return plug_unbind(&m);
}

static loom_status add_control_bodies(control_points *c, const loom_host *host, const loom_exec *e,
                                      const loom_elem_block *b, int32_t block, uint8_t *kind)
{
  plug_maps m = plug_maps_on(host, e);
  const int32_t *const vert = plug_read_host(&m, b->verts);
  LOOM_TRY(m.status);
  control_body *const all =
      realloc(c->body, ((size_t)c->num + (size_t)b->num_elems + 1) * sizeof *all);
  LOOM_CHECK(host, all != NULL, LOOM_E_NOMEM, "no memory for a list of bodies");
  c->body = all;
  for (int32_t i = 0; i < b->num_elems; ++i) {
    const int32_t *const v = vert + 4 * (int64_t)i;
    if (!is_control_body(v, kind)) continue;
    control_body *const to = &c->body[c->num++];
    memcpy(to->vert, v, sizeof to->vert);
    to->block = block;
    to->elem = i;
    for (int a = 0; a < 4; ++a) kind[v[a]] = TAKEN;
  }
  return plug_unbind(&m);
}

loom_status control_points_find(control_points *c, const loom_host *host, const loom_scene *sc,
                                const loom_exec *e)
{
  const loom_followers *const f = loom_scene_followers(sc);
  loom_status s = LOOM_OK;
  uint8_t *kind = NULL;
  *c = (control_points){0};
  if (f == NULL) return LOOM_OK;
  s = mark_nodes(host, e, f, sc->num_verts, &kind);
  for (int32_t b = 0; s == LOOM_OK && b < sc->num_blocks; ++b)
    if (strcmp(sc->blocks[b].type, "tet_arap") == 0)
      s = add_control_bodies(c, host, e, &sc->blocks[b], b, kind);
  free(kind);
  return s;
}

void control_points_free(control_points *c)
{
  free(c->body);
  *c = (control_points){0};
}
