/* pair_kinds.kern.h - questions about kinds of pairs, one rule for detection and laws. */
#ifndef KIT_PAIR_KINDS_KERN_H
#define KIT_PAIR_KINDS_KERN_H

#include "loom/kernel.h"
#include "loom/scene.h"

/* 1: a point of cloth and the exact shape of a body; all vertices of the pair are of cloth. */
LK_FN int pair_is_point(int32_t kind) { return kind == LOOM_PAIR_VO || kind == LOOM_PAIR_EO; }

LK_FN int pair_is_edges(int32_t kind) { return kind == LOOM_PAIR_EE || kind == LOOM_PAIR_BEE; }

/* Number of vertices of the first side of a pair of candidates, v [4]; those of the second side
 * follow. */
LK_FN int pair_first_side(int32_t kind, const int32_t *v)
{
  if (kind == LOOM_PAIR_EO) return v[2] >= 0 ? 3 : 2;
  return pair_is_edges(kind) ? 2 : 1;
}

/* Number of vertices of the second side; the exact shape of a body has none. */
LK_FN int pair_second_side(int32_t kind)
{
  return pair_is_point(kind) ? 0 : pair_is_edges(kind) ? 2 : 3;
}

/* 1: one side of the pair is a body. */
LK_FN int pair_is_body(int32_t kind)
{
  return pair_is_point(kind) || kind == LOOM_PAIR_BVT || kind == LOOM_PAIR_BEE;
}

#endif
