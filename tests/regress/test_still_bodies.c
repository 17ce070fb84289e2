/* Boxes of bodies that do not move are kept: the pairs are those of all pairs, before, while and
 * after a body stands still, and the step moves less memory. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/sim.h"

/* A sheet on a fine sphere that moves for 30 ms, stands for 40 ms and moves on. */
#define SHEET                                                                             \
  "[run]\nsteps = 9\ndt = 0.01\n[exec]\nbackend = cpu\nthreads = 1\n[stop]\ntol_rel = "   \
  "1e-2\nmax_iters = 5\n"                                                                 \
  "[cloth.a]\nsize = 0.1 0.1\nresolution = 5 5\nmodel = arap+isometric\nmembrane = 100\n" \
  "k_b = 1e-5\ndensity = 0.2\nthickness = 2 mm\ntransform = translate 0 0 0.106\n"        \
  "[body.ball]\nshape = sphere\nradius = 0.1\nmesh_size = 0.006\nsdf_resolution = 0\n"    \
  "motion = %s\n"                                                                         \
  "[solver]\nplugin = cholmod_newton\n[contact.all]\nplugin = ipc_barrier\npairs = all\n" \
  "collision = self\n[log]\naudit = off\nframes_every = 1\n[collision.self]\nplugin = %s\n"

static void run_sheet(sim *s, const char *plugin, const char *motion)
{
  char text[1024];
  snprintf(text, sizeof text, SHEET, motion, plugin);
  sim_run(s, text, NULL, 0);
}

Test(still_bodies, pairs_are_those_of_bvtt_front)
{
  static const char moves[] = "translate 0.2 0 0.1 0 0.03 translate 0 0.3 -0.1 0.07 0.09";
  sim a, b;
  int64_t most = 0;
  run_sheet(&a, "patch_bvh", moves);
  run_sheet(&b, "bvtt_front", moves);
  h5log_step_row *const p = sim_steps(&a), *const q = sim_steps(&b);
  cr_assert_eq(a.steps, b.steps);
  for (int64_t k = 0; k < a.steps; ++k) {
    const int64_t pairs = p[k].pairs_bvt + p[k].pairs_bee, all = q[k].pairs_bvt + q[k].pairs_bee;
    cr_expect_eq(pairs, all, "step %lld: %lld pairs, bvtt_front %lld", (long long)k,
                 (long long)pairs, (long long)all);
    if (pairs > most) most = pairs;
  }
  cr_expect_gt(most, 5, "%lld pairs", (long long)most);
  for (int64_t i = 0; i < 3 * a.n; ++i)
    cr_assert_eq(a.x[i], b.x[i], "coordinate %lld", (long long)i);
  free(p);
  free(q);
  sim_free(&a);
  sim_free(&b);
}

static double find_bytes_of_detection(const char *motion)
{
  sim s;
  double bytes = 0, detections = 0;
  run_sheet(&s, "patch_bvh", motion);
  h5log_step_row *const p = sim_steps(&s);
  for (int64_t k = 0; k < s.steps; ++k)
    bytes += (double)p[k].n_bytes, detections += (double)p[k].n_detect;
  free(p);
  sim_free(&s);
  return bytes / detections;
}

/* A ball that moves by 1e-10 m in a step makes its boxes anew. */
Test(still_bodies, boxes_are_kept)
{
  const double moving = find_bytes_of_detection("translate 0 0 1e-8 0 1");
  const double still = find_bytes_of_detection("hold");
  printf("%.0f bytes of a detection while the ball moves, %.0f while it stands\n", moving, still);
  cr_expect_lt(still, 0.8 * moving, "%g, %g", still, moving);
}

/* A ball whose motion is none, for a time: it stands wherever the step is on its way. */
Test(still_bodies, boxes_are_kept_on_the_way)
{
  const double moving = find_bytes_of_detection("translate 0 0 1e-8 0 1");
  const double still = find_bytes_of_detection("translate 0 0 0.01 1 2");
  printf("%.0f bytes of a detection while the ball moves, %.0f while it stands\n", moving, still);
  cr_expect_lt(still, 0.8 * moving, "%g, %g", still, moving);
}
