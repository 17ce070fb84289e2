/* States from files: velocities of vertices; of yarns positions, rest lengths, rest curvatures and
 * directors. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/h5read.h"
#include "support/proc.h"

TestSuite(states, .init = proc_enter, .fini = proc_leave);

static const int is_float = sizeof(loom_real) == 4;

#define RUN   "[run]\nsteps = 10\ndt = 5e-3\n[exec]\nbackend = cpu\nthreads = 1\n"
#define ALONE "[collision.none]\nplugin = none\n[stop]\ndiverged = 1e30\n[log]\naudit = off\n"
#define SHEET                                                                                     \
  RUN "[solver]\nplugin = pcg_newton\n" ALONE                                                     \
      "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nsize = 0.2 0.2\nresolution = 5 " \
      "5\npins = top_left top_right\nmembrane = "                                                 \
      "100\n"
#define YARN                                                                            \
  "[run]\nsteps = 10\ndt = 1e-3\ngravity = 0 0 0\n[exec]\nbackend = cpu\nthreads = 1\n" \
  "[solver]\nplugin = yarn_explicit\nmu_prop = 0\nmu_const = 0\n" ALONE                 \
  "[yarn.a]\npattern = obj\nfile = rest.obj\n"
#define BENDING 2e-8 /* N m^2, the defaults */
#define TWIST   2e-8

enum { MOST = 64, SEGS = 12 };

typedef struct state {
  int n;
  double x[3 * MOST], v[3 * MOST];
} state;

static state read_state_frame(const char *path, int64_t at)
{
  loom_err err = {0};
  h5read *r = NULL;
  state s;
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
  s.n = (int)h5read_num_verts(r);
  cr_assert(s.n <= MOST);
  cr_assert_eq(h5read_frame(r, &err, at < 0 ? h5read_num_frames(r) - 1 : at, s.x, s.v, NULL, NULL),
               LOOM_OK, "%s", err.text);
  h5read_close(r);
  return s;
}

static double largest_state_difference(const state *a, const state *b)
{
  double most = 0;
  cr_assert_eq(a->n, b->n);
  for (int k = 0; k < 3 * a->n; ++k) most = fmax(most, fabs(a->x[k] - b->x[k]));
  return most;
}

/* e_elastic of the state that the first step starts from. */
static double energy_at_start(const char *path)
{
  loom_err err = {0};
  h5read *r = NULL;
  h5log_iter_row row;
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
  cr_assert_eq(h5read_iters(r, &err, 0, 1, &row), LOOM_OK, "%s", err.text);
  h5read_close(r);
  return row.e_elastic;
}

/* n rows of `columns` numbers */
static void write_rows(const char *name, const double *v, int n, int columns)
{
  FILE *const f = fopen(name, "w");
  cr_assert(f != NULL);
  fprintf(f, "# %d rows\n\n", n);
  for (int i = 0; i < n; ++i)
    for (int c = 0; c < columns; ++c)
      fprintf(f, "%.17g%s", v[columns * i + c], c + 1 < columns ? ", " : "\n");
  fclose(f);
}

static void write_state_curve(const char *name, const double *x, int n, int closed)
{
  FILE *const f = fopen(name, "w");
  cr_assert(f != NULL);
  for (int i = 0; i < n; ++i)
    fprintf(f, "v %.17g %.17g %.17g\n", x[3 * i], x[3 * i + 1], x[3 * i + 2]);
  fprintf(f, "l");
  for (int i = 0; i < n + closed; ++i) fprintf(f, " %d", i % n + 1);
  fprintf(f, "\n");
  fclose(f);
}

/* ---- cloth ---- */

/* The mesh of a grid of 5 x 5, as the generator numbers it, with other positions. */
static void write_grid_sheet(const char *name, const char *log, int64_t at)
{
  loom_err err = {0};
  h5read *r = NULL;
  void *tris = NULL;
  int64_t dims[4];
  int rank;
  const state s = read_state_frame(log, at);
  cr_assert_eq(h5read_open(&err, log, &r), LOOM_OK, "%s", err.text);
  cr_assert_eq(h5read_dataset(r, &err, "scene/triangles", 0, &tris, &rank, dims), LOOM_OK, "%s",
               err.text);
  FILE *const f = fopen(name, "w");
  cr_assert(f != NULL);
  for (int i = 0; i < s.n; ++i)
    fprintf(f, "v %.17g %.17g %.17g\n", s.x[3 * i], s.x[3 * i + 1], s.x[3 * i + 2]);
  const int64_t *const t = tris;
  for (int64_t k = 0; k < dims[0]; ++k)
    fprintf(f, "f %d %d %d\n", (int)t[3 * k] + 1, (int)t[3 * k + 1] + 1, (int)t[3 * k + 2] + 1);
  fclose(f);
  free(tris);
  h5read_close(r);
}

/* Posed by files at frame 5 of a run, the sheet goes on with the same bits: a text of 17 digits is
 * the number, and the solver has no history. */
Test(states, cloth_goes_on_from_files)
{
  proc_write("sheet.ini", SHEET);
  LOOM_FINE("run", "sheet.ini", "--quiet", "-o", "whole.h5");
  const state five = read_state_frame("whole.h5", 5), ten = read_state_frame("whole.h5", 10);
  write_grid_sheet("five.obj", "whole.h5", 5);
  write_rows("five.txt", five.v, five.n, 3);
  LOOM_FINE("run", "sheet.ini", "--quiet", "-o", "part.h5", "-n", "5", "--set",
            "cloth.sheet.positions=five.obj", "--set", "cloth.sheet.velocities=five.txt");
  const state start = read_state_frame("part.h5", 0), end = read_state_frame("part.h5", 5);
  cr_expect_eq(largest_state_difference(&start, &five), 0.0);
  cr_expect_eq(largest_state_difference(&end, &ten), 0.0, "%g m",
               largest_state_difference(&end, &ten));
  for (int k = 0; k < 3 * ten.n; ++k) cr_assert_eq(end.v[k], ten.v[k]);
  cr_expect_gt(largest_state_difference(&five, &ten), 1e-3);
}

/* transform turns and scales them, velocity is added, pinned vertices have none. */
Test(states, velocities_are_placed_with_the_cloth)
{
  double v[75];
  for (int k = 0; k < 75; ++k) v[k] = 0.01 * k - 0.2;
  write_rows("v.txt", v, 25, 3);
  proc_write("sheet.ini", SHEET "transform = scale 2 rotate 0 0 1 90 translate 1 2 3\n"
                                "velocity = 0.5 0 -1\nvelocities = v.txt\n");
  LOOM_FINE("run", "sheet.ini", "--quiet", "-o", "run.h5", "-n", "1");
  const state s = read_state_frame("run.h5", 0);
  for (int i = 0; i < 25; ++i) {
    const int held = i == 20 || i == 24;
    const double want[3] = {0.5 - 2 * v[3 * i + 1], 2 * v[3 * i], -1 + 2 * v[3 * i + 2]};
    for (int c = 0; c < 3; ++c)
      cr_expect_float_eq(s.v[3 * i + c], held ? 0 : want[c], is_float ? 1e-6 : 1e-14,
                         "vertex %d: %g", i, s.v[3 * i + c]);
  }
}

#define REFUSED(ini, key, texts) \
  proc_expect_error(2, texts,    \
                    LOOM_ARGS("run", ini, "--quiet", "--overwrite", "-o", "no.h5", "--set", key))

Test(states, files_that_do_not_fit)
{
  double x[3 * (SEGS + 1)] = {0};
  for (int i = 0; i <= SEGS; ++i) x[3 * i] = 0.005 * i;
  write_state_curve("rest.obj", x, SEGS + 1, 0);
  write_state_curve("short.obj", x, SEGS, 0);
  write_rows("few.txt", x, 4, 3);
  write_rows("many.txt", x, SEGS + 1, 3);
  proc_write("two.txt", "0 0 0\n# a comment\n0 0 1\n1 2 ; no third\n");
  proc_write("pair.txt", "0 0 0\n0 0\n");
  proc_write("nan.txt", "0 0 0\n0 nan 0\n");
  proc_write("fast.txt", "1e5\n");
  proc_write("sheet.ini", SHEET);
  proc_write("yarn.ini", YARN);
  REFUSED("sheet.ini", "cloth.sheet.velocities=few.txt",
          LOOM_TEXTS("velocities", "few.txt has 4 rows", "25 vertices", "a row for each"));
  REFUSED("sheet.ini", "cloth.sheet.velocities=two.txt",
          LOOM_TEXTS("velocities", "two.txt:4", ";"));
  REFUSED("sheet.ini", "cloth.sheet.velocities=pair.txt",
          LOOM_TEXTS("velocities", "pair.txt:2", "2 numbers, 3 are needed", "m/s"));
  REFUSED("sheet.ini", "cloth.sheet.velocities=nan.txt",
          LOOM_TEXTS("velocities", "nan.txt:2", "nan", "no finite number"));
  REFUSED("yarn.ini", "yarn.a.positions=few.txt", LOOM_TEXTS("positions", "4 rows", "13 points"));
  REFUSED("yarn.ini", "yarn.a.positions=short.obj",
          LOOM_TEXTS("positions", "short.obj", "12 points", "13"));
  REFUSED("yarn.ini", "yarn.a.velocities=nan.txt", LOOM_TEXTS("velocities", "nan.txt:2"));
  REFUSED("yarn.ini", "yarn.a.rest_lengths=few.txt",
          LOOM_TEXTS("rest_lengths", "few.txt:3", "3 numbers, 1 are needed", "length"));
  REFUSED("yarn.ini", "yarn.a.rest_lengths=fast.txt",
          LOOM_TEXTS("rest_lengths", "1 rows", "12 segments"));
  REFUSED("yarn.ini", "yarn.a.rest_curvature=many.txt",
          LOOM_TEXTS("rest_curvature", "many.txt:3", "3 numbers, 5 are needed", "twist"));
  REFUSED("yarn.ini", "yarn.a.directors=many.txt",
          LOOM_TEXTS("directors", "13 rows", "12 segments"));
  write_rows("along.txt", x + 3, SEGS, 3); /* along the yarn */
  REFUSED("yarn.ini", "yarn.a.directors=along.txt", LOOM_TEXTS("director", "along its segment"));
  static const char *const missing[] = {"yarn.a.positions=no.txt", "yarn.a.velocities=no.txt",
                                        "yarn.a.rest_lengths=no.txt", "yarn.a.directors=no.obj"};
  for (int i = 0; i < 4; ++i) {
    proc p;
    proc_loom(&p, LOOM_ARGS("run", "yarn.ini", "--quiet", "-o", "no.h5", "--set", missing[i]));
    cr_expect(p.code != 0 && strstr(p.err, "[yarn.a]") != NULL && strstr(p.err, "no.") != NULL,
              "%d: %s", p.code, p.err);
  }
}

/* ---- yarns ---- */

/* A helix, or a wavy ring: turned by `deg` about an axis askew, `scale` times as large. */
static void make_yarn(double *x, int closed, double scale, double deg)
{
  const double pi = 3.14159265358979323846, a = deg * pi / 180, k[3] = {0.6, 0.64, 0.48};
  for (int i = 0; i <= SEGS; ++i) {
    const double t = 2 * pi * i / SEGS * (closed ? 1 : 0.8);
    double p[3] = {0.02 * cos(t), 0.02 * sin(t), closed ? 0.004 * cos(3 * t) : 0.004 * t}, r[3];
    const double along = k[0] * p[0] + k[1] * p[1] + k[2] * p[2];
    const double across[3] = {k[1] * p[2] - k[2] * p[1], k[2] * p[0] - k[0] * p[2],
                              k[0] * p[1] - k[1] * p[0]};
    for (int c = 0; c < 3; ++c)
      r[c] = p[c] * cos(a) + across[c] * sin(a) + k[c] * along * (1 - cos(a));
    for (int c = 0; c < 3; ++c) x[3 * i + c] = scale * r[c];
  }
}

/* Moved rigidly, by any angle, or grown evenly with its rest lengths, a yarn is at rest: its
 * frames are found, with no energy in bending or twist, and it stays. */
Test(states, a_yarn_that_was_moved_is_at_rest)
{
  static const double angles[] = {0, 40, 120, 179.9, 180}, scales[] = {1, 0.5, 1.6};
  double rest[3 * (SEGS + 1)], x[3 * (SEGS + 1)];
  proc_write("yarn.ini", YARN "positions = x.txt\n");
  for (int closed = 0; closed < 2; ++closed)
    for (int i = 0; i < 5; ++i)
      for (int k = 0; k < (i == 2 ? 3 : 1); ++k) {
        char set[64];
        make_yarn(rest, closed, 1, 0);
        make_yarn(x, closed, scales[k], angles[i]);
        write_state_curve("rest.obj", rest, SEGS + !closed, closed);
        write_rows("x.txt", x, SEGS + !closed, 3);
        snprintf(set, sizeof set, "solver.shrink=%g", scales[k]);
        LOOM_FINE("run", "yarn.ini", "--quiet", "--overwrite", "-o", "run.h5", "-n", "5", "--set",
                  set, "--set", "solver.shrink_time=0");
        const state a = read_state_frame("run.h5", 0), b = read_state_frame("run.h5", -1);
        const double e = energy_at_start("run.h5");
        cr_expect_lt(e, (is_float ? 1e-7 : 1e-15) * BENDING / 0.01, "%d, %g deg, x %g: %g J",
                     closed, angles[i], scales[k], e);
        cr_expect_lt(largest_state_difference(&a, &b), is_float ? 1e-5 : 1e-9,
                     "%d, %g deg, x %g: %g m", closed, angles[i], scales[k],
                     largest_state_difference(&a, &b));
      }
}

/* From positions and velocities of frame 5, without contact, a helix that twists and bends goes on
 * to 1e-9 m: its frames are found anew, to rounding. */
Test(states, a_yarn_goes_on_from_files)
{
  double x[3 * (SEGS + 1)], v[3 * (SEGS + 1)];
  make_yarn(x, 0, 1, 0);
  write_state_curve("rest.obj", x, SEGS + 1, 0);
  for (int k = 0; k < 3 * (SEGS + 1); ++k) v[k] = 0.5 * sin(1.7 * k);
  write_rows("v.txt", v, SEGS + 1, 3);
  proc_write("yarn.ini", YARN "velocities = v.txt\n");
  LOOM_FINE("run", "yarn.ini", "--quiet", "-o", "whole.h5");
  const state five = read_state_frame("whole.h5", 5), ten = read_state_frame("whole.h5", 10);
  write_rows("x.txt", five.x, five.n, 3);
  write_rows("w.txt", five.v, five.n, 3);
  LOOM_FINE("run", "yarn.ini", "--quiet", "-o", "part.h5", "-n", "5", "--set",
            "yarn.a.positions=x.txt", "--set", "yarn.a.velocities=w.txt");
  const state start = read_state_frame("part.h5", 0), end = read_state_frame("part.h5", 5);
  cr_expect_eq(largest_state_difference(&start, &five), 0.0);
  cr_expect_lt(largest_state_difference(&end, &ten), is_float ? 1e-5 : 1e-9, "%g m",
               largest_state_difference(&end, &ten));
  cr_expect_gt(largest_state_difference(&five, &ten), 1e-4);
}

/* Energies of a straight yarn by their formulas: E = sum k_b/(2 L) |w - wbar|^2 of both frames, and
 * k_t m^2/L, L of both segments. */
Test(states, rest_lengths_curvature_and_directors)
{
  double x[3 * (SEGS + 1)] = {0}, len[SEGS], curve[5 * (SEGS - 1)] = {0}, m1[3 * SEGS] = {0};
  double bent = 0, twisted = 0;
  for (int i = 0; i <= SEGS; ++i) x[3 * i] = 0.005 * i;
  for (int i = 0; i < SEGS; ++i) {
    len[i] = 0.005 * (1 + 0.1 * (i % 3));
    m1[3 * i + 1] = 2 * cos(0.3 * i), m1[3 * i + 2] = 2 * sin(0.3 * i);
    m1[3 * i] = 0.5; /* along the segment: taken off */
  }
  for (int i = 0; i + 1 < SEGS; ++i) {
    const double L = len[i] + len[i + 1];
    for (int c = 0; c < 4; ++c) curve[5 * i + c] = 0.1 * (c + 1);
    curve[5 * i + 4] = 0.05;
    bent += 0.5 * BENDING / L * 0.01 * (1 + 4 + 9 + 16);
    twisted += TWIST / L * (0.3 - 0.05) * (0.3 - 0.05);
  }
  write_state_curve("rest.obj", x, SEGS + 1, 0);
  write_rows("len.txt", len, SEGS, 1);
  write_rows("curve.txt", curve, SEGS - 1, 5);
  write_rows("m1.txt", m1, SEGS, 3);
  proc_write("yarn.ini", YARN "rest_lengths = len.txt\nrest_curvature = curve.txt\n"
                              "directors = m1.txt\ndensity = 1e-3\n");
  LOOM_FINE("run", "yarn.ini", "--quiet", "-o", "run.h5", "-n", "1");
  const double e = energy_at_start("run.h5");
  cr_expect_float_eq(e / (bent + twisted), 1, is_float ? 1e-5 : 1e-12, "%g J, not %g + %g", e, bent,
                     twisted);
  /* lengths equal the file's after the projection, and masses follow from them */
  const state s = read_state_frame("run.h5", -1);
  double mass = 0;
  for (int i = 0; i < SEGS; ++i) {
    const double d = hypot(hypot(s.x[3 * i + 3] - s.x[3 * i], s.x[3 * i + 4] - s.x[3 * i + 1]),
                           s.x[3 * i + 5] - s.x[3 * i + 2]);
    cr_expect_float_eq(d / len[i], 1, 1e-4, "segment %d: %g m", i, d);
    mass += 1e-3 * len[i];
  }
  loom_err err = {0};
  h5read *r = NULL;
  void *m = NULL;
  int64_t dims[4];
  int rank;
  cr_assert_eq(h5read_open(&err, "run.h5", &r), LOOM_OK, "%s", err.text);
  cr_assert_eq(h5read_dataset(r, &err, "scene/mass", 1, &m, &rank, dims), LOOM_OK, "%s", err.text);
  for (int64_t i = 0; i < dims[0]; ++i) mass -= ((double *)m)[i];
  cr_expect_lt(fabs(mass), 1e-9, "%g kg", mass);
  free(m);
  h5read_close(r);
}
