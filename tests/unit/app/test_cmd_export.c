/* test_cmd_export.c - export of generated logs reads back exactly, in every format. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/log_tools.h"
#include "support/command.h"
#include "support/tiny_log.h"

/* Sanitizers look for leaks only in processes that end normally: no child here. */
static void disable_export_guard(void) { setenv("LOOM_NO_GUARD", "1", 1); }

TestSuite(cmd_export, .init = disable_export_guard);

static const char *in_dir(const char *dir, const char *name)
{
  static char path[1024];
  snprintf(path, sizeof path, "%s/%s", dir, name);
  return path;
}

Test(cmd_export, obj_reads_back_exactly)
{
  const char *const path = tiny_path(0, "a.h5");
  const tiny_options o = {0};
  char dir[512];
  snprintf(dir, sizeof dir, "%s", tiny_path(1, "x/y"));
  command_log(path, &o, 3);
  const command_result p =
      command_call(cmd_export, command_line("export %s --format obj -o %s", path, dir));
  cr_assert_eq(p.code, EXIT_FINE, "%s", p.err);
  for (int64_t f = 0; f < 4; ++f) {
    char name[64];
    int64_t v = 0, t = 0;
    snprintf(name, sizeof name, "a_%06" PRId64 ".obj", f);
    char *const text = command_file(in_dir(dir, name));
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
      double x[3];
      int id[3];
      if (sscanf(line, "v %lf %lf %lf", &x[0], &x[1], &x[2]) == 3) {
        for (int c = 0; c < 3; ++c) cr_assert_eq(x[c], (double)(loom_real)tiny_x(f - 1, v, c));
        ++v;
      } else if (sscanf(line, "f %d %d %d", &id[0], &id[1], &id[2]) == 3) {
        for (int c = 0; c < 3; ++c) cr_assert(id[c] >= 1 && id[c] <= TINY_N);
        ++t;
      }
    }
    cr_assert(v == TINY_N && t == TINY_NT);
  }
}

Test(cmd_export, ply_reads_back_exactly)
{
  const char *const path = tiny_path(0, "a.h5");
  const tiny_options o = {0};
  command_log(path, &o, 3);
  cr_assert_eq(
      command_call(cmd_export, command_line("export %s --format ply --frames 2", path, "")).code,
      EXIT_FINE);
  char dir[512];
  snprintf(dir, sizeof dir, "%s", tiny_path(1, "a-ply"));
  cr_assert_neq(access(in_dir(dir, "a_000001.ply"), F_OK), 0);
  char *const text = command_file(in_dir(dir, "a_000002.ply"));
  command_has(text, "element vertex 6\n");
  const char *b = strstr(text, "end_header\n") + 11;
  for (int i = 0; i < TINY_N; ++i) {
    double x[6];
    memcpy(x, b + 48 * i, sizeof x);
    for (int c = 0; c < 3; ++c) {
      cr_assert_eq(x[c], (double)(loom_real)tiny_x(1, i, c));
      cr_assert_eq(x[3 + c], (double)(loom_real)tiny_v(1, i, c));
    }
  }
  b += 48 * TINY_N;
  for (int i = 0; i < TINY_NT; ++i) cr_assert_eq(b[13 * i], 3);
}

static double big_double(const char *p)
{
  uint64_t u = 0;
  double v;
  for (int i = 0; i < 8; ++i) u = u << 8 | (unsigned char)p[i];
  memcpy(&v, &u, sizeof v);
  return v;
}

Test(cmd_export, vtk_series_and_xdmf)
{
  const char *const path = tiny_path(0, "a.h5");
  const tiny_options o = {0};
  char dir[512], want[700];
  command_log(path, &o, 3);
  cr_assert_eq(
      command_call(cmd_export, command_line("export %s --format vtk --frames 1:", path, "")).code,
      EXIT_FINE);
  snprintf(dir, sizeof dir, "%s", tiny_path(1, "a-vtk"));
  char *const vtk = command_file(in_dir(dir, "a_000003.vtk"));
  cr_assert_eq(strncmp(vtk, "# vtk DataFile Version 3.0\n", 27), 0);
  const char mark[] = "POINTS 6 double\n";
  const char *const b = strstr(vtk, mark) + sizeof mark - 1;
  for (int i = 0; i < 3 * TINY_N; ++i)
    cr_assert_eq(big_double(b + 8 * i), (double)(loom_real)tiny_x(2, i / 3, i % 3));
  cr_assert_eq(strncmp(b + 8 * 3 * TINY_N, "\nPOLYGONS 4 16\n", 15), 0);
  char *const series = command_file(in_dir(dir, "a.vtk.series"));
  command_has(series, "{ \"name\" : \"a_000001.vtk\", \"time\" : 0.01 },");
  command_has(series, "{ \"name\" : \"a_000003.vtk\", \"time\" : 0.03 }\n");
  char *const xdmf = command_file(in_dir(dir, "a.xdmf"));
  /* relative to the .xdmf file, so that log and export can be moved together */
  snprintf(want, sizeof want, ">../%s:/frames/x</DataItem>", strrchr(path, '/') + 1);
  command_has(xdmf, want);
  command_has(xdmf, "<DataItem Dimensions=\"3 3\" Format=\"XML\">3 0 0 1 1 1 1 6 3</DataItem>");
  command_has(xdmf, "Dimensions=\"4 6 3\" NumberType=\"Float\" Precision=\"8\"");
}

static int count_lines(const char *s)
{
  int n = 0;
  for (; *s != '\0'; ++s) n += *s == '\n';
  return n;
}

Test(cmd_export, csv_reads_back_exactly)
{
  static const loom_column extra[1] = {{"rho", "1", "spectral radius"}};
  const char *const path = tiny_path(0, "a.h5");
  tiny_options o = {0};
  char dir[512];
  o.log.num_extra = 1;
  o.log.extra = extra;
  enum { STEPS = 700 }; /* more rows than one block of the writer */
  command_log(path, &o, STEPS);
  cr_assert_eq(command_call(cmd_export, command_line("export %s --format csv", path, "")).code,
               EXIT_FINE);
  snprintf(dir, sizeof dir, "%s", tiny_path(1, "a-csv"));
  char *const steps = command_file(in_dir(dir, "steps.csv")), *const iters = command_file(
                                                                  in_dir(dir, "iters.csv"));
  char *const more = command_file(in_dir(dir, "iters_extra.csv"));
  char *const inner = command_file(in_dir(dir, "inner.csv"));
  cr_assert_eq(count_lines(steps), STEPS + 1);
  cr_assert_eq(count_lines(iters), STEPS * (TINY_ITERS + 1) + 1);
  cr_assert_eq(count_lines(inner), STEPS * TINY_ITERS * 2 + 1);
  cr_assert_eq(strncmp(steps, "step,time,h,iters,reason,r_ref,r_final,", 39), 0);
  cr_assert_eq(strncmp(more, "step,k,rho\n0,-1,-10\n0,0,0\n0,1,10\n", 33), 0, "%.60s", more);
  int64_t s = 0;
  for (char *line = strchr(steps, '\n') + 1; *line != '\0'; line = strchr(line, '\n') + 1, ++s) {
    h5log_step_row want;
    long long step, its;
    double time, h, r_ref, r_final;
    char reason[32];
    tiny_step_row(s, &want);
    cr_assert_eq(sscanf(line, "%lld,%lf,%lf,%lld,%31[a-z_],%lf,%lf", &step, &time, &h, &its, reason,
                        &r_ref, &r_final),
                 7, "%.80s", line);
    cr_assert(step == s && time == want.time && h == want.h && its == want.iters);
    cr_assert(r_ref == want.r_ref && r_final == want.r_final);
    cr_assert_str_eq(reason, h5log_reason_name((int)want.reason));
  }
}

Test(cmd_export, without_permission)
{
  const char *const path = tiny_path(0, "a.h5");
  const tiny_options o = {0};
  command_log(path, &o, 1);
  const command_result p =
      command_call(cmd_export, command_line("export %s --format obj -o /proc/none", path, ""));
  cr_assert_eq(p.code, EXIT_RUNTIME);
  command_has(p.err, "loom: /proc/none: cannot be created");
}
