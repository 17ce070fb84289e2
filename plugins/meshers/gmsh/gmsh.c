/* gmsh.c - polygons are triangulated by Gmsh's frontal Delaunay method.
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

enum { FRONTAL_DELAUNAY = 6, TRIANGLES = 2 }; /* Mesh.Algorithm, an element type of Gmsh */

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

static int generate_gmsh_nodes(nodes *n)
{
  int e = 0;
  double *parametric = NULL;
  size_t *element = NULL, num_parametric, num_x, num_elements;
  gmshModelMeshGenerate(2, &e);
  if (e == 0)
    gmshModelMeshGetNodes(&n->tag, &n->num, &n->x, &num_x, &parametric, &num_parametric, -1, -1, 0,
                          0, &e);
  gmshFree(parametric);
  if (e == 0)
    gmshModelMeshGetElementsByType(TRIANGLES, &element, &num_elements, &n->corner, &n->num_corners,
                                   -1, 0, 1, &e);
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
 * of the outline have the tags 1 to num.  Nodes that are in no triangle do not occur. */
static loom_status copy_used_nodes(const nodes *n, loom_mesher_mesh *out)
{
  size_t last = 0;
  for (size_t k = 0; k < n->num; ++k)
    if (n->tag[k] > last) last = n->tag[k];
  if (n->num == 0 || n->num_corners == 0 || last > INT32_MAX || n->num_corners / 3 > INT32_MAX)
    return LOOM_E_INTERNAL;
  int32_t *const row = malloc((last + 1) * sizeof *row);
  out->x = malloc(2 * n->num * sizeof *out->x);
  out->tris = malloc(n->num_corners * sizeof *out->tris);
  if (row == NULL || out->x == NULL || out->tris == NULL) {
    free(row);
    return LOOM_E_NOMEM;
  }
  for (size_t t = 0; t <= last; ++t) row[t] = -1;
  for (size_t k = 0; k < n->num; ++k) row[n->tag[k]] = 0;
  for (size_t t = 0; t <= last; ++t)
    if (row[t] == 0) row[t] = out->num_verts++;
  for (size_t k = 0; k < n->num; ++k)
    memcpy(out->x + 2 * (size_t)row[n->tag[k]], n->x + 3 * k, 2 * sizeof *out->x);
  loom_status s = LOOM_OK;
  for (size_t k = 0; k < n->num_corners && s == LOOM_OK; ++k) {
    if (n->corner[k] > last || row[n->corner[k]] < 0)
      s = LOOM_E_INTERNAL;
    else
      out->tris[k] = row[n->corner[k]];
  }
  out->num_tris = (int32_t)(n->num_corners / 3);
  free(row);
  return s;
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
      generate_gmsh_nodes(&n) != 0) {
    last_error(why, len);
    s = LOOM_E_INTERNAL;
  }
  if (s == LOOM_OK && (s = copy_used_nodes(&n, out)) != LOOM_OK)
    snprintf(why, len,
             s == LOOM_E_NOMEM ? "no memory for %zu vertices"
                               : "Gmsh gave back no mesh (%zu vertices)",
             n.num);
  if (s != LOOM_OK) gmsh_release(out);
  free_nodes(&n);
  free(line);
  gmshFinalize(&e);
  return s;
}

static const loom_mesher mesher = {
    .struct_size = sizeof mesher,
    .abi = LOOM_MESHER_ABI,
    .name = "gmsh",
    .version = GMSH_API_VERSION,
    .license = "GPL-2.0-or-later",
    .summary = "Frontal Delaunay triangulation by Gmsh.",
    .triangulate = gmsh_triangulate,
    .release = gmsh_release,
};

const loom_mesher *loom_mesher_query(uint32_t abi)
{
  return abi == LOOM_MESHER_ABI ? &mesher : NULL;
}
