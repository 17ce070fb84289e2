/* box_tree.kern.h - a binary hierarchy of boxes without links, over leaves in the order of a
 * Hilbert curve: node k of level l covers the leaves k 2^l to (k + 1) 2^l - 1, so it is built by
 * one sort and refitted level by level.  Boxes are floats, rounded outwards. */
#ifndef KIT_BOX_TREE_KERN_H
#define KIT_BOX_TREE_KERN_H

#include "loom/kernel.h"

enum { BOX_MAX_LEVELS = 32, BOX_HILBERT_BITS = 20 }; /* 3 * 20 bits of a place on the curve */

typedef struct box_node {
  float lo[3];   /* m */
  int32_t state; /* properties of the leaves below it, see box_join_states() */
  float hi[3];   /* m */
  int32_t mark;  /* bits of the leaves below it, combined by or: events of this query */
} box_node;

typedef struct box_levels {
  lk_int num_levels;            /* 0: no leaves */
  lk_int first[BOX_MAX_LEVELS]; /* node 0 of each level, from the leaves up */
  lk_int count[BOX_MAX_LEVELS];
} box_levels;

/* ---- states ---- */

/* The lower bits of a state are combined by or.  The upper ones are the number of a group: two
 * boxes of one group have no pairs.  A box of several groups, or of contents without a group, has
 * the number 0. */
enum { BOX_GROUP_SHIFT = 8, BOX_STATE_BITS = (1 << BOX_GROUP_SHIFT) - 1 };

LK_FN int32_t box_join_states(int32_t a, int32_t b)
{
  const int32_t bits = (a | b) & BOX_STATE_BITS;
  return a >> BOX_GROUP_SHIFT == b >> BOX_GROUP_SHIFT ? a | bits : bits;
}

LK_FN int box_same_group(int32_t a, int32_t b)
{
  return (a >> BOX_GROUP_SHIFT == b >> BOX_GROUP_SHIFT) & (a >> BOX_GROUP_SHIFT != 0);
}

/* ---- boxes ---- */

/* The nearest floats below and above, or a little further: rounding is at most half of the
 * 2^-23 |f| added, and the constant covers the smallest numbers. */
LK_FN float box_below(lk_real x)
{
  const float f = (float)x;
  return f - fabsf(f) * 1.1920929e-7f - 1e-37f;
}

LK_FN float box_above(lk_real x)
{
  const float f = (float)x;
  return f + fabsf(f) * 1.1920929e-7f + 1e-37f;
}

LK_FN int box_overlap(const box_node *a, const box_node *b)
{
  return (a->lo[0] <= b->hi[0]) & (b->lo[0] <= a->hi[0]) & (a->lo[1] <= b->hi[1]) &
         (b->lo[1] <= a->hi[1]) & (a->lo[2] <= b->hi[2]) & (b->lo[2] <= a->hi[2]);
}

/* 1: the boxes overlap, the two states together have all bits of `need`, and the boxes are not of
 * one group. */
LK_FN int box_overlap_with(const box_node *a, const box_node *b, int32_t need)
{
  return box_overlap(a, b) & (((a->state | b->state) & need) == need) &
         !box_same_group(a->state, b->state);
}

/* ---- order ---- */

/* Place of a cell on the Hilbert curve through a cube (J. Skilling, Programming the Hilbert
 * curve, AIP Conf. Proc. 707, 2004, doi 10.1063/1.1751381). */
LK_FN uint64_t box_hilbert(uint32_t *x)
{
  uint32_t t;
  uint64_t key = 0;
  for (uint32_t q = UINT32_C(1) << (BOX_HILBERT_BITS - 1); q > 1; q >>= 1) {
    for (int i = 0; i < 3; ++i) {
      if (x[i] & q) {
        x[0] ^= q - 1;
      } else {
        t = (x[0] ^ x[i]) & (q - 1);
        x[0] ^= t;
        x[i] ^= t;
      }
    }
  }
  x[1] ^= x[0];
  x[2] ^= x[1];
  t = 0;
  for (uint32_t q = UINT32_C(1) << (BOX_HILBERT_BITS - 1); q > 1; q >>= 1)
    if (x[2] & q) t ^= q - 1;
  for (int b = BOX_HILBERT_BITS - 1; b >= 0; --b)
    for (int i = 0; i < 3; ++i) key = key << 1 | ((x[i] ^ t) >> b & 1);
  return key;
}

/* Place of the mean of `num` points with the sum sum[3] (m) on the curve through the cube with
 * the bounds of box_bounds: [6] m, largest x, y, z, -x, -y, -z. */
LK_FN uint64_t box_place(const lk_real *sum, lk_real num, const lk_real *bounds)
{
  const lk_real scale = (lk_real)((1 << BOX_HILBERT_BITS) - 1);
  lk_real size = LK_R(0.0);
  uint32_t cell[3];
  for (int c = 0; c < 3; ++c) {
    const lk_real width = bounds[c] + bounds[3 + c];
    size = size > width ? size : width;
  }
  for (int c = 0; c < 3; ++c) {
    const lk_real at = size > LK_R(0.0) ? (sum[c] / num + bounds[3 + c]) / size * scale : 0;
    cell[c] = at > LK_R(0.0) ? (uint32_t)(at < scale ? at : scale) : 0;
  }
  return box_hilbert(cell);
}

/* Group in front of a place on the curve: nodes of a tree then hold leaves of one group.  The last
 * of the numbers that fit is for all later groups. */
LK_FN uint64_t box_group_place(int32_t group)
{
  const int32_t last = 7;
  return (uint64_t)(group < last ? group : last) << (3 * BOX_HILBERT_BITS);
}

/* ---- kernels ---- */
typedef struct box_bounds_args {
  const lk_real *LK_RESTRICT x; /* [nv][3] m */
  lk_int axis;
  lk_real sign;
} box_bounds_args;
LK_DECLARE(box_bounds, box_bounds_args) /* largest sign x[axis] */

typedef struct box_join_args {
  box_node *LK_RESTRICT node; /* nodes [to, to + n) from [from, from + num_from) */
  lk_int from, num_from, to;
} box_join_args;
LK_DECLARE(box_join, box_join_args)

#endif
