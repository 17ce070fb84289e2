/* net.h - the networks of a body in a file, as experiments/ssdf/train.py writes it.
 *
 * Texts are of fixed length.
 *
 *   /                 attributes format "loom-ssdf-net", version 1, body, body_hash (16 digits),
 *                     activation (squareplus, leaky_relu, softplus, tanh), provenance (text)
 *   /REGION           a group for every network, with attributes
 *                       joint, frame   names; the frame is the joint's parent, "" the body's own
 *                       dofs, lo, hi   [dofs] names "joint.angle", range of the training (rad)
 *                       centre [3], half, box_lo [3], box_hi [3], margin, clamp   (m)
 *   /REGION/distance  [1 + dofs][parameters] with attributes hidden, width: eq. 3 of Akar et al.
 *                     2024, layer by layer weights [out][in], then biases; angles are scaled to
 *                     [-1, 1]
 *   /REGION/label     the same for the flag; absent: no flag network
 *
 * A network maps (x - centre) / half to the distance over `half`, x in the rest pose of the frame;
 * a flag network has a value above 0 where the skin is nearest. */
#ifndef LOOM_SSDF_NET_H
#define LOOM_SSDF_NET_H

#include "ssdf/net.kern.h"
#include "ssdf/region.h"

enum { SSDF_MAX_NETS = 64 };

typedef struct ssdf_part_net {
  ssdf_shape shape;   /* hidden 0: no network */
  int32_t num_params; /* of the folded network */
  double *params;     /* [1 + dofs][num_params] */
} ssdf_part_net;

typedef struct ssdf_net_region {
  int32_t joint, frame; /* of the rig; frame -1: the body's own */
  int32_t num_dofs, dof[SSDF_MAX_DOFS];
  double range[SSDF_MAX_DOFS][2]; /* rad */
  double centre[3], half, lo[3], hi[3], margin, clamp;
  ssdf_part_net distance, label;
} ssdf_net_region;

typedef struct ssdf_net {
  int32_t num;
  ssdf_net_region *regions; /* [num], in the order of their names */
} ssdf_net;

/* Reads the networks of `body`.  LOOM_E_CONFIG, with the file and a remedy, if the file has another
 * format, is cut off, has arrays of another shape, or belongs to another body. */
loom_status ssdf_net_read(loom_err *err, const char *path, const rig *body, ssdf_net *out);
void ssdf_net_free(ssdf_net *n);

/* Parameters w [num_params] at the body's angles [num_dofs] (rad), each brought into its range.
 * [any] */
void ssdf_net_fold(const ssdf_net_region *g, const ssdf_part_net *net, const double *angles,
                   loom_real *w);
/* A dof of the body that is outside the range of some region by more than rounding, or -1.  [any]
 */
int32_t ssdf_net_outside(const ssdf_net *n, const double *angles);

#endif
