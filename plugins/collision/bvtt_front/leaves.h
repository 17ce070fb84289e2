/* leaves.h - triangles and loose edges as leaves of a hierarchy, and the edges and vertices that
 * each leaf owns. */
#ifndef BVTT_FRONT_LEAVES_H
#define BVTT_FRONT_LEAVES_H

#include "kit/mesh_faces.h"

/* A leaf is a triangle, or an edge that no triangle has or could own.  Every edge, and every vertex
 * of an edge or a triangle, is owned by one leaf, so that a pair of leaves names each elementary
 * pair once ("orphan sets").  Edge c of a leaf joins its corners c and (c + 1) % 3. */
typedef struct leaf_set {
  int32_t num, num_cloth; /* leaves; leaves of the cloth come first */
  int32_t *corner;        /* [num][4] vertices, -1: none; the triangle, -1: an edge alone */
  int32_t *owned;         /* [num][4] edges, -1: none; bits of the corners */
} leaf_set;

/* 0: out of memory.  The same leaves for the same mesh. */
int leaves_make(const mesh_faces *m, leaf_set *out);
void leaves_free(leaf_set *s);

#endif
