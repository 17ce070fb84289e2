/* vtu.c - reader of VTK's XML files of unstructured grids.  W. Schroeder, K. Martin, B. Lorensen,
 * "The VTK User's Guide", "XML File Formats". */
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/file_data.h"
#include "mesh/tet_file.h"

enum { CELL_TET = 10, VALUE = 64 };
enum { POINTS, CONNECTIVITY, OFFSETS, TYPES, NUM_ARRAYS };
static const char *const array_names[NUM_ARRAYS] = {"Points", "connectivity", "offsets", "types"};
static const char *const type_names[FILE_NUM_TYPES] = {
    "Int8", "UInt8", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64", "Float32", "Float64"};
enum { ENCODED_TEXT, ENCODED_BASE64, ENCODED_APPENDED };

typedef struct vtu_array {
  int type, encoding;
  const char *at; /* text and base64: the data; NULL: the file has no such array */
  int64_t offset; /* appended, behind the mark */
} vtu_array;

typedef struct vtu_reader {
  file_data d;
  mesh *m;
  int section; /* 1 in <Points>, 2 in <Cells> */
  int pieces, wide_headers;
  int64_t num_points, num_cells;
  vtu_array array[NUM_ARRAYS];
  const char *appended; /* behind the mark "_"; NULL: none */
  int appended_base64;  /* 0: raw */
} vtu_reader;

/* ---- tags ---- */

/* The value of an attribute in the tag [p, end); 0: it has none, or a longer one. */
static int find_attribute(const char *p, const char *end, const char *name, char value[VALUE])
{
  const size_t len = strlen(name);
  while (p < end) {
    while (p < end && !isspace((unsigned char)*p)) ++p; /* the name of the tag, or a value */
    while (p < end && isspace((unsigned char)*p)) ++p;
    const char *const word = p;
    while (p < end && *p != '=' && !isspace((unsigned char)*p)) ++p;
    const int found = (size_t)(p - word) == len && memcmp(word, name, len) == 0;
    while (p < end && *p != '"' && *p != '\'') ++p;
    if (p >= end) return 0;
    const char quote = *p++, *const first = p;
    while (p < end && *p != quote) ++p;
    if (!found) continue;
    if (p >= end || p - first >= VALUE) return 0;
    memcpy(value, first, (size_t)(p - first));
    value[p - first] = '\0';
    return 1;
  }
  return 0;
}

static int is_tag(const char *p, const char *end, const char *name)
{
  const size_t len = strlen(name);
  return (size_t)(end - p) >= len && memcmp(p, name, len) == 0 &&
         (p + len == end || isspace((unsigned char)p[len]) || p[len] == '/');
}

static loom_status read_vtu_count(vtu_reader *r, const char *p, const char *end, const char *name,
                                  int64_t *count)
{
  char value[VALUE], *stop;
  if (!find_attribute(p, end, name, value))
    return file_data_fail(&r->d, "a piece needs the attribute", name, strlen(name));
  const long long v = strtoll(value, &stop, 10);
  if (*stop != '\0' || stop == value || v < 0 || v > FILE_MAX_ITEMS)
    return file_data_fail(&r->d, "expected a count, not", value, strlen(value));
  *count = v;
  return LOOM_OK;
}

static loom_status read_vtk_file_tag(vtu_reader *r, const char *p, const char *end)
{
  char value[VALUE];
  if (!find_attribute(p, end, "type", value) || strcmp(value, "UnstructuredGrid") != 0)
    return file_data_fail(&r->d, "only files of type UnstructuredGrid are read", NULL, 0);
  if (find_attribute(p, end, "compressor", value))
    return file_data_fail(&r->d, "only files without compression are read, not of the compressor",
                          value, strlen(value));
  r->d.big_endian = find_attribute(p, end, "byte_order", value) && strcmp(value, "BigEndian") == 0;
  r->wide_headers = find_attribute(p, end, "header_type", value) && strcmp(value, "UInt64") == 0;
  return LOOM_OK;
}

/* An array of the points or of the cells; others are passed over. */
static loom_status read_array_tag(vtu_reader *r, const char *p, const char *end)
{
  char value[VALUE] = "";
  int which = POINTS;
  const int named = find_attribute(p, end, "Name", value);
  if (r->section == 0) return LOOM_OK;
  if (r->section == 2) {
    for (which = CONNECTIVITY; which < NUM_ARRAYS; ++which)
      if (named && strcmp(value, array_names[which]) == 0) break;
    if (which == NUM_ARRAYS) return LOOM_OK;
  }
  vtu_array *const a = &r->array[which];
  if (a->at != NULL)
    return file_data_fail(&r->d, "a second array of", array_names[which],
                          strlen(array_names[which]));
  *a = (vtu_array){.at = end + 1, .type = 0};
  if (!find_attribute(p, end, "type", value)) value[0] = '\0';
  while (a->type < FILE_NUM_TYPES && strcmp(value, type_names[a->type]) != 0) ++a->type;
  if (a->type == FILE_NUM_TYPES || (which != POINTS && a->type >= FILE_F32) ||
      (which == POINTS && a->type < FILE_F32))
    return file_data_fail(&r->d, "an array of a type that it cannot have,", value, strlen(value));
  if (which == POINTS &&
      (!find_attribute(p, end, "NumberOfComponents", value) || strcmp(value, "3") != 0))
    return file_data_fail(&r->d, "points need NumberOfComponents=\"3\"", NULL, 0);
  if (!find_attribute(p, end, "format", value)) strcpy(value, "ascii");
  a->encoding = strcmp(value, "appended") == 0 ? ENCODED_APPENDED
                : strcmp(value, "binary") == 0 ? ENCODED_BASE64
                                               : ENCODED_TEXT;
  if (a->encoding == ENCODED_TEXT && strcmp(value, "ascii") != 0)
    return file_data_fail(&r->d, "expected the format ascii, binary or appended, not", value,
                          strlen(value));
  if (a->encoding != ENCODED_APPENDED) return LOOM_OK;
  char *stop;
  a->offset = find_attribute(p, end, "offset", value) ? strtoll(value, &stop, 10) : -1;
  return a->offset >= 0 ? LOOM_OK
                        : file_data_fail(&r->d, "an appended array needs an offset", NULL, 0);
}

static loom_status read_appended_tag(vtu_reader *r, const char *p, const char *end)
{
  char value[VALUE];
  if (!find_attribute(p, end, "encoding", value)) value[0] = '\0';
  r->appended_base64 = strcmp(value, "base64") == 0;
  if (!r->appended_base64 && strcmp(value, "raw") != 0)
    return file_data_fail(&r->d, "expected appended data of the encoding raw or base64, not", value,
                          strlen(value));
  const char *q = end + 1;
  while (q < r->d.end && isspace((unsigned char)*q)) ++q;
  if (q >= r->d.end || *q != '_')
    return file_data_fail(&r->d, "appended data begin with \"_\"", NULL, 0);
  r->appended = q + 1;
  return LOOM_OK;
}

/* The tag [p, end) behind its "<". */
static loom_status read_vtu_tag(vtu_reader *r, const char *p, const char *end)
{
  if (is_tag(p, end, "VTKFile")) return read_vtk_file_tag(r, p, end);
  if (is_tag(p, end, "Points")) r->section = 1;
  if (is_tag(p, end, "Cells")) r->section = 2;
  if (is_tag(p, end, "/Points") || is_tag(p, end, "/Cells")) r->section = 0;
  if (is_tag(p, end, "DataArray")) return read_array_tag(r, p, end);
  if (is_tag(p, end, "AppendedData")) return read_appended_tag(r, p, end);
  if (!is_tag(p, end, "Piece")) return LOOM_OK;
  if (r->pieces++ > 0) return file_data_fail(&r->d, "has several pieces; save it as one", NULL, 0);
  LOOM_TRY(read_vtu_count(r, p, end, "NumberOfPoints", &r->num_points));
  return read_vtu_count(r, p, end, "NumberOfCells", &r->num_cells);
}

/* All tags up to appended data, which are no XML. */
static loom_status read_vtu_tags(vtu_reader *r)
{
  file_data *const d = &r->d;
  int first = 1;
  while (r->appended == NULL) {
    while (d->p < d->end && *d->p != '<') ++d->p;
    if (d->p >= d->end) break;
    const char *const tag = d->p + 1, *end = tag;
    if (strncmp(tag, "!--", 3) == 0) {
      end = strstr(tag, "-->");
      if (end == NULL) return file_data_fail(d, "a comment does not end", NULL, 0);
      d->p = end;
      continue;
    }
    for (char quote = '\0'; end < d->end && (*end != '>' || quote != '\0'); ++end)
      if (quote == '\0' ? *end == '"' || *end == '\'' : *end == quote)
        quote = quote == '\0' ? *end : '\0';
    if (end >= d->end) return file_data_fail(d, "a tag does not end", NULL, 0);
    if (first && *tag != '?') {
      if (!is_tag(tag, end, "VTKFile"))
        return file_data_fail(d, "is no VTK file, begins with", tag, (size_t)(end - tag));
      first = 0;
    }
    LOOM_TRY(read_vtu_tag(r, tag, end));
    d->p = end;
  }
  return LOOM_OK;
}

/* ---- arrays ---- */

static int base64_digit(char c)
{
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* The bytes of base64 from `p` on, up to another character: *bytes [*len], the caller frees them.
 * A block that ends with "=" may be followed by another one, as behind a header by itself. */
static loom_status decode_base64(vtu_reader *r, const char *p, char **bytes, size_t *len)
{
  while (p < r->d.end && isspace((unsigned char)*p)) ++p;
  const char *end = p;
  while (end < r->d.end && (base64_digit(*end) >= 0 || *end == '=')) ++end;
  LOOM_TRY(mesh_alloc(r->d.err, (end - p) / 4 * 3 + 4, 1, bytes));
  *len = 0;
  for (; end - p >= 4; p += 4) {
    uint32_t bits = 0;
    int pad = 0;
    for (int k = 0; k < 4; ++k) {
      pad += p[k] == '=';
      bits = bits << 6 | (uint32_t)(p[k] == '=' ? 0 : base64_digit(p[k]));
    }
    for (int k = 0; k < 3 - (pad < 2 ? pad : 2); ++k)
      (*bytes)[(*len)++] = (char)(bits >> (16 - 8 * k) & 255);
  }
  return LOOM_OK;
}

/* `d` reads the numbers of an array from now on; *made is to be freed. */
static loom_status open_vtu_array(vtu_reader *r, int which, int64_t count, file_data *d,
                                  char **made)
{
  const vtu_array *const a = &r->array[which];
  const int header = r->wide_headers ? FILE_U64 : FILE_U32;
  int64_t size = 0;
  *d = r->d;
  *made = NULL;
  if (a->at == NULL || (a->encoding == ENCODED_APPENDED && r->appended == NULL))
    return err_set(d->err, LOOM_E_IO, "%s: holds no array %s", d->name, array_names[which]);
  d->p = a->at;
  if (a->encoding == ENCODED_TEXT) {
    d->end = memchr(a->at, '<', (size_t)(d->end - a->at));
    if (d->end == NULL) d->end = r->d.end;
    return file_data_check_room(d, count, 1);
  }
  d->binary = 1;
  if (a->encoding == ENCODED_APPENDED) {
    if (a->offset > d->end - r->appended)
      return file_data_fail(d, "the offset of an array lies behind the end of the file", NULL, 0);
    d->p = r->appended + a->offset;
  }
  if (a->encoding == ENCODED_BASE64 || r->appended_base64) {
    size_t len = 0;
    LOOM_TRY(decode_base64(r, d->p, made, &len));
    d->text = d->p = *made;
    d->end = *made + len;
  }
  LOOM_TRY(file_data_int(d, header, "the size of an array is out of range", 0, INT64_MAX, &size));
  if (size != count * file_data_bytes[a->type])
    return err_set(d->err, LOOM_E_IO, "%s: array %s has %lld bytes, %lld numbers of %s are needed",
                   d->name, array_names[which], (long long)size, (long long)count,
                   type_names[a->type]);
  return file_data_check_room(d, count, file_data_bytes[a->type]);
}

static loom_status read_vtu_points(vtu_reader *r)
{
  file_data d;
  char *made;
  mesh *const m = r->m;
  loom_status s = open_vtu_array(r, POINTS, 3 * r->num_points, &d, &made);
  if (s == LOOM_OK) s = mesh_alloc(r->d.err, 3 * r->num_points, sizeof *m->x, &m->x);
  for (int64_t k = 0; k < 3 * r->num_points && s == LOOM_OK; ++k)
    s = file_data_real(&d, r->array[POINTS].type, "expected a coordinate, not", &m->x[k]);
  if (s == LOOM_OK) m->num_verts = (int32_t)r->num_points;
  free(made);
  return s;
}

/* Whole numbers from 0 to `most`: *out [count], the caller frees it. */
static loom_status read_vtu_ints(vtu_reader *r, int which, int64_t count, int64_t most,
                                 int64_t **out)
{
  file_data d;
  char *made, what[64];
  snprintf(what, sizeof what, "array %s: expected a number in its range, not", array_names[which]);
  loom_status s = open_vtu_array(r, which, count, &d, &made);
  if (s == LOOM_OK) s = mesh_alloc(r->d.err, count, sizeof **out, out);
  for (int64_t k = 0; k < count && s == LOOM_OK; ++k)
    s = file_data_int(&d, r->array[which].type, what, 0, most, &(*out)[k]);
  free(made);
  return s;
}

static loom_status put_vtu_tets(vtu_reader *r, const int64_t *type, const int64_t *end,
                                const int64_t *node)
{
  mesh *const m = r->m;
  int64_t at = 0, tets = 0;
  for (int64_t c = 0; c < r->num_cells; at = end[c++]) {
    if (end[c] < at)
      return err_set(r->d.err, LOOM_E_IO, "%s: the offsets of cells descend at cell %lld",
                     r->d.name, (long long)c);
    if (type[c] > CELL_TET && type[c] != 21 && type[c] != 22 && type[c] != 23)
      return err_set(r->d.err, LOOM_E_IO,
                     "%s: cell %lld is of type %lld; of volumes only tetrahedra (type 10) are "
                     "read: split it into such ones",
                     r->d.name, (long long)c, (long long)type[c]);
    tets += type[c] == CELL_TET;
    if (type[c] == CELL_TET && end[c] - at != 4)
      return err_set(r->d.err, LOOM_E_IO, "%s: cell %lld is a tetrahedron of %lld points",
                     r->d.name, (long long)c, (long long)(end[c] - at));
  }
  LOOM_TRY(mesh_alloc(r->d.err, 4 * tets, sizeof *m->tets, &m->tets));
  for (int64_t c = 0; c < r->num_cells; ++c) {
    if (type[c] != CELL_TET) {
      ++m->num_ignored;
      continue;
    }
    for (int k = 0; k < 4; ++k)
      m->tets[4 * (int64_t)m->num_tets + k] = (int32_t)node[end[c] - 4 + k];
    ++m->num_tets;
  }
  return LOOM_OK;
}

static loom_status read_vtu_cells(vtu_reader *r)
{
  int64_t *type = NULL, *end = NULL, *node = NULL;
  const int64_t most = r->num_points - 1;
  loom_status s = read_vtu_ints(r, TYPES, r->num_cells, UCHAR_MAX, &type);
  if (s == LOOM_OK) s = read_vtu_ints(r, OFFSETS, r->num_cells, 8 * (int64_t)FILE_MAX_ITEMS, &end);
  if (s == LOOM_OK && r->num_cells > 0)
    s = read_vtu_ints(r, CONNECTIVITY, end[r->num_cells - 1], most, &node);
  if (s == LOOM_OK) s = put_vtu_tets(r, type, end, node);
  free(type);
  free(end);
  free(node);
  return s;
}

loom_status vtu_parse(loom_err *err, const char *name, const char *text, size_t len, mesh *out)
{
  vtu_reader r = {.d = {.err = err, .name = name, .text = text, .p = text, .end = text + len},
                  .m = out};
  memset(out, 0, sizeof *out);
  loom_status s = read_vtu_tags(&r);
  if (s == LOOM_OK && r.pieces == 0)
    s = err_set(err, LOOM_E_IO, "%s: holds no Piece of an UnstructuredGrid", name);
  if (s == LOOM_OK) s = read_vtu_points(&r);
  if (s == LOOM_OK) s = read_vtu_cells(&r);
  if (s != LOOM_OK) mesh_free(out);
  return s;
}
