/* body.h - kinds of bodies, and the kernels' view of a body, filled on the host. */
#ifndef LOOM_BODIES_BODY_H
#define LOOM_BODIES_BODY_H

#include "bodies/shapes.kern.h"
#include "core/err.h"
#include "loom/plugin.h"

struct mesh; /* mesh/mesh.h */

enum { BODY_MAX_SETTINGS = 8 };
typedef struct body_keys {
  double room[BODY_MAX_SETTINGS]; /* holds the settings struct of one kind */
} body_keys;

/* The fault of a number that has to be above 0. */
#define BODY_NOT_ABOVE_0 "0: must be above 0 for this shape"

/* A kind is NAME.c, which has this descriptor, and a line in bodies.def.  Members marked
 * (closed) belong to shapes with a closed form; other kinds leave them out. */
typedef struct body_kind {
  const char *name;  /* value of the key `shape`, also in the log */
  const char *sizes; /* (closed) the numbers in loom_obstacle.shape */
  int shape;         /* BODY_SHAPE_*; -1: its distance, if it has one, is a grid's */
  int convex;        /* 1: the distance is a convex function of position, and exact */
  /* (closed) Its keys in [body.NAME], members of its settings struct.  Kinds that have a key in
   * common give it the same default, range and unit. */
  const loom_param *params;
  uint32_t num_params;
  int keys_always; /* 1: its keys stand in every body's resolved configuration */
  /* (closed, required) Settings to o->shape, the surface moved outwards by `layer` (m).  NULL if
   * all is well, else the fault of the value of the key *key. [any] */
  const char *(*open)(const void *settings, double layer, loom_obstacle *o, const char **key);
  /* (closed, optional) The closed surface, layer included, as triangles of sides of about `edge`
   * (m); normals outwards; the caller frees it. [any] */
  loom_status (*outline)(loom_err *err, const void *settings, double layer, double edge,
                         struct mesh *out);
  /* (closed, optional) Moment of inertia, kg m^2, of the solid of `mass` kg without its layer, the
   * same about every axis.  Only kinds that have it can move by themselves (rigid.h). [any] */
  double (*inertia)(const void *settings, double mass);
  /* (closed, optional) Of loom_obstacle.shape: m, half the thickness of its thinnest rod-like part,
   * which cloth may have on both sides: the second smallest extent, as a plate stops cloth with its
   * faces.  A plane has none. [any] */
  double (*thinnest)(const loom_real *shape);
  /* (closed, optional) Of loom_obstacle.shape: m, the least radius of curvature where the surface
   * is convex; 0: a sharp edge.  A kind without it is nowhere curved. [any] */
  double (*sharpest)(const loom_real *shape);
  /* NULL if all is well, else the fault of loom_obstacle.shape. [any] */
  const char *(*check)(const loom_obstacle *o);
} body_kind;

enum { BODY_NUM_CLOSED = BODY_SHAPE_grid }; /* shapes with a closed form are the first kinds */

/* Kind number i from 0, NULL past the end; shapes come first, kind i has shape i. [any] */
const body_kind *body_kind_at(int i);
const body_kind *body_kind_find(const char *name); /* NULL: there is none */
/* The row of the key, NULL: kind i does not have the key. [any] */
const loom_param *body_kind_param(int i, const char *key);
/* All keys of kinds, each once; its doc begins with the kinds that have it. [not thread-safe] */
const loom_param *body_kind_keys(uint32_t *count);

/* Shape, friction and poses; sdf stays NULL and lipschitz 1.  NULL if all is well, else the fault
 * and its remedy, to be prefixed with the body's name. [any] */
const char *obst_view_fill(const loom_obstacle *o, obst_view *v);
/* Poses alone, for every step. [any] */
const char *obst_view_pose(const loom_obstacle *o, obst_view *v);
/* Bound of the gradient of the interpolated grid: sdf [dims2][dims1][dims0], m. [any] */
lk_real obst_view_lipschitz(const obst_view *v, const lk_real *sdf);
/* 1 if obst_distance() can be evaluated: not for meshes without a grid. */
int obst_view_has_distance(const obst_view *v);

#endif
