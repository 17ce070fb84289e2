/* pd_bfgs_stage.c - see pd_bfgs_stage.h. */
#include "pd_bfgs_stage.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "support/grid_matrix.h"

const pd_bfgs_settings stage_defaults = {
    .spacing = 4.0, .bfgs_iters = 2, .history = 20, .jacobi_iters = 5, .cycles = 1};

static void bfgs_stage_tic(const loom_host *host, const char *section)
{
  (void)host, (void)section;
}

void stage_give_matrix(stage *z)
{
  grid_matrix(SIDE, z->fixed, &z->H[0][0]);
  z->L = grid_csr(&z->t, N, &z->H[0][0]);
}

/* Pairs of vertices pushed along a direction, k (d, -d)(d, -d)': rank one, far apart in the sheet.
 */
void stage_give_contact(stage *z, double weight)
{
  static int64_t ptr[N + 1];
  static int32_t col[N * 8];
  static loom_real val[N * 8 * 9];
  uint64_t seed = 3;
  memset(z->B, 0, sizeof z->B);
  for (int p = 0; p < 30; ++p) {
    const int a = 25 + 7 * p, b = N - 1 - 5 * p;
    double d[3];
    for (int c = 0; c < 3; ++c) d[c] = th_random(&seed);
    for (int c = 0; c < 3; ++c)
      for (int e = 0; e < 3; ++e) {
        const double v = weight * d[c] * d[e];
        if (!z->fixed[a]) z->B[3 * a + c][3 * a + e] += v;
        if (!z->fixed[b]) z->B[3 * b + c][3 * b + e] += v;
        if (z->fixed[a] || z->fixed[b]) continue;
        z->B[3 * a + c][3 * b + e] -= v;
        z->B[3 * b + c][3 * a + e] -= v;
      }
  }
  int64_t m = 0;
  for (int i = 0; i < N; ++i) {
    ptr[i] = m;
    for (int j = 0; j < N; ++j) {
      double any = i == j;
      for (int k = 0; k < 9; ++k) any += fabs(z->B[3 * i + k / 3][3 * j + k % 3]);
      if (any == 0.0) continue;
      col[m] = j;
      for (int k = 0; k < 9; ++k) val[9 * m + k] = (loom_real)z->B[3 * i + k / 3][3 * j + k % 3];
      if (z->fixed[i] && i == j) /* as the core gives them */
        for (int k = 0; k < 9; ++k) val[9 * m + k] = k % 4 == 0;
      ++m;
    }
  }
  ptr[N] = m;
  z->contact = (loom_bsr3){.struct_size = sizeof z->contact,
                           .num_rows = N,
                           .num_blocks = m,
                           .row_ptr = th_buf(&z->t, LOOM_I64, N + 1, ptr),
                           .col = th_buf(&z->t, LOOM_I32, m, col),
                           .val = th_buf(&z->t, LOOM_REAL, 9 * m, val)};
  z->s.A.B = &z->contact;
}

static void give_shape(stage *z, double bulge)
{
  static loom_real x[3 * N];
  static const char *const names[] = {"sheet"};
  for (int i = 0; i < N; ++i) {
    x[3 * i] = (loom_real)(0.1 * (i % SIDE));
    x[3 * i + 1] = (loom_real)(0.08 * (i / SIDE));
    x[3 * i + 2] = (loom_real)(bulge * (i % SIDE) * (i / SIDE));
  }
  th_scene(&z->t, N, x, NULL, NULL, 0);
  th_put(&z->t, z->t.scene.fixed, z->fixed);
  grid_triangles(&z->t, SIDE);
  z->t.scene.object_names = names;
}

void stage_open_shape(stage *z, int threads, const pd_bfgs_settings *set, double bulge)
{
  uint64_t seed = 7;
  memset(z, 0, sizeof *z);
  th_open(&z->t, threads, 1);
  z->t.host.tic = z->t.host.toc = bfgs_stage_tic;
  for (int i = 0; i < N; ++i) {
    z->fixed[i] = i == 0 || i == SIDE - 1;
    for (int c = 0; c < 3; ++c) z->g[i][c] = z->fixed[i] ? 0.0 : th_random(&seed);
  }
  give_shape(z, bulge);
  z->s = (pd_bfgs){.host = &z->t.host, .sc = &z->t.scene, .e = &z->t.exec, .n = N, .set = *set};
  cr_assert_eq(pd_bfgs_sweep_new(&z->s), LOOM_OK);
  cr_assert_eq(pd_bfgs_reduced_new(&z->s), LOOM_OK);
  cr_assert_eq(bfgs_new(&z->s.bfgs, z->s.host, z->s.e, (int32_t)set->history), LOOM_OK);
  cr_assert_eq(sparse_basis_new(&z->s.basis, z->s.host, z->s.e), LOOM_OK);
}

void stage_open(stage *z, int threads, const pd_bfgs_settings *set)
{
  stage_open_shape(z, threads, set, 0.0);
  stage_give_matrix(z);
  cr_assert_eq(pd_bfgs_basis_make(&z->s), LOOM_OK, "%s", z->t.err.text);
  z->s.A.H = &z->L;
  cr_assert_eq(pd_bfgs_reduced_make(&z->s, &z->L), LOOM_OK, "%s", z->t.err.text);
  cr_assert_gt(z->s.basis.cols, 20);
}

void stage_close(stage *z)
{
  pd_bfgs_reduced_free(&z->s);
  spline_free(&z->s.rows);
  th_close(&z->t);
}
