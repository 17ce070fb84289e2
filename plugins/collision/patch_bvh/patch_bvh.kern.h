/* patch_bvh.kern.h - a hierarchy of boxes over patches, and the candidates of two patches.
 *
 * The patches stand in the order of a Hilbert curve through their centres.  Patches of bodies stand
 * behind the patches of the cloth and have a tree of their own.  Trees are implicit (kit/box_tree),
 * so a traversal needs no stack.  The state of a node has the bits MESH_FREE, MESH_MARKED of any
 * vertex below.
 *
 * Nodes are boxes in the world.  The boxes of the features of a patch, and `own` of the patch, are
 * in a frame that moves with it: from the points at x1 the patch's displacement is taken, so a
 * piece that flies or falls as a whole has small boxes.  Between two patches the difference of
 * their displacements is added to one side.
 *
 * The boxes of the features of a patch lie in blocks of 8 lanes, lo x y z and hi x y z of all
 * lanes one after the other, so one feature is compared with 8 at once.  Boxes are floats,
 * rounded outwards.
 */
#ifndef PATCH_BVH_KERN_H
#define PATCH_BVH_KERN_H

#include "kit/box_tree.kern.h"
#include "kit/mesh_query.kern.h"
#include "patches.h"

#define PATCH_BVH_BODY_KEY (UINT64_C(1) << 63)

typedef struct patch_bvh_own { /* a patch in its own frame */
  float lo[3], hi[3];          /* m */
  float way[3];                /* m, the frame's displacement; any would do */
  float reserved;
} patch_bvh_own;

/* Arrays of all patches.  num_blocks: of edges. */
typedef struct patch_bvh_view {
  const int32_t *LK_RESTRICT tri;         /* [num][8] ids, -1: none */
  const int32_t *LK_RESTRICT tri_verts;   /* [num][3][8], -1 */
  const int32_t *LK_RESTRICT first_block; /* [num + 1] */
  const int32_t *LK_RESTRICT edge;        /* [num_blocks][8] ids, -1: none */
  const int32_t *LK_RESTRICT edge_verts;  /* [num_blocks][2][8], -1 */
  const int32_t *LK_RESTRICT first_vert;  /* [num + 1] */
  const int32_t *LK_RESTRICT vert;        /* [num_verts] ids */
  const int32_t *LK_RESTRICT order;       /* [num] patch of each leaf */
  const box_node *LK_RESTRICT node;       /* leaves, then the inner levels of both trees */
  const patch_bvh_own *LK_RESTRICT own;   /* [num], of each leaf */
  const float *LK_RESTRICT tri_box;       /* [num][6][8] m */
  const float *LK_RESTRICT edge_box;      /* [num_blocks][6][8] m */
  const float *LK_RESTRICT vert_box;      /* [num_verts][6] m */
  box_levels cloth, body;
} patch_bvh_view;

/* ---- building ---- */
typedef struct patch_bvh_key_args {
  patch_bvh_view b;
  const lk_real *LK_RESTRICT x;      /* [nv][3] m */
  const int32_t *LK_RESTRICT group;  /* [nv] as mesh_view.group, or NULL */
  const lk_real *LK_RESTRICT bounds; /* [6] m: largest x, y, z, -x, -y, -z */
  uint64_t *LK_RESTRICT key;         /* [num] */
  lk_int num_cloth;
} patch_bvh_key_args;
LK_DECLARE(patch_bvh_key, patch_bvh_key_args) /* place on the curve; bodies last */

/* ---- boxes ---- */
typedef struct patch_bvh_refit_args {
  mesh_view m;
  patch_bvh_view b;
  box_node *LK_RESTRICT node;
  patch_bvh_own *LK_RESTRICT own;
  float *LK_RESTRICT tri_box;
  float *LK_RESTRICT edge_box;
  float *LK_RESTRICT vert_box;
  lk_real reach; /* m, growth of each box on each side */
  lk_real share; /* boxes grow by this times the largest displacement */
  /* 0: the frames of patches stand still.  Bounds of single vertices need it: they stop at
   * different shares of their ways, and then a common displacement does not cancel. */
  int32_t frames, reserved;
} patch_bvh_refit_args;
LK_DECLARE(patch_bvh_refit, patch_bvh_refit_args) /* one element per leaf */

typedef struct patch_bvh_size_args {
  const box_node *LK_RESTRICT node;
  lk_int first;
} patch_bvh_size_args;
LK_DECLARE(patch_bvh_size, patch_bvh_size_args) /* sum of the half perimeters of nodes */

/* ---- pairs of leaves, and their candidates ---- */
typedef struct patch_bvh_meet_args {
  patch_bvh_view b;
  uint32_t kinds;                   /* LOOM_BIT(LOOM_PAIR_VT) ... */
  int64_t *LK_RESTRICT count;       /* [leaves of the cloth] */
  const int64_t *LK_RESTRICT place; /* [leaves of the cloth + 1] */
  uint64_t *LK_RESTRICT pair;       /* [.] leaf << 32 | leaf */
} patch_bvh_meet_args;
LK_DECLARE(patch_bvh_meet_count, patch_bvh_meet_args)
LK_DECLARE(patch_bvh_meet_list, patch_bvh_meet_args)

typedef struct patch_bvh_pairs_args {
  patch_bvh_view b;
  const uint64_t *LK_RESTRICT pair; /* [num_pairs] */
  int64_t num_pairs;
  int64_t *LK_RESTRICT count;       /* [at least num_pairs] */
  const int64_t *LK_RESTRICT place; /* [num_pairs + 1] */
  uint64_t *LK_RESTRICT name;       /* [.] */
  int64_t base;                     /* place of name[0] */
  lk_int first;                     /* element 0 of this launch */
  lk_int num_cloth;
  uint32_t kinds;
  lk_real share; /* as in patch_bvh_refit_args */
} patch_bvh_pairs_args;
LK_DECLARE(patch_bvh_count_vt, patch_bvh_pairs_args)
LK_DECLARE(patch_bvh_count_ee, patch_bvh_pairs_args)
LK_DECLARE(patch_bvh_list_vt, patch_bvh_pairs_args)
LK_DECLARE(patch_bvh_list_ee, patch_bvh_pairs_args)

#endif
