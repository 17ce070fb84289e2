/* audit.c - the audit of a run's present state: the mesh with itself and with the mesh bodies at
 * their end-of-step poses, exactly; its edges and triangles with bodies of closed form, by their
 * distances. */
#include <stdio.h>
#include <stdlib.h>

#include "run/run_state.h"
#include "scene/base/exclusions.h"
#include "scene/objects/bodies.h"
#include "scene/starts/starts.h"

enum { MAX_NAMED = 3 }; /* pairs named when the first intersections of a run are found */

/* Once in a run: which pairs the first ones are. */
static void report_first_pairs(run *r, const scene_bodies *b, const int32_t *tris,
                               const isect_pair *pairs, int64_t found)
{
  char text[1024], one[256];
  if (found == 0 || r->sum.intersections > r->sum.shape_entries) return;
  size_t at = (size_t)snprintf(text, sizeof text, "step %lld: the audit finds %lld intersections: ",
                               (long long)r->st.index, (long long)found);
  for (int64_t i = 0; i < found && i < MAX_NAMED && at < sizeof text; ++i) {
    const char *const body = pairs[i].body >= 0 ? b->name[pairs[i].body] : "";
    isect_describe(&pairs[i], tris, body, one, sizeof one);
    at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", i > 0 ? ", " : "", one);
  }
  if (found > MAX_NAMED && at < sizeof text) snprintf(text + at, sizeof text - at, ", ...");
  run_message(r, LOOM_LOG_WARN, text);
}

/* ---- bodies of closed form ---- */

static void tell_entries(run *r, const entry_list *l, int on_way)
{
  char text[1024], one[256];
  const loom_obstacle *const bodies = r->scene->obstacles;
  if (l->num == 0 || (on_way ? r->sum.passes : r->sum.shape_entries) > 0) return;
  size_t at = (size_t)snprintf(
      text, sizeof text,
      on_way ? "step %lld: on their straight way %lld triangles enter bodies: "
             : "step %lld: the audit finds %lld edges and triangles inside bodies: ",
      (long long)r->st.index, (long long)l->num);
  for (int64_t i = 0; i < l->num && i < MAX_NAMED && at < sizeof text; ++i) {
    entry_describe(&l->all[i], bodies[l->all[i].body].name, one, sizeof one);
    at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", i > 0 ? ", " : "", one);
  }
  if (at < sizeof text)
    snprintf(text + at, sizeof text - at,
             "%s; contact with an exact shape sees edges and triangles only with a model for pairs "
             "of element-obstacle and a detection of them (sdf, and for each shape with its "
             "elements = all): take these, or set [body.%.64s] mesh_size, for triangles in place "
             "of the shape",
             l->num > MAX_NAMED ? ", ..." : "", bodies[l->all[0].body].name);
  run_message(r, LOOM_LOG_WARN, text);
}

loom_status audit_shapes(run *r, const double *x_start, const double *x, const int32_t *tris,
                         int64_t *found)
{
  const entry_mesh mesh = {.x = x, .x_start = x_start, .tris = tris, .nt = r->scene->pub.num_tris};
  obst_view *bodies = NULL;
  entry_list l = {0};
  int num = 0;
  loom_status s = scene_shapes(r->err, r->scene, &bodies, &num);
  if (s == LOOM_OK && num > 0)
    s = entries_find(r->err, &mesh, bodies, r->scene->pub.num_obstacles, r->exec.num_threads, &l);
  *found = l.num;
  if (s == LOOM_OK) tell_entries(r, &l, x_start != NULL);
  r->sum.num_shapes = num;
  if (l.num > 0 && l.deepest.depth > r->sum.shape_depth) {
    r->sum.shape_depth = l.deepest.depth;
    r->sum.shape_body = r->scene->obstacles[l.deepest.body].name;
  }
  entries_free(&l);
  free(bodies);
  return s;
}

/* ---- all ---- */

typedef loom_status (*look_fn)(run *r, const double *x, int64_t *found);

/* found: intersections with triangles, entries */
static loom_status audit_at(run *r, const double *x, int64_t *found)
{
  const loom_scene *const sc = &r->scene->pub;
  isect_pair pairs[MAX_NAMED];
  scene_bodies b = {0};
  void *tris;
  LOOM_TRY(buf_map(r->m, NULL, sc->tris, LOOM_READ, LOOM_AT_HOST, &tris));
  const isect_surface mesh = {.x = x,
                              .n = sc->num_verts,
                              .tris = tris,
                              .nt = sc->num_tris,
                              .left_out = scene_left_out(r->scene, 1)};
  loom_status s = scene_bodies_open(r->err, r->scene, &b);
  if (s == LOOM_OK)
    s = isect_scene(r->err, &mesh, b.at, b.num, r->exec.num_threads, pairs, MAX_NAMED, found);
  if (s == LOOM_OK) report_first_pairs(r, &b, tris, pairs, *found);
  scene_bodies_close(&b);
  if (s == LOOM_OK) s = audit_shapes(r, NULL, x, tris, found + 1);
  LOOM_TRY(buf_unmap(r->m, sc->tris));
  return s;
}

static loom_status starts_at(run *r, const double *x, int64_t *left)
{
  return starts_update(r->err, r->scene, x, r->st.time, r->exec.num_threads, left);
}

/* At the present positions, as doubles. */
static loom_status audit_present_mesh(run *r, look_fn at, int64_t *found)
{
  void *x;
  double *copy = NULL;
  LOOM_TRY(buf_map(r->m, NULL, r->st.x, LOOM_READ, LOOM_AT_HOST, &x));
  if (sizeof(loom_real) != sizeof(double)) { /* the audit works in double */
    const int64_t m = 3 * (int64_t)r->scene->pub.num_verts;
    copy = malloc(((size_t)m + 1) * sizeof *copy);
    if (copy == NULL) return err_set(r->err, LOOM_E_NOMEM, "out of memory for the audit");
    for (int64_t i = 0; i < m; ++i) copy[i] = ((loom_real *)x)[i];
  }
  const loom_status s = at(r, copy != NULL ? copy : x, found);
  free(copy);
  LOOM_TRY(buf_unmap(r->m, r->st.x));
  return s;
}

loom_status audit_now(run *r, int64_t *found, int64_t *entries)
{
  int64_t both[2] = {0, 0};
  LOOM_TRY(audit_present_mesh(r, audit_at, both));
  *entries = both[1];
  *found = both[0] + both[1];
  return LOOM_OK;
}

loom_status audit_starts(run *r, int64_t *left)
{
  int64_t num;
  *left = 0;
  if (scene_left_out_pairs(r->scene, SCENE_AT_START, &num) == NULL) return LOOM_OK;
  return audit_present_mesh(r, starts_at, left);
}
