/* test_impact_zones.c - impacts as one linear system: quantities that the projection conserves or
 * not, against dense algebra; multipliers that only push; the fail-safe. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contact/impact_zones/response.h"
#include "contact/impact_zones/rigid.h"
#include "support/test_host.h"

/* Vertices below FACE are corners of triangles and ends of edges that many impacts share; each
 * impact has one vertex of its own. */
enum { FACE = 30, IMPACTS = 24, VERTS = FACE + IMPACTS };
static const double H = 0.01; /* s */

typedef struct vectors { /* [VERTS][3] */
  double of[VERTS][3];
} vectors;

typedef struct fixture {
  test_host t;
  impacts all;
  response system;
  loom_buf *before, *after, *mask;
  vectors x, y;       /* m, start of the step, and its end without a response */
  double mass[VERTS]; /* kg */
  int m;
  int32_t v[2 * IMPACTS][4];
  double w[2 * IMPACTS][4], n[2 * IMPACTS][3], offset[2 * IMPACTS], target[2 * IMPACTS];
} fixture;

static double zone_vector_dot(const double *a, const double *b)
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Gap of impact j, m. */
static double impact_gap_at(const fixture *f, int j, const vectors *x)
{
  double sum = f->offset[j];
  for (int k = 0; k < 4; ++k) sum += f->w[j][k] * zone_vector_dot(f->n[j], x->of[f->v[j][k]]);
  return sum;
}

/* Impact j at the start of the step: its own vertex touches a point of three others, along a random
 * normal, and all fly about. */
static void make_impact(fixture *f, int j, uint64_t *seed)
{
  double length = 0.0;
  for (int c = 0; c < 3; ++c) f->n[j][c] = th_random(seed);
  length = sqrt(zone_vector_dot(f->n[j], f->n[j]));
  for (int c = 0; c < 3; ++c) f->n[j][c] /= length;
  const double s = 0.5 + 0.4 * th_random(seed), t = (1.0 - s) * (0.5 + 0.4 * th_random(seed));
  const double w[4] = {1.0, -s, -t, s + t - 1.0};
  f->v[j][0] = FACE + j;
  for (int k = 1; k < 4; ++k) f->v[j][k] = (11 * j + 7 * k) % FACE;
  memcpy(f->w[j], w, sizeof w);
  for (int c = 0; c < 3; ++c) {
    f->x.of[FACE + j][c] = 0.0;
    for (int k = 1; k < 4; ++k) f->x.of[FACE + j][c] -= w[k] * f->x.of[f->v[j][k]][c];
  }
}

static loom_buf *create_zone_buffer(fixture *f, int type, int64_t count, const void *values)
{
  return th_buf(&f->t, type, count, values);
}

/* copies: how often every impact is there. */
static void open_impact_system(fixture *f, int copies, int32_t max_inner)
{
  uint64_t seed = 5;
  memset(f, 0, sizeof *f);
  f->m = copies * IMPACTS;
  for (int i = 0; i < FACE; ++i)
    for (int c = 0; c < 3; ++c) f->x.of[i][c] = 0.1 * th_random(&seed);
  for (int j = 0; j < IMPACTS; ++j) make_impact(f, j, &seed);
  for (int i = 0; i < VERTS; ++i) {
    f->mass[i] = 2e-3 + 1e-3 * th_random(&seed);
    for (int c = 0; c < 3; ++c) f->y.of[i][c] = f->x.of[i][c] + H * th_random(&seed);
  }
  for (int j = IMPACTS; j < f->m; ++j) {
    memcpy(f->v[j], f->v[j - IMPACTS], sizeof f->v[j]);
    memcpy(f->w[j], f->w[j - IMPACTS], sizeof f->w[j]);
    memcpy(f->n[j], f->n[j - IMPACTS], sizeof f->n[j]);
  }
  th_open(&f->t, 2, 0);
  th_scene(&f->t, VERTS, &f->x.of[0][0], f->mass, NULL, 0);
  cr_assert_eq(impacts_new(&f->all, &f->t.host, &f->t.scene, &f->t.exec), LOOM_OK);
  cr_assert_eq(response_new(&f->system, &f->t.host, &f->t.scene, &f->t.exec, max_inner), LOOM_OK);
  f->all.m = f->m;
  f->all.v = create_zone_buffer(f, LOOM_I32, 4 * (int64_t)f->m, f->v);
  f->all.w = create_zone_buffer(f, LOOM_REAL, 4 * (int64_t)f->m, f->w);
  f->all.n = create_zone_buffer(f, LOOM_REAL, 3 * (int64_t)f->m, f->n);
  f->all.offset = create_zone_buffer(f, LOOM_REAL, f->m, f->offset);
  f->all.target = create_zone_buffer(f, LOOM_REAL, f->m, f->target);
  f->before = create_zone_buffer(f, LOOM_REAL, 3 * VERTS, &f->y);
  f->after = create_zone_buffer(f, LOOM_REAL, 3 * VERTS, &f->y);
  f->mask = create_zone_buffer(f, LOOM_U8, VERTS, NULL);
}

/* Positions at the end of the step into `out`; push: lambda >= 0. */
static void solve_impact_system(fixture *f, int push, double tolerance, int64_t iters, vectors *out,
                                response_report *report)
{
  response *const r = &f->system;
  *report = (response_report){0};
  cr_assert_eq(response_begin(r), LOOM_OK);
  cr_assert_eq(response_assemble(r, &f->all), LOOM_OK, "%s", f->t.err.text);
  cr_assert_eq(response_missing(r, &f->all, f->before), LOOM_OK);
  cr_assert_eq(push ? response_push(r, &f->all, tolerance, iters, report)
                    : response_solve(r, &f->all, 0.0, tolerance, report),
               LOOM_OK, "%s", f->t.err.text);
  cr_assert_eq(response_apply(r, &f->all, f->before, f->after, f->mask), LOOM_OK);
  double *const x = th_get(&f->t, f->after);
  memcpy(out, x, sizeof *out);
  free(x);
}

static void close_impact_system(fixture *f) { th_close(&f->t); }

/* Sums over all vertices in units of the step: momentum, angular momentum at the start, energy. */
static void sum_zone_momenta(const fixture *f, const vectors *x, double linear[3],
                             double angular[3], double *energy)
{
  memset(linear, 0, 3 * sizeof *linear);
  memset(angular, 0, 3 * sizeof *angular);
  *energy = 0.0;
  for (int i = 0; i < VERTS; ++i) {
    double d[3];
    for (int c = 0; c < 3; ++c) d[c] = x->of[i][c] - f->x.of[i][c];
    for (int c = 0; c < 3; ++c) {
      const int p = (c + 1) % 3, q = (c + 2) % 3;
      linear[c] += f->mass[i] * d[c];
      angular[c] += f->mass[i] * (f->x.of[i][p] * d[q] - f->x.of[i][q] * d[p]);
    }
    *energy += 0.5 * f->mass[i] * zone_vector_dot(d, d);
  }
}

/* min 1/2 |x - y|_M^2 with all gaps zero, by Gauss-Jordan on the dense system. */
static void project_densely(const fixture *f, vectors *out)
{
  static double S[IMPACTS][IMPACTS + 1];
  memset(S, 0, sizeof S);
  for (int j = 0; j < IMPACTS; ++j) {
    for (int k = 0; k < IMPACTS; ++k)
      for (int a = 0; a < 4; ++a)
        for (int b = 0; b < 4; ++b)
          if (f->v[j][a] == f->v[k][b])
            S[j][k] +=
                f->w[j][a] * f->w[k][b] / f->mass[f->v[j][a]] * zone_vector_dot(f->n[j], f->n[k]);
    S[j][IMPACTS] = -impact_gap_at(f, j, &f->y);
  }
  for (int p = 0; p < IMPACTS; ++p)
    for (int j = 0; j < IMPACTS; ++j) {
      const double factor = S[j][p] / S[p][p];
      for (int k = p; k <= IMPACTS && j != p; ++k) S[j][k] -= factor * S[p][k];
    }
  *out = f->y;
  for (int j = 0; j < IMPACTS; ++j)
    for (int a = 0; a < 4; ++a)
      for (int c = 0; c < 3; ++c)
        out->of[f->v[j][a]][c] +=
            f->w[j][a] * f->n[j][c] * S[j][IMPACTS] / S[j][j] / f->mass[f->v[j][a]];
}

static double largest_vector_difference(const vectors *a, const vectors *b)
{
  double most = 0.0;
  for (int i = 0; i < VERTS; ++i)
    for (int c = 0; c < 3; ++c) most = fmax(most, fabs(a->of[i][c] - b->of[i][c]));
  return most;
}

/* With equality all gaps close, as dense algebra says; it pulls as well. */
Test(impact_zones, one_system)
{
  fixture f;
  vectors x, dense;
  response_report report;
  double worst = 0.0, first = 0.0;
  open_impact_system(&f, 1, 1000);
  solve_impact_system(&f, 0, 1e-12, 0, &x, &report);
  project_densely(&f, &dense);
  for (int j = 0; j < IMPACTS; ++j) worst = fmax(worst, fabs(impact_gap_at(&f, j, &x)));
  for (int j = 0; j < IMPACTS; ++j) first = fmax(first, fabs(impact_gap_at(&f, j, &f.y)));
  cr_expect_lt(worst, 1e-9 * first, "%g of %g m", worst, first);
  cr_expect_lt(largest_vector_difference(&x, &dense), 1e-12 * H, "%g m",
               largest_vector_difference(&x, &dense));
  cr_expect_gt(report.pulling, 4, "%g of %d pull", report.pulling, IMPACTS);
  close_impact_system(&f);
}

/* Momentum does not change and energy does not grow, however early the solve ends; the gaps do
 * depend on that. */
Test(impact_zones, what_is_conserved)
{
  static const int32_t most[] = {1, 5, 1000};
  for (int k = 0; k < 3; ++k) {
    fixture f;
    vectors x;
    response_report report;
    double p0[3], p1[3], l0[3], l1[3], e0, e1, worst = 0.0;
    open_impact_system(&f, 1, most[k]);
    solve_impact_system(&f, 0, 1e-12, 0, &x, &report);
    sum_zone_momenta(&f, &f.y, p0, l0, &e0);
    sum_zone_momenta(&f, &x, p1, l1, &e1);
    for (int c = 0; c < 3; ++c) {
      cr_expect_lt(fabs(p1[c] - p0[c]), 1e-12 * sqrt(zone_vector_dot(p0, p0)), "%d iterations",
                   most[k]);
      cr_expect_lt(fabs(l1[c] - l0[c]), 1e-10 * sqrt(zone_vector_dot(l0, l0)), "%d iterations",
                   most[k]);
    }
    cr_expect_lt(e1, (most[k] == 1000 ? 0.9 : 1.0) * e0, "%g of %g", e1, e0);
    for (int j = 0; j < IMPACTS; ++j) worst = fmax(worst, fabs(impact_gap_at(&f, j, &x)));
    cr_expect(most[k] == 1000 ? worst < 1e-10 : worst > 1e-7, "%g m after %d", worst, most[k]);
    close_impact_system(&f);
  }
}

/* Rows that are there twice make the system singular and change no result. */
Test(impact_zones, duplicates)
{
  fixture one, two;
  vectors x, y;
  response_report report;
  open_impact_system(&one, 1, 1000);
  open_impact_system(&two, 2, 1000);
  solve_impact_system(&one, 0, 1e-12, 0, &x, &report);
  solve_impact_system(&two, 0, 1e-12, 0, &y, &report);
  cr_expect_lt(largest_vector_difference(&x, &y), 1e-8 * H, "%g m",
               largest_vector_difference(&x, &y));
  close_impact_system(&one);
  close_impact_system(&two);
}

/* Multipliers that only push let leaving pairs go: no gap is short, none that is wide is pushed,
 * and less energy is lost than where impacts pull. */
Test(impact_zones, only_push)
{
  fixture f;
  vectors x, both;
  response_report report;
  double p[3], l[3], e0, e, e_both;
  int wide = 0;
  open_impact_system(&f, 1, 1000);
  solve_impact_system(&f, 0, 1e-12, 0, &both, &report);
  solve_impact_system(&f, 1, 1e-9, 100000, &x, &report);
  double *const lambda = th_get(&f.t, f.system.lambda);
  for (int j = 0; j < IMPACTS; ++j) {
    const double g = impact_gap_at(&f, j, &x);
    cr_expect_geq(lambda[j], 0.0);
    cr_expect_gt(g, -1e-9 * H, "impact %d: %g m", j, g);
    if (lambda[j] > 0.0) cr_expect_lt(g, 1e-9 * H, "impact %d: %g m", j, g);
    wide += g > 1e-3 * H;
  }
  free(lambda);
  cr_expect_gt(wide, 4);
  sum_zone_momenta(&f, &f.y, p, l, &e0);
  sum_zone_momenta(&f, &x, p, l, &e);
  sum_zone_momenta(&f, &both, p, l, &e_both);
  cr_expect(e_both < e && e < e0, "%g, %g, %g", e_both, e, e0);
  close_impact_system(&f);
}

/* Zones keep the distances inside and their linear momentum. */
Test(impact_zones, rigid)
{
  fixture f;
  double p0[3], p1[3], l0[3], l1[3], e0, e1, carry[IMPACTS][3];
  int64_t moved = 0;
  open_impact_system(&f, 1, 1000);
  for (int j = 0; j < IMPACTS; ++j) carry[j][0] = carry[j][1] = carry[j][2] = NAN;
  f.all.from = create_zone_buffer(&f, LOOM_REAL, 3 * IMPACTS, carry);
  f.all.to = create_zone_buffer(&f, LOOM_REAL, 3 * IMPACTS, carry);
  cr_assert_eq(rigid_zones(&f.all, f.t.step.x_start, f.before, f.after, f.mask, &moved), LOOM_OK);
  vectors *const x = th_get(&f.t, f.after);
  cr_expect_eq(moved, VERTS);
  for (int j = 0; j < IMPACTS; ++j)
    for (int k = 1; k < 4; ++k) {
      double was[3], is[3];
      for (int c = 0; c < 3; ++c) {
        was[c] = f.x.of[f.v[j][0]][c] - f.x.of[f.v[j][k]][c];
        is[c] = x->of[f.v[j][0]][c] - x->of[f.v[j][k]][c];
      }
      cr_expect_float_eq(sqrt(zone_vector_dot(is, is)), sqrt(zone_vector_dot(was, was)), 1e-14,
                         "impact %d", j);
    }
  sum_zone_momenta(&f, &f.y, p0, l0, &e0);
  sum_zone_momenta(&f, x, p1, l1, &e1);
  for (int c = 0; c < 3; ++c)
    cr_expect_lt(fabs(p1[c] - p0[c]), 1e-12 * sqrt(zone_vector_dot(p0, p0)));
  cr_expect_lt(e1, e0);
  free(x);
  close_impact_system(&f);
}
