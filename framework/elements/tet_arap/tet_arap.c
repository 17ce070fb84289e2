/* tet_arap.c - descriptor of element tet_arap: as-rigid-as-possible solid. */
#include <math.h>
#include <stddef.h>

#include "elements/rest_data.h"
#include "elements/tet_arap/tet_arap.kern.h"
#include "elements/type.h"
#include "geom/vec3.h"

typedef struct settings {
  double stiffness; /* N/m^2 */
} settings;

static const loom_param params[] = {LOOM_PARAM_REAL(
    settings, stiffness, 1e4, 0, 1e12, "N/m^2", "w of w/2 sum V |F - R|^2 (element tet_arap).")};

static const char *tet_arap_init_rest(const double *X, double *rest)
{
  double d[3][3], c[3][3];
  double size = 0.0;
  for (int k = 0; k < 3; ++k) {
    vec3_sub(X + 3 * (k + 1), X, d[k]);
    size = fmax(size, vec3_norm(d[k]));
  }
  for (int k = 0; k < 3; ++k) vec3_cross(d[(k + 1) % 3], d[(k + 2) % 3], c[k]);
  /* rows of Dm^-1 are the cross products of the other two edges over the determinant */
  const double det = vec3_dot(d[0], c[0]);
  if (!(fabs(det) > REST_MIN_SHAPE * size * size * size)) return "zero volume";
  for (int k = 0; k < 3; ++k)
    for (int j = 0; j < 3; ++j) rest[3 * k + j] = c[k][j] / det;
  rest[9] = fabs(det) / 6.0;
  return NULL;
}

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
    ELEM_PARAMS(params),
    .init_rest = tet_arap_init_rest};
