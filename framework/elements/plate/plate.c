/* plate.c - descriptor of element plate: bending of a plate by the folds around each triangle. */
#include <stddef.h>
#include <string.h>

#include "elements/plate/plate.kern.h"
#include "elements/plate_settings.h"
#include "elements/type.h"

/* R, and R theta0 */
static void plate_write_rest(const plate_mesh *m, int64_t t, const double *R, double *rest)
{
  int32_t side[PLATE_FOLDS];
  plate_fold_sides(m, t, side);
  memcpy(rest, R, 3 * PLATE_FOLDS * sizeof *R);
  for (int r = 0; r < 3; ++r) {
    double *const sum = &rest[3 * PLATE_FOLDS + r];
    *sum = 0;
    for (int f = 0; f < PLATE_FOLDS; ++f)
      if (side[f] >= 0) *sum += rest[PLATE_FOLDS * r + f] * m->fold[side[f]];
  }
}

static const char *plate_init_rest(const double *X, double *rest)
{
  return plate_rest_alone(X, plate_write_rest, rest);
}

const elem_type elem_plate = {
    .name = "plate",
    .doc = "D/2 |R (theta - theta0)|^2, a plate by mid-edge curvature with fitted slopes (loom)",
    .arity = PLATE_VERTS,
    .rest_len = PLATE_REST,
    .mat_len = 1,
    .proj_rows = 0,
    .rest_doc = "R[3][9] 1, R theta0[3] 1",
    .mat_doc = "D N m",
    ELEM_SMOOTH_PATCH(plate, 4),
    ELEM_KERNEL_(plate, factor, 4),
    ELEM_KERNEL_(plate, narrow, 4),
    .fold_parts = 1,
    .topology = ELEM_PATCHES,
    .section = "cloth",
    .word = "plate",
    .params = plate_params,
    .num_params = PLATE_NUM_PARAMS,
    .material = plate_material,
    .check = plate_check,
    .init_rest = plate_init_rest,
    .init_patch = plate_write_rest};
