/* level_set.h - the zero set of a smooth function as a closed mesh of even triangles. */
#ifndef LOOM_RIG_LEVEL_SET_H
#define LOOM_RIG_LEVEL_SET_H

#include "mesh/mesh.h"

typedef struct level_set {
  /* negative inside, about the distance (m) near the surface; calls are never concurrent */
  double (*value)(void *user, const double p[3]);
  void *user;
  double low[3], high[3]; /* m, a box around the surface */
} level_set;

/* Surface nets (S. F. F. Gibson, "Constrained elastic surface nets: generating smooth surfaces from
 * binary segmented data", MICCAI 1998) on cells of the side `edge` (m): a vertex for every cell
 * that the surface crosses, a quadrilateral around every edge of the grid that it does.  Then
 * vertices move towards the mean of their neighbours and back onto the surface, in turns, which
 * evens the triangles. Linear in the number of cells.  LOOM_E_CONFIG, without a place, for more
 * than 2^28 cells. */
loom_status level_set_mesh(loom_err *err, const level_set *f, double edge, mesh *out);

#endif
