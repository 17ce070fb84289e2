/* bodies.c - the bodies where they stand at the end of the present step. */
#include "scene/objects/bodies.h"

#include <stdlib.h>
#include <string.h>

#include "mesh/mesh.h"

static loom_status map_error(loom_err *err, const scene_data *s, loom_status st)
{
  *err = *mem_err(s->m);
  return st;
}

/* Host copy of a buffer of triangles, *out [count]. */
static loom_status copy_tris(loom_err *err, const scene_data *s, loom_buf *from, int32_t **out)
{
  void *p;
  const int64_t count = buf_count(from);
  LOOM_TRY(mesh_alloc(err, count, sizeof **out, out));
  const loom_status st = buf_map(s->m, NULL, from, LOOM_READ, LOOM_AT_HOST, &p);
  if (st != LOOM_OK) return map_error(err, s, st);
  memcpy(*out, p, (size_t)count * sizeof **out);
  return buf_unmap(s->m, from);
}

/* All body vertices as contact sees them, in double: *out [nb][3], m. */
static loom_status copy_verts(loom_err *err, const scene_data *s, double **out)
{
  void *p;
  const int64_t count = 3 * (int64_t)s->pub.num_body_verts;
  LOOM_TRY(mesh_alloc(err, count, sizeof **out, out));
  const loom_status st = buf_map(s->m, NULL, s->body1, LOOM_READ, LOOM_AT_HOST, &p);
  if (st != LOOM_OK) return map_error(err, s, st);
  for (int64_t i = 0; i < count; ++i) (*out)[i] = ((const loom_real *)p)[i];
  return buf_unmap(s->m, s->body1);
}

loom_status scene_bodies_open(loom_err *err, const scene_data *s, scene_bodies *out)
{
  int64_t first = 0;
  memset(out, 0, sizeof *out);
  if (s->pub.num_body_verts == 0) return LOOM_OK;
  LOOM_TRY(mesh_alloc(err, s->pub.num_obstacles, sizeof *out->at, &out->at));
  LOOM_TRY(mesh_alloc(err, s->pub.num_obstacles, sizeof *out->name, &out->name));
  LOOM_TRY(copy_verts(err, s, &out->x));
  for (int32_t k = 0; k < s->pub.num_obstacles; ++k) {
    const loom_obstacle *const o = &s->obstacles[k];
    int32_t *tris = NULL;
    if (!body_has_mesh(o)) continue;
    const int64_t n = buf_count(o->verts) / 3;
    const loom_status st = copy_tris(err, s, o->tris, &tris);
    out->name[out->num] = o->name;
    out->at[out->num++] = (isect_surface){.x = out->x + 3 * first,
                                          .n = n,
                                          .tris = tris,
                                          .nt = buf_count(o->tris) / 3,
                                          .first_id = s->pub.num_verts + first};
    first += n;
    LOOM_TRY(st);
  }
  return LOOM_OK;
}

void scene_bodies_close(scene_bodies *b)
{
  for (int k = 0; k < b->num; ++k) free((void *)(uintptr_t)b->at[k].tris);
  free(b->x);
  free(b->at);
  free((void *)b->name);
  memset(b, 0, sizeof *b);
}

loom_status scene_shapes(loom_err *err, const scene_data *s, obst_view **out, int *num)
{
  *num = 0;
  LOOM_TRY(mesh_alloc(err, s->pub.num_obstacles, sizeof **out, out));
  for (int32_t k = 0; k < s->pub.num_obstacles; ++k) {
    const loom_obstacle *const o = &s->obstacles[k];
    obst_view *const v = *out + k;
    const int closed = o->verts == NULL && o->sdf == NULL && o->field == NULL;
    const char *const why = closed ? obst_view_fill(o, v) : NULL;
    if (why != NULL) return err_set(err, LOOM_E_CONFIG, "[body.%s]: %s", o->name, why);
    if (!closed || !entries_sees(v)) v->shape = -1;
    *num += v->shape >= 0;
  }
  return LOOM_OK;
}
