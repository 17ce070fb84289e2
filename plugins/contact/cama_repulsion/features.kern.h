/* features.kern.h - each feature of a surface counts once: correction of pairs of a vertex p and a
 * triangle T for the edges and vertices that triangles share.
 *
 * The distance to a triangle is the distance to its closest feature, and near a shared edge or
 * vertex several triangles have the same closest feature.  With f(d) the energy of a distance,
 *
 *   E(p) = sum_T f(d(p,T)) + sum_s c(s) f(d(p,s)),
 *   c(s) = 1 - sum of c over the triangles and edges that contain s,
 *
 * over all triangles T (c = 1), edges and vertices s: an edge of two triangles has -1, a vertex
 * inside the surface 1, edges and vertices of a border 0.  Where the part of the surface within r
 * of p is a disc that edges cut into convex pieces, its pieces with these signs add up to one, for
 * every r, so E(p) = f(d(p, surface)): over a flat sheet exactly, wherever p is.  In a valley both
 * flanks act.  All terms are continuous in x with their gradients, so their sum is; a rule that
 * turns pairs on and off jumps in every valley.  Each shared feature has one triangle that owns it,
 * so no term is lost or repeated: d(p,s) >= d(p,T) for s in T, so detection finds the owner's pair
 * whenever s is within reach.
 *
 * Triangles that may not touch p (triangles that contain p; exclusions) are no part of the surface
 * that p sees, and the features that they share with the rest are a border: c = 0 there.
 *
 * Matrix, friction and metrics need terms that are never negative.  A triangle has one where its
 * closest feature is its inside, or an edge or vertex that it owns and that is a local minimum of
 * the distance: no neighbour leads closer.  These terms make up E(p) where the surface is flat or
 * convex towards p; in a valley the negative terms are left out.
 *
 * Two edges act where both closest points lie inside.  Where one lies at an end, the vertex there
 * acts on the triangles beside the other edge. */
#ifndef CAMA_FEATURES_KERN_H
#define CAMA_FEATURES_KERN_H

#include "cama_repulsion.kern.h"
#include "kit/features.kern.h"

enum {
  CAMA_KEEP_SUM = 0,   /* terms of the energy: edges with a closest point at an end are dropped */
  CAMA_KEEP_ACTING = 1 /* triangles that are no local minimum are dropped, too */
};
typedef struct cama_keep_args {
  cand_state s;
  feature_lists f;
  const uint64_t *LK_RESTRICT key; /* [m] */
  int64_t *LK_RESTRICT flag;       /* [m] in: 1: within reach; out: and it is kept */
  int32_t keep;                    /* CAMA_KEEP_* */
} cama_keep_args;
LK_DECLARE(cama_keep, cama_keep_args)

typedef struct cama_shared_args {
  pair_args p;
  feature_lists f;
  const uint64_t *LK_RESTRICT key;
} cama_shared_args;
LK_DECLARE(cama_shared_energy, cama_shared_args) /* sum of c f(d(p,s)), J */
LK_DECLARE(cama_shared_force, cama_shared_args)  /* adds its gradient to p.force */

typedef struct cama_kind_args {
  const int32_t *LK_RESTRICT kind; /* [m] */
  const int32_t *LK_RESTRICT list; /* [active] */
  int32_t edges;
} cama_kind_args;
LK_DECLARE(cama_kind, cama_kind_args) /* number of edge pairs, or of vertices and triangles */

#endif
