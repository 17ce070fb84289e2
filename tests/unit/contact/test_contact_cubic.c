/* test_contact_cubic.c - the cubic barrier: its law, its energy and the stiffness of each contact
 * against brute force over all pairs, derivatives by differences. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../plugins/contact/cubic_barrier/cubic_law.kern.h"
#include "elements/elements.h"
#include "support/barrier_case.h"

static const char *const plain = "d_hat=4e-3 slack=2e-3";

/* ---- the law ---- */

/* Each derivative changes from point to point by its own derivative times the way. */
Test(contact_cubic, the_law_has_two_continuous_derivatives)
{
  const double k = 300.0, r = 2e-3, way = 1e-3 * r;
  lk_real last[3], next[3];
  cubic_of_gap(k, r, 0.0, last);
  cr_expect_float_eq(last[0], 2.0 / 3.0 * k * r * r, 1e-15, "%g J at the gap 0", last[0]);
  for (int j = 1; j <= 1200; ++j) { /* past r */
    cubic_of_gap(k, r, j * way, next);
    for (int d = 0; d < 2; ++d) {
      const double mean = 0.5 * way * (last[d + 1] + next[d + 1]);
      cr_assert(fabs(next[d] - last[d] - mean) < 1e-6 * k * r * (d == 0 ? r : 1.0),
                "derivative %d at %d: %g, want %g", d, j, next[d] - last[d], mean);
    }
    cr_assert(fabs(next[2] - last[2]) <= 1.001 * 4.0 * k * way / r, "curvature at %d", j);
    memcpy(last, next, sizeof last);
  }
  cr_expect(last[0] == 0.0 && last[1] == 0.0 && last[2] == 0.0);
}

/* ---- the stiffness ---- */

static const double spring_k = 40.0, spring_share = 0.6; /* N/m; rest over present length */

typedef struct wanted {
  bc_fixture *f;
  double radius, speed, factor;
  double point[N3], progress; /* of the stiffness */
  double mass[N], H[N][9];    /* H: diagonal blocks of the springs */
} wanted;

/* Diagonal blocks of springs along all edges at x, each `times`, by hand. */
static void put_spring_blocks(wanted *w, const double *x, int times)
{
  const bc_fixture *const f = w->f;
  memset(w->H, 0, sizeof w->H);
  for (int e = 0; e < f->t.scene.num_edges; ++e) {
    const int a = f->edges[2 * e], b = f->edges[2 * e + 1];
    double d[3];
    lk_sub3(x + 3 * a, x + 3 * b, d);
    const double length = lk_norm3(d);
    double start[3];
    lk_sub3(f->x + 3 * a, f->x + 3 * b, start);
    const double t = 1.0 - spring_share * lk_norm3(start) / length;
    for (int k = 0; k < 9; ++k) {
      const double nn = d[k / 3] * d[k % 3] / (length * length);
      const double h = times * spring_k * (nn + t * ((k % 4 == 0) - nn));
      w->H[a][k] += h;
      w->H[b][k] += h;
    }
  }
}

/* Gap of a pair at the point of the stiffness, its normal and the weights of its vertices. */
static double gap_there(const wanted *w, const brute_pair *p, double xi, double *n, double *weight)
{
  bc_fixture *const f = w->f;
  double y[12], D;
  if (p->kind == LOOM_PAIR_VO) {
    const loom_obstacle *const ball = &f->t.obstacles[p->obst];
    for (int k = 0; k < 3; ++k) {
      const double from = ball->pose0[9 + k], to = ball->pose1[9 + k];
      n[k] = w->point[3 * p->v[0] + k] - ball->shape[k] - from - w->progress * (to - from);
      weight[k + 1] = 0.0;
    }
    weight[0] = 1.0;
    D = lk_norm3(n);
    for (int k = 0; k < 3; ++k) n[k] /= D;
    return D - ball->shape[3] - xi;
  }
  for (int a = 0; a < 4; ++a) brute_position(&f->t, w->point, w->progress, p->v[a], y + 3 * a);
  const int edges = p->kind == LOOM_PAIR_EE || p->kind == LOOM_PAIR_BEE;
  D = edges ? dist_ee(y, weight) : dist_vt(y, weight);
  for (int k = 0; k < 3; ++k) {
    n[k] = 0.0;
    for (int a = 0; a < 4; ++a) n[k] += weight[a] * y[3 * a + k] / sqrt(D);
  }
  return sqrt(D) - xi;
}

static double stiffness_there(const wanted *w, const brute_pair *p, double xi)
{
  double n[3], weight[4], squares = 0.0, sum = 0.0;
  const double gap = fmin(gap_there(w, p, xi, n, weight), bc_d_hat);
  for (int a = 0; a < 4; ++a) {
    const int v = p->v[a];
    if (v < 0 || v >= N || v == 4 || v == SHEET + 1) continue; /* these two are fixed */
    const double w2 = weight[a] * weight[a];
    squares += w2;
    sum += w2 * w->mass[v] * w->speed * w->speed / (gap * gap);
    for (int k = 0; k < 9; ++k) sum += w2 * n[k / 3] * w->H[v][k] * n[k % 3];
  }
  return w->factor * sum / squares;
}

static double cubic_of_pair(void *of, const brute_pair *p, double xi, double D)
{
  const wanted *const w = of;
  const double lack = bc_d_hat - (sqrt(D) - xi);
  if (!(sqrt(D) > xi)) return INFINITY;
  return lack > 0.0 ? stiffness_there(w, p, xi) * 2.0 / 3.0 / bc_d_hat * lack * lack * lack : 0.0;
}

/* Compares at points within and beyond the slack of the candidates; returns the active pairs. */
static int compare_cubic_energies(wanted *w, uint64_t seed, double reach)
{
  int found = 0, rejected = 0;
  for (int k = 0; k < 12; ++k) {
    double x[N3], e;
    int active;
    for (int i = 0; i < N3; ++i) x[i] = w->f->x[i] + (k % 2 ? reach : 2e-4) * th_random(&seed);
    const loom_status s = bc_eval(w->f, x, &e, NULL, NULL);
    const double want = bc_brute_sum(w->f, x, w->radius, cubic_of_pair, w, &active);
    rejected += s == LOOM_REJECTED;
    if (s == LOOM_REJECTED) continue;
    cr_assert(fabs(e - want) < 1e-11 * want, "point %d: %.15g, want %.15g", k, e, want);
    found += active;
  }
  cr_expect_lt(rejected, 7, "%d points rejected", rejected);
  return found;
}

static void accept_iterate(wanted *w, const double *x)
{
  uint32_t changed = LOOM_CHANGED_NONE;
  bc_fixture *const f = w->f;
  th_put(&f->t, f->t.step.x, x);
  cr_assert_eq(f->ops->update(f->self, &f->t.step, &f->pairs, LOOM_AFTER_ACCEPT, &changed), LOOM_OK,
               "%s", f->t.err.text);
  cr_expect_eq(changed, LOOM_CHANGED_VALUES, "changed: %u", changed);
  memcpy(w->point, x, sizeof w->point);
  w->progress = f->t.step.progress;
}

static void want_start(wanted *w, bc_fixture *f)
{
  loom_real *const x = th_get(&f->t, f->t.step.x_start), *const m = th_get(&f->t, f->t.scene.mass);
  w->f = f;
  w->progress = 0.0;
  for (int i = 0; i < N3; ++i) w->point[i] = x[i];
  for (int i = 0; i < N; ++i) w->mass[i] = m[i];
  free(x), free(m);
}

/* From the start of the step, then from each accepted iterate, and at any x between two of them. */
Test(contact_cubic, energy_equals_brute_force_with_the_stiffness_of_the_last_accepted_iterate)
{
  static bc_fixture f;
  static wanted w;
  for (int thick = 0; thick < 2; ++thick) {
    double y[N3], mass[N];
    uint64_t seed = 7;
    int found = 0;
    memset(&w, 0, sizeof w);
    w.radius = thick ? 2e-4 : 0.0;
    w.speed = thick ? 2.0 : 1.0;
    w.factor = thick ? 0.5 : 1.0;
    bc_open(&f, "cubic_barrier", 2, thick == 0, 1e-3, w.radius,
            thick ? "d_hat=4e-3 slack=2e-3 speed=2 factor=0.5" : plain);
    want_start(&w, &f);
    found += compare_cubic_energies(&w, 100, 1.4e-3);
    for (int i = 0; i < N; ++i) mass[i] = 0.01 + 0.005 * th_random(&seed);
    th_put(&f.t, f.t.scene.mass, mass);
    for (int k = 0; k < 3; ++k) {
      for (int i = 0; i < N3; ++i) y[i] = f.x[i] + 2e-4 * th_random(&seed);
      accept_iterate(&w, y);
      memcpy(w.mass, mass, sizeof mass);
      found += compare_cubic_energies(&w, 200 + (uint64_t)k, 1.4e-3);
    }
    cr_expect(found > 1000, "only %d active pairs in all", found);
    bc_close(&f);
  }
}

/* ---- elasticity ---- */

static elastic *own_elements;

static loom_status elem_hessians_of_test(const loom_host *host, int block, int32_t first,
                                         int32_t count, loom_buf *x, int how, loom_buf *out)
{
  (void)host;
  return elastic_elem_hessians(own_elements, block, first, count, x, how, out);
}

/* Springs along all edges, `times` each, shorter at rest than at f->x. */
static loom_elem_block add_springs(bc_fixture *f, int times)
{
  const int ne = (int)f->t.scene.num_edges, all = ne * times;
  int32_t *const v = malloc(2 * (size_t)all * sizeof *v);
  loom_real *const rest = malloc((size_t)all * sizeof *rest);
  loom_real *const k = malloc((size_t)all * sizeof *k);
  for (int j = 0; j < all; ++j) {
    double d[3];
    v[2 * j] = f->edges[2 * (j % ne)];
    v[2 * j + 1] = f->edges[2 * (j % ne) + 1];
    lk_sub3(f->x + 3 * v[2 * j], f->x + 3 * v[2 * j + 1], d);
    rest[j] = spring_share * lk_norm3(d);
    k[j] = spring_k;
  }
  const loom_elem_block b = {.struct_size = sizeof b,
                             .caps = LOOM_ELEM_ENERGY | LOOM_ELEM_GRADIENT | LOOM_ELEM_HESSIAN |
                                     LOOM_ELEM_PROJECT | LOOM_ELEM_SMALL,
                             .type = "spring",
                             .num_elems = all,
                             .arity = 2,
                             .rest_len = 1,
                             .mat_len = 1,
                             .proj_rows = 1,
                             .verts = th_buf(&f->t, LOOM_I32, 2 * (int64_t)all, v),
                             .rest = th_buf(&f->t, LOOM_REAL, all, rest),
                             .mat = th_buf(&f->t, LOOM_REAL, all, k)};
  free(v), free(rest), free(k);
  return b;
}

/* As few springs as fit into one part of the elements' Hessians, and more than fit. */
Test(contact_cubic, the_stiffness_has_the_elastic_hessian_along_the_normal)
{
  static bc_fixture f;
  static wanted w;
  for (int many = 0; many < 2; ++many) {
    const int times = many ? 300 : 1;
    const char *const set = "d_hat=4e-3 slack=2e-3 speed=1e-2"; /* mass has a small part */
    double y[N3];
    uint64_t seed = 9;
    uint32_t changed;
    memset(&w, 0, sizeof w);
    w.speed = 1e-2;
    w.factor = 1.0;
    bc_open(&f, "cubic_barrier", 2, 0, 1e-3, 0.0, set);
    f.ops->destroy(f.self);
    loom_elem_block block = add_springs(&f, times);
    f.t.scene.blocks = &block;
    f.t.scene.num_blocks = 1;
    f.t.host.elem_hessians = elem_hessians_of_test;
    cr_assert_eq(elastic_new(&f.t.err, f.t.m, &f.t.exec, &f.t.scene, &own_elements), LOOM_OK, "%s",
                 f.t.err.text);
    free(f.set);
    f.set = th_settings(f.p, set);
    f.self = th_create(&f.t, f.p, f.set);
    cr_assert_eq(f.ops->begin_step(f.self, &f.t.step), LOOM_OK, "%s", f.t.err.text);
    bc_detect(&f, &changed);
    want_start(&w, &f);
    put_spring_blocks(&w, w.point, times);
    cr_expect_gt(compare_cubic_energies(&w, 100, 1.4e-3), 300);
    for (int i = 0; i < N3; ++i) y[i] = f.x[i] + 2e-4 * th_random(&seed);
    accept_iterate(&w, y); /* the Hessian stays that of the start of the step */
    cr_expect_gt(compare_cubic_energies(&w, 200, 1.4e-3), 300);
    elastic_free(own_elements);
    bc_close(&f);
  }
}

/* ---- derivatives ---- */

static void check_cubic_derivatives(double jitter, double radius, const char *settings)
{
  static bc_fixture f;
  double x[N3];
  uint64_t seed = 31;
  bc_open(&f, "cubic_barrier", 2, 0, jitter, radius, settings);
  for (int i = 0; i < N3; ++i) x[i] = f.x[i] + 0.3 * jitter * th_random(&seed);
  bc_check_derivatives(&f, x, 1e-3, 2e-6); /* as in test_contact_ipc.c */
  bc_close(&f);
}

Test(contact_cubic, derivatives_by_differences) { check_cubic_derivatives(1e-3, 0, plain); }
Test(contact_cubic, derivatives_with_thickness_and_friction)
{
  check_cubic_derivatives(1e-3, 1e-4, "d_hat=4e-3 slack=2e-3 self_friction=0.4 epsilon_v=0.02");
}
Test(contact_cubic, derivatives_of_nearly_parallel_edges)
{
  check_cubic_derivatives(6e-5, 0, plain);
}
Test(contact_cubic, derivatives_of_elements_over_bodies)
{
  bc_bars = 1;
  check_cubic_derivatives(1e-3, 0, plain);
  bc_bars = 0;
}

/* ---- rules ---- */

/* Values are the same bits from any list of candidates, also after an accepted iterate. */
Test(contact_cubic, values_do_not_depend_on_when_detection_ran)
{
  static bc_fixture f;
  static wanted w;
  double x[N3], y[N3], g[N3], g2[N3], e, e2;
  uint64_t seed = 5;
  bc_open(&f, "cubic_barrier", 2, 0, 1e-3, 0, plain);
  want_start(&w, &f);
  for (int i = 0; i < N3; ++i) {
    x[i] = f.x[i] + 4e-4 * th_random(&seed); /* within slack/2 of the candidates */
    y[i] = x[i] + 0.002 * (i % 3 == 0) * (i < N3 / 2);
  }
  accept_iterate(&w, f.x);
  const int64_t before = f.t.counters[LOOM_C_DETECT];
  cr_assert_eq(bc_eval(&f, x, &e, NULL, g), LOOM_OK);
  cr_assert_eq(bc_eval(&f, y, &e2, NULL, NULL), LOOM_OK);
  cr_assert_eq(bc_eval(&f, x, &e2, NULL, g2), LOOM_OK);
  cr_assert_eq(f.t.counters[LOOM_C_DETECT], before + 2);
  cr_assert_eq(memcmp(&e, &e2, sizeof e), 0, "%.17g %.17g", e, e2);
  cr_assert_eq(memcmp(g, g2, sizeof g), 0);
  bc_close(&f);
}
