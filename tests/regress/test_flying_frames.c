/* Candidates of patch_bvh are sought in frames that move with the patches: a sheet that flies 10 of
 * its edges in a step has as many as one that stands, 18,360, and 5.8 million by boxes in the
 * world. Pairs of patches meet in the world first, and grow from 11,000 to 80,000. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/sim.h"

#define FLIGHT                                                                             \
  "[run]\nsteps = 3\ndt = 0.01\ngravity = 0 0 0\n[exec]\nbackend = cpu\nthreads = 1\n"     \
  "[stop]\ntol_rel = 1e-2\nmax_iters = 3\n[cloth.a]\nsize = 0.3 0.3\nresolution = 31 31\n" \
  "model = arap+isometric\nmembrane = 100\nk_b = 1e-5\ndensity = 0.2\nthickness = 1 mm\n"  \
  "velocity = %g %g 0\n[solver]\nplugin = cholmod_newton\n[contact.all]\n"                 \
  "plugin = ipc_barrier\n[collision.self]\nplugin = patch_bvh\n[log]\naudit = off\n"

/* MB that a detection moves, of a sheet with this velocity, m/s, in its plane. */
static double find_megabytes(double x, double y)
{
  char text[1024];
  sim s;
  double bytes = 0, detections = 0;
  snprintf(text, sizeof text, FLIGHT, x, y);
  sim_run(&s, text, NULL, 0);
  h5log_step_row *const rows = sim_steps(&s);
  for (int64_t k = 0; k < s.steps; ++k) {
    bytes += (double)rows[k].n_bytes;
    detections += (double)rows[k].n_detect;
  }
  cr_assert(detections > 0);
  free(rows);
  sim_free(&s);
  printf("%g %g m/s: %g MB in %g detections\n", x, y, 1e-6 * bytes, detections);
  return 1e-6 * bytes / detections;
}

/* 3.9 times; 24 times by boxes in the world */
Test(flying_frames, candidates_of_a_flight_are_those_of_rest)
{
  const double rest = find_megabytes(0.0, 0.0), flight = find_megabytes(8.0, 6.0);
  cr_expect_lt(flight, 5 * rest, "%g MB at rest, %g MB in flight", rest, flight);
}
