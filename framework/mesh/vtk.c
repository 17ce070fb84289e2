/* vtk.c - see vtk.h.  W. Schroeder, K. Martin, B. Lorensen, "The VTK User's Guide", "Simple Legacy
 * Formats".  Every count is checked against the size of the file before memory is allocated. */
#include "mesh/vtk.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/words.h"
#include "core/err_word.h"
#include "mesh/polygon.h"
#include "mesh/tet_surface.h"

enum { MAX_ITEMS = 1 << 28 };
enum {
  CELL_TRIANGLE = 5,
  CELL_STRIP = 6,
  CELL_POLYGON = 7,
  CELL_PIXEL = 8,
  CELL_QUAD = 9,
  CELL_TET = 10
};
static const struct {
  const char *name;
  int bytes;
} types[] = {{"float", 4},     {"double", 8}, {"int", 4},         {"vtktypeint64", 8},
             {"vtkIdType", 8}, {"long", 8},   {"unsigned_int", 4}};
enum { TYPE_FLOAT, TYPE_DOUBLE, TYPE_INT, NUM_TYPES = sizeof types / sizeof *types };

typedef struct reader {
  loom_err *err;
  const char *name, *text, *p, *end;
  int binary, grid; /* UNSTRUCTURED_GRID */
  int version;      /* the first number */
  mesh *m;
  int64_t cap_tris, num_cells, size, num_types;
  int64_t num_volumes; /* cells that are volumes, but no tetrahedra of four points */
  int32_t *cell;       /* [size] count and ids, count and ids, ... */
  int32_t *type;       /* [num_types] */
  polygon_list polygons;
} reader;

static loom_status fail_vtk(reader *r, const char *what, const char *word, size_t len)
{
  char shown[ERR_WORD];
  int64_t line = 1;
  if (r->binary)
    return err_set(r->err, LOOM_E_IO, "%s: %s \"%s\" at byte %lld", r->name, what,
                   err_word(word, len, shown), (long long)(r->p - r->text));
  for (const char *q = r->text; q < r->p; ++q) line += *q == '\n';
  return err_set(r->err, LOOM_E_IO, "%s:%lld: %s \"%s\"", r->name, (long long)line, what,
                 err_word(word, len, shown));
}

/* The next word, *len 0 at the end of the file. */
static const char *next_vtk_word(reader *r, size_t *len)
{
  while (r->p < r->end && isspace((unsigned char)*r->p)) ++r->p;
  const char *const word = r->p;
  while (r->p < r->end && !isspace((unsigned char)*r->p) && *r->p != '\0') ++r->p;
  *len = (size_t)(r->p - word);
  return word;
}

static int is_vtk_word(const char *word, size_t len, const char *want)
{
  if (strlen(want) != len) return 0;
  for (size_t k = 0; k < len; ++k)
    if (toupper((unsigned char)word[k]) != toupper((unsigned char)want[k])) return 0;
  return 1;
}

static void skip_vtk_line(reader *r)
{
  while (r->p < r->end && *r->p != '\n') ++r->p;
  r->p += r->p < r->end;
}

static loom_status read_vtk_count(reader *r, const char *what, int64_t *count)
{
  size_t len;
  const char *const word = next_vtk_word(r, &len);
  char *stop;
  *count = len > 0 ? strtoll(word, &stop, 10) : -1;
  if (len > 0 && stop == word + len && *count >= 0 && *count <= MAX_ITEMS) return LOOM_OK;
  return fail_vtk(r, what, word, len);
}

static double decode_number(const unsigned char *b, int type)
{
  uint64_t u = 0;
  float f;
  double d;
  for (int k = 0; k < types[type].bytes; ++k) u = u << 8 | b[k]; /* big-endian */
  const uint32_t u32 = (uint32_t)u;
  memcpy(&f, &u32, sizeof f);
  memcpy(&d, &u, sizeof d);
  if (type == TYPE_FLOAT) return f;
  if (type == TYPE_DOUBLE) return d;
  return types[type].bytes == 4 ? (double)(int32_t)u32 : (double)(int64_t)u;
}

static loom_status read_vtk_number(reader *r, int type, double *value)
{
  if (r->binary) {
    if (r->end - r->p < types[type].bytes)
      return fail_vtk(r, "the file ends within its data", "", 0);
    *value = decode_number((const unsigned char *)r->p, type);
    r->p += types[type].bytes;
    return LOOM_OK;
  }
  size_t len;
  char *stop;
  const char *const word = next_vtk_word(r, &len);
  *value = len > 0 ? strtod(word, &stop) : 0;
  return len > 0 && stop == word + len ? LOOM_OK : fail_vtk(r, "expected a number, not", word, len);
}

/* `count` numbers take so many bytes at least. */
static loom_status check_vtk_size(reader *r, int64_t count, int type)
{
  const int64_t each = r->binary ? types[type].bytes : 1;
  if (count <= (r->end - r->p) / each + 1) return LOOM_OK;
  return fail_vtk(r, "the file is shorter than its counts say", "", 0);
}

static loom_status read_vtk_points(reader *r)
{
  int64_t n;
  size_t len;
  int type = 0;
  if (r->m->x != NULL) return fail_vtk(r, "a second list of", "POINTS", 6);
  LOOM_TRY(read_vtk_count(r, "POINTS: expected a count, not", &n));
  const char *const word = next_vtk_word(r, &len);
  while (type < NUM_TYPES && !is_vtk_word(word, len, types[type].name)) ++type;
  if (type == NUM_TYPES) return fail_vtk(r, "POINTS: a type that is not known:", word, len);
  skip_vtk_line(r);
  LOOM_TRY(check_vtk_size(r, 3 * n, type));
  LOOM_TRY(mesh_alloc(r->err, 3 * n, sizeof *r->m->x, &r->m->x));
  for (int64_t k = 0; k < 3 * n; ++k) LOOM_TRY(read_vtk_number(r, type, &r->m->x[k]));
  r->m->num_verts = (int32_t)n;
  return LOOM_OK;
}

static loom_status read_vtk_ints(reader *r, int type, int64_t n, int32_t *to)
{
  for (int64_t k = 0; k < n; ++k) {
    double v = 0;
    LOOM_TRY(read_vtk_number(r, type, &v));
    if (!(v >= 0 && v <= MAX_ITEMS && v == floor(v)))
      return fail_vtk(r, "expected a whole number from 0 on, before", "", 0);
    to[k] = (int32_t)v;
  }
  return LOOM_OK;
}

/* ---- cells ---- */

static loom_status put_triangle_ids(reader *r, int32_t a, int32_t b, int32_t c)
{
  mesh *const m = r->m;
  if (m->num_tris == r->cap_tris) {
    const int64_t cap = r->cap_tris < 512 ? 1024 : 2 * r->cap_tris;
    int32_t *const p = cap > MAX_ITEMS ? NULL : realloc(m->tris, 3 * (size_t)cap * sizeof *p);
    if (p == NULL)
      return err_set(r->err, LOOM_E_NOMEM, "%s: no memory for %lld triangles", r->name,
                     (long long)cap);
    m->tris = p;
    r->cap_tris = cap;
  }
  memcpy(m->tris + 3 * (int64_t)m->num_tris++, (int32_t[3]){a, b, c}, 3 * sizeof a);
  return LOOM_OK;
}

static loom_status put_vtk_cell(reader *r, int type, const int32_t *v, int32_t n)
{
  const int32_t before = r->m->num_tris;
  for (int32_t k = 0; k < n; ++k)
    if (v[k] >= r->m->num_verts)
      return err_set(r->err, LOOM_E_IO, "%s: a cell asks for point %d, the file has %d", r->name,
                     v[k], r->m->num_verts);
  if (type == CELL_TET && n == 4) {
    memcpy(r->m->tets + 4 * (int64_t)r->m->num_tets++, v, 4 * sizeof *v);
    return LOOM_OK;
  }
  if (type == CELL_STRIP) {
    for (int32_t k = 0; k + 2 < n; ++k)
      LOOM_TRY(put_triangle_ids(r, v[k + k % 2], v[k + 1 - k % 2], v[k + 2]));
    return LOOM_OK;
  }
  if (type == CELL_PIXEL && n == 4) { /* a rectangle, row by row */
    LOOM_TRY(put_triangle_ids(r, v[0], v[1], v[3]));
    return put_triangle_ids(r, v[0], v[3], v[2]);
  }
  r->num_volumes += type > CELL_TET && type != 21 && type != 22 && type != 23;
  if ((type != CELL_TRIANGLE && type != CELL_POLYGON && type != CELL_QUAD) || n < 3) {
    ++r->m->num_ignored;
    return LOOM_OK;
  }
  for (int32_t k = 1; k + 1 < n; ++k) LOOM_TRY(put_triangle_ids(r, v[0], v[k], v[k + 1]));
  return polygon_add(r->err, &r->polygons, r->m, before);
}

/* Version 5: "NAME TYPE" and n numbers, *out [n], which the caller frees also after an error. */
static loom_status read_vtk_array(reader *r, const char *name, int64_t n, int32_t **out)
{
  size_t len;
  int type = 0;
  const char *word = next_vtk_word(r, &len);
  if (!is_vtk_word(word, len, name))
    return fail_vtk(r, "expected a list of offsets and ids, not", word, len);
  word = next_vtk_word(r, &len);
  while (type < NUM_TYPES && !is_vtk_word(word, len, types[type].name)) ++type;
  if (type == NUM_TYPES || type == TYPE_FLOAT || type == TYPE_DOUBLE)
    return fail_vtk(r, "a type of ids that is not known:", word, len);
  skip_vtk_line(r);
  LOOM_TRY(check_vtk_size(r, n, type));
  LOOM_TRY(mesh_alloc(r->err, n, sizeof **out, out));
  return read_vtk_ints(r, type, n, *out);
}

/* Version 5: where each cell begins, then all ids; r->cell gets the list of version 4. */
static loom_status read_offset_list(reader *r)
{
  int32_t *offset = NULL, *id = NULL;
  const int64_t ids = r->size, n = r->num_cells > 0 ? r->num_cells - 1 : 0;
  loom_status s = read_vtk_array(r, "OFFSETS", r->num_cells, &offset);
  if (s == LOOM_OK) s = read_vtk_array(r, "CONNECTIVITY", ids, &id);
  if (s == LOOM_OK) s = mesh_alloc(r->err, ids + n, sizeof *r->cell, &r->cell);
  r->num_cells = n;
  r->size = ids + n;
  for (int64_t k = 0, at = 0; k < n && s == LOOM_OK; ++k) {
    const int32_t count = offset[k + 1] - offset[k];
    if (count < 0 || offset[0] != 0 || offset[k + 1] > ids) {
      s = err_set(r->err, LOOM_E_IO, "%s: cell %lld goes beyond the size of its list", r->name,
                  (long long)k);
      break;
    }
    r->cell[at++] = count;
    memcpy(r->cell + at, id + offset[k], (size_t)count * sizeof *id);
    at += count;
  }
  free(offset);
  free(id);
  return s;
}

/* A list "NUM SIZE", then count and ids of each. */
static loom_status read_cell_list(reader *r)
{
  if (r->cell != NULL) return fail_vtk(r, "a second list of", "CELLS", 5);
  LOOM_TRY(read_vtk_count(r, "expected a count of cells, not", &r->num_cells));
  LOOM_TRY(read_vtk_count(r, "expected the size of the list, not", &r->size));
  if (r->version >= 5) return read_offset_list(r);
  skip_vtk_line(r);
  LOOM_TRY(check_vtk_size(r, r->size, TYPE_INT));
  LOOM_TRY(mesh_alloc(r->err, r->size, sizeof *r->cell, &r->cell));
  return read_vtk_ints(r, TYPE_INT, r->size, r->cell);
}

static loom_status put_vtk_cells(reader *r, int type)
{
  int64_t at = 0;
  for (int64_t k = 0; k < r->num_cells; ++k) {
    const int32_t n = at < r->size ? r->cell[at] : 0;
    if (at >= r->size || n > r->size - at - 1)
      return err_set(r->err, LOOM_E_IO, "%s: cell %lld goes beyond the size of its list", r->name,
                     (long long)k);
    LOOM_TRY(put_vtk_cell(r, type != 0 ? type : r->type[k], r->cell + at + 1, n));
    at += n + 1;
  }
  free(r->cell); /* POLYDATA may have several lists */
  r->cell = NULL;
  return LOOM_OK;
}

static loom_status put_tet_surface(reader *r)
{
  int32_t *tris = NULL, num = 0;
  loom_status s = tet_surface(r->err, r->m, &tris, &num);
  for (int64_t t = 0; t < num && s == LOOM_OK; ++t)
    s = put_triangle_ids(r, tris[3 * t], tris[3 * t + 1], tris[3 * t + 2]);
  free(tris);
  return s;
}

/* ---- the file ---- */

static loom_status read_vtk_header(reader *r)
{
  size_t len;
  if (r->end - r->p < 14 || memcmp(r->p, "# vtk DataFile", 14) != 0)
    return fail_vtk(r, "is no legacy VTK file, begins with", r->p, (size_t)(r->end - r->p));
  r->version = (int)strtol(r->p + strcspn(r->p, "0123456789\n"), NULL, 10);
  skip_vtk_line(r);
  skip_vtk_line(r); /* the title */
  const char *word = next_vtk_word(r, &len);
  const int binary = is_vtk_word(word, len, "BINARY");
  if (!binary && !is_vtk_word(word, len, "ASCII"))
    return fail_vtk(r, "expected ASCII or BINARY, not", word, len);
  word = next_vtk_word(r, &len);
  if (!is_vtk_word(word, len, "DATASET")) return fail_vtk(r, "expected DATASET, not", word, len);
  word = next_vtk_word(r, &len);
  r->grid = is_vtk_word(word, len, "UNSTRUCTURED_GRID");
  if (!r->grid && !is_vtk_word(word, len, "POLYDATA"))
    return fail_vtk(r, "only POLYDATA and UNSTRUCTURED_GRID are surfaces, not", word, len);
  r->binary = binary;
  return LOOM_OK;
}

static loom_status read_cell_types(reader *r)
{
  if (r->type != NULL) return fail_vtk(r, "a second list of", "CELL_TYPES", 10);
  LOOM_TRY(read_vtk_count(r, "CELL_TYPES: expected a count, not", &r->num_types));
  skip_vtk_line(r);
  LOOM_TRY(check_vtk_size(r, r->num_types, TYPE_INT));
  LOOM_TRY(mesh_alloc(r->err, r->num_types, sizeof *r->type, &r->type));
  return read_vtk_ints(r, TYPE_INT, r->num_types, r->type);
}

/* ---- fields of the data set, which may stand before the points ---- */

/* Of METADATA; an empty line ends it. */
static void skip_vtk_metadata(reader *r)
{
  do skip_vtk_line(r);
  while (r->p < r->end && *r->p != '\n' && *r->p != '\r');
}

static loom_status skip_vtk_bytes(reader *r, int64_t count)
{
  if (count > r->end - r->p) return fail_vtk(r, "the file ends within its data", "", 0);
  r->p += count;
  return LOOM_OK;
}

/* A binary string: two bits of its first byte tell how many bytes its length has (vtkDataWriter).
 */
static loom_status skip_vtk_string(reader *r)
{
  static const int bytes_of[] = {8, 4, 2, 1};
  if (r->p >= r->end) return fail_vtk(r, "the file ends within its data", "", 0);
  const unsigned char first = (unsigned char)*r->p;
  const int bytes = bytes_of[first >> 6];
  uint64_t length = first & 63;
  LOOM_TRY(skip_vtk_bytes(r, bytes));
  for (int k = 1; k < bytes; ++k) length = length << 8 | (unsigned char)r->p[k - bytes];
  if (length > (uint64_t)(r->end - r->p)) length = INT64_MAX;
  return skip_vtk_bytes(r, (int64_t)length);
}

static loom_status skip_vtk_values(reader *r, int64_t count, const char *type, size_t len)
{
  static const struct {
    const char *name;
    int bytes;
  } sizes[] = {
      {"unsigned_char", 1}, {"char", 1}, {"signed_char", 1},  {"unsigned_short", 2}, {"short", 2},
      {"unsigned_int", 4},  {"int", 4},  {"float", 4},        {"vtkIdType", 4},      {"double", 8},
      {"unsigned_long", 8}, {"long", 8}, {"vtktypeint64", 8}, {"vtktypeuint64", 8}};
  const int strings = is_vtk_word(type, len, "string");
  int64_t bytes = 0;
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k)
    if (is_vtk_word(type, len, sizes[k].name)) bytes = sizes[k].bytes;
  if (bytes == 0 && !strings) return fail_vtk(r, "FIELD: is no type that is read:", type, len);
  skip_vtk_line(r);
  if (r->binary && !strings) return skip_vtk_bytes(r, bytes * count);
  LOOM_TRY(check_vtk_size(r, count, TYPE_INT));
  for (int64_t k = 0; k < count; ++k) {
    if (r->binary)
      LOOM_TRY(skip_vtk_string(r));
    else if (strings)
      skip_vtk_line(r);
    else
      (void)next_vtk_word(r, &len);
  }
  return LOOM_OK;
}

/* FIELD NAME COUNT, then NAME COMPONENTS TUPLES TYPE and the values of each array. */
static loom_status skip_vtk_fields(reader *r)
{
  int64_t arrays, components, tuples;
  size_t len;
  (void)next_vtk_word(r, &len);
  LOOM_TRY(read_vtk_count(r, "FIELD: expected a count of arrays, not", &arrays));
  for (int64_t k = 0; k < arrays; ++k) {
    const char *word = next_vtk_word(r, &len);
    if (is_vtk_word(word, len, "METADATA")) {
      skip_vtk_metadata(r);
      (void)next_vtk_word(r, &len);
    }
    LOOM_TRY(read_vtk_count(r, "FIELD: expected a count of components, not", &components));
    LOOM_TRY(read_vtk_count(r, "FIELD: expected a count of rows, not", &tuples));
    word = next_vtk_word(r, &len);
    LOOM_TRY(skip_vtk_values(r, components * tuples, word, len));
  }
  return LOOM_OK;
}

/* *more 0: data of points and cells begins, which is left out. */
static loom_status read_vtk_section(reader *r, int *more)
{
  size_t len;
  const char *const word = next_vtk_word(r, &len);
  *more = len > 0 && !is_vtk_word(word, len, "CELL_DATA") && !is_vtk_word(word, len, "POINT_DATA");
  if (!*more) return LOOM_OK;
  if (is_vtk_word(word, len, "FIELD")) return skip_vtk_fields(r);
  if (is_vtk_word(word, len, "METADATA")) {
    skip_vtk_metadata(r);
    return LOOM_OK;
  }
  if (is_vtk_word(word, len, "POINTS")) return read_vtk_points(r);
  if (r->grid) {
    if (is_vtk_word(word, len, "CELLS")) return read_cell_list(r);
    if (is_vtk_word(word, len, "CELL_TYPES")) return read_cell_types(r);
    return fail_vtk(r, "is no section of an UNSTRUCTURED_GRID:", word, len);
  }
  const int strips = is_vtk_word(word, len, "TRIANGLE_STRIPS");
  const int passed = is_vtk_word(word, len, "LINES") || is_vtk_word(word, len, "VERTICES");
  if (!strips && !passed && !is_vtk_word(word, len, "POLYGONS"))
    return fail_vtk(r, "is no section of POLYDATA:", word, len);
  LOOM_TRY(read_cell_list(r));
  return put_vtk_cells(r, strips ? CELL_STRIP : passed ? 1 : CELL_POLYGON);
}

static loom_status finish_vtk(reader *r)
{
  if (r->grid && (r->cell == NULL || r->type == NULL || r->num_types != r->num_cells))
    return err_set(r->err, LOOM_E_IO, "%s: CELLS and CELL_TYPES of the same number are needed",
                   r->name);
  if (r->grid) {
    LOOM_TRY(mesh_alloc(r->err, 4 * r->num_cells, sizeof *r->m->tets, &r->m->tets));
    LOOM_TRY(put_vtk_cells(r, 0));
    if (r->m->num_tets > 0 && r->num_volumes > 0)
      return err_set(r->err, LOOM_E_IO,
                     "%s: holds %lld cells beside its tetrahedra that are other volumes; split "
                     "them into tetrahedra of four points",
                     r->name, (long long)r->num_volumes);
    if (r->m->num_tets > 0) LOOM_TRY(put_tet_surface(r));
  }
  if (r->m->num_verts == 0) return err_set(r->err, LOOM_E_IO, "%s: holds no points", r->name);
  if (r->m->num_tris == 0 && r->num_volumes > 0)
    return err_set(
        r->err, LOOM_E_IO,
        "%s: holds no triangles but %lld cells that are other volumes than tetrahedra of "
        "four points; save their outer surface, or split them into tetrahedra",
        r->name, (long long)r->num_volumes);
  if (r->m->num_tris == 0) return err_set(r->err, LOOM_E_IO, "%s: holds no triangles", r->name);
  return polygon_cut_all(r->err, &r->polygons, r->m);
}

loom_status vtk_parse(loom_err *err, const char *name, const char *text, size_t len, mesh *out)
{
  reader r = {.err = err, .name = name, .text = text, .p = text, .end = text + len, .m = out};
  int more = 1;
  memset(out, 0, sizeof *out);
  loom_status s = read_vtk_header(&r);
  while (s == LOOM_OK && more) s = read_vtk_section(&r, &more);
  if (s == LOOM_OK) s = finish_vtk(&r);
  free(r.cell);
  free(r.type);
  free(r.polygons.fan);
  if (s != LOOM_OK) mesh_free(out);
  return s;
}

loom_status vtk_read(loom_err *err, const char *path, mesh *out)
{
  char *text;
  size_t len;
  memset(out, 0, sizeof *out);
  LOOM_TRY(words_file(err, path, &text, &len));
  const loom_status s = vtk_parse(err, path, text, len, out);
  free(text);
  return s;
}
