/* regions.c - [region.NAME]: parts of a cloth with their own density and stiffness. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/words.h"
#include "mesh/material.h"
#include "scene/base/build.h"

/* ---- names of parts ---- */

/* The parts that triangles may belong to. */
typedef struct parts {
  char **names; /* [num] */
  int32_t num;
  const int32_t *of; /* number of each triangle, or of each line of a file; -1: none */
} parts;

enum { PART_LISTS = 2 };

/* Pieces and materials of a mesh file. */
static void list_mesh_parts(const mesh *m, parts lists[PART_LISTS])
{
  lists[0] = (parts){m->piece_names, m->piece != NULL ? m->num_pieces : 0, m->piece};
  lists[1] = (parts){m->mtl_names, m->mtl != NULL ? m->num_mtls : 0, m->mtl};
}

static loom_status refuse_part(builder *b, const region *r, const char *word, const parts *lists,
                               const char *origin)
{
  const int32_t num = lists[0].num + lists[1].num;
  const char **names;
  LOOM_TRY(mesh_alloc(b->err, num, sizeof *names, &names));
  for (int32_t k = 0; k < num; ++k)
    names[k] = k < lists[0].num ? lists[0].names[k] : lists[1].names[k - lists[0].num];
  const char *const near = err_nearest(word, names, num);
  if (num == 0)
    err_set(b->err, LOOM_E_CONFIG,
            "%s has no named parts, so there is no \"%.80s\"; give pieces (g or o of OBJ, piece "
            "of PLY, a pattern), materials (usemtl of OBJ), or a file of labels",
            origin, word);
  else
    err_set(b->err, LOOM_E_CONFIG, "%s has no part \"%.80s\"; there is %s", origin, word,
            near != NULL ? near : names[0]);
  free(names);
  return build_place(b, r->sec, "where", LOOM_E_CONFIG);
}

/* Marks the parts of the lists that `where` names: chosen [lists[0].num + lists[1].num]. */
static loom_status choose_parts(builder *b, const region *r, const parts *lists, const char *origin,
                                unsigned char *chosen)
{
  const int32_t split = lists[0].num, num = split + lists[1].num;
  words w;
  int any = 0;
  words_start(&w, r->set.where);
  while (words_next(&w)) {
    int found = 0;
    for (int32_t k = 0; k < num; ++k) {
      const char *const name = k < split ? lists[0].names[k] : lists[1].names[k - split];
      if (strcmp(name, w.word) != 0) continue;
      chosen[k] = 1;
      found = any = 1;
    }
    if (!found) return refuse_part(b, r, w.word, lists, origin);
  }
  if (any) return LOOM_OK;
  return build_place(b, r->sec, "where",
                     err_set(b->err, LOOM_E_CONFIG, "is missing: names of parts of %s", origin));
}

/* ---- triangles ---- */

static loom_status put_in_region(builder *b, object *o, region *r, int64_t t)
{
  const int32_t number = (int32_t)(r - o->regions);
  if (o->tri_region[t] >= 0 && o->tri_region[t] != number)
    return build_place(b, r->sec, "where",
                       err_set(b->err, LOOM_E_CONFIG,
                               "triangle %lld of %s is in [%s], too; a triangle has one material",
                               (long long)t, o->label,
                               cfg_section_name(o->regions[o->tri_region[t]].sec)));
  r->num_tris += o->tri_region[t] != number;
  o->tri_region[t] = number;
  return LOOM_OK;
}

static loom_status read_mesh_region(builder *b, object *o, region *r)
{
  parts lists[PART_LISTS];
  unsigned char *chosen;
  list_mesh_parts(&o->m, lists);
  LOOM_TRY(mesh_alloc(b->err, lists[0].num + lists[1].num, 1, &chosen));
  loom_status s = choose_parts(b, r, lists, o->label, chosen);
  for (int64_t t = 0; t < o->m.num_tris && s == LOOM_OK; ++t) {
    int inside = lists[0].num > 0 && lists[0].of[t] >= 0 && chosen[lists[0].of[t]];
    inside |= lists[1].num > 0 && lists[1].of[t] >= 0 && chosen[lists[0].num + lists[1].of[t]];
    if (inside) s = put_in_region(b, o, r, t);
  }
  free(chosen);
  return s;
}

/* ---- files of labels ---- */

enum { LABEL_OUT, LABEL_IN, LABEL_SEAM };

/* The labels of a file: names in file.piece_names. */
typedef struct label_file {
  char *text;
  int64_t num_lines;
  mesh names; /* only the names of its pieces are used */
  material_names find;
} label_file;

static void free_labels(label_file *f)
{
  free(f->text);
  mesh_free(&f->names);
  material_names_free(&f->find);
}

/* The next label of a line at *p, or its end: len 0. */
static const char *next_label(const char **p, int *len)
{
  *p += strspn(*p, " \t\r,");
  const char *const word = *p;
  *len = (int)strcspn(word, " \t\r,\n");
  *p += *len;
  return word;
}

static loom_status read_labels(builder *b, const char *path, label_file *f)
{
  size_t len;
  *f = (label_file){0};
  LOOM_TRY(words_file(b->err, path, &f->text, &len));
  for (const char *p = f->text; *p != '\0';) {
    int32_t number;
    int size;
    for (const char *word = next_label(&p, &size); size > 0; word = next_label(&p, &size))
      LOOM_TRY(material_piece(b->err, &f->names, &f->find, word, size, &number));
    ++f->num_lines; /* the last line may end without a line end */
    p += *p == '\n';
  }
  return LOOM_OK;
}

/* LABEL_* of each line. */
static loom_status judge_lines(builder *b, label_file *f, const unsigned char *chosen,
                               unsigned char *line)
{
  const char *p = f->text;
  for (int64_t k = 0; k < f->num_lines; ++k) {
    int32_t number;
    int size, seams = 0, others = 0;
    line[k] = LABEL_OUT;
    for (const char *word = next_label(&p, &size); size > 0; word = next_label(&p, &size)) {
      LOOM_TRY(material_piece(b->err, &f->names, &f->find, word, size, &number));
      if (chosen[number]) line[k] = LABEL_IN;
      *(strncmp(word, "stitch", 6) == 0 ? &seams : &others) += 1;
    }
    if (line[k] == LABEL_OUT && seams > 0 && others == 0) line[k] = LABEL_SEAM;
    p += *p == '\n';
  }
  return LOOM_OK;
}

/* The vertex of the file that became vertex v of the object: *first [num_verts]. */
static loom_status list_first_verts(builder *b, const object *o, int32_t **first)
{
  LOOM_TRY(mesh_alloc(b->err, o->m.num_verts, sizeof **first, first));
  for (int32_t v = 0; v < o->m.num_verts; ++v) (*first)[v] = v;
  for (int32_t v = o->num_named - 1; o->merged != NULL && v >= 0; --v) (*first)[o->merged[v]] = v;
  return LOOM_OK;
}

static loom_status put_labelled(builder *b, object *o, region *r, const unsigned char *line,
                                const int32_t *first)
{
  int64_t seams = 0;
  for (int64_t t = 0; t < o->m.num_tris; ++t) {
    int in = 0, out = 0;
    for (int a = 0; a < 3; ++a) {
      const int label = line[first != NULL ? first[o->m.tris[3 * t + a]] : t];
      in += label == LABEL_IN;
      out += label == LABEL_OUT;
    }
    seams += in + out == 0;
    if (in > out) LOOM_TRY(put_in_region(b, o, r, t));
  }
  if (seams == 0) return LOOM_OK;
  return build_note(b,
                    "[%s]: %lld triangles have only vertices at seams, and keep the material of "
                    "[%s]",
                    cfg_section_name(r->sec), (long long)seams, cfg_section_name(o->sec));
}

static loom_status use_labels(builder *b, object *o, region *r, label_file *f)
{
  const int32_t verts = o->merged != NULL ? o->num_named : o->m.num_verts;
  unsigned char *chosen = NULL, *line = NULL;
  int32_t *first = NULL;
  if (f->num_lines != verts && f->num_lines != o->m.num_tris)
    return build_place(
        b, r->sec, "labels",
        err_set(b->err, LOOM_E_CONFIG, "%s has %lld lines, %s has %d vertices and %d triangles",
                r->set.labels, (long long)f->num_lines, o->label, verts, o->m.num_tris));
  const parts lists[PART_LISTS] = {{f->names.piece_names, f->names.num_pieces, NULL}, {0}};
  loom_status s = mesh_alloc(b->err, lists[0].num, 1, &chosen);
  if (s == LOOM_OK) s = choose_parts(b, r, lists, r->set.labels, chosen);
  if (s == LOOM_OK) s = mesh_alloc(b->err, f->num_lines, 1, &line);
  if (s == LOOM_OK) s = judge_lines(b, f, chosen, line);
  if (s == LOOM_OK && f->num_lines == verts) s = list_first_verts(b, o, &first);
  if (s == LOOM_OK) s = put_labelled(b, o, r, line, first);
  free(first);
  free(line);
  free(chosen);
  return s;
}

static loom_status read_labelled_region(builder *b, object *o, region *r)
{
  label_file f;
  loom_status s = read_labels(b, r->set.labels, &f);
  if (s != LOOM_OK)
    s = build_place(b, r->sec, "labels", s);
  else
    s = use_labels(b, o, r, &f);
  free_labels(&f);
  return s;
}

/* ---- sections ---- */

static loom_status refuse_object(builder *b, const region *r)
{
  const char **names;
  int num = 0;
  LOOM_TRY(mesh_alloc(b->err, b->num_objects, sizeof *names, &names));
  for (int k = 0; k < b->num_objects; ++k)
    if (b->objects[k].kind == OBJECT_CLOTH) names[num++] = b->objects[k].name;
  const char *const near = err_nearest(r->set.object, names, num);
  err_set(b->err, LOOM_E_CONFIG,
          "there is no cloth named \"%.80s\"; %s%s; regions are parts of cloth", r->set.object,
          num > 0 ? "there is " : "there is none at all",
          near != NULL ? near
          : num > 0    ? names[0]
                       : "");
  free(names);
  return build_place(b, r->sec, "object", LOOM_E_CONFIG);
}

/* Room for one more region of the object, which has as many as the file has sections. */
static loom_status add_region(builder *b, object *o, const region *r)
{
  int64_t most = 0;
  for (const cfg_section *c = NULL; (c = cfg_next(b->c, "region", c)) != NULL;) ++most;
  if (o->regions == NULL) {
    LOOM_TRY(mesh_alloc(b->err, most, sizeof *o->regions, &o->regions));
    LOOM_TRY(mesh_alloc(b->err, o->m.num_tris, sizeof *o->tri_region, &o->tri_region));
    for (int64_t t = 0; t < o->m.num_tris; ++t) o->tri_region[t] = -1;
  }
  o->regions[o->num_regions++] = *r;
  return LOOM_OK;
}

static loom_status read_region(builder *b, const cfg_section *sec)
{
  region head = {.sec = sec, .name = cfg_section_suffix(sec)};
  object *o = NULL;
  LOOM_TRY(cfg_bind(b->err, sec, scene_region_params, SCENE_REGION_PARAMS - 1, &head.set));
  if (head.name[0] == '\0')
    return build_place(b, sec, NULL,
                       err_set(b->err, LOOM_E_CONFIG, "needs a name, as [region.collar]"));
  for (int k = 0; k < b->num_objects; ++k)
    if (b->objects[k].kind == OBJECT_CLOTH && strcmp(b->objects[k].name, head.set.object) == 0)
      o = &b->objects[k];
  if (o == NULL) return refuse_object(b, &head);
  LOOM_TRY(add_region(b, o, &head));
  region *const r = &o->regions[o->num_regions - 1];
  LOOM_TRY(build_bind_region(b, o, r));
  LOOM_TRY(head.set.labels[0] != '\0' ? read_labelled_region(b, o, r) : read_mesh_region(b, o, r));
  if (r->num_tris > 0) return LOOM_OK;
  return build_place(
      b, sec, "where",
      err_set(b->err, LOOM_E_CONFIG, "no triangle of %s is in the region", o->label));
}

loom_status build_regions(builder *b)
{
  for (const cfg_section *c = NULL; (c = cfg_next(b->c, "region", c)) != NULL;)
    LOOM_TRY(read_region(b, c));
  return LOOM_OK;
}
