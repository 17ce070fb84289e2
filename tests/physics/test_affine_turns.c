/* Affine bodies that a tie or contact turns within a step: projective solvers with the change of
 * rotations in their global step, and conjugate gradients with a block for each body. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/sim.h"

enum { STEPS = 20 };

/* A bar hangs by one end from a thread and begins to swing: gravity turns it by 0.05 in a step. */
static const char pendulum[] =
    "[run]\nsteps = 20\ndt = 0.01\n[exec]\nbackend = cpu\n[stop]\ntol_abs = 1e-9\ntol_rel = 0\n"
    "max_iters = 10\n[log]\naudit = off\n[cloth.hook]\nmodel = arap+isometric\npattern = regular\n"
    "shape = grid\nsize = 0.02 0.02\nresolution = 3 3\npins = 0 1 2 3 4 5 6 7 8\n[solid.bar]\n"
    "size = 0.2 0.04 0.03\nresolution = 3 2 2\ndensity = 500\nmodel = affine\n"
    "transform = translate 0.1 0 -0.02\n[attach.thread]\nobject = hook\nwhere = 4\nto = bar\n"
    "stiffness = 2000\nwithin = 0.04\n[solver]\nplugin = cholmod_newton\n";

static double find_largest_distance(const sim *a, const sim *b)
{
  double worst = 0.0;
  cr_assert_eq(a->n, b->n);
  for (int64_t i = 0; i < 3 * a->n; ++i) worst = fmax(worst, fabs(a->x[i] - b->x[i]));
  return worst;
}

/* Steps that a run ended at the limit of iterations; *most: iterations of its longest step. */
static int count_capped(sim *s, int64_t *most)
{
  int capped = 0;
  h5log_step_row *const rows = sim_steps(s);
  *most = 0;
  for (int64_t k = 0; k < s->steps; ++k) {
    capped += rows[k].reason == H5LOG_max_iters;
    *most = rows[k].iters > *most ? rows[k].iters : *most;
  }
  free(rows);
  return capped;
}

/* ---- a pendulum ---- */

/* With the exact rotation at most 10 iterations a step and 1 um from Newton's method, for every
 * stiffness; the projective step is short of both from 1e7 on. */
static void swing_bar(const char *solver, const char *rotation, double w, int exact)
{
  char sets[3][64];
  int64_t most;
  sim newton, s;
  snprintf(sets[0], sizeof sets[0], "solid.bar.stiffness=%g", w);
  snprintf(sets[1], sizeof sets[1], "solver.plugin=%s", solver);
  snprintf(sets[2], sizeof sets[2], "solver.rotation=%s", rotation);
  sim_run(&newton, pendulum, (const char *const[]){sets[0], NULL}, 0);
  cr_assert_eq(count_capped(&newton, &most), 0);
  sim_run(&s, pendulum, (const char *const[]){sets[0], sets[1], sets[2], NULL}, 0);
  const int capped = count_capped(&s, &most);
  const double off = find_largest_distance(&s, &newton);
  printf("%s, rotation = %s, w = %g N/m^2: %lld iterations in the longest step, %d capped, %.2g m "
         "from Newton's method\n",
         solver, rotation, w, (long long)most, capped, off);
  if (exact)
    cr_expect(capped == 0 && off < 1e-6, "%s at %g: %d steps capped, %g m", solver, w, capped, off);
  else
    cr_expect(capped == STEPS && off > 1e-3, "%s, plain, at %g: %d steps capped, %g m", solver, w,
              capped, off);
  sim_free(&s);
  sim_free(&newton);
}

Test(affine_turns, pendulum_in_ten_iterations)
{
  static const double w[] = {1e5, 1e6, 1e7, 1e8, 8e8};
  for (size_t k = 0; k < sizeof w / sizeof *w; ++k) {
    swing_bar("cholmod_pd", "auto", w[k], 1);
    swing_bar("aa_pd", "exact", w[k], 1);
    swing_bar("ndb_pd", "exact", w[k], 1);
    swing_bar("chebyshev_pd", "exact", w[k], 1);
    swing_bar("pd_explicit", "auto", w[k], 1);
  }
  swing_bar("cholmod_pd", "plain", 1e7, 0);
  swing_bar("cholmod_pd", "plain", 8e8, 0);
  swing_bar("ndb_pd", "plain", 1e7, 0);
  swing_bar("ndb_pd", "plain", 8e8, 0);
  swing_bar("chebyshev_pd", "plain", 1e7, 0);
  swing_bar("chebyshev_pd", "plain", 8e8, 0);
  swing_bar("pd_explicit", "plain", 8e8, 0);
}

/* Two bars, one below the other: their rows are coupled by the thread between them.  The Jacobi
 * steps of chebyshev_pd take some hundred iterations for the cloth of 1 mg on it, and bodies follow
 * them. */
Test(affine_turns, double_pendulum_in_ten_iterations)
{
  static const char more[] = "[solid.second]\nsize = 0.15 0.03 0.03\nresolution = 3 2 2\n"
                             "density = 300\nmodel = affine\nstiffness = 8e8\n"
                             "transform = translate 0.27 0 -0.055\n[cloth.tag]\n"
                             "model = arap+isometric\npattern = regular\nshape = grid\n"
                             "size = 0.01 0.01\nresolution = 3 3\nmembrane = 1e-6\nk_b = 1e-15\n"
                             "transform = translate 0.2 0 -0.037\n[attach.up]\nobject = tag\n"
                             "where = 4\nto = bar\nstiffness = 2000\nwithin = 0.04\n"
                             "[attach.down]\nobject = tag\nwhere = 4\nto = second\n"
                             "stiffness = 2000\nwithin = 0.04\n";
  char text[2000];
  int64_t most;
  sim newton, s;
  snprintf(text, sizeof text, "%s%s", pendulum, more);
  sim_run(&newton, text, (const char *const[]){"solid.bar.stiffness=8e8", NULL}, 0);
  cr_assert_eq(count_capped(&newton, &most), 0);
  sim_run(&s, text,
          (const char *const[]){"solid.bar.stiffness=8e8", "solver.plugin=cholmod_pd", NULL}, 0);
  const int capped = count_capped(&s, &most);
  const double off = find_largest_distance(&s, &newton);
  printf("two bars, cholmod_pd: %lld iterations in the longest step, %.2g m from Newton's method\n",
         (long long)most, off);
  cr_expect(capped == 0 && off < 1e-6, "%d steps capped, %g m", capped, off);
  sim_free(&s);
  sim_run(&s, text,
          (const char *const[]){"solid.bar.stiffness=8e8", "solver.plugin=chebyshev_pd",
                                "stop.max_iters=1000", NULL},
          0);
  const int limited = count_capped(&s, &most);
  const double jacobi = find_largest_distance(&s, &newton);
  printf("two bars, chebyshev_pd: %lld iterations in the longest step, %.2g m\n", (long long)most,
         jacobi);
  cr_expect(limited == 0 && jacobi < 1e-6, "%d steps capped, %g m", limited, jacobi);
  sim_free(&s);
  sim_free(&newton);
}

/* A bar hangs on a cloth by stiff threads.  Bodies of chebyshev_pd are solved at the Jacobi step of
 * the cloth; solved beside it, bodies and cloth drive each other out of all bounds. */
Test(affine_turns, cloth_carries_a_body)
{
  static const char scene[] =
      "[run]\nsteps = 4\ndt = 0.01\n[exec]\nbackend = cpu\n[stop]\ntol_abs = 1e-8\ntol_rel = 0\n"
      "max_iters = 600\n[log]\naudit = off\n[cloth.flag]\nmodel = arap+isometric\npattern = "
      "regular\n"
      "shape = grid\nsize = 0.2 0.2\nresolution = 9 9\ndensity = 0.2\nmembrane = 100\nk_b = 1e-5\n"
      "pins = bottom\n[solid.bar]\nsize = 0.2 0.04 0.03\nresolution = 3 2 2\ndensity = 500\n"
      "model = affine\nstiffness = 8e8\ntransform = translate 0 0.115 -0.02\n[attach.thread]\n"
      "object = flag\nwhere = top\nto = bar\nstiffness = 20000\nwithin = 0.04\n[solver]\n"
      "plugin = cholmod_newton\n";
  int64_t most;
  sim newton, s;
  sim_run(&newton, scene, NULL, 0);
  sim_run(&s, scene, (const char *const[]){"solver.plugin=chebyshev_pd", NULL}, 0);
  const int capped = count_capped(&s, &most);
  const double off = find_largest_distance(&s, &newton);
  printf("a bar on a cloth, chebyshev_pd: %lld iterations in the longest step, %.2g m\n",
         (long long)most, off);
  cr_expect(capped == 0 && off < 1e-6, "%d steps capped, %g m", capped, off);
  sim_free(&s);
  sim_free(&newton);
}

/* ---- conjugate gradients ---- */

/* The bar's block is the whole matrix of its unknowns: each linear solve takes one iteration.  By
 * blocks of 3 rows it takes up to 22. */
Test(affine_turns, block_of_a_body_is_its_matrix)
{
  static const double w[] = {1e6, 8e8};
  for (size_t k = 0; k < sizeof w / sizeof *w; ++k) {
    char set[64];
    int64_t inner = 0, most = 0, capped;
    sim s;
    snprintf(set, sizeof set, "solid.bar.stiffness=%g", w[k]);
    sim_run(&s, pendulum,
            (const char *const[]){"solver.plugin=pcg_newton", "solver.forcing=fixed",
                                  "solver.tolerance=1e-6", set, NULL},
            0);
    h5log_iter_row *const rows = sim_iters(&s);
    for (int64_t i = 0; i < s.iters; ++i) {
      inner += rows[i].inner_iters;
      most = rows[i].inner_iters > most ? rows[i].inner_iters : most;
    }
    free(rows);
    cr_expect_eq(count_capped(&s, &capped), 0);
    printf("pcg_newton, w = %g N/m^2: %lld linear iterations, at most %lld in a solve\n", w[k],
           (long long)inner, (long long)most);
    cr_expect(inner > STEPS && most <= 2, "%lld, %lld", (long long)inner, (long long)most);
    sim_free(&s);
  }
}

/* ---- contact ---- */

/* A bar flies into the border of a free sheet, which turns it. */
static const char hit[] =
    "[run]\nsteps = 8\ndt = 0.01\ngravity = 0 0 0\n[exec]\nbackend = cpu\nthreads = "
    "1\n[stop]\ntol_abs = 0\n"
    "tol_rel = 1e-6\nmax_iters = 200\n[log]\naudit = every\n[cloth.sheet]\n"
    "model = arap+isometric\npattern = regular\nshape = grid\nsize = 0.24 0.24\nresolution = 9 9\n"
    "density = 0.2\ntransform = translate 0.083 0.001 -0.055\nmembrane = 100\nk_b = 1e-4\n"
    "thickness = 0\n[solid.bar]\nsize = 0.2 0.05 0.04\nresolution = 5 3 3\ndensity = 200\n"
    "model = affine\nstiffness = 8e8\nvelocity = 0.1 0 -1\nthickness = 0\n"
    "transform = rotate 1 2 3 10\n[collision.all]\nplugin = patch_bvh\n[contact.all]\n"
    "plugin = dbb\n[solver]\nplugin = aa_pd\n";

/* *s: to be freed; returns the steps at the limit. */
static int hit_sheet_with_bar(sim *s, const char *solver, const char *rotation)
{
  char sets[2][64];
  int64_t most, found = 0;
  snprintf(sets[0], sizeof sets[0], "solver.plugin=%s", solver);
  snprintf(sets[1], sizeof sets[1], "solver.rotation=%s", rotation);
  sim_run(s, hit, (const char *const[]){sets[0], sets[1], NULL}, 0);
  h5log_step_row *const rows = sim_steps(s);
  for (int64_t k = 0; k < s->steps; ++k) found += rows[k].intersections;
  free(rows);
  const int capped = count_capped(s, &most);
  printf("a bar hits a sheet, %s, rotation = %s: %d of %lld steps at the limit\n", solver, rotation,
         capped, (long long)s->steps);
  cr_expect_eq(found, 0);
  return capped;
}

/* chebyshev_pd ends at the limit either way, but only with the exact rotation the bar turns. */
Test(affine_turns, contact_that_turns_a_body_converges)
{
  sim ends, plain, of[2];
  const int exact = hit_sheet_with_bar(&ends, "aa_pd", "exact");
  const int capped = hit_sheet_with_bar(&plain, "aa_pd", "plain");
  cr_expect(exact <= 2 && capped >= 6, "%d, %d steps at the limit", exact, capped);
  (void)hit_sheet_with_bar(&of[0], "chebyshev_pd", "exact");
  (void)hit_sheet_with_bar(&of[1], "chebyshev_pd", "plain");
  const double off[2] = {find_largest_distance(&of[0], &ends),
                         find_largest_distance(&of[1], &ends)};
  printf("chebyshev_pd: %.2g m from aa_pd, %.2g m with rotation = plain\n", off[0], off[1]);
  cr_expect(10 * off[0] < off[1] && off[1] > 1e-2, "%g m, %g m", off[0], off[1]);
  sim *const all[] = {&ends, &plain, &of[0], &of[1]};
  for (size_t k = 0; k < sizeof all / sizeof *all; ++k) sim_free(all[k]);
}
