/* A concave affine body does not push itself: its own surfaces are nearer to each other than the
 * reach of the barrier, and it neither moves nor stretches. */
#define _DEFAULT_SOURCE /* mkstemps */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/sim.h"

enum { CORNERS = 8, CAPS = 6, STEPS = 5 };

/* m, profile in x and z, anticlockwise: two bars of 3 cm with a slot of 2 mm between them */
static const double profile[CORNERS][2] = {{0, 0},        {0.1, 0},     {0.1, 0.03},  {0.02, 0.03},
                                           {0.02, 0.032}, {0.1, 0.032}, {0.1, 0.062}, {0, 0.062}};
static const int cap[CAPS][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 4, 7}, {4, 5, 6}, {4, 6, 7}};

static char path[] = "/tmp/loom_slot_XXXXXX.obj";

/* Corner i has the vertices i + 1, y = 0, and i + 9, y = 5 cm. */
static void write_slotted_block(void)
{
  const int fd = mkstemps(path, 4);
  FILE *const f = fd >= 0 ? fdopen(fd, "w") : NULL;
  cr_assert(f != NULL);
  for (int side = 0; side < 2; ++side)
    for (int i = 0; i < CORNERS; ++i)
      fprintf(f, "v %.17g %.17g %.17g\n", profile[i][0], 0.05 * side, profile[i][1]);
  for (int k = 0; k < CAPS; ++k) {
    fprintf(f, "f %d %d %d\n", cap[k][0] + 1, cap[k][1] + 1, cap[k][2] + 1);
    fprintf(f, "f %d %d %d\n", cap[k][0] + 9, cap[k][2] + 9, cap[k][1] + 9);
  }
  for (int i = 0; i < CORNERS; ++i) {
    const int j = (i + 1) % CORNERS;
    fprintf(f, "f %d %d %d\nf %d %d %d\n", i + 1, j + 9, j + 1, i + 1, i + 9, j + 9);
  }
  fclose(f);
}
static void drop_slotted_block(void) { (void)unlink(path); }

TestSuite(affine_slot, .init = write_slotted_block, .fini = drop_slotted_block);

static void rest_alone(const char *collision)
{
  static const char scene[] =
      "[run]\nsteps = 5\ndt = 0.01\ngravity = 0 0 0\n[exec]\nbackend = cpu\n[stop]\ntol_abs = "
      "1e-13\n"
      "tol_rel = 0\nmax_iters = 20\n[log]\naudit = off\n[solid.block]\nshape = mesh\nfile = %s\n"
      "model = affine\nstiffness = 1e6\nthickness = 0\n[collision.all]\nplugin = "
      "%s\n[contact.all]\n"
      "plugin = ipc_barrier\nd_hat = 4e-3\n[solver]\nplugin = cholmod_newton\n";
  char text[1000];
  double most = 0.0;
  sim s;
  snprintf(text, sizeof text, scene, path, collision);
  sim_run(&s, text, NULL, 0);
  h5log_step_row *const rows = sim_steps(&s);
  cr_expect_eq(s.steps, STEPS);
  for (int64_t k = 0; k < s.steps; ++k) cr_expect_eq(rows[k].contacts, 0, "%s", collision);
  for (int64_t i = 0; i < 3 * s.n; ++i) most = fmax(most, fabs(s.x[i] - s.rest[i]));
  cr_expect(most < 1e-13, "%s: %g m", collision, most);
  free(rows);
  sim_free(&s);
}

Test(affine_slot, surfaces_of_one_body_do_not_push)
{
  static const char *const plugins[] = {"patch_bvh", "brute", "bvtt_front"};
  for (size_t k = 0; k < sizeof plugins / sizeof *plugins; ++k) rest_alone(plugins[k]);
}
