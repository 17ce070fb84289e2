/* feature_terms.kern.h - each feature of a surface counts once: correction of pairs of a vertex p
 * and a triangle T for the edges and vertices that triangles share.
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
 * that p sees, and the features that they share with the rest are a border: c = 0 there. */
#ifndef KIT_FEATURE_TERMS_KERN_H
#define KIT_FEATURE_TERMS_KERN_H

#include "kit/features.kern.h"
#include "kit/pair_energy.kern.h"

enum { FEATURE_REACH = 1 }; /* the number of the law that is its reach, m */

typedef struct feature_terms_args {
  pair_args p;
  feature_lists f;
  const uint64_t *LK_RESTRICT key;
} feature_terms_args;
#define FEATURE_TERMS_DECLARE(model)                                                \
  LK_DECLARE(model##_shared_energy, feature_terms_args) /* sum of c f(d(p,s)), J */ \
  LK_DECLARE(model##_shared_force, feature_terms_args)  /* adds its gradient to p.force */
/* Adds its exact second derivatives to the blocks p.val, which model_hessian has written; for a
 * model that needs them. */
#define FEATURE_TERMS_DECLARE_HESSIAN(model) LK_DECLARE(model##_shared_hessian, feature_terms_args)

/* 1: the closest feature of the triangle of candidate c is its inside, or an edge or vertex that it
 * owns and that is a local minimum of the distance: no neighbour leads closer.  The terms of such
 * pairs make up E(p) where the surface is flat or convex towards p; in a valley the negative terms
 * are missing. */
LK_FN int feature_acts(const feature_lists *f, const cand_state *s, const uint64_t *key, lk_int c)
{
  const int32_t T = feature_triangle(key[c]), *const v = s->v + 4 * c;
  lk_real x[12], w[4], r[3], q[3];
  (void)cand_pair(s, c, x, w);
  const int slot = feature_slot(w);
  if (slot < 0) return 1;
  const int32_t feature = feature_of(f, T, v, slot);
  if (feature_meets_excluded(f, feature, v[0])) return 1; /* its owner may be no pair */
  if (f->owner[feature] != T) return 0;
  dist_combine(x, w, r);
  lk_sub3(x, r, q);
  return feature_is_closest(f, s, feature, q, r);
}

/* Squared distance of x[0] and feature `slot` of the triangle behind it, m^2; w [4]. */
LK_FN lk_real feature_distance(const lk_real *x, int slot, lk_real *w)
{
  lk_real p[3], r[3];
  w[0] = LK_R(1.0);
  w[1] = w[2] = w[3] = LK_R(0.0);
  if (slot >= 3) {
    w[slot - 2] = LK_R(-1.0);
    lk_sub3(x, x + 3 * (slot - 2), p);
    return lk_dot3(p, p);
  }
  const int i = 1 + (slot + 1) % 3, j = 1 + (slot + 2) % 3;
  lk_real e[3];
  lk_sub3(x, x + 3 * i, p);
  lk_sub3(x + 3 * j, x + 3 * i, e);
  const lk_real t = dist_clamp(lk_dot3(p, e) * dist_inverse(lk_dot3(e, e)));
  w[i] = t - LK_R(1.0);
  w[j] = -t;
  return dist_minus(p, t, e, r);
}

LK_FN void feature_pair_corners(const cand_state *s, lk_int c, lk_real *x)
{
  for (int k = 0; k < 4; ++k) cand_position(s, s->v[4 * c + k], x + 3 * k);
}

#endif
