/* brute.c - see brute.h. */
#include "support/brute.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bodies/body.h"
#include "geom/distance.kern.h"

int brute_elements;

typedef struct finder {
  test_host *t;
  const loom_real *x, *r;
  double progress, margin;
  brute_pair *list;
  int count, room;
} finder;

void brute_position(test_host *t, const loom_real *x, double progress, int32_t i, double p[3])
{
  const int32_t n = t->scene.num_verts;
  for (int c = 0; c < 3; ++c) p[c] = i < n ? x[3 * i + c] : 0.0;
  if (i < n) return;
  loom_real *const b0 = th_get(t, t->step.body0), *const b1 = th_get(t, t->step.body1);
  for (int c = 0; c < 3; ++c)
    p[c] = (1.0 - progress) * b0[3 * (i - n) + c] + progress * b1[3 * (i - n) + c];
  free(b0), free(b1);
}

static double brute_radius(const finder *f, int32_t i)
{
  return i < f->t->scene.num_verts ? f->r[i] : 0.0;
}

static void append_brute_pair(finder *f, const brute_pair *p, double xi)
{
  if (p->distance - xi >= f->margin) return;
  if (f->count == f->room) {
    f->room = 2 * f->room + 64;
    f->list = realloc(f->list, (size_t)f->room * sizeof *f->list);
    cr_assert(f->list != NULL);
  }
  f->list[f->count++] = *p;
}

/* first, second: vertex and triangle, or edges, as keys count them. */
static void try_pair(finder *f, int kind, int64_t first, int64_t second, int32_t a, int32_t b,
                     int32_t c, int32_t d)
{
  const int32_t n = f->t->scene.num_verts;
  brute_pair p = {.kind = kind, .v = {a, b, c, d}, .obst = -1};
  double x[12];
  lk_real w[4];
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < i; ++j)
      if (p.v[i] == p.v[j]) return; /* they share a vertex */
    if (p.v[i] >= n) p.obst = 0;    /* the test scenes have one body mesh, obstacle 0 */
    brute_position(f->t, f->x, f->progress, p.v[i], x + 3 * i);
  }
  const int edges = kind == LOOM_PAIR_EE || kind == LOOM_PAIR_BEE;
  p.key = (uint64_t)edges << 63 | (uint64_t)first << 32 | (uint64_t)second;
  p.distance = sqrt(edges ? dist_ee(x, w) : dist_vt(x, w));
  append_brute_pair(f, &p, brute_radius(f, a) + brute_radius(f, d));
}

static void find_mesh_pairs(finder *f)
{
  test_host *const t = f->t;
  const loom_scene *const s = &t->scene;
  const int32_t n = s->num_verts, nb = s->num_body_verts;
  const int64_t nt = s->num_tris, ne = s->num_edges;
  int32_t *const e = th_get(t, s->edges), *const tri = th_get(t, s->tris);
  int32_t *const be = nb > 0 ? th_get(t, s->body_edges) : NULL;
  int32_t *const bt = nb > 0 ? th_get(t, s->body_tris) : NULL;
  for (int32_t i = 0; i < n; ++i)
    for (int32_t k = 0; k < s->num_tris; ++k)
      try_pair(f, LOOM_PAIR_VT, i, k, i, tri[3 * k], tri[3 * k + 1], tri[3 * k + 2]);
  for (int32_t i = 0; i < s->num_edges; ++i)
    for (int32_t k = 0; k < i; ++k)
      try_pair(f, LOOM_PAIR_EE, k, i, e[2 * k], e[2 * k + 1], e[2 * i], e[2 * i + 1]);
  for (int32_t i = 0; i < n; ++i)
    for (int32_t k = 0; k < s->num_body_tris && nb > 0; ++k)
      try_pair(f, LOOM_PAIR_BVT, i, nt + k, i, n + bt[3 * k], n + bt[3 * k + 1], n + bt[3 * k + 2]);
  for (int32_t i = 0; i < nb; ++i)
    for (int32_t k = 0; k < s->num_tris; ++k)
      try_pair(f, LOOM_PAIR_BVT, n + i, k, n + i, tri[3 * k], tri[3 * k + 1], tri[3 * k + 2]);
  for (int32_t i = 0; i < s->num_edges; ++i)
    for (int32_t k = 0; k < s->num_body_edges && nb > 0; ++k)
      try_pair(f, LOOM_PAIR_BEE, i, ne + k, e[2 * i], e[2 * i + 1], n + be[2 * k],
               n + be[2 * k + 1]);
  free(e), free(tri), free(be), free(bt);
}

static void body_pairs(finder *f)
{
  const loom_scene *const s = &f->t->scene;
  uint8_t *const fixed = th_get(f->t, s->fixed);
  for (int32_t o = 0; o < s->num_obstacles; ++o) {
    obst_view v;
    obst_pose P;
    cr_assert(obst_view_fill(&s->obstacles[o], &v) == NULL);
    if (!obst_view_has_distance(&v)) continue;
    obst_pose_at(&v, f->progress, &P);
    for (int32_t i = 0; i < s->num_verts; ++i) {
      brute_pair p = {.kind = LOOM_PAIR_VO, .v = {i, -1, -1, -1}, .obst = o, .key = (uint64_t)i};
      if (fixed[i]) continue;
      p.w[0] = 1.0;
      p.distance = obst_distance(&v, &P, f->x + 3 * i, p.normal);
      append_brute_pair(f, &p, brute_radius(f, i));
    }
  }
  free(fixed);
}

/* ---- elements ---- */

enum { TERNARY = 56 };

typedef struct element {
  obst_view o;
  obst_pose P;
  double x[3][3];
  int corners;
} element;

static double distance_of_point(const element *e, const double w[3], double n[3])
{
  lk_real p[3] = {0, 0, 0};
  for (int k = 0; k < e->corners; ++k)
    for (int c = 0; c < 3; ++c) p[c] += w[k] * e->x[k][c];
  return obst_distance(&e->o, &e->P, p, n);
}

/* Least distance between the points of weights a and b; w: its weights. */
static double least_between(const element *e, const double a[3], const double b[3], double w[3],
                            double n[3])
{
  double lo = 0.0, hi = 1.0, f[2];
  for (int i = 0; i < TERNARY; ++i) {
    for (int k = 0; k < 2; ++k) {
      const double t = lo + (k + 1) * (hi - lo) / 3.0;
      for (int c = 0; c < 3; ++c) w[c] = (1 - t) * a[c] + t * b[c];
      f[k] = distance_of_point(e, w, n);
    }
    if (f[0] < f[1])
      hi -= (hi - lo) / 3.0;
    else
      lo += (hi - lo) / 3.0;
  }
  for (int c = 0; c < 3; ++c) w[c] = (1 - lo) * a[c] + lo * b[c];
  return distance_of_point(e, w, n);
}

/* Of the section of a triangle from side 0-1 to side 0-2 at the share s. */
static double least_of_section(const element *e, double s, double w[3], double n[3])
{
  const double a[3] = {1 - s, s, 0}, b[3] = {1 - s, 0, s};
  return least_between(e, a, b, w, n);
}

double brute_element(test_host *t, const loom_real *x, double progress, int32_t o, const int32_t *v,
                     double w[3], double n[3])
{
  const double a[3] = {1, 0, 0}, b[3] = {0, 1, 0};
  double lo = 0.0, hi = 1.0;
  element e = {.corners = v[1] < 0 ? 1 : v[2] < 0 ? 2 : 3};
  cr_assert(obst_view_fill(&t->scene.obstacles[o], &e.o) == NULL);
  obst_pose_at(&e.o, progress, &e.P);
  for (int k = 0; k < e.corners; ++k) brute_position(t, x, progress, v[k], e.x[k]);
  if (e.corners == 1) memcpy(w, a, sizeof a);
  if (e.corners == 1) return distance_of_point(&e, w, n);
  if (e.corners == 2) return least_between(&e, a, b, w, n);
  for (int i = 0; i < TERNARY; ++i) {
    const double third = (hi - lo) / 3.0;
    if (least_of_section(&e, lo + third, w, n) < least_of_section(&e, hi - third, w, n))
      hi -= third;
    else
      lo += third;
  }
  return least_of_section(&e, lo, w, n);
}

static void try_element(finder *f, int32_t o, int64_t id, int32_t a, int32_t b, int32_t c,
                        const uint8_t *fixed)
{
  brute_pair p = {.kind = LOOM_PAIR_EO, .v = {a, b, c, -1}, .obst = o};
  if (fixed[a] && fixed[b] && (c < 0 || fixed[c])) return;
  p.key = (uint64_t)o << 32 | (uint64_t)id;
  p.distance = brute_element(f->t, f->x, f->progress, o, p.v, p.w, p.normal);
  append_brute_pair(f, &p, brute_radius(f, a));
}

static void find_element_pairs(finder *f)
{
  test_host *const t = f->t;
  const loom_scene *const s = &t->scene;
  int32_t *const e = th_get(t, s->edges), *const tri = th_get(t, s->tris);
  uint8_t *const fixed = th_get(t, s->fixed);
  for (int32_t o = 0; o < s->num_obstacles; ++o) {
    obst_view v;
    cr_assert(obst_view_fill(&s->obstacles[o], &v) == NULL);
    if (!obst_view_has_distance(&v)) continue;
    for (int32_t i = 0; i < s->num_edges; ++i)
      try_element(f, o, i, e[2 * i], e[2 * i + 1], -1, fixed);
    for (int32_t i = 0; i < s->num_tris; ++i)
      try_element(f, o, s->num_edges + i, tri[3 * i], tri[3 * i + 1], tri[3 * i + 2], fixed);
  }
  free(e), free(tri), free(fixed);
}

brute_pair *brute_pairs(test_host *t, const loom_real *x, double progress, double margin,
                        int *count)
{
  loom_real *const r = th_get(t, t->scene.radius);
  finder f = {.t = t, .x = x, .r = r, .progress = progress, .margin = margin};
  find_mesh_pairs(&f);
  body_pairs(&f);
  if (brute_elements) find_element_pairs(&f);
  free(r);
  *count = f.count;
  return f.list;
}

static int by_kind_and_key(const void *a, const void *b)
{
  const brute_pair *const p = a, *const q = b;
  if (p->kind != q->kind) return p->kind < q->kind ? -1 : 1;
  if (p->obst != q->obst) return p->obst < q->obst ? -1 : 1;
  return (p->key > q->key) - (p->key < q->key);
}

/* Arrays are as long as the capacity; unused entries stay zero, as do weights, normals and points
 * of pairs of two meshes. */
static void write_brute_pairs(test_host *t, const brute_pair *p, int num, const loom_real *x,
                              loom_pairs *out)
{
  int32_t *const kind = th_get(t, out->kind), *const v = th_get(t, out->v);
  int32_t *const obst = th_get(t, out->obst);
  uint64_t *const key = th_get(t, out->key);
  loom_real *const w = th_get(t, out->w), *const normal = th_get(t, out->normal);
  loom_real *const gap = th_get(t, out->gap), *const point = th_get(t, out->point);
  loom_real *const radius = th_get(t, t->scene.radius);
  for (int j = 0; j < num; ++j) {
    kind[j] = p[j].kind;
    obst[j] = p[j].obst;
    key[j] = p[j].key;
    memcpy(v + 4 * (size_t)j, p[j].v, sizeof p[j].v);
    memcpy(w + 4 * (size_t)j, p[j].w, sizeof p[j].w);
    memcpy(normal + 3 * (size_t)j, p[j].normal, sizeof p[j].normal);
    out->kinds |= LOOM_BIT(p[j].kind);
    gap[j] = p[j].distance - (p[j].v[0] < t->scene.num_verts ? radius[p[j].v[0]] : 0.0);
    for (int k = 0; k < 4; ++k)
      for (int c = 0; c < 3 && p[j].w[k] > 0.0; ++c)
        point[3 * j + c] += p[j].w[k] * x[3 * p[j].v[k] + c];
    for (int c = 0; c < 3; ++c) point[3 * j + c] -= p[j].distance * p[j].normal[c];
  }
  th_put(t, out->kind, kind), th_put(t, out->v, v), th_put(t, out->obst, obst);
  th_put(t, out->key, key), th_put(t, out->w, w), th_put(t, out->normal, normal);
  th_put(t, out->gap, gap), th_put(t, out->point, point);
  free(kind), free(v), free(obst), free(key), free(w), free(normal), free(gap), free(point);
  free(radius);
}

static loom_status brute_ops_detect(void *self, const loom_step *s, const loom_query *q,
                                    loom_pairs *out)
{
  test_host *const t = self;
  int m = 0;
  (void)s;
  cr_assert_eq(q->what, (uint32_t)LOOM_DETECT_PROXIMITY);
  loom_real *const x = th_get(t, q->x0);
  brute_pair *const p = brute_pairs(t, x, q->progress0, q->margin, &m);
  int left = 0;
  for (int j = 0; j < m; ++j)
    if (q->kinds & LOOM_BIT(p[j].kind)) p[left++] = p[j];
  out->count = left;
  if (left > out->capacity) {
    free(p), free(x);
    return LOOM_GROW;
  }
  if (left > 0) qsort(p, (size_t)left, sizeof *p, by_kind_and_key);
  write_brute_pairs(t, p, left, x, out);
  t->counters[LOOM_C_DETECT]++;
  free(p), free(x);
  return LOOM_OK;
}

const loom_collision_ops brute_ops = {.struct_size = sizeof brute_ops,
                                      .provides = LOOM_COLL_PROXIMITY,
                                      .pair_kinds = LOOM_PAIR_MASK_ALL,
                                      .detect = brute_ops_detect};
