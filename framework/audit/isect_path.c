/* isect_path.c - passing pairs by bisection of (time, two coordinates on the pair).
 *
 * As in B. Wang, Z. Ferguson, T. Schneider, X. Jiang, M. Attene, D. Panozzo, "A large-scale
 * benchmark and an inclusion-based algorithm for continuous collision detection", ACM Trans.
 * Graph. 40(5), 2021, doi 10.1145/3460775, section 4: the vector F between the two
 * moving points is linear in each of (t, u, v) alone, so on a box it lies in the hull of its
 * eight corners.  VT: F = p - ((1 - u - v) a + u b + v c); EE: F = (1 - u) a + u b -
 * ((1 - v) c + v d).  Written anew; the bisection here is depth first, earliest time first.
 */
#include "audit/isect_path.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "audit/isect_pairs.h"

/* Parameters are multiples of 2^-MAX_DEPTH, exact in double; so are 1 - t and 1 - u - v. */
enum { MAX_DEPTH = 48, MAX_STACK = 3 * MAX_DEPTH + 4, MAX_BOXES = 100000 };

typedef struct range {
  double lo[3], width[3]; /* t, u, v */
} range;

typedef struct pair {
  int kind;
  double x[2][4][3]; /* m, at both times */
  double rounding;   /* m, error bound of a component of F */
} pair;

/* ---- bounds ---- */

/* Let e = 2^-53 and M the largest |coordinate|.  A point (1-t) x0 + t x1 is off by at most
 * 2eM(1+e): two products, one sum.  Weights of F's two points sum to at most 4 in modulus
 * (1 of the vertex, up to 3 of |1-u-v| + u + v on the unit square), each product and sum adds
 * e times a value below 4M: in all less than 4 (2eM) + 8 (4eM) = 40eM.  DBL_MIN covers
 * products that underflow. */
static double rounding_of(const pair *p)
{
  double largest = 0.0;
  for (int k = 0; k < 2; ++k)
    for (int i = 0; i < 4; ++i)
      for (int c = 0; c < 3; ++c) largest = fmax(largest, fabs(p->x[k][i][c]));
  return 64.0 * 0.5 * DBL_EPSILON * largest + DBL_MIN;
}

/* F at the four corners of (u, v) and one t: out[u + 2 v][3] */
static void evaluate_corners(const pair *p, const range *r, double t, double out[4][3])
{
  double y[4][3];
  for (int i = 0; i < 4; ++i)
    for (int c = 0; c < 3; ++c) y[i][c] = (1.0 - t) * p->x[0][i][c] + t * p->x[1][i][c];
  for (int k = 0; k < 4; ++k) {
    const double u = r->lo[1] + (k & 1 ? r->width[1] : 0.0);
    const double v = r->lo[2] + (k & 2 ? r->width[2] : 0.0);
    for (int c = 0; c < 3; ++c)
      out[k][c] = p->kind == ISECT_VT
                      ? y[0][c] - ((1.0 - u - v) * y[1][c] + u * y[2][c] + v * y[3][c])
                      : ((1.0 - u) * y[0][c] + u * y[1][c]) - ((1.0 - v) * y[2][c] + v * y[3][c]);
  }
}

static inline void raise_to(double *most, double v) /* as fmax(), which is a call */
{
  if (v > *most) *most = v;
}

/* 0: F is nowhere zero in the box.  Else `size` gets the extent of F's box (m), spread[k] the
 * largest change of F along parameter k (m). */
static int may_vanish(const pair *p, const range *r, double *size, double spread[3])
{
  double f[8][3];
  evaluate_corners(p, r, r->lo[0], f);
  evaluate_corners(p, r, r->lo[0] + r->width[0], f + 4);
  *size = 0.0;
  spread[0] = spread[1] = spread[2] = 0.0;
  for (int c = 0; c < 3; ++c) {
    double lo = f[0][c], hi = f[0][c];
    for (int i = 1; i < 8; ++i) {
      lo = f[i][c] < lo ? f[i][c] : lo;
      hi = f[i][c] > hi ? f[i][c] : hi;
    }
    if (lo > p->rounding || hi < -p->rounding) return 0;
    raise_to(size, hi - lo);
    for (int i = 0; i < 4; ++i) {
      const int u = 2 * i, v = (i & 1) + 4 * (i >> 1); /* corners with u = 0, with v = 0 */
      raise_to(&spread[0], fabs(f[4 + i][c] - f[i][c]));
      raise_to(&spread[1], fabs(f[u + 1][c] - f[u][c]));
      raise_to(&spread[2], fabs(f[v + 2][c] - f[v][c]));
    }
  }
  return 1;
}

/* ---- directions in which the two stay apart all the time ---- */

/* n . (point of the one - point of the other) is linear in t and in each point: of one sign
 * for all corners at both ends, of one sign throughout.  a [na], b [nb] corners; start and
 * end of corner i are a[i] and a[na + i]. */
static int apart_along(const double n[3], const double *const *a, int na, const double *const *b,
                       int nb)
{
  int sign = 0;
  for (int k = 0; k < 2; ++k)
    for (int i = 0; i < na; ++i)
      for (int j = 0; j < nb; ++j) {
        const double *const p = a[k * na + i], *const q = b[k * nb + j];
        double s = 0.0, size = 0.0;
        for (int c = 0; c < 3; ++c) {
          const double m = n[c] * (p[c] - q[c]);
          s += m;
          size += fabs(m);
        }
        /* differences, products and sums: less than 5 roundings each */
        if (!(fabs(s) > 8.0 * DBL_EPSILON * size + DBL_MIN)) return 0;
        if (sign == 0) sign = s > 0 ? 1 : -1;
        if ((s > 0) != (sign > 0)) return 0;
      }
  return 1;
}

static void compute_edge_normal(const double *a, const double *b, const double *c, const double *d,
                                double n[3])
{
  double e[3], f[3]; /* (b - a) x (d - c) */
  for (int k = 0; k < 3; ++k) e[k] = b[k] - a[k], f[k] = d[k] - c[k];
  for (int k = 0; k < 3; ++k)
    n[k] = e[(k + 1) % 3] * f[(k + 2) % 3] - e[(k + 2) % 3] * f[(k + 1) % 3];
}

static int has_separating_axis(int kind, const double *const x0[4], const double *const x1[4])
{
  const int split = kind == ISECT_VT ? 1 : 2;
  const double *a[4] = {NULL}, *b[6] = {NULL};
  for (int i = 0; i < split; ++i) a[i] = x0[i], a[split + i] = x1[i];
  for (int i = split; i < 4; ++i) b[i - split] = x0[i], b[4 - 2 * split + i] = x1[i];
  for (int k = 0; k < 2; ++k) {
    const double *const *const x = k == 0 ? x0 : x1;
    double n[3];
    if (kind == ISECT_VT)
      compute_edge_normal(x[1], x[2], x[1], x[3], n);
    else
      compute_edge_normal(x[0], x[1], x[2], x[3], n);
    if (apart_along(n, a, split, b, 4 - split)) return 1;
    for (int c = 0; c < 3; ++c) /* from middle to middle */
      n[c] = kind == ISECT_VT ? x[0][c] - (x[1][c] + x[2][c] + x[3][c]) / 3.0
                              : x[0][c] + x[1][c] - x[2][c] - x[3][c];
    if (apart_along(n, a, split, b, 4 - split)) return 1;
  }
  return 0;
}

/* ---- bisection ---- */

static range half_of(const range *r, int k, int upper)
{
  range h = *r;
  h.width[k] = 0.5 * r->width[k];
  if (upper) h.lo[k] = r->lo[k] + h.width[k];
  return h;
}

static int bisect_pass_time(const pair *p, double tolerance, double *time)
{
  range stack[MAX_STACK];
  int top = 0, boxes = 0;
  double best = 2.0;
  stack[top++] = (range){{0, 0, 0}, {1, 1, 1}};
  while (top > 0) {
    const range r = stack[--top];
    double size, spread[3];
    if (r.lo[0] >= best) continue;
    if (p->kind == ISECT_VT && r.lo[1] + r.lo[2] > 1.0) continue; /* beyond the triangle */
    if (!may_vanish(p, &r, &size, spread)) continue;
    if (++boxes > MAX_BOXES) {
      *time = fmin(best, r.lo[0]);
      return 2;
    }
    int k = 0;
    if (spread[1] > spread[k]) k = 1;
    if (spread[2] > spread[k]) k = 2;
    if (size <= tolerance || r.width[k] <= ldexp(1.0, -MAX_DEPTH)) {
      best = r.lo[0];
      continue;
    }
    stack[top++] = half_of(&r, k, 1);
    stack[top++] = half_of(&r, k, 0);
  }
  if (best > 1.0) return 0;
  *time = best;
  return 1;
}

int isect_pass_pair(int kind, const double *const x0[4], const double *const x1[4],
                    double tolerance, double *time)
{
  pair p = {.kind = kind};
  for (int i = 0; i < 4; ++i) {
    memcpy(p.x[0][i], x0[i], sizeof p.x[0][i]);
    memcpy(p.x[1][i], x1[i], sizeof p.x[1][i]);
  }
  if (has_separating_axis(kind, x0, x1)) return 0;
  p.rounding = rounding_of(&p);
  return bisect_pass_time(&p, tolerance, time);
}

/* ---- meshes ---- */

static int compare_pass(const void *a, const void *b)
{
  const isect_pass *const p = a, *const q = b;
  if (p->body != q->body) return p->body < q->body ? -1 : 1;
  if (p->kind != q->kind) return p->kind < q->kind ? -1 : 1;
  if (p->side != q->side) return p->side < q->side ? -1 : 1;
  for (int i = 0; i < 4; ++i)
    if (p->v[i] != q->v[i]) return p->v[i] < q->v[i] ? -1 : 1;
  return 0;
}

static const double *end_positions(const isect_surface *s)
{
  return s->x_end != NULL ? s->x_end : s->x;
}

static isect_box swept_box(const isect_surface *s, const int32_t *ids, int num)
{
  const isect_box start = isect_box_points(s->x, ids, num);
  const isect_box end = isect_box_points(end_positions(s), ids, num);
  return isect_box_join(&start, &end);
}

/* v[0..split-1] of mesh A, the others of mesh B */
static void test_pass(isect_job *job, const isect_surface *A, const isect_surface *B, int kind,
                      int side, const int32_t v[4])
{
  const int split = kind == ISECT_VT ? 1 : 2;
  const double *x0[4], *x1[4];
  for (int i = 0; i < split && A == B; ++i)
    for (int j = split; j < 4; ++j)
      if (v[i] == v[j]) return;
  const isect_left_out *const left_out = job->a->s->left_out;
  for (int i = 0; i < split && left_out != NULL; ++i)
    for (int j = split; j < 4; ++j)
      if (isect_is_left_out(left_out, A->first_id + v[i], B->first_id + v[j])) return;
  const isect_box a = swept_box(A, v, split), b = swept_box(B, v + split, 4 - split);
  if (!isect_boxes_meet(&a, &b)) return;
  for (int i = 0; i < 4; ++i) {
    const isect_surface *const s = i < split ? A : B;
    x0[i] = s->x + 3 * (int64_t)v[i];
    x1[i] = end_positions(s) + 3 * (int64_t)v[i];
  }
  isect_pass p = {.kind = kind, .body = job->body, .side = side, .v = {v[0], v[1], v[2], v[3]}};
  const int found = isect_pass_pair(kind, x0, x1, *(const double *)job->user, &p.time);
  p.unsure = found == 2;
  if (found) isect_list_add(&job->found, &p);
}

static void test_vertices(isect_job *job, const isect_ready *A, int32_t a, const isect_ready *B,
                          int32_t b, int side)
{
  const int32_t *const t = B->s->tris + 3 * (int64_t)b;
  for (int c = 0; c < 3; ++c) {
    const int32_t v[4] = {A->s->tris[3 * (int64_t)a + c], t[0], t[1], t[2]};
    if (A->owns[a] >> (3 + c) & 1) test_pass(job, A->s, B->s, ISECT_VT, side, v);
  }
}

static void sorted_edge(const isect_ready *A, int32_t t, int c, int32_t e[2])
{
  const int32_t i = A->s->tris[3 * (int64_t)t + c], j = A->s->tris[3 * (int64_t)t + (c + 1) % 3];
  e[0] = i < j ? i : j;
  e[1] = i < j ? j : i;
}

static void gather_swept_corners(const isect_surface *s, int32_t t, const double *x[6])
{
  for (int c = 0; c < 3; ++c) {
    const int64_t v = s->tris[3 * (int64_t)t + c];
    x[c] = s->x + 3 * v;
    x[3 + c] = end_positions(s) + 3 * v;
  }
}

/* 1 only if the triangles stay on two sides of a plane. */
static int triangles_apart(const isect_surface *A, int32_t a, const isect_surface *B, int32_t b)
{
  const double *x[6], *y[6];
  double n[3];
  gather_swept_corners(A, a, x);
  gather_swept_corners(B, b, y);
  compute_edge_normal(x[0], x[1], x[0], x[2], n);
  if (apart_along(n, x, 3, y, 3)) return 1;
  compute_edge_normal(y[0], y[1], y[0], y[2], n);
  return apart_along(n, x, 3, y, 3);
}

static void test_swept_triangles(void *user, int32_t a, int32_t b)
{
  isect_job *const job = user;
  const isect_ready *const A = job->a, *const B = job->b;
  if (triangles_apart(A->s, a, B->s, b)) return;
  test_vertices(job, A, a, B, b, 0);
  test_vertices(job, B, b, A, a, A != B);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      if (!(A->owns[a] >> i & 1) || !(B->owns[b] >> j & 1)) continue;
      int32_t e[4];
      sorted_edge(A, a, i, e);
      sorted_edge(B, b, j, e + 2);
      if (A == B && (e[0] > e[2] || (e[0] == e[2] && e[1] > e[3]))) {
        const int32_t swapped[4] = {e[2], e[3], e[0], e[1]};
        memcpy(e, swapped, sizeof e);
      }
      test_pass(job, A->s, B->s, ISECT_EE, 0, e);
    }
}

loom_status isect_path(loom_err *err, const isect_surface *m, const isect_surface *bodies,
                       int num_bodies, double tolerance, int threads, isect_pass *passes,
                       int64_t capacity, int64_t *total)
{
  const isect_query q = {test_swept_triangles, &tolerance, sizeof *passes, compare_pass,
                         ISECT_MOST_PASSES};
  *total = 0;
  if (!(tolerance > 0))
    return err_set(err, LOOM_E_ARG, "tolerance %g m: it must be above 0", tolerance);
  return isect_search(err, m, bodies, num_bodies, threads, &q, passes, capacity, total);
}
