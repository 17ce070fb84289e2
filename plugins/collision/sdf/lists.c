/* lists.c - which edges and triangles are compared with which bodies, see elements.h. */
#include <stdio.h>
#include <stdlib.h>

#include "elements.h"
#include "loom/plug.h"

static int is_wanted(const sdf_elements *s, int mode, int32_t body, int32_t object)
{
  const uint8_t at = s->sc->elements[(int64_t)body * s->sc->num_objects + object];
  return at == LOOM_ELEMENTS_UNRESOLVED ||
         (mode == SDF_ELEMENTS_ALL && at == LOOM_ELEMENTS_RESOLVED);
}

/* wants [slots][num_objects]; the objects that some body wants in any [num_objects]. */
static void list_slots(sdf_elements *s, int mode, uint8_t *wants, uint8_t *any)
{
  const int32_t num = s->sc->num_objects;
  for (int32_t b = 0; b < s->sc->num_obstacles; ++b) {
    uint8_t *const row = wants + (int64_t)s->slots * num;
    int wanted = 0;
    for (int32_t o = 0; o < num; ++o) {
      row[o] = (uint8_t)is_wanted(s, mode, b, o);
      any[o] |= row[o];
      wanted |= row[o];
    }
    if (wanted) s->body[s->slots++] = b;
  }
}

typedef struct element_lists { /* on the host */
  int32_t *corner;             /* [num][4] */
  int32_t *first, *of_vert;    /* [n + 1], [first[n]] */
  uint8_t *wants, *any;
} element_lists;

static void append_element(sdf_elements *s, int32_t *corner, const int32_t *v, int corners,
                           int64_t id)
{
  int32_t *const c = corner + 4 * (int64_t)s->num++;
  for (int k = 0; k < 3; ++k) c[k] = k < corners ? v[k] : -1;
  c[3] = (int32_t)(uint32_t)id;
}

static void list_scene_elements(sdf_elements *s, const element_lists *l, const int32_t *edges,
                                const int32_t *tris, const int32_t *object)
{
  const int64_t ne = s->sc->num_edges;
  for (int64_t k = 0; k < ne; ++k)
    if (l->any[object[edges[2 * k]]]) append_element(s, l->corner, edges + 2 * k, 2, k);
  for (int64_t k = 0; k < s->sc->num_tris; ++k)
    if (l->any[object[tris[3 * k]]]) append_element(s, l->corner, tris + 3 * k, 3, ne + k);
}

/* The elements of each vertex, ascending. */
static void list_by_vertex(const sdf_elements *s, const element_lists *l)
{
  const int64_t n = s->sc->num_verts, items = 4 * (int64_t)s->num;
  for (int64_t k = 0; k < items; ++k)
    if (k % 4 < 3 && l->corner[k] >= 0) ++l->first[l->corner[k] + 1];
  for (int64_t i = 0; i < n; ++i) l->first[i + 1] += l->first[i];
  for (int64_t k = 0; k < items; ++k)
    if (k % 4 < 3 && l->corner[k] >= 0) l->of_vert[l->first[l->corner[k]]++] = (int32_t)(k / 4);
  for (int64_t i = n; i > 0; --i) l->first[i] = l->first[i - 1];
  l->first[0] = 0;
}

static loom_status upload_lists(sdf_elements *s, const element_lists *l)
{
  const loom_host *const host = s->host;
  const int64_t n = s->sc->num_verts, cands = (int64_t)s->slots * s->num;
  const int64_t groups = (cands + SDF_GROUP - 1) / SDF_GROUP;
  LOOM_TRY(plug_put_new(host, s->e, "corners of elements", LOOM_I32, l->corner, 4 * (int64_t)s->num,
                        &s->corner));
  LOOM_TRY(
      plug_put_new(host, s->e, "bodies of elements", LOOM_I32, s->body, s->slots, &s->body_of));
  LOOM_TRY(plug_put_new(host, s->e, "objects of bodies", LOOM_U8, l->wants,
                        (int64_t)s->slots * s->sc->num_objects, &s->wants));
  LOOM_TRY(plug_put_new(host, s->e, "first elements", LOOM_I32, l->first, n + 1, &s->first));
  LOOM_TRY(plug_put_new(host, s->e, "elements of vertices", LOOM_I32, l->of_vert, l->first[n],
                        &s->of_vert));
  const plug_buf all[] = {
      {"ways of bodies", LOOM_REAL, (int64_t)SDF_MOTION * s->slots, &s->motion},
      {"near elements", LOOM_U8, cands, &s->near},
      {"elements in a group", LOOM_I64, groups, &s->count},
      {"places of elements", LOOM_I64, groups + 1, &s->place},
      {"pairs in a group", LOOM_I64, 0, &s->counts},
      {"places of pairs", LOOM_I64, 1, &s->places},
      {"found elements", LOOM_U8, 0, &s->found},
      {"bodies of rows", LOOM_I32, 0, &s->row_body},
      {"corners of rows", LOOM_I32, 0, &s->row_v},
      {"elements of rows", LOOM_I32, 0, &s->row_element},
      {"element gaps", LOOM_REAL, 0, &s->gap},
      {"element weights", LOOM_REAL, 0, &s->weight},
      {"element normals", LOOM_REAL, 0, &s->normal},
      {"flat elements", LOOM_REAL, 0, &s->flat},
      {"element floors", LOOM_REAL, 0, &s->floor},
      {"element tolerances", LOOM_REAL, 0, &s->tol},
      {"element impacts", LOOM_REAL, 0, &s->toi},
      {"impact gaps", LOOM_REAL, 0, &s->hit_gap},
      {"impact weights", LOOM_REAL, 0, &s->hit_weight},
      {"impact normals", LOOM_REAL, 0, &s->hit_normal},
      {"impact points", LOOM_REAL, 0, &s->hit_point},
      {"element steps", LOOM_REAL, s->num, &s->t},
      {"bodies of element steps", LOOM_I32, s->num, &s->who},
  };
  return plug_bufs_new(host, all, LOOM_COUNT(all));
}

static loom_status build_lists(sdf_elements *s, int mode, element_lists *l)
{
  const loom_host *const host = s->host;
  const loom_scene *const sc = s->sc;
  const int64_t most = (int64_t)sc->num_edges + sc->num_tris, n = sc->num_verts;
  const int64_t table = (int64_t)sc->num_obstacles * sc->num_objects;
  s->body = calloc((size_t)sc->num_obstacles, sizeof *s->body);
  l->wants = calloc((size_t)table, 1);
  l->any = calloc((size_t)sc->num_objects, 1);
  l->corner = calloc(4 * (size_t)most + 1, sizeof *l->corner);
  l->first = calloc((size_t)n + 1, sizeof *l->first);
  l->of_vert = calloc(3 * (size_t)most + 1, sizeof *l->of_vert);
  LOOM_CHECK(host, s->body && l->wants && l->any && l->corner && l->first && l->of_vert,
             LOOM_E_NOMEM, "no memory for %lld edges and triangles", (long long)most);
  list_slots(s, mode, l->wants, l->any);
  plug_maps m = plug_maps_on(host, s->e);
  const int32_t *const object = plug_read_host(&m, sc->object);
  const int32_t *const edges = plug_read_host(&m, sc->edges);
  const int32_t *const tris = plug_read_host(&m, sc->tris);
  if (m.status == LOOM_OK) list_scene_elements(s, l, edges, tris, object);
  LOOM_TRY(plug_unbind(&m));
  if (s->num == 0) s->slots = 0;
  if (s->slots == 0) return LOOM_OK;
  LOOM_CHECK(host, (int64_t)s->slots * s->num <= LK_MAX_ELEMS, LOOM_E_ARG,
             "%d bodies times %d edges and triangles is more than %d; use fewer bodies, or "
             "elements = none",
             s->slots, s->num, (int)LK_MAX_ELEMS);
  list_by_vertex(s, l);
  return upload_lists(s, l);
}

/* elements = none, where the rule wants some. */
static void warn_of_none(const sdf_elements *s)
{
  const loom_scene *const sc = s->sc;
  int first = -1, more = -1;
  for (int32_t b = 0; b < sc->num_obstacles; ++b) {
    int wanted = 0;
    for (int32_t o = 0; o < sc->num_objects; ++o) wanted |= is_wanted(s, SDF_ELEMENTS_AUTO, b, o);
    if (wanted && first < 0) first = b;
    more += wanted;
  }
  if (first < 0) return;
  char others[64] = "";
  if (more > 0) snprintf(others, sizeof others, " (and of %d more bodies)", more);
  s->host->log(s->host, LOOM_LOG_WARN,
               "elements = none: edges of cloth span the curvature of [body.%.64s]%s, and with "
               "vertices alone they may enter it; remove the key",
               sc->obstacles[first].name, others);
}

loom_status sdf_elements_open(sdf_elements *s, int mode)
{
  element_lists l = {0};
  const loom_scene *const sc = s->sc;
  if (sc->elements == NULL || sc->num_obstacles == 0 || sc->num_edges == 0) return LOOM_OK;
  if (mode == SDF_ELEMENTS_NONE) {
    warn_of_none(s);
    return LOOM_OK;
  }
  const loom_status st = build_lists(s, mode, &l);
  free(l.corner), free(l.first), free(l.of_vert), free(l.wants), free(l.any);
  s->stale = 1;
  return st;
}

void sdf_elements_close(sdf_elements *s) { free(s->body); }
