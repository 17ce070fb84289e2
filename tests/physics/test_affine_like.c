/* Affine bodies against bodies of many stiff tetrahedra, and a ball on a sheet that soft pins
 * hold. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/sim.h"

/* Rows of b that began where row i of a did, or -1 */
static int64_t find_same_place(const sim *a, int64_t i, const sim *b, int64_t from)
{
  for (int64_t j = from; j < b->n; ++j) {
    double d2 = 0.0;
    for (int c = 0; c < 3; ++c) d2 += pow(a->rest[3 * i + c] - b->rest[3 * j + c], 2);
    if (d2 < 1e-18) return j;
  }
  return -1;
}

/* ---- a box on a sheet ---- */

enum { SHEET = 13 * 13 };

/* 5 x 5 x 8 cells of 5 tetrahedra each fall onto the middle of a sheet that is held at its corners.
 * The box stays upright: the masses at the vertices of the tetrahedra have moments of inertia up to
 * 8 % above those of the body. */
static const char box[] =
    "[run]\nsteps = 30\ndt = 0.01\n[exec]\nbackend = cpu\nthreads = 1\n[stop]\ntol_abs = 0\n"
    "tol_rel = 1e-5\nmax_iters = 200\n[log]\naudit = end\n[cloth.sheet]\nmodel = arap+isometric\n"
    "pattern = regular\nshape = grid\nsize = 0.4 0.4\nresolution = 13 13\ndensity = 0.2\n"
    "pins = corners\nmembrane = 200\nk_b = 1e-4\nthickness = 0\n[solid.box]\n"
    "size = 0.08 0.08 0.12\nresolution = 6 6 9\ndensity = 200\nthickness = 0\n"
    "transform = translate 0 0 0.075 rotate 0 0 1 25\n[collision.all]\nplugin = patch_bvh\n"
    "[contact.all]\nplugin = ipc_barrier\n[solver]\nplugin = cholmod_newton\n";

static void drop_box(sim *s, const char *model, const char *stiffness, const char *density)
{
  char sets[3][64];
  snprintf(sets[0], sizeof sets[0], "solid.box.model=%s", model);
  snprintf(sets[1], sizeof sets[1], "solid.box.stiffness=%s", stiffness);
  snprintf(sets[2], sizeof sets[2], "solid.box.density=%s", density);
  sim_run(s, box, (const char *const[]){sets[0], sets[1], sets[2], NULL}, 0);
  h5log_step_row *const rows = sim_steps(s);
  double nearest = INFINITY;
  for (int64_t k = 0; k < s->steps; ++k) nearest = fmin(nearest, rows[k].min_gap);
  cr_expect_eq(rows[s->steps - 1].intersections, 0);
  cr_expect(nearest < 1e-3, "the box does not touch the sheet");
  free(rows);
}

/* Largest distance of the box from `many` over its largest way. */
static double compare_box(const char *density, const sim *many)
{
  double off = 0.0, way = 0.0;
  int64_t compared = 0;
  sim one;
  drop_box(&one, "affine", "8e8", density);
  for (int64_t i = SHEET; i < one.n; ++i) {
    const int64_t j = find_same_place(&one, i, many, SHEET);
    double d = 0.0, m = 0.0;
    if (j < 0) continue; /* a control point */
    for (int c = 0; c < 3; ++c) {
      d = hypot(d, one.x[3 * i + c] - many->x[3 * j + c]);
      m = hypot(m, one.x[3 * i + c] - one.rest[3 * i + c]);
    }
    off = fmax(off, d);
    way = fmax(way, m);
    ++compared;
  }
  printf("a box of one and of 1,000 tetrahedra, %s kg/m^3: %.3g m apart after a way of %.3g m\n",
         density, off, way);
  cr_expect(compared > 200, "%lld", (long long)compared);
  sim_free(&one);
  return off / way;
}

Test(affine_like, box_moves_as_a_thousand_stiff_tetrahedra)
{
  sim many;
  drop_box(&many, "arap", "1e7", "200");
  const double right = compare_box("200", &many), heavier = compare_box("210", &many);
  cr_expect(right < 0.01 && heavier > 0.01, "%g, with 5 %% more density %g", right, heavier);
  sim_free(&many);
}

/* ---- a ball on a sheet with soft pins ---- */

/* By implicit Euler p' - p = h (weight + sum of k (target - x')) in each step, with all contact
 * forces between ball and sheet gone from the sum. */
Test(affine_like, pins_and_weight_change_the_momentum)
{
  static const char scene[] =
      "[run]\nsteps = 15\ndt = 0.01\n[exec]\nbackend = cpu\nthreads = 1\n[stop]\ntol_abs = 1e-12\n"
      "tol_rel = 0\nmax_iters = 200\n[log]\naudit = end\nframes_every = 1\n[cloth.sheet]\n"
      "model = arap+isometric\npattern = regular\nshape = grid\nsize = 0.2 0.2\n"
      "resolution = 9 9\ndensity = 0.2\npins = 0 8 72 80\npin_stiffness = 300\nmembrane = 100\n"
      "k_b = 1e-4\nthickness = 0\n[solid.ball]\nshape = sphere\nradius = 0.03\nmodel = affine\n"
      "stiffness = 8e8\ndensity = 200\nthickness = 0\n"
      "transform = translate 0.103 0.101 0.033\n[collision.all]\nplugin = patch_bvh\n"
      "[contact.all]\nplugin = ipc_barrier\n[solver]\nplugin = cholmod_newton\n";
  static const int pins[] = {0, 8, 72, 80};
  double before[3] = {0, 0, 0}, worst = 0.0, most = 0.0, touched = 0.0, weight = 0.0;
  sim s;
  sim_run(&s, scene, NULL, 0);
  h5log_step_row *const rows = sim_steps(&s);
  double *const x = calloc(3 * (size_t)s.n, sizeof *x);
  cr_assert(x != NULL && s.frames == s.steps + 1);
  for (int64_t k = 0; k < s.steps; ++k) {
    const double p[3] = {rows[k].p_x, rows[k].p_y, rows[k].p_z};
    double force[3] = {0, 0, 0};
    sim_frame(&s, k + 1, x, NULL, NULL);
    for (size_t i = 0; i < 4; ++i)
      for (int c = 0; c < 3; ++c) force[c] += 300 * (s.rest[3 * pins[i] + c] - x[3 * pins[i] + c]);
    most = fmax(most, fabs(force[2]));
    touched = fmax(touched, rows[k].min_gap < 1e-3);
    for (int c = 0; c < 2; ++c) worst = fmax(worst, fabs(p[c] - before[c] - 0.01 * force[c]));
    const double now = (p[2] - before[2]) / 0.01 - force[2]; /* minus the weight, in every step */
    if (k > 0) worst = fmax(worst, 0.01 * fabs(now - weight));
    weight = now;
    memcpy(before, p, sizeof before);
  }
  printf("soft pins: the balance of momentum is off by %.2g N s, pins pull with up to %.3g N, the "
         "weight is %.3g N\n",
         worst, most, -weight);
  cr_expect(touched > 0 && most > 0.1 && weight < -0.2);
  cr_expect(worst < 1e-10 * most * 0.01 * 15, "%g N s", worst);
  free(rows);
  free(x);
  sim_free(&s);
}
