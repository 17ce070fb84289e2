/* animation.h - how a rig moves: keyframes of its angles in a text file.
 *
 *   # walking
 *   period        1.1            s: it begins anew; without: the last row holds
 *   interpolation cubic          or linear (default: cubic)
 *   columns       left_hip.flexion left_knee root.y root.turn_y
 *   0             25  5  0.01 4
 *   0.2           ...
 *
 * A row is a time (s) and a value for every column: angles in degrees; root.x, root.y, root.z,
 * which shift the body as a whole (m); root.turn_x, root.turn_y, root.turn_z, which turn it about
 * the pivot of its first joint, about x first (degrees).  Dofs without a column stay 0.  '#' begins
 * a comment.  Cubics are monotone between rows: no angle leaves the range of the table. */
#ifndef LOOM_RIG_ANIMATION_H
#define LOOM_RIG_ANIMATION_H

#include "rig/rig.h"

enum { RIG_ROOT = 6 }; /* shift (m), turn (rad) */

typedef struct rig_animation {
  int32_t num_keys, width; /* width = RIG_ROOT + num_dofs of the rig */
  int cubic;
  double period;  /* s; 0: the last row holds */
  double *time;   /* [num_keys] s, ascending */
  double *value;  /* [num_keys][width], root first, then angles, m and rad */
  char note[512]; /* "PATH:LINE: ..." of the first angle outside its limits, which were all cut; ""
                   */
} rig_animation;

/* Errors name the file, the line and the nearest dof.  Free it also after an error. */
loom_status rig_animation_read(loom_err *err, const char *path, const rig *r, rig_animation *out);
void rig_animation_free(rig_animation *a);
/* The last of time [num_keys], s, ascending, that is not after t; 0 where all are.  [any] */
int32_t rig_key_before(const double *time, int32_t num_keys, double t);
/* value [width] at time t (s).  [any] */
void rig_animation_at(const rig_animation *a, double t, double *value);
/* The map of the body as a whole for the first RIG_ROOT numbers of a value.  [any] */
void rig_root(const rig *r, const double value[RIG_ROOT], double root[12]);
/* "left_knee 30 right_hip.flexion -10", in degrees, into angles [num_dofs] (rad); other angles
 * stay. LOOM_E_CONFIG without a place for unknown dofs and for angles outside their limits. */
loom_status rig_angles_parse(loom_err *err, const rig *r, const char *text, double *angles);

#endif
