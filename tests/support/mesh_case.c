/* mesh_case.c - see mesh_case.h. */
#include "support/mesh_case.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- meshes ---- */

static void *grow_part_array(void *p, size_t bytes)
{
  void *const q = realloc(p, bytes + 1);
  cr_assert(q != NULL);
  return q;
}

static void part_free(mesh_part *p)
{
  free(p->x0), free(p->x1), free(p->r), free(p->fixed), free(p->object), free(p->tris);
  free(p->edges);
  memset(p, 0, sizeof *p);
}

void mc_free(mesh_case *c)
{
  part_free(&c->cloth);
  part_free(&c->body);
}

static int add_verts(mesh_case *c, const mc_object *o, int n, const double *x)
{
  mesh_part *const p = o->body ? &c->body : &c->cloth;
  const int first = p->n, all = p->n + n;
  p->x0 = grow_part_array(p->x0, (size_t)all * 3 * sizeof *p->x0);
  p->x1 = grow_part_array(p->x1, (size_t)all * 3 * sizeof *p->x1);
  p->r = grow_part_array(p->r, (size_t)all * sizeof *p->r);
  p->fixed = grow_part_array(p->fixed, (size_t)all);
  p->object = grow_part_array(p->object, (size_t)all * sizeof *p->object);
  memcpy(p->x0 + 3 * first, x, (size_t)n * 3 * sizeof *x);
  memcpy(p->x1 + 3 * first, x, (size_t)n * 3 * sizeof *x);
  for (int i = first; i < all; ++i) {
    p->r[i] = o->radius;
    p->fixed[i] = 0;
    p->object[i] = o->body ? c->num_bodies : c->num_objects;
  }
  p->n = all;
  if (o->body)
    ++c->num_bodies;
  else
    ++c->num_objects;
  return first;
}

static int compare_key(const void *a, const void *b)
{
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Unique edges of triangles [first, nt), appended. */
static void append_unique_edges(mesh_part *p, int first)
{
  const int m = 3 * (p->nt - first);
  uint64_t *const key = grow_part_array(NULL, (size_t)m * sizeof *key);
  for (int i = 0; i < m; ++i) {
    const int32_t *const t = p->tris + 3 * (first + i / 3);
    const uint64_t a = (uint64_t)t[i % 3], b = (uint64_t)t[(i + 1) % 3];
    key[i] = a < b ? a << 32 | b : b << 32 | a;
  }
  qsort(key, (size_t)m, sizeof *key, compare_key);
  p->edges = grow_part_array(p->edges, ((size_t)p->ne + (size_t)m) * 2 * sizeof *p->edges);
  for (int i = 0; i < m; ++i) {
    if ((i > 0 && key[i] == key[i - 1]) || key[i] >> 32 == (key[i] & UINT32_MAX)) continue;
    p->edges[2 * p->ne] = (int32_t)(key[i] >> 32);
    p->edges[2 * p->ne++ + 1] = (int32_t)(key[i] & UINT32_MAX);
  }
  free(key);
}

int mc_add(mesh_case *c, const mc_object *o, int n, const double *x, int nt, const int32_t *tris)
{
  mesh_part *const p = o->body ? &c->body : &c->cloth;
  const int first = add_verts(c, o, n, x), before = p->nt;
  p->tris = grow_part_array(p->tris, ((size_t)p->nt + (size_t)nt) * 3 * sizeof *p->tris);
  for (int i = 0; i < 3 * nt; ++i) p->tris[3 * p->nt + i] = tris[i] + first;
  p->nt += nt;
  append_unique_edges(p, before);
  return first;
}

int mc_add_chain(mesh_case *c, const mc_object *o, int n, const double *x)
{
  mesh_part *const p = o->body ? &c->body : &c->cloth;
  const int first = add_verts(c, o, n, x);
  p->edges = grow_part_array(p->edges, ((size_t)p->ne + (size_t)n) * 2 * sizeof *p->edges);
  for (int i = 0; i + 1 < n; ++i) {
    p->edges[2 * p->ne] = first + i;
    p->edges[2 * p->ne++ + 1] = first + i + 1;
  }
  return first;
}

int mc_add_sheet(mesh_case *c, const mc_object *o, int nx, int ny, double w, double h, double z)
{
  double *const x = grow_part_array(NULL, (size_t)(3 * nx * ny) * sizeof *x);
  int32_t *const tri = grow_part_array(NULL, (size_t)(6 * nx * ny) * sizeof *tri), *t = tri;
  for (int j = 0; j < ny; ++j)
    for (int i = 0; i < nx; ++i) {
      x[3 * (j * nx + i)] = w * i / (nx - 1);
      x[3 * (j * nx + i) + 1] = h * j / (ny - 1);
      x[3 * (j * nx + i) + 2] = z;
    }
  for (int j = 0; j + 1 < ny; ++j)
    for (int i = 0; i + 1 < nx; ++i, t += 6) {
      const int32_t a = j * nx + i, b = a + 1, d = a + nx, e = d + 1;
      const int32_t up[6] = {a, b, e, a, e, d}, down[6] = {a, b, d, b, e, d};
      memcpy(t, (i + j) % 2 ? up : down, sizeof up);
    }
  const int first = mc_add(c, o, nx * ny, x, (int)((t - tri) / 3), tri);
  free(x);
  free(tri);
  return first;
}

int mc_add_ball(mesh_case *c, const mc_object *o, const double p[3], double r, int m)
{
  const int rings = (int)fmax(3.0, sqrt(m / 4.0) + 1.0), around = 2 * rings;
  const int n = 2 + (rings - 1) * around;
  double *const x = grow_part_array(NULL, (size_t)(3 * n) * sizeof *x);
  int32_t *const tri = grow_part_array(NULL, (size_t)(6 * rings * around) * sizeof *tri), *t = tri;
  for (int i = 0; i < n; ++i) {
    const int ring = i == 0 ? 0 : i == n - 1 ? rings : 1 + (i - 1) / around;
    const double pi = acos(-1.0), polar = pi * ring / rings,
                 turn = 2.0 * pi * ((i - 1) % around) / around;
    x[3 * i] = p[0] + r * sin(polar) * cos(turn);
    x[3 * i + 1] = p[1] + r * sin(polar) * sin(turn);
    x[3 * i + 2] = p[2] + r * cos(polar);
  }
  for (int j = 0; j < rings; ++j)
    for (int i = 0; i < around; ++i) {
      const int32_t a = j == 0 ? 0 : 1 + (j - 1) * around + i;
      const int32_t b = j == 0 ? 0 : 1 + (j - 1) * around + (i + 1) % around;
      const int32_t d = j == rings - 1 ? n - 1 : 1 + j * around + i;
      const int32_t e = j == rings - 1 ? n - 1 : 1 + j * around + (i + 1) % around;
      if (j > 0) *t++ = a, *t++ = e, *t++ = b;
      if (j < rings - 1) *t++ = a, *t++ = d, *t++ = e;
    }
  const int first = mc_add(c, o, n, x, (int)((t - tri) / 3), tri);
  free(x);
  free(tri);
  return first;
}

int mc_add_soup(mesh_case *c, const mc_object *o, int m, double size, double edge)
{
  double *const x = grow_part_array(NULL, (size_t)(9 * m) * sizeof *x);
  int32_t *const tri = grow_part_array(NULL, (size_t)(3 * m) * sizeof *tri);
  for (int i = 0; i < m; ++i) {
    double centre[3];
    for (int k = 0; k < 3; ++k) centre[k] = 0.5 * size * (1.0 + th_random(&c->seed));
    for (int k = 0; k < 9; ++k) x[9 * i + k] = centre[k % 3] + 0.5 * edge * th_random(&c->seed);
    for (int k = 0; k < 3; ++k) tri[3 * i + k] = 3 * i + k;
  }
  const int first = mc_add(c, o, 3 * m, x, m, tri);
  free(x);
  free(tri);
  return first;
}

void mc_move(mesh_part *p, uint64_t *seed, double move, double dx, double dy, double dz)
{
  const double d[3] = {dx, dy, dz};
  for (int i = 0; i < 3 * p->n; ++i) p->x1[i] = p->x0[i] + d[i % 3] + move * th_random(seed);
}

void mc_fold(mesh_case *c, int first, double width, double gap)
{
  for (int i = first; i < c->cloth.n; ++i) {
    double *const x = c->cloth.x0 + 3 * i;
    const int layer = (int)floor(x[0] / width);
    const double s = x[0] - layer * width, bend = fmin(s, width - s) / width;
    x[0] = layer % 2 ? width - s : s;
    /* layers drift apart towards the folds less than in the middle */
    x[2] += gap * (layer + s / width) + 0.1 * gap * bend;
    memcpy(c->cloth.x1 + 3 * i, x, 3 * sizeof *x);
  }
}

void mc_shake(mesh_case *c, int first, double size)
{
  for (int i = 3 * first; i < 3 * c->cloth.n; ++i)
    c->cloth.x1[i] = c->cloth.x0[i] += size * th_random(&c->seed);
}

/* ---- scene ---- */

static loom_real *as_real(const double *x, int n)
{
  loom_real *const out = grow_part_array(NULL, (size_t)n * sizeof *out);
  for (int i = 0; i < n; ++i) out[i] = (loom_real)x[i];
  return out;
}

static loom_buf *create_real_buffer(test_host *t, const double *x, int n)
{
  loom_real *const v = as_real(x, n);
  loom_buf *const b = th_buf(t, LOOM_REAL, n, v);
  free(v);
  return b;
}

void mc_open(mc_host *h, const mesh_case *c, int threads, int check)
{
  loom_real *const x = as_real(c->cloth.x0, 3 * c->cloth.n), *const r =
                                                                 as_real(c->cloth.r, c->cloth.n);
  memset(h, 0, sizeof *h);
  h->c = c;
  if (!check)
    unsetenv("LOOM_MEM_CHECK"); /* every map is a copy there; tests say where they want it */
  th_open(&h->t, threads, check);
  th_scene(&h->t, c->cloth.n, x, NULL, r, 0);
  loom_scene *const sc = &h->t.scene;
  th_put(&h->t, sc->fixed, c->cloth.fixed);
  th_put(&h->t, sc->object, c->cloth.object);
  sc->num_tris = c->cloth.nt;
  sc->num_edges = c->cloth.ne;
  sc->num_objects = c->num_objects;
  sc->tris = th_buf(&h->t, LOOM_I32, 3 * c->cloth.nt, c->cloth.tris);
  sc->edges = th_buf(&h->t, LOOM_I32, 2 * c->cloth.ne, c->cloth.edges);
  sc->num_body_verts = c->body.n;
  sc->num_body_tris = c->body.nt;
  sc->num_body_edges = c->body.ne;
  if (c->body.n > 0) {
    sc->body_tris = th_buf(&h->t, LOOM_I32, 3 * c->body.nt, c->body.tris);
    sc->body_edges = th_buf(&h->t, LOOM_I32, 2 * c->body.ne, c->body.edges);
    sc->body_of = th_buf(&h->t, LOOM_I32, c->body.n, c->body.object);
    h->t.step.body0 = create_real_buffer(&h->t, c->body.x0, 3 * c->body.n);
    h->t.step.body1 = create_real_buffer(&h->t, c->body.x1, 3 * c->body.n);
  }
  h->b0 = h->t.step.x_start;
  h->b1 = create_real_buffer(&h->t, c->cloth.x1, 3 * c->cloth.n);
  free(x);
  free(r);
}

void mc_close(mc_host *h) { th_close(&h->t); }

loom_query mc_query(const mc_host *h, uint32_t what, double margin)
{
  return (loom_query){.struct_size = sizeof(loom_query),
                      .what = what,
                      .kinds = LOOM_PAIR_MASK_ALL,
                      .margin = (loom_real)margin,
                      .x0 = h->b0,
                      .x1 = h->b1,
                      .progress0 = 0.0,
                      .progress1 = 1.0};
}

/* ---- plugins ---- */

void mc_plugin_open(mc_plugin *p, mc_host *h, const char *name, const char *values)
{
  p->h = h;
  p->p = th_plugin(name, LOOM_KIND_COLLISION, name);
  p->set = th_settings(p->p, values);
  p->self = th_create(&h->t, p->p, p->set);
  cr_assert_eq(TH_CALL(p->p->ops.collision, begin_step, p->self, &h->t.step), LOOM_OK, "%s: %s %s",
               name, h->t.err.text, mem_err(h->t.m)->text);
}

void mc_plugin_close(mc_plugin *p)
{
  p->p->ops.collision->destroy(p->self);
  free(p->set);
}

typedef struct row {
  int32_t kind;
  uint64_t key;
  int64_t at;
} row;

static int compare_row(const void *a, const void *b)
{
  const row *const p = a, *const q = b;
  if (p->kind != q->kind) return p->kind < q->kind ? -1 : 1;
  if (p->key != q->key) return p->key < q->key ? -1 : 1;
  return (p->at > q->at) - (p->at < q->at);
}

/* out[i] = in[order[i]], items of `size` bytes; frees `in` */
static void *reorder_items(void *in, const row *order, int64_t n, size_t size)
{
  char *const out = grow_part_array(NULL, (size_t)n * size);
  for (int64_t i = 0; i < n; ++i)
    memcpy(out + (size_t)i * size, (char *)in + (size_t)order[i].at * size, size);
  free(in);
  return out;
}

mc_found mc_find(mc_plugin *p, const loom_query *q)
{
  test_host *const t = &p->h->t;
  loom_pairs out;
  th_pairs_open(t, &out, 3);
  th_attach(t, p->p, p->self);
  mc_found f = {.grown = th_detect(t, q, &out)};
  f.n = out.count;
  int32_t *const kind = th_get(t, out.kind);
  uint64_t *const key = th_get(t, out.key);
  row *const order = grow_part_array(NULL, (size_t)f.n * sizeof *order);
  for (int64_t i = 0; i < f.n; ++i) order[i] = (row){kind[i], key[i], i};
  qsort(order, (size_t)f.n, sizeof *order, compare_row);
  f.kind = reorder_items(kind, order, f.n, sizeof *f.kind);
  f.key = reorder_items(key, order, f.n, sizeof *f.key);
  f.v = reorder_items(th_get(t, out.v), order, f.n, 4 * sizeof *f.v);
  f.obst = reorder_items(th_get(t, out.obst), order, f.n, sizeof *f.obst);
  f.w = reorder_items(th_get(t, out.w), order, f.n, 4 * sizeof *f.w);
  f.normal = reorder_items(th_get(t, out.normal), order, f.n, 3 * sizeof *f.normal);
  f.gap = reorder_items(th_get(t, out.gap), order, f.n, sizeof *f.gap);
  f.point = reorder_items(th_get(t, out.point), order, f.n, 3 * sizeof *f.point);
  f.toi = reorder_items(th_get(t, out.toi), order, f.n, sizeof *f.toi);
  for (int64_t i = 1; i < f.n; ++i)
    cr_assert(f.kind[i] != f.kind[i - 1] || f.key[i] != f.key[i - 1], "%s reports a pair twice",
              p->p->name);
  free(order);
  th_pairs_close(t, &out);
  return f;
}

void mc_drop(mc_found *f)
{
  free(f->kind), free(f->v), free(f->obst), free(f->w), free(f->normal), free(f->gap);
  free(f->point), free(f->toi), free(f->key);
}

void mc_same(const mc_found *a, const mc_found *b, const char *what)
{
  int64_t i = 0;
  while (i < a->n && i < b->n && a->kind[i] == b->kind[i] && a->key[i] == b->key[i]) ++i;
  cr_assert(i == a->n && i == b->n, "%s: %lld and %lld pairs; number %lld differs", what,
            (long long)a->n, (long long)b->n, (long long)i);
  const size_t n = (size_t)a->n, R = sizeof(loom_real);
  cr_assert_eq(memcmp(a->v, b->v, 16 * n), 0, "%s: vertices", what);
  cr_assert_eq(memcmp(a->obst, b->obst, 4 * n), 0, "%s: bodies", what);
  cr_assert_eq(memcmp(a->gap, b->gap, R * n), 0, "%s: gaps", what);
  cr_assert_eq(memcmp(a->w, b->w, 4 * R * n), 0, "%s: weights", what);
  cr_assert_eq(memcmp(a->normal, b->normal, 3 * R * n), 0, "%s: normals", what);
  cr_assert_eq(memcmp(a->point, b->point, 3 * R * n), 0, "%s: points", what);
  cr_assert_eq(memcmp(a->toi, b->toi, R * n), 0, "%s: times of impact", what);
}

void mc_verts(const mesh_case *c, const int32_t v[4], double t, double out[12])
{
  for (int i = 0; i < 4; ++i) {
    const mesh_part *const p = v[i] >= c->cloth.n ? &c->body : &c->cloth;
    const int j = v[i] >= c->cloth.n ? v[i] - c->cloth.n : v[i];
    for (int k = 0; k < 3; ++k) {
      const loom_real a = (loom_real)p->x0[3 * j + k], b = (loom_real)p->x1[3 * j + k];
      out[3 * i + k] = (1.0 - t) * a + t * b;
    }
  }
}
