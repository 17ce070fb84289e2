/* moving.h - the prescribed motion of a scene: pins and bodies; outlives scene_build. */
#ifndef LOOM_SCENE_MOVING_H
#define LOOM_SCENE_MOVING_H

#include "scene/base/scene_data.h"
#include "scene/moving/bend_field.h"
#include "scene/moving/motion.h"
#include "scene/moving/rigged.h"
#include "scene/moving/sequence.h"

typedef struct pin_follow pin_follow;

typedef struct pin_group {
  char label[128]; /* where it stands in the config: "[pin.NAME]", "[cloth.NAME] pins" */
  motion move;
  pin_follow *follow;     /* moves with a body, and `move` holds; NULL: by `move` */
  const cfg_section *sec; /* with the key body, while the scene is built; else NULL */
  int32_t count;
  int32_t *verts;     /* [count] ids in the scene */
  double *x, *at;     /* [count][3], m, where they are at time 0; room for another time */
  double stiffness;   /* N/m; 0: held exactly */
  double from, until; /* s, they hold in steps with their middle in [from, until) */
  int held;           /* they hold in the present step */
  int64_t first_elem; /* in the pin block if stiffness > 0 */
} pin_group;

typedef struct moving_body {
  motion move;
  body_sequence *sequence;     /* motion = sequence: its mesh by frames, or NULL */
  rigged *rigged;              /* shape = rig: joints and skin, or NULL */
  body_field *field;           /* its distance, or NULL */
  double base[12];             /* pose before motion */
  double inertia;              /* kg m^2, with a mass */
  double velocity[3], spin[3]; /* m/s, rad/s, with a mass */
} moving_body;

#define PIN_FOR_EVER 1e30 /* s, the end of pins that are never released */

struct scene_motion {
  int32_t num_groups;
  pin_group *groups;   /* [num_groups] */
  moving_body *bodies; /* [num_obstacles] */
  int32_t pin_block;   /* index of the element block of type pin, or -1 */
  double t0; /* s, start of the step of the last scene_pose(), as motions count it (dress.h) */
};

/* ---- follow.c ---- */
void follow_free(pin_follow *f); /* NULL is fine */
/* out [count][3], m: where the vertices of a group with `follow` are at time t (s). */
void follow_positions(const scene_data *s, const pin_group *g, double t, double *out);
/* The map P that carries them from t0 to t (s); only of groups that follow_is_rigid(). */
void follow_carry(const scene_data *s, const pin_group *g, double t0, double t, double P[12]);
int follow_is_rigid(const pin_follow *f); /* they move as one */
/* Corners and weights of the point nearest to p among triangles t [count][3]; x [.][3], m. */
void follow_nearest_place(const double p[3], const double *x, const int32_t *t, int64_t count,
                          int32_t corner[3], double w[3]);

/* ---- body_mesh.c ---- */
void body_mesh_free(scene_data *s);
/* 1: it changes its shape, or may. */
int body_deforms(const moving_body *b);
/* body0 and body1 at the obstacles' poses. */
loom_status body_mesh_place(scene_data *s, double t0, double t1); /* s, the step's ends */

#endif
