/* "Cut at the end, then a correction" (time splitting): a solver that is filtered only before
 * COMMIT and a contact model without forces.  The bound cuts the last point once, then the model
 * corrects the rest, and no iteration before that is filtered or corrected
 * (plugins/fx_split.c). */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/h5read.h"
#include "support/sim.h"

enum { ITERS = 4, STEPS = 2 };
static const double SHARE = 0.25, LIFT = 0.01, DT = 0.01, VX = 1.0;

/* One triangle in free flight; guess = last: the way that is cut begins where the step begins. */
static const char flight[] =
    "[run]\nsteps = 2\ndt = 0.01\ngravity = 0 0 0\nguess = last\n"
    "[exec]\nbackend = cpu\nthreads = 1\n[stop]\ntol_abs = 1e-15\ntol_rel = 0\nmax_iters = 4\n"
    "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nshape = grid\nsize = 0.1 "
    "0.1\nresolution = 2 2\ndensity = 0.2\n"
    "membrane = 100\nk_b = 1e-6\nvelocity = 1 0 0\n"
    "[solver]\nplugin = fx_split\n[log]\naudit = off\n"
    "[collision.cut]\nplugin = fx_split\nshare = 0.25\n"
    "[contact.all]\nplugin = fx_split\nlift = 0.01\n";

static void run_sets(sim *s, const char *a, const char *b, const char *c, int may_fail)
{
  char path[1024];
  snprintf(path, sizeof path, "exec.plugin_path=%s/split", getenv("LOOM_FIXTURE_DIR"));
  const char *const sets[] = {path, "contact.all.resolve=yes", a, b, c, NULL};
  sim_run(s, flight, sets, may_fail);
}

static void run_split_setting(sim *s, const char *a) { run_sets(s, a, NULL, NULL, 0); }

/* Largest distance of frame 1 from the cut way of every vertex, lifted by `lift`, in m. */
static double distance_from(sim *s, double lift)
{
  const double way = SHARE * (1.0 - pow(0.5, ITERS)) * DT * VX;
  const size_t bytes = sizeof(double) * 3 * (size_t)s->n;
  double *const x0 = malloc(bytes), *const x = malloc(bytes), time, most = 0.0;
  sim_frame(s, 0, x0, NULL, &time);
  sim_frame(s, 1, x, NULL, &time);
  for (int64_t i = 0; i < s->n; ++i) {
    most = fmax(most, fabs(x[3 * i] - x0[3 * i] - way));
    most = fmax(most, fabs(x[3 * i + 1] - x0[3 * i + 1]));
    most = fmax(most, fabs(x[3 * i + 2] - x0[3 * i + 2] - lift));
  }
  free(x0);
  free(x);
  return most;
}

/* One number of a column that a plugin has. */
static double read_column_value(sim *s, const char *table, const char *name, int64_t row)
{
  h5read *r = NULL;
  double value;
  cr_assert_eq(h5read_open(&s->err, s->log, &r), LOOM_OK, "%s", s->err.text);
  cr_assert_eq(h5read_column(r, &s->err, table, name, 'R', row, 1, &value), LOOM_OK, "%s",
               s->err.text);
  h5read_close(r);
  return value;
}

Test(split, the_last_point_is_cut_and_then_corrected)
{
  sim s;
  run_split_setting(&s, "contact.all.resolve=yes");
  cr_assert_eq(s.steps, STEPS);
  cr_assert_eq(s.iters, STEPS * (ITERS + 2)); /* the guess, iterations, the last filter */
  h5log_iter_row *const row = sim_iters(&s);
  for (int64_t i = 0; i < ITERS + 2; ++i) {
    const int closing = i == ITERS + 1;
    cr_expect_eq(row[i].stage, closing ? -1 : 0, "row %d", (int)i);
    if (i > 0) cr_expect_eq(row[i].filtered, closing, "row %d", (int)i);
    cr_expect_eq(row[i].toi, closing ? SHARE : 1.0, "row %d: %g", (int)i, row[i].toi);
    /* columns of iterations: of a contact model, and of the bound, which the guess has, too */
    cr_expect_eq(read_column_value(&s, "iters_extra", "contact.all.calls", i), closing, "row %d",
                 (int)i);
    cr_expect_eq(read_column_value(&s, "iters_extra", "collision.cut.calls", i), 1 + closing,
                 "row %d", (int)i);
  }
  for (int64_t i = 0; i < STEPS; ++i) { /* of steps: of a solver and of a contact model */
    cr_expect_eq(read_column_value(&s, "steps_extra", "calls", i), ITERS, "step %d", (int)i);
    cr_expect_eq(read_column_value(&s, "steps_extra", "contact.all.calls", i), 1, "step %d",
                 (int)i);
  }
  free(row);
  /* a correction before the cut would be cut, too: SHARE of the lift.  Rounding of 0.1 m: 1e-17 */
  cr_expect_lt(distance_from(&s, LIFT), 1e-15, "%g m", distance_from(&s, LIFT));
  cr_expect_gt(distance_from(&s, SHARE * LIFT), 1e-3);
  sim_free(&s);
}

/* The control: without the resolver the same run is cut and not corrected. */
Test(split, without_the_resolver_nothing_is_corrected)
{
  sim s;
  run_split_setting(&s, "contact.all.resolve=no");
  cr_expect_lt(distance_from(&s, 0.0), 1e-15, "%g m", distance_from(&s, 0.0));
  cr_expect_gt(distance_from(&s, LIFT), 0.9 * LIFT);
  cr_expect_eq(read_column_value(&s, "steps_extra", "contact.all.calls", 0), 0.0);
  sim_free(&s);
}

/* A step that the model refuses is made again in parts, as short steps would be. */
Test(split, what_is_refused_is_halved)
{
  sim halved, shorter, whole;
  run_sets(&halved, "contact.all.longest=0.003", "run.steps=2", NULL, 0);
  run_sets(&shorter, "run.dt=0.0025", "run.steps=8", NULL, 0);
  run_sets(&whole, "contact.all.longest=0.01", "run.steps=2", NULL, 0);
  h5log_step_row *const row = sim_steps(&halved);
  cr_expect_eq(row[0].iters, (1 + 1 + 4) * ITERS); /* whole, one half, four quarters */
  const size_t bytes = sizeof(double) * 3 * (size_t)halved.n;
  cr_expect_eq(memcmp(halved.x, shorter.x, bytes), 0);
  cr_expect_eq(memcmp(halved.v, shorter.v, bytes), 0);
  cr_expect_neq(memcmp(halved.x, whole.x, bytes), 0);
  free(row);
  sim_free(&halved);
  sim_free(&shorter);
  sim_free(&whole);
}

/* ---- the whole state goes back, also where a part of the step had been done ---- */

/* [frames][12] of a body, frees; NULL: the log has none of this name. */
static double *read_body_rows(sim *s, const char *path, int64_t *count)
{
  h5read *r = NULL;
  void *data = NULL;
  int64_t dims[4];
  int rank = 0;
  cr_assert_eq(h5read_open(&s->err, s->log, &r), LOOM_OK, "%s", s->err.text);
  cr_assert_eq(h5read_dataset(r, &s->err, path, 1, &data, &rank, dims), LOOM_OK, "%s", s->err.text);
  h5read_close(r);
  *count = 1;
  for (int i = 0; i < rank; ++i) *count *= dims[i];
  return data;
}

/* The second half of the first step is refused, so that the step begins again, in quarters. */
static const char *const refused[] = {"contact.all.longest=0.003", "contact.all.from=0.008"};

/* Two balls roll on a table and meet: their velocities, spins and contacts are a part of the state.
 */
Test(split, balls_go_back_with_the_cloth)
{
  static const char balls[] =
      "[filter]\nbound = none\n[collision.bodies]\nplugin = sdf\n"
      "[contact.bodies]\nplugin = project\n[body.table]\nshape = plane\nposition = 0 0 "
      "-1\nfriction = 0.3\n"
      "[body.ball]\nradius = 0.05\nmass = 1\nfriction = 0.5\nposition = 0 0 -0.95\ncopies = 2 1 1\n"
      "copy_spacing = 0.105 0 0\nvelocity = 0.5 0 0\nspin = 3 2 40\n";
  sim halved, shorter;
  char path[1024], text[2048];
  int64_t n = 0, m = 0;
  snprintf(path, sizeof path, "exec.plugin_path=%s/split", getenv("LOOM_FIXTURE_DIR"));
  snprintf(text, sizeof text, "%s%s", flight, balls);
  const char *const one[] = {path, "run.gravity=0 0 -9.81", refused[0], refused[1], NULL};
  const char *const four[] = {path, "run.gravity=0 0 -9.81", "run.dt=0.0025", "run.steps=8", NULL};
  sim_run(&halved, text, one, 0);
  sim_run(&shorter, text, four, 0);
  cr_expect_eq(memcmp(halved.x, shorter.x, sizeof(double) * 3 * (size_t)halved.n), 0);
  for (int k = 0; k < 2; ++k) {
    const char *const names[] = {"scene/obstacles/ball_0/pose", "scene/obstacles/ball_1/pose"};
    double *const a = read_body_rows(&halved, names[k], &n), *const b = read_body_rows(
                                                                 &shorter, names[k], &m);
    cr_assert(n == 36 && m == 108, "%lld %lld", (long long)n, (long long)m);
    cr_expect_neq(a[12 + 9], a[9], "ball %d moves", k);
    for (int f = 1; f < 3; ++f)
      for (int i = 0; i < 12; ++i)
        cr_expect_eq(a[12 * f + i], b[48 * f + i], "ball %d, frame %d, %d: %.17g %.17g", k, f, i,
                     a[12 * f + i], b[48 * f + i]);
    free(a), free(b);
  }
  sim_free(&halved);
  sim_free(&shorter);
}

/* Plastic curvature and the frames of rods change at the end of every part. */
Test(split, rods_go_back_with_their_vertices)
{
  static const char yarn[] =
      "[run]\nsteps = 2\ndt = 2e-4\ngravity = 0 0 -9.81\n[exec]\nbackend = cpu\nthreads = 1\n"
      "[filter]\nbound = none\n[solver]\nplugin = yarn_explicit\nmu_prop = 0\nmu_const = 0\n"
      "[log]\naudit = off\n[collision.cut]\nplugin = fx_split\n[contact.all]\nplugin = fx_split\n"
      "lift = 0\n[yarn.swatch]\nrows = 3\nloops = 3\nplasticity = 1e-4\nvelocity = 0 0 -0.6\n"
      "pins = 0 1 2\n";
  sim halved, shorter;
  char path[1024];
  snprintf(path, sizeof path, "exec.plugin_path=%s/split", getenv("LOOM_FIXTURE_DIR"));
  const char *const one[] = {path, "contact.all.longest=6e-5", "contact.all.from=1.5e-4", NULL};
  const char *const four[] = {path, "run.dt=5e-5", "run.steps=8", NULL};
  sim_run(&halved, yarn, one, 0);
  sim_run(&shorter, yarn, four, 0);
  const size_t bytes = sizeof(double) * 3 * (size_t)halved.n;
  cr_expect_eq(memcmp(halved.x, shorter.x, bytes), 0);
  cr_expect_eq(memcmp(halved.v, shorter.v, bytes), 0);
  sim_free(&halved);
  sim_free(&shorter);
}

Test(split, what_is_always_refused_ends_the_run)
{
  sim s;
  run_sets(&s, "contact.all.longest=1e-6", "filter.max_halvings=3", NULL, 1);
  cr_expect_eq(s.status, LOOM_E_NUMERIC);
  cr_expect(strstr(s.err.text, "[contact.all] could not make its end free of impacts, also in 8 "
                               "parts") != NULL,
            "%s", s.err.text);
  sim_free(&s);
}
