/* test_penalty_friction.c - friction of the penalty against its formulas and a block on a slope. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geom/friction.kern.h"
#include "support/test_host.h"

Test(penalty_friction, friction_functions)
{
  const double y = 0.007, eps = 0.02, e = 1e-7;
  cr_expect(fabs(friction_f0(y, eps) - 0.00883083) < 1e-8, "%.9f", friction_f0(y, eps));
  cr_expect(fabs(y * friction_f1_over(y, eps) - 0.5775) < 1e-15);
  for (int i = 1; i < 40; ++i) { /* derivatives, on both sides of eps */
    const double z = 0.001 * i;
    const double d0 = (friction_f0(z + e, eps) - friction_f0(z - e, eps)) / (2 * e);
    const double d1 =
        ((z + e) * friction_f1_over(z + e, eps) - (z - e) * friction_f1_over(z - e, eps)) / (2 * e);
    cr_expect(fabs(d0 - z * friction_f1_over(z, eps)) < 1e-7);
    if (i != 20) cr_expect(fabs(d1 - friction_f1_slope(z, eps)) < 1e-4);
  }
  cr_expect_eq(friction_f1_over(0.0, eps), 2.0 / eps);
}

/* One vertex of 2 kg on a plane, solved by Newton's method to rounding in every step. */
typedef struct slope {
  test_host t;
  const loom_plugin *p, *cp;
  void *set, *self, *cset, *cself;
  loom_pairs pairs;
  double x[3], v[3], n[3], down[3];
} slope;

static void solve_linear_3x3(double A[3][3], double *b)
{
  for (int k = 0; k < 3; ++k)
    for (int r = k + 1; r < 3; ++r) {
      const double f = A[r][k] / A[k][k];
      for (int c = k; c < 3; ++c) A[r][c] -= f * A[k][c];
      b[r] -= f * b[k];
    }
  for (int k = 2; k >= 0; --k) {
    for (int c = k + 1; c < 3; ++c) b[k] -= A[k][c] * b[c];
    b[k] /= A[k][k];
  }
}

static void slope_open(slope *s, double mu, const char *settings)
{
  const loom_real plane[4] = {1 / sqrt(5.0), 0, 2 / sqrt(5.0), 0}, zero[3] = {0}, mass[1] = {2};
  th_open(&s->t, 1, 0);
  for (int c = 0; c < 3; ++c) s->n[c] = plane[c];
  s->down[0] = 2 / sqrt(5.0), s->down[1] = 0, s->down[2] = -1 / sqrt(5.0);
  s->t.obstacles[0] = th_obstacle("plane", plane, 4);
  s->t.obstacles[0].friction = mu;
  th_scene(&s->t, 1, zero, mass, NULL, 1);
  s->cp = th_plugin("sdf", LOOM_KIND_COLLISION, "sdf");
  s->cset = th_settings(s->cp, "");
  s->cself = th_create(&s->t, s->cp, s->cset);
  th_attach(&s->t, s->cp, s->cself);
  s->p = th_plugin("penalty", LOOM_KIND_CONTACT, "penalty");
  s->set = th_settings(s->p, settings);
  s->self = th_create(&s->t, s->p, s->set);
  th_pairs_open(&s->t, &s->pairs, 1);
  for (int c = 0; c < 3; ++c) s->x[c] = s->v[c] = 0;
}

static void slope_close(slope *s)
{
  s->cp->ops.collision->destroy(s->cself);
  s->p->ops.contact->destroy(s->self);
  free(s->set), free(s->cset);
  th_close(&s->t);
}

static void slope_detect(slope *s, int when)
{
  uint32_t changed;
  loom_query q = {.struct_size = sizeof q,
                  .kinds = LOOM_PAIR_MASK_ALL,
                  .progress0 = s->t.step.progress,
                  .progress1 = s->t.step.progress};
  if (when == LOOM_AFTER_DETECT) {
    cr_assert_eq(s->p->ops.contact->plan(s->self, &s->t.step, &q), LOOM_OK);
    th_detect(&s->t, &q, &s->pairs);
  }
  cr_assert_eq(s->p->ops.contact->update(s->self, &s->t.step, &s->pairs, when, &changed), LOOM_OK);
}

/* Energy of the step's problem at x. */
static double slope_energy(slope *s, const double *x, const double *y)
{
  double e = 0.0, d = 0.0, kinetic = 0.0;
  const double h = s->t.step.h;
  th_put(&s->t, s->t.step.trial, x);
  cr_assert_eq(s->p->ops.contact->eval(s->self, &s->t.step, s->t.step.trial, &e, &d, NULL),
               LOOM_OK);
  for (int c = 0; c < 3; ++c) kinetic += (x[c] - y[c]) * (x[c] - y[c]) / (h * h);
  return kinetic + e + d; /* m / 2 = 1 kg */
}

/* Backtracking: friction has little curvature outside its narrow smooth part. */
static void slope_search(slope *s, double *x, const double *y, const double *d)
{
  const double e0 = slope_energy(s, x, y), x0[3] = {x[0], x[1], x[2]};
  for (double alpha = 1.0; alpha > 1e-12; alpha *= 0.5) {
    for (int c = 0; c < 3; ++c) x[c] = x0[c] + alpha * d[c];
    /* the allowance: differences below it are rounding, and Newton's step is right there */
    if (slope_energy(s, x, y) <= e0 + 1e-13 * fabs(e0)) return;
  }
}

static double slope_step(slope *s, double h)
{
  const loom_contact_ops *const ops = s->p->ops.contact;
  const double m = 2.0, gravity[3] = {0, 0, -9.81};
  double y[3], x[3], r = 1.0;
  loom_step *const st = &s->t.step;
  loom_blocks3 b = {.struct_size = sizeof b, .capacity = 1};
  b.row = th_buf(&s->t, LOOM_I32, 1, NULL);
  b.col = th_buf(&s->t, LOOM_I32, 1, NULL);
  b.val = th_buf(&s->t, LOOM_REAL, 9, NULL);
  st->h = h;
  th_put(&s->t, st->x_start, s->x);
  for (int c = 0; c < 3; ++c) x[c] = y[c] = s->x[c] + h * s->v[c] + h * h * gravity[c];
  cr_assert_eq(ops->begin_step(s->self, st), LOOM_OK);
  th_put(&s->t, st->x, x);
  st->iter = -1;
  slope_detect(s, LOOM_AFTER_DETECT);
  for (int it = 0; it < 200 && r > 1e-11; ++it) {
    st->iter = it;
    const loom_real zero[3] = {0};
    double A[3][3] = {{0}}, d[3];
    th_put(&s->t, st->grad, zero);
    cr_assert_eq(ops->eval(s->self, st, st->x, NULL, NULL, st->grad), LOOM_OK);
    b.count = 0;
    cr_assert_eq(ops->hessian(s->self, st, st->x, LOOM_HESS_EXACT, &b), LOOM_OK);
    loom_real *const g = th_get(&s->t, st->grad), *const H = th_get(&s->t, b.val);
    r = 0.0;
    for (int c = 0; c < 3; ++c) {
      d[c] = -(m * (x[c] - y[c]) / (h * h) + g[c]);
      r = fmax(r, fabs(d[c]));
      for (int k = 0; k < 3; ++k)
        A[c][k] = (b.count > 0 ? H[3 * c + k] : 0.0) + (c == k ? m / (h * h) : 0.0);
    }
    free(g), free(H);
    solve_linear_3x3(A, d);
    slope_search(s, x, y, d);
    th_put(&s->t, st->x, x);
    slope_detect(s, LOOM_AFTER_ACCEPT);
    slope_detect(s, LOOM_AFTER_DETECT);
  }
  for (int c = 0; c < 3; ++c) {
    s->v[c] = (x[c] - s->x[c]) / h;
    s->x[c] = x[c];
  }
  buf_free(s->t.m, b.row), buf_free(s->t.m, b.col), buf_free(s->t.m, b.val);
  return r;
}

static double dot_with_direction(const double *a, const double *d)
{
  return a[0] * d[0] + a[1] * d[1] + a[2] * d[2];
}

Test(penalty_friction, block_sticks_on_a_slope_at_the_limit)
{
  static slope s;
  double worst = 0.0;
  slope_open(&s, 0.5, "epsilon_v=1e-5 stick=1e9");
  /* at rest from the start: at the very limit no force would slow down sliding cloth */
  for (int c = 0; c < 3; ++c) s.x[c] = -9.81 * 2 / sqrt(5.0) / 1e6 * s.n[c];
  const double x0[3] = {s.x[0], s.x[1], s.x[2]};
  for (int i = 0; i < 100; ++i) worst = fmax(worst, slope_step(&s, 0.01));
  cr_expect(worst < 1e-9, "not converged: %g N", worst);
  /* sag g cos / stiffness; creep below epsilon_v = 1e-5 m/s once settled */
  cr_expect(fabs(dot_with_direction(s.x, s.n) + 9.81 * 2 / sqrt(5.0) / 1e6) < 1e-10, "%g",
            dot_with_direction(s.x, s.n));
  cr_expect(dot_with_direction(s.v, s.down) <= 1e-5 * (1 + 1e-9), "%g",
            dot_with_direction(s.v, s.down));
  cr_expect(dot_with_direction(s.x, s.down) - dot_with_direction(x0, s.down) <= 1e-5 * (1 + 1e-9),
            "%g", dot_with_direction(s.x, s.down));
  loom_contact_metrics m = {.struct_size = sizeof m, .min_gap = NAN};
  cr_assert_eq(s.p->ops.contact->metrics(s.self, &s.t.step, &m), LOOM_OK);
  cr_expect_eq(m.active, 1);
  cr_expect(fabs(m.max_force - 2 * 9.81 * 2 / sqrt(5.0)) < 1e-6, "%g", m.max_force);
  cr_expect(fabs(m.min_gap - dot_with_direction(s.x, s.n)) < 1e-15);
  slope_close(&s);
}

Test(penalty_friction, block_slides_below_the_limit_with_the_exact_acceleration)
{
  for (int lag = 0; lag < 2; ++lag) {
    static slope s;
    slope_open(&s, 0.49,
               lag == 0 ? "friction_lag=0 epsilon_v=1e-5 stick=1e9" : "friction_lag=1 stick=1e9");
    for (int i = 0; i < 20; ++i) (void)slope_step(&s, 0.01);
    const double v0 = dot_with_direction(s.v, s.down);
    for (int i = 0; i < 80; ++i) (void)slope_step(&s, 0.01);
    const double a = (dot_with_direction(s.v, s.down) - v0) / 0.8;
    /* settled after 20 steps: only rounding and the stopping test are left */
    cr_expect(fabs(a - 0.0877433) < 2e-7, "lag %d: %.9f m/s^2", lag, a);
    slope_close(&s);
  }
}

/* A vertex resting on a floor that moves sideways is carried along. */
Test(penalty_friction, moving_floor_carries_a_vertex)
{
  static slope s;
  slope_open(&s, 0.5, "epsilon_v=1e-4 stick=1e9");
  const loom_real floor[4] = {0, 0, 1, 0};
  memcpy(s.t.obstacles[0].shape, floor, sizeof floor);
  for (int i = 0; i < 100; ++i) { /* 1 m/s, reached by 1 m/s^2 < mu g */
    const double at0 = 0.5 * 1e-4 * i * i, at1 = 0.5 * 1e-4 * (i + 1) * (i + 1);
    s.t.obstacles[0].pose0[9] = at0;
    s.t.obstacles[0].pose1[9] = at1;
    cr_assert_eq(TH_CALL(s.cp->ops.collision, begin_step, s.cself, &s.t.step), LOOM_OK);
    cr_assert(slope_step(&s, 0.01) < 1e-9, "step %d", i);
  }
  cr_expect(fabs(s.v[0] - 0.995) < 1e-4, "%g m/s", s.v[0]);
  slope_close(&s);
}
