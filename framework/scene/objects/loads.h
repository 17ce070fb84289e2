/* loads.h - forces of a step that its target y contains: wind (wind.h) and pressure (pressure.h).
 * They are functions of the start of the step, so that every solver has the same problem. */
#ifndef LOOM_SCENE_LOADS_H
#define LOOM_SCENE_LOADS_H

#include "scene/base/scene_data.h"

typedef struct load_step {
  double t, h;            /* s, end and length of the step */
  const loom_real *x, *v; /* [n][3], m and m/s, at its start */
  const loom_real *mass;  /* [n], kg */
  const uint8_t *fixed;   /* [n] */
  loom_real *y;           /* [n][3], m; loads move its rows of free vertices */
} load_step;
/* y += h^2 force / mass on the rows of free vertices; force [n][3], N. */
void load_move(const load_step *step, int32_t n, const double *force);
/* Their work, J, on the rows of free vertices, from x0 to x1 [n][3] (m). */
double load_work(const uint8_t *fixed, const loom_real *x0, const loom_real *x1, int32_t n,
                 const double *force);

#endif
