/* loom/yarn_radii.h - radii of yarns that grow: an extension of scenes that have some.
 *
 * Contact of yarns with yarns takes the radii of this table, which may change from step to step.
 * All else (contact with bodies, masses, rods, the log) has loom_scene.radius, which stays. */
#ifndef LOOM_YARN_RADII_HEADER
#define LOOM_YARN_RADII_HEADER

#include "scene.h"

#define LOOM_YARN_RADII "loom.yarn_radii/1" /* name of the extension */

typedef struct loom_yarn_radii {
  uint32_t struct_size;
  loom_buf *radius; /* real [num_yarns] m, > 0, of the present step */
} loom_yarn_radii;

/* The scene's table, or NULL: no radius grows.  It belongs to the scene and lives as long.
 * [any] */
static inline const loom_yarn_radii *loom_scene_yarn_radii(const loom_scene *sc)
{
  return (const loom_yarn_radii *)loom_scene_extension(sc, LOOM_YARN_RADII);
}

#endif
