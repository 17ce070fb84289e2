/* hinge_shell.c - descriptor of element hinge_shell: discrete-shell hinge. */
#include <math.h>
#include <stddef.h>

#include "elements/hinge_shell/hinge_shell.kern.h"
#include "elements/rest_data.h"
#include "elements/type.h"
#include "geom/vec3.h"

typedef struct settings {
  double k_e; /* N m */
} settings;

static const loom_param params[] = {
    LOOM_PARAM_REAL(settings, k_e, 1.2e-4, 0, 1e3, "N m",
                    "shell: k_e of k_e l^2/(2 (A0 + A1)) (theta - theta0)^2/4 (Grinspun et al. "
                    "2003); 12 k_b acts as the isometric model does at small angles.")};

static const char *hinge_shell_init_rest(const double *X, double *rest)
{
  double e[3][3], N0[3], N1[3], c[3];
  const char *why = rest_data_hinge_faces(X, e, N0, N1, &rest[1]);
  if (why != NULL) return why;
  vec3_cross(N1, N0, c);
  rest[0] = vec3_norm(e[0]);
  rest[2] = atan2(vec3_dot(e[0], c) / rest[0], vec3_dot(N0, N1));
  return NULL;
}

const elem_type elem_hinge_shell = {
    .name = "hinge_shell",
    .doc = "k_e l^2/(2a) (theta - theta0)^2/4, discrete shells (Grinspun et al. 2003)",
    .arity = 4,
    .rest_len = 3,
    .mat_len = 1,
    .proj_rows = 0,
    .rest_doc = "edge length m, area A0+A1 m^2, angle rad",
    .mat_doc = "k_e N m",
    ELEM_SMOOTH(hinge_shell, 4),
    .topology = ELEM_HINGES,
    .section = "cloth",
    .word = "shell",
    ELEM_PARAMS(params),
    .init_rest = hinge_shell_init_rest};
