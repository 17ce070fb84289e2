/* inventory.c - lines on the sizes of each object and body of files, for `loom check`, and warnings
 * where these look like a mistaken unit or a mistaken rest shape, or where triangles are too large
 * for a plate to bend. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "geom/vec3.h"
#include "mesh/tet_surface.h"
#include "scene/base/build.h"

/* Cloth and bodies of files are garments and characters: beyond these sizes (m) the unit is
 * probably another one than the owner thinks. */
static const double large_size = 10, small_size = 0.02;
static const double heavy_cloth = 50; /* kg */
/* Sides at the start against sides at rest, on average, that no garment is worn with. */
static const double odd_stretch = 1.5;

/* Y h^2/D above which a membrane of constant strain locks.  A strip of 40 cells that hangs with a
 * load of 100 is 2.2 % too stiff here on a Delaunay mesh and 1.1 % on an equilateral one, at three
 * times the number 3.5 and 2.3 % (framework/elements/README.md). */
static const double locking_ratio = 1e4;

/* Of the vertices that belong to triangles, as files may have others anywhere; of yarns, all. */
static double measure_extents(const mesh *m, double size[3])
{
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  const int64_t count = m->num_tris > 0 ? 3 * (int64_t)m->num_tris : m->num_verts;
  for (int64_t k = 0; k < count; ++k) {
    const double *const x = m->x + 3 * (m->num_tris > 0 ? (int64_t)m->tris[k] : k);
    for (int c = 0; c < 3; ++c) low[c] = fmin(low[c], x[c]), high[c] = fmax(high[c], x[c]);
  }
  for (int c = 0; c < 3; ++c) size[c] = fmax(high[c] - low[c], 0);
  return fmax(size[0], fmax(size[1], size[2]));
}

/* Warns of a file that is no garment or character by its size. `remedy`: the key that scales it. */
static loom_status warn_of_unit(builder *b, const char *label, double largest, double kg,
                                const char *remedy)
{
  const int large = largest > large_size || kg > heavy_cloth;
  char mass[48] = "";
  if (!large && !(largest < small_size)) return LOOM_OK;
  if (kg > 0) snprintf(mass, sizeof mass, " and weighs %.4g kg", kg);
  return build_warn(b, "%s: is %.3g m long%s; is its unit the metre? %s%s", label, largest, mass,
                    remedy, large ? " 0.01 takes it as centimetres, 0.001 as millimetres" : "");
}

/* ---- cloth ---- */

typedef struct sides { /* of triangles, m; areas, m^2 */
  double shortest, longest, start, rest, least, most;
  double area, uv_area, rest_area;
  int atlas; /* material coordinates from 0 to 1, as of a texture */
} sides;

static double triangle_size(const double *a, const double *b, const double *c)
{
  double u[3], v[3], n[3];
  vec3_sub(b, a, u);
  vec3_sub(c, a, v);
  vec3_cross(u, v, n);
  return vec3_norm(n) / 2;
}

static void add_triangle_sides(const object *o, int64_t t, sides *s)
{
  const mesh *const m = &o->m;
  const double *x[3];
  double X[3][3] = {{0}};
  for (int a = 0; a < 3; ++a) {
    x[a] = m->x + 3 * (int64_t)m->tris[3 * t + a];
    if (o->rest_uv)
      memcpy(X[a], m->uv + 2 * (3 * t + a), 2 * sizeof X[0][0]);
    else
      memcpy(X[a], m->rest != NULL ? m->rest + 3 * (3 * t + a) : x[a], sizeof X[0]);
  }
  s->area += triangle_size(x[0], x[1], x[2]);
  s->rest_area += triangle_size(X[0], X[1], X[2]);
  for (int a = 0; a < 3; ++a) {
    double d[3], D[3];
    vec3_sub(x[(a + 1) % 3], x[a], d);
    vec3_sub(X[(a + 1) % 3], X[a], D);
    const double now = vec3_norm(d), rest = vec3_norm(D);
    s->shortest = fmin(s->shortest, now);
    s->longest = fmax(s->longest, now);
    s->start += now;
    s->rest += rest;
    s->least = fmin(s->least, now / rest);
    s->most = fmax(s->most, now / rest);
  }
}

static void add_triangle_uv(const mesh *m, int64_t t, double low[2], double high[2], sides *s)
{
  double X[3][3] = {{0}};
  for (int a = 0; a < 3; ++a)
    for (int d = 0; d < 2; ++d) {
      X[a][d] = m->uv[2 * (3 * t + a) + d];
      low[d] = fmin(low[d], X[a][d]);
      high[d] = fmax(high[d], X[a][d]);
    }
  s->uv_area += triangle_size(X[0], X[1], X[2]);
}

static sides measure_sides(const object *o)
{
  sides s = {.shortest = INFINITY, .least = INFINITY};
  double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
  for (int64_t t = 0; t < o->m.num_tris; ++t) {
    add_triangle_sides(o, t, &s);
    if (o->m.uv != NULL) add_triangle_uv(&o->m, t, low, high, &s);
  }
  s.atlas = low[0] > -0.01 && low[1] > -0.01 && high[0] < 1.01 && high[1] < 1.01 &&
            fmax(high[0] - low[0], high[1] - low[1]) > 0.5;
  return s;
}

/* The rest shape against the start, and material coordinates that are not taken. */
static loom_status describe_rest(builder *b, const object *o, const sides *s)
{
  const int of_file = build_is_of_file(o);
  const double mean = s->start / s->rest;
  if (o->rest_uv || o->m.rest != NULL)
    LOOM_TRY(
        build_list(b, "    stretch at the start %.3g to %.3g, mean %.3g", s->least, s->most, mean));
  if (!o->rest_uv && of_file && s->uv_area > 0 && fabs(log(s->uv_area / s->area)) > 0.1)
    LOOM_TRY(build_list(b,
                        "    material coordinates of %.3g m^2%s are not taken as the rest shape; "
                        "rest = uv takes them",
                        s->uv_area, s->atlas ? ", from 0 to 1 as of a texture," : ""));
  if (!(mean > odd_stretch || mean < 1 / odd_stretch)) return LOOM_OK;
  if (o->rest_uv && of_file && s->atlas)
    return build_warn(b,
                      "%s: its material coordinates lie between 0 and 1, as of a texture, and "
                      "rest = uv takes them as metres: sides start %.3g times as long as at rest; "
                      "set rest = initial, or uv_scale",
                      o->label, mean);
  return build_warn(b,
                    "%s: sides of triangles start %.3g times as long as in the rest shape, on "
                    "average; look at rest, rest_file, uv_scale and transform",
                    o->label, mean);
}

/* Areas at rest and masses of the regions, and of the rest of the cloth. */
static loom_status list_regions(builder *b, const object *o)
{
  for (int32_t k = -1; k < o->num_regions && o->tri_region != NULL; ++k) {
    double area = 0, kg = 0;
    int64_t num = 0;
    for (int64_t t = 0; t < o->m.num_tris; ++t) {
      if (o->tri_region[t] != k) continue;
      const double size = build_rest_area(o, t);
      area += size;
      kg += size * build_density(o, t);
      ++num;
    }
    if (k >= 0)
      LOOM_TRY(build_list(b, "    region %-16s %lld triangles, %.4g m^2 at rest, %.4g kg",
                          o->regions[k].name, (long long)num, area, kg));
    else if (num > 0)
      LOOM_TRY(build_list(b, "    in no region %10lld triangles, %.4g m^2 at rest, %.4g kg",
                          (long long)num, area, kg));
  }
  return LOOM_OK;
}

/* ---- plates ---- */

/* Young's modulus of the object's membranes, N/m, and D of its plate, N m; 0 without one. */
static void find_stiffness(const object *o, double *Y, double *D)
{
  *Y = *D = 0;
  for (int type = 0; type < elem_count(); ++type) {
    const elem_type *const t = elem_at(type);
    double mat[ELEM_MAX_MAT] = {0};
    if (!build_has(o, type)) continue;
    const void *const settings = build_elem_settings(o, type);
    if (t->young != NULL) *Y += t->young(settings);
    if ((t->topology & ELEM_PATCHES) != 0 && t->material(settings, ELEM_PATCHES, mat)) *D += mat[0];
  }
}

/* A bend that crosses the rows of a mesh strains its triangles: by (curvature h)^2, so that energy
 * of Y (curvature h)^4 stands beside D curvature^2.  h: cells of two triangles. */
static loom_status warn_of_locking(builder *b, const object *o, const sides *s)
{
  double Y, D;
  find_stiffness(o, &Y, &D);
  const double cell = sqrt(2 * s->rest_area / (double)o->m.num_tris);
  const double ratio = D > 0 ? Y * cell * cell / D : 0;
  if (!(ratio > locking_ratio)) return LOOM_OK;
  return build_warn(b,
                    "%s: bends that cross its rows of edges come out too stiff: Y h^2/D = %.2g is "
                    "above %.0g (Y = %.3g N/m in the plane, D = %.3g N m, cells of h = %.3g m); "
                    "take cells of at most %.2g m, or a mesh with rows along the bends",
                    o->label, ratio, locking_ratio, Y, D, cell, cell * sqrt(locking_ratio / ratio));
}

static loom_status list_cloth(builder *b, const object *o, double kg)
{
  const sides s = measure_sides(o);
  const int of_file = build_is_of_file(o);
  double size[3];
  char sewn[128] = "";
  const double largest = measure_extents(&o->m, size);
  if (o->num_stitches > 0)
    snprintf(sewn, sizeof sewn, ", %lld stitches", (long long)o->num_stitches);
  if (o->m.num_pieces > 1)
    snprintf(sewn + strlen(sewn), sizeof sewn - strlen(sewn), ", %d pieces", o->m.num_pieces);
  if (o->merged != NULL)
    snprintf(sewn + strlen(sewn), sizeof sewn - strlen(sewn), ", %d vertices merged",
             o->num_named - o->m.num_verts);
  LOOM_TRY(build_list(b, "  %-20s %.3g x %.3g x %.3g m, %.4g m^2, %.4g kg, edges %.3g to %.3g m%s",
                      o->name, size[0], size[1], size[2], s.area, kg, s.shortest, s.longest, sewn));
  LOOM_TRY(list_regions(b, o));
  LOOM_TRY(describe_rest(b, o, &s));
  LOOM_TRY(warn_of_locking(b, o, &s));
  return of_file ? warn_of_unit(b, o->label, largest, kg, "transform = scale") : LOOM_OK;
}

/* ---- solids ---- */

static loom_status list_solid(builder *b, const object *o, double kg)
{
  double size[3], volume = 0, shortest = INFINITY, longest = 0;
  const double largest = measure_extents(&o->m, size);
  if (o->weights != NULL) {
    LOOM_TRY(build_list(b, "  %-20s %.3g x %.3g x %.3g m, %.4g kg, affine body, %d triangles",
                        o->name, size[0], size[1], size[2], kg, o->m.num_tris));
    return build_is_of_file(o) ? warn_of_unit(b, o->label, largest, 0, "transform = scale")
                               : LOOM_OK;
  }
  for (int64_t t = 0; t < o->m.num_tets; ++t) {
    const int32_t *const v = o->m.tets + 4 * t;
    volume += tet_six_volumes(&o->m, t) / 6;
    for (int k = 0; k < 6; ++k) {
      static const int ends[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
      double d[3];
      vec3_sub(o->m.x + 3 * (int64_t)v[ends[k][1]], o->m.x + 3 * (int64_t)v[ends[k][0]], d);
      shortest = fmin(shortest, vec3_norm(d));
      longest = fmax(longest, vec3_norm(d));
    }
  }
  LOOM_TRY(
      build_list(b,
                 "  %-20s %.3g x %.3g x %.3g m, %.4g m^3, %.4g kg, %d tetrahedra, edges %.3g to "
                 "%.3g m",
                 o->name, size[0], size[1], size[2], volume, kg, o->m.num_tets, shortest, longest));
  return build_is_of_file(o) ? warn_of_unit(b, o->label, largest, 0, "transform = scale") : LOOM_OK;
}

loom_status build_list_objects(builder *b)
{
  loom_real *mass;
  const loom_status s =
      buf_map(b->s->m, NULL, b->s->pub.mass, LOOM_READ, LOOM_AT_HOST, (void **)&mass);
  loom_status st = LOOM_OK;
  if (s != LOOM_OK) {
    *b->err = *mem_err(b->s->m);
    return s;
  }
  for (int k = 0; k < b->num_objects && st == LOOM_OK; ++k) {
    const object *const o = &b->objects[k];
    double kg = 0, size[3];
    for (int32_t i = 0; i < o->m.num_verts; ++i) kg += (double)mass[o->first_vert + i];
    measure_extents(&o->m, size);
    if (o->kind == OBJECT_CLOTH)
      st = list_cloth(b, o, kg);
    else if (o->kind == OBJECT_SOLID)
      st = list_solid(b, o, kg);
    else
      st = build_list(b, "  %-20s %.3g x %.3g x %.3g m, %.4g kg", o->name, size[0], size[1],
                      size[2], kg);
  }
  buf_unmap(b->s->m, b->s->pub.mass);
  return st;
}

/* ---- bodies ---- */

loom_status build_list_body(builder *b, const char *name, const char *file, const mesh *m)
{
  double size[3], area = 0;
  const double largest = measure_extents(m, size);
  for (int64_t t = 0; t < m->num_tris; ++t)
    area +=
        triangle_size(m->x + 3 * (int64_t)m->tris[3 * t], m->x + 3 * (int64_t)m->tris[3 * t + 1],
                      m->x + 3 * (int64_t)m->tris[3 * t + 2]);
  LOOM_TRY(build_list(b, "  body %-15s %.3g x %.3g x %.3g m, %.4g m^2, %d vertices, %d triangles",
                      name, size[0], size[1], size[2], area, m->num_verts, m->num_tris));
  return file[0] != '\0' ? warn_of_unit(b, file, largest, 0, "scale") : LOOM_OK;
}
