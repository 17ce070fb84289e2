/* tri_stvk.c - descriptor of element tri_stvk: orthotropic membrane in the Green strain. */
#include <math.h>

#include "elements/rest_data.h"
#include "elements/tri_stvk/tri_stvk.kern.h"
#include "elements/type.h"

typedef struct settings {
  double k0, k1, k2, k3; /* N/m */
} settings;

static const loom_param params[] = {
    LOOM_PARAM_REAL(settings, k0, 200, 0, 1e9, "N/m",
                    "stvk, k0/2 G00^2: stiffness along the first rest axis; isotropic: "
                    "Y/(1 - nu^2) with Young's modulus Y (N/m) and Poisson's ratio nu."),
    LOOM_PARAM_REAL(settings, k1, 0, 0, 1e9, "N/m",
                    "stvk, k1 G00 G11: coupling of both axes; isotropic: nu Y/(1 - nu^2)."),
    LOOM_PARAM_REAL(settings, k2, 200, 0, 1e9, "N/m",
                    "stvk, k2/2 G11^2: stiffness along the second rest axis; isotropic: k0."),
    LOOM_PARAM_REAL(settings, k3, 200, 0, 1e9, "N/m",
                    "stvk, k3 G01^2: shear; isotropic: Y/(1 + nu).")};

static double tri_stvk_young(const void *of)
{
  const settings *const s = of;
  return (s->k0 * s->k2 - s->k1 * s->k1) / sqrt(s->k0 * s->k2);
}

/* k0 k2 > k1^2 and k3 > 0 make the membrane stable at rest. */
static loom_status tri_stvk_check(loom_err *err, const void *of, const char **key)
{
  const settings *const s = of;
  if (s->k0 * s->k2 > s->k1 * s->k1 && s->k3 > 0) return LOOM_OK;
  *key = "k1";
  return err_set(err, LOOM_E_CONFIG,
                 "k0 k2 > k1^2 and k3 > 0 needed, or the sheet has no stable rest "
                 "shape (k0 %g, k1 %g, k2 %g, k3 %g N/m)",
                 s->k0, s->k1, s->k2, s->k3);
}

const elem_type elem_tri_stvk = {
    .name = "tri_stvk",
    .doc = "A (k0/2 G00^2 + k1 G00 G11 + k2/2 G11^2 + k3 G01^2), Green strain (Wang et al. 2011)",
    .arity = 3,
    .rest_len = 4,
    .mat_len = 4,
    .proj_rows = 0,
    .rest_doc = "Dm^-1[4] 1/m; u along x, v along y of a flat rest shape",
    .mat_doc = "k0 k1 k2 k3 N/m",
    ELEM_SMOOTH(tri_stvk, 0),
    .topology = ELEM_TRIANGLES,
    .section = "cloth",
    .word = "stvk",
    ELEM_PARAMS(params),
    .young = tri_stvk_young,
    .check = tri_stvk_check,
    .init_rest = rest_data_triangle};
