/* tri_limit.c - descriptor of element tri_limit: limits of stretch beside any membrane. */
#include "elements/rest_data.h"
#include "elements/tri_limit/tri_limit.kern.h"
#include "elements/type.h"

typedef struct settings {
  double strain_limit, strain_limit_min; /* 1, 0: none */
  double strain_stiffness;               /* N/m */
} settings;

static const loom_param params[] = {
    LOOM_PARAM_REAL(settings, strain_limit, 0, 0, 100, "1",
                    "With any membrane: principal stretches above this, 1.05 for 5 %, meet "
                    "strain_stiffness; 0: no limit."),
    LOOM_PARAM_REAL(settings, strain_limit_min, 0, 0, 1, "1",
                    "The same for principal stretches below this; 0: no limit."),
    LOOM_PARAM_REAL(settings, strain_stiffness, 1e4, 1e-9, 1e12, "N/m",
                    "w of w/2 sum A (s - limit)^2, over both principal stretches s: a tension T "
                    "passes the limit by less than T/w.")};

static int tri_limit_material(const void *of, uint32_t place, double *mat)
{
  const settings *const s = of;
  (void)place;
  mat[0] = s->strain_stiffness;
  mat[1] = s->strain_limit_min;
  mat[2] = s->strain_limit > 0 ? s->strain_limit : 1e30;
  return s->strain_limit > 0 || s->strain_limit_min > 0;
}

static loom_status tri_limit_check(loom_err *err, const void *of, const char **key)
{
  const settings *const s = of;
  if (s->strain_limit == 0 || s->strain_limit >= 1) return LOOM_OK;
  *key = "strain_limit";
  return err_set(err, LOOM_E_CONFIG,
                 "%g is below the stretch at rest, 1; give 1 or more, or 0 for no limit",
                 s->strain_limit);
}

const elem_type elem_tri_limit = {
    .name = "tri_limit",
    .doc = "w/2 A |F - P(F)|^2, P keeps principal stretches in limits (Bouaziz et al. 2014)",
    .arity = 3,
    .rest_len = 4,
    .mat_len = 3,
    .proj_rows = 2,
    .rest_doc = "Dm^-1[4] 1/m, area 1/(2 det Dm^-1) m^2",
    .mat_doc = "w N/m, least and largest stretch 1",
    ELEM_PROJECTIVE(tri_limit),
    .topology = ELEM_TRIANGLES,
    .section = "cloth",
    ELEM_PARAMS(params),
    .material = tri_limit_material,
    .check = tri_limit_check,
    .init_rest = rest_data_triangle};
