/* Folds that last: the angle of a hinge of two triangles after it was bent and let go. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "support/proc.h"
#include "support/sim.h"

TestSuite(fold, .init = proc_enter, .fini = proc_leave);

static const double pi = 3.14159265358979323846;

#define HINGE                                                                                      \
  "[run]\nsteps = 400\ndt = 0.01\ngravity = 0 0 0\n[exec]\nbackend = cpu\n[stop]\ntol_abs = "      \
  "1e-13\ntol_rel = 0\nmax_iters = 100\n[log]\naudit = off\nframes_every = 1\n[solver]\nplugin = " \
  "cholmod_newton\n[cloth.a]\nshape = obj\nfile = hinge.obj\ndensity = 0.1\nmembrane = 100\n"      \
  "fold_stiffness = 1e-3\nfold_yield = 5\nmodel = arap+fold\ndamping = 4\n"                        \
  "[pin.base]\nobject = a\nwhere = 0 1 2\n"                                                        \
  "[pin.flap]\nobject = a\nwhere = 3\nhold_until = 1\n"

/* The triangles (0, 1, 2) and (1, 0, 3) on the edge from (0, 0, 0) to (0.1, 0, 0). */
static void write_hinge(void)
{
  proc_write("hinge.obj", "v 0 0 0\nv 0.1 0 0\nv 0.05 0.08 0\nv 0.05 -0.08 0\nf 1 2 3\nf 2 1 4\n");
}

/* rad, at x [4][3] */
static double find_angle(const double *x) { return atan2(-x[3 * 3 + 2], -x[3 * 3 + 1]); }

static double fold_by(const char *degrees_per_s, const char *hardening, double *most)
{
  char motion[96], harder[64], file[PROC_NAME + 32], dir[PROC_NAME];
  double x[12], time, angle;
  sim s;
  write_hinge();
  cr_assert(getcwd(dir, sizeof dir) != NULL);
  snprintf(file, sizeof file, "cloth.a.file=%s/hinge.obj", dir);
  snprintf(motion, sizeof motion, "pin.flap.motion=rotate 1 0 0 0 0 0 %s 0 1", degrees_per_s);
  snprintf(harder, sizeof harder, "cloth.a.fold_hardening=%s", hardening);
  sim_run(&s, HINGE, (const char *const[]){file, motion, harder, "run.steps=600", NULL}, 0);
  *most = 0;
  for (int64_t t = 0; t < s.frames; ++t) {
    sim_frame(&s, t, x, NULL, &time);
    if (fabs(find_angle(x)) > fabs(*most)) *most = find_angle(x);
  }
  angle = find_angle(s.x);
  sim_free(&s);
  return angle;
}

/* theta0 = (T - y)/(1 + H): y = kappa 2a/l, a = 2 x 0.004 m^2, l = 0.1 m. */
Test(fold, angle_after_unloading)
{
  const double yield = 5 * 2 * 0.008 / 0.1; /* 0.8 rad */
  static const struct {
    const char *rate, *hardening;
    double angle, H;
  } all[] = {
      {"120", "0", 120, 0}, {"-120", "0", -120, 0}, {"120", "0.5", 120, 0.5}, {"40", "0", 40, 0}};
  for (int k = 0; k < 4; ++k) {
    double most;
    const double got = fold_by(all[k].rate, all[k].hardening, &most), T = all[k].angle * pi / 180;
    const double law = copysign(fmax(fabs(T) - yield, 0) / (1 + all[k].H), T);
    printf("bent by %.6f rad, %.9f stays, law %.9f\n", most, got, law);
    cr_expect_float_eq(most, T, 1e-9, "%.12g", most);
    cr_expect_float_eq(got, law, 1e-6, "%s deg, H %s: %.9g rad, not %.9g", all[k].rate,
                       all[k].hardening, got, law);
  }
}

Test(fold, resumes_replays_and_refuses)
{
  write_hinge();
  proc_write("scene.ini", HINGE "motion = rotate 1 0 0 0 0 0 120 0 1\n");
  proc_write("a.ini", "include = scene.ini\n[run]\nsteps = 120\n[log]\ncheckpoint_every = 5\n");
  LOOM_FINE("run", "a.ini", "--quiet", "-o", "whole.h5");
  LOOM_FINE("run", "a.ini", "--quiet", "-o", "parts.h5", "-n", "92");
  LOOM_FINE("run", "a.ini", "--quiet", "-o", "parts.h5", "--resume=89");
  LOOM_FINE("compare", "whole.h5", "parts.h5", "--tol", "0");
  LOOM_FINE("run", "a.ini", "--quiet", "-o", "again.h5", "--set", "run.replay=whole.h5");
  LOOM_FINE("compare", "whole.h5", "again.h5", "--tol", "0");
  proc_write("b.ini", "[run]\nsteps = 1\n[solver]\nplugin = gd\n[cloth.a]\nmodel = arap+shell\n"
                      "fold_yield = 5\n");
  proc_expect_error(2, LOOM_TEXTS("[cloth.a] fold_yield", "no effect", "fold in model"),
                    LOOM_ARGS("check", "b.ini"));
}
