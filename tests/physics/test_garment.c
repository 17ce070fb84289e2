/* A T-shirt from its shipped pattern is sewn around a torso and stays on it: no intersection, seams
 * closed, sleeves on the arms.  Unsewn it falls. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/day.h"
#include "support/proc.h"
#include "support/sim.h"

TestSuite(garment, .init = proc_enter, .fini = proc_leave);

/* The shipped scene and method, on coarse triangles. */
static void run_shirt_sewing(sim *s, const char *sewing)
{
  const char *const sets[] = {"cloth.shirt.edge_length=0.05", sewing, NULL};
  char text[1024];
  const char *const dir = getenv("LOOM_SOURCE_DIR");
  snprintf(text, sizeof text,
           "include = %s/configs/scenes/tshirt.ini\ninclude = %s/configs/methods/barrier.ini\n"
           "[run]\nsteps = 40\ndt = 0.01\n[exec]\nbackend = cpu\n",
           dir, dir);
  sim_run(s, text, sets, 0);
}

static double lowest_garment_height(const sim *s)
{
  double low = INFINITY;
  for (int v = 0; v < s->n; ++v) low = fmin(low, s->x[3 * v + 1]);
  return low;
}

Test(garment, a_t_shirt_is_sewn_and_worn)
{
  sim worn, loose;
  run_shirt_sewing(&worn, "cloth.shirt.sewing=auto");
  run_shirt_sewing(&loose, "cloth.shirt.sewing=none");
  h5log_step_row *const rows = sim_steps(&worn);
  const double gap = rows[worn.steps - 1].stitch_gap;
  int64_t crossed = 0;
  for (int64_t k = 0; k < worn.steps; ++k) crossed += rows[k].intersections;
  printf("a T-shirt of %lld vertices after %.2g s: seams open by %.3g m, hem at %.3g m, unsewn at "
         "%.3g m\n",
         (long long)worn.n, 0.01 * (double)worn.steps, gap, lowest_garment_height(&worn),
         lowest_garment_height(&loose));
  cr_assert_eq(crossed, 0);
  cr_assert(gap < 1e-3, "%g m", gap);
  cr_assert(lowest_garment_height(&worn) > 0.6, "%g m", lowest_garment_height(&worn));
  cr_assert(lowest_garment_height(&loose) < 0.3, "%g m",
            lowest_garment_height(&loose)); /* the control */
  free(rows);
  sim_free(&worn), sim_free(&loose);
}

/* A shipped garment on coarse triangles, on the lower body that begins to walk when it is sewn:
 * shipped scenes sew for longer, as finer triangles need it. */
static void run_garment_walk(sim *s, const char *garment, const char *solver, const char *set)
{
  char text[2048];
  const char *const dir = getenv("LOOM_SOURCE_DIR");
  snprintf(text, sizeof text,
           "include = %s/configs/scenes/%s.ini\ninclude = %s/configs/methods/ndb.ini\n"
           "[run]\nsteps = 34\ndt = 0.01\n[exec]\nbackend = cpu\n[solver]\nplugin = %s\n"
           "[cloth.%s]\nmodel = arap+isometric\nedge_length = 0.06\nsewing_time = "
           "0.12\n[body.man]\nedge_length = 0.04\n"
           "animation = walk\nanimation_start = 0.2\nanimation_ease = 0.2\n"
           "[stop]\nmax_iters = 30\n",
           dir, garment, dir, solver, garment);
  sim_run(s, text, (const char *const[]){set, NULL}, 0);
}

static double highest_garment_height(const sim *s)
{
  double high = -INFINITY;
  for (int v = 0; v < s->n; ++v) high = fmax(high, s->x[3 * v + 1]);
  return high;
}

/* They are worn by a body that walks: no triangles cross, the waist stays where waists are, and
 * legs of trousers do not part.  Unsewn they fall. */
Test(garment, trousers_and_a_skirt_walk)
{
  test_of_the_night();
  static const char *const cases[][2] = {{"trousers", "ndb_pd"}, {"skirt", "cholmod_pd"}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    sim s;
    run_garment_walk(&s, cases[k][0], cases[k][1], NULL);
    h5log_step_row *const rows = sim_steps(&s);
    int64_t crossed = 0;
    for (int64_t j = 0; j < s.steps; ++j) crossed += rows[j].intersections;
    const double gap = rows[s.steps - 1].stitch_gap;
    printf("%s with %s: %lld vertices from %.3g to %.3g m, %lld iterations, seams open by %.2g m\n",
           cases[k][0], cases[k][1], (long long)s.n, lowest_garment_height(&s),
           highest_garment_height(&s), (long long)s.iters, gap);
    cr_assert_eq(crossed, 0);
    cr_assert(highest_garment_height(&s) > 0.93 && highest_garment_height(&s) < 1.1, "%g m",
              highest_garment_height(&s));
    cr_assert_lt(gap, 0.01);
    free(rows);
    sim_free(&s);
  }
  sim loose;
  run_garment_walk(&loose, "skirt", "ndb_pd", "cloth.skirt.sewing=none");
  cr_assert_lt(highest_garment_height(&loose), 0.85, "%g m",
               highest_garment_height(&loose)); /* the control */
  sim_free(&loose);
}

/* Every solver that takes cloth draws the seams together, in a few steps on coarse triangles. */
Test(garment, every_solver_sews)
{
  test_of_the_night();
  static const struct {
    const char *solver, *method;
    int max_iters;
  } cases[] = {
      {"gd", "barrier", 100},        {"cholmod_pd", "ndb", 60},
      {"cholmod_pd", "dbb", 60},     {"cholmod_newton", "barrier", 60},
      {"pcg_newton", "barrier", 60}, {"ndb_pd", "ndb", 60},
      {"pd_bfgs", "pd_bfgs", 60},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    sim s;
    char text[2048];
    const char *const dir = getenv("LOOM_SOURCE_DIR");
    snprintf(
        text, sizeof text,
        "include = %s/configs/scenes/tshirt.ini\ninclude = %s/configs/methods/%s.ini\n"
        "[run]\nsteps = 6\ndt = 0.01\n[cloth.shirt]\nmodel = arap+isometric\nedge_length = 0.08\n"
        "sewing_time = 0.05\n[exec]\nbackend = cpu\n[solver]\nplugin = %s\n"
        "[stop]\nmax_iters = %d\n",
        dir, dir, cases[k].method, cases[k].solver, cases[k].max_iters);
    sim_run(&s, text, NULL, 0);
    h5log_step_row *const rows = sim_steps(&s);
    const double first = rows[0].stitch_gap, last = rows[s.steps - 1].stitch_gap;
    int64_t crossed = 0;
    for (int64_t j = 0; j < s.steps; ++j) crossed += rows[j].intersections;
    printf("%s with %s: %lld iterations, seams open by %.3g m, then %.3g m\n", cases[k].solver,
           cases[k].method, (long long)s.iters, first, last);
    cr_assert_eq(crossed, 0);
    /* the projective solvers end their steps capped */
    cr_assert(last < 0.5 * first, "%s: %g m of %g m", cases[k].solver, last, first);
    free(rows);
    sim_free(&s);
  }
}
