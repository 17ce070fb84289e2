/* bodies.c - copies of mesh bodies where they stand at the end of the present step. */
#include "scene/bodies.h"

#include <stdlib.h>
#include <string.h>

#include "scene/mesh.h"

static loom_status map_error(loom_err *err, const scene_data *s, loom_status st)
{
  *err = *mem_err(s->m);
  return st;
}

static loom_status copy_tris(loom_err *err, const scene_data *s, const loom_obstacle *o,
                             int32_t **out)
{
  void *p;
  const int64_t count = buf_count(o->tris);
  LOOM_TRY(mesh_alloc(err, count, sizeof **out, out));
  const loom_status st = buf_map(s->m, NULL, o->tris, LOOM_READ, LOOM_AT_HOST, &p);
  if (st != LOOM_OK) return map_error(err, s, st);
  memcpy(*out, p, (size_t)count * sizeof **out);
  return buf_unmap(s->m, o->tris);
}

/* The body's vertices in the world. */
static loom_status place_verts(loom_err *err, const scene_data *s, const loom_obstacle *o,
                               double **out)
{
  void *p;
  double pose[12], *local;
  const int64_t count = buf_count(o->verts);
  for (int i = 0; i < 12; ++i) pose[i] = o->pose1[i];
  LOOM_TRY(mesh_alloc(err, count, sizeof **out, out));
  LOOM_TRY(mesh_alloc(err, count, sizeof *local, &local));
  loom_status st = buf_map(s->m, NULL, o->verts, LOOM_READ, LOOM_AT_HOST, &p);
  if (st == LOOM_OK) {
    for (int64_t i = 0; i < count; ++i) local[i] = ((loom_real *)p)[i];
    isect_place(pose, local, count / 3, *out);
    st = buf_unmap(s->m, o->verts);
  }
  free(local);
  return st == LOOM_OK ? LOOM_OK : map_error(err, s, st);
}

loom_status scene_bodies_open(loom_err *err, const scene_data *s, scene_bodies *out)
{
  memset(out, 0, sizeof *out);
  LOOM_TRY(mesh_alloc(err, s->pub.num_obstacles, sizeof *out->at, &out->at));
  LOOM_TRY(mesh_alloc(err, s->pub.num_obstacles, sizeof *out->name, &out->name));
  for (int32_t k = 0; k < s->pub.num_obstacles; ++k) {
    const loom_obstacle *const o = &s->obstacles[k];
    double *x = NULL;
    int32_t *tris = NULL;
    if (o->kind != LOOM_OBST_MESH || o->verts == NULL || o->tris == NULL) continue;
    loom_status st = place_verts(err, s, o, &x);
    if (st == LOOM_OK) st = copy_tris(err, s, o, &tris);
    out->name[out->num] = o->name;
    out->at[out->num++] = (isect_surface){
        .x = x, .n = buf_count(o->verts) / 3, .tris = tris, .nt = buf_count(o->tris) / 3};
    if (st != LOOM_OK) return st;
  }
  return LOOM_OK;
}

void scene_bodies_close(scene_bodies *b)
{
  for (int k = 0; k < b->num; ++k) {
    free((void *)(uintptr_t)b->at[k].x);
    free((void *)(uintptr_t)b->at[k].tris);
  }
  free(b->at);
  free((void *)b->name);
  memset(b, 0, sizeof *b);
}
