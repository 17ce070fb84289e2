/* gmsh.c - polygons are triangulated by Gmsh's frontal Delaunay method, surfaces filled by its
 * Delaunay method of three dimensions.
 *
 * C. Geuzaine, J.-F. Remacle: Gmsh, a 3-D finite element mesh generator with built-in pre- and
 * post-processing facilities. International Journal for Numerical Methods in Engineering 79 (2009).
 * Gmsh is under the GPL, so this module is.
 */
#include <gmshc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loom/mesher.h"

/* Mesh.Algorithm, Mesh.Algorithm3D, element types of Gmsh */
enum { FRONTAL_DELAUNAY = 6, DELAUNAY_3D = 1, TRIANGLES = 2, TETRAHEDRA = 4 };

typedef struct nodes { /* of Gmsh's model */
  size_t *tag, num;
  double *x; /* [num][3] */
  size_t *corner, num_corners;
} nodes;

static void free_nodes(nodes *n)
{
  gmshFree(n->tag);
  gmshFree(n->x);
  gmshFree(n->corner);
}

static int set_gmsh_option(const char *option, double value)
{
  int e = 0;
  gmshOptionSetNumber(option, value, &e);
  return e;
}

static int start_gmsh(double edge)
{
  int e = 0;
#if GMSH_API_VERSION_MAJOR > 4 || GMSH_API_VERSION_MINOR >= 10
  gmshInitialize(0, NULL, 0, 0, &e);
#else
  gmshInitialize(0, NULL, 0, &e);
#endif
  if (e == 0) e = set_gmsh_option("General.Terminal", 0);
  if (e == 0) e = set_gmsh_option("General.NumThreads", 1);
  if (e == 0) e = set_gmsh_option("Mesh.Algorithm", FRONTAL_DELAUNAY);
  if (e == 0) e = set_gmsh_option("Mesh.Algorithm3D", DELAUNAY_3D);
  if (e == 0) e = set_gmsh_option("Mesh.MeshSizeMax", edge);
  if (e == 0) gmshModelAdd("piece", &e);
  return e;
}

/* Point k + 1 and line k + 1, to the next point, of one element each. */
static int add_outline_lines(const double *outline, int32_t num, double edge, int *line)
{
  int e = 0;
  for (int32_t k = 0; k < num && e == 0; ++k)
    gmshModelGeoAddPoint(outline[2 * k], outline[2 * k + 1], 0, edge, k + 1, &e);
  for (int32_t k = 0; k < num && e == 0; ++k) {
    line[k] = gmshModelGeoAddLine(k + 1, (k + 1) % num + 1, k + 1, &e);
    if (e == 0) gmshModelGeoMeshSetTransfiniteCurve(k + 1, 2, "Progression", 1, &e);
  }
  if (e != 0) return e;
  int loop = gmshModelGeoAddCurveLoop(line, (size_t)num, 1, 0, &e);
  if (e == 0) gmshModelGeoAddPlaneSurface(&loop, 1, 1, &e);
  if (e == 0) gmshModelGeoSynchronize(&e);
  return e;
}

/* The elements of `type` of the mesh of dimension `dim`, and all nodes. */
static int generate_gmsh_nodes(nodes *n, int dim, int type)
{
  int e = 0;
  double *parametric = NULL;
  size_t *element = NULL, num_parametric, num_x, num_elements;
  gmshModelMeshGenerate(dim, &e);
  if (e == 0)
    gmshModelMeshGetNodes(&n->tag, &n->num, &n->x, &num_x, &parametric, &num_parametric, -1, -1, 0,
                          0, &e);
  gmshFree(parametric);
  if (e == 0)
    gmshModelMeshGetElementsByType(type, &element, &num_elements, &n->corner, &n->num_corners, -1,
                                   0, 1, &e);
  gmshFree(element);
  return e;
}

static void gmsh_release(loom_mesher_mesh *m)
{
  free(m->x);
  free(m->tris);
  memset(m, 0, sizeof *m);
}

/* Gmsh numbers nodes from 1 and may leave numbers out: rows follow the order of the tags, and nodes
 * of the input have the tags 1 to num.  Nodes that are in no element do not occur.  x [num][width]
 * and ids [num_corners]. */
static loom_status copy_used_nodes(const nodes *n, size_t width, double *x, int32_t *ids)
{
  size_t last = 0;
  int32_t count = 0;
  for (size_t k = 0; k < n->num; ++k)
    if (n->tag[k] > last) last = n->tag[k];
  if (last > INT32_MAX) return LOOM_E_INTERNAL;
  int32_t *const row = malloc((last + 1) * sizeof *row);
  if (row == NULL) return LOOM_E_NOMEM;
  for (size_t t = 0; t <= last; ++t) row[t] = -1;
  for (size_t k = 0; k < n->num; ++k) row[n->tag[k]] = 0;
  for (size_t t = 0; t <= last; ++t)
    if (row[t] == 0) row[t] = count++;
  for (size_t k = 0; k < n->num; ++k)
    memcpy(x + width * (size_t)row[n->tag[k]], n->x + 3 * k, width * sizeof *x);
  loom_status s = LOOM_OK;
  for (size_t k = 0; k < n->num_corners && s == LOOM_OK; ++k) {
    if (n->corner[k] > last || row[n->corner[k]] < 0)
      s = LOOM_E_INTERNAL;
    else
      ids[k] = row[n->corner[k]];
  }
  free(row);
  return s;
}

/* The mesh of `n` with elements of `corners` nodes: *x, *ids and both counts. */
static loom_status take_mesh(const nodes *n, size_t width, size_t corners, double **x,
                             int32_t **ids, int32_t *num_verts, int32_t *num_elements)
{
  if (n->num == 0 || n->num_corners == 0 || n->num > INT32_MAX ||
      n->num_corners / corners > INT32_MAX)
    return LOOM_E_INTERNAL;
  *x = malloc(width * n->num * sizeof **x);
  *ids = malloc(n->num_corners * sizeof **ids);
  if (*x == NULL || *ids == NULL) return LOOM_E_NOMEM;
  *num_verts = (int32_t)n->num;
  *num_elements = (int32_t)(n->num_corners / corners);
  return copy_used_nodes(n, width, *x, *ids);
}

static void tell_no_mesh(loom_status s, const nodes *n, char *why, size_t len)
{
  snprintf(why, len,
           s == LOOM_E_NOMEM ? "no memory for %zu vertices"
                             : "Gmsh gave back no mesh (%zu vertices)",
           n->num);
}

static void last_error(char *why, size_t len)
{
  int e = 0;
  char *text = NULL;
  gmshLoggerGetLastError(&text, &e);
  snprintf(why, len, "Gmsh: %s", e == 0 && text != NULL && text[0] != '\0' ? text : "it failed");
  gmshFree(text);
}

static loom_status gmsh_triangulate(const double *outline, int32_t num, double edge,
                                    loom_mesher_mesh *out, char *why, size_t len)
{
  nodes n = {0};
  int e = 0;
  memset(out, 0, sizeof *out);
  int *const line = malloc((size_t)num * sizeof *line);
  if (line == NULL) {
    snprintf(why, len, "no memory for %d lines", num);
    return LOOM_E_NOMEM;
  }
  loom_status s = LOOM_OK;
  if (start_gmsh(edge) != 0 || add_outline_lines(outline, num, edge, line) != 0 ||
      generate_gmsh_nodes(&n, 2, TRIANGLES) != 0) {
    last_error(why, len);
    s = LOOM_E_INTERNAL;
  }
  if (s == LOOM_OK &&
      (s = take_mesh(&n, 2, 3, &out->x, &out->tris, &out->num_verts, &out->num_tris)) != LOOM_OK)
    tell_no_mesh(s, &n, why, len);
  if (s != LOOM_OK) gmsh_release(out);
  free_nodes(&n);
  free(line);
  gmshFinalize(&e);
  return s;
}

static void gmsh_release_solid(loom_mesher_solid *m)
{
  free(m->x);
  free(m->tets);
  memset(m, 0, sizeof *m);
}

/* Surface 1 with the nodes 1 to num_verts, and the volume that it bounds. */
static int add_surface(const loom_mesher_surface *from, double *x, size_t *tag, size_t *corner)
{
  /* `edge` is the size inside also where the triangles of the surface are smaller */
  int e = set_gmsh_option("Mesh.MeshSizeExtendFromBoundary", 0);
  const size_t verts = (size_t)from->num_verts, tris = (size_t)from->num_tris;
  for (size_t k = 0; k < verts || k < tris; ++k) tag[k] = k + 1;
  for (size_t k = 0; k < 3 * tris; ++k) corner[k] = (size_t)from->tris[k] + 1;
  if (e == 0) gmshModelAddDiscreteEntity(2, 1, NULL, 0, &e);
  if (e == 0) gmshModelMeshAddNodes(2, 1, tag, verts, x, 3 * verts, NULL, 0, &e);
  if (e == 0) gmshModelMeshAddElementsByType(1, TRIANGLES, tag, tris, corner, 3 * tris, &e);
  int surface = 1, loop = 0;
  if (e == 0) loop = gmshModelGeoAddSurfaceLoop(&surface, 1, 1, &e);
  if (e == 0) gmshModelGeoAddVolume(&loop, 1, 1, &e);
  if (e == 0) gmshModelGeoSynchronize(&e);
  return e;
}

static loom_status gmsh_tetrahedralise(const loom_mesher_surface *surface, double edge,
                                       loom_mesher_solid *out, char *why, size_t len)
{
  nodes n = {0};
  int e = 0;
  memset(out, 0, sizeof *out);
  const size_t tris = (size_t)surface->num_tris, verts = (size_t)surface->num_verts;
  size_t *const tag = malloc((tris > verts ? tris : verts) * sizeof *tag);
  size_t *const corner = malloc(3 * tris * sizeof *corner);
  double *const x = malloc(3 * verts * sizeof *x); /* Gmsh 4.8 takes no pointers to const */
  loom_status s = tag != NULL && corner != NULL && x != NULL ? LOOM_OK : LOOM_E_NOMEM;
  if (s == LOOM_OK) memcpy(x, surface->x, 3 * verts * sizeof *x);
  if (s != LOOM_OK) {
    snprintf(why, len, "no memory for %zu triangles", tris);
  } else if (start_gmsh(edge) != 0 || add_surface(surface, x, tag, corner) != 0 ||
             generate_gmsh_nodes(&n, 3, TETRAHEDRA) != 0) {
    last_error(why, len);
    s = LOOM_E_INTERNAL;
  } else if ((s = take_mesh(&n, 3, 4, &out->x, &out->tets, &out->num_verts, &out->num_tets)) !=
             LOOM_OK) {
    tell_no_mesh(s, &n, why, len);
  }
  if (s != LOOM_OK) gmsh_release_solid(out);
  free_nodes(&n);
  free(tag);
  free(corner);
  free(x);
  gmshFinalize(&e);
  return s;
}

static const loom_mesher mesher = {
    .struct_size = sizeof mesher,
    .abi = LOOM_MESHER_ABI,
    .name = "gmsh",
    .version = GMSH_API_VERSION,
    .license = "GPL-2.0-or-later",
    .summary = "Frontal Delaunay triangulation and Delaunay tetrahedra by Gmsh.",
    .triangulate = gmsh_triangulate,
    .release = gmsh_release,
    .tetrahedralise = gmsh_tetrahedralise,
    .release_solid = gmsh_release_solid,
};

const loom_mesher *loom_mesher_query(uint32_t abi)
{
  return abi == LOOM_MESHER_ABI ? &mesher : NULL;
}
