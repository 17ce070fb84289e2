/* rest.c - rest shapes of cloth: from material coordinates, from a file, or from where it starts,
 * and where it starts apart from that.
 *
 * A rest shape belongs to corners of triangles: on a seam each piece has its own.  An element that
 * joins two triangles there lies flat over their common edge, with the mean of the edge's two
 * lengths and the first triangle's directions. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/suffix.h"
#include "elements/elements.h"
#include "geom/vec3.h"
#include "mesh/material.h"
#include "mesh/polygon.h"
#include "scene/base/build.h"

/* ---- files ---- */

loom_status build_read_same(const builder *b, const object *o, const char *key, const char *path,
                            int exact, mesh *out)
{
  const mesh *const m = &o->m;
  const int ply = has_suffix(path, ".ply");
  if (!ply && !has_suffix(path, ".obj"))
    return build_place(
        b, o->sec, key,
        err_set(b->err, LOOM_E_CONFIG, "\"%s\": a mesh that ends in .obj or .ply is needed", path));
  loom_status st = build_read_mesh(b->err, path, ply, out);
  if (st != LOOM_OK) return build_place(b, o->sec, key, st);
  int64_t t = 0;
  if (out->num_verts < m->num_verts || out->num_tris < m->num_tris ||
      (exact && (out->num_verts > m->num_verts || out->num_tris > m->num_tris)))
    st = err_set(b->err, LOOM_E_CONFIG,
                 "%s has %d vertices and %d triangles, %s has %d and %d; give the same mesh%s",
                 path, out->num_verts, out->num_tris, o->label, m->num_verts, m->num_tris,
                 exact ? "" : ", others may follow");
  while (st == LOOM_OK && t < m->num_tris && polygon_same(m, out, t)) ++t;
  if (st == LOOM_OK && t < m->num_tris)
    st = err_set(b->err, LOOM_E_CONFIG,
                 "%s: triangle %lld is %d %d %d, in %s it is %d %d %d (ids count from 0); give the "
                 "same triangles in the same order",
                 path, (long long)t, out->tris[3 * t], out->tris[3 * t + 1], out->tris[3 * t + 2],
                 o->label, m->tris[3 * t], m->tris[3 * t + 1], m->tris[3 * t + 2]);
  if (st == LOOM_OK) return LOOM_OK;
  mesh_free(out);
  return build_place(b, o->sec, key, st);
}

/* Corners of the rest shape from vertices x [num_verts][3]. */
static loom_status store_rest_corners(builder *b, object *o, const double *x, double scale)
{
  mesh *const m = &o->m;
  LOOM_TRY(mesh_alloc(b->err, 9 * (int64_t)m->num_tris, sizeof *m->rest, &m->rest));
  for (int64_t k = 0; x != NULL && k < 3 * (int64_t)m->num_tris; ++k)
    for (int c = 0; c < 3; ++c) m->rest[3 * k + c] = scale * x[3 * (int64_t)m->tris[k] + c];
  return LOOM_OK;
}

static loom_status rest_from_file(builder *b, object *o, double scale)
{
  mesh other = {0};
  if (o->cloth.rest_file[0] == '\0') return store_rest_corners(b, o, o->m.x, scale);
  LOOM_TRY(build_read_same(b, o, "rest_file", o->cloth.rest_file, 1, &other));
  const loom_status st = store_rest_corners(b, o, other.x, scale);
  mesh_free(&other);
  return st;
}

static loom_status rest_from_uv(builder *b, object *o, double scale)
{
  mesh *const m = &o->m;
  loom_status st = LOOM_OK;
  const int of_file = build_is_of_file(o);
  o->rest_uv = 1;
  if (m->uv == NULL && of_file)
    st = err_set(b->err, LOOM_E_CONFIG,
                 "%s has no material coordinates: vt in OBJ; s t, u v or a list texcoord in PLY. "
                 "Give some, or set rest = initial",
                 o->label);
  else if (m->uv == NULL)
    st = material_unroll(b->err, m);
  for (int64_t k = 0; k < 6 * (int64_t)m->num_tris && st == LOOM_OK && !of_file; ++k)
    m->uv[k] *= scale;
  if (st == LOOM_OK) st = material_check(b->err, m, o->label);
  return st == LOOM_OK ? LOOM_OK : build_place(b, o->sec, "rest", st);
}

/* Triangles of the rest file that have no shape. */
static loom_status check_corners(const builder *b, const object *o)
{
  for (int64_t t = 0; t < o->m.num_tris && o->m.rest != NULL; ++t) {
    double e[2][3], n[3];
    for (int k = 0; k < 2; ++k) vec3_sub(o->m.rest + 9 * t + 3 * (k + 1), o->m.rest + 9 * t, e[k]);
    vec3_cross(e[0], e[1], n);
    if (vec3_norm(n) > 1e-6 * (vec3_dot(e[0], e[0]) + vec3_dot(e[1], e[1]))) continue;
    return build_place(b, o->sec, "rest",
                       err_set(b->err, LOOM_E_CONFIG,
                               "%s: triangle %lld (ids count from 0) has zero area at rest; move a "
                               "vertex",
                               o->cloth.rest_file[0] != '\0' ? o->cloth.rest_file : o->label,
                               (long long)t));
  }
  return LOOM_OK;
}

loom_status build_rest(builder *b, object *o, double scale)
{
  const cloth_settings *const s = &o->cloth;
  mesh *const m = &o->m, start = {0};
  int rest = s->rest;
  for (int64_t k = 0; k < 3 * (int64_t)m->num_tris; ++k)
    if (m->tris[k] < 0 || m->tris[k] >= m->num_verts) return LOOM_OK; /* the doctor tells */
  if (rest == REST_AUTO && s->shape == CLOTH_PATTERN) rest = REST_UV;
  if (rest == REST_AUTO)
    rest = s->rest_file[0] != '\0' || s->positions[0] != '\0' ? REST_FILE : REST_INITIAL;
  for (int64_t k = 0; k < 6 * (int64_t)m->num_tris && m->uv != NULL; ++k) m->uv[k] *= s->uv_scale;
  if (rest == REST_UV) LOOM_TRY(rest_from_uv(b, o, scale));
  if (rest == REST_FILE) LOOM_TRY(rest_from_file(b, o, scale));
  LOOM_TRY(check_corners(b, o));
  if (s->positions[0] == '\0') return LOOM_OK;
  LOOM_TRY(build_read_same(b, o, "positions", s->positions, 0, &start));
  if (start.x != NULL) memcpy(m->x, start.x, 3 * (size_t)m->num_verts * sizeof *m->x);
  if (start.num_verts > m->num_verts || start.num_tris > m->num_tris) {
    const loom_status st = build_note(
        b, "%s: %d vertices and %d triangles beyond the mesh of %s were passed over", s->positions,
        start.num_verts - m->num_verts, start.num_tris - m->num_tris, o->label);
    mesh_free(&start);
    return st;
  }
  mesh_free(&start);
  return LOOM_OK;
}

/* ---- elements ---- */

/* X [3], m, of a corner in the rest shape. */
static void compute_rest_corner(const object *o, int64_t k, double *X)
{
  const mesh *const m = &o->m;
  if (o->rest_uv) {
    X[0] = m->uv[2 * k];
    X[1] = m->uv[2 * k + 1];
    X[2] = 0;
  } else {
    memcpy(X, m->rest != NULL ? m->rest + 3 * k : m->x + 3 * (int64_t)m->tris[k], 3 * sizeof *X);
  }
}

/* One triangle at an edge: from the edge's first corner to its second, and to the opposite one. */
typedef struct flank {
  double from[3], to[3], top[3];
  double length, along, height; /* m: of the edge; of the opposite corner, from the first on */
} flank;

static void open_flank(const object *o, int32_t side, flank *f)
{
  const int64_t t = side / 3;
  const int a = side % 3;
  double e[3], p[3], n[3];
  compute_rest_corner(o, 3 * t + a, f->from);
  compute_rest_corner(o, 3 * t + (a + 1) % 3, f->to);
  compute_rest_corner(o, 3 * t + (a + 2) % 3, f->top);
  vec3_sub(f->to, f->from, e);
  vec3_sub(f->top, f->from, p);
  vec3_cross(e, p, n);
  f->length = vec3_norm(e);
  f->along = vec3_dot(e, p) / f->length;
  f->height = vec3_norm(n) / f->length;
}

static int same_place(const double *a, const double *b)
{
  return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

/* The four vertices of the hinge on inner edge e, in the order of ELEM_HINGES; the second triangle
 * runs along the edge the other way. */
static void compute_rest_hinge(const object *o, int64_t e, double *X)
{
  flank f[2];
  for (int k = 0; k < 2; ++k) open_flank(o, o->tp.sides[o->tp.first[e] + k], &f[k]);
  if (!o->rest_uv && same_place(f[0].from, f[1].to) && same_place(f[0].to, f[1].from)) {
    memcpy(X, f[0].from, sizeof f[0].from);
    memcpy(X + 3, f[0].to, sizeof f[0].to);
    memcpy(X + 6, f[0].top, sizeof f[0].top);
    memcpy(X + 9, f[1].top, sizeof f[1].top);
    return;
  }
  /* flat, in the plane of the first triangle and along its edge: fabric has directions */
  const double length = 0.5 * (f[0].length + f[1].length);
  memset(X, 0, 12 * sizeof *X);
  for (int c = 0; c < 3; ++c) {
    const double u = (f[0].to[c] - f[0].from[c]) / f[0].length;
    const double v = (f[0].top[c] - f[0].from[c] - f[0].along * u) / f[0].height;
    X[3 + c] = length * u;
    X[6 + c] = f[0].along / f[0].length * length * u + f[0].height * v;
    X[9 + c] = (1 - f[1].along / f[1].length) * length * u - f[1].height * v;
  }
}

/* An edge as long as the mean over its triangles. */
static void compute_rest_edge(const object *o, int64_t e, double *X)
{
  double length = 0;
  for (int64_t k = o->tp.first[e]; k < o->tp.first[e + 1]; ++k) {
    flank f;
    open_flank(o, o->tp.sides[k], &f);
    length += f.length / (double)(o->tp.first[e + 1] - o->tp.first[e]);
  }
  memset(X, 0, 6 * sizeof *X);
  X[3] = length;
}

void build_rest_element(const object *o, uint32_t place, int64_t k, const int32_t *verts, int arity,
                        double *X)
{
  double four[12];
  const int own = o->rest_uv || o->m.rest != NULL;
  for (int a = 0; a < arity; ++a)
    memcpy(X + 3 * (size_t)a, o->m.x + 3 * (int64_t)verts[a], 3 * sizeof *X);
  if (!own) return;
  if (place == ELEM_TRIANGLES)
    for (int a = 0; a < 3; ++a) compute_rest_corner(o, 3 * k + a, X + 3 * (size_t)a);
  else if (place == ELEM_EDGES)
    compute_rest_edge(o, k, X);
  else if (place == ELEM_HINGES)
    compute_rest_hinge(o, k, X);
  else if (place == ELEM_CROSSINGS) {
    compute_rest_hinge(o, k, four);
    memcpy(X, four + 6, 6 * sizeof *X);
  }
}

double build_rest_area(const object *o, int64_t t)
{
  double X[9], p[3], q[3];
  for (int a = 0; a < 3; ++a) compute_rest_corner(o, 3 * t + a, X + 3 * (size_t)a);
  for (int c = 0; c < 3; ++c) {
    p[c] = X[3 + c] - X[c];
    q[c] = X[6 + c] - X[c];
  }
  const double n[3] = {p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2],
                       p[0] * q[1] - p[1] * q[0]};
  return 0.5 * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
}

int build_rest_places(const object *o, double *x)
{
  const mesh *const m = &o->m;
  if (o->rest_x != NULL) memcpy(x, o->rest_x, 3 * (size_t)m->num_verts * sizeof *x);
  if (o->rest_x != NULL) return 1;
  if (o->rest_uv || m->rest == NULL) return 0;
  for (int64_t k = 0; k < 3 * (int64_t)m->num_tris; ++k)
    memcpy(x + 3 * (int64_t)m->tris[k], m->rest + 3 * k, 3 * sizeof *x);
  for (int64_t k = 0; k < 3 * (int64_t)m->num_tris; ++k)
    if (!same_place(x + 3 * (int64_t)m->tris[k], m->rest + 3 * k)) return 0;
  return 1;
}
