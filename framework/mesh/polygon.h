/* polygon.h - polygons of files become triangles.
 *
 * Readers first write a polygon of n corners as the fan around its first corner, n - 2 triangles,
 * and cut it once all vertices are known.  The fan stays where its triangles do not overlap; so
 * convex polygons keep the cut that they always had.  Every other polygon is cut by ears
 * (G. H. Meisters, "Polygons have ears", Amer. Math. Monthly 82(6), 1975) in the plane of its
 * vector area, the best shaped ear first.
 */
#ifndef LOOM_MESH_POLYGON_H
#define LOOM_MESH_POLYGON_H

#include "mesh/mesh.h"

enum { POLYGON_MAX_CONCAVE = 4096 }; /* corners; the time grows with their square */

/* Cuts the polygon of the corners x [n][3] (m), n >= 3, into the triangles cut [n - 2][3], indices
 * of corners, with the orientation of the outline.  A polygon without area, or with a number that
 * is not finite, keeps the fan.  A polygon that is not cut keeps it, too: *way says why, and of one
 * that crosses itself side [2] has the corners that begin the two sides.  Errors: no memory. */
loom_status polygon_cut(loom_err *err, int32_t n, const double *x, int32_t *cut, int *way,
                        int32_t side[2]);
enum {
  POLYGON_FAN,     /* cut around its first corner */
  POLYGON_EARS,    /* cut otherwise */
  POLYGON_CROSSED, /* not cut: the outline crosses itself */
  POLYGON_LARGE    /* not cut: concave, with more than POLYGON_MAX_CONCAVE corners */
};

typedef struct polygon_list {
  int64_t count, cap;
  int32_t (*fan)[2]; /* [count] first triangle, number of triangles; free() it */
} polygon_list;      /* {0} is empty */

/* Lists the fan of m's triangles from `first` to the last as one polygon, if it has more than one.
 */
loom_status polygon_add(loom_err *err, polygon_list *l, const mesh *m, int32_t first);
/* Cuts all polygons of the list: m->tris and m->uv change, m->fan keeps the triangles as they were,
 * m->num_split, num_concave and num_bad_faces count; the doctor tells of bad faces.  Ids of corners
 * must be in range. */
loom_status polygon_cut_all(loom_err *err, const polygon_list *l, mesh *m);
/* 1 if triangle t is the same in two files: one triangle, or part of one polygon, however cut. */
int polygon_same(const mesh *a, const mesh *b, int64_t t);

#endif
