/* tri_neohookean.c - descriptor of element tri_neohookean: Neo-Hookean sheet with a limit of
 * stretch. */
#include "elements/tri_neohookean/tri_neohookean.kern.h"

#include "elements/rest_data.h"
#include "elements/type.h"

typedef struct settings {
  double young;         /* N/m */
  double poisson;       /* 1 */
  double limit;         /* 1 */
  double limit_tension; /* N/m */
} settings;

static const loom_param params[] = {
    LOOM_PARAM_REAL(settings, young, 200, 0, 1e9, "N/m",
                    "neohookean: Young's modulus of the sheet, times its thickness."),
    LOOM_PARAM_REAL(settings, poisson, 0.3, 0, 0.99, "1",
                    "neohookean: Poisson's ratio of the sheet in its plane."),
    LOOM_PARAM_REAL(settings, limit, 1.1, 1.0001, 100, "1",
                    "neohookean: limit of the principal stretches; the wall begins half-way."),
    LOOM_PARAM_REAL(settings, limit_tension, 1000, 0, 1e12, "N/m",
                    "neohookean: tension of the wall at the limit, which holds for tensions below "
                    "it; 0: no limit.")};

static int tri_neohookean_material(const void *of, uint32_t place, double *mat)
{
  const settings *const s = of;
  const double mu = 0.5 * s->young / (1 + s->poisson);
  (void)place;
  mat[0] = mu;
  mat[1] = mu + s->young * s->poisson / (1 - s->poisson * s->poisson);
  mat[2] = s->limit_tension;
  mat[3] = s->limit - 1;
  return 1;
}

static double tri_neohookean_young(const void *of) { return ((const settings *)of)->young; }

const elem_type elem_tri_neohookean = {
    .name = "tri_neohookean",
    .doc = "A (mu/2 (s1 - s2)^2 + (la + mu)/2 (s1 s2 - 1)^2) and a wall beyond a stretch (Smith, "
           "De Goes and Kim 2018)",
    .arity = 3,
    .rest_len = 4,
    .mat_len = 4,
    .proj_rows = 0,
    .rest_doc = "Dm^-1[4] 1/m, area 1/(2 det Dm^-1) m^2",
    .mat_doc = "mu, la + mu, tension at the limit N/m, strain at the limit 1",
    ELEM_SMOOTH(tri_neohookean, 0),
    .topology = ELEM_TRIANGLES,
    .section = "cloth",
    .word = "neohookean",
    ELEM_PARAMS(params),
    .material = tri_neohookean_material,
    .young = tri_neohookean_young,
    .init_rest = rest_data_triangle};
