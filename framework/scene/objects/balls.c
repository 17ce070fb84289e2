/* balls.c - the balls of a scene: found among its bodies, stepped with its grids at hand. */
#include <stdlib.h>
#include <string.h>

#include "scene/base/build.h"
#include "scene/moving/moving.h"

/* Overlap at the start that counts as none, in radii. */
static const double touching_share = 1e-6;

static loom_status check_ball_overlaps(builder *b, const rigid *r)
{
  const loom_obstacle *const o = b->s->obstacles;
  for (int32_t k = 0; k < r->num_touch; ++k) {
    const rigid_touch *const t = &r->touch[k];
    const int32_t other = t->b >= 0 ? r->ball[t->b].body : r->body[-1 - t->b];
    if (t->gap < -touching_share * r->ball[t->a].radius)
      return err_set(b->err, LOOM_E_CONFIG,
                     "%s: the ball [body.%s] overlaps [body.%s] by %.3g m at the start; move them "
                     "apart (position, copy_spacing, copy_jitter)",
                     cfg_path(b->c), o[r->ball[t->a].body].name, o[other].name, -t->gap);
  }
  return LOOM_OK;
}

/* The grids of the bodies on the host, sdf [num_obstacles]. */
static loom_status map_grids(scene_data *s, const loom_real **sdf)
{
  for (int k = 0; k < s->pub.num_obstacles; ++k) {
    void *p = NULL;
    if (s->obstacles[k].sdf != NULL)
      LOOM_TRY(buf_map(s->m, NULL, s->obstacles[k].sdf, LOOM_READ, LOOM_AT_HOST, &p));
    sdf[k] = p;
  }
  return LOOM_OK;
}

static loom_status unmap_grids(scene_data *s)
{
  for (int k = 0; k < s->pub.num_obstacles; ++k)
    if (s->obstacles[k].sdf != NULL) LOOM_TRY(buf_unmap(s->m, s->obstacles[k].sdf));
  return LOOM_OK;
}

loom_status scene_balls_step(scene_data *s, loom_err *err, double h)
{
  if (s->balls == NULL) return LOOM_OK;
  LOOM_TRY(map_grids(s, s->grids));
  LOOM_TRY(rigid_step(err, s->balls, s->obstacles, s->grids, s->gravity, h));
  return unmap_grids(s);
}

static loom_status create_balls(builder *b, double *inertia, double *velocity, double *spin)
{
  scene_data *const s = b->s;
  for (int k = 0; k < s->pub.num_obstacles; ++k) {
    const moving_body *const body = &s->motion->bodies[k];
    inertia[k] = body->inertia;
    memcpy(velocity + 3 * (size_t)k, body->velocity, sizeof body->velocity);
    memcpy(spin + 3 * (size_t)k, body->spin, sizeof body->spin);
  }
  LOOM_TRY(rigid_new(b->err, &s->pub, inertia, velocity, spin, &s->balls));
  LOOM_TRY(mesh_alloc(b->err, s->pub.num_obstacles, sizeof *s->grids, &s->grids));
  loom_status st = map_grids(s, s->grids);
  for (int32_t k = 0; k < s->balls->num_bodies; ++k)
    s->balls->view[k].sdf = s->grids[s->balls->body[k]];
  if (st == LOOM_OK && !rigid_find(s->balls, 0.0))
    st = err_set(b->err, LOOM_E_NOMEM, "no memory for contacts of %d balls", s->balls->num);
  if (st == LOOM_OK) st = check_ball_overlaps(b, s->balls);
  s->balls->num_touch = 0;
  return st == LOOM_OK ? unmap_grids(s) : st;
}

loom_status build_balls(builder *b)
{
  const int64_t n = b->s->pub.num_obstacles;
  double *all;
  int balls = 0;
  for (int64_t k = 0; k < n; ++k) balls |= b->s->obstacles[k].mass > 0;
  if (!balls) return LOOM_OK;
  LOOM_TRY(mesh_alloc(b->err, 7 * n, sizeof *all, &all));
  const loom_status st = create_balls(b, all, all + n, all + 4 * n);
  free(all);
  return st;
}
