/* hinge_isometric.c - descriptor of element hinge_isometric: quadratic bending. */
#include <math.h>
#include <stddef.h>

#include "elements/hinge_isometric/hinge_isometric.kern.h"
#include "elements/rest_data.h"
#include "elements/type.h"
#include "geom/vec3.h"

typedef struct settings {
  double k_b; /* N m */
} settings;

static const loom_param params[] = {
    LOOM_PARAM_REAL(settings, k_b, 1e-5, 0, 1e3, "N m",
                    "isometric: k_b of k_b/2 sum 3/(A0 + A1) |K x|^2 (Bergou et al. 2006); a "
                    "narrow strip hangs as a plate with bending = 2.4 k_b on pattern = alternate, "
                    "of 2 to 9 k_b on other triangulations.")};

/* Cotangent of the angle between p and q. */
static double angle_cotangent(const double *p, const double *q)
{
  double c[3];
  vec3_cross(p, q, c);
  return vec3_dot(p, q) / vec3_norm(c);
}

static const char *hinge_isometric_init_rest(const double *X, double *rest)
{
  double e[3][3], N0[3], N1[3], area, back[3], p[3], q[3], y[3];
  const char *why = rest_data_hinge_faces(X, e, N0, N1, &area);
  if (why != NULL) return why;
  for (int c = 0; c < 3; ++c) back[c] = -e[0][c];
  vec3_sub(X + 6, X + 3, p);
  vec3_sub(X + 9, X + 3, q);
  const double c01 = angle_cotangent(e[0], e[1]), c02 = angle_cotangent(e[0], e[2]);
  const double c03 = angle_cotangent(back, p), c04 = angle_cotangent(back, q);
  const double scale = sqrt(3.0 / area);
  rest[0] = scale * (c01 + c02); /* of vertex 1; vertex 0 has scale (c03 + c04) */
  rest[1] = -scale * (c01 + c03);
  rest[2] = -scale * (c02 + c04);
  for (int c = 0; c < 3; ++c) y[c] = rest[0] * e[0][c] + rest[1] * e[1][c] + rest[2] * e[2][c];
  /* |K X| = 2 |e| sin(theta/2): angles below 1e-6 are the noise of a flat mesh */
  const double L = vec3_norm(y);
  rest[3] = L < 1e-6 * scale * vec3_norm(e[0]) ? 0.0 : vec3_dot(y, N0) < 0.0 ? -L : L;
  return NULL;
}

const elem_type elem_hinge_isometric = {
    .name = "hinge_isometric",
    .doc = "k_b/2 3/(A0+A1) (|K x| - |K X|)^2, quadratic bending (Bergou et al. 2006)",
    .arity = 4,
    .rest_len = 4,
    .mat_len = 1,
    .proj_rows = 1,
    .rest_doc = "K_1..K_3 sqrt(3/(A0+A1)) 1/m, signed |K X| sqrt(3/(A0+A1))",
    .mat_doc = "k_b N m",
    ELEM_PROJECTIVE(hinge_isometric),
    .topology = ELEM_HINGES,
    .section = "cloth",
    .word = "isometric",
    ELEM_PARAMS(params),
    .init_rest = hinge_isometric_init_rest};
