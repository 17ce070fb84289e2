/* yarn_file.c - readers of BCC files and OBJ polylines. */
#include "yarn/yarn_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/words.h"
#include "core/err_word.h"

enum { MAX_POINTS = 1 << 27 };

/* A closed spline needs three points to be a curve, an open one two. */
static loom_status check_curve(loom_err *err, const char *place, int64_t k, int64_t n, int closed)
{
  if (n >= (closed ? 4 : 3)) return LOOM_OK;
  return err_set(err, LOOM_E_IO, "%s: curve %lld has %lld points; a yarn needs 3, a closed one 4",
                 place, (long long)k, (long long)n);
}

/* ---- BCC ---- */

static uint64_t read_little_endian(const char *p, int bytes)
{
  uint64_t v = 0;
  for (int k = bytes - 1; k >= 0; --k) v = v << 8 | (unsigned char)p[k];
  return v;
}

static double little_float(const char *p)
{
  const uint32_t bits = (uint32_t)read_little_endian(p, 4);
  float f;
  memcpy(&f, &bits, sizeof f);
  return (double)f;
}

static loom_status check_bcc_header(loom_err *err, const char *name, const char *data, size_t len)
{
  if (len < BCC_HEADER || memcmp(data, "BCC", 3) != 0)
    return err_set(err, LOOM_E_IO, "%s: does not begin as a BCC file", name);
  if (data[3] != 0x44)
    return err_set(err, LOOM_E_IO, "%s: numbers of %d bytes; only 4-byte ones are known", name,
                   data[3] & 15);
  if (data[4] != 'C' || data[5] != '0')
    return err_set(err, LOOM_E_IO,
                   "%s: curves of type '%.2s'; only uniform Catmull-Rom, C0, is known", name,
                   data + 4);
  if (data[6] != 3)
    return err_set(err, LOOM_E_IO, "%s: %d dimensions, 3 are needed", name, data[6]);
  return LOOM_OK;
}

/* One pass counts (*y empty) and checks, a second one fills. */
static loom_status bcc_curves(loom_err *err, const char *name, const char *data, size_t len,
                              int64_t num, int64_t *points, mesh *m, yarn_set *y)
{
  size_t at = BCC_HEADER;
  *points = 0;
  for (int64_t k = 0; k < num; ++k) {
    if (len - at < 4)
      return err_set(err, LOOM_E_IO, "%s: ends in front of curve %lld", name, (long long)k);
    const int32_t count = (int32_t)(uint32_t)read_little_endian(data + at, 4);
    const int64_t n = count < 0 ? -(int64_t)count : count;
    at += 4;
    if ((int64_t)((len - at) / 12) < n)
      return err_set(err, LOOM_E_IO, "%s: ends within curve %lld of %lld points", name,
                     (long long)k, (long long)n);
    LOOM_TRY(check_curve(err, name, k, n, count < 0));
    if (y != NULL) {
      y->closed[k] = count < 0;
      y->first[k + 1] = (int32_t)(*points + n);
      for (int64_t i = 0; i < 3 * n; ++i)
        m->x[3 * *points + i] = little_float(data + at + 4 * (size_t)i);
    }
    *points += n;
    if (*points > MAX_POINTS) return err_set(err, LOOM_E_IO, "%s: too many points", name);
    at += 12 * (size_t)n;
  }
  return LOOM_OK;
}

static loom_status allocate_yarn_mesh(loom_err *err, int64_t points, int64_t yarns, mesh *m,
                                      yarn_set *y)
{
  LOOM_TRY(mesh_alloc(err, 3 * points, sizeof *m->x, &m->x));
  m->num_verts = (int32_t)points;
  return yarn_alloc(err, points, yarns, 0, y);
}

loom_status bcc_parse(loom_err *err, const char *name, const char *data, size_t len, mesh *m,
                      yarn_set *y)
{
  int64_t points;
  *m = (mesh){0};
  *y = (yarn_set){0};
  LOOM_TRY(check_bcc_header(err, name, data, len));
  const uint64_t num = read_little_endian(data + 8, 8);
  if (num < 1 || num > len / 4)
    return err_set(err, LOOM_E_IO, "%s: %llu curves in %zu bytes", name, (unsigned long long)num,
                   len);
  LOOM_TRY(bcc_curves(err, name, data, len, (int64_t)num, &points, NULL, NULL));
  loom_status s = allocate_yarn_mesh(err, points, (int64_t)num, m, y);
  if (s == LOOM_OK) s = bcc_curves(err, name, data, len, (int64_t)num, &points, m, y);
  if (s == LOOM_OK) return LOOM_OK;
  mesh_free(m);
  yarn_free(y);
  return s;
}

/* ---- OBJ ---- */

typedef struct lines {
  loom_err *err;
  const char *name;
  int64_t line;
  double *v; /* [num_v][3] vertices of the file */
  int64_t num_v;
  int64_t yarns, points; /* so far */
  unsigned char *used;   /* [num_v], in the second pass */
  int64_t short_lines;   /* statements of two points */
  int32_t (*link)[2];    /* [num_v] neighbours + 1, where lines are chained; 0: none */
  mesh *m;
  yarn_set *y; /* NULL in the first pass */
} lines;

static loom_status refuse_polyline_word(lines *r, const char *what, const char *word)
{
  char shown[ERR_WORD];
  return err_set(r->err, LOOM_E_IO, "%s:%lld: %s \"%s\"", r->name, (long long)r->line, what,
                 err_word(word, strlen(word), shown));
}

/* The id of "7", "7/1" or "-1", from 0. */
static loom_status line_id(lines *r, const char *word, int64_t *id)
{
  char *end;
  const long long v = strtoll(word, &end, 10);
  if (end == word || (*end != '\0' && *end != '/'))
    return refuse_polyline_word(r, "l: expected a vertex, not", word);
  *id = v > 0 ? v - 1 : r->num_v + v;
  if (v == 0 || *id < 0 || *id >= r->num_v)
    return refuse_polyline_word(r, "l: names a vertex before its line:", word);
  return LOOM_OK;
}

static loom_status put_point(lines *r, int64_t id, const char *word)
{
  if (r->used[id]) return refuse_polyline_word(r, "l: a vertex belongs to one yarn only:", word);
  r->used[id] = 1;
  memcpy(r->m->x + 3 * r->points, r->v + 3 * id, 3 * sizeof(double));
  return LOOM_OK;
}

/* The neighbour b of point a. */
static loom_status link_point(lines *r, int64_t a, int64_t b, const char *word)
{
  int32_t *const to = r->link[a], other = (int32_t)b + 1;
  if (to[0] == other || to[1] == other)
    return refuse_polyline_word(r, "l: a segment stands twice in the file, at", word);
  if (to[1] != 0)
    return refuse_polyline_word(r, "l: a third segment at one point; yarns have no branches, at",
                                word);
  to[to[0] != 0] = other;
  return LOOM_OK;
}

/* A statement as segments between neighbours. */
static loom_status read_links(lines *r, words *w)
{
  int64_t id, last = -1;
  while (words_next(w)) {
    LOOM_TRY(line_id(r, w->word, &id));
    if (id == last) return refuse_polyline_word(r, "l: a segment without length, at", w->word);
    if (last >= 0) LOOM_TRY(link_point(r, last, id, w->word));
    if (last >= 0) LOOM_TRY(link_point(r, id, last, w->word));
    last = id;
  }
  return LOOM_OK;
}

static loom_status read_polyline(lines *r, words *w)
{
  char place[700];
  int64_t n = 0, first = -1, id = -1;
  if (r->link != NULL) return read_links(r, w);
  int closed = 0;
  while (words_next(w)) {
    if (closed) return refuse_polyline_word(r, "l: goes on behind its first vertex:", w->word);
    LOOM_TRY(line_id(r, w->word, &id));
    if (n == 0) first = id;
    closed = n > 0 && id == first;
    if (closed) continue;
    if (r->y != NULL) LOOM_TRY(put_point(r, id, w->word));
    ++n;
    ++r->points;
  }
  snprintf(place, sizeof place, "%.600s:%lld", r->name, (long long)r->line);
  if (r->y == NULL && n == 2 && !closed)
    ++r->short_lines;
  else
    LOOM_TRY(check_curve(r->err, place, r->yarns, n, closed));
  if (r->y != NULL) {
    r->y->closed[r->yarns] = (unsigned char)closed;
    r->y->first[r->yarns + 1] = (int32_t)r->points;
  }
  ++r->yarns;
  return LOOM_OK;
}

static loom_status read_point(lines *r, words *w)
{
  double *v = r->v + 3 * r->num_v;
  for (int c = 0; c < 3; ++c)
    if (!words_real(w, &v[c])) return refuse_polyline_word(r, "v: three numbers needed, at", w->p);
  ++r->num_v;
  return LOOM_OK;
}

static loom_status scan_polylines(lines *r, char *text)
{
  r->line = r->yarns = r->points = r->num_v = 0;
  for (char *p = text, *next; *p != '\0'; p = next) {
    words w;
    char *end = strchr(p, '\n');
    next = end != NULL ? end + 1 : p + strlen(p);
    const char keep = *(next - (end != NULL));
    if (end != NULL) *end = '\0';
    ++r->line;
    words_start(&w, p);
    loom_status s = LOOM_OK;
    if (words_next(&w)) {
      if (strcmp(w.word, "v") == 0) s = read_point(r, &w);
      if (strcmp(w.word, "l") == 0) s = read_polyline(r, &w);
    }
    if (end != NULL) *end = keep;
    LOOM_TRY(s);
  }
  return LOOM_OK;
}

/* ---- chains of segments ---- */

/* Walks the chain from `start`; put: its points into the mesh.  Returns how many there are. */
static int64_t walk_chain(lines *r, int64_t start, int put)
{
  int64_t n = 0, at = start, before = -1;
  do {
    const int32_t *const to = r->link[at];
    const int64_t next = to[0] != 0 && to[0] - 1 != before ? to[0] - 1 : (int64_t)to[1] - 1;
    r->used[at] = 1;
    if (put) memcpy(r->m->x + 3 * (r->points + n), r->v + 3 * at, 3 * sizeof(double));
    ++n;
    before = at;
    at = next;
  } while (at >= 0 && at != start);
  return n;
}

/* Open chains begin at the end with the lower number, closed ones at their lowest. */
static loom_status put_chains(lines *r, int put)
{
  r->yarns = r->points = 0;
  memset(r->used, 0, (size_t)r->num_v);
  for (int closed = 0; closed < 2; ++closed)
    for (int64_t v = 0; v < r->num_v; ++v) {
      if (r->used[v] || r->link[v][0] == 0 || (!closed && r->link[v][1] != 0)) continue;
      const int64_t n = walk_chain(r, v, put);
      LOOM_TRY(check_curve(r->err, r->name, r->yarns, n, closed));
      r->points += n;
      ++r->yarns;
      if (!put) continue;
      r->y->closed[r->yarns - 1] = (unsigned char)closed;
      r->y->first[r->yarns] = (int32_t)r->points;
    }
  return LOOM_OK;
}

/* Statements of two points are segments, as Houdini and Blender write curves: they become chains.
 */
static loom_status read_chains(lines *r, char *text, mesh *m, yarn_set *y)
{
  const int64_t num = r->num_v;
  LOOM_TRY(mesh_alloc(r->err, num, sizeof *r->link, &r->link));
  LOOM_TRY(mesh_alloc(r->err, num, 1, &r->used));
  LOOM_TRY(scan_polylines(r, text));
  LOOM_TRY(put_chains(r, 0));
  LOOM_TRY(allocate_yarn_mesh(r->err, r->points, r->yarns, m, y));
  r->m = m;
  r->y = y;
  return put_chains(r, 1);
}

static loom_status read_polylines(lines *r, char *text, mesh *m, yarn_set *y)
{
  const int usd = strncmp(text, "#usda", 5) == 0 || strncmp(text, "PXR-USDC", 8) == 0;
  LOOM_TRY(scan_polylines(r, text));
  if (r->num_v <= MAX_POINTS && r->short_lines > 0) return read_chains(r, text, m, y);
  if (r->yarns == 0)
    return err_set(r->err, LOOM_E_IO, "%s: holds no polylines (l)%s", r->name,
                   usd ? "; it is USD, and ./loom convert makes OBJ files of it" : "");
  if (r->points > MAX_POINTS) return err_set(r->err, LOOM_E_IO, "%s: too many points", r->name);
  LOOM_TRY(allocate_yarn_mesh(r->err, r->points, r->yarns, m, y));
  LOOM_TRY(mesh_alloc(r->err, r->num_v, 1, &r->used));
  r->m = m;
  r->y = y;
  return scan_polylines(r, text);
}

loom_status lines_parse(loom_err *err, const char *name, const char *text, size_t len, mesh *m,
                        yarn_set *y)
{
  lines r = {.err = err, .name = name};
  char *copy;
  *m = (mesh){0};
  *y = (yarn_set){0};
  LOOM_TRY(mesh_alloc(err, (int64_t)len + 1, 1, &copy));
  memcpy(copy, text, len);
  /* a vertex takes at least the eight bytes of "v 0 0 0\n" */
  loom_status s = mesh_alloc(err, 3 * ((int64_t)len / 7 + 1), sizeof *r.v, &r.v);
  if (s == LOOM_OK) s = read_polylines(&r, copy, m, y);
  free(copy);
  free(r.v);
  free(r.link);
  free(r.used);
  if (s == LOOM_OK) return LOOM_OK;
  mesh_free(m);
  yarn_free(y);
  return s;
}

/* ---- files ---- */

typedef loom_status (*parser)(loom_err *, const char *, const char *, size_t, mesh *, yarn_set *);

static loom_status read_with(parser p, loom_err *err, const char *path, mesh *m, yarn_set *y)
{
  char *text;
  size_t len;
  *m = (mesh){0};
  *y = (yarn_set){0};
  LOOM_TRY(words_file(err, path, &text, &len));
  const loom_status s = p(err, path, text, len, m, y);
  free(text);
  return s;
}

loom_status bcc_read(loom_err *err, const char *path, mesh *m, yarn_set *y)
{
  return read_with(bcc_parse, err, path, m, y);
}

loom_status lines_read(loom_err *err, const char *path, mesh *m, yarn_set *y)
{
  return read_with(lines_parse, err, path, m, y);
}
