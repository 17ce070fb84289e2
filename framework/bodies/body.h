/* body.h - kinds of bodies, and what kernels see of a body, filled on the host. */
#ifndef LOOM_BODIES_BODY_H
#define LOOM_BODIES_BODY_H

#include "bodies/shapes.kern.h"

/* A kind is NAME.c, which has this descriptor, and a line in CMakeLists.txt. */
typedef struct body_kind {
  const char *name; /* value of the key `shape`, and what the log says */
  int shape;        /* BODY_SHAPE_*; -1: its distance, if it has one, is that of a grid */
  int convex;       /* 1: the distance is a convex function of position, and exact */
  /* NULL if all is well, else what is wrong with loom_obstacle.shape. [any] */
  const char *(*check)(const loom_obstacle *o);
} body_kind;

/* Kind number i from 0, NULL behind the last; shapes come first, kind i has shape i. [any] */
const body_kind *body_kind_at(int i);
const body_kind *body_kind_find(const char *name); /* NULL: there is none */

/* Shape, friction and poses; sdf stays NULL and lipschitz 1.  NULL if all is well, else what
 * is wrong and what to do, to be prefixed with the body's name. [any] */
const char *obst_view_fill(const loom_obstacle *o, obst_view *v);
/* Poses alone, for every step. [any] */
const char *obst_view_pose(const loom_obstacle *o, obst_view *v);
/* Bound of the gradient of the interpolated grid: sdf [dims2][dims1][dims0], m. [any] */
lk_real obst_view_lipschitz(const obst_view *v, const lk_real *sdf);
/* 1 if obst_distance() can be evaluated: not for meshes without a grid. */
int obst_view_has_distance(const obst_view *v);

#endif
