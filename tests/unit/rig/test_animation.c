/* rig/animation: keyframes from files, their interpolation, and their faults. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "geom/pose.h"
#include "rig/animation.h"
#include "support/proc.h"

TestSuite(animation, .init = proc_enter, .fini = proc_leave);

static const double degree = 3.14159265358979323846 / 180;
enum { W = RIG_ROOT + 6 };

static rig create_lower_body(void)
{
  loom_err err = {0};
  rig r;
  cr_assert_eq(rig_make(&err, "lower_body", 0.05, &r), LOOM_OK, "%s", err.text);
  return r;
}

static rig_animation read_valid_animation(const rig *r, const char *text)
{
  loom_err err = {0};
  rig_animation a;
  proc_write("a.txt", text);
  cr_assert_eq(rig_animation_read(&err, "a.txt", r, &a), LOOM_OK, "%s", err.text);
  return a;
}

Test(animation, rows_are_met_and_lines_are_straight_between_them)
{
  rig r = create_lower_body();
  double v[W];
  rig_animation a =
      read_valid_animation(&r, "# comment\ninterpolation linear\n"
                               "columns left_knee root.y right_hip.flexion root.turn_z # names\n"
                               "0 10 0.1 20 0\n\n2 30 0.2 -10 90\n");
  rig_animation_at(&a, 0, v);
  cr_assert_float_eq(v[RIG_ROOT + 2], 10 * degree, 1e-15);
  cr_assert_float_eq(v[1], 0.1, 1e-15);
  rig_animation_at(&a, 0.5, v);
  cr_assert_float_eq(v[RIG_ROOT + 2], 15 * degree, 1e-15);
  cr_assert_float_eq(v[RIG_ROOT + 3], 12.5 * degree, 1e-15);
  cr_assert_float_eq(v[RIG_ROOT + 0], 0, 0);
  rig_animation_at(&a, 7, v); /* the last row holds */
  cr_assert_float_eq(v[RIG_ROOT + 2], 30 * degree, 1e-15);
  double root[12], x[3];
  const double top[3] = {0, 1.9, 0}; /* 1 m above the pelvis' pivot */
  rig_root(&r, v, root);
  pose_apply(root, top, x);
  cr_assert(fabs(x[0] + 1) < 1e-12 && fabs(x[1] - 1.1) < 1e-12, "%g %g", x[0], x[1]);
  rig_animation_free(&a);
  rig_free(&r);
}

/* Cubics are smooth, also where a period ends, and stay within their rows. */
Test(animation, periods_and_cubics)
{
  rig r = create_lower_body();
  double v[W], before[W], after[W];
  rig_animation a =
      read_valid_animation(&r, "period 1\ncolumns left_knee\n0 10\n0.2 40\n0.5 90\n0.8 20\n");
  rig_animation_at(&a, 0.2, v);
  cr_assert_float_eq(v[RIG_ROOT + 2], 40 * degree, 1e-14);
  rig_animation_at(&a, 5.2, before);
  cr_assert_float_eq(v[RIG_ROOT + 2], before[RIG_ROOT + 2], 1e-12);
  for (int k = 0; k < 1000; ++k) {
    const double t = 1.5 + 1e-3 * k, h = 1e-4;
    rig_animation_at(&a, t - h, before);
    rig_animation_at(&a, t, v);
    rig_animation_at(&a, t + h, after);
    const double q = v[RIG_ROOT + 2];
    cr_assert(q >= 10 * degree - 1e-12 && q <= 90 * degree + 1e-12);
    /* no kink: both one-sided differences agree up to the curvature times h */
    cr_assert_lt(fabs(after[RIG_ROOT + 2] - 2 * q + before[RIG_ROOT + 2]), 100 * h * h);
  }
  rig_animation_free(&a);
  rig_free(&r);
}

Test(animation, angles_outside_limits_are_cut_and_noted_once)
{
  rig r = create_lower_body();
  double v[W];
  rig_animation a =
      read_valid_animation(&r, "columns left_knee left_hip.flexion\n0 0 0\n1 -3 0\n2 150 20\n");
  cr_assert(strstr(a.note, "a.txt:3: left_knee.flexion is outside its limits") != NULL, "%s",
            a.note);
  rig_animation_at(&a, 2, v);
  cr_assert_float_eq(v[RIG_ROOT + 2], 2.1, 1e-12);
  rig_animation_free(&a);
  rig_free(&r);
}

Test(animation, bad_files_are_refused)
{
  static const char *const cases[][3] = {
      {"", "a.txt: there is no row", ""},
      {"0 1\n", "a.txt:1", "columns must stand before"},
      {"columns\n", "a.txt:1", "names of angles needed"},
      {"columns left_kne\n0 1\n", "a.txt:1", "did you mean 'left_knee'"},
      {"columns zzz\n0 1\n", "a.txt:1", "no angle 'zzz'; it has root.x, "},
      {"columns zzz\n0 1\n", "a.txt:1", ", left_hip.flexion, "},
      {"columns rot.y\n0 1\n", "a.txt:1", "did you mean 'root.y'"},
      {"columns left_hip\n0 1\n", "has several angles", "left_hip.flexion"},
      {"columns pelvis\n0 1\n", "a.txt:1", "joint pelvis has no angles"},
      {"columns left_knee left_knee.flexion\n", "a.txt:1", "once"},
      {"columns left_knee\n0 1 2\n", "a.txt:2", "a number for every column"},
      {"columns left_knee\n0\n", "a.txt:2", "a number for every column"},
      {"columns left_knee\n0 ten\n", "a.txt:2", "a number for every column"},
      {"columns left_knee\n1 1\n", "a.txt:2", "first row stands at 0"},
      {"columns left_knee\n0 1\n0 2\n", "a.txt:3", "each later one behind it"},
      {"period 1\ncolumns left_knee\n0 1\n1 2\n", "a.txt:4", "before the end of the period"},
      {"period -1\n", "a.txt:1", "above 0"},
      {"interpolation spline\n", "a.txt:1", "cubic or linear"},
      {"speed 3\n", "a.txt:1", "expected period, interpolation, columns"},
  };
  rig r = create_lower_body();
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    loom_err err = {0};
    rig_animation a;
    proc_write("a.txt", cases[k][0]);
    cr_expect_eq(rig_animation_read(&err, "a.txt", &r, &a), LOOM_E_CONFIG, "%s", cases[k][0]);
    for (int i = 1; i < 3; ++i)
      cr_expect(strstr(err.text, cases[k][i]) != NULL, "no '%s' in: %s", cases[k][i], err.text);
    rig_animation_free(&a);
  }
  rig_free(&r);
}

Test(animation, a_pose_in_words)
{
  loom_err err = {0};
  rig r = create_lower_body();
  double q[6] = {0};
  cr_assert_eq(rig_angles_parse(&err, &r, "left_knee 30 right_hip.abduction -10", q), LOOM_OK);
  cr_assert(fabs(q[2] - 30 * degree) < 1e-15 && fabs(q[4] + 10 * degree) < 1e-15);
  static const char *const bad[][2] = {{"left_knee", "a number of degrees"},
                                       {"left_knee 130", "allowed: 0 to 120.3 degrees"},
                                       {"knee 3", "no angle 'knee'"}};
  for (int k = 0; k < 3; ++k) {
    cr_assert_eq(rig_angles_parse(&err, &r, bad[k][0], q), LOOM_E_CONFIG);
    cr_expect(strstr(err.text, bad[k][1]) != NULL, "%s", err.text);
  }
  rig_free(&r);
}

/* The shipped ones fit the body, and end as they begin. */
Test(animation, those_that_come_with_loom)
{
  static const char *const names[] = {"walk", "jog", "squat", "kick"};
  rig r = create_lower_body();
  for (int k = 0; k < 4; ++k) {
    loom_err err = {0};
    rig_animation a;
    char path[1024];
    snprintf(path, sizeof path, "%s/configs/animations/%s.txt", getenv("LOOM_SOURCE_DIR"),
             names[k]);
    cr_assert_eq(rig_animation_read(&err, path, &r, &a), LOOM_OK, "%s", err.text);
    cr_assert_str_eq(a.note, "");
    cr_assert_gt(a.period, 0.5);
    rig_animation_free(&a);
  }
  rig_free(&r);
}
