/* Budgets of a step, and the clocks of each iteration. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/proc.h"
#include "support/sim.h"

TestSuite(budgets, .init = proc_enter, .fini = proc_leave);

/* A sheet that falls on a floor, with a solver of many iterations. */
static const char scene[] =
    "[run]\nsteps = 8\ndt = 0.01\n[exec]\nbackend = cpu\n[solver]\nplugin = gd\n"
    "[log]\naudit = off\n[stop]\ntol_acc = 0\ntol_rel = 0\nmax_iters = 60\n"
    "[collision.self]\nplugin = patch_bvh\n[contact.self]\nplugin = repulsion\npairs = self\n"
    "[collision.body]\nplugin = sdf\n[contact.body]\nplugin = penalty\n"
    "[cloth.a]\nmodel = arap+isometric\npattern = regular\nsize = 0.2\nresolution = 13\ntransform "
    "= translate 0 0 0.002\nthickness = 1 mm\n"
    "[body.floor]\nshape = plane\n";

/* A budget of bytes ends every step after the same iteration, for any number of threads. */
Test(budgets, bytes_end_a_step_at_the_same_iteration)
{
  static const char *const sets[][3] = {{"stop.byte_budget=20000000", "exec.threads=1", NULL},
                                        {"stop.byte_budget=20000000", "exec.threads=2", NULL}};
  int64_t iters[2][8];
  for (int k = 0; k < 2; ++k) {
    sim s;
    sim_run(&s, scene, sets[k], 0);
    h5log_step_row *const row = sim_steps(&s);
    for (int64_t i = 0; i < s.steps; ++i) {
      cr_expect_eq(row[i].reason, H5LOG_byte_budget, "step %lld: %d", (long long)i, row[i].reason);
      cr_expect(row[i].n_bytes >= 20000000 && row[i].iters < 60 && row[i].iters > 1,
                "%lld bytes, %lld iterations", (long long)row[i].n_bytes, (long long)row[i].iters);
      iters[k][i] = row[i].iters;
    }
    free(row);
    sim_free(&s);
  }
  cr_expect_arr_eq(iters[0], iters[1], sizeof iters[0]);
}

/* A budget of time ends steps, too, and the run says that another run ends them elsewhere. */
Test(budgets, time_ends_a_step_and_is_told)
{
  static const char *const budgets[] = {"stop.time_budget_ms=0.001", "stop.cpu_budget_ms=0.001"};
  proc_write("a.ini", scene);
  for (size_t k = 0; k < sizeof budgets / sizeof *budgets; ++k) {
    proc p;
    proc_loom(&p, LOOM_ARGS("run", "a.ini", "-o", "a.h5", "--overwrite", "--set", budgets[k]));
    cr_expect_eq(p.code, 0, "%s", p.err);
    cr_expect(strstr(p.err, "8 of 8 steps ended by a budget of time") != NULL, "%s", p.err);
    proc_loom(&p, LOOM_ARGS("info", "a.h5"));
    cr_expect(strstr(p.out, "8 of 8 steps ended by a budget of time") != NULL, "%s", p.out);
  }
  proc p;
  proc_loom(&p, LOOM_ARGS("run", "a.ini", "-o", "b.h5", "--set", "stop.byte_budget=20000000"));
  cr_expect(strstr(p.err, "budget of time") == NULL, "%s", p.err);
}

typedef struct clocks {
  double total, phases, cpu_total, cpu_phases; /* s, without measuring */
  double measure, cpu_measure, detect, contact;
} clocks;

static clocks clocks_of_row(const h5log_iter_row *r)
{
  return (clocks){.total = r->t_total,
                  .phases = r->t_detect + r->t_solve + r->t_contact + r->t_filter,
                  .cpu_total = r->t_cpu,
                  .cpu_phases =
                      r->t_cpu_detect + r->t_cpu_solve + r->t_cpu_contact + r->t_cpu_filter,
                  .measure = r->t_measure,
                  .cpu_measure = r->t_cpu_measure,
                  .detect = r->t_detect,
                  .contact = r->t_contact};
}

/* Phases of an iteration grow from row to row and fill its total: all but the prediction, and the
 * run's own time between them. */
Test(budgets, every_iteration_has_the_clocks_of_its_phases)
{
  sim s;
  double shares = 0.0;
  sim_run(&s, scene, NULL, 0);
  h5log_iter_row *const row = sim_iters(&s);
  h5log_step_row *const step = sim_steps(&s);
  for (int64_t i = 0; i < s.iters; ++i) {
    const clocks now = clocks_of_row(&row[i]);
    const h5log_step_row *const whole = &step[row[i].step];
    cr_expect(now.phases <= now.total * (1 + 1e-9) && now.cpu_phases <= now.cpu_total * (1 + 1e-9));
    cr_expect(now.detect > 0.0 && now.contact > 0.0 && now.measure > 0.0, "row %lld", (long long)i);
    cr_expect(row[i].t_detect <= whole->t_detect && row[i].t_cpu_solve <= whole->t_cpu_solve);
    if (i > 0 && row[i].step == row[i - 1].step) {
      const clocks before = clocks_of_row(&row[i - 1]);
      cr_expect(now.phases > before.phases && now.detect >= before.detect &&
                now.measure > before.measure && now.cpu_measure >= before.cpu_measure);
    }
    if (i + 1 == s.iters) shares = now.phases / now.total;
  }
  cr_expect(shares > 0.5, "%g of the time has a phase", shares);
  free(step);
  free(row);
  sim_free(&s);
}
