/* test_contact_pd_ipc.c - targets shared by mass: weights and forces against a sum over all pairs,
 * a gap that two edges close to d_hat, forces without an energy, overlaps, threads. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/barrier_case.h"

static const char *const settings = "d_hat=4e-3 kappa=200 slack=2e-3";

static double mass_of(int i) { return 0.01 * (1 + i % 5); }

/* As bodies have friction. */
static void open_rough(bc_fixture *f, int threads, double radius)
{
  loom_real masses[N];
  bc_open(f, "pd_ipc", threads, threads == 1, 1e-3, radius, settings);
  for (int i = 0; i < N; ++i) masses[i] = mass_of(i);
  th_put(&f->t, f->t.scene.mass, masses);
}

/* Smooth bodies: the terms of the paper, and no others. */
static void open_case(bc_fixture *f, int threads, double radius)
{
  uint32_t changed;
  open_rough(f, threads, radius);
  for (int k = 0; k < 2; ++k) f->t.obstacles[k].friction = 0;
  cr_assert_eq(f->ops->reset(f->self), LOOM_OK);
  cr_assert_eq(f->ops->begin_step(f->self, &f->t.step), LOOM_OK);
  bc_detect(f, &changed);
}

/* ---- against all pairs ---- */

static const double centre[3] = {0.008, 0.012, -0.0322}, shift[3] = {1e-3, -5e-4, 2e-4}; /* m */

/* Mass of the point that corners `from` to `to` make with their weights; infinite: held. */
static double point_mass(const brute_pair *p, const uint8_t *fixed, const double *w, int from,
                         int to)
{
  double sum = 0.0;
  for (int a = from; a < to; ++a)
    if (p->v[a] >= 0 && p->v[a] < N && !fixed[p->v[a]]) sum += fabs(w[a]) * mass_of(p->v[a]);
  return sum > 0.0 ? sum : INFINITY;
}

/* One pair's share of gradient g and weights K. */
static void add_pair_target(bc_fixture *f, const brute_pair *p, const uint8_t *fixed,
                            const double *x, double radius, double *g, double *K)
{
  const double kappa = 200, d_hat = bc_d_hat, h = f->t.step.h;
  const int side = p->kind == LOOM_PAIR_EE || p->kind == LOOM_PAIR_BEE ? 2 : 1;
  double y[12], w[4] = {1, 0, 0, 0}, n[3];
  for (int a = 0; a < 4 && p->v[a] >= 0; ++a)
    brute_position(&f->t, x, f->t.step.progress, p->v[a], y + 3 * a);
  if (p->kind == LOOM_PAIR_VO) { /* the ball */
    for (int c = 0; c < 3; ++c) n[c] = y[c] - (centre[c] + f->t.step.progress * shift[c]);
    const double far = sqrt(lk_dot3(n, n));
    for (int c = 0; c < 3; ++c) n[c] *= p->distance / far;
  } else {
    (void)(side == 2 ? dist_ee(y, w) : dist_vt(y, w));
    dist_combine(y, w, n);
  }
  const double d = sqrt(lk_dot3(n, n));
  const double xi = (p->v[0] < N) * radius + (p->v[3] >= 0 && p->v[3] < N) * radius;
  const double gap = d - xi, D = gap * gap, D_hat = d_hat * d_hat;
  const double m1 = point_mass(p, fixed, w, 0, side), m2 = point_mass(p, fixed, w, side, 4);
  if (isinf(m1) && isinf(m2)) return;
  const double least = fmin(m1, m2);
  const double share1 = isinf(m2) ? 1 : isinf(m1) ? 0 : m2 / (m1 + m2);
  const double k =
      -kappa * (D - D_hat) * (D - D_hat) * log(D / D_hat) / (D_hat * D_hat) + least / (h * h);
  for (int a = 0; a < 4; ++a) {
    if (p->v[a] < 0 || p->v[a] >= N || fixed[p->v[a]]) continue;
    K[p->v[a]] += k;
    const double way = (d_hat - gap) * (a < side ? share1 : share1 - 1);
    for (int c = 0; c < 3; ++c) g[3 * p->v[a] + c] -= k * way * n[c] / d;
  }
}

static int brute_sums(bc_fixture *f, const double *x, double radius, double *g, double *K)
{
  int m, num = 0;
  brute_pair *const p = brute_pairs(&f->t, x, f->t.step.progress, bc_d_hat, &m);
  uint8_t *const fixed = th_get(&f->t, f->t.scene.fixed);
  memset(g, 0, sizeof(double) * N3);
  memset(K, 0, sizeof(double) * N);
  for (int j = 0; j < m; ++j) {
    add_pair_target(f, &p[j], fixed, x, radius, g, K);
    ++num;
  }
  free(p), free(fixed);
  return num;
}

Test(contact_pd_ipc, terms_and_forces_equal_brute_force)
{
  static bc_fixture f;
  for (int thick = 0; thick < 2; ++thick) {
    const double radius = thick ? 2e-4 : 0.0;
    double g[N3], K[N], want_g[N3], want_K[N], e_g = 0, e_K = 0, size = 0, most = 0;
    loom_quad q;
    open_case(&f, 1, radius);
    bc_terms_open(&f, &q);
    const int num = brute_sums(&f, f.x, radius, want_g, want_K);
    (void)bc_terms_at(&f, f.x, &q);
    bc_terms_sum(&f, &q, f.x, g, K);
    for (int i = 0; i < N3; ++i) {
      e_g = fmax(e_g, fabs(g[i] - want_g[i]));
      size = fmax(size, fabs(want_g[i]));
    }
    for (int i = 0; i < N; ++i) {
      e_K = fmax(e_K, fabs(K[i] - want_K[i]));
      most = fmax(most, want_K[i]);
    }
    cr_expect(num > 50 && size > 0.1, "%d pairs, %g N", num, size);
    /* terms store targets: digits of k (x - p) go with |x| k, 0.05 m times 1e5 N/m */
    cr_expect(e_g < 1e-11 * fmax(size, 0.05 * most), "gradient off by %g of %g N", e_g, size);
    cr_expect(e_K < 1e-12 * most, "weights off by %g of %g N/m", e_K, most);
    bc_check_terms(&f, &q, f.x, 0.1); /* and eval() says the same */
    bc_terms_close(&f, &q);
    bc_close(&f);
  }
}

/* ---- effect of the targets ---- */

/* Two crossing edges of unlike masses, all else far away: at their targets their gap is d_hat, and
 * the lighter one has moved further. */
Test(contact_pd_ipc, targets_open_the_gap_to_d_hat)
{
  static bc_fixture f;
  const uint8_t fixed[N] = {0};
  double x[N3], to[N3];
  loom_quad q;
  open_case(&f, 1, 0);
  th_put(&f.t, f.t.scene.fixed, fixed);
  for (int i = 0; i < N; ++i) {
    x[3 * i] = 3.0 + 0.1 * (i % SIDE);
    x[3 * i + 1] = 0.1 * (i % SHEET / SIDE);
    x[3 * i + 2] = i < SHEET ? -1 : 1;
  }
  const double a[4][3] = {{3, 0, 0}, {3.08, 0, 0}, {3.02, -0.06, 1.5e-3}, {3.02, 0.02, 1.5e-3}};
  memcpy(x, a, 6 * sizeof(double));
  memcpy(x + 3 * SHEET, a[2], 6 * sizeof(double));
  memcpy(to, x, sizeof to);
  cr_assert_eq(f.ops->reset(f.self), LOOM_OK); /* corners anew, no vertex is fixed now */
  bc_terms_open(&f, &q);
  const int64_t m = bc_terms_at(&f, x, &q);
  int32_t *const v = th_get(&f.t, q.v);
  loom_real *const k = th_get(&f.t, q.k), *const p = th_get(&f.t, q.p);
  int seen = 0;
  for (int64_t j = 2; j < 2 + m; ++j) {
    const int i = v[4 * j];
    if (i != 0 && i != 1 && i != SHEET && i != SHEET + 1) continue;
    cr_expect(k[j] > 0);
    memcpy(to + 3 * i, p + 3 * j, 3 * sizeof(double));
    ++seen;
  }
  cr_expect_eq(seen, 4);
  double y[12], w[4];
  memcpy(y, to, 6 * sizeof(double));
  memcpy(y + 6, to + 3 * SHEET, 6 * sizeof(double));
  cr_expect(fabs(sqrt(dist_ee(y, w)) - bc_d_hat) < 1e-12);
  /* closest at a quarter of the first edge and three quarters of the second */
  const double m1 = 0.75 * mass_of(0) + 0.25 * mass_of(1);
  const double m2 = 0.25 * mass_of(SHEET) + 0.75 * mass_of(SHEET + 1);
  const double down = -(to[2] - x[2]), up = to[3 * SHEET + 2] - x[3 * SHEET + 2];
  cr_expect(fabs(m1 - m2) > 1e-3, "the masses are alike: the test would be empty");
  cr_expect(fabs(m1 * down - m2 * up) < 1e-12 * m1 * bc_d_hat, "%g m down, %g m up", down, up);
  free(v), free(k), free(p);
  bc_terms_close(&f, &q);
  bc_close(&f);
}

/* The whole missing gap, with the weight of one vertex and a body that cannot move. */
Test(contact_pd_ipc, a_vertex_above_a_ball)
{
  static bc_fixture f;
  const uint8_t fixed[N] = {0};
  const double d = 1.5e-3, c[3] = {0.008 + 6e-4, 0.012 - 3e-4, -0.0322 + 1.2e-4};
  double x[N3];
  loom_quad q;
  int seen = 0;
  open_case(&f, 1, 0);
  th_put(&f.t, f.t.scene.fixed, fixed);
  for (int i = 0; i < N; ++i) { /* all far away but one, below the ball */
    x[3 * i] = 1.0 + 0.1 * (i % SIDE);
    x[3 * i + 1] = 0.1 * (i % SHEET / SIDE);
    x[3 * i + 2] = 0.5 * (i / SHEET);
  }
  for (int k = 0; k < 3; ++k) x[k] = c[k] - (k == 2 ? 0.03 + d : 0.0);
  bc_terms_open(&f, &q);
  const int64_t m = bc_terms_at(&f, x, &q);
  int32_t *const v = th_get(&f.t, q.v);
  loom_real *const k = th_get(&f.t, q.k), *const p = th_get(&f.t, q.p);
  const double z = d * d / (bc_d_hat * bc_d_hat), h = f.t.step.h;
  const double want = -200 * (z - 1) * (z - 1) * log(z) + mass_of(0) / (h * h);
  for (int64_t j = 2; j < 2 + m; ++j) {
    if (v[4 * j] != 0) continue;
    ++seen;
    cr_expect(fabs(k[j] / want - 1) < 1e-9, "%.12g, want %.12g", k[j], want);
    cr_expect(fabs(p[3 * j + 2] - (c[2] - 0.03 - bc_d_hat)) < 1e-12);
  }
  cr_expect_eq(seen, 1);
  free(v), free(k), free(p);
  bc_terms_close(&f, &q);
  bc_close(&f);
}

/* ---- friction ---- */

/* A vertex below the ball slides by 0.5 mm, far above epsilon_v h: it is dragged back with mu times
 * the ball's push at the start of the step. */
Test(contact_pd_ipc, a_body_drags_with_mu_times_its_push)
{
  static bc_fixture f;
  const uint8_t fixed[N] = {0};
  const double d = 1.5e-3, mu = 0.5, slip = 5e-4, start[3] = {0.008, 0.012, -0.0322 - 0.03 - d};
  double x[N3];
  uint32_t changed;
  loom_quad q;
  open_rough(&f, 1, 0);
  th_put(&f.t, f.t.scene.fixed, fixed);
  for (int i = 0; i < N; ++i) { /* all far away but one */
    x[3 * i] = 1.0 + 0.1 * (i % SIDE);
    const int row = i % SHEET / SIDE, sheet = i / SHEET;
    x[3 * i + 1] = 0.1 * row;
    x[3 * i + 2] = 0.5 * sheet;
  }
  memcpy(x, start, sizeof start);
  th_put(&f.t, f.t.step.x_start, x);
  cr_assert_eq(f.ops->reset(f.self), LOOM_OK);
  cr_assert_eq(f.ops->begin_step(f.self, &f.t.step), LOOM_OK);
  bc_detect(&f, &changed);
  for (int k = 0; k < 3; ++k) x[k] += f.t.step.progress * shift[k]; /* with the ball */
  x[1] += slip;
  bc_terms_open(&f, &q);
  const int64_t m = bc_terms_at(&f, x, &q);
  int32_t *const v = th_get(&f.t, q.v);
  loom_real *const k = th_get(&f.t, q.k), *const p = th_get(&f.t, q.p);
  const double z = d * d / (bc_d_hat * bc_d_hat), h = f.t.step.h;
  const double push = (-200 * (z - 1) * (z - 1) * log(z) + mass_of(0) / (h * h)) * (bc_d_hat - d);
  int seen = 0;
  for (int64_t j = 2; j < 2 + m; ++j) {
    const double g = k[j] * (x[1] - p[3 * j + 1]);
    if (v[4 * j] != 0 || fabs(x[2] - p[3 * j + 2]) > 1e-9) continue; /* that of the gap */
    ++seen;
    cr_expect(fabs(g / (mu * push) - 1) < 1e-6, "%.9g N, want %.9g", g, mu * push);
    cr_expect(fabs(k[j] * (x[0] - p[3 * j])) < 1e-6 * mu * push);
  }
  cr_expect_eq(seen, 1);
  free(v), free(k), free(p);
  bc_terms_close(&f, &q);
  bc_close(&f);
}

Test(contact_pd_ipc, terms_of_friction_have_the_gradient_of_eval)
{
  static bc_fixture f;
  double g[N3], smooth[N3], most = 0.0;
  loom_quad q;
  open_case(&f, 1, 1e-4);
  cr_assert_eq(bc_eval(&f, f.x, NULL, NULL, smooth), LOOM_OK);
  bc_close(&f);
  open_rough(&f, 1, 1e-4);
  bc_terms_open(&f, &q);
  bc_check_terms(&f, &q, f.x, 0.1);
  cr_assert_eq(bc_eval(&f, f.x, NULL, NULL, g), LOOM_OK);
  for (int i = 0; i < N3; ++i) most = fmax(most, fabs(g[i] - smooth[i]));
  cr_expect_gt(most, 0.1, "friction of %g N is too small for a test", most);
  bc_terms_close(&f, &q);
  bc_close(&f);
}

/* ---- properties at any x ---- */

Test(contact_pd_ipc, no_energy_is_claimed)
{
  static bc_fixture f;
  double e = 0.0;
  open_case(&f, 1, 0);
  cr_assert_eq(bc_eval(&f, f.x, &e, NULL, NULL), LOOM_OK);
  cr_expect(isnan(e) && !(f.ops->provides & (LOOM_CONT_ENERGY | LOOM_CONT_HESSIAN)));
  bc_close(&f);
}

Test(contact_pd_ipc, overlap_has_no_terms)
{
  static bc_fixture f;
  double x[N3], g[N3];
  loom_quad q;
  open_case(&f, 1, 2e-4);
  bc_terms_open(&f, &q);
  memcpy(x, f.x, sizeof x);
  x[0] = 0.0086, x[1] = 0.0117, x[2] = -0.0322; /* the middle of the ball */
  cr_expect_eq(bc_eval(&f, x, NULL, NULL, g), LOOM_REJECTED);
  th_put(&f.t, f.t.step.trial, x);
  q.count = 0;
  cr_expect_eq(f.ops->quad(f.self, &f.t.step, f.t.step.trial, &q), LOOM_E_NUMERIC);
  cr_expect(strstr(f.t.err.text, "overlap") != NULL, "%s", f.t.err.text);
  th_put(&f.t, f.t.step.x, x);
  cr_expect_eq(f.ops->end_step(f.self, &f.t.step), LOOM_E_NUMERIC);
  cr_expect(strstr(f.t.err.text, "ends with an overlap") != NULL, "%s", f.t.err.text);
  bc_terms_close(&f, &q);
  bc_close(&f);
}

Test(contact_pd_ipc, the_same_bits_for_any_number_of_threads)
{
  static double first[N3], K1[N];
  for (int threads = 1; threads <= 4; threads *= 2) {
    static bc_fixture f;
    double g[N3], K[N], G[N3];
    loom_quad q;
    open_case(&f, threads, 0);
    bc_terms_open(&f, &q);
    cr_assert_eq(bc_eval(&f, f.x, NULL, NULL, threads == 1 ? first : g), LOOM_OK);
    cr_assert_gt(bc_terms_at(&f, f.x, &q), 0, "no contact: the test would be empty");
    bc_terms_sum(&f, &q, f.x, G, threads == 1 ? K1 : K);
    if (threads > 1) {
      cr_assert_eq(memcmp(first, g, sizeof g), 0, "%d threads", threads);
      cr_assert_eq(memcmp(K1, K, sizeof K), 0, "%d threads", threads);
    }
    bc_terms_close(&f, &q);
    bc_close(&f);
  }
}
