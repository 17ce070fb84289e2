/* tet_neohookean.c - descriptor of element tet_neohookean: stable Neo-Hookean solid. */
#include "elements/tet_neohookean/tet_neohookean.kern.h"

#include "elements/rest_data.h"
#include "elements/type.h"

typedef struct settings {
  double young;   /* N/m^2 */
  double poisson; /* 1 */
} settings;

static const loom_param params[] = {
    LOOM_PARAM_REAL(settings, young, 1e4, 0, 1e12, "N/m^2",
                    "neohookean: Young's modulus at small strain."),
    LOOM_PARAM_REAL(settings, poisson, 0.3, 0, 0.499, "1",
                    "neohookean: Poisson's ratio at small strain.")};

static int tet_neohookean_material(const void *of, uint32_t place, double *mat)
{
  const settings *const s = of;
  const double mu = 0.5 * s->young / (1 + s->poisson);
  const double la = 2 * mu * s->poisson / (1 - 2 * s->poisson);
  (void)place;
  mat[0] = 4.0 / 3.0 * mu;
  mat[1] = la + 5.0 / 6.0 * mu;
  return 1;
}

const elem_type elem_tet_neohookean = {
    .name = "tet_neohookean",
    .doc = "V (mu/2 (I_C - 3 - log((I_C + 1)/4)) + la/2 (J - 1)^2 - 3/4 mu (J - 1)) (Smith, De "
           "Goes and Kim 2018)",
    .arity = 4,
    .rest_len = 10,
    .mat_len = 2,
    .proj_rows = 0,
    .rest_doc = "Dm^-1[9] 1/m, volume m^3",
    .mat_doc = "mu, la N/m^2",
    ELEM_SMOOTH(tet_neohookean, 4096),
    .topology = ELEM_TETS,
    .section = "solid",
    .word = "neohookean",
    ELEM_PARAMS(params),
    .material = tet_neohookean_material,
    .init_rest = rest_data_tet};
