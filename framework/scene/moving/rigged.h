/* rigged.h - bodies of shape = rig: where their joints and their skin are at both ends of a step.
 */
#ifndef LOOM_SCENE_RIGGED_H
#define LOOM_SCENE_RIGGED_H

#include "rig/animation.h"
#include "rig/maps.h"
#include "scene/base/scene_data.h"

typedef struct rigged {
  rig r;
  rig_animation animation;   /* no keys: none, the base pose holds */
  rig_maps maps;             /* of an animation of a file, in its place; no joints: none */
  double *base_map;          /* with maps: [num_joints][12] of the base pose */
  double *base;              /* [RIG_ROOT + num_dofs] the pose before it begins, m and rad */
  double start, speed, ease; /* s, 1, s */
  int loop;
  double root[3][12]; /* the body as a whole (rig_pose), at the times of `value` */
  /* At the start and end of the step, and at the time of rigged_joint_at() and rigged_skin_at(): */
  double *value[3]; /* [RIG_ROOT + num_dofs] as in animation.h */
  double *T[3];     /* [num_joints][12] rest pose to body frame */
  double *x;        /* [num_verts][3], m, room for a skin */
} rigged;

/* The step goes from t0 to t1 (s). */
void rigged_step(rigged *b, double t0, double t1);
/* The skin at the start (end = 0) or end (1) of the step, m, body frame: [num_verts][3], good until
 * the next call. */
const double *rigged_skin(rigged *b, int end);
/* At any time t (s), body frame: the map T [12] of a joint; the skin, as rigged_skin(). */
void rigged_joint_at(rigged *b, int32_t joint, double t, double T[12]);
const double *rigged_skin_at(rigged *b, double t);
void rigged_free(rigged *b); /* NULL is fine */
/* How many joints body k has (0: none); *T [joints][12], unless T is NULL: at the end of the step.
 */
int32_t scene_joints(const scene_data *s, int k, const double **T);
/* Of body k, or NULL: it has no joints. */
rigged *scene_rigged(const scene_data *s, int k);

#endif
