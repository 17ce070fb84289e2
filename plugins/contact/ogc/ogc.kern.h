/* ogc.kern.h - the two-stage energy for the kernels of kit/pair_energy, and the contacts.
 *
 * The offset of a surface by r is made of blocks, one of each feature (inside of a triangle, edge,
 * vertex): the points within r of the feature from which no neighbour of the feature is closer.
 *
 *      |  face  |           the block of a face lies above and below it, that of an edge or a
 *   ___|________|__         vertex between the planes that end the blocks of its neighbours.  On
 *  /   A        B  \  <--   the inner side of a fold (valley) it is empty, and the blocks of the
 *                  edge     faces overlap
 *
 * A vertex p is in contact with each feature that has it in its block (feature_acts() of
 * kit/feature_terms.kern.h).  The sum of their energies has a jump where p enters or leaves the
 * overlap of two blocks in a valley, and no line search gets over it.  So the energy has the terms
 * of feature_terms.kern.h, which are the same where the surface is flat or convex towards p; in the
 * overlap they subtract the energy of the shared edge.
 *
 * Two edges are in contact where both closest points lie inside and each is in the block of the
 * other edge.  These contacts begin and end with their whole force, at a jump of the energy, as
 * edges slide over ends of others.  They are chosen at the start of the step, where friction takes
 * its normal forces, and at each accepted iterate; once chosen they stay until the end of the step.
 */
#ifndef OGC_KERN_H
#define OGC_KERN_H

#include "kit/feature_terms.kern.h"
#include "kit/friction.kern.h"

PAIR_DECLARE(ogc)
PAIR_DECLARE_MOLLIFIED(ogc)
FRIC_DECLARE(ogc)
FEATURE_TERMS_DECLARE(ogc)
FEATURE_TERMS_DECLARE_HESSIAN(ogc)

/* Limits of contacts of edges: see ogc_holds_point(), ogc_holds_edges().  The limits of the start
 * are wider, so that contacts of cloth at rest are there from the start.  With one limit for both,
 * contacts were in the step and not at its start, had no friction there, and a strip over a rod
 * that is a mesh slipped by 0.1 m/s. */
#define OGC_FLAT       LK_R(1e-2)
#define OGC_FLAT_START LK_R(3e-2)
#define OGC_END        LK_R(0.1)
#define OGC_END_START  LK_R(0.03)

typedef struct ogc_edges_args {
  cand_state s; /* at the point where the edges are looked at */
  feature_lists f;
  const uint64_t *LK_RESTRICT key; /* [m] */
  int64_t *LK_RESTRICT in;         /* [m] 1: two edges in contact, else 0 */
  lk_real flat, end;               /* 1, OGC_FLAT .. and OGC_END .. */
  int32_t add;                     /* 1: `in` is kept where it is 1 */
} ogc_edges_args;
LK_DECLARE(ogc_edges, ogc_edges_args)
LK_DECLARE(ogc_new_edges, ogc_edges_args) /* number of edges that would be added */

typedef struct ogc_choose_args {
  cand_state s;
  feature_lists f;
  const uint64_t *LK_RESTRICT key; /* [m] */
  const int64_t *LK_RESTRICT in;   /* [m] as above */
  int64_t *LK_RESTRICT flag;       /* [m] in: 1: within reach; out: and chosen */
  int32_t terms; /* 1: all triangles, as the terms of the energy are; 0: the contacts alone */
} ogc_choose_args;
LK_DECLARE(ogc_choose, ogc_choose_args)

#endif
