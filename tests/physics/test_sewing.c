/* Two sheets that hang from each other by stitches: the seam closes, holds the lower sheet, and
 * agrees with the sheet in one piece; without stitches the lower one falls. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/proc.h"
#include "support/sim.h"

TestSuite(sewing, .init = proc_enter, .fini = proc_leave);

enum { NX = 13, NY = 7, N = NX * NY };
static const double width = 0.3, height = 0.15; /* m, of one sheet */

static size_t put_sheet(char *text, size_t room, int first, double top)
{
  size_t at = 0;
  for (int k = 0; k < N; ++k)
    at += (size_t)snprintf(text + at, room - at, "v %.17g 0 %.17g\n", width * (k % NX) / (NX - 1),
                           top - height * (k / NX) / (NY - 1));
  for (int j = 0; j + 1 < NY; ++j)
    for (int i = 0; i + 1 < NX; ++i) {
      const int a = first + i + j * NX + 1, b = a + 1, c = b + NX, d = a + NX;
      at += (size_t)snprintf(text + at, room - at, "f %d %d %d\nf %d %d %d\n", a, c, b, a, d, c);
    }
  return at;
}

/* The lower sheet begins `gap` (m) under the upper one; the last row of that is sewn to the first
 * row of this one: vertices to vertices, or (shifted) to places in the middle of edges. */
static void write_stitched_sheets(const char *name, double gap, int stitched)
{
  static char text[60000];
  size_t at = put_sheet(text, sizeof text, 0, 0);
  at += put_sheet(text + at, sizeof text - at, N, -height - gap);
  for (int i = 0; i < NX && stitched; ++i)
    at += (size_t)snprintf(text + at, sizeof text - at, "stitch %d %d %d %g\n", N + i,
                           N - NX + i - (i > 0), N - NX + i + (i == 0), i == 0 ? 0.0 : 1.0);
  proc_write(name, text);
}

static const char common[] =
    "[run]\nsteps = 60\ndt = 0.02\n[exec]\nbackend = cpu\n[log]\naudit = off\n"
    "[stop]\ntol_abs = 1e-7\ntol_rel = 0\nmax_iters = 100\n"
    "[solver]\nplugin = cholmod_newton\n[filter]\nline_search = on\n"
    "[cloth.a]\nmodel = arap+isometric\nshape = obj\ndensity = 0.2\ndamping = 3\nmembrane = "
    "100\nk_b = 1e-4\n"
    "pins = 0 6 12\n";

static void run_hanging_sheets(sim *s, const char *more)
{
  char text[2048], dir[512], path[1024];
  cr_assert(getcwd(dir, sizeof dir) != NULL);
  char *const file = strstr(more, "FILE");
  cr_assert(file != NULL);
  snprintf(path, sizeof path, "file = %s/%s", dir, file + 4);
  snprintf(text, sizeof text, "%s%.*s%s", common, (int)(file - more), more, path);
  sim_run(s, text, NULL, 0);
}

static double last_gap(sim *s)
{
  h5log_step_row *const rows = sim_steps(s);
  const double gap = rows[s->steps - 1].stitch_gap;
  free(rows);
  return gap;
}

Test(sewing, a_pulled_seam_hangs_as_a_merged_one)
{
  sim pulled, merged, loose;
  write_stitched_sheets("apart.obj", 0.02, 1);
  write_stitched_sheets("together.obj", 0, 0);
  run_hanging_sheets(&pulled,
                     "sewing = pull\nsewing_time = 0.3\nstitch_stiffness = 1e4\nFILEapart.obj\n");
  run_hanging_sheets(&merged, "sewing = merge\nFILEtogether.obj\n");
  run_hanging_sheets(&loose, "sewing = none\nFILEapart.obj\n");
  const double gap = last_gap(&pulled);
  double most = 0, fall = 0;
  cr_assert_eq(merged.n, 2 * N - NX);
  for (int k = 0; k < 2 * N; ++k) { /* the merged rows close up */
    const int m = k < N ? k : k < N + NX ? k - NX : k - NX;
    double d2 = 0;
    for (int c = 0; c < 3; ++c) d2 += pow(pulled.x[3 * k + c] - merged.x[3 * m + c], 2);
    most = fmax(most, sqrt(d2));
    fall = fmax(fall, pulled.x[3 * k + 2] - loose.x[3 * k + 2]);
  }
  printf("a seam of 0.3 m: gap %.3g m at the end, %.3g m from the merged one, %.3g m above the "
         "loose one\n",
         gap, most, fall);
  cr_assert(gap < 1e-3, "%g m", gap);
  cr_assert(most < 0.02 * 2 * height, "%g m of %g m", most, 2 * height);
  cr_assert(fall > 1, "%g m", fall); /* the control */
  cr_assert(isnan(last_gap(&loose)));
  sim_free(&pulled), sim_free(&merged), sim_free(&loose);
}

/* The thread is as long as its share of the time says, in the middle of the pull. */
Test(sewing, threads_shorten_over_time)
{
  sim s;
  write_stitched_sheets("apart.obj", 0.05, 1);
  run_hanging_sheets(&s,
                     "sewing = pull\nsewing_time = 1.0\nstitch_stiffness = 1e5\nFILEapart.obj\n");
  h5log_step_row *const rows = sim_steps(&s);
  for (int64_t k = 4; k < 45; k += 10) {
    const double want = 0.05 * (1 - 0.02 * (double)(k + 1));
    cr_assert_float_eq(rows[k].stitch_gap, want, 1e-3, "step %lld: %g m instead of %g m",
                       (long long)k, rows[k].stitch_gap, want);
  }
  free(rows);
  sim_free(&s);
}

/* ---- the program ---- */

static const char config[] = "[run]\nsteps = 12\ndt = 0.02\n[log]\ncheckpoint_every = 6\n"
                             "[solver]\nplugin = %s\n[stop]\nmax_iters = 30\n"
                             "[cloth.a]\nmodel = arap+isometric\nshape = obj\nfile = "
                             "apart.obj\npins = 0 6 12\nsewing = pull\n"
                             "sewing_time = 0.1\nthickness = 1e-3\n"
                             "[collision.self]\nplugin = brute\n[contact.self]\nplugin = %s\n";

/* Sewn cloth with contact: clean, the same after a stop, the same for any number of threads. */
Test(sewing, with_contact_resumed_and_threaded)
{
  static const char *const methods[][2] = {{"cholmod_newton", "ipc_barrier"},
                                           {"ndb_pd", "ndb"},
                                           {"pcg_newton", "ipc_barrier"},
                                           {"pd_bfgs", "ipc_barrier"}};
  write_stitched_sheets("apart.obj", 0.01, 1);
  for (size_t k = 0; k < sizeof methods / sizeof *methods; ++k) {
    char text[1024];
    snprintf(text, sizeof text, config, methods[k][0], methods[k][1]);
    proc_write("sewn.ini", text);
    LOOM_FINE("run", "sewn.ini", "--quiet", "-o", "whole.h5", "--overwrite");
    LOOM_FINE("run", "sewn.ini", "--quiet", "-o", "parts.h5", "--overwrite", "-n", "7");
    LOOM_FINE("run", "sewn.ini", "--quiet", "-o", "parts.h5", "--resume=6");
    LOOM_FINE("compare", "whole.h5", "parts.h5", "--tol", "0");
    LOOM_FINE("run", "sewn.ini", "--quiet", "-o", "one.h5", "--overwrite", "--threads", "1");
    LOOM_FINE("compare", "whole.h5", "one.h5", "--tol", "0");
    LOOM_FINE("verify", "whole.h5");
  }
}

Test(sewing, bad_stitches_are_refused)
{
  static const char *const cases[][3] = {
      {"stitch 0 1 400 0.5", "none.obj:", "there is no vertex 400; the mesh has 0 to 181"},
      {"stitch 0 1 2 1.5", "none.obj:", "not in [0,1]"},
      {"stitch 0 1 2", "none.obj:", "one number needed behind the ids"},
      {"stitch 0 0 2 0.25", "none.obj:", "sewn to itself"},
      {"# none", "none.obj", "holds no stitches"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    static char text[60000];
    size_t at = put_sheet(text, sizeof text, 0, 0);
    at += put_sheet(text + at, sizeof text - at, N, -height);
    snprintf(text + at, sizeof text - at, "%s\n", cases[k][0]);
    proc_write("none.obj", text);
    proc_write("none.ini",
               "[cloth.a]\nmodel = arap+isometric\nshape = obj\nfile = none.obj\nsewing = pull\n"
               "[solver]\nplugin = gd\n");
    proc_expect_error(2, LOOM_TEXTS("none.ini:5: [cloth.a] sewing", cases[k][1], cases[k][2]),
                      LOOM_ARGS("run", "none.ini"));
  }
}

/* ---- stitches between two pinned vertices ---- */

static void expect_held_stitch(const char *pins, int code, const char *told)
{
  proc p;
  char text[1024];
  snprintf(text, sizeof text,
           "[run]\nsteps = 20\ndt = 0.01\n[solver]\nplugin = cholmod_newton\n[cloth.a]\n"
           "model = arap+isometric\nsize = 0.3 0.3\nresolution = 4\nsewing = pull\nstitches = "
           "ends.txt\n%s\n",
           pins);
  proc_write("held.ini", text);
  proc_loom(&p, LOOM_ARGS("check", "held.ini"));
  cr_expect_eq(p.code, code, "%s: %d: %s", pins, p.code, p.err);
  const char *const about = strstr(p.err, "the stitch of vertex 0 in line 1");
  cr_expect_eq(about != NULL, told != NULL, "%s: %s", pins, p.err);
  if (about != NULL && told != NULL) cr_expect(strstr(about, told) != NULL, "%s: %s", pins, p.err);
}

/* Pins at rest that hold both ends apart leave the seam open for ever; it was accepted, and the gap
 * stayed in the log. */
Test(sewing, a_stitch_between_two_pinned_vertices_is_refused)
{
  proc_write("ends.txt", "stitch 0 12 13 0\n");
  expect_held_stitch("pins = 0 3", 0, NULL);
  expect_held_stitch("pins = 0 12", 2, "cannot close: [cloth.a] pins hold its ends 0.3 m apart");
  expect_held_stitch("pins = 0\n[pin.low]\nobject = a\nwhere = 12", 2,
                     "[cloth.a] pins and [pin.low] hold its ends");
  expect_held_stitch(
      "pins = 0\n[pin.low]\nobject = a\nwhere = 12\nmotion = translate 0 -0.6 0 0 0.5", 0,
      "closes only if its pins lead both ends together");
  expect_held_stitch("pins = 0\n[pin.low]\nobject = a\nwhere = 12\nhold_until = 0.1", 0, NULL);
  expect_held_stitch("pins = 0\n[pin.low]\nobject = a\nwhere = 12\nstiffness = 100", 0, NULL);
  /* an edge that only one end of is pinned */
  proc_write("ends.txt", "stitch 0 12 13 0.5\n");
  expect_held_stitch("pins = 0 12", 0, NULL);
  expect_held_stitch("pins = 0 12 13", 2, "cannot close");
}
