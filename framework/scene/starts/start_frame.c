/* start_frame.c - intersections of a frame from which a run starts: refused, or left out. */
#include <stdlib.h>

#include "mesh/doctor.h"
#include "scene/base/exclusions.h"
#include "scene/objects/crossings.h"
#include "scene/starts/starts.h"

/* Every object's place, from the objects of vertices and triangles: they follow each other. */
static loom_status find_parts(loom_err *err, const scene_data *s, const int32_t *object,
                              const int32_t *tris, scene_part **out)
{
  const int32_t num = s->pub.num_objects;
  scene_part *p;
  LOOM_TRY(mesh_alloc(err, num, sizeof *p, out));
  p = *out;
  for (int32_t k = 0; k < num; ++k)
    p[k] = (scene_part){s->pub.object_names[k], s->pub.num_verts, s->pub.num_tris};
  for (int32_t v = s->pub.num_verts; v-- > 0;) p[object[v]].first_vert = v;
  for (int32_t t = s->pub.num_tris; t-- > 0;) p[object[tris[3 * t]]].first_tri = t;
  for (int32_t k = num - 1; k-- > 0;) /* objects without triangles, for example yarns */
    if (p[k].first_tri > p[k + 1].first_tri) p[k].first_tri = p[k + 1].first_tri;
  return LOOM_OK;
}

/* The messages of any other start, with the remedies of this one. */
static loom_status refuse_frame_crossings(loom_err *err, const scene_crossing *pairs, int64_t total,
                                          int check)
{
  const char *const remedy = check == SCENE_UNTANGLE
                                 ? "start = untangle moves no vertex of a frame: take another "
                                   "start_frame, or set [run] start = exclude"
                                 : "take another start_frame, or set [run] start = exclude";
  doctor d = {0};
  char text[256];
  for (int64_t k = 0; k < total && k < DOCTOR_MAX; ++k) {
    const scene_crossing *const p = &pairs[k];
    scene_crossing_text(p, text, sizeof text);
    doctor_add(&d, DOCTOR_INTERSECTION, (int32_t[4]){p->edge[0], p->edge[1], p->tri, -1}, "%s; %s",
               text, remedy);
  }
  if (total > DOCTOR_MAX) d.total += total - DOCTOR_MAX;
  d.more = total >= SCENE_MAX_COUNTED;
  return doctor_verdict(err, &d);
}

static loom_status check_frame_crossings(loom_err *err, scene_data *s, const isect_surface *m,
                                         const scene_part *parts, int check, int64_t *left_out)
{
  scene_bodies bodies = {0};
  scene_crossing *pairs = NULL;
  int64_t total = 0, near = 0;
  loom_status st = scene_bodies_open(err, s, &bodies);
  if (st == LOOM_OK) st = mesh_alloc(err, DOCTOR_MAX, sizeof *pairs, &pairs);
  if (st == LOOM_OK && check == SCENE_EXCLUDE) {
    st = starts_exclude(err, s, m, &bodies, &total, &near);
    *left_out = total + near;
    s->start_total = total;
  } else if (st == LOOM_OK) {
    st = scene_crossings(err, m, parts, s->pub.num_objects, &bodies, pairs, DOCTOR_MAX,
                         SCENE_MAX_COUNTED, &total);
    if (st == LOOM_OK && total > 0) st = refuse_frame_crossings(err, pairs, total, check);
  }
  scene_bodies_close(&bodies);
  free(pairs);
  return st;
}

loom_status starts_frame(loom_err *err, scene_data *s, const double *x, int check,
                         int64_t *left_out)
{
  buf_maps q = {.m = s->m}; /* on the host */
  *left_out = 0;
  if (scene_left_out_pairs(s, SCENE_AT_START, left_out) != NULL)
    LOOM_TRY(scene_leave_out(err, s, SCENE_AT_START, NULL, 0));
  const int32_t *const object = buf_maps_add(&q, s->pub.object, LOOM_READ);
  const int32_t *const tris = buf_maps_add(&q, s->pub.tris, LOOM_READ);
  const isect_surface m = {.x = x,
                           .n = s->pub.num_verts,
                           .tris = tris,
                           .nt = s->pub.num_tris,
                           .left_out = scene_left_out(s, check != SCENE_EXCLUDE)};
  scene_part *parts = NULL;
  loom_status st = q.status;
  *left_out = 0;
  if (st == LOOM_OK) st = find_parts(err, s, object, tris, &parts);
  if (st == LOOM_OK) st = check_frame_crossings(err, s, &m, parts, check, left_out);
  free(parts);
  const loom_status ended = buf_maps_end(&q);
  return st != LOOM_OK ? st : ended;
}
