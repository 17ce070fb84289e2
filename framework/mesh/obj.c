/* obj.c - reader of Wavefront OBJ files: v and f statements; everything else that the
 * format knows (normals, texture, groups, materials, curves) carries no triangles of ours
 * and is passed over. */
#include "mesh/obj.h"

#include <stdlib.h>
#include <string.h>

#include "config/words.h"

enum { MAX_ITEMS = 1 << 29 }; /* vertices or triangles: 3 n stays in int32 */

typedef struct reader {
  loom_err *err;
  const char *name, *p, *end;
  int64_t line; /* of p, from 1 */
  mesh *m;
  int64_t cap_verts, cap_tris;
  int32_t *tri_line; /* [cap_tris]: for ids that no vertex turns up for */
  int64_t cap_lines;
} reader;

static loom_status fail(reader *r, int64_t line, const char *what, const char *word, int len)
{
  return err_set(r->err, LOOM_E_IO, "%s:%lld: %s \"%.*s\"", r->name, (long long)line, what, len,
                 word);
}

/* A backslash before the line's end joins it with the next one; 0 if p is no such place. */
static size_t continuation(const char *p)
{
  if (p[0] != '\\') return 0;
  if (p[1] == '\n') return 2;
  return p[1] == '\r' && p[2] == '\n' ? 3 : 0;
}

/* Skip blanks and continued line ends; 1 if a word of the statement follows. */
static int skip_blanks(reader *r)
{
  for (;;) {
    const size_t joint = continuation(r->p);
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
  while (q < r->end && strchr(" \t\r\n#", *q) == NULL && continuation(q) == 0) ++q;
  return (int)(q - r->p < 200 ? q - r->p : 200);
}

static void skip_statement(reader *r)
{
  while (r->p < r->end && *r->p != '\n') {
    const size_t joint = continuation(r->p);
    r->line += joint > 0;
    r->p += joint > 0 ? joint : 1;
  }
}

static loom_status grow(reader *r, void *array, int64_t *cap, int64_t need, size_t item)
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

/* v x y z, then an ignored weight or colour (up to four numbers). */
static loom_status read_vertex(reader *r)
{
  double value[7];
  int n = 0;
  while (skip_blanks(r)) {
    char *stop;
    const int len = word_length(r);
    if (n == 7) return fail(r, r->line, "v: more than 7 numbers, at", r->p, len);
    value[n] = strtod(r->p, &stop);
    if (stop != r->p + len || len == 0)
      return fail(r, r->line, "v: expected a number, not", r->p, len);
    r->p = stop;
    ++n;
  }
  if (n < 3)
    return err_set(r->err, LOOM_E_IO, "%s:%lld: v: 3 coordinates needed, %d given", r->name,
                   (long long)r->line, n);
  mesh *m = r->m;
  if (m->num_verts == MAX_ITEMS) return fail(r, r->line, "too many vertices at", "v", 1);
  LOOM_TRY(grow(r, &m->x, &r->cap_verts, (int64_t)m->num_verts + 1, 3 * sizeof(double)));
  memcpy(m->x + 3 * (int64_t)m->num_verts, value, 3 * sizeof(double));
  ++m->num_verts;
  return LOOM_OK;
}

/* One of "7", "7/1", "7//3", "7/1/3", "-1/-1": the vertex id from 0. */
static loom_status read_corner(reader *r, int32_t *id)
{
  const int len = word_length(r);
  const char *q = r->p, *const stop = r->p + len;
  int64_t first = 0;
  for (int part = 0; part < 3; ++part) {
    const int negative = q < stop && *q == '-';
    int64_t v = 0;
    q += negative;
    const char *const digits = q;
    while (q < stop && *q >= '0' && *q <= '9' && v < INT64_C(1) << 40) v = 10 * v + (*q++ - '0');
    if (q == digits && (part != 1 || negative || q == stop)) break; /* only "a//c" has a gap */
    if (part == 0) first = negative ? -v : v;
    if (q == stop) {
      r->p = stop;
      if (first == 0)
        return fail(r, r->line, "f: ids count from 1, so 0 is none, in", stop - len, len);
      const int64_t zero_based = first > 0 ? first - 1 : r->m->num_verts + first;
      if (zero_based < 0)
        return fail(r, r->line, "f: counts back before the first vertex:", stop - len, len);
      if (zero_based >= MAX_ITEMS) return fail(r, r->line, "f: no such vertex:", stop - len, len);
      *id = (int32_t)zero_based;
      return LOOM_OK;
    }
    if (*q++ != '/') break;
  }
  return fail(r, r->line, "f: expected ID, ID/ID, ID//ID or ID/ID/ID, not", r->p, len);
}

static loom_status read_face(reader *r)
{
  mesh *m = r->m;
  int32_t first = -1, last = -1, id = -1;
  int64_t corners = 0;
  while (skip_blanks(r)) {
    LOOM_TRY(read_corner(r, &id));
    if (++corners == 1) first = id;
    if (corners >= 3) {
      if (m->num_tris == MAX_ITEMS) return fail(r, r->line, "too many triangles at", "f", 1);
      LOOM_TRY(grow(r, &m->tris, &r->cap_tris, (int64_t)m->num_tris + 1, 3 * sizeof(int32_t)));
      LOOM_TRY(grow(r, &r->tri_line, &r->cap_lines, (int64_t)m->num_tris + 1, sizeof(int32_t)));
      int32_t *t = m->tris + 3 * (int64_t)m->num_tris;
      t[0] = first;
      t[1] = last;
      t[2] = id;
      r->tri_line[m->num_tris++] = (int32_t)(r->line < INT32_MAX ? r->line : INT32_MAX);
    }
    last = id;
  }
  if (corners < 3)
    return err_set(r->err, LOOM_E_IO, "%s:%lld: f: a face needs 3 corners, %lld given", r->name,
                   (long long)r->line, (long long)corners);
  m->num_split += corners > 3;
  return LOOM_OK;
}

static loom_status read_statement(reader *r)
{
  static const char *const passed_over[] = {
      "vn",     "vt",     "vp",         "g",         "o",     "s",        "usemtl",   "mtllib",
      "mg",     "cstype", "deg",        "bmat",      "step",  "parm",     "trim",     "hole",
      "scrv",   "sp",     "end",        "con",       "bevel", "c_interp", "d_interp", "lod",
      "usemap", "maplib", "shadow_obj", "trace_obj", "ctech", "stech",    "call",     "csh"};
  static const char *const shapes[] = {"l", "p", "curv", "curv2", "surf"};
  if (!skip_blanks(r)) return LOOM_OK;
  const int len = word_length(r);
  const char *const word = r->p;
  r->p += len;
  if (len == 1 && *word == 'v') return read_vertex(r);
  if (len == 1 && *word == 'f') return read_face(r);
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; ++i)
    if (strlen(shapes[i]) == (size_t)len && memcmp(word, shapes[i], (size_t)len) == 0) {
      ++r->m->num_ignored;
      skip_statement(r);
      return LOOM_OK;
    }
  for (size_t i = 0; i < sizeof passed_over / sizeof *passed_over; ++i)
    if (strlen(passed_over[i]) == (size_t)len && memcmp(word, passed_over[i], (size_t)len) == 0) {
      skip_statement(r);
      return LOOM_OK;
    }
  return fail(r, r->line, "not a statement of an OBJ file:", word, len);
}

static loom_status check_ids(reader *r)
{
  const mesh *m = r->m;
  if (m->num_verts == 0) return err_set(r->err, LOOM_E_IO, "%s: holds no vertices", r->name);
  if (m->num_tris == 0 || r->tri_line == NULL)
    return err_set(r->err, LOOM_E_IO, "%s: holds no faces", r->name);
  for (int64_t k = 0; k < 3 * (int64_t)m->num_tris; ++k)
    if (m->tris[k] >= m->num_verts)
      return err_set(r->err, LOOM_E_IO, "%s:%d: f: vertex %d is asked for, the file has %d",
                     r->name, r->tri_line[k / 3], m->tris[k] + 1, m->num_verts);
  return LOOM_OK;
}

loom_status obj_parse(loom_err *err, const char *name, const char *text, size_t len, mesh *out)
{
  memset(out, 0, sizeof *out);
  reader r = {.err = err, .name = name, .p = text, .end = text + len, .line = 1, .m = out};
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
      s = fail(&r, r.line, "not text, at byte", "\\0", 2);
    }
  }
  if (s == LOOM_OK) s = check_ids(&r);
  free(r.tri_line);
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
