/* pieces.c - where vertices lie on the fabric: material coordinates, or the plane of a flat sheet.
 */
#include <math.h>
#include <stdlib.h>

#include "loom/followers.h"
#include "loom/material.h"
#include "pd_bfgs.h"

/* A rest shape is flat where no vertex is further from its plane, in parts of its size. */
static const double flat_within = 1e-6;

typedef struct cloths {         /* on the host */
  const loom_real *rest;        /* [n][3] */
  const int32_t *object, *tris; /* [n]; [nt][3] */
  const loom_material *material;
  const loom_real *uv;    /* [nt][3][2]; NULL without material */
  const int32_t *piece;   /* [nt] */
  int32_t *of_triangle;   /* [nt], piece of each triangle among ours */
  double *coord;          /* [nt][3][2] m, of the corners */
  int32_t *first, *stack; /* [n+1], [3 nt]: corners by vertex */
} cloths;

/* ---- flat sheets without coordinates ---- */

static void subtract_rest_points(const loom_real *a, const loom_real *b, double *out)
{
  for (int c = 0; c < 3; ++c) out[c] = (double)a[c] - (double)b[c];
}
static double dot_plane_vectors(const double *a, const double *b)
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
static void cross_plane_vectors(const double *a, const double *b, double *out)
{
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

typedef struct plane {
  double axis[3][3]; /* two in it, one across */
  const loom_real *origin;
} plane;

/* Through the largest triangle of an object without coordinates; 0: it has no triangle with an
 * area.
 */
static int find_sheet_plane(const cloths *g, int32_t nt, int32_t object, plane *p)
{
  double most = 0.0, a[3], b[3], normal[3];
  for (int32_t t = 0; t < nt; ++t) {
    const int32_t *const v = g->tris + 3 * (size_t)t;
    if (g->object[v[0]] != object || g->of_triangle[t] >= 0) continue;
    subtract_rest_points(g->rest + 3 * (size_t)v[1], g->rest + 3 * (size_t)v[0], a);
    subtract_rest_points(g->rest + 3 * (size_t)v[2], g->rest + 3 * (size_t)v[0], b);
    cross_plane_vectors(a, b, normal);
    if (!(dot_plane_vectors(normal, normal) > most)) continue;
    most = dot_plane_vectors(normal, normal);
    p->origin = g->rest + 3 * (size_t)v[0];
    for (int c = 0; c < 3; ++c) {
      p->axis[0][c] = a[c] / sqrt(dot_plane_vectors(a, a));
      p->axis[2][c] = normal[c] / sqrt(most);
    }
  }
  if (most > 0.0) cross_plane_vectors(p->axis[2], p->axis[0], p->axis[1]);
  return most > 0.0;
}

/* Coordinates of the corners of an object's triangles in its plane; 0: it is not flat. */
static int flatten_object(cloths *g, int32_t nt, int32_t object, int32_t piece)
{
  plane p = {{{0}}, NULL};
  double size = 0.0, off = 0.0, d[3];
  if (!find_sheet_plane(g, nt, object, &p) || p.origin == NULL) return 0;
  for (int32_t t = 0; t < nt; ++t) {
    const int32_t *const v = g->tris + 3 * (size_t)t;
    if (g->object[v[0]] != object || (g->of_triangle[t] >= 0 && g->of_triangle[t] != piece))
      continue;
    g->of_triangle[t] = piece;
    for (int k = 0; k < 3; ++k) {
      subtract_rest_points(g->rest + 3 * (size_t)v[k], p.origin, d);
      for (int a = 0; a < 2; ++a)
        g->coord[6 * (size_t)t + 2 * (size_t)k + (size_t)a] = dot_plane_vectors(d, p.axis[a]);
      size = fmax(size, sqrt(dot_plane_vectors(d, d)));
      off = fmax(off, fabs(dot_plane_vectors(d, p.axis[2])));
    }
  }
  return off <= flat_within * size;
}

static loom_status flat_objects(pd_bfgs *s, cloths *g, pd_bfgs_pieces *out)
{
  const int32_t nt = s->sc->num_tris;
  for (int32_t t = 0; t < nt; ++t) {
    const int32_t object = g->object[g->tris[3 * (size_t)t]];
    if (g->of_triangle[t] >= 0) continue;
    out->name[out->num] = s->sc->object_names[object];
    LOOM_CHECK(s->host, flatten_object(g, nt, object, out->num), LOOM_E_CONFIG,
               "[cloth.%s] has no material coordinates, and its rest shape is not flat: splines "
               "need a place on the fabric for every vertex; give it `vt` in an OBJ file, `u v` in "
               "a PLY file, or shape = pattern (a generated sheet: rest = uv)",
               s->sc->object_names[object]);
    ++out->num;
  }
  return LOOM_OK;
}

/* ---- samples ---- */

static void corners_by_vertex(cloths *g, int32_t n, int32_t nt)
{
  for (int64_t k = 0; k < 3 * (int64_t)nt; ++k) ++g->first[g->tris[k] + 2];
  for (int32_t i = 0; i < n; ++i) g->first[i + 2] += g->first[i + 1];
  for (int64_t k = 0; k < 3 * (int64_t)nt; ++k) g->stack[g->first[g->tris[k] + 1]++] = (int32_t)k;
}

/* One sample for each place of a vertex: corners of the same piece at the same coordinates are one,
 * so that a vertex on a seam has the mean of its pieces, however many triangles it has in each. */
static void take_samples(const cloths *g, int32_t n, pd_bfgs_pieces *out)
{
  for (int32_t i = 0; i < n; ++i) {
    const int64_t begin = out->num_samples;
    for (int32_t k = g->first[i]; k < g->first[i + 1]; ++k) {
      const int32_t corner = g->stack[k], piece = g->of_triangle[corner / 3];
      const double *const u = g->coord + 2 * (size_t)corner;
      int64_t m = begin;
      while (m < out->num_samples && !(out->sample[m].piece == piece &&
                                       out->sample[m].u[0] == u[0] && out->sample[m].u[1] == u[1]))
        ++m;
      if (m == out->num_samples)
        out->sample[out->num_samples++] = (spline_sample){i, piece, {u[0], u[1]}};
    }
  }
}

/* Sides of squares of two triangles of the mean area of each piece, times `spacing`. */
static int cell_sizes(const cloths *g, int32_t nt, double spacing, pd_bfgs_pieces *out)
{
  int32_t *const count = calloc((size_t)out->num + 1, sizeof *count);
  if (count == NULL) return 0;
  for (int32_t t = 0; t < nt; ++t) {
    const double *const u = g->coord + 6 * (size_t)t;
    const double area = 0.5 * fabs((u[2] - u[0]) * (u[5] - u[1]) - (u[4] - u[0]) * (u[3] - u[1]));
    out->cell[g->of_triangle[t]] += area;
    ++count[g->of_triangle[t]];
  }
  for (int32_t p = 0; p < out->num; ++p)
    out->cell[p] = spacing * sqrt(2.0 * out->cell[p] / (count[p] > 0 ? count[p] : 1));
  free(count);
  return 1;
}

/* ---- all ---- */

/* A solid, an affine body first: its surface has no place on a fabric. */
static loom_status refuse_solids(pd_bfgs *s)
{
  const loom_followers *const f = loom_scene_followers(s->sc);
  if (s->sc->num_tets == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(s->host, s->e);
  const int32_t *const object = plug_read_host(&m, s->sc->object);
  const int32_t *const vertex = plug_read_host(&m, f != NULL ? f->id : s->sc->tets);
  const char *const name = m.status == LOOM_OK ? s->sc->object_names[object[vertex[0]]] : "";
  const loom_status st = plug_unbind(&m);
  if (st != LOOM_OK) return st;
  return LOOM_FAIL(s->host, LOOM_E_CONFIG,
                   "[solid.%s] is %s: splines need a place on the fabric for every vertex; take "
                   "another solver",
                   name, f != NULL ? "an affine body" : "a solid");
}

static void from_material(const cloths *g, int32_t nt, pd_bfgs_pieces *out)
{
  out->num = g->material != NULL ? g->material->num_pieces : 0;
  for (int32_t p = 0; p < out->num; ++p) out->name[p] = g->material->pieces[p].name;
  for (int32_t t = 0; t < nt; ++t) {
    g->of_triangle[t] = g->material != NULL ? g->piece[t] : -1;
    for (int k = 0; k < 6 && g->of_triangle[t] >= 0; ++k)
      g->coord[6 * (size_t)t + (size_t)k] = (double)g->uv[6 * (size_t)t + (size_t)k];
  }
}

static loom_status find_fabric_pieces(pd_bfgs *s, cloths *g, pd_bfgs_pieces *out)
{
  const int32_t n = s->n, nt = s->sc->num_tris;
  from_material(g, nt, out);
  LOOM_TRY(flat_objects(s, g, out));
  corners_by_vertex(g, n, nt);
  take_samples(g, n, out);
  LOOM_CHECK(s->host, cell_sizes(g, nt, s->set.spacing, out), LOOM_E_NOMEM,
             "no memory for %d pieces", out->num);
  return LOOM_OK;
}

static int allocate_pieces(const pd_bfgs *s, cloths *g, pd_bfgs_pieces *out)
{
  const size_t n = (size_t)s->n, corners = 3 * (size_t)s->sc->num_tris + 1;
  const size_t pieces =
      (size_t)s->sc->num_objects + (g->material != NULL ? (size_t)g->material->num_pieces : 0) + 1;
  g->of_triangle = malloc(corners * sizeof *g->of_triangle);
  g->coord = calloc(2 * corners, sizeof *g->coord);
  g->first = calloc(n + 2, sizeof *g->first);
  g->stack = malloc(corners * sizeof *g->stack);
  out->sample = malloc(corners * sizeof *out->sample);
  out->cell = calloc(pieces, sizeof *out->cell);
  out->name = calloc(pieces, sizeof *out->name);
  return g->of_triangle != NULL && g->coord != NULL && g->first != NULL && g->stack != NULL &&
         out->sample != NULL && out->cell != NULL && out->name != NULL;
}

loom_status pd_bfgs_pieces_find(pd_bfgs *s, pd_bfgs_pieces *out)
{
  plug_maps m = plug_maps_on(s->host, s->e);
  cloths g = {.material = loom_scene_extension(s->sc, LOOM_MATERIAL)};
  *out = (pd_bfgs_pieces){0};
  LOOM_TRY(refuse_solids(s));
  g.rest = plug_read_host(&m, s->sc->rest_x);
  g.object = plug_read_host(&m, s->sc->object);
  g.tris = plug_read_host(&m, s->sc->tris);
  if (g.material != NULL) {
    g.uv = plug_read_host(&m, g.material->uv);
    g.piece = plug_read_host(&m, g.material->piece);
  }
  loom_status st = m.status;
  if (st == LOOM_OK && !allocate_pieces(s, &g, out))
    st = LOOM_FAIL(s->host, LOOM_E_NOMEM, "no memory for the pieces of %d triangles",
                   s->sc->num_tris);
  if (st == LOOM_OK) st = find_fabric_pieces(s, &g, out);
  free(g.of_triangle);
  free(g.coord);
  free(g.first);
  free(g.stack);
  const loom_status end = plug_unbind(&m);
  return st != LOOM_OK ? st : end;
}

void pd_bfgs_pieces_free(pd_bfgs_pieces *p)
{
  free(p->sample);
  free(p->cell);
  free(p->name);
  *p = (pd_bfgs_pieces){0};
}
