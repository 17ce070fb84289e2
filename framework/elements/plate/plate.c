/* plate.c - descriptor of element plate: bending of a plate by the folds around each triangle. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "elements/plate/plate.kern.h"
#include "elements/plate_settings.h"
#include "elements/type.h"

/* R, R theta0, the area, and a curvature of 0 that has stayed */
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
  const double *const c = m->corner + 6 * t;
  rest[30] = 0.5 * fabs((c[2] - c[0]) * (c[5] - c[1]) - (c[3] - c[1]) * (c[4] - c[0]));
  rest[31] = 0;
}

static int plate_numbers(const void *settings, uint32_t place, double *mat)
{
  const plate_settings *const s = settings;
  mat[1] = s->bending_yield;
  mat[2] = s->bending_hardening;
  return plate_material(settings, place, mat);
}

static int plate_yields(const loom_real *mat) { return mat[1] > 0; }

static const elem_state state = {.name = "folds",
                                 .move =
                                     &(const lk_entry)LK_ENTRY_NEAR_MOVES(plate_move, 4, 75, 12),
                                 .reads_mat = 1,
                                 .moves = plate_yields};

static const char *plate_init_rest(const double *X, double *rest)
{
  return plate_rest_alone(X, plate_write_rest, rest);
}

const elem_type elem_plate = {.name = "plate",
                              .doc = "D/2 |R theta - y0|^2, a plate by mid-edge curvature with "
                                     "fitted slopes (loom); y0 may yield",
                              .arity = PLATE_VERTS,
                              .rest_len = PLATE_REST,
                              .mat_len = PLATE_MAT,
                              .proj_rows = 0,
                              .rest_doc =
                                  "R[3][9] 1, y0[3] 1, area m^2; curvature that has stayed 1/m",
                              .mat_doc = "D N m, yield curvature 1/m, hardening 1",
                              ELEM_SMOOTH_PATCH(plate, 4),
                              ELEM_KERNEL_(plate, factor, 4),
                              ELEM_KERNEL_(plate, narrow, 4),
                              .fold_parts = 1,
                              .topology = ELEM_PATCHES,
                              .section = "cloth",
                              .word = "plate",
                              .params = plate_params,
                              .num_params = PLATE_NUM_PARAMS,
                              .material = plate_numbers,
                              .check = plate_check,
                              .init_rest = plate_init_rest,
                              .init_patch = plate_write_rest,
                              .state = &state};
