/* boxes.kern.h - boxes of vertices and leaves on their way, and marks of the changed ones.
 *
 * Leaves are triangles and loose edges (leaves.h).  Leaves of bodies stand behind leaves of the
 * cloth, each in the order of a Hilbert curve and with a tree of their own (kit/box_tree).
 */
#ifndef BVTT_FRONT_BOXES_KERN_H
#define BVTT_FRONT_BOXES_KERN_H

#include "kit/box_tree.kern.h"
#include "kit/mesh_query.kern.h"

#define BVTT_FRONT_BODY_KEY (UINT64_C(1) << 63)

/* A vertex on its whole way.  Equal bits make equal boxes, so a comparison of these structs finds
 * the vertices that have changed since the last query, without comparing positions, margins and
 * masks one by one. */
typedef struct bvtt_front_vert {
  float lo[3]; /* m */
  float grow;  /* m, by which a box with this vertex is larger on each side */
  float hi[3]; /* m */
  int32_t state;
} bvtt_front_vert;

/* ---- building ---- */
typedef struct bvtt_front_key_args {
  const int32_t *LK_RESTRICT corner; /* [num][4] as in leaf_set */
  const lk_real *LK_RESTRICT x;      /* [nv][3] m */
  const int32_t *LK_RESTRICT group;  /* [nv] as mesh_view.group, or NULL */
  const lk_real *LK_RESTRICT bounds; /* [6] m, of box_bounds */
  uint64_t *LK_RESTRICT key;         /* [num] */
  lk_int num_cloth;
} bvtt_front_key_args;
LK_DECLARE(bvtt_front_key, bvtt_front_key_args) /* place on the curve; bodies last */

typedef struct bvtt_front_sort_args {
  const int32_t *LK_RESTRICT order; /* [num] */
  const int32_t *LK_RESTRICT from;  /* [num][4] */
  int32_t *LK_RESTRICT to;          /* [num][4], to[i] = from[order[i]] */
} bvtt_front_sort_args;
LK_DECLARE(bvtt_front_sort, bvtt_front_sort_args)

/* ---- refitting ---- */
typedef struct bvtt_front_see_args {
  mesh_view m;
  bvtt_front_vert *LK_RESTRICT vert; /* [nv] */
  uint8_t *LK_RESTRICT flag; /* [nv] bits of the fronts that have not seen this vertex yet */
  int32_t keep;              /* bits that stay from before */
  int32_t all;               /* bits of a vertex that has changed */
  lk_real reach;             /* m, growth of each box on each side */
  lk_real share;             /* boxes grow by this times the displacement */
} bvtt_front_see_args;
LK_DECLARE(bvtt_front_see, bvtt_front_see_args)

typedef struct bvtt_front_fit_args {
  const int32_t *LK_RESTRICT corner;       /* [num][4] in the order of the tree */
  const int32_t *LK_RESTRICT owned;        /* [num][4] */
  const bvtt_front_vert *LK_RESTRICT vert; /* [nv] */
  const uint8_t *LK_RESTRICT flag;         /* [nv] */
  box_node *LK_RESTRICT node;              /* [num]; mark: flags of its vertices */
  box_node *LK_RESTRICT edge;              /* [num][3] of its own edges */
} bvtt_front_fit_args;
LK_DECLARE(bvtt_front_fit, bvtt_front_fit_args)

/* Box of the n vertices v. */
LK_FN void bvtt_front_box(const bvtt_front_vert *vert, const int32_t *v, int n, box_node *out)
{
  /* of the box's size: rounding of the boxes and of the narrow phase, with some to spare */
  const float pad = 1e-6f + 256.0f * (float)LK_EPSILON;
  bvtt_front_vert all = vert[v[0]];
  float size = 0.0f;
  for (int i = 1; i < n; ++i) {
    const bvtt_front_vert *const p = vert + v[i];
    for (int c = 0; c < 3; ++c) {
      all.lo[c] = p->lo[c] < all.lo[c] ? p->lo[c] : all.lo[c];
      all.hi[c] = p->hi[c] > all.hi[c] ? p->hi[c] : all.hi[c];
    }
    all.grow = p->grow > all.grow ? p->grow : all.grow;
    all.state = box_join_states(all.state, p->state);
  }
  for (int c = 0; c < 3; ++c) size += all.hi[c] - all.lo[c];
  const lk_real grow = (lk_real)all.grow + (lk_real)(pad * size);
  for (int c = 0; c < 3; ++c) {
    out->lo[c] = box_below((lk_real)all.lo[c] - grow);
    out->hi[c] = box_above((lk_real)all.hi[c] + grow);
  }
  out->state = all.state;
  out->mark = 0;
}

#endif
