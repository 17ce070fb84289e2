/* test_ridges.c - a stiff block slides without friction on a flat mesh under tilted gravity.  Where
 * its edges lie over no edges of the mesh the acceleration is that on a plane.  Where they do, two
 * edges above each other repel sideways as soon as they are off by a hair: inner edges of the flat
 * mesh act as ridges.  The bounds of this error are in framework/doc/scenes.md. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/sim.h"

enum { FLOOR = 441, NODES = 4, STEPS = 6 };
static const double along = 3.3553; /* m/s^2, of gravity at 20 degrees */

static const char scene[] =
    "[run]\nsteps = 6\ndt = 0.01\ngravity = 3.3553 0 -9.2184\n[exec]\nbackend = cpu\n"
    "threads = 1\n[stop]\ntol_abs = 1e-10\ntol_rel = 0\nmax_iters = 300\n"
    "[log]\naudit = off\nframes_every = 1\n"
    "[cloth.floor]\nmodel = arap+isometric\npattern = regular\nshape = grid\nsize = 1 1\n"
    "resolution = 21 21\nthickness = 0\npins = box -1 -1 -1 1 1 1\n"
    "[solid.block]\nsize = 0.1 0.1 0.1\nresolution = 3 3 3\ndensity = 500\nmodel = affine\n"
    "stiffness = 1e8\nthickness = 0\ntransform = translate 0.013 0.007 0.0508\n"
    "[solver]\nplugin = cholmod_newton\n[collision.all]\nplugin = patch_bvh\n";

/* Accelerations of the block's centre: a [STEPS][3]. */
static void slide_block(const char *contact, const char *place, double a[STEPS][3])
{
  char set[3][80];
  double last[3] = {0, 0, 0};
  sim s;
  snprintf(set[0], sizeof set[0], "contact.all.plugin=%s", contact);
  snprintf(set[1], sizeof set[1], "solid.block.transform=translate %s 0.0508", place);
  snprintf(set[2], sizeof set[2], "contact.all.d_hat=0.001");
  sim_run(&s, scene, (const char *const[]){set[0], set[1], set[2], NULL}, 0);
  double *const v = calloc(3 * (size_t)s.n, sizeof *v);
  cr_assert(v != NULL && s.frames == STEPS + 1 && s.n >= FLOOR + NODES);
  for (int k = 0; k < STEPS; ++k) {
    sim_frame(&s, k + 1, NULL, v, NULL);
    for (int c = 0; c < 3; ++c) {
      double mean = 0.0;
      for (int i = FLOOR; i < FLOOR + NODES; ++i) mean += v[3 * i + c] / NODES;
      a[k][c] = (mean - last[c]) / 0.01;
      last[c] = mean;
    }
  }
  free(v);
  sim_free(&s);
}

typedef struct worst {
  double along, across, late; /* shares of the exact one, m/s^2, share from the fourth step on */
} worst;

static worst measure_ridges(const char *contact, const char *place)
{
  double a[STEPS][3];
  worst w = {0, 0, 0};
  slide_block(contact, place, a);
  for (int k = 0; k < STEPS; ++k) {
    const double off = fabs(a[k][0] / along - 1);
    w.along = fmax(w.along, off);
    w.across = fmax(w.across, fabs(a[k][1]));
    if (k >= 3) w.late = fmax(w.late, off);
  }
  printf("%s at %s: %.4f of the acceleration off, %.4f after 3 steps, %.4f m/s^2 across\n", contact,
         place, w.along, w.late, w.across);
  return w;
}

typedef struct row {
  const char *contact;
  double along, across; /* bounds with edges over edges */
} row;
static const row rows[] = {
    {"ipc_barrier", 0.35, 1.6}, {"dbb", 0.43, 1.9}, {"cubic_barrier", 0.002, 0.4}};

Test(ridges, off_the_lines_a_mesh_is_a_plane)
{
  for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k) {
    const worst w = measure_ridges(rows[k].contact, "0.013 0.007");
    cr_expect(w.along < 1.5e-3 && w.across < 2e-3, "%s: %g, %g m/s^2", rows[k].contact, w.along,
              w.across);
  }
}

Test(ridges, edges_over_edges_repel_for_two_steps)
{
  for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k) {
    const worst w = measure_ridges(rows[k].contact, "0 0");
    cr_expect(w.along < rows[k].along && w.across < rows[k].across, "%s: %g, %g m/s^2",
              rows[k].contact, w.along, w.across);
    cr_expect(w.across > 0.1, "%s: the edges do not meet, %g m/s^2", rows[k].contact, w.across);
    cr_expect(w.late < 3e-3, "%s: %g after three steps", rows[k].contact, w.late);
  }
}
