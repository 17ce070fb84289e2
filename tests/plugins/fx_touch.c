/* fx_touch.c - a collision plugin that finds vertices of different cloths near each other, by
 * comparing cells of a grid: couplings for the tests of solvers, not a method. */
#include <math.h>
#include <stdlib.h>

#include "loom/plug.h"
#include "loom/plugin.h"

typedef struct cell {
  int64_t key;
  int32_t vertex;
} cell;

typedef struct touch {
  const loom_host *host;
  const loom_scene *sc;
  const loom_exec *e;
  cell *cells; /* [n], sorted */
} touch;

typedef struct pair {
  int32_t a, b;
} pair;

static loom_status fx_touch_create(const loom_host *host, const loom_scene *sc, const loom_exec *e,
                                   const void *settings, void **self)
{
  touch *const t = calloc(1, sizeof *t);
  (void)settings;
  LOOM_CHECK(host, t != NULL, LOOM_E_NOMEM, "no memory");
  *self = t;
  t->host = host;
  t->sc = sc;
  t->e = e;
  t->cells = calloc((size_t)sc->num_verts + 1, sizeof *t->cells);
  LOOM_CHECK(host, t->cells != NULL, LOOM_E_NOMEM, "no memory");
  return LOOM_OK;
}

static void fx_touch_destroy(void *self)
{
  touch *const t = self;
  if (t == NULL) return;
  free(t->cells);
  free(t);
}

static int64_t cell_key(int64_t x, int64_t y, int64_t z)
{
  enum { SPAN = 1 << 20 };
  return ((x + SPAN) << 42) + ((y + SPAN) << 21) + (z + SPAN);
}

static int by_key(const void *a, const void *b)
{
  const cell *const p = a, *const q = b;
  if (p->key != q->key) return (p->key > q->key) - (p->key < q->key);
  return (p->vertex > q->vertex) - (p->vertex < q->vertex);
}

/* First cell with a key not below `key`. */
static int32_t find_first_cell(const cell *c, int32_t n, int64_t key)
{
  int32_t lo = 0;
  while (n > 0) {
    const int32_t half = n / 2;
    if (c[lo + half].key < key) {
      lo += half + 1;
      n -= half + 1;
    } else {
      n = half;
    }
  }
  return lo;
}

typedef struct arrays {
  const loom_real *x, *radius;
  const int32_t *layer;
  int32_t *kind, *v, *obst;
  loom_real *w, *normal, *gap, *point, *toi;
  uint64_t *key;
} arrays;

static double compute_vertex_gap(const arrays *m, pair p, double *d)
{
  double s = 0.0;
  for (int c = 0; c < 3; ++c) {
    d[c] = (double)m->x[3 * p.a + c] - (double)m->x[3 * p.b + c];
    s += d[c] * d[c];
  }
  s = sqrt(s);
  for (int c = 0; c < 3; ++c) d[c] = s > 0.0 ? d[c] / s : (double)(c == 2);
  return s - (double)m->radius[p.a] - (double)m->radius[p.b];
}

static void write_vertex_pair(const arrays *m, int64_t at, pair p, double gap, const double *normal)
{
  m->kind[at] = LOOM_PAIR_VV;
  m->obst[at] = -1;
  m->gap[at] = (loom_real)gap;
  m->toi[at] = (loom_real)2.0;
  m->key[at] = (uint64_t)p.a << 32 | (uint64_t)p.b;
  for (int c = 0; c < 4; ++c) {
    m->v[4 * at + c] = c == 0 ? p.a : c == 1 ? p.b : -1;
    m->w[4 * at + c] = (loom_real)(c == 0 ? 1.0 : c == 1 ? -1.0 : 0.0);
  }
  for (int c = 0; c < 3; ++c) {
    m->normal[3 * at + c] = (loom_real)normal[c];
    m->point[3 * at + c] = (loom_real)0.0;
  }
}

/* Pairs in order of (a, b); pairs beyond `room` are only counted. */
static int64_t search_close_vertices(touch *t, const arrays *m, double margin, int64_t first,
                                     int64_t room)
{
  const int32_t n = t->sc->num_verts;
  double reach = margin, d[3];
  int64_t num = 0;
  for (int32_t i = 0; i < n; ++i) reach = fmax(reach, margin + 2.0 * (double)m->radius[i]);
  for (int32_t i = 0; i < n; ++i) {
    int64_t q[3];
    for (int c = 0; c < 3; ++c) q[c] = (int64_t)floor((double)m->x[3 * i + c] / reach);
    t->cells[i] = (cell){cell_key(q[0], q[1], q[2]), i};
  }
  qsort(t->cells, (size_t)n, sizeof *t->cells, by_key);
  for (int32_t i = 0; i < n; ++i) {
    int32_t near[512], count = 0;
    for (int k = 0; k < 27; ++k) {
      int64_t q[3];
      for (int c = 0; c < 3; ++c) q[c] = (int64_t)floor((double)m->x[3 * i + c] / reach);
      const int64_t key = cell_key(q[0] + k / 9 - 1, q[1] + k / 3 % 3 - 1, q[2] + k % 3 - 1);
      for (int32_t c = find_first_cell(t->cells, n, key); c < n && t->cells[c].key == key; ++c) {
        const int32_t j = t->cells[c].vertex;
        if (j <= i || m->layer[j] == m->layer[i] || count == 512) continue;
        int32_t at = count++; /* ascending */
        for (; at > 0 && near[at - 1] > j; --at) near[at] = near[at - 1];
        near[at] = j;
      }
    }
    for (int32_t c = 0; c < count; ++c) {
      const pair p = {i, near[c]};
      const double gap = compute_vertex_gap(m, p, d);
      if (!(gap < margin)) continue;
      if (num < room) write_vertex_pair(m, first + num, p, gap, d);
      ++num;
    }
  }
  return num;
}

static loom_status fx_touch_detect(void *self, const loom_step *s, const loom_query *q,
                                   loom_pairs *out)
{
  touch *const t = self;
  plug_maps b = plug_maps_on(t->host, t->e);
  const arrays m = {.x = plug_read_host(&b, q->x0),
                    .radius = plug_read_host(&b, t->sc->radius),
                    .layer = plug_read_host(&b, t->sc->layer),
                    .kind = plug_rdwr_host(&b, out->kind),
                    .v = plug_rdwr_host(&b, out->v),
                    .obst = plug_rdwr_host(&b, out->obst),
                    .w = plug_rdwr_host(&b, out->w),
                    .normal = plug_rdwr_host(&b, out->normal),
                    .gap = plug_rdwr_host(&b, out->gap),
                    .point = plug_rdwr_host(&b, out->point),
                    .toi = plug_rdwr_host(&b, out->toi),
                    .key = plug_rdwr_host(&b, out->key)};
  LOOM_TRY(b.status);
  (void)s;
  const int64_t room = out->capacity - out->count;
  const int64_t num = search_close_vertices(t, &m, (double)q->margin, out->count, room);
  LOOM_TRY(plug_unbind(&b));
  out->count += num;
  return num > room ? LOOM_GROW : LOOM_OK;
}

static const loom_collision_ops ops = {.struct_size = sizeof ops,
                                       .provides = LOOM_COLL_PROXIMITY,
                                       .pair_kinds = LOOM_BIT(LOOM_PAIR_VV),
                                       .create = fx_touch_create,
                                       .destroy = fx_touch_destroy,
                                       .detect = fx_touch_detect};

static const loom_plugin plugin = {
    LOOM_PLUGIN(collision, ops, LOOM_ON_CPU),
    .name = "fx_touch",
    .version = "0.1.0",
    .summary = "vertices of two cloths near each other",
    .reference = "none",
    .license = "MIT",
};

LOOM_EXPORT_PLUGIN(&plugin)
