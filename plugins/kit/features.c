/* features.c - see features.h. */
#include "kit/features.h"

#include <math.h>
#include <string.h>

/* Triangles of the scene and of bodies, with ids as pairs have them. */
typedef struct surface {
  int32_t num, points; /* triangles, vertices */
  int32_t *corner;     /* [num][3] */
} surface;

typedef struct side { /* one side of a triangle */
  uint64_t name;      /* its vertices, the smaller one first */
  int32_t triangle, slot;
} side;

typedef struct table { /* topology from which the buffers are made */
  int64_t num_edges;
  side *side;       /* [3 num] sorted by name, then triangle */
  int64_t *at_edge; /* [num_edges + 1] into side */
} table;

static int compare_sides(const void *a_, const void *b_)
{
  const side *const a = a_, *const b = b_;
  if (a->name != b->name) return a->name < b->name ? -1 : 1;
  return a->triangle < b->triangle ? -1 : a->triangle > b->triangle;
}

static loom_status read_triangles(const loom_host *host, const loom_exec *e, loom_buf *tris,
                                  int32_t num, int32_t offset, int32_t *out)
{
  void *t;
  if (num == 0 || tris == NULL) return LOOM_OK;
  LOOM_TRY(host->map(host, e, tris, LOOM_READ, LOOM_AT_HOST, &t));
  for (int64_t k = 0; k < 3 * (int64_t)num; ++k) out[k] = ((const int32_t *)t)[k] + offset;
  return host->unmap(host, tris);
}

static void list_edges(const surface *s, table *t)
{
  const int64_t n = 3 * (int64_t)s->num;
  for (int64_t k = 0; k < n; ++k) {
    const int32_t *const c = s->corner + k / 3 * 3;
    const int32_t i = c[(k + 1) % 3], j = c[(k + 2) % 3];
    t->side[k].name = (uint64_t)(i < j ? i : j) << 32 | (uint64_t)(i < j ? j : i);
    t->side[k].triangle = (int32_t)(k / 3);
    t->side[k].slot = (int32_t)(k % 3);
  }
  qsort(t->side, (size_t)n, sizeof *t->side, compare_sides);
  t->num_edges = 0;
  for (int64_t k = 0; k < n; ++k)
    if (k == 0 || t->side[k].name != t->side[k - 1].name) t->at_edge[t->num_edges++] = k;
  t->at_edge[t->num_edges] = n;
}

static int32_t side_vertex(const side *s, int second)
{
  return (int32_t)(second ? s->name & 0xffffffffu : s->name >> 32);
}

/* Owners, c and lengths of rings, which stand in first[s + 1]. */
static void fill_features(const surface *s, const table *t, int32_t *edge, int32_t *owner,
                          int32_t *factor, int64_t *first)
{
  const int64_t all = s->points + t->num_edges;
  memset(first, 0, sizeof *first * (size_t)(all + 1));
  for (int64_t i = 0; i < all; ++i) owner[i] = -1, factor[i] = 1;
  for (int64_t k = 3 * (int64_t)s->num - 1; k >= 0; --k) {
    owner[s->corner[k]] = (int32_t)(k / 3); /* the smallest index stays */
    --factor[s->corner[k]];
  }
  for (int64_t k = 0; k < t->num_edges; ++k) {
    const side *const of = t->side + t->at_edge[k];
    const int32_t num = (int32_t)(t->at_edge[k + 1] - t->at_edge[k]);
    owner[s->points + k] = of->triangle;
    factor[s->points + k] = 1 - num;
    first[s->points + k + 1] = num;
    for (int b = 0; b < 2; ++b) {
      factor[side_vertex(of, b)] -= 1 - num;
      ++first[side_vertex(of, b) + 1];
    }
    for (int l = 0; l < num; ++l) edge[3 * of[l].triangle + of[l].slot] = (int32_t)k;
  }
  for (int64_t i = 0; i < all; ++i) first[i + 1] += first[i];
}

/* place: [features], work */
static void fill_rings(const surface *s, const table *t, const int64_t *first, int64_t *place,
                       int32_t *ring)
{
  memcpy(place, first, sizeof *place * (size_t)(s->points + t->num_edges));
  for (int64_t k = 0; k < t->num_edges; ++k) {
    const int64_t from = t->at_edge[k], to = t->at_edge[k + 1];
    for (int64_t l = from; l < to; ++l)
      ring[place[s->points + k]++] = s->corner[3 * t->side[l].triangle + t->side[l].slot];
    for (int b = 0; b < 2; ++b)
      ring[place[side_vertex(t->side + from, b)]++] = side_vertex(t->side + from, !b);
  }
}

/* Measures the edges of the scene's triangles at rest, m. */
static loom_status measure_rest_edges(features *f, const loom_host *host, const loom_exec *e,
                                      const table *t)
{
  void *x_;
  double sum = 0.0;
  int64_t num = 0;
  LOOM_TRY(host->map(host, e, f->sc->rest_x, LOOM_READ, LOOM_AT_HOST, &x_));
  const loom_real *const x = x_;
  for (int64_t k = 0; k < t->num_edges; ++k) {
    const side *const of = t->side + t->at_edge[k];
    const int32_t i = side_vertex(of, 0), j = side_vertex(of, 1);
    if (i >= f->sc->num_verts) continue;
    double len2 = 0.0;
    for (int c = 0; c < 3; ++c) {
      const double d = (double)x[3 * j + c] - (double)x[3 * i + c];
      len2 += d * d;
    }
    sum += sqrt(len2);
    ++num;
  }
  f->mean_edge = num > 0 ? sum / (double)num : 0.0;
  return host->unmap(host, f->sc->rest_x);
}

/* The edge of the table with these vertices; -1: none. */
static int32_t find_table_edge(const table *t, int32_t i, int32_t j)
{
  const uint64_t name = (uint64_t)(i < j ? i : j) << 32 | (uint64_t)(i < j ? j : i);
  int64_t from = 0, to = t->num_edges;
  while (from < to) {
    const int64_t middle = from + (to - from) / 2;
    if (t->side[t->at_edge[middle]].name < name)
      from = middle + 1;
    else
      to = middle;
  }
  return from < t->num_edges && t->side[t->at_edge[from]].name == name ? (int32_t)from : -1;
}

/* out [num]: edges of the table of the contact edges in `edges`, with vertices from `offset`. */
static loom_status match_edges(const loom_host *host, const loom_exec *e, const table *t,
                               loom_buf *edges, int32_t num, int32_t offset, int32_t *out)
{
  void *v_;
  if (num == 0 || edges == NULL) return LOOM_OK;
  LOOM_TRY(host->map(host, e, edges, LOOM_READ, LOOM_AT_HOST, &v_));
  const int32_t *const v = v_;
  for (int64_t k = 0; k < num; ++k)
    out[k] = find_table_edge(t, v[2 * k] + offset, v[2 * k + 1] + offset);
  return host->unmap(host, edges);
}

static loom_status match_contact_edges(const features *f, const loom_host *host, const loom_exec *e,
                                       const table *t)
{
  const loom_scene *const sc = f->sc;
  plug_maps m = plug_maps_on(host, e);
  int32_t *const of = plug_write_host(&m, f->of_edge);
  LOOM_TRY(m.status);
  LOOM_TRY(match_edges(host, e, t, sc->edges, sc->num_edges, 0, of));
  LOOM_TRY(match_edges(host, e, t, sc->body_edges, sc->num_body_edges, sc->num_verts,
                       of + sc->num_edges));
  return plug_unbind(&m);
}

static loom_status create_feature_buffers(features *f, const loom_host *host, int64_t triangles,
                                          int64_t all, int64_t rings)
{
  const int64_t edges = (int64_t)f->sc->num_edges + f->sc->num_body_edges;
  const plug_buf bufs[] = {{"contact edges of triangles", LOOM_I32, edges, &f->of_edge},
                           {"edges of triangles", LOOM_I32, 3 * triangles, &f->edge},
                           {"owners of features", LOOM_I32, all, &f->owner},
                           {"factors of features", LOOM_I32, all, &f->factor},
                           {"first neighbours of features", LOOM_I64, all + 1, &f->first},
                           {"neighbours of features", LOOM_I32, rings, &f->ring}};
  return plug_bufs_new(host, bufs, LOOM_COUNT(bufs));
}

static loom_status make_buffers(features *f, const loom_host *host, const loom_exec *e,
                                const surface *s, const table *t, int64_t *place)
{
  const int64_t all = s->points + t->num_edges;
  LOOM_TRY(create_feature_buffers(f, host, s->num, all, 3 * (int64_t)s->num + 2 * t->num_edges));
  LOOM_TRY(match_contact_edges(f, host, e, t));
  if (s->num == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(host, e);
  int32_t *const edge = plug_write_host(&m, f->edge), *const owner = plug_write_host(&m, f->owner);
  int32_t *const factor = plug_write_host(&m, f->factor);
  int64_t *const first = plug_write_host(&m, f->first);
  int32_t *const ring = plug_write_host(&m, f->ring);
  LOOM_TRY(m.status);
  fill_features(s, t, edge, owner, factor, first);
  fill_rings(s, t, first, place, ring);
  LOOM_TRY(plug_unbind(&m));
  return measure_rest_edges(f, host, e, t);
}

loom_status features_new(features *f, const loom_host *host, const loom_scene *sc,
                         const loom_exec *e)
{
  surface s = {.num = sc->num_tris + sc->num_body_tris,
               .points = sc->num_verts + sc->num_body_verts};
  const size_t sides = 3 * (size_t)s.num;
  f->sc = sc;
  f->out = loom_scene_exclusions(sc);
  s.corner = calloc(sides + 1, sizeof *s.corner);
  table t = {.side = malloc(sizeof *t.side * (sides + 1)),
             .at_edge = malloc(sizeof *t.at_edge * (sides + 1))};
  int64_t *const place = malloc(sizeof *place * (sides + (size_t)s.points + 1));
  loom_status st = LOOM_E_NOMEM;
  if (s.corner == NULL || t.side == NULL || t.at_edge == NULL || place == NULL) {
    st = LOOM_FAIL(host, LOOM_E_NOMEM, "no memory for the edges of %d triangles", (int)s.num);
  } else {
    st = read_triangles(host, e, sc->tris, sc->num_tris, 0, s.corner);
    if (st == LOOM_OK)
      st = read_triangles(host, e, sc->body_tris, sc->num_body_tris, sc->num_verts,
                          s.corner + 3 * (int64_t)sc->num_tris);
    if (st == LOOM_OK) {
      list_edges(&s, &t);
      st = make_buffers(f, host, e, &s, &t, place);
    }
  }
  free(place), free(t.at_edge), free(t.side), free(s.corner);
  return st;
}

feature_lists features_open(const features *f, plug_maps *m)
{
  const int lists = f->out != NULL && f->out->count > 0;
  return (feature_lists){.edge = plug_read(m, f->edge),
                         .of_edge = plug_read(m, f->of_edge),
                         .owner = plug_read(m, f->owner),
                         .factor = plug_read(m, f->factor),
                         .first = plug_read(m, f->first),
                         .ring = plug_read(m, f->ring),
                         .out = plug_read(m, lists ? f->out->first : NULL),
                         .other = plug_read(m, lists ? f->out->other : NULL),
                         .points = f->sc->num_verts + f->sc->num_body_verts};
}
