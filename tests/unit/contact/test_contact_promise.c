/* test_contact_promise.c - promises of the barriers for every accepted point: no overlap at the
 * start, at the last point without intersections or at the end of a step; messages that name the
 * cause; and as many candidates as the mesh allows. */
#include <criterion/criterion.h>
#include <string.h>

#include "support/barrier_case.h"

static const double radius = 2e-4; /* m */

/* Vertex 0 at this height above the ball's surface (it is `radius` thick), m. */
static void move_vertex_over_ball(bc_fixture *f, double height, double *x)
{
  static const double centre[3] = {0.008, 0.012, -0.0322}, shift[3] = {1e-3, -5e-4, 2e-4};
  memcpy(x, f->x, sizeof(double) * N3);
  for (int c = 0; c < 3; ++c) x[c] = centre[c] + f->t.step.progress * shift[c];
  x[2] += 0.03 + height;
}

static const char *const barriers[] = {"ipc_barrier", "dbb", "pd_ipc", "ogc", "cubic_barrier"};

Test(contact_promise, a_step_that_ends_with_an_overlap_says_so)
{
  for (size_t k = 0; k < sizeof barriers / sizeof *barriers; ++k) {
    static bc_fixture f;
    double x[N3];
    bc_open(&f, barriers[k], 1, 1, 1e-3, radius, "d_hat=4e-3");
    f.t.step.progress = 1.0;
    move_vertex_over_ball(&f, 1.01 * radius, x);
    th_put(&f.t, f.t.step.x, x);
    cr_expect_eq(f.ops->end_step(f.self, &f.t.step), LOOM_OK, "%s", f.t.err.text);
    move_vertex_over_ball(&f, 0.9 * radius, x);
    th_put(&f.t, f.t.step.x, x);
    cr_expect_eq(f.ops->end_step(f.self, &f.t.step), LOOM_E_NUMERIC);
    cr_expect(strstr(f.t.err.text, "ends with an overlap") != NULL, "%s", f.t.err.text);
    bc_close(&f);
  }
}

/* A remedy that is in force already is none: a gap lost to rounding needs another. */
Test(contact_promise, rounding_and_overlap_have_remedies_of_their_own)
{
  static bc_fixture f;
  double x[N3];
  bc_open(&f, "ipc_barrier", 1, 1, 1e-3, radius, "d_hat=4e-3");
  for (int k = 0; k < 2; ++k) {
    loom_blocks3 none = {.struct_size = sizeof none};
    move_vertex_over_ball(&f, k == 0 ? radius - 1e-15 : 0.5 * radius, x);
    th_put(&f.t, f.t.step.trial, x);
    cr_expect_eq(f.ops->hessian(f.self, &f.t.step, f.t.step.trial, LOOM_HESS_EXACT, &none),
                 LOOM_E_NUMERIC);
    const char *const text = f.t.err.text;
    cr_expect_eq(strstr(text, "lost in rounding") != NULL, k == 0, "%s", text);
    cr_expect_eq(strstr(text, "when = every") != NULL, k == 1, "%s", text);
    cr_expect(strstr(text, "m less than its thickness of 0.0002 m") != NULL, "%s", text);
  }
  bc_close(&f);
}

/* Where the last feasible point overlaps, ndb could not keep it apart. */
Test(contact_promise, ndb_stops_where_its_feasible_point_overlaps)
{
  static bc_fixture f;
  for (int k = 0; k < 2; ++k) {
    double x[N3];
    loom_query q = {.struct_size = sizeof q, .progress0 = 0.6, .progress1 = 0.6};
    uint32_t changed;
    bc_open(&f, "ndb", 1, 1, 1e-3, radius, "d_hat=4e-3 weight=1000");
    move_vertex_over_ball(&f, 0.9 * radius, x);
    th_put(&f.t, f.t.step.x, x);
    th_put(&f.t, f.t.step.x_feas, x);
    f.t.step.iter = k == 0 ? -1 : 3;
    ++f.t.step.filters;
    q.kinds = f.ops->pair_kinds;
    cr_assert_eq(f.ops->plan(f.self, &f.t.step, &q), LOOM_OK);
    th_detect(&f.t, &q, &f.pairs);
    cr_expect_eq(f.ops->update(f.self, &f.t.step, &f.pairs, LOOM_AFTER_DETECT, &changed),
                 LOOM_E_NUMERIC);
    const char *const want = k == 0 ? "starts with an overlap" : "could not be kept";
    cr_expect(strstr(f.t.err.text, want) != NULL, "%s", f.t.err.text);
    bc_close(&f);
  }
}

/* Edges are 1 cm, the diagonals 1.41 cm: a quarter of the mean is 2.8 mm, more than the usual
 * slack. In a finer mesh it is capped, and a warning says so. */
Test(contact_promise, slack_is_what_the_mesh_allows)
{
  static const struct {
    const char *plugin, *settings, *told;
  } cases[] = {{"ipc_barrier", "d_hat=1e-6", NULL},
               {"ndb", "d_hat=1e-6 weight=1000", NULL},
               {"ipc_barrier", "d_hat=1e-6", "slack is 0.00142 m"},
               {"dbb", "d_hat=1e-6", "slack is 0.00142 m"},
               {"ipc_barrier", "d_hat=1e-6 slack=5e-3", NULL}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    static bc_fixture f;
    bc_spacing = k < 2 ? 0.01 : 0.005;
    bc_open(&f, cases[k].plugin, 1, 0, 1e-4, 0, cases[k].settings);
    const int told = strstr(f.t.log, "slack") != NULL;
    cr_expect_eq(told, cases[k].told != NULL, "%d: %s", (int)k, f.t.log);
    if (told) cr_expect(strstr(f.t.log, cases[k].told) != NULL, "%s", f.t.log);
    bc_close(&f);
  }
  bc_spacing = 0.01;
}
