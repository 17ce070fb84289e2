/* yarn_radii.h - radii of yarns that grow: an extension of scenes that have some.
 *
 * Contact of yarns with yarns takes the radii of this table, which may change from step to step.
 * All else (contact with bodies, masses, rods, the log) has loom_scene.radius, which stays. */
#ifndef LOOM_YARN_RADII_H
#define LOOM_YARN_RADII_H

#include "loom/scene.h"

#define YARN_RADII "yarn.radii" /* name of the extension */

typedef struct yarn_radii {
  loom_buf *radius; /* real [num_yarns] m, > 0, of the present step */
} yarn_radii;

/* The scene's table, or NULL: no radius grows. */
static inline const yarn_radii *yarn_radii_of(const loom_scene *sc)
{
  return (const yarn_radii *)loom_scene_extension(sc, YARN_RADII);
}

#endif
