/* test_contact_ndb.c - the non-distance barrier as a plugin: the rule of its weights, energy
 * against brute force, derivatives by differences, quadratic terms and their targets. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../plugins/contact/ndb/ndb_rule.kern.h"
#include "support/barrier_case.h"

/* w0 K^a with w0 = 20 N/m, no slack: contacts are the pairs closer than d_hat */
static const double first = 20.0;
static const char *const plain = "d_hat=4e-3 slack=1e-9 weight=1000 w0=0.02 w_max=100";
static const char *const sticky =
    "d_hat=4e-3 slack=1e-9 weight=1000 w0=0.02 w_max=100 self_friction=0.4 epsilon_v=0.5";
static const char *const by_mass = "d_hat=4e-3 slack=1e-9 weight=1000 w0=0.02 w_max=100 targets=1";

/* ---- the rule ---- */

Test(contact_ndb, ages)
{
  const double d = 2e-3;
  const struct {
    int rule, age, hit, brought;
    double gap;
    int next;
  } want[] = {
      {NDB_GROW_GAP, 0, 0, 0, 0.4, 1},      {NDB_GROW_GAP, 7, 0, 0, -3.0, 8},
      {NDB_GROW_GAP, 7, 0, 0, 0.6, 7},      {NDB_GROW_GAP, 7, 0, 0, 0.8, 6}, /* half of it: 0.6 */
      {NDB_GROW_GAP, 7, 0, 7, 0.8, 7},      {NDB_GROW_GAP, 7, 0, 7, 2.0, 7}, /* as brought */
      {NDB_GROW_GAP, 7, 0, 7, 0.4, 8},      {NDB_GROW_GAP, 0, 0, 0, 1.5, 0},
      {NDB_GROW_GAP, 9, 0, 0, 0.1, 9}, /* the cap */
      {NDB_GROW_GAP, 3, 1, 0, 1.5, 2},      {NDB_GROW_LITERAL, 3, 0, 3, 0.9, 4},
      {NDB_GROW_LITERAL, 3, 0, 3, 1.1, 0},  {NDB_GROW_LITERAL, 3, 1, 3, 1.1, 4},
      {NDB_GROW_PARTIAL, 3, 0, 3, -1.0, 0}, {NDB_GROW_PARTIAL, 3, 1, 3, 5.0, 4}};
  for (size_t k = 0; k < sizeof want / sizeof *want; ++k)
    cr_expect_eq(ndb_next_age(want[k].rule, want[k].age, want[k].brought, want[k].gap * d, d, 2.0,
                              want[k].hit, 9),
                 want[k].next, "case %d", (int)k);
}

/* Between steps a falls only as far as not to grow again at once: a quarter of the weight must
 * leave half of d_hat. */
Test(contact_ndb, ages_brought_to_the_next_step)
{
  const struct {
    int rule, age;
    double gap;
    int next;
  } want[] = {{NDB_GROW_GAP, 4, 0.3, 4},    {NDB_GROW_GAP, 4, 0.8, 4},
              {NDB_GROW_GAP, 4, 0.9, 3},    {NDB_GROW_GAP, 4, 7.0, 3},
              {NDB_GROW_GAP, 0, 7.0, 0},    {NDB_GROW_LITERAL, 4, 0.9, 4},
              {NDB_GROW_PARTIAL, 4, 0.9, 4}};
  for (size_t k = 0; k < sizeof want / sizeof *want; ++k)
    cr_expect_eq(ndb_brought_age(want[k].rule, want[k].age, want[k].gap, 1.0, 2.0), want[k].next,
                 "case %d", (int)k);
  for (int age = 1; age < 9; ++age) /* the force keeps its size; the gap is next to settle */
    for (double gap = 0.51; gap < 1.0; gap += 0.01) {
      const int left = ndb_brought_age(NDB_GROW_GAP, age, gap, 1.0, 2.0);
      const double then = 1.0 - (1.0 - gap) * pow(2.0, age - left);
      cr_expect_eq(ndb_next_age(NDB_GROW_GAP, left, left, then, 1.0, 2.0, 0, 9), left, "%g", gap);
    }
}

Test(contact_ndb, weights)
{
  for (int k = 0; k < 3; ++k) {
    const double base = k == 0 ? 1.0 : k == 1 ? 2.0 : 1.3;
    for (int age = 0; age < 200; ++age) {
      const double w = ndb_weight(0.5, base, age, 1e6), want = fmin(0.5 * pow(base, age), 1e6);
      cr_assert(fabs(w - want) < 1e-13 * want, "%g^%d: %.15g", base, age, w);
    }
  }
}

/* ---- energy ---- */

/* Sum of w (d_hat - g)^2 / (2 S) over the pairs at f->x, where they were frozen; each of them has
 * been aged `rounds` times there. */
static double brute_energy(bc_fixture *f, double radius, int rounds, double most, int *closest)
{
  int m;
  double sum = 0.0;
  brute_pair *const p = brute_pairs(&f->t, f->x, f->t.step.progress, bc_d_hat + 2 * radius, &m);
  uint8_t *const fixed = th_get(&f->t, f->t.scene.fixed);
  *closest = 0;
  for (int j = 0; j < m; ++j) {
    double y[12], w[4] = {1, 0, 0, 0}, S = 0.0, xi = (p[j].v[0] < N) * radius;
    for (int a = 0; a < 4 && p[j].v[a] >= 0; ++a)
      brute_position(&f->t, f->x, f->t.step.progress, p[j].v[a], y + 3 * a);
    if (p[j].kind == LOOM_PAIR_EE || p[j].kind == LOOM_PAIR_BEE)
      dist_ee(y, w);
    else if (p[j].kind != LOOM_PAIR_VO)
      dist_vt(y, w);
    if (p[j].v[3] >= 0 && p[j].v[3] < N) xi += radius;
    for (int a = 0; a < 4; ++a)
      if (p[j].v[a] >= 0 && p[j].v[a] < N && !fixed[p[j].v[a]]) S += w[a] * w[a];
    const double gap = p[j].distance - xi, lack = bc_d_hat - gap;
    if (S == 0.0 || lack <= 0.0) continue;
    const int grows = gap < 0.5 * bc_d_hat;
    sum += fmin(first * pow(2.0, grows ? rounds : 0), most) * lack * lack / (2.0 * S);
    *closest += grows;
  }
  free(p), free(fixed);
  return sum;
}

static uint32_t accept_ndb_positions(bc_fixture *f, const double *x)
{
  uint32_t changed;
  th_put(&f->t, f->t.step.x, x);
  cr_assert_eq(f->ops->update(f->self, &f->t.step, &f->pairs, LOOM_AFTER_ACCEPT, &changed), LOOM_OK,
               "%s", f->t.err.text);
  return changed;
}

/* A filter has moved x_feas to x. */
static void look_again(bc_fixture *f, const double *x)
{
  uint32_t changed;
  th_put(&f->t, f->t.step.x, x);
  th_put(&f->t, f->t.step.x_feas, x);
  ++f->t.step.filters;
  bc_detect(f, &changed);
  cr_assert(changed & LOOM_CHANGED_VALUES);
}

Test(contact_ndb, energy_equals_brute_force_while_weights_grow)
{
  static bc_fixture f;
  for (int thick = 0; thick < 2; ++thick) {
    const double radius = thick ? 2e-4 : 0.0;
    double e;
    int closest;
    bc_open(&f, "ndb", 2, thick == 0, 1e-3, radius, plain);
    for (int rounds = 0; rounds < 16; ++rounds) {
      const double want = brute_energy(&f, radius, rounds, 1e5, &closest);
      cr_assert_eq(bc_eval(&f, f.x, &e, NULL, NULL), LOOM_OK);
      cr_assert(fabs(e - want) < 1e-11 * want, "%d rounds: %.15g, want %.15g", rounds, e, want);
      cr_assert(closest > 5, "%d", closest);
      accept_ndb_positions(&f, f.x);
      if (rounds % 3 == 2) look_again(&f, f.x); /* ages go over to the contacts found anew */
    }
    bc_close(&f);
  }
}

/* ---- derivatives and terms ----
 */

/* Contacts aged twice and found again, so that friction has normal forces; x near f->x. */
static void create_aged_contacts(bc_fixture *f, double radius, const char *settings, double *x)
{
  uint64_t seed = 31;
  bc_open(f, "ndb", 2, 0, 1e-3, radius, settings);
  accept_ndb_positions(f, f->x);
  accept_ndb_positions(f, f->x);
  look_again(f, f->x);
  for (int i = 0; i < N3; ++i) x[i] = f->x[i] + 5e-4 * th_random(&seed);
}

static void check_ndb_gradient(double radius, const char *settings)
{
  static bc_fixture f;
  double x[N3];
  create_aged_contacts(&f, radius, settings, x);
  /* sums of squares and, of friction, of cubes: rounding of the energy over 2 e */
  bc_check_derivatives(&f, x, 1e-2, 1e-6);
  bc_close(&f);
}

Test(contact_ndb, derivatives_by_differences) { check_ndb_gradient(0, plain); }
Test(contact_ndb, derivatives_with_thickness_and_friction) { check_ndb_gradient(1e-4, sticky); }

Test(contact_ndb, terms_have_the_gradient_and_are_not_softer_than_the_hessian)
{
  static bc_fixture f;
  for (int c = 0; c < 3; ++c) {
    double x[N3];
    loom_quad q;
    create_aged_contacts(&f, 1e-4, c == 0 ? plain : c == 1 ? sticky : by_mass, x);
    bc_terms_open(&f, &q);
    bc_check_terms(&f, &q, x, 1e-2);
    if (c < 2) { /* terms shared by mass are no upper bound */
      const double closest = bc_check_majorant(&f, &q, x, 300, 5);
      cr_expect(closest > 0.1, "case %d: ten times stiffer than needed: %g", c, closest);
    }
    bc_terms_close(&f, &q);
    bc_close(&f);
  }
}

/* ---- measurements ---- */

static int num_measured; /* launches of ndb_measure */

static loom_status count_measurements(const loom_exec *q, const lk_entry *k, const void *args,
                                      int32_t n, loom_real *result)
{
  num_measured += strcmp(k->name, "ndb_measure") == 0;
  return k->launch[q->backend](q, args, n, result);
}

/* Everything that is asked for at a point in an iteration; the energy, J. */
static double ask_everything(bc_fixture *f, loom_quad *q, const double *x)
{
  static double H[N3][N3], grad[N3];
  double extra[8], energy, loss;
  loom_contact_metrics told = {.extra = extra};
  cr_assert_eq(bc_eval(f, x, &energy, &loss, NULL), LOOM_OK);
  cr_assert_eq(bc_eval(f, x, NULL, NULL, grad), LOOM_OK);
  bc_terms_at(f, x, q);
  bc_hessian(f, x, LOOM_HESS_EXACT, H);
  th_put(&f->t, f->t.step.x, x);
  cr_assert_eq(f->ops->metrics(f->self, &f->t.step, &told), LOOM_OK);
  return energy;
}

Test(contact_ndb, a_point_is_measured_once)
{
  static bc_fixture f;
  double x[N3], y[N3];
  loom_quad q;
  create_aged_contacts(&f, 1e-4, sticky, x);
  memcpy(y, x, sizeof y);
  y[4] += 1e-5;
  bc_terms_open(&f, &q);
  f.t.exec.instead = count_measurements;
  num_measured = 0;
  const double at_x = ask_everything(&f, &q, x);
  cr_expect_eq(num_measured, 1, "%d at the first point", num_measured);
  cr_expect(ask_everything(&f, &q, y) != at_x);
  cr_expect_eq(num_measured, 2, "%d at two points", num_measured);
  cr_expect_eq(ask_everything(&f, &q, x), at_x);
  cr_expect_eq(num_measured, 3, "%d when it comes back", num_measured);
  f.t.step.progress *= 0.5; /* bodies stand elsewhere */
  cr_expect(ask_everything(&f, &q, x) != at_x);
  cr_expect_eq(num_measured, 4, "%d when bodies have moved", num_measured);
  look_again(&f, x); /* contacts are frozen there */
  cr_expect(ask_everything(&f, &q, x) != at_x);
  cr_expect_eq(num_measured, 5, "%d with other contacts", num_measured);
  f.t.exec.instead = NULL;
  bc_terms_close(&f, &q);
  bc_close(&f);
}

/* Targets shared by mass have forces without an energy, and do not claim one. */
Test(contact_ndb, no_energy_is_claimed_where_there_is_none)
{
  for (int mass = 0; mass < 2; ++mass) {
    static bc_fixture f;
    double x[N3], e = 0.0;
    create_aged_contacts(&f, 0, mass ? by_mass : plain, x);
    cr_expect_eq(f.ops->lacks(f.set), mass ? LOOM_CONT_ENERGY : 0);
    cr_assert_eq(bc_eval(&f, x, &e, NULL, NULL), LOOM_OK);
    cr_expect_eq(isnan(e) != 0, mass);
    bc_close(&f);
  }
}

/* Two edges, all else far away: after both have gone to their targets their gap is d_hat. */
Test(contact_ndb, targets_open_the_gap)
{
  static bc_fixture f;
  for (int mass = 0; mass < 2; ++mass) {
    const uint8_t fixed[N] = {0};
    loom_real masses[N];
    double x[N3], sum[3] = {0};
    loom_quad q;
    bc_open(&f, "ndb", 1, 1, 1e-3, 0, mass ? by_mass : plain);
    th_put(&f.t, f.t.scene.fixed, fixed);
    for (int i = 0; i < N; ++i) masses[i] = 0.01 * (1 + i);
    th_put(&f.t, f.t.scene.mass, masses);
    for (int i = 0; i < N; ++i) { /* all others far below and far above */
      const int row = i % SHEET / SIDE;
      x[3 * i] = 3.0 + 0.1 * (i % SIDE), x[3 * i + 1] = 0.1 * row,
            x[3 * i + 2] = i < SHEET ? -1 : 1;
    }
    /* the edges 0 1 and 9 10 cross above one another, 1.5 mm apart; closest at 1/4 and 3/4 */
    const double a[4][3] = {{3, 0, 0}, {3.08, 0, 0}, {3.02, -0.06, 1.5e-3}, {3.02, 0.02, 1.5e-3}};
    memcpy(x, a, 6 * sizeof(double));
    memcpy(x + 3 * SHEET, a[2], 6 * sizeof(double));
    look_again(&f, x);
    bc_terms_open(&f, &q);
    int seen = 0;
    const int64_t m = bc_terms_at(&f, x, &q);
    int32_t *const v = th_get(&f.t, q.v);
    loom_real *const k = th_get(&f.t, q.k), *const p = th_get(&f.t, q.p);
    double to[N3], K[N] = {0};
    memcpy(to, x, sizeof to);
    for (int64_t j = 2; j < 2 + m; ++j) {
      const int i = v[4 * j];
      if (i != 0 && i != 1 && i != SHEET && i != SHEET + 1) continue;
      cr_assert(K[i] == 0.0, "vertex %d has one term", i);
      K[i] = k[j];
      for (int c = 0; c < 3; ++c) {
        to[3 * i + c] = p[3 * j + c];
        sum[c] += (mass ? masses[i] : k[j]) * (p[3 * j + c] - x[3 * i + c]);
      }
      ++seen;
    }
    cr_expect_eq(seen, 4);
    double r[3], y[12], w[4];
    memcpy(y, to, 6 * sizeof(double));
    memcpy(y + 6, to + 3 * SHEET, 6 * sizeof(double));
    const double gap = sqrt(dist_ee(y, w));
    dist_combine(y, w, r);
    /* of the half-space all targets together lie on its border; of shared masses, too, since
     * the weights of a side add up to 1 */
    const double far = mass ? bc_d_hat : gap;
    cr_expect(fabs(gap - far) < 1e-9 && gap >= bc_d_hat * (1 - 1e-9), "gap %g", gap);
    for (int c = 0; c < 2; ++c) cr_expect(fabs(sum[c]) < 1e-15, "it moved along the surface");
    if (!mass) cr_expect(fabs(sum[2]) < 1e-12 * K[0] * bc_d_hat, "momentum: %g", sum[2]);
    free(v), free(k), free(p);
    bc_terms_close(&f, &q);
    bc_close(&f);
  }
}

/* ---- schedule ----
 */

Test(contact_ndb, asks_for_a_filter_after_its_inner_loop)
{
  static bc_fixture f;
  bc_open(&f, "ndb", 1, 1, 1e-3, 0, "d_hat=4e-3 slack=1e-9 weight=1000 inner=5");
  f.t.step.iter = 0;
  for (int outer = 0; outer < 3; ++outer) {
    for (int k = 0; k < 4; ++k)
      cr_expect_eq((accept_ndb_positions(&f, f.x) & LOOM_ASK_FILTER) != 0, k == 3, "%d %d", outer,
                   k);
    /* the fifth is filtered */
    ++f.t.step.filters;
    cr_expect_eq(accept_ndb_positions(&f, f.x) & LOOM_ASK_FILTER, 0);
    --f.t.step.filters;
    look_again(&f, f.x);
  }
  loom_query q = {.struct_size = sizeof q, .kinds = f.ops->pair_kinds};
  cr_assert_eq(f.ops->plan(f.self, &f.t.step, &q), LOOM_OK);
  cr_expect_eq(q.what, 0, "there is no detection between filters");
  bc_close(&f);
}

Test(contact_ndb, the_same_bits_for_any_number_of_threads)
{
  static double g1[N3], G1[N3], K1[N];
  for (int threads = 1; threads <= 4; threads *= 2) {
    static bc_fixture f;
    double g[N3], G[N3], K[N];
    loom_quad q;
    bc_open(&f, "ndb", threads, 0, 1e-3, 0, sticky);
    for (int k = 0; k < 3; ++k) accept_ndb_positions(&f, f.x);
    look_again(&f, f.x);
    bc_terms_open(&f, &q);
    cr_assert_eq(bc_eval(&f, f.x, NULL, NULL, threads == 1 ? g1 : g), LOOM_OK);
    cr_assert_gt(bc_terms_at(&f, f.x, &q), 0, "no contact: the test would be empty");
    bc_terms_sum(&f, &q, f.x, threads == 1 ? G1 : G, threads == 1 ? K1 : K);
    if (threads > 1) {
      cr_assert_eq(memcmp(g1, g, sizeof g), 0, "%d threads", threads);
      cr_assert_eq(memcmp(G1, G, sizeof G), 0, "%d threads", threads);
      cr_assert_eq(memcmp(K1, K, sizeof K), 0, "%d threads", threads);
    }
    bc_terms_close(&f, &q);
    bc_close(&f);
  }
}

Test(contact_ndb, self_contact_keeps_momentum)
{
  static bc_fixture f;
  double x[N3], g[N3], sum[3] = {0}, size = 0.0;
  const uint8_t fixed[N] = {0};
  bc_open(&f, "ndb", 2, 0, 1e-3, 1e-4, plain);
  th_put(&f.t, f.t.scene.fixed, fixed);
  for (int i = 0; i < N3; ++i) x[i] = f.x[i] + (i % 3 == 2 ? 1.0 : 0.0); /* away from bodies */
  look_again(&f, x);
  cr_assert_eq(bc_eval(&f, x, NULL, NULL, g), LOOM_OK);
  for (int i = 0; i < N3; ++i) {
    sum[i % 3] += g[i];
    size = fmax(size, fabs(g[i]));
  }
  cr_assert(size > 1e-3);
  for (int c = 0; c < 3; ++c) cr_assert(fabs(sum[c]) < 1e-12 * size * N, "%g of %g", sum[c], size);
  bc_close(&f);
}

/* ---- repair ----
 */

/* Smallest gap at x of the pairs of triangles and edges closer than d_hat at x0, frozen there. */
static double least_frozen_gap(bc_fixture *f, const double *x0, const double *x, double radius)
{
  int m;
  double least = INFINITY;
  brute_pair *const p = brute_pairs(&f->t, x0, f->t.step.progress, bc_d_hat + 2 * radius, &m);
  for (int j = 0; j < m; ++j) {
    double y[12], w[4], r[3], gap = p[j].v[3] < N ? -2 * radius : -radius;
    if (p[j].v[3] < 0) continue;
    for (int a = 0; a < 4; ++a) brute_position(&f->t, x0, f->t.step.progress, p[j].v[a], y + 3 * a);
    if (p[j].kind == LOOM_PAIR_EE || p[j].kind == LOOM_PAIR_BEE)
      dist_ee(y, w);
    else
      dist_vt(y, w);
    dist_combine(y, w, r);
    for (int a = 0; a < 4; ++a) {
      brute_position(&f->t, x, f->t.step.progress, p[j].v[a], y);
      for (int c = 0; c < 3; ++c) gap += w[a] * y[c] * r[c] / p[j].distance;
    }
    least = fmin(least, gap);
  }
  free(p);
  return least;
}

/* Sheets pushed into each other from where their contacts were found; x becomes the positions
 * after the correction, `was` the positions before it. */
static void push_and_repair(bc_fixture *f, int threads, double *was, double *x)
{
  const uint8_t fixed[N] = {0};
  loom_real masses[N];
  double x0[N3];
  bc_open(f, "ndb", threads, threads == 1, 1e-3, 1e-4, plain);
  th_put(&f->t, f->t.scene.fixed, fixed);
  for (int i = 0; i < N; ++i) masses[i] = 0.01 * (1 + i % 4);
  th_put(&f->t, f->t.scene.mass, masses);
  for (int i = 0; i < N3; ++i) x0[i] = f->x[i] + (i % 3 == 2 ? 1.0 : 0.0); /* away from bodies */
  look_again(f, x0);
  for (int i = 0; i < N3; ++i) was[i] = x0[i];
  for (int i = 0; i < SHEET; ++i) was[3 * i + 2] += 4e-3;
  cr_assert_lt(least_frozen_gap(f, x0, was, 1e-4), -0.5 * bc_d_hat, "they have passed each other");
  th_put(&f->t, f->t.step.x, was);
  cr_assert_eq(f->ops->resolve(f->self, &f->t.step, f->t.step.x_feas, f->t.step.x), LOOM_OK);
  double *const got = th_get(&f->t, f->t.step.x);
  memcpy(x, got, N3 * sizeof *x);
  free(got);
  const double gap = least_frozen_gap(f, x0, x, 1e-4);
  /* sixty sweeps come within a tenth of the half of d_hat; the bound needs far less */
  cr_expect(gap > 0.45 * bc_d_hat, "%g of d_hat", gap / bc_d_hat);
  /* a second correction has no effect */
  cr_assert_eq(f->ops->resolve(f->self, &f->t.step, f->t.step.x_feas, f->t.step.x), LOOM_OK);
  double *const again = th_get(&f->t, f->t.step.x);
  for (int i = 0; i < N3; ++i) cr_expect(fabs(again[i] - x[i]) < 0.02 * bc_d_hat);
  free(again);
}

Test(contact_ndb, repair_opens_what_is_frozen_and_keeps_momentum)
{
  static bc_fixture f;
  double was[N3], x[N3], sum[3] = {0}, most = 0.0;
  push_and_repair(&f, 1, was, x);
  for (int i = 0; i < N3; ++i) {
    sum[i % 3] += 0.01 * (1 + i / 3 % 4) * (x[i] - was[i]);
    most = fmax(most, fabs(x[i] - was[i]));
  }
  cr_expect(most > 0.1 * bc_d_hat && most < 10 * bc_d_hat, "%g", most);
  for (int c = 0; c < 3; ++c) cr_expect(fabs(sum[c]) < 1e-14 * N, "%g kg m", sum[c]);
  bc_close(&f);
}

Test(contact_ndb, repair_gives_the_same_bits_for_any_number_of_threads)
{
  static bc_fixture f;
  double was[N3], one[N3], x[N3];
  push_and_repair(&f, 1, was, one);
  bc_close(&f);
  for (int threads = 2; threads <= 4; threads *= 2) {
    push_and_repair(&f, threads, was, x);
    cr_expect_eq(memcmp(x, one, sizeof x), 0, "%d threads", threads);
    bc_close(&f);
  }
}

/* Without a number, a third of the step limit, 20 at most. */
Test(contact_ndb, inner_follows_the_cap)
{
  static const int32_t caps[][2] = {{0, 20}, {1, 1}, {3, 1}, {20, 7}, {50, 17}, {400, 20}};
  for (size_t k = 0; k < sizeof caps / sizeof *caps; ++k) {
    static bc_fixture f;
    int asked = 1;
    bc_open(&f, "ndb", 1, 1, 1e-3, 0, "d_hat=4e-3 slack=1e-9 weight=1000");
    f.t.step.max_iters = caps[k][0];
    f.t.step.iter = 0;
    if (caps[k][1] > 1)
      while (asked < 30 && !(accept_ndb_positions(&f, f.x) & LOOM_ASK_FILTER)) ++asked;
    else
      cr_expect(accept_ndb_positions(&f, f.x) & LOOM_ASK_FILTER);
    cr_expect_eq(caps[k][1] > 1 ? asked + 1 : 1, caps[k][1], "cap %d: %d", (int)caps[k][0], asked);
    bc_close(&f);
  }
}
