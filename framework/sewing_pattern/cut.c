/* cut.c - the pieces of a pattern as one mesh, each placed in space. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geom/pose.h"
#include "mesh/material.h"
#include "sewing_pattern/pattern.h"

double pattern_num_verts(const pattern *p, double edge)
{
  double sum = 0;
  for (int k = 0; k < p->num_pieces; ++k) {
    const pattern_piece *const q = &p->pieces[k];
    double around = 0;
    for (int e = 0; e < q->num_edges; ++e) around += q->edges[e].length;
    sum += outline_area(q) / (0.866 * edge * edge) + around / (2 * edge) + 1;
  }
  return sum;
}

/* Checks the mesh of a module against its interface, so that a wrong mesh does not enter the scene.
 */
static loom_status check_mesher_output(loom_err *err, const pattern_piece *q, const double *outline,
                                       const loom_mesher *mesher, const loom_mesher_mesh *m)
{
  double area = 0, around = 0;
  int bad = m->num_verts < q->num_outline || m->num_tris < 1 ||
            memcmp(m->x, outline, 2 * (size_t)q->num_outline * sizeof *outline) != 0;
  for (int64_t k = 0; k < 3 * (int64_t)m->num_tris && !bad; ++k)
    bad = m->tris[k] < 0 || m->tris[k] >= m->num_verts;
  for (int64_t t = 0; t < m->num_tris && !bad; ++t) {
    const double *const a = m->x + 2 * (int64_t)m->tris[3 * t];
    const double *const b = m->x + 2 * (int64_t)m->tris[3 * t + 1];
    const double *const c = m->x + 2 * (int64_t)m->tris[3 * t + 2];
    const double twice = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    bad = !(twice > 0);
    area += twice / 2;
  }
  for (int32_t k = 0; k < q->num_outline; ++k) {
    const double *const a = outline + 2 * (int64_t)k;
    const double *const b = outline + 2 * (int64_t)((k + 1) % q->num_outline);
    around +=
        ((a[0] - outline[0]) * (b[1] - outline[1]) - (a[1] - outline[1]) * (b[0] - outline[0])) / 2;
  }
  if (!bad && fabs(area - around) <= 1e-9 * around) return LOOM_OK;
  return err_set(err, LOOM_E_INTERNAL,
                 "the mesher %s %s gave a mesh that does not fill the piece %s", mesher->name,
                 mesher->version, q->name);
}

static loom_status triangulate_piece(loom_err *err, const pattern *p, pattern_piece *q,
                                     const loom_mesher *mesher, double edge, loom_mesher_mesh *out)
{
  double *outline;
  char why[400] = "";
  LOOM_TRY(mesh_alloc(err, 2 * ((int64_t)q->num_outline + 1), sizeof *outline, &outline));
  outline_points(q, outline);
  loom_status s = mesher->triangulate(outline, q->num_outline, edge, out, why, sizeof why);
  if (s != LOOM_OK)
    err_set(err, s, "%s: the piece %s could not be triangulated: %s", cfg_path(p->c), q->name, why);
  else
    s = check_mesher_output(err, q, outline, mesher, out);
  free(outline);
  return s;
}

/* Moves a vertex from the plane of the piece into space. */
static void transform_piece_vertex(const pattern_piece *q, const double *uv, double *x)
{
  double p[3] = {uv[0], uv[1], 0};
  if (q->wrap > 0) {
    p[0] = q->wrap * sin(uv[0] / q->wrap);
    p[2] = q->wrap * (cos(uv[0] / q->wrap) - 1);
  }
  pose_apply(q->place, p, x);
}

static loom_status gather_piece_meshes(loom_err *err, const pattern *p,
                                       const loom_mesher_mesh *part, mesh *out)
{
  material_names names = {0};
  loom_status s = mesh_alloc(err, out->num_verts, 3 * sizeof *out->x, &out->x);
  if (s == LOOM_OK) s = mesh_alloc(err, out->num_tris, 3 * sizeof *out->tris, &out->tris);
  if (s == LOOM_OK) s = mesh_alloc(err, out->num_tris, 6 * sizeof *out->uv, &out->uv);
  if (s == LOOM_OK) s = mesh_alloc(err, out->num_tris, sizeof *out->piece, &out->piece);
  int64_t at = 0;
  for (int k = 0; k < p->num_pieces && s == LOOM_OK; ++k) {
    const pattern_piece *const q = &p->pieces[k];
    int32_t piece = 0;
    s = material_piece(err, out, &names, q->name, (int)strlen(q->name), &piece);
    for (int64_t v = 0; v < part[k].num_verts; ++v)
      transform_piece_vertex(q, part[k].x + 2 * v, out->x + 3 * (q->first_vert + v));
    for (int64_t t = 0; t < part[k].num_tris; ++t, ++at) {
      out->piece[at] = piece;
      for (int c = 0; c < 3; ++c) {
        const int32_t v = part[k].tris[3 * t + c];
        out->tris[3 * at + c] = q->first_vert + v;
        memcpy(out->uv + 6 * at + 2 * (ptrdiff_t)c, part[k].x + 2 * (int64_t)v,
               2 * sizeof *out->uv);
      }
    }
  }
  material_names_free(&names);
  return s;
}

loom_status pattern_mesh(loom_err *err, pattern *p, const loom_mesher *mesher, double edge,
                         mesh *out)
{
  loom_mesher_mesh *part;
  int64_t verts = 0, tris = 0;
  *out = (mesh){0};
  if (pattern_num_verts(p, edge) > INT32_MAX / 6) /* before the mesher works on it */
    return err_set(err, LOOM_E_CONFIG,
                   "%s: with edges of %g m the pieces would have %.3g vertices; longer edges make "
                   "fewer",
                   cfg_path(p->c), edge, pattern_num_verts(p, edge));
  LOOM_TRY(seams_cut(err, p, edge));
  LOOM_TRY(mesh_alloc(err, p->num_pieces, sizeof *part, &part));
  loom_status s = LOOM_OK;
  for (int k = 0; k < p->num_pieces && s == LOOM_OK; ++k) {
    pattern_piece *const q = &p->pieces[k];
    q->first_vert = (int32_t)verts;
    s = triangulate_piece(err, p, q, mesher, edge, &part[k]);
    verts += part[k].num_verts;
    tris += part[k].num_tris;
    if (s == LOOM_OK && (verts > INT32_MAX / 3 || tris > INT32_MAX / 6))
      s = err_set(err, LOOM_E_CONFIG,
                  "%s: the mesh would be too large; longer edges make it smaller", cfg_path(p->c));
  }
  out->num_verts = (int32_t)verts;
  out->num_tris = (int32_t)tris;
  if (s == LOOM_OK) s = gather_piece_meshes(err, p, part, out);
  for (int k = 0; k < p->num_pieces; ++k) mesher->release(&part[k]);
  free(part);
  if (s != LOOM_OK) mesh_free(out);
  return s;
}
