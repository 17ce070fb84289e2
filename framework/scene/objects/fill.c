/* fill.c - a closed surface, of a file or a sphere, becomes a solid: a module fills it with
 * tetrahedra. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/intersect.h"
#include "geom/vec3.h"
#include "mesh/placement.h"
#include "mesh/tet_surface.h"
#include "scene/base/build.h"
#include "sewing_pattern/mesher.h"

/* Vertices inside, of edges of the length 1 in a cube of the edge 1: Gmsh 4.8 has 0.65 to 0.7. */
static const double verts_per_cube = 0.75;
static const double max_verts = 2e7; /* keeps ids of tetrahedra in int32 */

/* Volume inside (divergence theorem, m^3) and mean edge (m). */
static double measure_surface(const mesh *m, double *mean)
{
  double six = 0, edges = 0;
  for (int64_t t = 0; t < m->num_tris; ++t) {
    const double *x[3];
    double n[3], d[3];
    for (int a = 0; a < 3; ++a) x[a] = m->x + 3 * (int64_t)m->tris[3 * t + a];
    vec3_cross(x[1], x[2], n);
    six += vec3_dot(x[0], n);
    for (int a = 0; a < 3; ++a) {
      vec3_sub(x[(a + 1) % 3], x[a], d);
      edges += vec3_norm(d) / 3;
    }
  }
  *mean = edges / m->num_tris;
  return six / 6;
}

/* Checks the mesh of a module against its interface, so that a wrong mesh does not enter the scene:
 * it keeps the surface, and its tetrahedra fill it. */
static loom_status check_filled(builder *b, const mesh *surface, double inside, const mesh *m,
                                const loom_mesher *mesher)
{
  double volume = 0;
  int32_t *faces = NULL, num_faces = 0;
  int bad = m->num_verts < surface->num_verts || m->num_tets < 1 ||
            memcmp(m->x, surface->x, 3 * (size_t)surface->num_verts * sizeof *m->x) != 0;
  for (int64_t k = 0; k < 4 * (int64_t)m->num_tets && !bad; ++k)
    bad = m->tets[k] < 0 || m->tets[k] >= m->num_verts;
  for (int64_t t = 0; t < m->num_tets && !bad; ++t) {
    const double six = tet_six_volumes(m, t);
    bad = !(six > 0);
    volume += six / 6;
  }
  if (!bad) {
    LOOM_TRY(tet_surface(b->err, m, &faces, &num_faces));
    free(faces);
    bad = num_faces != surface->num_tris || !(fabs(volume - inside) <= 1e-9 * inside);
  }
  if (!bad) return LOOM_OK;
  return err_set(b->err, LOOM_E_CONFIG,
                 "the mesher %s %s gave tetrahedra that do not fill the surface or do not keep it; "
                 "make its triangles more even",
                 mesher->name, mesher->version);
}

/* Meshers fail, or do not end, where a surface meets itself: exact arithmetic finds that before. */
static loom_status check_apart(loom_err *err, const char *file, const mesh *m)
{
  isect_pair pair;
  int64_t total = 0;
  char text[120];
  LOOM_TRY(isect_mesh(err, m->x, m->num_verts, m->tris, m->num_tris, 1, &pair, 1, &total));
  if (total == 0) return LOOM_OK;
  isect_describe(&pair, m->tris, "", text, sizeof text);
  return err_set(err, LOOM_E_CONFIG,
                 "%s: the surface meets itself: %s, and %lld more; part it before it is filled",
                 file, text, (long long)(total - 1));
}

/* The surface without faults; they are told at once, as a mesher cannot take them. */
static loom_status read_surface(builder *b, const char *file, mesh *surface)
{
  doctor d = {0};
  LOOM_TRY(build_read_any(b, file, surface));
  LOOM_TRY(doctor_mesh(b->err, &d, file, surface, DOCTOR_SOLID));
  LOOM_TRY(doctor_verdict(b->err, &d));
  return check_apart(b->err, file, surface);
}

static loom_status outline_solid_ball(builder *b, const object *o, mesh *surface)
{
  static const double point[3] = {0, 0, 0};
  const solid_settings *const s = &o->solid;
  const double edge = s->mesh_size > 0 ? s->mesh_size : s->radius / 4;
  return mesh_round_box(b->err, point, s->radius, edge / (double)b->detail, surface);
}

static loom_status fill_surface(builder *b, object *o, mesh *surface, double edge, double inside)
{
  const loom_mesher *mesher = NULL;
  loom_mesher_solid made = {0};
  char why[400] = "";
  LOOM_TRY(mesher_open(b->err, &mesher));
  if (mesher->tetrahedralise == NULL)
    return err_set(b->err, LOOM_E_CONFIG, "the mesher %s %s makes no tetrahedra", mesher->name,
                   mesher->version);
  const loom_mesher_surface from = {surface->num_verts, surface->num_tris, surface->x,
                                    surface->tris};
  if (mesher->tetrahedralise(&from, edge, &made, why, sizeof why) != LOOM_OK)
    return err_set(b->err, LOOM_E_CONFIG,
                   "no tetrahedra for the surface: %s; make its triangles more even", why);
  mesh *const m = &o->m;
  const mesh view = {
      .num_verts = made.num_verts, .num_tets = made.num_tets, .x = made.x, .tets = made.tets};
  loom_status s = check_filled(b, surface, inside, &view, mesher);
  if (s == LOOM_OK) s = mesh_alloc(b->err, 3 * (int64_t)made.num_verts, sizeof *m->x, &m->x);
  if (s == LOOM_OK) s = mesh_alloc(b->err, 4 * (int64_t)made.num_tets, sizeof *m->tets, &m->tets);
  if (s == LOOM_OK) {
    memcpy(m->x, made.x, 3 * (size_t)made.num_verts * sizeof *m->x);
    memcpy(m->tets, made.tets, 4 * (size_t)made.num_tets * sizeof *m->tets);
    m->num_verts = made.num_verts;
    m->num_tets = made.num_tets;
    m->tris = surface->tris;
    m->num_tris = surface->num_tris;
    surface->tris = NULL;
    s = build_note(b, "%s: %d tetrahedra and %d vertices inside, by the mesher %s %s (%s)",
                   o->label, m->num_tets, m->num_verts - surface->num_verts, mesher->name,
                   mesher->version, mesher->license != NULL ? mesher->license : "no licence");
  }
  mesher->release_solid(&made);
  return s;
}

loom_status build_fill_solid(builder *b, object *o)
{
  mesh surface = {0};
  double place[12], scale = 1, mean = 0;
  const int ball = o->solid.shape == SOLID_SPHERE;
  const char *const key = ball ? "mesh_size" : "file";
  if (!ball) snprintf(o->label, sizeof o->label, "%s", o->solid.file);
  loom_status s = placement_transform(b->err, o->common->transform, place, &scale);
  if (s == LOOM_OK)
    s = ball ? outline_solid_ball(b, o, &surface) : read_surface(b, o->solid.file, &surface);
  if (s == LOOM_OK && build_is_affine(o)) { /* its surface is enough */
    o->m = surface;
    return build_check_room(b, o->sec, key, &(scene_counts){.verts = surface.num_verts});
  }
  if (s == LOOM_OK) {
    const double inside = measure_surface(&surface, &mean);
    const double edge = o->solid.cell > 0 ? o->solid.cell / scale : mean;
    const double verts = verts_per_cube * inside / (edge * edge * edge) + surface.num_verts;
    loom_status room = build_check_room(b, o->sec, "cell", &(scene_counts){.verts = verts});
    if (room == LOOM_OK && verts > max_verts)
      room =
          build_place(b, o->sec, "cell",
                      err_set(b->err, LOOM_E_CONFIG,
                              "%g m makes about %.2g vertices, at most %g are made; raise it",
                              o->solid.cell > 0 ? o->solid.cell : mean * scale, verts, max_verts));
    if (room != LOOM_OK) {
      mesh_free(&surface);
      return room;
    }
    s = fill_surface(b, o, &surface, edge, inside);
  }
  mesh_free(&surface);
  return s == LOOM_OK ? LOOM_OK : build_place(b, o->sec, key, s);
}
