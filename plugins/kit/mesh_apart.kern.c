/* mesh_apart.kern.c - step bounds by vertex; see mesh_apart.kern.h. */
#include "kit/mesh_apart.kern.h"

#include "kit/mesh_pair.kern.h"

/* The pass for the CPU, neither CUDA's nor that of the simulated device. */
#if !defined(__CUDACC__) && !defined(LOOM_MEM_SIM_H)
#define MESH_APART_BOTH_FAMILIES
#endif

/* As for bounds of the whole scene: so little of any motion is below its rounding. */
static const lk_real share_min = LK_R(1e-12);

/* ---- quick test ---- */

/* Longest way of one side of the pair, m; its vertices are [from, to). */
LK_FN lk_real longest_way(const lk_real *u, int from, int to)
{
  lk_real most = LK_R(0.0);
  LK_UNROLL
  for (int i = 0; i < 4; ++i) {
    const lk_real q = i < from || i >= to ? LK_R(0.0) : lk_dot3(u + 3 * i, u + 3 * i);
    most = q > most ? q : most;
  }
  return LK_SQRT(most);
}

/* Whether the boxes around the ways of both sides meet, grown as those of a broad phase: then a
 * pair counts or not by itself, whichever broad phase names it. */
LK_FN int ways_in_reach(int split, const lk_real *x, const lk_real *u, lk_real near)
{
  int meet = 1;
  LK_UNROLL
  for (int c = 0; c < 3; ++c) {
    lk_real lo[2] = {LK_REAL_MAX, LK_REAL_MAX}, hi[2] = {-LK_REAL_MAX, -LK_REAL_MAX};
    LK_UNROLL
    for (int i = 0; i < 4; ++i) {
      const int side = i >= split;
      const lk_real p = x[3 * i + c], q = p + u[3 * i + c];
      const lk_real least = p < q ? p : q, most = p < q ? q : p;
      lo[side] = least < lo[side] ? least : lo[side];
      hi[side] = most > hi[side] ? most : hi[side];
    }
    meet &= (lo[0] - hi[1] <= near) & (lo[1] - hi[0] <= near);
  }
  return meet;
}

LK_FN int64_t may_meet_apart(const mesh_near_args *a, int family, lk_int c)
{
  int32_t v[4];
  lk_real x[12], u[12], w[4], size = LK_R(0.0);
  const int split = family == MESH_VT ? 1 : 2;
  mesh_verts(&a->m, family, a->name[c], v);
  mesh_gather(a->m.x0, v, x);
  mesh_gather(a->m.x1, v, u);
  LK_UNROLL
  for (int i = 0; i < 12; ++i) u[i] -= x[i];
  const lk_real d = distance_of(family, x, w), r = mesh_radii(&a->m, family, v);
  LK_UNROLL
  for (int i = 0; i < 12; ++i) size += LK_FABS(x[i]);
  const lk_real l = longest_way(u, 0, split) + longest_way(u, split, 4);
  const lk_real slack = LK_R(64.0) * LK_EPSILON * (size + l + r);
  const lk_real excess = (LK_R(1.0) - a->keep) * (d - r - a->min_gap);
  const lk_real near = r + a->min_gap + a->keep / (LK_R(1.0) - a->keep) * l;
  const int in_reach = !(excess > l + slack);
  return in_reach & ways_in_reach(split, x, u, near);
}

LK_KERNEL(mesh_apart_vt, a, c) { a->found[c] = may_meet_apart(a, MESH_VT, c); }
LK_KERNEL(mesh_apart_ee, a, c) { a->found[c] = may_meet_apart(a, MESH_EE, c); }

/* ---- shares of the corners of a pair ---- */

/* A pair at the start of its ways. */
typedef struct apart_pair {
  int family, split;
  lk_real x[12]; /* m, relative to vertex 0 */
  lk_real u[12]; /* m, way of each vertex */
  lk_real d;     /* m, distance */
  lk_real n[3];  /* from the second side to the first, length len; 0: unknown */
  lk_real len;
  lk_real keep; /* m, distance that has to remain */
} apart_pair;

/* 0: the pair touches within rounding, and no step could part it. */
LK_FN int open_apart_pair(const mesh_query *q, int family, const int32_t *v, apart_pair *p)
{
  lk_real x0[12], x1[12], w[4], base;
  ccd_pair P;
  ccd_settings s = q->ccd;
  mesh_gather(q->m.x0, v, x0);
  mesh_gather(q->m.x1, v, x1);
  ccd_open(family, x0, x1, &P);
  p->family = family;
  p->split = family == MESH_VT ? 1 : 2;
  for (int i = 0; i < 12; ++i) {
    p->x[i] = P.x[i];
    p->u[i] = x1[i] - x0[i];
  }
  p->d = LK_SQRT(ccd_distance2(family, p->x, w));
  if (p->d <= LK_R(1e4) * P.err) return 0;
  const lk_real r = mesh_radii(&q->m, family, v), gap = p->d - r;
  s.xi = r + kept_gap(gap, q->margin, &base);
  s.base = gap > LK_R(0.0) ? r + base : LK_R(0.0);
  const ccd_gap g = ccd_gap_of(&s, CCD_ADDITIVE, &P, p->d);
  p->keep = g.xi + g.keep;
  p->len = ccd_separating(family, p->x, w, p->d, P.size, p->n);
  return 1;
}

/* Each vertex may go by half of the distance that the pair may lose, in any direction. */
LK_FN void share_ball(const apart_pair *p, lk_real room, lk_real *share)
{
  const lk_real half = room > LK_R(0.0) ? LK_R(0.5) * room : LK_R(0.0);
  for (int i = 0; i < 4; ++i) {
    const lk_real way = lk_norm3(p->u + 3 * i);
    share[i] = way > half ? half / way : LK_R(1.0);
  }
}

/* Both sides keep to their side of a plane between them.  A side that needs less than half of the
 * distance leaves the rest to the other side.  0: the direction is of no use within rounding. */
LK_FN int share_plane(const apart_pair *p, lk_real room, lk_real *share)
{
  lk_real y[4], q[4], nearest[2] = {LK_REAL_MAX, LK_REAL_MAX}, need[2] = {LK_R(0.0), LK_R(0.0)};
  if (!(p->len > LK_R(0.0))) return 0;
  for (int i = 0; i < 4; ++i) { /* heights above the other side, ways towards it */
    const lk_real side = (i < p->split ? LK_R(1.0) : LK_R(-1.0)) / p->len;
    y[i] = side * lk_dot3(p->n, p->x + 3 * i);
    q[i] = -side * lk_dot3(p->n, p->u + 3 * i);
    nearest[i >= p->split] = LK_FMIN(nearest[i >= p->split], y[i]);
  }
  const lk_real apart = nearest[0] + nearest[1] - p->keep;
  if (!(apart >= LK_R(0.5) * room)) return 0;
  for (int i = 0; i < 4; ++i) {
    const int side = i >= p->split;
    need[side] = LK_FMAX(need[side], q[i] - (y[i] - nearest[side]));
  }
  const int both = need[0] + need[1] <= apart;
  for (int i = 0; i < 4; ++i) {
    const int side = i >= p->split;
    const lk_real rest = apart - need[!side];
    const lk_real own = y[i] - nearest[side] + LK_FMAX(rest, LK_R(0.5) * apart);
    share[i] = !both && q[i] > own ? own / q[i] : LK_R(1.0);
  }
  return 1;
}

LK_FN void hold_pair(const mesh_hold_args *a, int family, lk_int c)
{
  const mesh_query *const q = &a->q;
  const uint64_t name = a->name[c];
  int32_t v[4];
  lk_real share[4], least = LK_R(1.0);
  apart_pair p;
  mesh_verts(&q->m, family, name, v);
  for (int i = 0; i < 4; ++i) share[i] = LK_R(1.0);
  if (is_mesh_pair_allowed(q, name, v)) {
    if (open_apart_pair(q, family, v, &p)) {
      const lk_real room = p.d - p.keep;
      if (!(longest_way(p.u, 0, p.split) + longest_way(p.u, p.split, 4) <= room) &&
          !(a->shape == MESH_PLANE && share_plane(&p, room, share)))
        share_ball(&p, room, share);
    } else {
      least = MESH_TOUCHES;
    }
  }
  for (int i = 0; i < 4; ++i) {
    const lk_real s = share[i] > share_min ? share[i] : share_min;
    a->v[4 * c + i] = s < LK_R(1.0) ? v[i] : -1;
    a->share[4 * c + i] = s;
    least = s < least && s < LK_R(1.0) ? s : least;
  }
  a->t[c] = least;
}

#ifdef MESH_APART_BOTH_FAMILIES
LK_KERNEL_PLAIN(mesh_hold, a, c) { hold_pair(a, mesh_family(a->name[c]), c); }
#endif
LK_KERNEL_PLAIN(mesh_hold_vt, a, c)
{
  if (mesh_family(a->name[c]) == MESH_VT) hold_pair(a, MESH_VT, c);
}
LK_KERNEL_PLAIN(mesh_hold_ee, a, c)
{
  if (mesh_family(a->name[c]) == MESH_EE) hold_pair(a, MESH_EE, c);
}

/* ---- shares of the vertices ---- */

/* Share of the way from x0 to x1 that is no longer than `limit`, m. */
LK_FN lk_real limited_share(const lk_real *x0, const lk_real *x1, lk_int i, lk_real limit)
{
  lk_real u[3];
  lk_sub3(x1 + 3 * i, x0 + 3 * i, u);
  const lk_real way = lk_norm3(u);
  return way > limit ? limit / way : LK_R(1.0);
}

LK_KERNEL_PLAIN(mesh_least_share, a, i)
{
  lk_real t = LK_R(1.0);
  for (int64_t l = a->first ? a->first[i] : 0; a->first && l < a->first[i + 1]; ++l) {
    const int64_t at = 4 * (int64_t)a->owner[l];
    for (int k = 0; k < 4; ++k)
      if (a->v[at + k] == i && a->share[at + k] < t) t = a->share[at + k];
  }
  a->t[i] = a->limit >= LK_R(0.0) ? t * limited_share(a->x0, a->x1, i, a->limit) : t;
}

LK_REDUCE_MAX(mesh_longest, a, i)
{
  lk_real u[3];
  lk_sub3(a->x1 + 3 * i, a->x0 + 3 * i, u);
  return lk_norm3(u);
}

LK_KERNEL(mesh_limit, a, i)
{
  const lk_real t = limited_share(a->x0, a->x1, i, a->limit);
  for (int c = 0; c < 3; ++c)
    a->out[3 * i + c] = a->x0[3 * i + c] + t * (a->x1[3 * i + c] - a->x0[3 * i + c]);
}
