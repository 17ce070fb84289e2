/* friction.h - coefficients of friction of named pairs of objects, [friction.*]; plugins find them
 * by loom/pair_friction.h. */
#ifndef LOOM_SCENE_FRICTION_H
#define LOOM_SCENE_FRICTION_H

#include "core/fit.h"
#include "scene/base/scene_data.h"

void friction_free(scene_data *s);
/* The sections for the rules of fit: *rows, owned by the scene, and their number. */
int friction_rows(const scene_data *s, const fit_friction **rows);

#endif
