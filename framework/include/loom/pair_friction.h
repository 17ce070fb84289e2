/* loom/pair_friction.h - coefficients of friction of named pairs of objects, [friction.NAME]; an
 * extension of scenes that have some.
 *
 * A pair without a coefficient here has that of the body (loom_scene.body_friction), between cloths
 * that of the contact model's own setting: so a scene without the extension is as before.  A
 * contact model that reads the table announces LOOM_CONT_FRICTION_BODY or LOOM_CONT_FRICTION_CLOTH;
 * a config with [friction.NAME] is refused for models that do not.  Kernels take
 * kit/pair_friction.kern.h. */
#ifndef LOOM_PAIR_FRICTION_H
#define LOOM_PAIR_FRICTION_H

#include "scene.h"

#define LOOM_PAIR_FRICTION "loom.pair_friction/1" /* name of the extension */

typedef struct loom_pair_friction {
  uint32_t struct_size;
  loom_real largest; /* 1, of all named pairs */
  /* real [num_objects + num_obstacles][num_objects], 1: row k of object k, row num_objects + k of
   * obstacle k, columns of objects as in loom_scene.object; symmetric among the objects.  Below 0:
   * the pair has no coefficient of its own */
  loom_buf *mu;
} loom_pair_friction;

/* The scene's table, or NULL if it has none.  It belongs to the scene and lives as long.  [any] */
static inline const loom_pair_friction *loom_scene_pair_friction(const loom_scene *sc)
{
  return (const loom_pair_friction *)loom_scene_extension(sc, LOOM_PAIR_FRICTION);
}

#endif
