/* state_files.c - where an object starts and how, from files of numbers: velocities, and of yarns
 * positions, rest lengths, rest curvatures and directors. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/words.h"
#include "core/err_word.h"
#include "core/suffix.h"
#include "geom/pose.h"
#include "scene/base/build.h"
#include "yarn/yarn_file.h"

/* ---- rows of numbers ---- */

typedef struct rows {
  loom_err *err;
  const char *path;
  int64_t line;
  int columns;
  const char *what; /* they are, with unit: "vx vy vz (m/s)" */
} rows;

static int is_field_separator(char c) { return c == ' ' || c == '\t' || c == ',' || c == '\r'; }
static int ends_line(char c) { return c == '\0' || c == '\n' || c == '#'; }

/* One number at *p, which moves behind it. */
static loom_status read_number(const rows *r, const char **p, double *out)
{
  char *end, shown[ERR_WORD];
  *out = strtod(*p, &end);
  if (end != *p && (is_field_separator(*end) || ends_line(*end)) && isfinite(*out)) {
    *p = end;
    return LOOM_OK;
  }
  size_t len = 0;
  while (!is_field_separator((*p)[len]) && !ends_line((*p)[len])) ++len;
  return err_set(r->err, LOOM_E_CONFIG, "%s:%lld: \"%s\" is no finite number; a row is %s", r->path,
                 (long long)r->line, err_word(*p, len, shown), r->what);
}

/* The numbers of a line, *found of them: a row's, or none. */
static loom_status read_state_line(const rows *r, const char *p, double *out, int *found)
{
  double value;
  for (*found = 0;; ++*found) {
    while (is_field_separator(*p)) ++p;
    if (ends_line(*p)) break;
    LOOM_TRY(read_number(r, &p, &value));
    if (*found < r->columns) out[*found] = value;
  }
  if (*found == 0 || *found == r->columns) return LOOM_OK;
  return err_set(r->err, LOOM_E_CONFIG, "%s:%lld: the row has %d numbers, %d are needed: %s",
                 r->path, (long long)r->line, *found, r->columns, r->what);
}

/* values [count][columns] of a file that has a row for each of the object's `things`. */
static loom_status read_state_rows(rows *r, const object *o, const char *things, int64_t count,
                                   double **values)
{
  char *text;
  size_t len;
  int64_t num = 0;
  double row[8];
  *values = NULL;
  LOOM_TRY(words_file(r->err, r->path, &text, &len));
  loom_status s = mesh_alloc(r->err, count * r->columns, sizeof **values, values);
  r->line = 1;
  for (const char *p = text; s == LOOM_OK && *p != '\0'; ++r->line) {
    int found = 0;
    s = read_state_line(r, p, row, &found);
    if (s == LOOM_OK && found > 0 && num++ < count)
      memcpy(*values + r->columns * (num - 1), row, (size_t)r->columns * sizeof *row);
    p += strcspn(p, "\n");
    p += *p == '\n';
  }
  if (s == LOOM_OK && strlen(text) != len)
    s = err_set(r->err, LOOM_E_CONFIG, "%s:%lld: a byte 0; rows of numbers are text", r->path,
                (long long)r->line);
  if (s == LOOM_OK && num != count)
    s = err_set(r->err, LOOM_E_CONFIG, "%s has %lld rows, %s has %lld %s; give a row for each",
                r->path, (long long)num, o->label, (long long)count, things);
  free(text);
  if (s == LOOM_OK) return LOOM_OK;
  free(*values);
  *values = NULL;
  return s;
}

/* Of a key of the object; *values stays NULL where it names no file. */
static loom_status read_key(const builder *b, const object *o, const char *key, const char *path,
                            int columns, const char *what, const char *things, int64_t count,
                            double **values)
{
  rows r = {.err = b->err, .path = path, .columns = columns, .what = what};
  if (path[0] == '\0') return LOOM_OK;
  const loom_status s = read_state_rows(&r, o, things, count, values);
  return s == LOOM_OK ? LOOM_OK : build_place(b, o->sec, key, s);
}

/* ---- velocities ---- */

static const double most_speed = 1e4; /* m/s, as of the key velocity */

static loom_status check_speeds(const builder *b, const object *o)
{
  for (int64_t k = 0; k < 3 * (int64_t)o->m.num_verts; ++k)
    if (!(fabs(o->velocity[k]) <= most_speed))
      return build_place(
          b, o->sec, "velocities",
          err_set(b->err, LOOM_E_CONFIG, "%s: vertex %lld has %g m/s; allowed: up to %g m/s",
                  o->common->velocities, (long long)(k / 3), o->velocity[k], most_speed));
  return LOOM_OK;
}

loom_status build_velocities(builder *b, object *o, double scale)
{
  const char *const path = o->common->velocities;
  const int as_mesh = has_suffix(path, ".obj") || has_suffix(path, ".ply");
  mesh other = {0};
  if (path[0] == '\0') return LOOM_OK;
  if (as_mesh && o->kind == OBJECT_CLOTH) {
    LOOM_TRY(build_read_same(b, o, "velocities", path, 0, &other));
    const size_t n3 = 3 * (size_t)o->m.num_verts;
    const loom_status s = mesh_alloc(b->err, (int64_t)n3, sizeof *o->velocity, &o->velocity);
    if (s == LOOM_OK && other.x != NULL) memcpy(o->velocity, other.x, n3 * sizeof *o->velocity);
    mesh_free(&other);
    LOOM_TRY(s);
  } else {
    LOOM_TRY(read_key(b, o, "velocities", path, 3, "vx vy vz (m/s)", "vertices", o->m.num_verts,
                      &o->velocity));
  }
  for (int64_t k = 0; k < 3 * (int64_t)o->m.num_verts; ++k) o->velocity[k] *= scale;
  return check_speeds(b, o);
}

/* A merged vertex moves with the mean velocity of its vertices. */
loom_status build_merge_velocities(builder *b, object *o)
{
  double *v;
  int32_t *count;
  if (o->velocity == NULL || o->merged == NULL) return LOOM_OK;
  LOOM_TRY(mesh_alloc(b->err, 3 * (int64_t)o->m.num_verts, sizeof *v, &v));
  const loom_status s = mesh_alloc(b->err, o->m.num_verts, sizeof *count, &count);
  for (int64_t i = 0; s == LOOM_OK && i < o->num_named; ++i) {
    const int64_t to = o->merged[i];
    ++count[to];
    for (int c = 0; c < 3; ++c) v[3 * to + c] += o->velocity[3 * i + c];
  }
  for (int64_t k = 0; s == LOOM_OK && k < 3 * (int64_t)o->m.num_verts; ++k)
    v[k] /= count[k / 3] > 0 ? count[k / 3] : 1;
  if (s == LOOM_OK) free(count);
  free(o->velocity);
  o->velocity = v;
  return s;
}

/* ---- yarns ---- */

/* Curves of a file of its own: the same yarns, elsewhere. */
static loom_status read_same_curves(const builder *b, const object *o, const char *path, double **x)
{
  mesh m = {0};
  yarn_set y = {0};
  const int obj = has_suffix(path, ".obj");
  LOOM_TRY(obj ? lines_read(b->err, path, &m, &y) : bcc_read(b->err, path, &m, &y));
  loom_status s = LOOM_OK;
  if (m.num_verts != o->m.num_verts || y.num_yarns != o->yarns.num_yarns)
    s = err_set(b->err, LOOM_E_CONFIG,
                "%s has %d points of %d yarns, %s has %d of %d; give the "
                "same yarns",
                path, m.num_verts, y.num_yarns, o->label, o->m.num_verts, o->yarns.num_yarns);
  for (int32_t k = 0; s == LOOM_OK && k < y.num_yarns; ++k)
    if (y.first[k + 1] != o->yarns.first[k + 1] || y.closed[k] != o->yarns.closed[k])
      s = err_set(b->err, LOOM_E_CONFIG, "%s: yarn %d has other points than in %s, or is %s there",
                  path, k, o->label, o->yarns.closed[k] ? "closed" : "open");
  for (int64_t i = 0; s == LOOM_OK && i < 3 * (int64_t)m.num_verts; ++i)
    if (!isfinite(m.x[i]))
      s = err_set(b->err, LOOM_E_CONFIG, "%s: point %lld is not a number", path,
                  (long long)(i / 3));
  if (s == LOOM_OK) {
    *x = m.x;
    m.x = NULL;
  }
  mesh_free(&m);
  yarn_free(&y);
  return s;
}

static loom_status read_positions(const builder *b, object *o)
{
  const char *const path = o->yarn.positions;
  double *x = NULL;
  if (path[0] == '\0') return LOOM_OK;
  if (has_suffix(path, ".obj") || has_suffix(path, ".bcc")) {
    const loom_status s = read_same_curves(b, o, path, &x);
    if (s != LOOM_OK) return build_place(b, o->sec, "positions", s);
  } else {
    LOOM_TRY(read_key(b, o, "positions", path, 3, "x y z (m)", "points", o->m.num_verts, &x));
  }
  o->rest_x = o->m.x;
  o->m.x = x;
  return LOOM_OK;
}

static loom_status check_rest_lengths(const builder *b, const object *o)
{
  for (int64_t e = 0; o->seg_rest != NULL && e < o->tp.num_edges; ++e)
    if (!(o->seg_rest[e] > 0))
      return build_place(b, o->sec, "rest_lengths",
                         err_set(b->err, LOOM_E_CONFIG,
                                 "%s: segment %lld has the length %g m; "
                                 "lengths are above 0",
                                 o->yarn.rest_lengths, (long long)e, o->seg_rest[e]));
  return LOOM_OK;
}

loom_status build_yarn_state(builder *b, object *o)
{
  const yarn_settings *const s = &o->yarn;
  int64_t joints = 0;
  for (int32_t k = 0; k < o->yarns.num_yarns; ++k) joints += yarn_num_joints(&o->yarns, k);
  LOOM_TRY(read_positions(b, o));
  LOOM_TRY(read_key(b, o, "rest_lengths", s->rest_lengths, 1, "a length (m)", "segments",
                    o->tp.num_edges, &o->seg_rest));
  LOOM_TRY(check_rest_lengths(b, o));
  LOOM_TRY(read_key(b, o, "rest_curvature", s->rest_curvature, 5, "w0 w0' w1 w1' (1) twist (rad)",
                    "points between two segments", joints, &o->curvature));
  return read_key(b, o, "directors", s->directors, 3, "x y z (1)", "segments", o->tp.num_edges,
                  &o->directors);
}

void build_scale_yarn(object *o, double scale)
{
  for (int64_t k = 0; o->rest_x != NULL && k < 3 * (int64_t)o->m.num_verts; ++k)
    o->rest_x[k] *= scale;
  for (int64_t e = 0; o->seg_rest != NULL && e < o->tp.num_edges; ++e) o->seg_rest[e] *= scale;
  for (int64_t e = 0; o->directors != NULL && e < o->tp.num_edges; ++e) {
    double d[3];
    pose_rotate(o->place, o->directors + 3 * e, d);
    memcpy(o->directors + 3 * e, d, sizeof d);
  }
}

const double *build_yarn_rest(const object *o) { return o->rest_x != NULL ? o->rest_x : o->m.x; }

double build_yarn_distance(const object *o, int64_t i, int64_t j)
{
  const double *const x = build_yarn_rest(o);
  double d2 = 0;
  for (int c = 0; c < 3; ++c) {
    const double d = x[3 * i + c] - x[3 * j + c];
    d2 += d * d;
  }
  return sqrt(d2);
}

double build_yarn_length(const object *o, int64_t e)
{
  if (o->seg_rest != NULL) return o->seg_rest[e];
  return build_yarn_distance(o, o->tp.edges[2 * e], o->tp.edges[2 * e + 1]);
}
