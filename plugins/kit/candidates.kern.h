/* candidates.kern.h - candidate pairs, stored as vertices (or vertex and body) alone; everything
 * else is computed from positions.  A candidate is active at x if its gap is below `reach`.  Active
 * pairs keep the order of the candidates, which is that of their keys, so that sums over active
 * pairs do not depend on the number of candidates.
 *
 * D is the squared distance, xi the sum of both radii, the gap sqrt(D) - xi. */
#ifndef KIT_CANDIDATES_KERN_H
#define KIT_CANDIDATES_KERN_H

#include "geom/barrier.kern.h"
#include "geom/distance_hess.kern.h"
#include "geom/small.kern.h"
#include "kit/gather.kern.h"
#include "kit/pair_friction.kern.h"

/* Positions and candidates. */
typedef struct cand_state {
  const lk_real *LK_RESTRICT x;        /* [n][3] m */
  const lk_real *LK_RESTRICT body0;    /* [nb][3] m, or NULL */
  const lk_real *LK_RESTRICT body1;    /* [nb][3] m, or NULL */
  const uint8_t *LK_RESTRICT fixed;    /* [n] */
  const lk_real *LK_RESTRICT friction; /* [num_obstacles] 1 */
  const int64_t *LK_RESTRICT row;   /* [m+1] row of a point and body in gap, slope, curve, weight */
  const lk_real *LK_RESTRICT gap;   /* [.] m, signed distance */
  const lk_real *LK_RESTRICT slope; /* [.][3] 1, its gradient */
  const lk_real *LK_RESTRICT curve; /* [.][3][3] 1/m, its Hessian */
  const lk_real *LK_RESTRICT weight; /* [.][4] 1, weights of an element's corners; else unused */
  const lk_real *LK_RESTRICT share;  /* [m] 1, factors of laws (element_share.h); NULL: 1 */
  const int32_t *LK_RESTRICT kind;   /* [m] LOOM_PAIR_* */
  const int32_t *LK_RESTRICT v;      /* [m][4], ids of body vertices from n */
  const int32_t *LK_RESTRICT obst;   /* [m] */
  const lk_real *LK_RESTRICT xi;     /* [m] m, sum of both radii */
  const lk_real *LK_RESTRICT par;    /* [m] m^4, e of the mollifier; 0: not two edges */
  lk_real progress;                  /* 1, where the bodies stand */
  int32_t n;
  pair_friction named; /* coefficients of pairs that have their own */
} cand_state;

typedef struct cand_rest_args {    /* pairs of detection that are no candidates */
  const int32_t *LK_RESTRICT kind; /* [m] */
  const int32_t *LK_RESTRICT v;    /* [m][4] */
  const lk_real *LK_RESTRICT gap;  /* [m] m */
  const lk_real *LK_RESTRICT toi;  /* [m] 1, at most 1: the pair meets on the way */
  const lk_real *LK_RESTRICT rest; /* [n][3] m */
  const lk_real *LK_RESTRICT radius;
  const int32_t *LK_RESTRICT object; /* [n] */
  int64_t *LK_RESTRICT flag;         /* [m] out: 1: a candidate */
  lk_real reach, limit; /* m, gaps of active pairs, and of pairs that are near at rest */
  int32_t n;
} cand_rest_args;
LK_DECLARE(cand_rest, cand_rest_args)

typedef struct cand_take_args {    /* pairs of detection to candidates */
  const int32_t *LK_RESTRICT pick; /* [m] indices of pairs of detection; NULL: all of them */
  const int32_t *LK_RESTRICT kind_in;
  const int32_t *LK_RESTRICT v_in;
  const int32_t *LK_RESTRICT obst_in;
  const lk_real *LK_RESTRICT rest;   /* [n][3] m */
  const lk_real *LK_RESTRICT radius; /* [n] m */
  const lk_real *LK_RESTRICT body0;
  int32_t *LK_RESTRICT kind;
  int32_t *LK_RESTRICT v;
  int32_t *LK_RESTRICT obst;
  lk_real *LK_RESTRICT xi;
  lk_real *LK_RESTRICT par;
  int64_t *LK_RESTRICT touch; /* [m] out: 1: a point and a body */
  int32_t n;
} cand_take_args;
LK_DECLARE(cand_take, cand_take_args)

typedef struct cand_touch_args {
  const int32_t *LK_RESTRICT v;    /* [m][4] */
  const int32_t *LK_RESTRICT obst; /* [m] */
  const int64_t *LK_RESTRICT row;  /* [m+1] */
  int32_t *LK_RESTRICT body;       /* [rows] out */
  int32_t *LK_RESTRICT vert;       /* [rows][4] out, corners */
} cand_touch_args;
LK_DECLARE(cand_touch, cand_touch_args)

typedef struct cand_moved_args {
  const lk_real *LK_RESTRICT x;
  const lk_real *LK_RESTRICT anchor;
} cand_moved_args;
LK_DECLARE(cand_moved, cand_moved_args) /* largest |x - anchor|^2, m^2 */

typedef struct cand_measure_args {
  cand_state s;
  const int64_t *LK_RESTRICT num; /* [m] corners; pairs without do not count */
  lk_real *LK_RESTRICT room;      /* [m] m^2, out: D - xi^2; REAL_MAX without corners */
  int64_t *LK_RESTRICT flag;      /* [m] out: 1 where active, else 0 */
  lk_real reach;                  /* m */
  int64_t count;                  /* candidates */
  int32_t thins;                  /* 1: pairs that others cover are not active */
} cand_measure_args;
LK_DECLARE(cand_measure, cand_measure_args)

typedef struct cand_room_args {
  const lk_real *LK_RESTRICT room; /* [m] */
  const lk_real *LK_RESTRICT xi;   /* [m] */
} cand_room_args;
LK_DECLARE(cand_least_room, cand_room_args) /* largest -(D - xi^2), m^2 */
LK_DECLARE(cand_least_gap, cand_room_args)  /* largest -(d - xi), m */

typedef struct cand_island_args {
  cand_room_args of;
  const int32_t *LK_RESTRICT list;   /* [active] candidates */
  const int32_t *LK_RESTRICT v;      /* [m][4], ids of body vertices from n */
  const int32_t *LK_RESTRICT object; /* [n] */
  const int32_t *LK_RESTRICT island; /* [num_objects] */
  int32_t n, k;
} cand_island_args;
LK_DECLARE(cand_least_gap_of, cand_island_args) /* the same of active pairs of island k */

typedef struct cand_compact_args {
  const int64_t *LK_RESTRICT place; /* [m+1] */
  int32_t *LK_RESTRICT list;        /* [active] out: candidates */
} cand_compact_args;
LK_DECLARE(cand_compact, cand_compact_args)

typedef struct cand_count_args {
  const int32_t *LK_RESTRICT list; /* [active] */
  const int64_t *LK_RESTRICT num;  /* [m] corners */
  int64_t *LK_RESTRICT count;      /* [active] out */
  int32_t square;                  /* 1: their square, for blocks */
} cand_count_args;
LK_DECLARE(cand_count_corners, cand_count_args)

/* Number of active ones, two digits of base CAND_DIGIT: each is exact in single precision. */
#define CAND_DIGIT 1048576
typedef struct cand_tell_args {
  const int64_t *LK_RESTRICT total; /* [1] */
  lk_real *LK_RESTRICT digit;       /* [2] */
} cand_tell_args;
LK_DECLARE(cand_tell, cand_tell_args) /* one element */

/* ---- functions for the kernels of models ---- */

/* Vertex i, of the scene or of a body's mesh. */
LK_FN void cand_position(const cand_state *s, int32_t i, lk_real *p)
{
  if (i < s->n) {
    LK_LOAD3(p, s->x, i);
    return;
  }
  const int32_t b = i - s->n;
  for (int c = 0; c < 3; ++c)
    p[c] = place_between(s->body0[3 * b + c], s->body1[3 * b + c], s->progress);
}

LK_FN int cand_is_free(int32_t i, int32_t n, const uint8_t *fixed)
{
  return i >= 0 && i < n && !fixed[i];
}

/* Coefficient of friction of candidate c; between cloths that are no named pair: self_friction. */
LK_FN lk_real cand_friction(const cand_state *s, lk_int c, lk_real self_friction)
{
  const int32_t o = pair_is_body(s->kind[c]) ? s->obst[c] : -1;
  return pair_friction_at(&s->named, s->kind[c], s->v + 4 * c, o,
                          o >= 0 ? s->friction[o] : self_friction);
}

/* D, m^2, and weights of a pair of vertices; x [4][3] gets the positions. */
LK_FN lk_real cand_pair(const cand_state *s, lk_int c, lk_real *x, lk_real *w)
{
  for (int a = 0; a < 4; ++a) cand_position(s, s->v[4 * c + a], x + 3 * a);
  return pair_is_edges(s->kind[c]) ? dist_ee(x, w) : dist_vt(x, w);
}

/* Factor of an energy for edges that are nearly parallel; 1 for everything else. */
LK_FN lk_real cand_mollifier(const cand_state *s, lk_int c, const lk_real *x)
{
  return s->par[c] > LK_R(0.0) ? mollifier_value(mollifier_cross(x), s->par[c]) : LK_R(1.0);
}

/* Two edges within the range of the mollifier. */
LK_FN int cand_is_mollified(const cand_state *s, lk_int c)
{
  lk_real x[12];
  if (!(s->par[c] > LK_R(0.0))) return 0;
  for (int a = 0; a < 4; ++a) cand_position(s, s->v[4 * c + a], x + 3 * a);
  return mollifier_cross(x) < s->par[c];
}

/* ---- pairs that others cover ----
 * A vertex above a triangle is within reach of the neighbouring triangles, too.  Their closest
 * points lie on their edges, and the directions to them are oblique:
 *
 *              v            pair of v and B: closest point on the edge e, direction oblique;
 *            . |            pair of v and A: closer, across e from B
 *     ___B__e__|_____A___
 *
 * A model that follows v drops the oblique push as v moves on.  An expansion that serves a whole
 * step keeps it, as a wall across the way.  So expansions leave out a vertex and a triangle with
 * the closest point on its boundary where another triangle with these corners of the boundary comes
 * closer to the vertex, two edges with the closest point at an end: a vertex and a triangle are as
 * close. */

/* Does candidate k, of the same vertex as c, have the corners with weights w and come closer? */
LK_FN int cand_covers(const cand_state *s, lk_int k, lk_int c, const lk_real *w, lk_real D)
{
  lk_real x[12], other[4];
  for (int b = 1; b < 4; ++b) {
    int has = w[b] == LK_R(0.0);
    for (int q = 1; q < 4; ++q) has |= s->v[4 * k + q] == s->v[4 * c + b];
    if (!has) return 0;
  }
  return cand_pair(s, k, x, other) < D * (LK_R(1.0) - LK_R(1e-9));
}

/* 1: the deepest point of an element lies on its rim, which has pairs of its own. */
LK_FN int cand_is_on_rim(const int32_t *v, const lk_real *w)
{
  for (int b = 0; b < 4; ++b)
    if (v[b] >= 0 && !(w[b] > LK_R(0.0))) return 1;
  return 0;
}

/* w, D: weights and squared distance, m^2, of candidate c.  Candidates of a vertex are neighbours.
 */
LK_FN int cand_is_covered(const cand_state *s, lk_int c, int64_t count, const lk_real *w, lk_real D)
{
  const int32_t kind = s->kind[c], v = s->v[4 * c];
  if (kind == LOOM_PAIR_VO) return 0;
  if (kind == LOOM_PAIR_EO) return cand_is_on_rim(s->v + 4 * c, w);
  if (w[0] != LK_R(0.0) && w[1] != LK_R(0.0) && w[2] != LK_R(0.0) && w[3] != LK_R(0.0)) return 0;
  if (pair_is_edges(kind)) return 1;
  for (int64_t k = c - 1; k >= 0 && s->kind[k] == kind && s->v[4 * k] == v; --k)
    if (cand_covers(s, (lk_int)k, c, w, D)) return 1;
  for (int64_t k = c + 1; k < count && s->kind[k] == kind && s->v[4 * k] == v; ++k)
    if (cand_covers(s, (lk_int)k, c, w, D)) return 1;
  return 0;
}

#endif
