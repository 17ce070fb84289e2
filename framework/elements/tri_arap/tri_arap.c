/* tri_arap.c - descriptor of element tri_arap: as-rigid-as-possible membrane. */
#include "elements/rest_data.h"
#include "elements/tri_arap/tri_arap.kern.h"
#include "elements/type.h"

typedef struct settings {
  double membrane; /* N/m */
} settings;

static const loom_param params[] = {LOOM_PARAM_REAL(settings, membrane, 200, 0, 1e9, "N/m",
                                                    "arap: E_mem of E_mem/2 sum A |F - R|^2.")};

static double tri_arap_young(const void *of) { return ((const settings *)of)->membrane; }

const elem_type elem_tri_arap = {
    .name = "tri_arap",
    .doc = "E_mem/2 A |F - R|^2, closest isometry R (projective dynamics, Bouaziz et al. 2014)",
    .arity = 3,
    .rest_len = 4,
    .mat_len = 1,
    .proj_rows = 2,
    .rest_doc = "Dm^-1[4] 1/m, area 1/(2 det Dm^-1) m^2",
    .mat_doc = "E_mem N/m",
    ELEM_PROJECTIVE(tri_arap),
    .topology = ELEM_TRIANGLES,
    .section = "cloth",
    .word = "arap",
    ELEM_PARAMS(params),
    .young = tri_arap_young,
    .init_rest = rest_data_triangle};
