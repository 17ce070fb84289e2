/* test_pair_energy.c - kit/pair_energy.h with a number of its own for each pair, and the counter
 * that tells when candidates are other pairs. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "support/barrier_case.h"
#include "unit/kit/each_model.kern.h"

static const double reach = 4e-3; /* m */

typedef struct stage {
  bc_fixture f; /* the scene */
  candidates c;
  pair_kernels k;
  pair_energy p;
  loom_buf *grad, *x;
} stage;

static void open_pair_stage(stage *z)
{
  const pair_kernels k = PAIR_KERNELS(each_model);
  bc_open(&z->f, "ipc_barrier", 1, 1, 0.0, 0.0, "stiffness=100 d_hat=0.004");
  test_host *const t = &z->f.t;
  z->k = k;
  z->c = (candidates){0};
  cr_assert_eq(cand_new(&z->c, &t->host, &t->scene, &t->exec, reach, 1e-3, 1e-3), LOOM_OK, "%s",
               t->err.text);
  z->c.kinds = CAND_KINDS;
  z->p = (pair_energy){.c = &z->c, .k = &z->k, .number = {1e6, reach * reach}};
  z->grad = th_buf(t, LOOM_REAL, N3, NULL);
  z->x = t->step.x;
  cr_assert_eq(cand_begin_step(&z->c), LOOM_OK);
}

static double energy_of_pairs(stage *z, double *grad)
{
  double e = 0.0;
  test_host *const t = &z->f.t;
  loom_real zero[N3] = {0};
  th_put(t, z->grad, zero);
  cr_assert_eq(cand_activate(&z->c, &t->step, z->x, t->step.progress), LOOM_OK, "%s", t->err.text);
  cr_assert_eq(pair_eval(&z->p, &t->step, z->x, &e, z->grad), LOOM_OK, "%s", t->err.text);
  loom_real *const g = th_get(t, z->grad);
  for (int i = 0; i < N3; ++i) grad[i] = (double)g[i];
  free(g);
  return e;
}

Test(pair_energy, each_pair_has_a_number)
{
  stage z;
  double g1[N3], g3[N3], g[N3], least, size = 0.0;
  open_pair_stage(&z);
  test_host *const t = &z.f.t;
  const double e1 = energy_of_pairs(&z, g1);
  cr_assert_gt(e1, 0.0);
  cr_assert_gt(z.c.act.num, 10);
  loom_real *const each = malloc((size_t)z.c.m * sizeof *each);
  for (int64_t j = 0; j < z.c.m; ++j) each[j] = 3;
  z.p.each = th_buf(t, LOOM_REAL, z.c.m, each);
  const double e3 = energy_of_pairs(&z, g3);
  cr_expect_float_eq(e3, 3.0 * e1, 1e-14 * e3);
  for (int i = 0; i < N3; ++i) size = fmax(size, fabs(g3[i]));
  cr_assert_gt(size, 0.0);
  for (int i = 0; i < N3; ++i) cr_expect_float_eq(g3[i], 3.0 * g1[i], 1e-14 * size);
  /* of one pair alone */
  double sum = 0.0;
  for (int64_t k = 0; k < z.c.m; ++k) {
    for (int64_t j = 0; j < z.c.m; ++j) each[j] = j == k;
    th_put(t, z.p.each, each);
    sum += energy_of_pairs(&z, g);
  }
  cr_expect_float_eq(sum, e1, 1e-12 * e1);
  cr_assert_eq(cand_least_gap_now(&z.c, &least), LOOM_OK);
  free(each);
  bc_close(&z.f);
}

Test(pair_energy, generation_tells_of_other_candidates)
{
  stage z;
  double g[N3];
  open_pair_stage(&z);
  test_host *const t = &z.f.t;
  (void)energy_of_pairs(&z, g);
  const int64_t first = z.c.generation;
  loom_real *const x = th_get(t, z.x);
  for (int i = 0; i < N3; ++i) x[i] += (loom_real)2e-4; /* within half of the slack */
  th_put(t, z.x, x);
  (void)energy_of_pairs(&z, g);
  cr_expect_eq(z.c.generation, first);
  for (int i = 0; i < N3; ++i) x[i] += (loom_real)(i % 3 == 0 ? 1e-3 : 0.0);
  th_put(t, z.x, x);
  (void)energy_of_pairs(&z, g);
  cr_expect_gt(z.c.generation, first);
  free(x);
  bc_close(&z.f);
}
