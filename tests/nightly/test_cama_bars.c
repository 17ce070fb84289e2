/* Bars of the scenes of Tang et al. 2016 (experiments/cama), shortened, and that they fall short
 * with the parts that hold them switched off: no step of Dryer ends with intersections, unless
 * impacts are off; and Sphere takes less than one round of impacts a step, unless the forces are
 * off. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "log/h5read.h"
#include "support/proc.h"

TestSuite(cama_bars, .init = proc_enter, .fini = proc_leave);

enum { MOST = 256 };

static int run_scene(proc *p, const char *scene, const char *steps, const char *set,
                     const char *more)
{
  char config[512];
  const char *const source = getenv("LOOM_SOURCE_DIR");
  cr_assert(source != NULL);
  snprintf(config, sizeof config, "%s/configs/cama_%s.ini", source, scene);
  proc_loom(p, LOOM_ARGS("run", config, "--quiet", "--overwrite", "-o", "a.h5", "-n", steps,
                         "--set", "exec.threads=1", "--set", set, "--set", more));
  return p->code;
}

/* Mean number of rounds of impacts per step. */
static double mean_impact_rounds(void)
{
  loom_err err = {0};
  h5read *r = NULL;
  double v[MOST], sum = 0.0;
  cr_assert_eq(h5read_open(&err, "a.h5", &r), LOOM_OK, "%s", err.text);
  const int64_t steps = h5read_num_steps(r);
  cr_assert(steps > 0 && steps <= MOST);
  cr_assert_eq(h5read_column(r, &err, "steps_extra", "contact.impacts.rounds", 'R', 0, steps, v),
               LOOM_OK, "%s", err.text);
  for (int64_t i = 0; i < steps; ++i) sum += v[i];
  h5read_close(r);
  return sum / (double)steps;
}

Test(cama_bars, impacts_keep_the_dryer_free_of_intersections)
{
  proc p;
  cr_expect_eq(run_scene(&p, "dryer", "100", "run.seed=0", "run.seed=0"), 0, "%s", p.err);
  cr_expect_eq(run_scene(&p, "dryer", "100", "contact.impacts.plugin=none", "filter.bound=none"), 3,
               "without impacts no triangles intersect either: %s", p.err);
}

Test(cama_bars, forces_leave_few_impacts_to_the_sphere)
{
  proc p;
  cr_assert_eq(run_scene(&p, "sphere", "200", "run.seed=0", "run.seed=0"), 0, "%s", p.err);
  const double with = mean_impact_rounds();
  cr_expect_lt(with, 1.0, "%g rounds a step", with);
  cr_assert_eq(run_scene(&p, "sphere", "200", "contact.all.stiffness=0", "run.seed=0"), 0, "%s",
               p.err);
  const double without = mean_impact_rounds();
  cr_expect_gt(without, 1.0, "without forces %g rounds a step", without);
}
