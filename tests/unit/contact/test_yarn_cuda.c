/* test_yarn_cuda.c - yarn detection and contact on CUDA beside the CPU: the same pairs and the same
 * contact sets, forces within rounding.  Skipped without a device (a build with LOOM_CUDA=SIMULATED
 * has one). */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/yarn_run.h"

enum { HOST, DEVICE, BOTH };

/* The same swatch twice, or the test is skipped. */
static void open_both(yarn_run *r, const char *grid, const char *model, const char *settings)
{
  static const double squeeze[3] = {0.97, 0.97, 0.88};
  char why[256];
  if (exec_cuda_devices(why, sizeof why) == 0) cr_skip_test("no CUDA device: %s", why);
  for (int k = 0; k < BOTH; ++k) {
    yc_stitch(&r[k].c, 5, 6, squeeze, 3e-5);
    yr_open_on(&r[k], k == HOST ? LOOM_CPU : LOOM_CUDA, 1, grid, model, settings);
  }
}

static void close_both(yarn_run *r)
{
  for (int k = 0; k < BOTH; ++k) yr_close(&r[k]);
}

/* Items of a buffer are the same on both sides. */
static void same_items(yarn_run *r, loom_buf *a, loom_buf *b, int64_t n, int step)
{
  const size_t bytes = (size_t)n * buf_type_size(buf_type(a));
  void *const p = th_get(&r[HOST].t, a), *const q = th_get(&r[DEVICE].t, b);
  cr_expect_eq(memcmp(p, q, bytes), 0, "step %d: %s differ", step, buf_name(a));
  free(p), free(q);
}

static void same_boxes(yarn_run *r, int step)
{
  int32_t(*a)[4], (*b)[4];
  const int64_t n = yr_boxes(&r[HOST], &a);
  cr_assert_eq(n, yr_boxes(&r[DEVICE], &b), "step %d", step);
  cr_assert_gt(n, 0, "no contact: the test would be empty");
  cr_expect_eq(memcmp(a, b, (size_t)n * sizeof *a), 0, "step %d: sets differ", step);
  free(a), free(b);
}

/* Energy and gradient 1 micrometre beside x and, where sets were brought up to date, at x. */
static void same_force(yarn_run *r, const double *x, int step)
{
  const int n3 = 3 * r[HOST].c.n;
  double *const y = calloc((size_t)n3, sizeof *y);
  double *const g = calloc((size_t)n3, sizeof *g), *const f = calloc((size_t)n3, sizeof *f);
  for (int away = 0; away < 2; ++away) {
    double size = 0.0;
    for (int i = 0; i < n3; ++i) y[i] = x[i] + away * 1e-6 * sin(1.0 + i);
    const double e = yr_eval(&r[HOST], y, g), d = yr_eval(&r[DEVICE], y, f);
    for (int i = 0; i < n3; ++i) size = fmax(size, fabs(g[i]));
    cr_assert_gt(size, 0.0);
    cr_expect_float_eq(e, d, 1e-12 * fabs(e), "step %d: %g J and %g J", step, e, d);
    for (int i = 0; i < n3; ++i) /* rounding of some hundred terms */
      cr_expect_float_eq(g[i], f[i], 1e-12 * size, "step %d, vertex %d: %g and %g", step, i / 3,
                         g[i], f[i]);
  }
  free(y), free(g), free(f);
}

static void acl_steps(const char *settings, int steps)
{
  yarn_run r[BOTH];
  open_both(r, "", "acl", settings);
  double *const x = calloc(3 * (size_t)r[HOST].c.n, sizeof *x);
  for (int s = 0; s < steps; ++s) {
    yr_moving(&r[HOST].c, s, x);
    for (int k = 0; k < BOTH; ++k) yr_detect(&r[k], x);
    same_boxes(r, s);
    if (s % 20 == 0 || s == steps - 1) same_force(r, x, s);
  }
  loom_contact_metrics m[BOTH];
  double extra[16]; /* columns, which are not compared */
  for (int k = 0; k < BOTH; ++k) {
    m[k] = (loom_contact_metrics){.struct_size = sizeof m[k], .min_gap = NAN, .extra = extra};
    cr_assert_eq(r[k].model->ops.contact->metrics(r[k].self, &r[k].t.step, &m[k]), LOOM_OK);
  }
  cr_expect_eq(m[HOST].active, m[DEVICE].active);
  cr_expect_float_eq(m[HOST].min_gap, m[DEVICE].min_gap, 1e-15);
  cr_expect_float_eq(m[HOST].max_force, m[DEVICE].max_force, 1e-12 * m[HOST].max_force);
  free(x);
  close_both(r);
}

Test(yarn_cuda, sets_of_the_cpu) { acl_steps("tolerance=0.04 stiction=0.05", 120); }
Test(yarn_cuda, sets_of_the_cpu_exact_forces) { acl_steps("tolerance=0", 30); }

static void penalty_steps(const char *search)
{
  yarn_run r[BOTH];
  open_both(r, search, "yarn_penalty", "");
  double *const x = calloc(3 * (size_t)r[HOST].c.n, sizeof *x);
  for (int s = 0; s < 40; ++s) {
    const loom_pairs *const a = &r[HOST].pairs, *const b = &r[DEVICE].pairs;
    yr_moving(&r[HOST].c, s, x);
    for (int k = 0; k < BOTH; ++k) yr_detect(&r[k], x);
    cr_assert_eq(a->count, b->count, "%s, step %d", search, s);
    cr_assert_gt(a->count, 0, "no contact: the test would be empty");
    same_items(r, a->key, b->key, a->count, s);
    same_items(r, a->v, b->v, 4 * a->count, s);
    same_items(r, a->w, b->w, 4 * a->count, s);
    if (s % 10 == 0) same_force(r, x, s);
  }
  free(x);
  close_both(r);
}

Test(yarn_cuda, pairs_of_the_cpu)
{
  static const char *const searches[3] = {"search=0", "search=1", "search=2"};
  for (int k = 0; k < 3; ++k) penalty_steps(searches[k]);
}
