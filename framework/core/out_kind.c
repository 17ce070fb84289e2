/* out_kind.c - kinds of files, told by their first bytes. */
#define _GNU_SOURCE /* memmem */
#include <ctype.h>
#include <string.h>

#include "core/out_file.h"

static int has_prefix(const char *head, size_t len, const char *with)
{
  return len >= strlen(with) && memcmp(head, with, strlen(with)) == 0;
}

static int has_substring(const char *head, size_t len, const char *text)
{
  return memmem(head, len, text, strlen(text)) != NULL;
}

/* Whether a line begins with a word of OBJ files; *vertex if it is a vertex with a number. */
static int obj_line(const char *line, size_t len, int *vertex)
{
  static const char *const words[] = {"v", "vt", "vn", "vp", "f",      "l",
                                      "p", "o",  "g",  "s",  "mtllib", "usemtl"};
  size_t n = 0;
  while (n < len && !isspace((unsigned char)line[n])) ++n;
  if (n == 0 || line[0] == '#') return 1;
  for (size_t k = 0; k < sizeof words / sizeof *words; ++k) {
    if (strlen(words[k]) != n || memcmp(words[k], line, n) != 0) continue;
    if (k == 0) *vertex |= n + 1 < len && strchr("+-.0123456789", line[n + 1]) != NULL;
    return 1;
  }
  return 0;
}

/* Whether all lines are of an OBJ file, and one is a vertex; the last one may be cut off. */
static int is_obj(const char *head, size_t len)
{
  int vertex = 0;
  if (memchr(head, '\0', len) != NULL) return 0;
  for (size_t at = 0; at < len;) {
    const char *const end = memchr(head + at, '\n', len - at);
    const size_t n = end != NULL ? (size_t)(end - head) - at : len - at;
    if (end == NULL && vertex) break;
    if (!obj_line(head + at, n, &vertex)) return 0;
    at += n + 1;
  }
  return vertex;
}

/* Whether the first line has at least two names, separated by commas, or the one name with which
 * all tables of a log begin. */
static int is_csv(const char *head, size_t len)
{
  const char *const end = memchr(head, '\n', len);
  const size_t n = end != NULL ? (size_t)(end - head) : len;
  int commas = 0;
  for (size_t k = 0; k < n; ++k) {
    const char c = head[k];
    if (!isalnum((unsigned char)c) && c != '_' && c != '.' && c != ',' &&
        !(c == '\r' && k + 1 == n))
      return 0;
    commas += c == ',';
  }
  if (end == NULL || !isalpha((unsigned char)head[0])) return 0;
  return commas > 0 || has_prefix(head, len, "step\n");
}

static int is_pattern(const char *head, size_t len)
{
  return has_prefix(head, len, "[piece.") || has_prefix(head, len, "[pattern]") ||
         has_substring(head, len, "\n[piece.") || has_substring(head, len, "\n[pattern]");
}

int out_kind_is(int kind, const char *head, size_t len)
{
  switch (kind) {
  case OUT_OBJ:
    return is_obj(head, len);
  case OUT_PLY:
    return has_prefix(head, len, "ply\n") || has_prefix(head, len, "ply\r");
  case OUT_VTK:
    return has_prefix(head, len, "# vtk DataFile");
  case OUT_SERIES:
    return has_prefix(head, len, "{") && has_substring(head, len, "\"file-series-version\"");
  case OUT_XDMF:
    return has_prefix(head, len, "<") && has_substring(head, len, "<Xdmf");
  case OUT_BCC:
    return has_prefix(head, len, "BCC\x44");
  case OUT_CSV:
    return is_csv(head, len);
  case OUT_PATTERN:
    return is_pattern(head, len);
  default:
    return has_prefix(head, len, "\x89HDF\r\n\x1a\n");
  }
}

const char *out_kind_name(int kind)
{
  static const char *const names[] = {
      [OUT_OBJ] = "an OBJ mesh",    [OUT_PLY] = "a PLY mesh",
      [OUT_VTK] = "a VTK file",     [OUT_SERIES] = "a list of VTK files",
      [OUT_XDMF] = "an XDMF file",  [OUT_BCC] = "a BCC file of curves",
      [OUT_CSV] = "a table in CSV", [OUT_PATTERN] = "a pattern of pieces",
      [OUT_HDF5] = "an HDF5 file"};
  return names[kind];
}
