/* thickness.kern.h - radii of the two sides of a contact pair, one rule for detection and laws.
 *
 * A gap is the distance of two sides less the radii of both.  The radius of a side is the largest
 * of its vertices, which all have the same: loom_scene.radius is constant within an object.  So a
 * box that grows by the largest growth of its vertices holds the side. */
#ifndef LOOM_KIT_THICKNESS_KERN_H
#define LOOM_KIT_THICKNESS_KERN_H

#include "kit/pair_kinds.kern.h"

/* Radius of a side, m: `verts` [count] are its vertices, `radius` has a row for each id. */
LK_FN lk_real side_radius(const lk_real *radius, const int32_t *verts, int count)
{
  lk_real r = radius[verts[0]];
  for (int i = 1; i < count; ++i) r = LK_FMAX(r, radius[verts[i]]);
  return r;
}

/* The same with `radius` [num] of the scene: ids from num on are vertices of bodies, which have
 * none. */
LK_FN lk_real side_radius_of_scene(const lk_real *radius, int32_t num, const int32_t *verts,
                                   int count)
{
  return verts[0] < num ? side_radius(radius, verts, count) : LK_R(0.0);
}

/* Sum of the radii of both sides of a pair, m; kind: LOOM_PAIR_* but for LOOM_PAIR_YY, v as in
 * loom_pairs, radius [num] of the scene. */
LK_FN lk_real pair_radii(const lk_real *radius, int32_t num, int32_t kind, const int32_t *v)
{
  const int edges = pair_is_edges(kind), first = edges ? 2 : 1;
  const int second = kind == LOOM_PAIR_VV ? 1 : edges || kind == LOOM_PAIR_VE ? 2 : 3;
  const lk_real r = side_radius_of_scene(radius, num, v, first);
  if (pair_is_point(kind)) return r; /* the body has a surface without radius */
  return r + side_radius_of_scene(radius, num, v + first, second);
}

#endif
