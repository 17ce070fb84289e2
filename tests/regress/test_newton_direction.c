/* Newton's direction by both orders of elimination of cholmod_newton, from one state of a sheet
 * that falls onto a ball: within 1e-10 of each other.  Steps of a sheet of plates by each matrix of
 * plates: the same solution. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "contract/contract.h"

static double *compute_newton_direction(run *r, instance *in)
{
  double extra[64];
  loom_iterate it = {.struct_size = sizeof it, .inner_res = NAN, .own_res = NAN, .extra = extra};
  const loom_solver_ops *const o = in->plugin->ops.solver;
  cr_assert_eq(o->begin_step(in->self, &r->st), LOOM_OK);
  cr_assert_eq(o->iterate(in->self, &r->st, &it), LOOM_OK);
  cr_assert_eq(results_settle(r), LOOM_OK);
  return ct_values(r, r->st.trial, NULL);
}

static void set_choice(instance *in, const char *key, int32_t value)
{
  const loom_plugin *const d = in->plugin;
  for (uint32_t i = 0; i < d->num_params; ++i)
    if (strcmp(d->params[i].key, key) == 0) {
      memcpy((char *)in->settings + d->params[i].offset, &value, sizeof value);
      return;
    }
  cr_assert_fail("%s has no %s", d->name, key);
}

/* Two backward stable solutions differ by about the condition number times 1e-16.  The steps
 * stop after two iterations, so that there is a gradient left to follow. */
Test(newton_direction, both_orders)
{
  ct_run t = {0};
  instance other;
  double most = 0.0;
  int in_contact = 0;
  const loom_status s = ct_try(&t, "cholmod_newton", "sdf", "penalty",
                               "run.detail=3 cloth.sheet.membrane=1000 stop.max_iters=2 "
                               "solver.ordering=metis");
  cr_assert_eq(s, LOOM_OK, "%s", t.err.text);
  ct_twin(&t.r->solver, &other);
  other.settings = malloc(other.plugin->settings_size);
  memcpy(other.settings, t.r->solver.settings, other.plugin->settings_size);
  set_choice(&other, "ordering", 0); /* amd */
  cr_assert_eq(ct_create(&other), LOOM_OK, "%s", t.err.text);
  for (int64_t k = 0; k < 12; ++k) {
    int64_t active, n;
    double gap, dissipated, far2 = 0.0, len2 = 0.0;
    ct_steps(&t, k, 1);
    cr_assert_eq(measure_contacts(t.r), LOOM_OK);
    measure_sum_contacts(t.r, &active, &gap, &dissipated);
    in_contact += active > 0;
    double *const d = compute_newton_direction(t.r, &t.r->solver), *const e =
                                                                       compute_newton_direction(
                                                                           t.r, &other);
    n = buf_count(t.r->st.trial);
    for (int64_t i = 0; i < n; ++i) {
      far2 += (d[i] - e[i]) * (d[i] - e[i]);
      len2 += d[i] * d[i];
    }
    cr_assert_gt(len2, 0.0);
    most = fmax(most, sqrt(far2 / len2));
    free(d);
    free(e);
  }
  printf("newton_direction: %.3g apart at most, in contact in %d of 12 steps\n", most, in_contact);
  cr_expect_geq(in_contact, 6);
  cr_expect_gt(most, 0.0, "the same bits: was it the same order?");
  cr_expect_lt(most, 1e-10);
  ct_destroy(&other);
  free(other.settings);
  ct_close(&t);
}

/* Positions after 6 steps that were solved to 1e-11 m; *iters: all iterations. */
static double *solve_plates(const char *matrix, int64_t *n, int64_t *iters)
{
  ct_run t = {0};
  char keys[256];
  snprintf(keys, sizeof keys,
           "cloth.sheet.model=stvk+plate cloth.sheet.bending=1e-3 stop.tol_rel=0 stop.tol_acc=1e-8 "
           "stop.max_iters=300 solver.plates=%s",
           matrix);
  cr_assert_eq(ct_try(&t, "cholmod_newton", "sdf", "penalty", keys), LOOM_OK, "%s", t.err.text);
  *iters = 0;
  for (int64_t k = 0; k < 6; ++k) {
    ct_steps(&t, k, 1);
    *iters += t.r->sum.last_iters;
    cr_expect_lt(t.r->sum.last_iters, 300, "%s: step %d did not converge", matrix, (int)k);
  }
  *n = buf_count(t.r->st.x);
  double *const x = ct_values(t.r, t.r->st.x, NULL);
  ct_close(&t);
  return x;
}

Test(newton_direction, every_matrix_of_plates_solves_the_step)
{
  static const char *const matrices[] = {"exact", "narrow", "auto"};
  int64_t iters[3], n;
  double *x[3];
  for (int k = 0; k < 3; ++k) x[k] = solve_plates(matrices[k], &n, &iters[k]);
  for (int k = 1; k < 3; ++k) {
    double far = 0;
    for (int64_t i = 0; i < n; ++i) far = fmax(far, fabs(x[k][i] - x[0][i]));
    printf("plates %s: %.3g m from exact, %d and %d iterations\n", matrices[k], far, (int)iters[k],
           (int)iters[0]);
    cr_expect_lt(far, 1e-8);
    cr_expect_gt(far, 0.0, "the same bits: was it the same matrix?");
  }
  cr_expect_lt(iters[2], iters[1], "auto does not leave the matrix that converges slowly");
  for (int k = 0; k < 3; ++k) free(x[k]);
}
