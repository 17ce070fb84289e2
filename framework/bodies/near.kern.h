/* near.kern.h - the point of an edge or a triangle that is deepest in a body of closed form.
 *
 * Everything is in the body frame.  The distance f of a convex shape is a convex function:
 *   edge      the slope n.e of f along the edge grows monotonically, and its root is bracketed.
 *   triangle  the best point q of its three edges is the deepest one if n.(p - q) >= 0 at all
 *             corners p; else sections through one corner are searched, and Newton's method in the
 *             triangle's plane refines the result.
 * Where a part of an edge is equally deep (slopes within NEAR_FLAT) the result is its middle.
 * A torus is searched by cells: with c a cell's centre and R its radius,
 *   f >= f(c) - R,   f >= f(c) + min n.(p - c) - k R^2 / 2,   k = 1 / (distance from the axis)
 * bound f from below over the cell's corners p (entry_search.c has the same bounds). */
#ifndef LOOM_BODIES_NEAR_KERN_H
#define LOOM_BODIES_NEAR_KERN_H

#include "bodies/shapes.kern.h"

/* Slopes (1) up to NEAR_FLAT count as none; a root is found within NEAR_ROUND of the slope or
 * NEAR_TIGHT of the edge.  Distances NEAR_SHARE of the longest edge apart are the same; on a torus
 * cells stop NEAR_TORUS of it above the least distance, where the root of the slope is taken. */
#ifdef LOOM_REAL_FLOAT
#define NEAR_FLAT  LK_R(1e-5)
#define NEAR_ROUND LK_R(1e-7)
#define NEAR_TIGHT LK_R(1e-7)
#define NEAR_SHARE LK_R(1e-6)
#define NEAR_TORUS LK_R(1e-4)
#else
#define NEAR_FLAT  LK_R(1e-11)
#define NEAR_ROUND LK_R(1e-15)
#define NEAR_TIGHT LK_R(4e-16)
#define NEAR_SHARE LK_R(1e-10)
#define NEAR_TORUS LK_R(1e-6)
#endif
enum { NEAR_SECANTS = 12, NEAR_HALVINGS = 54, NEAR_SECTIONS = 48, NEAR_NEWTON = 12 };
enum { NEAR_LEVELS = 20, NEAR_CELLS = 20000 }; /* of the search by cells */

typedef struct near_element { /* an edge or a triangle */
  const obst_view *o;
  int corners;     /* 1 to 3 */
  lk_real p[3][3]; /* m */
  lk_real longest; /* m, longest edge */
} near_element;

typedef struct near_point {
  lk_real f;    /* m, distance */
  lk_real w[3]; /* weights of the corners, >= 0, sum 1 */
  lk_real n[3]; /* outward unit normal */
} near_point;

/* Whether the body has a closed form. */
LK_FN int near_sees(const obst_view *o) { return o->shape >= 0 && o->shape < BODY_SHAPE_grid; }

/* f and n at w */
LK_FN_CALLED void near_look(const near_element *e, near_point *q)
{
  lk_real p[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)};
  for (int k = 0; k < e->corners; ++k)
    for (int c = 0; c < 3; ++c) p[c] += q->w[k] * e->p[k][c];
  q->f = obst_distance_in(OBST_RIGID, e->o, LK_R(1.0), p, q->n);
}

LK_FN lk_real near_length(const lk_real *a, const lk_real *b)
{
  lk_real d[3];
  lk_sub3(a, b, d);
  return lk_norm3(d);
}

/* ---- one section: from a to b, both by weights ---- */

typedef struct near_line {
  const near_element *e;
  lk_real a[3], b[3]; /* weights of both ends */
  lk_real along[3];   /* unit vector from a to b */
  lk_real len;        /* m */
} near_line;

LK_FN void near_line_set(const near_element *e, const lk_real *a, const lk_real *b, near_line *l)
{
  lk_real d[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)};
  l->e = e;
  for (int k = 0; k < 3; ++k) {
    l->a[k] = a[k];
    l->b[k] = b[k];
    for (int c = 0; c < 3 && k < e->corners; ++c) d[c] += (b[k] - a[k]) * e->p[k][c];
  }
  l->len = lk_norm3(d);
  for (int c = 0; c < 3; ++c) l->along[c] = l->len > LK_R(0.0) ? d[c] / l->len : LK_R(0.0);
}

/* The point at share t of the section; returns the slope there, 1. */
LK_FN lk_real near_line_at(const near_line *l, lk_real t, near_point *q)
{
  for (int k = 0; k < 3; ++k) q->w[k] = (LK_R(1.0) - t) * l->a[k] + t * l->b[k];
  near_look(l->e, q);
  return lk_dot3(q->n, l->along);
}

/* Where the slope, low < v at `lo` and high > v at `hi`, crosses v: secants, then halves. */
LK_FN_CALLED lk_real near_crossing(const near_line *l, lk_real v, lk_real lo, lk_real low,
                                   lk_real hi, lk_real high)
{
  int side = 0;
  for (int i = 0; i < NEAR_SECANTS + NEAR_HALVINGS && hi - lo > NEAR_TIGHT; ++i) {
    near_point q;
    lk_real t = LK_R(0.5) * (lo + hi);
    if (i < NEAR_SECANTS) t = lo + (hi - lo) * ((v - low) / (high - low));
    if (!(t > lo && t < hi)) t = LK_R(0.5) * (lo + hi);
    const lk_real s = near_line_at(l, t, &q) - v;
    if (LK_FABS(s) <= NEAR_ROUND) return t;
    if (s < LK_R(0.0)) {
      lo = t;
      low = s + v;
      if (side < 0) high = v + LK_R(0.5) * (high - v); /* Illinois: both ends come nearer */
      side = -1;
    } else {
      hi = t;
      high = s + v;
      if (side > 0) low = v + LK_R(0.5) * (low - v);
      side = 1;
    }
  }
  return LK_R(0.5) * (lo + hi);
}

/* The deepest point between shares `from` and `to`, where f is convex. */
LK_FN_CALLED void near_line_deepest(const near_line *l, lk_real from, lk_real to, near_point *q)
{
  const lk_real low = near_line_at(l, from, q), high = near_line_at(l, to, q);
  lk_real lo = from, hi = to;
  if (low < -NEAR_FLAT)
    lo = high < -NEAR_FLAT ? to : near_crossing(l, -NEAR_FLAT, from, low, to, high);
  if (high > NEAR_FLAT)
    hi = low > NEAR_FLAT ? from : near_crossing(l, NEAR_FLAT, from, low, to, high);
  (void)near_line_at(l, lo == hi ? lo : LK_R(0.5) * (lo + hi), q);
}

/* ---- convex shapes ---- */

LK_FN void near_corner(int k, lk_real *w)
{
  for (int i = 0; i < 3; ++i) w[i] = i == k ? LK_R(1.0) : LK_R(0.0);
}

/* f at any point of the element is at least q->f + near_rise() if f is convex. */
LK_FN lk_real near_rise(const near_element *e, const near_point *q)
{
  lk_real p[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)}, least = LK_REAL_MAX;
  for (int k = 0; k < e->corners; ++k)
    for (int c = 0; c < 3; ++c) p[c] += q->w[k] * e->p[k][c];
  for (int k = 0; k < e->corners; ++k) {
    lk_real d[3];
    lk_sub3(e->p[k], p, d);
    least = LK_FMIN(least, lk_dot3(q->n, d));
  }
  return LK_FMIN(least, LK_R(0.0));
}

/* Section through corner 0 and the point at share s of the opposite edge, or its deepest point. */
LK_FN void near_section(const near_element *e, lk_real s, near_point *q)
{
  const lk_real a[3] = {LK_R(1.0) - s, s, LK_R(0.0)}, b[3] = {LK_R(1.0) - s, LK_R(0.0), s};
  near_line l;
  near_line_set(e, a, b, &l);
  near_line_deepest(&l, LK_R(0.0), LK_R(1.0), q);
}

/* Slopes r (m) of f along both sides of a triangle from corner 0 at q, and their derivatives S (m);
 * returns the length of r. */
LK_FN_CALLED lk_real near_slopes(const near_element *e, const near_point *q, lk_real *r, lk_real *S)
{
  lk_real p[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)}, g[3], C[9], u[2][3];
  for (int k = 0; k < 2; ++k) lk_sub3(e->p[k + 1], e->p[0], u[k]);
  for (int k = 0; k < 3; ++k)
    for (int c = 0; c < 3; ++c) p[c] += q->w[k] * e->p[k][c];
  (void)obst_hess_in(OBST_RIGID, e->o, LK_R(1.0), p, g, C);
  for (int k = 0; k < 2; ++k) {
    r[k] = lk_dot3(g, u[k]);
    for (int j = 0; j < 2; ++j) {
      S[2 * k + j] = LK_R(0.0);
      for (int c = 0; c < 3; ++c) S[2 * k + j] += u[k][c] * lk_dot3(C + 3 * c, u[j]);
    }
  }
  return LK_SQRT(r[0] * r[0] + r[1] * r[1]);
}

/* Newton's method for the deepest point inside a triangle, where f is smooth and bends, as long as
 * the slopes fall. */
LK_FN void near_refine(const near_element *e, near_point *q)
{
  lk_real r[2], S[4], size = near_slopes(e, q, r, S);
  for (int i = 0; i < NEAR_NEWTON; ++i) {
    const lk_real det = S[0] * S[3] - S[1] * S[2], sum = S[0] + S[3];
    near_point next = *q;
    if (!(sum > LK_R(0.0) && det > LK_R(1e-9) * sum * sum)) return;
    next.w[1] += (S[1] * r[1] - S[3] * r[0]) / det;
    next.w[2] += (S[2] * r[0] - S[0] * r[1]) / det;
    next.w[0] = LK_R(1.0) - next.w[1] - next.w[2];
    if (!(next.w[0] > LK_R(0.0) && next.w[1] > LK_R(0.0) && next.w[2] > LK_R(0.0))) return;
    const lk_real less = near_slopes(e, &next, r, S);
    if (!(less < size)) return;
    near_look(e, &next);
    *q = next;
    size = less;
  }
}

/* Best point of the edges, each searched over all of its length. */
LK_FN void near_edges(const near_element *e, near_point *best)
{
  for (int k = 0; k < (e->corners == 3 ? 3 : 1); ++k) {
    lk_real a[3], b[3];
    near_line l;
    near_point q;
    near_corner(k, a);
    near_corner((k + 1) % e->corners, b);
    near_line_set(e, a, b, &l);
    near_line_deepest(&l, LK_R(0.0), LK_R(1.0), &q);
    if (k == 0 || q.f < best->f) *best = q;
  }
}

/* The least distance over sections is a convex function of s: golden sections. */
LK_FN void near_inside(const near_element *e, near_point *best)
{
  const lk_real golden = LK_R(0.6180339887498949);
  lk_real lo = LK_R(0.0), hi = LK_R(1.0), s[2] = {LK_R(1.0) - golden, golden};
  near_point q[2];
  for (int k = 0; k < 2; ++k) near_section(e, s[k], &q[k]);
  for (int i = 0; i < NEAR_SECTIONS; ++i) {
    const int right = q[1].f < q[0].f; /* the least is right of s[0] */
    if (right) {
      lo = s[0];
      s[0] = s[1];
      q[0] = q[1];
      s[1] = lo + golden * (hi - lo);
    } else {
      hi = s[1];
      s[1] = s[0];
      q[1] = q[0];
      s[0] = hi - golden * (hi - lo);
    }
    near_section(e, s[right], &q[right]);
  }
  if (q[1].f < q[0].f) q[0] = q[1];
  if (!(q[0].f < best->f)) return;
  *best = q[0];
  near_refine(e, best);
}

/* ---- a torus ---- */

/* Corners, by weights, of the cell with these digits, two bits each, highest first: halves of an
 * edge, quarters of a triangle. */
LK_FN void near_cell(const near_element *e, uint64_t digits, int level, lk_real w[3][3])
{
  for (int k = 0; k < 3; ++k) near_corner(k, w[k]);
  for (int i = level - 1; i >= 0; --i) {
    const int digit = (int)(digits >> (2 * i) & 3);
    lk_real m[3][3]; /* middles of the sides opposite the corners */
    for (int k = 0; k < 3; ++k)
      for (int c = 0; c < 3; ++c) {
        const int a = e->corners == 2 ? 0 : (k + 1) % 3, b = e->corners == 2 ? 1 : (k + 2) % 3;
        m[k][c] = LK_R(0.5) * (w[a][c] + w[b][c]);
      }
    for (int k = 0; k < e->corners; ++k)
      for (int c = 0; c < 3; ++c)
        if (digit == 3 || (k != digit && e->corners == 2))
          w[k][c] = m[k][c];
        else if (k != digit) /* the corner keeps its place, the others go to the middles */
          w[k][c] = m[3 - k - digit][c];
  }
}

/* The cell's centre and a lower bound of f over it. */
LK_FN lk_real near_cell_least(const near_element *e, lk_real w[3][3], near_point *centre)
{
  lk_real radius = LK_R(0.0), slope = LK_REAL_MAX, p[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)};
  for (int k = 0; k < 3; ++k) {
    centre->w[k] = LK_R(0.0);
    for (int i = 0; i < e->corners; ++i) centre->w[k] += w[i][k] / (lk_real)e->corners;
  }
  near_look(e, centre);
  for (int k = 0; k < e->corners; ++k)
    for (int c = 0; c < 3; ++c) p[c] += centre->w[k] * e->p[k][c];
  for (int i = 0; i < e->corners; ++i) {
    lk_real d[3] = {-p[0], -p[1], -p[2]};
    for (int k = 0; k < e->corners; ++k)
      for (int c = 0; c < 3; ++c) d[c] += w[i][k] * e->p[k][c];
    radius = LK_FMAX(radius, lk_norm3(d));
    slope = LK_FMIN(slope, lk_dot3(centre->n, d));
  }
  const lk_real off = LK_SQRT(p[0] * p[0] + p[1] * p[1]) - radius;
  lk_real least = centre->f - radius;
  if (off > LK_R(0.0))
    least = LK_FMAX(least, centre->f + slope - LK_R(0.5) * radius * radius / off);
  return least;
}

/* Visits cells depth first, without a stack: the digits say which. */
LK_FN void near_cells(const near_element *e, near_point *best)
{
  const int parts = e->corners == 3 ? 4 : 2;
  const lk_real enough = NEAR_TORUS * e->longest;
  uint64_t digits = 0;
  int depth = 0;
  for (int left = NEAR_CELLS; left > 0; --left) {
    lk_real w[3][3];
    near_point q;
    near_cell(e, digits, depth, w);
    const lk_real least = near_cell_least(e, w, &q);
    if (q.f < best->f) *best = q;
    if (least < best->f - enough && depth < NEAR_LEVELS) {
      ++depth;
      digits <<= 2;
      continue;
    }
    while (depth > 0 && (int)(digits & 3) == parts - 1) {
      --depth;
      digits >>= 2;
    }
    if (depth == 0) return;
    ++digits;
  }
}

/* The edges from corner `first`, each around its best cell. */
LK_FN void near_edge_of_torus(const near_element *e, int first, near_point *best)
{
  const int second = (first + 1) % e->corners;
  near_element side = {e->o, 2, {{LK_R(0.0)}}, LK_R(0.0)};
  near_point q = {LK_REAL_MAX, {LK_R(0.0)}, {LK_R(0.0)}}, fine;
  lk_real a[3], b[3];
  near_line l;
  for (int c = 0; c < 3; ++c) {
    side.p[0][c] = e->p[first][c];
    side.p[1][c] = e->p[second][c];
  }
  side.longest = near_length(side.p[0], side.p[1]);
  for (int k = 0; k < 2; ++k) { /* the ends exactly */
    near_point at = {LK_REAL_MAX, {LK_R(0.0)}, {LK_R(0.0)}};
    near_corner(k, at.w);
    near_look(&side, &at);
    if (at.f < q.f) q = at;
  }
  near_cells(&side, &q);
  near_corner(0, a);
  near_corner(1, b);
  near_line_set(&side, a, b, &l);
  const lk_real reach = LK_R(0.02);
  near_line_deepest(&l, LK_FMAX(q.w[1] - reach, LK_R(0.0)), LK_FMIN(q.w[1] + reach, LK_R(1.0)),
                    &fine);
  if (fine.f <= q.f + NEAR_ROUND * side.longest) q = fine;
  if (!(q.f < best->f)) return;
  const lk_real of[2] = {q.w[0], q.w[1]};
  *best = q;
  for (int k = 0; k < 3; ++k) best->w[k] = k == first ? of[0] : k == second ? of[1] : LK_R(0.0);
}

LK_FN void near_torus(const near_element *e, near_point *best)
{
  best->f = LK_REAL_MAX;
  for (int k = 0; k < (e->corners == 3 ? 3 : 1); ++k) near_edge_of_torus(e, k, best);
  if (e->corners < 3) return;
  near_point q = *best;
  near_cells(e, &q);
  if (!(q.f < best->f - NEAR_TORUS * e->longest)) return;
  near_refine(e, &q);
  *best = q;
}

/* ---- any shape ---- */

LK_FN lk_real near_longest(const near_element *e)
{
  lk_real longest = LK_R(0.0);
  for (int k = 0; k < e->corners; ++k)
    longest = LK_FMAX(longest, near_length(e->p[k], e->p[(k + 1) % e->corners]));
  return longest;
}

/* The deepest point of the element, which has its corners; of no closed form: infinitely far. */
LK_FN_CALLED void near_deepest(near_element *e, near_point *best)
{
  e->longest = near_longest(e);
  for (int k = 0; k < 3; ++k) best->n[k] = LK_R(0.0);
  near_corner(0, best->w);
  best->f = LK_REAL_MAX;
  if (!near_sees(e->o)) return;
  if (e->corners == 1) {
    near_look(e, best);
    return;
  }
  if (!e->o->convex) {
    near_torus(e, best);
    return;
  }
  near_edges(e, best);
  if (e->corners == 3 && near_rise(e, best) < -NEAR_FLAT * e->longest) near_inside(e, best);
}

/* How far (m) each corner may move while all of the element stays over one flat face, so that a
 * corner is the deepest point; 0: it is not over one. */
LK_FN lk_real near_flat(const near_element *e)
{
  lk_real least = LK_REAL_MAX;
  int face = -1;
  if (e->o->shape == BODY_SHAPE_plane) return least;
  for (int k = 0; k < e->corners; ++k) {
    lk_real room = LK_R(0.0);
    int here = -1;
    if (e->o->shape == BODY_SHAPE_box) here = box_face(e->o, e->p[k], &room);
    if (e->o->shape == BODY_SHAPE_cylinder) here = cylinder_face(e->o, e->p[k], &room);
    if (here < 0 || (k > 0 && here != face)) return LK_R(0.0);
    face = here;
    least = LK_FMIN(least, room);
  }
  return least;
}

#endif
