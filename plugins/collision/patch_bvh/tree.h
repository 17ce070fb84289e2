/* tree.h - the hierarchy of patches on the host side: its arrays, building and refitting. */
#ifndef PATCH_BVH_TREE_H
#define PATCH_BVH_TREE_H

#include "kit/box_tree.h"
#include "kit/mesh_query.h"
#include "patch_bvh.kern.h"

/* Boxes of all patches for one motion.  Detections and step bounds ask for boxes of different
 * growth in turn: each has boxes of its own, so that those of bodies that do not move stay right.
 */
typedef struct tree_boxes {
  loom_buf *node;                          /* u8, box_node [num_nodes] */
  loom_buf *own;                           /* u8, patch_bvh_own [num] */
  loom_buf *tri_box, *edge_box, *vert_box; /* float, as i32 */
  int64_t still;                           /* mesh.still of the bodies' boxes; 0: none */
  double reach;                            /* m, of the bodies' boxes */
} tree_boxes;
enum { TREE_DETECTION, TREE_BOUND, TREE_BOXES };

typedef struct tree {
  mesh *m;
  int32_t num, num_cloth; /* patches */
  box_levels cloth, body;
  int32_t num_nodes;
  loom_buf *tri, *tri_verts; /* as in patch_bvh_view */
  loom_buf *first_block, *edge, *edge_verts;
  loom_buf *first_vert, *vert;
  loom_buf *order;              /* i32 [num] */
  tree_boxes boxes[TREE_BOXES]; /* the second ones only where bodies are large */
  int of[TREE_BOXES];           /* the boxes for detections and for step bounds */
  int now;                      /* the boxes that tree_refit() wrote last */
  loom_buf *key;                /* u64 [num] */
  loom_buf *bounds;             /* real [8] */
  double quality;               /* when the tree was built; 0: no tree yet */
  plug_maps maps;               /* of the open view */
} tree;

loom_status patch_tree_create(tree *t, mesh *m);

/* Order the patches anew by where they are at v->x0. */
loom_status tree_build(tree *t, const mesh_view *v);
/* Boxes for the motion of v, for TREE_DETECTION or TREE_BOUND: reach, share and frames as in
 * patch_bvh_refit_args.  Boxes of bodies stay where the bodies are still and the reach is the same:
 * their frames are at rest, too. */
loom_status tree_refit(tree *t, const mesh_view *v, int kind, double reach, double share,
                       int frames);
/* Sum of the half perimeters of inner boxes over that of the leaves; waits for the device. */
loom_status tree_quality(tree *t, double *out);

/* Everything but boxes in the making mapped for reading. */
loom_status tree_open(tree *t, patch_bvh_view *out);
loom_status tree_close(tree *t);

#endif
