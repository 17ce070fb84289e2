/* tracks.h - keys of the nodes of a rig (loom/rig_reader.h) at any time. */
#ifndef LOOM_RIG_TRACKS_H
#define LOOM_RIG_TRACKS_H

#include "loom/rig_reader.h"

/* Numbers of a key. */
int rig_track_width(const loom_rig_track *t);
/* v [3, of a turn 4] at time t (s); a turn is a unit quaternion, none where its keys are 0.  [any]
 */
void rig_track_at(const loom_rig_track *track, double t, double *v);
/* The map of a node to its parent at time t (s) of its tracks, by LOOM_RIG_SHIFT, ...; NULL: none.
 * [any] */
void rig_tracks_map(const loom_rig_track *const track[3], double t, double P[12]);
/* Frees the arrays of track [count], and it. */
void rig_tracks_free(int32_t count, loom_rig_track *track);

#endif
