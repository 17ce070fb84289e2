/* trajectory.c - see trajectory.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/isect_path.h"
#include "run/run_state.h"
#include "scene/base/exclusions.h"
#include "scene/objects/bodies.h"

enum { MAX_NAMED = 3 }; /* pairs named when the first ones of a run are found */

void trajectory_free(run *r)
{
  free(r->way.x);
  free(r->way.body);
  free(r->way.pose);
  r->way = (trajectory){0};
}

/* The positions of a buffer of 3 n reals as doubles. */
static loom_status copy_out(const run *r, loom_buf *from, int64_t n, double *to)
{
  void *x;
  LOOM_TRY(buf_map(r->m, NULL, from, LOOM_READ, LOOM_AT_HOST, &x));
  for (int64_t i = 0; i < 3 * n; ++i) to[i] = (double)((const loom_real *)x)[i];
  return buf_unmap(r->m, from);
}

loom_status trajectory_begin(run *r, double t0)
{
  const int64_t n = r->scene->pub.num_verts, nb = r->scene->pub.num_body_verts;
  const int32_t bodies = r->scene->pub.num_obstacles;
  if (r->set.log.audit != AUDIT_TRAJECTORY) return LOOM_OK;
  if (r->way.x == NULL) {
    r->way.x = malloc((size_t)n * 3 * sizeof *r->way.x + 1);
    r->way.body = malloc((size_t)nb * 3 * sizeof *r->way.body + 1);
    r->way.pose = malloc((size_t)bodies * sizeof *r->way.pose + 1);
    if (r->way.x == NULL || r->way.body == NULL || r->way.pose == NULL)
      return err_set(r->err, LOOM_E_NOMEM, "out of memory for [log] audit = trajectory");
  }
  LOOM_TRY(copy_out(r, r->st.x, n, r->way.x));
  if (bodies == 0) return LOOM_OK;
  LOOM_TRY(scene_pose(r->scene, t0, t0));
  for (int32_t k = 0; k < bodies; ++k)
    memcpy(r->way.pose[k], r->scene->obstacles[k].pose1, sizeof *r->way.pose);
  return nb > 0 ? copy_out(r, r->scene->body1, nb, r->way.body) : LOOM_OK;
}

/* Once in a run: which pairs the first ones are. */
static void report_first_passes(run *r, const scene_bodies *b, const isect_pass *passes,
                                int64_t found)
{
  char text[1024], one[256];
  if (found == 0 || r->sum.passes > 0) return;
  size_t at = (size_t)snprintf(
      text, sizeof text,
      "step %lld: on its straight way %lld pairs pass through each other: ", (long long)r->st.index,
      (long long)found);
  for (int64_t i = 0; i < found && i < MAX_NAMED && at < sizeof text; ++i) {
    isect_pass_describe(&passes[i], passes[i].body >= 0 ? b->name[passes[i].body] : "", one,
                        sizeof one);
    at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", i > 0 ? ", " : "", one);
  }
  if (found > MAX_NAMED && at < sizeof text) snprintf(text + at, sizeof text - at, ", ...");
  run_message(r, LOOM_LOG_WARN, text);
}

static int is_trajectory_finite(const double *x, int64_t n)
{
  for (int64_t i = 0; i < 3 * n; ++i)
    if (!isfinite(x[i])) return 0;
  return 1;
}

/* The last part of a step has the poses of the part: those of its start and of the whole step's
 * change places. */
static void swap_start_poses(run *r)
{
  for (int32_t k = 0; k < r->scene->pub.num_obstacles; ++k) {
    loom_real part[12];
    loom_real *const pose = r->scene->obstacles[k].pose0;
    memcpy(part, pose, sizeof part);
    memcpy(pose, r->way.pose[k], sizeof part);
    memcpy(r->way.pose[k], part, sizeof part);
  }
}

static loom_status audit_step_path(run *r, const double *end, const int32_t *tris, int64_t *found)
{
  const loom_scene *const sc = &r->scene->pub;
  isect_pass passes[MAX_NAMED];
  scene_bodies b = {0};
  const isect_surface mesh = {.x = r->way.x,
                              .x_end = end,
                              .n = sc->num_verts,
                              .tris = tris,
                              .nt = sc->num_tris,
                              .left_out = scene_left_out(r->scene, 1)};
  loom_status s = scene_bodies_open(r->err, r->scene, &b);
  for (int k = 0; k < b.num && s == LOOM_OK; ++k) { /* from where they were to where they are */
    b.at[k].x_end = b.at[k].x;
    b.at[k].x = r->way.body + (b.at[k].x_end - b.x);
  }
  if (s == LOOM_OK)
    s = isect_path(r->err, &mesh, b.at, b.num, TRAJECTORY_TOLERANCE, r->exec.num_threads, passes,
                   MAX_NAMED, found);
  if (s == LOOM_OK) report_first_passes(r, &b, passes, *found);
  scene_bodies_close(&b);
  int64_t entered = 0;
  swap_start_poses(r);
  if (s == LOOM_OK) s = audit_shapes(r, r->way.x, end, tris, &entered);
  swap_start_poses(r);
  *found += entered;
  return s;
}

loom_status trajectory_audit(run *r, int64_t *found)
{
  const int64_t n = r->scene->pub.num_verts;
  void *tris;
  *found = 0;
  double *const end = malloc((size_t)n * 3 * sizeof *end + 1);
  if (end == NULL) return err_set(r->err, LOOM_E_NOMEM, "out of memory for the audit");
  loom_status s = copy_out(r, r->st.x, n, end);
  if (s == LOOM_OK && is_trajectory_finite(end, n)) {
    s = buf_map(r->m, NULL, r->scene->pub.tris, LOOM_READ, LOOM_AT_HOST, &tris);
    if (s == LOOM_OK) s = audit_step_path(r, end, tris, found);
    if (s == LOOM_OK) s = buf_unmap(r->m, r->scene->pub.tris);
  }
  free(end);
  return s;
}
