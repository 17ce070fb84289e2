/* obj.c - reader of Wavefront OBJ files: v, f, vt as material coordinates, g and o as pieces,
 * usemtl as names of parts; everything else that the format knows (normals, curves, stitches)
 * carries no triangles of ours and is passed over.  Statements that it does not know are counted:
 * other programs add their own, as ARCSim its labels. */
#include "mesh/obj.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/words.h"
#include "core/err_word.h"
#include "mesh/material.h"
#include "mesh/polygon.h"

enum { MAX_ITEMS = 1 << 29 }; /* vertices or triangles: 3 n stays in int32 */

typedef struct reader {
  loom_err *err;
  const char *name, *p, *end;
  int64_t line; /* of p, from 1 */
  mesh *m;
  int64_t cap_verts, cap_tris;
  int64_t cap_lines, cap_pieces, cap_mtls, cap_corners, cap_vt, num_vt;
  double *vt;      /* [num_vt][2] */
  int32_t *tri_vt; /* [num_tris][3] rows of vt, NO_VT or BAD_VT */
  polygon_list polygons;
  material_names names;
  int32_t piece; /* that faces belong to; -1: before any group */
  mesh mtls; /* names of materials stand in the place of its pieces, which material_piece fills */
  material_names mtl_names;
  int32_t mtl; /* of faces; -1: before the first usemtl */
} reader;
enum { NO_VT = -1, BAD_VT = -2 };
typedef struct corner {
  int32_t vert, vt;
} corner;

static loom_status fail_obj_line(reader *r, int64_t line, const char *what, const char *word,
                                 int len)
{
  char shown[ERR_WORD];
  return err_set(r->err, LOOM_E_IO, "%s:%lld: %s \"%s\"", r->name, (long long)line, what,
                 err_word(word, (size_t)len, shown));
}

/* Length of a backslash with the line end behind it, which joins two lines; 0: p is at none. */
static size_t continuation_length(const char *p)
{
  if (p[0] != '\\') return 0;
  if (p[1] == '\n') return 2;
  return p[1] == '\r' && p[2] == '\n' ? 3 : 0;
}

/* Skip blanks and continued line ends; 1 if a word of the statement follows. */
static int skip_blanks(reader *r)
{
  for (;;) {
    const size_t joint = continuation_length(r->p);
    if (joint > 0) {
      r->p += joint;
      ++r->line;
    } else if (*r->p == ' ' || *r->p == '\t' || *r->p == '\r') {
      ++r->p;
    } else {
      return r->p < r->end && *r->p != '\n' && *r->p != '#';
    }
  }
}

static int word_length(const reader *r)
{
  const char *q = r->p;
  while (q < r->end && strchr(" \t\r\n#", *q) == NULL && continuation_length(q) == 0) ++q;
  return (int)(q - r->p < 200 ? q - r->p : 200);
}

static void skip_statement(reader *r)
{
  while (r->p < r->end && *r->p != '\n') {
    const size_t joint = continuation_length(r->p);
    r->line += joint > 0;
    r->p += joint > 0 ? joint : 1;
  }
}

static loom_status grow_obj_array(reader *r, void *array, int64_t *cap, int64_t need, size_t item)
{
  if (need <= *cap) return LOOM_OK;
  void *old;
  memcpy(&old, array, sizeof old);
  const int64_t now = need > 2 * *cap ? need + 1023 : 2 * *cap;
  void *p = realloc(old, (size_t)now * item);
  if (p == NULL)
    return err_set(r->err, LOOM_E_NOMEM, "%s:%lld: no memory for %lld items", r->name,
                   (long long)r->line, (long long)now);
  memcpy(array, &p, sizeof p);
  *cap = now;
  /* cppcheck-suppress memleak ; *array has it */
  return LOOM_OK;
}

/* Numbers up to the end of the statement. */
static loom_status read_numbers(reader *r, const char *what, int max, double *value, int *num)
{
  char message[64];
  *num = 0;
  while (skip_blanks(r)) {
    char *stop;
    const int len = word_length(r);
    if (*num == max) {
      snprintf(message, sizeof message, "%s: more than %d numbers, at", what, max);
      return fail_obj_line(r, r->line, message, r->p, len);
    }
    value[*num] = strtod(r->p, &stop);
    if (stop != r->p + len || len == 0) {
      snprintf(message, sizeof message, "%s: expected a number, not", what);
      return fail_obj_line(r, r->line, message, r->p, len);
    }
    r->p = stop;
    ++*num;
  }
  return LOOM_OK;
}

/* v x y z, then an ignored weight or colour (up to four numbers). */
static loom_status read_vertex(reader *r)
{
  double value[7];
  int n = 0;
  LOOM_TRY(read_numbers(r, "v", 7, value, &n));
  if (n < 3)
    return err_set(r->err, LOOM_E_IO, "%s:%lld: v: 3 coordinates needed, %d given", r->name,
                   (long long)r->line, n);
  mesh *m = r->m;
  if (m->num_verts == MAX_ITEMS) return fail_obj_line(r, r->line, "too many vertices at", "v", 1);
  LOOM_TRY(grow_obj_array(r, &m->x, &r->cap_verts, (int64_t)m->num_verts + 1, 3 * sizeof(double)));
  memcpy(m->x + 3 * (int64_t)m->num_verts, value, 3 * sizeof(double));
  ++m->num_verts;
  return LOOM_OK;
}

/* vt u [v [w]]; w, of solid textures, is passed over. */
static loom_status read_vt(reader *r)
{
  double value[3] = {0, 0, 0};
  int n = 0;
  LOOM_TRY(read_numbers(r, "vt", 3, value, &n));
  if (n < 1)
    return err_set(r->err, LOOM_E_IO, "%s:%lld: vt: a coordinate is needed, none is given", r->name,
                   (long long)r->line);
  if (r->num_vt == MAX_ITEMS) return fail_obj_line(r, r->line, "too many coordinates at", "vt", 2);
  LOOM_TRY(grow_obj_array(r, &r->vt, &r->cap_vt, r->num_vt + 1, 2 * sizeof(double)));
  memcpy(r->vt + 2 * r->num_vt++, value, 2 * sizeof(double));
  return LOOM_OK;
}

/* g NAME ... or o NAME: the faces that follow belong to the piece NAME; usemtl NAME: they have the
 * material NAME.  *number is the one of the name among those of `m`. */
static loom_status read_part_name(reader *r, mesh *m, material_names *names, int32_t *number)
{
  int len = 0;
  const char *word = "";
  if (skip_blanks(r)) {
    len = word_length(r);
    word = r->p;
  }
  skip_statement(r);
  return material_piece(r->err, m, names, len > 0 ? word : "default", len > 0 ? len : 7, number);
}

/* The row of vt that a face names by `id`. */
static int32_t row_of_vt(const reader *r, int64_t id)
{
  const int64_t row = id > 0 ? id - 1 : r->num_vt + id;
  return id == 0 || row < 0 || row >= MAX_ITEMS ? BAD_VT : (int32_t)row;
}

/* One of "7", "7/1", "7//3", "7/1/3", "-1/-1". */
static loom_status read_corner(reader *r, corner *out)
{
  const int len = word_length(r);
  const char *q = r->p, *const stop = r->p + len;
  int64_t first = 0;
  out->vt = NO_VT;
  for (int part = 0; part < 3; ++part) {
    const int negative = q < stop && *q == '-';
    int64_t v = 0;
    q += negative;
    const char *const digits = q;
    while (q < stop && *q >= '0' && *q <= '9' && v < INT64_C(1) << 40) v = 10 * v + (*q++ - '0');
    if (q == digits && (part != 1 || negative || q == stop)) break; /* only "a//c" has a gap */
    if (part == 0) first = negative ? -v : v;
    if (part == 1 && q != digits) out->vt = row_of_vt(r, negative ? -v : v);
    if (q == stop) {
      r->p = stop;
      if (first == 0)
        return fail_obj_line(r, r->line, "f: ids count from 1, so 0 is none, in", stop - len, len);
      const int64_t zero_based = first > 0 ? first - 1 : r->m->num_verts + first;
      if (zero_based < 0)
        return fail_obj_line(r, r->line, "f: counts back before the first vertex:", stop - len,
                             len);
      if (zero_based >= MAX_ITEMS)
        return fail_obj_line(r, r->line, "f: no such vertex:", stop - len, len);
      out->vert = (int32_t)zero_based;
      return LOOM_OK;
    }
    if (*q++ != '/') break;
  }
  return fail_obj_line(r, r->line, "f: expected ID, ID/ID, ID//ID or ID/ID/ID, not", r->p, len);
}

static loom_status put_triangle(reader *r, const corner c[3])
{
  mesh *const m = r->m;
  const int64_t t = m->num_tris;
  if (t == MAX_ITEMS) return fail_obj_line(r, r->line, "too many triangles at", "f", 1);
  LOOM_TRY(grow_obj_array(r, &m->tris, &r->cap_tris, t + 1, 3 * sizeof(int32_t)));
  LOOM_TRY(grow_obj_array(r, &m->tri_line, &r->cap_lines, t + 1, sizeof(int32_t)));
  LOOM_TRY(grow_obj_array(r, &m->piece, &r->cap_pieces, t + 1, sizeof(int32_t)));
  LOOM_TRY(grow_obj_array(r, &m->mtl, &r->cap_mtls, t + 1, sizeof(int32_t)));
  LOOM_TRY(grow_obj_array(r, &r->tri_vt, &r->cap_corners, t + 1, 3 * sizeof(int32_t)));
  for (int k = 0; k < 3; ++k) {
    m->tris[3 * t + k] = c[k].vert;
    r->tri_vt[3 * t + k] = c[k].vt;
  }
  m->tri_line[t] = (int32_t)(r->line < INT32_MAX ? r->line : INT32_MAX);
  m->piece[t] = r->piece;
  m->mtl[t] = r->mtl;
  ++m->num_tris;
  return LOOM_OK;
}

static loom_status read_face(reader *r)
{
  corner c[3] = {{-1, NO_VT}, {-1, NO_VT}, {-1, NO_VT}}, next = c[0]; /* first, last, this one */
  int64_t corners = 0;
  const int32_t before = r->m->num_tris;
  if (r->piece < 0) LOOM_TRY(material_piece(r->err, r->m, &r->names, "default", 7, &r->piece));
  while (skip_blanks(r)) {
    LOOM_TRY(read_corner(r, &next));
    c[2] = next;
    if (++corners == 1) c[0] = next;
    if (corners >= 3) LOOM_TRY(put_triangle(r, c));
    c[1] = next;
  }
  if (corners < 3)
    return err_set(r->err, LOOM_E_IO, "%s:%lld: f: a face needs 3 corners, %lld given", r->name,
                   (long long)r->line, (long long)corners);
  return polygon_add(r->err, &r->polygons, r->m, before);
}

static loom_status count_unknown(reader *r, const char *word, int len)
{
  mesh *const m = r->m;
  char shown[ERR_WORD];
  if (m->num_unknown == MAX_ITEMS) return fail_obj_line(r, r->line, "too many of", word, len);
  if (m->num_unknown++ == 0) {
    m->unknown_line = (int32_t)(r->line < INT32_MAX ? r->line : INT32_MAX);
    snprintf(m->unknown_word, sizeof m->unknown_word, "%s",
             err_word(word, (size_t)(len < 20 ? len : 20), shown));
  }
  skip_statement(r);
  return LOOM_OK;
}

static loom_status read_statement(reader *r)
{
  static const char *const passed_over[] = {
      "vn",    "vp",       "s",        "mtllib", "mg",     "cstype", "deg",        "bmat",
      "step",  "parm",     "trim",     "hole",   "scrv",   "sp",     "end",        "con",
      "bevel", "c_interp", "d_interp", "lod",    "usemap", "maplib", "shadow_obj", "trace_obj",
      "ctech", "stech",    "call",     "csh",    "seam",   "stitch"};
  static const char *const shapes[] = {"l", "p", "curv", "curv2", "surf"};
  if (!skip_blanks(r)) return LOOM_OK;
  const int len = word_length(r);
  const char *const word = r->p;
  r->p += len;
  if (len == 1 && *word == 'v') return read_vertex(r);
  if (len == 1 && *word == 'f') return read_face(r);
  if (len == 2 && memcmp(word, "vt", 2) == 0) return read_vt(r);
  if (len == 1 && (*word == 'g' || *word == 'o'))
    return read_part_name(r, r->m, &r->names, &r->piece);
  if (len == 6 && memcmp(word, "usemtl", 6) == 0)
    return read_part_name(r, &r->mtls, &r->mtl_names, &r->mtl);
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; ++i)
    if (strlen(shapes[i]) == (size_t)len && memcmp(word, shapes[i], (size_t)len) == 0) {
      ++r->m->num_ignored;
      skip_statement(r);
      return LOOM_OK;
    }
  for (size_t i = 0; i < sizeof passed_over / sizeof *passed_over; ++i)
    if (strlen(passed_over[i]) == (size_t)len && memcmp(word, passed_over[i], (size_t)len) == 0) {
      r->m->num_stitches += strcmp(passed_over[i], "stitch") == 0; /* stitches.h reads them */
      skip_statement(r);
      return LOOM_OK;
    }
  return count_unknown(r, word, len);
}

static loom_status check_obj_ids(reader *r)
{
  const mesh *m = r->m;
  if ((m->num_verts == 0 || m->num_tris == 0) && m->num_unknown > 0)
    return err_set(
        r->err, LOOM_E_IO,
        "%s:%d: \"%s\" is no statement of an OBJ file, and the file holds no %s; a surface of "
        "another format is shape = mesh",
        r->name, m->unknown_line, m->unknown_word, m->num_verts == 0 ? "vertices" : "faces");
  if (m->num_verts == 0)
    return err_set(r->err, LOOM_E_IO,
                   "%s: holds no vertices; a surface of another format is shape = mesh", r->name);
  if (m->num_tris == 0 && m->num_ignored > 0)
    return err_set(
        r->err, LOOM_E_IO,
        "%s: holds no faces; its %d points, lines or free-form curves and surfaces are no "
        "triangles: export a surface as polygons",
        r->name, m->num_ignored);
  if (m->num_tris == 0 || m->tri_line == NULL)
    return err_set(r->err, LOOM_E_IO, "%s: holds no faces", r->name);
  for (int64_t k = 0; k < 3 * (int64_t)m->num_tris; ++k)
    if (m->tris[k] >= m->num_verts)
      return err_set(r->err, LOOM_E_IO, "%s:%d: f: vertex %d is asked for, the file has %d",
                     r->name, m->tri_line[k / 3], m->tris[k] + 1, m->num_verts);
  return LOOM_OK;
}

/* Material coordinates of all corners, where the file has any. */
static loom_status place_corners(reader *r)
{
  mesh *const m = r->m;
  const int64_t corners = 3 * (int64_t)m->num_tris;
  if (r->num_vt == 0) return LOOM_OK;
  LOOM_TRY(mesh_alloc(r->err, 2 * corners, sizeof *m->uv, &m->uv));
  for (int64_t k = 0; k < corners; ++k) {
    const int32_t row = r->tri_vt[k];
    if (row < NO_VT || row >= r->num_vt)
      return err_set(r->err, LOOM_E_CONFIG,
                     "%s:%d: f: asks for a vt that is not there, the file has %lld; add it or "
                     "leave the number out",
                     r->name, m->tri_line[k / 3], (long long)r->num_vt);
    for (int d = 0; d < 2; ++d) m->uv[2 * k + d] = row >= 0 ? r->vt[2 * (int64_t)row + d] : NAN;
  }
  return LOOM_OK;
}

/* The names of materials become those of the mesh, where a face has one. */
static void give_materials(reader *r)
{
  mesh *const m = r->m;
  int any = 0;
  for (int64_t t = 0; t < m->num_tris && !any; ++t) any = m->mtl[t] >= 0;
  if (any) {
    m->num_mtls = r->mtls.num_pieces;
    m->mtl_names = r->mtls.piece_names;
    r->mtls = (mesh){0};
  } else {
    free(m->mtl);
    m->mtl = NULL;
  }
}

loom_status obj_parse(loom_err *err, const char *name, const char *text, size_t len, mesh *out)
{
  memset(out, 0, sizeof *out);
  reader r = {.err = err,
              .name = name,
              .p = text,
              .end = text + len,
              .line = 1,
              .m = out,
              .piece = -1,
              .mtl = -1};
  loom_status s = LOOM_OK;
  if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) r.p += 3; /* byte order mark of UTF-8 */
  while (s == LOOM_OK && r.p < r.end) {
    s = read_statement(&r);
    if (s != LOOM_OK) break;
    if (*r.p == '#') /* a comment ends with its line, also behind a backslash */
      while (r.p < r.end && *r.p != '\n') ++r.p;
    if (r.p < r.end && *r.p == '\n') {
      ++r.p;
      ++r.line;
    } else if (r.p < r.end) {
      s = fail_obj_line(&r, r.line, "not text, at byte", "\\0", 2);
    }
  }
  if (s == LOOM_OK) s = check_obj_ids(&r);
  if (s == LOOM_OK) s = place_corners(&r);
  if (s == LOOM_OK) s = polygon_cut_all(err, &r.polygons, out); /* faces may precede vertices */
  if (s == LOOM_OK) give_materials(&r);
  free(r.polygons.fan);
  free(r.vt);
  free(r.tri_vt);
  material_names_free(&r.names);
  material_names_free(&r.mtl_names);
  mesh_free(&r.mtls);
  if (s != LOOM_OK) mesh_free(out);
  return s;
}

loom_status obj_read(loom_err *err, const char *path, mesh *out)
{
  char *text;
  size_t len;
  memset(out, 0, sizeof *out);
  LOOM_TRY(words_file(err, path, &text, &len));
  const loom_status s = obj_parse(err, path, text, len, out);
  free(text);
  return s;
}
