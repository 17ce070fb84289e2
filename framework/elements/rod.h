/* rod.h - what yarn_bend and yarn_twist have in common on the host: settings and rest data. */
#ifndef LOOM_ELEM_ROD_H
#define LOOM_ELEM_ROD_H

#include "loom/param.h"

typedef struct rod_settings {
  double bending, twisting;          /* N m^2 */
  double plasticity, plasticity_max; /* 1 */
} rod_settings;

/* The rows of [yarn.*] for both: one table, so that they share its values. */
enum { ROD_NUM_PARAMS = 4 };
extern const loom_param rod_params[ROD_NUM_PARAMS];

/* init_rest and init_line (elements.h): natural curvature as built. */
const char *rest_rod(const double *X, double *rest);
const char *rest_rod_line(const double *X, int32_t n, int closed, double *rest, int32_t *where);

#endif
