/* patches.h - small connected pieces of the triangle meshes of a scene: the leaves of the
 * hierarchy.
 *
 *                    boxes of the tree
 *                   /                 \
 *                box                   box
 *               /   \                 /   \
 *          patch 0  patch 1      patch 2  patch 3
 *          +------+------+
 *          |\ |\ |\ |\ |\ |      5 to 8 triangles each; a pair of patches with boxes that meet is
 *          | \| \| \| \| \|      tested by its own triangles, edges and vertices, stored side
 *          +------+------+      by side.  '|' in the middle: an edge that two patches share
 *                 ^             is owned by the first of them.
 */
#ifndef PATCHES_H
#define PATCHES_H

#include "kit/mesh_faces.h"

enum {
  PATCH_TRIS = 8, /* most triangles of a patch; A0.2 of the paper: 5 to 8 */
  PATCH_LEAST = 5,
  PATCH_GROW = 8, /* patches grow to this size; remainders take from them */
  PATCH_LANES = 8 /* edges are stored in blocks of this many */
};

/* Every triangle is in one patch.  Every edge and every vertex (of an edge or triangle) is owned by
 * one patch, the first that has it.  Edges without a triangle make patches of their own. */
typedef struct patch_set {
  int32_t num, num_cloth; /* patches; patches of the cloth come first */
  int32_t num_blocks;     /* of edges */
  int32_t num_verts;      /* owned */
  int32_t *tri;           /* [num][8], -1: none */
  int32_t *first_block;   /* [num + 1] */
  int32_t *edge;          /* [num_blocks][8], -1: none */
  int32_t *first_vert;    /* [num + 1] */
  int32_t *vert;          /* [num_verts] */
} patch_set;

/* 0: out of memory.  The same patches for the same mesh. */
int patches_make(const mesh_faces *m, patch_set *out);
void patches_free(patch_set *p);

#endif
