/* maps.h - an animation of a file as maps of joints at any time: every node moves, turns and
 * changes its size by the keys of its own, and carries the nodes below it.
 *
 * The frame F_j of a joint is the chain of the maps of the nodes above it, each at that time; no
 * other time enters.  T_j = F_j F_j,rest^-1 moves the skin of the rest pose. */
#ifndef LOOM_RIG_MAPS_H
#define LOOM_RIG_MAPS_H

#include "core/err.h"
#include "loom/rig_reader.h"

typedef struct rig_maps {
  int32_t num_joints, num_nodes, num_tracks;
  double length;         /* s */
  int32_t *parent;       /* [num_joints], -1: the world */
  double *rest, *to;     /* [num_joints][12] frames at rest, m, and their inverses */
  loom_rig_node *node;   /* [num_nodes], shifts in m */
  loom_rig_track *track; /* [num_tracks], shifts in m */
  int32_t (*of)[3];      /* [num_nodes] tracks of a node by LOOM_RIG_SHIFT, ...; -1: none */
  double *world;         /* [num_nodes][12] room: frames of the nodes at the time that is asked */
} rig_maps;

/* Animation `clip` of a file that was checked (rig/reader.h); lengths are scaled by `scale` (to m).
 * LOOM_E_CONFIG for a frame at rest that has no inverse.  Free *out also after an error. */
loom_status rig_maps_make(loom_err *err, const loom_rig_file *f, int32_t clip, double scale,
                          rig_maps *out);
void rig_maps_free(rig_maps *m);

/* F [num_joints][12], m, at time t (s). */
void rig_maps_frames(const rig_maps *m, double t, double *F);
/* T [num_joints][12] at time t (s); with period > 0 (s) it begins anew.  share in [0, 1]: the way
 * from the maps base [num_joints][12] to it, of each joint against its parent, the shift and the
 * stretch S (A = R S) on straight lines and the rotation R on the shorter great arc; base NULL: all
 * of it. */
void rig_maps_at(const rig_maps *m, double t, double period, const double *base, double share,
                 double *T);

/* Rotation R, row-major, of a map whose axes may be scaled: its columns made orthonormal. */
void rig_rotation_of(const double P[12], double R[9]);

#endif
