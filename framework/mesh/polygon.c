/* polygon.c - see polygon.h. */
#include "mesh/polygon.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geom/vec3.h"

/* A triangle lower than this fraction of its longest side counts as flat, as in doctor.c: files in
 * single precision leave about 1e-7 where the author meant zero. */
static const double flat_corner = 1e-6;
/* A quad whose corners leave its plane by more than this fraction of its longest diagonal is bent:
 * seen along its normal it may cross itself, though the quad in space does not. */
static const double bent_quad = 1e-2;

typedef struct outline {
  int32_t n;
  const double *x; /* [n][3] */
  double (*p)[2];  /* [n] corners in the plane, counter-clockwise */
  int32_t *next, *prev;
  double *shape; /* [n] of ears that are left: height by longest side; below 0: no ear */
} outline;

/* The unit normal of the polygon: that of its vector area, or, where this vanishes (a bow tie), of
 * the largest triangle of the fan.  0: the polygon has no area or no finite one. */
static int find_normal(const outline *o, double normal[3])
{
  double sum[3] = {0}, largest[3] = {0}, all = 0, longest2 = 0;
  for (int32_t k = 1; k + 1 < o->n; ++k) {
    double u[3], v[3], n[3];
    vec3_sub(o->x + 3 * (int64_t)k, o->x, u);
    vec3_sub(o->x + 3 * (int64_t)(k + 1), o->x, v);
    vec3_cross(u, v, n);
    all += vec3_norm(n);
    longest2 = fmax(longest2, fmax(vec3_dot(u, u), vec3_dot(v, v)));
    if (vec3_norm(n) > vec3_norm(largest)) memcpy(largest, n, sizeof largest);
    for (int c = 0; c < 3; ++c) sum[c] += n[c];
  }
  if (!isfinite(all) || !isfinite(longest2) || !(all > flat_corner * longest2)) return 0;
  const double *const way = vec3_norm(sum) > flat_corner * all ? sum : largest;
  for (int c = 0; c < 3; ++c) normal[c] = way[c] / vec3_norm(way);
  return 1;
}

/* Corners in the plane of `normal`, relative to the first. */
static void project_corners(outline *o, const double normal[3])
{
  double u[3] = {0}, v[3];
  int least = 0;
  for (int c = 1; c < 3; ++c)
    if (fabs(normal[c]) < fabs(normal[least])) least = c;
  u[least] = 1;
  vec3_cross(normal, u, v);
  const double len = vec3_norm(v);
  for (int c = 0; c < 3; ++c) v[c] /= len;
  vec3_cross(v, normal, u);
  for (int32_t k = 0; k < o->n; ++k) {
    double d[3];
    vec3_sub(o->x + 3 * (int64_t)k, o->x, d);
    o->p[k][0] = d[0] * u[0] + d[1] * u[1] + d[2] * u[2];
    o->p[k][1] = d[0] * v[0] + d[1] * v[1] + d[2] * v[2];
  }
}

static double distance_squared(const double a[2], const double b[2])
{
  return (b[0] - a[0]) * (b[0] - a[0]) + (b[1] - a[1]) * (b[1] - a[1]);
}

/* Twice the area of a, b, c over the square of the longest side: its height in units of that side,
 * above 0 where they turn left. */
static double corner_shape(const double a[2], const double b[2], const double c[2])
{
  const double twice = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
  const double longest =
      fmax(distance_squared(a, b), fmax(distance_squared(b, c), distance_squared(c, a)));
  return longest > 0 ? twice / longest : 0;
}

/* The triangles of the fan do not overlap if they turn left and stay left of the first side. */
static int fan_is_sound(const outline *o)
{
  for (int32_t k = 1; k + 1 < o->n; ++k) {
    if (!(corner_shape(o->p[0], o->p[k], o->p[k + 1]) > flat_corner)) return 0;
    if (!(corner_shape(o->p[0], o->p[1], o->p[k + 1]) > 0)) return 0;
  }
  return 1;
}

/* The side a-b crosses c-d in the inside of both; sides that touch do not cross. */
static int sides_cross(const double a[2], const double b[2], const double c[2], const double d[2])
{
  for (int k = 0; k < 2; ++k) /* boxes apart: the case that is common */
    if (fmax(a[k], b[k]) < fmin(c[k], d[k]) || fmax(c[k], d[k]) < fmin(a[k], b[k])) return 0;
  const double c_left = corner_shape(a, b, c), d_left = corner_shape(a, b, d);
  const double a_left = corner_shape(c, d, a), b_left = corner_shape(c, d, b);
  const double least = flat_corner;
  return ((c_left > least && d_left < -least) || (c_left < -least && d_left > least)) &&
         ((a_left > least && b_left < -least) || (a_left < -least && b_left > least));
}

/* The corners that begin two sides which cross; 0: none do. */
static int find_crossing(const outline *o, int32_t side[2])
{
  for (int32_t i = 0; i < o->n; ++i)
    for (int32_t j = i + 2; j < o->n; ++j) {
      if (i == 0 && j == o->n - 1) continue;
      if (!sides_cross(o->p[i], o->p[i + 1], o->p[j], o->p[(j + 1) % o->n])) continue;
      side[0] = i;
      side[1] = j;
      return 1;
    }
  return 0;
}

static int same_point(const double a[2], const double b[2]) { return a[0] == b[0] && a[1] == b[1]; }

/* The shape of the triangle at corner b if it is an ear: it turns left, holds no other corner, and
 * no side crosses the cut.  Else below 0. */
static double ear_shape(const outline *o, int32_t b)
{
  const int32_t a = o->prev[b], c = o->next[b];
  const double *const pa = o->p[a], *const pb = o->p[b], *const pc = o->p[c];
  const double shape = corner_shape(pa, pb, pc);
  if (!(shape > flat_corner)) return -1;
  for (int32_t j = o->next[c]; j != a; j = o->next[j]) {
    const double *const q = o->p[j];
    if (o->next[j] != a && sides_cross(pa, pc, q, o->p[o->next[j]])) return -1;
    if (same_point(q, pa) || same_point(q, pb) || same_point(q, pc)) continue;
    if (corner_shape(pa, pb, q) > -flat_corner && corner_shape(pb, pc, q) > -flat_corner &&
        corner_shape(pc, pa, q) > -flat_corner)
      return -1;
  }
  return shape;
}

/* The best ear; where rounding leaves none, the corner that turns left most. */
static int32_t best_ear(const outline *o, int32_t start)
{
  int32_t best = start, k = start;
  double most = -INFINITY;
  do {
    if (o->shape[k] > o->shape[best]) best = k;
    k = o->next[k];
  } while (k != start);
  if (o->shape[best] > 0) return best;
  do {
    const double turn = corner_shape(o->p[o->prev[k]], o->p[k], o->p[o->next[k]]);
    if (turn > most) best = k;
    most = fmax(most, turn);
    k = o->next[k];
  } while (k != start);
  return best;
}

static void cut_ears(outline *o, int32_t *cut)
{
  int32_t left = o->n, start = 0;
  for (int32_t k = 0; k < o->n; ++k) {
    o->next[k] = (k + 1) % o->n;
    o->prev[k] = (k + o->n - 1) % o->n;
  }
  for (int32_t k = 0; k < o->n; ++k) o->shape[k] = ear_shape(o, k);
  for (; left >= 3; --left, cut += 3) {
    const int32_t b = best_ear(o, start), a = o->prev[b], c = o->next[b];
    cut[0] = a;
    cut[1] = b;
    cut[2] = c;
    o->next[a] = c;
    o->prev[c] = a;
    o->shape[a] = ear_shape(o, a);
    o->shape[c] = ear_shape(o, c);
    start = c;
  }
}

/* The diagonal of a bent quad that leaves less area. */
static int cut_bent_quad(const outline *o, const double normal[3], int32_t *cut)
{
  static const int32_t two[2][6] = {{0, 1, 2, 0, 2, 3}, {1, 2, 3, 1, 3, 0}};
  double off = 0, longest = 0, area[2] = {0};
  for (int d = 0; d < 2; ++d) {
    double across[3];
    vec3_sub(o->x + 3 * (d + 2), o->x + 3 * d, across);
    longest = fmax(longest, vec3_norm(across));
    for (int t = 0; t < 2; ++t) {
      const int32_t *const v = two[d] + 3 * t;
      double u[3], w[3], n[3];
      vec3_sub(o->x + 3 * v[1], o->x + 3 * v[0], u);
      vec3_sub(o->x + 3 * v[2], o->x + 3 * v[0], w);
      vec3_cross(u, w, n);
      area[d] += vec3_norm(n);
    }
  }
  for (int k = 1; k < 4; ++k) {
    double d[3];
    vec3_sub(o->x + 3 * k, o->x, d);
    off = fmax(off, fabs(d[0] * normal[0] + d[1] * normal[1] + d[2] * normal[2]));
  }
  if (!(off > bent_quad * longest)) return 0;
  memcpy(cut, two[area[1] < area[0]], sizeof two[0]);
  return 1;
}

static int cut_concave(outline *o, const double normal[3], int32_t *cut, int32_t side[2])
{
  if (!find_crossing(o, side)) {
    cut_ears(o, cut);
    return POLYGON_EARS;
  }
  return o->n == 4 && cut_bent_quad(o, normal, cut) ? POLYGON_EARS : POLYGON_CROSSED;
}

loom_status polygon_cut(loom_err *err, int32_t n, const double *x, int32_t *cut, int *way,
                        int32_t side[2])
{
  outline o = {.n = n, .x = x};
  double normal[3];
  *way = POLYGON_FAN;
  for (int32_t k = 0; k + 2 < n; ++k) {
    cut[3 * (int64_t)k] = 0;
    cut[3 * (int64_t)k + 1] = k + 1;
    cut[3 * (int64_t)k + 2] = k + 2;
  }
  if (n == 3 || !find_normal(&o, normal)) return LOOM_OK;
  loom_status s = mesh_alloc(err, n, sizeof *o.p, &o.p);
  if (s == LOOM_OK) project_corners(&o, normal);
  if (s == LOOM_OK && !fan_is_sound(&o)) {
    *way = POLYGON_LARGE;
    if (n <= POLYGON_MAX_CONCAVE) s = mesh_alloc(err, n, sizeof *o.next, &o.next);
    if (o.next != NULL) s = mesh_alloc(err, n, sizeof *o.prev, &o.prev);
    if (o.prev != NULL) s = mesh_alloc(err, n, sizeof *o.shape, &o.shape);
    if (s == LOOM_OK && o.next != NULL && o.prev != NULL && o.shape != NULL)
      *way = cut_concave(&o, normal, cut, side);
  }
  free(o.p);
  free(o.next);
  free(o.prev);
  free(o.shape);
  return s;
}

loom_status polygon_add(loom_err *err, polygon_list *l, const mesh *m, int32_t first)
{
  if (m->num_tris - first < 2) return LOOM_OK;
  if (l->count == l->cap) {
    const int64_t cap = l->cap < 512 ? 1024 : 2 * l->cap;
    void *const p = realloc(l->fan, (size_t)cap * sizeof *l->fan);
    if (p == NULL) return err_set(err, LOOM_E_NOMEM, "no memory for %lld polygons", (long long)cap);
    l->fan = p;
    l->cap = cap;
  }
  l->fan[l->count][0] = first;
  l->fan[l->count++][1] = m->num_tris - first;
  return LOOM_OK;
}

/* Work arrays for polygons of up to `cap` corners. */
typedef struct work {
  int64_t cap;
  double *x;       /* [cap][3] */
  int32_t *id;     /* [cap] vertex of each corner */
  int32_t *cut;    /* [cap][3] */
  double (*uv)[2]; /* [cap] */
} work;

static loom_status grow_work(loom_err *err, work *w, int64_t n)
{
  if (w->cut != NULL && n <= w->cap) return LOOM_OK;
  free(w->x);
  free(w->id);
  free(w->cut);
  free(w->uv);
  *w = (work){0};
  LOOM_TRY(mesh_alloc(err, 3 * n, sizeof *w->x, &w->x));
  LOOM_TRY(mesh_alloc(err, n, sizeof *w->id, &w->id));
  LOOM_TRY(mesh_alloc(err, 3 * n, sizeof *w->cut, &w->cut));
  LOOM_TRY(mesh_alloc(err, n, sizeof *w->uv, &w->uv));
  w->cap = n;
  return LOOM_OK;
}

/* Before the first triangle changes. */
static loom_status keep_fan(loom_err *err, mesh *m)
{
  if (m->fan != NULL) return LOOM_OK;
  LOOM_TRY(mesh_alloc(err, 3 * (int64_t)m->num_tris, sizeof *m->fan, &m->fan));
  memcpy(m->fan, m->tris, 3 * (size_t)m->num_tris * sizeof *m->fan);
  return LOOM_OK;
}

static loom_status cut_row(loom_err *err, const int32_t fan[2], mesh *m, work *w)
{
  const int32_t n = fan[1] + 2;
  int32_t side[2] = {0};
  int way;
  LOOM_TRY(grow_work(err, w, n));
  for (int32_t k = 0; k < n; ++k) { /* corner k of the fan: of its first triangle, or the last */
    const int64_t t = fan[0] + (k < 3 ? 0 : k - 2), at = 3 * t + (k < 3 ? k : 2);
    w->id[k] = m->tris[at];
    memcpy(w->x + 3 * (int64_t)k, m->x + 3 * (int64_t)w->id[k], 3 * sizeof(double));
    if (m->uv != NULL) memcpy(w->uv[k], m->uv + 2 * at, sizeof w->uv[k]);
  }
  LOOM_TRY(polygon_cut(err, n, w->x, w->cut, &way, side));
  ++m->num_split;
  if (way == POLYGON_FAN) return LOOM_OK;
  if (way == POLYGON_EARS) {
    LOOM_TRY(keep_fan(err, m));
    ++m->num_concave;
  } else if (m->num_bad_faces++ == 0) {
    m->bad_face = (mesh_bad_face){way, fan[0], n, {side[0], side[1]}};
  }
  for (int64_t k = 0; k < 3 * (int64_t)fan[1]; ++k) {
    const int64_t at = 3 * (int64_t)fan[0] + k;
    m->tris[at] = w->id[w->cut[k]];
    if (m->uv != NULL) memcpy(m->uv + 2 * at, w->uv[w->cut[k]], sizeof w->uv[0]);
  }
  return LOOM_OK;
}

loom_status polygon_cut_all(loom_err *err, const polygon_list *l, mesh *m)
{
  work w = {0};
  loom_status s = LOOM_OK;
  for (int64_t k = 0; k < l->count && s == LOOM_OK; ++k) s = cut_row(err, l->fan[k], m, &w);
  free(w.x);
  free(w.id);
  free(w.cut);
  free(w.uv);
  return s;
}

int polygon_same(const mesh *a, const mesh *b, int64_t t)
{
  const int32_t *const p = a->fan != NULL ? a->fan : a->tris;
  const int32_t *const q = b->fan != NULL ? b->fan : b->tris;
  return memcmp(a->tris + 3 * t, b->tris + 3 * t, 3 * sizeof *p) == 0 ||
         memcmp(p + 3 * t, q + 3 * t, 3 * sizeof *p) == 0;
}
