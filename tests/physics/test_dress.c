/* test_dress.c - [dress]: gravity that begins, motions that wait, and a garment of two panels that
 * is sewn around a capsule, comes to rest, and is worn while the capsule moves. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loom/plugin.h"
#include "support/proc.h"
#include "support/sim.h"

#define SHEET                                                                                   \
  "[run]\ndt = 0.01\nsteps = 40\n[exec]\nbackend = cpu\nthreads = 1\n[stop]\ntol_abs = "        \
  "1e-12\ntol_rel = 0\n"                                                                        \
  "[log]\naudit = off\nframes_every = 1\n[cloth.a]\nmodel = arap+isometric\nresolution = 4 4\n" \
  "[solver]\nplugin = cholmod_newton\n"

TestSuite(dress, .init = proc_enter, .fini = proc_leave);

/* v = g (t - from - rise/2), whatever the step length, also where it does not divide the times. */
Test(dress, gravity_begins)
{
  static const char *const steps[] = {"run.dt=0.01", "run.dt=0.013"};
  for (int k = 0; k < 2; ++k) {
    sim s;
    sim_run(&s, SHEET "[dress]\ngravity_from = 0.1\ngravity_rise = 0.17\n",
            (const char *const[]){steps[k], NULL}, 0);
    const double want = -9.81 * (s.time - 0.1 - 0.5 * 0.17);
    printf("%s: %.15g m/s, exact %.15g\n", steps[k], s.v[2], want);
    for (int64_t i = 0; i < s.n; ++i) cr_expect_float_eq(s.v[3 * i + 2], want, 1e-10);
    sim_frame(&s, 7, s.x, s.v, NULL);
    for (int64_t i = 0; i < s.n; ++i) cr_expect_eq(s.v[3 * i + 2], 0.0);
    sim_free(&s);
  }
}

/* Pins and bodies are at motion(t - motion_from); releases count from the start of the run. */
Test(dress, motions_wait)
{
  sim s;
  sim_run(&s,
          SHEET "[pin.p]\nobject = a\nwhere = 0\nmotion = translate 0.5 0 0\n[pin.q]\nobject = a\n"
                "where = 3\nhold_until = 0.2\n[dress]\nmotion_from = 0.15\n",
          NULL, 0);
  for (int64_t t = 0; t < s.frames; ++t) {
    double time;
    sim_frame(&s, t, s.x, s.v, &time);
    cr_expect_float_eq(s.x[0] - s.rest[0], 0.5 * fmax(time - 0.15, 0.0), 1e-12, "%g s", time);
    const double way = fabs(s.x[9] - s.rest[9]) + fabs(s.x[11] - s.rest[11]);
    if (time < 0.2 + 1e-9) cr_expect_eq(way, 0.0, "%g s", time);
    if (time > 0.21 + 1e-9) cr_expect_gt(way, 0.0, "%g s", time);
  }
  sim_free(&s);
}

/* ---- a garment ----
 * Two panels, flat and 5 % too narrow, are sewn to a tube around an upright capsule. */

#define CAPSULE                                                                                 \
  "[body.core]\nshape = capsule\nradius = 0.1\nlength = 0.3\nmesh_size = 0.04\nsdf_resolution " \
  "= 0\nfriction = 0.8\nmotion = translate 0.1 0 0\n"
#define TUBE(thickness)                                                                    \
  "[run]\ndt = 0.01\nsteps = 150\n[exec]\nbackend = cpu\nthreads = 1\n[stop]\ntol_rel = "  \
  "1e-2\n[log]\naudit = "                                                                  \
  "every\n[cloth.tube]\nmodel = arap+isometric\nshape = obj\nfile = tube.obj\nmembrane = " \
  "100\nk_b "                                                                              \
  "= 1e-5\nsewing_time = 0.2\ndamping = 8\nthickness = " thickness "\n" CAPSULE            \
  "[dress]\ngravity_from = 0.25\ngravity_rise = 0.1\n[solver]\nplugin = cholmod_newton\n"  \
  "[collision.self]\nplugin = patch_bvh\n[contact.all]\nplugin = ipc_barrier\n"

enum { ACROSS = 9, UP = 6 };

/* Front at y = -0.16 m and back at y = 0.16 m, 0.3 m wide and 0.2 m high; stitches join their
 * sides. */
static void write_tube(void)
{
  char text[16384];
  size_t used = 0;
  for (int k = 0; k < 2 * ACROSS * UP; ++k)
    used += (size_t)snprintf(text + used, sizeof text - used, "v %g %g %g\n",
                             0.3 * (k % ACROSS) / (ACROSS - 1) - 0.15,
                             k < ACROSS * UP ? -0.16 : 0.16, 0.2 * (k / ACROSS % UP) / (UP - 1));
  for (int k = 0; k < 2 * ACROSS * UP; ++k) {
    const int a = k + 1, b = a + 1, c = a + ACROSS, d = c + 1, back = k >= ACROSS * UP;
    if (k % ACROSS == ACROSS - 1 || k / ACROSS % UP == UP - 1) continue;
    used += (size_t)snprintf(text + used, sizeof text - used, "f %d %d %d\nf %d %d %d\n", a,
                             back ? c : b, back ? b : c, b, back ? c : d, back ? d : c);
  }
  for (int row = 0; row < UP; ++row)
    for (int end = 0; end < 2; ++end) {
      const int v = ACROSS * row + end * (ACROSS - 1), w = v + ACROSS * UP;
      used += (size_t)snprintf(text + used, sizeof text - used, "stitch %d %d %d 0\n", v, w,
                               w + ACROSS * (row < UP - 1 ? 1 : -1));
    }
  proc_write("tube.obj", text);
}

static double mean_place(const sim *s, int axis)
{
  double sum = 0.0;
  for (int64_t i = 0; i < s->n; ++i) sum += s->x[3 * i + axis] / (double)s->n;
  return sum;
}

static int64_t count_crossings(sim *s, double *seam)
{
  h5log_step_row *const rows = sim_steps(s);
  int64_t sum = 0;
  for (int64_t k = 0; k < s->steps; ++k) sum += rows[k].intersections;
  *seam = rows[s->steps - 1].stitch_gap;
  free(rows);
  return sum;
}

/* The first run ends when the tube is at rest; the second one begins there, with thinner cloth, and
 * the capsule moves on by 1 cm. */
Test(dress, a_garment_is_sewn_comes_to_rest_and_is_worn, .timeout = 300)
{
  sim sewn, worn;
  double seam;
  char from[256], motion[64];
  write_tube();
  sim_run(&sewn, TUBE("1 mm"),
          (const char *const[]){"cloth.tube.file=tube.obj", "dress.settle=20 mm/s",
                                "dress.motion_from=9", NULL},
          0);
  cr_expect_eq(count_crossings(&sewn, &seam), 0);
  cr_expect_lt(seam, 1e-3, "%g m", seam);
  cr_expect_gt(sewn.time, 0.35 - 1e-9, "dressing was not over at %g s", sewn.time);
  cr_expect_lt(sewn.steps, 150);
  double fastest = 0.0;
  for (int64_t i = 0; i < 3 * sewn.n; ++i) fastest = fmax(fastest, fabs(sewn.v[i]));
  cr_expect_lt(fastest, 0.02, "%g m/s", fastest);
  const double x = mean_place(&sewn, 0), z = mean_place(&sewn, 2);
  printf("at rest after %g s: seams %.2g m, %.3f m high, %.2g m/s\n", sewn.time, seam, z, fastest);
  cr_expect_lt(fabs(x), 0.01, "%g m", x);
  snprintf(from, sizeof from, "run.start_log=%s", sewn.log);
  snprintf(motion, sizeof motion, "dress.motion_from=%.9g", sewn.time);
  sim_run(&worn, TUBE("0.6 mm"),
          (const char *const[]){"cloth.tube.file=tube.obj", from, motion, "run.steps=10", NULL}, 0);
  cr_expect_eq(count_crossings(&worn, &seam), 0);
  printf("worn: it has moved by %.4f m of 0.01, down by %.4f m\n", mean_place(&worn, 0) - x,
         z - mean_place(&worn, 2));
  cr_expect_float_eq(mean_place(&worn, 0) - x, 0.01, 0.002);
  cr_expect_float_eq(mean_place(&worn, 2), z, 0.01);
  sim_free(&sewn);
  sim_free(&worn);
}

/* Where the dressing is never over, all steps are made. */
Test(dress, an_end_that_does_not_come)
{
  sim s;
  sim_run(&s, SHEET "[dress]\nsettle = 0.01\n", NULL, 0);
  cr_expect_eq(s.steps, 40);
  sim_free(&s);
  sim_run(&s, SHEET "[dress]\nsettle = 0.01\ngravity_from = 0.2\n", NULL, 0);
  cr_expect_eq(s.steps, 20, "%d steps", (int)s.steps); /* at rest until gravity begins */
  sim_free(&s);
}

Test(dress, threads_through_a_body_are_told)
{
  proc p;
  write_tube();
  proc_write("tube.ini", TUBE("1 mm"));
  proc_loom(&p, LOOM_ARGS("check", "tube.ini"));
  cr_expect(p.code == 0 && strstr(p.err, "threads of seams") == NULL, "%s", p.err);
  proc_loom(&p, LOOM_ARGS("check", "tube.ini", "--set", "body.core.position=0.15 0 0"));
  cr_expect(p.code == 0 &&
                strstr(p.err, "6 of 12 threads of seams run through [body.core]") != NULL,
            "%s", p.err);
  /* by its distance */
  proc_write("exact.ini", "include = tube.ini\n[body.core]\nmesh_size = 0\n[collision.bodies]\n"
                          "plugin = sdf\n");
  proc_loom(&p, LOOM_ARGS("check", "exact.ini", "--set", "body.core.position=0.15 0 0"));
  cr_expect(p.code == 0 &&
                strstr(p.err, "6 of 12 threads of seams run through [body.core]") != NULL,
            "%s", p.err);
  LOOM_FINE("describe", "dress");
}
