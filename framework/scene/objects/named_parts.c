/* named_parts.c - see named_parts.h. */
#include "scene/objects/named_parts.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "config/words.h"
#include "core/suffix.h"
#include "mesh/material.h"

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

static loom_status refuse_part(builder *b, const named_parts *of, const char *word,
                               const parts *lists, const char *origin)
{
  const int32_t num = lists[0].num + lists[1].num;
  const char **names;
  LOOM_TRY(mesh_alloc(b->err, num, sizeof *names, &names));
  for (int32_t k = 0; k < num; ++k)
    names[k] = k < lists[0].num ? lists[0].names[k] : lists[1].names[k - lists[0].num];
  char list[600];
  err_names(list, sizeof list, word, names, num);
  if (num == 0)
    err_set(b->err, LOOM_E_CONFIG,
            "%s has no named parts, so there is no \"%.80s\"; give pieces (g or o of OBJ, piece "
            "of PLY, a pattern), materials (usemtl of OBJ), or a file of labels",
            origin, word);
  else
    err_set(b->err, LOOM_E_CONFIG, "%s has no part \"%.80s\"; there is %s", origin, word, list);
  free(names);
  return build_place(b, of->sec, of->where_key, LOOM_E_CONFIG);
}

/* Marks the parts of the lists that `where` names: chosen [lists[0].num + lists[1].num]. */
static loom_status choose_parts(builder *b, const named_parts *of, const parts *lists,
                                const char *origin, unsigned char *chosen)
{
  const int32_t split = lists[0].num, num = split + lists[1].num;
  words w;
  int any = 0;
  words_start(&w, of->where);
  while (words_next(&w)) {
    int found = 0;
    for (int32_t k = 0; k < num; ++k) {
      const char *const name = k < split ? lists[0].names[k] : lists[1].names[k - split];
      if (strcmp(name, w.word) != 0) continue;
      chosen[k] = 1;
      found = any = 1;
    }
    if (!found) return refuse_part(b, of, w.word, lists, origin);
  }
  if (any) return LOOM_OK;
  return build_place(b, of->sec, of->where_key,
                     err_set(b->err, LOOM_E_CONFIG, "is missing: names of parts of %s", origin));
}

static loom_status choose_in_mesh(builder *b, const named_parts *of, unsigned char *tri)
{
  parts lists[PART_LISTS];
  unsigned char *chosen;
  list_mesh_parts(of->m, lists);
  LOOM_TRY(mesh_alloc(b->err, lists[0].num + lists[1].num, 1, &chosen));
  const loom_status s = choose_parts(b, of, lists, of->label, chosen);
  for (int64_t t = 0; t < of->m->num_tris && s == LOOM_OK; ++t) {
    int inside = lists[0].num > 0 && lists[0].of[t] >= 0 && chosen[lists[0].of[t]];
    inside |= lists[1].num > 0 && lists[1].of[t] >= 0 && chosen[lists[0].num + lists[1].of[t]];
    tri[t] = inside != 0;
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

/* The vertex of the file that became vertex v of the mesh: *first [num_verts]. */
static loom_status list_first_verts(builder *b, const named_parts *of, int32_t **first)
{
  LOOM_TRY(mesh_alloc(b->err, of->m->num_verts, sizeof **first, first));
  for (int32_t v = 0; v < of->m->num_verts; ++v) (*first)[v] = v;
  for (int32_t v = of->num_named - 1; of->merged != NULL && v >= 0; --v)
    (*first)[of->merged[v]] = v;
  return LOOM_OK;
}

static void choose_labelled(const mesh *m, const unsigned char *line, const int32_t *first,
                            unsigned char *tri, int64_t *seams)
{
  for (int64_t t = 0; t < m->num_tris; ++t) {
    int in = 0, out = 0;
    for (int a = 0; a < 3; ++a) {
      const int label = line[first != NULL ? first[m->tris[3 * t + a]] : t];
      in += label == LABEL_IN;
      out += label == LABEL_OUT;
    }
    *seams += in + out == 0;
    tri[t] = in > out;
  }
}

static loom_status use_labels(builder *b, const named_parts *of, label_file *f, unsigned char *tri,
                              int64_t *seams)
{
  const int32_t verts = of->merged != NULL ? of->num_named : of->m->num_verts;
  unsigned char *chosen = NULL, *line = NULL;
  int32_t *first = NULL;
  if (f->num_lines != verts && f->num_lines != of->m->num_tris)
    return build_place(b, of->sec, of->labels_key,
                       err_set(b->err, LOOM_E_CONFIG,
                               "%s has %lld lines, %s has %d vertices and %d triangles", of->labels,
                               (long long)f->num_lines, of->label, verts, of->m->num_tris));
  const parts lists[PART_LISTS] = {{f->names.piece_names, f->names.num_pieces, NULL}, {0}};
  loom_status s = mesh_alloc(b->err, lists[0].num, 1, &chosen);
  if (s == LOOM_OK) s = choose_parts(b, of, lists, of->labels, chosen);
  if (s == LOOM_OK) s = mesh_alloc(b->err, f->num_lines, 1, &line);
  if (s == LOOM_OK) s = judge_lines(b, f, chosen, line);
  if (s == LOOM_OK && f->num_lines == verts) s = list_first_verts(b, of, &first);
  if (s == LOOM_OK) choose_labelled(of->m, line, first, tri, seams);
  free(first);
  free(line);
  free(chosen);
  return s;
}

/* ---- lists of vertices (JSON) ---- */

/* LABEL_IN of the vertices that the lists of chosen names hold. */
static loom_status judge_lists(builder *b, const named_parts *of, const json_t *root, int32_t verts,
                               const unsigned char *chosen, unsigned char *line)
{
  int32_t number = 0;
  const char *name;
  const json_t *ids;
  json_object_foreach((json_t *)(uintptr_t)root, name, ids)
  {
    const size_t count = chosen[number++] ? json_array_size(ids) : 0;
    for (size_t k = 0; k < count; ++k) {
      const json_t *const id = json_array_get(ids, k);
      if (!json_is_integer(id) || json_integer_value(id) < 0 || json_integer_value(id) >= verts)
        return build_place(b, of->sec, of->labels_key,
                           err_set(b->err, LOOM_E_CONFIG,
                                   "%s: number %zu of \"%.80s\" is no vertex of %s, which has %d",
                                   of->labels, k, name, of->label, verts));
      line[json_integer_value(id)] = LABEL_IN;
    }
  }
  return LOOM_OK;
}

static loom_status list_json_names(builder *b, const json_t *root, label_file *f)
{
  const char *name;
  const json_t *ids;
  int32_t number;
  json_object_foreach((json_t *)(uintptr_t)root, name, ids)
      LOOM_TRY(material_piece(b->err, &f->names, &f->find, name, (int)strlen(name), &number));
  return LOOM_OK;
}

/* Names with their lists of vertices (from 0), as GarmentCode segments its bodies. */
static loom_status choose_in_lists(builder *b, const named_parts *of, const json_t *root,
                                   unsigned char *tri, int64_t *seams)
{
  const int32_t verts = of->merged != NULL ? of->num_named : of->m->num_verts;
  unsigned char *chosen = NULL, *line = NULL;
  int32_t *first = NULL;
  label_file f = {0};
  loom_status s = list_json_names(b, root, &f);
  const parts lists[PART_LISTS] = {{f.names.piece_names, f.names.num_pieces, NULL}, {0}};
  if (s == LOOM_OK) s = mesh_alloc(b->err, lists[0].num, 1, &chosen);
  if (s == LOOM_OK) s = choose_parts(b, of, lists, of->labels, chosen);
  if (s == LOOM_OK) s = mesh_alloc(b->err, verts, 1, &line); /* LABEL_OUT */
  if (s == LOOM_OK) s = judge_lists(b, of, root, verts, chosen, line);
  if (s == LOOM_OK) s = list_first_verts(b, of, &first);
  if (s == LOOM_OK) choose_labelled(of->m, line, first, tri, seams);
  free(first);
  free(line);
  free(chosen);
  free_labels(&f);
  return s;
}

static loom_status choose_by_json(builder *b, const named_parts *of, unsigned char *tri,
                                  int64_t *seams)
{
  json_error_t why = {.line = 1};
  char *text;
  size_t len;
  const loom_status got = words_file(b->err, of->labels, &text, &len);
  if (got != LOOM_OK) return build_place(b, of->sec, of->labels_key, got);
  json_t *const root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &why);
  free(text);
  loom_status s;
  if (json_is_object(root))
    s = choose_in_lists(b, of, root, tri, seams);
  else
    s = build_place(b, of->sec, of->labels_key,
                    err_set(b->err, LOOM_E_CONFIG,
                            "%s:%d: %s; names with their lists of vertices are needed", of->labels,
                            why.line > 0 ? why.line : 1,
                            root == NULL ? why.text : "is no object of JSON"));
  json_decref(root);
  return s;
}

loom_status named_parts_choose(builder *b, const named_parts *of, unsigned char *tri,
                               int64_t *seams)
{
  label_file f;
  *seams = 0;
  if (of->labels[0] == '\0') return choose_in_mesh(b, of, tri);
  if (has_suffix(of->labels, ".json")) return choose_by_json(b, of, tri, seams);
  loom_status s = read_labels(b, of->labels, &f);
  if (s != LOOM_OK)
    s = build_place(b, of->sec, of->labels_key, s);
  else
    s = use_labels(b, of, &f, tri, seams);
  free_labels(&f);
  return s;
}
