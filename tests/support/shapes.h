/* shapes.h - every kind of body that has a distance, with sizes for tests.  A kind without sizes
 * here fails its tests. */
#ifndef TEST_SHAPES_H
#define TEST_SHAPES_H

#include <string.h>

#include "bodies/body.h"

/* loom_obstacle.shape of a kind, NULL: the test does not know the kind. */
static inline const loom_real *shapes_sizes(const char *kind)
{
  static const struct {
    const char *kind;
    loom_real size[8];
  } all[] = {{"plane", {LK_R(0.6), 0, LK_R(0.8), LK_R(0.1)}},
             {"sphere", {LK_R(0.1), LK_R(-0.2), LK_R(0.05), LK_R(0.4)}},
             {"box", {LK_R(0.5), LK_R(0.3), LK_R(0.2), LK_R(0.05)}},
             {"capsule", {LK_R(-0.3), LK_R(0.1), 0, LK_R(0.4), LK_R(0.2), LK_R(0.1), LK_R(0.15)}},
             {"torus", {LK_R(0.4), LK_R(0.15)}},
             {"cylinder", {LK_R(0.35), LK_R(0.25), LK_R(0.05)}},
             {"sdf", {0}}};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
    if (strcmp(kind, all[i].kind) == 0) return all[i].size;
  return NULL;
}

#endif
