/* pin.c - descriptor of element pin: attachment of one vertex to a point. */
#include <stddef.h>

#include "elements/pin/pin.kern.h"
#include "elements/rest_data.h"
#include "elements/type.h"

static const char *pin_init_rest(const double *X, double *rest)
{
  (void)rest;
  return rest_data_positions(X, 1);
}

const elem_type elem_pin = {.name = "pin",
                            .doc = "k/2 |x - p|^2",
                            .arity = 1,
                            .rest_len = 0,
                            .mat_len = 4,
                            .proj_rows = 1,
                            .rest_doc = "none",
                            .mat_doc = "k N/m, target p[3] m",
                            ELEM_PROJECTIVE(pin),
                            .topology = ELEM_PINS,
                            .init_rest = pin_init_rest};
