/* ply.c - reader of Stanford PLY files: ascii, binary little endian, binary big endian.
 *
 * It reads x, y, z of vertices, and their material coordinates as s t, u v or texture_u texture_v;
 * of faces the list of corner ids, material coordinates of the corners (list texcoord) and the
 * number `piece`; in place of faces, strips of triangles (element tristrips, of scans).  Comments
 * "piece NUMBER NAME" name the pieces.  Other properties are skipped. Every count is checked
 * against the size of the file before memory is allocated. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/obj.h"
#include "mesh/ply_internal.h"

enum { MAX_CORNERS = 1 << 20 };

static loom_status short_file(ply_reader *r)
{
  if (r->format == PLY_ASCII) return ply_fail(r, "the file ends before its data is complete", "");
  return err_set(r->err, LOOM_E_IO, "%s: the file ends at byte %lld, before its data is complete",
                 r->name, (long long)(r->end - r->text));
}

static double decode_ply_value(const unsigned char b[8], int type)
{
  uint64_t u = 0;
  float f;
  double d;
  for (int k = ply_type_bytes[type] - 1; k >= 0; --k) u = u << 8 | b[k];
  const uint32_t u32 = (uint32_t)u;
  switch (type) {
  case PLY_I8:
    return u < 128 ? (double)u : (double)u - 256;
  case PLY_I16:
    return u < 32768 ? (double)u : (double)u - 65536;
  case PLY_I32:
    return u < INT64_C(2147483648) ? (double)u : (double)u - 4294967296.0;
  case PLY_F32:
    memcpy(&f, &u32, sizeof f);
    return f;
  case PLY_F64:
    memcpy(&d, &u, sizeof d);
    return d;
  default:
    return (double)u;
  }
}

static loom_status read_value(ply_reader *r, int type, double *value)
{
  if (r->format == PLY_ASCII) {
    while (r->p < r->end && strchr(" \t\r\n", *r->p) != NULL && *r->p != '\0')
      r->line += *r->p++ == '\n';
    if (r->p >= r->end) return short_file(r);
    char *stop, word[32];
    *value = strtod(r->p, &stop);
    if (stop == r->p || (stop < r->end && (*stop == '\0' || strchr(" \t\r\n", *stop) == NULL))) {
      const size_t len = strcspn(r->p, " \t\r\n");
      const size_t keep = len < sizeof word ? len : sizeof word - 1;
      memcpy(word, r->p, keep);
      word[keep] = '\0';
      return ply_fail(r, "expected a number, not", word);
    }
    r->p = stop;
    return LOOM_OK;
  }
  unsigned char b[8];
  const int n = ply_type_bytes[type];
  if (r->end - r->p < n) return short_file(r);
  for (int k = 0; k < n; ++k) b[k] = (unsigned char)r->p[r->format == PLY_BIG ? n - 1 - k : k];
  r->p += n;
  *value = decode_ply_value(b, type);
  return LOOM_OK;
}

static loom_status place_error(ply_reader *r, const char *what, double value)
{
  if (r->format == PLY_ASCII)
    return err_set(r->err, LOOM_E_IO, "%s:%lld: %s %g", r->name, (long long)r->line, what, value);
  return err_set(r->err, LOOM_E_IO, "%s: %s %g at byte %lld", r->name, what, value,
                 (long long)(r->p - r->text));
}

static loom_status put_ply_triangle(ply_reader *r, int32_t a, int32_t b, int32_t c)
{
  mesh *const m = r->m;
  if (m->num_tris == r->cap_tris) {
    const int64_t cap = r->cap_tris < 1024 ? 1024 : 2 * r->cap_tris;
    int32_t *p = cap > PLY_MAX_ITEMS ? NULL : realloc(m->tris, 3 * (size_t)cap * sizeof *p);
    if (p == NULL)
      return err_set(r->err, LOOM_E_NOMEM, "%s: no memory for %lld triangles", r->name,
                     (long long)cap);
    m->tris = p;
    r->cap_tris = cap;
  }
  memcpy(m->tris + 3 * (int64_t)m->num_tris++, (int32_t[3]){a, b, c}, 3 * sizeof a);
  return LOOM_OK;
}

static int names_corners(const ply_property *q)
{
  return q->count_type >= 0 &&
         (strcmp(q->name, "vertex_indices") == 0 || strcmp(q->name, "vertex_index") == 0);
}

/* The corner list of one face into triangles of a fan around the first corner. */
static loom_status read_ply_corners(ply_reader *r, const ply_property *q, int64_t count,
                                    int32_t num_verts)
{
  int32_t first = 0, last = 0;
  const int32_t before = r->m->num_tris;
  if (count < 3) return place_error(r, "a face needs 3 corners, not", (double)count);
  for (int64_t k = 0; k < count; ++k) {
    double value;
    LOOM_TRY(read_value(r, q->type, &value));
    if (!(value >= 0 && value < num_verts && value == floor(value)))
      return place_error(r, "a face asks for a vertex that the file does not have:", value);
    const int32_t id = (int32_t)value;
    if (k == 0) first = id;
    if (k >= 2) LOOM_TRY(put_ply_triangle(r, first, last, id));
    last = id;
  }
  return polygon_add(r->err, &r->polygons, r->m, before);
}

/* Which of the vertices' material coordinates a property is: 0, 1, or -1. */
static int uv_axis(const char *name)
{
  static const char *const known[2][3] = {{"s", "u", "texture_u"}, {"t", "v", "texture_v"}};
  for (int d = 0; d < 2; ++d)
    for (int k = 0; k < 3; ++k)
      if (strcmp(name, known[d][k]) == 0) return d;
  return -1;
}

/* The list texcoord of a face: two numbers for each of its corners. */
static loom_status read_texcoord(ply_reader *r, const ply_property *q, int64_t count)
{
  if (count > r->cap_list) {
    double *const p = realloc(r->list, (size_t)count * sizeof *p);
    if (p == NULL) return err_set(r->err, LOOM_E_NOMEM, "%s: no memory for a face", r->name);
    r->list = p;
    r->cap_list = count;
  }
  r->list_len = count;
  for (int64_t k = 0; k < count; ++k) LOOM_TRY(read_value(r, q->type, &r->list[k]));
  return LOOM_OK;
}

/* One instance of an element: coordinates go to `x` [3] and `uv` [2] if wanted, corners into the
 * mesh. */
static loom_status read_instance(ply_reader *r, const ply_element *e, double *x, double *uv,
                                 int is_face, int32_t num_verts)
{
  for (int i = 0; i < e->num_props; ++i) {
    const ply_property *q = &e->props[i];
    double value, count = 1;
    if (q->count_type >= 0) LOOM_TRY(read_value(r, q->count_type, &count));
    if (!(count >= 0 && count <= MAX_CORNERS && count == floor(count)))
      return place_error(r, "a list of this length is not believable:", count);
    if (is_face && names_corners(q)) {
      LOOM_TRY(read_ply_corners(r, q, (int64_t)count, num_verts));
      continue;
    }
    if (is_face && q->count_type >= 0 && strcmp(q->name, "texcoord") == 0) {
      LOOM_TRY(read_texcoord(r, q, (int64_t)count));
      continue;
    }
    for (int64_t k = 0; k < (int64_t)count; ++k) LOOM_TRY(read_value(r, q->type, &value));
    if (is_face && q->count_type < 0 && strcmp(q->name, "piece") == 0) r->piece = value;
    if (uv != NULL && q->count_type < 0 && uv_axis(q->name) >= 0) uv[uv_axis(q->name)] = value;
    if (x != NULL && q->name[1] == '\0' && q->name[0] >= 'x' && q->name[0] <= 'z' &&
        q->count_type < 0)
      x[q->name[0] - 'x'] = value;
  }
  return LOOM_OK;
}

static int has_property(const ply_element *e, const char *name, int list)
{
  for (int i = 0; i < e->num_props; ++i)
    if (strcmp(e->props[i].name, name) == 0 && (e->props[i].count_type >= 0) == list) return 1;
  return 0;
}

/* The least number of bytes `count` instances take: ascii numbers need one digit each. */
static loom_status check_element_bytes(ply_reader *r, const ply_element *e)
{
  int64_t least = 0;
  for (int i = 0; i < e->num_props; ++i) {
    const int t = e->props[i].count_type >= 0 ? e->props[i].count_type : e->props[i].type;
    least += r->format == PLY_ASCII ? 1 : ply_type_bytes[t];
  }
  if (least * e->count > r->end - r->p) return short_file(r);
  return LOOM_OK;
}

/* Pieces without a name are called by their number. */
static loom_status name_pieces(ply_reader *r, double number)
{
  char name[32];
  int32_t piece;
  if (!(number >= 0 && number < 1e5 && number == floor(number)))
    return place_error(r, "piece must be a number from 0, not", number);
  while (r->m->num_pieces <= (int32_t)number) {
    const int len = snprintf(name, sizeof name, "piece%d", r->m->num_pieces);
    LOOM_TRY(material_piece(r->err, r->m, &r->names, name, len, &piece));
    if (piece + 1 < r->m->num_pieces)
      return err_set(r->err, LOOM_E_IO, "%s: the name %s of a piece is taken; rename it", r->name,
                     name);
  }
  return LOOM_OK;
}

/* Material data of the triangles from `first` on, which are the fan of one face. */
static loom_status finish_face(ply_reader *r, int with_uv, int with_piece, int32_t first)
{
  mesh *const m = r->m;
  const int64_t corners = (int64_t)m->num_tris - first + 2;
  if (with_piece) {
    LOOM_TRY(name_pieces(r, r->piece));
    for (int32_t t = first; t < m->num_tris; ++t) m->piece[t] = (int32_t)r->piece;
  }
  if (!with_uv) return LOOM_OK;
  if (r->has_list && r->list_len != 0 && r->list_len != 2 * corners)
    return place_error(r, "texcoord needs two numbers for each corner, has", (double)r->list_len);
  for (int64_t t = first; t < m->num_tris; ++t)
    for (int a = 0; a < 3; ++a) {
      const int64_t k = a == 0 ? 0 : t - first + a;
      const int64_t v = m->tris[3 * t + a];
      for (int d = 0; d < 2; ++d)
        m->uv[2 * (3 * t + a) + d] = !r->has_list      ? r->vert_uv[2 * v + d]
                                     : r->list_len > 0 ? r->list[2 * k + d]
                                                       : NAN;
    }
  return LOOM_OK;
}

/* Arrays beside the triangles grow with them. */
static loom_status grow_face_arrays(ply_reader *r, int with_uv, int with_piece, int64_t *cap)
{
  mesh *const m = r->m;
  if (*cap == r->cap_tris) return LOOM_OK;
  *cap = r->cap_tris;
  if (with_uv) {
    double *const p = realloc(m->uv, 6 * (size_t)*cap * sizeof *p);
    if (p == NULL) return err_set(r->err, LOOM_E_NOMEM, "%s: no memory for coordinates", r->name);
    m->uv = p;
  }
  if (with_piece) {
    int32_t *const p = realloc(m->piece, (size_t)*cap * sizeof *p);
    if (p == NULL) return err_set(r->err, LOOM_E_NOMEM, "%s: no memory for pieces", r->name);
    m->piece = p;
  }
  return LOOM_OK;
}

static loom_status read_faces(ply_reader *r, const ply_element *e)
{
  const int with_piece = has_property(e, "piece", 0);
  int64_t cap = 0;
  r->has_list = has_property(e, "texcoord", 1);
  const int with_uv = r->has_list || r->vert_uv != NULL;
  for (int64_t i = 0; i < e->count; ++i) {
    const int32_t first = r->m->num_tris;
    r->list_len = 0;
    LOOM_TRY(read_instance(r, e, NULL, NULL, 1, r->m->num_verts));
    LOOM_TRY(grow_face_arrays(r, with_uv, with_piece, &cap));
    LOOM_TRY(finish_face(r, with_uv, with_piece, first));
  }
  return LOOM_OK;
}

/* The list of one strip of triangles, which turn left and right in turns; -1 begins a new strip,
 * and a triangle with a repeated corner joins two. */
static loom_status read_strip(ply_reader *r, const ply_property *q, int64_t count)
{
  int32_t last[2] = {0};
  int64_t in_strip = 0;
  for (int64_t k = 0; k < count; ++k) {
    double value;
    LOOM_TRY(read_value(r, q->type, &value));
    if (!(value >= -1 && value < r->m->num_verts && value == floor(value)))
      return place_error(r, "a strip asks for a vertex that the file does not have:", value);
    const int32_t id = (int32_t)value;
    if (id < 0) {
      in_strip = 0;
      continue;
    }
    const int left = in_strip % 2 == 0;
    if (in_strip >= 2 && id != last[0] && id != last[1] && last[0] != last[1])
      LOOM_TRY(put_ply_triangle(r, left ? last[0] : last[1], left ? last[1] : last[0], id));
    last[0] = last[1];
    last[1] = id;
    ++in_strip;
  }
  return LOOM_OK;
}

static loom_status read_strips(ply_reader *r, const ply_element *e)
{
  int64_t cap = 0;
  r->has_list = 0;
  for (int64_t i = 0; i < e->count; ++i) {
    const int32_t first = r->m->num_tris;
    for (int k = 0; k < e->num_props; ++k) {
      const ply_property *const q = &e->props[k];
      double value, count = 1;
      if (q->count_type >= 0) LOOM_TRY(read_value(r, q->count_type, &count));
      if (!(count >= 0 && count <= PLY_MAX_ITEMS && count == floor(count)))
        return place_error(r, "a list of this length is not believable:", count);
      if (names_corners(q))
        LOOM_TRY(read_strip(r, q, (int64_t)count));
      else
        for (int64_t n = 0; n < (int64_t)count; ++n) LOOM_TRY(read_value(r, q->type, &value));
    }
    LOOM_TRY(grow_face_arrays(r, r->vert_uv != NULL, 0, &cap));
    LOOM_TRY(finish_face(r, r->vert_uv != NULL, 0, first));
  }
  return LOOM_OK;
}

/* 1: further words stand behind r->p in its line of text. */
static int ends_within_row(const ply_reader *r)
{
  const char *p = r->p;
  if (r->format != PLY_ASCII) return 0;
  while (p < r->end && (*p == ' ' || *p == '\t' || *p == '\r')) ++p;
  return p < r->end && *p != '\n';
}

static loom_status read_verts(ply_reader *r, const ply_element *e)
{
  int axes = 0;
  mesh *const m = r->m;
  for (int i = 0; i < e->num_props; ++i)
    if (e->props[i].count_type < 0 && uv_axis(e->props[i].name) >= 0)
      axes |= 1 << uv_axis(e->props[i].name);
  LOOM_TRY(mesh_alloc(r->err, 3 * e->count, sizeof *m->x, &m->x));
  m->num_verts = (int32_t)e->count;
  if (axes == 3) LOOM_TRY(mesh_alloc(r->err, 2 * e->count, sizeof(double), &r->vert_uv));
  for (int64_t i = 0; i < e->count; ++i) {
    LOOM_TRY(
        read_instance(r, e, m->x + 3 * i, axes == 3 ? r->vert_uv + 2 * i : NULL, 0, m->num_verts));
    if (r->long_row == 0 && ends_within_row(r)) r->long_row = r->line;
  }
  return LOOM_OK;
}

static loom_status read_elements(ply_reader *r)
{
  mesh *m = r->m;
  int seen_verts = 0, seen_faces = 0;
  for (int k = 0; k < r->num_elements; ++k) {
    const ply_element *e = &r->elements[k];
    const int verts = strcmp(e->name, "vertex") == 0, strips = strcmp(e->name, "tristrips") == 0;
    const int faces = strips || strcmp(e->name, "face") == 0;
    LOOM_TRY(check_element_bytes(r, e));
    if (e->num_props == 0) continue;
    if (verts) {
      if (seen_verts++ || !has_property(e, "x", 0) || !has_property(e, "y", 0) ||
          !has_property(e, "z", 0))
        return err_set(r->err, LOOM_E_IO,
                       "%s: one element vertex with properties x, y and z is needed", r->name);
      LOOM_TRY(read_verts(r, e));
    } else if (faces) {
      if (seen_faces++ || !seen_verts ||
          (!has_property(e, "vertex_indices", 1) && !has_property(e, "vertex_index", 1)))
        return err_set(r->err, LOOM_E_IO,
                       "%s: one element face or tristrips with a list vertex_indices is needed, "
                       "after vertex",
                       r->name);
      LOOM_TRY(strips ? read_strips(r, e) : read_faces(r, e));
    } else {
      for (int64_t i = 0; i < e->count; ++i)
        LOOM_TRY(read_instance(r, e, NULL, NULL, 0, m->num_verts));
    }
  }
  if (m->num_verts == 0) return err_set(r->err, LOOM_E_IO, "%s: holds no vertices", r->name);
  if (m->num_tris == 0) return err_set(r->err, LOOM_E_IO, "%s: holds no faces", r->name);
  return LOOM_OK;
}

loom_status ply_parse(loom_err *err, const char *name, const char *text, size_t len, mesh *out)
{
  ply_reader *r;
  memset(out, 0, sizeof *out);
  LOOM_TRY(mesh_alloc(err, 1, sizeof *r, &r));
  r->err = err;
  r->name = name;
  r->text = r->p = text;
  r->end = text + len;
  r->m = out;
  loom_status s = ply_read_header(r);
  if (s == LOOM_OK) {
    r->line += r->format == PLY_ASCII; /* the first line of data */
    s = read_elements(r);
  }
  if (s == LOOM_OK) s = polygon_cut_all(err, &r->polygons, out);
  if (s != LOOM_OK && r->long_row > 0)
    err_append(err, "%s:%lld: the row has more numbers than the header names for a vertex", name,
               (long long)r->long_row);
  if (s != LOOM_OK) mesh_free(out);
  material_names_free(&r->names);
  free(r->polygons.fan);
  free(r->vert_uv);
  free(r->list);
  free(r);
  return s;
}

loom_status ply_read(loom_err *err, const char *path, mesh *out)
{
  char *text;
  size_t len;
  memset(out, 0, sizeof *out);
  LOOM_TRY(words_file(err, path, &text, &len));
  const loom_status s = ply_parse(err, path, text, len, out);
  free(text);
  return s;
}
