/* plate_quadratic.c - descriptor of element plate_quadratic: the plate in a constant quadratic
 * form. */
#include <math.h>
#include <stddef.h>

#include "elements/plate_quadratic/plate_quadratic.kern.h"
#include "elements/plate_settings.h"
#include "elements/type.h"
#include "geom/vec3.h"

/* Angles below are the noise of a flat mesh, as in hinge_isometric. */
#define FLAT_ANGLE 1e-6

/* Turns rows K [3][12] so that their rest value y becomes (|y|, 0, 0): a reflection. */
static void turn_rows(const double *y, double len, double K[3][PLATE_VERTS])
{
  const double sign = y[0] < 0 ? -1 : 1, w[3] = {y[0] + sign * len, y[1], y[2]};
  const double ww = vec3_dot(w, w);
  for (int v = 0; v < PLATE_VERTS; ++v) {
    const double part = 2 * (w[0] * K[0][v] + w[1] * K[1][v] + w[2] * K[2][v]) / ww;
    for (int r = 0; r < 3; ++r) K[r][v] -= part * w[r];
    K[0][v] *= -sign;
  }
}

static void plate_quadratic_write_rest(const plate_mesh *m, int64_t t, const double *R,
                                       double *rest)
{
  int32_t side[PLATE_FOLDS];
  double K[3][PLATE_VERTS] = {{0}}, y[3] = {0, 0, 0};
  plate_fold_sides(m, t, side);
  for (int f = 0; f < PLATE_FOLDS; ++f) {
    double v[PLATE_VERTS] = {0};
    if (side[f] < 0) continue;
    plate_fold_vector(m, side[f], f, v);
    const double angle = m->fold[side[f]],
                 length = fabs(angle) < FLAT_ANGLE ? 0 : 2 * sin(angle / 2);
    for (int r = 0; r < 3; ++r) {
      y[r] += R[PLATE_FOLDS * r + f] * length;
      for (int k = 0; k < PLATE_VERTS; ++k) K[r][k] += R[PLATE_FOLDS * r + f] * v[k];
    }
  }
  const double len = vec3_norm(y);
  if (len > 0) turn_rows(y, len, K);
  for (int r = 0; r < 3; ++r)
    for (int k = 1; k < PLATE_VERTS; ++k) rest[11 * r + k - 1] = K[r][k];
  rest[33] = len;
}

static const char *plate_quadratic_init_rest(const double *X, double *rest)
{
  return plate_rest_alone(X, plate_quadratic_write_rest, rest);
}

static int plate_quadratic_is_flat(const loom_real *rest)
{
  return rest[PLATE_QUADRATIC_REST - 1] == 0;
}

static loom_status plate_quadratic_check(loom_err *err, const void *settings, const char **key)
{
  const plate_settings *const s = settings;
  *key = "bending_yield";
  if (s->bending_yield > 0)
    return err_set(err, LOOM_E_CONFIG,
                   "plate_quadratic does not yield; take plate in its place, with a solver that "
                   "needs no projective form");
  return plate_check(err, settings, key);
}

const elem_type elem_plate_quadratic = {
    .name = "plate_quadratic",
    .doc = "D/2 (|K x| - |K X|)^2, the plate in a constant quadratic form (loom)",
    .arity = PLATE_VERTS,
    .rest_len = PLATE_QUADRATIC_REST,
    .mat_len = 1,
    .proj_rows = 3,
    .rest_doc = "K[3][11] of vertices 1 to 11 1/m, |K X| 1",
    .mat_doc = "D N m",
    ELEM_PROJECTIVE_PATCH(plate_quadratic),
    .topology = ELEM_PATCHES,
    .section = "cloth",
    .word = "plate_quadratic",
    .params = plate_params,
    .num_params = PLATE_NUM_PARAMS,
    .material = plate_material,
    .check = plate_quadratic_check,
    .init_rest = plate_quadratic_init_rest,
    .init_patch = plate_quadratic_write_rest,
    .is_quadratic = plate_quadratic_is_flat};
