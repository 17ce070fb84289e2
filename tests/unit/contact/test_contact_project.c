/* test_contact_project.c - push-out with friction, one vertex at a time through its steps;
 * and the contact model `none`. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bodies/rows.kern.h"
#include "support/test_host.h"

typedef struct fixture {
  test_host t;
  const loom_plugin *p, *cp;
  const loom_contact_ops *ops;
  void *set, *self, *cset, *cself;
  int n;
  double *x, *v;
} fixture;

static void open_project_contact(fixture *f, int n, const double *x, const double *v,
                                 const loom_real *r, int bodies, const char *settings)
{
  f->n = n;
  f->x = malloc((size_t)n * 3 * sizeof *f->x);
  f->v = malloc((size_t)n * 3 * sizeof *f->v);
  cr_assert(f->x != NULL && f->v != NULL);
  memcpy(f->x, x, (size_t)n * 3 * sizeof *x);
  memcpy(f->v, v, (size_t)n * 3 * sizeof *v);
  th_scene(&f->t, n, x, NULL, r, bodies);
  f->cp = th_plugin("sdf", LOOM_KIND_COLLISION, "sdf");
  f->cset = th_settings(f->cp, "");
  f->cself = th_create(&f->t, f->cp, f->cset);
  th_attach(&f->t, f->cp, f->cself);
  f->p = th_plugin("project", LOOM_KIND_CONTACT, "project");
  f->ops = f->p->ops.contact;
  f->set = th_settings(f->p, settings);
  f->self = th_create(&f->t, f->p, f->set);
}

static void close_project_contact(fixture *f)
{
  f->cp->ops.collision->destroy(f->cself);
  f->ops->destroy(f->self);
  free(f->set), free(f->cset), free(f->x), free(f->v);
  th_close(&f->t);
}

/* A step of free vertices under gravity, corrected. */
static void advance_free_vertices(fixture *f, double h, double g)
{
  loom_step *const s = &f->t.step;
  const size_t count = 3 * (size_t)f->n;
  double *const y = malloc(count * sizeof *y), *const v = malloc(count * sizeof *v);
  cr_assert(y != NULL && v != NULL);
  s->h = h;
  th_put(&f->t, s->x_start, f->x);
  for (size_t i = 0; i < count; ++i) y[i] = f->x[i] + h * f->v[i] - (i % 3 == 2 ? h * h * g : 0.0);
  th_put(&f->t, s->x, y);
  cr_assert_eq(TH_CALL(f->cp->ops.collision, begin_step, f->cself, s), LOOM_OK, "%s",
               f->t.err.text);
  cr_assert_eq(TH_CALL(f->ops, begin_step, f->self, s), LOOM_OK, "%s", f->t.err.text);
  cr_assert_eq(f->ops->resolve(f->self, s, s->x_start, s->x), LOOM_OK, "%s %s", f->t.err.text,
               mem_err(f->t.m)->text);
  double *const x = th_get(&f->t, s->x);
  for (size_t i = 0; i < count; ++i) v[i] = (x[i] - f->x[i]) / h;
  th_put(&f->t, s->v_end, v);
  cr_assert_eq(f->ops->velocity(f->self, s), LOOM_OK, "%s", f->t.err.text);
  double *const v1 = th_get(&f->t, s->v_end);
  memcpy(f->x, x, count * sizeof *x);
  memcpy(f->v, v1, count * sizeof *v1);
  free(y), free(v), free(x), free(v1);
}

static loom_contact_metrics read_project_metrics(fixture *f)
{
  loom_contact_metrics m = {.struct_size = sizeof m, .min_gap = NAN};
  cr_assert_eq(f->ops->metrics(f->self, &f->t.step, &m), LOOM_OK);
  return m;
}

static void set_plane_obstacle(fixture *f, int k, double nx, double nz, double d, double mu)
{
  const loom_real shape[4] = {nx, 0, nz, d};
  f->t.obstacles[k] = th_obstacle("plane", shape, 4);
  f->t.obstacles[k].friction = mu;
}

static const double h = 0.01, g = 9.81;

Test(project, an_impact_is_inelastic_and_braked)
{
  static fixture f;
  const double x[3] = {0, 0, 0.015}, v[3] = {1, 0, -2};
  const loom_real r[1] = {0.005};
  th_open(&f.t, 1, 1);
  set_plane_obstacle(&f, 0, 0, 1, 0, 0.2);
  open_project_contact(&f, 1, x, v, r, 1, "");
  advance_free_vertices(&f, h, g);
  cr_expect(fabs(f.x[2] - 0.005 - 1e-6) < 1e-15, "gap %g", f.x[2] - 0.005);
  cr_expect(fabs(f.v[2]) < 1e-12, "%g", f.v[2]);
  /* the whole normal impulse, m (2 + g h), brakes by mu times as much; the clearance adds
   * mu 1e-6 / h */
  cr_expect(fabs(f.v[0] - (1 - 0.2 * (2 + g * h))) < 1e-4, "%g", f.v[0]);
  const loom_contact_metrics m = read_project_metrics(&f);
  cr_expect_eq(m.active, 1);
  cr_expect(fabs(m.dissipated - 0.5 * (1 - f.v[0] * f.v[0])) < 1e-4, "%g J", m.dissipated);
  close_project_contact(&f);
}

/* The reactions on balls are the opposite of the vertices' impulses, by momentum and, about the
 * ball's centre, by angular momentum; bodies of prescribed motion get none. */
Test(project, reactions_are_opposite)
{
  enum { N = 3000, BALLS = 2 }; /* three chunks */
  static fixture f;
  static double x[3 * N], v[3 * N];
  static loom_real m[3] = {0.5, 0, 0.25}, r[N];
  const loom_real ball[4] = {0, 0, 0, 0.3};
  const double axis[3] = {0, 0.6, 0.8}, at[2][3] = {{0, 0, 0}, {0.7, 0, 0}};
  uint64_t seed = 3;
  double p0[3] = {0}, p1[3] = {0}, L0[3] = {0}, L1[3] = {0}, touching = 0;
  for (int i = 0; i < 3 * N; ++i) {
    x[i] = 0.4 * th_random(&seed) + (i % 3 == 0 ? 0.3 : 0.0);
    v[i] = th_random(&seed);
  }
  th_open(&f.t, 2, 0);
  for (int k = 0; k < 3; k += 2) {
    f.t.obstacles[k] = th_obstacle("sphere", ball, 4);
    f.t.obstacles[k].friction = 0.4;
    th_pose(f.t.obstacles[k].pose0, axis, 0.1, (const double[3]){at[k / 2][0] - 0.01, 0.02, 0});
    th_pose(f.t.obstacles[k].pose1, axis, 0.2, at[k / 2]);
  }
  set_plane_obstacle(&f, 1, 0, 1, -0.35, 0.4);
  for (int k = 0; k < 3; ++k) f.t.obstacles[k].mass = m[k];
  open_project_contact(&f, N, x, v, r, 3, "");
  advance_free_vertices(&f, h, 0);
  cr_assert(f.t.bodies != NULL && bodies_pushed(f.t.bodies) != NULL, "no body was told anything");
  double *const row = th_get(&f.t, bodies_pushed(f.t.bodies));
  for (int i = 0; i < N; ++i) {
    /* vertices at the first ball alone: every other body is further away */
    const double d[3] = {f.x[3 * i] - at[0][0], f.x[3 * i + 1], f.x[3 * i + 2]};
    int moved = 0;
    if (d[0] > 0.34 || d[2] < -0.3499) continue;
    for (int c = 0; c < 3; ++c) {
      const int a = (c + 1) % 3, b = (c + 2) % 3;
      p0[c] += v[3 * i + c], p1[c] += f.v[3 * i + c];
      L0[c] += d[a] * v[3 * i + b] - d[b] * v[3 * i + a];
      L1[c] += d[a] * f.v[3 * i + b] - d[b] * f.v[3 * i + a];
      moved |= fabs(v[3 * i + c] - f.v[3 * i + c]) > 1e-9;
    }
    touching += moved;
  }
  cr_expect(touching > 300);
  cr_expect_float_eq(row[6], touching, 1e-9);
  for (int c = 0; c < 3; ++c) {
    /* sums of thousands of numbers of 1; x/h has lost two digits */
    cr_expect_float_eq(row[c], p0[c] - p1[c], 1e-10, "%d: %.15g %.15g", c, row[c], p0[c] - p1[c]);
    cr_expect_float_eq(row[3 + c], L0[c] - L1[c], 1e-10, "%d: %.15g %.15g", c, row[3 + c],
                       L0[c] - L1[c]);
  }
  cr_expect(fabs(row[1]) > 0.1 && fabs(row[4]) > 0.01 && row[2 * BODY_IMPULSE + 6] > 300);
  for (int c = 0; c < BODY_IMPULSE; ++c) cr_expect(row[BODY_IMPULSE + c] == 0);
  free(row);
  close_project_contact(&f);
}

Test(project, a_slope_of_tan_one_half)
{
  for (int k = 0; k < 2; ++k) {
    static fixture f;
    const double down[3] = {2 / sqrt(5.0), 0, -1 / sqrt(5.0)}, mu = k ? 0.49 : 0.51;
    const double x[3] = {1e-7 / sqrt(5.0), 0, 2e-7 / sqrt(5.0)}, v[3] = {0};
    double v0 = 0.0;
    th_open(&f.t, 1, 0);
    set_plane_obstacle(&f, 0, 1 / sqrt(5.0), 2 / sqrt(5.0), 0, mu);
    open_project_contact(&f, 1, x, v, NULL, 1, "clearance=1e-9");
    for (int i = 0; i < 100; ++i) {
      if (i == 20) v0 = f.v[0] * down[0] + f.v[2] * down[2];
      advance_free_vertices(&f, h, g);
    }
    const double v1 = f.v[0] * down[0] + f.v[2] * down[2];
    const double moved = f.x[0] * down[0] + f.x[2] * down[2];
    if (k == 0)
      cr_expect(fabs(v1) < 1e-12 && fabs(moved) < 1e-6, "creeps: %g m/s, %g m", v1, moved);
    /* exact but for rounding: pushes equal g cos h^2 in every step */
    if (k == 1) cr_expect(fabs((v1 - v0) / 0.8 - 0.0877433) < 1e-6, "%.8f", (v1 - v0) / 0.8);
    close_project_contact(&f);
  }
}

Test(project, a_corner_takes_several_rounds_and_stops_both_speeds)
{
  static fixture f;
  const double x[3] = {0.001, 0, 0.001}, v[3] = {-1, 0.5, -1};
  th_open(&f.t, 1, 0);
  set_plane_obstacle(&f, 0, 0, 1, 0, 0);
  set_plane_obstacle(&f, 1, sqrt(0.5), sqrt(0.5), 0,
                     0); /* 45 degrees: pushes of one undo the other */
  set_plane_obstacle(&f, 2, 1, 0, 0, 0);
  open_project_contact(&f, 1, x, v, NULL, 3, "");
  advance_free_vertices(&f, h, g);
  cr_expect(f.x[0] >= 0 && f.x[2] >= 0 && f.x[0] + f.x[2] >= 0, "%g %g", f.x[0], f.x[2]);
  /* leaving the corner at most as fast as the clearance was made: 1e-6 m / h */
  cr_expect(fabs(f.v[0]) < 1.1e-4 && fabs(f.v[2]) < 1.1e-4, "%g %g", f.v[0], f.v[2]);
  cr_expect(fabs(f.v[1] - 0.5) < 1e-12, "no force acts along the corner");
  cr_expect(read_project_metrics(&f).active >= 2);
  close_project_contact(&f);
}

/* It has the impulse of its weight in every step.  Pushed as it overlaps, it would fall through
 * the clearance and jump back by 1 um every few steps of 62 us. */
Test(project, a_vertex_at_rest_stays_where_it_is)
{
  static fixture f;
  const double x[3] = {0, 0, 2e-6}, v[3] = {0}, step = 6.2e-5;
  th_open(&f.t, 1, 0);
  set_plane_obstacle(&f, 0, 0.6, 0.8, 0, 0.9); /* steep, and rough enough to hold */
  open_project_contact(&f, 1, x, v, NULL, 1, "");
  for (int i = 0; i < 20; ++i) advance_free_vertices(&f, step, g);
  const double at[3] = {f.x[0], f.x[1], f.x[2]};
  for (int i = 0; i < 50; ++i) {
    advance_free_vertices(&f, step, g);
    const loom_contact_metrics m = read_project_metrics(&f);
    cr_expect_eq(m.active, 1, "step %d", i);
    const double push = m.max_force / f.t.step.problem->inertia; /* m, of a mass of 1 kg */
    cr_expect(fabs(push - 0.8 * g * step * step) < 1e-12, "%g m", push);
    cr_expect(isnan(m.min_gap), "%g m is no overlap that is left", m.min_gap);
    for (int c = 0; c < 3; ++c) cr_expect(fabs(f.x[c] - at[c]) < 1e-13, "%g m", f.x[c] - at[c]);
  }
  close_project_contact(&f);
}

Test(project, deep_vertices_do_not_pop_out)
{
  static fixture f;
  const double x[3] = {0, 0, -0.05}, v[3] = {0};
  th_open(&f.t, 1, 0);
  set_plane_obstacle(&f, 0, 0, 1, 0, 0.5);
  open_project_contact(&f, 1, x, v, NULL, 1, "");
  advance_free_vertices(&f, h, g);
  cr_expect(f.x[2] > 0.0 && f.x[2] < 1e-5);
  cr_expect(fabs(f.v[2]) < 1e-9, "%g m/s after a correction of 5 cm", f.v[2]);
  close_project_contact(&f);
}

Test(project, a_moving_floor_carries_and_lifts)
{
  static fixture f;
  const double x[3] = {0, 0, 1e-7}, v[3] = {0};
  th_open(&f.t, 1, 0);
  set_plane_obstacle(&f, 0, 0, 1, 0, 0.5);
  open_project_contact(&f, 1, x, v, NULL, 1, "");
  for (int i = 0; i < 60; ++i) { /* sideways 1 m/s, upwards 0.5 m/s */
    f.t.obstacles[0].pose0[9] = h * i, f.t.obstacles[0].pose1[9] = h * (i + 1);
    f.t.obstacles[0].pose0[11] = 0.5 * h * i, f.t.obstacles[0].pose1[11] = 0.5 * h * (i + 1);
    advance_free_vertices(&f, h, g);
  }
  cr_expect(fabs(f.v[0] - 1) < 1e-9, "%g m/s", f.v[0]);
  cr_expect(fabs(f.v[2] - 0.5) < 1e-9, "%g m/s", f.v[2]);
  cr_expect(fabs(f.x[2] - 0.3 - 1e-6) < 1e-9, "%g m", f.x[2]);
  close_project_contact(&f);
}

Test(project, many_vertices_end_outside_all_bodies_on_any_number_of_threads)
{
  enum { N = 3000 };
  static double x[3 * N], v[3 * N], first[3 * N];
  static const loom_real ball[4] = {0, 0, 0, 0.5}, box[4] = {0.4, 0.4, 0.3, 0.1};
  const double axis[3] = {0, 0.6, 0.8}, t[3] = {0.3, 0, 0.2};
  uint64_t seed = 5;
  for (int i = 0; i < 3 * N; ++i) {
    x[i] = 0.8 * th_random(&seed);
    v[i] = th_random(&seed);
  }
  for (int threads = 1; threads <= 3; ++threads) {
    static fixture f;
    th_open(&f.t, threads, threads == 3);
    f.t.obstacles[0] = th_obstacle("sphere", ball, 4);
    f.t.obstacles[1] = th_obstacle("box", box, 4);
    th_pose(f.t.obstacles[1].pose0, axis, 0.5, t);
    th_pose(f.t.obstacles[1].pose1, axis, 0.6, t);
    f.t.obstacles[0].friction = f.t.obstacles[1].friction = 0.3;
    open_project_contact(&f, N, x, v, NULL, 2, "rounds=100");
    advance_free_vertices(&f, h, g);
    for (int o = 0; o < 2; ++o) {
      obst_view view;
      obst_pose P;
      lk_real n[3];
      cr_assert(obst_view_fill(&f.t.obstacles[o], &view) == NULL);
      obst_pose_at(&view, 1.0, &P);
      for (int i = 0; i < N; ++i)
        cr_assert(obst_distance(&view, &P, f.x + 3 * i, n) >= 0.0, "vertex %d in body %d", i, o);
    }
    cr_expect(f.t.log[0] == '\0', "%s", f.t.log);
    if (threads == 1) memcpy(first, f.v, sizeof first);
    cr_expect_eq(memcmp(first, f.v, sizeof first), 0, "%d threads", threads);
    close_project_contact(&f);
  }
}

Test(project, what_cannot_be_resolved_is_said)
{
  static fixture f;
  const double x[3] = {0, 0, 0}, v[3] = {0};
  th_open(&f.t, 1, 0);
  set_plane_obstacle(&f, 0, 0, 1, 0.1, 0);
  set_plane_obstacle(&f, 1, 0, -1, 0.1, 0); /* floor above the ceiling */
  open_project_contact(&f, 1, x, v, NULL, 2, "rounds=3");
  advance_free_vertices(&f, h, 0);
  cr_expect(strstr(f.t.log, "still 0.2 m deep in bodies after 3 rounds") != NULL, "%s", f.t.log);
  cr_expect(read_project_metrics(&f).min_gap < -0.19);
  close_project_contact(&f);
}

Test(contact_none, asks_for_nothing_and_does_nothing)
{
  test_host t;
  const loom_plugin *const p = th_plugin("none", LOOM_KIND_CONTACT, "none");
  const loom_contact_ops *const ops = p->ops.contact;
  const loom_real x[3] = {0};
  th_open(&t, 1, 0);
  th_scene(&t, 1, x, NULL, NULL, 0);
  void *const self = th_create(&t, p, NULL);
  cr_expect(ops->plan == NULL && ops->update == NULL && ops->eval == NULL && ops->resolve == NULL);
  cr_expect(ops->provides == 0 && ops->needs == 0);
  ops->destroy(self);
  th_close(&t);
}
