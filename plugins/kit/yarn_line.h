/* yarn_line.h - the quadrature points of a scene's yarns, for plugins. */
#ifndef LOOM_YARN_LINE_H
#define LOOM_YARN_LINE_H

#include "geom/yarn.kern.h"
#include "loom/plug.h"

typedef struct yarn_points_table {
  loom_buf *pt0, *weight, *radius, *basis; /* as in yarn_line */
  int32_t num_segs, num_yarns, num_points, reserved;
  double max_radius; /* m */
} yarn_points_table;

/* A scene without yarns has no points; that is no error.  A yarn with a radius that changes along
 * it is refused. */
loom_status yarn_table_new(const loom_host *host, const loom_scene *sc, const loom_exec *e,
                           yarn_points_table *t);

/* Takes over the radii of this step where some grow (loom/yarn_radii.h), in begin_step(): *changed
 * is 1 if they differ from the table's, else 0. */
loom_status yarn_table_refresh(const loom_host *host, const loom_scene *sc, yarn_points_table *t,
                               int32_t *changed);
/* Saves (restore = 0) or restores the radii that a plugin's state belongs to, where some grow. */
loom_status yarn_table_checkpoint(const loom_host *host, int restore, const char *name,
                                  const loom_scene *sc, yarn_points_table *t);

/* All arrays, bound for reading where m says: valid as long as its maps, and if its status is
 * LOOM_OK. */
yarn_line yarn_line_bind(plug_maps *m, const loom_scene *sc, const yarn_points_table *t);

#endif
