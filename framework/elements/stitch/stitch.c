/* stitch.c - descriptor of element stitch: a thread from a vertex to a point of an edge. */
#include <stddef.h>

#include "elements/rest_data.h"
#include "elements/stitch/stitch.kern.h"
#include "elements/type.h"

static const char *stitch_init_rest(const double *X, double *rest)
{
  (void)rest;
  return rest_data_positions(X, 3);
}

const elem_type elem_stitch = {.name = "stitch",
                               .doc = "k/2 max(|x0 - (1-t) x1 - t x2| - L, 0)^2",
                               .arity = 3,
                               .rest_len = 0,
                               .mat_len = STITCH_MAT,
                               .proj_rows = 1,
                               .rest_doc = "none",
                               .mat_doc = "k N/m, length L m, place t 1",
                               ELEM_PROJECTIVE(stitch),
                               .topology = ELEM_STITCHES,
                               .init_rest = stitch_init_rest};
