/* ignored.c - see ignored.h. */
#include "scene/objects/ignored.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/suffix.h"
#include "scene/base/build.h"
#include "scene/base/exclusions.h"
#include "scene/moving/dress.h"
#include "scene/objects/named_parts.h"

enum { MAX_IGNORED = 32, MAX_PAIRS = 1 << 24 };

struct scene_ignored {
  int num;
  double until[MAX_IGNORED]; /* s */
  uint32_t *bits;            /* [n + nb] bit k: the vertex is in section k */
};

int ignored_holds(const scene_data *s, int32_t v, int32_t w, double t)
{
  const scene_ignored *const g = s->ignored;
  if (g == NULL) return 0;
  const uint32_t both = g->bits[v] & g->bits[w];
  for (int k = 0; k < g->num; ++k)
    if ((both >> k & 1) != 0 && t < g->until[k]) return 1;
  return 0;
}

void ignored_free(scene_data *s)
{
  if (s->ignored == NULL) return;
  free(s->ignored->bits);
  free(s->ignored);
  s->ignored = NULL;
}

/* ---- names ---- */

static loom_status refuse_ignored(builder *b, const cfg_section *sec, const char *key,
                                  const char *kind, const char *name, const char **names, int num)
{
  char list[600];
  err_names(list, sizeof list, name, names, num);
  err_set(b->err, LOOM_E_CONFIG, "there is no %s named \"%.80s\"; %s%s", kind, name,
          num > 0 ? "there is " : "there is none at all", list);
  return build_place(b, sec, key, LOOM_E_CONFIG);
}

/* NULL: there is none, and b->err says so. */
static const object *find_ignoring(builder *b, const cfg_section *sec, const char *name)
{
  const object *found = NULL;
  const char **names;
  int num = 0;
  if (mesh_alloc(b->err, b->num_objects, sizeof *names, &names) != LOOM_OK) return NULL;
  for (int k = 0; k < b->num_objects; ++k) {
    if (b->objects[k].kind != OBJECT_CLOTH) continue;
    names[num++] = b->objects[k].name;
    if (strcmp(b->objects[k].name, name) == 0) found = &b->objects[k];
  }
  if (found == NULL) (void)refuse_ignored(b, sec, "object", "cloth", name, names, num);
  free(names);
  return found;
}

/* The obstacle, and the id of its first vertex among those of bodies. */
static loom_status find_ignored_body(builder *b, const cfg_section *sec, const char *name,
                                     int *body, int32_t *first)
{
  const char **names;
  const int num = b->s->pub.num_obstacles;
  int32_t verts = 0;
  *body = -1;
  LOOM_TRY(mesh_alloc(b->err, num, sizeof *names, &names));
  for (int k = 0; k < num; ++k) {
    const loom_obstacle *const o = &b->s->obstacles[k];
    names[k] = o->name;
    if (strcmp(o->name, name) == 0) {
      *body = k;
      *first = verts;
    }
    if (body_has_mesh(o)) verts += (int32_t)(buf_count(o->verts) / 3);
  }
  const loom_status s =
      *body >= 0 ? LOOM_OK : refuse_ignored(b, sec, "body", "body", name, names, num);
  free(names);
  if (s != LOOM_OK) return s;
  if (b->s->obstacles[*body].has == LOOM_BODY_MESH) return LOOM_OK;
  return build_place(b, sec, "body",
                     err_set(b->err, LOOM_E_CONFIG,
                             "\"%s\" has a distance, by which contact meets it everywhere; give it "
                             "shape = mesh with sdf_resolution = 0",
                             name));
}

/* ---- vertices ---- */

/* Sets bit k of the vertices of chosen triangles; *count: how many vertices have it. */
static void mark_part(const mesh *m, const unsigned char *tri, uint32_t *bits, int k,
                      int64_t *count)
{
  for (int64_t t = 0; t < m->num_tris; ++t)
    for (int a = 0; a < 3 && tri[t]; ++a) bits[m->tris[3 * t + a]] |= UINT32_C(1) << k;
  for (int32_t v = 0; v < m->num_verts; ++v) *count += bits[v] >> k & 1;
}

/* Bit k of the vertices of a part of mesh of->m. */
static loom_status choose_part(builder *b, const named_parts *of, uint32_t *bits, int k,
                               int64_t *count)
{
  unsigned char *tri;
  int64_t seams = 0;
  *count = 0;
  LOOM_TRY(mesh_alloc(b->err, of->m->num_tris, 1, &tri));
  loom_status s = LOOM_OK;
  if (of->where[0] == '\0' && of->labels[0] == '\0')
    memset(tri, 1, (size_t)of->m->num_tris);
  else
    s = named_parts_choose(b, of, tri, &seams);
  if (s == LOOM_OK) mark_part(of->m, tri, bits, k, count);
  if (s == LOOM_OK && *count == 0)
    s = build_place(b, of->sec, of->where_key,
                    err_set(b->err, LOOM_E_CONFIG, "no triangle of %s is in the part", of->label));
  free(tri);
  return s;
}

/* The file of the body again: only it has the names of parts. */
static loom_status read_body_parts(builder *b, const cfg_section *sec, const loom_obstacle *o,
                                   char *path, size_t len, mesh *m)
{
  char name[300];
  uint32_t count;
  body_settings set;
  const loom_param *const params = scene_params("body", &count);
  snprintf(name, sizeof name, "body.%s", o->name);
  const cfg_section *const body = cfg_find(b->c, name);
  if (body == NULL)
    return build_place(b, sec, "body",
                       err_set(b->err, LOOM_E_CONFIG, "[%s] has no section of its own", name));
  LOOM_TRY(cfg_bind(b->err, body, params, count, &set));
  snprintf(path, len, "%s", set.file);
  if (set.shape != BODY_MESH || !(has_suffix(path, ".obj") || has_suffix(path, ".ply")))
    return build_place(b, sec, "body",
                       err_set(b->err, LOOM_E_CONFIG,
                               "[%s] has no parts: a shape = mesh with a file that ends in .obj or "
                               ".ply is needed",
                               name));
  const loom_status s = build_read_mesh(b->err, path, has_suffix(path, ".ply"), m);
  if (s != LOOM_OK) return build_place(b, body, "file", s);
  if (3 * (int64_t)m->num_verts == buf_count(o->verts)) return LOOM_OK;
  mesh_free(m);
  return err_set(b->err, LOOM_E_CONFIG, "%s: has changed while it was read", path);
}

static loom_status choose_both(builder *b, const cfg_section *sec, const ignore_settings *set,
                               int k, int64_t count[2])
{
  const object *const o = find_ignoring(b, sec, set->object);
  int body;
  int32_t first = 0;
  char path[4096];
  mesh m = {0};
  uint32_t *const bits = b->s->ignored->bits;
  if (o == NULL) return b->err->code;
  LOOM_TRY(find_ignored_body(b, sec, set->body, &body, &first));
  const named_parts cloth = {.sec = sec,
                             .where_key = "where",
                             .labels_key = "labels",
                             .where = set->where,
                             .labels = set->labels,
                             .m = &o->m,
                             .label = o->label,
                             .merged = o->merged,
                             .num_named = o->num_named};
  LOOM_TRY(choose_part(b, &cloth, bits + o->first_vert, k, &count[0]));
  LOOM_TRY(read_body_parts(b, sec, &b->s->obstacles[body], path, sizeof path, &m));
  const named_parts part = {.sec = sec,
                            .where_key = "part",
                            .labels_key = "part_labels",
                            .where = set->part,
                            .labels = set->part_labels,
                            .m = &m,
                            .label = path};
  const loom_status s = choose_part(b, &part, bits + b->s->pub.num_verts + first, k, &count[1]);
  mesh_free(&m);
  return s;
}

/* ---- sections ---- */

static loom_status read_ignored(builder *b, const cfg_section *sec, int64_t *pairs)
{
  scene_ignored *const g = b->s->ignored;
  ignore_settings set;
  int64_t count[2] = {0, 0};
  LOOM_TRY(cfg_bind(b->err, sec, scene_ignore_params, SCENE_IGNORE_PARAMS, &set));
  if (g->num == MAX_IGNORED)
    return build_place(b, sec, NULL,
                       err_set(b->err, LOOM_E_CONFIG, "more than %d sections", MAX_IGNORED));
  g->until[g->num] = set.until > 0 ? set.until : dress_end(b->s);
  if (!(g->until[g->num] > 0))
    return build_place(b, sec, "until",
                       err_set(b->err, LOOM_E_CONFIG,
                               "is missing: no gravity, thread or pin says when dressing is over"));
  LOOM_TRY(choose_both(b, sec, &set, g->num, count));
  *pairs += count[0] * count[1];
  if (*pairs > MAX_PAIRS)
    return build_place(b, sec, NULL,
                       err_set(b->err, LOOM_E_CONFIG,
                               "%lld vertices of cloth times %lld of the body are more than %d "
                               "pairs; name smaller parts",
                               (long long)count[0], (long long)count[1], MAX_PAIRS));
  LOOM_TRY(build_note(b, "[%s]: %lld vertices of %s ignore %lld vertices of body %s until %g s",
                      cfg_section_name(sec), (long long)count[0], set.object, (long long)count[1],
                      set.body, g->until[g->num]));
  ++g->num;
  return LOOM_OK;
}

/* The pairs of all sections, behind the ones that are on the list. */
static loom_status list_ignored_pairs(builder *b, int64_t pairs)
{
  scene_data *const s = b->s;
  const int64_t n = s->pub.num_verts, rows = n + s->pub.num_body_verts;
  const uint32_t *const bits = s->ignored->bits;
  int32_t *list;
  int64_t num = 0;
  const int32_t *const old = scene_left_out_pairs(s, SCENE_AT_START, &num);
  LOOM_TRY(mesh_alloc(b->err, 2 * (num + pairs), sizeof *list, &list));
  if (old != NULL) memcpy(list, old, 2 * sizeof *list * (size_t)num);
  for (int64_t v = 0; v < n; ++v)
    for (int64_t w = n; bits[v] != 0 && w < rows; ++w) {
      if ((bits[v] & bits[w]) == 0) continue;
      list[2 * num] = (int32_t)v;
      list[2 * num++ + 1] = (int32_t)w;
    }
  const loom_status st = scene_leave_out(b->err, s, SCENE_AT_START, list, num);
  free(list);
  return st;
}

loom_status build_ignored(builder *b)
{
  scene_data *const s = b->s;
  int64_t pairs = 0;
  if (cfg_next(b->c, "ignore", NULL) == NULL) return LOOM_OK;
  LOOM_TRY(mesh_alloc(b->err, 1, sizeof *s->ignored, &s->ignored));
  LOOM_TRY(mesh_alloc(b->err, (int64_t)s->pub.num_verts + s->pub.num_body_verts,
                      sizeof *s->ignored->bits, &s->ignored->bits));
  for (const cfg_section *c = NULL; (c = cfg_next(b->c, "ignore", c)) != NULL;)
    LOOM_TRY(read_ignored(b, c, &pairs));
  return list_ignored_pairs(b, pairs);
}
