/* tet_arap.c - descriptor of element tet_arap: as-rigid-as-possible solid. */
#include <stddef.h>

#include "elements/rest_data.h"
#include "elements/tet_arap/tet_arap.kern.h"
#include "elements/type.h"

typedef struct settings {
  double stiffness; /* N/m^2 */
} settings;

static const loom_param params[] = {
    LOOM_PARAM_REAL(settings, stiffness, 1e4, 0, 1e12, "N/m^2",
                    "arap: w of w/2 sum V |F - R|^2 (element tet_arap).")};

const elem_type elem_tet_arap = {
    .name = "tet_arap",
    .doc = "w/2 V |F - R|^2, closest rotation R (Smith, De Goes and Kim 2019)",
    .arity = 4,
    .rest_len = 10,
    .mat_len = 1,
    .proj_rows = 3,
    .rest_doc = "Dm^-1[9] 1/m, volume m^3",
    .mat_doc = "w N/m^2",
    ELEM_PROJECTIVE(tet_arap),
    .topology = ELEM_TETS,
    .section = "solid",
    .word = "arap",
    ELEM_PARAMS(params),
    .init_rest = rest_data_tet};
