/* maps.h - an animation as maps of joints at given times: every joint moves, turns and changes its
 * size as its file says.
 *
 * A frame F_j maps a joint's own space to the world.  Between two times the map of a joint to its
 * parent, F_parent^-1 F_j, is split into a shift, a rotation and a stretch S (A = R S): shift and
 * stretch run on straight lines, the rotation on the shorter great arc, as glTF defines LINEAR
 * (glTF 2.0, appendix C).  T_j = F_j F_j,rest^-1 moves the skin of the rest pose. */
#ifndef LOOM_RIG_MAPS_H
#define LOOM_RIG_MAPS_H

#include "core/err.h"

enum { RIG_PART = 16 }; /* shift (m), quaternion, stretch row by row */

typedef struct rig_maps {
  int32_t num_keys, num_joints;
  int32_t *parent;   /* [num_joints], -1: the world */
  double *time;      /* [num_keys] s, ascending */
  double *part;      /* [num_keys][num_joints][RIG_PART] */
  double *rest, *to; /* [num_joints][12] frames at rest, and their inverses */
} rig_maps;

/* From frames [num_keys][num_joints][12] and rest [num_joints][12] (pose.h, m); parent [num_joints]
 * stands before its joint.  Where a parent's frame has no inverse, at some time, its children are
 * interpolated in the world.  LOOM_E_CONFIG for a frame at rest that has no inverse.  Free *out
 * also after an error. */
loom_status rig_maps_make(loom_err *err, int32_t num_joints, const int32_t *parent,
                          const double *rest, int32_t num_keys, const double *time,
                          const double *frame, rig_maps *out);
void rig_maps_free(rig_maps *m);

/* The parts [num_joints][RIG_PART] of the maps T [num_joints][12]. */
void rig_maps_split(const rig_maps *m, const double *T, double *part);
/* T [num_joints][12] at time t (s), held before the first and after the last key; with period > 0
 * (s) it begins anew.  share in [0, 1]: the way from `base` [num_joints][RIG_PART] to it; base
 * NULL: all of it. */
void rig_maps_at(const rig_maps *m, double t, double period, const double *base, double share,
                 double *T);

/* Rotation R, row-major, of a map whose axes may be scaled: its columns made orthonormal. */
void rig_rotation_of(const double P[12], double R[9]);

#endif
