/* garmentcode.c - see garmentcode.h. */
#include "sewing_pattern/garmentcode.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "core/read_file.h"
#include "sewing_pattern/curve.h"
#include "sewing_pattern/name_table.h"

enum { NAME_LEN = 56, NAME_TAKEN = 42, EDGE_LEN = 400 }; /* _N follows up to NAME_TAKEN bytes */

typedef struct panel {
  char name[NAME_LEN]; /* of the piece */
  const char *key;     /* in the file */
  int num_edges;
  int64_t first; /* number of its edge 0 in the list of all panels' edges */
} panel;

typedef struct reader {
  loom_err *err;
  const char *path;
  FILE *out;
  double unit;  /* m */
  int absolute; /* 1: control points are coordinates of the plane, 0: of the edge */
  int num_panels;
  panel *panels;          /* [num_panels] */
  name_table names, keys; /* of pieces, with the number the next of that name gets; of panels */
  double *length;         /* [edges of all panels] m */
} reader;

static loom_status refuse_garmentcode(const reader *r, const char *fmt, ...)
{
  char text[600];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  return err_set(r->err, LOOM_E_CONFIG, "%s: %s", r->path, text);
}

/* `num` numbers of an array. */
static int read_json_reals(const json_t *list, size_t num, double *out)
{
  if (!json_is_array(list) || json_array_size(list) != num) return 0;
  for (size_t k = 0; k < num; ++k) {
    const json_t *const v = json_array_get(list, k);
    if (!json_is_number(v) || !isfinite(json_number_value(v))) return 0;
    out[k] = json_number_value(v);
  }
  return 1;
}

/* ---- edges ---- */

typedef struct outline {
  double *x; /* [num][2] m, corners in the order of the edges; x is negated if mirrored */
  int mirrored;
} outline;

/* A control point from its coordinates along and across the edge from a to b. */
static void compute_control_point(const reader *r, const outline *o, const double a[2],
                                  const double b[2], const double given[2], double out[2])
{
  const double e[2] = {b[0] - a[0], b[1] - a[1]}, across = o->mirrored ? -given[1] : given[1];
  for (int c = 0; c < 2; ++c) out[c] = r->unit * given[c];
  if (r->absolute && o->mirrored) out[0] = -out[0];
  if (r->absolute) return;
  out[0] = a[0] + given[0] * e[0] - across * e[1];
  out[1] = a[1] + given[0] * e[1] + across * e[0];
}

/* The middle of the arc from a to b: radius, 1 for the longer way around, 1 for counter-clockwise.
 */
static int arc_middle(const outline *o, const double a[2], const double b[2], double radius,
                      int longer, int turn, double out[2])
{
  const double e[2] = {b[0] - a[0], b[1] - a[1]}, d = hypot(e[0], e[1]);
  if (!(d > 0) || !(radius >= 0.5 * d * (1 - 1e-6))) return 0;
  const double h = sqrt(fmax(radius * radius - 0.25 * d * d, 0));
  const double bulge = longer ? radius + h : radius - h;
  const double right = (turn != 0) != o->mirrored ? 1 : -1; /* counter-clockwise bulges right */
  out[0] = 0.5 * (a[0] + b[0]) + right * bulge * e[1] / d;
  out[1] = 0.5 * (a[1] + b[1]) - right * bulge * e[0] / d;
  return 1;
}

/* "curve ..." of one edge as it stands in a pattern file. */
static int edge_text(const reader *r, const outline *o, const json_t *edge, const double a[2],
                     const double b[2], char text[EDGE_LEN])
{
  const json_t *const curvature = json_object_get(edge, "curvature");
  const json_t *const params = json_object_get(curvature, "params");
  const char *const given = json_string_value(json_object_get(curvature, "type"));
  const char *const type = json_is_array(curvature) ? "quadratic" : given;
  double p[2], q[2], c[2], d[2], arc[3];
  if (curvature == NULL || json_is_null(curvature)) {
    snprintf(text, EDGE_LEN, "line %.9g %.9g", b[0], b[1]);
    return 1;
  }
  if (type == NULL) return 0;
  if (strcmp(type, "quadratic") == 0) {
    if (!read_json_reals(json_is_array(curvature) ? curvature : json_array_get(params, 0), 2, p))
      return 0;
    compute_control_point(r, o, a, b, p, c);
    snprintf(text, EDGE_LEN, "curve %.9g %.9g  %.9g %.9g", c[0], c[1], b[0], b[1]);
  } else if (strcmp(type, "cubic") == 0) {
    if (!read_json_reals(json_array_get(params, 0), 2, p) ||
        !read_json_reals(json_array_get(params, 1), 2, q))
      return 0;
    compute_control_point(r, o, a, b, p, c);
    compute_control_point(r, o, a, b, q, d);
    snprintf(text, EDGE_LEN, "curve %.9g %.9g  %.9g %.9g  %.9g %.9g", c[0], c[1], d[0], d[1], b[0],
             b[1]);
  } else if (strcmp(type, "circle") == 0) {
    for (size_t k = 0; k < 3; ++k) {
      const json_t *const v = json_array_get(params, k);
      if (!json_is_number(v) && !json_is_boolean(v)) return 0;
      arc[k] = json_is_boolean(v) ? json_is_true(v) : json_number_value(v);
    }
    if (!arc_middle(o, a, b, r->unit * arc[0], arc[1] != 0, arc[2] != 0, c)) return 0;
    snprintf(text, EDGE_LEN, "arc %.9g %.9g  %.9g %.9g", c[0], c[1], b[0], b[1]);
  } else {
    return 0;
  }
  return 1;
}

/* ---- panels ---- */

/* Name of a piece: lower case, only characters that names may have, and no name twice. */
static loom_status piece_name(reader *r, const char *key, char name[NAME_LEN])
{
  int n = 0;
  for (const char *c = key; *c != '\0' && n < NAME_TAKEN; ++c) {
    const int upper = *c >= 'A' && *c <= 'Z', lower = *c >= 'a' && *c <= 'z';
    const int digit = *c >= '0' && *c <= '9';
    if (n == 0 && !upper && !lower) name[n++] = 'p';
    name[n++] = upper ? (char)(*c - 'A' + 'a') : lower || digit ? *c : '_';
  }
  if (n == 0) name[n++] = 'p';
  name[n] = '\0';
  int64_t *const taken = name_table_find(&r->names, name);
  while (taken != NULL && name_table_find(&r->names, name) != NULL)
    snprintf(name + n, NAME_LEN - (size_t)n, "_%" PRId64, (*taken)++);
  return name_table_add(r->err, &r->names, name, 2);
}

/* The corners in the order of the edges, which must follow each other. */
static loom_status read_panel_corners(reader *r, const panel *p, const json_t *verts,
                                      const json_t *edges, outline *o)
{
  double area = 0;
  const int n = p->num_edges;
  for (int k = 0; k < n; ++k) {
    const json_t *const ends = json_object_get(json_array_get(edges, (size_t)k), "endpoints");
    const json_t *const next =
        json_object_get(json_array_get(edges, (size_t)((k + 1) % n)), "endpoints");
    const json_int_t from = json_integer_value(json_array_get(ends, 0));
    if (json_array_size(ends) != 2 || json_array_size(next) != 2 ||
        json_integer_value(json_array_get(ends, 1)) != json_integer_value(json_array_get(next, 0)))
      return refuse_garmentcode(r, "panel \"%s\": edge %d does not end where the next one begins",
                                p->key, k);
    if (from < 0 ||
        !read_json_reals(json_array_get(verts, (size_t)from), 2, o->x + 2 * (ptrdiff_t)k))
      return refuse_garmentcode(r,
                                "panel \"%s\": edge %d names vertex %lld, which has no two numbers",
                                p->key, k, (long long)from);
    for (int c = 0; c < 2; ++c) o->x[2 * (ptrdiff_t)k + c] *= r->unit;
  }
  for (int k = 0; k < n; ++k) {
    const double *const a = o->x + 2 * (ptrdiff_t)k, *const b = o->x + 2 * (ptrdiff_t)((k + 1) % n);
    area += a[0] * b[1] - a[1] * b[0];
  }
  o->mirrored = area < 0; /* it is seen from inside */
  for (int k = 0; k < n && o->mirrored; ++k) o->x[2 * (ptrdiff_t)k] = -o->x[2 * (ptrdiff_t)k];
  return LOOM_OK;
}

static loom_status put_edges(reader *r, panel *p, const json_t *edges, const outline *o)
{
  fprintf(r->out, "[piece.%s]\nstart = %.9g %.9g\n", p->name, o->x[0], o->x[1]);
  for (int k = 0; k < p->num_edges; ++k) {
    const double *const a = o->x + 2 * (ptrdiff_t)k;
    const double *const b = o->x + 2 * (ptrdiff_t)((k + 1) % p->num_edges);
    char text[EDGE_LEN];
    curve c;
    if (!edge_text(r, o, json_array_get(edges, (size_t)k), a, b, text))
      return refuse_garmentcode(r,
                                "panel \"%s\": the curvature of edge %d is none of quadratic, "
                                "cubic, or a circle through both ends",
                                p->key, k);
    if (curve_read(r->err, text, a, &c) != LOOM_OK) {
      err_prefix(r->err, "%s: panel \"%s\", edge %d", r->path, p->key, k);
      return LOOM_E_CONFIG;
    }
    r->length[p->first + k] = curve_length(&c);
    fprintf(r->out, "e%d = %s\n", k, text);
  }
  return LOOM_OK;
}

static loom_status put_panel(reader *r, panel *p, const json_t *in)
{
  const json_t *const edges = json_object_get(in, "edges");
  const json_t *const verts = json_object_get(in, "vertices");
  double at[3] = {0}, turn[3] = {0};
  outline o = {0};
  p->num_edges = (int)json_array_size(edges);
  if (p->num_edges < 2 || p->num_edges > 100000)
    return refuse_garmentcode(r, "panel \"%s\" has %d edges", p->key, p->num_edges);
  if ((json_object_get(in, "translation") != NULL &&
       !read_json_reals(json_object_get(in, "translation"), 3, at)) ||
      (json_object_get(in, "rotation") != NULL &&
       !read_json_reals(json_object_get(in, "rotation"), 3, turn)))
    return refuse_garmentcode(r, "panel \"%s\": translation and rotation are three numbers each",
                              p->key);
  o.x = calloc((size_t)p->num_edges, 2 * sizeof *o.x);
  if (o.x == NULL) return err_set(r->err, LOOM_E_NOMEM, "%s: no memory for a panel", r->path);
  loom_status s = read_panel_corners(r, p, verts, edges, &o);
  if (s == LOOM_OK) s = put_edges(r, p, edges, &o);
  free(o.x);
  if (s == LOOM_OK)
    fprintf(r->out,
            "transform = %srotate 1 0 0 %.9g  rotate 0 1 0 %.9g  rotate 0 0 1 %.9g  translate %.9g "
            "%.9g %.9g\n\n",
            o.mirrored ? "rotate 0 1 0 180  " : "", turn[0], turn[1], turn[2], r->unit * at[0],
            r->unit * at[1], r->unit * at[2]);
  return s;
}

/* ---- stitches ---- */

static const panel *find_seam_side(const reader *r, const json_t *side, int *edge)
{
  const char *const key = json_string_value(json_object_get(side, "panel"));
  const json_int_t number = json_integer_value(json_object_get(side, "edge"));
  const int64_t *const at = key != NULL ? name_table_find(&r->keys, key) : NULL;
  if (at == NULL || number < 0 || number >= r->panels[*at].num_edges) return NULL;
  *edge = (int)number;
  return &r->panels[*at];
}

static loom_status put_seams(reader *r, const json_t *stitches)
{
  const size_t num = json_array_size(stitches);
  if (num > 0) fprintf(r->out, "[seams]\n");
  for (size_t k = 0; k < num; ++k) {
    const json_t *const s = json_array_get(stitches, k);
    const char *const third = json_string_value(json_array_get(s, 2));
    int e[2];
    const panel *const a = find_seam_side(r, json_array_get(s, 0), &e[0]);
    const panel *const b = find_seam_side(r, json_array_get(s, 1), &e[1]);
    if (a == NULL || b == NULL)
      return refuse_garmentcode(r, "stitch %zu names an edge that is not there", k);
    const double la = r->length[a->first + e[0]], lb = r->length[b->first + e[1]];
    fprintf(r->out, "s%zu = %s.e%d %s.e%d%s%s\n", k, a->name, e[0], b->name, e[1],
            fabs(la - lb) > 0.0099 * fmax(la, lb) ? " gather" : "",
            third != NULL && strcmp(third, "right_wrong") == 0 ? " same" : "");
  }
  return LOOM_OK;
}

/* ---- all ---- */

static loom_status put_panels(reader *r, json_t *panels)
{
  loom_status s = LOOM_OK;
  void *it = json_object_iter(panels);
  int64_t edges = 0;
  for (; it != NULL && s == LOOM_OK; it = json_object_iter_next(panels, it)) {
    panel *const p = &r->panels[r->num_panels];
    p->key = json_object_iter_key(it);
    p->first = edges;
    edges += (int64_t)json_array_size(json_object_get(json_object_iter_value(it), "edges"));
    s = piece_name(r, p->key, p->name);
    if (s == LOOM_OK) s = name_table_add(r->err, &r->keys, p->key, r->num_panels);
    ++r->num_panels;
    if (s == LOOM_OK) s = put_panel(r, p, json_object_iter_value(it));
  }
  return s;
}

static loom_status write_pattern_text(reader *r, const json_t *root)
{
  const json_t *const pattern = json_object_get(root, "pattern");
  const json_t *const properties = json_object_get(root, "properties");
  const json_t *const unit = json_object_get(properties, "units_in_meter");
  const char *const coords = json_string_value(json_object_get(properties, "curvature_coords"));
  json_t *const panels = json_object_get(pattern, "panels");
  if (json_object_size(panels) == 0)
    return refuse_garmentcode(r, "no panels; a specification of GarmentCode has pattern.panels");
  if (unit != NULL && !(json_is_number(unit) && json_number_value(unit) > 0))
    return refuse_garmentcode(
        r, "properties.units_in_meter must be a number above 0: 100 where lengths are centimetres");
  r->unit = 1 / (unit != NULL ? json_number_value(unit) : 100);
  r->absolute = coords != NULL && strcmp(coords, "absolute") == 0;
  fprintf(r->out, "; From ");
  for (const char *c = r->path; *c != '\0'; ++c) /* a line of the comment is one */
    fputc((unsigned char)*c < ' ' ? '?' : *c, r->out);
  fprintf(r->out, ", a pattern of GarmentCode; lengths in m.\n\n");
  LOOM_TRY(put_panels(r, panels));
  return put_seams(r, json_object_get(pattern, "stitches"));
}

static size_t count_edges(json_t *panels)
{
  size_t sum = 0;
  for (void *it = json_object_iter(panels); it != NULL; it = json_object_iter_next(panels, it))
    sum += json_array_size(json_object_get(json_object_iter_value(it), "edges"));
  return sum;
}

/* Parses the written text as a check: a pattern file has a limit of lines. */
static loom_status check_text(loom_err *err, const char *path, const char *text)
{
  cfg *c = NULL;
  const loom_status s = cfg_parse(err, text, "the pattern", ".", NULL, 0, &c);
  cfg_free(c);
  if (s == LOOM_OK) return s;
  err_prefix(err, "%s", path);
  err_append(err,
             "the garment is too large for a pattern file; leave out panels, or split the garment");
  return s;
}

/* The first letter of the file is one that JSON begins with; the file is at its start afterwards,
 * behind the mark of UTF-8 that editors of Windows put there. */
static int begins_as_json(FILE *in)
{
  static const int mark[] = {0xef, 0xbb, 0xbf};
  long start = 0;
  int c = getc(in);
  for (int k = 0; k < 3 && start == k && c == mark[k]; ++k, ++start) c = getc(in);
  if (start < 3) start = 0;
  while (c == ' ' || c == '\t' || c == '\r' || c == '\n') c = getc(in);
  rewind(in);
  if (start > 0 && fseek(in, start, SEEK_SET) != 0) return 0;
  return c == '{' || c == '[';
}

loom_status garmentcode_read(loom_err *err, const char *path, char **text)
{
  json_error_t why;
  size_t len = 0;
  int64_t bytes;
  const char *cause;
  *text = NULL;
  FILE *const in = read_file_open(path, &bytes, &cause);
  if (in == NULL) return err_set(err, LOOM_E_IO, "%s: cannot be read: %s", path, cause);
  const int is_json = begins_as_json(in);
  json_t *const root = json_loadf(in, JSON_REJECT_DUPLICATES, &why);
  fclose(in);
  if (root == NULL && !is_json)
    return err_set(err, LOOM_E_CONFIG,
                   "%s: is no JSON; the *_specification.json of GarmentCode or the "
                   "Garment-Pattern-Generator is read, DXF, SVG, YAML and other formats are not",
                   path);
  if (root == NULL)
    return err_set(err, LOOM_E_CONFIG, "%s:%d: %s", path, why.line > 0 ? why.line : 1, why.text);
  reader r = {.err = err, .path = path, .out = open_memstream(text, &len)};
  json_t *const panels = json_object_get(json_object_get(root, "pattern"), "panels");
  panel *const list = calloc(json_object_size(panels) + 1, sizeof *list);
  double *const length = calloc(count_edges(panels) + 1, sizeof *length);
  r.panels = list;
  r.length = length;
  loom_status s = r.out != NULL && list != NULL && length != NULL
                      ? write_pattern_text(&r, root)
                      : err_set(err, LOOM_E_NOMEM, "%s: no memory for the text", path);
  if (r.out != NULL && fclose(r.out) != 0 && s == LOOM_OK)
    s = err_set(err, LOOM_E_NOMEM, "%s: no memory for the text", path);
  if (s == LOOM_OK) s = check_text(err, path, *text);
  free(list);
  free(length);
  name_table_free(&r.names);
  name_table_free(&r.keys);
  json_decref(root);
  if (s == LOOM_OK) return LOOM_OK;
  free(*text);
  *text = NULL;
  return s;
}
