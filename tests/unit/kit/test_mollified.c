/* test_mollified.c - kit/pair_mollified_body.kern.h: the semidefinite part of a Hessian that
 * translations do not change, from its 9 x 9 matrix, against that of the whole matrix. */
#include <criterion/criterion.h>
#include <math.h>

#include "kit/pair_energy.kern.h"
#include "support/elem_case.h"

PAIR_DECLARE(test_model)
PAIR_DECLARE_MOLLIFIED(test_model)
LK_FN void test_law(const lk_real *number, lk_real xi, lk_real D, lk_real *b)
{
  b[0] = number[0] * D;
  b[1] = xi;
  b[2] = LK_R(0.0);
}
#define PAIR(name) test_model_##name
#define PAIR_LAW   test_law
#include "kit/pair_energy_body.kern.h"
#include "kit/pair_mollified_body.kern.h"

enum { N = 12 };

/* A random symmetric matrix without the part of translations; `add` on the rest of its diagonal. */
static void fill_invariant_hessian(unsigned k, lk_real add, lk_real H[N * N])
{
  lk_real R[N * N];
  for (int i = 0; i < N; ++i)
    for (int j = 0; j <= i; ++j)
      R[N * i + j] = R[N * j + i] = (lk_real)case_random(k, (unsigned)(N * i + j)) + (i == j) * add;
  for (int side = 0; side < 2; ++side) { /* rows, then columns: less their mean over the vertices */
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < N; ++j) {
        lk_real mean = 0;
        for (int v = 0; v < 4; ++v)
          mean += R[side ? N * i + 3 * v + j % 3 : N * (3 * v + i % 3) + j] / 4;
        H[N * i + j] = R[N * i + j] - mean;
      }
    for (int i = 0; i < N * N; ++i) R[i] = H[i];
  }
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < i; ++j) H[N * j + i] = H[N * i + j];
}

Test(mollified, semidefinite_part)
{
  int changed = 0;
  for (unsigned k = 0; k < 60; ++k) {
    lk_real H[N * N], A[N * N], V[N * N], D[N], before[N * N], size = 0, most = 0;
    const int how = k % 2 ? LOOM_HESS_PSD_CLAMP : LOOM_HESS_PSD_ABS;
    fill_invariant_hessian(k, k % 3 == 0 ? 12 : 0, H);
    for (int i = 0; i < N * N; ++i) {
      A[i] = before[i] = H[i];
      size = LK_FMAX(size, LK_FABS(H[i]));
    }
    lk_sym_psd_rolled(N, (lk_room){A, 1}, (lk_room){V, 1}, (lk_room){D, 1}, how);
    test_model_make_semidefinite((lk_room){H, 1}, how);
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < N; ++j) {
        cr_assert_eq(H[N * i + j], H[N * j + i]);
        most = LK_FMAX(most, LK_FABS(H[N * i + j] - before[N * i + j]));
        /* 8 sweeps of 66 rotations, each of some roundings */
        cr_assert_float_eq(H[N * i + j], A[N * i + j], 100 * LK_EPSILON * size, "%u: %d, %d", k, i,
                           j);
      }
    changed += most > LK_R(0.01) * size;
    if (k % 3 == 0) cr_expect_lt(most, 100 * LK_EPSILON * size, "%u: it was semidefinite", k);
  }
  cr_expect_eq(changed, 40);
}
