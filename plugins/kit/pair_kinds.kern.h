/* pair_kinds.kern.h - questions about kinds of pairs, one rule for detection and laws. */
#ifndef KIT_PAIR_KINDS_KERN_H
#define KIT_PAIR_KINDS_KERN_H

#include "loom/kernel.h"
#include "loom/scene.h"

/* 1: a point of cloth and the exact shape of a body; all vertices of the pair are of cloth. */
LK_FN int pair_is_point(int32_t kind) { return kind == LOOM_PAIR_VO; }

LK_FN int pair_is_edges(int32_t kind) { return kind == LOOM_PAIR_EE || kind == LOOM_PAIR_BEE; }

/* 1: one side of the pair is a body. */
LK_FN int pair_is_body(int32_t kind)
{
  return pair_is_point(kind) || kind == LOOM_PAIR_BVT || kind == LOOM_PAIR_BEE;
}

#endif
