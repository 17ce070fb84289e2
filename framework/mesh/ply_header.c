/* ply_header.c - the header of a PLY file: its format, elements and their properties. */
#include <string.h>

#include "core/err_word.h"
#include "mesh/ply_internal.h"

static const char *const type_names[PLY_NUM_TYPES][2] = {
    {"char", "int8"}, {"uchar", "uint8"}, {"short", "int16"},   {"ushort", "uint16"},
    {"int", "int32"}, {"uint", "uint32"}, {"float", "float32"}, {"double", "float64"}};
const int ply_type_bytes[PLY_NUM_TYPES] = {1, 1, 2, 2, 4, 4, 4, 8};

loom_status ply_fail(ply_reader *r, const char *what, const char *word)
{
  char shown[ERR_WORD];
  return err_set(r->err, LOOM_E_IO, "%s:%lld: %s%s%s%s", r->name, (long long)r->line, what,
                 word[0] ? " \"" : "", err_word(word, strlen(word), shown), word[0] ? "\"" : "");
}

/* Next header line without its end into `buf`; 0 when the file is over or it is too long. */
static int header_line(ply_reader *r, char *buf, size_t size)
{
  const size_t left = (size_t)(r->end - r->p);
  const char *stop = memchr(r->p, '\n', left);
  if (stop == NULL || (size_t)(stop - r->p) >= size) return 0;
  memcpy(buf, r->p, (size_t)(stop - r->p));
  buf[stop - r->p] = '\0';
  r->p = stop + 1;
  ++r->line;
  return 1;
}

static int find_ply_type(const char *name)
{
  for (int t = 0; t < PLY_NUM_TYPES; ++t)
    if (strcmp(name, type_names[t][0]) == 0 || strcmp(name, type_names[t][1]) == 0) return t;
  return -1;
}

static void copy_name(char dst[64], const char *src)
{
  const size_t len = strlen(src) < 63 ? strlen(src) : 63;
  memcpy(dst, src, len);
  dst[len] = '\0';
}

static loom_status read_property(ply_reader *r, words *w)
{
  if (r->num_elements == 0) return ply_fail(r, "property before any element", "");
  ply_element *e = &r->elements[r->num_elements - 1];
  if (e->num_props == PLY_MAX_PROPS)
    return ply_fail(r, "more than 64 properties in element", e->name);
  ply_property *q = &e->props[e->num_props];
  q->count_type = -1;
  words_next(w);
  if (strcmp(w->word, "list") == 0) {
    words_next(w);
    q->count_type = find_ply_type(w->word);
    if (q->count_type < 0 || q->count_type >= PLY_F32)
      return ply_fail(r, "property list: not an integer type:", w->word);
    words_next(w);
  }
  q->type = find_ply_type(w->word);
  if (q->type < 0) return ply_fail(r, "property: unknown type", w->word);
  if (!words_next(w)) return ply_fail(r, "property: its name is missing", "");
  copy_name(q->name, w->word);
  ++e->num_props;
  return LOOM_OK;
}

static loom_status read_element(ply_reader *r, words *w)
{
  if (r->num_elements == PLY_MAX_ELEMENTS) return ply_fail(r, "more than 16 elements", "");
  ply_element *e = &r->elements[r->num_elements];
  words_next(w);
  copy_name(e->name, w->word);
  if (!words_int(w, &e->count) || e->count < 0)
    return ply_fail(r, "element: expected a name and a count, not", w->p);
  if (e->count > PLY_MAX_ITEMS) return ply_fail(r, "element: too many of", e->name);
  ++r->num_elements;
  return LOOM_OK;
}

static loom_status read_format(ply_reader *r, words *w)
{
  static const char *const names[] = {"ascii", "binary_little_endian", "binary_big_endian"};
  words_next(w);
  for (int k = 0; k < 3; ++k)
    if (strcmp(w->word, names[k]) == 0) {
      r->format = k;
      return LOOM_OK;
    }
  return ply_fail(r, "format: expected ascii, binary_little_endian or binary_big_endian, not",
                  w->word);
}

/* "comment piece NUMBER NAME", with ascending numbers from 0; other comments are skipped. */
static loom_status read_comment(ply_reader *r, words *w)
{
  int64_t number;
  int32_t piece;
  if (!words_next(w) || strcmp(w->word, "piece") != 0 || !words_int(w, &number) ||
      number != r->m->num_pieces || !words_next(w))
    return LOOM_OK;
  return material_piece(r->err, r->m, &r->names, w->word, (int)strlen(w->word), &piece);
}

loom_status ply_read_header(ply_reader *r)
{
  char buf[512];
  words w;
  r->format = -1;
  if (!header_line(r, buf, sizeof buf) || strncmp(buf, "ply", 3) != 0 ||
      strspn(buf + 3, " \t\r") != strlen(buf + 3)) {
    r->line = 1;
    return ply_fail(r, "not a PLY file: the first line must be \"ply\"", "");
  }
  while (header_line(r, buf, sizeof buf)) {
    words_start(&w, buf);
    if (!words_next(&w) || strcmp(w.word, "obj_info") == 0) continue;
    if (strcmp(w.word, "comment") == 0) {
      LOOM_TRY(read_comment(r, &w));
      continue;
    }
    if (strcmp(w.word, "end_header") == 0)
      return r->format < 0 ? ply_fail(r, "the header has no format line", "") : LOOM_OK;
    if (strcmp(w.word, "format") == 0)
      LOOM_TRY(read_format(r, &w));
    else if (strcmp(w.word, "element") == 0)
      LOOM_TRY(read_element(r, &w));
    else if (strcmp(w.word, "property") == 0)
      LOOM_TRY(read_property(r, &w));
    else
      return ply_fail(r, "not a line of a PLY header:", w.word);
  }
  ++r->line;
  return ply_fail(r, "the header does not end with end_header", "");
}
