/* clip_angles.h - an animation of a file as angles, for distances of the body: joints keep their
 * lengths and sizes. */
#ifndef LOOM_RIG_CLIP_ANGLES_H
#define LOOM_RIG_CLIP_ANGLES_H

#include "rig/animation.h"
#include "rig/maps.h"

/* Numbers that the animations of a file may take together, 1 GiB. */
#define RIG_CLIP_NUMBERS 134217728.0

/* At the keys of m and 60 times a second.  *stretch (m) grows to the most that angles leave out: a
 * joint that moves against its parent.  *numbers grows by those that it takes and by the nodes of
 * its rows; LOOM_E_CONFIG for an animation that is too long, or beyond RIG_CLIP_NUMBERS, without a
 * place.  Free *out also after an error. */
loom_status rig_clip_angles(loom_err *err, const rig *r, const rig_maps *m, rig_animation *out,
                            double *stretch, double *numbers);

#endif
