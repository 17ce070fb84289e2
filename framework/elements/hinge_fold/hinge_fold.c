/* hinge_fold.c - descriptor of element hinge_fold: a discrete-shell hinge that keeps folds. */
#include <math.h>

#include "elements/hinge_fold/hinge_fold.kern.h"
#include "elements/rest_data.h"
#include "elements/type.h"
#include "geom/vec3.h"

typedef struct settings {
  double fold_stiffness; /* N m */
  double fold_yield;     /* 1/m */
  double fold_hardening; /* 1 */
} settings;

static const loom_param params[] = {
    LOOM_PARAM_REAL(settings, fold_stiffness, 1.2e-4, 0, 1e3, "N m", "fold: as k_e of shell."),
    LOOM_PARAM_REAL(settings, fold_yield, 50, 0, 1e9, "1/m",
                    "fold: curvature from the rest shape, 1/m, beyond which bending stays; of a "
                    "hinge of angle theta and edge l between areas a in all: theta l/(2a)."),
    LOOM_PARAM_REAL(settings, fold_hardening, 0, 0, 1e6, "1",
                    "fold: growth of the yield angle over the angle that has stayed; 0: none.")};

static const char *hinge_fold_init_rest(const double *X, double *rest)
{
  double e[3][3], N0[3], N1[3], c[3];
  const char *const why = rest_data_hinge_faces(X, e, N0, N1, &rest[1]);
  if (why != NULL) return why;
  vec3_cross(N1, N0, c);
  rest[0] = vec3_norm(e[0]);
  rest[2] = atan2(vec3_dot(e[0], c) / rest[0], vec3_dot(N0, N1));
  rest[3] = 0.0;
  return NULL;
}

static const elem_state state = {
    .name = "folds",
    .move = &(const lk_entry)LK_ENTRY_NEAR_MOVES(hinge_fold_move, 4, 21, 4),
    .reads_mat = 1};

const elem_type elem_hinge_fold = {
    .name = "hinge_fold",
    .doc = "as hinge_shell, its rest angle yields and keeps folds (Simo, Hughes 1998)",
    .arity = 4,
    .rest_len = HINGE_FOLD_REST,
    .mat_len = HINGE_FOLD_MAT,
    .proj_rows = 0,
    .rest_doc = "edge length m, area A0+A1 m^2, angle rad; angle moved so far rad",
    .mat_doc = "k_e N m, yield curvature 1/m, hardening 1",
    ELEM_SMOOTH(hinge_fold, 4),
    .topology = ELEM_HINGES,
    .section = "cloth",
    .word = "fold",
    ELEM_PARAMS(params),
    .init_rest = hinge_fold_init_rest,
    .state = &state};
