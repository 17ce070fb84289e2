/* test_pd_bfgs_basis.c - the basis of pd_bfgs, with and without material coordinates, and its
 * refusals. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "loom/material.h"
#include "pd_bfgs_stage.h"

/* The stage with a basis of all vertices: the fixed corners take part, or fields would have
 * to vanish there.  Without sweeps. */
static void open_free(stage *z, int32_t basis)
{
  pd_bfgs_settings set = stage_defaults;
  set.jacobi_iters = 0;
  set.basis = basis;
  stage_open(z, 1, &set);
  memset(z->fixed, 0, sizeof z->fixed);
  th_put(&z->t, z->t.scene.fixed, z->fixed);
  spline_free(&z->s.rows);
  cr_assert_eq(pd_bfgs_basis_make(&z->s), LOOM_OK);
}

/* The largest part of a field that one correction in the span of the basis leaves: 1, 2 and 3 in
 * x, y and z, and `slope` times a function that is affine on the sheet. */
static double left_of_field(int32_t basis, double slope)
{
  static stage z;
  double left = 0.0;
  int at;
  int32_t iters = 0;
  open_free(&z, basis);
  stage_give_matrix(&z);
  z.s.A.H = &z.L;
  cr_assert_eq(pd_bfgs_reduced_make(&z.s, &z.L), LOOM_OK);
  loom_real *const r = calloc(3 * N, sizeof *r);
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j)
      for (int c = 0; c < 3; ++c)
        r[3 * i + c] +=
            (loom_real)(z.H[i][j] * (1.0 + c + slope * (0.3 * (j % SIDE) - 0.2 * c * (j / SIDE))));
  th_put(&z.t, z.s.r, r);
  cr_assert_eq(pd_bfgs_cycle(&z.s, &at, &iters), LOOM_OK);
  loom_real *const u = th_get(&z.t, z.s.u[at]);
  for (int i = 0; i < N; ++i)
    for (int c = 0; c < 3; ++c) {
      const double want = 1.0 + c + slope * (0.3 * (i % SIDE) - 0.2 * c * (i / SIDE));
      left = fmax(left, fabs((double)u[3 * i + c] - want));
    }
  free(r);
  free(u);
  stage_close(&z);
  return left;
}

/* Where the sheet is flat its own plane serves, and functions affine on it are in the span of
 * splines; the factor adds 1e-8 of its diagonal, hence the bound.  Radial functions over their sum
 * hold translations only, and by themselves not even these. */
Test(pd_bfgs_basis, affine_fields_are_in_the_span)
{
  cr_expect_lt(left_of_field(SPLINE_QUADRATIC, 1.0), 1e-6);
  cr_expect_lt(left_of_field(SPLINE_SHEPARD, 0.0), 1e-6);
  cr_expect_gt(left_of_field(SPLINE_SHEPARD, 1.0), 1e-3);
  cr_expect_gt(left_of_field(SPLINE_RADIAL, 0.0), 1e-3);
}

/* The largest part of 1 + slope (0.3 i - 0.2 j) that lies outside the span of the basis, by
 * Gram-Schmidt in two passes; columns that depend on others are left out. */
static double outside_span(int32_t basis, double slope)
{
  static stage z;
  open_free(&z, basis);
  const int cols = z.s.rows.cols;
  double(*const q)[N] = calloc((size_t)cols + 1, sizeof *q); /* the columns; last the function */
  double left = 0.0;
  for (int i = 0; i < N; ++i) {
    for (int64_t k = z.s.rows.ptr[i]; k < z.s.rows.ptr[i + 1]; ++k)
      q[z.s.rows.col[k]][i] = z.s.rows.val[k];
    q[cols][i] = 1.0 + slope * (0.3 * (i % SIDE) - 0.2 * (i / SIDE));
  }
  for (int c = 0; c <= cols; ++c) {
    double before = 0.0, after = 0.0;
    for (int i = 0; i < N; ++i) before += q[c][i] * q[c][i];
    for (int pass = 0; pass < 2; ++pass)
      for (int b = 0; b < c; ++b) {
        double dot = 0.0;
        for (int i = 0; i < N; ++i) dot += q[b][i] * q[c][i];
        for (int i = 0; i < N; ++i) q[c][i] -= dot * q[b][i];
      }
    for (int i = 0; i < N; ++i) after += q[c][i] * q[c][i];
    if (c == cols) break;
    const double scale = after > 1e-16 * before ? 1.0 / sqrt(after) : 0.0;
    for (int i = 0; i < N; ++i) q[c][i] *= scale;
  }
  for (int i = 0; i < N; ++i) left = fmax(left, fabs(q[cols][i]));
  free(q);
  stage_close(&z);
  return left;
}

/* Rest shapes under affine maps, to rounding: the functions are up to 11 in size. */
Test(pd_bfgs_basis, affine_maps_are_reproduced)
{
  cr_expect_lt(outside_span(SPLINE_QUADRATIC, 0.0), 1e-12);
  cr_expect_lt(outside_span(SPLINE_QUADRATIC, 1.0), 1e-12);
  cr_expect_lt(outside_span(SPLINE_SHEPARD, 0.0), 1e-12);
  cr_expect_gt(outside_span(SPLINE_SHEPARD, 1.0), 1e-3);
  cr_expect_gt(outside_span(SPLINE_RADIAL, 0.0), 1e-3);
}

static void expect_basis_refusal(stage *z, const char *part)
{
  cr_expect_eq(pd_bfgs_basis_make(&z->s), LOOM_E_CONFIG);
  cr_expect(strstr(z->t.err.text, part) != NULL, "'%s' is not in: %s", part, z->t.err.text);
}

Test(pd_bfgs_basis, refuses_what_has_no_place_on_a_fabric)
{
  static stage z;
  stage_open_shape(&z, 1, &stage_defaults, 1e-3);
  expect_basis_refusal(&z, "[cloth.sheet] has no material coordinates");
  stage_close(&z);
}

/* The same sheet, with coordinates, in two pieces that share the middle line. */
Test(pd_bfgs_basis, takes_material_coordinates)
{
  static stage z;
  static loom_real uv[3 * 2 * SIDE * SIDE * 2];
  static int32_t piece[2 * SIDE * SIDE];
  static const loom_piece pieces[2] = {{.name = "left", .num_tris = 1},
                                       {.name = "right", .num_tris = 1}};
  stage_open_shape(&z, 1, &stage_defaults, 1e-3);
  int32_t *const tris = th_get(&z.t, z.t.scene.tris);
  for (int t = 0; t < z.t.scene.num_tris; ++t) {
    piece[t] = t / 2 % (SIDE - 1) >= SIDE / 2;
    for (int k = 0; k < 3; ++k) {
      uv[6 * t + 2 * k] = (loom_real)(0.1 * (tris[3 * t + k] % SIDE) + 5.0 * piece[t]);
      uv[6 * t + 2 * k + 1] = (loom_real)(0.08 * (tris[3 * t + k] / SIDE));
    }
  }
  const loom_material material = {.struct_size = sizeof material,
                                  .num_pieces = 2,
                                  .pieces = pieces,
                                  .uv =
                                      th_buf(&z.t, LOOM_REAL, 6 * (int64_t)z.t.scene.num_tris, uv),
                                  .piece = th_buf(&z.t, LOOM_I32, z.t.scene.num_tris, piece)};
  const loom_extension extension = {.name = LOOM_MATERIAL, .table = &material};
  z.t.scene.num_extensions = 1;
  z.t.scene.extensions = &extension;
  cr_assert_eq(pd_bfgs_basis_make(&z.s), LOOM_OK, "%s", z.t.err.text);
  for (int i = 0; i < N; ++i) {
    double sum = 0.0;
    const int64_t used = z.s.rows.ptr[i + 1] - z.s.rows.ptr[i];
    for (int64_t k = z.s.rows.ptr[i]; k < z.s.rows.ptr[i + 1]; ++k) sum += z.s.rows.val[k];
    cr_expect_float_eq(sum, z.fixed[i] ? 0.0 : 1.0, 1e-12);
    if (i % SIDE == SIDE / 2) /* on the seam: the mean of two rows */
      cr_expect_gt(used, 9, "%d: %d", i, (int)used);
    else
      cr_expect_leq(used, 9);
  }
  free(tris);
  stage_close(&z);
}

Test(pd_bfgs_basis, refuses_pieces_without_a_free_vertex)
{
  static stage z;
  stage_open_shape(&z, 1, &stage_defaults, 0.0);
  memset(z.fixed, 1, sizeof z.fixed);
  th_put(&z.t, z.t.scene.fixed, z.fixed);
  expect_basis_refusal(&z, "piece 'sheet' has no vertex that may move");
  stage_close(&z);
}
