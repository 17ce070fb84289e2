/* body_mesh.c - the surface meshes of all bodies put together, as contact sees them.
 *
 * Contact pairs name body vertices by one running number; positions follow from the poses
 * at both ends of the step.  On the way a vertex moves on a straight line, also where its
 * body turns: detection, bounds and contact then agree on one path, and both ends are exact. */
#include <stdlib.h>
#include <string.h>

#include "geom/pose.h"
#include "scene/base/build.h"
#include "scene/moving/moving.h"

int body_deforms(const moving_body *b)
{
  return b->sequence != NULL || (b->rigged != NULL && b->rigged->animation.num_keys > 0);
}

int body_has_mesh(const loom_obstacle *o) { return (o->has & LOOM_BODY_MESH) != 0; }

/* Appends the edges of one body to `edges`, which has room for 3 per triangle. */
static loom_status append_body_edges(builder *b, const int32_t *tris, int64_t nt, int64_t n,
                                     int32_t first, int32_t *edges, int32_t *count)
{
  topo tp;
  LOOM_TRY(topo_build(b->err, tris, nt, n, &tp));
  int32_t *const e = edges + 2 * (int64_t)*count;
  for (int64_t k = 0; k < 2 * tp.num_edges; ++k) e[k] = tp.edges[k] + first;
  *count += (int32_t)tp.num_edges;
  topo_free(&tp);
  return LOOM_OK;
}

static loom_status fill_body_mesh(builder *b, int32_t *tris, int32_t *of, int32_t *edges)
{
  scene_data *const s = b->s;
  int32_t verts = 0, done = 0;
  for (int k = 0; k < s->pub.num_obstacles; ++k) {
    const loom_obstacle *const o = &s->obstacles[k];
    void *p;
    if (!body_has_mesh(o)) continue;
    const int64_t n = buf_count(o->verts) / 3, nt = buf_count(o->tris) / 3;
    LOOM_TRY(buf_map(s->m, NULL, o->tris, LOOM_READ, LOOM_AT_HOST, &p));
    const int32_t *const t = p;
    loom_status st = append_body_edges(b, t, nt, n, verts, edges, &s->pub.num_body_edges);
    for (int64_t i = 0; i < 3 * nt; ++i) tris[3 * (int64_t)done + i] = t[i] + verts;
    for (int64_t i = 0; i < n; ++i) of[verts + i] = k;
    verts += (int32_t)n;
    done += (int32_t)nt;
    LOOM_TRY(buf_unmap(s->m, o->tris));
    LOOM_TRY(st);
  }
  return LOOM_OK;
}

loom_status build_body_mesh(builder *b)
{
  scene_data *const s = b->s;
  int64_t verts = 0, tris = 0;
  int32_t *t, *of, *edges, *e;
  for (int k = 0; k < s->pub.num_obstacles; ++k) {
    if (!body_has_mesh(&s->obstacles[k])) continue;
    verts += buf_count(s->obstacles[k].verts) / 3;
    tris += buf_count(s->obstacles[k].tris) / 3;
  }
  if (verts + s->pub.num_verts > INT32_MAX)
    return err_set(b->err, LOOM_E_CONFIG, "%lld vertices of bodies are too many", (long long)verts);
  s->pub.num_body_verts = (int32_t)verts;
  s->pub.num_body_tris = (int32_t)tris;
  LOOM_TRY(build_new(b, "body_all_tris", LOOM_I32, 3 * tris, &s->pub.body_tris));
  LOOM_TRY(build_new(b, "body_of", LOOM_I32, verts, &s->pub.body_of));
  LOOM_TRY(build_new(b, "body0", LOOM_REAL, 3 * verts, &s->body0));
  LOOM_TRY(build_new(b, "body1", LOOM_REAL, 3 * verts, &s->body1));
  LOOM_TRY(mesh_alloc(b->err, 6 * tris, sizeof *edges, &edges)); /* 3 sides per triangle */
  loom_status st = build_map(b, s->pub.body_tris, &t);
  if (st == LOOM_OK) st = build_map(b, s->pub.body_of, &of);
  if (st == LOOM_OK) st = fill_body_mesh(b, t, of, edges);
  const int64_t count = 2 * (int64_t)s->pub.num_body_edges;
  if (st == LOOM_OK) st = buf_unmap(s->m, s->pub.body_tris);
  if (st == LOOM_OK) st = buf_unmap(s->m, s->pub.body_of);
  if (st == LOOM_OK) st = build_new(b, "body_edges", LOOM_I32, count, &s->pub.body_edges);
  if (st == LOOM_OK) st = build_map(b, s->pub.body_edges, &e);
  if (st == LOOM_OK) {
    if (count > 0) memcpy(e, edges, (size_t)count * sizeof *e);
    st = buf_unmap(s->m, s->pub.body_edges);
  }
  free(edges);
  return st;
}

void body_mesh_free(scene_data *s)
{
  loom_buf *const own[] = {s->pub.body_edges, s->pub.body_tris, s->pub.body_of, s->body0, s->body1};
  for (size_t k = 0; k < sizeof own / sizeof *own; ++k) buf_free(s->m, own[k]);
}

/* Positions of the vertices of one body into `out`, at one end of the step; x [n][3]: as it was
 * built. */
static void place_one(const moving_body *b, const double P[12], int end, double t,
                      const loom_real *x, int64_t n, loom_real *out)
{
  const double *const skin = b->rigged != NULL ? rigged_skin(b->rigged, end) : NULL;
  for (int64_t i = 0; i < n; ++i, out += 3) {
    double at[3] = {x[3 * i], x[3 * i + 1], x[3 * i + 2]}, to[3];
    if (b->sequence != NULL) sequence_at(b->sequence, t, i, at);
    pose_apply(P, skin != NULL ? skin + 3 * i : at, to);
    for (int c = 0; c < 3; ++c) out[c] = (loom_real)to[c];
  }
}

/* World positions of all body vertices at one end of the step. */
static loom_status compute_body_positions(scene_data *s, int end, double t, loom_buf *into)
{
  void *p, *q;
  LOOM_TRY(buf_map(s->m, NULL, into, LOOM_WRITE, LOOM_AT_HOST, &p));
  loom_real *out = p;
  for (int k = 0; k < s->pub.num_obstacles; ++k) {
    const loom_obstacle *const o = &s->obstacles[k];
    double P[12];
    if (!body_has_mesh(o)) continue;
    for (int i = 0; i < 12; ++i) P[i] = end ? o->pose1[i] : o->pose0[i];
    LOOM_TRY(buf_map(s->m, NULL, o->verts, LOOM_READ, LOOM_AT_HOST, &q));
    const loom_real *const x = q;
    const int64_t n = buf_count(o->verts) / 3;
    place_one(&s->motion->bodies[k], P, end, t, x, n, out);
    out += 3 * n;
    LOOM_TRY(buf_unmap(s->m, o->verts));
  }
  return buf_unmap(s->m, into);
}

loom_status body_mesh_place(scene_data *s, double t0, double t1)
{
  int moved = !s->bodies_placed;
  if (s->pub.num_body_verts == 0) return LOOM_OK;
  for (int k = 0; k < s->pub.num_obstacles; ++k)
    moved |= body_has_mesh(&s->obstacles[k]) &&
             (!motion_is_hold(&s->motion->bodies[k].move) || body_deforms(&s->motion->bodies[k]));
  if (!moved) return LOOM_OK;
  s->bodies_placed = 1;
  LOOM_TRY(compute_body_positions(s, 0, t0, s->body0));
  return compute_body_positions(s, 1, t1, s->body1);
}
