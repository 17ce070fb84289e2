/* region.h - the part of a body that one network describes: a closed surface that follows a joint.
 *
 * A region holds the vertices that some angles move, and a share of their surroundings, so that
 * regions overlap: at every point within the body one region has to have its cut further away than
 * the skin (Akar et al. 2024, Fig. 2c; an overlap of the local diameter).
 *
 *   1 seeds      vertices that follow the joint, or one that hangs on it without angles of its own
 *                or of another region, more than any other joint
 *   2 growth     vertices of joints without a region join the region that is nearest along edges
 *   3 overlap    the region grows by `grow` along edges, but never over vertices that angles of
 *                other regions move
 *   4 cut        triangles are clipped there, and each hole is closed by a fan around the middle of
 *                its rim, which follows the joints as its rim does
 *
 * DEVIATION: the paper grows regions over tetrahedra of the inside; here they grow over the skin.
 * DEVIATION: a region may have angles of several joints (the crotch follows both legs). */
#ifndef LOOM_SSDF_REGION_H
#define LOOM_SSDF_REGION_H

#include "rig/rig.h"

enum { SSDF_MAX_DOFS = 6 };

typedef struct ssdf_region_spec {
  int32_t joint;
  int32_t num_dofs, dof[SSDF_MAX_DOFS]; /* of the rig */
  double grow;                          /* m */
} ssdf_region_spec;

typedef struct ssdf_region {
  ssdf_region_spec spec;
  int32_t frame;      /* joint that is the region's frame, its parent; -1: the body's own frame */
  rig part;           /* the joints of the body, and the region as their skin */
  unsigned char *cut; /* [part.skin.num_tris] 1: an artificial cut, 0: skin */
} ssdf_region;

/* Region `which` of num.  LOOM_E_CONFIG without a place where it has no vertex, or where an angle
 * of a region moves the frame that it lies in. */
loom_status ssdf_region_make(loom_err *err, const rig *r, const ssdf_region_spec *specs,
                             int32_t num, int32_t which, ssdf_region *out);
void ssdf_region_free(ssdf_region *g);
/* Vertices x [part.skin.num_verts][3], m, in the rest pose of its frame, at angles [spec.num_dofs];
 * T [num_joints][12] and all [num_dofs] are room for work.  [any] */
void ssdf_region_pose(const ssdf_region *g, const double *angles, double *T, double *all,
                      double *x);

#endif
