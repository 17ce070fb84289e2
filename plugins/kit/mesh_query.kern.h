/* mesh_query.kern.h - elementary pairs of the cloth's and the bodies' triangle meshes: names,
 * narrow phase, step bounds.
 *
 * Cloth and bodies are one mesh here: ids of bodies follow the ids of the cloth, so body vertex j
 * has the id num_verts + j, body edge k the id num_edges + k and so on.
 * A pair is of the family MESH_VT (a vertex and a triangle) or MESH_EE (two edges), and its name
 * is
 *   vertex-triangle   vertex << 32 | triangle
 *   edge-edge         2^63 | edge << 32 | edge, the smaller id first
 * with these ids: unique over all kinds, and BVT of a cloth vertex differs from BVT of a body
 * vertex.  Ids stay below 2^31.
 *
 * gap = distance - (radius of one side + radius of the other), see thickness.kern.h; bodies have
 * radius 0.
 */
#ifndef MESH_KERN_H
#define MESH_KERN_H

#include "geom/ccd.kern.h"
#include "kit/thickness.kern.h"

enum { MESH_VT = CCD_VT, MESH_EE = CCD_EE };
enum {                   /* bits of a vertex's state */
       MESH_FREE = 1,    /* not prescribed */
       MESH_MARKED = 2,  /* by the query's mask; without a mask every vertex */
       MESH_SURFACE = 4, /* corner of an edge or a triangle */
       MESH_ACTIVE = MESH_FREE | MESH_MARKED
};
#define MESH_EE_NAME (UINT64_C(1) << 63)

typedef struct mesh_view {               /* one query's positions and the topology */
  const lk_real *LK_RESTRICT x0;         /* [nv][3] m */
  const lk_real *LK_RESTRICT x1;         /* [nv][3] m, x0 without motion */
  const lk_real *LK_RESTRICT radius;     /* [nv] m */
  const uint8_t *LK_RESTRICT state;      /* [nv] MESH_FREE ... */
  const int32_t *LK_RESTRICT group;      /* [nv] vertices of one group > 0 follow the same nodes:
                                          * one affine map moves them, and they make no pair;
                                          * NULL: all 0 */
  const int32_t *LK_RESTRICT tris;       /* [nt][3] */
  const int32_t *LK_RESTRICT edges;      /* [ne][2] */
  lk_int num_verts, num_tris, num_edges; /* of cloth and bodies together */
  lk_int cloth_verts, cloth_tris, cloth_edges;
} mesh_view;

/* ---- groups ---- */
LK_FN int mesh_same_group(const mesh_view *m, lk_int p, lk_int q)
{
  return m->group != NULL && m->group[p] != 0 && m->group[p] == m->group[q];
}

/* State of a vertex for a node of a tree of boxes, with its group; see box_join_states(). */
enum { MESH_GROUP_SHIFT = 8, MESH_MAX_GROUP = (1 << 23) - 1 };
LK_FN int32_t mesh_node_state(const mesh_view *m, lk_int v)
{
  return m->state[v] | (m->group != NULL ? m->group[v] << MESH_GROUP_SHIFT : 0);
}

/* ---- names ---- */
LK_FN uint64_t mesh_name_vt(lk_int p, lk_int t) { return (uint64_t)p << 32 | (uint64_t)t; }

LK_FN uint64_t mesh_name_ee(lk_int a, lk_int b)
{
  const lk_int lo = a < b ? a : b, hi = a < b ? b : a;
  return MESH_EE_NAME | (uint64_t)lo << 32 | (uint64_t)hi;
}

/* 1: a query of `kinds` asks for pairs of this family; body1, body2: 1 where a side belongs to a
 * body.  Two bodies make no pair. */
LK_FN int mesh_wants_pair(uint32_t kinds, int family, int body1, int body2)
{
  const int32_t kind = family == MESH_VT ? (body1 | body2 ? LOOM_PAIR_BVT : LOOM_PAIR_VT)
                                         : (body1 | body2 ? LOOM_PAIR_BEE : LOOM_PAIR_EE);
  return !(body1 & body2) && (kinds & LOOM_BIT(kind)) != 0;
}

LK_FN int mesh_family(uint64_t name) { return name & MESH_EE_NAME ? MESH_EE : MESH_VT; }

/* The four vertices of a pair, as loom_pairs.v. */
LK_FN void mesh_verts(const mesh_view *m, int family, uint64_t name, int32_t *v)
{
  const lk_int first = (lk_int)(name >> 32 & UINT64_C(0x7fffffff));
  const lk_int second = (lk_int)(name & UINT64_C(0x7fffffff));
  if (family == MESH_VT) {
    v[0] = first;
    LK_LOAD3(v + 1, m->tris, second);
  } else {
    v[0] = m->edges[2 * first];
    v[1] = m->edges[2 * first + 1];
    v[2] = m->edges[2 * second];
    v[3] = m->edges[2 * second + 1];
  }
}

LK_FN int32_t mesh_kind(const mesh_view *m, int family, const int32_t *v)
{
  const int body = v[0] >= m->cloth_verts || v[family == MESH_VT ? 1 : 2] >= m->cloth_verts;
  if (family == MESH_VT) return body ? LOOM_PAIR_BVT : LOOM_PAIR_VT;
  return body ? LOOM_PAIR_BEE : LOOM_PAIR_EE;
}

/* Sum of the radii of both sides. */
LK_FN lk_real mesh_radii(const mesh_view *m, int family, const int32_t *v)
{
  const int first = family == MESH_VT ? 1 : 2;
  return side_radius(m->radius, v, first) + side_radius(m->radius, v + first, 4 - first);
}

LK_FN void mesh_gather(const lk_real *x, const int32_t *v, lk_real *out)
{
  LK_UNROLL
  for (int i = 0; i < 4; ++i) LK_LOAD3(out + 3 * i, x, v[i]);
}

/* Box of a feature, n vertices v, on its whole way, grown on each side: no pair that the narrow
 * phase reports has boxes apart.  reach, share: of mesh_inflation().  frame [3], m: the box is in a
 * frame that moves by it until x1; NULL: in the world.  Boxes in frames that move alike compare as
 * those in the world do. */
LK_FN void mesh_box(const mesh_view *m, lk_real reach, lk_real share, const int32_t *v, int n,
                    const float *frame, lk_real *lo, lk_real *hi)
{
  lk_real way2 = LK_R(0.0), size = LK_R(0.0), far = LK_R(0.0);
  LK_LOAD3(lo, m->x0, v[0]);
  LK_LOAD3(hi, m->x0, v[0]);
  for (int i = 0; i < n; ++i) {
    lk_real x[3], y[3], q = LK_R(0.0);
    LK_LOAD3(x, m->x0, v[i]);
    LK_LOAD3(y, m->x1, v[i]);
    for (int c = 0; c < 3; ++c) {
      if (frame != NULL) {
        far = LK_FMAX(far, LK_FABS(y[c]));
        y[c] -= (lk_real)frame[c];
      }
      const lk_real least = x[c] < y[c] ? x[c] : y[c], most = x[c] < y[c] ? y[c] : x[c];
      lo[c] = least < lo[c] ? least : lo[c];
      hi[c] = most > hi[c] ? most : hi[c];
      q += (y[c] - x[c]) * (y[c] - x[c]);
    }
    way2 = q > way2 ? q : way2;
  }
  for (int c = 0; c < 3; ++c)
    size += hi[c] - lo[c] + (frame != NULL ? LK_FABS((lk_real)frame[c]) : LK_R(0.0));
  const lk_real radius = side_radius(m->radius, v, n);
  lk_real grow = radius + reach + share * LK_SQRT(way2);
  /* the narrow phase's rounding, with some to spare, and that of the difference above */
  grow += LK_R(256.0) * LK_EPSILON * (size + LK_FABS(reach) + radius);
  grow += LK_R(4.0) * LK_EPSILON * far;
  for (int c = 0; c < 3; ++c) {
    lo[c] -= grow;
    hi[c] += grow;
  }
}

/* ---- narrow phase ---- */
typedef struct mesh_query { /* one detection */
  mesh_view m;
  const int32_t *LK_RESTRICT body_of;  /* [nv - cloth_verts] */
  const uint64_t *LK_RESTRICT exclude; /* [num_exclude] ascending */
  int64_t num_exclude;
  uint32_t what;  /* LOOM_DETECT_* */
  lk_real margin; /* m */
  ccd_settings ccd;
  int32_t method; /* CCD_* */
} mesh_query;

/* The quick tests, SIMD.  Without motion (`close`) the test is exact; with motion (`near`) it never
 * refuses a pair that CCD would report. */
typedef struct mesh_near_args {
  mesh_view m;
  const uint64_t *LK_RESTRICT name; /* [count] of one family */
  int64_t *LK_RESTRICT found;       /* [at least count], 1: to be examined */
  int64_t count;
  lk_real reach;   /* m, a gap below it at x0 passes with any motion */
  lk_real min_gap; /* m, the gap to be kept on the way ... */
  lk_real keep;    /* ... and the share of gap - min_gap to be kept */
} mesh_near_args;
LK_DECLARE(mesh_close_vt, mesh_near_args)
LK_DECLARE(mesh_close_ee, mesh_near_args)
LK_DECLARE(mesh_near_vt, mesh_near_args)
LK_DECLARE(mesh_near_ee, mesh_near_args)
LK_DECLARE(mesh_clear, mesh_near_args) /* found[count + i] = 0 */

/* Clears `found` of the pairs that the scene leaves out. */
typedef struct mesh_leave_args {
  mesh_view m;
  const uint64_t *LK_RESTRICT name; /* [count] of one family */
  int64_t *LK_RESTRICT found;       /* [count] becomes 0 */
  const int32_t *LK_RESTRICT first; /* as in loom_exclusions */
  const int32_t *LK_RESTRICT other;
  int32_t family;
} mesh_leave_args;
LK_DECLARE(mesh_leave_out, mesh_leave_args)

typedef struct mesh_judge_args {
  mesh_query q;
  const uint64_t *LK_RESTRICT name; /* [count] */
  int64_t *LK_RESTRICT found;       /* [count], 1: report this pair */
  lk_real *LK_RESTRICT toi;         /* [count] */
  uint64_t *LK_RESTRICT copy;       /* [count] of name: `keep` writes where it was */
} mesh_judge_args;
LK_DECLARE(mesh_judge, mesh_judge_args)    /* on the CPU alone */
LK_DECLARE(mesh_judge_vt, mesh_judge_args) /* the same of one family */
LK_DECLARE(mesh_judge_ee, mesh_judge_args)

typedef struct mesh_keep_args {
  const uint64_t *LK_RESTRICT from; /* [n] */
  const lk_real *LK_RESTRICT toi;   /* [n] or NULL */
  const int64_t *LK_RESTRICT place; /* [n + 1], exclusive scan of found */
  uint64_t *LK_RESTRICT to;         /* [.] */
  lk_real *LK_RESTRICT to_toi;      /* [.] or NULL */
} mesh_keep_args;
LK_DECLARE(mesh_keep, mesh_keep_args)

typedef struct mesh_fill_args {
  mesh_query q;
  const uint64_t *LK_RESTRICT name; /* [n] */
  const lk_real *LK_RESTRICT found; /* [n] times of impact */
  int64_t first;                    /* pairs already there */
  int32_t *LK_RESTRICT kind, *LK_RESTRICT v, *LK_RESTRICT obst;
  lk_real *LK_RESTRICT w, *LK_RESTRICT normal, *LK_RESTRICT gap, *LK_RESTRICT point,
      *LK_RESTRICT toi;
  uint64_t *LK_RESTRICT key;
} mesh_fill_args;
LK_DECLARE(mesh_fill, mesh_fill_args)

/* ---- step bounds ---- */
typedef struct mesh_bound_args {
  mesh_query q;                     /* margin: the gap that must remain, m */
  const uint64_t *LK_RESTRICT name; /* [n] */
  lk_real *LK_RESTRICT t;           /* [n] in (0,1], or MESH_TOUCHES */
} mesh_bound_args;
LK_DECLARE(mesh_bound, mesh_bound_args)    /* on the CPU alone */
LK_DECLARE(mesh_bound_vt, mesh_bound_args) /* the same of one family */
LK_DECLARE(mesh_bound_ee, mesh_bound_args)
/* In place of the time of impact of a pair that touches within rounding. */
#define MESH_TOUCHES LK_R(2.0)

typedef struct mesh_least_args {
  mesh_view m;
  const int32_t *LK_RESTRICT body_of;
  const uint64_t *LK_RESTRICT name; /* [n] */
  const lk_real *LK_RESTRICT t;     /* [n] */
  const lk_real *LK_RESTRICT least; /* [1] minus the least t */
} mesh_least_args;
LK_DECLARE(mesh_shortest, mesh_least_args) /* largest -t */
LK_DECLARE(mesh_touching, mesh_least_args) /* largest t: MESH_TOUCHES if any pair touches */
LK_DECLARE(mesh_blocker, mesh_least_args)  /* largest body id of the pairs with the least t, -1 */

/* ---- positions and lists ---- */
typedef struct mesh_pose_args {
  const lk_real *LK_RESTRICT x;                         /* [cloth_verts][3] m */
  const lk_real *LK_RESTRICT body0, *LK_RESTRICT body1; /* [.][3] m */
  lk_real *LK_RESTRICT out;                             /* [nv][3] m */
  lk_real progress;
  lk_int cloth_verts;
} mesh_pose_args;
LK_DECLARE(mesh_pose, mesh_pose_args)

/* No coordinate is larger: boxes of floats, grown by many times the way of a vertex, and squares of
 * distances still are finite. */
#define MESH_FAR (sizeof(lk_real) == 8 ? LK_R(1e30) : LK_R(1e15)) /* m */

typedef struct mesh_far_args {
  const lk_real *LK_RESTRICT x0, *LK_RESTRICT x1; /* [nv][3] m */
} mesh_far_args;
LK_DECLARE(mesh_far, mesh_far_args) /* 1 where a coordinate is beyond MESH_FAR or no number */

/* Moved bodies: 1 where a body vertex moves from x0 to x1, or is not where it was seen last, which
 * is x0 afterwards. */
typedef struct mesh_moved_args {
  const lk_real *LK_RESTRICT x0, *LK_RESTRICT x1; /* [nv][3] m */
  lk_real *LK_RESTRICT seen;                      /* [body vertices][3] m */
  lk_int cloth_verts;
} mesh_moved_args;
LK_DECLARE(mesh_moved, mesh_moved_args) /* one element per body vertex */

typedef struct mesh_part_args {                   /* out = x0 + share (x1 - x0) */
  const lk_real *LK_RESTRICT x0, *LK_RESTRICT x1; /* [n] */
  lk_real *LK_RESTRICT out;
  lk_real share;
} mesh_part_args;
LK_DECLARE(mesh_part, mesh_part_args)

typedef struct mesh_mark_args {
  const uint8_t *LK_RESTRICT fixed_state; /* [nv] MESH_FREE, MESH_SURFACE */
  const uint8_t *LK_RESTRICT mask;        /* [cloth_verts] or NULL */
  uint8_t *LK_RESTRICT state;             /* [nv] */
  lk_int cloth_verts;
} mesh_mark_args;
LK_DECLARE(mesh_mark, mesh_mark_args)

/* One element: the last group of pairs that still fits into `room`, from group `first` on.
 * out[0]: the group behind it; out[1]: place of that group. */
typedef struct mesh_cut_args {
  const int64_t *LK_RESTRICT place; /* [num + 1] ascending */
  int64_t *LK_RESTRICT out;         /* [2] */
  int64_t first, num, room;
} mesh_cut_args;
LK_DECLARE(mesh_cut, mesh_cut_args)

#endif
