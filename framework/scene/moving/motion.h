/* motion.h - prescribed rigid motion of bodies and pins.
 *
 * A motion is a rigid map T(t): a point at p when the scene is built is at T(t) p at time t.  It is
 * written as a list of parts, applied from left to right:
 *   hold                                            T = identity
 *   translate VX VY VZ [T0 T1]                      velocity, m/s
 *   rotate AX AY AZ PX PY PZ DEG_PER_S [T0 T1]      about an axis through a point (m)
 *   keyframes                                       from a table, see below
 * A part moves from T0 to T1 (s; default: always) and keeps the place that it reached.
 * Keyframes are rows "T X Y Z AX AY AZ DEG": at time T, turned by DEG around the axis
 * through the pivot and then shifted by X Y Z (m); in between the shift is linear and the
 * turn a slerp; outside the table the nearest row holds.  Rows end with '|' in a setting,
 * with the line in a file ('#' begins a comment).
 */
#ifndef LOOM_SCENE_MOTION_H
#define LOOM_SCENE_MOTION_H

#include "core/err.h"

enum { MOTION_MAX_PARTS = 8 };

typedef struct motion_part {
  int32_t kind;                   /* internal */
  double velocity[3];             /* translate, m/s */
  double axis[3], point[3], rate; /* rotate: unit axis, m, rad/s */
  double t0, t1;                  /* s */
} motion_part;

typedef struct motion_key {
  double t, shift[3], turn[4]; /* s, m, unit quaternion */
} motion_key;

typedef struct motion {
  int32_t num_parts, num_keys;
  motion_part parts[MOTION_MAX_PARTS];
  motion_key *keys; /* [num_keys], ascending in t */
  double pivot[3];  /* m, of the keyframes */
} motion;           /* {0} holds */

/* `keyframes` (rows) or `file` belong to the part "keyframes"; NULL or "" if not given.
 * Messages have no place. */
loom_status motion_parse(loom_err *err, const char *text, const char *keyframes, const char *file,
                         const double pivot[3], motion *out);
void motion_free(motion *m);
int motion_is_hold(const motion *m);
void motion_at(const motion *m, double t, double T[12]); /* [any] */

#endif
