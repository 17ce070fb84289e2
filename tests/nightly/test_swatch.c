/* Half a second of a knitted swatch of 400 loops, configs/yarn_swatch.ini: it tightens, falls onto
 * a ball and drapes, and stays knitted. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "log/h5read.h"
#include "support/proc.h"

enum { FRAMES = 30, SUBSTEPS = 270, LOOPS = 400 };
static const double r = 1.25e-3; /* m */

static h5read *run_knitted_swatch(void)
{
  loom_err err = {0};
  h5read *log;
  char config[1024];
  const char *source = getenv("LOOM_SOURCE_DIR");
  cr_assert(source != NULL, "LOOM_SOURCE_DIR is not set");
  snprintf(config, sizeof config, "%s/configs/yarn_swatch.ini", source);
  LOOM_FINE("run", config, "--quiet", "-o", "swatch.h5", "-n", "30");
  cr_assert_eq(h5read_open(&err, "swatch.h5", &log), LOOM_OK, "%s", err.text);
  return log;
}

/* No pull-through.  Centre lines that pass each other are at distance 0 in between.  Models know
 * the distance when they were built and stand while points have moved by less than 0.04 of it; no
 * vertex goes further than r/8 in a step, so two points (weights add up to 1.25) come nearer by
 * less than 0.32 r.  Beyond r/2 no yarn passes between two steps; the bound is the numerics notes'
 * on the distance, 0.75 of 2 r (Y12). */
static void stays_knitted(h5read *log)
{
  loom_err err = {0};
  const int64_t n = h5read_num_iters(log);
  h5log_iter_row *rows = malloc((size_t)n * sizeof *rows);
  double nearest = 0, fastest = 0;
  int64_t touching = 0;
  cr_assert_eq(h5read_iters(log, &err, 0, n, rows), LOOM_OK, "%s", err.text);
  for (int64_t i = 0; i < n; ++i) {
    if (isfinite(rows[i].min_gap)) nearest = fmin(nearest, rows[i].min_gap);
    if (isfinite(rows[i].dx_max)) fastest = fmax(fastest, rows[i].dx_max);
    touching += rows[i].active > LOOPS;
  }
  free(rows);
  printf("smallest distance %.3f of 2 r, largest movement in a step %.4f r\n",
         1 + nearest / (2 * r), fastest / r);
  cr_expect(touching > n / 2, "contact in %lld rows of %lld", (long long)touching, (long long)n);
  cr_expect(nearest > -0.25 * 2 * r, "centre lines came within %.3f of 2 r", 1 + nearest / (2 * r));
  cr_expect(fastest < r / 8, "a vertex moved by %g r in a step", fastest / r);
}

/* It lies on a ball of 0.05 m above a floor: no vertex is inside them, some lie on either. */
static void lies_on_ball_and_floor(h5read *log)
{
  loom_err err = {0};
  const int64_t n = h5read_num_verts(log);
  double *x = malloc(24 * (size_t)n), ball = INFINITY, floor = INFINITY;
  int64_t step;
  cr_assert_eq(h5read_frame(log, &err, FRAMES, x, NULL, NULL, &step), LOOM_OK, "%s", err.text);
  cr_assert_eq(step, FRAMES * SUBSTEPS - 1);
  for (int64_t i = 0; i < n; ++i) {
    ball = fmin(ball, hypot(hypot(x[3 * i], x[3 * i + 1]), x[3 * i + 2]));
    floor = fmin(floor, x[3 * i + 2]);
  }
  free(x);
  printf("distance from the ball's centre %.6f m, from the floor %.6f m\n", ball, floor);
  cr_expect(ball > 0.05 + r - 1e-5 && ball < 0.05 + 2 * r, "%g m", ball);
  cr_expect(floor > r - 1e-5 && floor < 2 * r, "%g m", floor);
}

TestSuite(swatch, .init = proc_enter, .fini = proc_leave);

Test(swatch, drapes_and_stays_knitted)
{
  h5read *log = run_knitted_swatch();
  cr_assert_eq(h5read_num_steps(log), FRAMES * SUBSTEPS);
  cr_assert_eq(h5read_num_frames(log), FRAMES + 1);
  stays_knitted(log);
  lies_on_ball_and_floor(log);
  h5read_close(log);
}
