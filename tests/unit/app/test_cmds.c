/* test_cmds.c - info, verify and compare on generated logs: numbers, files, codes. */
#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/log_tools.h"
#include "support/command.h"
#include "support/tiny_log.h"

/* Sanitizers look for leaks only in processes that end normally: no child here. */
static void disable_command_guard(void) { setenv("LOOM_NO_GUARD", "1", 1); }

TestSuite(cmds, .init = disable_command_guard);

/* ---- info ---- */
Test(cmds, info)
{
  const char *const path = tiny_path(0, "a.h5");
  const tiny_options o = {0};
  command_log(path, &o, 6);
  const command_result p = command_call(cmd_info, command_line("info %s", path, ""));
  cr_assert_eq(p.code, EXIT_FINE);
  cr_assert_str_empty(p.err);
  command_has(p.out, "a.h5: finished\n");
  command_has(p.out, "6 steps, 7 frames, 24 rows of iterations, 36 of inner");
  command_has(p.out, "converged_rel 4 max_iters 2\n");
  command_has(p.out, "iterations  18, 3.0 per step");
  command_has(p.out, "measuring and logging take 20.00%"); /* (0.5 + 0.1) of 3 ms */
  command_has(p.out, "smallest gap 0.001 m in step 0");
  command_has(p.out, "plugin      gd solver 1.0");
  command_has(p.out,
              "sections    solver/factor            0.006 s in 18 calls, 33.3%; 0.012 s of ");
  command_has(p.out,
              "            solver/solve             0.012 s in 24 calls, 66.7%; 0.024 s of ");
  const command_result c = command_call(cmd_info, command_line("info --config %s", path, ""));
  cr_assert_str_eq(c.out, "[run]\nsteps = 3\n");
}

Test(cmds, info_json)
{
  const char *const path = tiny_path(0, "a.h5");
  const tiny_options o = {0};
  command_log(path, &o, 6);
  const command_result p = command_call(cmd_info, command_line("info %s --json", path, ""));
  cr_assert_eq(p.code, EXIT_FINE);
  command_has(p.out, "\"status\": \"finished\"");
  command_has(p.out, "\"config\": \"[run]\\u000asteps = 3\\u000a\"");
  command_has(p.out, "\"reasons\": {\"converged_abs\": 0, \"converged_rel\": 4, \"max_iters\": 2,");
  command_has(p.out, "\"iterations\": 18,");
  command_has(p.out, "\"min_gap\": 0.001,");
  command_has(p.out, "{\"name\": \"solver/solve\", \"calls\": 24, \"t_wall\": 0.012, ");
  int depth = 0; /* braces balance, the text ends with the last one */
  for (const char *s = p.out; *s != '\0'; ++s) depth += *s == '{' ? 1 : *s == '}' ? -1 : 0;
  cr_assert_eq(depth, 0);
}

Test(cmds, info_of_an_empty_log)
{
  const char *const path = tiny_path(0, "a.h5");
  const tiny_options o = {0};
  command_log(path, &o, 0);
  const command_result p = command_call(cmd_info, command_line("info %s", path, ""));
  cr_assert_eq(p.code, EXIT_FINE);
  command_has(p.out, "0 steps, 1 frames");
  cr_assert_eq(command_call(cmd_info, command_line("info --json %s", path, "")).code, EXIT_FINE);
}

/* ---- usage and bad files ---- */
Test(cmds, usage_errors_are_code_2)
{
  static const struct {
    int (*cmd)(int, char **);
    const char *line, *says;
  } cases[] = {
      {cmd_info, "info", "give one log file"},
      {cmd_info, "info a b", "give one log file"},
      {cmd_info, "info --jsn a", "no option --jsn"},
      {cmd_verify, "verify --frames 3:1 a", "--frames 3:1 is not"},
      {cmd_verify, "verify --frames x a", "--frames x is not"},
      {cmd_verify, "verify --max-pairs -1 a", "--max-pairs -1 is not"},
      {cmd_verify, "verify --min-area 2 a", "--min-area 2 is not"},
      {cmd_verify, "verify a --frames", "--frames needs a value"},
      {cmd_compare, "compare a", "give two log files"},
      {cmd_compare, "compare a b --tol x", "--tol x is not a distance"},
      {cmd_compare, "compare a b --tol -1", "--tol -1 is not a distance"},
      {cmd_export, "export a", "say --format"},
      {cmd_export, "export a --format stl", "there is no format 'stl'"},
      {cmd_export, "export a -x", "no option -x"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    const command_result p = command_call(cases[i].cmd, cases[i].line);
    cr_assert_eq(p.code, EXIT_USAGE, "%s", cases[i].line);
    cr_assert_str_empty(p.out);
    cr_assert_eq(strncmp(p.err, "loom: ", 6), 0, "%s", p.err);
    command_has(p.err, cases[i].says);
    cr_assert_eq(strchr(p.err, '\n'), p.err + strlen(p.err) - 1, "one line: %s", p.err);
  }
  int (*const cmds[])(int, char **) = {cmd_info, cmd_verify, cmd_compare, cmd_export};
  for (int i = 0; i < 4; ++i) {
    const command_result p = command_call(cmds[i], "x --help");
    cr_assert_eq(p.code, EXIT_FINE);
    command_has(p.out, "usage: loom ");
  }
}

Test(cmds, files_that_are_no_logs_are_code_1)
{
  const char *const path = tiny_path(0, "bad.h5");
  FILE *f = fopen(path, "w");
  fputs("this is not HDF5, but long enough for the signature to be looked for", f);
  fclose(f);
  command_has(command_call(cmd_info, command_line("info %s", path, "")).err, "is not an HDF5 file");
  cr_assert_eq(command_call(cmd_info, command_line("info %s", path, "")).code, EXIT_RUNTIME);
  command_has(command_call(cmd_verify, "verify /no/such/file.h5").err, "No such file or directory");
  command_has(command_call(cmd_verify, command_line("verify %s", tiny_dir(), "")).err,
              "is not a regular file");
  cr_assert_eq(truncate(path, 0), 0);
  cr_assert_eq(command_call(cmd_export, command_line("export --format csv %s", path, "")).code,
               EXIT_RUNTIME);
}

/* ---- verify ---- */
/* Two triangles that share no vertex, the second moved with the frames: it cuts the first
 * in frame 2; frame 3 has a collapsed triangle, frame 4 a NaN. */
static void write_crossing(const char *path)
{
  static const double at[5][18] = {{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 1},
                                   {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, .5, 1, 0, .5, 0, 1, .5},
                                   {0, 0, 0, 1, 0, 0, 0, 1, 0, .2, .2, -.5, .3, .2, .5, .2, .3, .5},
                                   {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1e-6, 0, 1, 0, 1e-6, 1},
                                   {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, NAN, 1, 0, 1, 1}};
  static const int32_t tris[6] = {0, 1, 2, 3, 4, 5};
  static const char *const names[1] = {"floor"};
  const h5log_meta meta = {.config_hash = "h"};
  const h5log_options opt = {.num_obstacles = 1, .obstacle_names = names};
  const double pose[12] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0};
  const loom_real plane[8] = {0, 0, 1, -0.25}; /* z = -0.25 */
  loom_real x[18], v[18] = {0};
  loom_err err = {0};
  h5log *l;
  for (int i = 0; i < 18; ++i) x[i] = (loom_real)at[0][i];
  const h5log_array scene[] = {{"rest", "m", "", LOOM_REAL, 2, {6, 3}, x},
                               {"triangles", "1", "", LOOM_I32, 2, {2, 3}, tris},
                               {"obstacles/floor/kind", "1", "", H5LOG_TEXT, 0, {0}, "plane"},
                               {"obstacles/floor/shape", "m", "", LOOM_REAL, 1, {8}, plane}};
  cr_assert_eq(h5log_create(&err, path, &meta, &opt, scene, 4, 6, &l), LOOM_OK, "%s", err.text);
  for (int64_t f = 0; f < 5; ++f) {
    for (int i = 0; i < 18; ++i) x[i] = (loom_real)at[f][i];
    cr_assert_eq(h5log_frame(l, &err, f - 1, 0.1 * (double)f, x, v, pose, NULL), LOOM_OK);
  }
  cr_assert_eq(h5log_close(l, &err, "finished"), LOOM_OK, "%s", err.text);
}

Test(cmds, verify_names_what_is_wrong)
{
  const char *const path = tiny_path(0, "c.h5");
  write_crossing(path);
  const command_result p = command_call(cmd_verify, command_line("verify %s", path, ""));
  cr_assert_eq(p.code, EXIT_INTERSECTIONS, "%s", p.err);
  command_has(p.out, "frame 2 (step 1, time 0.2 s): 4 intersections\n");
  command_has(p.out, "  edge 3-4 meets triangle 0 (0 1 2)\n");
  command_has(p.out, "  edge 3-5 meets triangle 0 (0 1 2)\n");
  command_has(p.out, "  edge 3-4 is 0.25 m deep in body floor\n");
  command_has(p.out, "frame 3 (step 2, time 0.3 s): 1 triangles collapsed, first 1;");
  command_has(p.out, "frame 4 (step 3, time 0.4 s): 1 vertices not finite, first 4;");
  command_has(p.out, "frames affected 3\n");
  command_has(p.out, "deepest in a body: 0.25 m, vertex 3 in floor, frame 2\n");
  const command_result one =
      command_call(cmd_verify, command_line("verify --max-pairs 1 --frames 2 %s", path, ""));
  command_has(one.out, "and 1 more; --max-pairs shows them");
}

Test(cmds, verify_frame_ranges)
{
  const char *const path = tiny_path(0, "c.h5");
  write_crossing(path);
  cr_assert_eq(command_call(cmd_verify, command_line("verify --frames 0:1 %s", path, "")).code,
               EXIT_FINE);
  cr_assert_eq(command_call(cmd_verify, command_line("verify --frames :1 %s", path, "")).code,
               EXIT_FINE);
  cr_assert_eq(command_call(cmd_verify, command_line("verify --frames 1:2 %s", path, "")).code,
               EXIT_INTERSECTIONS);
  command_has(command_call(cmd_verify, command_line("verify --frames last %s", path, "")).out,
              "frames 4 to 4");
  command_has(command_call(cmd_verify, command_line("verify --frames 3: %s", path, "")).out,
              "frames 3 to 4");
  const command_result p =
      command_call(cmd_verify, command_line("verify --frames 5:9 %s", path, ""));
  cr_assert_eq(p.code, EXIT_USAGE);
  command_has(p.err, "frames 0 to 4");
}

/* Tetrahedra have a sign: one turned inside out is found. */
Test(cmds, verify_inverted_tetrahedron)
{
  const char *const path = tiny_path(0, "t.h5");
  const loom_real rest[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  const loom_real turned[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, (loom_real)-0.5};
  const loom_real v[12] = {0};
  const int32_t tet[4] = {0, 1, 2, 3};
  const h5log_meta meta = {0};
  const h5log_options opt = {0};
  const h5log_array scene[] = {{"rest", "m", "", LOOM_REAL, 2, {4, 3}, rest},
                               {"tets", "1", "", LOOM_I32, 2, {1, 4}, tet}};
  loom_err err = {0};
  h5log *l;
  cr_assert_eq(h5log_create(&err, path, &meta, &opt, scene, 2, 4, &l), LOOM_OK, "%s", err.text);
  cr_assert_eq(h5log_frame(l, &err, -1, 0, rest, v, NULL, NULL), LOOM_OK);
  cr_assert_eq(h5log_frame(l, &err, 0, 0.1, turned, v, NULL, NULL), LOOM_OK);
  cr_assert_eq(h5log_close(l, &err, "finished"), LOOM_OK);
  const command_result p = command_call(cmd_verify, command_line("verify %s", path, ""));
  cr_assert_eq(p.code, EXIT_INTERSECTIONS);
  command_has(p.out, "frame 1 (step 0, time 0.1 s): 1 tetrahedra inverted, first 0;");
}

/* ---- compare ---- */
Test(cmds, compare_distance_and_tolerance)
{
  char a[512], b[512];
  tiny_options o = {0};
  loom_err err = {0};
  h5log *l;
  snprintf(a, sizeof a, "%s", tiny_path(0, "a.h5"));
  snprintf(b, sizeof b, "%s", tiny_path(0, "b.h5"));
  command_log(a, &o, 4);
  const command_result same =
      command_call(cmd_compare, command_line("compare %s %s --tol 0", a, a));
  cr_assert_eq(same.code, EXIT_FINE, "%s", same.err);
  command_has(same.out, "5 common frames: largest distance 0.000000e+00 m");

  /* B: the same run, vertex 2 of the frame after step 2 moved by 3-4-0 mm */
  cr_assert_eq(tiny_create(&err, b, &o, &l), LOOM_OK);
  for (int64_t s = -1; s < 4; ++s) {
    loom_real x[3 * TINY_N], v[3 * TINY_N];
    for (int i = 0; i < 3 * TINY_N; ++i) {
      x[i] = (loom_real)tiny_x(s, i / 3, i % 3);
      v[i] = 0;
    }
    if (s == 2) x[6] += (loom_real)0.003, x[7] += (loom_real)0.004;
    cr_assert_eq(h5log_frame(l, &err, s, 0.01 * (double)(s + 1), x, v, NULL, NULL), LOOM_OK);
  }
  cr_assert_eq(h5log_close(l, &err, "finished"), LOOM_OK);
  const command_result p = command_call(cmd_compare, command_line("compare %s %s", a, b));
  cr_assert_eq(p.code, EXIT_FINE);
  command_has(p.out, "largest distance 5.000000e-03 m (vertex 2, time 0.03 s)");
  command_has(p.out, "largest rms 2.041241e-03 m"); /* 0.005 / sqrt(6) */
  cr_assert_eq(command_call(cmd_compare, command_line("compare %s %s --tol 0.0051", a, b)).code,
               EXIT_FINE);
  const command_result over =
      command_call(cmd_compare, command_line("compare --quiet %s %s --tol 0.0049", a, b));
  cr_assert_eq(over.code, EXIT_TOLERANCE);
  command_has(over.err, "above --tol 0.0049 m");
  cr_assert(strstr(over.out, "time [s]") == NULL);
}

Test(cmds, compare_matches_frames_by_time)
{
  char a[512], b[512];
  tiny_options every = {0}, second = {.frames_every = 2};
  snprintf(a, sizeof a, "%s", tiny_path(0, "a.h5"));
  snprintf(b, sizeof b, "%s", tiny_path(0, "b.h5"));
  command_log(a, &every, 7);
  command_log(b, &second, 7);
  const command_result p = command_call(cmd_compare, command_line("compare %s %s --tol 0", a, b));
  cr_assert_eq(p.code, EXIT_FINE);
  command_has(p.out, "4 common frames: largest distance 0.000000e+00"); /* 0, and after 1, 3, 5 */
}

Test(cmds, compare_refuses_other_meshes)
{
  char a[512], b[512];
  tiny_options small = {0}, big = {.n = 50};
  snprintf(a, sizeof a, "%s", tiny_path(0, "a.h5"));
  snprintf(b, sizeof b, "%s", tiny_path(0, "b.h5"));
  command_log(a, &small, 1);
  command_log(b, &big, 1);
  const command_result p = command_call(cmd_compare, command_line("compare %s %s", a, b));
  cr_assert_eq(p.code, EXIT_USAGE);
  command_has(p.err, "has 6 vertices and 4 triangles");
  command_has(p.err, "has 50 and 0: compare runs of the same mesh");
}

/* ---- the guard ---- */
static int raise_segfault(int argc, char **argv)
{
  (void)argc, (void)argv;
  signal(SIGSEGV, SIG_DFL); /* not the handler of a sanitizer */
  raise(SIGSEGV);
  return 0;
}

static int return_six_plus_argc(int argc, char **argv)
{
  (void)argv;
  printf("from the child\n");
  return 6 + argc;
}

static int guarded_crash(int argc, char **argv) { return guard_run(raise_segfault, argc, argv); }
static int guarded_seven(int argc, char **argv)
{
  return guard_run(return_six_plus_argc, argc, argv);
}

Test(cmds, guard_turns_a_crash_into_a_message)
{
  unsetenv("LOOM_NO_GUARD");
  const command_result p = command_call(guarded_crash, "info file.h5");
  cr_assert_eq(p.code, EXIT_RUNTIME);
  command_has(p.err, "loom: file.h5: the HDF5 library crashed while reading (signal 11)");
  const command_result q = command_call(guarded_seven, "info");
  cr_assert_eq(q.code, 7);
  cr_assert_str_eq(q.out, "from the child\n");
}

Test(cmds, numbers_are_short_and_exact)
{
  static const struct {
    double v;
    const char *text;
  } cases[] = {{0.1, "0.1"},
               {1, "1"},
               {-0.0, "-0"},
               {1e300, "1e+300"},
               {5e-324, "5e-324"},
               {0.1 + 0.2, "0.30000000000000004"},
               {INFINITY, "inf"},
               {-INFINITY, "-inf"},
               {123456789, "123456789"},
               {1.0 / 3, "0.3333333333333333"}};
  char buf[NUMBER_LEN];
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
    cr_assert_str_eq(number_text(cases[i].v, buf), cases[i].text);
  cr_assert_str_eq(number_text(NAN, buf), "nan");
  uint64_t z = 1;
  for (int i = 0; i < 100000; ++i) {
    double v;
    z = z * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    memcpy(&v, &z, sizeof v);
    if (isnan(v)) continue;
    cr_assert_eq(strtod(number_text(v, buf), NULL), v);
  }
}

/* Sums over rows that a damaged file made up. */
Test(cmds, counts_stay_within_their_range)
{
  cr_expect_eq(count_add(INT64_MAX - 1, 2), INT64_MAX);
  cr_expect_eq(count_add(INT64_MIN + 1, -2), INT64_MIN);
  cr_expect_eq(count_add(INT64_MAX, INT64_MIN), -1);
  cr_expect_eq(count_add(-3, 5), 2);
}
