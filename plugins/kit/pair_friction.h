/* pair_friction.h - the scene's coefficients of friction of named pairs, mapped for kernels. */
#ifndef KIT_PAIR_FRICTION_H
#define KIT_PAIR_FRICTION_H

#include "kit/pair_friction.kern.h"
#include "loom/pair_friction.h"
#include "loom/plug.h"

/* Without named pairs: mu NULL, and no buffer is mapped. */
static inline pair_friction pair_friction_open(plug_maps *m, const loom_scene *sc)
{
  const loom_pair_friction *const t = loom_scene_pair_friction(sc);
  return (pair_friction){.mu = plug_read(m, t != NULL ? t->mu : NULL),
                         .object = plug_read(m, t != NULL ? sc->object : NULL),
                         .num_objects = sc->num_objects,
                         .n = sc->num_verts};
}

/* 1: some named pair, or some body, has friction. */
static inline int pair_friction_any(const loom_scene *sc)
{
  const loom_pair_friction *const t = loom_scene_pair_friction(sc);
  int any = t != NULL && t->largest > 0;
  for (int32_t k = 0; k < sc->num_obstacles; ++k) any |= sc->obstacles[k].friction > 0;
  return any;
}

#endif
