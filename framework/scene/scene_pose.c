/* scene_pose.c - moves the bodies and pins of a scene to their places at a time. */
#include <string.h>

#include "geom/pose.h"
#include "scene/base/build.h"
#include "scene/moving/dress.h"
#include "scene/moving/growing.h"
#include "scene/moving/moving.h"
#include "scene/moving/sewing.h"
#include "scene/moving/twisting.h"

static void store_body_pose(const double P[12], loom_real *out)
{
  for (int k = 0; k < 12; ++k) out[k] = (loom_real)P[k];
}

static int group_moves(const pin_group *g)
{
  return g->follow != NULL || !motion_is_hold(&g->move);
}

/* group->at at time t. */
static void locate_pins(const scene_data *s, const pin_group *group, double t)
{
  double T[12];
  if (group->follow != NULL) {
    follow_positions(s, group, t, group->at);
    return;
  }
  motion_at(&group->move, t, T);
  for (int64_t k = 0; k < group->count; ++k) pose_apply(T, group->x + 3 * k, group->at + 3 * k);
}

loom_status scene_pose(scene_data *s, double t0, double t1)
{
  scene_motion *const sm = s->motion;
  const double whole = t1; /* not stopped by dressing */
  dress_gravity(s, t0, t1);
  t0 = dress_motion_time(s, t0);
  t1 = dress_motion_time(s, t1);
  sm->t0 = t0;
  for (int k = 0; k < s->pub.num_obstacles; ++k) {
    const moving_body *body = &sm->bodies[k];
    double T[12], P[12];
    if (s->balls != NULL && s->obstacles[k].mass > 0) continue;
    motion_at(&body->move, t0, T);
    pose_mul(T, body->base, P);
    store_body_pose(P, s->obstacles[k].pose0);
    motion_at(&body->move, t1, T);
    pose_mul(T, body->base, P);
    store_body_pose(P, s->obstacles[k].pose1);
    if (body->rigged != NULL) rigged_step(body->rigged, t0, t1);
    LOOM_TRY(bend_field_step(s, k));
  }
  LOOM_TRY(body_mesh_place(s, t0, t1));
  LOOM_TRY(scene_sewing_pose(s, whole));
  LOOM_TRY(growing_pose(s, whole));
  LOOM_TRY(twisting_pose(s, t0, t1));
  int moving = 0;
  for (int32_t g = 0; g < sm->num_groups; ++g)
    moving += sm->groups[g].stiffness > 0 && group_moves(&sm->groups[g]);
  if (moving == 0) return LOOM_OK;

  /* the targets of pins that pull softly are material data of their elements */
  loom_elem_block *block = &s->blocks[sm->pin_block];
  void *p;
  LOOM_TRY(buf_map(s->m, NULL, block->mat, LOOM_RDWR, LOOM_AT_HOST, &p));
  loom_real *mat = p;
  for (int32_t g = 0; g < sm->num_groups; ++g) {
    const pin_group *group = &sm->groups[g];
    if (!(group->stiffness > 0) || !group_moves(group)) continue;
    locate_pins(s, group, t1);
    for (int64_t k = 0; k < group->count; ++k)
      for (int c = 0; c < 3; ++c)
        mat[block->mat_len * (group->first_elem + k) + 1 + c] = (loom_real)group->at[3 * k + c];
  }
  return buf_unmap(s->m, block->mat);
}

int scene_bodies_move(const scene_data *s)
{
  for (int k = 0; k < s->pub.num_obstacles; ++k)
    if (!motion_is_hold(&s->motion->bodies[k].move) || body_deforms(&s->motion->bodies[k]))
      return 1;
  return 0;
}

int scene_pins_move(const scene_data *s)
{
  for (int32_t g = 0; g < s->motion->num_groups; ++g)
    if (s->motion->groups[g].stiffness == 0 && group_moves(&s->motion->groups[g])) return 1;
  return 0;
}

/* Vertices that were caught where they were: rows of x at the start of the step move on to t. */
static void carry_pins(const scene_data *s, const pin_group *group, double t, loom_real *x)
{
  double P[12], T[12], back[12];
  if (group->follow != NULL) {
    follow_carry(s, group, s->motion->t0, t, P);
  } else {
    motion_at(&group->move, s->motion->t0, T);
    motion_at(&group->move, t, P);
    pose_invert(T, back); /* T is rigid */
    pose_mul(P, back, P);
  }
  for (int64_t k = 0; k < group->count; ++k) {
    loom_real *const row = x + 3 * (int64_t)group->verts[k];
    double at[3] = {row[0], row[1], row[2]};
    pose_apply(P, at, at);
    for (int c = 0; c < 3; ++c) row[c] = (loom_real)at[c];
  }
}

static void place_pins(const scene_data *s, const pin_group *group, double t, loom_real *x)
{
  if (group->stiffness > 0 || !group->held) return;
  if (group->from > 0) {
    carry_pins(s, group, t, x);
    return;
  }
  locate_pins(s, group, t);
  for (int64_t k = 0; k < group->count; ++k)
    for (int c = 0; c < 3; ++c)
      x[3 * (int64_t)group->verts[k] + c] = (loom_real)group->at[3 * k + c];
}

void scene_fixed_positions(const scene_data *s, double t, loom_real *x)
{
  const double at = dress_motion_time(s, t);
  for (int32_t g = 0; g < s->motion->num_groups; ++g) place_pins(s, &s->motion->groups[g], at, x);
}

int scene_num_pins(const scene_data *s) { return s->motion->num_groups; }

const char *scene_pin_rows(const scene_data *s, int g, const loom_real *y, loom_real *x)
{
  const pin_group *const group = &s->motion->groups[g];
  if (group->stiffness > 0 || !group->held || !group_moves(group)) return NULL;
  for (int64_t k = 0; k < group->count; ++k) {
    const int64_t row = 3 * (int64_t)group->verts[k];
    memcpy(x + row, y + row, 3 * sizeof *x);
  }
  return group->label;
}
