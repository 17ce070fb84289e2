/* tie.c - descriptor of element tie: a thread from a vertex to a point of a surface. */
#include <stddef.h>

#include "elements/rest_data.h"
#include "elements/tie/tie.kern.h"
#include "elements/type.h"

static const char *tie_init_rest(const double *X, double *rest)
{
  (void)rest;
  return rest_data_positions(X, TIE_ARITY);
}

const elem_type elem_tie = {.name = "tie",
                            .doc = "k/2 max(|x0 - sum u_a x_a| - L, 0)^2, four u_a",
                            .arity = TIE_ARITY,
                            .rest_len = 0,
                            .mat_len = TIE_MAT,
                            .proj_rows = 1,
                            .rest_doc = "none",
                            .mat_doc = "k N/m, length L m, weights u[4] 1",
                            ELEM_PROJECTIVE(tie),
                            .topology = ELEM_TIES,
                            .init_rest = tie_init_rest};
