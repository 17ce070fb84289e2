/* mesh_pair.kern.h - one named pair of a query: its distance, whether the query takes it, the gap
 * that a step has to leave of it. */
#ifndef MESH_PAIR_KERN_H
#define MESH_PAIR_KERN_H

#include "geom/sorted.kern.h"
#include "kit/mesh_query.kern.h"

/* Distance and weights of four positions, which are made relative to the first. */
LK_FN lk_real distance_of(int family, lk_real *x, lk_real *w)
{
  LK_UNROLL
  for (int i = 11; i >= 0; --i) x[i] -= x[i % 3];
  return LK_SQRT(ccd_distance2(family, x, w));
}

LK_FN int is_mesh_pair_allowed(const mesh_query *q, uint64_t name, const int32_t *v)
{
  const int any = q->m.state[v[0]] | q->m.state[v[1]] | q->m.state[v[2]] | q->m.state[v[3]];
  if ((any & MESH_ACTIVE) != MESH_ACTIVE) return 0;
  return q->num_exclude == 0 || !lk_is_in(q->exclude, q->num_exclude, name);
}

/* Shares of the wanted gap: a step leaves the upper one; a pair below the lower one was that near
 * already at the start. */
#define GAP_ABOVE LK_R(1.25)
#define GAP_START LK_R(0.998)

/* Gap (m) that a step has to leave of the gap `gap`, where `wanted` is to be kept.  *base: bound of
 * the gap for a pair that starts within rounding of it.  A pair near the wanted gap may close by a
 * tenth of the part above it, so that a sliding pair is not locked at once; at the wanted gap it
 * may not close at all.  A pair below the wanted gap at the start may close by a thousandth, but
 * never to zero: half thicknesses must not overlap where a barrier is infinite. */
LK_FN lk_real kept_gap(lk_real gap, lk_real wanted, lk_real *base)
{
  *base = LK_R(0.0);
  if (!(gap > LK_R(0.0)) || gap > GAP_ABOVE * wanted) return GAP_ABOVE * wanted;
  if (gap <= GAP_START * wanted) return LK_R(0.999) * gap;
  *base = gap > wanted ? wanted : gap;
  return *base + LK_R(0.9) * (gap - *base);
}

#endif
