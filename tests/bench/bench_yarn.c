/* bench_yarn.c - accuracy of contact between yarns, as a table: name, value, bound.
 *
 *   bench_yarn > yarn.csv
 *   bench_yarn FALL.h5 FIRST STEPS > fall.csv
 *
 * A moving swatch without a solver; or the steps of a run with every frame, of one open yarn: the
 * models see the positions that it went through.  The bounds come from the numerics notes (Y1,
 * Y5 to Y8; Y9). */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "geom/yarn.kern.h"
#include "log/h5read.h"
#include "support/yarn_run.h"

static const double k_contact = 3.5; /* N/m */
static const double squeeze[3] = {0.97, 0.97, 0.86};

static double largest_gradient_entry(const double *g, int n3)
{
  double size = 0.0;
  for (int i = 0; i < n3; ++i) size = fmax(size, fabs(g[i]));
  return size;
}

/* Yarns that cross at right angles beside 2 pi k d f(d). */
static void measure_crossed_yarns(double d, double bound)
{
  yarn_run f;
  const double axis[2][3] = {{1, 0, 0}, {0, 1, 0}}, mid[2][3] = {{0, 0, 0}, {0, 0, d}};
  yc_straight(&f.c, 2, 12, 5e-3, axis, mid, 1.25e-3);
  yr_open(&f, 1, "search=1", "yarn_penalty", "");
  double *const g = calloc(3 * (size_t)f.c.n, sizeof *g), force = 0.0;
  yr_detect(&f, f.c.x);
  (void)yr_eval(&f, f.c.x, g);
  for (int i = 0; i < f.c.yarn_vert[1]; ++i) force += g[3 * i + 2];
  free(g);
  yr_close(&f);
  const double want = 2.0 * acos(-1.0) * k_contact * d * yarn_f(d * d, 6.25e-6);
  printf("crossing force at %.1f mm off the analytic one,%.6g,%g\n", 1e3 * d,
         fabs(force / want - 1.0), bound);
}

/* Tolerance 0 beside the exact force, every one of 320 steps. */
static void measure_force_exactness(void)
{
  yarn_run a, b;
  double worst = 0.0;
  yc_stitch(&a.c, 3, 4, squeeze, 3e-5);
  yc_stitch(&b.c, 3, 4, squeeze, 3e-5);
  yr_open(&a, 1, "", "acl", "tolerance=0");
  yr_open(&b, 1, "search=1", "yarn_penalty", "");
  const int n3 = 3 * a.c.n;
  double *const x = calloc((size_t)n3, sizeof *x), *const g = calloc((size_t)n3, sizeof *g);
  double *const want = calloc((size_t)n3, sizeof *want);
  for (int s = 0; s < 320; ++s) {
    yr_moving(&a.c, s, x);
    yr_detect(&a, x);
    yr_detect(&b, x);
    (void)yr_eval(&a, x, g);
    (void)yr_eval(&b, x, want);
    const double size = largest_gradient_entry(want, n3);
    for (int i = 0; i < n3; ++i) worst = fmax(worst, fabs(g[i] - want[i]) / size);
  }
  printf("force at tau 0 off the exact one in 320 steps,%.3g,1e-12\n", worst);
  free(x), free(g), free(want);
  yr_close(&a);
  yr_close(&b);
}

static void measure_rigid_invariance(void)
{
  static const double shift[3] = {0.03, -0.02, 0.05}, none[3] = {0, 0, 0};
  yarn_run a;
  double worst = 0.0;
  yc_stitch(&a.c, 3, 4, squeeze, 3e-5);
  yr_open(&a, 1, "", "acl", "tolerance=1e9");
  const int n3 = 3 * a.c.n;
  double *const x = calloc((size_t)n3, sizeof *x), *const g = calloc((size_t)n3, sizeof *g);
  double *const want = calloc((size_t)n3, sizeof *want), *const h = calloc((size_t)n3, sizeof *h);
  yr_detect(&a, a.c.x);
  (void)yr_eval(&a, a.c.x, g);
  yr_turn(g, a.c.n, 0.7, none, want);
  yr_turn(a.c.x, a.c.n, 0.7, shift, x);
  (void)yr_eval(&a, x, h);
  for (int i = 0; i < n3; ++i)
    worst = fmax(worst, fabs(h[i] - want[i]) / largest_gradient_entry(g, n3));
  printf("force after a turn of 0.7 rad off the turned one,%.3g,1e-10\n", worst);
  free(x), free(g), free(want), free(h);
  yr_close(&a);
}

/* Pairs outside of sets and in two of them, and the sum of all forces, over 300 steps. */
static void measure_pair_coverage(const char *tau)
{
  yarn_run a;
  char set[64];
  int64_t missed = 0, twice = 0, seen = 0;
  double worst = 0.0;
  snprintf(set, sizeof set, "tolerance=%s", tau);
  yc_stitch(&a.c, 3, 4, squeeze, 3e-5);
  yr_open(&a, 1, "", "acl", set);
  const int n3 = 3 * a.c.n;
  double *const x = calloc((size_t)n3, sizeof *x), *const g = calloc((size_t)n3, sizeof *g);
  for (int s = 0; s < 300; ++s) {
    int64_t m, t, p;
    double sum[3] = {0, 0, 0};
    yr_moving(&a.c, s, x);
    yr_detect(&a, x);
    yr_audit(&a, x, &m, &t, &p);
    missed += m, twice += t, seen += p;
    (void)yr_eval(&a, x, g);
    for (int i = 0; i < n3; ++i) sum[i % 3] += g[i];
    for (int c = 0; c < 3; ++c) worst = fmax(worst, fabs(sum[c]) / largest_gradient_entry(g, n3));
  }
  printf("pairs of %lld outside of sets at tau %s,%lld,0\n", (long long)seen, tau,
         (long long)missed);
  printf("pairs of %lld in two sets at tau %s,%lld,0\n", (long long)seen, tau, (long long)twice);
  printf("sum of forces at tau %s over the largest,%.3g,1e-11\n", tau, worst);
  free(x), free(g);
  yr_close(&a);
}

/* ---- a run ----
 */

typedef struct fall {
  h5read *log;
  int64_t first, steps; /* frames first to first + steps - 1 */
  int n;                /* vertices */
  double *x;            /* [n][3] m, the frame in work */
} fall;

static void fall_frame(fall *f, int64_t k)
{
  loom_err err = {0};
  cr_assert_eq(h5read_frame(f->log, &err, k, f->x, NULL, NULL, NULL), LOOM_OK, "%s", err.text);
}

/* Share of the models that the last step built anew. */
static double share_built(yarn_run *r)
{
  double out[16] = {0};
  const loom_plugin *const p = r->model;
  cr_assert(p->num_step_columns <= 16 && strcmp(p->step_columns[0].name, "sets") == 0 &&
            strcmp(p->step_columns[1].name, "built") == 0);
  cr_assert_eq(p->ops.contact->log_step(r->self, &r->t.step, out), LOOM_OK);
  return out[0] > 0.0 ? out[1] / out[0] : 0.0;
}

/* Models at one tolerance beside the exact force at the same positions, every 27th step. */
static void measure_fall_errors(fall *f, double tau, double *built, double *error)
{
  enum { EVERY = 27 };
  yarn_run a, b;
  char set[160];
  int64_t seen = 0;
  const int n3 = 3 * f->n;
  double *const g = calloc((size_t)n3, sizeof *g), *const want = calloc((size_t)n3, sizeof *want);
  snprintf(set, sizeof set, "tolerance=%g", tau);
  fall_frame(f, 0); /* lengths as at the start */
  yc_new(&a.c, 1, &f->n, NULL, f->x, 1.25e-3);
  yc_new(&b.c, 1, &f->n, NULL, f->x, 1.25e-3);
  yr_open(&a, 1, "", "acl", set);
  yr_open(&b, 1, "search=1", "yarn_penalty", "");
  *error = *built = 0;
  for (int64_t s = 0; s < f->steps; ++s) {
    double d2 = 0, size2 = 0;
    fall_frame(f, f->first + s);
    yr_detect(&a, f->x);
    if (s > 0) *built += share_built(&a); /* the first step makes them */
    if (s % EVERY != EVERY - 1) continue;
    yr_detect(&b, f->x);
    (void)yr_eval(&a, f->x, g);
    (void)yr_eval(&b, f->x, want);
    for (int i = 0; i < n3; ++i) {
      d2 += (g[i] - want[i]) * (g[i] - want[i]);
      size2 += want[i] * want[i];
    }
    *error += sqrt(d2 / size2);
    ++seen;
  }
  *error /= (double)seen;
  yr_close(&a);
  yr_close(&b);
  *built /= (double)(f->steps - 1);
  free(g), free(want);
}

static void follow_all(const char *path, int64_t first, int64_t steps)
{
  static const double tau[4] = {0.004, 0.04, 0.1, 0.3}, built_at_most[4] = {20, 2.5, 1, 0.5},
                      error_at_most[4] = {0.3, 12, 25, 45};
  double built[4], error[4];
  int places = 0;
  loom_err err = {0};
  fall f = {.first = first, .steps = steps};
  cr_assert_eq(h5read_open(&err, path, &f.log), LOOM_OK, "%s", err.text);
  cr_assert(first > 0 && steps > 100 && first + steps <= h5read_num_frames(f.log));
  f.n = (int)h5read_num_verts(f.log);
  f.x = calloc(3 * (size_t)f.n, sizeof *f.x);
  for (int i = 0; i < 4; ++i) {
    measure_fall_errors(&f, tau[i], &built[i], &error[i]);
    printf("falling swatch: models built per step at tau %g (%%),%.4g,%g\n", tau[i], 100 * built[i],
           built_at_most[i]);
    printf("falling swatch: mean L2 error of force at tau %g (%%),%.4g,%g\n", tau[i],
           100 * error[i], error_at_most[i]);
    if (i > 0) places += (built[i] > built[i - 1]) + (error[i] < error[i - 1]);
  }
  printf("falling swatch: builds that rise or errors that fall with tau,%d,0\n", places);
  free(f.x);
  h5read_close(f.log);
}

int main(int argc, char **argv)
{
  static const char *const tau[5] = {"0", "0.004", "0.04", "0.1", "0.3"};
  printf("name,value,bound\n");
  if (argc == 4) {
    follow_all(argv[1], strtoll(argv[2], NULL, 10), strtoll(argv[3], NULL, 10));
    return 0;
  }
  measure_crossed_yarns(1.0e-3, 0.005);
  measure_crossed_yarns(1.5e-3, 0.005);
  measure_crossed_yarns(2.0e-3, 0.005);
  measure_crossed_yarns(2.4e-3, 0.06);
  measure_force_exactness();
  measure_rigid_invariance();
  for (int i = 0; i < 5; ++i) measure_pair_coverage(tau[i]);
  return 0;
}
