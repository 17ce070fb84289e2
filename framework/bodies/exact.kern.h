/* exact.kern.h - a body that bends, its distance that to its skin: a hierarchy of boxes.
 *
 * Within a step vertices go straight, and boxes hold both ends.  A point is inside where the skin
 * winds around it; triangles that lie buried where the skin folds onto itself do not count (see
 * ssdf/truth.h).
 * DEVIATION from ssdf/truth.h: the buried parts are found at the end of the step. */
#ifndef LOOM_BODIES_EXACT_KERN_H
#define LOOM_BODIES_EXACT_KERN_H

#include "bodies/bend.kern.h"
#include "geom/distance.kern.h"

/* The hierarchy is halved from level to level: EXACT_STACK levels hold 2^32 leaves. */
enum { EXACT_STACK = 32, EXACT_CUTS = 4, EXACT_WHOLE = 0xffff };

typedef struct exact_node {
  lk_real lo[3], hi[3]; /* m */
  int32_t first, count; /* leaf: triangles first ..; inner: count 0, `first` the right child; the
                         * left child follows its parent */
} exact_node;

typedef struct exact_tri {
  int32_t v[3];
  int32_t exposed; /* a bit for each of its 16 parts: it lies on the surface of the volume that the
                    * skin encloses; 0: all are buried */
} exact_tri;

typedef struct exact_field {
  bend_head b;
  int32_t num_nodes, num_tris, num_verts;
  lk_real layer;                       /* m */
  int64_t nodes_at, tris_at, verts_at; /* bytes from the start; [num_nodes], [num_tris], real
                                        * [2][num_verts][3] m, body frame, at both ends */
} exact_field;

typedef struct exact_hit {
  int32_t found;     /* 0: no triangle within the bound */
  lk_real away[3];   /* m, from the closest point to p */
  lk_real x[9];      /* m, corners of the triangle, or the part of one, that has it */
  lk_real weight[3]; /* of these corners */
} exact_hit;

LK_FN const exact_node *exact_nodes(const exact_field *f)
{
  return (const exact_node *)(const void *)((const unsigned char *)f + f->nodes_at);
}

LK_FN const exact_tri *exact_tris(const exact_field *f)
{
  return (const exact_tri *)(const void *)((const unsigned char *)f + f->tris_at);
}

LK_FN void exact_vertex(const exact_field *f, lk_real s, int32_t v, lk_real *x)
{
  const lk_real *const a =
      (const lk_real *)(const void *)((const unsigned char *)f + f->verts_at) + 3 * (int64_t)v;
  const lk_real *const b = a + 3 * (int64_t)f->num_verts;
  for (int c = 0; c < 3; ++c) x[c] = s >= LK_R(1.0) ? b[c] : a[c] + s * (b[c] - a[c]);
}

LK_FN lk_real exact_box2(const exact_node *n, const lk_real *p)
{
  lk_real sum = LK_R(0.0);
  for (int c = 0; c < 3; ++c) {
    const lk_real d = LK_FMAX(LK_R(0.0), LK_FMAX(n->lo[c] - p[c], p[c] - n->hi[c]));
    sum += d * d;
  }
  return sum;
}

LK_FN void exact_corners(const exact_field *f, lk_real s, const exact_tri *t, lk_real *x)
{
  for (int a = 0; a < 3; ++a) exact_vertex(f, s, t->v[a], x + 3 * a);
}

/* Part k of a triangle, which lines parallel to its sides cut into EXACT_CUTS^2: row after row from
 * corner 0 on, and in a row parts that stand as the triangle does take turns with the others. */
LK_FN void exact_part(const lk_real *x, int32_t k, lk_real *out)
{
  int32_t row = 0;
  while (k >= (row + 1) * (row + 1)) ++row;
  const int32_t i = (k - row * row) / 2, turned = (k - row * row) % 2;
  /* of each corner: lines away from corner 0, and of these steps from side 01 on */
  const int32_t down[3] = {row, row + 1, turned ? row : row + 1};
  const int32_t across[3] = {i, i + turned, i + 1};
  for (int a = 0; a < 3; ++a)
    for (int c = 0; c < 3; ++c)
      out[3 * a + c] = ((lk_real)(EXACT_CUTS - down[a]) * x[c] +
                        (lk_real)(down[a] - across[a]) * x[3 + c] + (lk_real)across[a] * x[6 + c]) /
                       (lk_real)EXACT_CUTS;
}

LK_FN void exact_try(const lk_real *x, const lk_real *p, lk_real *best2, exact_hit *hit)
{
  lk_real q[12], w[4];
  for (int c = 0; c < 12; ++c) q[c] = c < 3 ? p[c] : x[c - 3];
  const lk_real d2 = dist_vt(q, w);
  if (!(d2 < *best2)) return;
  *best2 = d2;
  hit->found = 1;
  for (int c = 0; c < 9; ++c) hit->x[c] = x[c];
  for (int c = 0; c < 3; ++c) {
    hit->weight[c] = -w[1 + c];
    hit->away[c] = p[c] + w[1] * x[c] + w[2] * x[3 + c] + w[3] * x[6 + c];
  }
}

LK_FN void exact_try_exposed(const exact_field *f, lk_real s, const exact_tri *t, const lk_real *p,
                             lk_real *best2, exact_hit *hit)
{
  lk_real x[9], part[9];
  if (t->exposed == 0) return;
  exact_corners(f, s, t, x);
  if (t->exposed == EXACT_WHOLE) {
    exact_try(x, p, best2, hit);
    return;
  }
  for (int32_t k = 0; k < EXACT_CUTS * EXACT_CUTS; ++k) {
    if (!(t->exposed >> k & 1)) continue;
    exact_part(x, k, part);
    exact_try(part, p, best2, hit);
  }
}

/* Distance to the exposed skin, m; `bound` (m): LK_REAL_MAX, or some length above it. */
LK_FN lk_real exact_closest(const exact_field *f, lk_real s, const lk_real *p, lk_real bound,
                            exact_hit *hit)
{
  const exact_node *const nodes = exact_nodes(f);
  lk_real best2 = bound < LK_R(1e15) ? bound * bound : LK_REAL_MAX, far = exact_box2(nodes, p);
  int32_t stack[EXACT_STACK], top = 0, id = 0; /* stack: children that were the farther ones */
  hit->found = 0;
  for (int c = 0; c < 3; ++c) hit->away[c] = hit->weight[c] = LK_R(0.0);
  for (int c = 0; c < 9; ++c) hit->x[c] = LK_R(0.0);
  for (;;) {
    const exact_node *const n = nodes + id;
    const int may = far < best2;
    if (may && n->count == 0) {
      const lk_real left = exact_box2(nodes + id + 1, p), right = exact_box2(nodes + n->first, p);
      const int near_left = left <= right; /* the nearer child is looked at first */
      stack[top++] = near_left ? n->first : id + 1;
      id = near_left ? id + 1 : n->first;
      far = near_left ? left : right;
      continue;
    }
    for (int32_t k = n->first; may && k < n->first + n->count; ++k)
      exact_try_exposed(f, s, exact_tris(f) + k, p, &best2, hit);
    if (top == 0) break;
    id = stack[--top];
    far = exact_box2(nodes + id, p);
  }
  return LK_SQRT(best2);
}

/* ---- winding numbers, as mesh/bvh.h counts them ---- */

#define EXACT_LEAN_X LK_R(0.0517362845) /* of the ray, per unit of z */
#define EXACT_LEAN_Y LK_R(0.0283615073)

LK_FN int exact_ray_meets(const exact_node *n, const lk_real *p)
{
  const lk_real lean[2] = {EXACT_LEAN_X, EXACT_LEAN_Y};
  lk_real from = LK_FMAX(LK_R(0.0), n->lo[2] - p[2]), to = n->hi[2] - p[2];
  for (int c = 0; c < 2; ++c) {
    from = LK_FMAX(from, (n->lo[c] - p[c]) / lean[c]);
    to = LK_FMIN(to, (n->hi[c] - p[c]) / lean[c]);
  }
  return from <= to + LK_R(64.0) * LK_EPSILON * (LK_R(1.0) + LK_FABS(to));
}

/* Twice the area of the origin and an edge across the ray; > 0 or <= 0 for both of its triangles
 * alike, as the vertex with the lower number stands first. */
LK_FN int exact_left(const lk_real *a, const lk_real *b, int32_t ia, int32_t ib, lk_real *area)
{
  const lk_real s = ia < ib ? a[0] * b[1] - a[1] * b[0] : b[0] * a[1] - b[1] * a[0];
  *area = ia < ib ? s : -s;
  return (s > LK_R(0.0)) == (ia < ib);
}

/* 1: the ray from p leaves through the triangle, -1: it enters, 0: it passes by. */
LK_FN int32_t exact_crossing(const exact_field *f, lk_real s, const exact_tri *t, const lk_real *p)
{
  const lk_real lean[2] = {EXACT_LEAN_X, EXACT_LEAN_Y};
  lk_real q[3][3], area[3], height = LK_R(0.0), sum = LK_R(0.0);
  int left = 0;
  for (int k = 0; k < 3; ++k) {
    lk_real x[3];
    exact_vertex(f, s, t->v[k], x);
    q[k][2] = x[2] - p[2];
    for (int c = 0; c < 2; ++c) q[k][c] = x[c] - p[c] - lean[c] * q[k][2];
  }
  for (int k = 0; k < 3; ++k) {
    const int next = (k + 1) % 3;
    left += exact_left(q[k], q[next], t->v[k], t->v[next], &area[(k + 2) % 3]);
  }
  if (left != 0 && left != 3) return 0;
  for (int k = 0; k < 3; ++k) {
    height += area[k] * q[k][2];
    sum += area[k];
  }
  if (!(sum < LK_R(0.0)) && !(sum > LK_R(0.0))) return 0;
  if (!(height / sum > LK_R(0.0))) return 0;
  return left == 3 ? 1 : -1;
}

LK_FN int32_t exact_winding(const exact_field *f, lk_real s, const lk_real *p)
{
  const exact_node *const nodes = exact_nodes(f);
  int32_t stack[EXACT_STACK], top = 0, id = 0, count = 0;
  for (;;) {
    const exact_node *const n = nodes + id;
    const int meets = exact_ray_meets(n, p);
    if (meets && n->count == 0) {
      stack[top++] = n->first;
      ++id;
      continue;
    }
    for (int32_t k = n->first; meets && k < n->first + n->count; ++k)
      count += exact_crossing(f, s, exact_tris(f) + k, p);
    if (top == 0) return count;
    id = stack[--top];
  }
}

/* ---- the field ---- */

LK_FN const exact_field *exact_of(const obst_view *o) { return (const exact_field *)o->field; }

LK_FN lk_real exact_signed(const exact_field *f, lk_real s, const lk_real *p, exact_hit *hit)
{
  const lk_real d = exact_closest(f, s, p, LK_REAL_MAX, hit);
  return exact_winding(f, s, p) > 0 ? -d : d;
}

LK_FN lk_real exact_value(const obst_view *o, lk_real s, const lk_real *p)
{
  exact_hit hit;
  return exact_signed(exact_of(o), s, p, &hit) - exact_of(o)->layer;
}

/* Unit normal of a triangle x [3][3]; of none, up. */
LK_FN void exact_normal(const lk_real *x, lk_real *n)
{
  const lk_real up[3] = {LK_R(0.0), LK_R(0.0), LK_R(1.0)};
  lk_real u[3], v[3], m[3];
  for (int c = 0; c < 3; ++c) {
    u[c] = x[3 + c] - x[c];
    v[c] = x[6 + c] - x[c];
  }
  lk_cross3(u, v, m);
  (void)obst_unit(m, up, n);
}

LK_FN lk_real exact_distance(const obst_view *o, lk_real s, const lk_real *p, lk_real *n)
{
  const exact_field *const f = exact_of(o);
  exact_hit hit;
  lk_real face[3], out[3];
  const lk_real d = exact_signed(f, s, p, &hit);
  exact_normal(hit.x, face);
  for (int c = 0; c < 3; ++c) out[c] = d < LK_R(0.0) ? -hit.away[c] : hit.away[c];
  (void)obst_unit(out, face, n); /* on the skin itself the triangle's */
  return d - f->layer;
}

/* C = (P - g g') / d; P projects across the closest edge, or is the identity at a corner. */
LK_FN lk_real exact_hess(const obst_view *o, lk_real s, const lk_real *p, lk_real *g, lk_real *C)
{
  const exact_field *const f = exact_of(o);
  exact_hit hit;
  lk_real face[3], out[3], along[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)};
  const lk_real d = exact_signed(f, s, p, &hit);
  int corners = 0;
  exact_normal(hit.x, face);
  for (int c = 0; c < 3; ++c) out[c] = d < LK_R(0.0) ? -hit.away[c] : hit.away[c];
  (void)obst_unit(out, face, g);
  for (int a = 0; a < 3; ++a) corners += hit.weight[a] > LK_R(0.0);
  for (int i = 0; i < 9; ++i) C[i] = LK_R(0.0);
  if (corners == 3 || corners == 0 || !(d < LK_R(0.0) || d > LK_R(0.0)))
    return d - f->layer; /* flat */
  if (corners == 2) {    /* the edge */
    int first = 0;
    while (!(hit.weight[first] > LK_R(0.0))) ++first;
    for (int a = 0; a < 3; ++a)
      for (int c = 0; c < 3 && hit.weight[a] > LK_R(0.0); ++c)
        along[c] += hit.x[3 * a + c] - hit.x[3 * first + c];
    (void)obst_unit(along, face, along);
  }
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const lk_real P = (i == j ? LK_R(1.0) : LK_R(0.0)) - along[i] * along[j];
      C[3 * i + j] = (P - g[i] * g[j]) / d;
    }
  return d - f->layer;
}

#endif
