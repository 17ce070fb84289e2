/* features.kern.h - the pairs of which energy and matrix are made; the terms of shared features are
 * in kit/feature_terms.kern.h.
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
#include "kit/feature_terms.kern.h"

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

FEATURE_TERMS_DECLARE(cama)

typedef struct cama_kind_args {
  const int32_t *LK_RESTRICT kind; /* [m] */
  const int32_t *LK_RESTRICT list; /* [active] */
  int32_t edges;
} cama_kind_args;
LK_DECLARE(cama_kind, cama_kind_args) /* number of edge pairs, or of vertices and triangles */

#endif
