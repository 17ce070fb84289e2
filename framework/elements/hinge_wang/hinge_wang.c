/* hinge_wang.c - descriptor of element hinge_wang: bending of measured fabrics. */
#include <math.h>

#include "elements/hinge_wang/hinge_wang.kern.h"
#include "elements/rest_data.h"
#include "elements/type.h"
#include "geom/vec3.h"

typedef struct settings {
  double bend_0[3], bend_5[3], bend_10[3], bend_15[3], bend_20[3]; /* N m */
} settings;

#define ROW(name, def, what) LOOM_PARAM_VEC3(settings, name, def, 0, 1e3, "N m", what)

/* Defaults from configs/materials/gray-interlock.ini. */
static const loom_param params[] = {
    ROW(bend_0, "23.191698e-6 24.749964e-6 14.267624e-6",
        "wang_bend: k_e (see k_e) of edges at 0, 45 and 90 degrees from the first material axis, "
        "of "
        "fabric that is hardly bent."),
    ROW(bend_5, "32.932217e-6 18.651314e-6 7.052906e-6", "wang_bend: at a curvature of 5 1/m."),
    ROW(bend_10, "34.406498e-6 16.370552e-6 14.515154e-6", "wang_bend: at 10 1/m."),
    ROW(bend_15, "39.01442e-6 25.095791e-6 24.665127e-6", "wang_bend: at 15 1/m."),
    ROW(bend_20, "23.382786e-6 8.860165e-6 19.383726e-6", "wang_bend: at 20 1/m and above.")};

static const char *hinge_wang_init_rest(const double *X, double *rest)
{
  double e[3][3], N0[3], N1[3], c[3], u[3];
  const double quarter = 4.0 / 3.14159265358979323846; /* steps of 45 degrees in a radian */
  const char *const why = rest_data_hinge_faces(X, e, N0, N1, &rest[1]);
  if (why != NULL) return why;
  vec3_cross(N1, N0, c);
  rest[0] = vec3_norm(e[0]);
  rest[2] = atan2(vec3_dot(e[0], c) / rest[0], vec3_dot(N0, N1));
  rest_data_first_axis(N0, u);
  const double along = fabs(vec3_dot(e[0], u));
  vec3_cross(e[0], u, c);
  rest[HINGE_WANG_ANGLE] = fmin(quarter * atan2(vec3_norm(c), along), 2.0);
  rest[HINGE_WANG_CURVATURE] = 0.0;
  return NULL;
}

/* The state: the shape in which a step begins. */
static const elem_state state = {
    .name = "curvature", .move = &(const lk_entry)LK_ENTRY_NEAR_MOVES(hinge_wang_move, 4, 16, 4)};

const elem_type elem_hinge_wang = {
    .name = "hinge_wang",
    .doc = "as hinge_shell, k_e from measurements by curvature and angle (Wang et al. 2011)",
    .arity = 4,
    .rest_len = HINGE_WANG_REST,
    .mat_len = HINGE_WANG_MAT,
    .proj_rows = 0,
    .rest_doc = "edge length m, area A0+A1 m^2, angle rad, direction 45 deg; curvature 5 1/m",
    .mat_doc = "rows[5] of k_e N m at 0, 45, 90 deg: at 0 to 20 1/m",
    ELEM_SMOOTH(hinge_wang, 4),
    .topology = ELEM_HINGES,
    .section = "cloth",
    .word = "wang_bend",
    ELEM_PARAMS(params),
    .table = sizeof params / sizeof *params,
    .init_rest = hinge_wang_init_rest,
    .state = &state};
