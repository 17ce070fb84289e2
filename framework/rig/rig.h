/* rig.h - bodies with a skeleton: a closed skin of triangles that follows joints by linear blend
 * skinning.
 *
 * Joints turn about pivots that are given in the rest pose.  Degrees of freedom ("dofs") are angles
 * about axes of the rest pose; the angles of one joint are applied in order, the first one
 * innermost: R = R(axis[n-1], q[n-1]) ... R(axis[0], q[0]) A pose is one angle per dof and a map of
 * the body as a whole.  A skin vertex x of the rest pose goes to sum_j w_j T_j x,   T_j = T_parent
 * (turn by R about the pivot of j) with weights w_j >= 0 that sum to 1.  T_j maps the rest pose to
 * the world, so all T_j are the identity in the rest pose. */
#ifndef LOOM_RIG_RIG_H
#define LOOM_RIG_RIG_H

#include "mesh/mesh.h"

enum { RIG_MAX_JOINTS = 512, RIG_JOINT_DOFS = 3, RIG_NAME_LEN = 64 };

typedef struct rig_joint {
  char name[RIG_NAME_LEN];
  int32_t parent; /* stands before it; -1: a root */
  double rest[3]; /* m, pivot in the rest pose */
  int32_t num_dofs, first_dof;
  double axis[RIG_JOINT_DOFS][3];              /* unit vectors of the rest pose */
  double limit[RIG_JOINT_DOFS][2];             /* rad, lowest and highest angle */
  char dof_name[RIG_JOINT_DOFS][RIG_NAME_LEN]; /* "flexion"; x, y, z of imported ones */
} rig_joint;

typedef struct rig {
  int32_t num_joints, num_dofs;
  rig_joint *joint;   /* [num_joints] */
  mesh skin;          /* rest pose, m; triangles outwards */
  int32_t per;        /* joints that may move a vertex */
  int32_t *bone;      /* [num_verts][per] joints */
  double *weight;     /* [num_verts][per], 0 where a vertex has fewer */
  int64_t num_scaled; /* vertices with weights in the file that do not sum to 1 */
  char hash[17]; /* of all above, rounded: 16 hex digits; files that belong to a body have it */
} rig;

/* Bodies that need no file:
 *   leg         pelvis, thigh and shank of a left leg; z up, front +y, left -x, hip at the origin;
 *               6,434 vertices
 *   lower_body  pelvis with two legs; y up, front +z, left +x, ankles near y = 0
 * edge (m): sides of triangles, 0: the body's own.  Every other name is LOOM_E_CONFIG with the
 * nearest one, without a place.  rig_free() it, also after an error. */
loom_status rig_make(loom_err *err, const char *name, double edge, rig *out);
void rig_free(rig *r);

/* Joint-to-world maps T [num_joints][12] (pose.h), relative to the rest pose, of the angles
 * [num_dofs] (rad) and the map `root` of the body as a whole; not clamped to limits.  [any] */
void rig_pose(const rig *r, const double *angles, const double root[12], double *T);
/* Skin vertices x [num_verts][3] (m) at T.  [any] */
void rig_skin(const rig *r, const double *T, double *x);
/* Angles to the nearest within limits; the first dof that was outside, or -1.  [any] */
int32_t rig_clamp(const rig *r, double *angles);

/* Joint of that name, or -1. */
int32_t rig_find_joint(const rig *r, const char *name);
/* Dof "joint.dof", or "joint" of one with a single dof; -1: none. */
int32_t rig_find_dof(const rig *r, const char *name);
/* "left_knee.flexion" into text [len]. */
void rig_dof_name(const rig *r, int32_t dof, char *text, size_t len);

/* Checks parents, pivots, limits and weights; scales the weights of each vertex to the sum 1
 * (r->num_scaled counts the changed vertices), and fills num_dofs, first_dof and hash.
 * LOOM_E_CONFIG without a place where a check fails.  Call it last when you fill a rig. */
loom_status rig_finish(loom_err *err, rig *r);

#endif
