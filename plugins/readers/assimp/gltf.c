/* gltf.c - see gltf.h.  All places in the buffers are checked: the file may be made to harm. */
#include "gltf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char damaged[] = "its numbers do not fit its buffers; the file is damaged";

void gltf_close(gltf *g)
{
  json_decref(g->root);
  free(g->bin.data);
  for (size_t k = 0; g->buffer != NULL && k < g->num_buffers; ++k) free(g->buffer[k].data);
  free(g->buffer);
  memset(g, 0, sizeof *g);
}

/* ---- files ---- */

/* A file as Assimp would open it; a byte 0 follows. */
static loom_status read_bytes(reader *r, const char *name, gltf_bytes *out)
{
  struct aiFileIO *const io = &r->files->io;
  struct aiFile *const f = io->OpenProc(io, name, "rb");
  if (f == NULL) return reader_fail(r, LOOM_E_IO, "a file that it names cannot be opened");
  const size_t len = f->FileSizeProc(f);
  loom_status s = reader_room(r, len + 1, 1, &out->data);
  out->len = len;
  if (s == LOOM_OK && f->ReadProc(f, (char *)out->data, 1, len) != len)
    s = reader_fail(r, LOOM_E_IO, "a file that it names cannot be read");
  io->CloseProc(io, f);
  return s;
}

static size_t read_u32(const unsigned char *b)
{
  return (size_t)b[0] | (size_t)b[1] << 8 | (size_t)b[2] << 16 | (size_t)b[3] << 24;
}

/* The JSON of a GLB, its first chunk, and the copy of its second one. */
static loom_status find_chunks(reader *r, const gltf_bytes *all, gltf *g, gltf_bytes *text)
{
  if (all->len < 20 || read_u32(all->data + 12) > all->len - 20)
    return reader_fail(r, LOOM_E_CONFIG, damaged);
  *text = (gltf_bytes){all->data + 20, read_u32(all->data + 12)};
  const size_t next = 20 + text->len;
  if (all->len - next < 8) return LOOM_OK;
  const size_t len = read_u32(all->data + next);
  if (len > all->len - next - 8) return reader_fail(r, LOOM_E_CONFIG, damaged);
  LOOM_TRY(reader_room(r, len, 1, &g->bin.data));
  memcpy(g->bin.data, all->data + next + 8, len);
  g->bin.len = len;
  return LOOM_OK;
}

static loom_status parse_text(reader *r, const gltf_bytes *all, gltf *g)
{
  static const unsigned char mark[3] = {0xef, 0xbb, 0xbf};
  gltf_bytes text = *all;
  if (all->len >= 4 && memcmp(all->data, "glTF", 4) == 0) LOOM_TRY(find_chunks(r, all, g, &text));
  if (text.len >= 3 && memcmp(text.data, mark, sizeof mark) == 0) text.data += 3, text.len -= 3;
  while (text.len > 0 && text.data[text.len - 1] == '\0') --text.len; /* padding of some writers */
  g->root = json_loadb((const char *)text.data, text.len, JSON_ALLOW_NUL, NULL);
  return g->root != NULL
             ? LOOM_OK
             : reader_fail(r, LOOM_E_CONFIG, "its JSON is not valid; export it again as UTF-8");
}

loom_status gltf_open(reader *r, gltf *g)
{
  gltf_bytes all = {0};
  memset(g, 0, sizeof *g);
  loom_status s = read_bytes(r, r->files->shown, &all);
  if (s == LOOM_OK) s = parse_text(r, &all, g);
  free(all.data);
  LOOM_TRY(s);
  g->num_buffers = json_array_size(json_object_get(g->root, "buffers"));
  return reader_room(r, g->num_buffers, sizeof *g->buffer, &g->buffer);
}

/* ---- buffers ---- */

static int value_of_base64(int c)
{
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const char *const at = c != '\0' ? strchr(digits, c) : NULL;
  return at != NULL ? (int)(at - digits) : -1;
}

static loom_status gltf_decode_base64(reader *r, const char *text, gltf_bytes *out)
{
  const size_t len = strlen(text);
  unsigned bits = 0, held = 0;
  LOOM_TRY(reader_room(r, len / 4 * 3 + 3, 1, &out->data));
  for (size_t k = 0; k < len && text[k] != '='; ++k) {
    const int v = value_of_base64(text[k]);
    if (v < 0) return reader_fail(r, LOOM_E_CONFIG, damaged);
    held = (held << 6 | (unsigned)v) & 0xffffU;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    out->data[out->len++] = (unsigned char)(held >> bits & 0xffU);
  }
  return LOOM_OK;
}

static loom_status read_buffer(reader *r, const json_t *buffer, const gltf *g, gltf_bytes *out)
{
  const char *const uri = json_string_value(json_object_get(buffer, "uri"));
  char name[PATH_MAX];
  if (uri == NULL) {
    LOOM_TRY(reader_room(r, g->bin.len, 1, &out->data));
    if (g->bin.len > 0) memcpy(out->data, g->bin.data, g->bin.len);
    out->len = g->bin.len;
    return LOOM_OK;
  }
  if (strncmp(uri, "data:", 5) == 0) {
    const char *const text = strstr(uri, ";base64,");
    return text != NULL ? gltf_decode_base64(r, text + 8, out)
                        : reader_fail(r, LOOM_E_CONFIG, damaged);
  }
  const int n = snprintf(name, sizeof name, "%.*s%s", (int)r->files->prefix, r->files->shown, uri);
  if (n < 0 || n >= (int)sizeof name) return reader_fail(r, LOOM_E_CONFIG, damaged);
  return read_bytes(r, name, out);
}

/* ---- numbers ---- */

int64_t gltf_count(const json_t *object, const char *key, int64_t other)
{
  const json_t *const v = json_object_get(object, key);
  if (v == NULL) return other;
  const double x = json_number_value(v);
  return json_is_number(v) && x >= 0 && x < 9e15 && floor(x) == x ? (int64_t)x : -1;
}

/* The item of a list of the file, NULL: it has none. */
static const json_t *find_json_item(const gltf *g, const char *list, int64_t at)
{
  return at >= 0 ? json_array_get(json_object_get(g->root, list), (size_t)at) : NULL;
}

typedef struct numbers { /* of an accessor */
  const unsigned char *at;
  int64_t stride; /* bytes */
  int type, size; /* of a component: as glTF numbers them; bytes */
  int normalized;
} numbers;

static int size_of_component(int64_t type)
{
  return type == 5120 || type == 5121   ? 1
         : type == 5122 || type == 5123 ? 2
         : type == 5125 || type == 5126 ? 4
                                        : 0;
}

/* Little-endian, as the file has them. */
static double component_at(const numbers *n, const unsigned char *b)
{
  uint32_t u = 0;
  for (int k = n->size - 1; k >= 0; --k) u = u << 8 | b[k];
  if (n->type == 5126) {
    float f;
    memcpy(&f, &u, sizeof f);
    return (double)f;
  }
  if (n->type == 5120 || n->type == 5122) { /* signed */
    const double most = n->size == 1 ? 127 : 32767, all = n->size == 1 ? 256 : 65536;
    const double v = (double)u > most ? (double)u - all : (double)u;
    return n->normalized ? fmax(v / most, -1) : v;
  }
  return n->normalized ? (double)u / (n->size == 1   ? 255
                                      : n->size == 2 ? 65535
                                                     : 4294967295.0)
                       : (double)u;
}

/* Where the numbers of an accessor begin, if all of them are within its view and its buffer. */
static loom_status find_numbers(reader *r, gltf *g, const json_t *a, int64_t type, int width,
                                int64_t count, numbers *out)
{
  const json_t *const view = find_json_item(g, "bufferViews", gltf_count(a, "bufferView", -1));
  const int64_t k = gltf_count(view, "buffer", -1);
  const json_t *const buffer = find_json_item(g, "buffers", k);
  if (buffer == NULL) return reader_fail(r, LOOM_E_CONFIG, damaged);
  if (g->buffer[k].data == NULL) LOOM_TRY(read_buffer(r, buffer, g, &g->buffer[k]));
  const int64_t size = size_of_component(type), row = size * width;
  const int64_t given = gltf_count(view, "byteStride", 0), stride = given > 0 ? given : row;
  const int64_t from = gltf_count(view, "byteOffset", 0), room = gltf_count(view, "byteLength", -1);
  const int64_t skip = gltf_count(a, "byteOffset", 0), have = (int64_t)g->buffer[k].len;
  if (size == 0 || given < 0 || from < 0 || room < 0 || skip < 0 || from > have ||
      room > have - from || row > room || skip > room - row ||
      (count > 1 && (count - 1) > (room - row - skip) / stride))
    return reader_fail(r, LOOM_E_CONFIG, damaged);
  *out = (numbers){.at = g->buffer[k].data + from + skip,
                   .stride = stride,
                   .type = (int)type,
                   .size = (int)size,
                   .normalized = json_is_true(json_object_get(a, "normalized"))};
  return LOOM_OK;
}

static void put_accessor_rows(const numbers *n, int width, int64_t count, double *out)
{
  for (int64_t k = 0; k < count; ++k)
    for (int c = 0; c < width; ++c)
      out[width * k + c] = component_at(n, n->at + n->stride * k + (ptrdiff_t)n->size * c);
}

/* Rows in the place of others (glTF 2.0, 5.3). */
static loom_status put_sparse_rows(reader *r, gltf *g, const json_t *a, int width, int64_t count,
                                   double *out)
{
  const json_t *const sparse = json_object_get(a, "sparse");
  const json_t *const at = json_object_get(sparse, "indices");
  const int64_t num = gltf_count(sparse, "count", 0);
  numbers id = {0}, n = {0};
  if (num == 0) return LOOM_OK;
  if (num < 0 || num > count) return reader_fail(r, LOOM_E_CONFIG, damaged);
  LOOM_TRY(find_numbers(r, g, at, gltf_count(at, "componentType", -1), 1, num, &id));
  LOOM_TRY(find_numbers(r, g, json_object_get(sparse, "values"), gltf_count(a, "componentType", -1),
                        width, num, &n));
  n.normalized = json_is_true(json_object_get(a, "normalized"));
  for (int64_t k = 0; k < num; ++k) {
    const double to = component_at(&id, id.at + id.stride * k);
    if (!(to >= 0 && to < (double)count)) return reader_fail(r, LOOM_E_CONFIG, damaged);
    const numbers one = {n.at + n.stride * k, n.stride, n.type, n.size, n.normalized};
    put_accessor_rows(&one, width, 1, out + width * (int64_t)to);
  }
  return LOOM_OK;
}

/* Rows that a file need not hold, all 0 but the sparse ones. */
enum { MOST_EMPTY = 1 << 24 };

loom_status gltf_read(reader *r, gltf *g, int64_t accessor, int width, double **out, int64_t *count)
{
  const json_t *const a = find_json_item(g, "accessors", accessor);
  const char *const type = json_string_value(json_object_get(a, "type"));
  const int empty = json_object_get(a, "bufferView") == NULL;
  numbers n = {0};
  *out = NULL;
  *count = gltf_count(a, "count", -1);
  if (type == NULL ||
      strcmp(type, width == 1   ? "SCALAR"
                   : width == 3 ? "VEC3"
                                : "VEC4") != 0 ||
      *count < 1 || (empty && *count > MOST_EMPTY))
    return reader_fail(r, LOOM_E_CONFIG, damaged);
  if (!empty)
    LOOM_TRY(find_numbers(r, g, a, gltf_count(a, "componentType", -1), width, *count, &n));
  LOOM_TRY(reader_room(r, (size_t)width * (size_t)*count, sizeof **out, out));
  if (!empty) put_accessor_rows(&n, width, *count, *out);
  return put_sparse_rows(r, g, a, width, *count, *out);
}
