/* test_cmds.c - info, verify, compare and export on generated logs: numbers, files, codes. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/log_tools.h"
#include "support/tiny_log.h"

typedef struct output {
  int code;
  char *out, *err;
} output;

static struct { /* texts live until the test process ends */
  char *text[256];
  int num;
} kept;

static void free_kept(void)
{
  while (kept.num > 0) free(kept.text[--kept.num]);
}

static char *slurp(const char *path)
{
  FILE *const f = fopen(path, "rb");
  cr_assert(f != NULL, "%s", path);
  fseek(f, 0, SEEK_END);
  const long size = ftell(f);
  rewind(f);
  char *const s = calloc(1, (size_t)size + 1);
  cr_assert_eq(fread(s, 1, (size_t)size, f), (size_t)size);
  fclose(f);
  cr_assert_lt(kept.num, 256);
  if (kept.num == 0) atexit(free_kept);
  kept.text[kept.num++] = s;
  return s;
}

/* Run a command with stdout and stderr in files. */
static output call(int (*cmd)(int, char **), const char *line)
{
  static char words[16][512]; /* getopt moves pointers, never texts */
  char copy[2048], *argv[17];
  int argc = 0;
  output o;
  snprintf(copy, sizeof copy, "%s", line);
  for (char *w = strtok(copy, " "); w != NULL && argc < 16; w = strtok(NULL, " ")) {
    snprintf(words[argc], sizeof words[0], "%s", w);
    argv[argc] = words[argc];
    ++argc;
  }
  argv[argc] = NULL;
  const char *const files[2] = {tiny_path(2, "stdout"), tiny_path(3, "stderr")};
  int keep[2];
  fflush(NULL);
  for (int i = 0; i < 2; ++i) {
    const int fd = open(files[i], O_RDWR | O_CREAT | O_TRUNC, 0600);
    keep[i] = dup(i + 1);
    dup2(fd, i + 1);
    close(fd);
  }
  o.code = cmd(argc, argv);
  fflush(NULL);
  for (int i = 0; i < 2; ++i) {
    dup2(keep[i], i + 1);
    close(keep[i]);
  }
  o.out = slurp(files[0]);
  o.err = slurp(files[1]);
  return o;
}

static void write_log(const char *path, const tiny_options *o, int64_t steps)
{
  loom_err err = {0};
  cr_assert_eq(tiny_write(&err, path, o, steps), LOOM_OK, "%s", err.text);
}

static void has(const char *text, const char *part)
{
  cr_assert(strstr(text, part) != NULL, "\"%s\" is not in:\n%s", part, text);
}

static char *line_for(const char *fmt, const char *a, const char *b)
{
  static char line[2048];
  snprintf(line, sizeof line, fmt, a, b);
  return line;
}

/* Sanitizers look for leaks only in processes that end normally: no child here. */
static void unguarded(void) { setenv("LOOM_NO_GUARD", "1", 1); }

TestSuite(cmds, .init = unguarded);

/* ---- info ---- */
Test(cmds, info)
{
  const char *const path = tiny_path(0, "a.h5");
  const tiny_options o = {0};
  write_log(path, &o, 6);
  const output p = call(cmd_info, line_for("info %s", path, ""));
  cr_assert_eq(p.code, EXIT_FINE);
  cr_assert_str_empty(p.err);
  has(p.out, "a.h5: finished\n");
  has(p.out, "6 steps, 7 frames, 24 rows of iterations, 36 of inner");
  has(p.out, "converged_rel 4 max_iters 2\n");
  has(p.out, "iterations  18, 3.0 per step");
  has(p.out, "measuring and logging take 20.00%"); /* (0.5 + 0.1) of 3 ms */
  has(p.out, "smallest gap 0.001 m in step 0");
  has(p.out, "plugin      gd solver 1.0");
  has(p.out, "sections    solver/factor            0.006 s in 18 calls, 33.3%; 0.012 s of ");
  has(p.out, "            solver/solve             0.012 s in 24 calls, 66.7%; 0.024 s of ");
  const output c = call(cmd_info, line_for("info --config %s", path, ""));
  cr_assert_str_eq(c.out, "[run]\nsteps = 3\n");
}

Test(cmds, info_json)
{
  const char *const path = tiny_path(0, "a.h5");
  const tiny_options o = {0};
  write_log(path, &o, 6);
  const output p = call(cmd_info, line_for("info %s --json", path, ""));
  cr_assert_eq(p.code, EXIT_FINE);
  has(p.out, "\"status\": \"finished\"");
  has(p.out, "\"config\": \"[run]\\u000asteps = 3\\u000a\"");
  has(p.out, "\"reasons\": {\"converged_abs\": 0, \"converged_rel\": 4, \"max_iters\": 2,");
  has(p.out, "\"iterations\": 18,");
  has(p.out, "\"min_gap\": 0.001,");
  has(p.out, "{\"name\": \"solver/solve\", \"calls\": 24, \"t_wall\": 0.012, ");
  int depth = 0; /* braces balance, the text ends with the last one */
  for (const char *s = p.out; *s != '\0'; ++s) depth += *s == '{' ? 1 : *s == '}' ? -1 : 0;
  cr_assert_eq(depth, 0);
}

Test(cmds, info_of_an_empty_log)
{
  const char *const path = tiny_path(0, "a.h5");
  const tiny_options o = {0};
  write_log(path, &o, 0);
  const output p = call(cmd_info, line_for("info %s", path, ""));
  cr_assert_eq(p.code, EXIT_FINE);
  has(p.out, "0 steps, 1 frames");
  cr_assert_eq(call(cmd_info, line_for("info --json %s", path, "")).code, EXIT_FINE);
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
    const output p = call(cases[i].cmd, cases[i].line);
    cr_assert_eq(p.code, EXIT_USAGE, "%s", cases[i].line);
    cr_assert_str_empty(p.out);
    cr_assert_eq(strncmp(p.err, "loom: ", 6), 0, "%s", p.err);
    has(p.err, cases[i].says);
    cr_assert_eq(strchr(p.err, '\n'), p.err + strlen(p.err) - 1, "one line: %s", p.err);
  }
  int (*const cmds[])(int, char **) = {cmd_info, cmd_verify, cmd_compare, cmd_export};
  for (int i = 0; i < 4; ++i) {
    const output p = call(cmds[i], "x --help");
    cr_assert_eq(p.code, EXIT_FINE);
    has(p.out, "usage: loom ");
  }
}

Test(cmds, files_that_are_no_logs_are_code_1)
{
  const char *const path = tiny_path(0, "bad.h5");
  FILE *f = fopen(path, "w");
  fputs("this is not HDF5, but long enough for the signature to be looked for", f);
  fclose(f);
  has(call(cmd_info, line_for("info %s", path, "")).err, "is not an HDF5 file");
  cr_assert_eq(call(cmd_info, line_for("info %s", path, "")).code, EXIT_RUNTIME);
  has(call(cmd_verify, "verify /no/such/file.h5").err, "No such file or directory");
  has(call(cmd_verify, line_for("verify %s", tiny_dir(), "")).err, "is not a regular file");
  cr_assert_eq(truncate(path, 0), 0);
  cr_assert_eq(call(cmd_export, line_for("export --format csv %s", path, "")).code, EXIT_RUNTIME);
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
  const output p = call(cmd_verify, line_for("verify %s", path, ""));
  cr_assert_eq(p.code, EXIT_INTERSECTIONS, "%s", p.err);
  has(p.out, "frame 2 (step 1, time 0.2 s): 2 intersections\n");
  has(p.out, "  edge 3-4 meets triangle 0 (0 1 2)\n");
  has(p.out, "  edge 3-5 meets triangle 0 (0 1 2)\n");
  has(p.out, "frame 3 (step 2, time 0.3 s): 1 triangles collapsed, first 1;");
  has(p.out, "frame 4 (step 3, time 0.4 s): 1 vertices not finite, first 4;");
  has(p.out, "frames affected 3\n");
  has(p.out, "deepest in a body: 0.25 m, vertex 3 in floor, frame 2\n");
  const output one = call(cmd_verify, line_for("verify --max-pairs 1 --frames 2 %s", path, ""));
  has(one.out, "and 1 more; --max-pairs shows them");
}

Test(cmds, verify_frame_ranges)
{
  const char *const path = tiny_path(0, "c.h5");
  write_crossing(path);
  cr_assert_eq(call(cmd_verify, line_for("verify --frames 0:1 %s", path, "")).code, EXIT_FINE);
  cr_assert_eq(call(cmd_verify, line_for("verify --frames :1 %s", path, "")).code, EXIT_FINE);
  cr_assert_eq(call(cmd_verify, line_for("verify --frames 1:2 %s", path, "")).code,
               EXIT_INTERSECTIONS);
  has(call(cmd_verify, line_for("verify --frames last %s", path, "")).out, "frames 4 to 4");
  has(call(cmd_verify, line_for("verify --frames 3: %s", path, "")).out, "frames 3 to 4");
  const output p = call(cmd_verify, line_for("verify --frames 5:9 %s", path, ""));
  cr_assert_eq(p.code, EXIT_USAGE);
  has(p.err, "frames 0 to 4");
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
  const output p = call(cmd_verify, line_for("verify %s", path, ""));
  cr_assert_eq(p.code, EXIT_INTERSECTIONS);
  has(p.out, "frame 1 (step 0, time 0.1 s): 1 tetrahedra inverted, first 0;");
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
  write_log(a, &o, 4);
  const output same = call(cmd_compare, line_for("compare %s %s --tol 0", a, a));
  cr_assert_eq(same.code, EXIT_FINE, "%s", same.err);
  has(same.out, "5 common frames: largest distance 0.000000e+00 m");

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
  const output p = call(cmd_compare, line_for("compare %s %s", a, b));
  cr_assert_eq(p.code, EXIT_FINE);
  has(p.out, "largest distance 5.000000e-03 m (vertex 2, time 0.03 s)");
  has(p.out, "largest rms 2.041241e-03 m"); /* 0.005 / sqrt(6) */
  cr_assert_eq(call(cmd_compare, line_for("compare %s %s --tol 0.0051", a, b)).code, EXIT_FINE);
  const output over = call(cmd_compare, line_for("compare --quiet %s %s --tol 0.0049", a, b));
  cr_assert_eq(over.code, EXIT_TOLERANCE);
  has(over.err, "above --tol 0.0049 m");
  cr_assert(strstr(over.out, "time [s]") == NULL);
}

Test(cmds, compare_matches_frames_by_time)
{
  char a[512], b[512];
  tiny_options every = {0}, second = {.frames_every = 2};
  snprintf(a, sizeof a, "%s", tiny_path(0, "a.h5"));
  snprintf(b, sizeof b, "%s", tiny_path(0, "b.h5"));
  write_log(a, &every, 7);
  write_log(b, &second, 7);
  const output p = call(cmd_compare, line_for("compare %s %s --tol 0", a, b));
  cr_assert_eq(p.code, EXIT_FINE);
  has(p.out, "4 common frames: largest distance 0.000000e+00"); /* 0, and after 1, 3, 5 */
}

Test(cmds, compare_refuses_other_meshes)
{
  char a[512], b[512];
  tiny_options small = {0}, big = {.n = 50};
  snprintf(a, sizeof a, "%s", tiny_path(0, "a.h5"));
  snprintf(b, sizeof b, "%s", tiny_path(0, "b.h5"));
  write_log(a, &small, 1);
  write_log(b, &big, 1);
  const output p = call(cmd_compare, line_for("compare %s %s", a, b));
  cr_assert_eq(p.code, EXIT_USAGE);
  has(p.err, "has 6 vertices and 4 triangles");
  has(p.err, "has 50 and 0: compare runs of the same mesh");
}

/* ---- export ---- */
static const char *in_dir(const char *dir, const char *name)
{
  static char path[1024];
  snprintf(path, sizeof path, "%s/%s", dir, name);
  return path;
}

Test(cmds, export_obj_reads_back_exactly)
{
  const char *const path = tiny_path(0, "a.h5");
  const tiny_options o = {0};
  char dir[512];
  snprintf(dir, sizeof dir, "%s", tiny_path(1, "x/y"));
  write_log(path, &o, 3);
  const output p = call(cmd_export, line_for("export %s --format obj -o %s", path, dir));
  cr_assert_eq(p.code, EXIT_FINE, "%s", p.err);
  for (int64_t f = 0; f < 4; ++f) {
    char name[64];
    int64_t v = 0, t = 0;
    snprintf(name, sizeof name, "a_%06" PRId64 ".obj", f);
    char *const text = slurp(in_dir(dir, name));
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

Test(cmds, export_ply_reads_back_exactly)
{
  const char *const path = tiny_path(0, "a.h5");
  const tiny_options o = {0};
  write_log(path, &o, 3);
  cr_assert_eq(call(cmd_export, line_for("export %s --format ply --frames 2", path, "")).code,
               EXIT_FINE);
  char dir[512];
  snprintf(dir, sizeof dir, "%s", tiny_path(1, "a-ply"));
  cr_assert_neq(access(in_dir(dir, "a_000001.ply"), F_OK), 0);
  char *const text = slurp(in_dir(dir, "a_000002.ply"));
  has(text, "element vertex 6\n");
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

Test(cmds, export_vtk_series_and_xdmf)
{
  const char *const path = tiny_path(0, "a.h5");
  const tiny_options o = {0};
  char dir[512], want[700];
  write_log(path, &o, 3);
  cr_assert_eq(call(cmd_export, line_for("export %s --format vtk --frames 1:", path, "")).code,
               EXIT_FINE);
  snprintf(dir, sizeof dir, "%s", tiny_path(1, "a-vtk"));
  char *const vtk = slurp(in_dir(dir, "a_000003.vtk"));
  cr_assert_eq(strncmp(vtk, "# vtk DataFile Version 3.0\n", 27), 0);
  const char mark[] = "POINTS 6 double\n";
  const char *const b = strstr(vtk, mark) + sizeof mark - 1;
  for (int i = 0; i < 3 * TINY_N; ++i)
    cr_assert_eq(big_double(b + 8 * i), (double)(loom_real)tiny_x(2, i / 3, i % 3));
  cr_assert_eq(strncmp(b + 8 * 3 * TINY_N, "\nPOLYGONS 4 16\n", 15), 0);
  char *const series = slurp(in_dir(dir, "a.vtk.series"));
  has(series, "{ \"name\" : \"a_000001.vtk\", \"time\" : 0.01 },");
  has(series, "{ \"name\" : \"a_000003.vtk\", \"time\" : 0.03 }\n");
  char *const xdmf = slurp(in_dir(dir, "a.xdmf"));
  /* relative to the .xdmf file, so that log and export can be moved together */
  snprintf(want, sizeof want, ">../%s:/frames/x</DataItem>", strrchr(path, '/') + 1);
  has(xdmf, want);
  has(xdmf, "<DataItem Dimensions=\"3 3\" Format=\"XML\">3 0 0 1 1 1 1 6 3</DataItem>");
  has(xdmf, "Dimensions=\"4 6 3\" NumberType=\"Float\" Precision=\"8\"");
}

static int count_lines(const char *s)
{
  int n = 0;
  for (; *s != '\0'; ++s) n += *s == '\n';
  return n;
}

Test(cmds, export_csv_reads_back_exactly)
{
  static const loom_column extra[1] = {{"rho", "1", "spectral radius"}};
  const char *const path = tiny_path(0, "a.h5");
  tiny_options o = {0};
  char dir[512];
  o.log.num_extra = 1;
  o.log.extra = extra;
  enum { STEPS = 700 }; /* more rows than one block of the writer */
  write_log(path, &o, STEPS);
  cr_assert_eq(call(cmd_export, line_for("export %s --format csv", path, "")).code, EXIT_FINE);
  snprintf(dir, sizeof dir, "%s", tiny_path(1, "a-csv"));
  char *const steps = slurp(in_dir(dir, "steps.csv")), *const iters =
                                                           slurp(in_dir(dir, "iters.csv"));
  char *const more = slurp(in_dir(dir, "iters_extra.csv"));
  char *const inner = slurp(in_dir(dir, "inner.csv"));
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

Test(cmds, export_without_permission)
{
  const char *const path = tiny_path(0, "a.h5");
  const tiny_options o = {0};
  write_log(path, &o, 1);
  const output p = call(cmd_export, line_for("export %s --format obj -o /proc/none", path, ""));
  cr_assert_eq(p.code, EXIT_RUNTIME);
  has(p.err, "loom: /proc/none: cannot be created");
}

/* ---- the guard ---- */
static int crash(int argc, char **argv)
{
  (void)argc, (void)argv;
  signal(SIGSEGV, SIG_DFL); /* not the handler of a sanitizer */
  raise(SIGSEGV);
  return 0;
}

static int seven(int argc, char **argv)
{
  (void)argv;
  printf("from the child\n");
  return 6 + argc;
}

static int guarded_crash(int argc, char **argv) { return guard_run(crash, argc, argv); }
static int guarded_seven(int argc, char **argv) { return guard_run(seven, argc, argv); }

Test(cmds, guard_turns_a_crash_into_a_message)
{
  unsetenv("LOOM_NO_GUARD");
  const output p = call(guarded_crash, "info file.h5");
  cr_assert_eq(p.code, EXIT_RUNTIME);
  has(p.err, "loom: file.h5: the HDF5 library crashed while reading (signal 11)");
  const output q = call(guarded_seven, "info");
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
