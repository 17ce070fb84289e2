/* tree.h - the hierarchies of cloth and bodies on the host side, and the boxes that one kind of
 * query has in them. */
#ifndef BVTT_FRONT_TREE_H
#define BVTT_FRONT_TREE_H

#include "front.kern.h"
#include "kit/box_tree.h"
#include "kit/mesh_query.h"

/* The constant part of a hierarchy: leaves in the order of a Hilbert curve through the cloth at
 * rest, and through the bodies in their own frames.  So the trees of a scene are the same in every
 * step. */
typedef struct tree {
  mesh *m;
  int32_t num, num_cloth; /* leaves */
  box_levels cloth, body;
  int32_t num_nodes;
  loom_buf *corner, *owned; /* i32 [num][4] as in leaf_set, in the order of the tree */
} tree;

loom_status front_tree_create(tree *t, mesh *m);

/* Boxes in the last query of one kind. */
typedef struct sight {
  tree *t;
  loom_buf *vert; /* u8, bvtt_front_vert [nv]; empty: no query yet */
  loom_buf *flag; /* u8 [nv] */
  loom_buf *node; /* u8, box_node [num_nodes] */
  loom_buf *edge; /* u8, box_node [num][3] */
  int32_t due;    /* bits of the fronts that have not used all marks in `flag` yet */
} sight;

loom_status sight_create(sight *g, tree *t);

/* Boxes for the motion of v: reach and share as in bvtt_front_see_args.  Marks the vertices that
 * differ from the last query for the fronts `bits`, which become due. */
loom_status sight_refit(sight *g, const mesh_view *v, double reach, double share, int32_t bits);

/* Mapped for reading, for the cloth with itself (bodies 0) or with bodies. */
bvtt_front_view sight_view(const sight *g, plug_maps *m, int bodies);

#endif
