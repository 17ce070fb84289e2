/* test_element_contact.c - edges and triangles against exact shapes (EO) in contact models: a thin
 * bar and a small ball between the vertices of a sheet. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/barrier_case.h"

static void open_bars(bc_fixture *f, const char *plugin, double radius, const char *settings)
{
  bc_bars = 1;
  bc_open(f, plugin, 2, 0, 1e-3, radius, settings);
}

static void close_bars(bc_fixture *f)
{
  bc_close(f);
  bc_bars = brute_elements = 0;
}

/* Energy of the pairs EO alone: with them, less without them. */
static double element_energy(bc_fixture *f, const double *x, double radius, int form, int *active)
{
  int rest;
  const double all = bc_brute_energy(f, x, radius, form, active);
  brute_elements = 0;
  const double others = bc_brute_energy(f, x, radius, form, &rest);
  brute_elements = 1;
  *active -= rest;
  return all - others;
}

static void compare_energies(const char *plugin, const char *settings, int form)
{
  static bc_fixture f;
  int good = 0;
  for (int thick = 0; thick < 2; ++thick) {
    const double radius = thick ? 2e-4 : 0.0;
    open_bars(&f, plugin, radius, settings);
    for (int k = 0; k < 8; ++k) {
      uint64_t seed = 300 + (uint64_t)k;
      double x[N3], e;
      int active;
      for (int i = 0; i < N3; ++i) x[i] = f.x[i] + (k % 2 ? 1.2e-3 : 2e-4) * th_random(&seed);
      if (bc_eval(&f, x, &e, NULL, NULL) == LOOM_REJECTED) continue;
      const double part = element_energy(&f, x, radius, form, &active);
      const double want = bc_brute_energy(&f, x, radius, form, &active);
      cr_expect(part > 0.02 * want, "elements have %g of %g J", part, want);
      cr_assert(fabs(e - want) < 1e-10 * want, "point %d: %.15g, want %.15g", k, e, want);
      ++good;
    }
    close_bars(&f);
  }
  cr_expect(good >= 8, "%d points", good);
}

Test(element_contact, energy_of_ipc_barrier_equals_brute_force)
{
  compare_energies("ipc_barrier", "d_hat=4e-3 stiffness=200 slack=2e-3", BARRIER_SQUARED);
}
Test(element_contact, energy_of_dbb_equals_brute_force)
{
  compare_energies("dbb", "d_hat=4e-3 kappa=200 slack=2e-3", BARRIER_DISTANCE);
}

static void check_element_derivatives(const char *plugin, double radius, const char *settings)
{
  static bc_fixture f;
  double x[N3];
  uint64_t seed = 31;
  open_bars(&f, plugin, radius, settings);
  for (int i = 0; i < N3; ++i) x[i] = f.x[i] + 3e-4 * th_random(&seed);
  bc_check_derivatives(&f, x, 1e-3, 2e-6);
  close_bars(&f);
}

Test(element_contact, derivatives_of_ipc_barrier)
{
  check_element_derivatives("ipc_barrier", 0, "d_hat=4e-3 stiffness=200 slack=2e-3");
}
Test(element_contact, derivatives_of_ipc_barrier_with_friction)
{
  check_element_derivatives("ipc_barrier", 1e-4,
                            "d_hat=4e-3 stiffness=200 slack=2e-3 self_friction=0.4 epsilon_v=0.02");
}
Test(element_contact, derivatives_of_dbb)
{
  check_element_derivatives("dbb", 1e-4, "d_hat=4e-3 kappa=200 slack=2e-3");
}
Test(element_contact, derivatives_of_repulsion)
{
  check_element_derivatives("repulsion", 1e-4, "reach=4e-3 stiffness=200");
}

/* ---- forces ---- */

/* Of a pair EO at the gap `gap`, m, with the weights w: force along the normal, N, without the
 * share.  1: every corner has all of it, 0: its weight's part. */
typedef double force_law(const brute_pair *p, const uint8_t *fixed, double gap, int *whole);

static const double d_hat = 4e-3, heavy = 0.01; /* m; kg, of each vertex */

static double linear_force(const brute_pair *p, const uint8_t *fixed, double gap, int *whole)
{
  (void)p, (void)fixed, (void)whole;
  return 200 * (d_hat - gap);
}

/* Mass of the point, kg. */
static double element_mass(const brute_pair *p, const uint8_t *fixed)
{
  double mass = 0.0;
  for (int b = 0; b < 3; ++b)
    if (p->v[b] >= 0 && !fixed[p->v[b]]) mass += heavy * p->w[b];
  return mass > 1e-8 * heavy ? mass : 0.0;
}

/* Sum of w^2 over all corners. */
static double square_sum(const brute_pair *p)
{
  return p->w[0] * p->w[0] + p->w[1] * p->w[1] + p->w[2] * p->w[2];
}

static double ndb_force(const brute_pair *p, const uint8_t *fixed, double gap, int *whole)
{
  (void)fixed, (void)whole;
  return 20 * (d_hat - gap) / square_sum(p);
}

static double ndb_mass_force(const brute_pair *p, const uint8_t *fixed, double gap, int *whole)
{
  *whole = 1;
  return element_mass(p, fixed) > 0.0 ? 20 * (d_hat - gap) : 0.0; /* else it cannot move */
}

static double pd_ipc_force(const brute_pair *p, const uint8_t *fixed, double gap, int *whole)
{
  const double z = gap / d_hat, y = z * z - 1, mass = element_mass(p, fixed);
  *whole = 1;
  if (mass == 0.0) return 0.0;
  return (-200 * y * y * 2 * log(z) + mass * 1e4) * (d_hat - gap);
}

/* 1e6 per second squared on the mass that moves */
static double penalty_force(const brute_pair *p, const uint8_t *fixed, double gap, int *whole)
{
  (void)fixed, (void)whole;
  return 1e6 * heavy / square_sum(p) * (d_hat - gap);
}

/* Bodies without friction, and cloth where detection looks. */
static void open_smooth(bc_fixture *f, const char *plugin, int elements, const char *settings)
{
  const loom_real smooth[3] = {0, 0, 0};
  uint32_t changed;
  open_bars(f, plugin, 1e-4, settings);
  if (f->t.scene.body_friction != NULL) th_put(&f->t, f->t.scene.body_friction, smooth);
  brute_elements = elements;
  for (int k = 0; k < 3; ++k) f->t.obstacles[k].friction = 0;
  cr_assert_eq(TH_CALL(f->ops, reset, f->self), LOOM_OK);
  cr_assert_eq(f->ops->begin_step(f->self, &f->t.step), LOOM_OK, "%s", f->t.err.text);
  bc_detect(f, &changed);
}

/* Gradient of the pairs EO: with them, less without them. */
static void element_gradient(const char *plugin, const char *settings, double *g)
{
  static bc_fixture f;
  double all[N3];
  for (int elements = 1; elements >= 0; --elements) {
    open_smooth(&f, plugin, elements, settings);
    cr_assert_eq(bc_eval(&f, f.x, NULL, NULL, elements ? all : g), LOOM_OK);
    close_bars(&f);
  }
  for (int i = 0; i < N3; ++i) g[i] = all[i] - g[i];
}

static void compare_forces(const char *plugin, const char *settings, force_law *law)
{
  static bc_fixture f;
  double have[N3], want[N3] = {0}, most = 0.0;
  int m;
  element_gradient(plugin, settings, have);
  open_smooth(&f, plugin, 1, settings);
  brute_pair *const p = brute_pairs(&f.t, f.x, f.t.step.progress, d_hat, &m);
  uint8_t *const fixed = th_get(&f.t, f.t.scene.fixed);
  for (int j = 0; j < m; ++j) {
    int whole = 0;
    if (p[j].kind != LOOM_PAIR_EO) continue;
    const double share = bc_brute_share(&f, &p[j]);
    const double F = share * law(&p[j], fixed, p[j].distance - 1e-4, &whole);
    for (int b = 0; b < 3; ++b)
      for (int c = 0; c < 3 && p[j].v[b] >= 0 && !fixed[p[j].v[b]]; ++c)
        want[3 * p[j].v[b] + c] -= F * (whole ? 1.0 : p[j].w[b]) * p[j].normal[c];
  }
  for (int i = 0; i < N3; ++i) most = fmax(most, fabs(want[i]));
  cr_expect(most > 1e-2, "%g N", most);
  for (int i = 0; i < N3; ++i) {
    if (fixed[i / 3]) continue; /* the core clears its row */
    cr_expect(fabs(have[i] - want[i]) < 1e-5 * most, "%s %d: %.9g, want %.9g N", plugin, i, have[i],
              want[i]);
  }
  free(p), free(fixed);
  close_bars(&f);
}

static const char *const ndb = "d_hat=4e-3 slack=1e-9 weight=1000 w0=0.02 w_max=100";
static const char *const ndb_mass = "d_hat=4e-3 slack=1e-9 weight=1000 w0=0.02 w_max=100 targets=1";
static const char *const pd_ipc = "d_hat=4e-3 kappa=200 slack=2e-3";

Test(element_contact, forces_of_repulsion)
{
  compare_forces("repulsion", "reach=4e-3 stiffness=200", linear_force);
}
Test(element_contact, forces_of_cama_repulsion)
{
  compare_forces("cama_repulsion", "thickness=4e-3 stiffness=200", linear_force);
}
Test(element_contact, forces_of_ndb) { compare_forces("ndb", ndb, ndb_force); }
Test(element_contact, forces_of_ndb_by_mass) { compare_forces("ndb", ndb_mass, ndb_mass_force); }
Test(element_contact, forces_of_pd_ipc) { compare_forces("pd_ipc", pd_ipc, pd_ipc_force); }
Test(element_contact, forces_of_penalty)
{
  compare_forces("penalty", "offset=4e-3 stiffness=1e6", penalty_force);
}

/* Opens repulsion, with or without elements, where o stands in place of the bar and of the small
 * ball. */
static void open_on(bc_fixture *f, const loom_obstacle *o, double jitter, int elements)
{
  uint32_t changed;
  bc_bars = 1;
  bc_open(f, "repulsion", 2, 0, jitter, 1e-4, "reach=4e-3 stiffness=200");
  brute_elements = elements;
  f->t.obstacles[1] = *o;
  f->t.obstacles[2].shape[2] = LK_R(1.0); /* far away */
  cr_assert_eq(f->ops->reset(f->self), LOOM_OK);
  cr_assert_eq(f->ops->begin_step(f->self, &f->t.step), LOOM_OK, "%s", f->t.err.text);
  bc_detect(f, &changed);
}

/* Gradient on a slab whose edge is at `rim`, m. */
static void slab_gradient(double rim, int elements, double *g)
{
  static const loom_real slab[4] = {LK_R(0.5), LK_R(0.5), LK_R(0.01), 0};
  static const double axis[3] = {0, 0, 1};
  static bc_fixture f;
  const double at[3] = {rim - 0.5, 0, -0.0125};
  loom_obstacle o = th_obstacle("box", slab, 4);
  th_pose(o.pose0, axis, 0, at);
  th_pose(o.pose1, axis, 0, at);
  open_on(&f, &o, 1e-3, elements);
  cr_assert_eq(bc_eval(&f, f.x, NULL, NULL, g), LOOM_OK);
  close_bars(&f);
}

/* Over one flat face vertices have all of the force, to the bit; across the rim elements have
 * more. */
Test(element_contact, elements_over_a_flat_face_have_no_force)
{
  double with[N3], without[N3];
  slab_gradient(0.1, 1, with);
  slab_gradient(0.1, 0, without);
  cr_expect(memcmp(with, without, sizeof with) == 0);
  slab_gradient(0.0137, 1, with);
  slab_gradient(0.0137, 0, without);
  cr_expect(memcmp(with, without, sizeof with) != 0);
}

/* A flat sheet on a ball of 25 m, whose top is in the middle of an edge that sinks by half of the
 * depth of its share: it has 0.01 + 0.99 / 4 of the law. */
Test(element_contact, an_edge_hardly_deeper_than_its_ends_has_part_of_the_law)
{
  static bc_fixture f;
  const loom_real ball[4] = {LK_R(0.015), LK_R(0.01), LK_R(-25.0021), LK_R(25.0)};
  const loom_obstacle o = th_obstacle("sphere", ball, 4);
  double g[N3], have = 0.0, want = 0.0, most = 0.0;
  int m;
  for (int elements = 1; elements >= 0; --elements) {
    open_on(&f, &o, 0, elements);
    th_put(&f.t, f.t.step.x_start, f.x);
    cr_assert_eq(f.ops->begin_step(f.self, &f.t.step), LOOM_OK);
    cr_assert_eq(bc_eval(&f, f.x, NULL, NULL, g), LOOM_OK);
    for (int i = 0; i < N; ++i) have += (elements ? -1 : 1) * g[3 * i + 2];
    if (!elements) break;
    brute_pair *const p = brute_pairs(&f.t, f.x, f.t.step.progress, d_hat, &m);
    uint8_t *const fixed = th_get(&f.t, f.t.scene.fixed);
    for (int j = 0; j < m; ++j) {
      double part = 0.0;
      if (p[j].kind != LOOM_PAIR_EO) continue;
      const double share = bc_brute_share(&f, &p[j]);
      for (int b = 0; b < 3; ++b)
        if (p[j].v[b] >= 0 && !fixed[p[j].v[b]]) part += p[j].w[b];
      want += part * share * 200 * (d_hat - (p[j].distance - 1e-4));
      if (p[j].v[2] < 0) most = fmax(most, share);
    }
    free(p), free(fixed);
    close_bars(&f);
  }
  close_bars(&f);
  cr_expect(fabs(most - (0.01 + 0.99 / 4)) < 1e-3, "share %g", most);
  cr_expect(fabs(have - want) < 1e-4 * want, "%.9g N, want %.9g", have, want);
}

/* ---- quadratic terms ---- */

static void check_element_terms(const char *plugin, const char *settings)
{
  static bc_fixture f;
  loom_quad q;
  open_bars(&f, plugin, 1e-4, settings);
  bc_terms_open(&f, &q);
  bc_check_terms(&f, &q, f.x, 1e-3);
  bc_terms_close(&f, &q);
  close_bars(&f);
}

Test(element_contact, terms_have_the_gradient)
{
  check_element_terms("dbb", "d_hat=4e-3 kappa=200 slack=2e-3");
  check_element_terms("dbb", "d_hat=4e-3 kappa=200 slack=2e-3 weight=1");
  check_element_terms("ndb", ndb);
  check_element_terms("ndb", ndb_mass);
  check_element_terms("pd_ipc", pd_ipc);
}

/* ---- matrices ---- */

/* Blocks of the pairs EO in the matrix `how`. */
static void element_matrix(const char *plugin, const char *settings, int how, double H[N3][N3])
{
  static bc_fixture f;
  static double rest[N3][N3];
  for (int elements = 1; elements >= 0; --elements) {
    open_smooth(&f, plugin, elements, settings);
    (void)bc_hessian(&f, f.x, how, elements ? H : rest);
    close_bars(&f);
  }
  for (int i = 0; i < N3; ++i)
    for (int k = 0; k < N3; ++k) H[i][k] -= rest[i][k];
}

static double quadratic_form(double H[N3][N3], const double *d)
{
  double sum = 0.0;
  for (int i = 0; i < N3; ++i)
    for (int k = 0; k < N3; ++k) sum += d[i] * H[i][k] * d[k];
  return sum;
}

/* Sum of share k (n . sum w d)^2 over the pairs EO. */
static double spring_form(bc_fixture *f, double stiffness, const double *d)
{
  int m;
  double sum = 0.0;
  brute_pair *const p = brute_pairs(&f->t, f->x, f->t.step.progress, d_hat, &m);
  uint8_t *const fixed = th_get(&f->t, f->t.scene.fixed);
  for (int j = 0; j < m; ++j) {
    double way = 0.0;
    if (p[j].kind != LOOM_PAIR_EO) continue;
    for (int b = 0; b < 3; ++b)
      for (int c = 0; c < 3 && p[j].v[b] >= 0 && !fixed[p[j].v[b]]; ++c)
        way += p[j].w[b] * p[j].normal[c] * d[3 * p[j].v[b] + c];
    sum += bc_brute_share(f, &p[j]) * stiffness * way * way;
  }
  free(p), free(fixed);
  return sum;
}

/* The Gauss-Newton matrix of cama_repulsion is that of the springs and of how their points slide
 * along elements; the pairwise one is stiffer than the springs. */
Test(element_contact, matrices_of_cama_repulsion)
{
  static bc_fixture f;
  static double H[N3][N3], P[N3][N3];
  double slides = 0.0;
  uint64_t seed = 3;
  element_matrix("cama_repulsion", "thickness=4e-3 stiffness=200", LOOM_HESS_PSD_CLAMP, H);
  element_matrix("cama_repulsion", "thickness=4e-3 stiffness=200 matrix=1", LOOM_HESS_PSD_CLAMP, P);
  open_smooth(&f, "cama_repulsion", 1, "thickness=4e-3 stiffness=200");
  for (int trial = 0; trial < 20; ++trial) {
    double d[N3];
    for (int i = 0; i < N3; ++i) d[i] = th_random(&seed);
    const double want = spring_form(&f, 200, d), have = quadratic_form(H, d);
    cr_expect(have > (1 - 1e-6) * want, "%.9g, want at least %.9g", have, want);
    slides = fmax(slides, have / want - 1);
    cr_expect(quadratic_form(P, d) > want, "%g, less than %g", quadratic_form(P, d), want);
  }
  cr_expect(slides > 0.01, "points slide along their elements without stiffness: %g", slides);
  close_bars(&f);
}

/* The least eigenvalue over the largest sum of a row, by a power iteration on the rest. */
static double least_eigenvalue(double H[N3][N3])
{
  uint64_t seed = 9;
  double d[N3], most = 0.0, least = 0.0;
  for (int i = 0; i < N3; ++i) {
    double row = 0.0;
    for (int k = 0; k < N3; ++k) row += fabs(H[i][k]);
    most = fmax(most, row);
    d[i] = th_random(&seed);
  }
  for (int turn = 0; turn < 4000; ++turn) {
    double next[N3], size = 0.0;
    for (int i = 0; i < N3; ++i) {
      next[i] = most * d[i];
      for (int k = 0; k < N3; ++k) next[i] -= H[i][k] * d[k];
      size += next[i] * next[i];
    }
    for (int i = 0; i < N3; ++i) d[i] = next[i] / sqrt(size);
    least = most - sqrt(size);
  }
  return least / most;
}

/* A matrix that a solver asks for as never indefinite is nowhere below the exact one: it keeps what
 * the point's sliding adds. */
Test(element_contact, projected_matrices_are_never_indefinite)
{
  static double H[N3][N3], E[N3][N3], more[N3][N3];
  static const char *const set = "d_hat=4e-3 stiffness=200 slack=2e-3";
  element_matrix("ipc_barrier", set, LOOM_HESS_PSD_CLAMP, H);
  element_matrix("ipc_barrier", set, LOOM_HESS_EXACT, E);
  for (int i = 0; i < N3; ++i)
    for (int k = 0; k < N3; ++k) more[i][k] = H[i][k] - E[i][k];
  cr_expect(least_eigenvalue(E) < -1e-3, "the exact one is indefinite: %g", least_eigenvalue(E));
  cr_expect(least_eigenvalue(H) > -1e-9, "%g", least_eigenvalue(H));
  cr_expect(least_eigenvalue(more) > -1e-9, "%g", least_eigenvalue(more));
}

/* With weight = curvature the terms of elements are nowhere softer than their energy. */
Test(element_contact, curvature_weights_of_dbb_are_not_below_the_hessian)
{
  static const char *const set = "d_hat=4e-3 kappa=200 slack=2e-3 weight=1";
  static bc_fixture f;
  static double H[N3][N3];
  double g[N3], K[2][N];
  element_matrix("dbb", set, LOOM_HESS_EXACT, H);
  for (int elements = 0; elements < 2; ++elements) {
    loom_quad q;
    open_smooth(&f, "dbb", elements, set);
    bc_terms_open(&f, &q);
    (void)bc_terms_at(&f, f.x, &q);
    bc_terms_sum(&f, &q, f.x, g, K[elements]);
    bc_terms_close(&f, &q);
    close_bars(&f);
  }
  for (int i = 0; i < N3; ++i) {
    for (int k = 0; k < N3; ++k) H[i][k] = -H[i][k];
    H[i][i] += K[1][i / 3] - K[0][i / 3];
  }
  cr_expect(least_eigenvalue(H) > -1e-9, "%g", least_eigenvalue(H));
}
