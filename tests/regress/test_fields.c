/* [log] fields: numbers per vertex, frame by frame, and that they have the documented values. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "log/h5read.h"
#include "regress/drape.h"
#include "support/logdiff.h"
#include "support/proc.h"

TestSuite(fields, .init = proc_enter, .fini = proc_leave);

enum { SIDE = 21, N = SIDE * SIDE };

/* All of a dataset of reals, [dims[0]][dims[1]]([dims[2]]). */
static double *read_real_dataset(h5read *r, const char *path, int64_t dims[4])
{
  loom_err err = {0};
  void *data;
  int rank;
  cr_assert_eq(h5read_dataset(r, &err, path, 1, &data, &rank, dims), LOOM_OK, "%s", err.text);
  return data;
}

static h5read *open_fields_log(const char *path)
{
  loom_err err = {0};
  h5read *r = NULL;
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
  return r;
}

#define ALL_FIELDS "log.fields=gap strain residual contact_force"

Test(fields, are_what_they_say)
{
  int64_t d[4], frames;
  loom_err err = {0};
  proc_write("drape.ini", DRAPE "[solver]\nplugin = cholmod_newton\n");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "12", "-o", "run.h5", "--set", ALL_FIELDS, "--set",
            "body.ball.friction=0", "--set", "stop.tol_abs=1e-10", "--set", "stop.tol_rel=0",
            "--set", "stop.max_iters=100");
  h5read *const r = open_fields_log("run.h5");
  double *const force = read_real_dataset(r, "fields/contact_force", d);
  frames = d[0];
  cr_assert(frames == 13 && d[1] == N && d[2] == 3);
  double *const residual = read_real_dataset(r, "fields/residual", d);
  double *const strain = read_real_dataset(r, "fields/strain", d);
  cr_assert(d[0] == frames && d[1] == N);
  double *const gap = read_real_dataset(r, "fields/gap", d);
  double *const x = read_real_dataset(r, "frames/x", d);
  double *const mass = read_real_dataset(r, "scene/mass", d);
  h5log_step_row steps[12];
  cr_assert_eq(h5read_steps(r, &err, 0, 12, steps), LOOM_OK);
  int pressed = 0;
  for (int f = 0; f < frames; ++f) {
    double sum = 0.0, total = 0.0, outward = 0.0;
    for (int i = 0; i < N; ++i) {
      const double *const F = force + 3 * (f * N + i), *const R = residual + 3 * (f * N + i);
      const double *const p = x + 3 * (f * N + i), g = gap[f * N + i];
      cr_expect_eq(isnan(F[0]), f == 0);
      cr_expect_lt(fabs(strain[f * N + i]), 0.2);
      if (f == 0) continue;
      sum += mass[i] * (R[0] * R[0] + R[1] * R[1] + R[2] * R[2]);
      total += mass[i];
      const double size = sqrt(F[0] * F[0] + F[1] * F[1] + F[2] * F[2]);
      if (size == 0.0) continue;
      ++pressed;
      /* along the normal of the ball at (0, 0, 0.1), outward, where a pair is closed */
      const double q[3] = {p[0], p[1], p[2] - 0.1};
      const double out = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
      outward = (F[0] * q[0] + F[1] * q[1] + F[2] * q[2]) / (size * out);
      cr_expect_gt(outward, 0.999, "frame %d, vertex %d", f, i);
      cr_expect(g < 5e-3, "frame %d, vertex %d: %g m", f, i, g);
    }
    if (f > 0)
      cr_expect_float_eq(sqrt(sum / total), steps[f - 1].r_final, 1e-6 * steps[f - 1].r_final);
  }
  cr_expect_gt(pressed, 10);
  free(force), free(residual), free(strain), free(gap), free(x), free(mass);
  h5read_close(r);
}

/* A sheet between pins that move apart: the stretch follows from them. */
Test(fields, strain_is_the_stretch)
{
  int64_t d[4];
  proc_write("pull.ini",
             "[run]\nsteps = 40\ndt = 0.01\ngravity = 0 0 0\n[exec]\nbackend = cpu\nthreads = 1\n"
             "[cloth.strip]\nmodel = arap+isometric\npattern = regular\nshape = strip\nsize = 1 "
             "0.1\nresolution = 21 3\ndensity = 0.2\n"
             "membrane = 1000\nk_b = 1e-5\ndamping = 20\n[pin.left]\nobject = strip\n"
             "where = left\n[pin.right]\nobject = strip\nwhere = right\n"
             "motion = translate 0.5 0 0 0 0.2\n[solver]\nplugin = pcg_newton\n"
             "[log]\naudit = off\nfields = strain\n");
  LOOM_FINE("run", "pull.ini", "--quiet", "-o", "run.h5");
  h5read *const r = open_fields_log("run.h5");
  double *const strain = read_real_dataset(r, "fields/strain", d);
  cr_assert(d[0] == 41 && d[1] == 63);
  for (int i = 0; i < 63; ++i) {
    cr_expect_lt(fabs(strain[i]), 1e-6, "at rest: %g", strain[i]);
    cr_expect_float_eq(strain[40 * 63 + i], 0.1, 5e-3, "%g", strain[40 * 63 + i]);
  }
  free(strain);
  h5read_close(r);
}

static void same_field(h5read *a, h5read *b, const char *path)
{
  int64_t d[4], e[4];
  double *const u = read_real_dataset(a, path, d), *const v = read_real_dataset(b, path, e);
  cr_assert_eq(d[0], e[0]);
  cr_expect_eq(memcmp(u, v, sizeof *u * (size_t)(d[0] * N)), 0, "%s", path);
  free(u), free(v);
}

Test(fields, go_on_and_change_nothing)
{
  proc_write("drape.ini", DRAPE "[solver]\nplugin = cholmod_pd\n");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "14", "-o", "plain.h5");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "14", "-o", "whole.h5", "--set", ALL_FIELDS);
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "11", "-o", "parts.h5", "--set", ALL_FIELDS);
  proc_expect_error(2, LOOM_TEXTS("parts.h5", "'contact_force'", "[log] fields"),
                    LOOM_ARGS("run", "drape.ini", "-n", "14", "-o", "parts.h5", "--resume"));
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "14", "-o", "parts.h5", "--resume", "--set",
            ALL_FIELDS);
  logs_same_bits("whole.h5", "parts.h5", 11);
  logs_same_bits("whole.h5", "plain.h5", LOGS_UNBROKEN);
  h5read *const a = open_fields_log("whole.h5"), *const b = open_fields_log("parts.h5");
  same_field(a, b, "fields/gap");
  same_field(a, b, "fields/strain");
  same_field(a, b, "fields/residual");
  same_field(a, b, "fields/contact_force");
  h5read_close(a);
  h5read_close(b);
  proc_expect_error(2, LOOM_TEXTS("[log] fields", "'strian'", "nearest is strain"),
                    LOOM_ARGS("run", "drape.ini", "--set", "log.fields=gap strian"));
}
