/* isect_tree.h - finds overlapping boxes: the broad phase of the audit.
 *
 * A balanced tree of boxes, split at the median of the widest axis of the centres, so that
 * neither outliers nor coinciding boxes unbalance it.  It shares no code with the collision
 * plugins, which the audit checks.
 */
#ifndef LOOM_ISECT_TREE_H
#define LOOM_ISECT_TREE_H

#include <stdint.h>

typedef struct isect_box {
  double lo[3], hi[3]; /* m */
} isect_box;

typedef struct isect_node { /* preorder: the left child follows its parent */
  isect_box b;
  int32_t first, end; /* range of `order` */
  int32_t right;      /* right child; 0: a leaf */
} isect_node;

typedef struct isect_tree {
  int32_t num_items, num_nodes, num_leaves;
  isect_node *nodes; /* [num_nodes] */
  int32_t *leaf;     /* [num_leaves] nodes, ascending in `first` */
  int32_t *order;    /* [num_items] ids */
  isect_box *box;    /* [num_items] boxes in that order */
} isect_tree;

/* Called for two items with boxes that meet (touching counts). */
typedef void (*isect_visit)(void *user, int32_t a, int32_t b);

/* boxes [n] of finite numbers; 0 without memory.  Same tree for same boxes. */
int isect_tree_build(isect_tree *t, const isect_box *boxes, int64_t n);
void isect_tree_free(isect_tree *t);

/* Pairs with the first item in leaf `leaf` of `t`; over all leaves every pair of two items
 * comes once, in either order.  [any] */
void isect_tree_self(const isect_tree *t, int32_t leaf, isect_visit visit, void *user);
/* Pairs of an item in leaf `leaf` of `a` and an item of `b`.  [any] */
void isect_tree_cross(const isect_tree *a, int32_t leaf, const isect_tree *b, isect_visit visit,
                      void *user);

int isect_boxes_meet(const isect_box *a, const isect_box *b);
/* Box of `num` points x[ids] (m), and the smallest box that holds both. */
isect_box isect_box_points(const double *x, const int32_t *ids, int num);
isect_box isect_box_join(const isect_box *a, const isect_box *b);

#endif
