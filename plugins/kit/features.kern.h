/* features.kern.h - edges and vertices that triangles share, and the test whether a feature is the
 * closest one of all features around it.
 *
 * A feature of a surface is a vertex, an edge or the inside of a triangle.  Several triangles share
 * an edge or a vertex, so that one of them owns it: the owner is the triangle with the smallest
 * index.  d(p, feature) >= d(p, owner), so detection finds the owner's pair whenever the feature is
 * within reach of p. */
#ifndef KIT_FEATURES_KERN_H
#define KIT_FEATURES_KERN_H

#include "kit/candidates.kern.h"

/* Triangles of the scene, then of bodies, as keys of pairs count them.  Feature i is vertex i, of
 * the scene or a body; feature points + k is edge k. */
typedef struct feature_lists {
  const int32_t *LK_RESTRICT edge;    /* [nt + ntb][3] the edge opposite to each corner, from 0 */
  const int32_t *LK_RESTRICT of_edge; /* [ne + neb] the edge here of each contact edge, as keys of
                                       * pairs count them; -1: it is in no triangle */
  const int32_t *LK_RESTRICT owner;   /* [features] its first triangle */
  const int32_t *LK_RESTRICT factor;  /* [features] 1 less the factors of the edges and triangles
                                       * (1 each) that contain it */
  const int64_t *LK_RESTRICT first;   /* [features + 1] into ring */
  const int32_t *LK_RESTRICT ring;    /* of an edge: corners opposite to it; of a vertex: the other
                                       * ends of its edges */
  const int32_t *LK_RESTRICT out;     /* [points + 1] loom/exclusions.h, or NULL */
  const int32_t *LK_RESTRICT other;
  int32_t points; /* n + nb */
} feature_lists;

LK_FN int feature_is_triangle(int32_t kind)
{
  return kind == LOOM_PAIR_VT || kind == LOOM_PAIR_BVT;
}

/* Weights below this count as zero: p above an edge within rounding has that edge as closest
 * feature of both triangles.  A neighbour leads closer where it does by more than FEATURE_STEEPER,
 * which is larger, so that a p so near to an edge is held by one of them at least. */
#define FEATURE_BORDER  (LK_R(1e-9) + LK_R(16.0) * LK_EPSILON)
#define FEATURE_STEEPER (LK_R(100.0) * FEATURE_BORDER)

LK_FN int32_t feature_triangle(uint64_t key) { return (int32_t)(key & 0xffffffffu); }

/* Feature `slot` of triangle T: opposite to corner `slot` for 0 to 2, then the corners v [4]. */
LK_FN int32_t feature_of(const feature_lists *f, int32_t T, const int32_t *v, int slot)
{
  return slot < 3 ? f->points + f->edge[3 * T + slot] : v[slot - 2];
}

/* Slot of the closest feature by the weights of the closest point; -1: the inside. */
LK_FN int feature_slot(const lk_real *w)
{
  int zeros = 0, last_zero = 0, last = 0;
  for (int k = 0; k < 3; ++k) {
    const int zero = -w[k + 1] <= FEATURE_BORDER;
    zeros += zero;
    if (zero)
      last_zero = k;
    else
      last = k;
  }
  return zeros == 0 ? -1 : zeros == 1 ? last_zero : 3 + last;
}

LK_FN int feature_excludes(const feature_lists *f, int32_t p, int32_t u)
{
  if (f->out == NULL) return 0;
  for (int32_t k = f->out[p]; k < f->out[p + 1]; ++k)
    if (f->other[k] == u) return 1;
  return 0;
}

/* 1: feature s borders on triangles that may not touch p. */
LK_FN int feature_meets_excluded(const feature_lists *f, int32_t s, int32_t p)
{
  for (int64_t k = f->first[s]; k < f->first[s + 1]; ++k)
    if (f->ring[k] == p || feature_excludes(f, p, f->ring[k])) return 1;
  return 0;
}

/* p is as close to feature s as to anything around it; q: closest point, r = p - q. */
LK_FN int feature_is_closest(const feature_lists *f, const cand_state *s, int32_t feature,
                             const lk_real *q, const lk_real *r)
{
  for (int64_t k = f->first[feature]; k < f->first[feature + 1]; ++k) {
    lk_real u[3], d[3];
    cand_position(s, f->ring[k], u);
    lk_sub3(u, q, d);
    if (lk_dot3(r, d) > FEATURE_STEEPER * lk_dot3(d, d)) return 0;
  }
  return 1;
}

#endif
