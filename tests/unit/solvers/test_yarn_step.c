/* yarn_explicit: projections of lengths and glue, damping, and the limit of the step. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geom/tridiag.kern.h"
#include "support/elem_case.h"
#include "yarn.kern.h"

static const int is_float = sizeof(loom_real) == 4;
static const loom_exec one_thread = {.struct_size = sizeof one_thread, .num_threads = 1};

static void run_yarn_kernel(const lk_entry *k, const void *args, int n)
{
  cr_assert_eq(lk_run(k, &one_thread, args, n, NULL), LOOM_OK);
}

/* Against the product with the full matrix. */
Test(yarn_step, tridiagonal_systems_open_and_closed)
{
  enum { N = 9 };
  for (int closed = 0; closed < 2; ++closed) {
    loom_real A[N][N] = {{0}}, lower[N] = {0}, diag[N], upper[N] = {0}, v[N], spare[N], x[N];
    for (int i = 0; i < N; ++i) A[i][i] = diag[i] = (loom_real)(4 + case_random(1, (unsigned)i));
    for (int i = 0; i < N; ++i) {
      const int j = (i + 1) % N;
      if (j == 0 && !closed) break;
      A[i][j] = A[j][i] = upper[i] = lower[j] = (loom_real)case_random(2, (unsigned)i);
    }
    for (int i = 0; i < N; ++i) x[i] = (loom_real)case_random(3, (unsigned)i);
    for (int i = 0; i < N; ++i) {
      v[i] = 0;
      for (int j = 0; j < N; ++j) v[i] += A[i][j] * x[j];
    }
    tridiag_solve(N, closed, lower, diag, upper, v, spare);
    for (int i = 0; i < N; ++i)
      cr_expect_float_eq((double)v[i], (double)x[i], is_float ? 1e-5 : 1e-14);
  }
}

/* A yarn that winds, with all lengths off by some percent. */
enum { N = 40 };
typedef struct yarn {
  int32_t vert[2], seg[2];
  unsigned char closed[1], fixed[N];
  loom_real x[3 * N], len[N], mass[N], work[YARN_EXPLICIT_WORK * N], iters[1], error[1];
} yarn;

static void yarn_make(yarn *y, int closed)
{
  memset(y, 0, sizeof *y);
  y->vert[1] = N;
  y->seg[1] = closed ? N : N - 1;
  y->closed[0] = (unsigned char)closed;
  for (int i = 0; i < N; ++i) {
    const double t = 2 * 3.14159265358979323846 * i / N;
    y->x[3 * i] = (loom_real)(0.03 * cos(t) * (1 + 0.1 * cos(5 * t)));
    y->x[3 * i + 1] = (loom_real)(0.04 * sin(t));
    y->x[3 * i + 2] = (loom_real)(0.01 * sin(3 * t));
    y->mass[i] = (loom_real)(2e-6 * (1.5 + case_random(5, (unsigned)i)));
  }
  for (int j = 0; j < y->seg[1]; ++j) {
    double d2 = 0;
    for (int c = 0; c < 3; ++c)
      d2 += pow((double)(y->x[3 * j + c] - y->x[3 * ((j + 1) % N) + c]), 2);
    y->len[j] = (loom_real)(sqrt(d2) * (1 + 0.05 * case_random(6, (unsigned)j)));
  }
}

static void project_yarn_lengths(yarn *y, double tolerance, int max_iters)
{
  static const lk_entry k = LK_ENTRY(yarn_explicit_length);
  const yarn_explicit_length_args a = {y->vert,   y->seg,   y->closed, y->len,
                                       y->mass,   y->fixed, y->x,      y->work,
                                       y->iters,  y->error, 1,         (loom_real)tolerance,
                                       y->seg[1], max_iters};
  run_yarn_kernel(&k, &a, 1);
}

static double error_of(const yarn *y)
{
  double most = 0;
  for (int j = 0; j < y->seg[1]; ++j) {
    double d2 = 0;
    const int k = (j + 1) % N;
    if (y->fixed[j] && y->fixed[k]) continue;
    for (int c = 0; c < 3; ++c) d2 += pow((double)(y->x[3 * j + c] - y->x[3 * k + c]), 2);
    most = fmax(most, fabs(d2 / pow((double)y->len[j], 2) - 1));
  }
  return most;
}

/* numerics 1.6 Y4: 1e-10 in at most 5 iterations, no shift of the centre of mass. */
Test(yarn_step, lengths_converge_and_keep_the_centre_of_mass)
{
  const double tolerance = is_float ? 1e-5 : 1e-10;
  for (int closed = 0; closed < 2; ++closed) {
    yarn y;
    double before[3] = {0}, after[3] = {0};
    yarn_make(&y, closed);
    for (int i = 0; i < 3 * N; ++i) before[i % 3] += (double)(y.mass[i / 3] * y.x[i]);
    project_yarn_lengths(&y, tolerance, 20);
    for (int i = 0; i < 3 * N; ++i) after[i % 3] += (double)(y.mass[i / 3] * y.x[i]);
    cr_expect(y.iters[0] >= 2 && y.iters[0] <= 5, "%g iterations", (double)y.iters[0]);
    cr_expect(error_of(&y) < 2 * tolerance, "error %g", error_of(&y));
    cr_expect((double)y.error[0] < tolerance);
    for (int c = 0; c < 3; ++c) /* of masses of 1e-4 kg at 0.04 m */
      cr_expect(fabs(after[c] - before[c]) < (is_float ? 1e-11 : 1e-19), "%g",
                after[c] - before[c]);
  }
}

/* Fixed vertices stay; a segment between two of them is left out and stops no iteration. */
Test(yarn_step, lengths_with_fixed_vertices)
{
  for (int closed = 0; closed < 2; ++closed) {
    yarn y;
    yarn_make(&y, closed);
    y.fixed[0] = y.fixed[1] = y.fixed[N - 1] = y.fixed[20] = 1;
    const yarn was = y;
    project_yarn_lengths(&y, is_float ? 1e-5 : 1e-10, 20);
    cr_expect(error_of(&y) < (is_float ? 2e-5 : 2e-10), "error %g", error_of(&y));
    for (int i = 0; i < N; ++i)
      for (int c = 0; c < 3 && y.fixed[i]; ++c) cr_expect_eq(y.x[3 * i + c], was.x[3 * i + c]);
  }
}

Test(yarn_step, glue_keeps_its_distance)
{
  static const lk_entry k = LK_ENTRY(yarn_explicit_glue);
  const int32_t glue[6] = {0, 1, 2, 3, 4, 5};
  const loom_real len[3] = {(loom_real)0.5, 2, 1}, mass[6] = {1, 3, 1, 1, 2, 2};
  const unsigned char fixed[6] = {0, 0, 1, 0, 1, 1};
  loom_real x[18];
  for (int i = 0; i < 18; ++i) x[i] = (loom_real)case_random(8, (unsigned)i);
  loom_real was[18];
  memcpy(was, x, sizeof x);
  const yarn_explicit_glue_args a = {glue, len, mass, fixed, x};
  run_yarn_kernel(&k, &a, 3);
  for (int g = 0; g < 2; ++g) {
    double d2 = 0;
    for (int c = 0; c < 3; ++c) d2 += pow((double)(x[6 * g + c] - x[6 * g + 3 + c]), 2);
    cr_expect_float_eq(sqrt(d2), (double)len[g], is_float ? 1e-6 : 1e-14);
  }
  for (int c = 0; c < 3; ++c) {
    cr_expect_float_eq((double)(x[c] + 3 * x[3 + c]), (double)(was[c] + 3 * was[3 + c]), 1e-6);
    cr_expect_eq(x[6 + c], was[6 + c]); /* fixed */
    cr_expect(x[12 + c] == was[12 + c] && x[15 + c] == was[15 + c]);
  }
}

/* ---- damping ---- */

typedef struct cloud {
  int32_t first[2], verts[N];
  loom_real mass[N], start[3 * N], x[3 * N];
} cloud;

static const double h = 1e-4;

static void cloud_make(cloud *q, double size)
{
  q->first[0] = 0;
  q->first[1] = N;
  for (int i = 0; i < N; ++i) {
    q->verts[i] = i;
    q->mass[i] = (loom_real)(1e-6 * (1.5 + case_random(20, (unsigned)i)));
    for (int c = 0; c < 3; ++c)
      q->start[3 * i + c] = (loom_real)(0.02 * case_random(21, (unsigned)(3 * i + c)));
  }
  for (int i = 0; i < N; ++i) { /* turns, moves, and trembles */
    const loom_real *x = q->start + 3 * i;
    const double v[3] = {0.3 - 8 * (double)x[1], -0.2 + 8 * (double)x[0] - 3 * (double)x[2],
                         -0.6 + 3 * (double)x[1]};
    for (int c = 0; c < 3; ++c)
      q->x[3 * i + c] =
          (loom_real)((double)x[c] + h * (v[c] + size * case_random(22, (unsigned)(3 * i + c))));
  }
}

static void damp_cloud(cloud *q, double mu_prop, double mu_const)
{
  static const lk_entry k = LK_ENTRY(yarn_explicit_damp);
  const yarn_explicit_damp_args a = {
      q->first,           q->verts,           q->mass, q->start, q->x, (loom_real)h,
      (loom_real)mu_prop, (loom_real)mu_const};
  run_yarn_kernel(&k, &a, 1);
}

static void compute_cloud_momenta(const cloud *q, double p[6], double *kinetic)
{
  memset(p, 0, 6 * sizeof *p);
  *kinetic = 0;
  for (int i = 0; i < N; ++i) {
    double v[3];
    const loom_real *x = q->start + 3 * i;
    for (int c = 0; c < 3; ++c) v[c] = (double)(q->x[3 * i + c] - x[c]) / h;
    for (int c = 0; c < 3; ++c) {
      const int a = (c + 1) % 3, b = (c + 2) % 3;
      p[c] += (double)q->mass[i] * v[c];
      p[3 + c] += (double)q->mass[i] * ((double)x[a] * v[b] - (double)x[b] * v[a]);
      *kinetic += 0.5 * (double)q->mass[i] * v[c] * v[c];
    }
  }
}

Test(yarn_step, damping_keeps_both_momenta_and_takes_energy)
{
  cloud q;
  double before[6], after[6], E0, E1, E2, p[6];
  cloud_make(&q, 0.5);
  compute_cloud_momenta(&q, before, &E0);
  damp_cloud(&q, 1500, 5);
  compute_cloud_momenta(&q, after, &E1);
  for (int k = 0; k < 6; ++k)
    cr_expect(fabs(after[k] - before[k]) < (is_float ? 1e-9 : 1e-14), "%d: %g to %g", k, before[k],
              after[k]);
  cr_expect(E1 < E0);
  damp_cloud(&q, 1 / h, 0); /* all of it: the rest is rigid, up to 1e-9 of I, and stays */
  compute_cloud_momenta(&q, after, &E1);
  damp_cloud(&q, 1 / h, 0);
  compute_cloud_momenta(&q, p, &E2);
  cr_expect(fabs(E2 - E1) < (is_float ? 1e-5 : 1e-8) * E1, "%g to %g J", E1, E2);
  for (int k = 0; k < 6; ++k) cr_expect(fabs(after[k] - before[k]) < (is_float ? 1e-9 : 1e-14));
}

/* Slow trembling stops altogether within v/(mu_const) of time. */
Test(yarn_step, constant_damping_brings_to_rest)
{
  if (is_float) cr_skip_test("displacements of 1e-10 m in positions of 0.02 m");
  cloud q;
  double p[6], E, rigid;
  cloud_make(&q, 1e-4); /* below h mu_const = 5e-4 m/s */
  damp_cloud(&q, 0, 5);
  compute_cloud_momenta(&q, p, &E);
  damp_cloud(&q, 1 / h, 0);
  compute_cloud_momenta(&q, p, &rigid);
  cr_expect(fabs(E - rigid) < 1e-8 * E, "%g, rigid %g J", E, rigid);
}
