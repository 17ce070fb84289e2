/* plate_settings.h - keys of bending that plate and plate_quadratic share. */
#ifndef LOOM_ELEM_PLATE_SETTINGS_H
#define LOOM_ELEM_PLATE_SETTINGS_H

#include "elements/plate_rest.h"
#include "loom/param.h"

typedef struct plate_settings {
  double bending;         /* N m, D */
  double bending_poisson; /* 1 */
  /* N m, D of the first and second material axis and of the direction between; 0: by the others */
  double bending_warp, bending_weft, bending_bias;
  double bending_yield;     /* 1/m; 0: none */
  double bending_hardening; /* 1 */
} plate_settings;

enum { PLATE_NUM_PARAMS = 7 };
extern const loom_param plate_params[PLATE_NUM_PARAMS];

/* mat [1]: the element's rigidity sqrt(D11 D22), N m */
int plate_material(const void *settings, uint32_t place, double *mat);
/* D [4]: D11, D22, D12, D66 divided by the element's rigidity.  Returns the D12/sqrt(D11 D22) that
 * the keys ask for where no stable plate has it and D12 was brought nearer to 0; else 0. */
double plate_ratios(const void *settings, double *D);
/* Check of plate, and of plate_quadratic after its own. */
loom_status plate_check(loom_err *err, const void *settings, const char **key);

#endif
