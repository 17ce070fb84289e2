/* front.kern.h - the front of a bounding-volume test tree: the pairs of nodes where a traversal of
 * one hierarchy against itself, or of two, has stopped.
 *
 * The test tree is not stored.  A pair splits its node of the higher level, or the first node where
 * both have the same level; a node against itself splits into its children against themselves and
 * the pair of both children.  So children and parent of a pair follow from its two names alone.
 *
 * A pair has a place in the front.  A pair that descends is replaced by its first child, and its
 * other children are appended.  So kernels run over lists of places and leave the rest of the front
 * untouched.
 */
#ifndef BVTT_FRONT_FRONT_KERN_H
#define BVTT_FRONT_FRONT_KERN_H

#include "boxes.kern.h"

/* Lists are made by groups of so many: counts and their sums stay small beside the front. */
enum { BVTT_FRONT_GROUP = 32 };

/* A node: level << 27 | number in its level.  A pair: first << 32 | second. */
enum { BVTT_FRONT_INDEX_BITS = 27 };
#define BVTT_FRONT_MAX_LEAVES (INT32_C(1) << BVTT_FRONT_INDEX_BITS)

/* Bits `known` of a pair: 0 where it stops without a candidate.  For two leaves that meet, bit i is
 * set if corner i of the first leaf is a candidate with the triangle of the second, bit 3 + i for
 * corner i of the second with the triangle of the first, bit 6 + 3 i + j for edge i of the first
 * with edge j of the second. */
enum {
  BVTT_FRONT_VT_BITS = 0x3f,
  BVTT_FRONT_EE_BITS = 0x7fc0,
  BVTT_FRONT_SPLIT = 1 << 16, /* it meets and has children */
  BVTT_FRONT_GONE = 1 << 17   /* merged with others */
};

typedef struct bvtt_front_view {
  const box_node *LK_RESTRICT node;  /* of both trees */
  const int32_t *LK_RESTRICT corner; /* [leaves][4] as in leaf_set, in the order of the tree */
  const int32_t *LK_RESTRICT owned;  /* [leaves][4] */
  const bvtt_front_vert *LK_RESTRICT vert; /* [nv] */
  const box_node *LK_RESTRICT edge;        /* [leaves][3] of its own edges */
  box_levels first, second;                /* the trees of a pair's nodes */
  int32_t self;                            /* 1: they are one tree */
  int32_t bit;                             /* of the marks that are meant for this front */
} bvtt_front_view;

typedef struct bvtt_front_args {
  bvtt_front_view t;
  uint64_t *LK_RESTRICT pair;       /* [num] the front */
  int32_t *LK_RESTRICT known;       /* [num] */
  const int32_t *LK_RESTRICT work;  /* [num_work] places to be looked at; NULL: all */
  int64_t *LK_RESTRICT count;       /* [groups] */
  const int64_t *LK_RESTRICT place; /* [groups + 1], exclusive sums of count */
  int32_t *LK_RESTRICT next;        /* places of the next level's work */
  uint64_t *LK_RESTRICT to_pair;    /* the front without the removed pairs */
  int32_t *LK_RESTRICT to_known;
  uint64_t *LK_RESTRICT name; /* candidates */
  int64_t base;               /* place of name[0] */
  lk_int first;               /* group 0 of this launch */
  lk_int num, num_work;       /* the front; work[] or num */
  int32_t bits;               /* of the candidates that are wanted */
} bvtt_front_args;

/* ---- which pairs have changed: groups of the front ---- */
LK_DECLARE(bvtt_front_count_marked, bvtt_front_args)
LK_DECLARE(bvtt_front_list_marked, bvtt_front_args) /* to next */

/* ---- testing, sprouting ---- */
LK_DECLARE(bvtt_front_test, bvtt_front_args) /* work: known[] of each */
/* groups of work: children << 32 | pairs that split */
LK_DECLARE(bvtt_front_count_split, bvtt_front_args)
LK_DECLARE(bvtt_front_sprout,
           bvtt_front_args) /* groups of work: children into the front and next */

/* ---- merging ---- */
LK_DECLARE(bvtt_front_merge, bvtt_front_args)      /* the front: parents in place of children */
LK_DECLARE(bvtt_front_count_kept, bvtt_front_args) /* groups of the front */
LK_DECLARE(bvtt_front_pack, bvtt_front_args)       /* to to_pair, to_known */

/* ---- candidates: groups of the front ---- */
LK_DECLARE(bvtt_front_count_names, bvtt_front_args)
LK_DECLARE(bvtt_front_list_vt, bvtt_front_args)
LK_DECLARE(bvtt_front_list_ee, bvtt_front_args)

#endif
