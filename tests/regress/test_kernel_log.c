/* `[log] kernels = 1`: the launches, on the CPU and, where there is one, on a device; and
 * phase clocks that add up. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/h5read.h"
#include "regress/drape.h"
#include "support/device.h"
#include "support/sim.h"

#define GD DRAPE "[solver]\nplugin = gd\n"

static h5log_kernel_row *read_kernels(sim *s, int64_t *num)
{
  h5read *r = NULL;
  cr_assert_eq(h5read_open(&s->err, s->log, &r), LOOM_OK, "%s", s->err.text);
  *num = h5read_num_rows(r, "kernels");
  h5log_kernel_row *const rows = calloc((size_t)*num + 1, sizeof *rows);
  cr_assert(rows != NULL);
  cr_assert_eq(h5read_kernels(r, &s->err, 0, *num, rows), LOOM_OK, "%s", s->err.text);
  h5read_close(r);
  return rows;
}

Test(kernel_log, has_every_launch_of_a_step)
{
  const char *const sets[] = {"log.kernels=1", "run.steps=8", NULL};
  sim s;
  int64_t num, launches[8] = {0}, reads = 0, directions = 0;
  sim_run(&s, GD, sets, 0);
  h5log_kernel_row *const rows = read_kernels(&s, &num);
  h5log_step_row *const steps = sim_steps(&s);
  cr_assert_gt(num, 0);
  for (int64_t i = 0; i < num; ++i) {
    const h5log_kernel_row *const k = &rows[i];
    cr_assert(k->step >= 0 && k->step < 8);
    cr_assert_gt(k->launches, 0);
    if (k->name[0] == '(') {
      reads += strcmp(k->name, "(read)") == 0 ? k->launches : 0;
      continue;
    }
    launches[k->step] += k->launches;
    cr_expect(k->t >= 0.0 && k->t < 60.0, "%s: %g s", k->name, k->t);
    cr_expect_gt(k->elements, 0, "%s", k->name);
    if (strcmp(k->name, "gd_direction") == 0) {
      ++directions;
      /* the whole sheet of 21 x 21 vertices, its gradient at least */
      cr_expect_eq(k->elements, 441 * k->launches);
      cr_expect_geq(k->bytes, 441 * 3 * (int64_t)sizeof(loom_real) * k->launches);
    }
  }
  /* the core's launches to measure are there, too, and are not the method's work */
  for (int64_t k = 0; k < s.steps; ++k) cr_expect_geq(launches[k], steps[k].n_launch);
  cr_expect_gt(directions, 0);
  cr_expect((reads > 0) == test_on_cuda(), "%lld reads", (long long)reads);
  free(rows);
  free(steps);
  sim_free(&s);
}

Test(kernel_log, is_empty_unless_asked_for)
{
  const char *const sets[] = {"run.steps=1", NULL};
  sim s;
  int64_t num;
  sim_run(&s, GD, sets, 0);
  free(read_kernels(&s, &num));
  cr_expect_eq(num, 0);
  sim_free(&s);
}

Test(kernel_log, phases_add_up_to_the_step)
{
  const char *const sets[] = {"run.steps=8", NULL};
  sim s;
  sim_run(&s, GD, sets, 0);
  h5log_step_row *const steps = sim_steps(&s);
  for (int64_t k = 1; k < s.steps; ++k) {
    const h5log_step_row *const t = &steps[k];
    const double sum = t->t_predict + t->t_detect + t->t_solve + t->t_contact + t->t_filter +
                       t->t_measure + t->t_log;
    cr_expect_gt(t->t_solve, 0.0);
    cr_expect(sum > 0.0 && sum < 1.1 * t->t_total, "step %lld: %g of %g s", (long long)k, sum,
              t->t_total);
  }
  free(steps);
  sim_free(&s);
}
